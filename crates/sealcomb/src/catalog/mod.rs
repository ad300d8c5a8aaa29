//! What there is to say of an algorithm. [`ALGORITHMS`], the list, is in a file of its own; every table, name and size that
//! users see is derived from it.

mod list;

pub use list::ALGORITHMS;

use crate::modes::Mode;
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
    /// Published by a body that makes standards (NIST, IEEE, ISO/IEC, IETF/IRTF), and no attack counts against it.
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
    pub min_message_bytes: usize,
    /// Whether it is a cipher with a tweak: what a job has as additional data.
    pub tweaked: bool,
    pub(crate) unusual: Unusual,
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
    pub fn max_message_bytes(&self, ciphertext_bytes: usize) -> Result<usize, Forged> {
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
        whole.max(self.min_message_bytes)
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
        if message_bytes < self.min_message_bytes as u64 {
            let (least, got) = (self.min_message_bytes, message_bytes as usize);
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
        let Unusual { aad, message } = self.unusual;
        (aad_bytes & aad) | (message_bytes & message) | (nonce_bytes ^ self.nonce_bytes) == 0
            && message_bytes >= self.min_message_bytes
    }
}

/// Bits of the lengths of additional data and messages that those of ordinary ones don't have.
#[derive(Clone, Copy)]
pub(crate) struct Unusual {
    aad: usize,
    message: usize,
}

impl Unusual {
    /// Longer than 64 KiB, or not taken at all.
    const fn of(kind: Kind, whole_blocks: bool, tweaked: bool) -> Self {
        const LONG: usize = !0xffff;
        match kind {
            Kind::Aead => Self { aad: LONG, message: LONG },
            Kind::Mac => Self { aad: LONG, message: !0 },
            Kind::Cipher => Self {
                aad: if tweaked { LONG } else { !0 },
                message: if whole_blocks { LONG | 15 } else { LONG },
            },
        }
    }
}

impl core::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.id)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn a_message_below_the_least_is_refused() {
        let algorithm = Algorithm { min_message_bytes: 16, ..*Algorithm::by_id("aes128-gcm").unwrap() };
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
                let most = algorithm.max_message_bytes(ciphertext).ok();
                assert_eq!(most, longest, "{expansion:?} {ciphertext}");
            }
        }
    }
}
