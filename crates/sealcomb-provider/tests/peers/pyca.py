"""Prints what calls of Debian's python3-cryptography return or raise, for `../peers.rs`.

usage: pyca.py FOLDER   (with private keys in PEM format, encrypted with the passphrase `right`)
"""

import sys
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives import cmac
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM, AESOCB3
from cryptography.hazmat.primitives.serialization import load_pem_private_key

KEY, IV = b"k" * 16, b"i" * 16


def attempt(name: str, call: Callable[..., object], *arguments: object) -> None:
    try:
        print(name, repr(call(*arguments)))
    except Exception as error:  # Whatever it raises is the result.
        print(name, type(error).__name__, error)


def encrypt(mode: modes.Mode, key: bytes, size: int) -> bytes:
    context = Cipher(algorithms.AES(key), mode).encryptor()
    return context.update(b"x" * size) + context.finalize()


def decrypt(mode: modes.Mode, key: bytes, size: int) -> bytes:
    context = Cipher(algorithms.AES(key), mode).decryptor()
    return context.update(b"x" * size) + context.finalize()


def open_forged(aead: type[AESGCM] | type[AESCCM] | type[AESOCB3]) -> bytes:
    return aead(KEY).decrypt(IV[:12], b"x" * 40, b"a")


def verify_mac() -> None:
    mac = cmac.CMAC(algorithms.AES(KEY))
    mac.update(b"a")
    mac.verify(b"x" * 16)


def load(path: Path, password: bytes | None) -> str:
    return type(load_pem_private_key(path.read_bytes(), password)).__name__


for size in (0, 1, 15, 16, 17, 33):
    for process in (encrypt, decrypt):
        attempt(f"CBC {size}", process, modes.CBC(IV), KEY, size)
        attempt(f"CTR {size}", process, modes.CTR(IV), KEY, size)
attempt("XTS with equal halves", encrypt, modes.XTS(IV), 2 * KEY, 32)
attempt("XTS", encrypt, modes.XTS(IV), bytes(range(32)), 33)
attempt("a short sector", encrypt, modes.XTS(IV), bytes(range(32)), 5)
attempt("a forged message", decrypt, modes.GCM(IV[:12], b"t" * 16), KEY, 20)
for aead in (AESGCM, AESCCM, AESOCB3):
    attempt(f"forged with {aead.__name__}", open_forged, aead)
attempt("a forged MAC", verify_mac)
for path in sorted(Path(sys.argv[1]).glob("*.pem")):
    for password in (b"wrong", b"right", None):
        attempt(f"{path.name} {password!r}", load, path, password)
