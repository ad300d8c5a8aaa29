//! GF(2^128): doublings, and products by three methods. The papers compare the first two. The third is for factors
//! that are used repeatedly, and takes fewer carry-less products.
//!
//! ```text
//! haswell              4 products, 2 more to reduce
//! classical            3 products (Karatsuba), reduced by shifts
//! multiply_reversed    3 products, 1 more to reduce; the factor is three blocks
//! ```
//!
//! Two conventions represent the field. POLYVAL (RFC 8452, section 3) reads a block as a little-endian number whose
//! bit `i` is the coefficient of `x^i`, and multiplies modulo `x^128 + x^127 + x^126 + x^121 + 1`, with a factor
//! `x^-128`. CMAC and the modes with offsets (SP 800-38B) read it as a big-endian number, modulo
//! `x^128 + x^7 + x^2 + x + 1`. GCM's convention is reduced to POLYVAL's.

use core::marker::PhantomData;

use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, Probe, TopBit};

/// A convention that represents elements of the field as blocks. The arithmetic operates on little-endian polynomials.
pub(crate) trait Field: Sync {
    /// Turns blocks into little-endian polynomials, and back. Most conventions need the bytes reversed.
    #[inline(always)]
    fn turn<B: Isa>(b: B, v: B::V) -> B::V {
        b.reverse(v)
    }

    /// Doubles every block of a register, in constant time.
    fn double<B: Isa>(b: B, v: B::V) -> B::V;

    /// Doubles one block, in constant time.
    fn double_block(v: &Block) -> Block;

    /// Returns every block of `h` as a factor, in constant time: as a polynomial, which in GCM's convention is multiplied
    /// by `x`, to compensate for the reductions.
    fn factor<B: Isa>(b: B, h: B::V) -> B::V;

    /// Reduces `low + high x^64` to a block with one carry-less product. If [`Self::DIVIDES`], the result is divided
    /// by `x^64`.
    fn reduce<B: Isa>(b: B, low: B::V, high: B::V) -> B::V;

    /// Computes [`Self::reduce`] with shifts instead of a product.
    fn reduce_by_shifts<B: Isa>(b: B, low: B::V, high: B::V) -> B::V;

    /// Whether `reduce` divides by `x^64`. It then folds the low half of `low` and adds `high` unchanged; otherwise
    /// it folds the high half of `high` and adds `low` unchanged.
    const DIVIDES: bool;
}

/// The convention of CMAC and of the modes with offsets (SP 800-38B): big-endian numbers.
pub(crate) struct BigEndian;

impl Field for BigEndian {
    const DIVIDES: bool = false;

    #[inline(always)]
    fn double<B: Isa>(b: B, v: B::V) -> B::V {
        double(b, v)
    }

    fn double_block(v: &Block) -> Block {
        double_number(u128::from_be_bytes(*v)).to_be_bytes()
    }

    #[inline(always)]
    fn factor<B: Isa>(b: B, h: B::V) -> B::V {
        b.reverse(h)
    }

    #[inline(always)]
    fn reduce<B: Isa>(b: B, low: B::V, high: B::V) -> B::V {
        let above = b.mul_cross(b.splat(&halves(0x87, 0)), high);
        b.xor3(low, b.low_to_high(high), above)
    }

    #[inline(always)]
    fn reduce_by_shifts<B: Isa>(b: B, low: B::V, high: B::V) -> B::V {
        let left = b.xor3(high, b.shift_left(high, 1), b.xor(b.shift_left(high, 2), b.shift_left(high, 7)));
        let right = b.xor3(b.shift_right(high, 63), b.shift_right(high, 62), b.shift_right(high, 57));
        // The product of the high half: its low part is in `left`, its high part in `right`.
        let above = b.xor(b.high_to_low(left), b.and(right, b.splat(&halves(0, u64::MAX))));
        b.xor3(low, b.low_to_high(high), above)
    }
}

/// Doubles a block in the big-endian convention, given as a number, in constant time.
pub(crate) const fn double_number(v: u128) -> u128 {
    v << 1 ^ (v >> 127).wrapping_neg() & 0x87
}

