//! Secure associations as an SA file describes them.

use anyhow::Result;
use sealcomb_macsec::{Header, Sak};
use sealcomb_numbers::Fingerprint;

/// A key of a channel, in one direction of traffic (IEEE 802.1AE-2018, 7.1.3).
pub(crate) struct Sa {
    pub(crate) header: Header,
    pub(crate) sak: Sak,
    /// Of the key and its transmitter.
    pub(crate) fingerprint: Fingerprint,
    /// Source address of the frames that it protects; `None` for all.
    pub(crate) source: Option<[u8; 6]>,
    /// The first packet number to send, 1 or more.
    pub(crate) first: u64,
    /// How many numbers a frame may be late.
    pub(crate) window: usize,
}

impl Sa {
    /// An association of the same kind to measure with, whose key nobody else has: numbers may come again under it.
    pub(crate) fn throwaway(&self) -> Result<Self> {
        let mut key = vec![0; self.sak.key_bytes()];
        sealcomb_random::fill(&mut key)?;
        Ok(Self { sak: self.sak.with_key(&key)?, first: 1, ..*self })
    }
}
