//! The block cipher as a parameter of a mode.

use super::message::Material;
use crate::backend::{Backend, Isa, Kept};
use crate::primitives::aes;
use crate::primitives::permutation::Permutation;

/// A block cipher that a mode may be made of: the schedule of its round keys.
pub(crate) trait BlockCipher: Sync + Sized + 'static {
    /// The cipher under this key in all lanes.
    type Shared<'a, B: Isa>: Permutation<B>;

    /// The part of a key that is AES's.
    fn aes_key(key: &[u8]) -> &[u8];

    /// What a mode that needs nothing but the cipher keeps of a key beside AES's round keys for encryption, if it never
    /// decrypts with it.
    fn key(backend: Backend, key: &[u8], material: &mut Material);

    /// The same if it does.
    fn key_with_inverse(backend: Backend, key: &[u8], material: &mut Material) {
        Self::key(backend, key, material);
    }

    /// The schedule in what there is of a key.
    fn of(key: &Material) -> &Self;

    /// Has a key keep what else the mode needs.
    fn keep(material: &mut Material, kept: Kept) {
        material.kept = kept;
    }

    /// Where that is.
    #[inline(always)]
    fn kept(key: &Material) -> &Kept {
        &key.kept
    }

    /// For encryption.
    fn encrypting<B: Isa>(&self) -> Self::Shared<'_, B>;

    /// For decryption.
    fn decrypting<B: Isa>(&self) -> Self::Shared<'_, B>;
}

impl BlockCipher for aes::KeySchedule {
    type Shared<'a, B: Isa> = aes::Shared<'a>;

    fn aes_key(key: &[u8]) -> &[u8] {
        key
    }

    fn key(_: Backend, _: &[u8], _: &mut Material) {}

    fn key_with_inverse(backend: Backend, _: &[u8], material: &mut Material) {
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
}
