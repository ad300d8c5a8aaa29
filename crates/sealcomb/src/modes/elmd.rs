//! ELmD v2.0 (CAESAR, round 2): encrypt, mix, decrypt; with the parameters that its designers give.

use core::marker::PhantomData;

use super::Mode;
use crate::backend::{Backend, Isa};
use crate::engine::layers::{self, Column, Layers, Rho, Room, absorb_nonce_and_aad};
use crate::engine::{Batch, Material, Message};
use crate::primitives::rounds::{Decrypt, DecryptSix, Encrypt, EncryptSix, LayerCipher};

/// ELmD(r, g, f).
pub(crate) struct Elmd<P>(PhantomData<P>);

/// ELmD(10, 0, 0).
pub(crate) const FULL: Elmd<Full> = Elmd(PhantomData);
/// ELmD(6, 0, 0), also ELmD(6,6).
pub(crate) const SIX_ROUNDS: Elmd<SixRounds> = Elmd(PhantomData);
/// ELmD(10, 127, 0).
pub(crate) const INTERMEDIATE_TAGS: Elmd<IntermediateTags> = Elmd(PhantomData);
/// ELmD(10, 0, 1).
pub(crate) const VARIABLE_TAG: Elmd<VariableTag> = Elmd(PhantomData);

/// A set of parameters.
pub(crate) trait Parameters: Sync {
    /// The cipher of `r` rounds.
    type Encrypt: LayerCipher;
    type Decrypt: LayerCipher;
    /// Calls that make `L` of zero.
    const CALLS: usize;
    /// `g`: blocks between intermediate tags; 0 if there are none.
    const GAP: usize;
    /// `f`: whether the tag is cut, so that the ciphertext is as long as the message.
    const VARIABLE_TAG: bool;
    /// What follows the nonce in the first block.
    const PARAM: [u8; 8];
}

pub(crate) struct Full;

impl Parameters for Full {
    type Encrypt = Encrypt;
    type Decrypt = Decrypt;
    const CALLS: usize = 1;
    const GAP: usize = 0;
    const VARIABLE_TAG: bool = false;
    const PARAM: [u8; 8] = [10, 0, 0, 0, 0x80, 0, 0, 0];
}

pub(crate) struct SixRounds;

impl Parameters for SixRounds {
    type Encrypt = EncryptSix;
    type Decrypt = DecryptSix;
    const CALLS: usize = 2;
    const GAP: usize = 0;
    const VARIABLE_TAG: bool = false;
    const PARAM: [u8; 8] = [6, 0, 0, 0, 0x80, 0, 0, 0];
}

pub(crate) struct IntermediateTags;

impl Parameters for IntermediateTags {
    type Encrypt = Encrypt;
    type Decrypt = Decrypt;
    const CALLS: usize = 1;
    const GAP: usize = 127;
    const VARIABLE_TAG: bool = false;
    const PARAM: [u8; 8] = [10, 0, 127, 0x80, 0x80, 0, 0, 0];
}

pub(crate) struct VariableTag;

impl Parameters for VariableTag {
    type Encrypt = Encrypt;
    type Decrypt = Decrypt;
    const CALLS: usize = 1;
    const GAP: usize = 0;
    const VARIABLE_TAG: bool = true;
    const PARAM: [u8; 8] = [10, 0, 0, 1, 0x80, 0, 0, 0];
}

impl<P: Parameters> Mode for Elmd<P> {
    /// `L = E_K(0)`, or `E_K(E_K(0))` where the rounds are reduced
    fn key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        layers::key::<P::Encrypt>(backend, P::CALLS, material);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        layers::seal::<Self>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        layers::open::<Self>(batch);
    }
}

impl<P: Parameters> Layers for Elmd<P> {
    type Upper = P::Encrypt;
    type UpperInverse = P::Decrypt;
    type Lower = P::Decrypt;
    type LowerInverse = P::Encrypt;
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
    const FLAGGED: bool = !P::VARIABLE_TAG;
    const GAP: usize = P::GAP;

    /// `IV`
    #[inline(always)]
    fn start<B: Isa>(b: B, messages: &[&mut Message<'_>], room: &mut Room, states: &mut Column) {
        absorb_nonce_and_aad::<P::Encrypt, Rho, B>(b, messages, P::PARAM, room, states);
    }
}
