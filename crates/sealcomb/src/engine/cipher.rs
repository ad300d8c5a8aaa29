//! The block cipher as a parameter of a mode.

use alloc::boxed::Box;

use super::message::Material;
use crate::backend::{Backend, Isa, Wiped};
use crate::primitives::cipher::Cipher;
use crate::primitives::{aes, serpent};

/// A block cipher that a mode may be made of: the schedule of its round keys.
pub(crate) trait BlockCipher: Sync + Sized + 'static {
    /// The cipher under this key in all lanes.
    type Shared<'a, B: Isa>: Cipher<B>;

    /// What a mode that needs nothing but the cipher keeps of a key.
    fn key(backend: Backend, key: &[u8]) -> Material;

    /// The schedule in what was kept.
    fn of(key: &Material) -> &Self;

    /// For encryption.
    fn encrypting<B: Isa>(&self) -> Self::Shared<'_, B>;

    /// For decryption.
    fn decrypting<B: Isa>(&self) -> Self::Shared<'_, B>;
}

impl BlockCipher for aes::Schedule {
    type Shared<'a, B: Isa> = aes::Shared<'a>;

    fn key(backend: Backend, key: &[u8]) -> Material {
        Material::plain(Self::new(backend, key))
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

impl BlockCipher for serpent::Schedule {
    type Shared<'a, B: Isa> = serpent::Shared<'a>;

    fn key(_: Backend, key: &[u8]) -> Material {
        let mut material = Material::plain(aes::Schedule::none());
        material.serpent = Some(Box::new(Wiped::new(Self::new(key))));
        material
    }

    #[inline(always)]
    fn of(key: &Material) -> &Self {
        key.serpent.as_deref().expect("a Serpent key has its schedule")
    }

    #[inline(always)]
    fn encrypting<B: Isa>(&self) -> serpent::Shared<'_> {
        self.encrypting()
    }

    #[inline(always)]
    fn decrypting<B: Isa>(&self) -> serpent::Shared<'_> {
        self.decrypting()
    }
}
