//! POET-G: POET v1 (CAESAR, round 1), whose chains hash by multiplication in GF(2^128). Its designers withdrew it.
//!
//! ```text
//! K, L, K_t, K_b, TM ← E_SK(0), …, E_SK(4)
//! τ ← E_K(acc ⊕ H_h ⊕ 3 mask)                the header's last block is whole
//!     E_K(acc ⊕ (H_h ‖ 10…0) ⊕ 5 mask)       otherwise
//! X_0 ← τ, Y_0 ← τ
//! F(X) ← X K_t in the upper chain, F(Y) ← Y K_b in the lower chain
//! ```
//!
//! `acc` is the sum of `E_K(H_i ⊕ 2^(i-1) L)` over the other blocks of the header, and `mask` is `2^(h-1) L`. The
//! tag's step is applied to `τ ⊕ TM`, and `TM` is added to its result. Everything else is in `modes/poet.rs`.

use alloc::boxed::Box;

use super::poet::{Poet, Version, derive, ends_of_headers, sum_aad, sum_block};
use crate::backend::{BLOCK, Backend, Block, ModeState, Wiped};
use crate::engine::{Batch, Column, Lanes, Material, Message, each};
use crate::primitives::aes::Shared;
use crate::primitives::block::xor;
use crate::primitives::gf128::{Field, GcmOrder, factor};
use crate::primitives::wipe;

pub(crate) const POET_G: Poet<Version1, 1, 6> = Poet::NEW;

/// Version 1, with multiplications by `K_t` and `K_b`.
pub(crate) struct Version1;

/// Key material: the factors `K_t` and `K_b`, three blocks each, `L`, and `TM`.
struct Own {
    factors: [Block; 6],
    l: Block,
    tm: Block,
}

impl Version<1, 6> for Version1 {
    /// Derives `K`, `L`, `K_t`, `K_b` and `TM`.
    fn expand_key(backend: Backend, key: &[u8], material: &mut Material) {
        let mut keys = derive::<5>(backend, key);
        let [k, l, k_t, k_b, tm] = &keys;
        material.aes.expand(backend, k);
        material.aes.invert(backend);
        let [t0, t1, t2] = factor::<GcmOrder>(backend, k_t);
        let [b0, b1, b2] = factor::<GcmOrder>(backend, k_b);
        let own = Own { factors: [t0, t1, t2, b0, b1, b2], l: *l, tm: *tm };
        material.mode_state = ModeState::new(Box::new(Wiped::new(own)));
        wipe(&mut keys);
    }

    fn keys<'a>(_: &'a Material, e: Shared<'a>) -> [Shared<'a>; 1] {
        [e]
    }

    fn constants(key: &Material) -> [&Block; 6] {
        key.mode_state.get::<Own>().factors.each_ref()
    }

    /// Computes `F_t(x) = x K_t`.
    #[inline(always)]
    fn top<L: Lanes>(lanes: L, x: &mut L::Blocks) {
        lanes.multiply::<GcmOrder>(x, 0);
    }

    /// Computes `F_b(y) = y K_b`.
    #[inline(always)]
    fn bottom<L: Lanes>(lanes: L, y: &mut L::Blocks) {
        lanes.multiply::<GcmOrder>(y, 3);
    }

    /// Computes `τ = E_K(acc ⊕ H_h ⊕ 3 mask)`, or, if the header's last block `H_h` is partial,
    /// `E_K(acc ⊕ (H_h ‖ 10…0) ⊕ 5 mask)`.
    fn header(batch: &mut Batch<'_, '_, '_>, tau: &mut Column) {
        let is_ragged = |message: &Message<'_>| !message.aad.len().is_multiple_of(BLOCK);
        let mut sums = [Column::new(), Column::new()];
        sum_aad(batch, |key| [[0; BLOCK], key.mode_state.get::<Own>().l], &mut sums);
        let mut ends = [Column::new(), Column::new()];
        ends_of_headers(batch, &mut ends);
        let [firsts, seconds] = &mut ends;
        tau.extend(firsts.iter().copied());
        if batch.messages.iter().any(|message| is_ragged(message)) {
            let mut further = sums.clone();
            sum_block(batch, &mut further, firsts);
            for (i, message) in batch.messages.iter().enumerate() {
                if is_ragged(message) {
                    (sums[0][i], sums[1][i]) = (further[0][i], further[1][i]);
                    tau[i] = seconds[i];
                }
            }
        }
        let [acc, mask] = &sums;
        for (((message, acc), mask), last) in batch.messages.iter().zip(acc).zip(mask).zip(&mut *tau) {
            let twice = GcmOrder::double_block(mask);
            let multiple = if is_ragged(message) { GcmOrder::double_block(&twice) } else { twice };
            for part in [acc, mask, &multiple] {
                xor(last, part);
            }
        }
        each::encrypt(batch, tau);
    }

    fn start(tau: &Block) -> [Block; 2] {
        [*tau; 2]
    }

    fn tag_masks(key: &Material, _: &Block) -> [Block; 2] {
        [key.mode_state.get::<Own>().tm; 2]
    }
}
