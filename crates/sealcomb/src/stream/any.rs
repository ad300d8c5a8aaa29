//! Streams of all algorithms that have them.

use core::borrow::Borrow;
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

/// The state of a message that is sealed in pieces, under a key of AES-GCM, AES-GMAC, AES-OCB3 or AES-CMAC. Its size does not
/// depend on the length of the message. A stream can seal several messages, one after the other. It is zeroized on drop.
///
/// It owns its key or borrows it: `K` is [`Key`], `&Key` or `Arc<Key>`.
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
/// use sealcomb::hazmat::{OpenStream, SealStream};
/// use sealcomb::{Algorithm, Key};
///
/// let key = Key::new(Algorithm::AES_128_GCM, &[7; 16])?;
/// let mut message = *b"a message in two pieces";
/// let mut stream = SealStream::new(&key, b"unique nonce")?;
/// stream.aad(b"header")?;
/// let (one, two) = message.split_at_mut(10);
/// stream.update(one)?;
/// stream.update(two)?;
/// let mut tag = [0; 16];
/// stream.finish(&mut tag)?;
///
/// let mut stream = OpenStream::new(&key, b"unique nonce")?;
/// stream.aad(b"header")?;
/// stream.update_unverified(&mut message)?;
/// assert_eq!(stream.verify(&tag), Ok(()));
/// assert_eq!(&message, b"a message in two pieces");
/// # Ok::<(), sealcomb::Error>(())
/// ```
pub struct SealStream<K>(Wiped<Running<K>>);

/// The state of a message that is opened in pieces, the counterpart of [`SealStream`].
///
/// **It releases plaintext before the tag is verified.** The caller must not act on this plaintext until
/// [`OpenStream::verify`] has returned `Ok`, and must destroy it otherwise. Streams are for interfaces that pass messages in
/// pieces, such as OpenSSL's EVP. [`Key::open_in_place_detached`] only releases verified messages.
pub struct OpenStream<K>(Wiped<Running<K>>);

#[derive(Clone)]
struct Running<K> {
    key: K,
    nonce_bytes: usize,
    tag_bytes: usize,
    aad_bytes: u64,
    message_bytes: u64,
    ended: bool,
    mode: Mode,
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

/// The functions that both types have in common.
macro_rules! common {
    ($Stream:ident, $update:literal) => {
        impl<K: Borrow<Key>> $Stream<K> {
            /// Creates a stream and begins a message with a tag of [`Key::tag_bytes`] bytes.
            ///
            /// # Errors
            /// [`Error::NotInPieces`] if the algorithm has no streams. [`Error::NonceLength`] if the key does not take
            /// nonces of this length.
            pub fn new(key: K, nonce: &[u8]) -> Result<Self, Error> {
                let tag_bytes = key.borrow().tag_bytes();
                Self::with_tag_bytes(key, nonce, tag_bytes)
            }

            /// Creates a stream and begins a message with a tag of 1 to 16 bytes, whatever the key's tag length, for
            /// interfaces that set the tag length per message. With tags of n bytes, an attacker forges a message with a
            /// probability of at least 256^-n per attempt.
            ///
            /// # Errors
            #[doc = concat!("The errors of [`", stringify!($Stream), "::new`], and [`Error::TagLength`] for 0 bytes or")]
            /// more than 16.
            pub fn with_tag_bytes(key: K, nonce: &[u8], tag_bytes: usize) -> Result<Self, Error> {
                Running::begun(key, nonce, tag_bytes).map(Self)
            }

            /// Begins another message, with the stream's key and tag length. A message that has not ended is abandoned.
            /// This costs less than a new stream.
            ///
            /// # Errors
            /// [`Error::NonceLength`] if the key does not take nonces of this length. The stream is unchanged in this
            /// case.
            pub fn begin(&mut self, nonce: &[u8]) -> Result<(), Error> {
                self.0.begin(nonce)
            }

            /// Authenticates the next bytes of the additional data; for GMAC and CMAC, of the data to authenticate.
            ///
            /// # Errors
            /// [`Error::AadAfterMessage`] for GCM after the first byte of the message, even if `aad` is empty;
            /// [`Error::AadTooLong`]; [`Error::MessageEnded`]. The stream is unchanged in these cases.
            pub fn aad(&mut self, aad: &[u8]) -> Result<(), Error> {
                self.0.aad(aad)
            }

            /// Returns the tag length in bytes.
            pub fn tag_bytes(&self) -> usize {
                self.0.tag_bytes
            }

            /// Returns a stream that continues the message on its own.
            #[doc = $update]
            #[must_use]
            pub fn fork(&self) -> Self
            where
                K: Clone,
            {
                Self(Wiped::new((*self.0).clone()))
            }
        }

        impl<K> ZeroizeOnDrop for $Stream<K> {}

        impl<K: Borrow<Key>> fmt::Debug for $Stream<K> {
            /// Writes the algorithm and the backend, nothing of the message.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($Stream)).field(self.0.key.borrow()).finish()
            }
        }

        const _: fn() = || {
            fn shareable<T: Send + Sync>() {}
            shareable::<$Stream<Key>>();
        };
    };
}

