"""AES-HCTR2: published answers, many at once like one by one, and wrong arguments are refused."""

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealcomb.hazmat import AESHCTR2

VECTORS = Path(__file__).parents[2] / "testvectors"
KEYS = {bits: bytes(range(bits // 8)) for bits in (128, 256)}
each_key = pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
messages = st.tuples(st.binary(max_size=80), st.binary(min_size=16, max_size=600))


def outcome(call):
    """Returns the result of a call, or its exception with the message."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("bits", KEYS)
def test_results_equal_the_published_answers(bits):
    cases = json.loads((VECTORS / f"aes{bits}-hctr2.json").read_text())["tests"]
    assert len(cases) > 20
    for case in cases:
        key, tweak, message, encrypted = (bytes.fromhex(case[name]) for name in ("key", "tweak", "msg", "ct"))
        cipher = AESHCTR2(key)
        assert cipher.encrypt(tweak, message) == encrypted
        assert cipher.decrypt(tweak, encrypted) == message


@each_key
@given(message=messages)
def test_results_in_a_buffer_equal_new_ones(key, message):
    tweak, data = message
    cipher = AESHCTR2(key)
    encrypted = cipher.encrypt(tweak, data)
    buffer = bytearray(data)
    assert cipher.encrypt_into(tweak, buffer, buffer) == len(data)
    assert buffer == encrypted
    assert cipher.decrypt_into(tweak, buffer, buffer) == len(data)
    assert buffer == data == cipher.decrypt(tweak, encrypted)


@each_key
@given(many=st.lists(messages, max_size=40), threads=st.sampled_from([None, 1, 3]))
def test_many_messages_equal_a_loop(key, many, threads):
    cipher = AESHCTR2(key)
    tweaks, data = [tweak for tweak, _ in many], [message for _, message in many]
    encrypted = cipher.encrypt_many(tweaks, data, threads=threads)
    assert encrypted == [cipher.encrypt(*message) for message in many]
    assert cipher.decrypt_many(tweaks, encrypted, threads=threads) == data


@each_key
def test_many_rows_of_an_array_under_one_tweak_or_rows_of_tweaks(key):
    cipher, rows = AESHCTR2(key), np.random.default_rng(7).integers(0, 256, (333, 48), np.uint8)
    tweaks = np.random.default_rng(8).integers(0, 256, (333, 5), np.uint8)
    same, each = cipher.encrypt_many(b"tweak", rows), cipher.encrypt_many(tweaks, rows)
    for row in (0, 1, 63, 64, 332):
        assert bytes(same[row]) == cipher.encrypt(b"tweak", bytes(rows[row]))
        assert bytes(each[row]) == cipher.encrypt(bytes(tweaks[row]), bytes(rows[row]))
    assert (cipher.decrypt_many(tweaks, each) == rows).all()


@each_key
def test_each_bit_of_a_ciphertext_changes_the_whole_message(key):
    cipher, message = AESHCTR2(key), bytes(40)
    encrypted = cipher.encrypt(b"", message)
    for bit in range(len(encrypted) * 8):
        changed = bytearray(encrypted)
        changed[bit // 8] ^= 1 << bit % 8
        opened = cipher.decrypt(b"", changed)
        assert sum(byte != 0 for byte in opened) > 25


def test_wrong_lengths_are_refused():
    cipher = AESHCTR2(KEYS[128])
    for size in (0, 1, 15):
        assert outcome(lambda size=size: cipher.encrypt(b"", bytes(size)))[0] is ValueError
        assert outcome(lambda size=size: cipher.decrypt(b"", bytes(size)))[0] is ValueError
        assert outcome(lambda size=size: cipher.encrypt_many([b""], [bytes(size)]))[0] is ValueError
    with pytest.raises(ValueError, match="buffer must be 16 bytes"):
        cipher.encrypt_into(b"", bytes(16), bytearray(17))
    for call in (cipher.encrypt_many, cipher.decrypt_many):
        with pytest.raises(ValueError, match="2 tweaks for 1 messages"):
            call([b"", b""], [bytes(16)])
    for size in (0, 15, 17, 24, 31, 33, 64):
        assert outcome(lambda size=size: AESHCTR2(bytes(size))) == (
            ValueError,
            "AESHCTR2 key must be 128 or 256 bits.",
        )
    with pytest.raises(ValueError, match="bit_length must be 128 or 256"):
        AESHCTR2.generate_key(192)


def test_ciphers_are_neither_copied_nor_pickled():
    cipher = AESHCTR2(KEYS[256])
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            attempt(cipher)
    assert len(AESHCTR2.generate_key(256)) == 32
