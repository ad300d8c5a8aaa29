//! For the study of schedules, modes and CPUs, and for the tools of this repository. The versions of the library promise
//! nothing about it.

pub use crate::batch::{open_jobs_with, seal_jobs_with};
pub use crate::catalog::{BUILT as ALGORITHMS, Parallel, Structure, Work};
pub use crate::engine::Schedule;

use crate::{Algorithm, Error};

/// Returns the algorithm of this build with this id, whichever features it requires.
///
/// # Errors
/// [`Error::RestrictedAlgorithm`] if it requires a feature that this build lacks. [`Error::UnknownAlgorithm`] if no
/// algorithm has this id.
pub fn by_id(id: &str) -> Result<Algorithm, Error> {
    Algorithm::among(id, &[ALGORITHMS])
}
