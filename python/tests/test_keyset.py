"""Keysets and key providers: what they accept, refuse, and never show."""

import base64
import copy
import json
import multiprocessing
import pickle
import traceback

import pyarrow as pa
import pytest

import sealcomb
from sealcomb import Keyset, KeysetError

TYPES = {"random": "AesGcmSivKey", "xaes": "XAesGcmKey", "gcm": "AesGcmKey", "deterministic": "AesSivKey"}


def tink_key(key_id, key=bytes(range(32)), kind="AesGcmSivKey", status="ENABLED", prefix="TINK", version=0):
    """Returns a key of a Tink keyset."""
    field = 2 if kind == "AesSivKey" else 3
    proto = (bytes([8, version]) if version else b"") + bytes([field << 3 | 2, len(key)]) + key
    data = {
        "typeUrl": f"type.googleapis.com/google.crypto.tink.{kind}",
        "value": base64.b64encode(proto).decode(),
        "keyMaterialType": "SYMMETRIC",
    }
    return {"keyData": data, "status": status, "keyId": key_id, "outputPrefixType": prefix}


def tink_json(primary, *keys):
    return json.dumps({"primaryKeyId": primary, "key": keys})


@pytest.mark.parametrize("policy", TYPES)
def test_a_new_keyset_has_one_key_and_its_policy(policy):
    keyset = Keyset.generate(policy)
    assert keyset.policy == policy
    assert keyset.key_ids == [keyset.primary]
    other = Keyset.generate(policy)
    assert other.primary != keyset.primary
    assert other.secret_tink_json() != keyset.secret_tink_json()


def test_the_default_policy_is_random():
    assert Keyset.generate().policy == "random"
    assert Keyset.from_keys({1: bytes(32)}, 1).policy == "random"


@pytest.mark.parametrize("policy", TYPES)
def test_a_keyset_round_trips_through_json(policy):
    keyset = Keyset.generate(policy).rotated().rotated()
    again = Keyset.from_tink_json(keyset.secret_tink_json())
    assert (again.primary, again.key_ids, again.policy) == (keyset.primary, keyset.key_ids, policy)
    assert again.secret_tink_json() == keyset.secret_tink_json()
    column = pa.array([b"one", None, b"three"])
    assert (
        sealcomb.unseal_column(sealcomb.seal_column(column, keyset, context=b""), again, context=b"")
        == column
    )


def test_keysets_from_raw_keys():
    keyset = Keyset.from_keys(
        {7: bytes(32), 4294967295: bytes(range(16)), 0: bytearray(32)}, primary=7, policy="gcm"
    )
    assert keyset.key_ids == [0, 7, 4294967295]
    assert keyset.primary == 7
    assert keyset.policy == "gcm"


def test_a_rotated_keyset_has_a_new_primary_and_keeps_the_others():
    old = Keyset.generate()
    new = old.rotated()
    assert old.key_ids == [old.primary]
    assert set(new.key_ids) == {old.primary, new.primary}
    assert new.primary != old.primary
    column = pa.array([b"value"])
    sealed = sealcomb.seal_column(column, old, context=b"")
    assert sealcomb.unseal_column(sealed, new, context=b"") == column
    with pytest.raises(sealcomb.UnknownKey):
        sealcomb.unseal_column(sealcomb.seal_column(column, new, context=b""), old, context=b"")


