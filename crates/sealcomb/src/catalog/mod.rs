//! The properties of an algorithm. The list itself is in `list.rs`; every table, name and size that users see is derived
//! from it.

mod constants;
mod list;

#[cfg(feature = "hazmat")]
pub use list::HAZMAT;
#[cfg(feature = "research")]
pub use list::RESEARCH;
pub use list::{ALGORITHMS, BUILT};

use crate::modes::Mode;
use crate::{Error, Forged};

/// The service that an algorithm provides.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Secrecy without authenticity: a building block that requires the feature `hazmat`. It has no tag, and takes
    /// additional data only as a [tweak](Algorithm::tweaked).
    Cipher,
    /// Authenticity without secrecy. The additional data is authenticated; there is no message to encrypt.
    Mac,
    /// Secrecy and authenticity.
    Aead,
}

/// The block cipher of an algorithm.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// AES (FIPS 197).
    Aes,
    /// Serpent (Anderson, Biham, Knudsen 1998).
    Serpent,
}

/// The position of the tag in the combined format of an algorithm's specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagPosition {
    /// The tag precedes the ciphertext: AES-SIV (RFC 5297, section 2.6).
    First,
    /// The tag follows the ciphertext.
    Last,
}

/// How far an algorithm can be trusted. [`Algorithm::reason`] gives the reason and its source.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Published by a standards body (NIST, IEEE, ISO/IEC, IETF/IRTF), or a composition of such standards, with no
    /// relevant attack known.
    Standard,
    /// In the final portfolio of a competition, or chosen by a standards body as the basis of a standard, but not a
    /// standard itself.
    Portfolio,
    /// Published, but neither standardized nor chosen by a competition. No relevant attack on its use as described
    /// here is known. Requires the feature `research`.
    Research,
    /// An attack breaks a security claim, or the designers have withdrawn the algorithm. Kept for study; requires the
    /// feature `research`.
    Broken,
}

/// The work per 16-byte block of a message: the instruction mix that bounds a mode's speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Work {
    /// Calls of the block cipher with all its rounds.
    pub calls: u32,
    /// Additional rounds of the block cipher, from calls with fewer rounds.
    pub rounds: u32,
    /// Rounds of these calls that a table can replace: the first round of consecutive counter blocks differs only in
    /// the contribution of their last byte.
    pub cached: u32,
    /// Multiplications in GF(2^128), of three carry-less products each.
    pub multiplications: u32,
}

/// The directions in which the blocks of one message can be processed in parallel. In the other directions, each
/// block waits for the block cipher's result on the previous one, so filling the CPU's units takes several messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallel {
    /// Sealing and opening.
    Both,
    /// Only opening.
    Opening,
    /// Neither direction.
    Neither,
}

/// The structure of a mode, which determines where it can be fast and what sender and receiver need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The directions in which the blocks of one message can be processed in parallel.
    pub parallel: Parallel,
    /// Whether opening, like sealing, uses only the block cipher's encryption, not its inverse.
    pub inverse_free: bool,
    /// Whether sealing can begin, and output ciphertext, before the end of the message is known. For a MAC: whether
    /// authenticating can begin.
    pub online: bool,
}

/// An algorithm: a mode of operation of a block cipher with one key size. The type is a handle, as large as a pointer.
///
/// ```
/// use sealcomb::Algorithm;
///
/// let gcm = Algorithm::AES_128_GCM;
/// assert_eq!((gcm.key_bytes(), gcm.nonce_bytes(), gcm.tag_bytes()), (16, 12, 16));
/// // Configuration files and commands name algorithms by their ids.
/// assert_eq!(Algorithm::by_id("aes128-gcm")?, gcm);
/// # Ok::<(), sealcomb::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Algorithm(&'static Entry);

