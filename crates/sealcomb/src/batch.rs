//! Batches of jobs: messages under any keys.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use arrayvec::ArrayVec;
use ctutils::CtEq;

use crate::backend::{Block, Span, read_part, write_part};
use crate::catalog::{Kind, Ordinary};
use crate::engine::{AssociatedData, Batch, FLIGHT, Message, Schedule};
use crate::modes::Mode;
use crate::primitives::block::head;
use crate::{BatchError, Error, Forged, Key, PacketLayout};

/// The additional data of a message: one byte string, or the associated strings of AES-SIV.
///
/// Functions take whatever converts into it, such as `b"header"`, `&[u8]`, `&Vec<u8>` and `&str`.
#[derive(Clone, Debug)]
pub struct Aad<'a>(AssociatedData<'a>);

impl<'a> Aad<'a> {
    /// Joins the parts of one byte string into a new buffer on the heap.
    ///
    /// ```
    /// use sealcomb::{Aad, Algorithm, Key};
    ///
    /// let key = Key::new(Algorithm::AES_128_GCM, &[7; 16])?;
    /// let sealed = key.seal(b"unique nonce", Aad::joined(&[b"head", b"er"]), b"message")?;
    /// assert!(key.open(b"unique nonce", b"header", &sealed).is_ok());
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    pub fn joined(parts: &[&[u8]]) -> Self {
        Self(AssociatedData::One(Cow::Owned(parts.concat())))
    }

    /// Returns associated strings, which AES-SIV authenticates separately (RFC 5297, section 2.4): it also
    /// authenticates the boundaries between them, and distinguishes an empty list from one empty string. AES-SIV
    /// takes up to 126 strings, the nonce included; more are [`Error::TooManyStrings`]. Other algorithms refuse them
    /// with [`Error::TakesNoStrings`].
    ///
    /// AES-SIV treats all other additional data as one string.
    ///
    /// ```
    /// use sealcomb::{Aad, Algorithm, KeyOptions, SealJob, seal_jobs};
    ///
    /// let key = KeyOptions::new().nonce_bytes(0).expand(Algorithm::AES_256_SIV, &[7; 64])?;
    /// let strings: [&[u8]; 2] = [b"table", b"column"];
    /// let (mut value, mut tag) = (*b"value", [0; 16]);
    /// seal_jobs(&mut [SealJob::in_place(&key, b"", Aad::strings(&strings), &mut value, &mut tag)]).unwrap();
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    pub fn strings(strings: &'a [&'a [u8]]) -> Self {
        Self(AssociatedData::Several(strings))
    }
}

impl<'a> From<&'a [u8]> for Aad<'a> {
    #[inline]
    fn from(slice: &'a [u8]) -> Self {
        Self(AssociatedData::One(Cow::Borrowed(slice)))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Aad<'a> {
    #[inline]
    fn from(array: &'a [u8; N]) -> Self {
        Self(AssociatedData::One(Cow::Borrowed(array)))
    }
}

impl<'a> From<&'a Vec<u8>> for Aad<'a> {
    #[inline]
    fn from(bytes: &'a Vec<u8>) -> Self {
        bytes.as_slice().into()
    }
}

impl<'a> From<&'a str> for Aad<'a> {
    #[inline]
    fn from(text: &'a str) -> Self {
        text.as_bytes().into()
    }
}

/// A message to seal, with its key, its nonce, its additional data, and the buffers for ciphertext and tag. The
/// buffer for the tag has [`Key::tag_bytes`] bytes. [`seal_jobs`] checks all sizes before it writes anything.
#[must_use = "a job does nothing before it is passed to `seal_jobs`"]
pub struct SealJob<'a> {
    key: &'a Key,
    message: Message<'a>,
    tag: &'a mut [u8],
}

