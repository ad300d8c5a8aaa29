//! The streams of a build without the feature `hazmat`: there are none.

use std::sync::Arc;

use sealcomb::{Error, Key, OpenError};

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Direction {
    Seal,
    Open,
}

/// Has no values.
pub(crate) enum Stream {}

impl Stream {
    /// Fails.
    pub(crate) fn new(_: Arc<Key>, _: Direction, _: &[u8]) -> Result<Self, Error> {
        Err(Error::NotInPieces)
    }

    pub(crate) fn begin(&mut self, _: Direction, _: &[u8]) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn aad(&mut self, _: &[u8]) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn update(&mut self, _: &mut [u8]) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn update_to(&mut self, _: &[u8], _: &mut [u8]) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn finish(&mut self, _: &mut [u8]) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn verify(&mut self, _: &[u8]) -> Result<(), OpenError> {
        match *self {}
    }
}
