//! The comb: chains of blocks of many messages, one message a lane.
//!
//! A chain can't go faster than the latency of its cipher, but eight registers of chains fill the AES units. Messages
//! have different lengths, so the work is cut into windows in which every lane has a block to go; between two windows
//! the lanes' states are in memory, where a lane that has ended hands its state back and gets the next message.

use alloc::vec::Vec;
use core::cell::Cell;
use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::Schedule;
use super::lanes::{Lanes, Registers};
use super::order::Order;
use super::windows::windows;
use crate::backend::{
    BLOCK, Backend, Block, Isa, Kernel, LINE, RoundKeys, Rows, Scratch, Span, Square, SquareAt, Weave,
};
use crate::primitives::aes::{AssignKey, LaneKeys, Shared};

/// A mode's step from block to block, with `S` blocks of state a message, `K` keys and `C` constants; where the mode goes
/// from pair to pair, of `T = 2` blocks.
pub(crate) trait Chain<const S: usize, const K: usize = 1, const C: usize = 0, const T: usize = 1> {
    /// Whether a step leaves a block of output in `x`.
    const WRITES: bool;
    /// Whether messages under different keys go side by side too, which takes kernels of its own. They go one by one
    /// otherwise.
    const INTERLEAVES_KEYS: bool = false;
    /// Takes every lane `T` blocks further.
    fn step<L: Lanes>(lanes: L, state: &mut [L::Blocks; S], x: &mut [L::Blocks; T]);

    /// Takes up to [`FLIGHT`] strands from one end to the other. Where a step is more than a block, they must be whole steps.
    fn run(backend: Backend, schedule: Schedule, strands: &mut [Strand<'_, S, K, C>])
    where
        Self: Sized,
    {
        run::<Self, S, K, C, T>(backend, schedule, strands);
    }
}

/// One message's way through a chain: its bytes, with zeros after the last to fill up a block, and the state before and
/// afterwards.
pub(crate) struct Strand<'a, const S: usize, const K: usize = 1, const C: usize = 0> {
    /// The round keys, each in the direction in which the step uses it.
    pub(crate) keys: [Shared<'a>; K],
    /// What else the step needs of the key: [`Lanes::constant`].
    pub(crate) constants: [&'a Block; C],
    pub(crate) state: [Block; S],
    pub(crate) data: Span<'a>,
}

/// How many blocks there must be beside those of the longest strand for lanes to be worth setting up. From one short strand
/// into the next the CPU runs ahead by itself.
const fn least_blocks(longest: usize) -> usize {
    if longest <= 8 { 28 } else { 12 }
}

fn run<M: Chain<S, K, C, T>, const S: usize, const K: usize, const C: usize, const T: usize>(
    backend: Backend,
    schedule: Schedule,
    strands: &mut [Strand<'_, S, K, C>],
) {
    // The lanes take the constants of one strand for all: strands in flight have one key then.
    const { assert!(C == 0 || K > 0 && !M::INTERLEAVES_KEYS) };
    let mut order = Order::new();
    let mut shared = true;
    let (mut blocks, mut longest) = (0, 0);
    for (i, strand) in strands.iter().enumerate() {
        debug_assert!(T == 1 || strand.data.len().is_multiple_of(T * BLOCK));
        if strand.data.len() > 0 {
            shared &= strand.keys.iter().zip(&strands[0].keys).all(|(key, first)| key.is(first));
            order.push(i, strand.data.len());
            let strand_blocks = strand.data.len().div_ceil(BLOCK);
            blocks += strand_blocks;
            longest = strand_blocks.max(longest);
        }
    }
    let laid = match schedule {
        Schedule::Single | Schedule::Blocks => None,
        Schedule::Auto | Schedule::Refill if blocks - longest < least_blocks(longest) => None,
        Schedule::Auto | Schedule::Refill => Some(Laid::Refilled),
        Schedule::Comb(p) => Some(Laid::Comb(p.clamp(1, backend.lanes()))),
    };
    let chain = PhantomData::<M>;
    // Kernels of their own, so that the stack has room for the lanes of one of them at a time.
    match laid {
        _ if order.is_empty() => {}
        Some(laid) if shared => {
            backend.run(Comb::<M, S, K, C, T, true> { strands, order: &mut order, laid, chain });
        }
        Some(laid) if const { M::INTERLEAVES_KEYS } => {
            backend.run(Comb::<M, S, K, C, T, false> { strands, order: &mut order, laid, chain });
        }
        _ => backend.run(OneByOne::<M, S, K, C, T> { strands, order: &order, chain }),
    }
}

/// How strands are laid into the lanes.
#[derive(Clone, Copy, PartialEq)]
enum Laid {
    /// In groups of so many.
    Comb(usize),
    /// Into lanes that take the next strand as soon as theirs has ended.
    Refilled,
}

/// Strands that go one after the other.
struct OneByOne<'s, 'a, M, const S: usize, const K: usize, const C: usize, const T: usize> {
    strands: &'s mut [Strand<'a, S, K, C>],
    order: &'s Order,
    chain: PhantomData<M>,
}

impl<M: Chain<S, K, C, T>, const S: usize, const K: usize, const C: usize, const T: usize> Kernel
    for OneByOne<'_, '_, M, S, K, C, T>
{
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for place in self.order.places() {
            single::<M, B, S, K, C, T>(b, &mut self.strands[place]);
        }
    }
}

/// Strands that go side by side, under one key or each under its own.
struct Comb<'s, 'a, M, const S: usize, const K: usize, const C: usize, const T: usize, const SHARED: bool> {
    strands: &'s mut [Strand<'a, S, K, C>],
    order: &'s mut Order,
    laid: Laid,
    chain: PhantomData<M>,
}

impl<M, const S: usize, const K: usize, const C: usize, const T: usize, const SHARED: bool> Kernel
    for Comb<'_, '_, M, S, K, C, T, SHARED>
where
    M: Chain<S, K, C, T>,
{
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        self.order.sort();
        let first = self.order.places().next().expect("a strand");
        let Strand { keys, constants, .. } = self.strands[first];
        // Registers of chains, and the lanes that they have.
        if const { SHARED && B::CHAINS == 8 } {
            self.fly::<B, _, 8, 32>(b, keys, constants);
        } else if const { SHARED && B::CHAINS == 12 } {
            self.fly::<B, _, 12, 16>(b, keys, constants);
        } else if const { B::CHAINS == 8 } {
            self.fly::<B, _, 8, 32>(b, keys.map(LaneKeys::<32>::like), constants);
        } else {
            const { assert!(B::CHAINS == 12 && B::BLOCKS == 1 || B::CHAINS == 8) };
            self.fly::<B, _, 12, 16>(b, keys.map(LaneKeys::<16>::like), constants);
        }
    }
}