/// The properties of an algorithm. The methods of [`Algorithm`] with the same names describe them.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    id: &'static str,
    name: &'static str,
    mode: &'static str,
    mode_id: &'static str,
    kind: Kind,
    cipher: Cipher,
    cipher_key_bytes: usize,
    key_bytes: usize,
    min_nonce_bytes: usize,
    max_nonce_bytes: usize,
    nonce_bytes: usize,
    tag_sizes: &'static [usize],
    /// How many of these the standard allows only under conditions. They come first.
    short_tags: usize,
    tag_bytes: usize,
    whole_blocks: bool,
    min_message_bytes: usize,
    tweaked: bool,
    unusual: Unusual,
    strings: bool,
    work: Work,
    structure: Structure,
    rounds: u32,
    status: Status,
    reason: &'static str,
    spec: &'static str,
    note: &'static str,
    code: &'static dyn Mode,
    limits: Limits,
    expansion: Expansion,
}

/// The maximum sizes of message and additional data, in bytes.
#[derive(Clone, Copy)]
enum Limits {
    /// Unlimited: whatever fits into memory.
    None,
    /// Limits that do not depend on the nonce.
    Fixed { message: u64, aad: u64 },
    /// CCM: the message's length is encoded in the bytes that the nonce leaves of 15.
    NonceDependent,
}

/// How much longer a ciphertext is than its message.
#[cfg_attr(not(feature = "research"), allow(dead_code))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expansion {
    /// Equal lengths.
    None,
    /// Padded to whole blocks. The ciphertext does not encode the message's length.
    Blocks,
    /// Padded to whole blocks, at least one, followed by a byte that says whether the last block was padded.
    Flagged,
    /// `Flagged`, with an intermediate tag after every 127 blocks that further blocks follow; at most 32 such tags.
    FlaggedWithTags,
}

/// Returns the number of intermediate tags in a message of `blocks` blocks.
fn intermediate_tags(blocks: usize) -> usize {
    (blocks.saturating_sub(1) / 127).min(32)
}

/// The module that lists an algorithm, so that a feature that another crate enables changes no list that is there
/// without it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The crate itself.
    Library,
    /// `hazmat`.
    Hazmat,
    /// `research`.
    Research,
}

/// Returns the Cargo features that an algorithm requires.
const fn required_features(kind: Kind, status: Status) -> &'static [&'static str] {
    let research = matches!(status, Status::Research | Status::Broken);
    match kind {
        Kind::Cipher if research => &["hazmat", "research"],
        Kind::Cipher => &["hazmat"],
        _ if research => &["research"],
        _ => &[],
    }
}

impl Algorithm {
    /// Returns the algorithm of [`ALGORITHMS`] with this id. The result is the same in every build with the feature of the
    /// algorithm's mode.
    ///
    /// # Errors
    /// [`Error::AlgorithmNotBuilt`] if the build lacks this feature, all of which are enabled by default.
    /// [`Error::RestrictedAlgorithm`] for unauthenticated ciphers and for algorithms whose [`Status`] is research or broken,
    /// which only the modules `hazmat` and `research` return. [`Error::UnknownAlgorithm`] if no algorithm has this id.
    pub fn by_id(id: &str) -> Result<Self, Error> {
        Self::among(id, &[ALGORITHMS])
    }

    /// Returns the algorithm of the lists with this id.
    pub(crate) fn among(id: &str, lists: &[&[Self]]) -> Result<Self, Error> {
        let find = |list: &[Self]| list.iter().copied().find(|algorithm| algorithm.id() == id);
        if let Some(algorithm) = lists.iter().copied().find_map(find) {
            return Ok(algorithm);
        }
        let built = find(BUILT).map(|algorithm| (algorithm.id(), algorithm.features()));
        match built.or_else(|| list::NOT_BUILT.iter().copied().find(|(not_built, _)| *not_built == id)) {
            Some((id, &[feature])) if !matches!(feature, "hazmat" | "research") => {
                Err(Error::AlgorithmNotBuilt { id, feature })
            }
            Some((id, features)) => Err(Error::RestrictedAlgorithm { id, features }),
            None => Err(Error::UnknownAlgorithm),
        }
    }

