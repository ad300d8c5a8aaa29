//! The list of algorithms. Every table, name and size that users see is derived from it.

use crate::modes::{Mode, ccm, cmac, colm, gcm, gcm_siv, ocb3, siv};
#[cfg(feature = "hazmat")]
use crate::modes::{cbc, cfb, ctr, ecb, eme2, ofb};
#[cfg(feature = "research")]
use crate::modes::{cloc, cobra, copa, elmd, jambu, julius, mcoe_g, otr, pmac, poet, poet_g, silc};
use crate::{Error, Forged};

/// What an algorithm gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Secrecy without authenticity: a building block, behind the feature `hazmat`. Has no tag, and takes additional data
    /// only as a [tweak](Algorithm::tweaked).
    Cipher,
    /// Authenticity without secrecy. What is authenticated is the additional data; there is no message to encrypt.
    Mac,
    /// Secrecy and authenticity.
    Aead,
}

/// The block cipher of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// AES (FIPS 197).
    Aes,
    /// Serpent (Anderson, Biham, Knudsen 1998).
    Serpent,
}

/// How far an algorithm can be trusted. [`Algorithm::reason`] says why, and by which source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Published by a body that makes standards (NIST, IEEE, IETF/IRTF), and no attack counts against it.
    Standard,
    /// In the final portfolio of a competition, and no standard.
    Portfolio,
    /// Published, neither standard nor chosen; no attack is known that counts against its use as it is described here.
    /// Behind the feature `research`.
    Research,
    /// An attack is known that undoes what it promises, or its designers have withdrawn it. Kept for study, behind the
    /// feature `research`.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Work {
    /// Calls of the block cipher, with all its rounds.
    pub calls: u32,
    /// Rounds of the block cipher beyond those: of calls with fewer rounds.
    pub rounds: u32,
    /// Multiplications in GF(2^128), of three carry-less products each.
    pub multiplications: u32,
}

/// In which directions the blocks of one message can go side by side. Where they can't, each waits for a call of the block
/// cipher on the one before, and only several messages fill the CPU's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallel {
    /// Sealing and opening.
    Both,
    /// Opening alone.
    Opening,
    /// Neither.
    Neither,
}

/// How a mode is built: what decides where it can be fast, and what sender and receiver must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structure {
    /// Where the blocks of one message can go side by side.
    pub parallel: Parallel,
    /// Whether opening, like sealing, only ever encrypts with the block cipher.
    pub inverse_free: bool,
    /// Whether sealing can begin, and give out ciphertext, before the end of the message is known. For a MAC: whether
    /// authenticating can begin.
    pub online: bool,
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
    /// The block cipher.
    pub cipher: Cipher,
    /// Bytes of the block cipher's key.
    pub cipher_key_bytes: usize,
    /// Bytes of a key: more than the block cipher's, if the mode has keys of its own.
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
    /// Bytes that a message must have at least.
    pub least_message_bytes: usize,
    /// Whether it is a cipher with a tweak: what a job has as additional data.
    pub tweaked: bool,
    /// Whether it tells several associated strings apart: [`Aad::strings`](crate::Aad::strings).
    pub strings: bool,
    /// What a block costs.
    pub work: Work,
    /// How the mode is built.
    pub structure: Structure,
    /// Rounds of a call of the block cipher.
    pub rounds: u32,
    /// How far it can be trusted.
    pub status: Status,
    /// Why it has this status, and who says so.
    pub reason: &'static str,
    /// Where it is defined.
    pub spec: &'static str,
    /// What its user must know.
    pub note: &'static str,
    pub(crate) code: &'static dyn Mode,
    limits: Limits,
    expansion: Expansion,
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

/// How a ciphertext is longer than its message.
#[cfg_attr(not(feature = "research"), allow(dead_code))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expansion {
    /// Not at all.
    None,
    /// To whole blocks, and nothing tells by how much.
    Blocks,
    /// To whole blocks, at least one, and a byte that tells whether the last was padded.
    Flagged,
    /// The same, with an intermediate tag after every 127 blocks that others follow, at most 32 of them.
    FlaggedWithTags,
}

/// Intermediate tags in a message of so many blocks.
fn intermediate_tags(blocks: usize) -> usize {
    (blocks.saturating_sub(1) / 127).min(32)
}

impl Algorithm {
    /// Bytes of the ciphertext of a message of so many bytes, without its tag: the room that sealing needs. Nearly all
    /// ciphertexts are as long as their messages.
    ///
    /// ```
    /// let gcm = sealcomb::Algorithm::by_id("aes128-gcm")?;
    /// assert_eq!(gcm.ciphertext_bytes(100), 100);
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    #[inline]
    pub fn ciphertext_bytes(&self, message_bytes: usize) -> usize {
        let blocks = message_bytes.div_ceil(16);
        let whole = |blocks: usize| blocks.saturating_mul(16);
        match self.expansion {
            Expansion::None => message_bytes,
            Expansion::Blocks => whole(blocks),
            Expansion::Flagged => whole(blocks.max(1)).saturating_add(1),
            Expansion::FlaggedWithTags => whole(blocks.max(1) + intermediate_tags(blocks)).saturating_add(1),
        }
    }

