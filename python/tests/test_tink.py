"""Tink opens what we seal, and we open what Tink seals."""

import base64
import io
import json

import pyarrow as pa
import pytest
import tink
from hypothesis import given
from hypothesis import strategies as st
from tink import aead, cleartext_keyset_handle, daead, secret_key_access
from tink.proto import tink_pb2, x_aes_gcm_pb2

import sealcomb

aead.register()
daead.register()
TEMPLATES = {
    "AES128_GCM": aead.aead_key_templates.AES128_GCM,
    "AES256_GCM": aead.aead_key_templates.AES256_GCM,
    "AES128_GCM_SIV": aead.aead_key_templates.AES128_GCM_SIV,
    "AES256_GCM_SIV": aead.aead_key_templates.AES256_GCM_SIV,
    "AES256_SIV": daead.deterministic_aead_key_templates.AES256_SIV,
    "XAES_256_GCM_192_BIT_NONCE": aead.aead_key_templates.XAES_256_GCM_192_BIT_NONCE,
}
POLICIES = {
    "GCM": "gcm",
    "GCM_SIV": "random",
    "SIV": "deterministic",
    "256_GCM_192_BIT_NONCE": "xaes",
}


def json_of(handle):
    text = io.StringIO()
    cleartext_keyset_handle.write(tink.JsonKeysetWriter(text), handle)
    return text.getvalue()


class Tink:
    """Seals and opens single values with Tink."""

    def __init__(self, text, deterministic):
        handle = tink.json_proto_keyset_format.parse(text, secret_key_access.TOKEN)
        self.primitive = handle.primitive(daead.DeterministicAead if deterministic else aead.Aead)
        self.deterministic = deterministic

    def seal(self, value, context):
        if self.deterministic:
            return self.primitive.encrypt_deterministically(value, context)
        return self.primitive.encrypt(value, context)

    def open(self, sealed, context):
        if self.deterministic:
            return self.primitive.decrypt_deterministically(sealed, context)
        return self.primitive.decrypt(sealed, context)


HANDLES = {name: tink.new_keyset_handle(template) for name, template in TEMPLATES.items()}
values = st.lists(st.none() | st.binary(max_size=100), max_size=20)


@pytest.mark.parametrize("name", TEMPLATES)
@given(column=values, context=st.binary(max_size=30))
def test_both_directions(name, column, context):
    text = json_of(HANDLES[name])
    keyset, other = sealcomb.Keyset.from_tink_json(text), Tink(text, name.endswith("256_SIV"))
    assert keyset.policy == POLICIES[name.split("_", 1)[1]]
    ours = sealcomb.seal_column(pa.array(column, pa.binary()), keyset, context=context)
    assert [each if each is None else other.open(each, context) for each in ours.to_pylist()] == column
    theirs = pa.array([each if each is None else other.seal(each, context) for each in column], pa.binary())
    assert sealcomb.unseal_column(theirs, keyset, context=context).to_pylist() == column
    if keyset.policy == "deterministic":
        assert ours == theirs


@pytest.mark.parametrize("row_id", [b"", b"row 7", 7, -7, 1 << 40])
def test_row_ids_are_part_of_the_associated_data(row_id):
    text = json_of(HANDLES["AES256_GCM_SIV"])
    keyset, other = sealcomb.Keyset.from_tink_json(text), Tink(text, False)
    sealed = sealcomb.seal_column(
        pa.array([b"value"]), keyset, context=b"table.column", row_ids=pa.array([row_id])
    )
    id_bytes = row_id if isinstance(row_id, bytes) else row_id.to_bytes(8, "big", signed=True)
    context = (12).to_bytes(8, "big") + b"table.column" + id_bytes
    assert other.open(sealed[0].as_py(), context) == b"value"


