"""Keysets: we read what Tink reads, and write the same keys.

Tink's Python package is the reference for keysets with missing, unusual or alternative field values.
"""

import base64
import copy
import itertools
import json

import pyarrow as pa
import pytest
import tink
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st
from tink import aead, daead, secret_key_access
from tink.proto import tink_pb2

import sealcomb
from sealcomb import Keyset, KeysetError

aead.register()
daead.register()
TYPE_URL = "type.googleapis.com/google.crypto.tink."
KINDS = {
    f"{TYPE_URL}AesGcmKey": aead.Aead,
    f"{TYPE_URL}AesGcmSivKey": aead.Aead,
    f"{TYPE_URL}AesSivKey": daead.DeterministicAead,
    f"{TYPE_URL}XAesGcmKey": aead.Aead,
}
# The formats of sealed values: their nonce sizes in bytes.
NONCES = {name: 24 if "XAes" in name else 0 if "AesSivKey" in name else 12 for name in KINDS}


def new_key(template):
    handle = tink.new_keyset_handle(template)
    return json.loads(tink.json_proto_keyset_format.serialize(handle, secret_key_access.TOKEN))["key"][0]


AEADS = aead.aead_key_templates
POOL = [
    new_key(AEADS.AES256_GCM_SIV),
    new_key(AEADS.AES128_GCM_SIV),
    new_key(AEADS.AES256_GCM),
    new_key(daead.deterministic_aead_key_templates.AES256_SIV),
    new_key(AEADS.XAES_256_GCM_192_BIT_NONCE),
    new_key(AEADS.XCHACHA20_POLY1305),
    new_key(AEADS.AES128_CTR_HMAC_SHA256),
]
FUTURE = copy.deepcopy(POOL[0])
FUTURE["keyData"].update(typeUrl=f"{TYPE_URL}FutureKey", value="AAEC")
DAMAGED = copy.deepcopy(POOL[0])
DAMAGED["keyData"]["value"] = base64.b64encode(b"\x1a\x18" + bytes(24)).decode()
POOL += [FUTURE, DAMAGED]


def theirs(text):
    """Returns the keyset that Tink reads, or `None` if Tink rejects the text."""
    try:
        tink.json_proto_keyset_format.parse(text, secret_key_access.TOKEN)
    except tink.TinkError:
        return None
    return json_format.Parse(text, tink_pb2.Keyset())


def has_unknown_field(text):
    """Returns whether a field is unknown. Tink for Python rejects it, unlike Tink for Java; we retain it."""
    try:
        json_format.Parse(text, tink_pb2.Keyset())
    except json_format.ParseError as error:
        return "has no field named" in str(error)
    return False


def alone(key):
    """Returns Tink's primitive for a keyset with a single key."""
    keyset = tink_pb2.Keyset(primary_key_id=key.key_id, key=[key])
    handle = tink.proto_keyset_format.parse(keyset.SerializeToString(), secret_key_access.TOKEN)
    return handle.primitive(KINDS[key.key_data.type_url])


def seal(key, value):
    primitive = alone(key)
    if isinstance(primitive, daead.DeterministicAead):
        return primitive.encrypt_deterministically(value, b"")
    return primitive.encrypt(value, b"")


def is_ours(key):
    enabled = key.status == tink_pb2.ENABLED and key.output_prefix_type == tink_pb2.TINK
    return enabled and key.key_data.type_url in KINDS


def is_whole(key):
    try:
        alone(key)
    except tink.TinkError:
        return False
    return True


def forms_of(keyset, key_id):
    """Returns the number of formats of the keys with an id."""
    return len({NONCES[key.key_data.type_url] for key in keyset.key if is_ours(key) and key.key_id == key_id})


def is_for_columns(keyset):
    """Returns whether columns can use a keyset that Tink reads."""
    ours = [key for key in keyset.key if is_ours(key)]
    primary = any(key.key_id == keyset.primary_key_id for key in ours)
    return primary and all(is_whole(key) and forms_of(keyset, key.key_id) == 1 for key in ours)


