//! An identifier for a key that does not reveal the key.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A 16-byte identifier of a key that reveals nothing else about it: the first 16 bytes of HMAC-SHA-256, under the
/// key, of a fixed label.
///
/// [`Fingerprint::of`] depends only on the key, and on no other parameter of its association. Nonces do not contain
/// the SPI, and GCM, CCM and CTR share the format of their counter blocks. A number used once under a key therefore
/// stays used, even if other parameters of the association change. Keys that differ only in zero bytes at their ends
/// share a fingerprint, because HMAC pads keys with zero bytes: store the highest number of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 16]);

impl Fingerprint {
    /// Returns the fingerprint of an ESP key of any length.
    pub fn of(key: &[u8]) -> Self {
        Self::labeled(key, &[b"sealcomb: fingerprint of an ESP key"])
    }

    /// Returns the fingerprint of a MACsec key as used by one transmitter. All members of a connectivity association
    /// send under one key, and each counts its own packet numbers. `transmitter` is the part of the nonce that
    /// identifies it: SCI or SSCI.
    pub fn of_transmitter(key: &[u8], transmitter: &[u8]) -> Self {
        Self::labeled(key, &[b"sealcomb: fingerprint of a MACsec key and its transmitter ", transmitter])
    }

    fn labeled(key: &[u8], label: &[&[u8]]) -> Self {
        let hmac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
        let tag = label.iter().fold(hmac, Mac::chain_update).finalize().into_bytes();
        Self(*tag.first_chunk().expect("32 bytes have 16"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_distinguishes_keys() {
        assert_eq!(Fingerprint::of(&[1; 16]), Fingerprint::of(&[1; 16]));
        assert_ne!(Fingerprint::of(&[1; 16]), Fingerprint::of(&[2; 16]));
        assert_ne!(Fingerprint::of(&[1; 16]), Fingerprint::of(&[1; 32]));
    }

    #[test]
    fn each_transmitter_under_a_key_has_its_own_fingerprint() {
        let of = |transmitter: u8| Fingerprint::of_transmitter(&[1; 16], &[transmitter; 8]);
        assert_eq!(of(2), of(2));
        assert_ne!(of(2), of(3));
        assert_ne!(of(2), Fingerprint::of(&[1; 16]));
    }

    /// State files of earlier versions must stay valid. The expected value comes from Python:
    /// `hmac.digest(bytes(range(16)), b"sealcomb: fingerprint of an ESP key", "sha256")[:16].hex()`.
    #[test]
    fn a_fingerprint_never_changes() {
        let key: Vec<u8> = (0..16).collect();
        assert_eq!(hex::encode(Fingerprint::of(&key).0), "add2627b729b5fbc29bcda6428e0e09f");
    }
}
