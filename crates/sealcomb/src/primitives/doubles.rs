//! Masks that double from block to block: `x^i v`, a table for none of them.

use super::gf128::{short, times_short, times_x_to};
use crate::backend::{Block, Isa, REGISTERS};

/// The most blocks of a group, and a register more.
const POWERS: usize = 4 * REGISTERS + 4;

/// `x^i` as polynomials for [`times_short`].
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

/// `v`, `x v`, `x^2 v` ... on their way, for blocks that are read big-endian (CMAC's convention) or little-endian (that
/// of XTS).
pub(crate) struct Doubles<B: Isa, const BIG_ENDIAN: bool> {
    /// The first ones of the current group, little-endian.
    first: B::V,
    /// How many there were before the current group.
    before: usize,
}

impl<B: Isa, const BIG_ENDIAN: bool> Doubles<B, BIG_ENDIAN> {
    /// The doubles from `v`, which is in every lane, on.
    #[inline(always)]
    pub(crate) fn from(b: B, v: B::V) -> Self {
        let first = times_short(b, Self::turn(b, v), b.load(&POWERS_OF_X.0));
        Self { first, before: 0 }
    }

    /// From the mode's byte order to little-endian, and back.
    #[inline(always)]
    fn turn(b: B, v: B::V) -> B::V {
        if BIG_ENDIAN { b.reverse(v) } else { v }
    }

    /// The next `count` ones, in `R` registers: in full ones, unless they are the last of all.
    #[inline(always)]
    pub(crate) fn take<const R: usize>(&mut self, b: B, count: usize) -> [B::V; R] {
        let mut doubles = Self::onward::<R>(b, self.first);
        for r in 0..R {
            doubles[r] = Self::turn(b, doubles[r]);
        }
        self.advance::<R>(b, count);
        doubles
    }

    /// The same, and each one's double.
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

    /// A register, and those that follow it. Eight places are a byte, by which it is easier to move.
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

    #[inline(always)]
    fn advance<const R: usize>(&mut self, b: B, count: usize) {
        if count == R * B::BLOCKS {
            self.first = times_x_to(b, self.first, count as u32);
            self.before += count;
        }
    }

    /// `x^i v` in the first lane, once all before it were taken.
    #[inline(always)]
    pub(crate) fn at(&self, b: B, i: usize) -> B::V {
        Self::turn(b, times_short(b, self.first, b.one(&POWERS_OF_X.0[i - self.before])))
    }
}
