//! Zeroed, contiguous memory for results, passed to Arrow without a copy.

use arrow_buffer::{Buffer, MutableBuffer};
use bytes::Bytes;
use memmap2::MmapMut;

use crate::error::Error;

/// The minimum size in bytes of memory that is mapped instead of allocated on the heap. The OS zeroes mapped pages,
/// and may use huge pages: one page fault per 2 MiB instead of 512.
const MIN_MAPPED: usize = 4 << 20;

/// Memory whose start is aligned for every Arrow type.
pub(crate) enum Memory {
    Heap(MutableBuffer),
    Pages(MmapMut),
}

impl Memory {
    /// Allocates `bytes` zeroed bytes.
    ///
    /// # Errors
    /// [`Error::Memory`] if the pages cannot be mapped.
    pub(crate) fn zeroed(bytes: usize) -> Result<Self, Error> {
        if bytes < MIN_MAPPED {
            return Ok(Self::Heap(MutableBuffer::from_len_zeroed(bytes)));
        }
        let pages = MmapMut::map_anon(bytes).map_err(|error| {
            Error::Memory(format!("cannot allocate {bytes} bytes for the result: {error}"))
        })?;
        // Huge pages are optional.
        #[cfg(target_os = "linux")]
        let _ = pages.advise(memmap2::Advice::HugePage);
        Ok(Self::Pages(pages))
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(bytes) => bytes,
        }
    }
}

impl From<Memory> for Buffer {
    fn from(memory: Memory) -> Self {
        match memory {
            Memory::Heap(bytes) => bytes.into(),
            Memory::Pages(bytes) => Bytes::from_owner(bytes).into(),
        }
    }
}
