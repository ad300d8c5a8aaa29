//! POLYVAL (RFC 8452, section 3) and GHASH with per-message keys. A key is used for one message only, so few powers of it pay
//! off.
//!
//! ```text
//! S ← H^lanes, T ← 0
//! for each n registers X_1, …, X_n:  T ← T S^n ⊕ X_1 S^(n-1) ⊕ … ⊕ X_n
//! hash ← sum over the lanes of T (H^lanes, …, H)
//! ```
//!
//! A register holds consecutive blocks. Zeros precede the first ones, so that the last block is in the last lane.
//! Each lane has its own sum, and all lanes use the same powers of `S`. The sums of `n` registers are reduced once.
//! Only at the end are the lanes multiplied by different powers and added.

use zeroize::ZeroizeOnDrop;

use super::aes::GROUP;
use super::gf128::{GcmOrder, Unreduced, haswell, short, square};
use super::wipe;
use crate::backend::{BLOCK, Block, Isa, REGISTERS, Span, Weave};

/// Maximum number of lanes in a register.
const LANES: usize = 4;

/// The powers of a message's key.
#[repr(align(64))]
pub(crate) struct Powers {
    // H^lanes, …, H.
    last: WithSums<LANES>,
    // S, S^2, …
    steps: WithSums<REGISTERS>,
}

/// Powers, and the sum of the halves of each in both halves, for Karatsuba's method.
type WithSums<const N: usize> = [[Block; N]; 2];

/// Maximum number of registers between two reductions. More powers would take longer to compute than the reductions
/// that they save.
const fn most_registers<B: Isa>() -> usize {
    if B::BLOCKS == 1 { REGISTERS } else { REGISTERS / 2 }
}

impl Powers {
    /// Returns zeros, to be filled in.
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        Self { last: [[[0; BLOCK]; LANES]; 2], steps: [[[0; BLOCK]; REGISTERS]; 2] }
    }

    /// Computes the powers of each message's key, for strings of up to `longest` bytes. It processes as many messages
    /// together as a register has blocks.
    #[inline(always)]
    pub(crate) fn fill_each<B: Isa>(b: B, powers: &mut [Self], keys: &[Block; GROUP], longest: usize) {
        for (powers, keys) in powers.chunks_mut(B::BLOCKS).zip(keys.chunks(B::BLOCKS)) {
            let mut last = [b.load(keys); LANES];
            for n in 1..B::BLOCKS {
                last[n] = power_after(b, &last[..n]);
            }
            let mut steps = [last[B::BLOCKS - 1]; REGISTERS];
            if longest.div_ceil(BLOCK) >= 2 * B::BLOCKS {
                for n in 1..most_registers::<B>() {
                    steps[n] = power_after(b, &steps[..n]);
                }
            }
            last[..B::BLOCKS].reverse();
            let last = b.transpose(last);
            for m in 0..B::BLOCKS {
                if let Some(powers) = powers.get_mut(m) {
                    store_with_sums(b, last[m], &mut powers.last, 0);
                }
            }
            for at in (0..most_registers::<B>()).step_by(LANES) {
                let steps = b.transpose([steps[at], steps[at + 1], steps[at + 2], steps[at + 3]]);
                for m in 0..B::BLOCKS {
                    if let Some(powers) = powers.get_mut(m) {
                        for first in (0..LANES).step_by(B::BLOCKS) {
                            store_with_sums(b, steps[first + m], &mut powers.steps, at + first);
                        }
                    }
                }
            }
        }
    }
}

/// Returns the next power, given consecutive powers from the first one on.
#[inline(always)]
fn power_after<B: Isa>(b: B, powers: &[B::V]) -> B::V {
    let n = powers.len();
    if n.is_multiple_of(2) {
        haswell::<GcmOrder, B>(b, powers[n / 2], powers[n / 2 - 1])
    } else {
        square::<GcmOrder, B>(b, powers[n / 2])
    }
}

/// Stores a register of powers, and the sums of their halves.
#[inline(always)]
fn store_with_sums<B: Isa, const N: usize>(b: B, powers: B::V, to: &mut WithSums<N>, at: usize) {
    b.store(powers, &mut to[0][at..]);
    b.store(b.xor(powers, b.swap(powers)), &mut to[1][at..]);
}

impl Drop for Powers {
    fn drop(&mut self) {
        wipe(self.last.as_flattened_mut());
        wipe(self.steps.as_flattened_mut());
    }
}

impl ZeroizeOnDrop for Powers {}

/// The state of the hash of a string. With `GHASH`, it is GHASH (SP 800-38D, section 6.4) instead of POLYVAL: the
/// blocks are byte-reversed.
pub(crate) struct Polyval<'p, 'd, B: Isa, const GHASH: bool> {
    powers: &'p Powers,
    data: Span<'d>,
    // Offset of the string's next register in bytes, and number of blocks left, including the block after the string.
    at: usize,
    left: usize,
    // The block after the string, in the last lane.
    end: B::V,
    // The sums of the lanes, and their next value before its reduction.
    t: B::V,
    sum: Unreduced<B>,
}

