//! Backends: operations on registers of 1, 2 or 4 AES blocks, and the only `unsafe` code of the library.
//!
//! [`Isa`] declares the operations; one file per CPU generation implements them. A [`Backend`] proves that this CPU
//! has the instructions of one implementation; only detection creates it. All code above this module is safe,
//! generic over `B: Isa`, and marked `#[inline(always)]`. It enters a backend through [`Backend::run`], the only
//! place that enables the CPU features.
#![allow(unsafe_code)]

#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod aesni;
#[cfg(target_arch = "x86_64")]
mod features;
mod flight;
mod isa;
mod lane_pointers;
mod lines;
mod mode_state;
mod part;
mod portable;
mod probe;
mod rounds;
mod span;
#[cfg(target_arch = "x86_64")]
mod vaes256;
#[cfg(target_arch = "x86_64")]
mod vaes512;
mod vendor;
mod wiped;

use core::fmt;

pub(crate) use flight::{Columns, Exponents, FLIGHT, Flight, Index, Member, Secrets, Tags, Tail, Tails};
pub(crate) use isa::{BLOCK, Block, Isa, REGISTERS, RoundKeys, Square, Weave, hidden};
pub(crate) use lane_pointers::{LINE, LanePointers, Scratch, SquareAt};
pub(crate) use lines::{LANES, LastBlocks, Line, Lines, STEPS, Texts};
pub(crate) use mode_state::ModeState;
pub(crate) use part::{read_part, write_part};
pub(crate) use portable::SoftAes;
pub(crate) use probe::{Probe, TopBit};
pub(crate) use span::{Chunk, Span, Spans};
pub(crate) use vendor::has_two_wide_aes_units;
pub(crate) use wiped::Wiped;

use crate::Error;

/// Safe generic code to run on a backend, with its arguments as fields.
pub(crate) trait Kernel {
    type Output;
    /// Runs the kernel. Implementations, and all generic functions they call, must be `#[inline(always)]`. All of them
    /// but measurements require only [`Isa`].
    fn run<B: Probe>(self, b: B) -> Self::Output;
}

/// Declares a backend's token: the zero-size proof of detection. The list of CPU features serves both detection and
/// the function that enables them. The architecture's `features` module must be in scope.
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
                // A method of the kernel: the compiler translates a method together with its type's module. Functions
                // of this module would form one unit per backend, too few to keep all cores busy.
                trait Enter: $crate::backend::Kernel {
                    unsafe fn enter(self, token: $Token) -> Self::Output;
                }
                impl<K: $crate::backend::Kernel> Enter for K {
                    $(#[target_feature(enable = $feature)])*
                    #[inline(never)]
                    unsafe fn enter(self, token: $Token) -> K::Output {
                        self.run(token)
                    }
                }
                // SAFETY: only `detect` creates a token, after finding every feature that the method enables.
                unsafe { Enter::enter(kernel, self) }
            }
        }
    };
}
#[allow(unused_imports, reason = "as above")]
use token;

/// Declares the backends from slow to fast, in groups. Each group has the condition under which it is compiled in,
/// and the text that [`Error::BackendNotBuilt`] shows otherwise.
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
            /// Returns the name of this backend, as [`Backend::named`] and `SEALCOMB_BACKEND` take it.
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($(#[cfg($cfg)] Token::$Variant(_) => $name,)*)*
                }
            }

            /// Returns the number of 16-byte blocks in a register: 1, 2 or 4.
            pub(crate) fn blocks(self) -> usize {
                match self.0 {
                    $($(#[cfg($cfg)] Token::$Variant(_) => <$Token as Isa>::BLOCKS,)*)*
                }
            }

            /// Returns the number of messages that a chained mode processes at a time if the batch is large enough.
            pub(crate) fn lanes(self) -> usize {
                match self.0 {
                    $($(#[cfg($cfg)] Token::$Variant(_) => <$Token as Isa>::BLOCKS * <$Token as Isa>::CHAINS,)*)*
                }
            }

            /// Returns whether AES keys are [`SoftAes`] instead of round keys.
            pub(crate) fn is_soft(self) -> bool {
                match self.0 {
                    $($(#[cfg($cfg)] Token::$Variant(_) => <$Token as Isa>::SOFT,)*)*
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
    #[cfg(feature = "unstable-reference")] needs "the feature `unstable-reference`" {
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

/// The implementation of the algorithms for one set of CPU instructions. A value of this type proves that this CPU
/// has these instructions.
///
/// | name | register | CPU features |
/// |---|---|---|
/// | `portable` | 1 block | none; constant-time RustCrypto AES |
/// | `portable4` | 4 blocks | none; tests the code for four blocks on any CPU; requires the feature `unstable-reference` |
/// | `neon` | 1 block | AES and PMULL of Armv8 |
/// | `neon-sha3` | 1 block | AES, PMULL and SHA-3, whose `EOR3` XORs three registers |
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
    /// Returns the names of all backends, slow to fast, including those that this CPU or this build lacks.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().copied()
    }

    /// Returns the backends that this build has and this CPU and its operating system support, slow to fast.
    pub fn available() -> impl Iterator<Item = Self> {
        NAMES.iter().filter_map(|name| detect(name).ok())
    }

    /// Returns the fastest backend that this CPU and its operating system support.
    pub fn best() -> Self {
        let mut best = Self(Token::Portable(portable::Portable));
        for name in NAMES.iter().filter(|name| **name != "portable4") {
            best = detect(name).unwrap_or(best);
        }
        best
    }

    /// Returns the backend called `name`.
    ///
    /// # Errors
    /// - [`Error::UnknownBackend`] if no backend has this name
    /// - [`Error::BackendUnavailable`] if the CPU or the operating system does not support it
    /// - [`Error::BackendNotBuilt`] if it is not part of this build
    pub fn named(name: &str) -> Result<Self, Error> {
        detect(name)
    }

    /// Returns the backend that new keys use: the one named by the environment variable `SEALCOMB_BACKEND` if it is
    /// set, otherwise [`Backend::best`]. The variable is read once, on the first call, and only with the feature
    /// `std`.
    ///
    /// # Errors
    /// The errors of [`Backend::named`] for the value of the variable.
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

    /// Returns the CPU features that the backend called `name` requires. The list is empty for the portable
    /// backends, and for those that this build lacks.
    pub(crate) fn needs(name: &str) -> &'static [&'static str] {
        needs(name)
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Drops a value and returns the bytes that remain in its memory. For tests of zeroization.
#[cfg(test)]
pub(crate) fn after_drop<T>(value: T) -> alloc::vec::Vec<u8> {
    let mut value = core::mem::MaybeUninit::new(value);
    // SAFETY: the value was just written, and is dropped once.
    unsafe { value.assume_init_drop() };
    let bytes = value.as_ptr().cast::<u8>();
    // SAFETY: the memory outlives the value. A drop that zeroizes leaves it initialized. Any other drop may leave
    // padding, which tests should not read; a volatile read of it yields an arbitrary byte and has no other effect.
    (0..size_of::<T>()).map(|i| unsafe { bytes.add(i).read_volatile() }).collect()
}
