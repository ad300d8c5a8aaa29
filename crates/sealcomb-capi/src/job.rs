//! A job as C has it, and the library's job that is made of it.

use std::mem::MaybeUninit;

use sealcomb::{Aad, Algorithm, BatchError, Key, OpenJob, SealJob, open_batch, seal_batch};

use crate::memory::{overlap, read, write};
use crate::parts::{Full, Pool};
use crate::sealcomb_status::{
    SEALCOMB_ERROR_JOB_SIZE, SEALCOMB_ERROR_OUTPUT_TOO_SHORT, SEALCOMB_ERROR_OVERLAP, SEALCOMB_ERROR_POINTER,
    SEALCOMB_OK,
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
/// Set all of it to 0 first, `size` to `sizeof(sealcomb_job)`, and then what there is. A pointer may be NULL where its
/// length is 0.
///
/// `output` may be `input`: then the work is done in place. Otherwise nothing that is written (the bytes of the result at
/// `output`; when sealing, `tag`) may overlap anything that is read of the same job: that is
/// `SEALCOMB_ERROR_OVERLAP`. Nor may it overlap any buffer of another job of the same batch, which is not looked for: what then
/// stands in those buffers, and whether they verify, is not defined, but no other memory is touched.
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
    /// Additional data in several pieces, as if they were one; NULL unless it is that. Then `aad_bytes` is 0. To AES-SIV
    /// each piece is a string of its own, at most 126 with the nonce, and none at all is not one that is empty
    /// (RFC 5297, section 2.4); what is in `aad` is one string.
    pub aad_parts: *const sealcomb_iovec,
    /// How many pieces there are.
    pub aad_part_count: usize,
    /// The message, or the ciphertext without its tag.
    pub input: *const u8,
    /// Bytes of the input.
    pub input_bytes: usize,
    /// Where the ciphertext goes, or the message.
    pub output: *mut u8,
    /// Bytes that may be written there: at least `sealcomb_algorithm_ciphertext_bytes` when sealing,
    /// `sealcomb_algorithm_message_bytes_at_most` when opening (in place also `input_bytes`); those beyond stay as they are. Where
    /// `sealcomb_algorithm_needs_message_bytes`, exactly the bytes of the message when opening.
    pub output_bytes: usize,
    /// Where sealing puts the tag; where opening finds it, and only reads.
    pub tag: *mut u8,
    /// Bytes of the tag: `sealcomb_key_tag_bytes`.
    pub tag_bytes: usize,
    /// Set by the call: bytes of the result at `output`; 0 if there is none.
    pub written: MaybeUninit<usize>,
    /// Set by the call: what became of the job.
    pub status: MaybeUninit<sealcomb_status>,
    /// For what may come; must be 0.
    pub reserved: [usize; 2],
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
    /// Bytes of the output that may be written.
    fn room(algorithm: &Algorithm, job: &sealcomb_job) -> Result<usize, sealcomb_status>;
    /// The library's job.
    ///
    /// # Safety
    /// As for [`sealcomb_job::prepare`], and nothing that is written overlaps what is read.
    unsafe fn job<'a>(
        job: &sealcomb_job,
        key: &'a Key,
        nonce: &'a [u8],
        aad: Aad<'a>,
        room: usize,
    ) -> Result<Self::Job<'a>, Refusal>;
    /// Does all of them.
    fn run(jobs: &mut [Self::Job<'_>]) -> Result<(), BatchError>;
}

/// A job of the library's.
pub(crate) trait Prepared {
    /// Whether the library would take it.
    fn check(&self) -> Result<(), sealcomb_status>;
    /// What became of it, and how many bytes were written.
    ///
    /// # Safety
    /// It was prepared from this job.
    unsafe fn result(&self, job: &sealcomb_job) -> (sealcomb_status, usize);
}

pub(crate) struct Seal;
pub(crate) struct Open;

impl Direction for Seal {
    type Job<'a> = SealJob<'a>;

    #[inline(always)]
    fn room(algorithm: &Algorithm, job: &sealcomb_job) -> Result<usize, sealcomb_status> {
        let room = algorithm.ciphertext_bytes(job.input_bytes);
        if room > job.output_bytes { Err(SEALCOMB_ERROR_OUTPUT_TOO_SHORT) } else { Ok(room) }
    }

    #[inline(always)]
    unsafe fn job<'a>(
        job: &sealcomb_job,
        key: &'a Key,
        nonce: &'a [u8],
        aad: Aad<'a>,
        room: usize,
    ) -> Result<SealJob<'a>, Refusal> {
        // SAFETY: the caller's promises; the tag is no part of the output.
        let (output, tag) = unsafe { (write(job.output, room)?, write(job.tag, job.tag_bytes)?) };
        if job.is_in_place() {
            return Ok(SealJob::in_buffer(key, nonce, aad, output, job.input_bytes, tag)?);
        }
        // SAFETY: the caller's promises.
        let input = unsafe { read(job.input, job.input_bytes)? };
        Ok(SealJob::new(key, nonce, aad, input, output, tag)?)
    }

    #[inline(always)]
    fn run(jobs: &mut [SealJob<'_>]) -> Result<(), BatchError> {
        seal_batch(jobs)
    }
}

