"""AES-XTS: results equal those of pyca's `modes.XTS`, also many at once; wrong arguments are refused."""

import copy
import pickle

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from sealcomb.hazmat import AESXTS

KEYS = {bits: bytes(range(bits // 8)) for bits in (256, 512)}
each_key = pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
tweaks = st.binary(min_size=16, max_size=16)
units = st.tuples(tweaks, st.binary(min_size=16, max_size=600))


def pyca_encrypt(key, tweak, data):
    encryptor = Cipher(algorithms.AES(key), modes.XTS(tweak)).encryptor()
    return encryptor.update(data) + encryptor.finalize()


def outcome(call):
    """Returns the result of a call, or its exception with the message."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


@given(key=st.sampled_from(list(KEYS.values())), unit=units)
def test_results_equal_pycas(key, unit):
    tweak, data = unit
    cipher = AESXTS(key)
    encrypted = cipher.encrypt(tweak, data)
    assert encrypted == pyca_encrypt(key, tweak, data)
    assert cipher.decrypt(tweak, encrypted) == data


@each_key
def test_every_length_that_steals_ciphertext(key):
    cipher, tweak = AESXTS(key), bytes(range(16, 32))
    for size in [*range(16, 130), 511, 512, 513, 4095, 4096, 4097, 1 << 20]:
        data = np.random.default_rng(size).bytes(size)
        encrypted = pyca_encrypt(key, tweak, data)
        assert cipher.encrypt(tweak, data) == encrypted, size
        assert cipher.decrypt(tweak, encrypted) == data, size
        buffer = bytearray(data)
        assert cipher.encrypt_into(tweak, buffer, buffer) == size
        assert buffer == encrypted
        assert cipher.decrypt_into(tweak, buffer, buffer) == size
        assert buffer == data


@each_key
@given(many=st.lists(units, max_size=40), threads=st.sampled_from([None, 1, 3]))
def test_many_data_units_equal_a_loop(key, many, threads):
    cipher = AESXTS(key)
    tweaks, data = [tweak for tweak, _ in many], [unit for _, unit in many]
    encrypted = cipher.encrypt_many(tweaks, data, threads=threads)
    assert encrypted == [cipher.encrypt(*unit) for unit in many]
    assert cipher.decrypt_many(tweaks, encrypted, threads=threads) == data


@each_key
@pytest.mark.parametrize("sector_bytes", [16, 512, 520, 4096])
def test_the_sectors_of_an_image_are_the_rows_of_an_array(key, sector_bytes):
    image = np.random.default_rng(sector_bytes).bytes(sector_bytes * 777)
    rows = np.frombuffer(image, np.uint8).reshape(-1, sector_bytes)
    numbers = np.zeros((len(rows), 2), "<u8")
    numbers[:, 0] = np.arange(len(rows))
    cipher = AESXTS(key)
    encrypted = cipher.encrypt_many(numbers.view(np.uint8), rows)
    assert encrypted.shape == rows.shape
    for number in (0, 1, 63, 64, 776):
        tweak = number.to_bytes(16, "little")
        assert bytes(encrypted[number]) == pyca_encrypt(key, tweak, bytes(rows[number]))
    assert cipher.decrypt_many(numbers.tobytes(), encrypted).tobytes() == image


@each_key
@pytest.mark.parametrize(
    ("sector_size", "step", "first"), [(512, 1, 0), (4096, 8, 800), (520, 3, (1 << 64) - 5), (16, 0, 9)]
)
@pytest.mark.parametrize("rest", [0, 16, 17])
def test_sectors_have_their_numbers_as_tweaks(key, sector_size, step, first, rest):
    if rest >= sector_size:
        rest = 0
    run = np.random.default_rng(sector_size).bytes(77 * sector_size + rest)
    sectors = [run[at : at + sector_size] for at in range(0, len(run), sector_size)]
    expected = [
        pyca_encrypt(key, (first + index * step).to_bytes(16, "little"), sector)
        for index, sector in enumerate(sectors)
    ]
    cipher = AESXTS(key)
    encrypted = cipher.encrypt_sectors(first, run, sector_size, step=step)
    assert encrypted == b"".join(expected)
    assert cipher.decrypt_sectors(first, bytearray(encrypted), sector_size, step=step) == run


def test_sectors_of_512_bytes_are_the_default():
    cipher = AESXTS(KEYS[256])
    assert cipher.encrypt_sectors(5, bytes(1024)) == cipher.encrypt_sectors(
        5, bytes(1024), sector_size=512, step=1
    )
    assert cipher.encrypt_sectors(5, b"") == b""


def test_invalid_sectors_are_refused():
    cipher = AESXTS(KEYS[256])
    for call in (cipher.encrypt_sectors, cipher.decrypt_sectors):
        with pytest.raises(ValueError, match="message of 15 bytes; this mode takes at least 16"):
            call(0, bytes(512 + 15))
        for first, step in ((-1, 1), (1 << 64, 1), (0, -1), (0, 1 << 64)):
            with pytest.raises(OverflowError):
                call(first, bytes(512), step=step)


def test_tweaks_may_repeat():
    cipher, tweak = AESXTS(KEYS[256]), bytes(16)
    assert cipher.encrypt_many([tweak] * 2, [b"a" * 16, b"a" * 16]) == [cipher.encrypt(tweak, b"a" * 16)] * 2


@pytest.mark.parametrize("size", [0, 16, 24, 31, 33, 48, 63, 65, 128])
def test_invalid_keys_have_pycas_message(size):
    with pytest.raises(
        ValueError, match="requires a 256-bit key for AES-128-XTS and 512-bit key for AES-256-XTS"
    ):
        AESXTS(bytes(range(size)))


@each_key
def test_keys_with_equal_halves_are_refused(key):
    half = len(key) // 2
    with pytest.raises(ValueError, match=r"key of two equal halves; aes.*-xts takes two different keys"):
        AESXTS(key[:half] * 2)
    with pytest.raises(ValueError, match="duplicated keys"):
        pyca_encrypt(key[:half] * 2, bytes(16), bytes(16))
    for at in range(len(key)):
        different = bytearray(key[:half] * 2)
        different[at] ^= 1
        AESXTS(different)


@pytest.mark.parametrize("size", [*range(16), 17, 32])
def test_invalid_tweaks_have_pycas_message(size):
    cipher, theirs = AESXTS(KEYS[256]), outcome(lambda: modes.XTS(bytes(size)))
    for call in (cipher.encrypt, cipher.decrypt):
        assert outcome(lambda call=call: call(bytes(size), bytes(32))) == theirs
    for call in (cipher.encrypt_many, cipher.decrypt_many):
        assert outcome(lambda call=call: call([bytes(size)], [bytes(32)])) == theirs


@pytest.mark.parametrize(
    ("size", "limit"), [(0, "at least 16"), (15, "at least 16"), ((1 << 24) + 1, "at most 16777216")]
)
def test_data_units_of_invalid_lengths_are_refused(size, limit):
    cipher, tweak, data = AESXTS(KEYS[512]), bytes(16), bytes(size)
    for call in (cipher.encrypt, cipher.decrypt):
        with pytest.raises(ValueError, match=limit):
            call(tweak, data)
    for call in (cipher.encrypt_into, cipher.decrypt_into):
        buffer = bytearray(b"\xff" * size)
        with pytest.raises(ValueError, match=limit):
            call(tweak, data, buffer)
        assert buffer == b"\xff" * size
    for call in (cipher.encrypt_many, cipher.decrypt_many):
        with pytest.raises(ValueError, match=f"message 1: .*{limit}"):
            call([tweak] * 2, [bytes(16), data])


def test_buffers_of_another_length_are_refused():
    cipher = AESXTS(KEYS[256])
    for call in (cipher.encrypt_into, cipher.decrypt_into):
        for size in (0, 19, 21, 36):
            with pytest.raises(ValueError, match="buffer must be 20 bytes"):
                call(bytes(16), bytes(20), bytearray(size))


def test_new_keys_have_the_length_and_differ():
    for bits in KEYS:
        first, second = AESXTS.generate_key(bit_length=bits), AESXTS.generate_key(bits)
        assert len(first) == len(second) == bits // 8
        assert first != second
    for bits in (0, 128, 192, 384, 1024):
        with pytest.raises(ValueError, match="bit_length must be 256 or 512"):
            AESXTS.generate_key(bits)


def test_a_cipher_is_not_pickled_or_copied_and_shows_no_key():
    cipher = AESXTS(KEYS[512])
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle"):
            attempt(cipher)
    assert KEYS[512].hex() not in repr(cipher)


@pytest.mark.parametrize("size", [0, 1, 15, (1 << 24) + 1])
def test_sector_sizes_that_are_not_supported_are_named(size):
    cipher = AESXTS(KEYS[512])
    for call in (cipher.encrypt_sectors, cipher.decrypt_sectors):
        for data in (b"", bytes(64)):
            with pytest.raises(
                ValueError, match=f"sector_size is {size}; a sector is a message of 16 to 16777216 bytes"
            ):
                call(0, data, size)


def test_numbers_of_tweaks_are_those_of_tweaks():
    cipher = AESXTS(KEYS[256])
    for call in (cipher.encrypt_many, cipher.decrypt_many):
        with pytest.raises(ValueError, match="1 tweaks for 2 messages"):
            call([bytes(16)], [bytes(16)] * 2)
        with pytest.raises(
            ValueError, match="17 bytes of tweaks for 2 messages; expected 16 bytes per message"
        ):
            call(bytes(17), [bytes(16)] * 2)
