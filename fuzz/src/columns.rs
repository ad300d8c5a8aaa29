//! What columns read from files that anybody may have written: names of types, and keysets.

use std::hash::{DefaultHasher, Hash, Hasher};

use sealcomb_columns::{Keyset, parse_nested_type, parse_type, type_name};

fn path(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// Reads the name of a type.
///
/// # Panics
/// If the type of single values has another name that is not read as the same type, or an error quotes much of the name.
pub(crate) fn types(bytes: &[u8]) -> u64 {
    let name = String::from_utf8_lossy(bytes);
    let single = parse_type(&name);
    if let Ok(data_type) = &single {
        assert_eq!(parse_type(&type_name(data_type)).as_ref().ok(), Some(data_type));
    }
    match parse_nested_type(&name) {
        Ok(data_type) => path((single.is_ok(), std::mem::discriminant(&data_type))),
        Err(error) => {
            let text = error.to_string();
            assert!(single.is_err() && text.len() < 1_000, "{text}");
            path(text.chars().rev().take(20).collect::<String>())
        }
    }
}

/// Reads a keyset, as JSON and as Protocol Buffers.
///
/// # Panics
/// If a keyset that was read is written as another one.
pub(crate) fn keysets(bytes: &[u8]) -> u64 {
    let json = Keyset::from_tink_json(&String::from_utf8_lossy(bytes));
    let binary = Keyset::from_tink_binary(bytes);
    for keyset in [&json, &binary].into_iter().flatten() {
        let again =
            Keyset::from_tink_json(&keyset.secret_tink_json()).expect("it was written by the package");
        assert_eq!((again.primary(), again.ids()), (keyset.primary(), keyset.ids()));
    }
    let outcome = |keyset: Result<Keyset, _>| match keyset {
        Ok(keyset) => keyset.policy().to_owned(),
        Err(error) => {
            let error: sealcomb_columns::Error = error;
            error.to_string().chars().filter(|sign| !sign.is_ascii_digit()).take(30).collect()
        }
    };
    path((outcome(json), outcome(binary)))
}
