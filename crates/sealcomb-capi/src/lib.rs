//! The C library `sealcomb`. The reference for C programmers is `include/sealcomb.h`, generated from the comments in
//! these files. `docs/c.md` shows how to build, link and use the library.
//!
//! This crate contains no cryptography. It checks C's pointers and lengths, turns them into the library's
//! [`sealcomb::SealJob`] and [`sealcomb::OpenJob`], and turns errors into status codes. Panics do not unwind into C.
// Names follow C. The safety requirements of all functions are stated once, in the header.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]
// The comments are Doxygen, not Markdown.
#![allow(clippy::doc_markdown)]
// No size loses a bit: C passes sizes of any number of bits.
#![deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod algorithm;
mod backend;
mod batch;
mod burst;
mod guard;
mod job;
mod key;
mod memory;
#[cfg(not(feature = "hazmat"))]
mod no_streams;
mod parts;
mod single;
mod status;
mod stream;
mod text;

pub use algorithm::*;
pub use backend::*;
pub use batch::*;
pub use burst::*;
pub use job::*;
pub use key::*;
pub use single::*;
pub use status::*;
pub use stream::*;

use std::ffi::{CStr, c_char};

/// Major version of this header.
pub const SEALCOMB_VERSION_MAJOR: u32 = 0;
/// Minor version of this header.
pub const SEALCOMB_VERSION_MINOR: u32 = 1;
/// Patch version of this header.
pub const SEALCOMB_VERSION_PATCH: u32 = 0;
/// Version of this header as a number that grows with each version, for `#if`: major * 10000 + minor * 100 + patch.
pub const SEALCOMB_VERSION: u32 =
    SEALCOMB_VERSION_MAJOR * 10000 + SEALCOMB_VERSION_MINOR * 100 + SEALCOMB_VERSION_PATCH;

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("the version contains a NUL"),
};

/// Returns the version of the linked library, such as `"0.1.0"`; it may differ from the header's at compile time.
///
/// @return static NUL-terminated string
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Returns the version of the linked library as a number, comparable with `SEALCOMB_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_version_number() -> u32 {
    SEALCOMB_VERSION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_version_of_the_crate() {
        let header = format!("{SEALCOMB_VERSION_MAJOR}.{SEALCOMB_VERSION_MINOR}.{SEALCOMB_VERSION_PATCH}");
        assert_eq!(VERSION.to_str(), Ok(&*header));
    }
}
