//! The list of algorithms. Every table, name and size that users see is derived from it.

use crate::Error;
use crate::modes::{Mode, ccm, cmac, gcm, gcm_siv};
#[cfg(feature = "hazmat")]
use crate::modes::{cbc, cfb, ctr, ecb, ofb};

/// What an algorithm gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Secrecy without authenticity: a building block, behind the feature `hazmat`. Takes no additional data, has no
    /// tag.
    Cipher,
    /// Authenticity without secrecy. What is authenticated is the additional data; there is no message to encrypt.
    Mac,
    /// Secrecy and authenticity.
    Aead,
}

/// How far an algorithm can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A published standard.
    Standard,
    /// Chosen by a competition, no standard.
    Portfolio,
    /// Published, neither standard nor chosen.
    Research,
    /// A practical attack is known; kept for study.
    Broken,
}

/// Sizes in bytes from `min` to `max`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub min: usize,
    /// The most.
    pub max: usize,
}

/// What each 16-byte block of a message costs: the instruction mix that bounds a mode's speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Calls of the block cipher.
    pub aes_calls: u32,
    /// Multiplications in GF(2^128), of three carry-less products each.
    pub multiplications: u32,
}

/// An algorithm: a mode of operation with a block cipher of one key size.
///
/// ```
/// let gcm = sealcomb::Algorithm::by_id("aes128-gcm")?;
/// assert_eq!((gcm.key_bytes, gcm.nonce_bytes, gcm.tag_bytes), (16, 12, 16));
/// # Ok::<(), sealcomb::Error>(())
/// ```
#[non_exhaustive]
pub struct Algorithm {
    /// The name by which files and commands call it.
    pub id: &'static str,
    /// The name by which people call it.
    pub name: &'static str,
    /// The mode alone.
    pub mode: &'static str,
    /// What it gives.
    pub kind: Kind,
    /// Bytes of a key.
    pub key_bytes: usize,
    /// Bytes that a nonce may have.
    pub nonce: Range,
    /// Bytes that a nonce usually has.
    pub nonce_bytes: usize,
    /// Bytes that a tag may have; none for a cipher.
    pub tag: &'static [usize],
    /// Bytes that a tag has unless the key says otherwise; 0 for a cipher.
    pub tag_bytes: usize,
    /// Whether messages must be whole blocks of 16 bytes.
    pub whole_blocks: bool,
    /// What a block costs.
    pub work: Work,
    /// Rounds of the block cipher.
    pub rounds: u32,
    /// How far it can be trusted.
    pub status: Status,
    /// Where it is defined.
    pub spec: &'static str,
    /// What its user must know.
    pub note: &'static str,
    pub(crate) code: &'static dyn Mode,
    limits: Limits,
}

/// The longest message and additional data, in bytes.
#[derive(Clone, Copy)]
enum Limits {
    /// Whatever fits into memory.
    None,
    /// The same for every nonce.
    Fixed { message: u64, aad: u64 },
    /// CCM: the message's length must fit into what the nonce leaves of 15 bytes.
    BesideNonce,
}

impl Algorithm {
    /// The algorithm of this id.
    ///
    /// # Errors
    /// [`Error::UnknownAlgorithm`] if there is none, or none in this build: the unauthenticated ciphers need the
    /// feature `hazmat`.
    pub fn by_id(id: &str) -> Result<&'static Self, Error> {
        ALGORITHMS.iter().find(|algorithm| algorithm.id == id).ok_or(Error::UnknownAlgorithm)
    }

    /// Whether a message of these sizes can be sealed: the check that every job goes through. For a MAC, what is
    /// authenticated counts as additional data.
    ///
    /// # Errors
    /// The [`Error`] that sealing such a message returns.
    pub fn check(
        &self,
        nonce_bytes: usize,
        tag_bytes: usize,
        aad_bytes: u64,
        message_bytes: u64,
    ) -> Result<(), Error> {
        if nonce_bytes < self.nonce.min || nonce_bytes > self.nonce.max {
            return Err(Error::NonceLength { got: nonce_bytes });
        }
        if tag_bytes != self.tag_bytes && !self.tag.contains(&tag_bytes) {
            return Err(Error::TagLength { got: tag_bytes });
        }
        match self.kind {
            Kind::Cipher if aad_bytes > 0 => return Err(Error::TakesNoAad),
            Kind::Mac if message_bytes > 0 => return Err(Error::TakesNoMessage),
            _ => {}
        }
        if self.whole_blocks && !message_bytes.is_multiple_of(16) {
            return Err(Error::NotWholeBlocks { got: message_bytes as usize });
        }
        let (message, aad) = match self.limits {
            Limits::None => return Ok(()),
            Limits::Fixed { message, aad } => (message, aad),
            Limits::BesideNonce => {
                let bits = 8 * (15 - nonce_bytes as u32);
                (1u64.checked_shl(bits).map_or(u64::MAX, |limit| limit - 1), u64::MAX)
            }
        };
        if message_bytes > message {
            return Err(Error::MessageTooLong { limit: message });
        }
        if aad_bytes > aad {
            return Err(Error::AadTooLong { limit: aad });
        }
        Ok(())
    }
}

impl core::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.id)
    }
}

const NO_NONCE: Range = Range { min: 0, max: 0 };
#[cfg(feature = "hazmat")]
const ONE_BLOCK: Range = Range { min: 16, max: 16 };
const TWELVE: Range = Range { min: 12, max: 12 };
const CCM_NONCES: Range = Range { min: 7, max: 13 };
/// SP 800-38D allows IVs up to 2^64 - 1 bits.
const GCM_NONCES: Range = Range { min: 1, max: ((1u64 << 61) - 1) as usize };
/// SP 800-38D: 2^39 - 256 bits.
const GCM_MESSAGE: u64 = (1 << 36) - 32;
/// SP 800-38D: 2^64 - 1 bits.
const GCM_AAD: u64 = (1 << 61) - 1;

