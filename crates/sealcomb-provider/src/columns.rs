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
        // In place, with all arrays: the usual case, without a branch per array and message.
        // SAFETY: guaranteed by the caller.
        if let Some(outputs) = unsafe { self.in_place() } {
            messages.extend(outputs);
            return Some(());
        }
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

    /// Returns the outputs if every message is in place and not empty, and fits.
    ///
    /// # Safety
    /// See [`Columns::fill`].
    #[inline(always)]
    unsafe fn in_place<'a>(&self) -> Option<impl Iterator<Item = &'a mut [u8]> + use<'a>> {
        let Self { count, inputs, input_bytes, outputs, rooms } = *self;
        if inputs.is_null() || input_bytes.is_null() || outputs.is_null() || rooms.is_null() {
            return None;
        }
        // SAFETY: guaranteed by the caller.
        let (inputs, sizes, outputs, rooms) = unsafe {
            (
                slice::from_raw_parts(inputs, count),
                slice::from_raw_parts(input_bytes, count),
                slice::from_raw_parts(outputs, count),
                slice::from_raw_parts(rooms, count),
            )
        };
        let mut all = true;
        for (((input, bytes), output), room) in inputs.iter().zip(sizes).zip(outputs).zip(rooms) {
            all &= ptr::eq(*input, *output);
            all &= !output.is_null();
            all &= *bytes > 0;
            all &= bytes <= room;
            all &= isize::try_from(*bytes).is_ok();
        }
        // SAFETY: guaranteed by the caller.
        let slice =
            |(output, bytes): (&*mut u8, &usize)| unsafe { slice::from_raw_parts_mut(*output, *bytes) };
        all.then(|| outputs.iter().zip(sizes).map(slice))
    }
}