impl<'p, 'd, B: Isa, const GHASH: bool> Polyval<'p, 'd, B, GHASH> {
    /// Begins a string, padded with zeros to whole blocks, and followed by the block `end`, if any, which is never
    /// byte-reversed. The first lane of `y` is the hash of what precedes the string; its other lanes are zero.
    #[inline(always)]
    pub(crate) fn new(b: B, powers: &'p Powers, y: B::V, data: Span<'d>, end: Option<&Block>) -> Self {
        let blocks = data.len().div_ceil(BLOCK) + usize::from(end.is_some());
        let end = end.map_or(b.zero(), |end| b.reverse_blocks(b.one(end)));
        let first = match blocks % B::BLOCKS {
            0 => blocks.min(B::BLOCKS),
            some => some,
        };
        let at = data.len().min(BLOCK * first);
        let mut t = b.xor(Self::turn(b, b.keep(data.load_part(b, 0), at)), y);
        for _ in first..B::BLOCKS {
            t = b.push(b.zero(), t);
        }
        let left = blocks - first;
        if left == 0 {
            t = b.xor(t, end);
        }
        Self { powers, data, at, left, end, t, sum: Unreduced::zero(b) }
    }

    /// Byte-reverses blocks of the string for GHASH.
    #[inline(always)]
    fn turn(b: B, x: B::V) -> B::V {
        if GHASH { b.reverse(x) } else { x }
    }

    /// Returns the hash of the whole string in the first lane, not byte-reversed.
    #[inline(always)]
    pub(crate) fn finish(mut self, b: B) -> B::V {
        while self.left > 0 {
            let registers = most_registers::<B>().min(self.left / B::BLOCKS);
            for r in 0..registers {
                let x = self.register(b, r);
                self.absorb(b, registers, r, x);
            }
            self.go(registers);
        }
        let mut sum = Unreduced::zero(b);
        sum.add(b, self.t, b.load(&self.powers.last[0]), b.load(&self.powers.last[1]));
        b.fold(sum.reduce::<GcmOrder>(b))
    }

    /// Returns the string's register number `r`, counted from the next one.
    #[inline(always)]
    fn register(&self, b: B, r: usize) -> B::V {
        // The block after the string may be the only one in a register.
        let at = (self.at + r * BLOCK * B::BLOCKS).min(self.data.len());
        let x = Self::turn(b, self.data.load_part(b, at));
        if self.left == (r + 1) * B::BLOCKS { b.xor(x, self.end) } else { x }
    }

    /// The last register is not multiplied. The lanes' sums are multiplied in its turn, as late as possible, because
    /// they depend on the previous group.
    #[inline(always)]
    fn absorb(&mut self, b: B, registers: usize, r: usize, x: B::V) {
        if r == 0 {
            self.sum = Unreduced::zero(b);
        }
        // The last register is not multiplied. In its place, the lanes' sums are, because they depend on the previous
        // group.
        let is_last = r == registers - 1;
        let (factor, step) = if is_last { (self.t, registers) } else { (x, registers - 1 - r) };
        let [power, sum] = self.powers.steps.each_ref().map(|powers| b.splat(&powers[step - 1]));
        self.sum.add(b, factor, power, sum);
        if is_last {
            self.t = b.xor(self.sum.reduce::<GcmOrder>(b), x);
        }
    }

    /// Advances by `registers` absorbed registers.
    #[inline(always)]
    fn go(&mut self, registers: usize) {
        self.at += registers * BLOCK * B::BLOCKS;
        self.left -= registers * B::BLOCKS;
    }
}

/// Absorbs one register per piece, as long as there are enough for all pieces.
impl<B: Isa, const GHASH: bool> Weave<B> for Polyval<'_, '_, B, GHASH> {
    // With registers of one or four blocks, the compiler unrolls the rounds of POLYVAL by itself.
    const LONG: bool = GHASH || B::BLOCKS == 2;

    #[inline(always)]
    fn begin(&mut self, _: B) -> bool {
        const WHOLE: usize = REGISTERS - 1;
        self.left >= REGISTERS * B::BLOCKS && self.data.len() - self.at >= WHOLE * BLOCK * B::BLOCKS
    }

    #[inline(always)]
    fn thread(&mut self, b: B, piece: usize) {
        let most = most_registers::<B>();
        let x = if piece < REGISTERS - 1 {
            Self::turn(b, self.data.chunk_to_read::<B, { REGISTERS - 1 }>(self.at).load(b, piece))
        } else {
            self.register(b, piece)
        };
        self.absorb(b, most, piece % most, x);
        if piece == REGISTERS - 1 {
            self.go(REGISTERS);
        }
    }
}

