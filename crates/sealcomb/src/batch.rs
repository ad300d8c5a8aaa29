//! Many messages at once.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use arrayvec::ArrayVec;
use ctutils::CtEq;

use crate::backend::{Block, Span, read_part, write_part};
use crate::catalog::Kind;
use crate::engine::{AssociatedData, Batch, FLIGHT, Message, Schedule};
use crate::modes::Mode;
use crate::primitives::block::head;
use crate::{Algorithm, BatchError, Error, Forged, Key};

/// Additional data: one slice, or several that are authenticated as if they were one; or the associated strings of AES-SIV.
#[derive(Clone, Debug)]
pub struct Aad<'a>(AssociatedData<'a>);

impl<'a> Aad<'a> {
    /// Any number of strings that AES-SIV authenticates one by one, so that none is not one empty string, and where one ends
    /// and the next begins counts too (RFC 5297, section 2.4). Other algorithms take them as if they were one, joined in
    /// memory of its own.
    ///
    /// A slice that is given as it is, not through this function, is one string to AES-SIV.
    ///
    /// ```
    /// use sealcomb::{Aad, Algorithm, Key, SealJob, seal_batch};
    ///
    /// let key = Key::new(Algorithm::by_id("aes256-siv")?, &[7; 64])?;
    /// let strings: [&[u8]; 2] = [b"table", b"column"];
    /// let (mut value, mut tag) = (*b"value", [0; 16]);
    /// seal_batch(&mut [SealJob::in_place(&key, b"", Aad::strings(&strings), &mut value, &mut tag)]).unwrap();
    /// # Ok::<(), sealcomb::Error>(())
    /// ```
    pub fn strings(strings: &'a [&'a [u8]]) -> Self {
        Self(AssociatedData::Several(strings))
    }

    /// As an algorithm takes it.
    #[inline]
    fn of(self, algorithm: &Algorithm) -> AssociatedData<'a> {
        match self.0 {
            AssociatedData::Several(strings) if !algorithm.strings => joined(strings),
            aad => aad,
        }
    }
}

#[cold]
fn joined<'a>(strings: &[&[u8]]) -> AssociatedData<'a> {
    AssociatedData::One(Cow::Owned(strings.concat()))
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

impl<'a> From<&'a [&'a [u8]]> for Aad<'a> {
    /// Joins the slices in memory of its own.
    fn from(slices: &'a [&'a [u8]]) -> Self {
        Self(joined(slices))
    }
}

/// A message to seal: where it is, where its ciphertext and tag go.
pub struct SealJob<'a> {
    key: &'a Key,
    message: Message<'a>,
    tag: &'a mut [u8],
}

/// A message to open, and, once that was done, the verdict on it.
pub struct OpenJob<'a> {
    key: &'a Key,
    message: Message<'a>,
    // Bytes that the message can have; none where no message has a ciphertext of this length.
    most: Option<usize>,
    tag: &'a [u8],
    verdict: Verdict,
}

/// What opening a message came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It wasn't opened yet.
    Pending,
    /// The tag is right, and the output is the message.
    Verified,
    /// The tag isn't right, and the output is zeroed.
    Forged,
    /// The algorithm is a bare cipher: decrypted, and nothing to verify.
    Unauthenticated,
}

impl<'a> SealJob<'a> {
    /// Encrypts `data` where it is. Where the ciphertext is longer than the message, the batch ends with
    /// [`Error::OutputTooShort`]: [`SealJob::in_buffer`] gives it room.
    pub fn in_place(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        data: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Self {
        Self { key, message: message(key, nonce, aad.into(), data.into()), tag }
    }

    /// Encrypts the message in the first `message_bytes` bytes of `buffer` where it is: the ciphertext takes the first
    /// [`Algorithm::ciphertext_bytes`](crate::Algorithm::ciphertext_bytes), and further bytes stay as they are.
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] where the buffer is shorter than the ciphertext.
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