def check(text):
    """Compares reading, writing and opening with Tink."""
    their_keyset = theirs(text)
    try:
        keyset = Keyset.from_tink_json(text)
    except KeysetError as error:
        assert their_keyset is None or not is_for_columns(their_keyset), error
        shown = str(error)
        for key in POOL:
            value = key["keyData"]["value"]
            assert not any(value[at : at + 8] in shown for at in range(0, len(value) - 8, 4))
        return None
    assert their_keyset is not None
    assert theirs(keyset.secret_tink_json()) == their_keyset
    rotated = theirs(keyset.rotated().secret_tink_json())
    assert rotated.key[:-1] == their_keyset.key[:]
    assert rotated.primary_key_id == rotated.key[-1].key_id
    assert rotated.primary_key_id not in {key.key_id for key in their_keyset.key}
    binary = Keyset.from_tink_binary(their_keyset.SerializeToString())
    assert theirs(binary.secret_tink_json()) == their_keyset
    for key in their_keyset.key:
        if is_ours(key):
            opened = sealcomb.unseal_column(pa.array([seal(key, b"value")]), keyset, context=b"")
            assert opened.to_pylist() == [b"value"]
    return keyset


statuses = st.sampled_from(["ENABLED"] * 4 + ["DISABLED", "DESTROYED", "UNKNOWN_STATUS", 7])
prefixes = st.sampled_from(
    ["TINK"] * 4 + ["RAW", "LEGACY", "CRUNCHY", "UNKNOWN_PREFIX", "WITH_ID_REQUIREMENT", 9]
)
ids = st.integers(0, 3) | st.just(4294967295)


@st.composite
def keysets(draw):
    keys = []
    for _ in range(draw(st.integers(1, 4))):
        key = copy.deepcopy(draw(st.sampled_from(POOL[:5] * 3 + POOL[5:])))
        key.update(keyId=draw(ids), status=draw(statuses), outputPrefixType=draw(prefixes))
        if draw(st.integers(0, 9)) == 0:
            del key["keyData"]
        keys.append(key)
    primary = draw(st.sampled_from(keys) if draw(st.booleans()) else st.just(keys[0]))
    return {"primaryKeyId": primary["keyId"], "key": keys}


def numbers(draw, number):
    return draw(
        st.sampled_from([number, str(number), float(number), f"{number}.0", f" {number}"[1:], f"+{number}"])
    )


def base64_forms(draw, value):
    urlsafe = value.replace("+", "-").replace("/", "_")
    pieces = "\n".join(value[at : at + 64] for at in range(0, len(value), 64))
    return draw(
        st.sampled_from(
            [value, urlsafe, value.rstrip("="), urlsafe.rstrip("="), pieces, value + "\n", value + "=="]
        )
    )


SNAKE = {
    "primaryKeyId": "primary_key_id",
    "keyData": "key_data",
    "keyId": "key_id",
    "typeUrl": "type_url",
    "keyMaterialType": "key_material_type",
    "outputPrefixType": "output_prefix_type",
}
ENUMS = {
    "status": tink_pb2.KeyStatusType,
    "outputPrefixType": tink_pb2.OutputPrefixType,
    "keyMaterialType": tink_pb2.KeyData.KeyMaterialType,
}


def rewritten(draw, value, name=None):
    """Draws another JSON form of a keyset."""
    if isinstance(value, dict):
        items = list(value.items())
        if draw(st.booleans()):
            items.reverse()
        written = {
            SNAKE.get(name, name) if draw(st.booleans()) else name: rewritten(draw, each, name)
            for name, each in items
        }
        return {name: each for name, each in written.items() if each != 0 or draw(st.booleans())}
    if isinstance(value, list):
        return [rewritten(draw, each) for each in value]
    if name in {"primaryKeyId", "keyId"}:
        return numbers(draw, value)
    if name in ENUMS and isinstance(value, str):
        number = ENUMS[name].Value(value)
        return draw(st.sampled_from([value, number, str(number), float(number), number or None]))
    if name == "value":
        return base64_forms(draw, value)
    return value


@settings(max_examples=400)
@given(keyset=keysets(), data=st.data())
def test_keysets_in_all_forms_are_read_and_written_like_tink(keyset, data):
    plain = check(json.dumps(keyset))
    again = check(json.dumps(rewritten(data.draw, keyset), indent=data.draw(st.sampled_from([None, 2]))))
    assert (plain is None) == (again is None)