#[cfg(feature = "research")]
impl BigEndian {
    /// Returns `x^-1 v`: the block whose double is `v`.
    pub(crate) fn halve_block(v: &Block) -> Block {
        let v = u128::from_be_bytes(*v);
        (v >> 1 ^ (v & 1).wrapping_neg() & (1 << 127 | 0x43)).to_be_bytes()
    }
}

/// GCM's convention (SP 800-38D, section 6.3): the first bit of the first byte is the coefficient of `x^0`. Its
/// product is POLYVAL's product of the byte-reversed blocks, one of them doubled (RFC 8452, appendix A).
pub(crate) struct GcmOrder;

impl Field for GcmOrder {
    const DIVIDES: bool = true;

    #[inline(always)]
    fn double<B: Isa>(b: B, v: B::V) -> B::V {
        let v = b.reverse(v);
        // The lowest bit of each half becomes a mask in the other half: the bit of the high half moves to the low
        // half, and that of the low half is reduced.
        let carries = b.sub64(b.zero(), b.swap(b.and(v, b.splat(&halves(1, 1)))));
        let moved = b.and(carries, b.splat(&halves(1 << 63, 0xe1 << 56)));
        b.reverse(b.xor(b.shift_right(v, 1), moved))
    }

    fn double_block(v: &Block) -> Block {
        let v = u128::from_be_bytes(*v);
        ((v >> 1) ^ ((0xe1 << 120) & (v & 1).wrapping_neg())).to_be_bytes()
    }

    /// Multiplies by `x` in POLYVAL's field.
    #[inline(always)]
    fn factor<B: Isa>(b: B, h: B::V) -> B::V {
        PolyvalOrder::double(b, b.reverse(h))
    }

    #[inline(always)]
    fn reduce<B: Isa>(b: B, low: B::V, high: B::V) -> B::V {
        let poly = b.splat(&halves(0xc200_0000_0000_0000, 0));
        b.xor3(b.swap(low), b.mul_low(low, poly), high)
    }

    #[inline(always)]
    fn reduce_by_shifts<B: Isa>(b: B, low: B::V, high: B::V) -> B::V {
        let left = b.xor3(b.shift_left(low, 63), b.shift_left(low, 62), b.shift_left(low, 57));
        let right = b.xor3(b.shift_right(low, 1), b.shift_right(low, 2), b.shift_right(low, 7));
        // The product of the low half: its low part is in `left`, its high part in `right`.
        let below = b.xor(b.and(left, b.splat(&halves(u64::MAX, 0))), b.low_to_high(right));
        b.xor3(b.swap(low), high, below)
    }
}

/// POLYVAL's convention (RFC 8452, section 3): little-endian numbers, whose products are divided by `x^128`. The
/// reductions are those of GCM's convention.
pub(crate) struct PolyvalOrder;

impl Field for PolyvalOrder {
    const DIVIDES: bool = true;

    #[inline(always)]
    fn turn<B: Isa>(_: B, v: B::V) -> B::V {
        v
    }

    #[inline(always)]
    fn double<B: Isa>(b: B, v: B::V) -> B::V {
        let tops = b.shift_right(v, 63);
        // The top bit of the low half moves to the high half. That of the high half is reduced.
        let reduced = b.and(b.sub64(b.zero(), tops), b.splat(&halves(0, 0xc2 << 56)));
        b.xor3(b.add64(v, v), b.swap(tops), reduced)
    }

    fn double_block(v: &Block) -> Block {
        let v = u128::from_le_bytes(*v);
        (v << 1 ^ ((0xc2 << 120 | 1) & (v >> 127).wrapping_neg())).to_le_bytes()
    }

    #[inline(always)]
    fn factor<B: Isa>(_: B, h: B::V) -> B::V {
        h
    }

    #[inline(always)]
    fn reduce<B: Isa>(b: B, low: B::V, high: B::V) -> B::V {
        GcmOrder::reduce(b, low, high)
    }

    #[inline(always)]
    fn reduce_by_shifts<B: Isa>(b: B, low: B::V, high: B::V) -> B::V {
        GcmOrder::reduce_by_shifts(b, low, high)
    }
}