    /// Returns whether the module lists the algorithm.
    const fn is_in(self, place: Place) -> bool {
        let own = match (self.0.status, self.0.kind) {
            (Status::Research | Status::Broken, _) => Place::Research,
            (_, Kind::Cipher) => Place::Hazmat,
            _ => Place::Library,
        };
        own as u8 == place as u8
    }

    /// Returns the identifier in code, files and commands, such as `aes128-gcm-siv`: cipher, key size in bits, mode.
    /// Some algorithms are known under a name of another form, such as `xaes256-gcm`.
    #[inline]
    pub const fn id(self) -> &'static str {
        self.0.id
    }

    /// Returns the name for people, such as `AES-128-GCM-SIV`.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the name of the mode, such as `GCM-SIV`.
    pub const fn mode(self) -> &'static str {
        self.0.mode
    }

    /// Returns the identifier of the mode, such as `gcm-siv`: the end of most of its algorithms' ids.
    pub const fn mode_id(self) -> &'static str {
        self.0.mode_id
    }

    /// Returns the service that it provides.
    #[inline]
    pub const fn kind(self) -> Kind {
        self.0.kind
    }

    /// Returns the block cipher.
    pub const fn cipher(self) -> Cipher {
        self.0.cipher
    }

    /// Returns the size of the block cipher's key in bytes.
    pub const fn cipher_key_bytes(self) -> usize {
        self.0.cipher_key_bytes
    }

    /// Returns the size of the whole key in bytes. It exceeds [`Algorithm::cipher_key_bytes`] if the mode needs
    /// additional keys.
    #[inline]
    pub const fn key_bytes(self) -> usize {
        self.0.key_bytes
    }

    /// Returns the nonce length in bytes, unless [`KeyOptions::nonce_bytes`](crate::KeyOptions::nonce_bytes) sets
    /// another one.
    #[inline]
    pub const fn nonce_bytes(self) -> usize {
        self.0.nonce_bytes
    }

    /// Returns the minimum nonce length in bytes that a key can be set to.
    #[inline]
    pub const fn min_nonce_bytes(self) -> usize {
        self.0.min_nonce_bytes
    }

    /// Returns the maximum nonce length in bytes that a key can be set to. [`Algorithm::note`] has the rule for nonces.
    ///
    /// ```
    /// use sealcomb::Algorithm;
    ///
    /// let ccm = Algorithm::AES_128_CCM;
    /// assert_eq!((ccm.min_nonce_bytes(), ccm.nonce_bytes(), ccm.max_nonce_bytes()), (7, 12, 13));
    /// ```
    #[inline]
    pub const fn max_nonce_bytes(self) -> usize {
        self.0.max_nonce_bytes
    }

    /// Returns the tag length in bytes, unless [`KeyOptions::tag_bytes`](crate::KeyOptions::tag_bytes) sets another
    /// one; 0 for a cipher.
    #[inline]
    pub const fn tag_bytes(self) -> usize {
        self.0.tag_bytes
    }

    /// Returns the tag lengths in bytes that [`KeyOptions::tag_bytes`](crate::KeyOptions::tag_bytes) takes, in ascending
    /// order; none for a cipher. `hazmat::tag_sizes` has those, too, that a standard allows only under conditions.
    ///
    /// ```
    /// use sealcomb::Algorithm;
    ///
    /// assert_eq!(Algorithm::AES_128_EAX.tag_sizes(), [8, 9, 10, 11, 12, 13, 14, 15, 16]);
    /// ```
    #[inline]
    pub const fn tag_sizes(self) -> &'static [usize] {
        self.0.tag_sizes.split_at(self.0.short_tags).1
    }

    /// Returns all tag lengths in bytes.
    pub(crate) const fn all_tag_sizes(self) -> &'static [usize] {
        self.0.tag_sizes
    }

    /// Returns whether messages must be multiples of 16 bytes.
    pub const fn whole_blocks(self) -> bool {
        self.0.whole_blocks
    }

    /// Returns the minimum message size in bytes.
    pub const fn min_message_bytes(self) -> usize {
        self.0.min_message_bytes
    }

    /// Returns whether it is a cipher with a tweak, which is passed as additional data.
    pub const fn tweaked(self) -> bool {
        self.0.tweaked
    }

    /// Returns whether it authenticates several associated strings separately:
    /// [`Aad::strings`](crate::Aad::strings).
    pub const fn strings(self) -> bool {
        self.0.strings
    }

    /// Returns the number of rounds per call of the block cipher.
    pub const fn rounds(self) -> u32 {
        self.0.rounds
    }

    /// Returns how far it can be trusted.
    pub const fn status(self) -> Status {
        self.0.status
    }

    /// Returns the reason for the status, with its source.
    pub const fn reason(self) -> &'static str {
        self.0.reason
    }

    /// Returns the specification.
    pub const fn spec(self) -> &'static str {
        self.0.spec
    }

    /// Returns the rule for nonces, the limits per key, and other facts that users must know.
    pub const fn note(self) -> &'static str {
        self.0.note
    }

    #[inline]
    pub(crate) const fn code(self) -> &'static dyn Mode {
        self.0.code
    }

    /// Returns the Cargo features that the algorithm requires, apart from the default ones.
    pub fn features(self) -> &'static [&'static str] {
        required_features(self.0.kind, self.0.status)
    }

    /// Returns the size in bytes of the ciphertext, without the tag, of a message of `message_bytes` bytes: the
    /// buffer size that sealing needs. Nearly all ciphertexts are as long as their messages.
    ///
    /// ```
    /// let gcm = sealcomb::Algorithm::by_id("aes128-gcm")?;
    /// assert_eq!(gcm.ciphertext_bytes(100), 100);
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    #[inline]
    pub fn ciphertext_bytes(self, message_bytes: usize) -> usize {
        let blocks = message_bytes.div_ceil(16);
        let whole = |blocks: usize| blocks.saturating_mul(16);
        match self.0.expansion {
            Expansion::None => message_bytes,
            Expansion::Blocks => whole(blocks),
            Expansion::Flagged => whole(blocks.max(1)).saturating_add(1),
            Expansion::FlaggedWithTags => whole(blocks.max(1) + intermediate_tags(blocks)).saturating_add(1),
        }
    }

    /// Returns the maximum size in bytes of a message whose ciphertext has `ciphertext_bytes` bytes: the buffer size
    /// that opening needs. [`OpenJob::message_bytes`](crate::OpenJob::message_bytes) returns the actual size.
    ///
    /// # Errors
    /// [`Forged`] if no message has a ciphertext of this length.
    #[inline]
    pub fn max_message_bytes(self, ciphertext_bytes: usize) -> Result<usize, Forged> {
        let max = match self.0.expansion {
            Expansion::None | Expansion::Blocks => ciphertext_bytes,
            Expansion::Flagged => ciphertext_bytes.saturating_sub(1),
            Expansion::FlaggedWithTags => {
                let blocks = ciphertext_bytes / 16;
                16 * (blocks - (blocks.saturating_sub(1) / 128).min(32))
            }
        };
        if self.ciphertext_bytes(max) == ciphertext_bytes { Ok(max) } else { Err(Forged) }
    }

    /// Returns the position of the tag in the combined format, which [`Key::seal`](crate::Key::seal) returns.
    ///
    /// ```
    /// use sealcomb::{Algorithm, TagPosition};
    ///
    /// assert_eq!(Algorithm::by_id("aes128-gcm")?.tag_position(), TagPosition::Last);
    /// assert_eq!(Algorithm::by_id("aes128-siv")?.tag_position(), TagPosition::First);
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    pub fn tag_position(self) -> TagPosition {
        // Only the specification of AES-SIV puts the tag first.
        if self.0.strings { TagPosition::First } else { TagPosition::Last }
    }

    /// Returns whether the receiver needs the message's length from elsewhere, because messages of several lengths
    /// have ciphertexts of the same length and the ciphertext does not encode which it is.
    pub fn needs_message_bytes(self) -> bool {
        self.0.expansion == Expansion::Blocks
    }

    /// Returns whether ciphertexts can be longer than their messages.
    #[inline]
    pub fn expands(self) -> bool {
        self.0.expansion != Expansion::None
    }

    /// Returns `bytes` rounded up to a message size that the mode takes.
    pub fn padded_bytes(self, bytes: usize) -> usize {
        let whole = if self.0.whole_blocks { bytes.div_ceil(16).saturating_mul(16) } else { bytes };
        whole.max(self.0.min_message_bytes)
    }

    /// Checks whether a message of these sizes in bytes can be sealed. Every call checks its messages this way. For a
    /// MAC, `aad_bytes` is the size of the data to authenticate.
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
        if tag_bytes != self.0.tag_bytes {
            self.check_tag(tag_bytes, self.tag_sizes())?;
        }
        self.check_sizes(nonce_bytes, aad_bytes, message_bytes)
    }

    /// Checks all sizes but the tag's.
    pub(crate) fn check_sizes(
        self,
        nonce_bytes: usize,
        aad_bytes: u64,
        message_bytes: u64,
    ) -> Result<(), Error> {
        self.check_nonce(nonce_bytes)?;
        match self.0.kind {
            Kind::Cipher if aad_bytes > 0 && !self.0.tweaked => return Err(Error::TakesNoAad),
            Kind::Mac if message_bytes > 0 => return Err(Error::TakesNoMessage),
            _ => {}
        }
        if self.0.whole_blocks && !message_bytes.is_multiple_of(16) {
            return Err(Error::NotWholeBlocks { got: message_bytes as usize });
        }
        if message_bytes < self.0.min_message_bytes as u64 {
            let (min, got) = (self.0.min_message_bytes, message_bytes as usize);
            return Err(Error::MessageTooShort { min, got });
        }
        let (message, aad) = match self.0.limits {
            Limits::None => return Ok(()),
            Limits::Fixed { message, aad } => (message, aad),
            Limits::NonceDependent => {
                let bits = 8 * (15 - nonce_bytes as u32);
                (1u64.checked_shl(bits).map_or(u64::MAX, |limit| limit - 1), u64::MAX)
            }
        };
        if message_bytes > message {
            return Err(Error::MessageTooLong { limit: message, got: message_bytes });
        }
        if aad_bytes > aad {
            return Err(Error::AadTooLong { limit: aad, got: aad_bytes });
        }
        Ok(())
    }

    /// Checks whether it takes nonces of this length in bytes.
    pub(crate) fn check_nonce(self, got: usize) -> Result<(), Error> {
        let Entry { id, min_nonce_bytes: min, max_nonce_bytes: max, .. } = *self.0;
        if got < min || got > max {
            return Err(Error::NonceLength { algorithm: id, min, max, got });
        }
        Ok(())
    }

    /// Checks whether tags of this length in bytes are among the expected ones.
    pub(crate) fn check_tag(self, got: usize, expected: &'static [usize]) -> Result<(), Error> {
        if !expected.contains(&got) {
            return Err(Error::TagLength { algorithm: self.0.id, expected, got });
        }
        Ok(())
    }

    /// Returns a copy of what common sizes are compared with, under a key with nonces and tags of these lengths in
    /// bytes.
    #[inline(always)]
    pub(crate) fn ordinary(self, nonce_bytes: usize, tag_bytes: usize) -> Ordinary {
        let Entry { unusual, min_message_bytes, .. } = *self.0;
        Ordinary { nonce_bytes, tag_bytes, unusual, min_message_bytes }
    }
}

