//! ECB: the electronic codebook (SP 800-38A, section 6.1), without padding.
//!
//! ```text
//! C_j ← E_K(P_j)
//! ```

use core::marker::PhantomData;

use super::Mode;
use crate::backend::{Backend, Isa, Kernel};
use crate::engine::blocks::{Pass, pass};
use crate::engine::{Batch, BlockCipher, Material, Message};
use crate::primitives::aes;
use crate::primitives::permutation::Permutation;

/// ECB with a block cipher.
pub(crate) struct Ecb<C>(PhantomData<C>);

pub(crate) const AES: Ecb<aes::KeySchedule> = Ecb(PhantomData);
#[cfg(feature = "research")]
pub(crate) const SERPENT: Ecb<crate::primitives::serpent::KeySchedule> = Ecb(PhantomData);

impl<C: BlockCipher> Mode for Ecb<C> {
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        C::aes_key(key)
    }

    fn expand_key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        C::expand_key_with_inverse(backend, key, material);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        batch.backend.run(Crypt::<C, false> { messages: batch.messages, cipher: PhantomData });
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        batch.backend.run(Crypt::<C, true> { messages: batch.messages, cipher: PhantomData });
    }
}

struct Crypt<'b, 'm, 'a, C, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
    cipher: PhantomData<C>,
}

impl<C: BlockCipher, const OPENS: bool> Kernel for Crypt<'_, '_, '_, C, OPENS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for message in self.messages {
            if OPENS {
                pass(b, &mut message.data, &mut Decrypt(C::of(message.key).decrypting::<B>()));
            } else {
                pass(b, &mut message.data, &mut Encrypt(C::of(message.key).encrypting::<B>()));
            }
        }
    }
}

struct Encrypt<K>(K);

impl<B: Isa, K: Permutation<B>> Pass<B> for Encrypt<K> {
    const WRITES: bool = true;

    /// Computes `C_j = E_K(P_j)`.
    #[inline(always)]
    fn step<const R: usize>(&mut self, b: B, x: &mut [B::V; R], _: usize) {
        self.0.encrypt(b, x);
    }
}

struct Decrypt<K>(K);

impl<B: Isa, K: Permutation<B>> Pass<B> for Decrypt<K> {
    const WRITES: bool = true;

    /// Computes `P_j = E_K⁻¹(C_j)`.
    #[inline(always)]
    fn step<const R: usize>(&mut self, b: B, x: &mut [B::V; R], _: usize) {
        self.0.decrypt(b, x);
    }
}
