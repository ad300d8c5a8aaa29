//! Security associations as an SA file describes them.

use ipnet::IpNet;
use sealcomb_esp::{Fingerprint, Suite, Tunnel};

/// What two ends agree on for one direction of traffic (RFC 4301, section 4.4.2).
pub(crate) struct Sa {
    pub(crate) spi: u32,
    pub(crate) tunnel: Tunnel,
    /// Inner destinations that it protects; `None` for all.
    pub(crate) selector: Option<IpNet>,
    pub(crate) suite: Suite,
    /// Of the cipher's key.
    pub(crate) fingerprint: Fingerprint,
    /// Whether sequence numbers have 64 bits, of which packets carry the low 32 (RFC 4303, section 2.2.1).
    pub(crate) extended: bool,
    /// The first sequence number to send, 1 or more.
    pub(crate) first: u64,
    /// Sequence numbers that the receiver looks back on.
    pub(crate) window: usize,
}

impl Sa {
    /// The last sequence number; after it the association needs a new key.
    pub(crate) fn last(&self) -> u64 {
        if self.extended { u64::MAX } else { u32::MAX.into() }
    }
}
