//! Batches of messages.

use std::mem::ManuallyDrop;

use arrayvec::ArrayVec;

use crate::job::{Direction, Open, Prepared, Refusal, Seal};
use crate::memory;
use crate::parts::Room;
use crate::sealcomb_status::{
    SEALCOMB_ERROR_INTERNAL, SEALCOMB_ERROR_POINTER, SEALCOMB_ERROR_STRUCT_SIZE, SEALCOMB_NOT_DONE,
    SEALCOMB_OK,
};
use crate::{guard, sealcomb_job, sealcomb_status};

/// Jobs passed to the library in one call, held on the stack: as many as it keeps in flight.
const FLIGHT: usize = 128;
/// Maximum job size in bytes that this version accepts from programs compiled with a later header.
const MAX_JOB_BYTES: usize = 1 << 12;

/// Seals every job of a batch and sets each job's `status` and `written`. Jobs may differ in key, algorithm and
/// length.
///
/// All jobs are checked before anything is sealed: either all of them are processed, or none.
///
/// Memory: no heap allocation if all jobs of an algorithm share one key, regardless of the number and size of the
/// jobs. Four cases allocate: several keys of one algorithm, a job whose `aad_parts` exceed 4096 bytes in total, GCM-SIV
/// and XAES-256-GCM on the backend `portable`, and the first batch under a key of `sealcomb_key_new_many`. The call uses
/// at most 64 KiB of stack with the algorithms of a build without optional features.
///
/// Threads: calls may run concurrently and share keys, but not jobs or output buffers.
///
/// @param jobs array of `count` jobs; may be NULL if `count` is 0
/// @param count number of jobs
/// @retval SEALCOMB_OK all jobs were sealed
/// @retval SEALCOMB_ERROR_STRUCT_SIZE a job has an unsupported size or an unknown flag; nothing was
/// written to any output or tag, and `status` and `written` of all jobs are unspecified
/// @retval SEALCOMB_ERROR_POINTER a job has an invalid pointer or length; or `jobs` itself is NULL, misaligned, or
/// too large, in which case nothing was written at all
/// @retval SEALCOMB_ERROR_INTERNAL a bug in the library; discard all outputs and tags
/// @return any other error: that of the first invalid job. No output or tag was written. That job's `status` is the
/// error, all others are `SEALCOMB_NOT_DONE`, and `written` is 0
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_seal_jobs(jobs: *mut sealcomb_job, count: usize) -> sealcomb_status {
    // SAFETY: the header requires of the jobs what `run` does.
    unsafe { Jobs { first: jobs, size: 0, count }.run::<Seal>() }
}

/// Opens every job of a batch and sets each job's `status` and `written`. Jobs may differ in key, algorithm and
/// length.
///
/// A job's `status` is `SEALCOMB_OK` if its message is authentic, `SEALCOMB_FORGED` if it is not (its output is
/// zeroed and `written` is 0), and `SEALCOMB_UNAUTHENTICATED` for an unauthenticated cipher. A forged job does not
/// affect the others.
///
/// All jobs are checked before anything is opened. Tags are compared in constant time. Memory and threads: see
/// `sealcomb_seal_jobs`.
///
/// @param jobs array of `count` jobs; may be NULL if `count` is 0
/// @param count number of jobs
/// @retval SEALCOMB_OK all messages are authentic
/// @retval SEALCOMB_FORGED at least one job was forged: see each job's `status`
/// @retval SEALCOMB_UNAUTHENTICATED no job was forged, but at least one was decrypted with an unauthenticated cipher,
/// so that nothing was verified: see each job's `status`
/// @retval SEALCOMB_ERROR_STRUCT_SIZE a job has an unsupported size or an unknown flag; nothing was
/// written to any output, and `status` and `written` of all jobs are unspecified
/// @retval SEALCOMB_ERROR_POINTER a job has an invalid pointer or length; or `jobs` itself is NULL, misaligned, or
/// too large, in which case nothing was written at all
/// @retval SEALCOMB_ERROR_INTERNAL a bug in the library; all outputs are zeroed
/// @return any other error: that of the first invalid job. No output was written. That job's `status` is the error,
/// all others are `SEALCOMB_NOT_DONE`, and `written` is 0
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_open_jobs(jobs: *mut sealcomb_job, count: usize) -> sealcomb_status {
    // SAFETY: the header requires of the jobs what `run` does.
    unsafe { Jobs { first: jobs, size: 0, count }.run::<Open>() }
}

