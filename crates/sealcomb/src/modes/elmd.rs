//! ELmD v2.0 (CAESAR, round 2), with the parameter sets of its designers: a layer of encryption and a layer of
//! decryption with the linear mixing `ρ` between them.
//!
//! ```text
//! L ← E_K(0)                                 E_K(E_K(0)) with reduced rounds
//! W ← IV                                     from the nonce, the parameters and the additional data
//! pad M[l] if it is partial
//! M[l] ← M[1] ⊕ … ⊕ M[l], M[l+1] ← M[l]
//! for i = 1, …, l + 1:
//!     X ← E_K(M[i] ⊕ 2^(i-1) L)              LAST_TOP masks blocks l and l + 1
//!     Y ← X ⊕ 3 W, W ← X ⊕ 2 W               (Y, W) = ρ(X, W)
//!     C[i] ← D_K(Y) ⊕ 2^(i-1) 3^2 L          D_K(Y ⊕ 1) for i = l + 1
//! T ← C[l+1]
//! ```
//!
//! The ciphertext consists of the blocks before `T` and a byte that is 1 if `M[l]` was padded, else 0. With a
//! variable tag, ciphertext and tag are the first `|M| + 16` bytes of `C` instead.
//!
//! With intermediate tags, `D_K(W)` follows every `g` blocks of ciphertext, at most 32 times. These tags are counted
//! as blocks in the masks of the lower layer.
//!
//! This file contains the parameters; `engine/layers` processes the blocks.

use core::marker::PhantomData;

use super::Mode;
use crate::backend::{Backend, Isa};
use crate::engine::layers::{self, Column, Layers, Rho, Room, absorb_nonce_and_aad};
use crate::engine::{Batch, Material, Message};
use crate::primitives::rounds::{Decrypt, DecryptSix, Encrypt, EncryptSix, LayerCipher};

/// ELmD(r, g, f). `C` is the cipher of `r` rounds. `GAP` is `g`, the number of blocks between intermediate tags; 0
/// means that there are none.
pub(crate) struct Elmd<C, const GAP: usize> {
    /// `f`: whether the tag is variable, so that the ciphertext is as long as the message.
    variable_tag: bool,
    /// The 8 bytes that follow the nonce in the first block.
    param: [u8; 8],
    rounds: PhantomData<C>,
}

/// ELmD(10, 0, 0).
pub(crate) const FULL: Elmd<Full, 0> = Elmd::new(false);
/// ELmD(6, 0, 0), also called ELmD(6,6).
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
    /// Number of calls of the cipher that turn the zero block into `L`.
    const CALLS: usize;
}

/// Returns a parameter set. `param` encodes `r`, `g`, a byte with `f` and a flag for intermediate tags, and the tag
/// length.
pub(crate) struct Full;

impl Rounds for Full {
    const ROUNDS: u8 = 10;
    type Encrypt = Encrypt;
    type Decrypt = Decrypt;
    const CALLS: usize = 1;
}

/// Six rounds of AES.
pub(crate) struct Six;

impl Rounds for Six {
    const ROUNDS: u8 = 6;
    type Encrypt = EncryptSix;
    type Decrypt = DecryptSix;
    const CALLS: usize = 2;
}

impl<C: Rounds, const GAP: usize> Elmd<C, GAP> {
    /// Encodes the parameters: `r`, `g`, a byte with the flag for intermediate tags and `f`, and the tag length.
    const fn new(variable_tag: bool) -> Self {
        let tags = if GAP > 0 { 0x80 } else { 0 };
        let param = [C::ROUNDS, 0, GAP as u8, tags | variable_tag as u8, 0x80, 0, 0, 0];
        Self { variable_tag, param, rounds: PhantomData }
    }
}

impl<C: Rounds, const GAP: usize> Mode for Elmd<C, GAP> {
    /// Computes `L = E_K(0)`, or `E_K(E_K(0))` with reduced rounds, and its doublings.
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        layers::expand_key::<C::Encrypt>(backend, C::CALLS, material);
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

    /// Mask factor of `2^(i-1) L`.
    const TOP: u8 = 0b1;
    /// Mask factor of `2^(i-1) 3^2 L`.
    const BOTTOM: u8 = 0b101;
    /// Factors of `2^(l-1) L`, or of `2^(l-2) 7 L` if the last block was padded, and twice that for the tag.
    const LAST_TOP: [[u16; 2]; 2] = [[0b10, 0b100], [0b111, 0b1110]];
    /// Factors of `2^(l-1) 3^2 L`, and twice that for the tag.
    const LAST_BOTTOM: [[u16; 2]; 2] = [[0b1010, 0b1_0100]; 2];
    const SUM_IS_LAST: bool = true;
    const BEFORE_TAG: u128 = 1;
    const GAP: usize = GAP;

    fn is_flagged(&self) -> bool {
        !self.variable_tag
    }

    /// Computes `IV`: the nonce, the parameters and the additional data, masked, encrypted and mixed.
    #[inline(always)]
    fn start<B: Isa>(&self, b: B, messages: &[&mut Message<'_>], room: &mut Room, states: &mut Column) {
        absorb_nonce_and_aad::<C::Encrypt, Rho, B>(b, messages, self.param, room, states);
    }
}
