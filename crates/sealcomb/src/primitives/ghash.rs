//! Polynomial hashes with deferred reduction: GHASH (SP 800-38D, section 6.4), POLYVAL (RFC 8452, section 3) and Julius'
//! seed.
//!
//! A group of `n` blocks is summed as `X_1 H^n + ... + X_n H`, over as many powers as the table holds, and reduced
//! once. The table is built in wide registers: each step multiplies all powers known so far by the highest of them,
//! which doubles their number (the VAES paper's figures 3-5). GHASH is POLYVAL of the byte-reversed blocks under the
//! key `x H` (RFC 8452, appendix A).

use core::marker::PhantomData;

use zeroize::ZeroizeOnDrop;

use super::aes::GROUP;
use super::gf128::{Field, GcmOrder, Unreduced, haswell, short};
use super::wipe;
use crate::backend::{BLOCK, Block, Isa, REGISTERS, Span};

/// What is behind the powers of a table: a one for a hash whose last block is not multiplied any more, and zeros. A
/// register whose last lanes have no block meets up to four of them.
const BEHIND: usize = 4;

/// The powers of a hash key, byte-reversed: room for so many of them, and for what is behind them.
#[repr(align(64))]
pub(crate) struct Powers<const ROOM: usize> {
    // H^POWERS ... H^1, 1, zeros.
    blocks: [Block; ROOM],
    // The sum of each power's halves, in both halves, for Karatsuba's method.
    sums: [Block; ROOM],
    // How many powers there are: the most blocks between two reductions.
    count: usize,
    filled: usize,
}

/// Eight registers of four blocks, and one more register.
const ROOM: usize = 4 * REGISTERS + 4 + BEHIND;
/// Four registers of four blocks.
const OWN_ROOM: usize = 4 * REGISTERS / 2 + BEHIND;

/// The powers of a key for many messages.
pub(crate) type Table = Powers<ROOM>;

/// The powers of a message's own key.
pub(crate) type OwnTable = Powers<OWN_ROOM>;

impl Table {
    /// The powers of `h`: as many as a backend multiplies with between two reductions, and a register more, so that a
    /// full group has room for the block with the lengths.
    #[inline(always)]
    pub(crate) fn new<F: Field, B: Isa>(b: B, h: &Block) -> Self {
        let mut table = Self::empty();
        let full = Self::full_group::<B>();
        table.fill::<F, B>(b, &F::factor(h), full);
        let more = haswell::<F, B>(
            b,
            b.load(&table.blocks[Self::POWERS - B::BLOCKS..]),
            b.splat(&table.blocks[Self::POWERS - full]),
        );
        let at = Self::POWERS - full - B::BLOCKS;
        b.store(more, &mut table.blocks[at..]);
        b.store(b.xor(more, b.swap(more)), &mut table.sums[at..]);
        table.count += B::BLOCKS;
        table.filled = table.count;
        table
    }
}

impl<const ROOM: usize> Powers<ROOM> {
    /// The most powers.
    const POWERS: usize = ROOM - BEHIND;

    /// Blocks of a group of eight full registers.
    #[inline(always)]
    pub(crate) const fn full_group<B: Isa>() -> usize {
        REGISTERS * B::BLOCKS
    }

    /// The most registers between two reductions under a key of a message's own: more powers would take longer than the
    /// reductions that they spare.
    #[inline(always)]
    pub(crate) const fn own_registers<B: Isa>() -> usize {
        if B::BLOCKS == 1 { REGISTERS } else { REGISTERS / 2 }
    }

