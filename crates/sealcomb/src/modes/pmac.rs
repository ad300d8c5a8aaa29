//! PMAC (Black, Rogaway, EUROCRYPT 2002), with the paper's letters. The job's additional data is the message.
//!
//! ```text
//! L ← E_K(0)
//! Σ ← E_K(M_1 ⊕ γ_1 L) ⊕ … ⊕ E_K(M_{m-1} ⊕ γ_{m-1} L)
//! Tag ← E_K(Σ ⊕ M_m ⊕ L x^-1)                the last block is whole
//!       E_K(Σ ⊕ (M_m ‖ 10…0))                otherwise
//! ```
//!
//! `γ_i` is a Gray code, so these offsets are OCB3's (`primitives/offsets.rs`).

use super::Mode;
use super::ocb3::sum_of_blocks;
use crate::backend::{BLOCK, Backend, Isa, Kernel, ModeState, Wiped};
use crate::engine::blocks::{encrypt_block, encrypt_each};
use crate::engine::{Batch, Column, Material, Message};
use crate::primitives::aes::KeySchedule;
use crate::primitives::block::{PADDING, before_last};
use crate::primitives::gf128::BigEndian;
use crate::primitives::offsets::OffsetTable;
use crate::primitives::wipe;

pub(crate) struct Pmac;

impl Mode for Pmac {
    /// Computes `L = E_K(0)` and its multiples. The offset table has 4, 8, … times OCB3's `L_*`, so PMAC passes
    /// `L x^-2` as `L_*`.
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        material.mode_state = ModeState::new(backend.run(Multiples { aes: &material.aes }));
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        batch.backend.run(Tags { messages: batch.messages });
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        self.seal(batch);
    }
}

struct Multiples<'a> {
    aes: &'a KeySchedule,
}

impl Kernel for Multiples<'_> {
    type Output = alloc::boxed::Box<Wiped<OffsetTable>>;

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> Self::Output {
        let mut l = [0; BLOCK];
        encrypt_block(b, self.aes.encrypting(), &mut l);
        let mut asterisk = BigEndian::halve_block(&BigEndian::halve_block(&l));
        let table = OffsetTable::new::<B>(&asterisk);
        wipe(core::slice::from_mut(&mut l));
        wipe(core::slice::from_mut(&mut asterisk));
        table
    }
}

struct Tags<'b, 'm, 'a> {
    messages: &'b mut [&'m mut Message<'a>],
}

impl Kernel for Tags<'_, '_, '_> {
    type Output = ();

    /// Computes the tags.
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages } = self;
        let mut sums = Column::new();
        for message in &*messages {
            let (key, m) = (message.key, &*message.aad);
            let multiples = key.mode_state.get::<OffsetTable>();
            let (before, last) = m.split_at(before_last(m.len()));
            let (sum, _) = sum_of_blocks(b, key.aes.encrypting(), multiples, before);
            let sum = b.xor3(sum, b.load_bytes(last), b.one(&PADDING[last.len()]));
            let l_over_x = if last.len() == BLOCK { b.one(multiples.dollar()) } else { b.zero() };
            sums.push(b.first(b.xor(sum, l_over_x)));
        }
        encrypt_each(b, messages, &mut sums);
        for (message, tag) in messages.iter_mut().zip(&sums) {
            message.tag = *tag;
        }
    }
}
