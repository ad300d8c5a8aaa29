//! A message in pieces, in a direction that is known when it begins.

use std::sync::Arc;

use sealcomb::hazmat::{OpenStream, SealStream};
use sealcomb::{Error, Key};

use crate::data::Data;

/// The library's streams of both directions.
pub(crate) enum Stream {
    Seal(SealStream<Arc<Key>>),
    Open(OpenStream<Arc<Key>>),
}

impl Stream {
    fn new(key: Arc<Key>, encrypts: bool, iv: &[u8], tag_bytes: usize) -> Result<Self, Error> {
        if encrypts {
            SealStream::with_tag_bytes(key, iv, tag_bytes).map(Self::Seal)
        } else {
            OpenStream::with_tag_bytes(key, iv, tag_bytes).map(Self::Open)
        }
    }

    /// Begins a message with this stream if direction and tag length are its own, which costs less than a new one.
    pub(crate) fn begin(
        stream: &mut Option<Self>,
        key: &Arc<Key>,
        encrypts: bool,
        iv: &[u8],
        tag_bytes: usize,
    ) -> Result<(), Error> {
        match stream {
            Some(Self::Seal(stream)) if encrypts && stream.tag_bytes() == tag_bytes => stream.begin(iv),
            Some(Self::Open(stream)) if !encrypts && stream.tag_bytes() == tag_bytes => stream.begin(iv),
            other => {
                *other = Some(Self::new(Arc::clone(key), encrypts, iv, tag_bytes)?);
                Ok(())
            }
        }
    }

    pub(crate) fn tag_bytes(&self) -> usize {
        match self {
            Self::Seal(stream) => stream.tag_bytes(),
            Self::Open(stream) => stream.tag_bytes(),
        }
    }

    pub(crate) fn aad(&mut self, aad: &[u8]) -> Result<(), Error> {
        match self {
            Self::Seal(stream) => stream.aad(aad),
            Self::Open(stream) => stream.aad(aad),
        }
    }

    pub(crate) fn update(&mut self, data: Data<'_>) -> Result<(), Error> {
        match (self, data) {
            (Self::Seal(stream), Data::InPlace(data)) => stream.update(data),
            (Self::Seal(stream), Data::Apart(input, output)) => stream.update_to(input, output),
            (Self::Open(stream), Data::InPlace(data)) => stream.update_unverified(data),
            (Self::Open(stream), Data::Apart(input, output)) => stream.update_unverified_to(input, output),
        }
    }

    /// Ends the message and writes its correct tag, which the caller compares with the received one when opening.
    pub(crate) fn finish(&mut self, tag: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Seal(stream) => stream.finish(tag),
            Self::Open(stream) => stream.finish_unverified(tag),
        }
    }
}

impl Clone for Stream {
    /// Continues the message twice, as a copied context of OpenSSL does.
    fn clone(&self) -> Self {
        match self {
            Self::Seal(stream) => Self::Seal(stream.fork()),
            Self::Open(stream) => Self::Open(stream.fork()),
        }
    }
}
