//! The comb: chains of blocks of many messages, one message a lane.
//!
//! A chain can't go faster than the latency of its cipher, but eight registers of chains fill the AES units. Messages
//! have different lengths, so the work is cut into windows in which every lane has a block to go; between two windows
//! the lanes' states are in memory, where a lane that has ended hands its state back and gets the next message.

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::lanes::{Lanes, Registers};
use super::windows::windows;
use super::{FLIGHT, Schedule};
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, LINE, RoundKeys, Rows, Scratch, Span, Square};
use crate::primitives::aes::{AssignKey, LaneKeys, Schedule as AesSchedule};

/// A mode's step from block to block, with `S` blocks of state a message.
pub(crate) trait Chain<const S: usize> {
    /// Whether a step leaves a block of output in `x`.
    const WRITES: bool;
    /// Bytes after which a lane may change strands. What is written goes in lines; what is only read need not.
    const UNIT: usize = if Self::WRITES { LINE } else { BLOCK };
    /// Takes every lane one block further.
    fn step<L: Lanes>(lanes: L, state: &mut [L::Blocks; S], x: &mut L::Blocks);
}

/// One message's way through a chain: its bytes, with zeros after the last to fill up a block, and the state before and
/// afterwards.
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
    let laid = match schedule {
        Schedule::Single | Schedule::Blocks => Laid::Single,
        Schedule::Auto | Schedule::Refill if strands.len() == 1 => Laid::Single,
        Schedule::Auto | Schedule::Refill => Laid::Refilled,
        Schedule::Comb(p) => Laid::Comb(p.clamp(1, backend.lanes())),
    };
    // Longest first, and in order where the lengths are equal: batches of equal messages are sorted already. A sorting
    // key has the length, from the top down, and below it the strand's place.
    let mut order = ArrayVec::<u64, FLIGHT>::new();
    let (mut sorted, mut shared, mut last) = (true, true, 0);
    for (i, strand) in strands.iter().enumerate() {
        if strand.data.len() > 0 {
            let key = (u64::MAX / PLACES - strand.data.len() as u64) * PLACES + i as u64;
            sorted &= last <= key;
            shared &= core::ptr::eq(strand.aes, strands[0].aes);
            last = key;
            order.push(key);
        }
    }
    if !sorted && laid != Laid::Single {
        order.sort_unstable();
    }
    if !order.is_empty() {
        backend.run(Comb::<M, S> { strands, order: &order, laid, shared, chain: PhantomData });
    }
}

/// How strands are laid into the lanes.
#[derive(Clone, Copy, PartialEq)]
enum Laid {
    /// One after the other.
    Single,
    /// In groups of so many.
    Comb(usize),
    /// Into lanes that take the next strand as soon as theirs has ended.
    Refilled,
}

/// Places of a flight's strands, a power of two, as part of a sorting key.
const PLACES: u64 = FLIGHT as u64;

fn place(key: u64) -> usize {
    (key % PLACES) as usize
}

struct Comb<'s, 'a, M, const S: usize> {
    strands: &'s mut [Strand<'a, S>],
    order: &'s [u64],
    laid: Laid,
    shared: bool,
    chain: PhantomData<M>,
}

impl<M: Chain<S>, const S: usize> Kernel for Comb<'_, '_, M, S> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        if self.laid == Laid::Single {
            for &key in self.order {
                let strand = &mut self.strands[place(key)];
                single::<M, B, _, S>(b, strand.aes.encrypting(), strand);
            }
            return;
        }
        let aes = self.strands[place(self.order[0])].aes;
        // Registers of chains, and the lanes that they have.
        match (self.shared, const { (B::CHAINS, B::BLOCKS) }) {
            (true, (8, _)) => self.fly::<B, _, 8, 32>(b, aes.encrypting()),
            (false, (8, _)) => self.fly::<B, _, 8, 32>(b, LaneKeys::<32>::new(aes.rounds())),
            (true, (12, 1)) => self.fly::<B, _, 12, 16>(b, aes.encrypting()),
            (false, (12, 1)) => self.fly::<B, _, 12, 16>(b, LaneKeys::<16>::new(aes.rounds())),
            _ => unreachable!("8 registers of chains, or 12 of one block"),
        }
    }
}

/// Takes one strand from end to end.
#[inline(always)]
fn single<M: Chain<S>, B: Isa, K: RoundKeys<B>, const S: usize>(b: B, keys: K, strand: &mut Strand<'_, S>) {
    let data = &mut strand.data.reborrow();
    let lanes = Registers::<B, K, 1> { b, keys };
    let mut state = strand.state.map(|block| [b.one(&block)]);
    for at in (0..data.len()).step_by(BLOCK) {
        let mut x = [b.one(&data.block(at))];
        M::step(lanes, &mut state, &mut x);
        if M::WRITES {
            data.set_block(at, &b.first(x[0]));
        }
    }
    strand.state = state.map(|[block]| b.first(block));
}

