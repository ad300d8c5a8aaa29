//! AES and its inverse by single rounds (FIPS 197), on `R` registers.
//!
//! ```text
//! x ← x ⊕ K_0
//! x ← round(x, K_i)                              i = 1, …, rounds - 1
//! x ← last round(x, K_rounds)
//! ```
//!
//! The nine full rounds of every key size are straight-line code, so that the pieces of work between them are too. The
//! additional rounds of longer keys are a loop. The address of the keys is hidden from the compiler: otherwise it loads all
//! round keys ahead of the loop over the blocks, runs out of registers, and spills copies of them to the stack.

use super::{Isa, RoundKeys, Weave};

/// Adds round key 0.
#[inline(always)]
pub(super) fn add_first_key<B: Isa, K: RoundKeys<B>, const R: usize>(b: B, keys: K, x: &mut [B::V; R]) {
    each_register!(R, r => {
        x[r] = b.xor(x[r], keys.key(b, 0, r));
    });
}

/// Computes full round `i`.
#[inline(always)]
pub(super) fn round<B: Isa, K: RoundKeys<B>, const R: usize, const INVERSE: bool>(
    b: B,
    keys: K,
    i: usize,
    x: &mut [B::V; R],
) {
    each_register!(R, r => {
        let key = keys.key(b, i, r);
        x[r] = if INVERSE { b.aes_inv_round(x[r], key) } else { b.aes_round(x[r], key) };
    });
}

/// Computes the rounds from round `FROM` on, with the `R` pieces of `weave` between them.
#[inline(always)]
pub(super) fn from<B: Isa, K, W: Weave<B>, const R: usize, const FROM: usize, const INVERSE: bool>(
    b: B,
    keys: K,
    x: &mut [B::V; R],
    weave: &mut W,
) where
    K: RoundKeys<B>,
{
    let rounds = keys.rounds();
    // The compiler unrolls a loop around short pieces, but only of all nine rounds.
    if W::LONG || FROM > 1 {
        each_round!(I => {
            if I >= FROM {
                round_with::<B, K, W, R, FROM, INVERSE>(b, keys, I, x, weave);
            }
        });
    } else {
        for i in FROM..10 {
            round_with::<B, K, W, R, FROM, INVERSE>(b, keys, i, x, weave);
        }
    }
    for i in 10..rounds {
        round::<B, K, R, INVERSE>(b, keys, i, x);
    }
    each_register!(R, r => {
        let key = keys.last_key(b, r);
        x[r] = if INVERSE { b.aes_inv_last(x[r], key) } else { b.aes_last(x[r], key) };
    });
}

/// Computes round `i`, then the next piece of `weave`.
#[inline(always)]
fn round_with<B: Isa, K, W: Weave<B>, const R: usize, const FROM: usize, const INVERSE: bool>(
    b: B,
    keys: K,
    i: usize,
    x: &mut [B::V; R],
    weave: &mut W,
) where
    K: RoundKeys<B>,
{
    round::<B, K, R, INVERSE>(b, keys, i, x);
    if W::LONG {
        each_register!(R, r => {
            x[r] = b.pin(x[r]);
        });
    }
    if i < FROM + R {
        weave.thread(b, i - FROM);
    }
}
