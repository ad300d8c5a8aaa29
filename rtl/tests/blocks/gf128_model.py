"""GF(2^128), x^128 = x^7 + x^2 + x + 1, from its definition.

An element is an integer with bit i as the coefficient of x^i.
"""


def multiply(a: int, b: int) -> int:
    product = 0
    for i in range(128):
        if b >> i & 1:
            product ^= a << i
    for i in range(254, 127, -1):
        if product >> i & 1:
            product ^= 1 << i ^ 0x87 << i - 128
    return product


def reversed_bits(a: int) -> int:
    return int(f"{a:0128b}"[::-1], 2)


def gcm_multiply(a: bytes, b: bytes) -> bytes:
    """Multiplies in GCM's bit order: the first bit of byte 0 is the coefficient of x^0 (SP 800-38D, 6.3)."""
    product = multiply(*(reversed_bits(int.from_bytes(x, "big")) for x in (a, b)))
    return reversed_bits(product).to_bytes(16, "big")


def ghash(key: bytes, blocks: list[bytes]) -> bytes:
    """Returns GHASH (SP 800-38D section 6.4)."""
    y = bytes(16)
    for block in blocks:
        y = gcm_multiply(bytes(p ^ q for p, q in zip(y, block, strict=True)), key)
    return y
