//! AES-COPA v2 (CAESAR, round 2): two layers of AES with a running sum between them.
//!
//! ```text
//! L ← E_K(0)
//! S ← V ⊕ L                                  V: MAC of the additional data followed by the nonce
//! pad M[l] if it is partial
//! for i = 1, …, l:
//!     S ← S ⊕ E_K(M[i] ⊕ 2^(i-1) 3 L)        LAST_TOP masks block l
//!     C[i] ← E_K(S) ⊕ 2^i L
//! S ← S ⊕ E_K(M[1] ⊕ … ⊕ M[l] ⊕ 2^(l-1) 3^2 L)
//! T ← E_K(S) ⊕ 2^l 7 L
//! ```
//!
//! The ciphertext consists of the blocks `C[i]` and a byte that is 1 if `M[l]` was padded, else 0. This file contains
//! the parameters and computes `V`; `engine/layers` processes the blocks of the message.

use super::Mode;
use crate::backend::{BLOCK, Backend, Isa, read_part};
use crate::engine::layers::{self, Column, Layers, Room, Sum, absorb, doublings, each};
use crate::engine::{Batch, Material, Message};
use crate::primitives::block::{PADDING, add, join, skip, whole};
use crate::primitives::doublings::Masks;
use crate::primitives::rounds::{Decrypt, Encrypt};

pub(crate) struct Copa;

impl Mode for Copa {
    /// Computes `L = E_K(0)` and its doublings.
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        layers::expand_key::<Encrypt>(backend, 1, material);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        layers::seal(self, batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        layers::open(self, batch);
    }
}

impl Layers for Copa {
    type Upper = Encrypt;
    type UpperInverse = Decrypt;
    type Lower = Encrypt;
    type LowerInverse = Decrypt;
    type Mixing = Sum;

    /// Mask factor of `2^(i-1) 3 L`.
    const TOP: u8 = 0b11;
    /// Mask factor of `2^i L`.
    const BOTTOM: u8 = 0b10;
    /// Factors of `2^(l-1) 3 L`, and 3 times that for the tag; both times 7 if the last block was padded.
    const LAST_TOP: [[u16; 2]; 2] = [[0b110, 0b1010], [0b1_0010, 0b11_0110]];
    /// Factors of `2^l L`, and 7 times that for the tag.
    const LAST_BOTTOM: [[u16; 2]; 2] = [[0b100, 0b1_1100]; 2];
    const SUM_IS_LAST: bool = false;
    const BEFORE_TAG: u128 = 0;
    const GAP: usize = 0;

    fn is_flagged(&self) -> bool {
        true
    }

    /// Computes `S[0] = V ⊕ L`, where `V` authenticates the additional data followed by the nonce.
    ///
    /// ```text
    /// A ← additional data ‖ N
    /// acc ← E_K(A[1] ⊕ 3^3 L) ⊕ … ⊕ E_K(A[d-1] ⊕ 2^(d-2) 3^3 L)
    /// V ← E_K(acc ⊕ A[d] ⊕ 2^(d-1) 3^4 L)                    the last block is whole
    ///     E_K(acc ⊕ (A[d] ‖ 10…0) ⊕ 2^(d-1) 3^5 L)           otherwise
    /// ```
    #[inline(always)]
    fn start<B: Isa>(&self, b: B, messages: &[&mut Message<'_>], room: &mut Room, last: &mut Column) {
        // The nonce has 16 bytes. After partial additional data it straddles two blocks: its first bytes complete the
        // block that the data begins, and its other bytes are the last block.
        let mut straddling = Column::new();
        let is_ragged = |message: &Message<'_>| !message.aad.len().is_multiple_of(BLOCK);
        for message in messages {
            let (acc, mut masks) =
                absorb::<Encrypt, Sum, B>(b, message.key, &message.aad, 1, THREE_CUBED, [0; BLOCK], room);
            let ragged = &message.aad[whole(message.aad.len())..];
            let (r, nonce) = (ragged.len(), read_part(message.nonce));
            let first = join(&read_part(ragged), r, &nonce);
            if is_ragged(message) {
                straddling.push(add(first, masks.block(1, u16::from(THREE_CUBED))));
                masks.go(b, 1);
                let second = add(skip(&nonce, BLOCK - r), PADDING[r]);
                last.push(add(acc, add(second, masks.block(1, THREE_TO_5))));
            } else {
                straddling.push([0; BLOCK]);
                last.push(add(acc, add(first, masks.block(1, THREE_TO_4))));
            }
        }
        if messages.iter().any(|message| is_ragged(message)) {
            each::<Encrypt, B>(b, messages, &mut straddling);
            for ((message, last), straddling) in messages.iter().zip(&mut *last).zip(&straddling) {
                if is_ragged(message) {
                    *last = add(*last, *straddling);
                }
            }
        }
        each::<Encrypt, B>(b, messages, last);
        for (message, v) in messages.iter().zip(last) {
            *v = add(*v, Masks::short(doublings(message.key)).block(1, 1));
        }
    }
}

/// Mask factors of the additional data, as polynomials: `3^3` for all blocks but the last, `3^4` for a whole last
/// block, `3^5` for a padded one.
const THREE_CUBED: u8 = 0b1111;
const THREE_TO_4: u16 = 0b1_0001;
const THREE_TO_5: u16 = 0b11_0011;