    /// A table to be filled.
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        let mut table = Self { blocks: [[0; BLOCK]; ROOM], sums: [[0; BLOCK]; ROOM], count: 0, filled: 0 };
        table.blocks[Self::POWERS][0] = 1;
        table.sums[Self::POWERS] = short(1);
        table
    }

    /// `H^n` and the powers below it, byte-reversed.
    #[inline(always)]
    pub(crate) fn powers_from(&self, n: usize) -> &[Block] {
        debug_assert!(n <= self.count);
        &self.blocks[Self::POWERS - n..]
    }

    /// The most blocks between two reductions.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Puts the first `count` powers of `h`, a power of two, into the table.
    #[inline(always)]
    pub(crate) fn fill<F: Field, B: Isa>(&mut self, b: B, h: &Block, count: usize) {
        self.begin(count);
        self.blocks[Self::POWERS - 1] = *h;
        let mut known = 1;
        while known < count {
            self.double_known::<F, B>(b, known);
            known *= 2;
        }
        self.add_halves(b);
    }

    /// Fills a table for POLYVAL for each message, whose hash is of so many blocks, with as many powers of its key as pay:
    /// each doubling of their number halves the reductions, and two groups of blocks are worth all powers. A power waits
    /// for the one before it, and so the tables are filled side by side.
    #[inline(always)]
    pub(crate) fn fill_each<B: Isa>(
        b: B,
        tables: &mut [Self],
        keys: &[Block; GROUP],
        blocks: impl Iterator<Item = usize>,
    ) {
        let most = Self::own_registers::<B>() * B::BLOCKS;
        for (table, blocks) in tables.iter_mut().zip(blocks) {
            let mut count = 4;
            while (count * count < 2 * blocks || blocks >= 2 * most) && count < most {
                count *= 2;
            }
            table.begin(count);
        }
        let mut first = [[0; BLOCK]; 4];
        for (tables, keys) in tables.chunks_mut(B::BLOCKS).zip(keys.chunks(B::BLOCKS)) {
            let h = b.load(keys);
            let multiply = |x, y| haswell::<GcmOrder, B>(b, x, y);
            let h2 = multiply(h, h);
            for (n, power) in [h, h2, multiply(h2, h), multiply(h2, h2)].into_iter().enumerate() {
                b.store(power, &mut first);
                for (table, power) in tables.iter_mut().zip(&first) {
                    table.blocks[Self::POWERS - 1 - n] = *power;
                }
            }
        }
        wipe(&mut first);
        let mut known = 4;
        while known < most {
            for table in &mut *tables {
                if known < table.count {
                    table.double_known::<GcmOrder, B>(b, known);
                }
            }
            known *= 2;
        }
        for table in tables {
            table.add_halves(b);
        }
    }

    /// Makes room for `count` powers.
    #[inline(always)]
    fn begin(&mut self, count: usize) {
        // A table that is used again is wiped as far as it was ever filled.
        self.filled = self.filled.max(count);
        self.count = count;
    }

    /// The next `known` powers.
    #[inline(always)]
    fn double_known<F: Field, B: Isa>(&mut self, b: B, known: usize) {
        let highest = b.splat(&self.blocks[Self::POWERS - known]);
        let mut i = 0;
        while i < known {
            let some = b.load(&self.blocks[Self::POWERS - known + i..]);
            let product = haswell::<F, B>(b, some, highest);
            b.store_some(product, &mut self.blocks[Self::POWERS - 2 * known + i..Self::POWERS - known]);
            i += B::BLOCKS;
        }
    }

    /// The sums of the powers' halves.
    #[inline(always)]
    fn add_halves<B: Isa>(&mut self, b: B) {
        let mut i = Self::POWERS - self.count;
        while i < Self::POWERS {
            let power = b.load(&self.blocks[i..]);
            b.store_some(b.xor(power, b.swap(power)), &mut self.sums[i..Self::POWERS]);
            i += B::BLOCKS;
        }
    }
}

impl<const ROOM: usize> Drop for Powers<ROOM> {
    fn drop(&mut self) {
        // What is before the first power was never written.
        let first = Self::POWERS - self.filled;
        wipe(&mut self.blocks[first..]);
        wipe(&mut self.sums[first..]);
    }
}

impl<const ROOM: usize> ZeroizeOnDrop for Powers<ROOM> {}

/// GHASH on its way.
pub(crate) type Ghash<'t, B> = KeyHash<'t, B, GcmOrder>;

/// The same hash in any convention of the field.
pub(crate) type KeyHash<'t, B, F> = Hash<'t, B, F, true, ROOM>;

/// POLYVAL on its way.
pub(crate) type Polyval<'t, B> = Hash<'t, B, GcmOrder, false, OWN_ROOM>;

/// A hash on its way: what earlier groups left, and the sum of the current group. POLYVAL is the one that does not reverse
/// the bytes of its blocks.
pub(crate) struct Hash<'t, B: Isa, F, const REVERSES: bool, const ROOM: usize> {
    table: &'t Powers<ROOM>,
    // The hash so far, in the first lane, until the group's first block takes it up.
    y: B::V,
    sum: Unreduced<B>,
    // Where the power of the group's next block is, and where that is once the group is complete.
    at: usize,
    end: usize,
    field: PhantomData<F>,
}

impl<'t, B: Isa, F: Field, const REVERSES: bool, const ROOM: usize> Hash<'t, B, F, REVERSES, ROOM> {
    #[inline(always)]
    pub(crate) fn new(b: B, table: &'t Powers<ROOM>) -> Self {
        Self { table, y: b.zero(), sum: Unreduced::zero(b), at: 0, end: 0, field: PhantomData }
    }

    /// Opens a group of this many blocks, at most [`Powers::count`].
    #[inline(always)]
    pub(crate) fn begin(&mut self, b: B, blocks: usize) {
        debug_assert!(self.at == self.end && blocks <= self.table.count);
        self.end = Powers::<ROOM>::POWERS;
        self.at = self.end - blocks;
        self.sum = Unreduced::zero(b);
    }

    /// The same, but the last of the blocks is added without being multiplied: the hash ends with it.
    #[cfg(feature = "research")]
    #[inline(always)]
    pub(crate) fn begin_last(&mut self, b: B, blocks: usize) {
        self.begin(b, blocks - 1);
        self.end += 1;
    }

