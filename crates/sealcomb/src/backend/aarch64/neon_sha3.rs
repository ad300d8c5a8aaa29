//! One block a register, as in `neon.rs`, where the CPU has the instructions for SHA-3 too (Armv8.4: Graviton 3, Apple's M1).
//!
//! Two of those, `eor3` and `bcax`, are sums of three registers. The compiler takes them by itself where it may.

use super::neon::Armv8;
use super::{Kernel, features, token};

token! {
    /// Proof that the CPU has AES, PMULL and SHA-3.
    NeonSha3, ["neon", "aes", "sha3"]
}

// SAFETY: a token exists only where `detect` found NEON, AES and PMULL, and SHA-3 too.
unsafe impl Armv8 for NeonSha3 {
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        self.enter(kernel)
    }
}