common!(SealStream, "Sealing different data with both reuses the nonce.");
common!(OpenStream, "Both release plaintext before it is verified.");

impl<K: Borrow<Key>> SealStream<K> {
    /// Encrypts the next bytes of the message in place.
    ///
    /// # Errors
    /// [`Error::MessageEnded`]; unless `data` is empty, [`Error::TakesNoMessage`] for a MAC, and
    /// [`Error::NotWholeBlocks`] for OCB3 if the previous piece was not a multiple of 16 bytes;
    /// [`Error::MessageTooLong`]. Nothing was written and the stream is unchanged in these cases.
    pub fn update(&mut self, data: &mut [u8]) -> Result<(), Error> {
        self.0.piece(false, data.into())
    }

    /// Encrypts the next bytes of the message into the first `input.len()` bytes of `output`.
    ///
    /// # Errors
    /// The errors of [`SealStream::update`], and [`Error::OutputTooShort`] if `output` is shorter than `input`. Nothing
    /// was written and the stream is unchanged in these cases.
    pub fn update_to(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.0.piece(false, apart(input, output)?)
    }

    /// Ends the message and writes its tag. Further calls are refused until [`SealStream::begin`].
    ///
    /// # Errors
    /// [`Error::TagLength`] unless `tag` has [`SealStream::tag_bytes`] bytes; [`Error::MessageEnded`]. Nothing was
    /// written and the stream is unchanged in these cases.
    pub fn finish(&mut self, tag: &mut [u8]) -> Result<(), Error> {
        self.0.finish(tag)
    }
}

impl<K: Borrow<Key>> OpenStream<K> {
    /// Decrypts the next bytes of the message in place, **without verifying them**.
    ///
    /// # Errors
    /// Those of [`SealStream::update`], in the same cases.
    pub fn update_unverified(&mut self, data: &mut [u8]) -> Result<(), Error> {
        self.0.piece(true, data.into())
    }

    /// Decrypts the next bytes of the message into the first `input.len()` bytes of `output`, **without verifying them**.
    ///
    /// # Errors
    /// Those of [`SealStream::update_to`], in the same cases.
    pub fn update_unverified_to(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.0.piece(true, apart(input, output)?)
    }

    /// Ends the message and compares its tag with the received one, in constant time. Further calls are refused until
    /// [`OpenStream::begin`].
    ///
    /// # Errors
    /// [`OpenError::Forged`] if they differ: the caller must destroy the decrypted data. [`OpenError::Misuse`] with
    /// [`Error::TagLength`] unless `tag` has [`OpenStream::tag_bytes`] bytes, or with [`Error::MessageEnded`]; the stream
    /// is unchanged in these cases.
    pub fn verify(&mut self, tag: &[u8]) -> Result<(), OpenError> {
        self.0.check_end(tag.len())?;
        let computed = self.0.tag();
        let same: bool = computed[..tag.len()].ct_eq(tag).into();
        if same { Ok(()) } else { Err(Forged.into()) }
    }

    /// Ends the message and writes its correct tag, for callers that learn the length of the received tag late. They must
    /// compare both in constant time, and destroy the decrypted data if they differ. Further calls are refused until
    /// [`OpenStream::begin`].
    ///
    /// # Errors
    /// Those of [`SealStream::finish`], in the same cases.
    pub fn finish_unverified(&mut self, tag: &mut [u8]) -> Result<(), Error> {
        self.0.finish(tag)
    }
}

