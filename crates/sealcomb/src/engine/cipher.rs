//! The block cipher as a parameter of a mode.

use alloc::boxed::Box;

use super::message::Material;
use crate::backend::{Backend, Isa};
use crate::primitives::cipher::Cipher;
use crate::primitives::{aes, serpent};

/// A block cipher that a mode may be made of.
pub(crate) trait BlockCipher: Sync + 'static {
    /// The cipher under one key for all lanes.
    type Shared<'a, B: Isa>: Cipher<B>;

    /// What a mode that needs nothing but the cipher keeps of a key.
    fn key(backend: Backend, key: &[u8]) -> Material;

    /// The cipher under a key, for encryption.
    fn encrypting<B: Isa>(key: &Material) -> Self::Shared<'_, B>;

    /// The cipher under a key, for decryption.
    fn decrypting<B: Isa>(key: &Material) -> Self::Shared<'_, B>;
}

pub(crate) struct Aes;

impl BlockCipher for Aes {
    type Shared<'a, B: Isa> = aes::Shared<'a>;

    fn key(backend: Backend, key: &[u8]) -> Material {
        Material::plain(aes::Schedule::new(backend, key))
    }

    #[inline(always)]
    fn encrypting<B: Isa>(key: &Material) -> aes::Shared<'_> {
        key.aes.encrypting()
    }

    #[inline(always)]
    fn decrypting<B: Isa>(key: &Material) -> aes::Shared<'_> {
        key.aes.decrypting()
    }
}

pub(crate) struct Serpent;

impl BlockCipher for Serpent {
    type Shared<'a, B: Isa> = serpent::Shared<'a>;

    fn key(_: Backend, key: &[u8]) -> Material {
        let mut material = Material::plain(aes::Schedule::none());
        material.serpent = Some(Box::new(serpent::Schedule::new(key)));
        material
    }

    #[inline(always)]
    fn encrypting<B: Isa>(key: &Material) -> serpent::Shared<'_> {
        schedule(key).encrypting()
    }

    #[inline(always)]
    fn decrypting<B: Isa>(key: &Material) -> serpent::Shared<'_> {
        schedule(key).decrypting()
    }
}

#[inline(always)]
fn schedule(key: &Material) -> &serpent::Schedule {
    key.serpent.as_deref().expect("a Serpent key has its schedule")
}