    /// Encrypts `input` into the first bytes of `output`, as many as
    /// [`Algorithm::ciphertext_bytes`](crate::Algorithm::ciphertext_bytes) says; further bytes of it stay as they are.
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] where it is shorter than the ciphertext.
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

    /// Finds out whether [`seal_batch`] would take this job.
    ///
    /// # Errors
    /// What would be wrong with it there.
    pub fn check(&self) -> Result<(), Error> {
        Direction::check(self)
    }

    /// Computes the tag of a message that isn't encrypted, for the algorithms of [`Kind::Mac`].
    pub fn mac(key: &'a Key, nonce: &'a [u8], message: impl Into<Aad<'a>>, tag: &'a mut [u8]) -> Self {
        Self::in_place(key, nonce, message, &mut [], tag)
    }
}

impl<'a> OpenJob<'a> {
    /// Decrypts `data` where it is. The message takes its first [`OpenJob::message_bytes`]; the others become zero.
    ///
    /// Where [the receiver must be told](crate::Algorithm::needs_message_bytes) how long the message is, it is taken to
    /// be as long as `data`; [`OpenJob::in_buffer`] takes other lengths.
    pub fn in_place(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        data: &'a mut [u8],
        tag: &'a [u8],
    ) -> Self {
        let most = key.algorithm().max_message_bytes(data.len()).ok();
        Self {
            key,
            message: message(key, nonce, aad.into(), data.into()),
            most,
            tag,
            verdict: Verdict::Pending,
        }
    }

    /// Decrypts the ciphertext of a message of `message_bytes` bytes where it is, in the first
    /// [`Algorithm::ciphertext_bytes`](crate::Algorithm::ciphertext_bytes) of `buffer`; further bytes stay as they are.
    /// The message takes the first [`OpenJob::message_bytes`]; what is left of the ciphertext becomes zero.
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] where the buffer is shorter than the ciphertext.
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
        let most = if key.algorithm().needs_message_bytes() { Some(message_bytes) } else { job.most };
        Ok(Self { most, ..job })
    }

    /// Decrypts `input` into the first bytes of `output`, as many as
    /// [`Algorithm::max_message_bytes`](crate::Algorithm::max_message_bytes) says: the message takes
    /// [`OpenJob::message_bytes`] of them, the others become zero. Further bytes of it stay as they are.
    ///
    /// Where [the receiver must be told](crate::Algorithm::needs_message_bytes) how long the message is, `output` tells
    /// it: it must be exactly as long.
    ///
    /// A ciphertext that is as long as that of no message is forged, and `output` zeroed.
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] where the output is shorter than the message may be.
    pub fn new(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        input: &'a [u8],
        output: &'a mut [u8],
        tag: &'a [u8],
    ) -> Result<Self, Error> {
        let algorithm = key.algorithm();
        let most = if algorithm.needs_message_bytes() {
            Some(output.len()).filter(|told| algorithm.ciphertext_bytes(*told) == input.len())
        } else {
            algorithm.max_message_bytes(input.len()).ok()
        };
        let room = most.unwrap_or(output.len());
        let data = Span::new(input, first(output, room)?);
        Ok(Self { key, message: message(key, nonce, aad.into(), data), most, tag, verdict: Verdict::Pending })
    }

    /// Finds out whether [`open_batch`] would take this job.
    ///
    /// # Errors
    /// What would be wrong with it there.
    pub fn check(&self) -> Result<(), Error> {
        Direction::check(self)
    }

    /// Verifies the tag of a message that isn't encrypted, for the algorithms of [`Kind::Mac`].
    pub fn mac(key: &'a Key, nonce: &'a [u8], message: impl Into<Aad<'a>>, tag: &'a [u8]) -> Self {
        Self::in_place(key, nonce, message, &mut [], tag)
    }

    /// What opening the message came to.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Bytes of the opened message, with which the output begins: as many as the ciphertext has, less what its algorithm
    /// had added. 0 as long as there is no message.
    pub fn message_bytes(&self) -> usize {
        match self.verdict {
            Verdict::Verified | Verdict::Unauthenticated => self.message.bytes,
            Verdict::Pending | Verdict::Forged => 0,
        }
    }
}

