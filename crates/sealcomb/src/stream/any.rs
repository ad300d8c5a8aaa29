//! A stream of any algorithm that has them.

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
    /// Encrypts.
    Seal,
    /// Decrypts.
    Open,
}

/// A message that comes in pieces, and others after it, under a key of AES-GCM, -GMAC, -OCB3 or -CMAC; takes memory
/// of a constant size.
///
/// **Opening gives out plaintext before the tag is verified.** Whoever uses it keeps that plaintext from having any
/// effect until [`Stream::verify`] has returned `Ok`, and destroys it if it doesn't: this is for interfaces that
/// hand over messages in pieces, such as OpenSSL's EVP. [`Key::open_in_place`] gives out verified messages alone. A
/// nonce belongs to one message; a clone of a sealing stream that goes on with another message uses it twice.
///
/// A message of one piece costs about as much as by [`Key::seal_in_place`].
///
/// | algorithm | additional data | pieces of the message |
/// |---|---|---|
/// | GCM | any pieces, before the message | any |
/// | OCB3 | any pieces, at any time | whole blocks of 16 bytes, but for the last piece |
/// | GMAC, CMAC | any pieces: what is authenticated | none |
///
/// ```
/// use sealcomb::{Algorithm, Direction, Key, Stream};
///
/// let key = std::sync::Arc::new(Key::new(Algorithm::by_id("aes128-gcm")?, &[7; 16])?);
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
    /// The same message once more, as far as it has come.
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
    /// Room for messages of an algorithm.
    fn of(algorithm: &Algorithm) -> Result<Self, Error> {
        match (algorithm.cipher, algorithm.mode) {
            (Cipher::Aes, "GCM" | "GMAC") => Ok(Self::Gcm(Gcm::default())),
            (Cipher::Aes, "OCB3-T64" | "OCB3-T96" | "OCB3-T128") => Ok(Self::Ocb3(Ocb3::default())),
            (Cipher::Aes, "CMAC") => Ok(Self::Cmac(Cmac::default())),
            _ => Err(Error::NotInPieces),
        }
    }
}

impl Stream {
    /// Begins a message whose tag has [`Key::tag_bytes`] bytes.
    ///
    /// # Errors
    /// [`Error::NotInPieces`] for an algorithm that has no streams, [`Error::NonceLength`].
    pub fn new(key: Arc<Key>, direction: Direction, nonce: &[u8]) -> Result<Self, Error> {
        let tag_bytes = key.tag_bytes();
        Self::with_tag_bytes(key, direction, nonce, tag_bytes)
    }

    /// Begins a message whose tag has another length, of 1 to 16 bytes, than the key's: for interfaces that leave it
    /// to each message. The chance to forge a message is at least one in 256 to the power of this number.
    ///
    /// # Errors
    /// Those of [`Stream::new`], and [`Error::TagLength`].
    pub fn with_tag_bytes(
        key: Arc<Key>,
        direction: Direction,
        nonce: &[u8],
        tag_bytes: usize,
    ) -> Result<Self, Error> {
        if !(1..=BLOCK).contains(&tag_bytes) {
            let algorithm = key.algorithm().id;
            return Err(Error::TagLength { algorithm, expected: &TAG_LENGTHS, got: tag_bytes });
        }
        let mode = Mode::of(key.algorithm())?;
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

    /// Begins another message under the same key, with a tag of the same length, whether the one before has ended or
    /// not. This costs less than a new stream.
    ///
    /// # Errors
    /// [`Error::NonceLength`]; the stream is as it was then.
    pub fn begin(&mut self, direction: Direction, nonce: &[u8]) -> Result<(), Error> {
        let running = &mut *self.0;
        check(running.key.algorithm(), nonce.len(), 0, 0)?;
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

    /// Authenticates the next bytes of the additional data; of GMAC and CMAC, of what they authenticate.
    ///
    /// # Errors
    /// [`Error::AadAfterMessage`] for GCM once a byte of the message has come, [`Error::AadTooLong`],
    /// [`Error::MessageEnded`]. The stream is as it was then.
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

    /// Encrypts the next bytes of the message where they are, or decrypts them **without verifying them**.
    ///
    /// # Errors
    /// [`Error::TakesNoMessage`] for a MAC, [`Error::MessageTooLong`], [`Error::MessageEnded`], and
    /// [`Error::NotWholeBlocks`] for OCB3 if the piece before this one wasn't whole blocks of 16 bytes. Nothing was
    /// written then, and the stream is as it was.
    pub fn update(&mut self, data: &mut [u8]) -> Result<(), Error> {
        self.piece(data.into())
    }

    /// Encrypts the next bytes of the message, or decrypts them **without verifying them**, into the first bytes of
    /// `output`.
    ///
    /// # Errors
    /// Those of [`Stream::update`], and [`Error::OutputTooShort`].
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
            Mode::Gcm(gcm) => gcm.update(&running.key, opens, data),
            Mode::Ocb3(ocb3) => {
                if bytes > 0 {
                    ocb3.check()?;
                }
                ocb3.update(&running.key, opens, data);
            }
            Mode::Cmac(_) => {}
        }
        running.message_bytes += bytes as u64;
        Ok(())
    }

