//! Many messages at once.

use std::mem::ManuallyDrop;

use arrayvec::ArrayVec;

use crate::job::{Direction, Open, Prepared, Refusal, Seal};
use crate::memory;
use crate::parts::Room;
use crate::sealcomb_status::{
    SEALCOMB_ERROR_INTERNAL, SEALCOMB_ERROR_JOB_SIZE, SEALCOMB_ERROR_POINTER, SEALCOMB_FORGED,
    SEALCOMB_NOT_DONE, SEALCOMB_OK,
};
use crate::{guard, sealcomb_job, sealcomb_status};

/// Jobs that are handed to the library together, on the stack: as many as fly together there.
const FLIGHT: usize = 128;
/// The most that the size of a job may become in later versions.
const MAX_JOB_BYTES: usize = 1 << 12;

/// Seals every job of a batch. Jobs may differ in key, algorithm and length. Each gets its `status` and `written`.
///
/// Where the jobs of each algorithm have one key, the call takes no memory from the heap, however many jobs there are
/// and however long; what does take some are several keys of an algorithm, a job whose `aad_parts` have more than 4096
/// bytes together, and GCM-SIV on the backend `portable`. It takes at most 64 KiB of stack with the algorithms of a
/// build without further features.
///
/// @return `SEALCOMB_OK`, or what is wrong with the first job that has a mistake in it, whose `status` says the same.
/// Nothing was written then, to no job's output, and the others are `SEALCOMB_NOT_DONE`; only where sizes of jobs are
/// wrong is nothing written to the jobs themselves.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_seal_batch(jobs: *mut sealcomb_job, count: usize) -> sealcomb_status {
    // SAFETY: the caller's promises, which the header has with the jobs, are those that are wanted.
    unsafe { Jobs { first: jobs, size: 0, count }.run::<Seal>() }
}

/// Opens every job of a batch. Each gets its `status`: `SEALCOMB_OK` where it verified, `SEALCOMB_UNAUTHENTICATED`
/// where its algorithm is a bare cipher, `SEALCOMB_FORGED` where it did not verify; then its output is zeroed. A forged
/// job changes nothing of others.
///
/// Memory and stack as for `sealcomb_seal_batch`.
///
/// @return `SEALCOMB_OK` if no job was forged, `SEALCOMB_FORGED` if one was or several; or as `sealcomb_seal_batch`,
/// what is wrong with the first job that has a mistake in it
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_open_batch(jobs: *mut sealcomb_job, count: usize) -> sealcomb_status {
    // SAFETY: the caller's promises, which the header has with the jobs, are those that are wanted.
    unsafe { Jobs { first: jobs, size: 0, count }.run::<Open>() }
}

/// The jobs of a call: an array of structures of a size that the first one tells.
#[derive(Clone, Copy)]
struct Jobs {
    first: *mut sealcomb_job,
    size: usize,
    count: usize,
}

/// A mistake in a job.
struct Mistake {
    index: usize,
    status: sealcomb_status,
}

impl Jobs {
    /// # Safety
    /// At `first` are `count` jobs, each of the size that the first has in its first field, that nobody else uses; and
    /// for each the promises of [`sealcomb_job::prepare`] hold.
    #[inline(always)]
    unsafe fn run<D: Direction>(mut self) -> sealcomb_status {
        if self.count == 0 {
            return SEALCOMB_OK;
        }
        if !memory::is_possible(self.first, self.count) {
            return SEALCOMB_ERROR_POINTER;
        }
        // SAFETY: there is a job.
        self.size = unsafe { (*self.first).size };
        if self.count > isize::MAX as usize / self.size.max(1) {
            return SEALCOMB_ERROR_POINTER;
        }
        // SAFETY: the caller's promise; the size was just read.
        match guard::or(None, || Some(unsafe { self.fly::<D>() })) {
            Some(Ok(status)) => status,
            Some(Err(mistake)) => {
                // SAFETY: the caller's promise.
                unsafe { self.refuse(&mistake) };
                mistake.status
            }
            None => {
                // SAFETY: the caller's promise; where the size is wrong, nothing panics.
                unsafe { self.spoil() };
                SEALCOMB_ERROR_INTERNAL
            }
        }
    }

