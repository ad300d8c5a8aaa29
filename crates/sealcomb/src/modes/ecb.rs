//! ECB: the electronic codebook (SP 800-38A, section 6.1), without padding.
//!
//! ```text
//! C_j ← E_K(P_j)
//! ```

use core::marker::PhantomData;

use super::Mode;
use crate::backend::{Backend, Isa, Span};
use crate::engine::blocks::{Pass, pass};
use crate::engine::flights::{self, Alone, Flights};
use crate::engine::{Batch, BlockCipher, Material};
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
        flights::run::<Crypt<C, false>>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        flights::run::<Crypt<C, true>>(batch);
    }

    fn flights(&self, opens: bool) -> Option<Flights> {
        Some(if opens {
            Flights::of_single_messages::<Crypt<C, true>>()
        } else {
            Flights::of_single_messages::<Crypt<C, false>>()
        })
    }
}

/// One direction of ECB.
struct Crypt<C, const OPENS: bool>(PhantomData<C>);

impl<C: BlockCipher, const OPENS: bool> Alone for Crypt<C, OPENS> {
    const TAGS: bool = false;

    #[inline(always)]
    fn alone<B: Isa>(b: B, key: &Material, _: &[u8], _: &[u8], mut data: Span<'_>) -> B::V {
        if OPENS {
            pass(b, &mut data, &mut Decrypt(C::of(key).decrypting::<B>()));
        } else {
            pass(b, &mut data, &mut Encrypt(C::of(key).encrypting::<B>()));
        }
        b.zero()
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
