//! Sealing and opening batches of frames under any number of keys (IEEE 802.1AE-2018, 10.5 and 10.6).

use std::fmt;
use std::ops::Range;

use arrayvec::ArrayVec;
use sealcomb::{BatchError, OpenJob, PacketLayout, SealJob, open_jobs, seal_jobs};

use crate::sak::{ConfidentialityOffset, Sak};
use crate::sectag::{Header, ICV_BYTES, SecTag};

/// Maximum number of frames per batch. The batch's jobs and nonces are on the stack.
const AT_ONCE: usize = 128;

/// A frame to seal.
pub struct Outgoing<'a> {
    /// The association's key.
    pub sak: &'a Sak,
    /// The association's SecTAG fields.
    pub header: &'a Header,
    /// The packet number. It must be unique under this key and transmitter: the nonce is built from it.
    pub pn: u64,
    /// The buffer from [`Header::lay_out`], with addresses and user data in place. [`seal`](fn@seal) writes the rest.
    pub frame: &'a mut [u8],
}

/// Why [`seal`](fn@seal) failed. Unless a variant says otherwise, buffers may have been overwritten; never send them.
#[derive(Debug)]
pub enum SealError {
    /// A buffer is too short for a sealed frame. Nothing was written.
    Length,
    /// A packet number is 0 or exceeds the 32 bits of its cipher suite. Nothing was written.
    Number,
    /// The library rejected a frame.
    Batch(BatchError),
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("a buffer is too short for a sealed frame"),
            Self::Number => f.write_str("packet number is 0 or exceeds the 32 bits of its cipher suite"),
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

/// Returns the layout of a frame. The encrypted part begins after `offset` bytes of user data, if there are more than these;
/// `None`: nothing is encrypted.
fn layout(data: Range<usize>, offset: Option<ConfidentialityOffset>) -> PacketLayout {
    PacketLayout::header(offset.map_or(data.end, |offset| data.end.min(data.start + offset.bytes())))
}

/// Seals frames in place.
///
/// # Errors
/// [`SealError`]. It applies to the whole batch: send none of its frames.
pub fn seal(frames: &mut [Outgoing<'_>]) -> Result<(), SealError> {
    if frames.iter().any(|frame| frame.frame.len() < frame.header.data_at() + ICV_BYTES) {
        return Err(SealError::Length);
    }
    if frames.iter().any(|frame| frame.pn == 0 || frame.pn > frame.sak.last_pn()) {
        return Err(SealError::Number);
    }
    for group in frames.chunks_mut(AT_ONCE) {
        let nonces: ArrayVec<_, AT_ONCE> = group.iter().map(|frame| frame.sak.nonce(frame.pn)).collect();
        let mut jobs: ArrayVec<SealJob<'_>, AT_ONCE> = ArrayVec::new();
        for (Outgoing { sak, header, pn, frame }, nonce) in group.iter_mut().zip(&nonces) {
            header.write(frame, *pn);
            let data = header.data_at()..frame.len() - ICV_BYTES;
            let layout = layout(data, header.encrypt.then_some(sak.offset));
            let job = SealJob::packet(&sak.key, nonce, layout, frame);
            jobs.push(job.map_err(|error| BatchError::new(jobs.len(), error))?);
        }
        seal_jobs(&mut jobs)?;
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
    /// Describes a received frame, its SecTAG, and the packet number that [`Sak::pn`] recovered.
    ///
    /// # Panics
    /// Panics if the frame is too short for the user data and the ICV of the frame that `tag` was parsed from.
    pub fn new(sak: &'a Sak, tag: &'a SecTag, pn: u64, frame: &'a mut [u8]) -> Self {
        assert!(frame.len() >= tag.data().end + ICV_BYTES, "frame too short for its SecTAG");
        Self { sak, tag, pn, frame, verified: false }
    }

    /// Returns whether [`open`](fn@open) has found the ICV to be correct. Use the user data only then.
    pub fn is_verified(&self) -> bool {
        self.verified
    }
}

/// Verifies frames and decrypts the verified ones in place. In the others, encrypted user data is zeroed, and
/// unencrypted user data, such as that of the confidentiality offset, is unchanged.
///
/// # Errors
/// [`BatchError`] if the library rejected a frame. Drop the whole batch: some frames may be marked as verified.
pub fn open(frames: &mut [Incoming<'_>]) -> Result<(), BatchError> {
    for group in frames.chunks_mut(AT_ONCE) {
        let nonces: ArrayVec<_, AT_ONCE> = group.iter().map(|frame| frame.sak.nonce(frame.pn)).collect();
        let mut jobs: ArrayVec<OpenJob<'_>, AT_ONCE> = ArrayVec::new();
        let mut outcomes: ArrayVec<&mut bool, AT_ONCE> = ArrayVec::new(); // one per job
        for (Incoming { sak, tag, frame, verified, .. }, nonce) in group.iter_mut().zip(&nonces) {
            let data = tag.data();
            let frame = &mut frame[..data.end + ICV_BYTES];
            let layout = layout(data, tag.is_encrypted.then_some(sak.offset));
            let job = OpenJob::packet(&sak.key, nonce, layout, frame);
            jobs.push(job.map_err(|error| BatchError::new(jobs.len(), error))?);
            outcomes.push(verified);
        }
        let _ = open_jobs(&mut jobs)?; // each job has its verdict
        for (job, verified) in jobs.iter().zip(outcomes) {
            *verified = job.verdict().is_verified();
        }
    }
    Ok(())
}
