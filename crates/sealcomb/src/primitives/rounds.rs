//! The ciphers of two-layer modes, round by round: AES or its inverse, with all rounds or with six.
//!
//! ```text
//! begin:  x ← x ⊕ K_0
//! round:  x ← round(x, K_i)                  i = 1, …, ROUNDS
//! end:    additional rounds of longer keys, and the last round
//! ```

use core::hint::black_box;

use super::aes::{KeySchedule, Shared};
use crate::backend::{Isa, RoundKeys, Weave};

/// The cipher of a layer. Its rounds are straight-line code, so that a mode can interleave other work with them.
pub(crate) trait LayerCipher {
    /// Number of rounds between [`LayerCipher::begin`] and [`LayerCipher::end`].
    const ROUNDS: usize;

    /// Returns the round keys.
    fn keys(key: &KeySchedule) -> Shared<'_>;
    /// Does what precedes the rounds.
    #[inline(always)]
    fn begin<B: Isa, const R: usize>(b: B, _: &KeySchedule, keys: Shared<'_>, x: &mut [B::V; R]) {
        add_key(b, keys, 0, x);
    }
    /// Computes round `i`, counted from 1.
    fn round<B: Isa, const R: usize>(b: B, keys: Shared<'_>, i: usize, x: &mut [B::V; R]);
    /// Computes the last round, after the additional rounds of longer keys.
    fn end<B: Isa, const R: usize>(b: B, keys: Shared<'_>, x: &mut [B::V; R]);

    /// Applies the cipher to every block of `x`.
    #[inline(always)]
    fn run<B: Isa, const R: usize>(b: B, key: &KeySchedule, x: &mut [B::V; R]) {
        let keys = black_box(Self::keys(key));
        Self::begin(b, key, keys, x);
        for i in 1..=Self::ROUNDS {
            Self::round(b, keys, i, x);
        }
        Self::end(b, keys, x);
    }
}

/// Applies a cipher to every block of `x`, and another cipher with the same key and number of rounds to every block
/// of `y`. Rounds of the two alternate, followed by a piece of `weave`, and are pinned to this order. The compiler
/// would place one cipher after the other. Each would wait for its own results, and CPUs do not look ahead far enough
/// to overlap them.
#[inline(always)]
pub(crate) fn run_both<C: LayerCipher, D: LayerCipher, B: Isa, W: Weave<B>, const R: usize>(
    b: B,
    key: &KeySchedule,
    x: &mut [B::V; R],
    y: &mut [B::V; R],
    weave: &mut W,
) {
    const { assert!(C::ROUNDS == D::ROUNDS) };
    let (x_keys, y_keys) = (black_box(C::keys(key)), black_box(D::keys(key)));
    C::begin(b, key, x_keys, x);
    D::begin(b, key, y_keys, y);
    each_round!(I => {
        if I <= C::ROUNDS {
            C::round(b, x_keys, I, x);
            D::round(b, y_keys, I, y);
            each_register!(R, r => {
                x[r] = b.pin(x[r]);
                y[r] = b.pin(y[r]);
            });
            weave.thread(b, I - 1);
        }
    });
    C::end(b, x_keys, x);
    D::end(b, y_keys, y);
}

/// AES, or its inverse.
pub(crate) struct Aes<const INVERSE: bool>;

pub(crate) type Encrypt = Aes<false>;
pub(crate) type Decrypt = Aes<true>;

impl<const INVERSE: bool> LayerCipher for Aes<INVERSE> {
    const ROUNDS: usize = 9;

    #[inline(always)]
    fn keys(key: &KeySchedule) -> Shared<'_> {
        if INVERSE { key.decrypting() } else { key.encrypting() }
    }

    #[inline(always)]
    fn round<B: Isa, const R: usize>(b: B, keys: Shared<'_>, i: usize, x: &mut [B::V; R]) {
        each_register!(R, r => {
            let key = keys.key(b, i, r);
            x[r] = if INVERSE { b.aes_inv_round(x[r], key) } else { b.aes_round(x[r], key) };
        });
    }

    #[inline(always)]
    fn end<B: Isa, const R: usize>(b: B, keys: Shared<'_>, x: &mut [B::V; R]) {
        let rounds = RoundKeys::<B>::rounds(keys);
        for i in Self::ROUNDS + 1..rounds {
            Self::round(b, keys, i, x);
        }
        each_register!(R, r => {
            let key = keys.key(b, rounds, r);
            x[r] = if INVERSE { b.aes_inv_last(x[r], key) } else { b.aes_last(x[r], key) };
        });
    }

    /// Uses the backend's fastest code.
    #[inline(always)]
    fn run<B: Isa, const R: usize>(b: B, key: &KeySchedule, x: &mut [B::V; R]) {
        if INVERSE {
            b.decrypt(key.decrypting(), x);
        } else {
            b.encrypt(key.encrypting(), x);
        }
    }
}

/// The first six rounds of AES. The last of them includes `MixColumns`.
pub(crate) struct EncryptSix;

impl LayerCipher for EncryptSix {
    const ROUNDS: usize = 5;

    #[inline(always)]
    fn keys(key: &KeySchedule) -> Shared<'_> {
        key.encrypting()
    }

    #[inline(always)]
    fn round<B: Isa, const R: usize>(b: B, keys: Shared<'_>, i: usize, x: &mut [B::V; R]) {
        Encrypt::round(b, keys, i, x);
    }

    #[inline(always)]
    fn end<B: Isa, const R: usize>(b: B, keys: Shared<'_>, x: &mut [B::V; R]) {
        Encrypt::round(b, keys, 6, x);
    }
}

/// The inverse of [`EncryptSix`].
pub(crate) struct DecryptSix;

impl LayerCipher for DecryptSix {
    const ROUNDS: usize = 5;

    #[inline(always)]
    fn keys(key: &KeySchedule) -> Shared<'_> {
        key.decrypting()
    }

    /// Adds round key 6 and inverts the sixth round's `MixColumns`. The remaining rounds are those of the equivalent
    /// inverse cipher.
    #[inline(always)]
    fn begin<B: Isa, const R: usize>(b: B, key: &KeySchedule, _: Shared<'_>, x: &mut [B::V; R]) {
        add_key(b, key.encrypting(), 6, x);
        each_register!(R, r => {
            x[r] = b.aes_inv_mix(x[r]);
        });
    }

    #[inline(always)]
    fn round<B: Isa, const R: usize>(b: B, keys: Shared<'_>, i: usize, x: &mut [B::V; R]) {
        Decrypt::round(b, keys, RoundKeys::<B>::rounds(keys) - 6 + i, x);
    }

    #[inline(always)]
    fn end<B: Isa, const R: usize>(b: B, keys: Shared<'_>, x: &mut [B::V; R]) {
        let rounds = RoundKeys::<B>::rounds(keys);
        each_register!(R, r => {
            x[r] = b.aes_inv_last(x[r], keys.key(b, rounds, r));
        });
    }
}

/// Adds a round key to every block of `x`.
#[inline(always)]
fn add_key<B: Isa, K: RoundKeys<B>, const R: usize>(b: B, keys: K, round: usize, x: &mut [B::V; R]) {
    each_register!(R, r => {
        x[r] = b.xor(x[r], keys.key(b, round, r));
    });
}
