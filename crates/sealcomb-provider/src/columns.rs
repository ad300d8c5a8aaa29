//! The arrays that OpenSSL passes to pipelines.

use std::{ptr, slice};

use arrayvec::ArrayVec;

use crate::data::Buffers;

/// Maximum number of messages per call. OpenSSL 4.0 passes at most 32 (`EVP_MAX_PIPES`).
pub(crate) const MESSAGES: usize = 128;

/// The arrays of an update: one entry per message. Each array may be NULL.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) count: usize,
    pub(crate) inputs: *const *const u8,
    pub(crate) input_bytes: *const usize,
    pub(crate) outputs: *const *mut u8,
    pub(crate) rooms: *const usize,
}

/// Returns an entry of an array, or `otherwise` if there is no array.
///
/// # Safety
/// The array is NULL or has more than `index` entries.
unsafe fn entry_of<T: Copy>(array: *const T, index: usize, otherwise: T) -> T {
    // SAFETY: guaranteed by the caller.
    if array.is_null() { otherwise } else { unsafe { *array.add(index) } }
}

impl Columns {
    /// Returns the columns of empty messages.
    pub(crate) fn empty(count: usize) -> Self {
        Self {
            count,
            inputs: ptr::null(),
            input_bytes: ptr::null(),
            outputs: ptr::null(),
            rooms: ptr::null(),
        }
    }

    /// Returns the buffers of a message; NULL and 0 where there is no array.
    ///
    /// # Safety
    /// Each array is NULL or has more than `index` entries.
    pub(crate) unsafe fn at(&self, index: usize) -> Buffers {
        // SAFETY: guaranteed by the caller.
        unsafe {
            Buffers {
                input: entry_of(self.inputs, index, ptr::null()),
                count: entry_of(self.input_bytes, index, 0),
                output: entry_of(self.outputs, index, ptr::null_mut()),
                room: entry_of(self.rooms, index, 0),
            }
        }
    }

    /// Moves all inputs to their outputs, and returns the outputs. Returns `None`, and nothing is written, if a
    /// buffer is NULL or an output is too small.
    ///
    /// # Safety
    /// See [`Columns::at`]. The inputs are valid for reads and the outputs for writes as long as
    /// the slices are used, with no other use.
    #[inline(always)]
    pub(crate) unsafe fn fill(&self, messages: &mut ArrayVec<&mut [u8], MESSAGES>) -> Option<()> {
        // SAFETY: guaranteed by the caller. The slice of an empty message is valid for any pointer.
        unsafe {
            if !(0..self.count).all(|index| self.at(index).is_possible()) {
                return None;
            }
            for index in 0..self.count {
                let Buffers { input, count, output, .. } = self.at(index);
                if count > 0 && !ptr::eq(input, output) {
                    ptr::copy(input, output, count);
                }
                messages.push(if count == 0 { &mut [] } else { slice::from_raw_parts_mut(output, count) });
            }
        }
        Some(())
    }
}
