"""AES-128 from its definition (FIPS 197), and AES-256's key schedule. Slow, independent of the hardware.

Ten rounds, or six rounds with MixColumns in the last one, as in ELmD(6,6).
"""

from functools import cache


def multiply(a: int, b: int) -> int:
    """Returns the product in GF(2^8), x^8 = x^4 + x^3 + x + 1."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def substituted(x: int) -> int:
    """Returns SubBytes of x: the inverse, then the affine map.

    Bit i of the result is b[i] + b[i+4] + b[i+5] + b[i+6] + b[i+7] + c[i].
    """
    inverse = next((y for y in range(256) if multiply(x, y) == 1), 0)
    rotated = inverse
    result = 0x63
    for _ in range(5):
        result ^= rotated
        rotated = (rotated << 1 | rotated >> 7) & 0xFF
    return result


@cache
def tables() -> tuple[bytes, bytes]:
    """Returns the tables of SubBytes and InvSubBytes."""
    forward = bytes(substituted(x) for x in range(256))
    return forward, bytes(forward.index(x) for x in range(256))


SBOX, INVERSE_SBOX = tables()
TIMES = {factor: bytes(multiply(factor, x) for x in range(256)) for factor in (1, 2, 3, 9, 11, 13, 14)}


def round_keys(key: bytes, rounds: int) -> list[bytes]:
    """Returns the round keys of a key of 16 or 32 bytes (FIPS 197 section 5.2)."""
    words = [key[i : i + 4] for i in range(0, len(key), 4)]
    period = len(words)
    constant = 1
    while len(words) < 4 * (rounds + 1):
        word = words[-1]
        if len(words) % period == 0:
            word = bytes(SBOX[b] for b in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = multiply(constant, 2)
        elif period == 8 and len(words) % 4 == 0:
            word = bytes(SBOX[b] for b in word)
        words.append(xor(word, words[-period]))
    return [b"".join(words[i : i + 4]) for i in range(0, len(words), 4)]


def xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def mixed(state: bytes, row: tuple[int, ...]) -> bytes:
    """Applies MixColumns with a circulant matrix: first row `row`, each further row rotated right by one."""
    out = bytearray(16)
    for column in range(0, 16, 4):
        for i in range(4):
            for j in range(4):
                out[column + i] ^= TIMES[row[(j - i) % 4]][state[column + j]]
    return bytes(out)


def encrypt(key: bytes, block: bytes, rounds: int = 10) -> bytes:
    keys = round_keys(key, rounds)
    state = xor(block, keys[0])
    for number in range(1, rounds + 1):
        state = bytes(SBOX[b] for b in state)
        state = bytes(state[(i + 4 * (i % 4)) % 16] for i in range(16))
        if number < 10:
            state = mixed(state, (2, 3, 1, 1))
        state = xor(state, keys[number])
    return state


def decrypt(key: bytes, block: bytes, rounds: int = 10) -> bytes:
    keys = round_keys(key, rounds)
    state = block
    for number in range(rounds, 0, -1):
        state = xor(state, keys[number])
        if number < 10:
            state = mixed(state, (14, 11, 13, 9))
        state = bytes(state[(i - 4 * (i % 4)) % 16] for i in range(16))
        state = bytes(INVERSE_SBOX[b] for b in state)
    return xor(state, keys[0])
