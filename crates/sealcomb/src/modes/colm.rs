//! `COLM_0`, from COLM v1 in CAESAR's final portfolio: two layers of AES with the linear mixing `ρ` between them.
//!
//! ```text
//! L ← E_K(0)
//! W ← IV                                     from the nonce and the additional data
//! pad M[l] if it is partial
//! M[l] ← M[1] ⊕ … ⊕ M[l], M[l+1] ← M[l]
//! for i = 1, …, l + 1:
//!     X ← E_K(M[i] ⊕ 2^i L)                  LAST_TOP masks blocks l and l + 1
//!     Y ← X ⊕ 3 W, W ← X ⊕ 2 W               (Y, W) = ρ(X, W)
//!     C[i] ← E_K(Y) ⊕ 2^i 3^2 L              LAST_BOTTOM masks blocks l and l + 1
//! ciphertext ‖ T ← the first |M| + 16 bytes of C
//! ```
//!
//! This file contains the parameters; `engine/layers` processes the blocks.

use super::Mode;
use crate::backend::{Backend, Isa};
use crate::engine::layers::{self, Column, Layers, Rho, Room, Sum, absorb_nonce_and_aad};
use crate::engine::{Batch, Material, Message};
use crate::primitives::rounds::{Decrypt, Encrypt};

pub(crate) struct Colm;

impl Mode for Colm {
    /// Computes `L = E_K(0)` and its doublings.
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        layers::expand_key::<Encrypt>(backend, 1, material);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        layers::seal(self, batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        layers::open(self, batch);
    }
}

impl Layers for Colm {
    type Upper = Encrypt;
    type UpperInverse = Decrypt;
    type Lower = Encrypt;
    type LowerInverse = Decrypt;
    type Mixing = Rho;

    /// Mask factor of `2^i L`.
    const TOP: u8 = 0b10;
    /// Mask factor of `2^i 3^2 L`.
    const BOTTOM: u8 = 0b1010;
    /// Factors of `2^(l-1) 7 L`, or of `2^(l-1) 7^2 L` if the last block was padded, and twice that for the tag.
    const LAST_TOP: [[u16; 2]; 2] = [[0b1110, 0b1_1100], [0b10_1010, 0b101_0100]];
    /// [`Self::LAST_TOP`] times `3^2`.
    const LAST_BOTTOM: [[u16; 2]; 2] = [[0b11_0110, 0b110_1100], [0b1000_0010, 0b1_0000_0100]];
    const SUM_IS_LAST: bool = true;
    const BEFORE_TAG: u128 = 0;
    const GAP: usize = 0;

    fn is_flagged(&self) -> bool {
        false
    }

    /// Computes `IV`: the nonce and the additional data, masked, encrypted and summed.
    #[inline(always)]
    fn start<B: Isa>(&self, b: B, messages: &[&mut Message<'_>], room: &mut Room, states: &mut Column) {
        absorb_nonce_and_aad::<Encrypt, Sum, B>(b, messages, [0; 8], room, states);
    }
}