#[inline]
fn message<'a>(key: &'a Key, nonce: &'a [u8], aad: Aad<'a>, data: Span<'a>) -> Message<'a> {
    let bytes = data.len();
    Message { key: key.material(), nonce, aad: aad.of(key.algorithm()), data, bytes, tag: [0; 16] }
}

/// The first bytes of an output, if it has so many.
fn first(output: &mut [u8], needed: usize) -> Result<&mut [u8], Error> {
    let got = output.len();
    output.get_mut(..needed).ok_or(Error::OutputTooShort { needed, got })
}

/// Seals every job of a batch.
///
/// Jobs may differ in key, algorithm and length; results are in the jobs' own buffers, in the jobs' order.
///
/// # Errors
/// The first job whose sizes its algorithm doesn't take; nothing was written then, to no job.
///
/// ```
/// use sealcomb::{Algorithm, Key, SealJob, seal_batch};
///
/// let key = Key::new(Algorithm::by_id("aes128-ccm")?, &[7; 16])?;
/// let nonces: Vec<[u8; 12]> = (0..100u32).map(|i| { let mut n = [0; 12]; n[..4].copy_from_slice(&i.to_be_bytes()); n }).collect();
/// let mut packets: Vec<Vec<u8>> = (0..100).map(|i| vec![0xab; 40 + 14 * i]).collect();
/// let mut tags = [[0; 16]; 100];
///
/// let mut jobs: Vec<SealJob> = packets.iter_mut().zip(&nonces).zip(&mut tags)
///     .map(|((packet, nonce), tag)| SealJob::in_place(&key, nonce, b"header", packet, tag))
///     .collect();
/// seal_batch(&mut jobs).unwrap();
/// # Ok::<(), sealcomb::Error>(())
/// ```
pub fn seal_batch(jobs: &mut [SealJob<'_>]) -> Result<(), BatchError> {
    seal_batch_with(Schedule::Auto, jobs)
}

/// As [`seal_batch`], with a schedule of one's choice.
///
/// # Errors
/// As [`seal_batch`].
pub fn seal_batch_with(schedule: Schedule, jobs: &mut [SealJob<'_>]) -> Result<(), BatchError> {
    run(schedule, jobs)
}

/// Opens every job of a batch, leaves each one's verdict in it, and returns how many were forged. Those jobs' outputs
/// are zeroed; their neighbours aren't touched by it.
///
/// # Errors
/// The first job whose sizes its algorithm doesn't take; nothing was written then, to no job.
///
/// ```
/// use sealcomb::{Algorithm, Key, OpenJob, Verdict, open_batch};
///
/// let key = Key::new(Algorithm::by_id("aes128-gcm")?, &[7; 16])?;
/// let (mut good, mut bad) = (*b"message", *b"another");
/// let (mut tag, wrong) = ([0; 16], [0; 16]);
/// key.seal_in_place(b"unique nonce", b"", &mut good, &mut tag)?;
///
/// let mut jobs = [
///     OpenJob::in_place(&key, b"unique nonce", b"", &mut good, &tag),
///     OpenJob::in_place(&key, b"unique nonce", b"", &mut bad, &wrong),
/// ];
/// assert_eq!(open_batch(&mut jobs), Ok(1));
/// assert_eq!((jobs[0].verdict(), jobs[1].verdict()), (Verdict::Verified, Verdict::Forged));
/// assert_eq!((&good, &bad), (b"message", &[0; 7]));
/// # Ok::<(), sealcomb::Error>(())
/// ```
pub fn open_batch(jobs: &mut [OpenJob<'_>]) -> Result<usize, BatchError> {
    open_batch_with(Schedule::Auto, jobs)
}

/// As [`open_batch`], with a schedule of one's choice.
///
/// # Errors
/// As [`open_batch`].
pub fn open_batch_with(schedule: Schedule, jobs: &mut [OpenJob<'_>]) -> Result<usize, BatchError> {
    run(schedule, jobs)?;
    Ok(jobs.iter().filter(|job| job.verdict == Verdict::Forged).count())
}

/// What sealing and opening have in common.
trait Direction<'a> {
    fn key(&self) -> &'a Key;
    /// Finds out whether its sizes are in order.
    fn check(&self) -> Result<(), Error>;
    /// The message, ready to be processed, if there can be one.
    fn message(&mut self) -> Option<&mut Message<'a>>;
    fn process(batch: &mut Batch<'_, '_, 'a>, code: &dyn Mode);
    /// Takes the tag that was computed.
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
        check_strings(nonce, aad)?;
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
        check(self.key, nonce, self.tag.len(), aad.len(), self.most.unwrap_or(0))?;
        check_strings(nonce, aad)
    }

    fn message(&mut self) -> Option<&mut Message<'a>> {
        self.message.tag = read_part(self.tag);
        self.message.bytes = self.most?;
        Some(&mut self.message)
    }

    fn process(batch: &mut Batch<'_, '_, 'a>, code: &dyn Mode) {
        code.open(batch);
    }

    fn finish(&mut self) {
        self.verdict = if self.most.is_some() {
            verdict(self.key, &mut self.message, self.tag)
        } else {
            forged(&mut self.message)
        };
        // It would make a forged message genuine.
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

/// The verdict on a message that was opened, whose output is zeroed where it isn't the message.
#[inline(always)]
pub(crate) fn verdict(key: &Key, message: &mut Message<'_>, tag: &[u8]) -> Verdict {
    if key.algorithm().kind == Kind::Cipher {
        Verdict::Unauthenticated
    } else if same(&message.tag, tag) {
        message.wipe_rest();
        Verdict::Verified
    } else {
        forged(message)
    }
}

fn forged(message: &mut Message<'_>) -> Verdict {
    message.data.wipe(0);
    Verdict::Forged
}

/// Whether a received tag is the beginning of the computed one, in constant time.
fn same(computed: &Block, received: &[u8]) -> bool {
    let shown = u128::from_le_bytes(head(computed, received.len()));
    shown.ct_eq(&u128::from_le_bytes(read_part(received))).to_bool()
}

/// Finds out whether a message of these sizes can be sealed or opened under a key; in line as far as ordinary ones need.
#[inline(always)]
pub(crate) fn check(
    key: &Key,
    nonce: &[u8],
    tag_bytes: usize,
    aad_bytes: usize,
    message_bytes: usize,
) -> Result<(), Error> {
    let algorithm = key.algorithm();
    if tag_bytes == key.tag_bytes() && algorithm.takes_ordinary(nonce.len(), aad_bytes, message_bytes) {
        return Ok(());
    }
    check_closely(key, nonce.len(), tag_bytes, aad_bytes, message_bytes)
}

#[cold]
fn check_closely(
    key: &Key,
    nonce_bytes: usize,
    tag_bytes: usize,
    aad_bytes: usize,
    message_bytes: usize,
) -> Result<(), Error> {
    if tag_bytes != key.tag_bytes() {
        return Err(Error::tag_length(key.algorithm(), key.tag_bytes(), tag_bytes));
    }
    key.algorithm().check(nonce_bytes, tag_bytes, aad_bytes as u64, message_bytes as u64)
}

/// The most associated strings of AES-SIV, a nonce among them (RFC 5297, section 2.6).
const STRINGS: usize = 126;

/// Finds out whether there are no more associated strings than that.
#[inline(always)]
fn check_strings(nonce: &[u8], aad: &AssociatedData<'_>) -> Result<(), Error> {
    match aad {
        AssociatedData::Several(strings) => {
            let got = strings.len() + usize::from(!nonce.is_empty());
            if got > STRINGS { Err(Error::TooManyStrings { limit: STRINGS, got }) } else { Ok(()) }
        }
        AssociatedData::One(_) => Ok(()),
    }
}

/// Finds out whether there is room for the ciphertext of a message.
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

/// Seals or opens all jobs, if all of them can be.
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
        // So few need no memory from the heap.
        by_family(schedule, &mut jobs.iter_mut().collect::<ArrayVec<_, FLIGHT>>());
    } else {
        by_family(schedule, &mut jobs.iter_mut().collect::<Vec<_>>());
    }
    Ok(())
}

/// Seals or opens jobs of several families, those of each together.
fn by_family<'a, J: Direction<'a>>(schedule: Schedule, jobs: &mut [&mut J]) {
    jobs.sort_unstable_by_key(|job| (job.key().algorithm().id, job.key().backend().name()));
    for alike in jobs.chunk_by_mut(|a, b| same_family(a.key(), b.key())) {
        alike.chunks_mut(FLIGHT).for_each(|flight| fly(schedule, flight));
    }
}

/// Whether messages under two keys can fly together: the same algorithm on the same backend.
fn same_family(a: &Key, b: &Key) -> bool {
    core::ptr::eq(a.algorithm(), b.algorithm()) && a.backend() == b.backend()
}

/// Seals or opens up to [`FLIGHT`] jobs of one family.
fn fly<'a, J: Direction<'a>>(schedule: Schedule, jobs: &mut [J]) {
    let Some(key) = jobs.first().map(J::key) else { return };
    let mut messages = ArrayVec::<&mut Message<'a>, FLIGHT>::new();
    for job in jobs.iter_mut() {
        messages.extend(job.message());
    }
    if !messages.is_empty() {
        let mut batch = Batch { backend: key.backend(), schedule, messages: &mut messages };
        J::process(&mut batch, key.algorithm().code);
    }
    drop(messages);
    for job in jobs {
        job.finish();
    }
}

/// The batch of one message.
#[inline(always)]
fn alone<'b, 'm, 'a>(key: &Key, messages: &'b mut [&'m mut Message<'a>; 1]) -> Batch<'b, 'm, 'a> {
    Batch { backend: key.backend(), schedule: Schedule::Single, messages }
}

