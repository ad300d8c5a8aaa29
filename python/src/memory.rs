//! Memory for results: zeroed, in one piece, and handed over to Arrow as it is.

use arrow_buffer::Buffer;
use bytes::Bytes;
use memmap2::MmapMut;
use pyo3::PyErr;
use pyo3::exceptions::PyMemoryError;

/// Bytes from which on memory comes as pages of its own. The system gives them zeroed, and as huge pages where it has
/// those: one page fault for 2 MiB, where there were 512.
const PAGES: usize = 4 << 20;

pub(crate) enum Memory {
    Heap(Vec<u8>),
    Pages(MmapMut),
}

impl Memory {
    /// So many bytes, all zero.
    pub(crate) fn zeroed(bytes: usize) -> Result<Self, PyErr> {
        if bytes < PAGES {
            return Ok(Self::Heap(vec![0; bytes]));
        }
        let pages = MmapMut::map_anon(bytes).map_err(|error| {
            PyMemoryError::new_err(format!("no memory for a result of {bytes} bytes ({error})"))
        })?;
        // Without them it is slower, and that is all.
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
