//! Entrances for fuzzers: what this command reads from files and wires.
//!
//! Each function takes any bytes and panics where something does not hold that must. What it returns is equal for
//! inputs that went the same way: an input whose number is new is worth keeping.

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};

pub use crate::esp::fuzz::{associations, capture, packets};
pub use crate::macsec::fuzz::{associations as macsec_associations, frames};
pub use crate::vectors::fuzz::known_answers;

/// A number for the way that an input went.
pub fn outcome(way: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    way.hash(&mut hasher);
    hasher.finish()
}

/// The kind of an error: its text without numbers and without what it quotes of the input.
pub(crate) fn kind(error: &impl Display) -> String {
    const LONGEST: usize = 120;
    let text = error.to_string();
    let mut kind = String::with_capacity(LONGEST);
    let mut quote = None;
    for c in text.chars().take(LONGEST) {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '"' | '`') => quote = Some(c),
            (None, c) if !c.is_ascii_digit() => kind.push(c),
            _ => {}
        }
    }
    kind
}