ODD = [
    *(
        None,
        True,
        False,
        0,
        1,
        2,
        7,
        -1,
        1.0,
        1.9,
        -0.0,
        2**31,
        2**32 - 1,
        2**32,
        2**200,
        1e300,
        "NUMBER 1e1",
    ),
    *(
        "",
        "1",
        " 1",
        "1 ",
        "\t1",
        "+1",
        "-1",
        "0x1",
        "1_0",
        "1__0",
        "_1",
        "1.0",
        "1.5",
        "1e0",
        "4294967296",
        "nan",
        "inf",
    ),
    *(
        "ENABLED",
        "DISABLED",
        "enabled",
        "TINK",
        "SYMMETRIC",
        "x",
        "AAAA",
        "A",
        "AA",
        "AA=",
        "AA==",
        "A=A=A=",
        "=",
        "====",
    ),
    *(
        "AAECAwQ",
        "AA-_",
        "A\nA",
        "AA==AA==",
        "\u00e9AAA",
        "GiA\u2028",
        [],
        {},
        [1],
        {"x": 1},
        [[]],
        [None],
        {"keyId": 5},
    ),
]
PLACES = [
    ("primaryKeyId",),
    ("key",),
    *(("key", at) for at in (0, 1)),
    *(("key", at, name) for at in (0, 1) for name in ("status", "keyId", "outputPrefixType", "keyData")),
    *(("key", at, "keyData", name) for at in (0, 1) for name in ("typeUrl", "value", "keyMaterialType")),
]
GONE = object()


def with_odd(place, odd, status):
    keyset = {"primaryKeyId": 1, "key": copy.deepcopy(POOL[:2])}
    keyset["key"][0].update(keyId=1)
    keyset["key"][1].update(keyId=2, status=status)
    parent = keyset
    for name in place[:-1]:
        parent = parent[name]
    if odd is GONE:
        del parent[place[-1]]
    else:
        parent[place[-1]] = odd
    # json.dumps cannot write a number in this form.
    return json.dumps(keyset).replace('"NUMBER 1e1"', "1e1")


@pytest.mark.parametrize("status", ["ENABLED", "DISABLED", "DESTROYED"])
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_each_field_is_read_like_tink(place, status):
    for odd in [GONE, *ODD]:
        text = with_odd(place, odd, status)
        # protobuf truncates a number of more than 32 bits if the result is a known enum value.
        too_large = place[-1] in ENUMS and odd in (2**32, "4294967296")
        if not too_large and not has_unknown_field(text):
            check(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "5",
        '""',
        "{",
        '{"key": []} {}',
        "\ufeff{}",
        '{"key": 1, "key": 2}',
        "NaN",
        '{"primaryKeyId": NaN}',
    ],
)
def test_texts_that_tink_rejects(text):
    assert theirs(text) is None
    with pytest.raises(KeysetError):
        Keyset.from_tink_json(text)


def test_unknown_fields_are_retained():
    keyset = {
        "primaryKeyId": 1,
        "key": [copy.deepcopy(POOL[0])],
        "comment": [1, {"é": 1e300}],
        "version": 2**80,
    }
    keyset["key"][0].update(keyId=1, note={"a": None})
    keyset["key"][0]["keyData"]["hint"] = "text"
    written = Keyset.from_tink_json(json.dumps(keyset)).rotated().secret_tink_json()
    again = json.loads(written)
    assert again["comment"] == keyset["comment"]
    assert again["version"] == 2**80
    assert again["key"][0] == keyset["key"][0]


def test_values_of_unusable_keys_are_explained():
    for change, reason in (
        ({"status": "DISABLED"}, "key 2, which is disabled in this keyset: enable it"),
        ({"status": "DESTROYED"}, "key 2, which is destroyed in this keyset"),
        ({"status": 7}, "key 2, which has the unknown status 7 in this keyset"),
        ({"outputPrefixType": "RAW"}, "key 2, which has the output prefix RAW"),
        ({"keyData": POOL[5]["keyData"]}, 'key 2, which has the type "XChaCha20Poly1305Key"; columns take'),
    ):
        keyset = {"primaryKeyId": 1, "key": copy.deepcopy(POOL[:2])}
        keyset["key"][0].update(keyId=1)
        keyset["key"][1].update(keyId=2)
        sealed = seal(theirs(json.dumps(keyset)).key[1], b"value")
        keyset["key"][1].update(change)
        read = Keyset.from_tink_json(json.dumps(keyset))
        assert read.key_ids == [1]
        with pytest.raises(sealcomb.UnknownKey, match=reason):
            sealcomb.unseal_column(pa.array([sealed]), read, context=b"")
        if change.get("status") == "DISABLED":
            primitive = tink.json_proto_keyset_format.parse(
                json.dumps(keyset), secret_key_access.TOKEN
            ).primitive(aead.Aead)
            with pytest.raises(tink.TinkError):
                primitive.decrypt(sealed, b"")
            again = json.loads(read.rotated().secret_tink_json())
            again["key"][1]["status"] = "ENABLED"
            enabled = Keyset.from_tink_json(json.dumps(again))
            assert sealcomb.unseal_column(pa.array([sealed]), enabled, context=b"").to_pylist() == [b"value"]


