//! Seals and opens many messages at once with AES-based authenticated encryption.
//!
//! A CPU's AES unit is a pipeline: it can start a round for another block every cycle, but all rounds of one block
//! take tens of cycles. A mode that chains one block to the next leaves the pipeline nearly empty, unless several
//! messages are in flight. This library takes a burst of packets or a column of values, under one key or many, and
//! distributes them over the lanes of the widest AES instructions that the CPU has.
//!
//! * [`Key`] holds an expanded key, and seals and opens single messages.
//! * [`Burst`] seals and opens many messages under one key, in place. Nonces, additional data, buffers and tags
//!   are one slice each. [`Burst::seal_packets`] takes packets that contain their headers and tags.
//! * [`SealJob`] and [`OpenJob`] describe messages under any keys, in place or not, for [`seal_jobs`] and
//!   [`open_jobs`].
//! * [`Verdict`] is the result for each opened message, and [`Opened`] counts those that are forged.
//! * [`ALGORITHMS`] lists the algorithms with their sizes and limits, and [`Backend`] the CPU-specific
//!   implementations.
//!
//! # Setup
//!
//! Without optimization, as in debug builds, the library is some two hundred times slower: it seals at 41 MB/s. On CPUs
//! with AVX-512, a call then takes up to 1.8 MiB of stack, almost as much as a thread has by default. To optimize the
//! library in debug builds too, add this to the `Cargo.toml` of your workspace:
//!
//! ```toml
//! [profile.dev.package.sealcomb]
//! opt-level = 3
//! ```
//!
//! # A burst of packets
//!
//! ```
//! use sealcomb::{Algorithm, Burst, Key};
//!
//! let key = Key::new(Algorithm::AES_128_GCM, &[7; 16])?;
//! let mut packets = [vec![1; 1400], vec![2; 64], vec![3; 552]];
//! let mut tags = [[0; 16]; 3];
//! // Nonces from a counter, which must never repeat under this key.
//! let nonces = [0u64, 1, 2].map(|n| {
//!     let mut nonce = [0; 12];
//!     nonce[4..].copy_from_slice(&n.to_be_bytes());
//!     nonce
//! });
//!
//! Burst::new(&key, &nonces).aad(b"header").seal(&mut packets, &mut tags)?;
//! assert_ne!(packets[1], [2; 64]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Many keys
//!
//! Jobs may have different keys, algorithms and sizes. [`Key::new_many`] expands keys together, which is faster than
//! one by one.
//!
//! ```
//! use sealcomb::{Algorithm, Key, SealJob, seal_jobs};
//!
//! let secrets = [[1; 32], [2; 32], [3; 32]];
//! let keys = Key::new_many(Algorithm::AES_256_GCM, &secrets)?;
//! let mut records = [b"first".to_vec(), b"second".to_vec(), b"third".to_vec()];
//! let mut tags = [[0; 16]; 3];
//!
//! let mut jobs: Vec<SealJob> = keys.iter().zip(&mut records).zip(&mut tags)
//!     // The nonce may be the same, since every message has its own key.
//!     .map(|((key, record), tag)| SealJob::in_place(key, b"unique nonce", b"", record, tag))
//!     .collect();
//! seal_jobs(&mut jobs)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Opening, with one forged message
//!
//! A message that fails verification is zeroed and gets [`Verdict::Forged`]. The other messages are not affected.
//!
//! ```
//! use sealcomb::{Algorithm, Key, OpenJob, Verdict, open_jobs};
//!
//! let key = Key::new(Algorithm::AES_256_GCM_SIV, &[7; 32])?;
//! let nonces = [[1; 12], [2; 12], [3; 12]];
//! let mut messages = [*b"pay 10 to Ann", *b"pay 20 to Bob", *b"pay 30 to Cyd"];
//! let mut tags = [[0; 16]; 3];
//! for ((nonce, message), tag) in nonces.iter().zip(&mut messages).zip(&mut tags) {
//!     key.seal_in_place_detached(nonce, b"", message, tag)?;
//! }
//!
//! messages[1][4] ^= 1; // an attacker
//!
//! let mut jobs: Vec<OpenJob> = nonces.iter().zip(&mut messages).zip(&tags)
//!     .map(|((nonce, message), tag)| OpenJob::in_place(&key, nonce, b"", message, tag))
//!     .collect();
//! assert_eq!(open_jobs(&mut jobs)?.forged(), 1);
//! let verdicts: Vec<Verdict> = jobs.iter().map(OpenJob::verdict).collect();
//! assert_eq!(verdicts, [Verdict::Verified, Verdict::Forged, Verdict::Verified]);
//! assert_eq!(messages, [*b"pay 10 to Ann", [0; 13], *b"pay 30 to Cyd"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Nonces
//!
//! The library neither generates nor remembers nonces, and does not compare those of a batch with each other. The
//! rule for nonces depends on the mode. `SECURITY.md` in the repository has all limits.
//!
//! | mode | nonce | reuse under a key reveals | limit per key |
//! |---|---|---|---|
//! | GCM, GMAC | unique; 12 bytes from a counter are best | the authentication key; for GCM also the XOR of the plaintexts | 2^32 messages with random nonces, or with nonces that are not 12 bytes |
//! | CCM, EAX, OCB3 | unique | CCM, EAX: the XOR of the plaintexts; OCB3: equal blocks, and it allows forgeries | CCM: 2^61 AES calls; EAX: 2^48 messages; OCB3: 2^48 blocks |
//! | GCM-SIV | misuse-resistant: unique or random | only whether messages are equal | RFC 8452, section 9 |
//! | AEGIS-128L, AEGIS-256 | unique, also across tag lengths | the XOR of the plaintexts; it also reveals the state, with which forgeries are possible | AEGIS-128L: 2^48 messages with random nonces |
//! | XAES-256-GCM | random, 24 bytes | the XOR of the plaintexts, and the authentication key of messages whose nonces begin with the same 12 bytes | 2^80 messages |
//! | SIV | misuse-resistant, optional | only whether messages and their additional data are equal | 2^48 messages |
//! | COLM0, and of `research` COPA, ELmD, POET, McOE-G | unique or random | common prefixes of messages | far fewer than 2^64 blocks |
//! | CMAC, and of `research` PMAC | none | | CMAC: 2^48 messages; PMAC: 2^48 blocks |
//! | CBC, CFB128 (`hazmat`) | unpredictable | common prefixes; CFB128: also the XOR of the first blocks that differ | far fewer than 2^64 blocks |
//! | OFB, CTR (`hazmat`) | unique; for CTR every counter block | the XOR of the plaintexts | far fewer than 2^64 blocks |
//! | ECB (`hazmat`) | none | equal blocks are always visible | |
//! | EME2, HCTR2 (`hazmat`) | none | equal messages under equal tweaks are always visible | far fewer than 2^64 blocks |
//! | XTS (`hazmat`) | 16: the tweak, usually the sector's number | equal blocks at equal positions of sectors with equal tweaks are always visible | far fewer than 2^64 blocks |
//!
//! [`Algorithm::note`] has the rule for every algorithm.
//!
//! # Backends
//!
//! [`Key::new`] selects the fastest backend that the CPU supports. To force another one, set the environment variable
//! `SEALCOMB_BACKEND` to its name for the whole process, or pass it to [`KeyOptions::backend`]. An unknown name, or a
//! backend that this CPU or this build lacks, is an [`Error`] and never a silent fallback. Only the types that implement
//! RustCrypto's traits, whose constructors cannot fail, then use [`Backend::best`].
//!
//! ```
//! use sealcomb::{Algorithm, Backend, KeyOptions};
//!
//! println!("selected: {}", Backend::selected()?.name());
//! let options = KeyOptions::new().backend(Backend::named("portable")?);
//! let key = options.expand(Algorithm::AES_128_GCM, &[7; 16])?;
//! assert_eq!(key.backend().name(), "portable");
//! # Ok::<(), sealcomb::Error>(())
//! ```
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `std` | yes | the variable `SEALCOMB_BACKEND`; without `std` the library is `no_std` with `alloc` |
//! | `aegis`, `ccm`, `cmac`, `colm`, `eax`, `gcm`, `gcm-siv`, `ocb3`, `siv`, `xaes` | yes | the algorithms of a mode; `gcm` adds GMAC as well |
//! | `rustcrypto-aead-05` | no | the module `rustcrypto::aead_05`, whose types implement the traits of `aead` 0.5 |
//! | `rustcrypto-aead-06` | no | the module `rustcrypto::aead`, whose types implement the traits of `aead` 0.6 |
//! | `rustcrypto-digest-011` | no | the module `rustcrypto::mac`: CMAC with the trait `Mac` of `digest` 0.11 |
//! | `hazmat` | no | the module `hazmat`: ECB, CBC, CFB128, OFB, CTR, XTS, EME2 and HCTR2, which do not authenticate; tag lengths that the standards of GCM and GMAC (under 12 bytes) and CCM (under 8 bytes) allow only under conditions; messages in pieces, and opening without verifying, which release plaintext before it is verified |
//! | `research` | no | the module `research`: the algorithms whose [`Status`] is [research](Status::Research) or [broken](Status::Broken) |
//! | `unstable-study` | no | the modules `study` and `probe`: schedules, the work and the structure of modes, and instruction benchmarks |
//! | `unstable-reference` | no | the module `reference`, slow models written from the specifications, and the backend `portable4`, for tests |
//!
//! Features only add items and algorithms: none changes what an item that is there without it accepts or returns, except
//! that [`ALGORITHMS`] and [`Algorithm::by_id`] have the modes of this build. A program that needs one mode compiles in a
//! third of the time with `default-features = false, features = ["std", "gcm"]`, and is a third as large.
//!
//! # Compatibility
//!
//! A breaking change requires a new minor version before 1.0, and a new major version after, also in items of the
//! features `hazmat` and `research`. The following may change in any version:
//!
//! * what the features `unstable-study` and `unstable-reference` add;
//! * texts of errors and of `Debug`, the order of [`ALGORITHMS`], speed, and the use of the stack and the heap.
//!
//! The oldest supported Rust is 1.89. Only a minor version may require a newer one, which is then at least nine months
//! old.
//!
//! # Cost of a call
//!
//! Each call runs on the calling thread only; threads can share a [`Key`]. If the library is optimized, it takes up to
//! 32 KiB of stack with the algorithms of the default features, however large the batch, and up to 96 KiB with those of
//! `hazmat` and `research`. A burst takes 8 KiB more.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
// The feature makes items public that other modules use, too.
#![cfg_attr(not(feature = "unstable-study"), allow(unreachable_pub))]
// Without some features, code that several modes share has no caller.
#![cfg_attr(
    not(all(
        feature = "aegis",
        feature = "ccm",
        feature = "cmac",
        feature = "colm",
        feature = "eax",
        feature = "gcm",
        feature = "gcm-siv",
        feature = "hazmat",
        feature = "ocb3",
        feature = "research",
        feature = "siv",
        feature = "unstable-study",
        feature = "xaes",
    )),
    allow(dead_code, unused_imports)
)]
#![deny(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