/// A message to open, with its key, its nonce, its additional data, its buffers, and after the call the verdict. The
/// tag has [`Key::tag_bytes`] bytes. [`open_jobs`] checks all sizes before it writes anything.
#[must_use = "a job does nothing before it is passed to `open_jobs`"]
pub struct OpenJob<'a> {
    key: &'a Key,
    message: Message<'a>,
    // Maximum message size in bytes; `None` if no message has a ciphertext of this length.
    max_bytes: Option<usize>,
    tag: &'a [u8],
    verdict: Verdict,
}

/// The result of opening a message. The enum is exhaustive on purpose: a `match` without a wildcard handles all results.
#[must_use = "the message may be forged"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The message has not been opened yet.
    Pending,
    /// Verification succeeded, and the output is the message.
    Verified,
    /// Verification failed, and the output is zeroed.
    Forged,
    /// The message was decrypted with an unauthenticated cipher, so nothing was verified.
    Unauthenticated,
}

impl Verdict {
    /// Returns whether verification succeeded.
    #[must_use]
    pub fn is_verified(self) -> bool {
        self == Self::Verified
    }
}

/// How many messages of an opened batch did not verify. The verdicts of its jobs or of the burst say which ones.
///
/// ```
/// # use sealcomb::{Algorithm, Key, OpenJob, open_jobs};
/// # let key = Key::new(Algorithm::AES_128_GCM, &[7; 16])?;
/// # let (mut message, wrong) = (*b"message", [0; 16]);
/// # let mut jobs = [OpenJob::in_place(&key, b"unique nonce", b"", &mut message, &wrong)];
/// let opened = open_jobs(&mut jobs).unwrap();
/// assert_eq!(opened.forged(), 1);
/// assert!(opened.all_verified().is_err());
/// # Ok::<(), sealcomb::Error>(())
/// ```
#[must_use = "messages of the batch may be forged"]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    forged: usize,
    unauthenticated: usize,
}

impl Opened {
    /// Counts the verdicts on the messages of a batch.
    #[inline]
    fn of(verdicts: impl Iterator<Item = Verdict>) -> Self {
        let mut opened = Self::default();
        for verdict in verdicts {
            opened.forged += usize::from(verdict == Verdict::Forged);
            opened.unauthenticated += usize::from(verdict == Verdict::Unauthenticated);
        }
        opened
    }

    /// Returns the result for `messages` messages under one key, of which `forged` are forged.
    #[inline(always)]
    pub(crate) fn under(key: &Key, messages: usize, forged: usize) -> Self {
        let unauthenticated = if key.algorithm().kind() == Kind::Cipher { messages } else { 0 };
        Self { forged, unauthenticated }
    }

    /// Returns the number of forged messages.
    #[must_use]
    #[inline]
    pub fn forged(self) -> usize {
        self.forged
    }

    /// Returns the number of messages that were decrypted with an unauthenticated cipher, so that nothing was
    /// verified.
    #[must_use]
    #[inline]
    pub fn unauthenticated(self) -> usize {
        self.unauthenticated
    }

    /// Returns `Ok` if every message of the batch is verified.
    ///
    /// # Errors
    /// [`Forged`] if any is forged, or was decrypted with an unauthenticated cipher.
    #[inline]
    pub fn all_verified(self) -> Result<(), Forged> {
        if self == Self::default() { Ok(()) } else { Err(Forged) }
    }
}

impl<'a> SealJob<'a> {
    /// Describes a message to encrypt in place. If the algorithm's ciphertexts are longer than their messages, use
    /// [`SealJob::in_buffer`]: [`seal_jobs`] rejects this job with [`Error::OutputTooShort`].
    pub fn in_place(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        data: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Self {
        Self { key, message: message(key, nonce, aad.into(), data.into()), tag }
    }

    /// Describes a message to encrypt in place, in the first `message_bytes` bytes of `buffer`. The ciphertext takes
    /// the first [`Algorithm::ciphertext_bytes`](crate::Algorithm::ciphertext_bytes) bytes; the bytes after it are
    /// not changed.
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] if the buffer is shorter than the ciphertext.
    pub fn in_buffer(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        buffer: &'a mut [u8],
        message_bytes: usize,
        tag: &'a mut [u8],
    ) -> Result<Self, Error> {
        let ciphertext = first(buffer, key.algorithm().ciphertext_bytes(message_bytes))?;
        let data = Span::beginning(ciphertext, message_bytes);
        Ok(Self { key, message: message(key, nonce, aad.into(), data), tag })
    }

