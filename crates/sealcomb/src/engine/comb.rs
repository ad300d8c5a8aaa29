//! The comb: chains of blocks of many messages, one message a lane.
//!
//! A chain can't go faster than the latency of its cipher, but eight registers of chains fill the AES units. Messages
//! have different lengths, so the work is cut into windows in which every lane has a block to go; between two windows
//! the lanes' states are in memory, where a lane that has ended hands its state back and gets the next message.

use core::hint::black_box;
use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::lanes::{Lanes, Registers};
use super::windows::windows;
use super::{FLIGHT, Schedule};
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, RoundKeys, Rows, Scratch, Span, Square};
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

/// Which blocks of the strands go through the lanes.
#[derive(Clone, Copy)]
enum Part {
    All,
    /// The squares: as many blocks as the widest register has, so often as there are so many.
    Squares,
    /// The blocks after the squares.
    Rest,
}

impl Part {
    /// The bytes of a strand of so many.
    #[inline(always)]
    fn of(self, bytes: usize) -> (usize, usize) {
        const SQUARE: usize = 4 * BLOCK;
        let squares = bytes / SQUARE * SQUARE;
        match self {
            Self::All => (0, bytes),
            Self::Squares => (0, squares),
            Self::Rest => (squares, bytes),
        }
    }
}

/// Takes up to [`FLIGHT`] strands from one end to the other.
pub(crate) fn run<M: Chain<S>, const S: usize>(
    backend: Backend,
    schedule: Schedule,
    strands: &mut [Strand<'_, S>],
) {
    match schedule {
        _ if strands.len() == 1 => part::<M, S>(backend, 1, true, Part::All, strands),
        Schedule::Single | Schedule::Blocks => part::<M, S>(backend, 1, true, Part::All, strands),
        Schedule::Comb(p) => part::<M, S>(backend, p.clamp(1, backend.lanes()), false, Part::All, strands),
        Schedule::Auto | Schedule::Refill if !M::WRITES => {
            part::<M, S>(backend, backend.lanes(), true, Part::All, strands);
        }
        // Windows that end anywhere cost twice: there are more of them, and blocks that make no square are moved one by
        // one. So all squares go first, and then the few blocks that are left of all strands.
        Schedule::Auto | Schedule::Refill => {
            part::<M, S>(backend, backend.lanes(), true, Part::Squares, strands);
            part::<M, S>(backend, backend.lanes(), true, Part::Rest, strands);
        }
    }
}

/// Takes a part of each strand through at most `parallel` lanes, refilled or in groups.
fn part<M: Chain<S>, const S: usize>(
    backend: Backend,
    parallel: usize,
    refill: bool,
    part: Part,
    strands: &mut [Strand<'_, S>],
) {
    // Longest first, and in order where the lengths are equal: batches of equal messages are sorted already. A sorting
    // key has the length, from the top down, and below it the strand's place.
    let mut order = ArrayVec::<u64, FLIGHT>::new();
    let (mut sorted, mut shared, mut last) = (true, true, 0);
    for (i, strand) in strands.iter().enumerate() {
        let (from, to) = part.of(strand.data.len());
        if from < to {
            let key = (u64::MAX / PLACES - (to - from) as u64) * PLACES + i as u64;
            sorted &= last <= key;
            shared &= core::ptr::eq(strand.aes, strands[0].aes);
            last = key;
            order.push(key);
        }
    }
    if !sorted && parallel > 1 {
        order.sort_unstable();
    }
    if !order.is_empty() {
        backend.run(Comb::<M, S> {
            strands,
            order: &order,
            parallel,
            refill,
            shared,
            part,
            chain: PhantomData,
        });
    }
}

/// Places of a flight's strands, a power of two, as part of a sorting key.
const PLACES: u64 = FLIGHT as u64;

fn place(key: u64) -> usize {
    (key % PLACES) as usize
}

struct Comb<'s, 'a, M, const S: usize> {
    strands: &'s mut [Strand<'a, S>],
    order: &'s [u64],
    parallel: usize,
    refill: bool,
    shared: bool,
    part: Part,
    chain: PhantomData<M>,
}

impl<M: Chain<S>, const S: usize> Kernel for Comb<'_, '_, M, S> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let aes = self.strands[place(self.order[0])].aes;
        // What a single message has to set up is kept small.
        match (self.shared, self.parallel.min(self.order.len())) {
            (true, 1) => self.fly::<B, _, 1, 4>(b, aes.encrypting()),
            (true, _) => self.fly::<B, _, 16, 64>(b, aes.encrypting()),
            (false, 1) => self.fly::<B, _, 1, 4>(b, LaneKeys::<4>::new(aes.rounds())),
            (false, _) => self.fly::<B, _, 16, 64>(b, LaneKeys::<64>::new(aes.rounds())),
        }
    }
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
            strand: [0; N],
            part: self.part,
            squares: [[[b.zero(); W]; 4]; 2],
            keys,
            chain: PhantomData,
        };
        if self.refill {
            flight.refill(self.strands, self.order, self.parallel);
        } else {
            for group in self.order.chunks(self.parallel) {
                flight.comb(self.strands, group);
            }
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
    strand: [usize; N],
    part: Part,
    squares: [Square<B, W>; 2],
    keys: K,
    chain: PhantomData<M>,
}