#[cfg(feature = "unstable-study")]
impl Algorithm {
    /// Returns the work per block.
    pub const fn work(self) -> Work {
        self.0.work
    }

    /// Returns the structure of the mode.
    pub const fn structure(self) -> Structure {
        self.0.structure
    }
}

/// The common sizes of messages under a key.
#[derive(Clone, Copy)]
pub(crate) struct Ordinary {
    nonce_bytes: usize,
    tag_bytes: usize,
    unusual: Unusual,
    min_message_bytes: usize,
}

impl Ordinary {
    /// Returns whether a message has common sizes. Inlined into the callers' fast path.
    #[inline(always)]
    pub(crate) fn takes(
        self,
        nonce_bytes: usize,
        tag_bytes: usize,
        aad_bytes: usize,
        message_bytes: usize,
    ) -> bool {
        let Unusual { aad, message } = self.unusual;
        // What is usually equal for all messages comes first, so that a loop computes it once.
        let others = (nonce_bytes ^ self.nonce_bytes) | (tag_bytes ^ self.tag_bytes);
        others | (aad_bytes & aad) | (message_bytes & message) == 0 && message_bytes >= self.min_message_bytes
    }
}

/// Bit masks that are disjoint from the lengths of common additional data and messages.
#[derive(Clone, Copy)]
pub(crate) struct Unusual {
    aad: usize,
    message: usize,
}

