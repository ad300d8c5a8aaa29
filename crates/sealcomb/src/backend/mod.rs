//! The only `unsafe` of the library: what a CPU generation can do with a register of 1, 2 or 4 blocks.
//!
//! [`Isa`] names the verbs and one file per CPU generation implements them. A [`Backend`] is the proof, handed out by
//! detection alone, that this CPU has the instructions of one of them. Everything above is safe generic code over
//! `B: Isa`, marked `#[inline(always)]`, and reaches the CPU through [`Backend::run`], the one place where the
//! instructions are switched on.
#![allow(unsafe_code)]

#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod aesni;
#[cfg(target_arch = "x86_64")]
mod features;
mod isa;
mod kept;
mod part;
mod portable;
mod rows;
mod span;
#[cfg(target_arch = "x86_64")]
mod vaes256;
#[cfg(target_arch = "x86_64")]
mod vaes512;
mod vendor;
mod wiped;

use core::fmt;

pub(crate) use isa::{BLOCK, Block, Isa, REGISTERS, RoundKeys, Square, TopBit, Weave, hidden};
pub(crate) use kept::Kept;
pub(crate) use part::{read_part, write_part};
pub(crate) use portable::SoftAes;
pub(crate) use rows::{LINE, Rows, Scratch, SquareAt};
pub(crate) use span::{Chunk, Span, Spans};
pub(crate) use wiped::Wiped;

use crate::Error;

/// Safe generic code that wants to run on some backend; its arguments are its fields.
pub(crate) trait Kernel {
    type Output;
    /// Must be `#[inline(always)]`, as must be everything generic that it calls.
    fn run<B: Isa>(self, b: B) -> Self::Output;
}

