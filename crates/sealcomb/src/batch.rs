//! Many messages at once.

use alloc::vec::Vec;

use arrayvec::ArrayVec;
use ctutils::CtEq;

use crate::backend::{Block, Span};
use crate::catalog::Kind;
use crate::engine::{Batch, FLIGHT, Message, Schedule};
use crate::modes::Mode;
use crate::{BatchError, Error, Forged, Key};

/// Additional data: one slice, or several that are authenticated as if they were one.
#[derive(Clone, Copy, Debug)]
pub struct Aad<'a>(Slices<'a>);

#[derive(Clone, Copy, Debug)]
enum Slices<'a> {
    One(&'a [u8]),
    Many(&'a [&'a [u8]]),
}

impl Aad<'_> {
    fn len(&self) -> usize {
        match self.0 {
            Slices::One(slice) => slice.len(),
            Slices::Many(slices) => slices.iter().map(|slice| slice.len()).sum(),
        }
    }
}

impl<'a> From<&'a [u8]> for Aad<'a> {
    fn from(slice: &'a [u8]) -> Self {
        Self(Slices::One(slice))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Aad<'a> {
    fn from(array: &'a [u8; N]) -> Self {
        Self(Slices::One(array))
    }
}

impl<'a> From<&'a [&'a [u8]]> for Aad<'a> {
    fn from(slices: &'a [&'a [u8]]) -> Self {
        Self(Slices::Many(slices))
    }
}

/// A message to seal: where it is, where its ciphertext and tag go.
pub struct SealJob<'a> {
    job: Job<'a>,
    tag: &'a mut [u8],
}

/// A message to open, and, once that was done, the verdict on it.
pub struct OpenJob<'a> {
    job: Job<'a>,
    tag: &'a [u8],
    verdict: Verdict,
}

struct Job<'a> {
    key: &'a Key,
    nonce: &'a [u8],
    aad: Aad<'a>,
    data: Span<'a>,
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
    /// Encrypts `data` where it is.
    pub fn in_place(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        data: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Self {
        Self { job: Job { key, nonce, aad: aad.into(), data: data.into() }, tag }
    }

    /// Encrypts `input` into the first bytes of `output`; further bytes of it stay as they are.
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] where it is shorter than `input`.
    pub fn new(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        input: &'a [u8],
        output: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Result<Self, Error> {
        Ok(Self { job: Job { key, nonce, aad: aad.into(), data: apart(input, output)? }, tag })
    }

    /// Computes the tag of a message that isn't encrypted, for the algorithms of [`Kind::Mac`].
    pub fn mac(key: &'a Key, nonce: &'a [u8], message: impl Into<Aad<'a>>, tag: &'a mut [u8]) -> Self {
        Self::in_place(key, nonce, message, &mut [], tag)
    }
}

impl<'a> OpenJob<'a> {
    /// Decrypts `data` where it is.
    pub fn in_place(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        data: &'a mut [u8],
        tag: &'a [u8],
    ) -> Self {
        let job = Job { key, nonce, aad: aad.into(), data: data.into() };
        Self { job, tag, verdict: Verdict::Pending }
    }

    /// Decrypts `input` into the first bytes of `output`; further bytes of it stay as they are.
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] where it is shorter than `input`.
    pub fn new(
        key: &'a Key,
        nonce: &'a [u8],
        aad: impl Into<Aad<'a>>,
        input: &'a [u8],
        output: &'a mut [u8],
        tag: &'a [u8],
    ) -> Result<Self, Error> {
        let job = Job { key, nonce, aad: aad.into(), data: apart(input, output)? };
        Ok(Self { job, tag, verdict: Verdict::Pending })
    }

    /// Verifies the tag of a message that isn't encrypted, for the algorithms of [`Kind::Mac`].
    pub fn mac(key: &'a Key, nonce: &'a [u8], message: impl Into<Aad<'a>>, tag: &'a [u8]) -> Self {
        Self::in_place(key, nonce, message, &mut [], tag)
    }

    /// What opening the message came to.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }
}

fn apart<'a>(input: &'a [u8], output: &'a mut [u8]) -> Result<Span<'a>, Error> {
    let (needed, got) = (input.len(), output.len());
    Span::new(input, output).ok_or(Error::OutputTooShort { needed, got })
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
pub fn open_batch_with(
    schedule: Schedule,
    jobs: &mut [OpenJob<'_>],
) -> Result<usize, BatchError> {
    run(schedule, jobs)?;
    Ok(jobs.iter().filter(|job| job.verdict == Verdict::Forged).count())
}

/// What sealing and opening have in common.
trait Direction<'a> {
    fn job(&mut self) -> &mut Job<'a>;
    fn key(&self) -> &'a Key;
    fn tag_bytes(&self) -> usize;
    /// The tag that came with the message, when opening.
    fn tag(&self) -> Block;
    fn process(batch: &mut Batch<'_, '_>, code: &dyn Mode);
    /// Takes the tag that was computed.
    fn finish(&mut self, tag: &Block);
}

impl<'a> Direction<'a> for SealJob<'a> {
    fn job(&mut self) -> &mut Job<'a> {
        &mut self.job
    }

    fn key(&self) -> &'a Key {
        self.job.key
    }

    fn tag_bytes(&self) -> usize {
        self.tag.len()
    }

    fn tag(&self) -> Block {
        [0; 16]
    }

    fn process(batch: &mut Batch<'_, '_>, code: &dyn Mode) {
        code.seal(batch);
    }

    fn finish(&mut self, tag: &Block) {
        self.tag.copy_from_slice(&tag[..self.tag.len()]);
    }
}

