//! Programs that must not compile, each next to the correct one. `cargo test` compiles them as doctests.
//!
//! A forgery cannot be ignored without a warning:
//!
//! ```
//! #![deny(unused_must_use)]
//! # use sealcomb::{Algorithm, BatchError, Key, OpenJob};
//! fn open(jobs: &mut [OpenJob]) -> Result<(), BatchError> {
//!     let _ = sealcomb::open_jobs(jobs)?;
//!     Ok(())
//! }
//! ```
//! ```compile_fail
//! #![deny(unused_must_use)]
//! # use sealcomb::{Algorithm, BatchError, Key, OpenJob};
//! fn open(jobs: &mut [OpenJob]) -> Result<(), BatchError> {
//!     sealcomb::open_jobs(jobs)?;
//!     Ok(())
//! }
//! ```
//!
//! Nor in a burst:
//!
//! ```
//! #![deny(unused_must_use)]
//! # use sealcomb::{BatchError, Burst, Verdict};
//! fn open(burst: &Burst<[u8; 12]>, data: &mut [Vec<u8>], tags: &[[u8; 16]]) -> Result<(), BatchError> {
//!     let _ = burst.open(data, tags, &mut vec![Verdict::Pending; tags.len()])?;
//!     Ok(())
//! }
//! ```
//! ```compile_fail
//! #![deny(unused_must_use)]
//! # use sealcomb::{BatchError, Burst, Verdict};
//! fn open(burst: &Burst<[u8; 12]>, data: &mut [Vec<u8>], tags: &[[u8; 16]]) -> Result<(), BatchError> {
//!     burst.open(data, tags, &mut vec![Verdict::Pending; tags.len()])?;
//!     Ok(())
//! }
//! ```
//!
//! Several slices are no additional data, since they could be joined or separate strings:
//!
//! ```
//! # use sealcomb::{Aad, Error, Key};
//! fn seal(key: &Key, parts: &[&[u8]]) -> Result<Vec<u8>, Error> {
//!     key.seal(b"unique nonce", Aad::joined(parts), b"message")
//! }
//! ```
//! ```compile_fail
//! # use sealcomb::{Aad, Error, Key};
//! fn seal(key: &Key, parts: &[&[u8]]) -> Result<Vec<u8>, Error> {
//!     key.seal(b"unique nonce", parts, b"message")
//! }
//! ```
