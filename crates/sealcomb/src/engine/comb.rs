//! The comb: chains of blocks of many messages, one message a lane.
//!
//! A chain can't go faster than the latency of its cipher, but eight registers of chains fill the AES units. Messages
//! have different lengths, so the work is cut into windows in which every lane has a block to go; between two windows
//! the lanes' states are in memory, where a lane that has ended hands its state back and gets the next message.

use core::cmp::Reverse;
use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::lanes::{Lanes, Registers};
use super::windows::windows;
use super::{FLIGHT, Schedule};
use crate::backend::{Backend, Block, Isa, Kernel, MAX_LANES, REGISTERS, RoundKeys, Rows, Scratch, Span};
use crate::primitives::aes::{AssignKey, LaneKeys, Schedule as AesSchedule};

/// A mode's step from block to block, with `S` blocks of state a message.
pub(crate) trait Chain<const S: usize> {
    /// Whether a step leaves a block of output in `x`.
    const WRITES: bool;
    /// Takes every lane one block further.
    fn step<L: Lanes>(lanes: L, state: &mut [L::Blocks; S], x: &mut L::Blocks);
}

/// One message's way through a chain: whole blocks, and the state before and afterwards.
pub(crate) struct Strand<'a, const S: usize> {
    pub(crate) aes: &'a AesSchedule,
    pub(crate) state: [Block; S],
    pub(crate) data: Span<'a>,
}

/// Takes up to [`FLIGHT`] strands from one end to the other.
pub(crate) fn run<M: Chain<S>, const S: usize>(
    backend: Backend,
    schedule: Schedule,
    strands: &mut [Strand<'_, S>],
) {
    let parallel = match schedule {
        Schedule::Auto | Schedule::Refill => backend.lanes(),
        Schedule::Single | Schedule::Blocks => 1,
        Schedule::Comb(p) => p.clamp(1, backend.lanes()),
    };
    // Longest first, and in order where the lengths are equal: batches of equal messages are sorted already.
    let mut order: ArrayVec<(Reverse<usize>, usize), FLIGHT> = strands
        .iter()
        .enumerate()
        .filter(|(_, strand)| strand.data.len() > 0)
        .map(|(i, strand)| (Reverse(strand.data.len()), i))
        .collect();
    let Some(&(_, first)) = order.first() else { return };
    if parallel > 1 {
        order.sort_unstable();
    }
    let order: ArrayVec<usize, FLIGHT> = order.into_iter().map(|(_, i)| i).collect();
    let aes = strands[first].aes;
    let shared = order.iter().all(|&i| core::ptr::eq(strands[i].aes, aes));
    let refill = !matches!(schedule, Schedule::Comb(_));
    backend.run(Comb::<M, S> { strands, order: &order, parallel, refill, shared, chain: PhantomData });
}

struct Comb<'s, 'a, M, const S: usize> {
    strands: &'s mut [Strand<'a, S>],
    order: &'s [usize],
    parallel: usize,
    refill: bool,
    shared: bool,
    chain: PhantomData<M>,
}

impl<M: Chain<S>, const S: usize> Kernel for Comb<'_, '_, M, S> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let aes = self.strands[self.order[0]].aes;
        if self.shared {
            self.fly(b, aes.encrypting());
        } else {
            self.fly(b, LaneKeys::new(aes.rounds()));
        }
    }
}

impl<'a, M: Chain<S>, const S: usize> Comb<'_, 'a, M, S> {
    #[inline(always)]
    fn fly<B: Isa, K: AssignKey<'a>>(self, b: B, keys: K)
    where
        for<'k> &'k K: RoundKeys<B>,
    {
        let mut scratch = Scratch::new();
        let mut flight = Flight::<M, K, S> {
            rows: Rows::new(M::WRITES, &mut scratch),
            state: [LaneBlocks([[0; 16]; MAX_LANES]); S],
            strand: [0; MAX_LANES],
            keys,
            chain: PhantomData,
        };
        if self.refill {
            flight.refill(b, self.strands, self.order, self.parallel);
        } else {
            for group in self.order.chunks(self.parallel) {
                flight.comb(b, self.strands, group);
            }
        }
    }
}

/// The lanes of as few registers as hold so many, out of the numbers of registers that there is code for.
#[inline(always)]
fn width<B: Isa>(lanes: usize) -> usize {
    B::BLOCKS * lanes.div_ceil(B::BLOCKS).next_power_of_two()
}

/// A block of every lane, in memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct LaneBlocks([Block; MAX_LANES]);

/// The lanes, and what is in them.
struct Flight<'r, M, K, const S: usize> {
    rows: Rows<'r>,
    state: [LaneBlocks; S],
    strand: [usize; MAX_LANES],
    keys: K,
    chain: PhantomData<M>,
}

