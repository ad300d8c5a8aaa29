//! Strands on their way through the lanes: which lane has which, and how it begins and ends there.
//!
//! Chains that write may change strands between lines of four blocks only, so that windows are few and long and everything
//! is written in squares. What a strand has beyond its whole lines, or whole blocks, goes through a line of its own, which is
//! its rest:
//!
//! ```text
//! a strand of 150 bytes   |---- line ----|---- line ----|rest|
//! the lane                 windows of the others, 8 blocks    a copy of the 22 bytes, and zeros; 2 blocks of the next line
//! ```

use alloc::vec::Vec;
use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::links::Links;
use super::windows::windows;
use super::{Chain, Laid, Strand};
use crate::backend::{BLOCK, Block, Isa, LINE, Rows, Square};
use crate::engine::order::Order;

/// A block of every lane, in memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct LaneBlocks<const N: usize>(pub(super) [Block; N]);

/// Up to `N` lanes, and what is in them.
pub(super) struct Comb<
    'r,
    B: Isa,
    M,
    A,
    const S: usize,
    const K: usize,
    const C: usize,
    const T: usize,
    const W: usize,
    const N: usize,
> {
    pub(super) b: B,
    pub(super) rows: Rows<'r, N>,
    pub(super) state: [LaneBlocks<N>; S],
    // The states after each step of a line.
    pub(super) trail: [[LaneBlocks<N>; S]; LINE / BLOCK],
    pub(super) strand: [usize; N],
    // Bytes after which a lane may change strands, a power of two.
    pub(super) unit: usize,
    // Lanes whose strand has come to its last bytes, less than a unit.
    pub(super) in_rest: u64,
    // Two, if chains write registers of more than a block.
    pub(super) squares: &'r mut [Square<B, W>],
    pub(super) links: A,
    pub(super) chain: PhantomData<M>,
}

impl<
    'a: 'r,
    'r,
    B: Isa,
    M: Chain<S, K, C, T>,
    A: Links<'a, B, K, C>,
    const S: usize,
    const K: usize,
    const C: usize,
    const T: usize,
    const W: usize,
    const N: usize,
> Comb<'r, B, M, A, S, K, C, T, W, N>
{
    /// Takes the strands through the lanes, until all are through.
    ///
    /// As the comb does it: a group of strands, window by window as precomputed, then the next group. Refilled: a lane
    /// whose strand has ended takes the next, between lines of four blocks only where chains write, so that windows are
    /// few and long and everything is written in squares. What a strand has beyond its whole lines, or whole blocks, goes
    /// through a line of its own.
    #[inline(always)]
    pub(super) fn take(&mut self, strands: &mut [Strand<'a, S, K, C>], order: &Order, laid: Laid) {
        let parallel = if let Laid::Comb(p) = laid { p } else { W * B::BLOCKS };
        let mut waiting = order.places();
        let mut comb = Vec::new().into_iter();
        loop {
            if self.rows.busy() == 0 {
                let mut lengths = ArrayVec::<usize, N>::new();
                for (lane, strand) in waiting.by_ref().take(parallel).enumerate() {
                    self.begin(lane, strands, strand);
                    lengths.push(strands[strand].data.len().div_ceil(BLOCK));
                }
                if lengths.is_empty() {
                    return;
                }
                if laid != Laid::Refilled {
                    comb = windows(&lengths).into_iter();
                }
            }
            let mut left = comb.next().map_or(usize::MAX, |window| window.blocks);
            while left > 0 && self.rows.busy() != 0 {
                left -= self.window(left.min(self.most_steps(strands)));
                let mut ended = self.rows.ended() | self.in_rest;
                while ended != 0 {
                    let lane = ended.trailing_zeros() as usize;
                    ended &= ended - 1;
                    if self.in_rest & (1 << lane) != 0 {
                        self.end_rest(lane, strands);
                    } else if self.rest(&strands[self.strand[lane]]) > 0 {
                        self.begin_rest(lane, strands);
                        continue;
                    } else {
                        self.end(lane, strands);
                    }
                    let next = if laid == Laid::Refilled { waiting.next() } else { None };
                    match next {
                        Some(strand) => self.begin(lane, strands, strand),
                        None => self.rows.idle(lane),
                    }
                }
            }
        }
    }

    /// How far the lanes may go at most: where some are in their rest, to the end of a unit, or of the longest rest if
    /// all are.
    #[inline(always)]
    fn most_steps(&self, strands: &[Strand<'a, S, K, C>]) -> usize {
        if self.in_rest == 0 {
            usize::MAX
        } else if self.in_rest == self.rows.busy() {
            self.longest_rest(strands)
        } else {
            self.unit / BLOCK
        }
    }

    /// Blocks of the longest rest in the lanes.
    #[inline(always)]
    fn longest_rest(&self, strands: &[Strand<'a, S, K, C>]) -> usize {
        let mut longest = 0;
        let mut lanes = self.in_rest;
        while lanes != 0 {
            longest = longest.max(self.rest(&strands[self.strand[lanes.trailing_zeros() as usize]]));
            lanes &= lanes - 1;
        }
        longest.div_ceil(BLOCK)
    }

    /// Bytes of a strand beyond its whole units.
    #[inline(always)]
    fn rest(&self, strand: &Strand<'a, S, K, C>) -> usize {
        // A mask, since a division takes as long as half a step.
        strand.data.len() & (self.unit - 1)
    }

    /// Gives a lane a strand, or its rest if there is no more.
    #[inline(always)]
    fn begin(&mut self, lane: usize, strands: &[Strand<'a, S, K, C>], strand: usize) {
        self.assign(lane, strands, strand);
        let Strand { data, .. } = &strands[strand];
        if data.len() >= self.unit {
            self.rows.begin(lane, data, data.len() - self.rest(&strands[strand]));
        } else {
            self.begin_rest(lane, strands);
        }
    }

    #[inline(always)]
    fn begin_rest(&mut self, lane: usize, strands: &[Strand<'a, S, K, C>]) {
        let strand = &strands[self.strand[lane]];
        self.rows.begin_rest(self.b, lane, &strand.data, strand.data.len() - self.rest(strand));
        self.in_rest |= 1 << lane;
    }

    #[inline(always)]
    fn end_rest(&mut self, lane: usize, strands: &mut [Strand<'a, S, K, C>]) {
        if M::WRITES {
            self.rows.put_back(self.b, lane);
        }
        self.in_rest &= !(1 << lane);
        let strand = &mut strands[self.strand[lane]];
        let after = &self.trail[self.rest(strand).div_ceil(BLOCK) - 1];
        for s in 0..S {
            strand.state[s] = after[s].0[lane];
        }
    }

    #[inline(always)]
    fn assign(&mut self, lane: usize, strands: &[Strand<'a, S, K, C>], strand: usize) {
        let Strand { link, state, .. } = &strands[strand];
        self.links.assign(lane, link);
        self.strand[lane] = strand;
        for s in 0..S {
            self.state[s].0[lane] = state[s];
        }
    }

    #[inline(always)]
    fn end(&mut self, lane: usize, strands: &mut [Strand<'a, S, K, C>]) {
        let state = &mut strands[self.strand[lane]].state;
        for s in 0..S {
            state[s] = self.state[s].0[lane];
        }
    }
}
