//! The assignment of chain jobs to lanes: how a chain job begins and ends in a lane.
//!
//! Chains that write output let lanes change chain jobs only between lines of four blocks. So windows are few and long,
//! and everything is written in squares. The bytes after a chain job's last whole line are its tail. It is processed in
//! a separate scratch line:
//!
//! ```text
//! a chain job of 150 bytes   |---- line ----|---- line ----|tail|
//!
//! whole lines                8 blocks, read and written in the message
//! tail                       22 bytes, copied to the scratch line and zero-padded; 2 of its 4 blocks are used
//! ```

use alloc::vec::Vec;
use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::keys::ChainKeys;
use super::windows::windows;
use super::{Chain, ChainJob, Policy};
use crate::backend::{BLOCK, Block, Isa, LINE, LanePointers, Square};
use crate::engine::order::Order;

/// A block of every lane, in memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct LaneBlocks<const N: usize>(pub(super) [Block; N]);

/// Up to `N` lanes, and the chain jobs in them.
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
    pub(super) pointers: LanePointers<'r, N>,
    pub(super) state: [LaneBlocks<N>; S],
    // The states after each step of a line.
    pub(super) line_states: [[LaneBlocks<N>; S]; LINE / BLOCK],
    pub(super) job: [usize; N],
    // Granularity in bytes at which a lane may change chain jobs, a power of two.
    pub(super) quantum: usize,
    // Bit mask of the lanes that process the tail of their chain job.
    pub(super) in_tail: u64,
    // Two squares if the chain writes and registers have more than one block, otherwise none.
    pub(super) squares: &'r mut [Square<B, W>],
    pub(super) chain_keys: A,
    pub(super) chain: PhantomData<M>,
}

impl<
    'a: 'r,
    'r,
    B: Isa,
    M: Chain<S, K, C, T>,
    A: ChainKeys<'a, B, K, C>,
    const S: usize,
    const K: usize,
    const C: usize,
    const T: usize,
    const W: usize,
    const N: usize,
> Comb<'r, B, M, A, S, K, C, T, W, N>
{
    /// Processes all chain jobs.
    ///
    /// With the paper's comb, a group of chain jobs is processed window by window, and then the next group. With
    /// refilling, a lane whose chain job has ended takes the next one.
    #[inline(always)]
    pub(super) fn take(&mut self, jobs: &mut [ChainJob<'a, S, K, C>], order: &Order, policy: Policy) {
        let parallel = if let Policy::Comb(p) = policy { p } else { W * B::BLOCKS };
        let mut waiting = order.places();
        let mut comb = Vec::new().into_iter();
        loop {
            if self.pointers.busy() == 0 {
                let mut lengths = ArrayVec::<usize, N>::new();
                for (lane, job) in waiting.by_ref().take(parallel).enumerate() {
                    self.begin(lane, jobs, job);
                    lengths.push(jobs[job].data.len().div_ceil(BLOCK));
                }
                if lengths.is_empty() {
                    return;
                }
                if policy != Policy::Refilled {
                    comb = windows(&lengths).into_iter();
                }
            }
            let mut left = comb.next().map_or(usize::MAX, |window| window.blocks);
            while left > 0 && self.pointers.busy() != 0 {
                left -= self.window(left.min(self.most_steps(jobs)));
                let mut ended = self.pointers.ended() | self.in_tail;
                while ended != 0 {
                    let lane = ended.trailing_zeros() as usize;
                    ended &= ended - 1;
                    if self.in_tail & (1 << lane) != 0 {
                        self.end_tail(lane, jobs);
                    } else if self.tail_bytes(&jobs[self.job[lane]]) > 0 {
                        self.begin_tail(lane, jobs);
                        continue;
                    } else {
                        self.end(lane, jobs);
                    }
                    let next = if policy == Policy::Refilled { waiting.next() } else { None };
                    match next {
                        Some(job) => self.begin(lane, jobs, job),
                        None => self.pointers.idle(lane),
                    }
                }
            }
        }
    }

    /// Returns the maximum number of steps of the next window. If some lanes are in their tail, it ends with their
    /// line; if all are, with the longest tail.
    #[inline(always)]
    fn most_steps(&self, jobs: &[ChainJob<'a, S, K, C>]) -> usize {
        if self.in_tail == 0 {
            usize::MAX
        } else if self.in_tail == self.pointers.busy() {
            self.longest_tail(jobs)
        } else {
            self.quantum / BLOCK
        }
    }

    /// Returns the number of blocks of the longest tail in the lanes.
    #[inline(always)]
    fn longest_tail(&self, jobs: &[ChainJob<'a, S, K, C>]) -> usize {
        let mut longest = 0;
        let mut lanes = self.in_tail;
        while lanes != 0 {
            longest = longest.max(self.tail_bytes(&jobs[self.job[lanes.trailing_zeros() as usize]]));
            lanes &= lanes - 1;
        }
        longest.div_ceil(BLOCK)
    }

    /// Returns the number of bytes of a chain job's tail, after its whole quanta.
    #[inline(always)]
    fn tail_bytes(&self, job: &ChainJob<'a, S, K, C>) -> usize {
        // A mask, because a division takes as long as half a step.
        job.data.len() & (self.quantum - 1)
    }

    /// Assigns a chain job to a lane, and begins it, or its tail if it has nothing else.
    #[inline(always)]
    fn begin(&mut self, lane: usize, jobs: &[ChainJob<'a, S, K, C>], job: usize) {
        self.assign(lane, jobs, job);
        let ChainJob { data, .. } = &jobs[job];
        if data.len() >= self.quantum {
            self.pointers.begin(lane, data, data.len() - self.tail_bytes(&jobs[job]));
        } else {
            self.begin_tail(lane, jobs);
        }
    }

    /// Begins the tail of a lane's chain job.
    #[inline(always)]
    fn begin_tail(&mut self, lane: usize, jobs: &[ChainJob<'a, S, K, C>]) {
        let job = &jobs[self.job[lane]];
        self.pointers.begin_tail(self.b, lane, &job.data, job.data.len() - self.tail_bytes(job));
        self.in_tail |= 1 << lane;
    }

    /// Ends the tail of a lane's chain job: writes its output, and returns its state after the tail's last block.
    #[inline(always)]
    fn end_tail(&mut self, lane: usize, jobs: &mut [ChainJob<'a, S, K, C>]) {
        if M::WRITES {
            self.pointers.put_back(self.b, lane);
        }
        self.in_tail &= !(1 << lane);
        let job = &mut jobs[self.job[lane]];
        let after = &self.line_states[self.tail_bytes(job).div_ceil(BLOCK) - 1];
        for s in 0..S {
            job.state[s] = after[s].0[lane];
        }
    }

    /// Loads a chain job's chain key and state into a lane.
    #[inline(always)]
    fn assign(&mut self, lane: usize, jobs: &[ChainJob<'a, S, K, C>], job: usize) {
        let ChainJob { chain_key, state, .. } = &jobs[job];
        self.chain_keys.assign(lane, chain_key);
        self.job[lane] = job;
        for s in 0..S {
            self.state[s].0[lane] = state[s];
        }
    }

    /// Returns a lane's state to its chain job.
    #[inline(always)]
    fn end(&mut self, lane: usize, jobs: &mut [ChainJob<'a, S, K, C>]) {
        let state = &mut jobs[self.job[lane]].state;
        for s in 0..S {
            state[s] = self.state[s].0[lane];
        }
    }
}
