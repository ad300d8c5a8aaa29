//! Tink keysets in JSON and Protocol Buffers.
//!
//! Keys that columns cannot use (disabled, destroyed, of an unknown type) are retained, and written back as they were
//! read.

use std::mem;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prost::Message;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::error::Error;
use crate::kind::Kind;
use crate::protojson::{self, Object};

/// A key that columns can use, with its key material.
pub(crate) struct RawKey {
    pub(crate) id: u32,
    pub(crate) kind: Kind,
    pub(crate) bytes: Zeroizing<Vec<u8>>,
}

/// Why columns cannot use a key of a keyset.
#[derive(Clone)]
pub(crate) enum Unusable {
    Disabled,
    Destroyed,
    /// The status is unknown.
    Status(i32),
    /// The output prefix is not TINK.
    Prefix(i32),
    /// The salt of XAES-256-GCM does not have [`SALT`] bytes.
    Salt(u32),
    /// The type is not one of [`Kind`]. The name is stored only if it looks like that of a Tink key type.
    Type(Option<String>),
}

/// A complete keyset.
#[derive(Clone)]
pub(crate) struct TinkKeyset {
    pub(crate) primary: u32,
    keys: Vec<TinkKey>,
    unknown: Unknown,
}

#[derive(Clone, Default)]
struct TinkKey {
    key: ProtoKey,
    unknown: Unknown,
    data_unknown: Unknown,
}

/// Unknown JSON fields with their unparsed values.
type Unknown = Vec<(String, Box<RawValue>)>;

const TYPE_URL: &str = "type.googleapis.com/google.crypto.tink.";

impl Kind {
    fn tink_name(self) -> &'static str {
        match self {
            Self::Gcm => "AesGcmKey",
            Self::GcmSiv => "AesGcmSivKey",
            Self::Siv => "AesSivKey",
            Self::Xaes => "XAesGcmKey",
        }
    }
}

// The names of enum values, indexed by number.
const STATUSES: &[&str] = &["UNKNOWN_STATUS", "ENABLED", "DISABLED", "DESTROYED"];
const ENABLED: i32 = 1;
const DISABLED: i32 = 2;
const DESTROYED: i32 = 3;

const PREFIXES: &[&str] = &["UNKNOWN_PREFIX", "TINK", "LEGACY", "RAW", "CRUNCHY", "WITH_ID_REQUIREMENT"];
const TINK: i32 = 1;

const MATERIALS: &[&str] =
    &["UNKNOWN_KEYMATERIAL", "SYMMETRIC", "ASYMMETRIC_PRIVATE", "ASYMMETRIC_PUBLIC", "REMOTE"];
const SYMMETRIC: i32 = 1;

