//! Operations that occur once per message, on one or a few blocks of each: the beginnings and ends of chains. The
//! comb is for messages of different lengths; here all messages take one step.
//!
//! ```text
//! for each group of messages, one per lane, or one per register if keys differ:
//!     load a block of each message from every column
//!     take the step
//!     store the blocks
//! ```

use core::marker::PhantomData;
use core::ops::Range;

use arrayvec::ArrayVec;

use super::comb::{Chain, ChainKey, encrypting};
use super::lanes::{Constants, Lanes, Registers};
use super::message::{Batch, Column, Material, Message, share_key};
use crate::backend::{Block, Isa, Kernel, REGISTERS};
use crate::primitives::aes::RegisterKeys;

/// An operation on `N` blocks of each message.
pub(crate) trait Once<const N: usize> {
    /// Applies the operation to the messages in the lanes.
    fn step<L: Lanes>(lanes: L, x: &mut [L::Blocks; N]);
}

/// Applies an operation to all messages. The columns contain their blocks, before and afterwards.
pub(crate) fn once<M: Once<N>, const N: usize>(batch: &Batch<'_, '_, '_>, columns: [&mut Column; N]) {
    step::<AsChain<M>, N, 1, 0, 0>(batch, encrypting, columns, []);
}

/// Encrypts one block of each message with its key.
pub(crate) fn encrypt(batch: &Batch<'_, '_, '_>, blocks: &mut Column) {
    once::<Encrypt, 1>(batch, [blocks]);
}

struct Encrypt;

impl Once<1> for Encrypt {
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [x]: &mut [L::Blocks; 1]) {
        lanes.encrypt(x);
    }
}

/// A [`Once`] as a chain that has state but no blocks.
struct AsChain<M>(PhantomData<M>);

impl<M: Once<N>, const N: usize> Chain<N, 1, 0, 0> for AsChain<M> {
    const WRITES: bool = false;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, state: &mut [L::Blocks; N], _: &mut [L::Blocks; 0]) {
        M::step(lanes, state);
    }
}

/// Advances each message by one step of a chain. The columns `states` and `blocks` contain the states and the blocks,
/// before and afterwards.
pub(crate) fn step<M, const S: usize, const K: usize, const C: usize, const T: usize>(
    batch: &Batch<'_, '_, '_>,
    chain_key: impl for<'k> Fn(&'k Material) -> ChainKey<'k, K, C>,
    states: [&mut Column; S],
    blocks: [&mut Column; T],
) where
    M: Chain<S, K, C, T>,
{
    let states = states.map(ArrayVec::as_mut_slice);
    let blocks = blocks.map(ArrayVec::as_mut_slice);
    batch.backend.run(Step::<M, _, S, T> {
        messages: batch.messages,
        chain_key,
        states,
        blocks,
        chain: PhantomData,
    });
}

struct Step<'s, 'm, 'a, M, L, const S: usize, const T: usize> {
    messages: &'s [&'m mut Message<'a>],
    chain_key: L,
    states: [&'s mut [Block]; S],
    blocks: [&'s mut [Block]; T],
    chain: PhantomData<M>,
}

impl<M, L, const S: usize, const K: usize, const C: usize, const T: usize> Kernel
    for Step<'_, '_, '_, M, L, S, T>
where
    M: Chain<S, K, C, T>,
    L: for<'k> Fn(&'k Material) -> ChainKey<'k, K, C>,
{
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages, chain_key, mut states, mut blocks, .. } = self;
        if !share_key(messages) {
            return apart::<B, M, S, K, C, T>(b, messages, chain_key, &mut states, &mut blocks);
        }
        let chain_key = chain_key(messages[0].key);
        let lanes = REGISTERS * B::BLOCKS;
        for from in (0..messages.len()).step_by(lanes) {
            let to = messages.len().min(from + lanes);
            if to - from <= B::BLOCKS {
                advance::<B, M, 1, S, K, C, T>(b, chain_key, from..to, &mut states, &mut blocks);
            } else {
                advance::<B, M, REGISTERS, S, K, C, T>(b, chain_key, from..to, &mut states, &mut blocks);
            }
        }
    }
}

