//! `neon-sha3`: the implementation of `neon.rs`, compiled for CPUs that also have SHA-3 (Armv8.4: Graviton 3,
//! Apple's M1).
//!
//! Two of the SHA-3 instructions, `EOR3` and `BCAX`, combine three registers. The compiler selects them by itself.

use super::neon::Armv8;
use super::{Kernel, features, token};

token! {
    /// Proof that the CPU has AES, PMULL and SHA-3.
    NeonSha3, ["neon", "aes", "sha3"]
}

// SAFETY: only `detect` creates a token, after finding NEON, AES, PMULL and SHA-3.
unsafe impl Armv8 for NeonSha3 {
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        self.enter(kernel)
    }
}
