//! The additional data of two-layer modes. It passes the upper layer and the mixing.
//!
//! [`absorb`] processes its whole blocks, for any mode. [`absorb_nonce_and_aad`] processes the nonce and all
//! additional data of COLM and ELmD.

use super::mixing::{Mixing, State, mix_block};
use super::{Column, doublings, each};
use crate::backend::{BLOCK, Block, Isa, REGISTERS, Span, read_part};
use crate::engine::{Material, Message};
use crate::primitives::block::{add, join, padded, whole};
use crate::primitives::doublings::{Ahead, Masks, Room};
use crate::primitives::rounds::LayerCipher;

/// Passes the whole blocks of additional data through the upper layer and a mixing whose state is `w`. The first of
/// them is block `first` of what is absorbed, counted from 1. Returns the mixing's last state, and the masks from the
/// next block on.
#[inline(always)]
pub(crate) fn absorb<'k, C: LayerCipher, X: Mixing, B: Isa>(
    b: B,
    key: &'k Material,
    aad: &[u8],
    first: usize,
    mask: u8,
    w: Block,
    room: &'k mut Room,
) -> (Block, Masks<'k>) {
    let blocks = aad.len() / BLOCK;
    // Up to two more blocks may follow, from the rest of the data and the nonce.
    let mut masks = Masks::new(doublings(key), first - 1 + blocks + 2, room);
    masks.go(b, first - 1);
    if blocks == 0 {
        return (w, masks);
    }
    let data = Span::from(&aad[..BLOCK * blocks]);
    let mut state = State::new::<X>(b, &w);
    let mut done = 0;
    while blocks - done >= REGISTERS * B::BLOCKS {
        let mut x = [b.zero(); REGISTERS];
        for r in 0..REGISTERS {
            x[r] = data.load(b, BLOCK * (done + r * B::BLOCKS));
        }
        upper::<C, X, B, REGISTERS>(b, key, masks.ahead(), mask, &mut state, x);
        masks.go(b, REGISTERS * B::BLOCKS);
        done += REGISTERS * B::BLOCKS;
    }
    while done < blocks {
        let x = [data.load_part(b, BLOCK * done)];
        upper::<C, X, B, 1>(b, key, masks.ahead(), mask, &mut state, x);
        let some = (blocks - done).min(B::BLOCKS);
        masks.go(b, some);
        done += some;
    }
    (state.after::<X>(b, (blocks - 1) % B::BLOCKS), masks)
}

/// Masks and encrypts `R` registers of blocks, and mixes them.
#[inline(always)]
fn upper<C: LayerCipher, X: Mixing, B: Isa, const R: usize>(
    b: B,
    key: &Material,
    masks: Ahead<'_>,
    mask: u8,
    state: &mut State<B>,
    mut x: [B::V; R],
) {
    for r in 0..R {
        x[r] = b.xor(x[r], masks.register(b, r, mask));
    }
    C::run(b, &key.aes, &mut x);
    for r in 0..R {
        X::mix(b, state, x[r]);
    }
}

/// Computes the mixing's state after the nonce and the additional data, for COLM and ELmD. The first block is the
/// nonce, 8 bytes, followed by `param`. Masks are `3 2^i L`, and `3 7 2^(d-1) L` for a partial last block.
#[inline(always)]
pub(crate) fn absorb_nonce_and_aad<C: LayerCipher, X: Mixing, B: Isa>(
    b: B,
    messages: &[&mut Message<'_>],
    param: [u8; 8],
    room: &mut Room,
    states: &mut Column,
) {
    const THREE: u8 = 0b11;
    const THREE_TIMES_SEVEN: u16 = 0b1001;
    for message in messages {
        let first = join(&read_part(message.nonce), 8, &read_part(&param));
        let mask = Masks::short(doublings(message.key)).block(1, u16::from(THREE));
        states.push(add(first, mask));
    }
    each::<C, B>(b, messages, states);
    if messages.iter().all(|message| message.aad.is_empty()) {
        return;
    }
    let mut shorts = Column::new();
    for (message, w) in messages.iter().zip(&mut *states) {
        let whole = whole(message.aad.len());
        let masks;
        (*w, masks) = absorb::<C, X, B>(b, message.key, &message.aad, 2, THREE, *w, room);
        shorts.push(add(padded(&message.aad[whole..]), masks.block(0, THREE_TIMES_SEVEN)));
    }
    each::<C, B>(b, messages, &mut shorts);
    for ((message, w), z) in messages.iter().zip(states).zip(&shorts) {
        if !message.aad.len().is_multiple_of(BLOCK) {
            mix_block::<X, B>(b, w, *z);
        }
    }
}
