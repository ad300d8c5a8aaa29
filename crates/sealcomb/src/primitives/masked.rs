//! The cipher with masks before and after it, Rogaway's XEX (ASIACRYPT 2004):
//!
//! ```text
//! x ← E(x ⊕ masks) ⊕ masks
//! ```
//!
//! The masks are added to the first and the last round key, so that no block waits for its mask.

use super::aes::Shared;
use crate::backend::{Isa, RoundKeys, SoftAes, Weave};

/// Encrypts or decrypts blocks with masks, with the pieces of `weave` between the rounds.
#[inline(always)]
pub(crate) fn crypt_masked<B: Isa, W: Weave<B>, const R: usize, const OPENS: bool>(
    b: B,
    keys: Shared<'_>,
    x: &mut [B::V; R],
    masks: [B::V; R],
    weave: &mut W,
) {
    if B::SOFT {
        add(b, x, &masks);
        crypt::<_, _, _, R, OPENS>(b, keys, x, weave);
        add(b, x, &masks);
    } else {
        let rounds = RoundKeys::<B>::rounds(keys);
        crypt::<_, _, _, R, OPENS>(b, Masked::<B, R> { keys, rounds, masks }, x, weave);
    }
}

#[inline(always)]
fn add<B: Isa, const R: usize>(b: B, x: &mut [B::V; R], masks: &[B::V; R]) {
    for r in 0..R {
        x[r] = b.xor(x[r], masks[r]);
    }
}

#[inline(always)]
fn crypt<B: Isa, K: RoundKeys<B>, W: Weave<B>, const R: usize, const OPENS: bool>(
    b: B,
    keys: K,
    x: &mut [B::V; R],
    weave: &mut W,
) {
    if OPENS {
        b.decrypt_with(keys, x, weave);
    } else {
        b.encrypt_with(keys, x, weave);
    }
}

/// Round keys with a mask for each register in the first and the last one.
#[derive(Clone, Copy)]
struct Masked<'k, B: Isa, const R: usize> {
    keys: Shared<'k>,
    rounds: usize,
    masks: [B::V; R],
}

impl<B: Isa, const R: usize> RoundKeys<B> for Masked<'_, B, R> {
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
        RoundKeys::<B>::soft(&self.keys, lane)
    }

    #[inline(always)]
    fn hidden(self) -> Self {
        Self { keys: RoundKeys::<B>::hidden(self.keys), ..self }
    }
}