    /// # Safety
    /// As for [`Self::run`].
    #[inline(always)]
    unsafe fn fly<D: Direction>(&self) -> Result<sealcomb_status, Mistake> {
        // SAFETY: the caller's promise.
        if !unsafe { self.are_of_a_known_size() } {
            return Err(Mistake { index: 0, status: SEALCOMB_ERROR_JOB_SIZE });
        }
        let (mut done, mut forged) = (0, false);
        while done < self.count {
            let mut room = Room::new();
            let mut pool = room.pool();
            // All that these jobs have is borrowed. Dropping them would be a pass over all of them that finds nothing.
            let mut flight = ManuallyDrop::new(ArrayVec::<D::Job<'_>, FLIGHT>::new());
            for index in done..self.count.min(done + FLIGHT) {
                // SAFETY: the caller's promise.
                match unsafe { self.at(index).prepare::<D, FLIGHT>(self.size, &mut pool, &mut flight) } {
                    // SAFETY: the same. Opening sets it once more.
                    Ok(room) => unsafe { self.set(index, SEALCOMB_OK, room) },
                    Err(Refusal::Full) => break,
                    Err(Refusal::Mistake(status)) => return Err(Mistake { index, status }),
                }
            }
            // Before anything is written.
            if done == 0 && flight.len() < self.count {
                // SAFETY: the same.
                unsafe { self.check::<D>() }?;
            }
            D::run(&mut flight)
                .map_err(|error| Mistake { index: done + error.index, status: error.error.into() })?;
            for (index, job) in flight.iter().enumerate() {
                let Some((status, written)) = job.result() else { break };
                forged |= status == SEALCOMB_FORGED;
                // SAFETY: the same.
                unsafe { self.set(done + index, status, written) };
            }
            done += flight.len();
        }
        Ok(if forged { SEALCOMB_FORGED } else { SEALCOMB_OK })
    }

    /// Finds the first mistake of jobs that are more than one flight.
    ///
    /// # Safety
    /// As for [`Self::run`].
    #[cold]
    unsafe fn check<D: Direction>(&self) -> Result<(), Mistake> {
        for index in 0..self.count {
            let mut room = Room::new();
            let mut alone = ArrayVec::<D::Job<'_>, 1>::new();
            // SAFETY: the caller's promise.
            let prepared = unsafe { self.at(index).prepare::<D, 1>(self.size, &mut room.pool(), &mut alone) };
            let checked = prepared.and_then(|_| Ok(alone[0].check()?));
            // All of a room is enough for a job, or it has memory of its own.
            if let Err(Refusal::Mistake(status)) = checked {
                return Err(Mistake { index, status });
            }
        }
        Ok(())
    }

    /// Whether there is a job of this version in what the first job says is a job, and nothing behind it that is of a
    /// later one.
    ///
    /// # Safety
    /// As for [`Self::run`].
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
            // SAFETY: all of the array is the caller's.
            let later = unsafe { memory::read(job.cast::<u8>().wrapping_add(KNOWN), self.size - KNOWN) };
            later.is_ok_and(|later| later.iter().all(|byte| *byte == 0))
        })
    }

    /// # Safety
    /// As for [`Self::run`], with an index below `count`, and a known size.
    #[inline(always)]
    unsafe fn at<'j>(&self, index: usize) -> &'j sealcomb_job {
        // SAFETY: the caller's promise. Nothing of a job is ever invalid; what the call sets may be anything.
        unsafe { &*self.first.byte_add(index * self.size) }
    }

    /// Sets what a call sets.
    ///
    /// # Safety
    /// As for [`Self::at`].
    #[inline(always)]
    unsafe fn set(&self, index: usize, status: sealcomb_status, written: usize) {
        // SAFETY: the caller's promise; no job is borrowed.
        unsafe {
            let job = self.first.byte_add(index * self.size);
            (*job).status.write(status);
            (*job).written.write(written);
        }
    }

    /// Says of each job that it was not done, and of one why.
    ///
    /// # Safety
    /// As for [`Self::run`].
    #[cold]
    unsafe fn refuse(&self, mistake: &Mistake) {
        // Where one job ends and another begins is not sure then.
        if mistake.status == SEALCOMB_ERROR_JOB_SIZE {
            return;
        }
        for index in 0..self.count {
            let status = if index == mistake.index { mistake.status } else { SEALCOMB_NOT_DONE };
            // SAFETY: the caller's promise; the size is right.
            unsafe { self.set(index, status, 0) };
        }
    }

    /// After a panic: nothing of what may have been decrypted stays.
    ///
    /// # Safety
    /// As for [`Self::at`].
    #[cold]
    unsafe fn spoil(&self) {
        for index in 0..self.count {
            // SAFETY: the caller's promise.
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
