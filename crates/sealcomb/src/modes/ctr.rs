//! CTR: the counter mode (SP 800-38A, section 6.5); the whole block counts, big-endian.

use super::Mode;
use crate::backend::{Isa, Kernel};
use crate::engine::{Batch, Message};
use crate::primitives::counter::{Be128, xor_keystream};

pub(crate) struct Ctr;

impl Mode for Ctr {
    fn seal(&self, batch: &mut Batch<'_, '_>) {
        batch.backend.run(Keystream { messages: batch.messages });
    }

    fn open(&self, batch: &mut Batch<'_, '_>) {
        self.seal(batch);
    }
}

struct Keystream<'b, 'a> {
    messages: &'b mut [Message<'a>],
}

impl Kernel for Keystream<'_, '_> {
    type Output = ();

    /// `C_j = P_j ⊕ E_K(T_j)`, where `T_1` is the nonce and `T_{j+1} = T_j + 1`
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for Message { key, nonce, data, .. } in self.messages {
            let t = nonce.first_chunk().expect("a counter block of 16 bytes");
            xor_keystream::<Be128, B, _>(b, key.aes.encrypting(), t, data);
        }
    }
}
