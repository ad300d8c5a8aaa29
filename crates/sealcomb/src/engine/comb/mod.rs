//! The comb: chains of blocks of many messages, one message per lane.
//!
//! One chain is limited by the latency of its cipher, but eight registers of chains fill the AES units. Messages have
//! different lengths, so the work is divided into windows in which every lane has a block to process. Five messages
//! of 5, 4, 4, 2 and 1 blocks in three lanes:
//!
//! ```text
//! the paper's comb                          refilled
//!
//! lane 1    A A A A | A | D | D             lane 1    A A A A | A |
//! lane 2    B B B B |   | E |               lane 2    B B B B | D | D
//! lane 3    C C C C |   |   |               lane 3    C C C C | E |
//! windows      4      1   1   1             windows      4      1   1
//! ```
//!
//! Algorithm 1 of the paper (Bogdanov, Lauridsen, Tischhauser, FSE 2015), with its algorithm 2 in [`windows`]:
//!
//! ```text
//! sort the messages, longest first
//! for each group of p messages:
//!     for each window of the group:
//!         step all lanes of the window as many blocks as it has
//! ```
//!
//! The refilled schedule does not wait for the longest message of a group:
//!
//! ```text
//! sort the messages, longest first, and assign one to each lane
//! while a lane has a message:
//!     step all lanes as many blocks as the shortest of them has
//!     assign the next message to each lane that has ended
//! ```
//!
//! Between windows, the lanes' states are in memory, and a lane that has ended returns its state: see [`jobs`].
//! Within a window they are in registers: see [`steps`].

mod jobs;
mod keys;
mod steps;
mod windows;

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use jobs::{Comb, LaneBlocks};
use keys::{ChainKeys, LaneChainKeys};

use super::lanes::{Lanes, Registers};
use super::message::{Batch, Column, Material, Message};
use super::order::Order;
use super::{FLIGHT, Schedule};
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, LINE, LanePointers, Scratch, Span, Square};
use crate::primitives::aes::{KeySchedule, Shared};

/// A mode's step from block to block, with `S` blocks of state per message, `K` keys and `C` constants. A step
/// processes `T` blocks: 1, or 2 for modes that chain pairs of blocks.
pub(crate) trait Chain<const S: usize, const K: usize = 1, const C: usize = 0, const T: usize = 1> {
    /// Whether a step leaves output in `x`.
    const WRITES: bool;
    /// Advances every lane by `T` blocks.
    fn step<L: Lanes>(lanes: L, state: &mut [L::Blocks; S], x: &mut [L::Blocks; T]);

    /// Processes up to [`FLIGHT`] chain jobs. Chain jobs must consist of whole steps if a step is more than one block.
    fn run(backend: Backend, schedule: Schedule, jobs: &mut [ChainJob<'_, S, K, C>])
    where
        Self: Sized,
    {
        run::<Self, S, K, C, T>(backend, schedule, jobs);
    }
}

/// One message in a chain: its bytes, zero-padded to whole blocks, and its state, before and afterwards.
pub(crate) struct ChainJob<'a, const S: usize, const K: usize = 1, const C: usize = 0> {
    pub(crate) chain_key: ChainKey<'a, K, C>,
    pub(crate) state: [Block; S],
    pub(crate) data: Span<'a>,
}

/// What the step needs of a message's key.
#[derive(Clone, Copy)]
pub(crate) struct ChainKey<'a, const K: usize = 1, const C: usize = 0> {
    /// Round keys, each for the direction in which the step uses it.
    pub(crate) keys: [Shared<'a>; K],
    /// Constant blocks; see [`Lanes::constant`].
    pub(crate) constants: [&'a Block; C],
}

impl<'a> ChainKey<'a> {
    /// Returns the chain key of a chain that only encrypts.
    pub(crate) fn under(aes: &'a KeySchedule) -> Self {
        Self { keys: [aes.encrypting()], constants: [] }
    }
}

/// Returns the chain key of a chain that only encrypts, with the key's AES.
pub(crate) fn encrypting(key: &Material) -> ChainKey<'_> {
    ChainKey::under(&key.aes)
}

/// Processes a part of each message. The columns `states` have the states before and afterwards.
// Not inlined, so that the chain jobs occupy the stack only while they are needed.
#[inline(never)]
pub(crate) fn chains<'a, M, const S: usize, const K: usize, const C: usize, const T: usize>(
    batch: &mut Batch<'_, '_, 'a>,
    chain_key: impl for<'k> Fn(&'k Material) -> ChainKey<'k, K, C>,
    states: [&mut Column; S],
    part: impl for<'m> Fn(&'m mut Message<'a>) -> Span<'m>,
) where
    M: Chain<S, K, C, T>,
{
    let mut jobs = ArrayVec::<ChainJob<'_, S, K, C>, FLIGHT>::new();
    for (i, message) in batch.messages.iter_mut().enumerate() {
        let mut state = [[0; BLOCK]; S];
        for s in 0..S {
            state[s] = states[s][i];
        }
        jobs.push(ChainJob { chain_key: chain_key(message.key), state, data: part(message) });
    }
    M::run(batch.backend, batch.schedule, &mut jobs);
    for (s, column) in states.into_iter().enumerate() {
        for (state, job) in column.iter_mut().zip(&jobs) {
            *state = job.state[s];
        }
    }
}