    /// Describes a message to encrypt from `input` into the first
    /// [`Algorithm::ciphertext_bytes`](crate::Algorithm::ciphertext_bytes) bytes of `output`; the bytes after them
    /// are not changed.
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] if the output is shorter than the ciphertext.
    pub fn new(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        input: &'a [u8],
        output: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Result<Self, Error> {
        let output = first(output, key.algorithm().ciphertext_bytes(input.len()))?;
        Ok(Self { key, message: message(key, nonce, aad.into(), Span::new(input, output)), tag })
    }

    /// Describes a packet to seal in place, with its header as additional data, see
    /// [`Burst::seal_packets`](crate::Burst::seal_packets).
    ///
    /// # Errors
    /// [`Error::PacketTooShort`] if the packet is shorter than the parts of its layout and the tag.
    #[inline]
    pub fn packet(
        key: &'a Key,
        nonce: &'a [u8],
        layout: PacketLayout,
        packet: &'a mut [u8],
    ) -> Result<Self, Error> {
        let (header, data, tag) = layout.with_tag(key).parts(packet)?;
        Ok(Self::in_place(key, nonce, header, data, tag))
    }

    /// Replaces the additional data.
    pub fn aad(mut self, aad: impl Into<Aad<'a>>) -> Self {
        self.message.aad = aad.into().0;
        self
    }

    /// Checks the sizes of this job, as [`seal_jobs`] does.
    ///
    /// # Errors
    /// The error that [`seal_jobs`] would return for this job.
    pub fn check(&self) -> Result<(), Error> {
        Direction::check(self)
    }

    /// Describes a message to authenticate without encryption, for algorithms of [`Kind::Mac`].
    pub fn mac(key: &'a Key, nonce: &'a [u8], message: impl Into<Aad<'a>>, tag: &'a mut [u8]) -> Self {
        Self::in_place(key, nonce, message, &mut [], tag)
    }
}

impl<'a> OpenJob<'a> {
    /// Describes a message to open in place. The message takes the first [`OpenJob::message_bytes`] bytes of `data`;
    /// the others become zero.
    ///
    /// If no message has a ciphertext of this length, the verdict is [`Verdict::Forged`] and `data` is zeroed.
    ///
    /// If the algorithm [needs the message's length](crate::Algorithm::needs_message_bytes), the message is assumed
    /// to be as long as `data`; [`OpenJob::in_buffer`] takes other lengths.
    pub fn in_place(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        data: &'a mut [u8],
        tag: &'a [u8],
    ) -> Self {
        let max_bytes = key.algorithm().max_message_bytes(data.len()).ok();
        Self {
            key,
            message: message(key, nonce, aad.into(), data.into()),
            max_bytes,
            tag,
            verdict: Verdict::Pending,
        }
    }

    /// Describes a packet to open in place, with its header as additional data, see
    /// [`Burst::open_packets`](crate::Burst::open_packets).
    ///
    /// # Errors
    /// [`Error::PacketTooShort`] if the packet is shorter than the parts of its layout and the tag.
    #[inline]
    pub fn packet(
        key: &'a Key,
        nonce: &'a [u8],
        layout: PacketLayout,
        packet: &'a mut [u8],
    ) -> Result<Self, Error> {
        let (header, data, tag) = layout.with_tag(key).parts(packet)?;
        Ok(Self::in_place(key, nonce, header, data, tag))
    }

    /// Replaces the additional data.
    pub fn aad(mut self, aad: impl Into<Aad<'a>>) -> Self {
        self.message.aad = aad.into().0;
        self
    }

