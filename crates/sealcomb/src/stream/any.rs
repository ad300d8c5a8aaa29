//! Streams of all algorithms that have them.

use alloc::sync::Arc;
use core::fmt;

use ctutils::CtEq;
use inout::InOutBuf;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::cmac::Cmac;
use super::gcm::Gcm;
use super::ocb3::Ocb3;
use crate::backend::{BLOCK, Block, Wiped};
use crate::error::TAG_LENGTHS;
use crate::primitives::block::head;
use crate::{Algorithm, Cipher, Error, Forged, Key, OpenError};

/// Whether a [`Stream`] encrypts or decrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Encrypts and computes the tag.
    Seal,
    /// Decrypts without verifying; the tag is verified at the end.
    Open,
}

/// The state of a message in pieces, under a key of AES-GCM, AES-GMAC, AES-OCB3 or AES-CMAC. Its size does not depend
/// on the length of the message. A stream can process several messages, one after the other. It is zeroized on drop.
///
/// **Opening releases plaintext before the tag is verified.** The caller must not act on this plaintext until
/// [`Stream::verify`] has returned `Ok`, and must destroy it otherwise. Streams are for interfaces that pass messages
/// in pieces, such as OpenSSL's EVP. [`Key::open_in_place_detached`] only releases verified messages.
///
/// A nonce must be unique per message: a clone of a sealing stream that continues with different data reuses the
/// nonce.
///
/// A message of one piece costs about as much as with [`Key::seal_in_place_detached`]. An empty piece of the message changes
/// nothing, and every algorithm takes it.
///
/// | algorithm | additional data | pieces of the message |
/// |---|---|---|
/// | GCM | pieces of any size, before the message | any size |
/// | OCB3 | pieces of any size, at any time | multiples of 16 bytes, except the last piece |
/// | GMAC, CMAC | pieces of any size: the data to authenticate | none |
///
/// ```
/// use sealcomb::hazmat::{Direction, Stream};
/// use sealcomb::{Algorithm, Key};
///
/// let key = std::sync::Arc::new(Key::new(Algorithm::AES_128_GCM, &[7; 16])?);
/// let mut message = *b"a message in two pieces";
/// let mut stream = Stream::new(key, Direction::Seal, b"unique nonce")?;
/// stream.aad(b"header")?;
/// let (one, two) = message.split_at_mut(10);
/// stream.update(one)?;
/// stream.update(two)?;
/// let mut tag = [0; 16];
/// stream.finish(&mut tag)?;
///
/// stream.begin(Direction::Open, b"unique nonce")?;
/// stream.aad(b"header")?;
/// stream.update(&mut message)?;
/// assert_eq!(stream.verify(&tag), Ok(()));
/// assert_eq!(&message, b"a message in two pieces");
/// # Ok::<(), sealcomb::Error>(())
/// ```
pub struct Stream(Wiped<Running>);

#[derive(Clone)]
struct Running {
    key: Arc<Key>,
    direction: Direction,
    nonce_bytes: usize,
    tag_bytes: usize,
    aad_bytes: u64,
    message_bytes: u64,
    ended: bool,
    mode: Mode,
}

impl Clone for Stream {
    /// Copies the state of the current message; the key is shared.
    fn clone(&self) -> Self {
        Self(Wiped::new((*self.0).clone()))
    }
}

#[derive(Clone)]
enum Mode {
    Gcm(Gcm),
    Ocb3(Ocb3),
    Cmac(Cmac),
}

impl Mode {
    /// Returns the empty state for an algorithm.
    fn of(algorithm: Algorithm) -> Result<Self, Error> {
        match (algorithm.cipher(), algorithm.mode()) {
            (Cipher::Aes, "GCM" | "GMAC") => Ok(Self::Gcm(Gcm::default())),
            (Cipher::Aes, "OCB3-T64" | "OCB3-T96" | "OCB3-T128") => Ok(Self::Ocb3(Ocb3::default())),
            (Cipher::Aes, "CMAC") => Ok(Self::Cmac(Cmac::default())),
            _ => Err(Error::NotInPieces),
        }
    }
}

impl Stream {
    /// Creates a stream and begins a message with a tag of [`Key::tag_bytes`] bytes.
    ///
    /// # Errors
    /// [`Error::NotInPieces`] if the algorithm has no streams. [`Error::NonceLength`] if it does not take nonces of
    /// this length.
    pub fn new(key: Arc<Key>, direction: Direction, nonce: &[u8]) -> Result<Self, Error> {
        let tag_bytes = key.tag_bytes();
        Self::with_tag_bytes(key, direction, nonce, tag_bytes)
    }

