"""Serpent as specified: tables, one nibble at a time. An independent model for the tests of rtl/serpent."""

BOXES = [
    [3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12],
    [15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4],
    [8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2],
    [0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14],
    [1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13],
    [15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1],
    [7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0],
    [1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6],
]
MASK = 0xFFFFFFFF


def rotate(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & MASK


def words(data: bytes) -> list:
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]


def data(four: list) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in four)


def substitute(box: int, x: list) -> list:
    out = [0, 0, 0, 0]
    for bit in range(32):
        nibble = sum((x[j] >> bit & 1) << j for j in range(4))
        for j in range(4):
            out[j] |= (BOXES[box][nibble] >> j & 1) << bit
    return out


def linear_transform(x: list) -> list:
    a, b, c, d = x
    a, c = rotate(a, 13), rotate(c, 3)
    b = rotate(b ^ a ^ c, 1)
    d = rotate(d ^ c ^ (a << 3 & MASK), 7)
    a = rotate(a ^ b ^ d, 5)
    c = rotate(c ^ d ^ (b << 7 & MASK), 22)
    return [a, b, c, d]


def prekeys(key: bytes) -> list:
    """Returns w[-8] .. w[131]: the padded key, and the words derived by the recurrence."""
    if len(key) < 32:
        key = (key + b"\1").ljust(32, b"\0")
    w = words(key)
    for i in range(132):
        w.append(rotate(w[i] ^ w[i + 3] ^ w[i + 5] ^ w[i + 7] ^ 0x9E3779B9 ^ i, 11))
    return w


def encrypt(key: bytes, block: bytes) -> bytes:
    w = prekeys(key)
    round_keys = [substitute((3 - i) % 8, w[4 * i + 8 : 4 * i + 12]) for i in range(33)]
    x = words(block)
    for r in range(32):
        x = substitute(r % 8, [a ^ k for a, k in zip(x, round_keys[r], strict=True)])
        if r < 31:
            x = linear_transform(x)
    return data([a ^ k for a, k in zip(x, round_keys[32], strict=True)])


def last_prekeys(key: bytes) -> bytes:
    """Returns w[124] .. w[131], little-endian, the start of decryption."""
    return data(prekeys(key)[-8:])