    /// Describes the ciphertext of a message of `message_bytes` bytes to open in place, in the first
    /// [`Algorithm::ciphertext_bytes`](crate::Algorithm::ciphertext_bytes) bytes of `buffer`; the bytes after them
    /// are not changed. The message takes the first [`OpenJob::message_bytes`] bytes; the rest of the ciphertext
    /// becomes zero.
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] if the buffer is shorter than the ciphertext.
    pub fn in_buffer(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        buffer: &'a mut [u8],
        message_bytes: usize,
        tag: &'a [u8],
    ) -> Result<Self, Error> {
        let job = Self::in_place(
            key,
            nonce,
            aad,
            first(buffer, key.algorithm().ciphertext_bytes(message_bytes))?,
            tag,
        );
        let max_bytes =
            if key.algorithm().needs_message_bytes() { Some(message_bytes) } else { job.max_bytes };
        Ok(Self { max_bytes, ..job })
    }

    /// Describes a message to open from `input` into the first
    /// [`Algorithm::max_message_bytes`](crate::Algorithm::max_message_bytes) bytes of `output`. The message takes the
    /// first [`OpenJob::message_bytes`] of them, and the others become zero. The bytes after them are not changed.
    ///
    /// If the algorithm [needs the message's length](crate::Algorithm::needs_message_bytes), `output` must be exactly
    /// as long as the message.
    ///
    /// If no message has a ciphertext of this length, the verdict is [`Verdict::Forged`] and `output` is zeroed.
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] if the output is shorter than the message can be.
    pub fn new(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        input: &'a [u8],
        output: &'a mut [u8],
        tag: &'a [u8],
    ) -> Result<Self, Error> {
        let algorithm = key.algorithm();
        let max_bytes = if algorithm.needs_message_bytes() {
            Some(output.len()).filter(|bytes| algorithm.ciphertext_bytes(*bytes) == input.len())
        } else {
            algorithm.max_message_bytes(input.len()).ok()
        };
        let room = max_bytes.unwrap_or(output.len());
        let data = Span::new(input, first(output, room)?);
        Ok(Self {
            key,
            message: message(key, nonce, aad.into(), data),
            max_bytes,
            tag,
            verdict: Verdict::Pending,
        })
    }

    /// Checks the sizes of this job, as [`open_jobs`] does.
    ///
    /// # Errors
    /// The error that [`open_jobs`] would return for this job.
    pub fn check(&self) -> Result<(), Error> {
        Direction::check(self)
    }

    /// Describes an unencrypted message with a tag to verify, for algorithms of [`Kind::Mac`].
    pub fn mac(key: &'a Key, nonce: &'a [u8], message: impl Into<Aad<'a>>, tag: &'a [u8]) -> Self {
        Self::in_place(key, nonce, message, &mut [], tag)
    }

    /// Returns the result of opening the message.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns the size in bytes of the opened message, which is at the start of the output. Returns 0 if the message
    /// is forged or has not been opened yet.
    pub fn message_bytes(&self) -> usize {
        match self.verdict {
            Verdict::Verified | Verdict::Unauthenticated => self.message.bytes,
            Verdict::Pending | Verdict::Forged => 0,
        }
    }
}

impl fmt::Debug for SealJob<'_> {
    /// Writes the key's algorithm and backend and the length of the message, nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealJob").field("key", self.key).field("bytes", &self.message.data.len()).finish()
    }
}

impl fmt::Debug for OpenJob<'_> {
    /// Writes the key's algorithm and backend, the length of the ciphertext and the verdict, nothing of the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, message, verdict, .. } = self;
        f.debug_struct("OpenJob")
            .field("key", key)
            .field("bytes", &message.data.len())
            .field("verdict", verdict)
            .finish()
    }
}

const _: fn() = || {
    fn sendable<T: Send>() {}
    sendable::<SealJob<'_>>();
    sendable::<OpenJob<'_>>();
};

#[inline]
fn message<'a>(key: &'a Key, nonce: &'a [u8], aad: Aad<'a>, data: Span<'a>) -> Message<'a> {
    let bytes = data.len();
    Message { key: key.material(), nonce, aad: aad.0, data, bytes, tag: [0; 16] }
}

