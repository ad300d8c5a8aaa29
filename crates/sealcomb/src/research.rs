//! Algorithms for study: published ones that no standard and no competition has chosen, and broken ones. No product should
//! use them.

pub use crate::catalog::RESEARCH as ALGORITHMS;

use crate::{Algorithm, Error};

/// Returns the algorithm of [`crate::ALGORITHMS`] or [`ALGORITHMS`] with this id.
///
/// ```
/// use sealcomb::{Algorithm, Status, research};
///
/// assert_eq!(research::by_id("aes128-otr-p")?.status(), Status::Research);
/// assert!(Algorithm::by_id("aes128-otr-p").is_err());
/// # Ok::<(), sealcomb::Error>(())
/// ```
///
/// # Errors
/// [`Error::RestrictedAlgorithm`] for unauthenticated ciphers. [`Error::UnknownAlgorithm`] if no algorithm has this id.
pub fn by_id(id: &str) -> Result<Algorithm, Error> {
    Algorithm::among(id, &[crate::ALGORITHMS, ALGORITHMS])
}