def test_two_keys_with_the_same_id_both_open():
    keyset = {"primaryKeyId": 1, "key": copy.deepcopy([POOL[0], POOL[1], POOL[2]])}
    for key, key_id in zip(keyset["key"], (1, 2, 2), strict=True):
        key["keyId"] = key_id
    proto = theirs(json.dumps(keyset))
    values = [f"value {row}".encode() * (row % 7) for row in range(40)]
    sealed = [seal(key, value) for key, value in zip(itertools.cycle(proto.key), values)]
    read = Keyset.from_tink_json(json.dumps(keyset))
    assert sealcomb.unseal_column(pa.array(sealed), read, context=b"").to_pylist() == values
    sealed[5] = sealed[5][:-1] + bytes([sealed[5][-1] ^ 1])
    with pytest.raises(sealcomb.Forged) as caught:
        sealcomb.unseal_column(pa.array(sealed), read, context=b"")
    assert caught.value.row == 5
    opened, count = sealcomb.unseal_column_counted(pa.array(sealed), read, context=b"")
    assert count == 1
    assert opened.to_pylist() == [None if row == 5 else value for row, value in enumerate(values)]


@pytest.mark.parametrize("form", ["plain", "snake", "urlsafe"])
def test_encrypted_keysets_in_every_tink_form(form, tmp_path):
    wrapping = tink.new_keyset_handle(AEADS.AES128_GCM).primitive(aead.Aead)
    handle = tink.new_keyset_handle(AEADS.AES256_GCM_SIV)
    text = tink.json_proto_keyset_format.serialize_encrypted(handle, wrapping, b"")
    if form == "snake":
        text = text.replace("encryptedKeyset", "encrypted_keyset")
    if form == "urlsafe":
        parsed = json.loads(text)
        encrypted = base64.b64decode(parsed["encryptedKeyset"])
        parsed["encryptedKeyset"] = base64.urlsafe_b64encode(encrypted).decode().rstrip("=")
        text = json.dumps(parsed)
    tink.json_proto_keyset_format.parse_encrypted(text, wrapping, b"")
    (tmp_path / "ids.json").write_text(text)
    keyset = sealcomb.keys_from_wrapped(tmp_path, lambda wrapped: wrapping.decrypt(wrapped, b""))("ids")
    assert theirs(keyset.secret_tink_json()) == json_format.Parse(
        tink.json_proto_keyset_format.serialize(handle, secret_key_access.TOKEN), tink_pb2.Keyset()
    )


def in_binary(keyset):
    return json_format.ParseDict(keyset, tink_pb2.Keyset()).SerializeToString()


def check_binary(serialized):
    """Compares reading of Protocol Buffers, except for unknown fields, which JSON cannot represent."""
    try:
        tink.proto_keyset_format.parse(serialized, secret_key_access.TOKEN)
        their_keyset = tink_pb2.Keyset.FromString(serialized)
    except tink.TinkError:
        with pytest.raises(KeysetError):
            Keyset.from_tink_binary(serialized)
        return
    if not is_for_columns(their_keyset):
        with pytest.raises(KeysetError):
            Keyset.from_tink_binary(serialized)
        return
    written = Keyset.from_tink_binary(serialized).secret_tink_json()
    known = json_format.ParseDict(json_format.MessageToDict(their_keyset), tink_pb2.Keyset())
    assert theirs(written) == known


def test_serialized_keysets_with_missing_and_unknown_fields():
    keyset = {"primaryKeyId": 1, "key": copy.deepcopy(POOL[:3])}
    for key_id, key in enumerate(keyset["key"], 1):
        key["keyId"] = key_id
    keyset["key"][2]["status"] = "DESTROYED"
    whole = in_binary(keyset)
    check_binary(whole)
    for end in range(len(whole)):
        check_binary(whole[:end])
    unknown = [
        b"\x50\x01",
        b"\x52\x03abc",
        b"\x55abcd",
        b"\x51abcdefgh",
        b"\x53\x08\x01\x54",
        b"\x50",
        b"\x53",
        b"\x00\x00",
    ]
    for field in unknown:
        check_binary(field + whole)
        check_binary(whole + field)
    # Concatenated messages merge: the last primary is used, and all keys are.
    other = in_binary({"primaryKeyId": 9, "key": [{**POOL[1], "keyId": 9}]})
    check_binary(whole + other)
    check_binary(other + whole)
    check_binary(whole + whole)