REFUSED = {
    "no JSON": ("{", "invalid Tink keyset in JSON"),
    "no keyset": ("{}", "missing field `primaryKeyId`"),
    "no keys": (tink_json(1), "the primary key 1 is not in the keyset"),
    "another primary": (tink_json(2, tink_key(1)), "the primary key 2 is not in the keyset"),
    "two primaries": (tink_json(1, tink_key(1), tink_key(1)), "two primary keys with the id 1; remove one"),
    "two primary ids": (
        '{"primaryKeyId": 1, "primaryKeyId": 2, "key": []}',
        r"two primary keys \(primaryKeyId occurs twice\)",
    ),
    "two keys with an id, of two forms": (
        tink_json(1, tink_key(1), tink_key(2), tink_key(2, bytes(64), "AesSivKey")),
        "two keys have the id 2 and different formats",
    ),
    "an id that is too large": (tink_json(1, tink_key(1 << 32)), "invalid Tink keyset in JSON"),
    "a key that is too short": (
        tink_json(1, tink_key(1, bytes(24))),
        r"has 24 bytes; .* takes keys of 32 bytes \(or 16\)",
    ),
    "a short key of SIV": (
        tink_json(1, tink_key(1, bytes(32), "AesSivKey")),
        "the policy deterministic takes keys of 64 bytes",
    ),
    "another type": (
        tink_json(1, tink_key(1, bytes(32), "ChaCha20Poly1305Key")),
        'the type "ChaCha20Poly1305Key"; columns take AesGcmSivKey',
    ),
    "a disabled primary": (
        tink_json(1, tink_key(1, status="DISABLED")),
        "the primary key 1 is disabled; enable it",
    ),
    "a destroyed primary": (
        tink_json(1, tink_key(1, status="DESTROYED")),
        "the primary key 1 is destroyed; make",
    ),
    "an unknown status": (
        tink_json(1, tink_key(1, status="UNKNOWN_STATUS")),
        "key 1: unknown status; expected ENABLED or DISABLED",
    ),
    "raw": (tink_json(1, tink_key(1, prefix="RAW")), "output prefix RAW.*make a key with the prefix TINK"),
    "legacy": (tink_json(1, tink_key(1, prefix="LEGACY")), "output prefix LEGACY"),
    "crunchy": (tink_json(1, tink_key(1, prefix="CRUNCHY")), "key 1 has the output prefix CRUNCHY"),
    "another version": (
        tink_json(1, tink_key(1, version=1)),
        "version 1 of AesGcmSivKey; only version 0 is supported",
    ),
    "encrypted": (
        json.dumps({"encryptedKeyset": "AAAA"}),
        "the keyset is encrypted; use keys_from_wrapped",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_keysets_are_explained(name):
    text, message = REFUSED[name]
    with pytest.raises(KeysetError, match=message) as caught:
        Keyset.from_tink_json(text)
    assert isinstance(caught.value, ValueError)


def test_a_value_that_is_not_base64_is_not_shown():
    key = tink_key(1)
    for value in ("*secret*", "secretsecret1", "secret"):
        key["keyData"]["value"] = value
        with pytest.raises(KeysetError, match=r"not base64|not a serialized AesGcmSivKey") as caught:
            Keyset.from_tink_json(tink_json(1, key))
        assert "secret" not in shown(caught.value)


@pytest.mark.parametrize("place", ["keyId", "status", "outputPrefixType", "keyData"])
def test_a_key_in_the_wrong_place_is_not_shown(place):
    key = tink_key(1)
    key[place] = "AAECAwQFBgcICQoLDA0ODw=="
    with pytest.raises(KeysetError, match="invalid Tink keyset in JSON") as caught:
        Keyset.from_tink_json(tink_json(1, key))
    assert "AAECAwQF" not in shown(caught.value)


@pytest.mark.parametrize("text", [b"", b"\xff", b"no keyset"])
def test_invalid_serialized_keysets_are_refused(text):
    with pytest.raises(KeysetError):
        Keyset.from_tink_binary(text)


@pytest.mark.parametrize(
    ("keys", "primary", "policy", "error", "message"),
    [
        ({1: bytes(32)}, 2, "random", KeysetError, "the primary key 2 is not in the keyset"),
        ({}, 2, "random", KeysetError, "the primary key 2 is not in the keyset"),
        ({1: bytes(31)}, 1, "random", KeysetError, "key 1 has 31 bytes"),
        ({1: bytes(32)}, 1, "deterministic", KeysetError, "takes keys of 64 bytes"),
        ({1: bytes(32)}, 1, "ecb", ValueError, 'use "random", "xaes", "deterministic" or "gcm"'),
        ({1: "text"}, 1, "random", TypeError, "Did you mean to pass a bytestring"),
        ({-1: bytes(32)}, 1, "random", OverflowError, "."),
        ({1 << 32: bytes(32)}, 1, "random", OverflowError, "."),
    ],
)
def test_invalid_keys_are_explained(keys, primary, policy, error, message):
    with pytest.raises(error, match=message):
        Keyset.from_keys(keys, primary, policy)


def test_a_disabled_key_opens_nothing():
    keyset = Keyset.from_tink_json(tink_json(1, tink_key(1), tink_key(2, bytes(16), status="DISABLED")))
    assert keyset.key_ids == [1]
    sealed = sealcomb.seal_column(pa.array([b"value"]), Keyset.from_keys({2: bytes(16)}, 2), context=b"")
    with pytest.raises(
        sealcomb.UnknownKey, match="key 2, which is disabled in this keyset: enable it"
    ) as caught:
        sealcomb.unseal_column(sealed, keyset, context=b"")
    assert caught.value.key_id == 2


def shown(*objects):
    """Returns everything that users and logs can see of objects."""
    texts = [repr(each) + str(each) for each in objects]
    texts += [
        "".join(traceback.format_exception(each)) for each in objects if isinstance(each, BaseException)
    ]
    texts += [repr(each.args) for each in objects if isinstance(each, BaseException)]
    return "".join(texts)


SECRET = bytes(range(0x61, 0x61 + 26)) + b"ABCDEF"


def forms(secret):
    """Returns recognizable forms of a secret."""
    return [
        secret.hex(),
        repr(secret),
        repr(list(secret)),
        base64.b64encode(secret).decode(),
        secret.decode(),
    ]


def test_no_key_is_in_repr_dir_or_exceptions():
    keyset = Keyset.from_keys({5: SECRET}, 5)
    attributes = [getattr(keyset, name) for name in dir(keyset) if not callable(getattr(keyset, name))]
    assert repr(keyset) == "Keyset(primary=5, key_ids=[5], policy='random')"
    sealed = sealcomb.seal_column(pa.array([b"value"]), keyset, context=b"")
    errors = []
    for bad in (
        lambda: sealcomb.unseal_column(sealed, keyset, context=b"another"),
        lambda: sealcomb.unseal_column(sealed, Keyset.from_keys({6: SECRET}, 6), context=b""),
        lambda: sealcomb.unseal_column(pa.array([b"plain"]), keyset, context=b""),
        lambda: Keyset.from_keys({5: SECRET + b"x"}, 5),
        lambda: Keyset.from_keys({5: SECRET}, 7),
        lambda: pickle.dumps(keyset),
    ):
        with pytest.raises((sealcomb.InvalidTag, ValueError, TypeError)) as caught:
            bad()
        errors.append(caught.value)
    text = shown(keyset, attributes, *errors)
    assert not [form for form in forms(SECRET) if form in text]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_keyset_is_not_pickled(protocol):
    with pytest.raises(TypeError, match="send a KeyProvider"):
        pickle.dumps(Keyset.generate(), protocol)


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy])
def test_a_keyset_is_not_copied(copier):
    with pytest.raises(TypeError, match="send a KeyProvider"):
        copier(Keyset.generate())


