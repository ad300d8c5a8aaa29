//! Serpent (Anderson, Biham, Knudsen 1998), bitsliced, with the paper's letters: `K_i` are round keys, `S_i` S-boxes,
//! and `LT` is the linear transformation.
//!
//! ```text
//! for i = 0, …, 30:  x ← LT(S_{i mod 8}(x ⊕ K_i))
//! x ← S_7(x ⊕ K_31) ⊕ K_32
//! ```
//!
//! Four registers of blocks are transposed into four registers of words: register `i` contains word `i` of every
//! block. In this form, which the paper calls bitslice mode, the S-boxes are Boolean formulas on whole registers,
//! without tables or branches. Two such groups pass through the rounds together, since one group leaves the CPU
//! waiting.
//!
//! Blocks are in the byte order of NESSIE: words are little-endian. The round keys differ from the paper's by
//! constant complements; see [`KeySchedule`].

mod boxes;

use core::ops::{BitAnd, BitOr, BitXor, Not};

use zeroize::Zeroize;

use self::boxes::{FORWARD_COMPLEMENTS, INVERSE_COMPLEMENTS, forward, inverse};
use super::permutation::Permutation;
use crate::backend::{BLOCK, Block, Isa, Kernel, REGISTERS, Weave};

/// Number of round keys.
const ROUND_KEYS: usize = 33;

/// A round key or a block: four little-endian words.
type Quad = [u32; 4];

/// The words of four registers of blocks.
type Group<B> = [Words<B>; 4];

/// An expanded Serpent key, for encryption and for decryption.
///
/// The round keys are the XOR of the paper's and the complements that the formulas of the S-boxes leave in their
/// outputs.
#[repr(align(64))]
pub(crate) struct KeySchedule {
    encrypting: [Quad; ROUND_KEYS],
    // In the order of their use, beginning with `K_32`.
    decrypting: [Quad; ROUND_KEYS],
}

impl KeySchedule {
    /// Expands a key of 16, 24 or 32 bytes.
    pub(crate) fn new(key: &[u8]) -> Self {
        let mut keys = expand(key);
        let mut schedule = Self { encrypting: keys, decrypting: keys };
        schedule.decrypting.reverse();
        for r in 0..32 {
            let left = complements(FORWARD_COMPLEMENTS[r % 8]);
            let left = if r == 31 { left } else { linear(left) };
            add(&mut schedule.encrypting[r + 1], left);
            add(&mut schedule.decrypting[32 - r], complements(INVERSE_COMPLEMENTS[r % 8]));
        }
        keys.zeroize();
        schedule
    }

    /// Returns the round keys for encryption, for all lanes.
    #[inline(always)]
    pub(crate) fn encrypting(&self) -> Shared<'_> {
        Shared(&self.encrypting)
    }

    /// Returns the round keys for decryption, for all lanes.
    #[inline(always)]
    pub(crate) fn decrypting(&self) -> Shared<'_> {
        Shared(&self.decrypting)
    }
}

/// Returns the round keys `K_0` to `K_32`. A key shorter than 32 bytes is padded with a one bit and zeros. An affine
/// recurrence expands it into words, which the S-boxes turn into round keys.
fn expand(key: &[u8]) -> [Quad; ROUND_KEYS] {
    /// The fractional part of the golden ratio.
    const PHI: u32 = 0x9e37_79b9;
    let mut padded = [0; 32];
    padded[..key.len()].copy_from_slice(key);
    if let Some(byte) = padded.get_mut(key.len()) {
        *byte = 1;
    }
    let mut w = [0; 8 + 4 * ROUND_KEYS];
    for (w, bytes) in w.iter_mut().zip(padded.as_chunks().0) {
        *w = u32::from_le_bytes(*bytes);
    }
    for i in 8..w.len() {
        let sum = w[i - 8] ^ w[i - 5] ^ w[i - 3] ^ w[i - 1];
        w[i] = (sum ^ PHI ^ (i as u32 - 8)).rotate_left(11);
    }
    let mut keys = [[0; 4]; ROUND_KEYS];
    for (i, (key, words)) in keys.iter_mut().zip(w[8..].as_chunks().0).enumerate() {
        *key = match i % 8 {
            0 => substitute::<3>(*words),
            1 => substitute::<2>(*words),
            2 => substitute::<1>(*words),
            3 => substitute::<0>(*words),
            4 => substitute::<7>(*words),
            5 => substitute::<6>(*words),
            6 => substitute::<5>(*words),
            _ => substitute::<4>(*words),
        };
    }
    padded.zeroize();
    w.zeroize();
    keys
}

