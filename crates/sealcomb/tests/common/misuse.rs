//! The errors that wrong sizes lead to, derived from the catalog.
#![allow(dead_code, reason = "no test uses all of them")]

use sealcomb::{Algorithm, Error};

/// The error for a key of `got` bytes.
pub(crate) fn key_length(algorithm: Algorithm, got: usize) -> Error {
    Error::KeyLength { algorithm: algorithm.id(), expected: algorithm.key_bytes(), got }
}

/// The error for a nonce of `got` bytes.
pub(crate) fn fixed_nonce_length(algorithm: Algorithm, fixed: usize, got: usize) -> Error {
    Error::NonceLength { algorithm: algorithm.id(), min: fixed, max: fixed, got }
}

pub(crate) fn nonce_length(algorithm: Algorithm, got: usize) -> Error {
    let (min, max) = (algorithm.min_nonce_bytes(), algorithm.max_nonce_bytes());
    Error::NonceLength { algorithm: algorithm.id(), min, max, got }
}

/// The error for a tag of `got` bytes under a key that has the usual tag length.
pub(crate) fn tag_length(algorithm: Algorithm, got: usize) -> Error {
    tag_length_of(algorithm, algorithm.tag_bytes(), got)
}

/// The error for a tag of `got` bytes under a key or a stream whose tags have `fixed` bytes.
pub(crate) fn tag_length_of(algorithm: Algorithm, fixed: usize, got: usize) -> Error {
    const ALL: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    let expected = if fixed == 0 { &[] } else { &ALL[fixed..=fixed] };
    Error::TagLength { algorithm: algorithm.id(), expected, got }
}

/// The error for a tag length of `got` bytes that the algorithm does not take under any key.
pub(crate) fn tag_length_never(algorithm: Algorithm, got: usize) -> Error {
    Error::TagLength { algorithm: algorithm.id(), expected: algorithm.tag_sizes(), got }
}
