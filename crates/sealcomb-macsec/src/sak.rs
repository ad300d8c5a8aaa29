//! Secure association keys and the nonces under them (IEEE 802.1AE-2018, clause 14).
//!
//! ```text
//! GCM-AES-128, -256           nonce = SCI ‖ PN
//! GCM-AES-XPN-128, -XPN-256   nonce = (SSCI ‖ PN) ⊕ salt      PN of 64 bits, of which the low half is sent
//! ```

use std::fmt;

use sealcomb::{Algorithm, Error, Key};

use crate::sectag::Sci;

const NONCE_BYTES: usize = 12;

/// Why there is no SAK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SakError {
    /// The key has other than 16 or 32 bytes.
    KeyLength,
    /// The library refused it.
    Library(Error),
}

impl fmt::Display for SakError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyLength => f.write_str("a SAK has 16 or 32 bytes"),
            Self::Library(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SakError {}

/// A secure association key in the hands of one transmitter, or of those who receive from it. The key is wiped with it.
pub struct Sak {
    pub(crate) key: Key,
    nonces: Nonces,
}

#[derive(Clone)]
enum Nonces {
    /// SCI, then PN.
    Plain([u8; 8]),
    /// SSCI and 64 zeros, XOR salt.
    Extended([u8; NONCE_BYTES]),
}

impl Sak {
    /// Of GCM-AES-128 or GCM-AES-256, as the key's 16 or 32 bytes say, for the transmitter of this channel.
    ///
    /// # Errors
    /// [`SakError`], for a key of another length.
    pub fn new(key: &[u8], sci: Sci) -> Result<Self, SakError> {
        Ok(Self { key: gcm(key)?, nonces: Nonces::Plain(sci.0) })
    }

    /// Of GCM-AES-XPN-128 or GCM-AES-XPN-256, as the key's 16 or 32 bytes say: `ssci` is the transmitter's short number,
    /// `salt` that of the key.
    ///
    /// # Errors
    /// [`SakError`], for a key of another length.
    pub fn extended(key: &[u8], ssci: u32, salt: [u8; NONCE_BYTES]) -> Result<Self, SakError> {
        let mut nonce = salt;
        for (byte, ssci) in nonce.iter_mut().zip(ssci.to_be_bytes()) {
            *byte ^= ssci;
        }
        Ok(Self { key: gcm(key)?, nonces: Nonces::Extended(nonce) })
    }

    /// The SAK of the same cipher suite, transmitter and salt with another key.
    ///
    /// # Errors
    /// [`SakError`], for a key of another length.
    pub fn with_key(&self, key: &[u8]) -> Result<Self, SakError> {
        if key.len() != self.key_bytes() {
            return Err(SakError::KeyLength);
        }
        Ok(Self { key: gcm(key)?, nonces: self.nonces.clone() })
    }

    /// Bytes of the key.
    pub fn key_bytes(&self) -> usize {
        self.key.algorithm().key_bytes
    }

    /// Whether packet numbers have 64 bits.
    pub fn is_extended(&self) -> bool {
        matches!(self.nonces, Nonces::Extended(_))
    }

    /// The last packet number; after it the channel needs a new key.
    pub fn last_pn(&self) -> u64 {
        if self.is_extended() { u64::MAX } else { u32::MAX.into() }
    }

    /// The packet number of a frame whose SecTAG has `sent`, all of it or the low half. `None`: there is no such number.
    ///
    /// An extended one is found from the lowest that the receiver would take (10.6.2): if its low half has reached 2^31 and
    /// `sent` has not, the high half went up in between. So every number from there on is found within 2^31 of it, and one
    /// that is a little too old is seen to be.
    pub fn pn(&self, sent: u32, lowest: u64) -> Option<u64> {
        const HALF: u32 = 1 << 31;
        if !self.is_extended() {
            return (sent != 0).then_some(sent.into());
        }
        let high = lowest >> 32;
        let high = if lowest as u32 >= HALF && sent < HALF { high + 1 } else { high };
        let pn = high.checked_mul(1 << 32)? | u64::from(sent);
        (pn != 0).then_some(pn)
    }

    pub(crate) fn nonce(&self, pn: u64) -> [u8; NONCE_BYTES] {
        let mut nonce = [0; NONCE_BYTES];
        match &self.nonces {
            Nonces::Plain(sci) => {
                nonce[..8].copy_from_slice(sci);
                nonce[8..].copy_from_slice(&(pn as u32).to_be_bytes());
            }
            Nonces::Extended(masked) => {
                nonce = *masked;
                for (byte, pn) in nonce[4..].iter_mut().zip(pn.to_be_bytes()) {
                    *byte ^= pn;
                }
            }
        }
        nonce
    }
}

fn gcm(key: &[u8]) -> Result<Key, SakError> {
    let id = match key.len() {
        16 => "aes128-gcm",
        32 => "aes256-gcm",
        _ => return Err(SakError::KeyLength),
    };
    Algorithm::by_id(id).and_then(|algorithm| Key::new(algorithm, key)).map_err(SakError::Library)
}