impl Unusual {
    /// Marks lengths over 64 KiB, and lengths that the kind does not take at all.
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

impl PartialEq for Algorithm {
    /// Compares entries of the catalog: each algorithm has one.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for Algorithm {}

impl core::hash::Hash for Algorithm {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl core::fmt::Display for Algorithm {
    /// Writes the id, from which [`Algorithm::by_id`] returns the algorithm.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.0.id)
    }
}

impl core::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.0.id)
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// Returns a key whose bytes differ.
    fn test_key(algorithm: Algorithm) -> Vec<u8> {
        (0..).take(algorithm.key_bytes()).collect()
    }

    /// Returns an algorithm that differs from GCM, and is not in the catalog.
    fn changed(change: impl FnOnce(&mut Entry)) -> Algorithm {
        let mut entry = Box::new(*Algorithm::AES_128_GCM.0);
        change(&mut entry);
        Algorithm(Box::leak(entry))
    }

    #[test]
    fn a_message_below_the_minimum_is_refused() {
        let algorithm = changed(|entry| entry.min_message_bytes = 16);
        for got in 0..16 {
            let expected = Error::MessageTooShort { min: 16, got };
            assert_eq!(algorithm.check(12, 16, 0, got as u64), Err(expected));
            assert_eq!(algorithm.padded_bytes(got), 16);
        }
        assert_eq!(algorithm.check(12, 16, 0, 16), Ok(()));
        assert_eq!(algorithm.padded_bytes(17), 17);
    }

