//! The C library `sealcomb`. Its reference is the header `include/sealcomb.h`, which is made from the comments in these files;
//! `docs/c.md` says how to build and link it.
//!
//! Nothing here does cryptography: pointers become slices, the library's [`sealcomb::SealJob`] and [`sealcomb::OpenJob`]
//! are made of them, and what went wrong becomes a number. Nothing unwinds out of it.
// Names are those of C, and what a caller must see to is said in the header, for all functions at once.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]
// `@param` of Doxygen is no Markdown.
#![allow(clippy::doc_markdown)]

mod algorithm;
mod backend;
mod batch;
mod guard;
mod job;
mod key;
mod memory;
mod parts;
mod single;
mod status;
mod text;

pub use algorithm::*;
pub use backend::*;
pub use batch::*;
pub use job::*;
pub use key::*;
pub use single::*;
pub use status::*;

use std::ffi::{CStr, c_char};

/// The version of this header.
pub const SEALCOMB_VERSION_MAJOR: u32 = 0;
/// The version of this header.
pub const SEALCOMB_VERSION_MINOR: u32 = 1;
/// The version of this header.
pub const SEALCOMB_VERSION_PATCH: u32 = 0;

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no NUL in it"),
};

/// The version of the library that runs: `"0.1.0"`.
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_version() -> *const c_char {
    VERSION.as_ptr()
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