/// Checks a job as sealing or opening it would, and writes nothing.
///
/// # Safety
/// See [`sealcomb_seal_jobs`].
pub(crate) unsafe fn check<D: Direction>(job: &mut sealcomb_job) -> sealcomb_status {
    let jobs = Jobs { size: job.size, first: job, count: 1 };
    // SAFETY: guaranteed by the caller.
    guard::status(|| unsafe { jobs.check::<D>() }.map_or_else(|mistake| mistake.status, |()| SEALCOMB_OK))
}

/// The jobs of a call: an array of structures whose size is in the first one's `size`.
#[derive(Clone, Copy)]
struct Jobs {
    first: *mut sealcomb_job,
    size: usize,
    count: usize,
}

/// An invalid job.
struct Mistake {
    index: usize,
    status: sealcomb_status,
}

impl Jobs {
    /// Checks and processes all jobs.
    ///
    /// # Safety
    /// `first` points to `count` jobs of the size in the first one's `size`, not used concurrently. Each meets the
    /// requirements of [`sealcomb_job::prepare`].
    #[inline(always)]
    unsafe fn run<D: Direction>(mut self) -> sealcomb_status {
        if self.count == 0 {
            return SEALCOMB_OK;
        }
        if !memory::is_possible(self.first, self.count) {
            return SEALCOMB_ERROR_POINTER;
        }
        // SAFETY: the array has at least one job.
        self.size = unsafe { (*self.first).size };
        // `process` refuses larger sizes, with another status.
        if self.count > isize::MAX as usize / self.size.clamp(1, MAX_JOB_BYTES) {
            return SEALCOMB_ERROR_POINTER;
        }
        // SAFETY: guaranteed by the caller; the size was just read.
        match guard::or(None, || Some(unsafe { self.process::<D>() })) {
            Some(Ok(status)) => status,
            Some(Err(mistake)) => {
                // SAFETY: guaranteed by the caller.
                unsafe { self.refuse(&mistake) };
                mistake.status
            }
            None => {
                // SAFETY: guaranteed by the caller; the size is valid, as checking it does not panic.
                unsafe { self.discard() };
                SEALCOMB_ERROR_INTERNAL
            }
        }
    }

