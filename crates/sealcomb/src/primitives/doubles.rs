//! Masks that double from block to block, `x^i v`, computed in registers without a table per key.
//!
//! ```text
//! first ← (v, x v, x^2 v, …)                 one register
//! for each group of registers:
//!     masks ← first, x^b first, x^(2b) first, …          b: blocks per register
//!     first ← x^n first                                  n: blocks of the group
//! ```

use super::aes::Shared;
use super::gf128::{short, times_short, times_x_to};
use super::masked;
use crate::backend::{BLOCK, Block, Isa, REGISTERS, Span, Weave};

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
        Self::following(Self::first(b, v))
    }

    /// Returns the sequence whose first register is `first`, a register of little-endian numbers.
    #[inline(always)]
    pub(crate) fn following(first: B::V) -> Self {
        Self { first, before: 0 }
    }

    /// Returns the first register of the sequence that begins with `v`, as little-endian numbers.
    #[inline(always)]
    fn first(b: B, v: B::V) -> B::V {
        times_short(b, Self::turn(b, v), b.load(&POWERS_OF_X.0))
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

    /// Returns `R` registers of masks, beginning with `first`.
    #[inline(always)]
    fn onward<const R: usize>(b: B, first: B::V) -> [B::V; R] {
        let mut doubles = [first; R];
        for r in 1..R {
            doubles[r] = Self::register(b, &doubles, r);
        }
        doubles
    }

    /// Returns register `r` of a group, given those before it. A product by a power of `x^8` moves whole bytes, which is
    /// cheaper than shifts, so it is used for registers at a distance of eight blocks.
    #[inline(always)]
    fn register(b: B, before: &[B::V], r: usize) -> B::V {
        let eighth = 8 / B::BLOCKS;
        let from = if r < eighth { 0 } else { r % eighth };
        times_x_to(b, before[from], ((r - from) * B::BLOCKS) as u32)
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

/// Encrypts or decrypts full groups of registers of one message after the other, with masks before and after the cipher.
///
/// ```text
/// for each group of each message:
///     x ← x ⊕ masks
///     encrypt x, and compute the masks of the next group between the rounds
///     x ← x ⊕ masks
/// ```
///
/// The next group may be the first one of the next message, so that a message of one group does not wait for its masks.
pub(crate) struct MaskedGroups<B: Isa> {
    masks: [B::V; REGISTERS],
    /// Whether `masks` has more than the first register.
    complete: bool,
}

impl<B: Isa> MaskedGroups<B> {
    /// Begins with a message whose first mask is `v`.
    #[inline(always)]
    pub(crate) fn new(b: B, v: &Block) -> Self {
        Self { masks: [Doubles::<B, false>::first(b, b.splat(v)); REGISTERS], complete: false }
    }

    /// Encrypts or decrypts the full groups in the first `end` bytes of a message. `next` is the first mask of the message
    /// that follows it. Returns the offset of the rest of the message, and its masks.
    #[inline(always)]
    pub(crate) fn crypt<const OPENS: bool>(
        &mut self,
        b: B,
        keys: Shared<'_>,
        data: &mut Span<'_>,
        end: usize,
        next: &Block,
    ) -> (usize, Doubles<B, false>) {
        let data = &mut data.reborrow();
        let group = REGISTERS * BLOCK * B::BLOCKS;
        let next = Doubles::<B, false>::first(b, b.splat(next));
        let (mut at, mut rest) = (0, self.masks[0]);
        while end - at >= group {
            if !self.complete {
                self.masks = Doubles::<B, false>::onward(b, rest);
                self.complete = true;
            }
            if data.len() - at > group {
                rest = times_x_to(b, self.masks[0], (REGISTERS * B::BLOCKS) as u32);
            }
            let is_last = end - at < 2 * group;
            let mut ahead = Ahead::<B>([if is_last { next } else { rest }; REGISTERS]);
            let mut x = data.load_all::<B, REGISTERS>(b, at);
            ahead.crypt::<OPENS>(b, keys, &mut x, self.masks);
            let mut chunk = data.chunk::<B, REGISTERS>(at);
            for r in 0..REGISTERS {
                chunk.store(b, r, x[r]);
            }
            self.masks = ahead.0;
            at += group;
        }
        if at == 0 {
            self.masks[0] = next;
            self.complete = false;
        }
        (at, Doubles::following(rest))
    }
}

/// The masks of a group, computed from the first register.
struct Ahead<B: Isa>([B::V; REGISTERS]);

impl<B: Isa> Ahead<B> {
    /// Encrypts or decrypts the blocks of `x`, and computes the next masks. Narrow registers are too few for both at once.
    #[inline(always)]
    fn crypt<const OPENS: bool>(
        &mut self,
        b: B,
        keys: Shared<'_>,
        x: &mut [B::V; REGISTERS],
        masks: [B::V; REGISTERS],
    ) {
        if B::BLOCKS == 4 {
            masked::crypt(b, OPENS, keys, x, masks, self);
        } else {
            masked::crypt(b, OPENS, keys, x, masks, &mut ());
            self.0 = Doubles::<B, false>::onward(b, self.0[0]);
        }
    }
}

/// Computes one register per piece.
impl<B: Isa> Weave<B> for Ahead<B> {
    const LONG: bool = true;

    #[inline(always)]
    fn thread(&mut self, b: B, piece: usize) {
        if piece > 0 {
            self.0[piece] = b.pin(Doubles::<B, false>::register(b, &self.0, piece));
        }
    }
}
