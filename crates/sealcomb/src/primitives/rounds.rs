//! The cipher in one direction or the other, with all its rounds or with six.

use core::hint::black_box;

use super::aes::Schedule;
use crate::backend::{Isa, RoundKeys};

/// What a layer of a mode does with its blocks. The rounds are straight-line code: what else the mode has to do finds its
/// place beside them.
pub(crate) trait Cipher {
    /// Takes every block of `x` through the cipher.
    fn run<B: Isa, const R: usize>(b: B, key: &Schedule, x: &mut [B::V; R]);
}

/// AES.
pub(crate) struct Encrypt;

impl Cipher for Encrypt {
    #[inline(always)]
    fn run<B: Isa, const R: usize>(b: B, key: &Schedule, x: &mut [B::V; R]) {
        b.encrypt(key.encrypting(), x);
    }
}

/// The inverse of AES.
pub(crate) struct Decrypt;

impl Cipher for Decrypt {
    #[inline(always)]
    fn run<B: Isa, const R: usize>(b: B, key: &Schedule, x: &mut [B::V; R]) {
        b.decrypt(key.decrypting(), x);
    }
}

/// The first six rounds of AES, the last of them with `MixColumns` as the others.
pub(crate) struct EncryptSix;

impl Cipher for EncryptSix {
    #[inline(always)]
    fn run<B: Isa, const R: usize>(b: B, key: &Schedule, x: &mut [B::V; R]) {
        let keys = black_box(key.encrypting());
        add_key(b, keys, 0, x);
        for i in 1..=6 {
            for r in 0..R {
                x[r] = b.aes_round(x[r], keys.key(b, i, r));
            }
        }
    }
}

/// The inverse of [`EncryptSix`].
pub(crate) struct DecryptSix;

impl Cipher for DecryptSix {
    /// The sixth round's `MixColumns` is undone before the others, which come as in the equivalent inverse cipher.
    #[inline(always)]
    fn run<B: Isa, const R: usize>(b: B, key: &Schedule, x: &mut [B::V; R]) {
        let keys = black_box(key.decrypting());
        let rounds = RoundKeys::<B>::rounds(keys);
        add_key(b, key.encrypting(), 6, x);
        for r in 0..R {
            x[r] = b.aes_inv_mix(x[r]);
        }
        for i in 1..=5 {
            for r in 0..R {
                x[r] = b.aes_inv_round(x[r], keys.key(b, rounds - 6 + i, r));
            }
        }
        for r in 0..R {
            x[r] = b.aes_inv_last(x[r], keys.key(b, rounds, r));
        }
    }
}

#[inline(always)]
fn add_key<B: Isa, K: RoundKeys<B>, const R: usize>(b: B, keys: K, round: usize, x: &mut [B::V; R]) {
    for r in 0..R {
        x[r] = b.xor(x[r], keys.key(b, round, r));
    }
}
