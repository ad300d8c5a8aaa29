//! OMAC of short strings under one key, one per lane.
//!
//! ```text
//! for each block M_i of the longest string, in all lanes:
//!     C ← E_K(C ⊕ M_i), with K1, or K2 ⊕ 10…0, added to the last block of a string
//!     T ← C in the lanes in which M_i is the last block
//! ```
//!
//! After the end of a string, its lane processes zeros.

use super::omac::Ends;
use crate::backend::{BLOCK, Block, Isa};
use crate::engine::Message;
use crate::engine::lane_groups::{COLUMNS, R, lanes};
use crate::primitives::aes::KeySchedule;
use crate::primitives::gf128::short;

/// The chains over one string of each message of a group.
pub(super) struct LaneOmac<'k, B: Isa> {
    aes: &'k KeySchedule,
    c: [B::V; R],
    macs: [B::V; R],
    /// What is added to the last block of each string.
    ends: [B::V; R],
    /// What is added to the block before the last one, if there is anything.
    before_ends: Option<[B::V; R]>,
    /// Numbers, in both halves, of which only the bit of the string's last block is 1. `None` if all strings have the
    /// same length.
    last: Option<[B::V; R]>,
    /// The number of blocks of the longest string.
    blocks: usize,
}

impl<'k, B: Isa> LaneOmac<'k, B> {
    /// Begins chains of strings whose sizes are `bytes`. `ends` returns what a string of some size adds to its last
    /// block. An empty string has one block, of padding.
    #[inline(always)]
    pub(super) fn new(
        b: B,
        aes: &'k KeySchedule,
        messages: &[&mut Message<'_>],
        bytes: impl Fn(&Message<'_>) -> usize,
        ends: impl Fn(usize) -> Ends<'k>,
    ) -> Self {
        let first = bytes(messages[0]);
        let (mut most, mut equal) = (first, true);
        for message in messages {
            let bytes = bytes(message);
            most = most.max(bytes);
            equal &= bytes == first;
        }
        let zero = [b.zero(); R];
        let mut chains = Self {
            aes,
            c: zero,
            macs: zero,
            ends: zero,
            before_ends: None,
            last: None,
            blocks: most.div_ceil(BLOCK).max(1),
        };
        if equal {
            let [padding, subkey] = ends(first);
            chains.ends = [b.xor(b.splat(padding), b.splat(subkey)); R];
        } else {
            chains.ends = lanes(b, messages, |message| {
                let [padding, subkey] = ends(bytes(message));
                b.xor(b.one(padding), b.one(subkey))
            });
            chains.last = Some(lanes(b, messages, |message| {
                let last = bytes(message).saturating_sub(1) / BLOCK;
                b.one(&short(1 << last))
            }));
        }
        chains
    }

    /// Replaces the first state of all chains.
    #[inline(always)]
    pub(super) fn start(&mut self, b: B, state: &Block) {
        self.c = [b.splat(state); R];
    }

    /// Adds values to the last blocks of the strings, and others to the blocks before them.
    #[inline(always)]
    pub(super) fn add_to_ends(&mut self, b: B, ends: [B::V; R], before_ends: [B::V; R]) {
        each_register!(R, 0 1 2 3, q => {
            self.ends[q] = b.xor(self.ends[q], ends[q]);
        });
        self.before_ends = Some(before_ends);
    }

    /// Returns the mask of the lanes of register `q` whose last block is block `i`.
    #[inline(always)]
    fn mask(&self, b: B, q: usize, i: usize) -> B::V {
        match &self.last {
            Some(last) => {
                let bit = b.and(b.shift_right(last[q], i as u32), b.splat(&short(1)));
                b.sub64(b.zero(), bit)
            }
            None => b.splat(&[if i + 1 == self.blocks { 0xff } else { 0 }; BLOCK]),
        }
    }

    /// Absorbs block `i` of each string.
    #[inline(always)]
    pub(super) fn step(&mut self, b: B, i: usize, x: [B::V; R]) {
        let ends = self.last.is_some() || i + 1 == self.blocks;
        each_register!(R, 0 1 2 3, q => {
            self.c[q] = b.xor(self.c[q], x[q]);
        });
        if let Some(before_ends) = &self.before_ends
            && (self.last.is_some() || i + 2 == self.blocks)
        {
            each_register!(R, 0 1 2 3, q => {
                self.c[q] = b.xor(self.c[q], b.and(before_ends[q], self.mask(b, q, i + 1)));
            });
        }
        if ends {
            each_register!(R, 0 1 2 3, q => {
                self.c[q] = b.xor(self.c[q], b.and(self.ends[q], self.mask(b, q, i)));
            });
        }
        b.encrypt(self.aes.encrypting(), &mut self.c);
        if ends {
            each_register!(R, 0 1 2 3, q => {
                let mac = b.and(self.c[q], self.mask(b, q, i));
                self.macs[q] = b.xor(self.macs[q], mac);
            });
        }
    }

    /// Absorbs four blocks of each string, beginning with block `i`, up to the end of the longest one.
    #[inline(always)]
    pub(super) fn absorb(&mut self, b: B, i: usize, x: &[[B::V; COLUMNS]; R]) {
        for n in 0..COLUMNS.min(self.blocks - i.min(self.blocks)) {
            self.step(b, i + n, [x[0][n], x[1][n], x[2][n], x[3][n]]);
        }
    }

    /// Returns the MACs.
    #[inline(always)]
    pub(super) fn macs(self) -> [B::V; R] {
        self.macs
    }
}
