//! GF(2^128): doubling, and multiplication by the two methods that the papers compare.
//!
//! Two conventions share the field. POLYVAL (RFC 8452, section 3) reads a block as a little-endian number whose bit
//! `i` is the coefficient of `x^i` and multiplies modulo `x^128 + x^127 + x^126 + x^121 + 1`, with a factor `x^-128`.
//! CMAC and the modes with offsets (SP 800-38B) read it big-endian, modulo `x^128 + x^7 + x^2 + x + 1`.

use crate::backend::{Block, Isa, TopBit};

/// Doubles every block of a register in the big-endian convention, in constant time.
#[inline(always)]
pub(crate) fn double<B: Isa>(b: B, v: B::V) -> B::V {
    let v = b.reverse(v);
    let carries = b.swap(b.shift_right(v, 63));
    // The low half's carry moves into the high half; the high half's comes back as 0x87 or not at all.
    let moved = b.and(carries, b.splat(&halves(0, 1)));
    let all = b.sub64(b.zero(), carries);
    let reduced = b.and(all, b.splat(&halves(0x87, 0)));
    b.reverse(b.xor3(b.add64(v, v), moved, reduced))
}

/// Doubles the first block of a register in the little-endian convention, as listing 1.1 of Bogdanov, Lauridsen and
/// Tischhauser does: it asks for the top bit and branches on it. Not constant time: for measurements alone.
#[inline(always)]
pub(crate) fn double_branching<B: Isa>(b: B, v: B::V, how: TopBit) -> B::V {
    let shifted = b.xor(b.add64(v, v), b.shift_right(b.low_to_high(v), 63));
    if b.top_bit(v, how) { b.xor(shifted, b.splat(&halves(0x87, 0))) } else { shifted }
}

/// `v x^n` for every block of a register, `n` from 1 to 56, in constant time: modulo CMAC's polynomial, but of blocks
/// that are read little-endian.
#[inline(always)]
pub(crate) fn times_x_to<B: Isa>(b: B, v: B::V, n: u32) -> B::V {
    carried(b, b.shift_left(v, n), b.shift_right(v, 64 - n))
}

/// The same for any polynomial of degree up to 56, a block's in both its halves: see [`short`].
#[inline(always)]
pub(crate) fn times_short<B: Isa>(b: B, v: B::V, polynomial: B::V) -> B::V {
    carried(b, b.mul_low(v, polynomial), b.mul_high(v, polynomial))
}

/// Adds what came out of each half to what is above it: for the high half, `x^128 = x^7 + x^2 + x + 1`.
#[inline(always)]
fn carried<B: Isa>(b: B, v: B::V, out: B::V) -> B::V {
    b.xor3(v, b.low_to_high(out), b.mul_high(out, b.splat(&short(0x87))))
}

/// A polynomial as a block for [`times_short`]; bit `i` is the coefficient of `x^i`.
pub(crate) const fn short(polynomial: u64) -> Block {
    halves(polynomial, polynomial)
}

/// A block of two little-endian halves.
const fn halves(low: u64, high: u64) -> Block {
    ((high as u128) << 64 | low as u128).to_le_bytes()
}

/// Three partial sums of products that are still to be reduced: `low + mid x^64 + high x^128`, where by Karatsuba's
/// method `mid` still contains `low` and `high`.
#[derive(Clone, Copy)]
pub(crate) struct Unreduced<B: Isa> {
    low: B::V,
    mid: B::V,
    high: B::V,
}

impl<B: Isa> Unreduced<B> {
    #[inline(always)]
    pub(crate) fn zero(b: B) -> Self {
        Self { low: b.zero(), mid: b.zero(), high: b.zero() }
    }

    /// Adds `x h` by three carry-less products; `h_sum` has the sum of the halves of `h` in both halves.
    #[inline(always)]
    pub(crate) fn add(&mut self, b: B, x: B::V, h: B::V, h_sum: B::V) {
        let x_sum = b.xor(x, b.swap(x));
        self.low = b.xor(self.low, b.mul_low(x, h));
        self.high = b.xor(self.high, b.mul_high(x, h));
        self.mid = b.xor(self.mid, b.mul_low(x_sum, h_sum));
    }

    /// The sum, reduced by two carry-less products with the constant of the field (Gueron's Montgomery reduction).
    #[inline(always)]
    pub(crate) fn reduce(self, b: B) -> B::V {
        let mid = b.xor3(self.mid, self.low, self.high);
        let low = b.xor(self.low, b.low_to_high(mid));
        let high = b.xor(self.high, b.high_to_low(mid));
        b.xor(montgomery(b, low), high)
    }
}

/// `v x^-128` for POLYVAL's polynomial: each product moves one half's worth of the value up.
#[inline(always)]
fn montgomery<B: Isa>(b: B, v: B::V) -> B::V {
    let poly = b.splat(&halves(0xc200_0000_0000_0000, 0));
    let once = b.xor(b.swap(v), b.mul_low(v, poly));
    b.xor(b.swap(once), b.mul_low(once, poly))
}

/// POLYVAL's product by the Haswell method: four carry-less products, reduction by two more.
#[inline(always)]
pub(crate) fn multiply<B: Isa>(b: B, x: B::V, h: B::V) -> B::V {
    let low = b.mul_low(x, h);
    let high = b.mul_high(x, h);
    let mid = b.xor(b.mul_cross(x, h), b.mul_cross(h, x));
    let low = b.xor(low, b.low_to_high(mid));
    let high = b.xor(high, b.high_to_low(mid));
    b.xor(montgomery(b, low), high)
}

/// The same product by the classical method: Karatsuba's three carry-less products, reduction by shifts.
#[inline(always)]
pub(crate) fn multiply_classical<B: Isa>(b: B, x: B::V, h: B::V) -> B::V {
    let low = b.mul_low(x, h);
    let high = b.mul_high(x, h);
    let sums = b.mul_low(b.xor(x, b.swap(x)), b.xor(h, b.swap(h)));
    let mid = b.xor3(sums, low, high);
    let low = b.xor(low, b.low_to_high(mid));
    let high = b.xor(high, b.high_to_low(mid));
    b.xor(by_shifts(b, by_shifts(b, low)), high)
}

/// `v x^-64` for POLYVAL's polynomial: the low half times `x^63 + x^62 + x^57`, by shifts, folded into what stays.
#[inline(always)]
fn by_shifts<B: Isa>(b: B, v: B::V) -> B::V {
    let left = b.xor3(b.shift_left(v, 63), b.shift_left(v, 62), b.shift_left(v, 57));
    let right = b.xor3(b.shift_right(v, 1), b.shift_right(v, 2), b.shift_right(v, 7));
    // The product of the low half with the constant has its low part in `left` and its high part in `right`.
    let product_low = b.high_to_low(b.low_to_high(left));
    let product_high = b.low_to_high(right);
    b.xor3(b.swap(v), product_low, product_high)
}
