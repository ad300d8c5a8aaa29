"""Reference models of macsec100g's cipher suites: pyca for AES, for Serpent models from the specifications.

GCM follows SP 800-38D and OCB3 RFC 7253, with 12-byte nonces and 16-byte tags. The models of Serpent and
GF(2^128) are shared with the tests of rtl/serpent and rtl/gf128.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import gf128_model
import serpent_model
from aes_model import xor
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESOCB3

VECTORS = Path(__file__).resolve().parents[3] / "testvectors"
BLOCK = 16
Encipher = Callable[[bytes], bytes]
Seal = Callable[[bytes, bytes, bytes, bytes], bytes]  # key, nonce, additional data, message


def blocks(data: bytes) -> list[bytes]:
    """Splits data into blocks. The last one may be partial."""
    return [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]


def gcm(encipher: Encipher, nonce: bytes, additional: bytes, message: bytes) -> bytes:
    def key_stream(counter: int, size: int) -> bytes:
        return encipher(nonce + counter.to_bytes(4))[:size]

    ciphertext = b"".join(xor(part, key_stream(i, len(part))) for i, part in enumerate(blocks(message), 2))
    lengths = (8 * len(additional)).to_bytes(8) + (8 * len(ciphertext)).to_bytes(8)
    hashed = [part.ljust(BLOCK, b"\0") for part in (*blocks(additional), *blocks(ciphertext), lengths)]
    return ciphertext + xor(gf128_model.ghash(encipher(bytes(BLOCK)), hashed), key_stream(1, BLOCK))


def doubled(block: bytes) -> bytes:
    return gf128_model.multiply(int.from_bytes(block), 2).to_bytes(BLOCK)


def padded(part: bytes) -> bytes:
    return (part + b"\x80").ljust(BLOCK, b"\0")


def ocb3(encipher: Encipher, nonce: bytes, additional: bytes, message: bytes) -> bytes:
    l_star = encipher(bytes(BLOCK))
    l_dollar = doubled(l_star)

    def next_offset(offset: bytes, i: int) -> bytes:
        """Advances the offset to block i, from 1, by L_ntz(i)."""
        l_i = doubled(l_dollar)
        while i % 2 == 0:
            l_i, i = doubled(l_i), i // 2
        return xor(offset, l_i)

    def hashed() -> bytes:
        total = offset = bytes(BLOCK)
        for i, part in enumerate(blocks(additional), 1):
            if len(part) == BLOCK:
                offset = next_offset(offset, i)
                total = xor(total, encipher(xor(part, offset)))
            else:
                total = xor(total, encipher(xor(padded(part), xor(offset, l_star))))
        return total

    bottom = nonce[-1] % 64
    top = encipher(bytes([0, 0, 0, 1]) + nonce[:-1] + bytes([nonce[-1] - bottom]))
    stretch = int.from_bytes(top + xor(top[:8], top[1:9]))
    offset = (stretch >> 64 - bottom & 2**128 - 1).to_bytes(BLOCK)
    checksum = bytes(BLOCK)
    ciphertext = b""
    for i, part in enumerate(blocks(message), 1):
        if len(part) == BLOCK:
            offset = next_offset(offset, i)
            ciphertext += xor(offset, encipher(xor(part, offset)))
            checksum = xor(checksum, part)
        else:
            offset = xor(offset, l_star)
            ciphertext += xor(part, encipher(offset)[: len(part)])
            checksum = xor(checksum, padded(part))
    return ciphertext + xor(encipher(xor(xor(checksum, offset), l_dollar)), hashed())


def with_aes(mode: type[AESGCM] | type[AESOCB3]) -> Seal:
    return lambda key, nonce, additional, message: mode(key).encrypt(nonce, message, additional)


def with_serpent(mode: Callable[[Encipher, bytes, bytes, bytes], bytes]) -> Seal:
    return lambda key, *rest: mode(lambda block: serpent_model.encrypt(key, block), *rest)


@dataclass(frozen=True)
class Suite:
    key_bytes: tuple[int, ...]  # of each key
    seal: Seal  # ciphertext and tag
    vectors: str  # known answers in testvectors/


# Index: parameter SUITE.
SUITES = (
    Suite((16,), with_aes(AESGCM), "aes128-gcm"),
    Suite((16,), with_aes(AESOCB3), "aes128-ocb3-t128"),
    Suite((32,), with_serpent(gcm), "serpent256-gcm"),
    Suite((32,), with_serpent(ocb3), "serpent256-ocb3"),
    Suite((32,), with_aes(AESGCM), "aes256-gcm"),
    Suite((16, 32), with_aes(AESGCM), "aes256-gcm"),
)


def wrong_answers(suite: Suite, count: int) -> list[int]:
    """Returns the first known answers that the model fails."""
    tests = json.loads((VECTORS / f"{suite.vectors}.json").read_text())["tests"]
    wrong = []
    for test in tests[:count]:
        key, nonce, additional, message = (
            bytes.fromhex(test[name]) for name in ("key", "nonce", "aad", "msg")
        )
        if suite.seal(key, nonce, additional, message).hex() != test["ct"] + test["tag"]:
            wrong.append(test["id"])
    return wrong