/// The states of the hashes of short strings, one per lane of two registers.
pub(crate) struct LaneHash<B: Isa> {
    /// `H`, and after [`LaneHash::prepare`] `H^4`, …, `H`.
    powers: [[B::V; 2]; COLUMNS],
    y: [B::V; 2],
}

/// Number of blocks of each message between two reductions.
const COLUMNS: usize = super::aes::COLUMNS;

impl<B: Isa> LaneHash<B> {
    /// Begins strings with a key each.
    #[inline(always)]
    pub(crate) fn new(b: B, keys: &[Block; GROUP]) -> Self {
        let h = [b.load(keys), b.load(&keys[B::BLOCKS..])];
        Self { powers: [h; COLUMNS], y: [b.zero(); 2] }
    }

    /// Computes the powers that [`LaneHash::absorb_four`] needs.
    #[inline(always)]
    pub(crate) fn prepare(&mut self, b: B) {
        each_register!(2, 0 1, q => {
            let h = self.powers[COLUMNS - 1][q];
            let square_of_h = square::<GcmOrder, B>(b, h);
            self.powers[2][q] = square_of_h;
            self.powers[1][q] = haswell::<GcmOrder, B>(b, square_of_h, h);
            self.powers[0][q] = square::<GcmOrder, B>(b, square_of_h);
        });
    }

    /// Absorbs four blocks of each message.
    #[inline(always)]
    pub(crate) fn absorb_four(&mut self, b: B, x: &[[B::V; COLUMNS]; 2]) {
        let mut sums = [Unreduced::zero(b); 2];
        each_register!(2, 0 1, q => {
            each_register!(COLUMNS, 0 1 2 3, i => {
                let power = self.powers[i][q];
                let x = if i == 0 { b.xor(self.y[q], x[q][0]) } else { x[q][i] };
                sums[q].add(b, x, power, b.xor(power, b.swap(power)));
            });
        });
        each_register!(2, 0 1, q => {
            self.y[q] = sums[q].reduce::<GcmOrder>(b);
        });
    }

    /// Absorbs four blocks of each message, without the powers.
    #[inline(always)]
    pub(crate) fn absorb_all(&mut self, b: B, x: &[[B::V; COLUMNS]; 2]) {
        each_register!(COLUMNS, 0 1 2 3, i => {
            each_register!(2, 0 1, q => {
                self.y[q] = self.step(b, q, x[q][i]);
            });
        });
    }

    /// Absorbs up to four blocks of each message, from block `first` on: those that begin within the string. Both
    /// halves of each lane of `bits` are the string's length in bits.
    #[inline(always)]
    pub(crate) fn absorb_some(&mut self, b: B, x: &[[B::V; COLUMNS]; 2], bits: [B::V; 2], first: usize) {
        each_register!(COLUMNS, 0 1 2 3, i => {
            let at = b.splat(&short(8 * (BLOCK * (first + i)) as u64));
            each_register!(2, 0 1, q => {
                // All bits are 1 if the difference is negative.
                let mask = b.sub64(b.zero(), b.shift_right(b.sub64(at, bits[q]), 63));
                let changed = b.xor(self.step(b, q, x[q][i]), self.y[q]);
                self.y[q] = b.xor(self.y[q], b.and(changed, mask));
            });
        });
    }

    /// Absorbs the last block of each message, and returns the hashes.
    #[inline(always)]
    pub(crate) fn finish(self, b: B, x: [B::V; 2]) -> [B::V; 2] {
        [self.step(b, 0, x[0]), self.step(b, 1, x[1])]
    }

    #[inline(always)]
    fn step(&self, b: B, q: usize, x: B::V) -> B::V {
        haswell::<GcmOrder, B>(b, b.xor(self.y[q], x), self.powers[COLUMNS - 1][q])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, Kernel, after_drop};

    struct Fill;

    impl Kernel for Fill {
        type Output = [Powers; 1];

        #[inline(always)]
        fn run<B: Isa>(self, b: B) -> [Powers; 1] {
            let mut powers = [Powers::empty()];
            Powers::fill_each(b, &mut powers, &[core::array::from_fn(|i| i as u8 + 1); GROUP], usize::MAX);
            powers
        }
    }

    #[test]
    fn dropped_powers_are_wiped() {
        for backend in Backend::available() {
            let filled = || backend.run(Fill);
            let [powers] = filled();
            assert!(powers.steps[1][0] != [0; BLOCK] && powers.last[1][0] != [0; BLOCK], "{backend:?}");
            assert!(after_drop(filled()).iter().all(|&byte| byte == 0), "{backend:?}");
        }
    }
}
