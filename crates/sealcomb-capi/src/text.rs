//! Rust's texts as C wants them: with a NUL at their end, made once and kept.

use std::ffi::{CStr, CString};

/// The text with a NUL at its end, for as long as the program runs.
pub(crate) fn kept(text: &str) -> &'static CStr {
    Box::leak(CString::new(text).unwrap_or_default().into_boxed_c_str())
}
