//! The buffers of a call by OpenSSL.

use std::{ptr, slice};

use crate::errors::{Outcome, Refused};
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
    /// The buffers of an empty message.
    pub(crate) const EMPTY: Self = Self { input: ptr::null(), count: 0, output: ptr::null_mut(), room: 0 };

    /// Refuses an output that is smaller than the input.
    pub(crate) fn check_room(&self) -> Outcome {
        if self.count <= self.room { Ok(()) } else { Err(Refused::OUTPUT_BUFFER_TOO_SMALL) }
    }

    /// Returns the input as additional data. Refuses NULL.
    ///
    /// # Safety
    /// The input is valid for reads during `'a`, with no concurrent writes.
    pub(crate) unsafe fn aad<'a>(&self) -> Outcome<&'a [u8]> {
        if self.count == 0 {
            return Ok(&[]);
        }
        // SAFETY: guaranteed by the caller.
        unsafe { bytes(self.input, self.count) }.ok_or(Refused::CIPHER_OPERATION_FAILED)
    }

    /// Refuses buffers that cannot be a piece of a message: one of them is NULL although the piece is not empty, or the
    /// output is too small.
    pub(crate) fn check(&self) -> Outcome {
        self.check_room()?;
        let Self { input, count, output, .. } = *self;
        if count == 0 || (isize::try_from(count).is_ok() && !input.is_null() && !output.is_null()) {
            Ok(())
        } else {
            Err(Refused::CIPHER_OPERATION_FAILED)
        }
    }

    /// Returns the buffers as a piece of a message, as far as [`Buffers::check`] allows. Partly overlapping input is
    /// first moved to the output, so callers refuse the message before, if they do.
    ///
    /// # Safety
    /// The input is valid for reads and the output for writes during `'a`, with no other use.
    pub(crate) unsafe fn data<'a>(&self) -> Outcome<Data<'a>> {
        let Self { input, count, output, .. } = *self;
        self.check()?;
        if count == 0 {
            return Ok(Data::InPlace(&mut []));
        }
        // SAFETY: guaranteed by the caller. Overlapping buffers become one, so the slices do not alias.
        unsafe {
            if (input as usize).abs_diff(output as usize) < count {
                ptr::copy(input, output, count);
                return Ok(Data::InPlace(slice::from_raw_parts_mut(output, count)));
            }
            Ok(Data::Apart(slice::from_raw_parts(input, count), slice::from_raw_parts_mut(output, count)))
        }
    }

    /// Returns the buffer of a TLS record, which OpenSSL passes in place. Refuses buffers that differ.
    ///
    /// # Safety
    /// The output is valid for reads and writes during `'a`, with no other use.
    pub(crate) unsafe fn record<'a>(&self) -> Outcome<&'a mut [u8]> {
        let Self { input, count, output, .. } = *self;
        if input.is_null() || !ptr::eq(input, output) || isize::try_from(count).is_err() {
            return Err(Refused::CIPHER_OPERATION_FAILED);
        }
        // SAFETY: guaranteed by the caller.
        Ok(unsafe { slice::from_raw_parts_mut(output, count) })
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
