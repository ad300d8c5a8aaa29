//! Catches panics at the C boundary, so that none unwinds into C. In builds with `panic = "abort"` they abort
//! instead.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sealcomb_status;

/// Returns the result of `work`, or [`sealcomb_status::SEALCOMB_ERROR_INTERNAL`] if it panics.
#[inline(always)]
pub(crate) fn status(work: impl FnOnce() -> sealcomb_status) -> sealcomb_status {
    or(sealcomb_status::SEALCOMB_ERROR_INTERNAL, work)
}

/// Returns the result of `work`, or `otherwise` if it panics.
///
/// `AssertUnwindSafe` holds because after a panic every caller discards the state, or documents it as unspecified.
#[inline(always)]
pub(crate) fn or<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(status(|| panic!("on purpose")), sealcomb_status::SEALCOMB_ERROR_INTERNAL);
        assert_eq!(status(|| sealcomb_status::SEALCOMB_OK), sealcomb_status::SEALCOMB_OK);
    }
}
