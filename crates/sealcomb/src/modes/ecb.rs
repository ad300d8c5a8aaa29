//! ECB: the electronic codebook (SP 800-38A, section 6.1).

use super::Mode;
use crate::engine::blocks::{self, Independent};
use crate::engine::{Batch, Lanes};

pub(crate) struct Ecb;

impl Mode for Ecb {
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        blocks::run::<Encrypt>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        blocks::run::<Decrypt>(batch);
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