/// Takes one strand from end to end.
#[inline(always)]
fn single<M: Chain<S, K, C, T>, B: Isa, const S: usize, const K: usize, const C: usize, const T: usize>(
    b: B,
    strand: &mut Strand<'_, S, K, C>,
) {
    let data = &mut strand.data.reborrow();
    let lanes = Registers::<B, _, 1, K, C>::new(b, strand.keys, &strand.constants);
    // A loop, since the closures of `map` are not always inlined.
    let mut state = [[b.zero()]; S];
    for s in 0..S {
        state[s] = [b.one(&strand.state[s])];
    }
    for at in (0..data.len()).step_by(T * BLOCK) {
        let mut x = [[b.zero()]; T];
        for t in 0..T {
            x[t] = [b.one(&data.block(at + t * BLOCK))];
        }
        M::step(lanes, &mut state, &mut x);
        if M::WRITES {
            for t in 0..T {
                data.set_block(at + t * BLOCK, &b.first(x[t][0]));
            }
        }
    }
    for s in 0..S {
        strand.state[s] = b.first(state[s][0]);
    }
}

impl<'a, M, const S: usize, const K: usize, const C: usize, const T: usize, const SHARED: bool>
    Comb<'_, 'a, M, S, K, C, T, SHARED>
where
    M: Chain<S, K, C, T>,
{
    /// Lays the strands into up to `N` lanes, in at most `W` registers.
    #[inline(always)]
    fn fly<B: Isa, A: AssignKey<'a>, const W: usize, const N: usize>(
        self,
        b: B,
        keys: [A; K],
        constants: [&Block; C],
    ) where
        for<'k> &'k A: RoundKeys<B>,
    {
        let mut scratch = Scratch::new();
        let mut memory;
        let squares: &mut [Square<B, W>] = if const { M::WRITES && B::BLOCKS > 1 } {
            memory = [[[b.zero(); W]; 4]; 2];
            &mut memory
        } else {
            &mut []
        };
        let mut flight = Flight::<B, M, A, S, K, C, T, W, N> {
            b,
            rows: Rows::new(M::WRITES, &mut scratch),
            state: [LaneBlocks([[0; 16]; N]); S],
            trail: [[LaneBlocks([[0; 16]; N]); S]; LINE / BLOCK],
            constants,
            strand: [0; N],
            unit: if M::WRITES && self.laid == Laid::Refilled { LINE } else { BLOCK },
            in_rest: 0,
            squares,
            keys,
            chain: PhantomData,
        };
        flight.fly(self.strands, self.order, self.laid);
    }
}

