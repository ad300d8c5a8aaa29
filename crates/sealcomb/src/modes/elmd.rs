//! ELmD v2.0 (CAESAR, round 2): encrypt, mix, decrypt; with the parameters that its designers give.

use core::marker::PhantomData;

use super::Mode;
use crate::backend::{Backend, Isa};
use crate::engine::layers::{self, Column, Layers, Rho, Room, absorb_nonce_and_aad};
use crate::engine::{Batch, Material, Message};
use crate::primitives::rounds::{Decrypt, DecryptSix, Encrypt, EncryptSix, LayerCipher};

/// ELmD(r, g, f): `C` is the cipher of `r` rounds, and there are `GAP` = `g` blocks between intermediate tags, or none if
/// that is 0.
pub(crate) struct Elmd<C, const GAP: usize> {
    /// `f`: whether the tag is cut, so that the ciphertext is as long as the message.
    variable_tag: bool,
    /// What follows the nonce in the first block.
    param: [u8; 8],
    rounds: PhantomData<C>,
}

/// ELmD(10, 0, 0).
pub(crate) const FULL: Elmd<Full, 0> = Elmd::new(false);
/// ELmD(6, 0, 0), also ELmD(6,6).
pub(crate) const SIX_ROUNDS: Elmd<Six, 0> = Elmd::new(false);
/// ELmD(10, 127, 0).
pub(crate) const INTERMEDIATE_TAGS: Elmd<Full, 127> = Elmd::new(false);
/// ELmD(10, 0, 1).
pub(crate) const VARIABLE_TAG: Elmd<Full, 0> = Elmd::new(true);

/// The cipher of `r` rounds.
pub(crate) trait Rounds: Sync {
    const ROUNDS: u8;
    type Encrypt: LayerCipher;
    type Decrypt: LayerCipher;
    /// Calls that make `L` of zero.
    const CALLS: usize;
}

pub(crate) struct Full;

impl Rounds for Full {
    const ROUNDS: u8 = 10;
    type Encrypt = Encrypt;
    type Decrypt = Decrypt;
    const CALLS: usize = 1;
}

pub(crate) struct Six;

impl Rounds for Six {
    const ROUNDS: u8 = 6;
    type Encrypt = EncryptSix;
    type Decrypt = DecryptSix;
    const CALLS: usize = 2;
}

impl<C: Rounds, const GAP: usize> Elmd<C, GAP> {
    /// `param` is made of `r`, `g` with its own flag, `f`, and the bytes that stand for the tag's length.
    const fn new(variable_tag: bool) -> Self {
        let tags = if GAP > 0 { 0x80 } else { 0 };
        let param = [C::ROUNDS, 0, GAP as u8, tags | variable_tag as u8, 0x80, 0, 0, 0];
        Self { variable_tag, param, rounds: PhantomData }
    }
}

impl<C: Rounds, const GAP: usize> Mode for Elmd<C, GAP> {
    /// `L = E_K(0)`, or `E_K(E_K(0))` where the rounds are reduced
    fn key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        layers::key::<C::Encrypt>(backend, C::CALLS, material);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        layers::seal(self, batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        layers::open(self, batch);
    }
}

impl<C: Rounds, const GAP: usize> Layers for Elmd<C, GAP> {
    type Upper = C::Encrypt;
    type UpperInverse = C::Decrypt;
    type Lower = C::Decrypt;
    type LowerInverse = C::Encrypt;
    type Mixing = Rho;

    /// `2^(i-1) L`
    const TOP: u8 = 0b1;
    /// `2^(i-1) 3^2 L`
    const BOTTOM: u8 = 0b101;
    /// `2^(l-1) L`, or `2^(l-2) 7 L` if the block was padded, and twice that.
    const LAST_TOP: [[u16; 2]; 2] = [[0b10, 0b100], [0b111, 0b1110]];
    /// `2^(l-1) 3^2 L` and twice that.
    const LAST_BOTTOM: [[u16; 2]; 2] = [[0b1010, 0b1_0100]; 2];
    const SUM_IS_LAST: bool = true;
    const BEFORE_TAG: u128 = 1;
    const GAP: usize = GAP;

    fn is_flagged(&self) -> bool {
        !self.variable_tag
    }

    /// `IV`
    #[inline(always)]
    fn start<B: Isa>(&self, b: B, messages: &[&mut Message<'_>], room: &mut Room, states: &mut Column) {
        absorb_nonce_and_aad::<C::Encrypt, Rho, B>(b, messages, self.param, room, states);
    }
}