impl Prepared for SealJob<'_> {
    fn check(&self) -> Result<(), sealcomb_status> {
        Ok(SealJob::check(self)?)
    }

    #[inline(always)]
    unsafe fn result(&self, job: &sealcomb_job) -> (sealcomb_status, usize) {
        // SAFETY: it has a key, or nothing could have been prepared from it.
        let sealcomb_key(key) = unsafe { &*job.key };
        (SEALCOMB_OK, key.algorithm().ciphertext_bytes(job.input_bytes))
    }
}

impl Direction for Open {
    type Job<'a> = OpenJob<'a>;

    #[inline(always)]
    fn room(algorithm: &Algorithm, job: &sealcomb_job) -> Result<usize, sealcomb_status> {
        if algorithm.needs_message_bytes() {
            return match job.is_in_place() {
                false => Ok(job.output_bytes),
                true if algorithm.ciphertext_bytes(job.output_bytes) == job.input_bytes => Ok(job.input_bytes),
                true => Err(SEALCOMB_ERROR_OUTPUT_TOO_SHORT),
            };
        }
        let room = if job.is_in_place() {
            job.input_bytes
        } else {
            // A ciphertext that no message has is forged, which takes no output.
            algorithm.message_bytes_at_most(job.input_bytes).unwrap_or(0)
        };
        if room > job.output_bytes { Err(SEALCOMB_ERROR_OUTPUT_TOO_SHORT) } else { Ok(room) }
    }

    #[inline(always)]
    unsafe fn job<'a>(
        job: &sealcomb_job,
        key: &'a Key,
        nonce: &'a [u8],
        aad: Aad<'a>,
        room: usize,
    ) -> Result<OpenJob<'a>, Refusal> {
        // SAFETY: the caller's promises; the tag is no part of the output.
        let (output, tag) = unsafe { (write(job.output, room)?, read(job.tag, job.tag_bytes)?) };
        if !job.is_in_place() {
            // SAFETY: the caller's promises.
            let input = unsafe { read(job.input, job.input_bytes)? };
            return Ok(OpenJob::new(key, nonce, aad, input, output, tag)?);
        }
        if key.algorithm().needs_message_bytes() {
            return Ok(OpenJob::in_buffer(key, nonce, aad, output, job.output_bytes, tag)?);
        }
        Ok(OpenJob::in_place(key, nonce, aad, output, tag))
    }

    #[inline(always)]
    fn run(jobs: &mut [OpenJob<'_>]) -> Result<(), BatchError> {
        open_batch(jobs).map(|_| ())
    }
}