/// Runs `$body` with the constant `$R` equal to `$count`, a number of registers: 1 to 8, or one of the listed
/// numbers. Does nothing if `$count` is 0.
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
            _ => unreachable!("one of the listed numbers of registers"),
        }
    };
}

/// Runs `$body` for `$r` from 0 to `$R - 1`, where `$R` is a constant of at most 16. The macro writes the iterations
/// out. The compiler would unroll a loop as well, but spends much more time on it.
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

/// Runs `$body` with the constant `$I` equal to 1 to 9, the rounds that all key sizes have. The macro writes the
/// iterations out, since the compiler does not unroll loops with bodies this large.
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

#[allow(clippy::wildcard_imports, reason = "dozens of intrinsics")]
#[allow(
    clippy::unused_self,
    reason = "a token proves that the CPU has the instructions, even where it is not read"
)]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "an empty block hides the pointer from the optimizer")]
mod backend;
mod batch;
mod burst;
mod catalog;
mod engine;
mod error;
#[cfg(feature = "hazmat")]
pub mod hazmat;
mod key;
#[cfg(doctest)]
mod misuse;
mod modes;
mod names;
mod packet;
mod primitives;
#[cfg(feature = "unstable-study")]
pub mod probe;
#[cfg(feature = "unstable-reference")]
pub mod reference;
#[cfg(feature = "research")]
pub mod research;
#[cfg(any(
    feature = "rustcrypto-aead-05",
    feature = "rustcrypto-aead-06",
    feature = "rustcrypto-digest-011"
))]
pub mod rustcrypto;
#[cfg(feature = "hazmat")]
mod sectors;
#[cfg(any(feature = "rustcrypto-digest-011", feature = "hazmat"))]
mod stream;
#[cfg(feature = "unstable-study")]
pub mod study;

pub use backend::Backend;
pub use batch::{Aad, OpenJob, Opened, SealJob, Verdict, open_jobs, seal_jobs};
pub use burst::Burst;
pub use catalog::{ALGORITHMS, Algorithm, Cipher, Kind, Status, TagPosition};
pub use error::{BatchError, Error, Forged, OpenError};
pub use key::{Key, KeyOptions};
pub use packet::PacketLayout;

/// Makes the README's Rust example a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
