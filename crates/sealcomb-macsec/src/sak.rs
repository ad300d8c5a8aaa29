//! Secure association keys (SAKs) and their nonces (IEEE 802.1AE-2018, clause 14).
//!
//! ```text
//! GCM-AES-128, -256           nonce = SCI ‖ PN
//! GCM-AES-XPN-128, -XPN-256   nonce = (SSCI ‖ PN) ⊕ salt      64-bit PN, only the low half is sent
//! ```

use std::fmt;

use sealcomb::{Algorithm, Error, Key};

use crate::sectag::Sci;

const NONCE_BYTES: usize = 12;

/// How many bytes of user data after the SecTAG stay unencrypted: 0, 30 or 50, so that a bridge can read the
/// IPv4 or IPv6 header. The ICV covers them. The key server distributes the offset with the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfidentialityOffset {
    /// All user data is encrypted.
    #[default]
    Zero,
    /// The first 30 bytes, the EtherType included, are not.
    Thirty,
    /// The first 50 bytes, the EtherType included, are not.
    Fifty,
}

impl ConfidentialityOffset {
    /// Returns the offset in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Self::Zero => 0,
            Self::Thirty => 30,
            Self::Fifty => 50,
        }
    }
}

/// Why a key was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SakError {
    /// The key has neither 16 nor 32 bytes, or its length differs from that of the cipher suite.
    KeyLength,
    /// The library rejected the key.
    Library(Error),
}

impl fmt::Display for SakError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyLength => {
                f.write_str("wrong length of SAK; GCM-AES-128 takes 16 bytes, GCM-AES-256 takes 32")
            }
            Self::Library(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SakError {}

/// A secure association key together with the identity of the one transmitter that seals with it. The transmitter and
/// its receivers construct equal ones. The key is zeroized on drop.
pub struct Sak {
    pub(crate) key: Key,
    pub(crate) offset: ConfidentialityOffset,
    nonces: Nonces,
}

#[derive(Clone)]
enum Nonces {
    /// The SCI: the first 8 bytes of each nonce.
    Plain([u8; 8]),
    /// The nonce of PN 0: (SSCI ‖ 64 zero bits) ⊕ salt.
    Extended([u8; NONCE_BYTES]),
}

impl Sak {
    /// Returns a SAK of GCM-AES-128 (16-byte key) or GCM-AES-256 (32-byte key). `sci` identifies the transmitter.
    ///
    /// # Errors
    /// [`SakError::KeyLength`] for keys of other lengths.
    pub fn new(key: &[u8], sci: Sci) -> Result<Self, SakError> {
        Ok(Self::of(gcm(key)?, Nonces::Plain(sci.0)))
    }

    /// Returns a SAK of GCM-AES-XPN-128 (16-byte key) or GCM-AES-XPN-256 (32-byte key). `ssci` is the transmitter's
    /// short secure channel identifier. `salt` belongs to the key.
    ///
    /// # Errors
    /// [`SakError::KeyLength`] for keys of other lengths.
    pub fn extended(key: &[u8], ssci: u32, salt: [u8; NONCE_BYTES]) -> Result<Self, SakError> {
        let mut nonce = salt;
        for (byte, ssci) in nonce.iter_mut().zip(ssci.to_be_bytes()) {
            *byte ^= ssci;
        }
        Ok(Self::of(gcm(key)?, Nonces::Extended(nonce)))
    }

    fn of(key: Key, nonces: Nonces) -> Self {
        Self { key, offset: ConfidentialityOffset::Zero, nonces }
    }

    /// Returns the SAK with a confidentiality offset, which is 0 by default. It applies to encrypted frames. The standard
    /// has offsets for GCM-AES-128 and GCM-AES-256 only, not for extended packet numbers.
    #[must_use]
    pub fn with_offset(self, offset: ConfidentialityOffset) -> Self {
        Self { offset, ..self }
    }

    /// Returns a SAK with another key and this one's cipher suite, transmitter, salt and confidentiality offset.
    ///
    /// # Errors
    /// [`SakError::KeyLength`] if the keys differ in length.
    pub fn with_key(&self, key: &[u8]) -> Result<Self, SakError> {
        if key.len() != self.key_bytes() {
            return Err(SakError::KeyLength);
        }
        Ok(Self { key: gcm(key)?, offset: self.offset, nonces: self.nonces.clone() })
    }

    /// Returns the size of the key in bytes: 16 or 32.
    pub fn key_bytes(&self) -> usize {
        self.key.algorithm().key_bytes()
    }

    /// Returns whether packet numbers have 64 bits (XPN).
    pub fn is_extended(&self) -> bool {
        matches!(self.nonces, Nonces::Extended(_))
    }

    /// Returns the last packet number of the cipher suite: 2^32 − 1 or 2^64 − 1. After it, the channel needs a new
    /// key.
    pub fn last_pn(&self) -> u64 {
        if self.is_extended() { u64::MAX } else { u32::MAX.into() }
    }

    /// Returns the packet number of a frame whose SecTAG contains `sent`: the whole number, or the low half of an
    /// extended one. Returns `None` if no valid packet number has that value.
    ///
    /// An extended number is recovered relative to `lowest`, the lowest number that the receiver accepts (10.6.2). If
    /// the low half of `lowest` is at least 2^31 and `sent` is less, the high half has been incremented in between.
    /// All numbers from `lowest` up to 2^31 above it are recovered correctly. Slightly older numbers come out below
    /// `lowest`, unless a multiple of 2^32 separates the two. In that case the frame fails verification.
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