/// Returns the factor `h` for [`multiply_by`], three blocks: `g0 ‖ h0`, `g1 ‖ h1`, and `g0 h0` and `g1 h1`, reduced
/// to one block.
pub(crate) fn factor<F: Field>(backend: Backend, h: &Block) -> [Block; 3] {
    backend.run(Factor::<F> { h, field: PhantomData })
}

struct Factor<'h, F> {
    h: &'h Block,
    field: PhantomData<F>,
}

impl<F: Field> Kernel for Factor<'_, F> {
    type Output = [Block; 3];

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> [Block; 3] {
        let [low, high, constant] = split_factor::<F, B>(b, F::factor(b, b.one(self.h)));
        [b.first(low), b.first(high), b.first(constant)]
    }
}

/// Computes [`factor`] within a kernel, for a byte-reversed factor in each lane.
#[inline(always)]
pub(crate) fn split_factor<F: Field, B: Isa>(b: B, h: B::V) -> [B::V; 3] {
    let (h, g) = (F::reduce(b, h, b.zero()), F::reduce(b, b.zero(), h));
    let low = b.xor(b.and(g, b.splat(&halves(u64::MAX, 0))), b.low_to_high(h));
    let high = b.xor(b.high_to_low(g), b.and(h, b.splat(&halves(0, u64::MAX))));
    [low, high, F::reduce(b, b.mul_cross(low, low), b.mul_cross(high, high))]
}

/// Returns the product of a block and a factor.
pub(crate) fn product<F: Field>(backend: Backend, x: &Block, h: &[Block; 3]) -> Block {
    backend.run(One::<F> { x, h, field: PhantomData })
}

struct One<'h, F> {
    x: &'h Block,
    h: &'h [Block; 3],
    field: PhantomData<F>,
}

impl<F: Field> Kernel for One<'_, F> {
    type Output = Block;

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> Block {
        let [low, high, constant] = self.h;
        b.first(multiply_by::<F, B>(b, b.one(self.x), [b.one(low), b.one(high), b.one(constant)]))
    }
}

/// Returns `x h` in every lane, for a factor from [`factor`].
#[inline(always)]
pub(crate) fn multiply_by<F: Field, B: Isa>(b: B, x: B::V, h: [B::V; 3]) -> B::V {
    F::turn(b, multiply_reversed::<F, B>(b, F::turn(b, x), h))
}

/// Returns the product of byte-reversed blocks and factors, with four carry-less products.
///
/// Let `g = x^64 h`, reduced, and let `0` and `1` denote the halves of a block. The product is `x0 h + x1 g`. It is
/// half a block too long, so one product reduces it. Its lower part is
/// `x0 h0 + x1 g0 = (x0 + g0)(x1 + h0) + x0 x1 + g0 h0`, as in Winograd's inner products (1968). Its upper part
/// contains `x0 x1`, too. `g0 h0` and `g1 h1` depend on the factor only.
#[inline(always)]
pub(crate) fn multiply_reversed<F: Field, B: Isa>(b: B, x: B::V, [low, high, constant]: [B::V; 3]) -> B::V {
    let multiply_halves = |x| b.mul_cross(x, x);
    let both = multiply_halves(x);
    let (mut low, mut high) = (multiply_halves(b.xor(x, low)), multiply_halves(b.xor(x, high)));
    // The constant is reduced already, so it is added to the part that `reduce` leaves unchanged.
    let end = if F::DIVIDES { &mut high } else { &mut low };
    *end = b.xor(*end, constant);
    (low, high) = (b.xor(low, both), b.xor(high, both));
    F::reduce(b, low, high)
}

/// Multiplies byte-reversed blocks by the Haswell method.
#[inline(always)]
pub(crate) fn haswell<F: Field, B: Isa>(b: B, x: B::V, h: B::V) -> B::V {
    let (low, high) = (b.mul_low(x, h), b.mul_high(x, h));
    let mid = b.xor(b.mul_cross(x, h), b.mul_cross(h, x));
    reduce_twice::<F, B>(b, low, mid, high)
}

/// Squares byte-reversed blocks by the Haswell method. The products of one half and the other cancel out.
#[inline(always)]
pub(crate) fn square<F: Field, B: Isa>(b: B, x: B::V) -> B::V {
    reduce_twice::<F, B>(b, b.mul_low(x, x), b.zero(), b.mul_high(x, x))
}

