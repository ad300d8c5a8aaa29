//! The assignment of strands to lanes: how a strand begins and ends in a lane.
//!
//! Chains that write output let lanes change strands only between lines of four blocks. So windows are few and long,
//! and everything is written in squares. The bytes after a strand's last whole line are its tail (`rest`). It is
//! processed in a separate scratch line:
//!
//! ```text
//! a strand of 150 bytes   |---- line ----|---- line ----|tail|
//!
//! whole lines             8 blocks, read and written in the message
//! tail                    22 bytes, copied to the scratch line and zero-padded; 2 of its 4 blocks are used
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

/// Up to `N` lanes, and the strands in them.
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
    // Granularity in bytes at which a lane may change strands, a power of two.
    pub(super) unit: usize,
    // Bit mask of the lanes that process the tail of their strand.
    pub(super) in_rest: u64,
    // Two squares if the chain writes and registers have more than one block, otherwise none.
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
    /// Processes all strands.
    ///
    /// With the paper's comb, a group of strands is processed window by window, and then the next group. With
    /// refilling, a lane whose strand has ended takes the next one.
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

    /// Returns the maximum number of steps of the next window. If some lanes are in their tail, it ends with their
    /// line; if all are, with the longest tail.
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

    /// Returns the number of blocks of the longest tail in the lanes.
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

    /// Returns the number of bytes of a strand's tail, after its whole units.
    #[inline(always)]
    fn rest(&self, strand: &Strand<'a, S, K, C>) -> usize {
        // A mask, because a division takes as long as half a step.
        strand.data.len() & (self.unit - 1)
    }

    /// Assigns a strand to a lane, and begins it, or its tail if it has nothing else.
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

    /// Begins the tail of a lane's strand.
    #[inline(always)]
    fn begin_rest(&mut self, lane: usize, strands: &[Strand<'a, S, K, C>]) {
        let strand = &strands[self.strand[lane]];
        self.rows.begin_rest(self.b, lane, &strand.data, strand.data.len() - self.rest(strand));
        self.in_rest |= 1 << lane;
    }

    /// Ends the tail of a lane's strand: writes its output, and returns its state after the tail's last block.
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

    /// Loads a strand's link and state into a lane.
    #[inline(always)]
    fn assign(&mut self, lane: usize, strands: &[Strand<'a, S, K, C>], strand: usize) {
        let Strand { link, state, .. } = &strands[strand];
        self.links.assign(lane, link);
        self.strand[lane] = strand;
        for s in 0..S {
            self.state[s].0[lane] = state[s];
        }
    }

    /// Returns a lane's state to its strand.
    #[inline(always)]
    fn end(&mut self, lane: usize, strands: &mut [Strand<'a, S, K, C>]) {
        let state = &mut strands[self.strand[lane]].state;
        for s in 0..S {
            state[s] = self.state[s].0[lane];
        }
    }
}
