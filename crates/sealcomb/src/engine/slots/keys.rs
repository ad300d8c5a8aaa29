//! The round keys of the slots: of one key for all lanes, or of one key per lane.

use crate::backend::{Isa, LANES, RoundKeys};
use crate::primitives::aes::{KeySchedule, LaneKeys, Shared};

/// The keys of the groups in the slots.
pub(super) trait Keys<'a, B: Isa> {
    /// Whether all lanes have one key.
    const SHARED: bool;
    /// Sets the keys of the lanes of a slot.
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

/// The round keys of `N` lanes, one key per lane. They are zeroized on drop.
pub(super) struct SlotKeys<'a, const N: usize>(LaneKeys<'a, N>);

impl<const N: usize> SlotKeys<'_, N> {
    /// Returns room for keys with the number of rounds of `key`.
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
