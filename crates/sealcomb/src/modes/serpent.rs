//! Serpent as the block cipher of modes that are generic over it.

use alloc::boxed::Box;

use crate::backend::{Backend, Isa, ModeState, Wiped};
use crate::engine::{BlockCipher, Material};
use crate::primitives::aes::WideRoundKeys;
use crate::primitives::serpent::{KeySchedule, Shared};

/// The key material: the cipher's key schedule, and the mode's own material.
type Both = (KeySchedule, ModeState);

impl BlockCipher for KeySchedule {
    type Shared<'a, B: Isa> = Shared<'a>;
    type Wide<'a, B: Isa> = Shared<'a>;

    fn aes_key(_: &[u8]) -> &[u8] {
        &[]
    }

    fn expand_key(_: Backend, key: &[u8], material: &mut Material) {
        let both: Both = (Self::new(key), ModeState::none());
        material.mode_state = ModeState::new(Box::new(Wiped::new(both)));
    }

    #[inline(always)]
    fn of(key: &Material) -> &Self {
        &key.mode_state.get::<Both>().0
    }

    fn mode_state_mut(material: &mut Material) -> &mut ModeState {
        &mut material.mode_state.get_mut::<Both>().1
    }

    #[inline(always)]
    fn mode_state(key: &Material) -> &ModeState {
        &key.mode_state.get::<Both>().1
    }

    #[inline(always)]
    fn encrypting<B: Isa>(&self) -> Shared<'_> {
        self.encrypting()
    }

    #[inline(always)]
    fn decrypting<B: Isa>(&self) -> Shared<'_> {
        self.decrypting()
    }

    fn widen(&self, _: &mut WideRoundKeys) {}

    #[inline(always)]
    fn wide<'a, B: Isa>(&'a self, _: &'a WideRoundKeys) -> Shared<'a> {
        self.encrypting()
    }
}
