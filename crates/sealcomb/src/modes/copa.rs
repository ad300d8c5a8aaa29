//! AES-COPA v2 (CAESAR, round 2): encrypt, sum, encrypt.

use super::Mode;
use crate::backend::{BLOCK, Backend, Isa, read_part};
use crate::engine::layers::{self, Column, Layers, Room, Sum, absorb, doublings, each};
use crate::engine::{Batch, Material, Message};
use crate::primitives::block::{PADDING, add, join, skip, whole};
use crate::primitives::doublings::Masks;
use crate::primitives::rounds::{Decrypt, Encrypt};

pub(crate) struct Copa;

impl Mode for Copa {
    /// `L = E_K(0)`
    fn key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        layers::key::<Encrypt>(backend, 1, material);
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

    /// `2^(i-1) 3 L`
    const TOP: u8 = 0b11;
    /// `2^i L`
    const BOTTOM: u8 = 0b10;
    /// `2^(l-1) 3 L` and 3 times that; times 7 if the block was padded.
    const LAST_TOP: [[u16; 2]; 2] = [[0b110, 0b1010], [0b1_0010, 0b11_0110]];
    /// `2^l L` and 7 times that.
    const LAST_BOTTOM: [[u16; 2]; 2] = [[0b100, 0b1_1100]; 2];
    const SUM_IS_LAST: bool = false;
    const BEFORE_TAG: u128 = 0;
    const GAP: usize = 0;

    fn is_flagged(&self) -> bool {
        true
    }

    /// `S[0] = V ⊕ L`, where `V` authenticates the additional data, followed by the nonce.
    #[inline(always)]
    fn start<B: Isa>(&self, b: B, messages: &[&mut Message<'_>], room: &mut Room, last: &mut Column) {
        // The blocks that end in the nonce, if the data before it is ragged, and the last blocks.
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

const THREE_CUBED: u8 = 0b1111;
const THREE_TO_4: u16 = 0b1_0001;
const THREE_TO_5: u16 = 0b11_0011;
