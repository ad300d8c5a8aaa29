//! What a mode's step sees: a block of every message in flight, whatever the registers' width and number.

use core::cell::Cell;
use core::hint::black_box;
use core::marker::PhantomData;

use crate::backend::{Block, Isa, RoundKeys, Weave};
use crate::primitives::gf128::{self, Field};

/// One block of every lane, the lanes' keys, and what a mode does with them.
pub(crate) trait Lanes: Copy {
    /// A block in each lane.
    type Blocks: Copy;

    /// The chain's constant of this number, in every lane.
    fn constant(self, number: usize) -> Self::Blocks;
    /// The same block in every lane.
    fn splat(self, block: &Block) -> Self::Blocks;
    /// `a ← a ⊕ b`
    fn xor(self, a: &mut Self::Blocks, b: &Self::Blocks);
    /// `a ← a ∧ b`
    fn and(self, a: &mut Self::Blocks, b: &Self::Blocks);
    /// Byte `i` of each block from its byte `order[i]`; zero where that is 128 or more.
    fn shuffle(self, x: &mut Self::Blocks, order: &Block);
    /// `a ← b` where the bits of `mask` are 1.
    #[inline(always)]
    fn replace(self, a: &mut Self::Blocks, b: &Self::Blocks, mask: &Self::Blocks) {
        let mut change = *a;
        self.xor(&mut change, b);
        self.and(&mut change, mask);
        self.xor(a, &change);
    }

    /// The same lanes under the chain's key of this number; the first is 0.
    fn under(self, key: usize) -> Self;
    /// `x ← E_K(x)`, in each lane under its message's key.
    fn encrypt(self, x: &mut Self::Blocks);
    /// `x ← E_K⁻¹(x)`; only where the lanes were given decrypting keys.
    fn decrypt(self, x: &mut Self::Blocks);
    /// The first `rounds` rounds of the cipher, the last of them as full as the others.
    fn full_rounds(self, rounds: usize, x: &mut Self::Blocks);

    /// `x ← 2 x` in a field of 2^128 elements.
    fn double<F: Field>(self, x: &mut Self::Blocks);
    /// `x ← x h`; the chain's three constants from number `h` on are what [`gf128::factor`] made of the factor.
    fn multiply<F: Field>(self, x: &mut Self::Blocks, h: usize);
}

/// Work beside the first call of the cipher that encrypts, or none.
pub(super) trait Beside<B: Isa>: Copy {
    type Work: Weave<B>;
    fn take(self) -> Self::Work;
}

impl<B: Isa> Beside<B> for () {
    type Work = ();

    #[inline(always)]
    fn take(self) {}
}

impl<B: Isa, W: Weave<B>> Beside<B> for &Cell<Option<W>> {
    type Work = Option<W>;

    #[inline(always)]
    fn take(self) -> Option<W> {
        Cell::take(self)
    }
}

/// Where the constants of the blocks in a register come from: the same in all lanes, or a lane's own.
pub(super) trait Constants<B: Isa>: Copy {
    /// How many there are.
    const COUNT: usize;
    /// The constant of this number for the lanes of a register.
    fn constant(self, b: B, number: usize, register: usize) -> B::V;
}

impl<B: Isa, const C: usize> Constants<B> for &[&Block; C] {
    const COUNT: usize = C;

    #[inline(always)]
    fn constant(self, b: B, number: usize, _: usize) -> B::V {
        b.splat(self[number])
    }
}

/// Those of a step that has none.
type NoConstants = &'static [&'static Block; 0];

/// `R` registers of a backend, under some keys.
#[derive(Clone, Copy)]
pub(super) struct Registers<B: Isa, A, const R: usize, const K: usize = 1, C = NoConstants, W = ()> {
    b: B,
    keys: [A; K],
    // Which of the keys is used.
    key: usize,
    constants: C,
    beside: W,
    width: PhantomData<[B; R]>,
}

impl<B: Isa, A, const R: usize, const K: usize, C: Constants<B>> Registers<B, A, R, K, C> {
    #[inline(always)]
    pub(super) fn new(b: B, keys: [A; K], constants: C) -> Self {
        Self::with(b, keys, constants, ())
    }
}

impl<B: Isa, A, const R: usize, const K: usize, C: Constants<B>, W> Registers<B, A, R, K, C, W> {
    /// Constants stay in memory: the compiler would keep them in registers, run out of those, and copy them to and fro.
    #[inline(always)]
    pub(super) fn with(b: B, keys: [A; K], constants: C, beside: W) -> Self {
        let constants = if C::COUNT == 0 { constants } else { black_box(constants) };
        Self { b, keys, key: 0, constants, beside, width: PhantomData }
    }
}

impl<B: Isa, A: RoundKeys<B>, const R: usize, const K: usize, C: Constants<B>, W: Beside<B>> Lanes
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
        self.b.encrypt_with(self.keys[self.key], x, &mut self.beside.take());
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