/// Seals one message whose sizes were found in order.
#[inline]
pub(crate) fn seal_one<'a>(key: &'a Key, nonce: &'a [u8], aad: &'a [u8], data: Span<'a>, tag: &mut [u8]) {
    let mut message = message(key, nonce, aad.into(), data);
    key.algorithm().code.seal(&mut alone(key, &mut [&mut message]));
    write_part(&message.tag, tag);
}

/// Decrypts one message whose sizes were found in order, and puts the tag that it should have in the place of the one that
/// came with it.
#[cfg(feature = "hazmat")]
pub(crate) fn open_unverified<'a>(
    key: &'a Key,
    nonce: &'a [u8],
    aad: &'a [u8],
    data: Span<'a>,
    tag: &mut [u8],
) {
    let mut message = message(key, nonce, aad.into(), data);
    message.tag = read_part(tag);
    key.algorithm().code.open(&mut alone(key, &mut [&mut message]));
    write_part(&message.tag, tag);
}

/// Opens one message whose sizes were found in order, of as many bytes as there are to write or fewer, and returns how
/// many it has.
#[inline]
pub(crate) fn open_one<'a>(
    key: &'a Key,
    nonce: &'a [u8],
    aad: &'a [u8],
    data: Span<'a>,
    tag: &[u8],
) -> Result<usize, Forged> {
    let mut message = message(key, nonce, aad.into(), data);
    message.bytes = message.data.room();
    message.tag = read_part(tag);
    key.algorithm().code.open(&mut alone(key, &mut [&mut message]));
    if same(&message.tag, tag) {
        message.wipe_rest();
        Ok(message.bytes)
    } else {
        message.data.wipe(0);
        Err(Forged)
    }
}