impl<'a: 'r, 'r, B: Isa, M: Chain<S>, K: AssignKey<'a>, const S: usize, const W: usize, const N: usize>
    Flight<'r, B, M, K, S, W, N>
where
    for<'k> &'k K: RoundKeys<B>,
{
    /// Keeps the first `parallel` lanes filled until all strands are through.
    #[inline(always)]
    fn refill(&mut self, strands: &mut [Strand<'a, S>], order: &[u64], parallel: usize) {
        let lanes = parallel.min(order.len());
        for lane in 0..lanes {
            self.begin(lane, strands, place(order[lane]));
        }
        let mut next = lanes;
        let mut live = lanes;
        while live > 0 {
            self.window(live, usize::MAX);
            let mut ended = self.rows.ended(live);
            while ended != 0 {
                let lane = ended.trailing_zeros() as usize;
                ended &= ended - 1;
                self.end(lane, strands);
                if next < order.len() {
                    self.begin(lane, strands, place(order[next]));
                    next += 1;
                }
            }
            live = self.rows.live();
        }
    }

    /// Algorithm 1's loop body: a group of messages, window by window.
    #[inline(always)]
    fn comb(&mut self, strands: &mut [Strand<'a, S>], group: &[u64]) {
        let mut lengths = ArrayVec::<usize, N>::new();
        for (lane, &key) in group.iter().enumerate() {
            let strand = place(key);
            self.begin(lane, strands, strand);
            lengths.push(strands[strand].data.len() / BLOCK);
        }
        for window in &windows(&lengths) {
            let mut left = window.blocks;
            while left > 0 {
                left -= self.window(window.messages, left);
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
        let (from, to) = self.part.of(data.len());
        self.rows.begin(lane, data, from, to);
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
        const { assert!(matches!(B::CHAINS, 4 | 8 | 12 | 16)) };
        let registers = match live.div_ceil(B::BLOCKS) {
            0 | 1 => 1,
            2..=4 => 4,
            5..=8 if B::CHAINS > 8 => 8,
            _ => B::CHAINS,
        };
        let steps = self.rows.window(registers * B::BLOCKS).min(most);
        match registers {
            1 => self.advance::<1>(steps),
            4 if W > 1 => self.advance::<4>(steps),
            8 if W > 1 => self.advance::<8>(steps),
            12 if W > 1 => self.advance::<12>(steps),
            _ => self.advance::<W>(steps),
        }
        steps
    }

    /// Takes the lanes of `R` registers `steps` blocks further.
    #[inline(always)]
    fn advance<const R: usize>(&mut self, steps: usize) {
        let Self { b, rows, state: memory, squares: [even, odd], keys, .. } = self;
        let (b, blocks) = (*b, B::BLOCKS);
        let lanes = Registers::<B, &K, R> { b, keys };
        let mut state = [[b.zero(); R]; S];
        for s in 0..S {
            for r in 0..R {
                state[s][r] = b.load(&memory[s].0[r * blocks..]);
            }
        }
        // What squares of as many steps as a register has blocks give is written in whole registers, one square behind
        // and a few registers after each step, so that memory and shuffles fill the gaps that the rounds leave.
        let count = if M::WRITES { steps / blocks } else { 0 };
        if count > 0 {
            let share = R.div_ceil(blocks);
            for square in 0..count {
                let (now, other) =
                    if square % 2 == 0 { (&mut *even, &mut *odd) } else { (&mut *odd, &mut *even) };
                for (i, out) in now[..black_box(blocks)].iter_mut().enumerate() {
                    let mut x = [b.zero(); R];
                    rows.gather(b, square * blocks + i, &mut x);
                    M::step(lanes, &mut state, &mut x);
                    out[..R].copy_from_slice(&x);
                    if square > 0 {
                        for r in (i * share).min(R)..((i + 1) * share).min(R) {
                            rows.scatter_square(b, (square - 1) * blocks, other, r);
                        }
                    }
                }
            }
            let last = if count % 2 == 1 { &*even } else { &*odd };
            for r in 0..R {
                rows.scatter_square(b, (count - 1) * blocks, last, r);
            }
            rows.go(count * blocks);
        }
        for _ in count * blocks..steps {
            let mut x = [b.zero(); R];
            rows.gather(b, 0, &mut x);
            M::step(lanes, &mut state, &mut x);
            rows.scatter(b, &x);
            rows.go(1);
        }
        for s in 0..S {
            for r in 0..R {
                b.store(state[s][r], &mut memory[s].0[r * blocks..]);
            }
        }
    }
}
