//! For the study of schedules, modes and CPUs, and for the tools of this repository. The versions of the library promise
//! nothing about it.

pub use crate::batch::{open_jobs_with, seal_jobs_with};
pub use crate::catalog::{BUILT as ALGORITHMS, Parallel, Structure, Work};
pub use crate::engine::Schedule;

use crate::{Algorithm, Backend, Error};

/// Returns the algorithm of this build with this id, whichever features it requires.
///
/// # Errors
/// [`Error::RestrictedAlgorithm`] if it requires a feature that this build lacks. [`Error::UnknownAlgorithm`] if no
/// algorithm has this id.
pub fn by_id(id: &str) -> Result<Algorithm, Error> {
    Algorithm::among(id, &[ALGORITHMS])
}

/// Returns the number of 16-byte blocks in a register of the backend: 1, 2 or 4.
pub fn blocks(backend: Backend) -> usize {
    backend.blocks()
}

/// Returns the number of messages that a chained mode processes at a time on the backend if the batch is large enough.
pub fn lanes(backend: Backend) -> usize {
    backend.lanes()
}

/// Returns the CPU features that the backend called `name` requires. The list is empty for the portable backends, and
/// for those that this build lacks.
pub fn needs(name: &str) -> &'static [&'static str] {
    Backend::needs(name)
}
