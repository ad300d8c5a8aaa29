//! The interface of a block cipher for modes that are generic over it.

use super::aes;
use crate::backend::{Isa, Weave};

/// A block cipher with the keys of the lanes of `B`'s registers.
pub(crate) trait Permutation<B: Isa>: Copy {
    /// Encrypts every block of `x`.
    #[inline(always)]
    fn encrypt<const R: usize>(self, b: B, x: &mut [B::V; R]) {
        self.encrypt_with(b, x, &mut ());
    }

    /// Encrypts every block of `x`, and does the `R` pieces of `weave` meanwhile.
    fn encrypt_with<W: Weave<B>, const R: usize>(self, b: B, x: &mut [B::V; R], weave: &mut W);

    /// Whether the first round of counter blocks can be separated from the others, to take it from a table.
    const CACHES: bool = false;

    /// Computes the first round of encryption if the cipher caches it.
    #[inline(always)]
    fn first_round<const R: usize>(self, _: B, _: &mut [B::V; R]) {}

    /// Computes the rounds of encryption that follow [`Permutation::first_round`], and does the `R` pieces of `weave`
    /// meanwhile.
    #[inline(always)]
    fn finish_with<W: Weave<B>, const R: usize>(self, b: B, x: &mut [B::V; R], weave: &mut W) {
        self.encrypt_with(b, x, weave);
    }

    /// Decrypts every block of `x`. The keys must be those for decryption.
    fn decrypt<const R: usize>(self, b: B, x: &mut [B::V; R]);

    /// Encrypts or decrypts every block of `x`.
    #[inline(always)]
    fn crypt<const R: usize>(self, b: B, decrypts: bool, x: &mut [B::V; R]) {
        if decrypts {
            self.decrypt(b, x);
        } else {
            self.encrypt(b, x);
        }
    }
}

/// Implements AES for types that hold round keys. The backend computes the rounds.
macro_rules! aes_under {
    ($([$($generics:tt)*] $Keys:ty;)*) => {$(
        impl<$($generics)* B: Isa> Permutation<B> for $Keys {
            #[inline(always)]
            fn encrypt_with<W: Weave<B>, const R: usize>(self, b: B, x: &mut [B::V; R], weave: &mut W) {
                b.encrypt_with(self, x, weave);
            }

            const CACHES: bool = B::BLOCKS > 1 && !B::SOFT;

            #[inline(always)]
            fn first_round<const R: usize>(self, b: B, x: &mut [B::V; R]) {
                if <Self as Permutation<B>>::CACHES {
                    b.aes_rounds(self, 1, x);
                }
            }

            #[inline(always)]
            fn finish_with<W: Weave<B>, const R: usize>(self, b: B, x: &mut [B::V; R], weave: &mut W) {
                if <Self as Permutation<B>>::CACHES {
                    b.finish_with(self, x, weave);
                } else {
                    b.encrypt_with(self, x, weave);
                }
            }

            #[inline(always)]
            fn decrypt<const R: usize>(self, b: B, x: &mut [B::V; R]) {
                b.decrypt(self, x);
            }
        }
    )*};
}

aes_under! {
    [] aes::Shared<'_>;
    [] &aes::Shared<'_>;
    [] aes::Wide<'_>;
    [] aes::OfMessage<'_>;
    [const N: usize,] &aes::LaneKeys<'_, N>;
    [const N: usize,] &aes::RegisterKeys<'_, N>;
}