/// Returns the minimum number of blocks in addition to those of the longest chain job for which lanes are worth setting
/// up. Below it, out-of-order execution overlaps the end of a short chain job with the beginning of the next.
pub(super) fn min_blocks(backend: Backend, longest: usize) -> usize {
    match longest {
        ..=8 if backend.blocks() == 4 => 20,
        ..=8 => 28,
        _ => 12,
    }
}

/// Lanes share a chain key if their keys are equal. That is correct because constants differ only where keys differ, but
/// it requires a key.
fn run<M: Chain<S, K, C, T>, const S: usize, const K: usize, const C: usize, const T: usize>(
    backend: Backend,
    schedule: Schedule,
    jobs: &mut [ChainJob<'_, S, K, C>],
) {
    // Lanes share a chain key if their keys are equal. That is correct because constants differ only where keys differ.
    const { assert!(K > 0) };
    let mut order = Order::new();
    let mut shared = true;
    let (mut blocks, mut longest) = (0, 0);
    for (i, job) in jobs.iter().enumerate() {
        debug_assert!(T == 1 || job.data.len().is_multiple_of(T * BLOCK));
        if job.data.len() > 0 {
            shared &=
                job.chain_key.keys.iter().zip(&jobs[0].chain_key.keys).all(|(key, first)| key.is(first));
            order.push(i, job.data.len());
            let job_blocks = job.data.len().div_ceil(BLOCK);
            blocks += job_blocks;
            longest = job_blocks.max(longest);
        }
    }
    let policy = match schedule {
        Schedule::Single | Schedule::Blocks => None,
        Schedule::Auto | Schedule::Refill if blocks - longest < min_blocks(backend, longest) => None,
        Schedule::Auto | Schedule::Refill => Some(Policy::Refilled),
        Schedule::Comb(p) => Some(Policy::Comb(p.clamp(1, backend.lanes()))),
    };
    let chain = PhantomData::<M>;
    // Separate kernels, so that the stack has the lanes of only one of them at a time.
    match policy {
        _ if order.is_empty() => {}
        Some(policy) if shared => {
            backend.run(SideBySide::<M, S, K, C, T, true> { jobs, order: &mut order, policy, chain });
        }
        Some(policy) => {
            backend.run(SideBySide::<M, S, K, C, T, false> { jobs, order: &mut order, policy, chain });
        }
        None => backend.run(OneByOne::<M, S, K, C, T> { jobs, order: &order, chain }),
    }
}

/// The assignment of chain jobs to lanes.
#[derive(Clone, Copy, PartialEq)]
enum Policy {
    /// In groups of this many chain jobs.
    Comb(usize),
    /// A lane takes the next chain job as soon as its own has ended.
    Refilled,
}

/// Chain jobs processed one after the other.
struct OneByOne<'s, 'a, M, const S: usize, const K: usize, const C: usize, const T: usize> {
    jobs: &'s mut [ChainJob<'a, S, K, C>],
    order: &'s Order,
    chain: PhantomData<M>,
}

impl<M: Chain<S, K, C, T>, const S: usize, const K: usize, const C: usize, const T: usize> Kernel
    for OneByOne<'_, '_, M, S, K, C, T>
{
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        one_by_one::<M, B, S, K, C, T>(b, self.jobs, self.order);
    }
}

