//! Buffers next to an inaccessible page.

use std::ops::{Deref, DerefMut};

use region::{Allocation, Protection};

/// Fills the accessible bytes outside of the buffer.
const REST: u8 = 0xE9;

/// A buffer between two inaccessible pages, adjacent to one of them.
pub(crate) struct Guarded {
    allocation: Allocation,
    /// Offset of the buffer in the allocation, which begins with a guard page.
    pub(crate) start: usize,
    bytes: usize,
}

impl Guarded {
    pub(crate) fn new(bytes: &[u8], at_end: bool) -> Self {
        let page = region::page::size();
        let room = bytes.len().next_multiple_of(page);
        let mut allocation = region::alloc(room + 2 * page, Protection::READ_WRITE).expect("memory");
        let start = if at_end { page + room - bytes.len() } else { page };
        let first = allocation.as_mut_ptr::<u8>();
        // SAFETY: the whole allocation is still writable, and there are no references to it.
        unsafe { first.write_bytes(REST, room + 2 * page) };
        for guard in [first, first.wrapping_add(page + room)] {
            // SAFETY: the pages belong to the allocation, and there are no references to them.
            unsafe { region::protect(guard, page, Protection::NONE) }.expect("a page that can be protected");
        }
        let mut guarded = Self { allocation, start, bytes: bytes.len() };
        guarded.copy_from_slice(bytes);
        guarded
    }

    /// Returns the pages between the guards.
    fn inner(&self) -> &[u8] {
        let page = region::page::size();
        // SAFETY: these pages are readable and initialized.
        unsafe {
            std::slice::from_raw_parts(
                self.allocation.as_ptr::<u8>().add(page),
                self.allocation.len() - 2 * page,
            )
        }
    }
}

impl Deref for Guarded {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let start = self.start - region::page::size();
        &self.inner()[start..start + self.bytes]
    }
}

impl DerefMut for Guarded {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the buffer is between the guards, and the borrow is that of the allocation.
        unsafe {
            std::slice::from_raw_parts_mut(self.allocation.as_mut_ptr::<u8>().add(self.start), self.bytes)
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let start = self.start - region::page::size();
        let inner = self.inner();
        let rest = [&inner[..start], &inner[start + self.bytes..]].concat();
        assert!(rest.iter().all(|byte| *byte == REST), "bytes outside of a buffer were written");
    }
}
