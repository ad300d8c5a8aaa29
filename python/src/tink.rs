//! Keysets as Tink writes them, in JSON and in Protocol Buffers.

use std::mem;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prost::{Enumeration, Message};
use pyo3::PyErr;
use serde::{Deserialize, Serialize};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::errors::KeysetError;
use crate::keyset::Kind;

/// A key as it came, before anybody asks whether it fits.
pub(crate) struct RawKey {
    pub(crate) id: u32,
    pub(crate) kind: Kind,
    pub(crate) bytes: Zeroizing<Vec<u8>>,
}

/// The keys that are enabled, and the ids of those that aren't.
pub(crate) struct RawKeyset {
    pub(crate) primary: u32,
    pub(crate) keys: Vec<RawKey>,
    pub(crate) disabled: Vec<u32>,
}

const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.";

impl Kind {
    fn tink_name(self) -> &'static str {
        match self {
            Self::Gcm => "AesGcmKey",
            Self::GcmSiv => "AesGcmSivKey",
            Self::Siv => "AesSivKey",
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonKeyset {
    #[serde(alias = "primary_key_id")]
    primary_key_id: u32,
    key: Vec<JsonKey>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonKey {
    #[serde(alias = "key_data")]
    key_data: JsonKeyData,
    status: Status,
    #[serde(alias = "key_id")]
    key_id: u32,
    #[serde(alias = "output_prefix_type")]
    output_prefix_type: OutputPrefix,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonKeyData {
    #[serde(alias = "type_url")]
    type_url: String,
    value: Zeroizing<String>,
    #[serde(alias = "key_material_type")]
    key_material_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonEncryptedKeyset {
    #[serde(alias = "encrypted_keyset")]
    encrypted_keyset: String,
}

#[derive(Message)]
#[prost(skip_debug)]
struct ProtoKeyset {
    #[prost(uint32, tag = "1")]
    primary_key_id: u32,
    #[prost(message, repeated, tag = "2")]
    key: Vec<ProtoKey>,
}

#[derive(Message)]
#[prost(skip_debug)]
struct ProtoKey {
    #[prost(message, optional, tag = "1")]
    key_data: Option<ProtoKeyData>,
    #[prost(enumeration = "Status", tag = "2")]
    status: i32,
    #[prost(uint32, tag = "3")]
    key_id: u32,
    #[prost(enumeration = "OutputPrefix", tag = "4")]
    output_prefix_type: i32,
}

#[derive(Message, ZeroizeOnDrop)]
#[prost(skip_debug)]
struct ProtoKeyData {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

// The names are Tink's.
#[allow(clippy::enum_variant_names)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(i32)]
enum Status {
    UnknownStatus = 0,
    Enabled = 1,
    Disabled = 2,
    Destroyed = 3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(i32)]
enum OutputPrefix {
    UnknownPrefix = 0,
    Tink = 1,
    Legacy = 2,
    Raw = 3,
    Crunchy = 4,
    WithIdRequirement = 5,
}

/// `AesGcmKey` and `AesGcmSivKey`, which have the same fields.
#[derive(Message, ZeroizeOnDrop)]
#[prost(skip_debug)]
struct ProtoGcmKey {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(bytes = "vec", tag = "3")]
    key_value: Vec<u8>,
}

/// `AesSivKey`.
#[derive(Message, ZeroizeOnDrop)]
#[prost(skip_debug)]
struct ProtoSivKey {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(bytes = "vec", tag = "2")]
    key_value: Vec<u8>,
}

/// Reads a keyset in JSON.
pub(crate) fn from_json(text: &str) -> Result<RawKeyset, PyErr> {
    let keyset: JsonKeyset = serde_json::from_str(text).map_err(|error| not_json(text, &error))?;
    let mut raw = RawKeyset { primary: keyset.primary_key_id, keys: Vec::new(), disabled: Vec::new() };
    for JsonKey { key_data, status, key_id, output_prefix_type } in keyset.key {
        let value = BASE64_STANDARD.decode(key_data.value.as_bytes()).map(Zeroizing::new).map_err(|_| {
            wrong(format!("key {key_id}: the keyData's value is not base64; export the keyset again"))
        })?;
        raw.take(key_id, status, output_prefix_type, &key_data.type_url, &value)?;
    }
    Ok(raw)
}

/// Reads a keyset in Protocol Buffers.
pub(crate) fn from_binary(bytes: &[u8]) -> Result<RawKeyset, PyErr> {
    let keyset = ProtoKeyset::decode(bytes)
        .map_err(|_| wrong("these bytes are no serialized Tink keyset; check what unwrapped them"))?;
    let mut raw = RawKeyset { primary: keyset.primary_key_id, keys: Vec::new(), disabled: Vec::new() };
    for key in &keyset.key {
        let id = key.key_id;
        let data = key.key_data.as_ref().ok_or_else(|| wrong(format!("key {id} has no key data")))?;
        raw.take(id, key.status(), key.output_prefix_type(), &data.type_url, &data.value)?;
    }
    Ok(raw)
}

/// The encrypted keyset in a JSON file of Tink's, or nothing if the file has an open one.
pub(crate) fn encrypted_keyset(text: &str) -> Result<Option<Vec<u8>>, PyErr> {
    let Ok(JsonEncryptedKeyset { encrypted_keyset }) = serde_json::from_str(text) else {
        return Ok(None);
    };
    BASE64_STANDARD
        .decode(encrypted_keyset)
        .map(Some)
        .map_err(|_| wrong("the encryptedKeyset is not base64; export the keyset again"))
}

/// Writes a keyset in JSON, keys and all.
pub(crate) fn to_json<'a>(
    primary: u32,
    keys: impl Iterator<Item = (u32, Kind, &'a [u8])>,
) -> Zeroizing<String> {
    let key = keys.map(|(key_id, kind, bytes)| {
        let key_value = bytes.to_vec();
        let message = Zeroizing::new(match kind {
            Kind::Gcm | Kind::GcmSiv => ProtoGcmKey { version: 0, key_value }.encode_to_vec(),
            Kind::Siv => ProtoSivKey { version: 0, key_value }.encode_to_vec(),
        });
        JsonKey {
            key_data: JsonKeyData {
                type_url: format!("{TYPE_URL}{}", kind.tink_name()),
                value: BASE64_STANDARD.encode(&*message).into(),
                key_material_type: "SYMMETRIC".into(),
            },
            status: Status::Enabled,
            key_id,
            output_prefix_type: OutputPrefix::Tink,
        }
    });
    let keyset = JsonKeyset { primary_key_id: primary, key: key.collect() };
    serde_json::to_string_pretty(&keyset).expect("texts and numbers").into()
}

impl RawKeyset {
    /// Takes a key in, if it is enabled and of a kind that we have.
    fn take(
        &mut self,
        id: u32,
        status: Status,
        prefix: OutputPrefix,
        type_url: &str,
        value: &[u8],
    ) -> Result<(), PyErr> {
        match status {
            Status::Enabled => {}
            Status::Disabled | Status::Destroyed => {
                self.disabled.push(id);
                return Ok(());
            }
            Status::UnknownStatus => {
                return Err(wrong(format!("key {id}: its status is not ENABLED or DISABLED")));
            }
        }
        if prefix != OutputPrefix::Tink {
            return Err(wrong(format!(
                "key {id} has the output prefix {}, whose values don't say by which key they were sealed as those of \
                 TINK do; make a key with the prefix TINK (a template without RAW in its name)",
                format!("{prefix:?}").to_uppercase(),
            )));
        }
        let tink_name = type_url.strip_prefix(TYPE_URL).unwrap_or(type_url);
        let kind = Kind::ALL.into_iter().find(|kind| kind.tink_name() == tink_name).ok_or_else(|| {
            wrong(format!(
                "key {id} is of the type {tink_name:?}; columns take AesGcmSivKey (random), AesSivKey \
                 (deterministic) and AesGcmKey (gcm)"
            ))
        })?;
        let (version, bytes) = key_value(kind, value).ok_or_else(|| {
            wrong(format!("key {id}: its value is no serialized {tink_name}; export the keyset again"))
        })?;
        if version != 0 {
            return Err(wrong(format!("key {id} has version {version} of {tink_name}; only 0 is known")));
        }
        self.keys.push(RawKey { id, kind, bytes });
        Ok(())
    }
}

fn key_value(kind: Kind, value: &[u8]) -> Option<(u32, Zeroizing<Vec<u8>>)> {
    match kind {
        Kind::Gcm | Kind::GcmSiv => {
            let mut key = ProtoGcmKey::decode(value).ok()?;
            Some((key.version, mem::take(&mut key.key_value).into()))
        }
        Kind::Siv => {
            let mut key = ProtoSivKey::decode(value).ok()?;
            Some((key.version, mem::take(&mut key.key_value).into()))
        }
    }
}

/// Says where the text is wrong, and nothing of what it has there: that could be a key.
fn not_json(text: &str, error: &serde_json::Error) -> PyErr {
    if let Ok(Some(_)) = encrypted_keyset(text) {
        return wrong("this keyset is encrypted; keys_from_wrapped takes it, with what decrypts it");
    }
    let reason = error.to_string();
    if reason.starts_with("duplicate field `primaryKeyId`") {
        return wrong("the keyset has two primaries (primaryKeyId stands there twice); leave one");
    }
    let named = ["missing field", "duplicate field"].iter().any(|known| reason.starts_with(known));
    let reason = if named { reason } else { format!("line {}, column {}", error.line(), error.column()) };
    wrong(format!(
        "this is no Tink keyset in JSON ({reason}); export it again, e.g. with tinkey convert-keyset"
    ))
}

fn wrong(text: impl Into<String>) -> PyErr {
    KeysetError::new_err(text.into())
}
