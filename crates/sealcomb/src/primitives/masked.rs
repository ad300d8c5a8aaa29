//! The cipher with masks before and after it, Rogaway's XEX (ASIACRYPT 2004):
//!
//! ```text
//! x ← E(x ⊕ masks) ⊕ masks
//! ```
//!
//! The masks are added to the first and the last round key, so that no block waits for its mask.

use crate::backend::{Isa, RoundKeys, SoftAes, Weave};

/// Encrypts or decrypts blocks with masks, with the pieces of `weave` between the rounds.
#[inline(always)]
pub(crate) fn crypt<B: Isa, K: RoundKeys<B>, W: Weave<B>, const R: usize>(
    b: B,
    decrypts: bool,
    keys: K,
    x: &mut [B::V; R],
    masks: [B::V; R],
    weave: &mut W,
) {
    if B::SOFT {
        add(b, x, &masks);
        rounds(b, decrypts, keys, x, weave);
        add(b, x, &masks);
    } else {
        rounds(b, decrypts, Masked::<B, K, R> { keys, rounds: keys.rounds(), masks }, x, weave);
    }
}

/// Adds the masks.
#[inline(always)]
pub(crate) fn add<B: Isa, const R: usize>(b: B, x: &mut [B::V; R], masks: &[B::V; R]) {
    for r in 0..R {
        x[r] = b.xor(x[r], masks[r]);
    }
}

#[inline(always)]
fn rounds<B: Isa, K: RoundKeys<B>, W: Weave<B>, const R: usize>(
    b: B,
    decrypts: bool,
    keys: K,
    x: &mut [B::V; R],
    weave: &mut W,
) {
    if decrypts {
        b.decrypt_with(keys, x, weave);
    } else {
        b.encrypt_with(keys, x, weave);
    }
}

/// Round keys with a mask for each register in the first and the last one.
#[derive(Clone, Copy)]
struct Masked<B: Isa, K, const R: usize> {
    keys: K,
    rounds: usize,
    masks: [B::V; R],
}

impl<B: Isa, K: RoundKeys<B>, const R: usize> RoundKeys<B> for Masked<B, K, R> {
    const SHARED: bool = false;

    #[inline(always)]
    fn rounds(self) -> usize {
        self.rounds
    }

    #[inline(always)]
    fn key(self, b: B, round: usize, reg: usize) -> B::V {
        let key = self.keys.key(b, round, reg);
        if round == 0 || round == self.rounds { b.xor(key, self.masks[reg]) } else { key }
    }

    fn soft(&self, lane: usize) -> Option<&SoftAes> {
        self.keys.soft(lane)
    }

    #[inline(always)]
    fn hidden(self) -> Self {
        Self { keys: self.keys.hidden(), ..self }
    }
}
