//! Decides which leaves of a column are sealed.
//!
//! Types and metadata are not authenticated, so they cannot decide whether a value is verified: anybody who can write to
//! a column could replace a sealed leaf by a plain one. The caller decides. Every leaf must open, except for those that
//! the caller names.

use arrow_schema::{DataType, Field};

use crate::envelope;
use crate::error::Error;
use crate::keyset::Keyset;
use crate::nested;
use crate::types::TYPE_KEY;
use crate::values::Values;

/// Returns for each leaf of a sealed column, in the order of [`leaf_paths`](crate::leaf_paths), whether it is sealed.
///
/// `plain` has the paths of the leaves that were never sealed. All others must hold bytes, as sealed values do. A leaf of
/// type `Null` may be either, because it has no values. [`unseal`](crate::unseal) and [`reseal`](crate::reseal) apply this
/// rule before they open a value; bindings can apply it to a type alone.
///
/// # Errors
/// [`Error::Invalid`] if a path in `plain` is that of no leaf, of several, or of a leaf that its metadata calls sealed;
/// [`Error::Type`] if another leaf is not binary, or none is sealed.
pub fn sealed_leaves(field: &Field, plain: &[String]) -> Result<Vec<bool>, Error> {
    nested::check_leaves(field)?;
    let leaves = nested::leaves(field);
    let is_nested = field.data_type().is_nested();
    for name in plain {
        check_name(name, &leaves, is_nested)?;
    }
    let none = if leaves.iter().any(|(_, leaf)| holds_bytes(leaf.data_type())) || !is_nested {
        ""
    } else {
        "a sealed column is binary; none of the column's values are: "
    };
    let sealed = |(path, leaf): &(String, Field)| {
        let is_plain = plain.contains(path);
        if is_plain || holds_bytes(leaf.data_type()) {
            Ok(!is_plain)
        } else {
            Err(Error::Type(format!("{none}{}", not_sealed(path, leaf))))
        }
    };
    let sealed = leaves.iter().map(sealed).collect::<Result<Vec<_>, _>>()?;
    if !sealed.is_empty() && !sealed.contains(&true) {
        return Err(Error::Type("plain names every leaf of the column, so none of them is sealed".into()));
    }
    Ok(sealed)
}

/// Checks that a path in `plain` is that of one leaf, which is not sealed according to its metadata.
fn check_name(name: &str, leaves: &[(String, Field)], is_nested: bool) -> Result<(), Error> {
    const SHOWN: usize = 20;
    if !is_nested {
        return Err(Error::Invalid(format!("plain names {name:?}, but the column is not nested")));
    }
    let mut named = leaves.iter().filter(|(path, _)| path == name);
    let problem = match (named.next(), named.next()) {
        (None, _) => {
            let more = if leaves.len() > SHOWN { ", ..." } else { "" };
            let paths: Vec<_> = leaves.iter().take(SHOWN).map(|(path, _)| format!("{path:?}")).collect();
            format!(
                "names {name:?}, which is no leaf of the column; its leaves are {}{more}",
                paths.join(", ")
            )
        }
        (Some(_), Some(_)) => format!("names {name:?}, but several leaves have this path; rename them"),
        (Some((_, leaf)), None) if leaf.metadata().contains_key(TYPE_KEY) => return Err(is_sealed(name)),
        (Some(_), None) => return Ok(()),
    };
    Err(Error::Invalid(format!("plain {problem}")))
}

/// Checks that a leaf named in `plain` does not hold sealed values, which have no metadata in some libraries.
pub(crate) fn check_plain(path: &str, chunks: &[Values], keyset: &Keyset) -> Result<(), Error> {
    let mut values =
        chunks.iter().flat_map(|values| (0..values.len()).filter_map(|row| values.get(row))).peekable();
    let sealed = |value: &[u8]| envelope::key_id(value).is_some_and(|id| keyset.key(id).is_some());
    if values.peek().is_some() && values.all(sealed) { Err(is_sealed(path)) } else { Ok(()) }
}

fn is_sealed(path: &str) -> Error {
    Error::Invalid(format!("plain names {path:?}, which is sealed; name only leaves that were never sealed"))
}

fn not_sealed(path: &str, leaf: &Field) -> String {
    let data_type = leaf.data_type();
    if path.is_empty() {
        format!(
            "a sealed column is binary, not {data_type}: seal it first, or decode it if it is base64 or hex"
        )
    } else {
        format!(
            "the leaf {path:?} has type {data_type}, but a sealed leaf is binary: it may have been replaced; if it was \
             never sealed, name it in plain"
        )
    }
}

/// Whether the values of a leaf are bytes, or there are none.
fn holds_bytes(data_type: &DataType) -> bool {
    match data_type {
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_)
        | DataType::Null => true,
        DataType::Dictionary(_, values) => holds_bytes(values),
        DataType::RunEndEncoded(_, values) => holds_bytes(values.data_type()),
        _ => false,
    }
}
