//! What is only safe with a construction around it: ciphers that do not authenticate, tags that standards allow only under
//! conditions, and plaintext before it is verified.
//!
//! * [`ALGORITHMS`] and [`by_id`]: unauthenticated ciphers, such as CTR for a protocol with a separate MAC.
//! * [`Sectors`]: runs of disk sectors under XTS.
//! * [`tag_sizes`] and [`KeyOptions::short_tag_bytes`](crate::KeyOptions::short_tag_bytes): short tags.
//! * [`SealStream`]: messages in pieces.
//! * [`OpenStream`] and [`Key::open_unverified_in_place_detached`](crate::Key::open_unverified_in_place_detached): for
//!   interfaces that release a message before its tag is known.
//!
//! Another crate that enables the feature `hazmat` adds this module and these two functions to the program. It does not
//! change what [`Algorithm::by_id`], [`crate::ALGORITHMS`] and
//! [`KeyOptions::tag_bytes`](crate::KeyOptions::tag_bytes) accept.

pub use crate::catalog::HAZMAT as ALGORITHMS;
pub use crate::sectors::Sectors;
pub use crate::stream::{OpenStream, SealStream};

use crate::{Algorithm, Error};

/// Returns the algorithm of [`crate::ALGORITHMS`] or [`ALGORITHMS`] with this id.
///
/// ```
/// use sealcomb::{Algorithm, hazmat};
///
/// let ctr = hazmat::by_id("aes128-ctr")?;
/// assert_eq!(ctr.tag_bytes(), 0);
/// assert!(Algorithm::by_id("aes128-ctr").is_err());
/// # Ok::<(), sealcomb::Error>(())
/// ```
///
/// # Errors
/// [`Error::RestrictedAlgorithm`] for algorithms whose status is research or broken. [`Error::UnknownAlgorithm`] if no
/// algorithm has this id.
pub fn by_id(id: &str) -> Result<Algorithm, Error> {
    Algorithm::among(id, &[crate::ALGORITHMS, ALGORITHMS])
}

/// Returns all tag lengths in bytes of an algorithm, in ascending order: those of [`Algorithm::tag_sizes`], and those that
/// its standard allows only under conditions, which are under 12 bytes for GCM and GMAC (SP 800-38D, appendix C) and under
/// 8 bytes for CCM (SP 800-38C, appendix B.2).
///
/// ```
/// use sealcomb::{Algorithm, KeyOptions, hazmat};
///
/// let ccm = Algorithm::AES_128_CCM;
/// assert_eq!(hazmat::tag_sizes(ccm), [4, 6, 8, 10, 12, 14, 16]);
/// assert!(KeyOptions::new().tag_bytes(4).expand(ccm, &[7; 16]).is_err());
/// assert!(KeyOptions::new().short_tag_bytes(4).expand(ccm, &[7; 16]).is_ok());
/// ```
pub const fn tag_sizes(algorithm: Algorithm) -> &'static [usize] {
    algorithm.all_tag_sizes()
}