/// The name of an enum value, or its number if it has no name.
fn name_of(number: i32, names: &[&str]) -> String {
    let name = usize::try_from(number).ok().and_then(|number| names.get(number));
    name.map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

#[derive(Message)]
#[prost(skip_debug)]
struct ProtoKeyset {
    #[prost(uint32, tag = "1")]
    primary_key_id: u32,
    #[prost(message, repeated, tag = "2")]
    key: Vec<ProtoKey>,
}

// Enum fields are integers, because proto3 enums are open: a value without a name is kept.
#[derive(Clone, Message)]
#[prost(skip_debug)]
struct ProtoKey {
    #[prost(message, optional, tag = "1")]
    key_data: Option<ProtoKeyData>,
    #[prost(int32, tag = "2")]
    status: i32,
    #[prost(uint32, tag = "3")]
    key_id: u32,
    #[prost(int32, tag = "4")]
    output_prefix_type: i32,
}

#[derive(Clone, Message, ZeroizeOnDrop)]
#[prost(skip_debug)]
struct ProtoKeyData {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
    #[prost(int32, tag = "3")]
    key_material_type: i32,
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

/// `XAesGcmKey`.
#[derive(Message, ZeroizeOnDrop)]
#[prost(skip_debug)]
struct ProtoXaesKey {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[zeroize(skip)]
    #[prost(message, optional, tag = "2")]
    params: Option<ProtoXaesParams>,
    #[prost(bytes = "vec", tag = "3")]
    key_value: Vec<u8>,
}

#[derive(Clone, Copy, Message)]
struct ProtoXaesParams {
    #[prost(uint32, tag = "1")]
    salt_size: u32,
}

/// The salt size in bytes of C2SP's XAES-256-GCM. Tink's salt and IV (12 bytes) are the nonce, of 24 bytes.
const SALT: u32 = 12;

impl TinkKeyset {
    /// Creates a keyset in which all keys are enabled.
    pub(crate) fn new(primary: u32, keys: Vec<RawKey>) -> Self {
        Self { primary, keys: keys.into_iter().map(TinkKey::new).collect(), unknown: Unknown::new() }
    }

    /// Returns a copy of the keyset with `key` added as the primary.
    pub(crate) fn with_primary(&self, key: RawKey) -> Self {
        let mut keyset = self.clone();
        keyset.primary = key.id;
        keyset.keys.push(TinkKey::new(key));
        keyset
    }

    /// Reads a keyset in JSON.
    pub(crate) fn from_json(text: &str) -> Result<Self, Error> {
        let object = protojson::object(text).map_err(|error| not_json(text, &error))?;
        let mut keyset = Self { primary: 0, keys: Vec::new(), unknown: Unknown::new() };
        let mut known = 0;
        for (name, value) in object.0 {
            match &*name {
                "primaryKeyId" | "primary_key_id" => keyset.primary = uint32(value, "primaryKeyId")?,
                "key" if protojson::is_null(value) => keyset.keys.clear(),
                "key" => {
                    let keys = protojson::list(value).ok_or_else(|| not_field("key", "a list of objects"))?;
                    keyset.keys =
                        keys.into_iter().enumerate().map(TinkKey::from_json).collect::<Result<_, _>>()?;
                }
                _ => {
                    keyset.unknown.push((name, value.to_owned()));
                    continue;
                }
            }
            known += 1;
        }
        if known == 0 {
            return Err(match encrypted_keyset(text) {
                Ok(Some(_)) => is_encrypted(),
                _ => no_keyset("missing field `primaryKeyId`"),
            });
        }
        keyset.checked()
    }

    /// Reads a keyset in Protocol Buffers, without its unknown fields.
    pub(crate) fn from_binary(bytes: &[u8]) -> Result<Self, Error> {
        let mut keyset = ProtoKeyset::decode(bytes)
            .map_err(|_| wrong("invalid serialized Tink keyset; check how it was decrypted"))?;
        let keys = mem::take(&mut keyset.key);
        let keys = keys.into_iter().map(|key| TinkKey { key, ..TinkKey::default() }).collect();
        Self { primary: keyset.primary_key_id, keys, unknown: Unknown::new() }.checked()
    }

    /// Checks what Tink checks in every keyset, regardless of the key types.
    fn checked(self) -> Result<Self, Error> {
        for TinkKey { key, .. } in &self.keys {
            let id = key.key_id;
            if key.status == DESTROYED {
                continue;
            }
            if key.key_data.is_none() {
                return Err(wrong(format!("key {id} has no key data")));
            }
            if key.status == 0 {
                return Err(wrong(format!("key {id}: unknown status; expected ENABLED or DISABLED")));
            }
            if key.output_prefix_type == 0 {
                return Err(wrong(format!("key {id} has no output prefix; export the keyset again")));
            }
        }
        let primaries = self
            .keys
            .iter()
            .filter(|TinkKey { key, .. }| key.status == ENABLED && key.key_id == self.primary);
        if primaries.count() > 1 {
            let id = self.primary;
            return Err(wrong(format!("the keyset has two primary keys with the id {id}; remove one")));
        }
        Ok(self)
    }

    /// Writes the keyset in JSON, including its secret keys.
    pub(crate) fn to_json(&self) -> Zeroizing<String> {
        serde_json::to_string_pretty(self).expect("texts and numbers").into()
    }

    /// The ids of all keys.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        self.keys.iter().map(|key| key.key.key_id)
    }

    /// The id of each key, with the key or the reason why columns cannot use it.
    ///
    /// # Errors
    /// If an enabled key of a usable type is malformed.
    pub(crate) fn usable(&self) -> impl Iterator<Item = Result<(u32, Result<RawKey, Unusable>), Error>> {
        self.keys.iter().map(|key| Ok((key.key.key_id, key.usable()?)))
    }
}

impl TinkKey {
    fn new(RawKey { id, kind, bytes }: RawKey) -> Self {
        let key_value = bytes.to_vec();
        let value = match kind {
            Kind::Gcm | Kind::GcmSiv => ProtoGcmKey { version: 0, key_value }.encode_to_vec(),
            Kind::Siv => ProtoSivKey { version: 0, key_value }.encode_to_vec(),
            Kind::Xaes => {
                let params = Some(ProtoXaesParams { salt_size: SALT });
                ProtoXaesKey { version: 0, params, key_value }.encode_to_vec()
            }
        };
        let type_url = format!("{TYPE_URL}{}", kind.tink_name());
        let key_data = Some(ProtoKeyData { type_url, value, key_material_type: SYMMETRIC });
        let key = ProtoKey { key_data, status: ENABLED, key_id: id, output_prefix_type: TINK };
        Self { key, ..Self::default() }
    }

    /// Reads the key at an index of the keyset.
    fn from_json((index, value): (usize, &RawValue)) -> Result<Self, Error> {
        let place = format!("key {} in the list", index + 1);
        let object = message(value, &place)?;
        let mut read = Self::default();
        let key = &mut read.key;
        for (name, value) in object.0 {
            let place = || format!("{name} of {place}");
            match &*name {
                "keyData" | "key_data" if protojson::is_null(value) => key.key_data = None,
                "keyData" | "key_data" => {
                    let data = key.key_data.get_or_insert_default();
                    read_key_data(data, &mut read.data_unknown, value, &place())?;
                }
                "status" => key.status = enumeration(value, STATUSES, &place())?,
                "keyId" | "key_id" => key.key_id = uint32(value, &place())?,
                "outputPrefixType" | "output_prefix_type" => {
                    key.output_prefix_type = enumeration(value, PREFIXES, &place())?;
                }
                _ => read.unknown.push((name, value.to_owned())),
            }
        }
        Ok(read)
    }

    fn usable(&self) -> Result<Result<RawKey, Unusable>, Error> {
        let id = self.key.key_id;
        match self.key.status {
            ENABLED => {}
            DISABLED => return Ok(Err(Unusable::Disabled)),
            DESTROYED => return Ok(Err(Unusable::Destroyed)),
            other => return Ok(Err(Unusable::Status(other))),
        }
        if self.key.output_prefix_type != TINK {
            return Ok(Err(Unusable::Prefix(self.key.output_prefix_type)));
        }
        let data = self.key.key_data.as_ref().expect("only destroyed keys have no key data");
        let name = data.type_url.strip_prefix(TYPE_URL);
        let Some(kind) = Kind::ALL.into_iter().find(|kind| Some(kind.tink_name()) == name) else {
            // Errors contain the name, so it must look like one: any other text could be key material.
            let plain =
                |name: &&str| name.ends_with("Key") && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
            return Ok(Err(Unusable::Type(name.filter(plain).map(str::to_owned))));
        };
        let tink_name = kind.tink_name();
        let KeyValue { version, bytes, salt } = KeyValue::read(kind, &data.value).ok_or_else(|| {
            wrong(format!("key {id}: the value is not a serialized {tink_name}; export the keyset again"))
        })?;
        if version != 0 {
            return Err(wrong(format!(
                "key {id} has version {version} of {tink_name}; only version 0 is supported"
            )));
        }
        if kind == Kind::Xaes && salt != SALT {
            return Ok(Err(Unusable::Salt(salt)));
        }
        Ok(Ok(RawKey { id, kind, bytes }))
    }
}

impl Unusable {
    /// Whether the key is disabled or destroyed.
    pub(crate) fn is_off(&self) -> bool {
        matches!(self, Self::Disabled | Self::Destroyed)
    }

    /// The reason and what to do, as the predicate of a sentence about the key.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Disabled => "is disabled in this keyset: enable it to open its values".into(),
            Self::Destroyed => "is destroyed in this keyset: its values can no longer be opened".into(),
            Self::Status(status) => {
                format!("has the unknown status {status} in this keyset: enable it")
            }
            Self::Prefix(prefix) => format!(
                "has the output prefix {}, but columns require TINK: make a key with the prefix TINK (a template \
                 without RAW in its name)",
                name_of(*prefix, PREFIXES),
            ),
            Self::Salt(bytes) => format!(
                "has a salt of {bytes} bytes, but columns require {SALT} (nonces of 24 bytes, as in C2SP's \
                 XAES-256-GCM): make a key with the template XAES_256_GCM_192_BIT_NONCE",
            ),
            Self::Type(name) => format!(
                "has {}; columns take AesGcmSivKey (random), XAesGcmKey (xaes), AesSivKey (deterministic) and AesGcmKey \
                 (gcm)",
                name.as_ref()
                    .map_or_else(|| "a type unknown to Tink".to_owned(), |name| format!("the type {name:?}")),
            ),
        }
    }
}

