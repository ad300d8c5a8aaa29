//! The buffers of a call that OpenSSL makes.

use std::{ptr, slice};

use crate::openssl::bytes;

/// An input and an output as OpenSSL gives them: either may be NULL, and they may overlap.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    pub(crate) input: *const u8,
    /// Bytes of the input.
    pub(crate) count: usize,
    pub(crate) output: *mut u8,
    /// Bytes that the output has room for.
    pub(crate) room: usize,
}

/// A piece of a message, in place or from one place to another.
pub(crate) enum Data<'a> {
    InPlace(&'a mut [u8]),
    Apart(&'a [u8], &'a mut [u8]),
}

impl Buffers {
    /// The additional data, which come without an output.
    ///
    /// # Safety
    /// So many bytes can be read at the input, and stay as they are for `'a`.
    pub(crate) unsafe fn aad<'a>(&self) -> Option<&'a [u8]> {
        if self.count == 0 {
            return Some(&[]);
        }
        // SAFETY: the caller's promise.
        unsafe { bytes(self.input, self.count) }
    }

    /// The piece of a message. None where there is no input or no output, or too little room.
    ///
    /// # Safety
    /// So many bytes can be read at the input and written at the output, and are nobody else's for `'a`.
    pub(crate) unsafe fn data<'a>(&self) -> Option<Data<'a>> {
        let Self { input, count, output, room } = *self;
        if count > room || isize::try_from(count).is_err() {
            return None;
        }
        if count == 0 {
            return Some(Data::InPlace(&mut []));
        }
        if input.is_null() || output.is_null() {
            return None;
        }
        // SAFETY: the caller's promise. Where they overlap, the bytes are moved first, and then are in place.
        unsafe {
            if (input as usize).abs_diff(output as usize) < count {
                ptr::copy(input, output, count);
                return Some(Data::InPlace(slice::from_raw_parts_mut(output, count)));
            }
            Some(Data::Apart(slice::from_raw_parts(input, count), slice::from_raw_parts_mut(output, count)))
        }
    }

    /// The record of TLS, which OpenSSL gives in place.
    ///
    /// # Safety
    /// So many bytes can be read and written at the output, and are nobody else's for `'a`.
    pub(crate) unsafe fn record<'a>(&self) -> Option<&'a mut [u8]> {
        let Self { input, count, output, .. } = *self;
        if input.is_null() || !ptr::eq(input, output) || isize::try_from(count).is_err() {
            return None;
        }
        // SAFETY: the caller's promise.
        Some(unsafe { slice::from_raw_parts_mut(output, count) })
    }
}

impl Data<'_> {
    pub(crate) fn input(&self) -> &[u8] {
        match self {
            Self::InPlace(data) => data,
            Self::Apart(input, _) => input,
        }
    }
}
