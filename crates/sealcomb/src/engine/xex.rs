//! The cipher under a mask per block of a message: Rogaway's XEX and XE (ASIACRYPT 2004).
//!
//! ```text
//! for each block of a message:
//!     x ← E(x ⊕ mask) ⊕ mask                     XEX; XE has no mask after the cipher
//!     sum ← sum ⊕ input, or output, or neither
//! ```

use core::marker::PhantomData;

use super::blocks::{Pass, pass};
use crate::backend::{BLOCK, Isa, Span};
use crate::primitives::doubles::Doubles;
use crate::primitives::doublings::Masks;
use crate::primitives::masked;
use crate::primitives::offsets::Offsets;
use crate::primitives::permutation::Permutation;

/// The equation of a pass.
pub(crate) trait Equation {
    /// Whether masks follow the cipher, too.
    const IS_XEX: bool;
    /// Whether the pass uses the inverse of the cipher.
    const DECRYPTS: bool = false;
    /// Whether the output replaces the message.
    const WRITES: bool = true;
    const SUM: Sum;
}

/// What a pass adds up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sum {
    #[cfg(feature = "hazmat")]
    Nothing,
    Input,
    Output,
}

/// A sequence of masks.
pub(crate) trait Sequence<B: Isa> {
    /// Returns the next `count` masks in `R` registers. The registers must be full, except in the last call.
    fn take<const R: usize>(&mut self, b: B, count: usize) -> [B::V; R];
}

impl<B: Isa, const BIG_ENDIAN: bool> Sequence<B> for Doubles<B, BIG_ENDIAN> {
    #[inline(always)]
    fn take<const R: usize>(&mut self, b: B, count: usize) -> [B::V; R] {
        self.take(b, count)
    }
}

impl<B: Isa> Sequence<B> for Masks<'_> {
    #[inline(always)]
    fn take<const R: usize>(&mut self, b: B, count: usize) -> [B::V; R] {
        let mut masks = [b.zero(); R];
        for r in 0..R {
            masks[r] = self.ahead().register(b, r, 1);
        }
        self.go(b, count);
        masks
    }
}

impl<B: Isa> Sequence<B> for Offsets<'_, B> {
    #[inline(always)]
    fn take<const R: usize>(&mut self, b: B, count: usize) -> [B::V; R] {
        self.take(b, count)
    }
}

/// A pass over whole blocks of a message.
pub(crate) struct Xex<B: Isa, K, S, E> {
    keys: K,
    /// The masks of the blocks that follow.
    pub(crate) masks: S,
    /// The sum in each lane.
    pub(crate) sum: B::V,
    equation: PhantomData<E>,
}

impl<B: Isa, K: Permutation<B>, S: Sequence<B>, E: Equation> Xex<B, K, S, E> {
    /// Runs the pass over whole blocks. Returns its state after them.
    #[inline(always)]
    pub(crate) fn over(b: B, blocks: &mut Span<'_>, keys: K, masks: S) -> Self {
        let mut xex = Self { keys, masks, sum: b.zero(), equation: PhantomData };
        pass(b, blocks, &mut xex);
        xex
    }

    #[inline(always)]
    fn add<const R: usize>(&mut self, b: B, x: &[B::V; R]) {
        for r in 0..R {
            self.sum = b.xor(self.sum, x[r]);
        }
    }
}

impl<B: Isa, K: Permutation<B>, S: Sequence<B>, E: Equation> Pass<B> for Xex<B, K, S, E> {
    const WRITES: bool = E::WRITES;

    #[inline(always)]
    fn step<const R: usize>(&mut self, b: B, x: &mut [B::V; R], bytes: usize) {
        let masks = self.masks.take(b, (R - 1) * B::BLOCKS + bytes / BLOCK);
        if E::SUM == Sum::Input {
            self.add(b, x);
        }
        masked::add(b, x, &masks);
        self.keys.crypt(b, E::DECRYPTS, x);
        if E::IS_XEX {
            masked::add(b, x, &masks);
        }
        if E::SUM == Sum::Output {
            let mut output = *x;
            output[R - 1] = b.keep(output[R - 1], bytes);
            self.add(b, &output);
        }
    }
}
