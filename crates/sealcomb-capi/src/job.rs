//! C's job structure, and its conversion to the library's jobs.

use std::mem::MaybeUninit;
use std::{ptr, slice};

use arrayvec::ArrayVec;
use sealcomb::{Aad, Algorithm, BatchError, Error, Key, OpenJob, SealJob, open_jobs, seal_jobs};

use crate::memory::{is_possible, may_overlap, overlap, read, write};
use crate::parts::{Full, Pool};
use crate::sealcomb_status::{
    SEALCOMB_ERROR_OUTPUT_TOO_SHORT, SEALCOMB_ERROR_OVERLAP, SEALCOMB_ERROR_POINTER,
    SEALCOMB_ERROR_STRUCT_SIZE, SEALCOMB_ERROR_TAKES_NO_STRINGS,
};
use crate::{sealcomb_key, sealcomb_status};

/// A read-only piece of memory.
#[repr(C)]
pub struct sealcomb_iovec {
    /// First byte; may be NULL if `bytes` is 0.
    pub data: *const u8,
    /// Size in bytes, at most `SIZE_MAX / 2`.
    pub bytes: usize,
}

/// A message to seal or open, and its result.
///
/// Initialize all fields to 0, set `size` to `sizeof(sealcomb_job)`, then set the fields that apply. Jobs may be
/// reused: a call changes only `written` and `status`, and the buffers that `output` and, when sealing, `tag` point
/// to. All sizes are in bytes.
///
/// NULL: a buffer may be NULL only if its length or count is 0. Any other NULL, and any length over `SIZE_MAX / 2`,
/// is `SEALCOMB_ERROR_POINTER`. `key` must not be NULL.
///
/// Overlap: with `output == input`, the job works in place. Otherwise the bytes written (the result at `output` and,
/// when sealing, `tag`) must not overlap anything that the job reads (`nonce`, `aad`, `aad_parts` and its pieces,
/// `input` and, when opening, `tag`). `output` must never overlap `tag`. Violations are `SEALCOMB_ERROR_OVERLAP`.
///
/// Not checked: a buffer written by one job must not overlap a buffer of another job in the batch, or the array of
/// jobs. If buffers of two jobs overlap, the contents of these buffers and the statuses of these jobs are
/// unspecified, but no other memory is touched.
#[repr(C)]
pub struct sealcomb_job {
    /// `sizeof(sealcomb_job)`, which identifies the version of the structure to the library. Equal in all jobs of a
    /// batch.
    pub size: usize,
    /// The key, which jobs may share; must not be NULL.
    pub key: *const sealcomb_key,
    /// The nonce. See `sealcomb_algorithm_note` for its requirements: for most algorithms it must be unique per key.
    pub nonce: *const u8,
    /// Size of the nonce; 0 for algorithms without one.
    pub nonce_bytes: usize,
    /// Additional data: authenticated, not encrypted. For a MAC, the message; for a tweakable cipher, the tweak.
    pub aad: *const u8,
    /// Size of `aad`.
    pub aad_bytes: usize,
    /// Additional data in several pieces, authenticated as their concatenation; NULL for none. With pieces,
    /// `aad_bytes` must be 0. See also `SEALCOMB_AAD_STRINGS`.
    pub aad_parts: *const sealcomb_iovec,
    /// Number of pieces; 0 if `aad_parts` is NULL.
    pub aad_part_count: usize,
    /// The message to seal, or the ciphertext to open without its tag.
    pub input: *const u8,
    /// Size of `input`.
    pub input_bytes: usize,
    /// Receives the ciphertext when sealing, the message when opening. Zeroed if the message is forged, unchanged
    /// after an error.
    pub output: *mut u8,
    /// Space at `output`: at least `sealcomb_algorithm_ciphertext_bytes` when sealing, at least
    /// `sealcomb_algorithm_max_message_bytes` when opening, and at least `input_bytes` when opening in place. Space
    /// beyond the result is not written. When opening, it must be the exact message size if
    /// `sealcomb_algorithm_needs_message_bytes` is true for the algorithm.
    pub output_bytes: usize,
    /// The tag: written when sealing, unchanged after an error; only read when opening.
    pub tag: *mut u8,
    /// Size of the tag: `sealcomb_key_tag_bytes`.
    pub tag_bytes: usize,
    /// Set by the call: size of the result at `output`; 0 after a failure.
    pub written: MaybeUninit<usize>,
    /// Set by the call: the result of the job.
    pub status: MaybeUninit<sealcomb_status>,
    /// 0 or `SEALCOMB_AAD_STRINGS`. Later versions may append fields, and will still accept jobs of this size.
    pub flags: u32,
}

