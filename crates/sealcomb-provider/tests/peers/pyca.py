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


def attempt(name: str, call: Callable[[], object]) -> None:
    try:
        print(name, repr(call()))
    except Exception as error:  # noqa: BLE001  # Whatever it raises is the result.
        print(name, type(error).__name__, error)


def process(mode: modes.Mode, key: bytes, size: int, *, encrypts: bool) -> bytes:
    cipher = Cipher(algorithms.AES(key), mode)
    context = cipher.encryptor() if encrypts else cipher.decryptor()
    return context.update(b"x" * size) + context.finalize()


for size in (0, 1, 15, 16, 17, 33):
    for encrypts in (True, False):
        attempt(f"CBC {size}", lambda: process(modes.CBC(IV), KEY, size, encrypts=encrypts))
        attempt(f"CTR {size}", lambda: process(modes.CTR(IV), KEY, size, encrypts=encrypts))
attempt("XTS with equal halves", lambda: process(modes.XTS(IV), 2 * KEY, 32, encrypts=True))
attempt("XTS", lambda: process(modes.XTS(IV), bytes(range(32)), 33, encrypts=True))
attempt("a short sector", lambda: process(modes.XTS(IV), bytes(range(32)), 5, encrypts=True))
attempt("a forged message", lambda: process(modes.GCM(IV[:12], b"t" * 16), KEY, 20, encrypts=False))
for aead in (AESGCM, AESCCM, AESOCB3):
    attempt(f"forged with {aead.__name__}", lambda: aead(KEY).decrypt(IV[:12], b"x" * 40, b"a"))


def verify_mac() -> None:
    mac = cmac.CMAC(algorithms.AES(KEY))
    mac.update(b"a")
    mac.verify(b"x" * 16)


attempt("a forged MAC", verify_mac)
for path in sorted(Path(sys.argv[1]).glob("*.pem")):
    for password in (b"wrong", b"right", None):
        attempt(f"{path.name} {password}", lambda: type(load_pem_private_key(path.read_bytes(), password)).__name__)