/// Reduces `low + mid x^64 + high x^128` with two carry-less products by the constant of the field (Gueron's
/// Montgomery reduction).
#[inline(always)]
fn reduce_twice<F: Field, B: Isa>(b: B, low: B::V, mid: B::V, high: B::V) -> B::V {
    if F::DIVIDES {
        F::reduce(b, F::reduce(b, low, mid), high)
    } else {
        F::reduce(b, low, F::reduce(b, mid, high))
    }
}

/// Multiplies byte-reversed blocks by the classical method. Both halves of `h_sum` are the sum of the halves of `h`.
#[inline(always)]
fn classical<F: Field, B: Isa>(b: B, x: B::V, h: B::V, h_sum: B::V) -> B::V {
    let (low, high) = (b.mul_low(x, h), b.mul_high(x, h));
    let mid = b.xor3(b.mul_low(b.xor(x, b.swap(x)), h_sum), low, high);
    if F::DIVIDES {
        F::reduce_by_shifts(b, F::reduce_by_shifts(b, low, mid), high)
    } else {
        F::reduce_by_shifts(b, low, F::reduce_by_shifts(b, mid, high))
    }
}

/// Doubles every block of a register in the big-endian convention, in constant time.
#[inline(always)]
pub(crate) fn double<B: Isa>(b: B, v: B::V) -> B::V {
    let v = b.reverse(v);
    // The highest bit of each half becomes a mask in the other half: the bit of the low half moves to the high half,
    // and that of the high half is reduced to 0x87.
    let carries = b.sub64(b.zero(), b.swap(b.shift_right(v, 63)));
    let moved = b.and(carries, b.splat(&halves(0x87, 1)));
    b.reverse(b.xor(b.add64(v, v), moved))
}

/// Doubles the first block of a register in the little-endian convention, as in listing 1.1 of Bogdanov, Lauridsen
/// and Tischhauser: it reads the top bit and branches on it. Not constant-time; for measurements only.
#[inline(always)]
pub(crate) fn double_branching<B: Probe>(b: B, v: B::V, how: TopBit) -> B::V {
    let shifted = b.xor(b.add64(v, v), b.shift_right(b.low_to_high(v), 63));
    if b.top_bit(v, how) { b.xor(shifted, b.splat(&halves(0x87, 0))) } else { shifted }
}

/// Multiplies every block of a register by `x^n`, `n` from 1 to 56, in constant time. Blocks are read as
/// little-endian numbers, modulo CMAC's polynomial.
#[inline(always)]
pub(crate) fn times_x_to<B: Isa>(b: B, v: B::V, n: u32) -> B::V {
    if n.is_multiple_of(8) {
        // Whole bytes move through the block at once. The bytes that are shifted out are short enough to be reduced
        // with one product.
        let bytes = n as usize / 8;
        let (moved, out) = (b.shuffle(v, moved_up(bytes)), b.shuffle(v, moved_out(bytes)));
        return b.xor(moved, b.mul_low(out, b.splat(&short(0x87))));
    }
    carried(b, b.shift_left(v, n), b.shift_right(v, 64 - n))
}

/// Byte orders for shuffles: one window moves a block up by some bytes, another moves the bytes that are shifted out
/// to the bottom.
static MOVE: [u8; 3 * BLOCK] = {
    let mut order = [255; 3 * BLOCK];
    let mut i = 0;
    while i < BLOCK {
        order[BLOCK + i] = i as u8;
        i += 1;
    }
    order
};

/// Returns the order of bytes that moves a block up by at most 16 bytes, after zeros.
#[inline(always)]
pub(crate) fn moved_up(bytes: usize) -> &'static Block {
    MOVE[BLOCK - bytes..].first_chunk().expect("at most 16 bytes")
}

/// Returns the order of bytes that moves the last bytes of a block, at most 16, to its beginning, before zeros.
#[inline(always)]
pub(crate) fn moved_out(bytes: usize) -> &'static Block {
    MOVE[2 * BLOCK - bytes..].first_chunk().expect("at most 16 bytes")
}

