//! ECB: the electronic codebook (SP 800-38A, section 6.1).

use core::marker::PhantomData;

use super::Mode;
use crate::backend::Backend;
use crate::engine::blocks::{self, Independent};
use crate::engine::{Aes, Batch, BlockCipher, Lanes, Material};

/// ECB of a block cipher.
pub(crate) struct Ecb<C>(PhantomData<C>);

pub(crate) const AES: Ecb<Aes> = Ecb(PhantomData);
#[cfg(feature = "research")]
pub(crate) const SERPENT: Ecb<crate::engine::Serpent> = Ecb(PhantomData);

impl<C: BlockCipher> Mode for Ecb<C> {
    fn key(&self, backend: Backend, key: &[u8]) -> Material {
        C::key(backend, key)
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        blocks::run::<C, Encrypt>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        blocks::run::<C, Decrypt>(batch);
    }
}

struct Encrypt;

impl Independent for Encrypt {
    const DECRYPTS: bool = false;

    /// `C_j = E_K(P_j)`
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, _: &L::Blocks, x: &mut L::Blocks) {
        lanes.encrypt(x);
    }
}

struct Decrypt;

impl Independent for Decrypt {
    const DECRYPTS: bool = true;

    /// `P_j = E_K⁻¹(C_j)`
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, _: &L::Blocks, x: &mut L::Blocks) {
        lanes.decrypt(x);
    }
}