    /// The most bytes that a message with a ciphertext of so many bytes can have: the room that opening needs.
    /// [`OpenJob::message_bytes`](crate::OpenJob::message_bytes) tells how many it has.
    ///
    /// # Errors
    /// [`Forged`] where no message has a ciphertext of this length.
    #[inline]
    pub fn message_bytes_at_most(&self, ciphertext_bytes: usize) -> Result<usize, Forged> {
        let most = match self.expansion {
            Expansion::None | Expansion::Blocks => ciphertext_bytes,
            Expansion::Flagged => ciphertext_bytes.saturating_sub(1),
            Expansion::FlaggedWithTags => {
                let blocks = ciphertext_bytes / 16;
                16 * (blocks - (blocks.saturating_sub(1) / 128).min(32))
            }
        };
        if self.ciphertext_bytes(most) == ciphertext_bytes { Ok(most) } else { Err(Forged) }
    }

    /// Whether the receiver must be told the message's length, since several lengths have the same ciphertext's length
    /// and nothing in the ciphertext tells which it is.
    pub fn needs_message_bytes(&self) -> bool {
        self.expansion == Expansion::Blocks
    }

    /// Whether ciphertexts can be longer than their messages.
    #[inline]
    pub fn expands(&self) -> bool {
        self.expansion != Expansion::None
    }

    /// The algorithm of this id.
    ///
    /// # Errors
    /// [`Error::UnknownAlgorithm`] if there is none, or none in this build: the unauthenticated ciphers need the
    /// feature `hazmat`, and those whose [`Status`] is research or broken the feature `research`.
    pub fn by_id(id: &str) -> Result<&'static Self, Error> {
        ALGORITHMS.iter().find(|algorithm| algorithm.id == id).ok_or(Error::UnknownAlgorithm)
    }

    /// Bytes that a message has when it is padded, if need be, to a length that the mode takes.
    pub fn padded_bytes(&self, bytes: usize) -> usize {
        let whole = if self.whole_blocks { bytes.next_multiple_of(16) } else { bytes };
        whole.max(self.least_message_bytes)
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
            Kind::Cipher if aad_bytes > 0 && !self.tweaked => return Err(Error::TakesNoAad),
            Kind::Mac if message_bytes > 0 => return Err(Error::TakesNoMessage),
            _ => {}
        }
        if self.whole_blocks && !message_bytes.is_multiple_of(16) {
            return Err(Error::NotWholeBlocks { got: message_bytes as usize });
        }
        if message_bytes < self.least_message_bytes as u64 {
            let (least, got) = (self.least_message_bytes, message_bytes as usize);
            return Err(Error::MessageTooShort { least, got });
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

    /// Whether nonce, additional data and message are of sizes that need no closer look, as most are.
    #[inline(always)]
    pub(crate) fn takes_ordinary(&self, nonce_bytes: usize, aad_bytes: usize, message_bytes: usize) -> bool {
        let fits = match self.kind {
            Kind::Aead => true,
            Kind::Mac => message_bytes == 0,
            Kind::Cipher => {
                (aad_bytes == 0 || self.tweaked)
                    && message_bytes >= self.least_message_bytes
                    && (!self.whole_blocks || message_bytes.is_multiple_of(16))
            }
        };
        fits && nonce_bytes == self.nonce_bytes && (aad_bytes | message_bytes) < 1 << 16
    }
}

impl core::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.id)
    }
}

const NO_NONCE: Range = Range { min: 0, max: 0 };
#[cfg(any(feature = "hazmat", feature = "research"))]
const ONE_BLOCK: Range = Range { min: 16, max: 16 };
const EIGHT: Range = Range { min: 8, max: 8 };
const TWELVE: Range = Range { min: 12, max: 12 };
/// RFC 5297, section 3: a nonce is one more string, or none.
const SIV_NONCES: Range = Range { min: 0, max: isize::MAX as usize };
const OCB_NONCES: Range = Range { min: 1, max: 15 };
const CCM_NONCES: Range = Range { min: 7, max: 13 };
/// SP 800-38D allows IVs up to 2^64 - 1 bits.
const GCM_NONCES: Range = Range { min: 1, max: ((1u64 << 61) - 1) as usize };
/// RFC 7253: 2^48 blocks under a key.
const OCB_LIMITS: Limits = Limits::Fixed { message: 1 << 52, aad: 1 << 52 };
/// SP 800-38D: 2^39 - 256 bits.
const GCM_MESSAGE: u64 = (1 << 36) - 32;
/// SP 800-38D: 2^64 - 1 bits.
const GCM_AAD: u64 = (1 << 61) - 1;