    /// Takes in the next `blocks` blocks of the group; the register's further lanes must be zero.
    #[inline(always)]
    pub(crate) fn absorb(&mut self, b: B, x: B::V, blocks: usize) {
        let h = b.load(&self.table.blocks[self.at..]);
        let h_sum = b.load(&self.table.sums[self.at..]);
        let x = if REVERSES { b.reverse(x) } else { x };
        self.sum.add(b, b.xor(x, self.y), h, h_sum);
        self.y = b.zero();
        self.at += blocks;
    }

    /// Takes in blocks of the group that are not in a string.
    #[cfg(feature = "research")]
    #[inline(always)]
    pub(crate) fn absorb_blocks(&mut self, b: B, blocks: &[Block]) {
        for blocks in blocks.chunks(B::BLOCKS) {
            self.absorb(b, b.load_bytes(blocks.as_flattened()), blocks.len());
        }
    }

    /// The register of a group of `registers` full ones to take in as the `piece`th: the first has to wait for the group
    /// before this one, and so comes last.
    #[inline(always)]
    pub(crate) fn register(piece: usize, registers: usize) -> usize {
        (piece + 1) % registers
    }

    /// Takes in register `r` of a group of `registers` full ones; they may come in any order.
    #[inline(always)]
    pub(crate) fn absorb_register(&mut self, b: B, registers: usize, r: usize, x: B::V) {
        let at = Powers::<ROOM>::POWERS - (registers - r) * B::BLOCKS;
        let h = b.load(&self.table.blocks[at..]);
        let h_sum = b.load(&self.table.sums[at..]);
        let x = if REVERSES { b.reverse(x) } else { x };
        let x = if r == 0 { b.xor(x, self.y) } else { x };
        self.sum.add(b, x, h, h_sum);
    }

    /// Closes the group.
    #[inline(always)]
    pub(crate) fn end(&mut self, b: B) {
        debug_assert_eq!(self.at, self.end);
        self.y = b.fold(self.sum.reduce::<F>(b));
    }

    /// Takes in a whole string, zero-padded to whole blocks, in groups of its own.
    #[inline(always)]
    pub(crate) fn absorb_string(&mut self, b: B, string: &Span<'_>) {
        let at = self.absorb_groups(b, string, string.len());
        if at < string.len() {
            self.begin(b, (string.len() - at).div_ceil(BLOCK));
            self.absorb_part(b, string, at, string.len());
            self.end(b);
        }
    }

    /// Takes in as many full groups as there are in the first `to` bytes of a string. Returns where they end.
    #[inline(always)]
    pub(crate) fn absorb_groups(&mut self, b: B, string: &Span<'_>, to: usize) -> usize {
        let full = Powers::<ROOM>::full_group::<B>();
        let blocks = self.table.count.min(full);
        let group = BLOCK * blocks;
        let mut at = 0;
        while to - at >= group {
            if blocks == full {
                self.begin(b, 0);
                for piece in 0..REGISTERS {
                    let r = Self::register(piece, REGISTERS);
                    self.absorb_register(b, REGISTERS, r, string.load(b, at + r * BLOCK * B::BLOCKS));
                }
                self.end(b);
            } else {
                self.begin(b, blocks);
                self.absorb_part(b, string, at, at + group);
                self.end(b);
            }
            at += group;
        }
        at
    }

    /// Takes in the bytes `from..to` of a string, zero-padded to whole blocks, in the current group; both are multiples
    /// of a block unless `to` is the string's end.
    #[inline(always)]
    pub(crate) fn absorb_part(&mut self, b: B, string: &Span<'_>, from: usize, to: usize) {
        let register = BLOCK * B::BLOCKS;
        let mut at = from;
        while to - at >= register {
            self.absorb(b, string.load(b, at), B::BLOCKS);
            at += register;
        }
        if at < to {
            let x = b.keep(string.load_part(b, at), to - at);
            self.absorb(b, x, (to - at).div_ceil(BLOCK));
        }
    }

    /// The hash after the last group, in the first lane.
    #[inline(always)]
    pub(crate) fn value(&self, b: B) -> B::V {
        if REVERSES { b.reverse(self.y) } else { self.y }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, Kernel, after_drop};

    struct Fill {
        counts: [usize; 2],
    }

    impl Kernel for Fill {
        type Output = Table;

        #[inline(always)]
        fn run<B: Isa>(self, b: B) -> Table {
            let mut table = Table::empty();
            for count in self.counts {
                table.fill::<GcmOrder, B>(b, &[0xa5; BLOCK], count);
            }
            table
        }
    }

    #[test]
    fn a_dropped_table_leaves_no_power() {
        let none = [[0; BLOCK]; Table::POWERS + BEHIND];
        for backend in Backend::available() {
            for counts in [[8, 8], [8, 4], [4, 8]] {
                let table = || backend.run(Fill { counts });
                let powers = ..Table::POWERS;
                assert!(
                    table().blocks[powers] != none[powers] && table().sums[powers] != none[powers],
                    "{backend:?}"
                );
                assert!(after_drop(table(), |table| &table.blocks) == none, "{backend:?} {counts:?}");
                assert!(after_drop(table(), |table| &table.sums) == none, "{backend:?} {counts:?}");
            }
        }
    }
}