fn read_key_data(
    data: &mut ProtoKeyData,
    unknown: &mut Unknown,
    value: &RawValue,
    place: &str,
) -> Result<(), Error> {
    for (name, value) in message(value, place)?.0 {
        let null = protojson::is_null(value);
        let place = || format!("{name} in the {place}");
        match &*name {
            "typeUrl" | "type_url" if null => data.type_url.clear(),
            "typeUrl" | "type_url" => {
                data.type_url = protojson::text(value).ok_or_else(|| not_field(&place(), "a string"))?;
            }
            "value" => {
                let bytes = if null { Some(Zeroizing::default()) } else { protojson::bytes(value) };
                let mut bytes = bytes.ok_or_else(|| not_field(&place(), "base64"))?;
                data.value = mem::take(&mut *bytes);
            }
            "keyMaterialType" | "key_material_type" => {
                data.key_material_type = enumeration(value, MATERIALS, &place())?;
            }
            _ => unknown.push((name, value.to_owned())),
        }
    }
    Ok(())
}

fn message<'a>(value: &'a RawValue, place: &str) -> Result<Object<'a>, Error> {
    protojson::object(value.get()).map_err(|error| match known_duplicate(&error) {
        Some(name) => no_keyset(&format!("duplicate field `{name}` in {place}")),
        None => not_field(place, "an object without duplicate names"),
    })
}