/// Returns the buffers of a piece that is not processed in place.
fn apart<'i, 'o>(input: &'i [u8], output: &'o mut [u8]) -> Result<InOutBuf<'i, 'o, u8>, Error> {
    let short = Error::OutputTooShort { needed: input.len(), got: output.len() };
    let output = output.get_mut(..input.len()).ok_or(short)?;
    InOutBuf::new(input, output).map_err(|_| short)
}

impl<K: Borrow<Key>> Running<K> {
    fn begun(key: K, nonce: &[u8], tag_bytes: usize) -> Result<Wiped<Self>, Error> {
        let algorithm = key.borrow().algorithm();
        // First: keys of ciphers have no streams and tags of 0 bytes.
        let mode = Mode::of(algorithm)?;
        if !(1..=BLOCK).contains(&tag_bytes) {
            let (algorithm, expected) = (algorithm.id(), &TAG_LENGTHS);
            return Err(Error::TagLength { algorithm, expected, got: tag_bytes });
        }
        let (nonce_bytes, aad_bytes, message_bytes, ended) = (0, 0, 0, true);
        let mut running =
            Wiped::new(Self { key, nonce_bytes, tag_bytes, aad_bytes, message_bytes, ended, mode });
        running.begin(nonce)?;
        Ok(running)
    }

    fn begin(&mut self, nonce: &[u8]) -> Result<(), Error> {
        let key = self.key.borrow();
        check(key, nonce.len(), 0, 0)?;
        self.nonce_bytes = nonce.len();
        self.aad_bytes = 0;
        self.message_bytes = 0;
        self.ended = false;
        match &mut self.mode {
            Mode::Gcm(gcm) => gcm.begin(key, nonce),
            Mode::Ocb3(ocb3) => ocb3.begin(key, nonce, self.tag_bytes),
            Mode::Cmac(cmac) => cmac.zeroize(),
        }
        Ok(())
    }

    fn aad(&mut self, aad: &[u8]) -> Result<(), Error> {
        self.count(aad.len(), 0)?;
        let key = self.key.borrow();
        match &mut self.mode {
            Mode::Gcm(_) if self.message_bytes > 0 => return Err(Error::AadAfterMessage),
            Mode::Gcm(gcm) => gcm.aad(key, aad),
            Mode::Ocb3(ocb3) => ocb3.aad(key, aad),
            Mode::Cmac(cmac) => cmac.update(key, aad),
        }
        self.aad_bytes += aad.len() as u64;
        Ok(())
    }

    fn piece(&mut self, opens: bool, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let bytes = data.len();
        self.count(0, bytes)?;
        let key = self.key.borrow();
        match &mut self.mode {
            _ if bytes == 0 => {}
            Mode::Gcm(gcm) => gcm.update(key, opens, data),
            Mode::Ocb3(ocb3) => {
                ocb3.check()?;
                ocb3.update(key, opens, data);
            }
            Mode::Cmac(_) => {}
        }
        self.message_bytes += bytes as u64;
        Ok(())
    }

    fn finish(&mut self, tag: &mut [u8]) -> Result<(), Error> {
        self.check_end(tag.len())?;
        let computed = self.tag();
        tag.copy_from_slice(&computed[..tag.len()]);
        Ok(())
    }

    /// Checks whether the message can end with a tag of `got` bytes.
    fn check_end(&self, got: usize) -> Result<(), Error> {
        if self.ended {
            return Err(Error::MessageEnded);
        }
        let (algorithm, fixed) = (self.key.borrow().algorithm(), self.tag_bytes);
        if got == fixed { Ok(()) } else { Err(Error::tag_length(algorithm.id(), fixed, got)) }
    }

    fn tag(&mut self) -> Block {
        self.ended = true;
        let key = self.key.borrow();
        let tag = match &mut self.mode {
            Mode::Gcm(gcm) => gcm.tag(key),
            Mode::Ocb3(ocb3) => ocb3.tag(key),
            Mode::Cmac(cmac) => cmac.tag(key),
        };
        head(&tag, self.tag_bytes)
    }

    /// Checks whether the message can continue with so many bytes of additional data and message.
    fn count(&self, aad: usize, message: usize) -> Result<(), Error> {
        if self.ended {
            return Err(Error::MessageEnded);
        }
        let aad = self.aad_bytes.saturating_add(aad as u64);
        let message = self.message_bytes.saturating_add(message as u64);
        check(self.key.borrow(), self.nonce_bytes, aad, message)
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
