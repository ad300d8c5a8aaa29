//! What a mode's step sees: a block of every message in flight, whatever the registers' width and number.

use crate::backend::{Isa, RoundKeys};

/// One block of every lane, the lanes' keys, and what a mode does with them.
pub(crate) trait Lanes: Copy {
    /// A block in each lane.
    type Blocks: Copy;
    /// `a ← a ⊕ b`
    fn xor(self, a: &mut Self::Blocks, b: &Self::Blocks);
    /// `x ← E_K(x)`, in each lane under its message's key.
    fn encrypt(self, x: &mut Self::Blocks);
    /// `x ← E_K⁻¹(x)`; only where the lanes were given decrypting keys.
    fn decrypt(self, x: &mut Self::Blocks);
}

/// `R` registers of a backend, under some keys.
#[derive(Clone, Copy)]
pub(super) struct Registers<B, K, const R: usize> {
    pub(super) b: B,
    pub(super) keys: K,
}

impl<B: Isa, K: RoundKeys<B>, const R: usize> Lanes for Registers<B, K, R> {
    type Blocks = [B::V; R];

    #[inline(always)]
    fn xor(self, a: &mut Self::Blocks, b: &Self::Blocks) {
        for r in 0..R {
            a[r] = self.b.xor(a[r], b[r]);
        }
    }

    #[inline(always)]
    fn encrypt(self, x: &mut Self::Blocks) {
        self.b.encrypt(self.keys, x);
    }

    #[inline(always)]
    fn decrypt(self, x: &mut Self::Blocks) {
        self.b.decrypt(self.keys, x);
    }
}