impl Prepared for OpenJob<'_> {
    fn check(&self) -> Result<(), sealcomb_status> {
        Ok(OpenJob::check(self)?)
    }

    #[inline(always)]
    unsafe fn result(&self, _: &sealcomb_job) -> (sealcomb_status, usize) {
        (self.verdict().into(), self.message_bytes())
    }
}

impl sealcomb_job {
    #[inline(always)]
    fn is_in_place(&self) -> bool {
        self.input == self.output.cast_const()
    }

    /// The library's job, if this one's sizes and buffers can be.
    ///
    /// # Safety
    /// The key is NULL or one that lives for `'a`. Where a length is not 0, the pointer beside it is NULL, or that many
    /// bytes can be read there for `'a`, and written where that is said, and nobody else writes to them, or, where they
    /// are written, reads them.
    #[inline(always)]
    pub(crate) unsafe fn prepare<'a, D: Direction>(
        &self,
        size: usize,
        pool: &mut Pool<'a>,
    ) -> Result<D::Job<'a>, Refusal> {
        if self.size != size || self.reserved[0] | self.reserved[1] != 0 {
            return Err(SEALCOMB_ERROR_JOB_SIZE.into());
        }
        // SAFETY: the caller's promise.
        let Some(sealcomb_key(key)) = (unsafe { self.key.as_ref() }) else {
            return Err(SEALCOMB_ERROR_POINTER.into());
        };
        let room = D::room(key.algorithm(), self)?;
        if self.overlaps(room) {
            return Err(SEALCOMB_ERROR_OVERLAP.into());
        }
        // SAFETY: the caller's promise, and nothing of these is written.
        let nonce = unsafe { read(self.nonce, self.nonce_bytes)? };
        let aad = if self.aad_parts.is_null() {
            // SAFETY: the same.
            Aad::from(unsafe { read(self.aad, self.aad_bytes)? })
        } else {
            // SAFETY: the same.
            unsafe { self.parts(key.algorithm(), room, pool) }?
        };
        // SAFETY: the same.
        unsafe { D::job(self, key, nonce, aad, room) }
    }

    /// Whether something that may be written overlaps something that is not meant to change, parts aside.
    #[inline(always)]
    fn overlaps(&self, room: usize) -> bool {
        let with_output = |data, bytes| overlap(data, bytes, self.output, room);
        let with_tag = |data, bytes| overlap(data, bytes, self.tag, self.tag_bytes);
        with_output(self.nonce, self.nonce_bytes)
            | with_output(self.aad, self.aad_bytes)
            | with_output(self.tag, self.tag_bytes)
            | with_tag(self.nonce, self.nonce_bytes)
            | with_tag(self.aad, self.aad_bytes)
            | (!self.is_in_place()
                && (with_output(self.input, self.input_bytes) | with_tag(self.input, self.input_bytes)))
    }

    /// Additional data that come in parts.
    ///
    /// # Safety
    /// As for [`Self::prepare`].
    #[cold]
    unsafe fn parts<'a>(
        &self,
        algorithm: &Algorithm,
        room: usize,
        pool: &mut Pool<'a>,
    ) -> Result<Aad<'a>, Refusal> {
        if self.aad_bytes > 0 {
            return Err(SEALCOMB_ERROR_POINTER.into());
        }
        // SAFETY: the caller's promise.
        let parts = unsafe { read(self.aad_parts, self.aad_part_count)? };
        for part in parts {
            // SAFETY: the caller's promise.
            unsafe { read(part.data, part.bytes)? };
            if overlap(part.data, part.bytes, self.output, room)
                || overlap(part.data, part.bytes, self.tag, self.tag_bytes)
            {
                return Err(SEALCOMB_ERROR_OVERLAP.into());
            }
        }
        // SAFETY: just found to be readable, as far as that can be found, and not to be written.
        let slices = parts.iter().map(|part| unsafe { read(part.data, part.bytes) }.unwrap_or_default());
        let taken = if algorithm.strings { pool.strings(slices)? } else { pool.joined(slices) };
        taken.map_err(|Full| Refusal::Full)
    }
}