    /// Ends the message, and writes its tag; of an opening stream, the tag that it should have, for whoever compares
    /// the tags by himself, in constant time. Whatever follows is refused until [`Stream::begin`].
    ///
    /// # Errors
    /// [`Error::TagLength`] unless `tag` has as many bytes as the stream was made for, [`Error::MessageEnded`].
    /// Nothing was written then, and the stream is as it was.
    pub fn finish(&mut self, tag: &mut [u8]) -> Result<(), Error> {
        self.check_end(tag.len())?;
        let computed = self.tag();
        tag.copy_from_slice(&computed[..tag.len()]);
        Ok(())
    }

    /// Ends the message, and compares its tag, in constant time, with the one that came with it. Whatever follows is
    /// refused until [`Stream::begin`].
    ///
    /// # Errors
    /// [`OpenError::Forged`] if they differ: what was decrypted must be destroyed then. [`OpenError::Misuse`] with
    /// [`Error::TagLength`] if the tag hasn't as many bytes as the stream was made for, or [`Error::MessageEnded`];
    /// the stream is as it was then.
    pub fn verify(&mut self, tag: &[u8]) -> Result<(), OpenError> {
        self.check_end(tag.len())?;
        let computed = self.tag();
        let same: bool = computed[..tag.len()].ct_eq(tag).into();
        if same { Ok(()) } else { Err(Forged.into()) }
    }

    /// Bytes of the message's tag.
    pub fn tag_bytes(&self) -> usize {
        self.0.tag_bytes
    }

    /// Finds out whether the message can end with a tag of so many bytes.
    fn check_end(&self, got: usize) -> Result<(), Error> {
        if self.0.ended {
            return Err(Error::MessageEnded);
        }
        let fixed = self.tag_bytes();
        if got == fixed { Ok(()) } else { Err(Error::tag_length(self.0.key.algorithm(), fixed, got)) }
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
    /// Finds out whether so many bytes more can come.
    fn count(&self, aad: usize, message: usize) -> Result<(), Error> {
        if self.ended {
            return Err(Error::MessageEnded);
        }
        let aad = self.aad_bytes.saturating_add(aad as u64);
        let message = self.message_bytes.saturating_add(message as u64);
        check(self.key.algorithm(), self.nonce_bytes, aad, message)
    }
}

/// Finds out whether an algorithm takes a message of these sizes; in line as far as ordinary ones need.
#[inline(always)]
fn check(algorithm: &Algorithm, nonce_bytes: usize, aad_bytes: u64, message_bytes: u64) -> Result<(), Error> {
    let [aad, message] = [aad_bytes, message_bytes].map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    if algorithm.takes_ordinary(nonce_bytes, aad, message) {
        return Ok(());
    }
    algorithm.check(nonce_bytes, algorithm.tag_bytes, aad_bytes, message_bytes)
}

impl ZeroizeOnDrop for Stream {}

impl fmt::Debug for Stream {
    /// Names the key's algorithm and backend, nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stream").field(&self.0.key).field(&self.0.direction).finish()
    }
}

const _: fn() = || {
    fn shareable<T: Send + Sync>() {}
    shareable::<Stream>();
};