/// Returns the first `needed` bytes of an output, or [`Error::OutputTooShort`].
fn first(output: &mut [u8], needed: usize) -> Result<&mut [u8], Error> {
    let got = output.len();
    output.get_mut(..needed).ok_or(Error::OutputTooShort { needed, got })
}

/// Seals all jobs of a batch. The jobs may differ in key, algorithm and size; each result is in the job's buffers.
///
/// # Errors
/// A [`BatchError`] with the first job whose sizes its algorithm does not take. Nothing was written to any job in
/// this case.
///
/// ```
/// use sealcomb::{Algorithm, Key, SealJob, seal_jobs};
///
/// let key = Key::new(Algorithm::AES_128_CCM, &[7; 16])?;
/// let nonces: Vec<[u8; 12]> = (0..100u128).map(|n| n.to_be_bytes()[4..].try_into().unwrap()).collect();
/// let mut packets: Vec<Vec<u8>> = (0..100).map(|i| vec![0xab; 40 + 14 * i]).collect();
/// let mut tags = [[0; 16]; 100];
///
/// let mut jobs: Vec<SealJob> = packets.iter_mut().zip(&nonces).zip(&mut tags)
///     .map(|((packet, nonce), tag)| SealJob::in_place(&key, nonce, b"header", packet, tag))
///     .collect();
/// seal_jobs(&mut jobs).unwrap();
/// # Ok::<(), sealcomb::Error>(())
/// ```
pub fn seal_jobs(jobs: &mut [SealJob<'_>]) -> Result<(), BatchError> {
    seal_jobs_with(Schedule::Auto, jobs)
}

/// Seals all jobs of a batch like [`seal_jobs`], with the given schedule.
///
/// # Errors
/// A [`BatchError`] with the first job whose sizes its algorithm does not take. Nothing was written to any job in
/// this case.
pub fn seal_jobs_with(schedule: Schedule, jobs: &mut [SealJob<'_>]) -> Result<(), BatchError> {
    run(schedule, jobs)
}

/// Opens all jobs of a batch, stores the verdict in each, and returns how many messages are forged. The outputs of
/// forged messages are zeroed. The results of the other jobs do not depend on them.
///
/// `Ok` means that every job was processed, not that its message is authentic: see [`Opened`].
///
/// # Errors
/// A [`BatchError`] with the first job whose sizes its algorithm does not take. Nothing was written to any job in
/// this case.
///
/// ```
/// use sealcomb::{Algorithm, Key, OpenJob, Verdict, open_jobs};
///
/// let key = Key::new(Algorithm::AES_128_GCM, &[7; 16])?;
/// let (mut good, mut bad) = (*b"message", *b"another");
/// let (mut tag, wrong) = ([0; 16], [0; 16]);
/// key.seal_in_place_detached(b"unique nonce", b"", &mut good, &mut tag)?;
///
/// let mut jobs = [
///     OpenJob::in_place(&key, b"unique nonce", b"", &mut good, &tag),
///     OpenJob::in_place(&key, b"unique nonce", b"", &mut bad, &wrong),
/// ];
/// assert_eq!(open_jobs(&mut jobs).unwrap().forged(), 1);
/// assert_eq!((jobs[0].verdict(), jobs[1].verdict()), (Verdict::Verified, Verdict::Forged));
/// assert_eq!((&good, &bad), (b"message", &[0; 7]));
/// # Ok::<(), sealcomb::Error>(())
/// ```
pub fn open_jobs(jobs: &mut [OpenJob<'_>]) -> Result<Opened, BatchError> {
    open_jobs_with(Schedule::Auto, jobs)
}

/// Opens all jobs of a batch like [`open_jobs`], with the given schedule.
///
/// # Errors
/// A [`BatchError`] with the first job whose sizes its algorithm does not take. Nothing was written to any job in
/// this case.
pub fn open_jobs_with(schedule: Schedule, jobs: &mut [OpenJob<'_>]) -> Result<Opened, BatchError> {
    run(schedule, jobs)?;
    Ok(Opened::of(jobs.iter().map(OpenJob::verdict)))
}

/// Sealing or opening, for the code that they share.
trait Direction<'a> {
    fn key(&self) -> &'a Key;
    /// Checks the job's sizes.
    fn check(&self) -> Result<(), Error>;
    /// Returns the message to process; `None` if no message has a ciphertext of this length.
    fn message(&mut self) -> Option<&mut Message<'a>>;
    fn process(batch: &mut Batch<'_, '_, 'a>, code: &dyn Mode);
    /// Writes or verifies the computed tag.
    fn finish(&mut self);
}

impl<'a> Direction<'a> for SealJob<'a> {
    fn key(&self) -> &'a Key {
        self.key
    }

    #[inline(always)]
    fn check(&self) -> Result<(), Error> {
        let Message { nonce, aad, data, .. } = &self.message;
        check(self.key, nonce, self.tag.len(), aad.len(), data.len())?;
        check_strings(self.key, nonce, aad)?;
        check_room(self.key, data.len(), data.room())
    }

    fn message(&mut self) -> Option<&mut Message<'a>> {
        Some(&mut self.message)
    }

    fn process(batch: &mut Batch<'_, '_, 'a>, code: &dyn Mode) {
        code.seal(batch);
    }

    fn finish(&mut self) {
        write_part(&self.message.tag, self.tag);
    }
}

impl<'a> Direction<'a> for OpenJob<'a> {
    fn key(&self) -> &'a Key {
        self.key
    }

    #[inline(always)]
    fn check(&self) -> Result<(), Error> {
        let Message { nonce, aad, .. } = &self.message;
        check(self.key, nonce, self.tag.len(), aad.len(), self.max_bytes.unwrap_or(0))?;
        check_strings(self.key, nonce, aad)
    }

    fn message(&mut self) -> Option<&mut Message<'a>> {
        self.message.tag = read_part(self.tag);
        self.message.bytes = self.max_bytes?;
        Some(&mut self.message)
    }

    fn process(batch: &mut Batch<'_, '_, 'a>, code: &dyn Mode) {
        code.open(batch);
    }

    fn finish(&mut self) {
        self.verdict = if self.max_bytes.is_some() {
            verdict(self.key.algorithm().kind(), &mut self.message, self.tag)
        } else {
            forged(&mut self.message)
        };
        // Keeps no correct tag in memory after a forgery.
        self.message.tag = [0; 16];
    }
}

