//! Masks that double from block to block, `x^i v`, computed in registers without a table per key.
//!
//! ```text
//! first ← (v, x v, x^2 v, …)                 one register
//! for each group of registers:
//!     masks ← first, x^b first, x^(2b) first, …          b: blocks per register
//!     first ← x^n first                                  n: blocks of the group
//! ```

use super::gf128::{short, times_short, times_x_to};
use crate::backend::{Block, Isa, REGISTERS};

/// Number of powers in the table: the blocks of a group, and one more register.
const POWERS: usize = 4 * REGISTERS + 4;

/// The powers `x^i`, as polynomials for [`times_short`].
#[repr(align(64))]
struct Powers([Block; POWERS]);

static POWERS_OF_X: Powers = {
    let mut powers = [[0; 16]; POWERS];
    let mut i = 0;
    while i < POWERS {
        powers[i] = short(1 << i);
        i += 1;
    }
    Powers(powers)
};

/// The sequence `v`, `x v`, `x^2 v`, … Blocks are read as big-endian numbers (CMAC's convention) or as little-endian
/// ones (XTS's).
pub(crate) struct Doubles<B: Isa, const BIG_ENDIAN: bool> {
    /// The first masks of the current group, as little-endian numbers.
    first: B::V,
    /// Number of masks before the current group.
    before: usize,
}

impl<B: Isa, const BIG_ENDIAN: bool> Doubles<B, BIG_ENDIAN> {
    /// Returns the sequence that begins with `v`, which must be in every lane.
    #[inline(always)]
    pub(crate) fn from(b: B, v: B::V) -> Self {
        let first = times_short(b, Self::turn(b, v), b.load(&POWERS_OF_X.0));
        Self { first, before: 0 }
    }

    /// Converts between the mode's byte order and little-endian.
    #[inline(always)]
    fn turn(b: B, v: B::V) -> B::V {
        if BIG_ENDIAN { b.reverse(v) } else { v }
    }

    /// Returns the next `count` masks in `R` registers. The registers must be full, except in the last call.
    #[inline(always)]
    pub(crate) fn take<const R: usize>(&mut self, b: B, count: usize) -> [B::V; R] {
        let mut doubles = Self::onward::<R>(b, self.first);
        for r in 0..R {
            doubles[r] = Self::turn(b, doubles[r]);
        }
        self.advance::<R>(b, count);
        doubles
    }

    /// Returns the next `count` masks, and the double of each. The registers must be full, except in the last call.
    #[inline(always)]
    pub(crate) fn take_twice<const R: usize>(&mut self, b: B, count: usize) -> ([B::V; R], [B::V; R]) {
        let (mut once, mut twice) = ([Self::turn(b, self.first); R], [b.zero(); R]);
        for r in 0..R {
            twice[r] = Self::turn(b, times_x_to(b, self.first, (r * B::BLOCKS + 1) as u32));
            if r > 0 {
                once[r] = b.push(twice[r - 1], twice[r]);
            }
        }
        self.advance::<R>(b, count);
        (once, twice)
    }

    /// Returns `R` registers of masks, beginning with `first`. A product by a power of `x^8` moves whole bytes, which
    /// is cheaper than shifts, so it is used for registers at a distance of eight blocks.
    #[inline(always)]
    fn onward<const R: usize>(b: B, first: B::V) -> [B::V; R] {
        let eighth = 8 / B::BLOCKS;
        let mut doubles = [first; R];
        for r in 1..R {
            let from = r % eighth;
            doubles[r] = if r < eighth {
                times_x_to(b, first, (r * B::BLOCKS) as u32)
            } else {
                times_x_to(b, doubles[from], ((r - from) * B::BLOCKS) as u32)
            };
        }
        doubles
    }

    /// Moves to the next group if the registers were full.
    #[inline(always)]
    fn advance<const R: usize>(&mut self, b: B, count: usize) {
        if count == R * B::BLOCKS {
            self.first = times_x_to(b, self.first, count as u32);
            self.before += count;
        }
    }

    /// Returns `x^i v` in the first lane. All masks before it must have been taken.
    #[inline(always)]
    pub(crate) fn at(&self, b: B, i: usize) -> B::V {
        Self::turn(b, times_short(b, self.first, b.one(&POWERS_OF_X.0[i - self.before])))
    }
}