/// A block of every lane, in memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct LaneBlocks<const N: usize>(pub(super) [Block; N]);

/// Up to `N` lanes, and what is in them.
struct Flight<
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
    b: B,
    rows: Rows<'r, N>,
    state: [LaneBlocks<N>; S],
    // The states after each step of a line.
    trail: [[LaneBlocks<N>; S]; LINE / BLOCK],
    constants: [&'r Block; C],
    strand: [usize; N],
    // Bytes after which a lane may change strands, a power of two.
    unit: usize,
    // Lanes whose strand has come to its last bytes, less than a unit.
    in_rest: u64,
    // Two, if chains write registers of more than a block.
    squares: &'r mut [Square<B, W>],
    keys: [A; K],
    chain: PhantomData<M>,
}

impl<
    'a: 'r,
    'r,
    B: Isa,
    M: Chain<S, K, C, T>,
    A: AssignKey<'a>,
    const S: usize,
    const K: usize,
    const C: usize,
    const T: usize,
    const W: usize,
    const N: usize,
> Flight<'r, B, M, A, S, K, C, T, W, N>
where
    for<'k> &'k A: RoundKeys<B>,
{
    /// Takes the strands through the lanes, until all are through.
    ///
    /// As the comb does it: a group of strands, window by window as precomputed, then the next group. Refilled: a lane
    /// whose strand has ended takes the next, between lines of four blocks only where chains write, so that windows are
    /// few and long and everything is written in squares. What a strand has beyond its whole lines, or whole blocks, goes
    /// through a line of its own.
    #[inline(always)]
    fn fly(&mut self, strands: &mut [Strand<'a, S, K, C>], order: &Order, laid: Laid) {
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
        let Strand { keys, state, .. } = &strands[strand];
        for k in 0..K {
            self.keys[k].assign(lane, &keys[k]);
        }
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

    /// Takes all lanes that have a strand as far as all of them can go, but no more than `most` blocks. Returns how far.
    ///
    /// A step takes its time however few lanes are live. So few numbers of registers will do, and each is a kernel more.
    #[inline(always)]
    fn window(&mut self, most: usize) -> usize {
        let registers = match self.rows.live().div_ceil(B::BLOCKS) {
            0 | 1 if !B::SOFT => 1,
            2..=4 if !B::SOFT => 4,
            _ => W,
        };
        let steps = self.rows.window(registers * B::BLOCKS).min(most);
        match (registers, W) {
            (1, _) if const { !B::SOFT } => self.advance::<1, 1>(steps),
            (4, _) if const { !B::SOFT } => self.advance::<1, 4>(steps),
            _ if const { M::WRITES && B::BLOCKS > 1 } && self.rows.writes_squares(const { S <= 2 }) => {
                self.advance_in_squares(steps);
            }
            (_, 8) if const { A::SHARED } => self.advance::<2, 4>(steps),
            (_, 12) if const { A::SHARED } => self.advance::<2, 6>(steps),
            _ => self.advance::<1, W>(steps),
        }
        steps
    }

    /// Takes the lanes of `G` groups of `R` registers, one or two, `steps` blocks further. While the rounds of one group wait
    /// for each other, the CPU runs ahead into the other, or has products of it to do.
    #[inline(always)]
    fn advance<const G: usize, const R: usize>(&mut self, steps: usize) {
        let Self { b, rows, state: memory, constants, trail, in_rest, keys, .. } = self;
        let b = *b;
        let mut state = [[[b.zero(); R]; S]; G];
        for g in 0..G {
            load_lanes(b, memory, g * R, &mut state[g]);
        }
        // Where a strand ends within the line, its state is what it was then.
        let leave_trail = *in_rest != 0;
        for i in (0..steps).step_by(T) {
            // Not a loop, which would keep the groups' states in memory.
            macro_rules! step {
                ($g:expr) => {
                    let (mut x, first) = ([[b.zero(); R]; T], $g * R);
                    for t in 0..T {
                        rows.gather(b, i + t, first, &mut x[t]);
                    }
                    M::step(Registers::new(b, keys.each_ref(), constants), &mut state[$g], &mut x);
                    if leave_trail {
                        store_lanes(b, &state[$g], first, &mut trail[i + T - 1]);
                    }
                    if M::WRITES {
                        for t in 0..T {
                            rows.scatter(b, i + t, first, &x[t]);
                        }
                    }
                };
            }
            step!(0);
            if G == 2 {
                step!(G - 1);
            }
        }
        rows.go(steps);
        for g in 0..G {
            store_lanes(b, &state[g], g * R, memory);
        }
    }

    /// The same for all registers at once, in squares of as many steps as a register has blocks. They are written in whole
    /// registers, one square behind and a few registers a step, between its rounds where there are vector registers enough, so
    /// that memory and shuffles fill the gaps that the rounds leave. The last one, which has no steps behind it, is written at
    /// once or, where a square spares few stores, block by block.
    #[inline(always)]
    fn advance_in_squares(&mut self, steps: usize) {
        let Self { b, rows, state: memory, constants, trail, in_rest, squares, keys, .. } = self;
        let (b, blocks) = (*b, B::BLOCKS);
        let squares: &mut [_; 2] = squares.first_chunk_mut().expect("memory for squares");
        let mut state = [[b.zero(); W]; S];
        load_lanes(b, memory, 0, &mut state);
        let leave_trail = *in_rest != 0;
        let whole = steps / blocks;
        let at_once = const { B::BLOCKS == 4 };
        let squared = if at_once { whole } else { whole.saturating_sub(1) };
        for i in (0..steps).step_by(T) {
            let mut x = [[b.zero(); W]; T];
            for t in 0..T {
                rows.gather(b, i + t, 0, &mut x[t]);
            }
            let (square, step) = (i / blocks, i % blocks);
            let mut part = (square > 0 && square < whole).then(|| Part::<B, T, W> {
                at: rows.square((square - 1) * blocks),
                square: &squares[(square - 1) % 2],
                first: step * W.div_ceil(blocks),
            });
            let beside = Cell::new(if const { B::BLOCKS == 4 } { part.take() } else { None });
            M::step(Registers::with(b, keys.each_ref(), constants, &beside), &mut state, &mut x);
            // Where the step has no whole cipher that encrypts, or not the registers for both.
            let mut left = beside.take().or(part);
            for piece in 0..W {
                left.thread(b, piece);
            }
            if leave_trail {
                store_lanes(b, &state, 0, &mut trail[i + T - 1]);
            }
            for t in 0..T {
                if square < squared {
                    squares[square % 2][step + t] = x[t];
                } else {
                    rows.scatter(b, i + t, 0, &x[t]);
                }
            }
        }
        if at_once && whole > 0 {
            let last = whole - 1;
            let at = rows.square::<B, W>(last * blocks);
            for r in 0..W {
                at.write(b, &squares[last % 2], r);
            }
        }
        rows.go(steps);
        store_lanes(b, &state, 0, memory);
    }
}

/// The part of a square that is written with the next `T` steps.
struct Part<'w, B: Isa, const T: usize, const W: usize> {
    at: SquareAt<'w, B, W>,
    square: &'w Square<B, W>,
    // Its first register.
    first: usize,
}

impl<B: Isa, const T: usize, const W: usize> Weave<B> for Part<'_, B, T, W> {
    const LONG: bool = true;

    /// One register or none.
    #[inline(always)]
    fn thread(&mut self, b: B, piece: usize) {
        let registers = const { T * W.div_ceil(B::BLOCKS) };
        let apart = W / registers;
        if (piece + 1).is_multiple_of(apart) && piece / apart < registers {
            self.at.write(b, self.square, self.first + piece / apart);
        }
    }
}

/// Blocks of the lanes of `R` registers, from register `first` on.
#[inline(always)]
fn load_lanes<B: Isa, const S: usize, const R: usize, const N: usize>(
    b: B,
    memory: &[LaneBlocks<N>; S],
    first: usize,
    lanes: &mut [[B::V; R]; S],
) {
    for s in 0..S {
        for r in 0..R {
            lanes[s][r] = b.load(&memory[s].0[(first + r) * B::BLOCKS..]);
        }
    }
}

/// The reverse of `load_lanes`.
#[inline(always)]
fn store_lanes<B: Isa, const S: usize, const R: usize, const N: usize>(
    b: B,
    lanes: &[[B::V; R]; S],
    first: usize,
    memory: &mut [LaneBlocks<N>; S],
) {
    for s in 0..S {
        for r in 0..R {
            b.store(lanes[s][r], &mut memory[s].0[(first + r) * B::BLOCKS..]);
        }
    }
}
