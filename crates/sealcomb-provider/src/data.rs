//! The buffers of a call by OpenSSL.

use std::{ptr, slice};

use crate::openssl::bytes;

/// Input and output of a call. Either may be NULL, and they may overlap.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    pub(crate) input: *const u8,
    /// Size of the input in bytes.
    pub(crate) count: usize,
    pub(crate) output: *mut u8,
    /// Space at the output in bytes.
    pub(crate) room: usize,
}

/// A piece of a message, in place or with separate buffers.
pub(crate) enum Data<'a> {
    InPlace(&'a mut [u8]),
    Apart(&'a [u8], &'a mut [u8]),
}

impl Buffers {
    /// Returns the input as additional data.
    ///
    /// # Safety
    /// The input is valid for reads during `'a`, with no concurrent writes.
    pub(crate) unsafe fn aad<'a>(&self) -> Option<&'a [u8]> {
        if self.count == 0 {
            return Some(&[]);
        }
        // SAFETY: guaranteed by the caller.
        unsafe { bytes(self.input, self.count) }
    }

    /// Returns whether the buffers can be a piece of a message: none of them is NULL unless the piece is empty, and
    /// the output is large enough.
    pub(crate) fn is_possible(&self) -> bool {
        let Self { input, count, output, room } = *self;
        count == 0
            || (count <= room && isize::try_from(count).is_ok() && !input.is_null() && !output.is_null())
    }

    /// Returns the buffers as a piece of a message; `None` if one of them is NULL or the output is too small. Partly
    /// overlapping input is first moved to the output.
    ///
    /// # Safety
    /// The input is valid for reads and the output for writes during `'a`, with no other use.
    pub(crate) unsafe fn data<'a>(&self) -> Option<Data<'a>> {
        let Self { input, count, output, .. } = *self;
        if !self.is_possible() {
            return None;
        }
        if count == 0 {
            return Some(Data::InPlace(&mut []));
        }
        // SAFETY: guaranteed by the caller. Overlapping buffers become one, so the slices do not alias.
        unsafe {
            if (input as usize).abs_diff(output as usize) < count {
                ptr::copy(input, output, count);
                return Some(Data::InPlace(slice::from_raw_parts_mut(output, count)));
            }
            Some(Data::Apart(slice::from_raw_parts(input, count), slice::from_raw_parts_mut(output, count)))
        }
    }

    /// Returns the buffer of a TLS record, which OpenSSL passes in place; `None` if the buffers differ.
    ///
    /// # Safety
    /// The output is valid for reads and writes during `'a`, with no other use.
    pub(crate) unsafe fn record<'a>(&self) -> Option<&'a mut [u8]> {
        let Self { input, count, output, .. } = *self;
        if input.is_null() || !ptr::eq(input, output) || isize::try_from(count).is_err() {
            return None;
        }
        // SAFETY: guaranteed by the caller.
        Some(unsafe { slice::from_raw_parts_mut(output, count) })
    }
}

impl<'a> Data<'a> {
    /// Returns the first `count` bytes and the others.
    pub(crate) fn split_at(self, count: usize) -> (Self, Self) {
        match self {
            Self::InPlace(data) => {
                let (first, rest) = data.split_at_mut(count);
                (Self::InPlace(first), Self::InPlace(rest))
            }
            Self::Apart(input, output) => {
                let (first_output, output) = output.split_at_mut(count);
                let (first_input, input) = input.split_at(count);
                (Self::Apart(first_input, first_output), Self::Apart(input, output))
            }
        }
    }

    /// Copies the input to the output, unless it is there, and returns the output.
    pub(crate) fn move_in_place(self) -> &'a mut [u8] {
        match self {
            Self::InPlace(data) => data,
            Self::Apart(input, output) => {
                output.copy_from_slice(input);
                output
            }
        }
    }
}

impl Data<'_> {
    pub(crate) fn reborrow(&mut self) -> Data<'_> {
        match self {
            Self::InPlace(data) => Data::InPlace(data),
            Self::Apart(input, output) => Data::Apart(input, output),
        }
    }

    pub(crate) fn output(&self) -> &[u8] {
        match self {
            Self::InPlace(data) => data,
            Self::Apart(_, output) => output,
        }
    }

    /// Returns the input, which in place is the output as well.
    pub(crate) fn input(&self) -> &[u8] {
        match self {
            Self::InPlace(data) => data,
            Self::Apart(input, _) => input,
        }
    }
}
