//! Programs that must not compile, each next to the correct one. `cargo test` compiles them as doctests: `compile_fail`
//! needs neither a dependency nor a second build of this crate, and no record of messages that each compiler words
//! differently. The correct program differs only in the misuse, so the other one does not fail for another reason.
//!
//! # Forgeries
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
//! Nor in a burst of packets:
//!
//! ```
//! #![deny(unused_must_use)]
//! # use sealcomb::{BatchError, Burst, PacketLayout, Verdict};
//! fn open(burst: &Burst<[u8; 12]>, packets: &mut [Vec<u8>], verdicts: &mut [Verdict]) -> Result<(), BatchError> {
//!     let _ = burst.open_packets(PacketLayout::header(5), packets, verdicts)?;
//!     Ok(())
//! }
//! ```
//! ```compile_fail
//! #![deny(unused_must_use)]
//! # use sealcomb::{BatchError, Burst, PacketLayout, Verdict};
//! fn open(burst: &Burst<[u8; 12]>, packets: &mut [Vec<u8>], verdicts: &mut [Verdict]) -> Result<(), BatchError> {
//!     burst.open_packets(PacketLayout::header(5), packets, verdicts)?;
//!     Ok(())
//! }
//! ```
//!
//! Nor in a burst of MACs:
//!
//! ```
//! #![deny(unused_must_use)]
//! # use sealcomb::{BatchError, Burst, Verdict};
//! fn verify(burst: &Burst<[u8; 0], &[u8]>, tags: &[[u8; 16]]) -> Result<(), BatchError> {
//!     let _ = burst.verify(tags, &mut vec![Verdict::Pending; tags.len()])?;
//!     Ok(())
//! }
//! ```
//! ```compile_fail
//! #![deny(unused_must_use)]
//! # use sealcomb::{BatchError, Burst, Verdict};
//! fn verify(burst: &Burst<[u8; 0], &[u8]>, tags: &[[u8; 16]]) -> Result<(), BatchError> {
//!     burst.verify(tags, &mut vec![Verdict::Pending; tags.len()])?;
//!     Ok(())
//! }
//! ```
//!
//! The check that all messages are verified must have a consequence:
//!
//! ```
//! #![deny(unused_must_use)]
//! # use sealcomb::{Forged, Opened};
//! fn check(opened: Opened) -> Result<(), Forged> {
//!     opened.all_verified()?;
//!     Ok(())
//! }
//! ```
//! ```compile_fail
//! #![deny(unused_must_use)]
//! # use sealcomb::{Forged, Opened};
//! fn check(opened: Opened) -> Result<(), Forged> {
//!     opened.all_verified();
//!     Ok(())
//! }
//! ```
//!
//! And so must a verdict:
//!
//! ```
//! #![deny(unused_must_use)]
//! # use sealcomb::OpenJob;
//! fn is_verified(job: &OpenJob) -> bool {
//!     job.verdict().is_verified()
//! }
//! ```
//! ```compile_fail
//! #![deny(unused_must_use)]
//! # use sealcomb::OpenJob;
//! fn is_verified(job: &OpenJob) -> bool {
//!     job.verdict();
//!     true
//! }
//! ```
//!
//! A `match` on verdicts handles forged messages and those of unauthenticated ciphers:
//!
//! ```
//! # use sealcomb::Verdict;
//! fn text(verdict: Verdict) -> &'static str {
//!     match verdict {
//!         Verdict::Verified => "accepted",
//!         Verdict::Pending | Verdict::Forged | Verdict::Unauthenticated => "dropped",
//!     }
//! }
//! ```
//! ```compile_fail
//! # use sealcomb::Verdict;
//! fn text(verdict: Verdict) -> &'static str {
//!     match verdict {
//!         Verdict::Verified => "accepted",
//!         Verdict::Pending | Verdict::Forged => "dropped",
//!     }
//! }
//! ```
//!
//! # Buffers
//!
//! A message cannot be read from its buffer before its verdict is known:
//!
//! ```
//! # use sealcomb::{Key, OpenJob, open_jobs};
//! fn first_byte(key: &Key, nonce: &[u8], data: &mut [u8], tag: &[u8]) -> Option<u8> {
//!     let mut jobs = [OpenJob::in_place(key, nonce, b"", data, tag)];
//!     let opened = open_jobs(&mut jobs).ok()?;
//!     opened.all_verified().ok()?;
//!     Some(data[0])
//! }
//! ```
//! ```compile_fail
//! # use sealcomb::{Key, OpenJob, open_jobs};
//! fn first_byte(key: &Key, nonce: &[u8], data: &mut [u8], tag: &[u8]) -> Option<u8> {
//!     let mut jobs = [OpenJob::in_place(key, nonce, b"", data, tag)];
//!     let first = data[0];
//!     let opened = open_jobs(&mut jobs).ok()?;
//!     opened.all_verified().ok()?;
//!     Some(first)
//! }
//! ```
//!
//! Borrowed packets cannot be sealed in place:
//!
//! ```
//! # use sealcomb::{BatchError, Burst};
//! fn seal(burst: &Burst<[u8; 12]>, packets: &mut [Vec<u8>], tags: &mut [[u8; 16]]) -> Result<(), BatchError> {
//!     burst.seal(packets, tags)
//! }
//! ```
//! ```compile_fail
//! # use sealcomb::{BatchError, Burst};
//! fn seal(burst: &Burst<[u8; 12]>, packets: &[Vec<u8>], tags: &mut [[u8; 16]]) -> Result<(), BatchError> {
//!     burst.seal(packets, tags)
//! }
//! ```
//!
//! Nor can entries that are shared slices:
//!
//! ```
//! # use sealcomb::{BatchError, Burst};
//! fn seal(burst: &Burst<[u8; 12]>, packets: &mut [&mut [u8]], tags: &mut [[u8; 16]]) -> Result<(), BatchError> {
//!     burst.seal(packets, tags)
//! }
//! ```
//! ```compile_fail
//! # use sealcomb::{BatchError, Burst};
//! fn seal(burst: &Burst<[u8; 12]>, packets: &mut [&[u8]], tags: &mut [[u8; 16]]) -> Result<(), BatchError> {
//!     burst.seal(packets, tags)
//! }
//! ```
//!
//! Two messages of a batch cannot share a buffer:
//!
//! ```
//! # use sealcomb::{BatchError, Key, SealJob, seal_jobs};
//! fn seal(key: &Key, data: &mut [[u8; 9]; 2], tags: &mut [[u8; 16]; 2]) -> Result<(), BatchError> {
//!     let ([one, two], [tag, other]) = (data, tags);
//!     seal_jobs(&mut [
//!         SealJob::in_place(key, b"nonce no. 01", b"", one, tag),
//!         SealJob::in_place(key, b"nonce no. 02", b"", two, other),
//!     ])
//! }
//! ```
//! ```compile_fail
//! # use sealcomb::{BatchError, Key, SealJob, seal_jobs};
//! fn seal(key: &Key, data: &mut [[u8; 9]; 2], tags: &mut [[u8; 16]; 2]) -> Result<(), BatchError> {
//!     let ([one, two], [tag, other]) = (data, tags);
//!     seal_jobs(&mut [
//!         SealJob::in_place(key, b"nonce no. 01", b"", one, tag),
//!         SealJob::in_place(key, b"nonce no. 02", b"", one, other),
//!     ])
//! }
//! ```
//!
//! Two threads share a key, but not the messages:
//!
//! ```
//! # use sealcomb::{Burst, Key};
//! # use std::slice::from_mut;
//! fn seal(key: &Key, nonces: &[[u8; 12]; 2], packets: &mut [Vec<u8>; 2], tags: &mut [[u8; 16]; 2]) {
//!     let ([one, two], [tag, other]) = (packets, tags);
//!     std::thread::scope(|threads| {
//!         threads.spawn(|| Burst::new(key, &nonces[..1]).seal(from_mut(one), from_mut(tag)));
//!         threads.spawn(|| Burst::new(key, &nonces[1..]).seal(from_mut(two), from_mut(other)));
//!     });
//! }
//! ```
//! ```compile_fail
//! # use sealcomb::{Burst, Key};
//! # use std::slice::from_mut;
//! fn seal(key: &Key, nonces: &[[u8; 12]; 2], packets: &mut [Vec<u8>; 2], tags: &mut [[u8; 16]; 2]) {
//!     let ([one, _], [tag, other]) = (packets, tags);
//!     std::thread::scope(|threads| {
//!         threads.spawn(|| Burst::new(key, &nonces[..1]).seal(from_mut(one), from_mut(tag)));
//!         threads.spawn(|| Burst::new(key, &nonces[1..]).seal(from_mut(one), from_mut(other)));
//!     });
//! }
//! ```
//!
//! A job does not outlive its key, which is zeroized on drop:
//!
//! ```
//! # use sealcomb::{Algorithm, Key, SealJob, seal_jobs};
//! # let (mut data, mut tag) = ([0; 9], [0; 16]);
//! let key = Key::new(Algorithm::AES_128_GCM, &[7; 16])?;
//! let mut jobs = [SealJob::in_place(&key, b"unique nonce", b"", &mut data, &mut tag)];
//! seal_jobs(&mut jobs).unwrap();
//! drop(key);
//! # Ok::<(), sealcomb::Error>(())
//! ```
//! ```compile_fail
//! # use sealcomb::{Algorithm, Key, SealJob, seal_jobs};
//! # let (mut data, mut tag) = ([0; 9], [0; 16]);
//! let key = Key::new(Algorithm::AES_128_GCM, &[7; 16])?;
//! let mut jobs = [SealJob::in_place(&key, b"unique nonce", b"", &mut data, &mut tag)];
//! drop(key);
//! seal_jobs(&mut jobs).unwrap();
//! # Ok::<(), sealcomb::Error>(())
//! ```
//!
//! # Arguments
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
//!
//! Additional data that is set, but not in the burst that seals, is a warning:
//!
//! ```
//! #![deny(unused_must_use)]
//! # use sealcomb::{BatchError, Burst, Key};
//! fn seal(key: &Key, nonce: [u8; 12], packet: &mut [u8], tag: &mut [u8]) -> Result<(), BatchError> {
//!     let nonces = [nonce];
//!     let burst = Burst::new(key, &nonces).aad(b"header");
//!     burst.seal(&mut [packet], &mut [tag])
//! }
//! ```
//! ```compile_fail
//! #![deny(unused_must_use)]
//! # use sealcomb::{BatchError, Burst, Key};
//! fn seal(key: &Key, nonce: [u8; 12], packet: &mut [u8], tag: &mut [u8]) -> Result<(), BatchError> {
//!     let nonces = [nonce];
//!     Burst::new(key, &nonces).aad(b"header");
//!     let burst = Burst::new(key, &nonces);
//!     burst.seal(&mut [packet], &mut [tag])
//! }
//! ```
//!
//! So is an option of keys that is set and dropped:
//!
//! ```
//! #![deny(unused_must_use)]
//! # use sealcomb::{Algorithm, Error, Key, KeyOptions};
//! fn new_key(secret: &[u8; 16]) -> Result<Key, Error> {
//!     let options = KeyOptions::new().tag_bytes(12);
//!     options.expand(Algorithm::AES_128_GCM, secret)
//! }
//! ```
//! ```compile_fail
//! #![deny(unused_must_use)]
//! # use sealcomb::{Algorithm, Error, Key, KeyOptions};
//! fn new_key(secret: &[u8; 16]) -> Result<Key, Error> {
//!     let options = KeyOptions::new();
//!     options.tag_bytes(12);
//!     options.expand(Algorithm::AES_128_GCM, secret)
//! }
//! ```
//!
//! Keys cannot be compared, which `==` would not do in constant time:
//!
//! ```
//! # use sealcomb::Key;
//! fn same_sizes(one: &Key, other: &Key) -> bool {
//!     one.algorithm() == other.algorithm()
//! }
//! ```
//! ```compile_fail
//! # use sealcomb::Key;
//! fn same_sizes(one: &Key, other: &Key) -> bool {
//!     one == other
//! }
//! ```

