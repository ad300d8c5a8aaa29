"""The classes of pyca's `cryptography` and ours return the same results and errors."""

import copy
import pickle
import re

import cryptography.exceptions
import numpy as np
import pytest
from cryptography.hazmat.primitives import cmac as pyca_cmac
from cryptography.hazmat.primitives.ciphers import aead as pyca
from cryptography.hazmat.primitives.ciphers import algorithms as pyca_algorithms
from hypothesis import given
from hypothesis import strategies as st

import sealcomb

NONCES = {
    "AESGCM": range(8, 129),
    "AESCCM": range(7, 14),
    "AESOCB3": range(12, 16),
    "AESGCMSIV": range(12, 13),
}
CLASSES = list(NONCES)
KEYS = {name: (16, 32) if name == "AESGCMSIV" else (16, 24, 32) for name in CLASSES}


def shown(value):
    """Returns the `repr` of a parameter, without an address: parallel processes agree on the test names."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def both(name):
    return getattr(pyca, name), getattr(sealcomb, name)


def outcome(call):
    """Returns the result of a call, or its exception with the message."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def agree(name, call):
    """Asserts that a call has the same outcome for both classes of a name, except for type names."""
    theirs, ours = (outcome(lambda cls=cls: call(cls)) for cls in both(name))
    assert theirs == ours


@pytest.mark.parametrize("name", CLASSES)
@given(data=st.data())
def test_results_equal_pycas(name, data):
    theirs, ours = both(name)
    key = data.draw(st.sampled_from(KEYS[name]).flatmap(lambda size: st.binary(min_size=size, max_size=size)))
    sizes = NONCES[name]
    nonce = data.draw(st.binary(min_size=sizes[0], max_size=sizes[-1]))
    message = data.draw(st.binary(max_size=600))
    aad = data.draw(st.none() | st.binary(max_size=100))
    sealed = theirs(key).encrypt(nonce, message, aad)
    assert ours(key).encrypt(nonce, message, aad) == sealed
    assert ours(key).decrypt(nonce, sealed, aad) == message


@given(
    key=st.sampled_from([32, 48, 64]).flatmap(lambda size: st.binary(min_size=size, max_size=size)),
    message=st.binary(max_size=600),
    strings=st.none() | st.lists(st.binary(max_size=50), max_size=5),
)
def test_siv_results_equal_pycas(key, message, strings):
    sealed = pyca.AESSIV(key).encrypt(message, strings)
    assert sealcomb.AESSIV(key).encrypt(message, strings) == sealed
    assert sealcomb.AESSIV(key).decrypt(sealed, strings) == message


@pytest.mark.parametrize("length", [0, 4, 6, 8, 10, 12, 14, 16, 1, 5, 17, 18, -2, "4", None])
def test_ccm_has_pycas_tag_lengths(length):
    agree("AESCCM", lambda cls: cls(bytes(16), length).encrypt(bytes(12), b"message", None))
    agree("AESCCM", lambda cls: cls(bytes(16), tag_length=length).encrypt(bytes(12), b"message", None))


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("size", range(131))
def test_invalid_nonces_have_pycas_message(name, size):
    agree(name, lambda cls: cls(bytes(16)).encrypt(bytes(size), b"message", None))
    agree(name, lambda cls: cls(bytes(16)).decrypt(bytes(size), bytes(40), None))


@pytest.mark.parametrize("name", [*CLASSES, "AESSIV"])
@pytest.mark.parametrize("size", [0, 1, 15, 17, 23, 31, 33, 47, 49, 63, 65])
def test_invalid_keys_have_pycas_message(name, size):
    theirs, ours = (outcome(lambda cls=cls: cls(bytes(size))) for cls in both(name))
    if name == "AESGCMSIV":
        assert ours == (ValueError, "AES-GCM-SIV key must be 128 or 256 bits.")
    else:
        assert ours == theirs


def test_gcm_siv_has_no_192_bit_keys():
    with pytest.raises(ValueError, match="must be 128 or 256 bits"):
        sealcomb.AESGCMSIV(bytes(24))
    with pytest.raises(ValueError, match="must be 128 or 256"):
        sealcomb.AESGCMSIV.generate_key(192)


