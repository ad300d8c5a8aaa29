//! A name for a key that gives nothing of it away.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Tells a key from others and nothing else of it: HMAC-SHA-256 under the key, of a text that never changes.
///
/// [`Fingerprint::of`] is that of the key alone. The SPI does not enter into nonces, and the counter blocks of GCM, CCM and CTR are
/// alike: what numbers a key has used counts whatever else of its association is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 16]);

impl Fingerprint {
    /// That of a key of any length.
    pub fn of(key: &[u8]) -> Self {
        Self::labelled(key, &[b"sealcomb: fingerprint of an ESP key"])
    }

    /// That of a MACsec key in the hands of one of its transmitters: all of a connectivity association send under the same
    /// key, and each has numbers of its own. `transmitter` is what its nonces have of it: SCI or SSCI.
    pub fn of_transmitter(key: &[u8], transmitter: &[u8]) -> Self {
        Self::labelled(key, &[b"sealcomb: fingerprint of a MACsec key and its transmitter ", transmitter])
    }

    fn labelled(key: &[u8], label: &[&[u8]]) -> Self {
        let hmac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
        let tag = label.iter().fold(hmac, Mac::chain_update).finalize().into_bytes();
        Self(*tag.first_chunk().expect("32 bytes have 16"))
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

    #[test]
    fn each_transmitter_under_a_key_has_its_own() {
        let of = |transmitter: u8| Fingerprint::of_transmitter(&[1; 16], &[transmitter; 8]);
        assert_eq!(of(2), of(2));
        assert_ne!(of(2), of(3));
        assert_ne!(of(2), Fingerprint::of(&[1; 16]));
    }

    /// State files of earlier runs must stay good. The number is Python's:
    /// `hmac.digest(bytes(range(16)), b"sealcomb: fingerprint of an ESP key", "sha256")[:16].hex()`.
    #[test]
    fn a_fingerprint_never_changes() {
        let key: Vec<u8> = (0..16).collect();
        assert_eq!(hex::encode(Fingerprint::of(&key).0), "add2627b729b5fbc29bcda6428e0e09f");
    }
}
