//! Serpent as the block cipher of modes that are generic over it.

use alloc::boxed::Box;

use crate::backend::{Backend, Isa, Kept, Wiped};
use crate::engine::{BlockCipher, Material};
use crate::primitives::serpent::{KeySchedule, Shared};

/// The key material: the cipher's key schedule, and the mode's own material.
type Both = (KeySchedule, Kept);

impl BlockCipher for KeySchedule {
    type Shared<'a, B: Isa> = Shared<'a>;

    fn aes_key(_: &[u8]) -> &[u8] {
        &[]
    }

    fn key(_: Backend, key: &[u8], material: &mut Material) {
        let both: Both = (Self::new(key), Kept::nothing());
        material.kept = Kept::new(Box::new(Wiped::new(both)));
    }

    #[inline(always)]
    fn of(key: &Material) -> &Self {
        &key.kept.get::<Both>().0
    }

    fn kept_mut(material: &mut Material) -> &mut Kept {
        &mut material.kept.get_mut::<Both>().1
    }

    #[inline(always)]
    fn kept(key: &Material) -> &Kept {
        &key.kept.get::<Both>().1
    }

    #[inline(always)]
    fn encrypting<B: Isa>(&self) -> Shared<'_> {
        self.encrypting()
    }

    #[inline(always)]
    fn decrypting<B: Isa>(&self) -> Shared<'_> {
        self.decrypting()
    }
}