/// Streams and unauthenticated ciphers.
///
/// A stream that seals cannot be cloned by accident, which would use its nonce twice; `fork` says so:
///
/// ```
/// # use sealcomb::Key;
/// # use sealcomb::hazmat::SealStream;
/// fn copy<'k>(stream: &SealStream<&'k Key>) -> SealStream<&'k Key> {
///     stream.fork()
/// }
/// ```
/// ```compile_fail
/// # use sealcomb::Key;
/// # use sealcomb::hazmat::SealStream;
/// fn copy<'k>(stream: &SealStream<&'k Key>) -> SealStream<&'k Key> {
///     stream.clone()
/// }
/// ```
///
/// Plaintext of a stream is not released by a function that could be mistaken for that of a message:
///
/// ```
/// # use sealcomb::{Error, Key};
/// # use sealcomb::hazmat::OpenStream;
/// fn open(stream: &mut OpenStream<Key>, piece: &mut [u8]) -> Result<(), Error> {
///     stream.update_unverified(piece)
/// }
/// ```
/// ```compile_fail
/// # use sealcomb::{Error, Key};
/// # use sealcomb::hazmat::OpenStream;
/// fn open(stream: &mut OpenStream<Key>, piece: &mut [u8]) -> Result<(), Error> {
///     stream.update(piece)
/// }
/// ```
///
/// A stream must be verified with a consequence:
///
/// ```
/// #![deny(unused_must_use)]
/// # use sealcomb::{Key, OpenError};
/// # use sealcomb::hazmat::OpenStream;
/// fn verify(stream: &mut OpenStream<Key>, tag: &[u8]) -> Result<(), OpenError> {
///     stream.verify(tag)?;
///     Ok(())
/// }
/// ```
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # use sealcomb::{Key, OpenError};
/// # use sealcomb::hazmat::OpenStream;
/// fn verify(stream: &mut OpenStream<Key>, tag: &[u8]) -> Result<(), OpenError> {
///     stream.verify(tag);
///     Ok(())
/// }
/// ```
///
/// The algorithms of this module have no constants among those that authenticate:
///
/// ```
/// # use sealcomb::{Error, Key, hazmat};
/// fn new_key(secret: &[u8; 64]) -> Result<Key, Error> {
///     Key::new(hazmat::by_id("aes256-xts")?, secret)
/// }
/// ```
/// ```compile_fail
/// # use sealcomb::{Algorithm, Error, Key};
/// fn new_key(secret: &[u8; 64]) -> Result<Key, Error> {
///     Key::new(Algorithm::AES_256_XTS, secret)
/// }
/// ```
#[cfg(feature = "hazmat")]
mod hazmat {}
