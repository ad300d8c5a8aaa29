//! A job as C has it, and the library's job that is made of it.

use std::mem::MaybeUninit;
use std::{ptr, slice};

use arrayvec::ArrayVec;
use sealcomb::{Aad, Algorithm, BatchError, Error, Key, OpenJob, SealJob, open_batch, seal_batch};

use crate::memory::{is_possible, may_overlap, overlap, read, write};
use crate::parts::{Full, Pool};
use crate::sealcomb_status::{
    SEALCOMB_ERROR_JOB_SIZE, SEALCOMB_ERROR_OUTPUT_TOO_SHORT, SEALCOMB_ERROR_OVERLAP, SEALCOMB_ERROR_POINTER,
};
use crate::{sealcomb_key, sealcomb_status};

/// A piece of memory that is read.
#[repr(C)]
pub struct sealcomb_iovec {
    /// Where it begins; may be NULL if it has no bytes.
    pub data: *const u8,
    /// Its bytes.
    pub bytes: usize,
}

/// A message to seal or to open: where it is, where the result goes, and what became of it.
///
/// Set all of it to 0 first, `size` to `sizeof(sealcomb_job)`, and then what there is. A pointer may be NULL only where
/// the length or count beside it is 0: any other NULL, and any length over `SIZE_MAX / 2`, is `SEALCOMB_ERROR_POINTER`.
///
/// If `output` is `input`, the work is done in place. Otherwise nothing that is written (the bytes of the result at
/// `output`; when sealing, `tag`) may overlap anything that is read of the same job (`nonce`, `aad`, `aad_parts` and
/// its pieces, `input`; when opening, `tag`), nor may `output` overlap `tag`: that is `SEALCOMB_ERROR_OVERLAP`. Buffers
/// of different jobs of a batch must not overlap either, where one of them is written, but this is not checked: what
/// then stands in those buffers, and whether they verify, is not defined, but no other memory is touched. Nor may what
/// is written overlap the jobs themselves.
#[repr(C)]
pub struct sealcomb_job {
    /// `sizeof(sealcomb_job)`, of the header that the program was compiled with: the same in all jobs of a batch.
    pub size: usize,
    /// The key; several jobs may have the same one.
    pub key: *const sealcomb_key,
    /// The nonce: `sealcomb_algorithm_note` says what it must be.
    pub nonce: *const u8,
    /// Bytes of the nonce; 0 for algorithms without one.
    pub nonce_bytes: usize,
    /// What is authenticated and not encrypted; for a MAC all of its message; for a cipher with a tweak, that.
    pub aad: *const u8,
    /// Bytes of `aad`.
    pub aad_bytes: usize,
    /// Additional data in several pieces, authenticated as if they were one, or NULL. With pieces, `aad_bytes` must be
    /// 0. To AES-SIV each piece is a string of its own, at most 126 with the nonce, and no piece at all is not the same
    /// as one empty piece (RFC 5297, section 2.4); `aad` is one string.
    pub aad_parts: *const sealcomb_iovec,
    /// How many pieces there are; 0 where `aad_parts` is NULL.
    pub aad_part_count: usize,
    /// The message, or the ciphertext without its tag.
    pub input: *const u8,
    /// Bytes of the input.
    pub input_bytes: usize,
    /// Where the ciphertext goes, or the message.
    pub output: *mut u8,
    /// Bytes that may be written there: at least `sealcomb_algorithm_ciphertext_bytes` when sealing,
    /// `sealcomb_algorithm_max_message_bytes` when opening (in place also `input_bytes`); those beyond stay as they
    /// are. Where `sealcomb_algorithm_needs_message_bytes`, exactly the bytes of the message when opening.
    pub output_bytes: usize,
    /// Where sealing puts the tag; where opening finds it, and only reads.
    pub tag: *mut u8,
    /// Bytes of the tag: `sealcomb_key_tag_bytes`.
    pub tag_bytes: usize,
    /// Set by the call: bytes of the result at `output`; 0 if there is none.
    pub written: MaybeUninit<usize>,
    /// Set by the call: what became of the job.
    pub status: MaybeUninit<sealcomb_status>,
    /// For what may come; must be 0. More comes behind it: later versions have larger jobs, and take these as well.
    pub reserved: u32,
}

/// Why no job of the library's came of one of C's.
pub(crate) enum Refusal {
    Mistake(sealcomb_status),
    /// The pool has too little left.
    Full,
}

impl<T: Into<sealcomb_status>> From<T> for Refusal {
    fn from(mistake: T) -> Self {
        Self::Mistake(mistake.into())
    }
}