    /// Creates a stream and begins a message with a tag of 1 to 16 bytes, whatever the key's tag length, for
    /// interfaces that set the tag length per message. With tags of n bytes, an attacker forges a message with a
    /// probability of at least 256^-n per attempt.
    ///
    /// # Errors
    /// The errors of [`Stream::new`], and [`Error::TagLength`] for 0 bytes or more than 16.
    pub fn with_tag_bytes(
        key: Arc<Key>,
        direction: Direction,
        nonce: &[u8],
        tag_bytes: usize,
    ) -> Result<Self, Error> {
        // First: keys of ciphers have no streams and tags of 0 bytes.
        let mode = Mode::of(key.algorithm())?;
        if !(1..=BLOCK).contains(&tag_bytes) {
            let algorithm = key.algorithm().id();
            return Err(Error::TagLength { algorithm, expected: &TAG_LENGTHS, got: tag_bytes });
        }
        let mut stream = Self(Wiped::new(Running {
            key,
            direction,
            nonce_bytes: 0,
            tag_bytes,
            aad_bytes: 0,
            message_bytes: 0,
            ended: true,
            mode,
        }));
        stream.begin(direction, nonce)?;
        Ok(stream)
    }

    /// Begins another message, with the stream's key and tag length. A message that has not ended is abandoned. This
    /// costs less than a new stream.
    ///
    /// # Errors
    /// [`Error::NonceLength`] if the algorithm does not take nonces of this length. The stream is unchanged in this
    /// case.
    pub fn begin(&mut self, direction: Direction, nonce: &[u8]) -> Result<(), Error> {
        let running = &mut *self.0;
        check(&running.key, nonce.len(), 0, 0)?;
        running.direction = direction;
        running.nonce_bytes = nonce.len();
        running.aad_bytes = 0;
        running.message_bytes = 0;
        running.ended = false;
        match &mut running.mode {
            Mode::Gcm(gcm) => gcm.begin(&running.key, nonce),
            Mode::Ocb3(ocb3) => ocb3.begin(&running.key, nonce, running.tag_bytes),
            Mode::Cmac(cmac) => cmac.zeroize(),
        }
        Ok(())
    }

    /// Authenticates the next bytes of the additional data; for GMAC and CMAC, of the data to authenticate.
    ///
    /// # Errors
    /// [`Error::AadAfterMessage`] for GCM after the first byte of the message, even if `aad` is empty;
    /// [`Error::AadTooLong`]; [`Error::MessageEnded`]. The stream is unchanged in these cases.
    pub fn aad(&mut self, aad: &[u8]) -> Result<(), Error> {
        let running = &mut *self.0;
        running.count(aad.len(), 0)?;
        match &mut running.mode {
            Mode::Gcm(_) if running.message_bytes > 0 => return Err(Error::AadAfterMessage),
            Mode::Gcm(gcm) => gcm.aad(&running.key, aad),
            Mode::Ocb3(ocb3) => ocb3.aad(&running.key, aad),
            Mode::Cmac(cmac) => cmac.update(&running.key, aad),
        }
        running.aad_bytes += aad.len() as u64;
        Ok(())
    }

    /// Encrypts the next bytes of the message in place, or decrypts them **without verifying them**.
    ///
    /// # Errors
    /// [`Error::MessageEnded`]; unless `data` is empty, [`Error::TakesNoMessage`] for a MAC, and
    /// [`Error::NotWholeBlocks`] for OCB3 if the previous piece was not a multiple of 16 bytes;
    /// [`Error::MessageTooLong`]. Nothing was written and the stream is unchanged in these cases.
    pub fn update(&mut self, data: &mut [u8]) -> Result<(), Error> {
        self.piece(data.into())
    }

    /// Encrypts the next bytes of the message, or decrypts them **without verifying them**, into the first
    /// `input.len()` bytes of `output`.
    ///
    /// # Errors
    /// The errors of [`Stream::update`], and [`Error::OutputTooShort`] if `output` is shorter than `input`. Nothing
    /// was written and the stream is unchanged in these cases.
    pub fn update_to(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let short = Error::OutputTooShort { needed: input.len(), got: output.len() };
        let output = output.get_mut(..input.len()).ok_or(short)?;
        self.piece(InOutBuf::new(input, output).map_err(|_| short)?)
    }