impl<'a, J: Direction<'a>> Direction<'a> for &mut J {
    fn key(&self) -> &'a Key {
        J::key(self)
    }

    #[inline(always)]
    fn check(&self) -> Result<(), Error> {
        J::check(self)
    }

    fn message(&mut self) -> Option<&mut Message<'a>> {
        J::message(self)
    }

    fn process(batch: &mut Batch<'_, '_, 'a>, code: &dyn Mode) {
        J::process(batch, code);
    }

    fn finish(&mut self) {
        J::finish(self);
    }
}

/// Returns the verdict on a decrypted message, and zeroes the output after the message, or all of it after a forgery.
#[inline(always)]
pub(crate) fn verdict(kind: Kind, message: &mut Message<'_>, tag: &[u8]) -> Verdict {
    if kind == Kind::Cipher {
        Verdict::Unauthenticated
    } else if same(&message.tag, tag) {
        message.wipe_rest();
        Verdict::Verified
    } else {
        forged(message)
    }
}

#[cold]
fn forged(message: &mut Message<'_>) -> Verdict {
    message.data.wipe(0);
    Verdict::Forged
}

/// Returns whether a received tag is a prefix of the computed one, in constant time.
#[inline(always)]
fn same(computed: &Block, received: &[u8]) -> bool {
    let expected = u128::from_le_bytes(head(computed, received.len()));
    expected.ct_eq(&u128::from_le_bytes(read_part(received))).to_bool()
}