/// Applies `S_I` to each bit position of four words.
fn substitute<const I: usize>(words: Quad) -> Quad {
    let mut y = forward::<I, _>(words);
    add(&mut y, complements(FORWARD_COMPLEMENTS[I]));
    y
}

/// Returns words of ones for the outputs that an S-box's formulas complement.
fn complements(nibble: u8) -> Quad {
    core::array::from_fn(|i| u32::from(nibble >> i & 1).wrapping_neg())
}

/// Computes `sum ← sum ⊕ quad`.
fn add(sum: &mut Quad, quad: Quad) {
    for (s, q) in sum.iter_mut().zip(quad) {
        *s ^= q;
    }
}

/// Words that can be rotated and shifted.
trait Rotate: boxes::Words {
    fn rotate_left(self, n: u32) -> Self;
    fn shift_left(self, n: u32) -> Self;

    #[inline(always)]
    fn rotate_right(self, n: u32) -> Self {
        self.rotate_left(32 - n)
    }
}

/// Computes `LT`.
#[inline(always)]
fn linear<W: Rotate>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let x0 = x0.rotate_left(13);
    let x2 = x2.rotate_left(3);
    let x1 = (x1 ^ x0 ^ x2).rotate_left(1);
    let x3 = (x3 ^ x2 ^ x0.shift_left(3)).rotate_left(7);
    let x0 = (x0 ^ x1 ^ x3).rotate_left(5);
    let x2 = (x2 ^ x3 ^ x1.shift_left(7)).rotate_left(22);
    [x0, x1, x2, x3]
}

/// Computes `LT⁻¹`.
#[inline(always)]
fn inverse_linear<W: Rotate>([x0, x1, x2, x3]: [W; 4]) -> [W; 4] {
    let x2 = x2.rotate_right(22) ^ x3 ^ x1.shift_left(7);
    let x0 = x0.rotate_right(5) ^ x1 ^ x3;
    let x3 = x3.rotate_right(7) ^ x2 ^ x0.shift_left(3);
    let x1 = x1.rotate_right(1) ^ x0 ^ x2;
    [x0.rotate_right(13), x1, x2.rotate_right(3), x3]
}

impl boxes::Words for u32 {}

impl Rotate for u32 {
    fn rotate_left(self, n: u32) -> Self {
        self.rotate_left(n)
    }

    fn shift_left(self, n: u32) -> Self {
        self << n
    }
}

/// The words of a register.
#[derive(Clone, Copy)]
struct Words<B: Isa> {
    b: B,
    v: B::V,
}

/// Implements operators that are a single operation of the backend.
macro_rules! operators {
    ($($Operator:ident $operator:ident $verb:ident;)*) => {$(
        impl<B: Isa> $Operator for Words<B> {
            type Output = Self;

            #[inline(always)]
            fn $operator(self, other: Self) -> Self {
                Self { b: self.b, v: self.b.$verb(self.v, other.v) }
            }
        }
    )*};
}

operators! {
    BitXor bitxor xor;
    BitAnd bitand and;
    BitOr bitor or;
}

impl<B: Isa> Not for Words<B> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self { b: self.b, v: self.b.xor(self.v, self.b.splat32(u32::MAX)) }
    }
}

impl<B: Isa> boxes::Words for Words<B> {}