/// Advances messages with different keys, one message per register.
#[inline(always)]
fn apart<B: Isa, M, const S: usize, const K: usize, const C: usize, const T: usize>(
    b: B,
    messages: &[&mut Message<'_>],
    chain_key: impl for<'k> Fn(&'k Material) -> ChainKey<'k, K, C>,
    states: &mut [&mut [Block]; S],
    blocks: &mut [&mut [Block]; T],
) where
    M: Chain<S, K, C, T>,
{
    for from in (0..messages.len()).step_by(REGISTERS) {
        let to = messages.len().min(from + REGISTERS);
        // Unused registers get the last message's key.
        let chain_keys = core::array::from_fn(|r| chain_key(messages[(from + r).min(to - 1)].key));
        let chain_keys = ApartChainKeys::<K, C>::new(&chain_keys);
        let (mut state, mut x) = ([[b.zero(); REGISTERS]; S], [[b.zero(); REGISTERS]; T]);
        for r in 0..to - from {
            for s in 0..S {
                state[s][r] = b.one(&states[s][from + r]);
            }
            for t in 0..T {
                x[t][r] = b.one(&blocks[t][from + r]);
            }
        }
        let lanes =
            Registers::<B, _, REGISTERS, K, _>::new(b, chain_keys.keys.each_ref(), &chain_keys.constants);
        M::step(lanes, &mut state, &mut x);
        for r in 0..to - from {
            for s in 0..S {
                states[s][from + r] = b.first(state[s][r]);
            }
            for t in 0..T {
                blocks[t][from + r] = b.first(x[t][r]);
            }
        }
    }
}

/// The chain keys of messages that have a register each.
struct ApartChainKeys<'a, const K: usize, const C: usize> {
    keys: [RegisterKeys<'a, REGISTERS>; K],
    constants: [[&'a Block; REGISTERS]; C],
}

impl<'a, const K: usize, const C: usize> ApartChainKeys<'a, K, C> {
    #[inline(always)]
    fn new(chain_keys: &[ChainKey<'a, K, C>; REGISTERS]) -> Self {
        Self {
            keys: core::array::from_fn(|k| RegisterKeys(core::array::from_fn(|r| chain_keys[r].keys[k]))),
            constants: core::array::from_fn(|c| core::array::from_fn(|r| chain_keys[r].constants[c])),
        }
    }
}

impl<B: Isa, const C: usize> Constants<B> for &[[&Block; REGISTERS]; C] {
    const COUNT: usize = C;

    #[inline(always)]
    fn constant(self, b: B, number: usize, register: usize) -> B::V {
        b.splat(self[number][register])
    }
}

/// Advances a group of messages with one key, at most as many as `R` registers have lanes.
#[inline(always)]
fn advance<B: Isa, M, const R: usize, const S: usize, const K: usize, const C: usize, const T: usize>(
    b: B,
    chain_key: ChainKey<'_, K, C>,
    group: Range<usize>,
    states: &mut [&mut [Block]; S],
    blocks: &mut [&mut [Block]; T],
) where
    M: Chain<S, K, C, T>,
{
    let (mut state, mut x) = ([[b.zero(); R]; S], [[b.zero(); R]; T]);
    for s in 0..S {
        load(b, &states[s][group.clone()], &mut state[s]);
    }
    for t in 0..T {
        load(b, &blocks[t][group.clone()], &mut x[t]);
    }
    M::step(Registers::<B, _, R, K, _>::new(b, chain_key.keys, &chain_key.constants), &mut state, &mut x);
    // Loops over indices, because closures of `map` and similar functions are not always inlined.
    for s in 0..S {
        store(b, &state[s], &mut states[s][group.clone()]);
    }
    for t in 0..T {
        store(b, &x[t], &mut blocks[t][group.clone()]);
    }
}

/// Loads blocks, zero-padded to `R` registers.
#[inline(always)]
fn load<B: Isa, const R: usize>(b: B, blocks: &[Block], x: &mut [B::V; R]) {
    for (x, blocks) in x.iter_mut().zip(blocks.chunks(B::BLOCKS)) {
        *x = if blocks.len() == B::BLOCKS { b.load(blocks) } else { b.load_bytes(blocks.as_flattened()) };
    }
}

/// Stores as many blocks as fit into `blocks`.
#[inline(always)]
fn store<B: Isa, const R: usize>(b: B, x: &[B::V; R], blocks: &mut [Block]) {
    for (x, blocks) in x.iter().zip(blocks.chunks_mut(B::BLOCKS)) {
        if blocks.len() == B::BLOCKS {
            b.store(*x, blocks);
        } else {
            b.store_some(*x, blocks);
        }
    }
}
