"""XAES-256-GCM: published answers, and the results of its definition with pyca's CMAC and AES-GCM."""

import os

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.cmac import CMAC
from hypothesis import given
from hypothesis import strategies as st

import sealcomb
from sealcomb import XAES256GCM

keys = st.binary(min_size=32, max_size=32)
nonces = st.binary(min_size=24, max_size=24)

# From C2SP's specification.
ANSWERS = [
    (
        b"\x01" * 32,
        b"ABCDEFGHIJKLMNOPQRSTUVWX",
        b"XAES-256-GCM",
        b"",
        "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271",
    ),
    (
        b"\x03" * 32,
        b"ABCDEFGHIJKLMNOPQRSTUVWX",
        b"XAES-256-GCM",
        b"c2sp.org/XAES-256-GCM",
        "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d",
    ),
]


@pytest.mark.parametrize(("key", "nonce", "message", "aad", "sealed"), ANSWERS)
def test_published_answers(key, nonce, message, aad, sealed):
    cipher = XAES256GCM(key)
    assert cipher.encrypt(nonce, message, aad).hex() == sealed
    assert cipher.decrypt(nonce, bytes.fromhex(sealed), aad) == message


def derived(key, nonce):
    """Returns the AES-GCM cipher under the key that is derived from the first half of the nonce."""
    halves = []
    for counter in (1, 2):
        mac = CMAC(AES(key))
        mac.update(bytes([0, counter]) + b"X\0" + nonce[:12])
        halves.append(mac.finalize())
    return AESGCM(b"".join(halves))


@given(key=keys, nonce=nonces, message=st.binary(max_size=600), aad=st.none() | st.binary(max_size=100))
def test_results_are_those_of_the_definition(key, nonce, message, aad):
    sealed = derived(key, nonce).encrypt(nonce[12:], message, aad)
    cipher = XAES256GCM(key)
    assert cipher.encrypt(nonce, message, aad) == sealed
    assert cipher.decrypt(nonce, sealed, aad) == message
    buffer = bytearray(len(sealed))
    assert cipher.encrypt_into(nonce, message, aad, buffer) == len(sealed)
    assert buffer == sealed


@pytest.mark.parametrize("threads", [None, 1, 3])
@given(
    key=keys,
    messages=st.lists(st.tuples(st.binary(max_size=200), st.none() | st.binary(max_size=40)), max_size=40),
)
def test_many_messages_equal_a_loop(threads, key, messages):
    cipher = XAES256GCM(key)
    nonces = [os.urandom(24) for _ in messages]
    data, aads = [message for message, _ in messages], [aad for _, aad in messages]
    sealed = cipher.encrypt_many(nonces, data, aads, threads=threads)
    assert sealed == [cipher.encrypt(*each) for each in zip(nonces, data, aads, strict=True)]
    assert cipher.decrypt_many(nonces, sealed, aads, threads=threads) == data


def test_rows_of_arrays():
    cipher = XAES256GCM(bytes(32))
    random = np.random.default_rng(1)
    nonces = random.integers(0, 256, (300, 24), np.uint8)
    data = random.integers(0, 256, (300, 65), np.uint8)
    sealed = cipher.encrypt_many(nonces, data)
    assert sealed.shape == (300, 81)
    assert bytes(sealed[299]) == cipher.encrypt(bytes(nonces[299]), bytes(data[299]), None)
    assert (cipher.decrypt_many(nonces, sealed) == data).all()


def test_forged_messages_are_named_and_repeated_nonces_refused():
    cipher = XAES256GCM(bytes(32))
    nonces = [os.urandom(24) for _ in range(5)]
    sealed = cipher.encrypt_many(nonces, [b"message"] * 5)
    sealed[1] = b"short"
    sealed[3] = bytes(len(sealed[3]))
    with pytest.raises(sealcomb.ForgedMessages) as caught:
        cipher.decrypt_many(nonces, sealed)
    assert caught.value.indices == (1, 3)
    with pytest.raises(ValueError, match="messages 0 and 2 have the same nonce"):
        cipher.encrypt_many([nonces[0], nonces[1], nonces[0]], [b"m"] * 3)


@pytest.mark.parametrize("size", [0, 12, 16, 23, 25, 32])
def test_other_nonces_are_refused(size):
    cipher = XAES256GCM(bytes(32))
    for call in (cipher.encrypt, cipher.decrypt):
        with pytest.raises(ValueError, match="Nonce must be 24 bytes long"):
            call(bytes(size), bytes(40), None)


@pytest.mark.parametrize("size", [0, 16, 24, 31, 33, 64])
def test_other_keys_are_refused(size):
    with pytest.raises(ValueError, match="XAES256GCM key must be 256 bits"):
        XAES256GCM(bytes(size))


def test_new_keys_have_32_bytes_and_differ():
    first, second = XAES256GCM.generate_key(), XAES256GCM.generate_key(256)
    assert len(first) == len(second) == 32
    assert first != second
    with pytest.raises(ValueError, match="bit_length must be 256"):
        XAES256GCM.generate_key(128)
