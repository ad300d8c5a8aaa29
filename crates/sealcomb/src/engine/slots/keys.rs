//! The round keys of the slots: those of one key, or of a key for each lane.

use crate::backend::{Isa, LANES, RoundKeys};
use crate::primitives::aes::{KeySchedule, LaneKeys, Shared};

/// The keys of the groups in the slots.
pub(super) trait Keys<'a, B: Isa> {
    /// Whether all lanes have one key.
    const SHARED: bool;
    /// Takes note of the keys of the lanes of a slot.
    fn assign(&mut self, slot: usize, keys: [&'a KeySchedule; LANES]);
    fn round_keys(&self) -> impl RoundKeys<B>;
}

/// One key for all messages.
pub(super) struct OneKey<'a>(Shared<'a>);

impl<'a> OneKey<'a> {
    #[inline(always)]
    pub(super) fn of(key: &'a KeySchedule) -> Self {
        Self(key.encrypting())
    }
}

impl<'a, B: Isa> Keys<'a, B> for OneKey<'a> {
    const SHARED: bool = true;

    #[inline(always)]
    fn assign(&mut self, _: usize, _: [&'a KeySchedule; LANES]) {}

    #[inline(always)]
    fn round_keys(&self) -> impl RoundKeys<B> {
        self.0
    }
}

/// A key for each of `N` lanes, zeroized on drop.
pub(super) struct SlotKeys<'a, const N: usize>(LaneKeys<'a, N>);

impl<const N: usize> SlotKeys<'_, N> {
    /// Room for keys of as many rounds as this one has.
    #[inline(always)]
    pub(super) fn like(key: &KeySchedule) -> Self {
        Self(LaneKeys::like(key.encrypting()))
    }
}

impl<'a, B: Isa, const N: usize> Keys<'a, B> for SlotKeys<'a, N> {
    const SHARED: bool = false;

    #[inline(always)]
    fn assign(&mut self, slot: usize, keys: [&'a KeySchedule; LANES]) {
        for lane in 0..B::BLOCKS {
            self.0.assign(slot * B::BLOCKS + lane, &keys[lane].encrypting());
        }
    }

    #[inline(always)]
    fn round_keys(&self) -> impl RoundKeys<B> {
        &self.0
    }
}