/// What sealing and opening have in common.
pub(crate) trait Direction {
    type Job<'a>: Prepared;
    /// Whether the tag is written.
    const WRITES_TAG: bool;
    /// The tag, to be written or to be read.
    type Tag<'a>;
    /// # Safety
    /// Bytes are there that can be read, and where it is so, be written, for `'a`, and nobody else writes to them, or
    /// reads them where they are written.
    unsafe fn tag<'a>(data: *mut u8, bytes: usize) -> Self::Tag<'a>;
    /// Bytes of the output that may be written.
    fn room(algorithm: &Algorithm, job: &sealcomb_job) -> Result<usize, sealcomb_status>;
    /// The library's job of a message that is as long as its ciphertext, to be done in place.
    fn in_place<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: &'a [u8],
        data: &'a mut [u8],
        tag: Self::Tag<'a>,
    ) -> Self::Job<'a>;
    /// The library's job of a message that goes from one place to another.
    fn apart<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: Aad<'a>,
        input: &'a [u8],
        output: &'a mut [u8],
        tag: Self::Tag<'a>,
    ) -> Result<Self::Job<'a>, Error>;
    /// The library's job of a message in a buffer that has room for its ciphertext.
    fn in_buffer<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: Aad<'a>,
        buffer: &'a mut [u8],
        message_bytes: usize,
        tag: Self::Tag<'a>,
    ) -> Result<Self::Job<'a>, Error>;
    /// Does all of them.
    fn run(jobs: &mut [Self::Job<'_>]) -> Result<(), BatchError>;
}

/// A job of the library's.
pub(crate) trait Prepared {
    /// Whether the library would take it.
    fn check(&self) -> Result<(), Error>;
    /// What became of it, and how many bytes were written, where that was not sure beforehand.
    fn result(&self) -> Option<(sealcomb_status, usize)>;
}

pub(crate) struct Seal;
pub(crate) struct Open;

impl Direction for Seal {
    type Job<'a> = SealJob<'a>;
    const WRITES_TAG: bool = true;
    type Tag<'a> = &'a mut [u8];

    #[inline(always)]
    unsafe fn tag<'a>(data: *mut u8, bytes: usize) -> &'a mut [u8] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts_mut(data, bytes) }
    }

    fn room(algorithm: &Algorithm, job: &sealcomb_job) -> Result<usize, sealcomb_status> {
        let room = algorithm.ciphertext_bytes(job.input_bytes);
        if room > job.output_bytes { Err(SEALCOMB_ERROR_OUTPUT_TOO_SHORT) } else { Ok(room) }
    }

    #[inline(always)]
    fn in_place<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: &'a [u8],
        data: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> SealJob<'a> {
        SealJob::in_place(key, nonce, aad, data, tag)
    }

    #[inline(always)]
    fn apart<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: Aad<'a>,
        input: &'a [u8],
        output: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Result<SealJob<'a>, Error> {
        SealJob::new(key, nonce, aad, input, output, tag)
    }

    fn in_buffer<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: Aad<'a>,
        buffer: &'a mut [u8],
        message_bytes: usize,
        tag: &'a mut [u8],
    ) -> Result<SealJob<'a>, Error> {
        SealJob::in_buffer(key, nonce, aad, buffer, message_bytes, tag)
    }

    fn run(jobs: &mut [SealJob<'_>]) -> Result<(), BatchError> {
        seal_batch(jobs)
    }
}

impl Prepared for SealJob<'_> {
    fn check(&self) -> Result<(), Error> {
        SealJob::check(self)
    }

    #[inline(always)]
    fn result(&self) -> Option<(sealcomb_status, usize)> {
        None
    }
}

impl Direction for Open {
    type Job<'a> = OpenJob<'a>;
    const WRITES_TAG: bool = false;
    type Tag<'a> = &'a [u8];

