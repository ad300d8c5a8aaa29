//! Entry points for fuzzers: the parsers of files and packets.
//!
//! Each function accepts arbitrary bytes and panics if an invariant is violated. Its return value identifies the path
//! that the input took: a fuzzer should keep an input that returns a new value.

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};

pub use crate::esp::fuzz::{associations, capture, packets};
pub use crate::macsec::fuzz::{associations as macsec_associations, frames};
pub use crate::vectors::fuzz::known_answers;

/// Returns a hash of the path that an input took.
pub fn outcome(path: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

/// Returns the kind of an error: the start of its text, without digits and without quotations from the input.
pub(crate) fn kind(error: &impl Display) -> String {
    const MAX_LEN: usize = 120;
    let text = error.to_string();
    let mut kind = String::with_capacity(MAX_LEN);
    let mut quote = None;
    for c in text.chars().take(MAX_LEN) {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '"' | '`') => quote = Some(c),
            (None, c) if !c.is_ascii_digit() => kind.push(c),
            _ => {}
        }
    }
    kind
}
