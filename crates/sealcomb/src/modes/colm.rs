//! COLM_0 (CAESAR's final portfolio): encrypt, mix, encrypt.

use super::Mode;
use crate::backend::{Backend, Isa};
use crate::engine::layers::{self, Column, Layers, Rho, Room, Sum, absorb_nonce_and_aad};
use crate::engine::{Batch, Material, Message};
use crate::primitives::rounds::{Decrypt, Encrypt};

pub(crate) struct Colm;

impl Mode for Colm {
    /// `L = E_K(0)`
    fn key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        layers::key::<Encrypt>(backend, 1, material);
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

    /// `2^i L`
    const TOP: u8 = 0b10;
    /// `2^i 3^2 L`
    const BOTTOM: u8 = 0b1010;
    /// `2^(l-1) 7 L`, or `2^(l-1) 7^2 L` if the block was padded, and twice that.
    const LAST_TOP: [[u16; 2]; 2] = [[0b1110, 0b1_1100], [0b10_1010, 0b101_0100]];
    /// The same times `3^2`.
    const LAST_BOTTOM: [[u16; 2]; 2] = [[0b11_0110, 0b110_1100], [0b1000_0010, 0b1_0000_0100]];
    const SUM_IS_LAST: bool = true;
    const BEFORE_TAG: u128 = 0;
    const GAP: usize = 0;

    fn is_flagged(&self) -> bool {
        false
    }

    /// `IV`
    #[inline(always)]
    fn start<B: Isa>(&self, b: B, messages: &[&mut Message<'_>], room: &mut Room, states: &mut Column) {
        absorb_nonce_and_aad::<Encrypt, Sum, B>(b, messages, [0; 8], room, states);
    }
}