    /// With the inverse cipher's round keys spoiled, inverse-free modes still open, and all others fail or return
    /// another message.
    #[test]
    fn inverse_free_modes_open_without_the_inverse_round_keys() {
        use crate::{Backend, KeyOptions, OpenJob};
        for backend in Backend::available() {
            for algorithm in
                BUILT.iter().copied().filter(|a| a.cipher() == Cipher::Aes && a.kind() != Kind::Mac)
            {
                let mut key =
                    KeyOptions::new().backend(backend).expand(algorithm, &test_key(algorithm)).unwrap();
                let message: Vec<u8> = (0..96).collect();
                let nonce = vec![9; algorithm.nonce_bytes()];
                let sealed = key.seal(&nonce, b"", &message).unwrap();
                if !key.material_mut().aes.spoil_decrypting() {
                    continue;
                }
                let (ciphertext, tag) = match algorithm.tag_position() {
                    TagPosition::First => {
                        let (tag, ciphertext) = sealed.split_at(algorithm.tag_bytes());
                        (ciphertext, tag)
                    }
                    TagPosition::Last => sealed.split_at(sealed.len() - algorithm.tag_bytes()),
                };
                let max = algorithm.max_message_bytes(ciphertext.len()).unwrap();
                let mut output =
                    alloc::vec![0; if algorithm.needs_message_bytes() { message.len() } else { max }];
                let mut jobs = [OpenJob::new(&key, &nonce, b"", ciphertext, &mut output, tag).unwrap()];
                let forged = crate::open_jobs(&mut jobs).unwrap().forged();
                let bytes = jobs[0].message_bytes();
                assert_eq!(
                    forged == 0 && output[..bytes] == message,
                    algorithm.0.structure.inverse_free,
                    "{algorithm:?}"
                );
            }
        }
    }

