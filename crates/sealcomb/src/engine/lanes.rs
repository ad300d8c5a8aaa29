//! The interface of a mode's step: one block of every message in flight, independent of the width and number of
//! registers.

use core::cell::Cell;
use core::hint::black_box;
use core::marker::PhantomData;

use crate::backend::{Block, Isa, RoundKeys, Weave};
use crate::primitives::gf128::{self, Field};

/// The operations of a step on one block per lane. The value has the lanes' keys and constants.
pub(crate) trait Lanes: Copy {
    /// One block per lane.
    type Blocks: Copy;

    /// Returns constant `number` of the chain, in every lane.
    fn constant(self, number: usize) -> Self::Blocks;
    /// Returns `block` in every lane.
    fn splat(self, block: &Block) -> Self::Blocks;
    /// Computes `a ← a ⊕ b`.
    fn xor(self, a: &mut Self::Blocks, b: &Self::Blocks);
    /// Computes `a ← a ∧ b`.
    fn and(self, a: &mut Self::Blocks, b: &Self::Blocks);
    /// Permutes the bytes of each block: byte `i` of the result is byte `order[i]`, or zero if `order[i]` is 128 or
    /// more.
    fn shuffle(self, x: &mut Self::Blocks, order: &Block);
    /// Copies `b` to `a` where the bits of `mask` are 1.
    #[inline(always)]
    fn replace(self, a: &mut Self::Blocks, b: &Self::Blocks, mask: &Self::Blocks) {
        let mut change = *a;
        self.xor(&mut change, b);
        self.and(&mut change, mask);
        self.xor(a, &change);
    }

    /// Returns these lanes with key number `key` of the chain, counted from 0.
    fn under(self, key: usize) -> Self;
    /// Computes `x ← E_K(x)` with the key of each lane's message.
    fn encrypt(self, x: &mut Self::Blocks);
    /// Computes `x ← E_K⁻¹(x)`. The lanes must have keys for decryption.
    fn decrypt(self, x: &mut Self::Blocks);
    /// Computes the first `rounds` rounds of the cipher, all of them full, including the last.
    fn full_rounds(self, rounds: usize, x: &mut Self::Blocks);

    /// Computes `x ← 2 x` in a field of 2^128 elements.
    fn double<F: Field>(self, x: &mut Self::Blocks);
    /// Computes `x ← x h`. Constants `h` to `h + 2` of the chain are the factor, as returned by [`gf128::factor`].
    fn multiply<F: Field>(self, x: &mut Self::Blocks, h: usize);
}

/// Work that is interleaved with a step's first encryption, or none.
pub(super) trait Interleaved<B: Isa>: Copy {
    type Work: Weave<B>;
    /// Returns the work in the first call, and no work in later calls.
    fn take(self) -> Self::Work;
}

impl<B: Isa> Interleaved<B> for () {
    type Work = ();

    #[inline(always)]
    fn take(self) {}
}

impl<B: Isa, W: Weave<B>> Interleaved<B> for &Cell<Option<W>> {
    type Work = Option<W>;

    #[inline(always)]
    fn take(self) -> Option<W> {
        Cell::take(self)
    }
}

/// Source of a step's constants: one for all lanes, or one per lane.
pub(super) trait Constants<B: Isa>: Copy {
    /// Number of constants.
    const COUNT: usize;
    /// Returns constant `number` for the lanes of a register.
    fn constant(self, b: B, number: usize, register: usize) -> B::V;
}

impl<B: Isa, const C: usize> Constants<B> for &[&Block; C] {
    const COUNT: usize = C;

    #[inline(always)]
    fn constant(self, b: B, number: usize, _: usize) -> B::V {
        b.splat(self[number])
    }
}

/// The constants of a step that has none.
type NoConstants = &'static [&'static Block; 0];

/// `R` registers of a backend, with `K` keys.
#[derive(Clone, Copy)]
pub(super) struct Registers<B: Isa, A, const R: usize, const K: usize = 1, C = NoConstants, W = ()> {
    b: B,
    keys: [A; K],
    // Index of the key in use.
    key: usize,
    constants: C,
    interleaved: W,
    width: PhantomData<[B; R]>,
}

impl<B: Isa, A, const R: usize, const K: usize, C: Constants<B>> Registers<B, A, R, K, C> {
    #[inline(always)]
    pub(super) fn new(b: B, keys: [A; K], constants: C) -> Self {
        Self::with(b, keys, constants, ())
    }
}

impl<B: Isa, A, const R: usize, const K: usize, C: Constants<B>, W> Registers<B, A, R, K, C, W> {
    /// Returns registers with constants that stay in memory. Without the barrier, the compiler would load the
    /// constants into registers, run out of those, and spill.
    #[inline(always)]
    pub(super) fn with(b: B, keys: [A; K], constants: C, interleaved: W) -> Self {
        let constants = if C::COUNT == 0 { constants } else { black_box(constants) };
        Self { b, keys, key: 0, constants, interleaved, width: PhantomData }
    }
}

impl<B: Isa, A: RoundKeys<B>, const R: usize, const K: usize, C: Constants<B>, W: Interleaved<B>> Lanes
    for Registers<B, A, R, K, C, W>
{
    type Blocks = [B::V; R];

    #[inline(always)]
    fn constant(self, number: usize) -> Self::Blocks {
        let mut blocks = [self.b.zero(); R];
        for r in 0..R {
            blocks[r] = self.constants.constant(self.b, number, r);
        }
        blocks
    }

    #[inline(always)]
    fn splat(self, block: &Block) -> Self::Blocks {
        [self.b.splat(block); R]
    }

    #[inline(always)]
    fn xor(self, a: &mut Self::Blocks, b: &Self::Blocks) {
        for r in 0..R {
            a[r] = self.b.xor(a[r], b[r]);
        }
    }

    #[inline(always)]
    fn and(self, a: &mut Self::Blocks, b: &Self::Blocks) {
        for r in 0..R {
            a[r] = self.b.and(a[r], b[r]);
        }
    }

    #[inline(always)]
    fn shuffle(self, x: &mut Self::Blocks, order: &Block) {
        for r in 0..R {
            x[r] = self.b.shuffle(x[r], order);
        }
    }

    #[inline(always)]
    fn under(self, key: usize) -> Self {
        Self { key, ..self }
    }

    #[inline(always)]
    fn encrypt(self, x: &mut Self::Blocks) {
        self.b.encrypt_with(self.keys[self.key], x, &mut self.interleaved.take());
    }

    #[inline(always)]
    fn decrypt(self, x: &mut Self::Blocks) {
        self.b.decrypt(self.keys[self.key], x);
    }

    #[inline(always)]
    fn full_rounds(self, rounds: usize, x: &mut Self::Blocks) {
        self.b.aes_rounds(self.keys[self.key], rounds, x);
    }

    #[inline(always)]
    fn double<F: Field>(self, x: &mut Self::Blocks) {
        for r in 0..R {
            x[r] = F::double(self.b, x[r]);
        }
    }

    #[inline(always)]
    fn multiply<F: Field>(self, x: &mut Self::Blocks, h: usize) {
        for r in 0..R {
            let constant = |number| self.constants.constant(self.b, number, r);
            let factor = [constant(h), constant(h + 1), constant(h + 2)];
            x[r] = gf128::multiply_by::<F, B>(self.b, x[r], factor);
        }
    }
}
