//! The offsets of OCB3 (RFC 7253, section 4).
//!
//! ```text
//! Offset_i ← Offset_{i-1} ⊕ L_{ntz(i)}
//! ```
//!
//! The engine computes them in groups of a power of two of blocks. Every block of a group except the last has a fixed
//! difference to the offset before the group, whichever group it is. A table per key contains these differences, so
//! an offset takes one XOR.

use alloc::boxed::Box;

use super::block::add;
use super::gf128::{BigEndian, Field};
use crate::backend::{BLOCK, Block, Isa, REGISTERS, Wiped};

/// Maximum number of blocks in a group.
const GROUP: usize = 4 * REGISTERS;

/// Number of values `L_j`: enough for 2^48 blocks, the maximum per key.
const LEVELS: usize = 49;

/// The values derived from a key from which offsets are computed.
#[repr(align(64))]
pub(crate) struct OffsetTable {
    /// At `i - 1`, the sum of `L_{ntz(1)}` to `L_{ntz(i)}`. Zero for the group's last block.
    within: [Block; GROUP],
    /// At `j`, the difference from one group's base to the next, if the last block of the group has `ntz(i) = j`:
    /// `L_j` and the sum within the group.
    across: [Block; LEVELS],
    /// `L_*`.
    asterisk: Block,
    /// `L_$`.
    dollar: Block,
}

impl OffsetTable {
    /// Returns the table for groups of eight registers of a backend, computed from `L_* = E_K(0)`.
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

    /// Returns the number of blocks in a group.
    #[inline(always)]
    const fn group<B: Isa>() -> usize {
        REGISTERS * B::BLOCKS
    }

    /// Returns `L_*`.
    #[inline(always)]
    pub(crate) fn asterisk(&self) -> &Block {
        &self.asterisk
    }

    /// Returns `L_$`.
    #[inline(always)]
    pub(crate) fn dollar(&self) -> &Block {
        &self.dollar
    }
}

/// The sequence of a message's offsets.
pub(crate) struct Offsets<'t, B: Isa> {
    table: &'t OffsetTable,
    /// The offset before the current group, in every lane.
    base: B::V,
    /// Number of blocks before the current group.
    before: usize,
}

impl<'t, B: Isa> Offsets<'t, B> {
    /// Returns the offsets that follow `start`, which must be in every lane.
    #[inline(always)]
    pub(crate) fn after(table: &'t OffsetTable, start: B::V) -> Self {
        Self { table, base: start, before: 0 }
    }

    /// Returns the offsets of the next `blocks` blocks in `R` registers: a whole group, or the last blocks of a
    /// message.
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
            // The table has no entry for the group's last block, whose offset is the next base. Only its lane is
            // changed.
            let others = b.keep(step, BLOCK * (B::BLOCKS - 1));
            offsets[R - 1] = b.xor3(offsets[R - 1], step, others);
        }
        offsets
    }

    /// Returns the offset of the last of a message's `blocks` blocks in the first lane. All offsets must have been
    /// taken.
    #[inline(always)]
    pub(crate) fn last(&self, b: B, blocks: usize) -> B::V {
        match blocks - self.before {
            0 => self.base,
            left => b.xor(self.base, b.one(&self.table.within[left - 1])),
        }
    }
}