    #[inline(always)]
    unsafe fn tag<'a>(data: *mut u8, bytes: usize) -> &'a [u8] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts(data, bytes) }
    }

    fn room(algorithm: &Algorithm, job: &sealcomb_job) -> Result<usize, sealcomb_status> {
        if algorithm.needs_message_bytes() {
            return match job.is_in_place() {
                false => Ok(job.output_bytes),
                true if algorithm.ciphertext_bytes(job.output_bytes) == job.input_bytes => {
                    Ok(job.input_bytes)
                }
                true => Err(SEALCOMB_ERROR_OUTPUT_TOO_SHORT),
            };
        }
        let room = if job.is_in_place() {
            job.input_bytes
        } else {
            // A ciphertext that no message has is forged, which takes no output.
            algorithm.max_message_bytes(job.input_bytes).unwrap_or(0)
        };
        if room > job.output_bytes { Err(SEALCOMB_ERROR_OUTPUT_TOO_SHORT) } else { Ok(room) }
    }

    #[inline(always)]
    fn in_place<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: &'a [u8],
        data: &'a mut [u8],
        tag: &'a [u8],
    ) -> OpenJob<'a> {
        OpenJob::in_place(key, nonce, aad, data, tag)
    }

    #[inline(always)]
    fn apart<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: Aad<'a>,
        input: &'a [u8],
        output: &'a mut [u8],
        tag: &'a [u8],
    ) -> Result<OpenJob<'a>, Error> {
        OpenJob::new(key, nonce, aad, input, output, tag)
    }

    fn in_buffer<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: Aad<'a>,
        buffer: &'a mut [u8],
        message_bytes: usize,
        tag: &'a [u8],
    ) -> Result<OpenJob<'a>, Error> {
        if key.algorithm().needs_message_bytes() {
            OpenJob::in_buffer(key, nonce, aad, buffer, message_bytes, tag)
        } else {
            Ok(OpenJob::in_place(key, nonce, aad, buffer, tag))
        }
    }

    fn run(jobs: &mut [OpenJob<'_>]) -> Result<(), BatchError> {
        open_batch(jobs).map(|_| ())
    }
}

impl Prepared for OpenJob<'_> {
    fn check(&self) -> Result<(), Error> {
        OpenJob::check(self)
    }

    #[inline(always)]
    fn result(&self) -> Option<(sealcomb_status, usize)> {
        Some((self.verdict().into(), self.message_bytes()))
    }
}

impl sealcomb_job {
    #[inline(always)]
    fn is_in_place(&self) -> bool {
        self.input == self.output.cast_const()
    }

