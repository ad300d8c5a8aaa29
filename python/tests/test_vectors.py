"""Known answers from pyca's `cryptography`, checked with both libraries."""

from importlib import resources

import pytest
from cryptography.hazmat.primitives import cmac as pyca_cmac
from cryptography.hazmat.primitives.ciphers import aead as pyca
from cryptography.hazmat.primitives.ciphers import algorithms

import sealcomb

FILES = resources.files("cryptography_vectors")
LIBRARIES = [pytest.param(pyca, id="pyca"), pytest.param(sealcomb, id="sealcomb")]


def records(path):
    """Yields the records of a file: lines `name = value`, separated by empty lines.

    Values in brackets, and in records without a number, apply to all following records.
    """
    common = {}
    for block in FILES.joinpath(path).read_text().replace("\r", "").split("\n\n"):
        record = {}
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            if line.strip() == "FAIL":
                record["result"] = "fail"
            for item in line.strip("[] ").split(","):
                name, equals, value = item.partition("=")
                if equals:
                    (common if line.startswith("[") else record)[name.strip().lower()] = value.strip()
        if "count" in record:
            yield common | record
        else:
            common |= record


def field(record, *names):
    return bytes.fromhex(next(record[name] for name in names if name in record))


def check(cipher, nonce, message, sealed, aad):
    """Seals and opens a message. If `message` is `None`, it must not verify."""
    if message is None:
        with pytest.raises(sealcomb.InvalidTag):
            cipher.decrypt(nonce, sealed, aad)
    else:
        assert cipher.encrypt(nonce, message, aad) == sealed
        assert cipher.decrypt(nonce, sealed, aad) == message


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("bits", [128, 192, 256])
@pytest.mark.parametrize("kind", ["gcmDecrypt", "gcmEncryptExtIV"])
def test_gcm(library, bits, kind):
    done = 0
    for record in records(f"ciphers/AES/GCM/{kind}{bits}.rsp"):
        nonce = field(record, "iv")
        # The class does not support shorter nonces and tags.
        if len(nonce) < 8 or record["taglen"] != "128":
            continue
        message = None if record.get("result") == "fail" else field(record, "pt")
        sealed = field(record, "ct") + field(record, "tag")
        check(library.AESGCM(field(record, "key")), nonce, message, sealed, field(record, "aad"))
        done += 1
    assert done > 300


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("bits", [128, 192, 256])
@pytest.mark.parametrize("kind", ["DVPT", "VADT", "VNT", "VPT", "VTT"])
def test_ccm(library, bits, kind):
    done = 0
    for record in records(f"ciphers/AES/CCM/{kind}{bits}.rsp"):
        # Values of length 0 are written as one byte.
        aad = field(record, "adata")[: int(record["alen"])]
        payload = int(record["plen"])
        message = (
            None
            if record.get("result", "").lower().startswith("fail")
            else field(record, "payload")[:payload]
        )
        cipher = library.AESCCM(field(record, "key"), int(record["tlen"]))
        check(cipher, field(record, "nonce"), message, field(record, "ct"), aad)
        done += 1
    assert done >= 50


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "file", ["openssl", "rfc7253", *(f"test-vector-1-nonce{bits}" for bits in (104, 112, 120))]
)
def test_ocb3(library, file):
    done = 0
    for record in records(f"ciphers/AES/OCB3/{file}.txt"):
        sealed = field(record, "ciphertext") + (field(record, "tag") if "tag" in record else b"")
        nonce, message = field(record, "nonce", "iv"), field(record, "plaintext")
        # Some of OpenSSL's vectors have shorter tags or nonces.
        if len(sealed) != len(message) + 16 or len(nonce) < 12:
            continue
        check(library.AESOCB3(field(record, "key")), nonce, message, sealed, field(record, "aad"))
        done += 1
    assert done > 0


@pytest.mark.parametrize("library", LIBRARIES)
def test_gcm_siv(library):
    for record in records("ciphers/AES/GCM-SIV/openssl.txt"):
        sealed = field(record, "ciphertext") + field(record, "tag")
        aad = field(record, "aad") if "aad" in record else None
        cipher = library.AESGCMSIV(field(record, "key"))
        check(cipher, field(record, "iv"), field(record, "plaintext"), sealed, aad)


@pytest.mark.parametrize("library", LIBRARIES)
def test_siv(library):
    done = 0
    for record in records("ciphers/AES/SIV/openssl.txt"):
        strings = [field(record, name) for name in ("aad", "aad2", "aad3") if name in record]
        sealed, message = field(record, "tag") + field(record, "ciphertext"), field(record, "plaintext")
        cipher = library.AESSIV(field(record, "key"))
        assert cipher.encrypt(message, strings) == sealed
        assert cipher.decrypt(sealed, strings) == message
        done += 1
    assert done > 3


@pytest.mark.parametrize("bits", [128, 256])
@pytest.mark.parametrize("kind", ["128hexstr", "dataunitseqno"])
def test_xts(bits, kind):
    done = 0
    for record in records(f"ciphers/AES/XTS/tweak-{kind}/XTSGenAES{bits}.rsp"):
        # Some data units are not whole bytes.
        if int(record["dataunitlen"]) % 8 > 0:
            continue
        tweak = (
            int(record["dataunitseqnumber"]).to_bytes(16, "little")
            if "dataunitseqnumber" in record
            else field(record, "i")
        )
        cipher, message, encrypted = (
            sealcomb.hazmat.AESXTS(field(record, "key")),
            field(record, "pt"),
            field(record, "ct"),
        )
        assert cipher.encrypt(tweak, message) == encrypted
        assert cipher.decrypt(tweak, encrypted) == message
        done += 1
    assert done >= 400


@pytest.mark.parametrize(
    "cmac", [pytest.param(pyca_cmac.CMAC, id="pyca"), pytest.param(sealcomb.CMAC, id="sealcomb")]
)
@pytest.mark.parametrize("bits", [128, 192, 256])
def test_cmac(cmac, bits):
    done = 0
    for record in records(f"CMAC/nist-800-38b-aes{bits}.txt"):
        mac = cmac(algorithms.AES(field(record, "key")))
        mac.update(
            field(record, "message")[: int(record["mlen"])] if "mlen" in record else field(record, "message")
        )
        assert mac.finalize() == field(record, "output", "mac")
        done += 1
    assert done > 0
