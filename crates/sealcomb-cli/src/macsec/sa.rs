//! Secure associations from an SA file.

use anyhow::Result;
use sealcomb_macsec::{Header, Sak};
use sealcomb_numbers::Fingerprint;

/// A secure association: one key of a secure channel, for one direction of traffic (IEEE 802.1AE-2018, 7.1.3).
pub(crate) struct Sa {
    pub(crate) header: Header,
    pub(crate) sak: Sak,
    /// The fingerprint of the key and its transmitter.
    pub(crate) fingerprint: Fingerprint,
    /// Whether a VLAN tag of a frame to seal stays before the SecTAG, where nothing protects it.
    pub(crate) is_vlan_clear: bool,
    /// The source address of the frames that the association protects; `None` for all frames.
    pub(crate) source: Option<[u8; 6]>,
    /// The sender's first packet number, at least 1.
    pub(crate) first: u64,
    /// The receiver's replay window: by how many numbers a frame may be late.
    pub(crate) window: usize,
}

impl Sa {
    /// Returns this association with a random key, for measurements. Packet numbers may repeat under it.
    pub(crate) fn throwaway(&self) -> Result<Self> {
        let mut key = vec![0; self.sak.key_bytes()];
        sealcomb_random::fill(&mut key)?;
        Ok(Self { sak: self.sak.with_key(&key)?, first: 1, ..*self })
    }
}