// One rule for all: a tag that the mode's standard allows under conditions alone needs the feature `hazmat`.
/// SP 800-38D, section 5.2.1.2: tags of 64 and 32 bits for certain applications alone, which must keep to appendix C.
const GCM_TAGS: &[usize] = beyond_hazmat(&[4, 8, 12, 13, 14, 15, 16], 2);
/// SP 800-38C, appendix B.2: no tags under 64 bits without a careful analysis of the risks.
const CCM_TAGS: &[usize] = beyond_hazmat(&[4, 6, 8, 10, 12, 14, 16], 2);
/// SP 800-38B, appendix A.2, says the same of tags under 64 bits, which no protocol seems to use.
const CMAC_TAGS: &[usize] = &[8, 9, 10, 11, 12, 13, 14, 15, 16];

/// Sizes of tags less the first few, which need `hazmat`.
const fn beyond_hazmat(sizes: &'static [usize], few: usize) -> &'static [usize] {
    if cfg!(feature = "hazmat") { sizes } else { sizes.split_at(few).1 }
}

/// No work but what a line names.
const IDLE: Work = Work { calls: 0, rounds: 0, multiplications: 0 };

/// Blocks side by side, the cipher in one direction, one pass over the message.
const PARALLEL: Structure = Structure { parallel: Parallel::Both, inverse_free: true, online: true };
/// The same, with a block cipher that is inverted to open.
const INVERTED: Structure = Structure { inverse_free: false, ..PARALLEL };
/// A ciphertext of which each block depends on the whole message.
const TWO_PASSES: Structure = Structure { online: false, ..PARALLEL };
#[cfg(any(feature = "hazmat", feature = "research"))]
const TWO_PASSES_INVERTED: Structure = Structure { online: false, ..INVERTED };
/// Block after block.
const SERIAL: Structure = Structure { parallel: Parallel::Neither, ..PARALLEL };
#[cfg(feature = "research")]
const SERIAL_INVERTED: Structure = Structure { parallel: Parallel::Neither, ..INVERTED };
/// Its first block has the message's length in it, or what encrypts comes from all of it.
const SERIAL_TWO_PASSES: Structure = Structure { online: false, ..SERIAL };
/// Chained by the ciphertext, which the receiver has.
#[cfg(feature = "hazmat")]
const CHAINED: Structure = Structure { parallel: Parallel::Opening, ..PARALLEL };
#[cfg(feature = "hazmat")]
const CHAINED_INVERTED: Structure = Structure { parallel: Parallel::Opening, ..INVERTED };

/// The lengths of messages that a mode takes, up to its limits, and by how much it makes them longer.
struct Takes {
    whole_blocks: bool,
    least: usize,
    tweak: bool,
    strings: bool,
    expansion: Expansion,
}

const ANY: Takes =
    Takes { whole_blocks: false, least: 0, tweak: false, strings: false, expansion: Expansion::None };
/// Several associated strings.
const STRINGS: Takes = Takes { strings: true, ..ANY };
#[cfg(feature = "hazmat")]
const WHOLE_BLOCKS: Takes = Takes { whole_blocks: true, ..ANY };
/// A block or more, and a tweak.
#[cfg(feature = "hazmat")]
const WIDE_BLOCK: Takes = Takes { least: 16, tweak: true, ..ANY };

#[cfg(feature = "research")]
const PADDED: Takes = Takes { expansion: Expansion::Blocks, ..ANY };
#[cfg(feature = "research")]
const FLAGGED: Takes = Takes { expansion: Expansion::Flagged, ..ANY };
#[cfg(feature = "research")]
const TAGGED: Takes = Takes { expansion: Expansion::FlaggedWithTags, ..ANY };

/// One line a mode: the bits of the cipher's key (and of the mode's own after a `+`), and all that doesn't depend on them.
macro_rules! catalog {
    ($($cfg:meta => $code:expr, $mode:literal, $id:literal, $kind:ident,
       $cipher:ident [$($bits:literal $(+ $more:literal)?),*], nonce $nonce:expr, $nonce_bytes:literal,
       tag $tag:expr, $tag_bytes:literal, takes $takes:expr, $work:expr, $structure:expr, $limits:expr, $spec:literal,
       $status:ident, $reason:literal, $note:literal;)*) => {
        /// Every algorithm of this build.
        pub static ALGORITHMS: &[Algorithm] = &[$($(
            #[cfg($cfg)]
            Algorithm {
                id: concat!(catalog!(@id $cipher), $bits, "-", $id),
                name: concat!(catalog!(@name $cipher), "-", $bits, "-", $mode),
                mode: $mode,
                kind: Kind::$kind,
                cipher: catalog!(@cipher $cipher),
                cipher_key_bytes: $bits / 8,
                key_bytes: ($bits $(+ $more)?) / 8,
                nonce: $nonce,
                nonce_bytes: $nonce_bytes,
                tag: $tag,
                tag_bytes: $tag_bytes,
                whole_blocks: $takes.whole_blocks,
                least_message_bytes: $takes.least,
                tweaked: $takes.tweak,
                strings: $takes.strings,
                work: $work,
                structure: $structure,
                rounds: catalog!(@rounds $cipher $bits),
                status: Status::$status,
                reason: $reason,
                spec: $spec,
                note: $note,
                code: &$code,
                limits: $limits,
                expansion: $takes.expansion,
            },
        )*)*];
    };
    (@id aes) => { "aes" };
    (@id serpent) => { "serpent" };
    (@name aes) => { "AES" };
    (@name serpent) => { "Serpent" };
    (@cipher aes) => { Cipher::Aes };
    (@cipher serpent) => { Cipher::Serpent };
    (@rounds aes $bits:literal) => { $bits / 32 + 6 };
    (@rounds serpent $bits:literal) => { 32 };
}

catalog! {
    all() => gcm::AES, "GCM", "gcm", Aead, aes [128, 192, 256], nonce GCM_NONCES, 12, tag GCM_TAGS, 16, takes ANY,
        Work { calls: 1, multiplications: 1, ..IDLE }, PARALLEL, Limits::Fixed { message: GCM_MESSAGE, aad: GCM_AAD },
        "NIST SP 800-38D", Standard, "NIST SP 800-38D (2007)",
        "A nonce used twice under a key reveals the authentication key; at most 2^32 random nonces a key.";
    feature = "research" => gcm::SERPENT, "GCM", "gcm", Aead, serpent [128, 192, 256], nonce GCM_NONCES, 12, tag GCM_TAGS, 16,
        takes ANY, Work { calls: 1, multiplications: 1, ..IDLE }, PARALLEL, Limits::Fixed { message: GCM_MESSAGE, aad: GCM_AAD },
        "NIST SP 800-38D; Serpent (Anderson, Biham, Knudsen 1998)",
        Research, "Serpent was a finalist of AES and not chosen; attacks reach 12 of its 32 rounds",
        "A nonce used twice under a key reveals the authentication key; at most 2^32 random nonces a key.";
    all() => gcm_siv::GcmSiv, "GCM-SIV", "gcm-siv", Aead, aes [128, 256], nonce TWELVE, 12, tag &[16], 16, takes ANY,
        Work { calls: 1, multiplications: 1, ..IDLE }, TWO_PASSES, Limits::Fixed { message: 1 << 36, aad: 1 << 36 },
        "RFC 8452", Standard, "RFC 8452 (2019), of the IRTF's crypto forum",
        "A nonce used twice reveals only whether the messages are equal.";
    all() => ccm::Ccm, "CCM", "ccm", Aead, aes [128, 192, 256], nonce CCM_NONCES, 12, tag CCM_TAGS, 16, takes ANY,
        Work { calls: 2, ..IDLE }, SERIAL_TWO_PASSES, Limits::BesideNonce, "NIST SP 800-38C", Standard, "NIST SP 800-38C (2004)",
        "A nonce must not be used twice under a key; a nonce of n bytes leaves messages under 256^(15-n) bytes.";
    all() => siv::Siv, "SIV", "siv", Aead, aes [128 + 128, 192 + 192, 256 + 256], nonce SIV_NONCES, 16, tag &[16], 16,
        takes STRINGS, Work { calls: 2, ..IDLE }, SERIAL_TWO_PASSES, Limits::None, "RFC 5297", Standard, "RFC 5297 (2008), of the IETF",
        "Without a nonce, equal messages with equal additional data stay equal; at most 2^48 messages a key, which is K1 and K2.";
    all() => cmac::Cmac, "CMAC", "cmac", Mac, aes [128, 192, 256], nonce NO_NONCE, 0, tag CMAC_TAGS, 16, takes ANY,
        Work { calls: 1, ..IDLE }, SERIAL, Limits::None, "NIST SP 800-38B", Standard, "NIST SP 800-38B (2005)",
        "At most 2^48 messages a key.";
    feature = "research" => pmac::Pmac, "PMAC", "pmac", Mac, aes [128, 192, 256], nonce NO_NONCE, 0, tag CMAC_TAGS, 16,
        takes ANY, Work { calls: 1, ..IDLE }, PARALLEL, Limits::None, "Black, Rogaway, EUROCRYPT 2002", Research,
        "published, proven up to the birthday bound, no attack known; NIST chose CMAC",
        "At most 2^48 blocks a key.";
    all() => gcm::AES, "GMAC", "gmac", Mac, aes [128, 192, 256], nonce GCM_NONCES, 12, tag GCM_TAGS, 16, takes ANY,
        Work { multiplications: 1, ..IDLE }, PARALLEL, Limits::Fixed { message: 0, aad: GCM_AAD },
        "NIST SP 800-38D", Standard, "NIST SP 800-38D (2007)",
        "A nonce used twice under a key reveals the authentication key.";
    all() => ocb3::AES, "OCB3-T64", "ocb3-t64", Aead, aes [128, 192, 256], nonce OCB_NONCES, 12, tag &[8], 8, takes ANY,
        Work { calls: 1, ..IDLE }, INVERTED, OCB_LIMITS, "RFC 7253", Standard,
        "RFC 7253 (2014), of the IRTF's crypto forum; CAESAR's final portfolio (2019)",
        "A nonce must not be used twice under a key; at most 2^48 blocks a key. Other tag lengths are other algorithms.";
    all() => ocb3::AES, "OCB3-T96", "ocb3-t96", Aead, aes [128, 192, 256], nonce OCB_NONCES, 12, tag &[12], 12, takes ANY,
        Work { calls: 1, ..IDLE }, INVERTED, OCB_LIMITS, "RFC 7253", Standard,
        "RFC 7253 (2014), of the IRTF's crypto forum; CAESAR's final portfolio (2019)",
        "A nonce must not be used twice under a key; at most 2^48 blocks a key. Other tag lengths are other algorithms.";
    all() => ocb3::AES, "OCB3-T128", "ocb3-t128", Aead, aes [128, 192, 256], nonce OCB_NONCES, 12, tag &[16], 16, takes ANY,
        Work { calls: 1, ..IDLE }, INVERTED, OCB_LIMITS, "RFC 7253", Standard,
        "RFC 7253 (2014), of the IRTF's crypto forum; CAESAR's final portfolio (2019)",
        "A nonce must not be used twice under a key; at most 2^48 blocks a key. Other tag lengths are other algorithms.";
    feature = "research" => ocb3::SERPENT, "OCB3", "ocb3", Aead, serpent [128, 192, 256], nonce OCB_NONCES, 12, tag &[16], 16,
        takes ANY, Work { calls: 1, ..IDLE }, INVERTED, OCB_LIMITS,
        "RFC 7253; Serpent (Anderson, Biham, Knudsen 1998)",
        Research, "Serpent was a finalist of AES and not chosen; attacks reach 12 of its 32 rounds",
        "A nonce must not be used twice under a key; at most 2^48 blocks a key.";
    feature = "research" => otr::Otr::Parallel, "OTR-P", "otr-p", Aead, aes [128, 256], nonce TWELVE, 12, tag &[16], 16, takes ANY,
        Work { calls: 1, ..IDLE }, PARALLEL, Limits::None, "AES-OTR v3 (Minematsu, CAESAR), parallel AD", Research,
        "CAESAR's third round, not in its portfolio; the attacks of ePrint 2016/234 are on masks in other fields than these",
        "A nonce must not be used twice under a key; keep far below 2^64 blocks a key.";
    feature = "research" => otr::Otr::Serial, "OTR-S", "otr-s", Aead, aes [128, 256], nonce TWELVE, 12, tag &[16], 16, takes ANY,
        Work { calls: 1, ..IDLE }, PARALLEL, Limits::None, "AES-OTR v3 (Minematsu, CAESAR), serial AD", Research,
        "CAESAR's third round, not in its portfolio; the attacks of ePrint 2016/234 are on masks in other fields than these",
        "A nonce must not be used twice under a key; keep far below 2^64 blocks a key.";
    feature = "research" => poet::POET, "POET", "poet", Aead, aes [128], nonce ONE_BLOCK, 16, tag &[16], 16, takes ANY,
        Work { calls: 3, ..IDLE }, SERIAL_INVERTED, Limits::None, "CAESAR round 2, POET v2", Research,
        "not chosen for the third round of CAESAR; no attack on it is known, the bounds of its definition of security are \
         shown by Hoang et al., CRYPTO 2015",
        "A nonce used twice reveals how many blocks two messages have in common at their beginnings.";
    feature = "research" => poet::POET_AES4, "POET-AES4", "poet-aes4", Aead, aes [128], nonce ONE_BLOCK, 16, tag &[16],
        16, takes ANY, Work { calls: 1, rounds: 8, ..IDLE }, SERIAL_INVERTED, Limits::None, "CAESAR round 2, POET v2", Research,
        "not chosen for the third round of CAESAR; no attack on it is known, the bounds of its definition of security are \
         shown by Hoang et al., CRYPTO 2015",
        "A nonce used twice reveals how many blocks two messages have in common at their beginnings.";
    feature = "research" => poet_g::POET_G, "POET-G", "poet-g", Aead, aes [128], nonce ONE_BLOCK, 16, tag &[16], 16,
        takes ANY, Work { calls: 1, multiplications: 2, ..IDLE }, INVERTED, Limits::None, "CAESAR round 1, POET v1", Broken,
        "withdrawn by its designers in 2014 after weak keys and forgeries (Abdelraheem, Beelen, Bogdanov, Tischhauser)",
        "Large classes of weak keys, and universal forgeries: for study only.";
    feature = "research" => mcoe_g::McoeG, "McOE-G", "mcoe-g", Aead, aes [128 + 128], nonce ONE_BLOCK, 16, tag &[16], 16,
        takes ANY, Work { calls: 1, multiplications: 1, ..IDLE }, SERIAL_INVERTED, Limits::None,
        "Fleischmann, Forler, Lucks, FSE 2012; ePrint 2011/644", Research,
        "published, proven, no attack known; how additional data is hashed and how bits are ordered is this library's own",
        "A nonce used twice reveals how many blocks two messages have in common at their beginnings.";
    feature = "research" => cobra::Cobra, "COBRA", "cobra", Aead, aes [128], nonce ONE_BLOCK, 16, tag &[16], 16, takes ANY,
        Work { calls: 1, multiplications: 1, ..IDLE }, PARALLEL, Limits::None,
        "Andreeva, Luykx, Mennink, Yasuda, FSE 2014; details that were not published are this library's", Broken,
        "forged with about 2n queries (Nandi, ASIACRYPT 2014, ePrint 2014/363); withdrawn from CAESAR by its designers",
        "Can be forged where a nonce is used twice: for study only.";
    feature = "research" => julius::JuliusEcb, "Julius-ECB", "julius-ecb", Aead, aes [128], nonce ONE_BLOCK, 16, tag &[16],
        16, takes PADDED, Work { calls: 1, multiplications: 2, ..IDLE }, TWO_PASSES_INVERTED, Limits::None,
        "CAESAR round 1, Julius v1.0, regular Julius-ECB; as its code, with the multiplication put right",
        Broken, "universal forgeries under weak keys (Abdelraheem, Beelen, Bogdanov, Tischhauser, EUROCRYPT 2015)",
        "A nonce used twice reveals only whether the messages are equal; the receiver must be told a message's length.";
    feature = "research" => cloc::Cloc, "CLOC", "cloc", Aead, aes [128], nonce TWELVE, 12, tag &[8], 8, takes ANY,
        Work { calls: 2, ..IDLE }, SERIAL, Limits::None, "CAESAR round 3, CLOC and SILC v3", Research,
        "a third-round candidate of CAESAR that was not chosen; proven up to the birthday bound (designers, DIAC 2016)",
        "Tags have 8 bytes. A nonce used twice reveals how many blocks two messages have in common at their beginnings.";
    feature = "research" => silc::Silc, "SILC", "silc", Aead, aes [128], nonce TWELVE, 12, tag &[8], 8, takes ANY,
        Work { calls: 2, ..IDLE }, SERIAL, Limits::None, "CAESAR round 3, CLOC and SILC v3", Research,
        "a third-round candidate of CAESAR that was not chosen; proven up to the birthday bound (designers, DIAC 2016)",
        "Tags have 8 bytes. A nonce used twice reveals how many blocks two messages have in common at their beginnings.";
    feature = "research" => jambu::Jambu, "JAMBU", "jambu", Aead, aes [128], nonce EIGHT, 8, tag &[8], 8, takes ANY,
        Work { calls: 2, ..IDLE }, SERIAL, Limits::None, "CAESAR round 3, JAMBU v2", Research,
        "a third-round candidate of CAESAR that was not chosen; what it claimed for repeated nonces falls to 2^32 queries \
         (Peyrin, Sim, Wang, Zhang, FSE 2015)",
        "Tags have 8 bytes. A nonce must not be used twice under a key.";
    feature = "hazmat" => ecb::AES, "ECB", "ecb", Cipher, aes [128, 192, 256], nonce NO_NONCE, 0, tag &[], 0,
        takes WHOLE_BLOCKS, Work { calls: 1, ..IDLE }, INVERTED, Limits::None,
        "NIST SP 800-38A", Standard, "NIST SP 800-38A (2001)",
        "Equal blocks stay equal: a building block, not a way to encrypt.";
    all(feature = "hazmat", feature = "research") => ecb::SERPENT, "ECB", "ecb", Cipher, serpent [128, 192, 256],
        nonce NO_NONCE, 0, tag &[], 0, takes WHOLE_BLOCKS, Work { calls: 1, ..IDLE }, INVERTED, Limits::None,
        "Serpent (Anderson, Biham, Knudsen 1998); NIST SP 800-38A",
        Research, "Serpent was a finalist of AES and not chosen; attacks reach 12 of its 32 rounds",
        "Equal blocks stay equal: a building block, not a way to encrypt. Bytes stand in the NESSIE order.";
    feature = "hazmat" => cbc::Cbc, "CBC", "cbc", Cipher, aes [128, 192, 256], nonce ONE_BLOCK, 16, tag &[], 0,
        takes WHOLE_BLOCKS, Work { calls: 1, ..IDLE }, CHAINED_INVERTED, Limits::None,
        "NIST SP 800-38A", Standard, "NIST SP 800-38A (2001)",
        "The IV must be unpredictable; not authenticated; padding is the caller's.";
    feature = "hazmat" => cfb::Cfb, "CFB128", "cfb128", Cipher, aes [128, 192, 256], nonce ONE_BLOCK, 16, tag &[], 0,
        takes ANY, Work { calls: 1, ..IDLE }, CHAINED, Limits::None, "NIST SP 800-38A", Standard, "NIST SP 800-38A (2001)",
        "The IV must be unpredictable; not authenticated.";
    feature = "hazmat" => ofb::Ofb, "OFB", "ofb", Cipher, aes [128, 192, 256], nonce ONE_BLOCK, 16, tag &[], 0,
        takes ANY, Work { calls: 1, ..IDLE }, SERIAL, Limits::None, "NIST SP 800-38A", Standard, "NIST SP 800-38A (2001)",
        "An IV must not be used twice under a key; not authenticated.";
    feature = "hazmat" => ctr::Ctr, "CTR", "ctr", Cipher, aes [128, 192, 256], nonce ONE_BLOCK, 16, tag &[], 0,
        takes ANY, Work { calls: 1, ..IDLE }, PARALLEL, Limits::None, "NIST SP 800-38A", Standard, "NIST SP 800-38A (2001)",
        "No counter block may be used twice under a key; the whole block counts; not authenticated.";
    feature = "hazmat" => eme2::Eme2, "EME2", "eme2", Cipher, aes [128 + 256, 256 + 256], nonce NO_NONCE, 0, tag &[], 0,
        takes WIDE_BLOCK, Work { calls: 2, ..IDLE }, TWO_PASSES_INVERTED, Limits::None, "IEEE Std 1619.2", Standard, "IEEE Std 1619.2-2010",
        "Equal messages under equal tweaks stay equal; not authenticated. A key is K_AD, K_ECB and the cipher's.";
    all() => colm::Colm, "COLM0", "colm0", Aead, aes [128], nonce EIGHT, 8, tag &[16], 16, takes ANY,
        Work { calls: 2, ..IDLE }, INVERTED, Limits::None, "COLM v1 (CAESAR, third round)",
        Portfolio, "CAESAR's final portfolio (2019), defense in depth, second choice",
        "A nonce used twice reveals common beginnings of messages; far fewer than 2^64 blocks a key.";
    feature = "research" => copa::Copa, "COPA", "copa", Aead, aes [128], nonce ONE_BLOCK, 16, tag &[16], 16, takes FLAGGED,
        Work { calls: 2, ..IDLE }, INVERTED, Limits::None, "AES-COPA v2 (CAESAR, second round)",
        Research, "merged into COLM; almost universal forgeries near the birthday bound (Lu, ASIACCS 2017)",
        "A nonce used twice reveals common beginnings of messages; far fewer than 2^64 blocks a key.";
    feature = "research" => elmd::FULL, "ELmD", "elmd", Aead, aes [128], nonce EIGHT, 8, tag &[16], 16, takes FLAGGED,
        Work { calls: 2, ..IDLE }, INVERTED, Limits::None, "ELmD v2.0 (CAESAR, second round), 10 rounds",
        Research, "merged into COLM; universal forgeries near the birthday bound (Bay, Ersoy, Karakoc, ASIACRYPT 2016)",
        "A nonce used twice reveals common beginnings of messages; far fewer than 2^64 blocks a key.";
    feature = "research" => elmd::SIX_ROUNDS, "ELmD(6,6)", "elmd66", Aead, aes [128], nonce EIGHT, 8, tag &[16], 16,
        takes FLAGGED, Work { rounds: 12, ..IDLE }, INVERTED, Limits::None, "ELmD v2.0 (CAESAR, second round), 6 rounds",
        Broken, "key recovery over 60 bits below the key's strength (Bay, Ersoy, Karakoc, ASIACRYPT 2016)",
        "Six rounds of AES a layer: for study alone.";
    feature = "research" => elmd::INTERMEDIATE_TAGS, "ELmD with intermediate tags", "elmd-it127", Aead, aes [128],
        nonce EIGHT, 8, tag &[16], 16, takes TAGGED, Work { calls: 2, ..IDLE }, INVERTED, Limits::None,
        "ELmD v2.0 (CAESAR, second round), 10 rounds, tags every 127 blocks",
        Research, "merged into COLM; universal forgeries near the birthday bound (Bay, Ersoy, Karakoc, ASIACRYPT 2016)",
        "As ELmD; the tags within the ciphertext are verified with the last one, before anything is released.";
    feature = "research" => elmd::VARIABLE_TAG, "ELmD with a variable tag", "elmd-vartag", Aead, aes [128],
        nonce EIGHT, 8, tag &[16], 16, takes ANY, Work { calls: 2, ..IDLE }, INVERTED, Limits::None,
        "ELmD v2.0 (CAESAR, second round), 10 rounds, variable tag",
        Research, "merged into COLM; universal forgeries near the birthday bound (Bay, Ersoy, Karakoc, ASIACRYPT 2016)",
        "As ELmD, with a ciphertext as long as the message.";
}

/// Short tags are in no build that has not asked for them.
#[cfg(not(feature = "hazmat"))]
const _: () = {
    let mut rest = ALGORITHMS;
    while let [algorithm, others @ ..] = rest {
        if let [least, ..] = algorithm.tag {
            assert!(*least >= 8, "behind the feature `hazmat`");
        }
        rest = others;
    }
};

/// What is research or broken is in no build that has not asked for it.
#[cfg(not(feature = "research"))]
const _: () = {
    let mut rest = ALGORITHMS;
    while let [algorithm, others @ ..] = rest {
        assert!(
            matches!(algorithm.status, Status::Standard | Status::Portfolio),
            "behind the feature `research`"
        );
        rest = others;
    }
};

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn a_message_below_the_least_is_refused() {
        let algorithm = Algorithm { least_message_bytes: 16, ..*Algorithm::by_id("aes128-gcm").unwrap() };
        for got in 0..16 {
            let expected = Error::MessageTooShort { least: 16, got };
            assert_eq!(algorithm.check(12, 16, 0, got as u64), Err(expected));
            assert_eq!(algorithm.padded_bytes(got), 16);
        }
        assert_eq!(algorithm.check(12, 16, 0, 16), Ok(()));
        assert_eq!(algorithm.padded_bytes(17), 17);
    }

    /// What never decrypts with the block cipher opens without the keys for that; what does, finds every tag wrong or
    /// another message.
    #[test]
    fn what_is_inverse_free_opens_without_the_keys_of_the_inverse_cipher() {
        use crate::{Backend, Key};
        for backend in Backend::available() {
            for algorithm in ALGORITHMS.iter().filter(|a| a.cipher == Cipher::Aes && a.kind != Kind::Mac) {
                let mut key = Key::with_backend(algorithm, &vec![7; algorithm.key_bytes], backend).unwrap();
                let message: Vec<u8> = (0..96).collect();
                let nonce = vec![9; algorithm.nonce_bytes];
                let sealed = key.seal(&nonce, b"", &message).unwrap();
                if !key.material_mut().aes.spoil_decrypting() {
                    continue;
                }
                let opened = key.open(&nonce, b"", &sealed);
                assert_eq!(
                    opened.is_ok_and(|opened| opened == message),
                    algorithm.structure.inverse_free,
                    "{algorithm:?}"
                );
            }
        }
    }

    fn expanding(expansion: Expansion) -> Algorithm {
        Algorithm { expansion, ..*Algorithm::by_id("aes128-gcm").unwrap() }
    }

    #[test]
    fn ciphertexts_have_the_room_that_padding_flag_and_intermediate_tags_take() {
        let bytes = |expansion, messages: &[usize]| -> Vec<usize> {
            messages.iter().map(|&message| expanding(expansion).ciphertext_bytes(message)).collect()
        };
        assert_eq!(bytes(Expansion::None, &[0, 1, 16, 17]), [0, 1, 16, 17]);
        assert_eq!(bytes(Expansion::Blocks, &[0, 1, 16, 17]), [0, 16, 16, 32]);
        assert_eq!(bytes(Expansion::Flagged, &[0, 1, 16, 17]), [17, 17, 17, 33]);
        assert_eq!(
            bytes(Expansion::FlaggedWithTags, &[0, 16 * 127, 16 * 127 + 1, 16 * 254, 16 * 255]),
            [17, 16 * 127 + 1, 16 * 129 + 1, 16 * 255 + 1, 16 * 257 + 1]
        );
        // No further tag after the 32nd.
        assert_eq!(bytes(Expansion::FlaggedWithTags, &[16 * 127 * 40]), [16 * (127 * 40 + 32) + 1]);
    }

    #[test]
    fn a_ciphertext_is_of_a_possible_length_if_and_only_if_a_message_has_it() {
        let messages = 16 * 128 * 34;
        for expansion in [Expansion::None, Expansion::Blocks, Expansion::Flagged, Expansion::FlaggedWithTags]
        {
            let algorithm = expanding(expansion);
            let mut longest = vec![None; algorithm.ciphertext_bytes(messages) + 1];
            for message in 0..=messages {
                longest[algorithm.ciphertext_bytes(message)] = Some(message);
            }
            for (ciphertext, longest) in longest.into_iter().enumerate() {
                let most = algorithm.message_bytes_at_most(ciphertext).ok();
                assert_eq!(most, longest, "{expansion:?} {ciphertext}");
            }
        }
    }
}
