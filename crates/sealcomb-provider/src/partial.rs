//! Bytes of a message that do not fill a block yet.

use std::{ptr, slice};

use zeroize::Zeroizing;

use crate::data::Buffers;

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

    /// Returns whether the bytes fit into the output.
    pub(crate) fn fits(&self, buffers: &Buffers) -> bool {
        self.count == 0 || (self.count <= buffers.room && !buffers.output.is_null())
    }

    /// Copies the bytes to the output, and returns their number; `None` if they do not fit.
    ///
    /// # Safety
    /// The output is valid for writes of its size.
    pub(crate) unsafe fn write_to(&self, buffers: &Buffers) -> Option<usize> {
        if !self.fits(buffers) {
            return None;
        }
        // SAFETY: guaranteed by the caller.
        unsafe { ptr::copy_nonoverlapping(self.block.as_ptr(), buffers.output, self.count) };
        Some(self.count)
    }

    /// Returns whether [`Partial::join`] accepts these buffers.
    pub(crate) fn can_join(buffers: &Buffers, whole: usize) -> bool {
        let Buffers { input, count, output, room } = *buffers;
        isize::try_from(count).is_ok()
            && whole <= room
            && (count == 0 || !input.is_null())
            && (whole == 0 || !output.is_null())
    }

    /// Moves `whole` bytes of the buffered bytes and the input to the output, and buffers the remainder. Returns the
    /// moved bytes; `None` if a buffer is NULL or the output is too small.
    ///
    /// `whole` is 0 or at least the number of buffered bytes, and the remainder fits into a block.
    ///
    /// # Safety
    /// See [`Buffers::data`].
    pub(crate) unsafe fn join<'a>(&mut self, buffers: Buffers, whole: usize) -> Option<&'a mut [u8]> {
        if !Self::can_join(&buffers, whole) {
            return None;
        }
        let Buffers { input, count, output, .. } = buffers;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if whole == 0 {
                ptr::copy_nonoverlapping(input, self.block[self.count..].as_mut_ptr(), count);
                self.count += count;
                return Some(&mut []);
            }
            let taken = whole - self.count;
            let left = count - taken;
            let mut next = Zeroizing::new([0; BLOCK]);
            ptr::copy_nonoverlapping(input.add(taken), next.as_mut_ptr(), left);
            ptr::copy(input, output.add(self.count), taken);
            ptr::copy_nonoverlapping(self.block.as_ptr(), output, self.count);
            *self = Self { block: next, count: left };
            Some(slice::from_raw_parts_mut(output, whole))
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