    fn piece(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let running = &mut *self.0;
        let (bytes, opens) = (data.len(), running.direction == Direction::Open);
        running.count(0, bytes)?;
        match &mut running.mode {
            _ if bytes == 0 => {}
            Mode::Gcm(gcm) => gcm.update(&running.key, opens, data),
            Mode::Ocb3(ocb3) => {
                ocb3.check()?;
                ocb3.update(&running.key, opens, data);
            }
            Mode::Cmac(_) => {}
        }
        running.message_bytes += bytes as u64;
        Ok(())
    }

    /// Ends the message and writes its correct tag. When opening, the caller must compare it with the received tag in
    /// constant time, unless [`Stream::verify`] is used instead. Further calls are refused until [`Stream::begin`].
    ///
    /// # Errors
    /// [`Error::TagLength`] unless `tag` has [`Stream::tag_bytes`] bytes; [`Error::MessageEnded`]. Nothing was
    /// written and the stream is unchanged in these cases.
    pub fn finish(&mut self, tag: &mut [u8]) -> Result<(), Error> {
        self.check_end(tag.len())?;
        let computed = self.tag();
        tag.copy_from_slice(&computed[..tag.len()]);
        Ok(())
    }

    /// Ends the message and compares its tag with the received one, in constant time. Further calls are refused until
    /// [`Stream::begin`].
    ///
    /// # Errors
    /// [`OpenError::Forged`] if they differ: the caller must destroy the decrypted data. [`OpenError::Misuse`] with
    /// [`Error::TagLength`] unless `tag` has [`Stream::tag_bytes`] bytes, or with [`Error::MessageEnded`]; the stream
    /// is unchanged in these cases.
    pub fn verify(&mut self, tag: &[u8]) -> Result<(), OpenError> {
        self.check_end(tag.len())?;
        let computed = self.tag();
        let same: bool = computed[..tag.len()].ct_eq(tag).into();
        if same { Ok(()) } else { Err(Forged.into()) }
    }

    /// Returns the tag length in bytes.
    pub fn tag_bytes(&self) -> usize {
        self.0.tag_bytes
    }

    /// Checks whether the message can end with a tag of `got` bytes.
    fn check_end(&self, got: usize) -> Result<(), Error> {
        if self.0.ended {
            return Err(Error::MessageEnded);
        }
        let fixed = self.tag_bytes();
        if got == fixed { Ok(()) } else { Err(Error::tag_length(self.0.key.algorithm().id(), fixed, got)) }
    }

    fn tag(&mut self) -> Block {
        let running = &mut *self.0;
        running.ended = true;
        let tag = match &mut running.mode {
            Mode::Gcm(gcm) => gcm.tag(&running.key),
            Mode::Ocb3(ocb3) => ocb3.tag(&running.key),
            Mode::Cmac(cmac) => cmac.tag(&running.key),
        };
        head(&tag, running.tag_bytes)
    }
}

impl Running {
    /// Checks whether the message can continue with so many bytes of additional data and message.
    fn count(&self, aad: usize, message: usize) -> Result<(), Error> {
        if self.ended {
            return Err(Error::MessageEnded);
        }
        let aad = self.aad_bytes.saturating_add(aad as u64);
        let message = self.message_bytes.saturating_add(message as u64);
        check(&self.key, self.nonce_bytes, aad, message)
    }
}

/// Checks whether a message of these sizes can be processed under a key. Common sizes pass in the inlined part.
#[inline(always)]
fn check(key: &Key, nonce_bytes: usize, aad_bytes: u64, message_bytes: u64) -> Result<(), Error> {
    let [aad, message] = [aad_bytes, message_bytes].map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    if key.ordinary(0).takes(nonce_bytes, 0, aad, message) {
        return Ok(());
    }
    // The stream fixes the length of the tag.
    key.check(nonce_bytes, key.tag_bytes(), aad_bytes, message_bytes)
}

impl ZeroizeOnDrop for Stream {}

impl fmt::Debug for Stream {
    /// Writes the algorithm, the backend and the direction, nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stream").field(&self.0.key).field(&self.0.direction).finish()
    }
}

const _: fn() = || {
    fn shareable<T: Send + Sync>() {}
    shareable::<Stream>();
};