    /// Adds the library's job to a flight that has room for it, if this one's sizes and buffers can be. Returns how
    /// many bytes of the output may be written.
    ///
    /// # Safety
    /// The key is NULL or one that lives for `'a`. Where a length is not 0, the pointer beside it is NULL, or that many
    /// bytes can be read there for `'a`, and written where that is said, and nobody else writes to them, or, where they
    /// are written, reads them.
    #[inline(always)]
    pub(crate) unsafe fn prepare<'a, D: Direction, const N: usize>(
        &self,
        size: usize,
        pool: &mut Pool<'a>,
        flight: &mut ArrayVec<D::Job<'a>, N>,
    ) -> Result<usize, Refusal> {
        if self.size != size || self.reserved != 0 {
            return Err(SEALCOMB_ERROR_JOB_SIZE.into());
        }
        // SAFETY: the caller's promise.
        let Some(sealcomb_key(key)) = (unsafe { self.key.as_ref() }) else {
            return Err(SEALCOMB_ERROR_POINTER.into());
        };
        if !self.is_plain::<D>(key.algorithm()) {
            // SAFETY: the caller's promise.
            return unsafe { self.prepare_closely::<D, N>(key, pool, flight) };
        }
        // SAFETY: the caller's promise; what `is_plain` found makes slices of them, and what is written overlaps
        // nothing.
        unsafe {
            let nonce = slice::from_raw_parts(self.nonce, self.nonce_bytes);
            let aad = slice::from_raw_parts(self.aad, self.aad_bytes);
            let output = slice::from_raw_parts_mut(self.output, self.input_bytes);
            let tag = D::tag(self.tag, self.tag_bytes);
            if self.is_in_place() {
                flight.push(D::in_place(key, nonce, aad, output, tag));
            } else {
                let input = slice::from_raw_parts(self.input, self.input_bytes);
                flight.push(D::apart(key, nonce, aad.into(), input, output, tag)?);
            }
        }
        Ok(self.input_bytes)
    }

    /// Whether it is in order at a first glance, as nearly all jobs are: every pointer is one, the result is as long as
    /// the input and has room, and nothing that is written may overlap anything else.
    #[inline(always)]
    fn is_plain<D: Direction>(&self, algorithm: &Algorithm) -> bool {
        let lengths =
            self.nonce_bytes | self.aad_bytes | self.input_bytes | self.output_bytes | self.tag_bytes;
        let with_output = |data, bytes| may_overlap(self.output, self.input_bytes, data, bytes);
        let with_tag = |data, bytes| D::WRITES_TAG && may_overlap(self.tag, self.tag_bytes, data, bytes);
        self.aad_parts.addr() | self.aad_part_count == 0
            && !algorithm.expands()
            && isize::try_from(lengths).is_ok()
            && self.input_bytes <= self.output_bytes
            && !self.nonce.is_null()
            && !self.aad.is_null()
            && !self.input.is_null()
            && !self.output.is_null()
            && !self.tag.is_null()
            && !with_output(self.nonce, self.nonce_bytes)
            && !with_output(self.aad, self.aad_bytes)
            && !with_output(self.tag, self.tag_bytes)
            && !with_tag(self.nonce, self.nonce_bytes)
            && !with_tag(self.aad, self.aad_bytes)
            && (self.is_in_place()
                || !with_output(self.input, self.input_bytes) && !with_tag(self.input, self.input_bytes))
    }

    /// Whether every pointer fits the length beside it. Pieces of additional data exclude additional data in one piece.
    fn is_possible(&self) -> bool {
        [
            (self.nonce, self.nonce_bytes),
            (self.aad, self.aad_bytes),
            (self.input, self.input_bytes),
            (self.output.cast_const(), self.output_bytes),
            (self.tag.cast_const(), self.tag_bytes),
        ]
        .iter()
        .all(|(data, bytes)| is_possible(*data, *bytes))
            && is_possible(self.aad_parts, self.aad_part_count)
            && (self.aad_parts.is_null() || self.aad_bytes == 0)
    }

    /// As [`Self::prepare`], for whatever is not plain.
    ///
    /// # Safety
    /// As for [`Self::prepare`].
    #[cold]
    unsafe fn prepare_closely<'a, D: Direction, const N: usize>(
        &self,
        key: &'a Key,
        pool: &mut Pool<'a>,
        flight: &mut ArrayVec<D::Job<'a>, N>,
    ) -> Result<usize, Refusal> {
        if !self.is_possible() {
            return Err(SEALCOMB_ERROR_POINTER.into());
        }
        let room = D::room(key.algorithm(), self)?;
        let overlaps = |data, bytes| {
            overlap(data, bytes, self.output, room)
                || D::WRITES_TAG && overlap(data, bytes, self.tag, self.tag_bytes)
        };
        if overlaps(self.nonce, self.nonce_bytes)
            || overlaps(self.aad, self.aad_bytes)
            || overlap(self.tag, self.tag_bytes, self.output, room)
            || !self.is_in_place() && overlaps(self.input, self.input_bytes)
        {
            return Err(SEALCOMB_ERROR_OVERLAP.into());
        }
        // SAFETY: the caller's promise, and nothing of these is written.
        let nonce = unsafe { read(self.nonce, self.nonce_bytes)? };
        // SAFETY: the same.
        let aad = unsafe { self.additional_data(key.algorithm(), overlaps, pool)? };
        // SAFETY: the caller's promise. Neither overlaps the other, or anything else.
        let output = unsafe { write(self.output, room)? };
        // An empty tag may be NULL, which a slice may not.
        let somewhere = if self.tag_bytes == 0 { ptr::dangling_mut() } else { self.tag };
        // SAFETY: the same.
        let tag = unsafe { D::tag(somewhere, self.tag_bytes) };
        flight.push(if self.is_in_place() {
            let message_bytes = if D::WRITES_TAG { self.input_bytes } else { self.output_bytes };
            D::in_buffer(key, nonce, aad, output, message_bytes, tag)?
        } else {
            // SAFETY: the caller's promise, and it is not written.
            let input = unsafe { read(self.input, self.input_bytes)? };
            D::apart(key, nonce, aad, input, output, tag)?
        });
        Ok(room)
    }

    /// Additional data, be they in one piece or several.
    ///
    /// # Safety
    /// As for [`Self::prepare`].
    unsafe fn additional_data<'a>(
        &self,
        algorithm: &Algorithm,
        overlaps: impl Fn(*const u8, usize) -> bool,
        pool: &mut Pool<'a>,
    ) -> Result<Aad<'a>, Refusal> {
        // SAFETY: the caller's promise, and it is not written.
        let aad = unsafe { read(self.aad, self.aad_bytes)? };
        if self.aad_parts.is_null() {
            return Ok(aad.into());
        }
        // SAFETY: the caller's promise.
        let parts = unsafe { read(self.aad_parts, self.aad_part_count)? };
        if overlaps(self.aad_parts.cast(), size_of_val(parts)) {
            return Err(SEALCOMB_ERROR_OVERLAP.into());
        }
        for part in parts {
            // SAFETY: the caller's promise.
            unsafe { read(part.data, part.bytes)? };
            if overlaps(part.data, part.bytes) {
                return Err(SEALCOMB_ERROR_OVERLAP.into());
            }
        }
        // SAFETY: the caller's promise, found to be possible, and it is not written.
        let slices = parts.iter().map(|part| unsafe { read(part.data, part.bytes) }.unwrap_or_default());
        let taken = if algorithm.strings { pool.strings(slices)? } else { pool.joined(slices)? };
        taken.map_err(|Full| Refusal::Full)
    }
}