/// The sizes of messages under a key. It has a copy of what common sizes are compared with, which a loop over messages
/// keeps in registers.
#[derive(Clone, Copy)]
pub(crate) struct Sizes<'a> {
    key: &'a Key,
    ordinary: Ordinary,
}

impl<'a> Sizes<'a> {
    #[inline(always)]
    pub(crate) fn of(key: &'a Key) -> Self {
        Self { key, ordinary: key.ordinary(key.tag_bytes()) }
    }

    /// Checks whether a message of these sizes can be sealed or opened under the key. Common sizes pass in the inlined
    /// part.
    #[inline(always)]
    pub(crate) fn check(
        self,
        nonce_bytes: usize,
        tag_bytes: usize,
        aad_bytes: usize,
        message_bytes: usize,
    ) -> Result<(), Error> {
        if self.ordinary.takes(nonce_bytes, tag_bytes, aad_bytes, message_bytes) {
            return Ok(());
        }
        check_closely(self.key, nonce_bytes, tag_bytes, aad_bytes, message_bytes)
    }
}

/// Checks whether a message of these sizes can be sealed or opened under a key.
#[inline(always)]
pub(crate) fn check(
    key: &Key,
    nonce: &[u8],
    tag_bytes: usize,
    aad_bytes: usize,
    message_bytes: usize,
) -> Result<(), Error> {
    Sizes::of(key).check(nonce.len(), tag_bytes, aad_bytes, message_bytes)
}

#[cold]
fn check_closely(
    key: &Key,
    nonce_bytes: usize,
    tag_bytes: usize,
    aad_bytes: usize,
    message_bytes: usize,
) -> Result<(), Error> {
    key.check(nonce_bytes, tag_bytes, aad_bytes as u64, message_bytes as u64)
}

/// The maximum number of associated strings of AES-SIV, the nonce included (RFC 5297, section 2.6).
const STRINGS: usize = 126;

/// Checks whether the algorithm takes associated strings, and so many of them.
#[inline(always)]
fn check_strings(key: &Key, nonce: &[u8], aad: &AssociatedData<'_>) -> Result<(), Error> {
    match aad {
        AssociatedData::Several(strings) => {
            let got = strings.len() + usize::from(!nonce.is_empty());
            match key.algorithm() {
                algorithm if !algorithm.strings() => Err(Error::TakesNoStrings { algorithm: algorithm.id() }),
                _ if got > STRINGS => Err(Error::TooManyStrings { limit: STRINGS, got }),
                _ => Ok(()),
            }
        }
        AssociatedData::One(_) => Ok(()),
    }
}

/// Checks the sizes of a single message.
#[inline(always)]
pub(crate) fn check_one(
    key: &Key,
    nonce: &[u8],
    tag_bytes: usize,
    aad: &Aad<'_>,
    message_bytes: usize,
) -> Result<(), Error> {
    check(key, nonce, tag_bytes, aad.0.len(), message_bytes)?;
    check_strings(key, nonce, &aad.0)
}

/// Checks whether the ciphertext of a message fits into `room` bytes.
#[inline(always)]
pub(crate) fn check_room(key: &Key, message_bytes: usize, room: usize) -> Result<(), Error> {
    if room >= message_bytes && !key.algorithm().expands() {
        return Ok(());
    }
    check_room_closely(key, message_bytes, room)
}

#[cold]
fn check_room_closely(key: &Key, message_bytes: usize, room: usize) -> Result<(), Error> {
    let needed = key.algorithm().ciphertext_bytes(message_bytes);
    if room < needed { Err(Error::OutputTooShort { needed, got: room }) } else { Ok(()) }
}

/// Seals or opens all jobs if the sizes of all of them are valid.
fn run<'a, J: Direction<'a>>(schedule: Schedule, jobs: &mut [J]) -> Result<(), BatchError> {
    let Some(first) = jobs.first().map(J::key) else { return Ok(()) };
    let mut alike = true;
    for (index, job) in jobs.iter().enumerate() {
        alike &= core::ptr::eq(job.key(), first) || same_family(job.key(), first);
        job.check().map_err(|error| BatchError { index, error })?;
    }
    if alike {
        jobs.chunks_mut(FLIGHT).for_each(|flight| fly(schedule, flight));
    } else if jobs.len() <= FLIGHT {
        // Small batches are sorted on the stack.
        by_family(schedule, &mut jobs.iter_mut().collect::<ArrayVec<_, FLIGHT>>());
    } else {
        by_family(schedule, &mut jobs.iter_mut().collect::<Vec<_>>());
    }
    Ok(())
}

