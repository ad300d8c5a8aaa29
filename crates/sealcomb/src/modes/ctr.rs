//! CTR: the counter mode (SP 800-38A, section 6.5); the whole block counts, big-endian.
//!
//! ```text
//! T_1 ← nonce
//! T_{j+1} ← T_j + 1 (mod 2^128)
//! C_j ← P_j ⊕ E_K(T_j)
//! ```

use super::Mode;
use crate::backend::{BLOCK, Block, Isa, REGISTERS, Span};
use crate::engine::flights::{self, Alone, Flights};
use crate::engine::frame;
use crate::engine::{Batch, Material};
use crate::primitives::aes::KeySchedule;
use crate::primitives::counter::{Be128, LAST_BYTES, xor_keystream_with};
use crate::primitives::permutation::Permutation;

pub(crate) struct Ctr;

impl Mode for Ctr {
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        frame::prepare_keys::<KeySchedule>(batch);
        flights::run::<Self>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        self.seal(batch);
    }

    fn flights(&self, _: bool) -> Option<Flights> {
        Some(Flights::prepared::<Self, KeySchedule>())
    }
}

impl Alone for Ctr {
    const TAGS: bool = false;

    #[inline(always)]
    fn alone<B: Isa>(b: B, key: &Material, nonce: &[u8], _: &[u8], mut data: Span<'_>) -> B::V {
        let t = nonce.first_chunk().expect("a counter block of 16 bytes");
        let registers = data.len().div_ceil(BLOCK * B::BLOCKS);
        if registers <= REGISTERS && usize::from(t[BLOCK - 1]) + registers * B::BLOCKS <= 256 {
            each_count!(registers, R => {
                crypt_short::<B, R>(b, key, t, &mut data);
            });
        } else {
            let rounds = key.prepared.get().map(|prepared| &prepared.first_rounds);
            xor_keystream_with::<Be128, B, _, _>(b, key.aes.encrypting(), t, &mut data, &mut (), rounds);
        }
        b.zero()
    }
}

/// Encrypts or decrypts a message of `R` registers, whose counter blocks only differ in their last bytes.
#[inline(always)]
fn crypt_short<B: Isa, const R: usize>(b: B, key: &Material, t: &Block, data: &mut Span<'_>) {
    let mut x = [b.splat(t); R];
    each_register!(R, r => {
        x[r] = b.add32(x[r], b.load(&LAST_BYTES[r * B::BLOCKS..]));
    });
    key.aes.encrypting().encrypt(b, &mut x);
    let text = data.load_tail::<B, R>(b, 0);
    each_register!(R, r => {
        x[r] = b.xor(x[r], text[r]);
    });
    data.store_tail(b, 0, &x);
}
