//! Single steps of chains: one block of each of many messages, the messages side by side in their order. What begins and
//! ends many chains goes this way; the comb is for what differs in length.

use core::marker::PhantomData;

use super::comb::{Chain, LaneBlocks};
use super::lanes::Registers;
use super::message::{Batch, Material, Message, share_key};
use crate::backend::{Block, Isa, Kernel, REGISTERS};
use crate::primitives::aes::Shared;

/// The keys and constants of a message's chain.
#[derive(Clone, Copy)]
pub(crate) struct Link<'a, const K: usize = 1, const C: usize = 0> {
    pub(crate) keys: [Shared<'a>; K],
    pub(crate) constants: [&'a Block; C],
}

/// Takes one block of each message through its chain; `link` finds in a message's key what the chain needs.
pub(crate) fn step<M: Chain<S, K, C>, const S: usize, const K: usize, const C: usize>(
    batch: &Batch<'_, '_, '_>,
    link: impl for<'k> Fn(&'k Material) -> Link<'k, K, C>,
    states: &mut [[Block; S]],
    blocks: &mut [Block],
) {
    let messages = &*batch.messages;
    assert!(states.len() == messages.len() && blocks.len() == messages.len());
    batch.backend.run(Step::<M, _, S> { messages, link, states, blocks, chain: PhantomData });
}

struct Step<'s, 'm, 'a, M, L, const S: usize> {
    messages: &'s [&'m mut Message<'a>],
    link: L,
    states: &'s mut [[Block; S]],
    blocks: &'s mut [Block],
    chain: PhantomData<M>,
}

impl<M, L, const S: usize, const K: usize, const C: usize> Kernel for Step<'_, '_, '_, M, L, S>
where
    M: Chain<S, K, C>,
    L: for<'k> Fn(&'k Material) -> Link<'k, K, C>,
{
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages, link, states, blocks, .. } = self;
        // Messages under different keys go one by one.
        let lanes = if share_key(messages) { REGISTERS * B::BLOCKS } else { 1 };
        let parts = messages.chunks(lanes).zip(states.chunks_mut(lanes)).zip(blocks.chunks_mut(lanes));
        for ((messages, states), blocks) in parts {
            let link = link(messages[0].key);
            if messages.len() <= B::BLOCKS {
                advance::<B, M, 1, 4, S, K, C>(b, link, states, blocks);
            } else {
                advance::<B, M, REGISTERS, { 4 * REGISTERS }, S, K, C>(b, link, states, blocks);
            }
        }
    }
}

/// Takes as many messages as `R` registers have lanes, or fewer, one block further; the widest ones have `N` lanes.
#[inline(always)]
fn advance<
    B: Isa,
    M: Chain<S, K, C>,
    const R: usize,
    const N: usize,
    const S: usize,
    const K: usize,
    const C: usize,
>(
    b: B,
    link: Link<'_, K, C>,
    states: &mut [[Block; S]],
    blocks: &mut [Block],
) {
    let mut memory = [LaneBlocks([[0; 16]; N]); S];
    for (lane, state) in states.iter().enumerate() {
        for s in 0..S {
            memory[s].0[lane] = state[s];
        }
    }
    let (mut state, mut x) = ([[b.zero(); R]; S], [[b.zero(); R]]);
    for r in 0..R {
        for s in 0..S {
            state[s][r] = b.load(&memory[s].0[r * B::BLOCKS..]);
        }
        x[0][r] = b.load_bytes(blocks[(r * B::BLOCKS).min(blocks.len())..].as_flattened());
    }
    M::step(Registers::<B, _, R, K, C>::new(b, link.keys, &link.constants), &mut state, &mut x);
    for r in 0..R {
        for s in 0..S {
            b.store(state[s][r], &mut memory[s].0[r * B::BLOCKS..]);
        }
        let at = (r * B::BLOCKS).min(blocks.len());
        b.store_some(x[0][r], &mut blocks[at..]);
    }
    for (lane, state) in states.iter_mut().enumerate() {
        for s in 0..S {
            state[s] = memory[s].0[lane];
        }
    }
}
