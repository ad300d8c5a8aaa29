//! The keys and constants of the lanes: one link for all lanes, or one per lane.

use super::Link;
use super::strands::LaneBlocks;
use crate::backend::{BLOCK, Isa, RoundKeys, Wiped};
use crate::engine::lanes::Constants;
use crate::primitives::aes::LaneKeys;

/// The links of the strands in the lanes.
pub(super) trait Links<'a, B: Isa, const K: usize, const C: usize> {
    /// Whether all lanes have one link.
    const SHARED: bool;
    /// Assigns the link of a lane's strand.
    fn assign(&mut self, lane: usize, link: &Link<'a, K, C>);
    /// Returns the round keys of all lanes.
    fn keys(&self) -> [impl RoundKeys<B>; K];
    /// Returns the constants of all lanes.
    fn constants(&self) -> impl Constants<B>;
}

impl<'a, B: Isa, const K: usize, const C: usize> Links<'a, B, K, C> for Link<'a, K, C> {
    const SHARED: bool = true;

    #[inline(always)]
    fn assign(&mut self, _: usize, link: &Self) {
        debug_assert!(self.keys.iter().zip(&link.keys).all(|(key, other)| key.is(other)));
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

/// The links of `N` lanes, copied into the order of the registers.
pub(super) struct LaneLinks<'a, const K: usize, const C: usize, const N: usize> {
    keys: [LaneKeys<'a, N>; K],
    constants: Wiped<[LaneBlocks<N>; C]>,
}

impl<'a, const K: usize, const C: usize, const N: usize> LaneLinks<'a, K, C, N> {
    /// Returns memory for links whose keys have as many rounds as those of `link`.
    #[inline(always)]
    pub(super) fn like(link: &Link<'a, K, C>) -> Self {
        let constants = Wiped::new([LaneBlocks([[0; BLOCK]; N]); C]);
        Self { keys: link.keys.map(LaneKeys::like), constants }
    }
}

impl<'a, B: Isa, const K: usize, const C: usize, const N: usize> Links<'a, B, K, C>
    for LaneLinks<'a, K, C, N>
{
    const SHARED: bool = false;

    #[inline(always)]
    fn assign(&mut self, lane: usize, link: &Link<'a, K, C>) {
        for k in 0..K {
            self.keys[k].assign(lane, &link.keys[k]);
        }
        for c in 0..C {
            self.constants[c].0[lane] = *link.constants[c];
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