fn uint32(value: &RawValue, place: &str) -> Result<u32, Error> {
    if protojson::is_null(value) {
        return Ok(0);
    }
    protojson::uint32(value).ok_or_else(|| not_field(place, "a number from 0 to 4294967295"))
}

fn enumeration(value: &RawValue, names: &[&str], place: &str) -> Result<i32, Error> {
    if protojson::is_null(value) {
        return Ok(0);
    }
    let number = protojson::enumeration(value, names);
    number.ok_or_else(|| not_field(place, &format!("one of {}", names[1..].join(", "))))
}

/// Returns the encrypted keyset in a Tink JSON file, or `None` if the file does not contain one.
///
/// # Errors
/// [`Error::KeysetError`] if the encrypted keyset is not base64.
pub fn encrypted_keyset(text: &str) -> Result<Option<Vec<u8>>, Error> {
    let Ok(object) = protojson::object(text) else { return Ok(None) };
    let encrypted =
        object.0.iter().rfind(|(name, _)| name == "encryptedKeyset" || name == "encrypted_keyset");
    let Some((_, value)) = encrypted else { return Ok(None) };
    match protojson::bytes(value) {
        Some(mut bytes) => Ok(Some(mem::take(&mut *bytes))),
        None => Err(wrong("encryptedKeyset is not base64; export the keyset again")),
    }
}

impl Serialize for TinkKeyset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("primaryKeyId", &self.primary)?;
        map.serialize_entry("key", &self.keys)?;
        write_unknown(&mut map, &self.unknown)?;
        map.end()
    }
}