    /// Checks all jobs, then processes them flight by flight.
    ///
    /// # Safety
    /// See [`Self::run`].
    #[inline(always)]
    unsafe fn process<D: Direction>(&self) -> Result<sealcomb_status, Mistake> {
        // SAFETY: guaranteed by the caller.
        if !unsafe { self.are_of_a_known_size() } {
            return Err(Mistake { index: 0, status: SEALCOMB_ERROR_STRUCT_SIZE });
        }
        let (mut done, mut worst) = (0, SEALCOMB_OK);
        while done < self.count {
            let mut room = Room::new();
            let mut pool = room.pool();
            // The jobs own nothing: `ManuallyDrop` saves a pass over them that would drop nothing.
            let mut flight = ManuallyDrop::new(ArrayVec::<D::Job<'_>, FLIGHT>::new());
            for index in done..self.count.min(done + FLIGHT) {
                // SAFETY: guaranteed by the caller.
                match unsafe { self.at(index).prepare::<D, FLIGHT>(self.size, &mut pool, &mut flight) } {
                    // SAFETY: guaranteed by the caller. Opening overwrites it with the verdict.
                    Ok(room) => unsafe { self.set(index, SEALCOMB_OK, room) },
                    Err(Refusal::Full) => break,
                    Err(Refusal::Mistake(status)) => {
                        let found = Mistake { index, status };
                        // SAFETY: guaranteed by the caller.
                        return Err(unsafe { self.first_mistake::<D>(found) });
                    }
                }
            }
            // A later flight may have an invalid job: find it before anything is written.
            if done == 0 && flight.len() < self.count {
                // SAFETY: guaranteed by the caller.
                unsafe { self.check::<D>() }?;
            }
            D::run(&mut flight)
                .map_err(|error| Mistake { index: done + error.index(), status: error.error().into() })?;
            for (index, job) in flight.iter().enumerate() {
                let Some((status, written)) = job.result() else { break };
                worst = worst.or(status);
                // SAFETY: guaranteed by the caller.
                unsafe { self.set(done + index, status, written) };
            }
            done += flight.len();
        }
        Ok(worst)
    }

    /// Returns the first mistake of a batch, given one that was found before the library checked the sizes of the
    /// preceding jobs.
    ///
    /// # Safety
    /// See [`Self::run`].
    #[cold]
    unsafe fn first_mistake<D: Direction>(&self, found: Mistake) -> Mistake {
        // The boundaries between jobs are unknown then.
        if found.status == SEALCOMB_ERROR_STRUCT_SIZE {
            return found;
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.check::<D>() }.err().unwrap_or(found)
    }

    /// Finds the first invalid job.
    ///
    /// # Safety
    /// See [`Self::run`].
    #[cold]
    unsafe fn check<D: Direction>(&self) -> Result<(), Mistake> {
        for index in 0..self.count {
            let mut room = Room::new();
            let mut single = ArrayVec::<D::Job<'_>, 1>::new();
            // SAFETY: guaranteed by the caller.
            let prepared =
                unsafe { self.at(index).prepare::<D, 1>(self.size, &mut room.pool(), &mut single) };
            let checked = prepared.and_then(|_| Ok(single[0].check()?));
            // `Refusal::Full` cannot occur: an unused `Room` has space for any job, or the job goes to the heap.
            if let Err(Refusal::Mistake(status)) = checked {
                return Err(Mistake { index, status });
            }
        }
        Ok(())
    }

    /// Returns whether jobs have this version's size, or are larger with all later fields 0.
    ///
    /// # Safety
    /// See [`Self::run`].
    unsafe fn are_of_a_known_size(&self) -> bool {
        const KNOWN: usize = size_of::<sealcomb_job>();
        if self.size == KNOWN {
            return true;
        }
        if !(KNOWN..=MAX_JOB_BYTES).contains(&self.size)
            || !self.size.is_multiple_of(align_of::<sealcomb_job>())
        {
            return false;
        }
        (0..self.count).all(|index| {
            let job = self.first.wrapping_byte_add(index * self.size);
            // SAFETY: within the array, guaranteed by the caller.
            let later = unsafe { memory::read(job.cast::<u8>().wrapping_add(KNOWN), self.size - KNOWN) };
            later.is_ok_and(|later| later.iter().all(|byte| *byte == 0))
        })
    }

    /// Returns a job.
    ///
    /// # Safety
    /// See [`Self::run`]; `index` is below `count`, and the size is valid.
    #[inline(always)]
    unsafe fn at<'j>(&self, index: usize) -> &'j sealcomb_job {
        // SAFETY: guaranteed by the caller. Any bytes are a valid job: the fields that calls set are `MaybeUninit`.
        unsafe { &*self.first.byte_add(index * self.size) }
    }

    /// Sets a job's result.
    ///
    /// # Safety
    /// See [`Self::at`].
    #[inline(always)]
    unsafe fn set(&self, index: usize, status: sealcomb_status, written: usize) {
        // SAFETY: guaranteed by the caller; no job is borrowed.
        unsafe {
            let job = self.first.byte_add(index * self.size);
            (*job).status.write(status);
            (*job).written.write(written);
        }
    }

    /// Sets the error of the invalid job, and [`SEALCOMB_NOT_DONE`] for all others.
    ///
    /// # Safety
    /// See [`Self::run`].
    #[cold]
    unsafe fn refuse(&self, mistake: &Mistake) {
        // The boundaries between jobs are unknown then.
        if mistake.status == SEALCOMB_ERROR_STRUCT_SIZE {
            return;
        }
        for index in 0..self.count {
            let status = if index == mistake.index { mistake.status } else { SEALCOMB_NOT_DONE };
            // SAFETY: guaranteed by the caller; the size is valid.
            unsafe { self.set(index, status, 0) };
        }
    }

    /// Zeroizes all outputs after a panic, as they may contain unverified plaintext.
    ///
    /// # Safety
    /// See [`Self::at`].
    #[cold]
    unsafe fn discard(&self) {
        for index in 0..self.count {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let job = self.at(index);
                if let Ok(output) = memory::write(job.output, job.output_bytes) {
                    output.fill(0);
                }
                self.set(index, SEALCOMB_ERROR_INTERNAL, 0);
            }
        }
    }
}