/// Multiplies every block of a register by a polynomial of degree up to 56, in constant time. Both halves of each
/// block of `polynomial` contain it: see [`short`].
#[inline(always)]
pub(crate) fn times_short<B: Isa>(b: B, v: B::V, polynomial: B::V) -> B::V {
    carried(b, b.mul_low(v, polynomial), b.mul_high(v, polynomial))
}

/// Adds the bits shifted out of each half to the half above. For the high half, `x^128 = x^7 + x^2 + x + 1`.
#[inline(always)]
fn carried<B: Isa>(b: B, v: B::V, out: B::V) -> B::V {
    b.xor3(v, b.low_to_high(out), b.mul_high(out, b.splat(&short(0x87))))
}

/// Returns a polynomial as a block for [`times_short`]. Bit `i` is the coefficient of `x^i`.
pub(crate) const fn short(polynomial: u64) -> Block {
    halves(polynomial, polynomial)
}

/// Returns the block with these little-endian halves.
const fn halves(low: u64, high: u64) -> Block {
    ((high as u128) << 64 | low as u128).to_le_bytes()
}

/// A sum of products before its reduction, `low + mid x^64 + high x^128`, with Karatsuba's method: `mid` still
/// includes `low` and `high`.
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

    /// Adds `x h`, with three carry-less products. Both halves of `h_sum` are the sum of the halves of `h`.
    #[inline(always)]
    pub(crate) fn add(&mut self, b: B, x: B::V, h: B::V, h_sum: B::V) {
        let x_sum = b.xor(x, b.swap(x));
        self.low = b.xor(self.low, b.mul_low(x, h));
        self.high = b.xor(self.high, b.mul_high(x, h));
        self.mid = b.xor(self.mid, b.mul_low(x_sum, h_sum));
    }

    /// Adds `x h`, with four carry-less products. All products of the sum must be added this way.
    #[inline(always)]
    pub(crate) fn add_by_four(&mut self, b: B, x: B::V, h: B::V) {
        self.low = b.xor(self.low, b.mul_low(x, h));
        self.high = b.xor(self.high, b.mul_high(x, h));
        self.mid = b.xor3(self.mid, b.mul_cross(x, h), b.mul_cross(h, x));
    }

    /// Returns the reduced sum of products by [`Unreduced::add_by_four`].
    #[inline(always)]
    pub(crate) fn reduce_by_four<F: Field>(self, b: B) -> B::V {
        reduce_twice::<F, B>(b, self.low, self.mid, self.high)
    }

    /// Pins the sum, so that the next product is added between two rounds of a cipher.
    #[inline(always)]
    pub(crate) fn pin(&mut self, b: B) {
        (self.low, self.mid, self.high) = (b.pin(self.low), b.pin(self.mid), b.pin(self.high));
    }

    /// Returns the reduced sum.
    #[inline(always)]
    pub(crate) fn reduce<F: Field>(self, b: B) -> B::V {
        let mid = b.xor3(self.mid, self.low, self.high);
        reduce_twice::<F, B>(b, self.low, mid, self.high)
    }
}

/// Returns POLYVAL's product by the Haswell method.
#[inline(always)]
pub(crate) fn multiply<B: Isa>(b: B, x: B::V, h: B::V) -> B::V {
    haswell::<GcmOrder, B>(b, x, h)
}