    fn expanding(expansion: Expansion) -> Algorithm {
        changed(|entry| entry.expansion = expansion)
    }

    #[test]
    fn ciphertext_sizes_include_padding_flag_and_intermediate_tags() {
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
        // There are at most 32 tags.
        assert_eq!(bytes(Expansion::FlaggedWithTags, &[16 * 127 * 40]), [16 * (127 * 40 + 32) + 1]);
    }

    #[test]
    fn a_ciphertext_length_is_valid_if_and_only_if_some_message_has_it() {
        let messages = 16 * 128 * 34;
        for expansion in [Expansion::None, Expansion::Blocks, Expansion::Flagged, Expansion::FlaggedWithTags]
        {
            let algorithm = expanding(expansion);
            let mut longest = vec![None; algorithm.ciphertext_bytes(messages) + 1];
            for message in 0..=messages {
                longest[algorithm.ciphertext_bytes(message)] = Some(message);
            }
            for (ciphertext, longest) in longest.into_iter().enumerate() {
                let max = algorithm.max_message_bytes(ciphertext).ok();
                assert_eq!(max, longest, "{expansion:?} {ciphertext}");
            }
        }
    }

    #[test]
    fn by_id_returns_the_same_algorithms_with_and_without_hazmat_and_research() {
        for (id, features) in [
            ("aes128-ctr", &["hazmat"][..]),
            ("aes256-eme2", &["hazmat"]),
            ("aes256-hctr2", &["hazmat"]),
            ("aes128-xts", &["hazmat"]),
            ("aes128-pmac", &["research"]),
            ("aes128-poet", &["research"]),
            ("serpent256-ocb3", &["research"]),
            ("serpent128-ecb", &["hazmat", "research"]),
        ] {
            let refused = Err(Error::RestrictedAlgorithm { id, features });
            assert_eq!(Algorithm::by_id(id), refused, "{id}");
            #[cfg(feature = "hazmat")]
            match crate::hazmat::by_id(id) {
                Ok(algorithm) => assert!(features == ["hazmat"] && algorithm.features() == features, "{id}"),
                error => assert!(features != ["hazmat"] && error == refused, "{id}"),
            }
            #[cfg(feature = "research")]
            match crate::research::by_id(id) {
                Ok(algorithm) => assert!(features != ["hazmat"] && algorithm.features() == features, "{id}"),
                error => assert!(
                    features == ["hazmat"] || cfg!(not(feature = "hazmat")) && error == refused,
                    "{id}"
                ),
            }
        }
        for algorithm in ALGORITHMS {
            assert_eq!(Algorithm::by_id(algorithm.id()), Ok(*algorithm));
            assert_eq!(algorithm.features(), [""; 0]);
        }
    }

    #[test]
    fn each_algorithm_of_the_build_is_in_one_list() {
        let lists = [
            ALGORITHMS,
            #[cfg(feature = "hazmat")]
            HAZMAT,
            #[cfg(feature = "research")]
            RESEARCH,
        ];
        for algorithm in BUILT {
            assert_eq!(lists.iter().filter(|list| list.contains(algorithm)).count(), 1, "{algorithm}");
        }
        assert_eq!(lists.iter().map(|list| list.len()).sum::<usize>(), BUILT.len());
    }

    #[test]
    fn tags_below_8_bytes_and_unauthenticated_ciphers_are_in_no_list_of_the_library() {
        for algorithm in ALGORITHMS {
            assert_ne!(algorithm.kind(), Kind::Cipher, "{algorithm}");
            assert!(matches!(algorithm.status(), Status::Standard | Status::Portfolio), "{algorithm}");
            assert!(algorithm.tag_sizes()[0] >= 8, "{algorithm}");
        }
    }
}
