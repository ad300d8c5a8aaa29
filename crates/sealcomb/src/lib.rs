//! AES-based authenticated encryption of many messages at once.
//!
//! A CPU's AES units are pipelines: they finish a block every fraction of a cycle, but each block takes some forty
//! cycles to come through. A mode that chains one block to the next leaves them empty most of the time, unless
//! several messages are in flight side by side. That is what this library does: hand it a burst of packets or
//! a column of values, under one key or many, and it lays them into the lanes of the widest AES instructions that
//! this CPU has.
//!
//! ```
//! use sealcomb::{Algorithm, Burst, Key};
//!
//! let key = Key::new(Algorithm::by_id("aes128-gcm")?, &[7; 16])?;
//! let mut messages = [*b"first message", *b"second one...", *b"and the third"];
//! let nonces = [*b"nonce number1", *b"nonce number2", *b"nonce number3"].map(|n| <[u8; 12]>::try_from(&n[1..]).unwrap());
//! let mut tags = [[0; 16]; 3];
//!
//! Burst::new(&key, &nonces).seal(&mut messages, &mut tags).unwrap();
//! # Ok::<(), sealcomb::Error>(())
//! ```
//!
//! * [`ALGORITHMS`] lists what there is, with sizes and limits; [`Key`] holds an expanded key and seals single messages.
//! * [`Burst`] seals and opens messages under one key, which are in columns.
//! * [`SealJob`] and [`OpenJob`] are messages under any keys, in place or not, for [`seal_batch`] and [`open_batch`];
//!   [`OpenJob::verdict`] tells of each whether it verified.
//! * [`Backend`] names the ways to run all that on this CPU; `SEALCOMB_BACKEND` forces one.
//!
//! The engine runs on one core; threads are the caller's. A call takes up to 32 KiB of stack, however large the batch, with the
//! algorithms that every build has, and up to 96 KiB with those of the features `hazmat` and `research`; a burst takes 8 KiB more.
//!
//! # Features
//! | feature | default | what it adds |
//! |---|---|---|
//! | `std` | yes | the variable `SEALCOMB_BACKEND`; without it, the library needs `alloc` alone |
//! | `aead` | yes | modules `aead` and `mac`: types with RustCrypto's traits, for code that is written over them |
//! | `hazmat` | no | ECB, CBC, CFB128, OFB, CTR and EME2, which don't authenticate; tags that the standards of GCM, GMAC (under 12 bytes) and CCM (under 8) allow under conditions alone; `Stream`, for messages in pieces, which gives out plaintext before it is verified |
//! | `research` | no | the algorithms whose [`Status`] is [research](Status::Research) or [broken](Status::Broken) |
//! | `reference` | no | module `reference`: slow models of the modes, written like their specifications, for tests |
#![no_std]
#![deny(unsafe_code)]
// Every public item says what it is for.
#![deny(missing_docs)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

/// Runs `$body` with the constant `$R` being `$count`, a number of registers: 0 (nothing is done), or up to 8, or one of
/// those that are listed.
macro_rules! each_count {
    ($count:expr, $R:ident => $body:block) => {
        each_count!($count, 1 2 3 4 5 6 7 8, $R => $body)
    };
    ($count:expr, $($n:literal)*, $R:ident => $body:block) => {
        match $count {
            0 => {}
            $($n => {
                const $R: usize = $n;
                $body
            })*
            _ => unreachable!("no more registers than that"),
        }
    };
}

/// Runs `$body` with `$r` being 0 to `$R - 1`, a constant up to 15, written out: a loop that the compiler unrolls anyway, but
/// turns and takes apart for a long time first.
macro_rules! each_register {
    ($R:expr, $r:ident => $body:block) => {
        each_register!($R, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15, $r => $body)
    };
    ($R:expr, $($n:literal)*, $r:ident => $body:block) => {
        $(if const { $R > $n } {
            let $r: usize = $n;
            $body
        })*
    };
}

/// Runs `$body` nine times with the constant `$I` being 1 to 9, the rounds that every key size has: written out, where the
/// compiler would leave a loop with so much in it a loop.
macro_rules! each_round {
    ($I:ident => $body:block) => {
        each_round!(1 2 3 4 5 6 7 8 9, $I => $body)
    };
    ($($n:literal)*, $I:ident => $body:block) => {
        $({
            const $I: usize = $n;
            $body
        })*
    };
}

#[cfg(feature = "aead")]
pub mod aead;
// Intrinsics come by the dozen. What only the modes behind a feature use, above all decryption, is left alone in a build
// without them: here and in the two modules below.
#[allow(clippy::wildcard_imports)]
// A token is a proof, also where nothing is asked of it; and a pointer goes through no instruction to be hidden.
#[allow(clippy::unused_self, clippy::pointers_in_nomem_asm_block)]
#[cfg_attr(not(all(feature = "hazmat", feature = "research")), allow(dead_code))]
mod backend;
mod batch;
mod burst;
mod catalog;
#[cfg_attr(not(all(feature = "hazmat", feature = "research")), allow(dead_code))]
mod engine;
mod error;
mod key;
#[cfg(feature = "aead")]
pub mod mac;
mod modes;
#[cfg_attr(not(all(feature = "hazmat", feature = "research")), allow(dead_code))]
mod primitives;
pub mod probe;
#[cfg(feature = "reference")]
pub mod reference;
#[cfg(any(feature = "aead", feature = "hazmat"))]
mod stream;

pub use backend::Backend;
pub use batch::{Aad, OpenJob, SealJob, Verdict, open_batch, open_batch_with, seal_batch, seal_batch_with};
pub use burst::Burst;
pub use catalog::{ALGORITHMS, Algorithm, Cipher, Kind, Parallel, Range, Status, Structure, Work};
pub use engine::Schedule;
pub use error::{BatchError, Error, Forged, OpenError};
pub use key::Key;
#[cfg(feature = "hazmat")]
pub use stream::{Direction, Stream};

/// The README's example is tested as if it stood here.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
