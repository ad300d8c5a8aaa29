//! Zeroed, contiguous memory for results, passed to Arrow without a copy.

use arrow_buffer::Buffer;
use bytes::Bytes;
use memmap2::MmapMut;
use pyo3::PyErr;
use pyo3::exceptions::PyMemoryError;

/// The minimum size in bytes of memory that is mapped instead of allocated on the heap. The OS zeroes mapped pages,
/// and may use huge pages: one page fault per 2 MiB instead of 512.
const MIN_MAPPED: usize = 4 << 20;

pub(crate) enum Memory {
    Heap(Vec<u8>),
    Pages(MmapMut),
}

impl Memory {
    /// Allocates `bytes` zeroed bytes.
    ///
    /// # Errors
    /// `MemoryError` if the pages cannot be mapped.
    pub(crate) fn zeroed(bytes: usize) -> Result<Self, PyErr> {
        if bytes < MIN_MAPPED {
            return Ok(Self::Heap(vec![0; bytes]));
        }
        let pages = MmapMut::map_anon(bytes).map_err(|error| {
            PyMemoryError::new_err(format!("cannot allocate {bytes} bytes for the result: {error}"))
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
            Memory::Heap(bytes) => Self::from_vec(bytes),
            Memory::Pages(bytes) => Bytes::from_owner(bytes).into(),
        }
    }
}
