//! Bytes of a message that do not fill a block yet.

use std::{ptr, slice};

use zeroize::Zeroizing;

use crate::data::Buffers;
use crate::errors::{Outcome, Refused};

pub(crate) const BLOCK: usize = 16;

/// At most one block of buffered bytes.
#[derive(Clone, Default)]
pub(crate) struct Partial {
    pub(crate) block: Zeroizing<[u8; BLOCK]>,
    pub(crate) count: usize,
}

impl Partial {
    /// Returns the buffered bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.block[..self.count]
    }

    /// Returns the buffered bytes.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.block[..self.count]
    }

    /// Refuses an output into which the bytes do not fit.
    pub(crate) fn check_room(&self, buffers: &Buffers) -> Outcome {
        if self.count == 0 || (self.count <= buffers.room && !buffers.output.is_null()) {
            Ok(())
        } else {
            Err(Refused::OUTPUT_BUFFER_TOO_SMALL)
        }
    }

    /// Copies the bytes to the output, and returns their number. Refuses an output into which they do not fit.
    ///
    /// # Safety
    /// The output is valid for writes of its size.
    pub(crate) unsafe fn write_to(&self, buffers: &Buffers) -> Outcome<usize> {
        self.check_room(buffers)?;
        // SAFETY: guaranteed by the caller.
        unsafe { ptr::copy_nonoverlapping(self.block.as_ptr(), buffers.output, self.count) };
        Ok(self.count)
    }

    /// Refuses buffers that [`Partial::join`] refuses.
    pub(crate) fn check(buffers: &Buffers, whole: usize) -> Outcome {
        let Buffers { input, count, output, room } = *buffers;
        if whole > room {
            return Err(Refused::OUTPUT_BUFFER_TOO_SMALL);
        }
        let has_input = count == 0 || (!input.is_null() && isize::try_from(count).is_ok());
        let has_output = whole == 0 || !output.is_null();
        if has_input && has_output { Ok(()) } else { Err(Refused::CIPHER_OPERATION_FAILED) }
    }

    /// Moves `whole` bytes of the buffered bytes and the input to the output, and buffers the remainder. Returns the
    /// moved bytes. Refuses NULL, and too small an output.
    ///
    /// `whole` is 0 or at least the number of buffered bytes, and the remainder fits into a block.
    ///
    /// # Safety
    /// See [`Buffers::data`].
    pub(crate) unsafe fn join<'a>(&mut self, buffers: Buffers, whole: usize) -> Outcome<&'a mut [u8]> {
        Self::check(&buffers, whole)?;
        let Buffers { input, count, output, .. } = buffers;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if whole == 0 {
                ptr::copy_nonoverlapping(input, self.block[self.count..].as_mut_ptr(), count);
                self.count += count;
                return Ok(&mut []);
            }
            let taken = whole - self.count;
            let left = count - taken;
            let mut next = Zeroizing::new([0; BLOCK]);
            ptr::copy_nonoverlapping(input.add(taken), next.as_mut_ptr(), left);
            ptr::copy(input, output.add(self.count), taken);
            ptr::copy_nonoverlapping(self.block.as_ptr(), output, self.count);
            *self = Self { block: next, count: left };
            Ok(slice::from_raw_parts_mut(output, whole))
        }
    }
}

impl AsRef<[u8]> for Partial {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl AsMut<[u8]> for Partial {
    fn as_mut(&mut self) -> &mut [u8] {
        self.bytes_mut()
    }
}