/// Returns POLYVAL's product by the classical method.
#[inline(always)]
pub(crate) fn multiply_classical<B: Isa>(b: B, x: B::V, h: B::V) -> B::V {
    classical::<GcmOrder, B>(b, x, h, b.xor(h, b.swap(h)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: [u128; 8] = [
        0,
        1,
        1 << 127,
        u128::MAX,
        0x8000_0000_0000_0001_8000_0000_0000_0001,
        0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e,
        0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78,
        0x5e2e_c746_9170_6288_2c85_b068_5353_deb7,
    ];

    #[cfg(feature = "research")]
    #[test]
    fn a_half_doubled_is_the_whole() {
        for v in BLOCKS.map(u128::to_be_bytes) {
            assert_eq!(BigEndian::double_block(&BigEndian::halve_block(&v)), v);
        }
    }

    fn double_big_endian(v: u128) -> u128 {
        (v << 1) ^ if v >> 127 == 1 { 0x87 } else { 0 }
    }

    fn double_gcm_order(v: u128) -> u128 {
        (v >> 1) ^ if v & 1 == 1 { 0xe1 << 120 } else { 0 }
    }

    /// Returns the product by Horner's rule. `bits` are those of `y`, beginning with the highest power of `x`.
    fn product(x: u128, bits: impl Iterator<Item = u128>, double: fn(u128) -> u128) -> u128 {
        bits.fold(0, |sum, bit| double(sum) ^ (x * bit))
    }

    struct Doubled<F> {
        x: u128,
        field: PhantomData<F>,
    }

    impl<F: Field> Kernel for Doubled<F> {
        type Output = u128;

        #[inline(always)]
        fn run<B: Isa>(self, b: B) -> u128 {
            u128::from_be_bytes(b.first(F::double(b, b.one(&self.x.to_be_bytes()))))
        }
    }

    fn doubles<F: Field>(double: fn(u128) -> u128) {
        for backend in Backend::available() {
            for x in BLOCKS {
                assert_eq!(
                    backend.run(Doubled { x, field: PhantomData::<F> }),
                    double(x),
                    "{backend:?} {x:x}"
                );
            }
        }
    }

    struct ByBook<F> {
        x: u128,
        y: u128,
        field: PhantomData<F>,
    }

    impl<F: Field> Kernel for ByBook<F> {
        type Output = [u128; 2];

        /// Returns the product by the Haswell method and by the classical one.
        #[inline(always)]
        fn run<B: Isa>(self, b: B) -> [u128; 2] {
            let x = b.reverse(b.one(&self.x.to_be_bytes()));
            let h = F::factor(b, b.one(&self.y.to_be_bytes()));
            let h_sum = b.xor(h, b.swap(h));
            let haswell = b.first(b.reverse(haswell::<F, B>(b, x, h)));
            let classical = b.first(b.reverse(classical::<F, B>(b, x, h, h_sum)));
            [u128::from_be_bytes(haswell), u128::from_be_bytes(classical)]
        }
    }

    fn multiplies<F: Field>(product: fn(u128, u128) -> u128) {
        for backend in Backend::available() {
            for x in BLOCKS {
                for y in BLOCKS {
                    let factor = factor::<F>(backend, &y.to_be_bytes());
                    let got = super::product::<F>(backend, &x.to_be_bytes(), &factor);
                    let by_book = backend.run(ByBook { x, y, field: PhantomData::<F> });
                    let all = [u128::from_be_bytes(got), by_book[0], by_book[1]];
                    assert_eq!(all, [product(x, y); 3], "{backend:?} {x:x} {y:x}");
                }
            }
        }
    }

    #[test]
    fn both_conventions_double_as_they_are_defined() {
        doubles::<BigEndian>(double_big_endian);
        doubles::<GcmOrder>(double_gcm_order);
    }

    #[test]
    fn all_methods_give_the_big_endian_product() {
        let expected = |x, y: u128| product(x, (0..128).rev().map(|i| y >> i & 1), double_big_endian);
        multiplies::<BigEndian>(expected);
    }

    #[test]
    fn all_methods_give_gcms_product() {
        let expected = |x, y: u128| product(x, (0..128).map(|i| y >> i & 1), double_gcm_order);
        multiplies::<GcmOrder>(expected);
    }

    /// RFC 8452, appendix A.
    #[test]
    fn polyvals_product_with_a_double_is_gcms_product_of_the_reversed_blocks() {
        doubles::<PolyvalOrder>(|x| u128::from_be_bytes(PolyvalOrder::double_block(&x.to_be_bytes())));
        for backend in Backend::available() {
            for x in BLOCKS {
                for y in BLOCKS {
                    let double = PolyvalOrder::double_block(&y.to_le_bytes());
                    let factor = factor::<PolyvalOrder>(backend, &double);
                    let got = super::product::<PolyvalOrder>(backend, &x.to_le_bytes(), &factor);
                    let expected = product(x, (0..128).map(|i| y >> i & 1), double_gcm_order);
                    assert_eq!(u128::from_le_bytes(got), expected, "{backend:?} {x:x} {y:x}");
                }
            }
        }
    }
}