impl<B: Isa> Rotate for Words<B> {
    #[inline(always)]
    fn rotate_left(self, n: u32) -> Self {
        Self { b: self.b, v: self.b.rotate_left32(self.v, n) }
    }

    #[inline(always)]
    fn shift_left(self, n: u32) -> Self {
        Self { b: self.b, v: self.b.shift_left32(self.v, n) }
    }
}

/// The round keys of one direction, for all lanes.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a>(&'a [Quad; ROUND_KEYS]);

impl<B: Isa> Permutation<B> for Shared<'_> {
    #[inline(always)]
    fn encrypt_with<W: Weave<B>, const R: usize>(self, b: B, x: &mut [B::V; R], weave: &mut W) {
        self.apply::<B, R, false>(b, x);
        for piece in 0..R {
            weave.thread(b, piece);
        }
    }

    #[inline(always)]
    fn decrypt<const R: usize>(self, b: B, x: &mut [B::V; R]) {
        self.apply::<B, R, true>(b, x);
    }
}

impl Shared<'_> {
    /// Applies the cipher or its inverse to every block of `x`.
    #[inline(always)]
    fn apply<B: Isa, const R: usize, const DECRYPTS: bool>(self, b: B, x: &mut [B::V; R]) {
        let mut blocks = Blocks([[0; BLOCK]; 4 * REGISTERS]);
        for from in (0..R).step_by(REGISTERS) {
            let to = R.min(from + REGISTERS);
            for r in from..to {
                b.store(x[r], &mut blocks.0[(r - from) * B::BLOCKS..]);
            }
            b.call(Rounds::<DECRYPTS> { keys: self.0, registers: to - from, blocks: &mut blocks });
            for r in from..to {
                x[r] = b.load(&blocks.0[(r - from) * B::BLOCKS..]);
            }
        }
    }
}

/// Two groups of blocks in the widest registers.
#[repr(align(64))]
struct Blocks([Block; 4 * REGISTERS]);

/// The 32 rounds, on the first `registers` registers of `blocks`. A separate function, since it is long and many
/// kernels use it.
struct Rounds<'a, const DECRYPTS: bool> {
    keys: &'a [Quad; ROUND_KEYS],
    registers: usize,
    blocks: &'a mut Blocks,
}

impl<const DECRYPTS: bool> Kernel for Rounds<'_, DECRYPTS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        if self.registers <= 4 {
            groups::<B, 1, DECRYPTS>(b, self.keys, self.blocks);
        } else {
            groups::<B, 2, DECRYPTS>(b, self.keys, self.blocks);
        }
    }
}

/// Applies the cipher or its inverse to `G` groups of blocks.
#[inline(always)]
fn groups<B: Isa, const G: usize, const DECRYPTS: bool>(
    b: B,
    keys: &[Quad; ROUND_KEYS],
    blocks: &mut Blocks,
) {
    let mut x = [[Words { b, v: b.zero() }; 4]; G];
    for (x, blocks) in x.iter_mut().zip(blocks.0.chunks(4 * B::BLOCKS)) {
        let mut rows = [b.zero(); 4];
        for i in 0..4 {
            rows[i] = b.load(&blocks[i * B::BLOCKS..]);
        }
        let words = b.transpose32(rows);
        for i in 0..4 {
            x[i].v = words[i];
        }
    }
    if DECRYPTS {
        decrypt(b, keys, &mut x);
    } else {
        encrypt(b, keys, &mut x);
    }
    for (x, blocks) in x.iter().zip(blocks.0.chunks_mut(4 * B::BLOCKS)) {
        let columns = b.transpose32([x[0].v, x[1].v, x[2].v, x[3].v]);
        for i in 0..4 {
            b.store(columns[i], &mut blocks[i * B::BLOCKS..]);
        }
    }
}

