//! CTR: the counter mode (SP 800-38A, section 6.5); the whole block counts, big-endian.
//!
//! ```text
//! T_1 ← nonce
//! T_{j+1} ← T_j + 1 (mod 2^128)
//! C_j ← P_j ⊕ E_K(T_j)
//! ```

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Columns, Isa, Span, Tags, read_part};
use crate::engine::frame::{self, Framed};
use crate::engine::{Batch, Material};
use crate::primitives::aes::KeySchedule;
use crate::primitives::counter::{Be128, xor_keystream_with};

pub(crate) struct Ctr;

impl Mode for Ctr {
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        frame::run::<Self>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        self.seal(batch);
    }

    fn prepare(&self, backend: Backend, key: &Material) {
        frame::prepare_key::<Self>(backend, key);
    }

    fn takes_columns(&self) -> bool {
        true
    }

    fn seal_columns(
        &self,
        backend: Backend,
        key: &Material,
        columns: &mut Columns<'_>,
        tags: &mut Tags,
    ) -> bool {
        frame::seal_columns::<Self>(backend, key, columns, tags)
    }

    fn open_columns(
        &self,
        backend: Backend,
        key: &Material,
        columns: &mut Columns<'_>,
        received: &[Block],
    ) -> Option<u64> {
        frame::open_columns::<Self>(backend, key, columns, received)
    }
}

impl Framed for Ctr {
    type Cipher = KeySchedule;

    const NONCE: usize = BLOCK;
    const OPENS: bool = false;
    const HASHES: bool = false;

    #[inline(always)]
    fn first(nonce: &[u8]) -> u8 {
        nonce[BLOCK - 1]
    }

    #[inline(always)]
    fn bases<B: Isa>(b: B, nonces: [&[u8]; 4]) -> B::V {
        let mut whole = [&[0; BLOCK]; 4];
        each_register!(4, 0 1 2 3, n => {
            whole[n] = nonces[n].first_chunk().expect("16 bytes");
        });
        let without_last = u128::MAX >> 8;
        b.and(b.load_each(whole), b.splat(&without_last.to_le_bytes()))
    }

    #[inline(always)]
    fn later_base(nonce: &[u8], carries: usize) -> Block {
        let base = u128::from_be_bytes(read_part(nonce)) >> 8;
        (base.wrapping_add(carries as u128) << 8).to_be_bytes()
    }

    #[inline(always)]
    fn alone<B: Isa>(b: B, key: &Material, nonce: &[u8], _: &[u8], mut data: Span<'_>) -> B::V {
        crypt(b, key, nonce, &mut data);
        b.zero()
    }
}

/// Encrypts or decrypts a message.
#[inline(always)]
fn crypt<B: Isa>(b: B, key: &Material, nonce: &[u8], data: &mut Span<'_>) {
    let first = nonce.first_chunk().expect("a counter block of 16 bytes");
    let rounds = key.prepared.get().map(|prepared| &prepared.first_rounds);
    xor_keystream_with::<Be128, B, _, _>(b, key.aes.encrypting(), first, data, &mut (), rounds);
}