@pytest.mark.parametrize("name", [*CLASSES, "AESSIV"])
@pytest.mark.parametrize("bits", [0, 1, 127, 192.0, 512.5, -1, "128", None, 64, 1024])
def test_keys_of_invalid_lengths_are_not_generated(name, bits):
    theirs, ours = (outcome(lambda cls=cls: cls.generate_key(bits)) for cls in both(name))
    if name == "AESGCMSIV" and theirs[0] is ValueError:
        assert ours == (ValueError, "bit_length must be 128 or 256")
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", [*CLASSES, "AESSIV"])
def test_new_keys_have_the_length_and_differ(name):
    cls = getattr(sealcomb, name)
    for bits in (256, 512) if name == "AESSIV" else (128, 256):
        first, second = cls.generate_key(bit_length=bits), cls.generate_key(bits)
        assert len(first) == len(second) == bits // 8
        assert first != second


NO_BYTES = [None, 1, "text", [b"x"], np.arange(4, dtype=np.int32), np.zeros(4, dtype="<f8")]
ODD_BUFFERS = [
    memoryview(bytes(32))[::2],
    np.zeros((4, 8), np.uint8)[:, ::2],
    np.asfortranarray(np.zeros((4, 8), np.uint8)),
]
GOOD_BUFFERS = [
    bytearray(b"0123456789abcdef"),
    memoryview(b"0123456789abcdef"),
    memoryview(b"0123456789abcdef0123")[4:],
    np.arange(16, dtype=np.uint8),
    np.arange(16, dtype=np.uint8).reshape(4, 4),
    np.arange(32, dtype=np.uint8)[::2].copy(),
]


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("odd", NO_BYTES + ODD_BUFFERS, ids=shown)
def test_invalid_buffers_have_pycas_message(name, odd):
    nonce = bytes(12)
    agree(name, lambda cls: cls(odd))
    agree(name, lambda cls: cls(bytes(16)).encrypt(odd, b"message", None))
    agree(name, lambda cls: cls(bytes(16)).encrypt(nonce, odd, None))
    agree(name, lambda cls: cls(bytes(16)).decrypt(nonce, odd, None))
    agree(name, lambda cls: cls(bytes(16)).encrypt(nonce, b"message", odd))
    agree(name, lambda cls: cls(bytes(16)).encrypt_into(nonce, b"message", None, odd))


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("good", GOOD_BUFFERS, ids=shown)
def test_every_contiguous_buffer_is_accepted(name, good):
    agree(name, lambda cls: cls(good).encrypt(bytes(12), good, good))
    agree(name, lambda cls: cls(good).encrypt(memoryview(bytes(12)), bytearray(good), good))


def test_a_key_buffer_can_change_afterwards():
    key = bytearray(range(16))
    cipher = sealcomb.AESGCM(key)
    before = cipher.encrypt(bytes(12), b"message", None)
    key[:] = bytes(16)
    assert cipher.encrypt(bytes(12), b"message", None) == before


@pytest.mark.parametrize("name", CLASSES)
def test_arguments_have_pycas_names(name):
    agree(name, lambda cls: cls(key=bytes(16)).encrypt(nonce=bytes(12), data=b"m", associated_data=b"a"))
    agree(name, lambda cls: cls(bytes(16)).encrypt(bytes(12), b"m"))
    agree(name, lambda cls: cls())
    agree(name, lambda cls: cls(bytes(16)).decrypt(nonce=bytes(12), data=bytes(16), associated_data=None))


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 40])
def test_a_forged_message_raises_pycas_exception(name, size):
    agree(name, lambda cls: cls(bytes(16)).decrypt(bytes(12), bytes(size), None))
    with pytest.raises(cryptography.exceptions.InvalidTag):
        getattr(sealcomb, name)(bytes(16)).decrypt(bytes(12), bytes(size), None)


