//! The offsets of OCB3 (RFC 7253, section 4).
//!
//! The offset of block `i` is the one before it and `L_{ntz(i)}`. In a group of a power of two blocks all but the last
//! have the same differences to the group's first offset, whichever group it is, so a table has these.

use alloc::boxed::Box;

use super::block::add;
use super::gf128::{BigEndian, Field};
use crate::backend::{BLOCK, Block, Isa, REGISTERS, Wiped};

/// The most blocks of a group.
const GROUP: usize = 4 * REGISTERS;

/// How many `L_j` there are: enough for 2^48 blocks, the most under a key.
const LEVELS: usize = 49;

/// What a key's offsets are made of.
#[repr(align(64))]
pub(crate) struct OffsetTable {
    /// The sum of `L_{ntz(1)}` to `L_{ntz(i)}` at `i - 1`; nothing where the group ends.
    within: [Block; GROUP],
    /// What each `L_j` at a group's end adds: it and all differences within the group.
    across: [Block; LEVELS],
    asterisk: Block,
    dollar: Block,
}

impl OffsetTable {
    /// The table for groups of eight registers of a backend, from `L_* = E_K(0)`.
    #[inline(always)]
    pub(crate) fn new<B: Isa>(asterisk: &Block) -> Box<Wiped<Self>> {
        let mut table = Box::new(Wiped::new(Self {
            within: [[0; BLOCK]; GROUP],
            across: [[0; BLOCK]; LEVELS],
            asterisk: *asterisk,
            dollar: BigEndian::double_block(asterisk),
        }));
        let Self { within, across, dollar, .. } = &mut **table;
        across[0] = BigEndian::double_block(dollar);
        for j in 1..LEVELS {
            across[j] = BigEndian::double_block(&across[j - 1]);
        }
        let mut sum = [0; BLOCK];
        for i in 1..Self::group::<B>() {
            sum = add(sum, across[i.trailing_zeros() as usize]);
            within[i - 1] = sum;
        }
        for l in across {
            *l = add(*l, sum);
        }
        table
    }

    /// Blocks of a group.
    #[inline(always)]
    const fn group<B: Isa>() -> usize {
        REGISTERS * B::BLOCKS
    }

    /// `L_*`
    #[inline(always)]
    pub(crate) fn asterisk(&self) -> &Block {
        &self.asterisk
    }

    /// `L_$`
    #[inline(always)]
    pub(crate) fn dollar(&self) -> &Block {
        &self.dollar
    }
}

/// The offsets of a message's blocks on their way.
pub(crate) struct Offsets<'t, B: Isa> {
    table: &'t OffsetTable,
    /// The offset before the current group, in every lane.
    base: B::V,
    /// Blocks before the current group.
    before: usize,
}

impl<'t, B: Isa> Offsets<'t, B> {
    /// The offsets after `start`, which is in every lane.
    #[inline(always)]
    pub(crate) fn after(table: &'t OffsetTable, start: B::V) -> Self {
        Self { table, base: start, before: 0 }
    }

    /// The offsets of the next `blocks` blocks, in `R` registers: a whole group, or the last ones of a message.
    #[inline(always)]
    pub(crate) fn take<const R: usize>(&mut self, b: B, blocks: usize) -> [B::V; R] {
        let mut offsets = [b.zero(); R];
        for r in 0..R {
            offsets[r] = b.xor(self.base, b.load(&self.table.within[r * B::BLOCKS..]));
        }
        if blocks == OffsetTable::group::<B>() {
            self.before += blocks;
            let step = b.splat(&self.table.across[self.before.trailing_zeros() as usize]);
            self.base = b.xor(self.base, step);
            // The table has nothing for the group's last block.
            let others = b.keep(step, BLOCK * (B::BLOCKS - 1));
            offsets[R - 1] = b.xor3(offsets[R - 1], step, others);
        }
        offsets
    }

    /// The offset of the last of a message's `blocks` blocks, in the first lane, once all were taken.
    #[inline(always)]
    pub(crate) fn last(&self, b: B, blocks: usize) -> B::V {
        match blocks - self.before {
            0 => self.base,
            left => b.xor(self.base, b.one(&self.table.within[left - 1])),
        }
    }
}