/// Seals or opens jobs of several families, one family after the other.
fn by_family<'a, J: Direction<'a>>(schedule: Schedule, jobs: &mut [&mut J]) {
    jobs.sort_unstable_by_key(|job| (job.key().algorithm().id(), job.key().backend().name()));
    for alike in jobs.chunk_by_mut(|a, b| same_family(a.key(), b.key())) {
        alike.chunks_mut(FLIGHT).for_each(|flight| fly(schedule, flight));
    }
}

/// Returns whether messages under two keys belong to one family, which can share a flight: one algorithm, one
/// backend.
fn same_family(a: &Key, b: &Key) -> bool {
    a.algorithm() == b.algorithm() && a.backend() == b.backend()
}

/// Seals or opens up to [`FLIGHT`] jobs of one family.
fn fly<'a, J: Direction<'a>>(schedule: Schedule, jobs: &mut [J]) {
    let Some(key) = jobs.first().map(J::key) else { return };
    let mut messages = ArrayVec::<&mut Message<'a>, FLIGHT>::new();
    for job in jobs.iter_mut() {
        messages.extend(job.message());
    }
    if !messages.is_empty() {
        let alone = schedule == Schedule::Auto && messages.len() == 1;
        let schedule = if alone { Schedule::Single } else { schedule };
        let mut batch = Batch { backend: key.backend(), schedule, messages: &mut messages };
        J::process(&mut batch, key.algorithm().code());
    }
    drop(messages);
    for job in jobs {
        job.finish();
    }
}

/// Returns the batch of a single message.
#[inline(always)]
fn alone<'b, 'm, 'a>(key: &Key, messages: &'b mut [&'m mut Message<'a>; 1]) -> Batch<'b, 'm, 'a> {
    Batch { backend: key.backend(), schedule: Schedule::Single, messages }
}

/// Seals one message whose sizes have been checked.
#[inline]
pub(crate) fn seal_one<'a>(
    key: &'a Key,
    nonce: &'a [u8],
    aad: impl Into<Aad<'a>>,
    data: Span<'a>,
    tag: &mut [u8],
) {
    let mut message = message(key, nonce, aad.into(), data);
    key.algorithm().code().seal(&mut alone(key, &mut [&mut message]));
    write_part(&message.tag, tag);
}

/// Decrypts one message whose sizes have been checked, and replaces the received tag by the correct one.
#[cfg(feature = "hazmat")]
pub(crate) fn open_unverified<'a>(
    key: &'a Key,
    nonce: &'a [u8],
    aad: impl Into<Aad<'a>>,
    data: Span<'a>,
    tag: &mut [u8],
) {
    let mut message = message(key, nonce, aad.into(), data);
    message.tag = read_part(tag);
    key.algorithm().code().open(&mut alone(key, &mut [&mut message]));
    write_part(&message.tag, tag);
}

/// Opens one message whose sizes have been checked and returns its size in bytes, at most that of the output.
#[inline]
pub(crate) fn open_one<'a>(
    key: &'a Key,
    nonce: &'a [u8],
    aad: impl Into<Aad<'a>>,
    data: Span<'a>,
    tag: &[u8],
) -> Result<usize, Forged> {
    let mut message = message(key, nonce, aad.into(), data);
    message.bytes = message.data.room();
    message.tag = read_part(tag);
    key.algorithm().code().open(&mut alone(key, &mut [&mut message]));
    if same(&message.tag, tag) {
        message.wipe_rest();
        Ok(message.bytes)
    } else {
        message.data.wipe(0);
        Err(Forged)
    }
}