#[cfg(not(feature = "hazmat"))]
const GCM_TAGS: &[usize] = &[12, 13, 14, 15, 16];
/// SP 800-38D, appendix C, allows the short ones in some protocols.
#[cfg(feature = "hazmat")]
const GCM_TAGS: &[usize] = &[4, 8, 12, 13, 14, 15, 16];
const CMAC_TAGS: &[usize] = &[8, 9, 10, 11, 12, 13, 14, 15, 16];
const CCM_TAGS: &[usize] = &[4, 6, 8, 10, 12, 14, 16];

/// One line a mode: the key sizes, and everything that doesn't depend on them.
macro_rules! catalog {
    ($($cfg:meta => $Mode:path, $mode:literal, $id:literal, $kind:ident, $status:ident,
       keys [$($bits:literal),*], nonce $nonce:expr, $nonce_bytes:literal, tag $tag:expr, $tag_bytes:literal,
       whole $whole:literal, work $aes:literal + $mul:literal, $limits:expr, $spec:literal, $note:literal;)*) => {
        /// Every algorithm of this build.
        pub static ALGORITHMS: &[Algorithm] = &[$($(
            #[cfg($cfg)]
            Algorithm {
                id: concat!("aes", $bits, "-", $id),
                name: concat!("AES-", $bits, "-", $mode),
                mode: $mode,
                kind: Kind::$kind,
                key_bytes: $bits / 8,
                nonce: $nonce,
                nonce_bytes: $nonce_bytes,
                tag: $tag,
                tag_bytes: $tag_bytes,
                whole_blocks: $whole,
                work: Work { aes_calls: $aes, multiplications: $mul },
                rounds: $bits / 32 + 6,
                status: Status::$status,
                spec: $spec,
                note: $note,
                code: &$Mode,
                limits: $limits,
            },
        )*)*];
    };
}

catalog! {
    all() => gcm::Gcm, "GCM", "gcm", Aead, Standard, keys [128, 192, 256], nonce GCM_NONCES, 12, tag GCM_TAGS, 16,
        whole false, work 1 + 1, Limits::Fixed { message: GCM_MESSAGE, aad: GCM_AAD }, "NIST SP 800-38D",
        "A nonce used twice under a key reveals the authentication key; at most 2^32 random nonces a key.";
    all() => gcm_siv::GcmSiv, "GCM-SIV", "gcm-siv", Aead, Standard, keys [128, 256], nonce TWELVE, 12, tag &[16], 16,
        whole false, work 1 + 1, Limits::Fixed { message: 1 << 36, aad: 1 << 36 }, "RFC 8452",
        "A nonce used twice reveals only whether the messages are equal.";
    all() => ccm::Ccm, "CCM", "ccm", Aead, Standard, keys [128, 192, 256], nonce CCM_NONCES, 12, tag CCM_TAGS, 16,
        whole false, work 2 + 0, Limits::BesideNonce, "NIST SP 800-38C",
        "A nonce must not be used twice under a key; a nonce of n bytes leaves messages under 256^(15-n) bytes.";
    all() => cmac::Cmac, "CMAC", "cmac", Mac, Standard, keys [128, 192, 256], nonce NO_NONCE, 0, tag CMAC_TAGS, 16,
        whole false, work 1 + 0, Limits::None, "NIST SP 800-38B",
        "At most 2^48 messages a key.";
    all() => gcm::Gcm, "GMAC", "gmac", Mac, Standard, keys [128, 192, 256], nonce GCM_NONCES, 12, tag GCM_TAGS, 16,
        whole false, work 0 + 1, Limits::Fixed { message: 0, aad: GCM_AAD }, "NIST SP 800-38D",
        "A nonce used twice under a key reveals the authentication key.";
    feature = "hazmat" => ecb::Ecb, "ECB", "ecb", Cipher, Standard, keys [128, 192, 256], nonce NO_NONCE, 0,
        tag &[], 0, whole true, work 1 + 0, Limits::None, "NIST SP 800-38A",
        "Equal blocks stay equal: a building block, not a way to encrypt.";
    feature = "hazmat" => cbc::Cbc, "CBC", "cbc", Cipher, Standard, keys [128, 192, 256], nonce ONE_BLOCK, 16,
        tag &[], 0, whole true, work 1 + 0, Limits::None, "NIST SP 800-38A",
        "The IV must be unpredictable; not authenticated; padding is the caller's.";
    feature = "hazmat" => cfb::Cfb, "CFB128", "cfb128", Cipher, Standard, keys [128, 192, 256],
        nonce ONE_BLOCK, 16, tag &[], 0, whole false, work 1 + 0, Limits::None, "NIST SP 800-38A",
        "The IV must be unpredictable; not authenticated.";
    feature = "hazmat" => ofb::Ofb, "OFB", "ofb", Cipher, Standard, keys [128, 192, 256], nonce ONE_BLOCK, 16,
        tag &[], 0, whole false, work 1 + 0, Limits::None, "NIST SP 800-38A",
        "An IV must not be used twice under a key; not authenticated.";
    feature = "hazmat" => ctr::Ctr, "CTR", "ctr", Cipher, Standard, keys [128, 192, 256], nonce ONE_BLOCK, 16,
        tag &[], 0, whole false, work 1 + 0, Limits::None, "NIST SP 800-38A",
        "No counter block may be used twice under a key; the whole block counts; not authenticated.";
}