/// Processes the chain jobs one after the other.
#[inline(always)]
fn one_by_one<
    M: Chain<S, K, C, T>,
    B: Isa,
    const S: usize,
    const K: usize,
    const C: usize,
    const T: usize,
>(
    b: B,
    jobs: &mut [ChainJob<'_, S, K, C>],
    order: &Order,
) {
    for place in order.places() {
        single::<M, B, S, K, C, T>(b, &mut jobs[place]);
    }
}

/// Chain jobs processed in lanes, with one key for all (`SHARED`) or per-lane keys.
struct SideBySide<
    's,
    'a,
    M,
    const S: usize,
    const K: usize,
    const C: usize,
    const T: usize,
    const SHARED: bool,
> {
    jobs: &'s mut [ChainJob<'a, S, K, C>],
    order: &'s mut Order,
    policy: Policy,
    chain: PhantomData<M>,
}

impl<M, const S: usize, const K: usize, const C: usize, const T: usize, const SHARED: bool> Kernel
    for SideBySide<'_, '_, M, S, K, C, T, SHARED>
where
    M: Chain<S, K, C, T>,
{
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        // The portable cipher processes blocks together only if they share a key. Wide registers still use lanes, so
        // that tests cover them.
        if const { !SHARED && B::SOFT && B::BLOCKS == 1 } {
            return one_by_one::<M, B, S, K, C, T>(b, self.jobs, self.order);
        }
        self.order.sort();
        let first = self.order.places().next().expect("a job");
        let chain_key = self.jobs[first].chain_key;
        // The number of registers of chains, and the number of lanes in them.
        if const { SHARED && B::CHAINS == 8 } {
            self.lay::<B, _, 8, 32>(b, chain_key);
        } else if const { SHARED && B::CHAINS == 12 } {
            self.lay::<B, _, 12, 16>(b, chain_key);
        } else if const { B::CHAINS == 8 } {
            self.lay::<B, _, 8, 32>(b, LaneChainKeys::<K, C, 32>::like(&chain_key));
        } else {
            const { assert!(B::CHAINS == 12 && B::BLOCKS == 1 || B::CHAINS == 8) };
            self.lay::<B, _, 12, 16>(b, LaneChainKeys::<K, C, 16>::like(&chain_key));
        }
    }
}

/// Processes one chain job.
#[inline(always)]
fn single<M: Chain<S, K, C, T>, B: Isa, const S: usize, const K: usize, const C: usize, const T: usize>(
    b: B,
    job: &mut ChainJob<'_, S, K, C>,
) {
    let data = &mut job.data.reborrow();
    let ChainKey { keys, constants } = job.chain_key;
    let lanes = Registers::<B, _, 1, K, _>::new(b, keys, &constants);
    // A loop, because closures of `map` are not always inlined.
    let mut state = [[b.zero()]; S];
    for s in 0..S {
        state[s] = [b.one(&job.state[s])];
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
        job.state[s] = b.first(state[s][0]);
    }
}

impl<'a, M, const S: usize, const K: usize, const C: usize, const T: usize, const SHARED: bool>
    SideBySide<'_, 'a, M, S, K, C, T, SHARED>
where
    M: Chain<S, K, C, T>,
{
    /// Processes the chain jobs in up to `N` lanes, in at most `W` registers.
    #[inline(always)]
    fn lay<B: Isa, A: ChainKeys<'a, B, K, C>, const W: usize, const N: usize>(self, b: B, chain_keys: A) {
        let mut scratch = Scratch::new();
        let mut memory;
        let squares: &mut [Square<B, W>] = if const { M::WRITES && B::BLOCKS > 1 } {
            memory = [[[b.zero(); W]; 4]; 2];
            &mut memory
        } else {
            &mut []
        };
        let mut comb = Comb::<B, M, A, S, K, C, T, W, N> {
            b,
            pointers: LanePointers::new(M::WRITES, &mut scratch),
            state: [LaneBlocks([[0; 16]; N]); S],
            line_states: [[LaneBlocks([[0; 16]; N]); S]; LINE / BLOCK],
            job: [0; N],
            quantum: if M::WRITES && self.policy == Policy::Refilled { LINE } else { BLOCK },
            in_tail: 0,
            squares,
            chain_keys,
            chain: PhantomData,
        };
        comb.take(self.jobs, self.order, self.policy);
    }
}