@pytest.mark.parametrize(
    ("name", "key_bytes", "nonce_bytes"),
    [
        *((name, 16, 12) for name in CLASSES),
        ("AEGIS128L", 16, 16),
        ("AEGIS256", 32, 32),
        ("XAES256GCM", 32, 24),
    ],
)
def test_each_bit_of_nonce_data_aad_and_tag_counts(name, key_bytes, nonce_bytes):
    cipher = getattr(sealcomb, name)(bytes(key_bytes))
    nonce = bytes(nonce_bytes)
    parts = [nonce, cipher.encrypt(nonce, b"message", b"aad"), b"aad"]
    for part in range(3):
        for bit in range(len(parts[part]) * 8):
            changed = list(parts)
            flipped = bytearray(changed[part])
            flipped[bit // 8] ^= 1 << bit % 8
            changed[part] = bytes(flipped)
            with pytest.raises(sealcomb.InvalidTag):
                cipher.decrypt(*changed)


def test_invalid_tag_is_pycas():
    assert sealcomb.InvalidTag is cryptography.exceptions.InvalidTag
    assert sealcomb.InvalidSignature is cryptography.exceptions.InvalidSignature
    assert sealcomb.AlreadyFinalized is cryptography.exceptions.AlreadyFinalized


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_encrypt_into_checks_the_buffer_length(name, extra):
    def call(cls):
        buffer = bytearray(b"\xff" * (7 + 16 + extra))
        count = cls(bytes(16)).encrypt_into(bytes(12), b"message", b"aad", buffer)
        return count, bytes(buffer)

    agree(name, call)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_decrypt_into_checks_the_buffer_length(name, extra):
    def call(cls):
        cipher = cls(bytes(16))
        buffer = bytearray(b"\xff" * (7 + extra))
        count = cipher.decrypt_into(bytes(12), cipher.encrypt(bytes(12), b"message", None), None, buffer)
        return count, bytes(buffer)

    agree(name, call)


@pytest.mark.parametrize("name", CLASSES)
def test_into_refuses_read_only_buffers(name):
    agree(name, lambda cls: cls(bytes(16)).encrypt_into(bytes(12), b"data", None, bytes(20)))
    agree(name, lambda cls: cls(bytes(16)).encrypt_into(bytes(12), b"data", None, memoryview(bytes(20))))


@pytest.mark.parametrize("name", CLASSES)
def test_a_message_can_be_sealed_in_place(name):
    buffer = bytearray(b"data" + bytes(16))
    cipher = getattr(sealcomb, name)(bytes(16))
    assert cipher.encrypt_into(bytes(12), memoryview(buffer)[:4], None, buffer) == 20
    assert bytes(buffer) == cipher.encrypt(bytes(12), b"data", None)


@pytest.mark.parametrize("name", CLASSES)
def test_decrypt_into_leaves_nothing_of_a_forged_message(name):
    cipher = getattr(sealcomb, name)(bytes(16))
    sealed = bytearray(cipher.encrypt(bytes(12), b"message", None))
    sealed[-1] ^= 1
    buffer = bytearray(b"before.")
    with pytest.raises(sealcomb.InvalidTag):
        cipher.decrypt_into(bytes(12), sealed, None, buffer)
    assert buffer == b"before."


@pytest.mark.parametrize("size", [0, 1, (1 << 14) - 1, 1 << 14, 1_000_003])
@pytest.mark.parametrize("name", CLASSES)
def test_messages_of_any_length(name, size):
    message = np.random.default_rng(size).bytes(size)
    agree(name, lambda cls: cls(bytes(16)).encrypt(bytes(12), message, b"aad"))
    cipher = getattr(sealcomb, name)(bytes(16))
    assert cipher.decrypt(bytes(12), cipher.encrypt(bytes(12), message, None), None) == message


def test_ccm_refuses_messages_over_its_limit():
    cipher = sealcomb.AESCCM(bytes(16))
    assert len(cipher.encrypt(bytes(13), bytes(65535), None)) == 65535 + 16
    with pytest.raises(ValueError, match="at most 65535"):
        cipher.encrypt(bytes(13), bytes(65536), None)
    agree("AESCCM", lambda cls: cls(bytes(16)).decrypt(bytes(13), bytes(65536 + 16), None))


def test_siv_refuses_more_associated_strings_than_its_limit():
    cipher = sealcomb.AESSIV(bytes(32))
    agree("AESSIV", lambda cls: cls(bytes(32)).encrypt(b"message", [b"a"] * 126))
    with pytest.raises(ValueError, match="at most 126"):
        cipher.encrypt(b"message", [b"a"] * 127)
    with pytest.raises(sealcomb.InvalidTag):
        cipher.decrypt(cipher.encrypt(b"message", [b"a"] * 126), [b"a"] * 127)


@pytest.mark.parametrize(
    "strings",
    [
        None,
        [],
        [b""],
        [b"a", b"b"],
        [b"ab"],
        [bytearray(b"ab")],
        b"ab",
        (b"ab",),
        "ab",
        [1],
        ["ab"],
        {},
        [b"a"] * 126,
    ],
    ids=repr,
)
def test_siv_accepts_pycas_associated_strings(strings):
    agree("AESSIV", lambda cls: cls(bytes(32)).encrypt(b"message", strings))
    agree("AESSIV", lambda cls: cls(bytes(32)).encrypt(b"", strings))


@pytest.mark.parametrize("size", [0, 15, 16, 17, 40])
def test_a_forged_message_of_siv_raises_pycas_exception(size):
    agree("AESSIV", lambda cls: cls(bytes(32)).decrypt(bytes(size), None))


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_siv_checks_the_buffer_length(extra):
    def seal(cls):
        buffer = bytearray(7 + 16 + extra)
        return cls(bytes(32)).encrypt_into(b"message", [b"a"], buffer), bytes(buffer)

    def reopen(cls):
        buffer = bytearray(7 + extra)
        cipher = cls(bytes(32))
        return cipher.decrypt_into(cipher.encrypt(b"message", None), None, buffer), bytes(buffer)

    agree("AESSIV", seal)
    agree("AESSIV", reopen)


@pytest.mark.parametrize("name", [*CLASSES, "AESSIV"])
def test_a_cipher_is_not_pickled_copied_or_subclassed_and_shows_no_key(name):
    key = bytes(range(32))
    cipher = getattr(sealcomb, name)(key)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle"):
            attempt(cipher)
    with pytest.raises(TypeError):
        type("Mine", (type(cipher),), {})
    assert key.hex() not in repr(cipher)
    assert not hasattr(cipher, "__dict__")


CMAC_KEYS = [bytes(range(size)) for size in (16, 24, 32)]


@pytest.mark.parametrize("key", CMAC_KEYS, ids=len)
@given(pieces=st.lists(st.binary(max_size=100), max_size=6))
def test_cmac_is_pycas(key, pieces):
    theirs, ours = pyca_cmac.CMAC(pyca_algorithms.AES(key)), sealcomb.CMAC(pyca_algorithms.AES(key))
    for piece in pieces:
        theirs.update(piece)
        ours.update(piece)
    middle = ours.copy()
    middle.update(b"more")
    assert middle.finalize() == sealcomb_cmac(key, b"".join(pieces) + b"more")
    tag = theirs.finalize()
    ours.copy().verify(tag)
    assert ours.finalize() == tag


def sealcomb_cmac(key, message):
    mac = sealcomb.CMAC(sealcomb.algorithms.AES(key))
    mac.update(message)
    return mac.finalize()


@pytest.mark.parametrize(
    "argument", [b"key", None, "AES", pyca_algorithms.ChaCha20(bytes(32), bytes(16))], ids=shown
)
def test_cmac_requires_a_block_cipher(argument):
    with pytest.raises(TypeError):
        pyca_cmac.CMAC(argument)
    with pytest.raises(TypeError):
        sealcomb.CMAC(argument)


CMAC_CALLS = {
    "update text": lambda mac: mac.update("text"),
    "update array": lambda mac: mac.update(np.zeros(3)),
    "update buffer": lambda mac: mac.update(memoryview(b"abc")),
    "update twice": lambda mac: (mac.finalize(), mac.update(b"")),
    "finalize twice": lambda mac: (mac.finalize(), mac.finalize()),
    "copy afterwards": lambda mac: (mac.finalize(), mac.copy()),
    "verify afterwards": lambda mac: (mac.finalize(), mac.verify(bytes(16))),
    "verify another": lambda mac: mac.verify(bytes(16)),
    "verify a short one": lambda mac: mac.verify(b"x"),
    "verify an empty one": lambda mac: mac.verify(b""),
    "verify text": lambda mac: mac.verify("x"),
    "verify a bytearray": lambda mac: mac.verify(bytearray(16)),
    "verify a part": lambda mac: mac.verify(mac.copy().finalize()[:8]),
    "names": lambda mac: (mac.update(data=b"x"), mac.verify(signature=bytes(16))),
}


@pytest.mark.parametrize("call", CMAC_CALLS)
def test_cmac_fails_as_pycas_does(call):
    aes = pyca_algorithms.AES(bytes(16))
    theirs, ours = (
        outcome(lambda cls=cls: CMAC_CALLS[call](cls(aes))) for cls in (pyca_cmac.CMAC, sealcomb.CMAC)
    )
    assert theirs == ours


def test_the_key_of_cmac_is_not_shown():
    aes = sealcomb.algorithms.AES(bytes(range(16)))
    assert bytes(range(16)).hex() not in repr(aes) + repr(sealcomb.CMAC(aes))
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(aes)
    with pytest.raises(ValueError, match="Invalid key size"):
        sealcomb.algorithms.AES(bytes(15))
