//! Security associations: what two ends have agreed on.

use std::net::{Ipv4Addr, Ipv6Addr};

use hmac::{Hmac, KeyInit, Mac};
use ipnet::IpNet;
use sealcomb::Key;
use sha2::Sha256;

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

/// Addresses of the outer header.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tunnel {
    V4 { source: Ipv4Addr, destination: Ipv4Addr },
    V6 { source: Ipv6Addr, destination: Ipv6Addr },
}

/// Tells a key from others and nothing else of it: HMAC-SHA-256 under the key, of a text that never changes.
///
/// It is that of the key alone. The SPI does not enter into nonces, and the counter blocks of GCM, CCM and CTR are
/// alike: what numbers a key has used counts whatever else of its association is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fingerprint(pub(crate) [u8; 16]);

impl Fingerprint {
    pub(crate) fn of(key: &[u8]) -> Self {
        let hmac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
        let tag = hmac.chain_update(b"sealcomb: fingerprint of an ESP key").finalize().into_bytes();
        Self(*tag.first_chunk().expect("32 bytes have 16"))
    }
}

/// How packets are encrypted and authenticated.
pub(crate) enum Suite {
    /// AES-GCM (RFC 4106) or AES-CCM (RFC 4309): the nonce is this salt and the packet's 8-byte IV.
    Aead { key: Key, salt: Vec<u8> },
    /// AES-CBC (RFC 3602), whose IV is a block that nobody can predict.
    Cbc { key: Key, auth: Auth },
    /// AES-CTR (RFC 3686): the counter block is this nonce, the packet's 8-byte IV and a 32-bit counter from 1.
    Ctr { key: Key, nonce: [u8; 4], auth: Auth },
}

/// The integrity algorithm beside a cipher that has none.
pub(crate) enum Auth {
    /// HMAC-SHA-256-128 (RFC 4868).
    HmacSha256(Hmac<Sha256>),
    /// AES-CMAC-96 (RFC 4494).
    AesCmac(Box<Key>),
}

impl Auth {
    pub(crate) fn icv_bytes(&self) -> usize {
        match self {
            Self::HmacSha256(_) => 16,
            Self::AesCmac(_) => 12,
        }
    }
}

impl Suite {
    pub(crate) fn is_cbc(&self) -> bool {
        matches!(self, Self::Cbc { .. })
    }

    pub(crate) fn iv_bytes(&self) -> usize {
        if self.is_cbc() { 16 } else { 8 }
    }

    pub(crate) fn icv_bytes(&self) -> usize {
        match self {
            Self::Aead { key, .. } => key.tag_bytes(),
            Self::Cbc { auth, .. } | Self::Ctr { auth, .. } => auth.icv_bytes(),
        }
    }

    /// What the encrypted part must be a multiple of: the cipher's block, or the 4 bytes of RFC 4303, section 2.4.
    pub(crate) fn alignment(&self) -> usize {
        if self.is_cbc() { 16 } else { 4 }
    }

    /// The integrity algorithm, where it is one apart.
    pub(crate) fn auth(&self) -> Option<&Auth> {
        match self {
            Self::Aead { .. } => None,
            Self::Cbc { auth, .. } | Self::Ctr { auth, .. } => Some(auth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_tells_keys_apart() {
        assert_eq!(Fingerprint::of(&[1; 16]), Fingerprint::of(&[1; 16]));
        assert_ne!(Fingerprint::of(&[1; 16]), Fingerprint::of(&[2; 16]));
        assert_ne!(Fingerprint::of(&[1; 16]), Fingerprint::of(&[1; 32]));
    }

    /// State files of earlier runs must stay good. The number is Python's:
    /// `hmac.digest(bytes(range(16)), b"sealcomb: fingerprint of an ESP key", "sha256")[:16].hex()`.
    #[test]
    fn a_fingerprint_never_changes() {
        let key: Vec<u8> = (0..16).collect();
        assert_eq!(hex::encode(Fingerprint::of(&key).0), "add2627b729b5fbc29bcda6428e0e09f");
    }
}
