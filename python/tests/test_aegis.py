"""AEGIS-128L and AEGIS-256: batches open message by message with pyaegis (libaegis), and the reverse."""

import os

import numpy as np
import pyaegis
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sealcomb

CLASSES = {"AEGIS128L": (16, pyaegis.Aegis128L(tag_size=16)), "AEGIS256": (32, pyaegis.Aegis256(tag_size=16))}
each_class = pytest.mark.parametrize("name", CLASSES)
messages = st.lists(st.tuples(st.binary(max_size=300), st.none() | st.binary(max_size=100)), max_size=40)


@each_class
@pytest.mark.parametrize("threads", [None, 1, 3])
@given(many=messages, data=st.data())
def test_a_batch_opens_message_by_message(name, threads, many, data):
    size, theirs = CLASSES[name]
    key = data.draw(st.binary(min_size=size, max_size=size))
    cipher = getattr(sealcomb, name)(key)
    nonces = [os.urandom(size) for _ in many]
    plain, aads = [message for message, _ in many], [aad for _, aad in many]
    sealed = cipher.encrypt_many(nonces, plain, aads, threads=threads)
    opened = [theirs.decrypt(key, *each) for each in zip(nonces, sealed, aads, strict=True)]
    assert opened == plain
    again = [theirs.encrypt(key, *each) for each in zip(nonces, plain, aads, strict=True)]
    assert again == sealed
    assert cipher.decrypt_many(nonces, again, aads, threads=threads) == plain


@each_class
def test_messages_of_every_length(name):
    size, theirs = CLASSES[name]
    key, random = bytes(range(size)), np.random.default_rng(1)
    cipher = getattr(sealcomb, name)(key)
    for length in [*range(200), 1023, 1024, 1025, 4096, 1 << 20]:
        nonce, message, aad = random.bytes(size), random.bytes(length), random.bytes(length % 70)
        sealed = cipher.encrypt(nonce, message, aad)
        assert sealed == theirs.encrypt(key, nonce, message, aad), length
        assert cipher.decrypt(nonce, sealed, aad) == message


@each_class
def test_rows_of_arrays(name):
    size, theirs = CLASSES[name]
    key, random = bytes(range(size)), np.random.default_rng(1)
    cipher = getattr(sealcomb, name)(key)
    nonces = random.integers(0, 256, (777, size), np.uint8)
    data = random.integers(0, 256, (777, 65), np.uint8)
    sealed = cipher.encrypt_many(nonces, data)
    for nonce, row, message in zip(nonces, sealed, data, strict=True):
        assert theirs.decrypt(key, bytes(nonce), bytes(row)) == bytes(message)


@each_class
def test_other_sizes_and_repeated_nonces_are_refused(name):
    size, _ = CLASSES[name]
    cls = getattr(sealcomb, name)
    for other in {0, 12, 15, 16, 17, 31, 32, 33} - {size}:
        with pytest.raises(ValueError, match=f"{name} key must be {8 * size} bits"):
            cls(bytes(other))
        for call in (cls(bytes(size)).encrypt, cls(bytes(size)).decrypt):
            with pytest.raises(ValueError, match=f"Nonce must be {size} bytes long"):
                call(bytes(other), bytes(40), None)
    with pytest.raises(ValueError, match="messages 0 and 1 have the same nonce"):
        cls(bytes(size)).encrypt_many([bytes(size)] * 2, [b"m"] * 2)
    assert len(cls.generate_key()) == size
    with pytest.raises(ValueError, match=f"bit_length must be {8 * size}"):
        cls.generate_key(192)