def test_a_keyset_is_not_sent_to_a_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(TypeError, match="KeyProvider"):
        pool.apply(print, (Keyset.generate(),))


def test_a_keyset_is_equal_to_itself_only():
    keyset = Keyset.from_keys({5: SECRET}, 5)
    assert keyset == keyset  # noqa: PLR0124
    assert keyset != Keyset.from_keys({5: SECRET}, 5)
    assert hash(keyset) == hash(keyset)


def test_a_keyset_does_not_change():
    with pytest.raises(AttributeError):
        Keyset.generate().primary = 3


@pytest.fixture
def keyset():
    return Keyset.generate("deterministic")


def is_same(found, keyset):
    """Returns whether two keysets seal identically."""
    column = pa.array([b"value"])
    return sealcomb.seal_column(column, found, context=b"") == sealcomb.seal_column(
        column, keyset, context=b""
    )


def test_keys_from_the_environment(keyset, monkeypatch):
    monkeypatch.setenv("SEALCOMB_KEYSET_MY_IDS_2", keyset.secret_tink_json())
    assert is_same(sealcomb.keys_from_env()("my-ids.2"), keyset)
    monkeypatch.setenv("OTHER_IDS", keyset.secret_tink_json())
    assert is_same(sealcomb.keys_from_env("OTHER_")("ids"), keyset)
    with pytest.raises(KeysetError, match="the environment variable SEALCOMB_KEYSET_NOTES is not set"):
        sealcomb.keys_from_env()("notes")


