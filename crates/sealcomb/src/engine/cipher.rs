//! The block cipher as a parameter of modes that are generic over it.

use super::message::Material;
use crate::backend::{Backend, Isa, ModeState};
use crate::primitives::aes::{self, WideRoundKeys};
use crate::primitives::permutation::Permutation;

/// A block cipher that a mode can use. The implementing type is its key schedule.
pub(crate) trait BlockCipher: Sync + Sized + 'static {
    /// The cipher with one key for all lanes.
    type Shared<'a, B: Isa>: Permutation<B>;

    /// The cipher with one key for all lanes, whose round keys are loaded as whole registers.
    type Wide<'a, B: Isa>: Permutation<B>;

    /// Returns the part of a key that AES uses.
    fn aes_key(key: &[u8]) -> &[u8];

    /// Adds to `material` what the cipher needs in addition to AES's round keys for encryption, for modes that never
    /// decrypt with it.
    fn expand_key(backend: Backend, key: &[u8], material: &mut Material);

    /// Adds to `material` what the cipher needs for encryption and decryption.
    fn expand_key_with_inverse(backend: Backend, key: &[u8], material: &mut Material) {
        Self::expand_key(backend, key, material);
    }

    /// Returns the key schedule stored in `key`.
    fn of(key: &Material) -> &Self;

    /// Returns the place of the mode's own key material.
    #[inline(always)]
    fn mode_state_mut(material: &mut Material) -> &mut ModeState {
        &mut material.mode_state
    }

    /// Returns the mode's own key material.
    #[inline(always)]
    fn mode_state(key: &Material) -> &ModeState {
        &key.mode_state
    }

    /// Returns the cipher for encryption.
    fn encrypting<B: Isa>(&self) -> Self::Shared<'_, B>;

    /// Returns the cipher for decryption.
    fn decrypting<B: Isa>(&self) -> Self::Shared<'_, B>;

    /// Fills in the keys of [`BlockCipher::wide`].
    fn widen(&self, keys: &mut WideRoundKeys);

    /// Returns the cipher for encryption, with keys from [`BlockCipher::widen`].
    fn wide<'a, B: Isa>(&'a self, keys: &'a WideRoundKeys) -> Self::Wide<'a, B>;
}

impl BlockCipher for aes::KeySchedule {
    type Shared<'a, B: Isa> = aes::Shared<'a>;
    type Wide<'a, B: Isa> = aes::Wide<'a>;

    fn aes_key(key: &[u8]) -> &[u8] {
        key
    }

    fn expand_key(_: Backend, _: &[u8], _: &mut Material) {}

    fn expand_key_with_inverse(backend: Backend, _: &[u8], material: &mut Material) {
        material.aes.invert(backend);
    }

    #[inline(always)]
    fn of(key: &Material) -> &Self {
        &key.aes
    }

    #[inline(always)]
    fn encrypting<B: Isa>(&self) -> aes::Shared<'_> {
        self.encrypting()
    }

    #[inline(always)]
    fn decrypting<B: Isa>(&self) -> aes::Shared<'_> {
        self.decrypting()
    }

    fn widen(&self, keys: &mut WideRoundKeys) {
        self.widen(keys);
    }

    #[inline(always)]
    fn wide<'a, B: Isa>(&'a self, keys: &'a WideRoundKeys) -> aes::Wide<'a> {
        self.wide(keys)
    }
}
