//! Nothing unwinds over the border: a panic ends here. (Where panics abort, they do so before.)

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sealcomb_status;

/// What `work` returns, or [`sealcomb_status::SEALCOMB_ERROR_INTERNAL`] if it panics.
///
/// What a panic leaves behind is thrown away, or said to be of no use, by every caller: hence the assertion.
#[inline(always)]
pub(crate) fn status(work: impl FnOnce() -> sealcomb_status) -> sealcomb_status {
    or(sealcomb_status::SEALCOMB_ERROR_INTERNAL, work)
}

/// What `work` returns, or `otherwise` if it panics.
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
