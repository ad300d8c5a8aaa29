//! AEGIS-128L and AEGIS-256 (RFC 10032), with the specification's letters. The state `S` is eight or six blocks. An
//! update of AEGIS-128L takes two blocks of a string, one of AEGIS-256 takes one.
//!
//! ```text
//! S ← Init(K, N)
//! for each part a of the additional data: Update(a)
//! for each part x of the message:
//!     c ← x ⊕ z(S)
//!     Update(x)
//! T ← Finalize(8 |A|, 8 |M|)
//! ```
//!
//! The last part of a string is zero-padded. An update is one AES round of each block of the state, so messages are
//! processed one per lane, and each block of the state is a register.

use super::Mode;
use crate::backend::{Backend, Block, Isa};
use crate::engine::wide::{self, Wide};
use crate::engine::{Batch, Material};

/// AEGIS-128L.
pub(crate) struct Aegis128L;

/// AEGIS-256.
pub(crate) struct Aegis256;

impl Mode for Aegis128L {
    fn aes_key<'k>(&self, _: &'k [u8]) -> &'k [u8] {
        &[]
    }

    fn expand_key(&self, _: Backend, key: &[u8], material: &mut Material) {
        store_key(key, material);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        wide::run::<Crypt128L<false>, 8, 2>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        wide::run::<Crypt128L<true>, 8, 2>(batch);
    }
}

impl Mode for Aegis256 {
    fn aes_key<'k>(&self, _: &'k [u8]) -> &'k [u8] {
        &[]
    }

    fn expand_key(&self, _: Backend, key: &[u8], material: &mut Material) {
        store_key(key, material);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        wide::run::<Crypt256<false>, 6, 1>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        wide::run::<Crypt256<true>, 6, 1>(batch);
    }
}

/// Stores a key of one or two blocks.
fn store_key(key: &[u8], material: &mut Material) {
    for (subkey, block) in material.subkeys.iter_mut().zip(key.as_chunks().0) {
        *subkey = *block;
    }
}

/// The first Fibonacci numbers modulo 256.
const C0: Block = 0x0001_0102_0305_080d_1522_3759_90e9_7962_u128.to_be_bytes();
const C1: Block = 0xdb3d_1855_6dc2_2ff1_2011_3142_73b5_28dd_u128.to_be_bytes();

/// One direction of AEGIS-128L.
struct Crypt128L<const OPENS: bool>;

impl<const OPENS: bool> Wide<8, 2> for Crypt128L<OPENS> {
    const OPENS: bool = OPENS;

    #[inline(always)]
    fn init<B: Isa>(b: B, key: impl Fn(usize) -> B::V, nonce: impl Fn(usize) -> B::V) -> [B::V; 8] {
        let (k, n) = (key(0), nonce(0));
        let (c0, c1) = (b.splat(&C0), b.splat(&C1));
        let kn = b.xor(k, n);
        let mut s = [kn, c1, c0, c1, kn, b.xor(k, c0), b.xor(k, c1), b.xor(k, c0)];
        for _ in 0..10 {
            Self::update(b, &mut s, [n, k]);
        }
        s
    }

    #[inline(always)]
    fn update<B: Isa>(b: B, s: &mut [B::V; 8], [m0, m1]: [B::V; 2]) {
        let [s0, s1, s2, s3, s4, s5, s6, s7] = *s;
        let keys = [b.xor(s0, m0), s1, s2, s3, b.xor(s4, m1), s5, s6, s7];
        *s = b.aes_round_each([s7, s0, s1, s2, s3, s4, s5, s6], keys);
    }

    #[inline(always)]
    fn add_keystream<B: Isa>(b: B, s: &[B::V; 8], [x0, x1]: [B::V; 2]) -> [B::V; 2] {
        let [_, s1, s2, s3, _, s5, s6, s7] = *s;
        [b.xor3(b.xor_and(s1, s2, s3), s6, x0), b.xor3(b.xor_and(s5, s6, s7), s2, x1)]
    }

    #[inline(always)]
    fn finalize<B: Isa>(b: B, mut s: [B::V; 8], lengths: B::V) -> B::V {
        let t = b.xor(s[2], lengths);
        for _ in 0..7 {
            Self::update(b, &mut s, [t, t]);
        }
        b.xor3(b.xor3(s[0], s[1], s[2]), b.xor3(s[3], s[4], s[5]), s[6])
    }
}

/// One direction of AEGIS-256.
struct Crypt256<const OPENS: bool>;

impl<const OPENS: bool> Wide<6, 1> for Crypt256<OPENS> {
    const OPENS: bool = OPENS;

    #[inline(always)]
    fn init<B: Isa>(b: B, key: impl Fn(usize) -> B::V, nonce: impl Fn(usize) -> B::V) -> [B::V; 6] {
        let (k0, k1) = (key(0), key(1));
        let (c0, c1) = (b.splat(&C0), b.splat(&C1));
        let (kn0, kn1) = (b.xor(k0, nonce(0)), b.xor(k1, nonce(1)));
        let mut s = [kn0, kn1, c1, c0, b.xor(k0, c0), b.xor(k1, c1)];
        for _ in 0..4 {
            for m in [k0, k1, kn0, kn1] {
                Self::update(b, &mut s, [m]);
            }
        }
        s
    }

    #[inline(always)]
    fn update<B: Isa>(b: B, s: &mut [B::V; 6], [m]: [B::V; 1]) {
        let [s0, s1, s2, s3, s4, s5] = *s;
        *s = b.aes_round_each([s5, s0, s1, s2, s3, s4], [b.xor(s0, m), s1, s2, s3, s4, s5]);
    }

    #[inline(always)]
    fn add_keystream<B: Isa>(b: B, s: &[B::V; 6], [x]: [B::V; 1]) -> [B::V; 1] {
        let [_, s1, s2, s3, s4, s5] = *s;
        [b.xor3(b.xor_and(s1, s2, s3), b.xor(s4, s5), x)]
    }

    #[inline(always)]
    fn finalize<B: Isa>(b: B, mut s: [B::V; 6], lengths: B::V) -> B::V {
        let t = b.xor(s[3], lengths);
        for _ in 0..7 {
            Self::update(b, &mut s, [t]);
        }
        b.xor3(b.xor3(s[0], s[1], s[2]), b.xor(s[3], s[4]), s[5])
    }
}