/// Declares a backend's token: the zero-size proof of detection, with its CPU features written once for the
/// detection and for the function that switches them on. The architecture's `features` must be in scope.
#[allow(unused_macros, reason = "there are architectures without a backend of their own")]
macro_rules! token {
    ($(#[$doc:meta])* $Token:ident, [$($feature:tt),*]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(crate) struct $Token(());

        impl $Token {
            pub(in crate::backend) const NEEDS: &'static [&'static str] = &[$($feature),*];

            pub(in crate::backend) fn detect() -> Option<Self> {
                features::usable!($($feature),*).then_some(Self(()))
            }

            #[inline(always)]
            pub(in crate::backend) fn enter<K: $crate::backend::Kernel>(self, kernel: K) -> K::Output {
                $(#[target_feature(enable = $feature)])*
                fn enter<K: $crate::backend::Kernel>(token: $Token, kernel: K) -> K::Output {
                    kernel.run(token)
                }
                // SAFETY: a token exists only where `detect` found every feature that the inner function enables.
                unsafe { enter(self, kernel) }
            }
        }
    };
}
#[allow(unused_imports, reason = "as above")]
use token;

/// The list of backends, slow to fast, in groups that a build has or lacks, and what it needs to have them.
macro_rules! backends {
    ($(#[cfg($cfg:meta)] needs $needs:literal { $($Variant:ident($Token:ty) = $name:literal;)* })*) => {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Token {
            $($(#[cfg($cfg)] $Variant($Token),)*)*
        }

        const NAMES: &[&str] = &[$($($name),*),*];

        fn detect(name: &str) -> Result<Backend, Error> {
            match name {
                $($(#[cfg($cfg)] $name => <$Token>::detect()
                    .map(|token| Backend(Token::$Variant(token)))
                    .ok_or(Error::BackendUnavailable { name: $name }),)*)*
                $($(#[cfg(not($cfg))] $name => Err(Error::BackendNotBuilt { name: $name, needs: $needs }),)*)*
                _ => Err(Error::UnknownBackend),
            }
        }

        fn needs(name: &str) -> &'static [&'static str] {
            match name {
                $($(#[cfg($cfg)] $name => <$Token>::NEEDS,)*)*
                _ => &[],
            }
        }

        impl Backend {
            /// The name by which users list and force this backend.
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($(#[cfg($cfg)] Token::$Variant(_) => $name,)*)*
                }
            }

            /// 16-byte blocks that one register holds: 1, 2 or 4.
            pub fn blocks(self) -> usize {
                match self.0 {
                    $($(#[cfg($cfg)] Token::$Variant(_) => <$Token as Isa>::BLOCKS,)*)*
                }
            }

            /// Messages that a sequential mode keeps in flight when the batch is large enough.
            pub fn lanes(self) -> usize {
                match self.0 {
                    $($(#[cfg($cfg)] Token::$Variant(_) => <$Token as Isa>::BLOCKS * <$Token as Isa>::CHAINS,)*)*
                }
            }

            #[inline(always)]
            pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
                match self.0 {
                    $($(#[cfg($cfg)] Token::$Variant(token) => token.enter(kernel),)*)*
                }
            }
        }
    };
}

backends! {
    #[cfg(all())] needs "" {
        Portable(portable::Portable<1>) = "portable";
    }
    #[cfg(feature = "reference")] needs "the feature `reference`" {
        Portable4(portable::Portable<4>) = "portable4";
    }
    #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
    needs "a little-endian aarch64 with NEON" {
        Neon(aarch64::Neon) = "neon";
        NeonSha3(aarch64::NeonSha3) = "neon-sha3";
    }
    #[cfg(target_arch = "x86_64")] needs "x86_64" {
        Aesni(aesni::Aesni) = "aesni";
        Vaes256(vaes256::Vaes256) = "vaes256";
        Vaes512(vaes512::Vaes512) = "vaes512";
    }
}

/// One way of running the algorithms that this CPU has; a value of this type is the proof.
///
/// | name | register | CPU features |
/// |---|---|---|
/// | `portable` | 1 block | none; constant-time RustCrypto AES |
/// | `portable4` | 4 blocks | none; runs the 512-bit code on any machine, for tests: needs the feature `reference` |
/// | `neon` | 1 block | AES and PMULL of Armv8 |
/// | `neon-sha3` | 1 block | the same, and SHA-3, which has sums of three registers |
/// | `aesni` | 1 block | AES-NI, PCLMULQDQ, SSE4.1 |
/// | `vaes256` | 2 blocks | VAES and VPCLMULQDQ on AVX2 |
/// | `vaes512` | 4 blocks | VAES and VPCLMULQDQ on AVX-512, BMI2 |
///
/// ```
/// use sealcomb::Backend;
/// println!("fastest here: {}", Backend::best().name());
/// for backend in Backend::available() {
///     assert_eq!(Backend::named(backend.name()), Ok(backend));
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Backend(Token);

impl Backend {
    /// Every backend's name, slow to fast, whether this CPU has it or not.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().copied()
    }

    /// The backends that this CPU and its operating system can run, slow to fast.
    pub fn available() -> impl Iterator<Item = Self> {
        NAMES.iter().filter_map(|name| detect(name).ok())
    }

    /// The fastest backend that this CPU can run.
    pub fn best() -> Self {
        let mut best = Self(Token::Portable(portable::Portable));
        for name in NAMES.iter().filter(|name| **name != "portable4") {
            best = detect(name).unwrap_or(best);
        }
        best
    }

    /// The backend of this name.
    ///
    /// # Errors
    /// [`Error::UnknownBackend`] for a name that isn't listed, [`Error::BackendUnavailable`] where the CPU lacks it,
    /// [`Error::BackendNotBuilt`] where this build does.
    pub fn named(name: &str) -> Result<Self, Error> {
        detect(name)
    }

    /// The backend that new keys use: the one that the environment variable `SEALCOMB_BACKEND` names, else the best.
    /// The variable is read once, on the first call; without the feature `std` it isn't read.
    ///
    /// # Errors
    /// As [`Backend::named`], when the variable names no backend, or one that this CPU or this build lacks.
    pub fn selected() -> Result<Self, Error> {
        #[cfg(feature = "std")]
        {
            static SELECTED: std::sync::OnceLock<Result<Backend, Error>> = std::sync::OnceLock::new();
            *SELECTED.get_or_init(|| match std::env::var_os("SEALCOMB_BACKEND") {
                Some(name) => detect(name.to_str().unwrap_or("")),
                None => Ok(Self::best()),
            })
        }
        #[cfg(not(feature = "std"))]
        Ok(Self::best())
    }

    /// The CPU features that the backend of this name needs; empty for the portable ones.
    pub fn needs(name: &str) -> &'static [&'static str] {
        needs(name)
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Drops a value and returns the bytes that then stand in its place: for tests of what a drop leaves behind.
#[cfg(test)]
pub(crate) fn after_drop<T>(value: T) -> alloc::vec::Vec<u8> {
    let mut value = core::mem::MaybeUninit::new(value);
    // SAFETY: the value was just written, and is dropped once.
    unsafe { value.assume_init_drop() };
    let bytes = value.as_ptr().cast::<u8>();
    // SAFETY: its memory stays. What a drop that wipes leaves is initialized; a drop that doesn't may leave padding, which no
    // test should read, but which to read has no effect but a byte of any value where the read is volatile.
    (0..size_of::<T>()).map(|i| unsafe { bytes.add(i).read_volatile() }).collect()
}