impl<'a> Direction<'a> for OpenJob<'a> {
    fn job(&mut self) -> &mut Job<'a> {
        &mut self.job
    }

    fn key(&self) -> &'a Key {
        self.job.key
    }

    fn tag_bytes(&self) -> usize {
        self.tag.len()
    }

    fn tag(&self) -> Block {
        padded(self.tag)
    }

    fn process(batch: &mut Batch<'_, '_>, code: &dyn Mode) {
        code.open(batch);
    }

    fn finish(&mut self, tag: &Block) {
        self.verdict = if self.job.key.algorithm().kind == Kind::Cipher {
            Verdict::Unauthenticated
        } else if same(tag, self.tag) {
            Verdict::Verified
        } else {
            self.job.data.wipe();
            Verdict::Forged
        };
    }
}

/// A received tag, at most 16 bytes, padded with zeros.
fn padded(tag: &[u8]) -> Block {
    let mut block = [0; 16];
    block[..tag.len()].copy_from_slice(tag);
    block
}

/// Whether a received tag is the beginning of the computed one, in constant time.
fn same(computed: &Block, received: &[u8]) -> bool {
    let shown = u128::MAX.checked_shr(8 * (16 - received.len() as u32)).unwrap_or(0);
    let computed = u128::from_le_bytes(*computed) & shown;
    computed.ct_eq(&u128::from_le_bytes(padded(received))).to_bool()
}

/// Finds out whether a message of these sizes can be sealed or opened under a key.
#[inline]
pub(crate) fn check(
    key: &Key,
    nonce: &[u8],
    tag_bytes: usize,
    aad_bytes: usize,
    message_bytes: usize,
) -> Result<(), Error> {
    if tag_bytes != key.tag_bytes() {
        return Err(Error::TagLength { got: tag_bytes });
    }
    key.algorithm().check(nonce.len(), tag_bytes, aad_bytes as u64, message_bytes as u64)
}

/// Seals or opens all jobs, if all of them can be.
fn run<'a, J: Direction<'a>>(schedule: Schedule, jobs: &mut [J]) -> Result<(), BatchError> {
    let mut alike = true;
    let mut first = None;
    for (index, job) in jobs.iter_mut().enumerate() {
        let tag_bytes = job.tag_bytes();
        let Job { key, nonce, aad, data } = job.job();
        check(key, nonce, tag_bytes, aad.len(), data.len())
            .map_err(|error| BatchError { index, error })?;
        alike &= same_family(key, *first.get_or_insert(*key));
    }
    if alike {
        for flight in jobs.chunks_mut(FLIGHT) {
            fly(schedule, flight.iter_mut().collect());
        }
    } else {
        let mut sorted: Vec<&mut J> = jobs.iter_mut().collect();
        sorted.sort_by_key(|job| {
            let key = job.key();
            (key.algorithm().id, key.backend().name())
        });
        for alike in sorted.chunk_by_mut(|a, b| same_family(a.key(), b.key())) {
            for flight in alike.chunks_mut(FLIGHT) {
                fly(schedule, flight.iter_mut().map(|job| &mut **job).collect());
            }
        }
    }
    Ok(())
}

/// Whether messages under two keys can fly together: the same algorithm on the same backend.
fn same_family(a: &Key, b: &Key) -> bool {
    core::ptr::eq(a.algorithm(), b.algorithm()) && a.backend() == b.backend()
}

/// Seals or opens jobs of one family.
fn fly<'a, J: Direction<'a>>(schedule: Schedule, mut jobs: ArrayVec<&mut J, FLIGHT>) {
    let Some(key) = jobs.first().map(|job| job.key()) else { return };
    let joined: Vec<Vec<u8>> = jobs
        .iter_mut()
        .filter_map(|job| match job.job().aad.0 {
            Slices::One(_) => None,
            Slices::Many(slices) => Some(slices.concat()),
        })
        .collect();
    let mut next_joined = joined.iter();
    let mut messages: ArrayVec<Message<'_>, FLIGHT> = jobs
        .iter_mut()
        .map(|job| {
            let tag = job.tag();
            let Job { key, nonce, aad, data } = job.job();
            let aad = match aad.0 {
                Slices::One(slice) => slice,
                Slices::Many(_) => next_joined.next().expect("one for each job with several slices"),
            };
            Message { key: &key.material, nonce, aad, data: data.reborrow(), tag }
        })
        .collect();
    let mut batch = Batch { backend: key.backend(), schedule, messages: &mut messages };
    J::process(&mut batch, key.algorithm().code);
    let tags: ArrayVec<Block, FLIGHT> = messages.iter().map(|message| message.tag).collect();
    drop(messages);
    for (job, tag) in jobs.iter_mut().zip(&tags) {
        job.finish(tag);
    }
}

/// Seals one message whose sizes were found in order.
pub(crate) fn seal_one(key: &Key, nonce: &[u8], aad: &[u8], data: Span<'_>, tag: &mut [u8]) {
    let mut message = Message { key: &key.material, nonce, aad, data, tag: [0; 16] };
    key.algorithm().code.seal(&mut single(key, &mut message));
    tag.copy_from_slice(&message.tag[..tag.len()]);
}

/// Opens one message whose sizes were found in order.
pub(crate) fn open_one(
    key: &Key,
    nonce: &[u8],
    aad: &[u8],
    data: Span<'_>,
    tag: &[u8],
) -> Result<(), Forged> {
    let mut message = Message { key: &key.material, nonce, aad, data, tag: padded(tag) };
    key.algorithm().code.open(&mut single(key, &mut message));
    if same(&message.tag, tag) {
        Ok(())
    } else {
        message.data.wipe();
        Err(Forged)
    }
}

fn single<'b, 'a>(key: &Key, message: &'b mut Message<'a>) -> Batch<'b, 'a> {
    Batch {
        backend: key.backend(),
        schedule: Schedule::Single,
        messages: core::slice::from_mut(message),
    }
}
