//! Single steps of chains: one block of each of many messages, the messages side by side in their order. What begins and
//! ends many chains goes this way; the comb is for what differs in length.

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::FLIGHT;
use super::comb::{Chain, LaneBlocks, LaneConstants};
use super::lanes::Registers;
use crate::backend::{Backend, Block, Isa, Kernel, REGISTERS};
use crate::primitives::aes::Shared;

/// The keys and constants of a message's chain.
#[derive(Clone, Copy)]
pub(crate) struct Link<'a, const K: usize = 1, const C: usize = 0> {
    pub(crate) keys: [Shared<'a>; K],
    pub(crate) constants: [&'a Block; C],
}

/// Those of all messages of a flight.
pub(crate) type Links<'a, const K: usize = 1, const C: usize = 0> = ArrayVec<Link<'a, K, C>, FLIGHT>;

/// Takes one block of each message through its chain.
pub(crate) fn step<M: Chain<S, K, C>, const S: usize, const K: usize, const C: usize>(
    backend: Backend,
    links: &[Link<'_, K, C>],
    states: &mut [[Block; S]],
    blocks: &mut [Block],
) {
    assert!(links.len() == blocks.len() && states.len() == blocks.len());
    if !links.is_empty() {
        backend.run(Step::<M, S, K, C> { links, states, blocks, chain: PhantomData });
    }
}

/// Lanes of the widest registers.
const LANES: usize = 4 * REGISTERS;

struct Step<'s, 'a, M, const S: usize, const K: usize, const C: usize> {
    links: &'s [Link<'a, K, C>],
    states: &'s mut [[Block; S]],
    blocks: &'s mut [Block],
    chain: PhantomData<M>,
}

impl<M: Chain<S, K, C>, const S: usize, const K: usize, const C: usize> Kernel for Step<'_, '_, M, S, K, C> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { links, states, blocks, .. } = self;
        let first = links[0].keys;
        let shared = links.iter().all(|link| link.keys.iter().zip(&first).all(|(key, first)| key.is(first)));
        // Messages under different keys go one by one.
        let lanes = if shared { REGISTERS * B::BLOCKS } else { 1 };
        let parts = links.chunks(lanes).zip(states.chunks_mut(lanes)).zip(blocks.chunks_mut(lanes));
        for ((links, states), blocks) in parts {
            let mut constants = LaneConstants([LaneBlocks([[0; 16]; LANES]); C]);
            for (lane, link) in links.iter().enumerate() {
                for c in 0..C {
                    constants.0[c].0[lane] = *link.constants[c];
                }
            }
            advance::<B, M, S, K, C>(b, links[0].keys, &constants, states, blocks);
        }
    }
}

/// Takes as many messages as the registers have lanes, or fewer, one block further.
#[inline(always)]
fn advance<B: Isa, M: Chain<S, K, C>, const S: usize, const K: usize, const C: usize>(
    b: B,
    keys: [Shared<'_>; K],
    constants: &LaneConstants<C, LANES>,
    states: &mut [[Block; S]],
    blocks: &mut [Block],
) {
    let constants = constants.load(b);
    let mut memory = [LaneBlocks([[0; 16]; LANES]); S];
    for (lane, state) in states.iter().enumerate() {
        for s in 0..S {
            memory[s].0[lane] = state[s];
        }
    }
    let (mut state, mut x) = ([[b.zero(); REGISTERS]; S], [b.zero(); REGISTERS]);
    for r in 0..REGISTERS {
        for s in 0..S {
            state[s][r] = b.load(&memory[s].0[r * B::BLOCKS..]);
        }
        x[r] = b.load_bytes(blocks[(r * B::BLOCKS).min(blocks.len())..].as_flattened());
    }
    M::step(Registers::<B, _, REGISTERS, K, C>::new(b, keys, &constants), &mut state, &mut x);
    for r in 0..REGISTERS {
        for s in 0..S {
            b.store(state[s][r], &mut memory[s].0[r * B::BLOCKS..]);
        }
        let at = (r * B::BLOCKS).min(blocks.len());
        b.store_some(x[r], &mut blocks[at..]);
    }
    for (lane, state) in states.iter_mut().enumerate() {
        for s in 0..S {
            state[s] = memory[s].0[lane];
        }
    }
}