impl<'a, M: Chain<S>, const S: usize> Comb<'_, 'a, M, S> {
    /// Lays the strands into up to `N` lanes, in at most `W` registers.
    #[inline(always)]
    fn fly<B: Isa, K: AssignKey<'a>, const W: usize, const N: usize>(self, b: B, keys: K)
    where
        for<'k> &'k K: RoundKeys<B>,
    {
        let mut scratch = Scratch::new();
        let mut flight = Flight::<B, M, K, S, W, N> {
            b,
            rows: Rows::new(M::WRITES, &mut scratch),
            state: [LaneBlocks([[0; 16]; N]); S],
            trail: [[LaneBlocks([[0; 16]; N]); S]; LINE / BLOCK],
            strand: [0; N],
            in_rest: 0,
            squares: [[[b.zero(); W]; 4]; 2],
            keys,
            chain: PhantomData,
        };
        if let Laid::Comb(parallel) = self.laid {
            for group in self.order.chunks(parallel) {
                flight.comb(self.strands, group);
            }
        } else {
            flight.refill(self.strands, self.order);
        }
    }
}

/// A block of every lane, in memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct LaneBlocks<const N: usize>([Block; N]);

/// Up to `N` lanes, and what is in them.
struct Flight<'r, B: Isa, M, K, const S: usize, const W: usize, const N: usize> {
    b: B,
    rows: Rows<'r, N>,
    state: [LaneBlocks<N>; S],
    // The states after each step of a line.
    trail: [[LaneBlocks<N>; S]; LINE / BLOCK],
    strand: [usize; N],
    // Lanes whose strand has come to its last bytes, less than a unit.
    in_rest: u64,
    squares: [Square<B, W>; 2],
    keys: K,
    chain: PhantomData<M>,
}

impl<'a: 'r, 'r, B: Isa, M: Chain<S>, K: AssignKey<'a>, const S: usize, const W: usize, const N: usize>
    Flight<'r, B, M, K, S, W, N>
