//! NUL-terminated copies of Rust strings, which C gets as static strings.

use std::ffi::{CStr, CString};

/// Returns a NUL-terminated copy that is never freed.
pub(crate) fn leak(text: &str) -> &'static CStr {
    Box::leak(CString::new(text).unwrap_or_default().into_boxed_c_str())
}
