//! What the modes are made of, over any backend: AES with its keys, GF(2^128).
#![forbid(unsafe_code)]

pub(crate) mod aes;
pub(crate) mod counter;
pub(crate) mod gf128;
pub(crate) mod ghash;