where
    for<'k> &'k K: RoundKeys<B>,
{
    /// Keeps the lanes filled until all strands are through.
    ///
    /// Where chains write, lanes change strands between lines of four blocks only, so that windows are few and long and
    /// everything is written in squares: what a strand has beyond its whole lines goes through a line of its own. So does
    /// a last block that isn't whole in the other chains.
    #[inline(always)]
    fn refill(&mut self, strands: &mut [Strand<'a, S>], order: &[u64]) {
        let lanes = (W * B::BLOCKS).min(order.len());
        let mut waiting = order.iter().map(|&key| place(key));
        for (lane, strand) in waiting.by_ref().take(lanes).enumerate() {
            self.begin(lane, strands, strand);
        }
        let mut live = lanes;
        while live > 0 {
            let most = if self.in_rest == self.rows.busy() { self.longest_rest(strands) } else { usize::MAX };
            self.window(live, most);
            let mut ended = self.rows.ended() | self.in_rest;
            while ended != 0 {
                let lane = ended.trailing_zeros() as usize;
                ended &= ended - 1;
                if self.in_rest & (1 << lane) != 0 {
                    self.end_rest(lane, strands);
                } else if !strands[self.strand[lane]].data.len().is_multiple_of(M::UNIT) {
                    self.begin_rest(lane, strands);
                    continue;
                } else {
                    self.end(lane, strands);
                }
                if let Some(strand) = waiting.next() {
                    self.begin(lane, strands, strand);
                }
            }
            live = self.rows.live();
        }
    }

    /// Blocks of the longest rest in the lanes.
    #[inline(always)]
    fn longest_rest(&self, strands: &[Strand<'a, S>]) -> usize {
        let mut longest = 0;
        let mut lanes = self.in_rest;
        while lanes != 0 {
            longest = longest.max(strands[self.strand[lanes.trailing_zeros() as usize]].data.len() % M::UNIT);
            lanes &= lanes - 1;
        }
        longest.div_ceil(BLOCK)
    }

    /// Gives a lane a strand, or its rest if there is no more.
    #[inline(always)]
    fn begin(&mut self, lane: usize, strands: &[Strand<'a, S>], strand: usize) {
        self.assign(lane, strands, strand);
        let data = &strands[strand].data;
        if data.len() >= M::UNIT {
            self.rows.begin(lane, data, data.len() / M::UNIT * M::UNIT);
        } else {
            self.begin_rest(lane, strands);
        }
    }

    #[inline(always)]
    fn begin_rest(&mut self, lane: usize, strands: &[Strand<'a, S>]) {
        let data = &strands[self.strand[lane]].data;
        self.rows.begin_rest(self.b, lane, data, data.len() / M::UNIT * M::UNIT);
        self.in_rest |= 1 << lane;
    }

    #[inline(always)]
    fn end_rest(&mut self, lane: usize, strands: &mut [Strand<'a, S>]) {
        if M::WRITES {
            self.rows.put_back(self.b, lane);
        }
        self.rows.idle(lane);
        self.in_rest &= !(1 << lane);
        let strand = &mut strands[self.strand[lane]];
        let after = &self.trail[(strand.data.len() % M::UNIT).div_ceil(BLOCK) - 1];
        for s in 0..S {
            strand.state[s] = after[s].0[lane];
        }
    }

    /// Algorithm 1's loop body: a group of messages, window by window.
    #[inline(always)]
    fn comb(&mut self, strands: &mut [Strand<'a, S>], group: &[u64]) {
        let mut lengths = ArrayVec::<usize, N>::new();
        for (lane, &key) in group.iter().enumerate() {
            let strand = place(key);
            let blocks = strands[strand].data.len() / BLOCK;
            if blocks == 0 {
                break; // The longest are first.
            }
            self.assign(lane, strands, strand);
            self.rows.begin(lane, &strands[strand].data, blocks * BLOCK);
            lengths.push(blocks);
        }
        for window in &windows(&lengths) {
            let mut left = window.blocks;
            while left > 0 {
                left -= self.window(window.messages, left);
            }
            let mut ended = self.rows.ended();
            while ended != 0 {
                self.end(ended.trailing_zeros() as usize, strands);
                ended &= ended - 1;
            }
        }
        self.ragged_ends(strands, group);
    }

    /// Takes the last blocks of a group that are not whole through the lanes.
    #[inline(always)]
    fn ragged_ends(&mut self, strands: &mut [Strand<'a, S>], group: &[u64]) {
        let mut lanes = 0;
        for &key in group {
            let data = &strands[place(key)].data;
            if !data.len().is_multiple_of(BLOCK) {
                self.assign(lanes, strands, place(key));
                self.rows.begin_rest(self.b, lanes, data, data.len() / BLOCK * BLOCK);
                lanes += 1;
            }
        }
        if lanes > 0 {
            self.window(lanes, 1);
        }
        for lane in 0..lanes {
            if M::WRITES {
                self.rows.put_back(self.b, lane);
            }
            self.end(lane, strands);
        }
    }

    #[inline(always)]
    fn assign(&mut self, lane: usize, strands: &[Strand<'a, S>], strand: usize) {
        let Strand { aes, state, .. } = &strands[strand];
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

    /// Takes the first `live` lanes as far as all of them can go, but no more than `most` blocks, in as few registers
    /// as hold them. Returns how far.
    #[inline(always)]
    fn window(&mut self, live: usize, most: usize) -> usize {
        let registers = match live.div_ceil(B::BLOCKS) {
            0 | 1 => 1,
            2..=4 => 4,
            _ => W,
        };
        let steps = self.rows.window(registers * B::BLOCKS).min(most);
        match registers {
            1 => self.advance::<1>(steps),
            4 => self.advance::<4>(steps),
            _ => self.advance::<W>(steps),
        }
        steps
    }

    /// Takes the lanes of `R` registers `steps` blocks further.
    #[inline(always)]
    fn advance<const R: usize>(&mut self, steps: usize) {
        let Self { b, rows, state: memory, trail, in_rest, squares, keys, .. } = self;
        let (b, blocks) = (*b, B::BLOCKS);
        let lanes = Registers::<B, &K, R> { b, keys };
        let mut state = [[b.zero(); R]; S];
        for s in 0..S {
            for r in 0..R {
                state[s][r] = b.load(&memory[s].0[r * blocks..]);
            }
        }
        // Where a strand ends within the line, its state is what it was then.
        let leave_trail = *in_rest != 0;
        // Squares of as many steps as a register has blocks are written in whole registers, one square behind and a few
        // registers after each step, so that memory and shuffles fill the gaps that the rounds leave.
        let share = R.div_ceil(blocks);
        for i in 0..steps {
            let mut x = [b.zero(); R];
            rows.gather(b, i, &mut x);
            M::step(lanes, &mut state, &mut x);
            if leave_trail {
                store_states(b, &state, &mut trail[i]);
            }
            if M::WRITES {
                let (square, step) = (i / blocks, i % blocks);
                squares[square % 2][step][..R].copy_from_slice(&x);
                if square > 0 {
                    for r in (step * share).min(R)..((step + 1) * share).min(R) {
                        rows.scatter_square(b, (square - 1) * blocks, &squares[(square - 1) % 2], r);
                    }
                }
            }
        }
        if M::WRITES {
            let (whole, left) = (steps / blocks, steps % blocks);
            if whole > 0 {
                for r in (left * share).min(R)..R {
                    rows.scatter_square(b, (whole - 1) * blocks, &squares[(whole - 1) % 2], r);
                }
            }
            for step in 0..left {
                rows.scatter::<B, R, W>(b, whole * blocks + step, &squares[whole % 2][step]);
            }
        }
        rows.go(steps);
        store_states(b, &state, memory);
    }
}

#[inline(always)]
fn store_states<B: Isa, const S: usize, const R: usize, const N: usize>(
    b: B,
    states: &[[B::V; R]; S],
    memory: &mut [LaneBlocks<N>; S],
) {
    for s in 0..S {
        for r in 0..R {
            b.store(states[s][r], &mut memory[s].0[r * B::BLOCKS..]);
        }
    }
}
