//! CTR: the counter mode (SP 800-38A, section 6.5); the whole block counts, big-endian.

use super::Mode;
use crate::engine::Batch;
use crate::engine::blocks::keystream;
use crate::primitives::counter::Be128;

pub(crate) struct Ctr;

impl Mode for Ctr {
    /// `C_j = P_j ⊕ E_K(T_j)`, where `T_1` is the nonce and `T_{j+1} = T_j + 1`
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        keystream::<Be128>(batch, |message| {
            *message.nonce.first_chunk().expect("a counter block of 16 bytes")
        });
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        self.seal(batch);
    }
}