@pytest.mark.parametrize("policy", ["random", "xaes", "deterministic", "gcm"])
def test_tink_reads_our_keysets(policy):
    keyset = sealcomb.Keyset.generate(policy).rotated()
    other = Tink(keyset.secret_tink_json(), policy == "deterministic")
    sealed = sealcomb.seal_column(pa.array([b"value"]), keyset, context=b"c")
    assert other.open(sealed[0].as_py(), b"c") == b"value"


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_rotated_tink_keyset_opens_old_and_new_values(name):
    old = json.loads(json_of(HANDLES[name]))
    new = json.loads(json_of(tink.new_keyset_handle(TEMPLATES[name])))
    both = json.dumps({"primaryKeyId": new["primaryKeyId"], "key": old["key"] + new["key"]})
    deterministic = name.endswith("256_SIV")
    sealed = [Tink(json.dumps(keyset), deterministic).seal(b"value", b"") for keyset in (old, new)]
    keyset = sealcomb.Keyset.from_tink_json(both)
    assert sealcomb.unseal_column(pa.array(sealed), keyset, context=b"").to_pylist() == [b"value"] * 2
    assert sealcomb.inspect_column(pa.array(sealed)) == {old["primaryKeyId"]: 1, new["primaryKeyId"]: 1}
    assert sealcomb.inspect_column(sealcomb.reseal_column(pa.array(sealed), keyset, context=b"")) == {
        new["primaryKeyId"]: 2
    }


@pytest.mark.parametrize(
    "template",
    ["AES256_GCM_RAW", "XAES_256_GCM_192_BIT_NONCE_NO_PREFIX", "XAES_256_GCM_160_BIT_NONCE_NO_PREFIX"],
)
def test_raw_tink_keys_are_refused_as_primaries(template):
    handle = tink.new_keyset_handle(getattr(aead.aead_key_templates, template))
    with pytest.raises(sealcomb.KeysetError, match="output prefix RAW"):
        sealcomb.Keyset.from_tink_json(json_of(handle))


def test_other_tink_keys_are_refused_as_primaries():
    handle = tink.new_keyset_handle(aead.aead_key_templates.XCHACHA20_POLY1305)
    with pytest.raises(sealcomb.KeysetError, match="columns take AesGcmSivKey"):
        sealcomb.Keyset.from_tink_json(json_of(handle))


def with_salt(salt_bytes):
    """Returns a keyset that Tink creates for XAES-256-GCM with a salt of another size."""
    template = tink_pb2.KeyTemplate()
    template.CopyFrom(aead.aead_key_templates.XAES_256_GCM_192_BIT_NONCE)
    template.value = x_aes_gcm_pb2.XAesGcmKeyFormat(params={"salt_size": salt_bytes}).SerializeToString()
    return json.loads(json_of(tink.new_keyset_handle(template)))


@pytest.mark.parametrize("salt_bytes", [8, 9, 10, 11])
def test_other_salts_of_xaes_are_refused(salt_bytes):
    """C2SP's XAES-256-GCM has nonces of 24 bytes: a salt of 12 bytes and an IV of 12 bytes."""
    reason = f"has a salt of {salt_bytes} bytes, but columns require 12"
    theirs = with_salt(salt_bytes)
    with pytest.raises(sealcomb.KeysetError, match=f"the primary key {theirs['primaryKeyId']} {reason}"):
        sealcomb.Keyset.from_tink_json(json.dumps(theirs))
    sealed = Tink(json.dumps(theirs), False).seal(b"value", b"")
    ours = json.loads(sealcomb.Keyset.generate("xaes").secret_tink_json())
    ours["key"] += theirs["key"]
    keyset = sealcomb.Keyset.from_tink_json(json.dumps(ours))
    with pytest.raises(sealcomb.UnknownKey, match=reason):
        sealcomb.unseal_column(pa.array([sealed]), keyset, context=b"")
    assert (
        json.loads(keyset.secret_tink_json())["key"][1]["keyData"]["value"]
        == theirs["key"][0]["keyData"]["value"]
    )


def test_xaes_salts_of_12_bytes_open():
    assert sealcomb.Keyset.from_tink_json(json.dumps(with_salt(12))).policy == "xaes"


def test_keysets_wrapped_by_tink(tmp_path):
    """Tink wraps a keyset with an AEAD, which simulates a KMS."""
    wrapping = tink.new_keyset_handle(aead.aead_key_templates.AES128_GCM).primitive(aead.Aead)
    handle = HANDLES["AES256_GCM_SIV"]
    text = tink.json_proto_keyset_format.serialize_encrypted(handle, wrapping, b"")
    (tmp_path / "notes.json").write_text(text)
    keyset = sealcomb.keys_from_wrapped(tmp_path, lambda wrapped: wrapping.decrypt(wrapped, b""))("notes")
    assert keyset.primary == json.loads(json_of(handle))["primaryKeyId"]
    assert base64.b64decode(json.loads(text)["encryptedKeyset"])
