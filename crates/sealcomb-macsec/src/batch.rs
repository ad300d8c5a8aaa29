//! Sealing and opening many frames (IEEE 802.1AE-2018, 10.5 and 10.6), whatever their keys, as one batch.

use std::fmt;

use arrayvec::ArrayVec;
use sealcomb::{BatchError, OpenJob, SealJob, Verdict, open_batch, seal_batch};

use crate::sak::Sak;
use crate::sectag::{Header, ICV_BYTES, SecTag};

/// Frames that are worked on at once; what a batch needs for them lies on the stack.
const AT_ONCE: usize = 128;

/// A frame to seal.
pub struct Outgoing<'a> {
    /// Of its association.
    pub sak: &'a Sak,
    /// Of its association.
    pub header: &'a Header,
    /// Its packet number, which no other frame under this key and transmitter has or will have: the nonce is made of it.
    pub pn: u64,
    /// The whole sealed frame, as [`Header::lay_out`] makes it: addresses and user data lie in their places. The rest is
    /// written.
    pub frame: &'a mut [u8],
}

/// Why frames could not be sealed. Their buffers are of no use then, and must not be sent.
#[derive(Debug)]
pub enum SealError {
    /// A buffer is too short for a sealed frame. Nothing was written.
    Length,
    /// A packet number is 0, or has more than the 32 bits of its cipher suite. Nothing was written.
    Number,
    /// The library refused a frame.
    Batch(BatchError),
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("a buffer is too short for a sealed frame"),
            Self::Number => f.write_str("there is no such packet number in this cipher suite"),
            Self::Batch(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SealError {}

impl From<BatchError> for SealError {
    fn from(error: BatchError) -> Self {
        Self::Batch(error)
    }
}

/// What is authenticated alone, what is encrypted too, and the ICV, of a frame.
fn parts(frame: &mut [u8], data_at: usize, data_end: usize, encrypt: bool) -> (&[u8], &mut [u8], &mut [u8]) {
    let (covered, rest) = frame.split_at_mut(data_end);
    let (alone, encrypted) = covered.split_at_mut(if encrypt { data_at } else { data_end });
    (alone, encrypted, &mut rest[..ICV_BYTES])
}

/// Turns frames into sealed ones, each in its buffer.
///
/// # Errors
/// [`SealError`], for all of them.
pub fn seal(frames: &mut [Outgoing<'_>]) -> Result<(), SealError> {
    if frames.iter().any(|frame| frame.frame.len() < frame.header.data_at() + ICV_BYTES) {
        return Err(SealError::Length);
    }
    if frames.iter().any(|frame| frame.pn == 0 || frame.pn > frame.sak.last_pn()) {
        return Err(SealError::Number);
    }
    for some in frames.chunks_mut(AT_ONCE) {
        let nonces: ArrayVec<_, AT_ONCE> = some.iter().map(|frame| frame.sak.nonce(frame.pn)).collect();
        let mut jobs: ArrayVec<SealJob<'_>, AT_ONCE> = ArrayVec::new();
        for (Outgoing { sak, header, pn, frame }, nonce) in some.iter_mut().zip(&nonces) {
            header.write(frame, *pn);
            let data_end = frame.len() - ICV_BYTES;
            let (alone, encrypted, icv) = parts(frame, header.data_at(), data_end, header.encrypt);
            jobs.push(SealJob::in_place(&sak.key, nonce, alone, encrypted, icv));
        }
        seal_batch(&mut jobs)?;
    }
    Ok(())
}

/// A frame to open.
pub struct Incoming<'a> {
    sak: &'a Sak,
    tag: &'a SecTag,
    pn: u64,
    frame: &'a mut [u8],
    verified: bool,
}

impl<'a> Incoming<'a> {
    /// The frame that `tag` was read from, with the packet number that [`Sak::pn`] finds.
    ///
    /// # Panics
    /// Where the frame is shorter than its SecTAG says.
    pub fn new(sak: &'a Sak, tag: &'a SecTag, pn: u64, frame: &'a mut [u8]) -> Self {
        assert!(frame.len() >= tag.data().end + ICV_BYTES, "a frame that is shorter than its SecTAG says");
        Self { sak, tag, pn, frame, verified: false }
    }

    /// Whether its ICV is right; before [`open`](fn@open) it never is. Only then does the frame hold user data.
    pub fn is_verified(&self) -> bool {
        self.verified
    }
}

/// Verifies frames and decrypts those that verify where they lie. Encrypted user data of others become zero.
///
/// # Errors
/// The library refused a frame. None is verified then.
pub fn open(frames: &mut [Incoming<'_>]) -> Result<(), BatchError> {
    for some in frames.chunks_mut(AT_ONCE) {
        let nonces: ArrayVec<_, AT_ONCE> = some.iter().map(|frame| frame.sak.nonce(frame.pn)).collect();
        let mut jobs: ArrayVec<OpenJob<'_>, AT_ONCE> = ArrayVec::new();
        let mut outcomes: ArrayVec<&mut bool, AT_ONCE> = ArrayVec::new(); // beside `jobs`
        for (Incoming { sak, tag, frame, verified, .. }, nonce) in some.iter_mut().zip(&nonces) {
            let data = tag.data();
            let (alone, encrypted, icv) = parts(frame, data.start, data.end, tag.is_encrypted);
            jobs.push(OpenJob::in_place(&sak.key, nonce, alone, encrypted, icv));
            outcomes.push(verified);
        }
        open_batch(&mut jobs)?;
        for (job, verified) in jobs.iter().zip(outcomes) {
            *verified = job.verdict() == Verdict::Verified;
        }
    }
    Ok(())
}