/// Flag of a job: each of the `aad_parts` is a separate associated string of AES-SIV (RFC 5297, section 2.4), which
/// also authenticates the boundaries between them. Without the flag, AES-SIV treats all additional data as one string.
///
/// No string (`aad_part_count` 0) and one empty string yield different tags. At most 126 strings, including the nonce.
/// `aad_bytes` must be 0. Other algorithms refuse the flag.
pub const SEALCOMB_AAD_STRINGS: u32 = 1;

/// Why a job was not added to a flight.
pub(crate) enum Refusal {
    Mistake(sealcomb_status),
    /// The pool has too little space left.
    Full,
}

impl<T: Into<sealcomb_status>> From<T> for Refusal {
    fn from(mistake: T) -> Self {
        Self::Mistake(mistake.into())
    }
}

/// Sealing or opening.
pub(crate) trait Direction {
    type Job<'a>: Prepared;
    /// Whether the tag is written, rather than read.
    const WRITES_TAG: bool;
    /// The tag: a mutable slice when sealing, a shared slice when opening.
    type Tag<'a>;
    /// Returns the tag as a slice.
    ///
    /// # Safety
    /// `data` is valid during `'a` for reads of `bytes` bytes without concurrent writes; or, if the tag is written,
    /// for reads and writes without any other access.
    unsafe fn tag<'a>(data: *mut u8, bytes: usize) -> Self::Tag<'a>;
    /// Returns how many bytes of the output may be written.
    fn room(algorithm: Algorithm, job: &sealcomb_job) -> Result<usize, sealcomb_status>;
    /// Returns an in-place job whose message and ciphertext have the same size.
    fn in_place<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: &'a [u8],
        data: &'a mut [u8],
        tag: Self::Tag<'a>,
    ) -> Self::Job<'a>;
    /// Returns a job with separate input and output.
    fn apart<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: Aad<'a>,
        input: &'a [u8],
        output: &'a mut [u8],
        tag: Self::Tag<'a>,
    ) -> Result<Self::Job<'a>, Error>;
    /// Returns an in-place job in a buffer that may be larger than the message.
    fn in_buffer<'a>(
        key: &'a Key,
        nonce: &'a [u8],
        aad: Aad<'a>,
        buffer: &'a mut [u8],
        message_bytes: usize,
        tag: Self::Tag<'a>,
    ) -> Result<Self::Job<'a>, Error>;
    /// Processes all jobs.
    fn run(jobs: &mut [Self::Job<'_>]) -> Result<(), BatchError>;
}

/// A library job.
pub(crate) trait Prepared {
    /// Checks whether the library would accept the job.
    fn check(&self) -> Result<(), Error>;
    /// Returns the status and the number of bytes written; `None` if they were known in advance.
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
        // SAFETY: guaranteed by the caller.
        unsafe { slice::from_raw_parts_mut(data, bytes) }
    }

    fn room(algorithm: Algorithm, job: &sealcomb_job) -> Result<usize, sealcomb_status> {
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
        seal_jobs(jobs)
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
        // SAFETY: guaranteed by the caller.
        unsafe { slice::from_raw_parts(data, bytes) }
    }

    fn room(algorithm: Algorithm, job: &sealcomb_job) -> Result<usize, sealcomb_status> {
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
            // A ciphertext of an impossible size is reported as forged, which needs no output.
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
        open_jobs(jobs).map(|_| ())
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

    /// Checks the sizes and buffers, and adds the library's job to a flight, which must not be full. Returns how many
    /// bytes of the output may be written.
    ///
    /// # Safety
    /// The key is NULL or lives for `'a`. Each buffer with a length other than 0 is NULL or valid during
    /// `'a`: buffers to read for reads, with no concurrent writes; buffers to write for writes, with no other use.
    #[inline(always)]
    pub(crate) unsafe fn prepare<'a, D: Direction, const N: usize>(
        &self,
        size: usize,
        pool: &mut Pool<'a>,
        flight: &mut ArrayVec<D::Job<'a>, N>,
    ) -> Result<usize, Refusal> {
        if self.size != size || self.flags > SEALCOMB_AAD_STRINGS {
            return Err(SEALCOMB_ERROR_STRUCT_SIZE.into());
        }
        // SAFETY: guaranteed by the caller.
        let Some(sealcomb_key(key)) = (unsafe { self.key.as_ref() }) else {
            return Err(SEALCOMB_ERROR_POINTER.into());
        };
        if !self.is_simple::<D>(key.algorithm()) {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.prepare_other::<D, N>(key, pool, flight) };
        }
        // SAFETY: guaranteed by the caller; `is_simple` checked that these can be slices and that the written ones do
        // not overlap others.
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

    /// The fast check, which nearly all jobs pass: no pointer is NULL, the output has the size of the input and fits,
    /// and no written buffer may overlap another one. Jobs that fail it may still be valid.
    #[inline(always)]
    fn is_simple<D: Direction>(&self, algorithm: Algorithm) -> bool {
        let lengths =
            self.nonce_bytes | self.aad_bytes | self.input_bytes | self.output_bytes | self.tag_bytes;
        let with_output = |data, bytes| may_overlap(self.output, self.input_bytes, data, bytes);
        let with_tag = |data, bytes| D::WRITES_TAG && may_overlap(self.tag, self.tag_bytes, data, bytes);
        self.aad_parts.addr() | self.aad_part_count | self.flags as usize == 0
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

    /// Returns whether every pointer is possible for its length, and the additional data is in one piece or in
    /// several, not both.
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
            && (self.aad_parts.is_null() && self.flags == 0 || self.aad_bytes == 0)
    }

    /// Checks and adds a job that did not pass [`Self::is_simple`].
    ///
    /// # Safety
    /// See [`Self::prepare`].
    #[cold]
    unsafe fn prepare_other<'a, D: Direction, const N: usize>(
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
        // SAFETY: guaranteed by the caller; no written buffer overlaps it.
        let nonce = unsafe { read(self.nonce, self.nonce_bytes)? };
        // SAFETY: guaranteed by the caller.
        let aad = unsafe { self.additional_data(key.algorithm(), overlaps, pool)? };
        // SAFETY: guaranteed by the caller; it overlaps no other buffer.
        let output = unsafe { write(self.output, room)? };
        // An empty tag may be NULL; a slice may not.
        let tag = if self.tag_bytes == 0 { ptr::dangling_mut() } else { self.tag };
        // SAFETY: guaranteed by the caller; it overlaps no buffer that is written, and no other if it is written.
        let tag = unsafe { D::tag(tag, self.tag_bytes) };
        flight.push(if self.is_in_place() {
            let message_bytes = if D::WRITES_TAG { self.input_bytes } else { self.output_bytes };
            D::in_buffer(key, nonce, aad, output, message_bytes, tag)?
        } else {
            // SAFETY: guaranteed by the caller; no written buffer overlaps it.
            let input = unsafe { read(self.input, self.input_bytes)? };
            D::apart(key, nonce, aad, input, output, tag)?
        });
        Ok(room)
    }

    /// Returns the additional data, whether in one piece or several.
    ///
    /// # Safety
    /// See [`Self::prepare`].
    unsafe fn additional_data<'a>(
        &self,
        algorithm: Algorithm,
        overlaps: impl Fn(*const u8, usize) -> bool,
        pool: &mut Pool<'a>,
    ) -> Result<Aad<'a>, Refusal> {
        // SAFETY: guaranteed by the caller; no written buffer overlaps it.
        let aad = unsafe { read(self.aad, self.aad_bytes)? };
        if self.aad_parts.is_null() && self.flags == 0 {
            return Ok(aad.into());
        }
        // SAFETY: guaranteed by the caller.
        let parts = unsafe { read(self.aad_parts, self.aad_part_count)? };
        if overlaps(self.aad_parts.cast(), size_of_val(parts)) {
            return Err(SEALCOMB_ERROR_OVERLAP.into());
        }
        for part in parts {
            // SAFETY: guaranteed by the caller.
            unsafe { read(part.data, part.bytes)? };
            if overlaps(part.data, part.bytes) {
                return Err(SEALCOMB_ERROR_OVERLAP.into());
            }
        }
        // SAFETY: guaranteed by the caller; checked above, and no written buffer overlaps it.
        let slices = parts.iter().map(|part| unsafe { read(part.data, part.bytes) }.unwrap_or_default());
        let aad = match self.flags {
            SEALCOMB_AAD_STRINGS if !algorithm.strings() => {
                return Err(SEALCOMB_ERROR_TAKES_NO_STRINGS.into());
            }
            SEALCOMB_AAD_STRINGS => pool.strings(slices)?,
            _ => pool.joined(slices)?,
        };
        aad.map_err(|Full| Refusal::Full)
    }
}