impl Serialize for TinkKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(data) = &self.key.key_data {
            map.serialize_entry("keyData", &KeyData { data, unknown: &self.data_unknown })?;
        }
        map.serialize_entry("status", &Named(self.key.status, STATUSES))?;
        map.serialize_entry("keyId", &self.key.key_id)?;
        map.serialize_entry("outputPrefixType", &Named(self.key.output_prefix_type, PREFIXES))?;
        write_unknown(&mut map, &self.unknown)?;
        map.end()
    }
}

struct KeyData<'a> {
    data: &'a ProtoKeyData,
    unknown: &'a Unknown,
}

impl Serialize for KeyData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("typeUrl", &self.data.type_url)?;
        map.serialize_entry("value", &*Zeroizing::new(BASE64_STANDARD.encode(&self.data.value)))?;
        map.serialize_entry("keyMaterialType", &Named(self.data.key_material_type, MATERIALS))?;
        write_unknown(&mut map, self.unknown)?;
        map.end()
    }
}

/// An enum value that is written by name, or by number if it has no name.
struct Named<'a>(i32, &'a [&'a str]);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match usize::try_from(self.0).ok().and_then(|number| self.1.get(number)) {
            Some(name) => serializer.serialize_str(name),
            None => serializer.serialize_i32(self.0),
        }
    }
}

fn write_unknown<M: SerializeMap>(map: &mut M, unknown: &Unknown) -> Result<(), M::Error> {
    unknown.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))
}

/// The contents of a key's value.
struct KeyValue {
    version: u32,
    bytes: Zeroizing<Vec<u8>>,
    /// The salt size in bytes; 0 for kinds other than XAES-256-GCM.
    salt: u32,
}

impl KeyValue {
    /// Reads a serialized key; returns `None` if it is malformed.
    fn read(kind: Kind, value: &[u8]) -> Option<Self> {
        let (version, bytes, salt) = match kind {
            Kind::Gcm | Kind::GcmSiv => {
                let mut key = ProtoGcmKey::decode(value).ok()?;
                (key.version, mem::take(&mut key.key_value), 0)
            }
            Kind::Siv => {
                let mut key = ProtoSivKey::decode(value).ok()?;
                (key.version, mem::take(&mut key.key_value), 0)
            }
            Kind::Xaes => {
                let mut key = ProtoXaesKey::decode(value).ok()?;
                (key.version, mem::take(&mut key.key_value), key.params.unwrap_or_default().salt_size)
            }
        };
        Some(Self { version, bytes: bytes.into(), salt })
    }
}

/// An error with the position of invalid JSON. It never quotes the text, which could be key material.
fn not_json(text: &str, error: &serde_json::Error) -> Error {
    match known_duplicate(error) {
        Some("primaryKeyId") => {
            wrong("the keyset has two primary keys (primaryKeyId occurs twice); remove one")
        }
        Some(name) => no_keyset(&format!("duplicate field `{name}`")),
        None if text.is_empty() => no_keyset("empty"),
        None => no_keyset(&format!("line {}, column {}", error.line(), error.column())),
    }
}

/// The name of a duplicate field, if it is a known one. Any other name could be key material.
fn known_duplicate(error: &serde_json::Error) -> Option<&'static str> {
    const KNOWN: &[&str] = &[
        "primaryKeyId",
        "key",
        "keyData",
        "status",
        "keyId",
        "outputPrefixType",
        "typeUrl",
        "value",
        "keyMaterialType",
    ];
    let reason = error.to_string();
    let rest = reason.strip_prefix(protojson::DUPLICATE)?.trim_start().strip_prefix('`')?;
    KNOWN.iter().copied().find(|name| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('`')))
}

fn no_keyset(reason: &str) -> Error {
    wrong(format!(
        "invalid Tink keyset in JSON ({reason}); export it again, for example with tinkey convert-keyset"
    ))
}

fn not_field(place: &str, what: &str) -> Error {
    no_keyset(&format!("{place} is not {what}"))
}

fn is_encrypted() -> Error {
    wrong("the keyset is encrypted; use keys_from_wrapped with a function that decrypts it")
}

pub(crate) fn wrong(text: impl Into<String>) -> Error {
    Error::KeysetError(text.into())
}