impl<'a: 'r, 'r, M: Chain<S>, K: AssignKey<'a>, const S: usize> Flight<'r, M, K, S> {
    /// Keeps the first `parallel` lanes filled until all strands are through.
    #[inline(always)]
    fn refill<B: Isa>(&mut self, b: B, strands: &mut [Strand<'a, S>], order: &[usize], parallel: usize)
    where
        for<'k> &'k K: RoundKeys<B>,
    {
        let lanes = parallel.min(order.len());
        for lane in 0..lanes {
            self.begin(lane, strands, order[lane]);
        }
        let mut next = lanes;
        let mut live = lanes;
        loop {
            let steps = self.rows.window(width::<B>(live));
            if steps == 0 {
                break;
            }
            self.advance(b, width::<B>(live), steps);
            let mut ended = self.rows.ended(live);
            while ended != 0 {
                let lane = ended.trailing_zeros() as usize;
                ended &= ended - 1;
                self.end(lane, strands);
                if next < order.len() {
                    self.begin(lane, strands, order[next]);
                    next += 1;
                }
            }
            live = self.rows.live();
        }
    }

    /// Algorithm 1's loop body: a group of messages, window by window.
    #[inline(always)]
    fn comb<B: Isa>(&mut self, b: B, strands: &mut [Strand<'a, S>], group: &[usize])
    where
        for<'k> &'k K: RoundKeys<B>,
    {
        let mut lengths = ArrayVec::<usize, MAX_LANES>::new();
        for (lane, &strand) in group.iter().enumerate() {
            self.begin(lane, strands, strand);
            lengths.push(strands[strand].data.len() / 16);
        }
        for window in &windows(&lengths) {
            let mut left = window.blocks;
            while left > 0 {
                let steps = self.rows.window(width::<B>(window.messages));
                self.advance(b, width::<B>(window.messages), steps);
                left -= steps;
            }
            let mut ended = self.rows.ended(window.messages);
            while ended != 0 {
                self.end(ended.trailing_zeros() as usize, strands);
                ended &= ended - 1;
            }
        }
    }

    #[inline(always)]
    fn begin(&mut self, lane: usize, strands: &[Strand<'a, S>], strand: usize) {
        let Strand { aes, state, data } = &strands[strand];
        self.rows.begin(lane, data);
        self.keys.assign(lane, aes);
        self.strand[lane] = strand;
        for s in 0..S {
            self.state[s].0[lane] = state[s];
        }
    }

    #[inline(always)]
    fn end(&mut self, lane: usize, strands: &mut [Strand<'a, S>]) {
        self.rows.idle(lane);
        let state = &mut strands[self.strand[lane]].state;
        for s in 0..S {
            state[s] = self.state[s].0[lane];
        }
    }

    /// Takes the first `width` lanes `steps` blocks further.
    #[inline(always)]
    fn advance<B: Isa>(&mut self, b: B, width: usize, steps: usize)
    where
        for<'k> &'k K: RoundKeys<B>,
    {
        match width / B::BLOCKS {
            1 => self.advance_registers::<B, 1>(b, steps),
            2 => self.advance_registers::<B, 2>(b, steps),
            4 => self.advance_registers::<B, 4>(b, steps),
            _ => self.advance_registers::<B, REGISTERS>(b, steps),
        }
    }

    #[inline(always)]
    fn advance_registers<B: Isa, const R: usize>(&mut self, b: B, steps: usize)
    where
        for<'k> &'k K: RoundKeys<B>,
    {
        let lanes = Registers::<B, &K, R> { b, keys: &self.keys };
        let mut state = [[b.zero(); R]; S];
        for s in 0..S {
            for r in 0..R {
                state[s][r] = b.load(&self.state[s].0[r * B::BLOCKS..]);
            }
        }
        let squares = if B::BLOCKS > 1 { steps / B::BLOCKS } else { 0 };
        for _ in 0..squares {
            let mut x = [[b.zero(); R]; 4];
            self.rows.gather_square(b, &mut x);
            for i in 0..B::BLOCKS {
                M::step(lanes, &mut state, &mut x[i]);
            }
            self.rows.scatter_square(b, &x);
        }
        for _ in 0..steps - squares * B::BLOCKS {
            let mut x = [b.zero(); R];
            self.rows.gather(b, &mut x);
            M::step(lanes, &mut state, &mut x);
            self.rows.scatter(b, &x);
        }
        for s in 0..S {
            for r in 0..R {
                b.store(state[s][r], &mut self.state[s].0[r * B::BLOCKS..]);
            }
        }
    }
}