def test_keys_from_a_folder(keyset, tmp_path):
    (tmp_path / "ids.json").write_text(keyset.secret_tink_json())
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    for folder in (tmp_path, str(tmp_path)):
        provider = sealcomb.keys_from_file(folder)
        assert is_same(provider("ids"), keyset)
        with pytest.raises(KeysetError, match=r"cannot read .*notes\.json \(No such file or directory\)"):
            provider("notes")
        with pytest.raises(KeysetError, match="is not UTF-8 text"):
            provider("bytes")


@pytest.mark.parametrize("name", ["", "../ids", "/etc/ids", "a/b", ".hidden", "a\0b", "-x", "a\n"])
def test_names_outside_the_folder_are_refused(name, tmp_path):
    for provider in (sealcomb.keys_from_file(tmp_path), sealcomb.keys_from_env()):
        with pytest.raises(KeysetError, match="invalid keyset name"):
            provider(name)


def unwrap(wrapped):
    """Simulates a KMS."""
    return bytes(byte ^ 0x55 for byte in wrapped)


def wrapped_json(keyset):
    serialized = unwrap(tink_binary(keyset))
    return json.dumps({"encryptedKeyset": base64.b64encode(serialized).decode(), "keysetInfo": {}})


def tink_binary(keyset):
    """Returns a keyset serialized by Tink."""
    from google.protobuf import json_format  # noqa: PLC0415
    from tink.proto import tink_pb2  # noqa: PLC0415

    return json_format.Parse(keyset.secret_tink_json(), tink_pb2.Keyset()).SerializeToString()


def test_wrapped_keys(keyset, tmp_path):
    (tmp_path / "ids.json").write_text(wrapped_json(keyset))
    (tmp_path / "open.json").write_text(keyset.secret_tink_json())
    provider = sealcomb.keys_from_wrapped(tmp_path, unwrap)
    assert is_same(provider("ids"), keyset)
    with pytest.raises(KeysetError, match="is not encrypted; use keys_from_file"):
        provider("open")
    with pytest.raises(KeysetError, match="check how it was decrypted"):
        sealcomb.keys_from_wrapped(tmp_path, lambda wrapped: b"\xff" + wrapped)("ids")
    with pytest.raises(KeysetError, match="use keys_from_wrapped"):
        sealcomb.keys_from_file(tmp_path)("ids")


def test_providers_are_pickled_without_keys(keyset, tmp_path, monkeypatch):
    (tmp_path / "ids.json").write_text(keyset.secret_tink_json())
    (tmp_path / "wrapped.json").write_text(wrapped_json(keyset))
    monkeypatch.setenv("SEALCOMB_KEYSET_IDS", keyset.secret_tink_json())
    value = json.loads(keyset.secret_tink_json())["key"][0]["keyData"]["value"]
    key = base64.b64decode(value)[2:]
    for provider, name in (
        (sealcomb.keys_from_env(), "ids"),
        (sealcomb.keys_from_file(tmp_path), "ids"),
        (sealcomb.keys_from_wrapped(tmp_path, unwrap), "wrapped"),
    ):
        provider(name)
        pickled = pickle.dumps(provider)
        assert key not in pickled
        assert value.encode() not in pickled
        again = pickle.loads(pickled)
        assert again == provider
        assert is_same(again(name), keyset)
        assert value not in repr(provider)
