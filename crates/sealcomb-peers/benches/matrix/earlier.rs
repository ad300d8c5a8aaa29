//! An earlier commit of sealcomb, which `./dev gate` links, as the library to compare with.

use ::earlier as library;
use sealcomb::{Algorithm, Backend};

use crate::cell::Library;

// Compiles `ours` again, with the types of the other commit.
#[allow(clippy::duplicate_mod)]
#[path = "ours.rs"]
mod ours;

pub(crate) fn library(backend: Backend, algorithm: Algorithm, keys: &[Vec<u8>]) -> Option<Box<dyn Library>> {
    Some(Box::new(ours::Ours::new(backend.name(), algorithm.id(), keys)))
}
