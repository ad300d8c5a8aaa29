"""`encrypt_many` and `decrypt_many` equal a loop of single calls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sealcomb

CIPHERS = {
    "AESGCM": sealcomb.AESGCM(bytes(range(16))),
    "AESCCM": sealcomb.AESCCM(bytes(range(24)), 8),
    "AESOCB3": sealcomb.AESOCB3(bytes(range(32))),
    "AESGCMSIV": sealcomb.AESGCMSIV(bytes(range(32))),
}
SIV = sealcomb.AESSIV(bytes(range(64)))
each_cipher = pytest.mark.parametrize("cipher", CIPHERS.values(), ids=CIPHERS)


def nonces_for(count):
    return [index.to_bytes(12, "big") for index in range(count)]


def in_a_loop(cipher, nonces, data, aads):
    return [cipher.encrypt(*each) for each in zip(nonces, data, aads, strict=True)]


@each_cipher
@given(messages=st.lists(st.tuples(st.binary(max_size=200), st.none() | st.binary(max_size=40)), max_size=40))
@pytest.mark.parametrize("threads", [None, 1, 3])
def test_many_messages_equal_a_loop(cipher, threads, messages):
    data, aads = [message for message, _ in messages], [aad for _, aad in messages]
    nonces = nonces_for(len(data))
    sealed = cipher.encrypt_many(nonces, data, aads, threads=threads)
    assert sealed == in_a_loop(cipher, nonces, data, aads)
    assert cipher.decrypt_many(nonces, sealed, aads, threads=threads) == data
    assert cipher.decrypt_many(nonces, sealed, aads, forged="none", threads=threads) == data


@given(
    messages=st.lists(
        st.tuples(st.binary(max_size=200), st.none() | st.lists(st.binary(max_size=9), max_size=3))
    )
)
def test_many_messages_of_siv_equal_a_loop(messages):
    data, strings = [message for message, _ in messages], [each for _, each in messages]
    sealed = SIV.encrypt_many(data, associated_data_each=strings)
    assert sealed == [SIV.encrypt(*each) for each in messages]
    assert SIV.decrypt_many(sealed, associated_data_each=strings) == data


def test_siv_accepts_strings_for_all_messages():
    data = [b"one", b"two"]
    for strings in (None, [], [b"a"], [b"a", b"b"], [b"a", b"b", b"c"]):
        assert SIV.encrypt_many(data, strings) == [SIV.encrypt(message, strings) for message in data]


def test_siv_never_guesses_which_associated_data_it_got():
    for strings in ([[b"a"], [b"b"]], [None, None], [[]]):
        with pytest.raises(TypeError):
            SIV.encrypt_many([b"one", b"two"], strings)
    assert SIV.encrypt_many([b"one", b"two"], associated_data_each=[None, []]) == SIV.encrypt_many(
        [b"one", b"two"]
    )
    for strings in ([], [[b"a"]], [[b"a"]] * 3):
        with pytest.raises(ValueError, match=f"{len(strings)} associated_data_each for 2 messages"):
            SIV.encrypt_many([b"one", b"two"], associated_data_each=strings)
        with pytest.raises(ValueError, match="associated_data_each for 2 messages"):
            SIV.decrypt_many([bytes(20), bytes(20)], associated_data_each=strings)
    with pytest.raises(ValueError, match="exclude each other"):
        SIV.encrypt_many([b"one"], [b"a"], associated_data_each=[[b"a"]])
    with pytest.raises(TypeError):
        SIV.encrypt_many([b"one"], associated_data_each=[b"a"])


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("AESGCM", 12),
        ("AESCCM", 12),
        ("AESOCB3", 12),
        ("AESGCMSIV", 12),
        ("XAES256GCM", 24),
        ("AEGIS128L", 16),
        ("AEGIS256", 32),
    ],
)
def test_flat_nonces_have_the_standard_length(name, length):
    kind = getattr(sealcomb, name)
    assert kind.nonce_length == length
    cipher, data = kind(bytes(16 if name == "AEGIS128L" else 32)), [b"one", b"two"]
    nonces = [bytes([at]) * length for at in (1, 2)]
    sealed = cipher.encrypt_many(b"".join(nonces), data)
    assert sealed == in_a_loop(cipher, nonces, data, [None] * 2)
    assert cipher.decrypt_many(memoryview(b"".join(nonces)), sealed) == data
    for size in (0, 1, length, 2 * length - 1, 2 * length + 1, 2 * length + 2, 3 * length, 4 * length):
        for call in (cipher.encrypt_many, cipher.decrypt_many):
            with pytest.raises(
                ValueError, match=f"{size} bytes of nonces for 2 messages; expected {length} bytes"
            ):
                call(bytes(size), data)


def test_nonces_of_another_length_come_one_by_one_or_in_rows():
    cipher, data = CIPHERS["AESGCM"], [b"one", b"two"]
    nonces = [bytes([at]) * 24 for at in (1, 2)]
    expected = in_a_loop(cipher, nonces, data, [None] * 2)
    rows = np.frombuffer(b"".join(nonces), np.uint8).reshape(2, 24)
    for each in (nonces, tuple(nonces), rows, memoryview(b"".join(nonces)).cast("B", (2, 24))):
        assert cipher.encrypt_many(each, data) == expected
    with pytest.raises(ValueError, match="pass nonces of another length as a list, or as a two-dim"):
        cipher.encrypt_many(b"".join(nonces), data)


@each_cipher
def test_one_associated_data_for_all(cipher):
    data, nonces = [b"one", b"two", b"three"], nonces_for(3)
    for aad in (None, b"", b"header", bytearray(b"header")):
        assert cipher.encrypt_many(nonces, data, aad) == in_a_loop(cipher, nonces, data, [aad] * 3)


@each_cipher
def test_many_rounds_of_work(cipher):
    random = np.random.default_rng(1)
    data = [random.bytes(size) for size in random.integers(0, 3000, 9000)]
    nonces = nonces_for(len(data))
    sealed = cipher.encrypt_many(nonces, data)
    assert sealed == in_a_loop(cipher, nonces, data, [None] * len(data))
    forged = [0, 511, 512, 4000, 8999]
    for index in forged:
        sealed[index] = sealed[index][:-1] + bytes([sealed[index][-1] ^ 1])
    opened = cipher.decrypt_many(nonces, sealed, forged="none")
    assert [index for index, message in enumerate(opened) if message is None] == forged
    assert all(message is None or message == data[index] for index, message in enumerate(opened))


@each_cipher
def test_forged_messages_are_named(cipher):
    nonces, data = nonces_for(5), [b"message"] * 5
    sealed = cipher.encrypt_many(nonces, data)
    sealed[1] = b"short"
    sealed[3] = bytes(len(sealed[3]))
    with pytest.raises(sealcomb.ForgedMessages, match="2 messages did not verify: 1, 3;") as caught:
        cipher.decrypt_many(nonces, sealed)
    assert isinstance(caught.value, sealcomb.InvalidTag)
    assert caught.value.indices == (1, 3)
    assert caught.value.index == 1
    assert cipher.decrypt_many(nonces, sealed, forged="none") == [
        b"message",
        None,
        b"message",
        None,
        b"message",
    ]


@each_cipher
def test_a_repeated_nonce_is_refused(cipher):
    nonces = nonces_for(1000)
    nonces[700] = bytearray(nonces[123])
    with pytest.raises(ValueError, match="messages 123 and 700 have the same nonce"):
        cipher.encrypt_many(nonces, [b"m"] * 1000)
    # Opening may repeat nonces.
    sealed = cipher.encrypt(nonces[0], b"m", None)
    assert cipher.decrypt_many([nonces[0]] * 2, [sealed] * 2) == [b"m"] * 2


@each_cipher
@pytest.mark.parametrize("second", [1, 500, 999])
@pytest.mark.parametrize("shape", ["list", "array", "flat"])
def test_equal_neighbors_among_ascending_nonces_are_refused(cipher, second, shape):
    """Strictly ascending nonces skip the search for duplicates. Equal neighbors must not."""
    nonces = nonces_for(999)
    nonces.insert(second, nonces[second - 1])
    if shape != "list":
        nonces = b"".join(nonces)
    if shape == "array":
        nonces = np.frombuffer(nonces, np.uint8).reshape(1000, 12)
    with pytest.raises(ValueError, match=f"messages {second - 1} and {second} have the same nonce"):
        cipher.encrypt_many(nonces, [b"m"] * 1000)


@each_cipher
def test_arrays_come_back_as_arrays(cipher):
    data = np.random.default_rng(2).integers(0, 256, (700, 33), dtype=np.uint8)
    nonces = np.frombuffer(b"".join(nonces_for(700)), np.uint8).reshape(700, 12)
    aads = np.random.default_rng(3).integers(0, 256, (700, 5), dtype=np.uint8)
    sealed = cipher.encrypt_many(nonces, data, aads)
    expected = in_a_loop(cipher, nonces_for(700), map(bytes, data), map(bytes, aads))
    assert sealed.shape == (700, len(expected[0]))
    assert sealed.dtype == np.uint8
    assert list(map(bytes, sealed)) == expected
    opened = cipher.decrypt_many(nonces, sealed, aads)
    np.testing.assert_array_equal(opened, data)
    assert opened.flags.writeable
    sealed[5, 0] ^= 1
    with pytest.raises(sealcomb.ForgedMessages) as caught:
        cipher.decrypt_many(nonces, sealed, aads)
    assert caught.value.indices == (5,)
    rows = cipher.decrypt_many(nonces, sealed, aads, forged="none")
    assert rows[5] is None
    assert rows[4] == bytes(data[4])


def test_arrays_of_siv():
    data = np.arange(60, dtype=np.uint8).reshape(4, 15)
    sealed = SIV.encrypt_many(data, [b"a"])
    assert list(map(bytes, sealed)) == [SIV.encrypt(bytes(row), [b"a"]) for row in data]
    np.testing.assert_array_equal(SIV.decrypt_many(sealed, [b"a"]), data)


@pytest.mark.parametrize("shape", [(0, 7), (3, 0), (0, 0)])
def test_empty_arrays(shape):
    cipher = CIPHERS["AESGCM"]
    data = np.zeros(shape, np.uint8)
    nonces = np.frombuffer(b"".join(nonces_for(shape[0])), np.uint8).reshape(shape[0], 12)
    sealed = cipher.encrypt_many(nonces, data)
    assert sealed.shape == (shape[0], shape[1] + 16)
    np.testing.assert_array_equal(cipher.decrypt_many(nonces, sealed), data)


def test_nonces_can_be_one_flat_buffer():
    cipher, data = CIPHERS["AESGCM"], [b"one", b"two", b"three"]
    nonces = nonces_for(3)
    for together in (b"".join(nonces), bytearray(b"".join(nonces)), memoryview(b"".join(nonces))):
        assert cipher.encrypt_many(together, data) == cipher.encrypt_many(nonces, data)


def test_empty_lists():
    for cipher in CIPHERS.values():
        assert cipher.encrypt_many([], []) == []
        assert cipher.encrypt_many(b"", []) == []
        assert cipher.decrypt_many([], [], []) == []
    assert SIV.encrypt_many([]) == []


def test_messages_can_be_any_buffer():
    cipher = CIPHERS["AESGCM"]
    data = [b"message", bytearray(b"message"), memoryview(b"message"), np.frombuffer(b"message", np.uint8)]
    nonces = tuple(nonces_for(4))
    assert cipher.encrypt_many(nonces, data) == in_a_loop(cipher, nonces, data, [None] * 4)


BAD_CALLS = {
    "a nonce too few": (
        lambda c: c.encrypt_many(nonces_for(1), [b"a", b"b"]),
        ValueError,
        "1 nonces for 2 messages",
    ),
    "an associated data too many": (
        lambda c: c.encrypt_many(nonces_for(2), [b"a", b"b"], [b""] * 3),
        ValueError,
        "3 associated_data for 2 messages",
    ),
    "a nonce of another length": (
        lambda c: c.encrypt_many([bytes(12), bytes(7)], [b"a", b"b"]),
        ValueError,
        "Nonce must be between 8 and 128 bytes",
    ),
    "flat nonces of another length": (
        lambda c: c.encrypt_many(bytes(23), [b"a", b"b"]),
        ValueError,
        "23 bytes of nonces for 2 messages; expected 12 bytes per message",
    ),
    "one message": (
        lambda c: c.encrypt_many(nonces_for(1), b"message"),
        TypeError,
        "data must be a list of bytes",
    ),
    "text": (
        lambda c: c.encrypt_many(nonces_for(1), ["message"]),
        TypeError,
        "Did you mean to pass a bytestring",
    ),
    "nothing": (lambda c: c.encrypt_many(nonces_for(1), None), TypeError, "not <class 'NoneType'>"),
    "a flat array": (
        lambda c: c.encrypt_many(nonces_for(2), np.zeros(2, np.uint8)),
        TypeError,
        "must have two dimensions",
    ),
    "an array of another type": (
        lambda c: c.encrypt_many(nonces_for(2), np.zeros((2, 2))),
        TypeError,
        "the type uint8",
    ),
    "no threads": (lambda c: c.encrypt_many([], [], threads=0), ValueError, "threads must be 1 or more"),
    "another verdict": (
        lambda c: c.decrypt_many([], [], forged="ignore"),
        ValueError,
        'use "raise" or "none"',
    ),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_invalid_calls_are_explained(name):
    call, error, text = BAD_CALLS[name]
    with pytest.raises(error, match=text):
        call(CIPHERS["AESGCM"])


class Liar(list):
    """A list that reports a length that exceeds memory."""

    def __len__(self):
        return 1 << 60


def test_a_list_that_reports_a_wrong_length():
    cipher = CIPHERS["AESGCM"]
    assert cipher.encrypt_many(Liar(nonces_for(2)), Liar([b"one", b"two"])) == cipher.encrypt_many(
        nonces_for(2), [b"one", b"two"]
    )
