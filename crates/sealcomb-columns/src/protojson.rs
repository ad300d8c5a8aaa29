//! A reader for the JSON mapping of Protocol Buffers.
//!
//! It follows Python's `google.protobuf.json_format`, which Tink uses for keysets: numbers may be strings, enum
//! values may be numbers, `null` means the default, and base64 may have either alphabet and no padding.

use std::fmt;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hashbrown::HashSet;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

/// The fields of an object in order. Duplicate names are an error.
#[derive(Default)]
pub(crate) struct Object<'a>(pub(crate) Vec<(String, &'a RawValue)>);

/// The start of the error for a duplicate name.
pub(crate) const DUPLICATE: &str = "duplicate field";

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut fields, mut names) = (Vec::new(), HashSet::new());
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            if !names.insert(name.clone()) {
                return Err(de::Error::custom(format!("{DUPLICATE} `{name}`")));
            }
            fields.push((name, value));
        }
        Ok(Object(fields))
    }

    /// `json_format` takes an empty list or string for a message without fields.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        match list.next_element::<de::IgnoredAny>()? {
            None => Ok(Object::default()),
            Some(_) => Err(de::Error::custom("a list")),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if text.is_empty() { Ok(Object::default()) } else { Err(E::custom("a string")) }
    }
}

/// A JSON value that is neither `null`, a list nor an object.
enum Scalar {
    Bool(bool),
    Number(f64),
    /// An integer, which a float might not hold exactly.
    Integer(i128),
    Text(Zeroizing<String>),
}

impl Scalar {
    /// Returns `None` for `null`, a list or an object.
    fn read(value: &RawValue) -> Option<Self> {
        let json = value.get();
        match json.as_bytes().first()? {
            b'"' => serde_json::from_str(json).ok().map(|text| Self::Text(Zeroizing::new(text))),
            b't' => Some(Self::Bool(true)),
            b'f' => Some(Self::Bool(false)),
            b'-' | b'0'..=b'9' => {
                json.parse().map(Self::Integer).or_else(|_| json.parse().map(Self::Number)).ok()
            }
            _ => None,
        }
    }
}

pub(crate) fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// A 32-bit number: an integer, a float without a fraction, or either as a string.
pub(crate) fn uint32(value: &RawValue) -> Option<u32> {
    match Scalar::read(value)? {
        Scalar::Integer(number) => number.try_into().ok(),
        Scalar::Number(number) => integral(number),
        Scalar::Text(text) if text.contains(' ') => None,
        Scalar::Text(text) => match integer_of(&text) {
            Some(number) => number.try_into().ok(),
            None => text.trim().parse().ok().and_then(integral),
        },
        Scalar::Bool(_) => None,
    }
}

fn integral(number: f64) -> Option<u32> {
    let fits = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    // The range was checked above.
    #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]
    fits.then_some(number as u32)
}

/// The number of an enum value, which is given by name or by number. Numbers without a name are valid.
pub(crate) fn enumeration(value: &RawValue, names: &[&str]) -> Option<i32> {
    match Scalar::read(value)? {
        Scalar::Text(text) => match names.iter().position(|name| *name == text.as_str()) {
            Some(number) => number.try_into().ok(),
            None => integer_of(&text)?.try_into().ok(),
        },
        Scalar::Integer(number) => number.try_into().ok(),
        // The cast truncates as Python's int() does, and saturates out of the range of an i32.
        #[allow(clippy::cast_possible_truncation)]
        Scalar::Number(number) => (number as i128).try_into().ok(),
        Scalar::Bool(truth) => Some(truth.into()),
    }
}

/// Parses an integer as Python's `int` does: it may have surrounding space, a sign, and underscores between digits.
fn integer_of(text: &str) -> Option<i128> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let well_formed =
        digits.split('_').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if !well_formed {
        return None;
    }
    let digits = text.replace('_', "");
    digits.strip_prefix('+').unwrap_or(&digits).parse().ok()
}

pub(crate) fn text(value: &RawValue) -> Option<String> {
    match Scalar::read(value)? {
        Scalar::Text(text) => Some(text.as_str().to_owned()),
        _ => None,
    }
}

/// The bytes of a base64 string.
pub(crate) fn bytes(value: &RawValue) -> Option<Zeroizing<Vec<u8>>> {
    match Scalar::read(value)? {
        Scalar::Text(text) => base64(&text),
        _ => None,
    }
}

/// Decodes base64 in either alphabet. Padding is optional; characters outside the alphabet, and everything after the
/// padding, are ignored.
fn base64(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::RequireNone),
    );
    let (mut symbols, mut padding) = (Zeroizing::new(Vec::with_capacity(text.len())), 0);
    let missing = 4 - text.len() % 4;
    for byte in text.bytes().chain(std::iter::repeat_n(b'=', missing)) {
        let last = symbols.len() % 4;
        match byte {
            b'=' if last >= 2 => {
                padding += 1;
                if last + padding >= 4 {
                    return ENGINE.decode(&*symbols).ok().map(Zeroizing::new);
                }
            }
            b'-' | b'_' | b'+' | b'/' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                padding = 0;
                symbols.push(match byte {
                    b'-' => b'+',
                    b'_' => b'/',
                    other => other,
                });
            }
            _ => {}
        }
    }
    // Otherwise the text ends in the middle of a group.
    if symbols.len() % 4 == 0 { ENGINE.decode(&*symbols).ok().map(Zeroizing::new) } else { None }
}

/// The values of a list. Returns `None` if one is `null`.
pub(crate) fn list(value: &RawValue) -> Option<Vec<&RawValue>> {
    let values: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
    (!values.iter().any(|value| is_null(value))).then_some(values)
}

/// The fields of a message.
///
/// # Errors
/// The error of `serde_json`. It can quote the input, so callers show only its position or a known field name.
pub(crate) fn object(json: &str) -> serde_json::Result<Object<'_>> {
    serde_json::from_str(json)
}