/// Computes `x ← x ⊕ K`.
#[inline(always)]
fn add_key<B: Isa, const G: usize>(b: B, key: &Quad, x: &mut [Group<B>; G]) {
    for i in 0..4 {
        let k = Words { b, v: b.splat32(key[i]) };
        for g in 0..G {
            x[g][i] = x[g][i] ^ k;
        }
    }
}

/// Computes `x ← S_I(x)`.
#[inline(always)]
fn apply<const I: usize, B: Isa, const G: usize>(x: &mut [Group<B>; G]) {
    for g in 0..G {
        x[g] = forward::<I, _>(x[g]);
    }
}

/// Computes `x ← LT(x) ⊕ K`.
#[inline(always)]
fn mix<B: Isa, const G: usize>(b: B, key: &Quad, x: &mut [Group<B>; G]) {
    for g in 0..G {
        x[g] = linear(x[g]);
    }
    add_key(b, key, x);
}

/// Computes `x ← S_I⁻¹(x) ⊕ K`.
#[inline(always)]
fn apply_inverse<const I: usize, B: Isa, const G: usize>(b: B, key: &Quad, x: &mut [Group<B>; G]) {
    for g in 0..G {
        x[g] = inverse::<I, _>(x[g]);
    }
    add_key(b, key, x);
}

/// Computes `x ← LT⁻¹(x)`.
#[inline(always)]
fn unmix<B: Isa, const G: usize>(x: &mut [Group<B>; G]) {
    for g in 0..G {
        x[g] = inverse_linear(x[g]);
    }
}

/// Encrypts. There are eight S-boxes, so the loop body is eight rounds. The last round adds `K_32` instead of
/// applying `LT`.
#[inline(always)]
fn encrypt<B: Isa, const G: usize>(b: B, keys: &[Quad; ROUND_KEYS], x: &mut [Group<B>; G]) {
    let (eights, last) = keys.as_chunks::<8>();
    let mut eights = eights.iter();
    let mut keys = eights.next().expect("four eights of keys");
    add_key(b, &keys[0], x);
    loop {
        apply::<0, B, G>(x);
        mix(b, &keys[1], x);
        apply::<1, B, G>(x);
        mix(b, &keys[2], x);
        apply::<2, B, G>(x);
        mix(b, &keys[3], x);
        apply::<3, B, G>(x);
        mix(b, &keys[4], x);
        apply::<4, B, G>(x);
        mix(b, &keys[5], x);
        apply::<5, B, G>(x);
        mix(b, &keys[6], x);
        apply::<6, B, G>(x);
        mix(b, &keys[7], x);
        apply::<7, B, G>(x);
        match eights.next() {
            Some(next) => keys = next,
            None => return add_key(b, &last[0], x),
        }
        mix(b, &keys[0], x);
    }
}

/// Decrypts: the inverse of the rounds of [`encrypt`], in reverse order.
#[inline(always)]
fn decrypt<B: Isa, const G: usize>(b: B, keys: &[Quad; ROUND_KEYS], x: &mut [Group<B>; G]) {
    let [first, keys @ ..] = keys;
    add_key(b, first, x);
    let mut eights = keys.as_chunks::<8>().0.iter();
    let mut keys = eights.next().expect("four eights of keys");
    loop {
        apply_inverse::<7, B, G>(b, &keys[0], x);
        unmix(x);
        apply_inverse::<6, B, G>(b, &keys[1], x);
        unmix(x);
        apply_inverse::<5, B, G>(b, &keys[2], x);
        unmix(x);
        apply_inverse::<4, B, G>(b, &keys[3], x);
        unmix(x);
        apply_inverse::<3, B, G>(b, &keys[4], x);
        unmix(x);
        apply_inverse::<2, B, G>(b, &keys[5], x);
        unmix(x);
        apply_inverse::<1, B, G>(b, &keys[6], x);
        unmix(x);
        apply_inverse::<0, B, G>(b, &keys[7], x);
        match eights.next() {
            Some(next) => keys = next,
            None => return,
        }
        unmix(x);
    }
}
