//! The keys and constants of the lanes: one chain key for all lanes, or one per lane.

use super::ChainKey;
use super::jobs::LaneBlocks;
use crate::backend::{BLOCK, Isa, RoundKeys, Wiped};
use crate::engine::lanes::Constants;
use crate::primitives::aes::LaneKeys;

/// The chain keys of the chain jobs in the lanes.
pub(super) trait ChainKeys<'a, B: Isa, const K: usize, const C: usize> {
    /// Whether all lanes have one chain key.
    const SHARED: bool;
    /// Assigns the chain key of a lane's chain job.
    fn assign(&mut self, lane: usize, chain_key: &ChainKey<'a, K, C>);
    /// Returns the round keys of all lanes.
    fn keys(&self) -> [impl RoundKeys<B>; K];
    /// Returns the constants of all lanes.
    fn constants(&self) -> impl Constants<B>;
}

impl<'a, B: Isa, const K: usize, const C: usize> ChainKeys<'a, B, K, C> for ChainKey<'a, K, C> {
    const SHARED: bool = true;

    #[inline(always)]
    fn assign(&mut self, _: usize, chain_key: &Self) {
        debug_assert!(self.keys.iter().zip(&chain_key.keys).all(|(key, other)| key.is(other)));
    }

    #[inline(always)]
    fn keys(&self) -> [impl RoundKeys<B>; K] {
        self.keys.each_ref()
    }

    #[inline(always)]
    fn constants(&self) -> impl Constants<B> {
        &self.constants
    }
}

/// The chain keys of `N` lanes, copied into the order of the registers.
pub(super) struct LaneChainKeys<'a, const K: usize, const C: usize, const N: usize> {
    keys: [LaneKeys<'a, N>; K],
    constants: Wiped<[LaneBlocks<N>; C]>,
}

impl<'a, const K: usize, const C: usize, const N: usize> LaneChainKeys<'a, K, C, N> {
    /// Returns memory for chain keys whose keys have as many rounds as those of `chain_key`.
    #[inline(always)]
    pub(super) fn like(chain_key: &ChainKey<'a, K, C>) -> Self {
        let constants = Wiped::new([LaneBlocks([[0; BLOCK]; N]); C]);
        Self { keys: chain_key.keys.map(LaneKeys::like), constants }
    }
}

impl<'a, B: Isa, const K: usize, const C: usize, const N: usize> ChainKeys<'a, B, K, C>
    for LaneChainKeys<'a, K, C, N>
{
    const SHARED: bool = false;

    #[inline(always)]
    fn assign(&mut self, lane: usize, chain_key: &ChainKey<'a, K, C>) {
        for k in 0..K {
            self.keys[k].assign(lane, &chain_key.keys[k]);
        }
        for c in 0..C {
            self.constants[c].0[lane] = *chain_key.constants[c];
        }
    }

    #[inline(always)]
    fn keys(&self) -> [impl RoundKeys<B>; K] {
        self.keys.each_ref()
    }

    #[inline(always)]
    fn constants(&self) -> impl Constants<B> {
        &*self.constants
    }
}

impl<B: Isa, const C: usize, const N: usize> Constants<B> for &[LaneBlocks<N>; C] {
    const COUNT: usize = C;

    #[inline(always)]
    fn constant(self, b: B, number: usize, register: usize) -> B::V {
        b.load(&self[number].0[register * B::BLOCKS..])
    }
}
