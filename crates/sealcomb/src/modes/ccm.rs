//! CCM (SP 800-38C): CBC-MAC of the message, then counter mode, with the standard's letters.
//!
//! ```text
//! B ← B_0 ‖ length of A ‖ A ‖ P              A and P each padded with zeros
//! Y_0 ← E_K(B_0), Y_i ← E_K(B_i ⊕ Y_{i-1})
//! C_j ← P_j ⊕ E_K(Ctr_j)                     j = 1, 2, …
//! T ← Y_r ⊕ S_0, S_0 ← E_K(Ctr_0)
//! ```
//!
//! The formats of `B_0`, the additional data and the counter blocks are those of appendix A.

use super::Mode;
use super::omac::cbc_mac;
use crate::backend::{BLOCK, Block, Isa, LINE, Span};
use crate::engine::blocks::keystream;
use crate::engine::lane_groups::{
    self, COLUMNS, Group, LaneGrouped, R, bits_of_data, columns, encrypt_columns, if_present, lanes,
    store_tags, xor_columns,
};
use crate::engine::{Batch, Column, Message, each};
use crate::primitives::block::{bit_lengths, xor};
use crate::primitives::counter::{Be128, Counter, LAST_BYTES};

pub(crate) struct Ccm;

impl Mode for Ccm {
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        lane_groups::run::<Crypt<false>>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        lane_groups::run::<Crypt<true>>(batch);
    }
}

/// One direction of CCM.
struct Crypt<const OPENS: bool>;

impl<const OPENS: bool> LaneGrouped for Crypt<OPENS> {
    /// The bytes of one block.
    const MOST_AAD: usize = BLOCK - 2;

    #[inline(always)]
    fn crypt_group<B: Isa>(b: B, group: &mut Group<'_, '_, '_>) {
        if OPENS {
            encrypt_group(b, group);
        }
        let tags = authenticate_group::<B, OPENS>(b, group);
        store_tags(b, group.messages, tags);
        if !OPENS {
            encrypt_group(b, group);
        }
    }

    fn crypt_chains(batch: &mut Batch<'_, '_, '_>) {
        let mut y = Column::new();
        if OPENS {
            encrypt(batch);
        }
        authenticate::<OPENS>(batch, &mut y);
        if !OPENS {
            encrypt(batch);
        }
        set_tags(batch, &y);
    }
}

/// Computes `C_j = P_j ⊕ E_K(Ctr_j)` for a group.
#[inline(always)]
fn encrypt_group<B: Isa>(b: B, group: &mut Group<'_, '_, '_>) {
    let aes = &group.messages[0].key.aes;
    let counters: [B::V; R] = lanes(b, group.messages, |message| b.one(&counter(message.nonce)));
    for line in 0..group.lines {
        let mut x = [[b.zero(); COLUMNS]; R];
        each_register!(R, 0 1 2 3, q => {
            each_register!(COLUMNS, 0 1 2 3, i => {
                x[q][i] = b.xor(counters[q], b.splat(&LAST_BYTES[line * COLUMNS + i + 1]));
            });
        });
        encrypt_columns(b, aes, &mut x);
        xor_columns(b, group.messages, line * LINE, x);
    }
}

/// Returns the tags `Y ⊕ S_0` of a group.
#[inline(always)]
fn authenticate_group<B: Isa, const OPENS: bool>(b: B, group: &Group<'_, '_, '_>) -> [B::V; R] {
    let keys = group.messages[0].key.aes.encrypting();
    let b0: [B::V; R] = lanes(b, group.messages, |message| b.one(&first_block(message)));
    let s0: [B::V; R] = lanes(b, group.messages, |message| b.one(&counter(message.nonce)));
    let lengths: [B::V; R] = lanes(b, group.messages, |message| {
        b.one(&bit_lengths(message.aad.len() as u64, message.data.len() as u64).to_le_bytes())
    });
    let mut x = [b.zero(); 2 * R];
    each_register!(R, 0 1 2 3, q => {
        (x[q], x[R + q]) = (b0[q], s0[q]);
    });
    b.encrypt(keys, &mut x);
    let [mut y, s0] = [[x[0], x[1], x[2], x[3]], [x[4], x[5], x[6], x[7]]];
    if group.aad {
        let a: [B::V; R] = lanes(b, group.messages, |message| b.one(&first_of_aad(&message.aad).0));
        let mut next = y;
        each_register!(R, 0 1 2 3, q => {
            next[q] = b.xor(y[q], a[q]);
        });
        b.encrypt(keys, &mut next);
        each_register!(R, 0 1 2 3, q => {
            let bits = b.xor(lengths[q], b.low_to_high(b.xor(lengths[q], b.high_to_low(lengths[q]))));
            y[q] = if_present(b, bits, 0, next[q], y[q]);
        });
    }
    let bits = bits_of_data(b, lengths);
    for line in 0..group.lines {
        let x: [[B::V; COLUMNS]; R] = columns(b, group.messages, line * LINE, plaintext::<OPENS>);
        for i in 0..COLUMNS {
            let mut next = y;
            each_register!(R, 0 1 2 3, q => {
                next[q] = b.xor(y[q], x[q][i]);
            });
            b.encrypt(keys, &mut next);
            each_register!(R, 0 1 2 3, q => {
                y[q] = if group.whole { next[q] } else { if_present(b, bits[q], line * COLUMNS + i, next[q], y[q]) };
            });
        }
    }
    each_register!(R, 0 1 2 3, q => {
        y[q] = b.xor(y[q], s0[q]);
    });
    y
}

// Functions with a block or more per message are not inlined, so that only one of them occupies the stack at a time.

/// Computes `C_j = P_j ⊕ E_K(Ctr_j)`.
#[inline(never)]
fn encrypt(batch: &mut Batch<'_, '_, '_>) {
    keystream::<Be128>(batch, |message| Be128::skip(&counter(message.nonce), 1));
}

/// Returns `Ctr_0`: the size of the length field less one, the nonce, and the counter 0 (A.3).
fn counter(nonce: &[u8]) -> Block {
    number(nonce).to_be_bytes()
}

/// Returns `Ctr_0` as a big-endian number.
#[inline]
fn number(nonce: &[u8]) -> u128 {
    let q = 15 - nonce.len();
    let nonce = match (nonce.first_chunk(), nonce.last_chunk()) {
        // Two overlapping loads, because bytes that were just stored one by one are slow to load together.
        (Some(head), Some(tail)) => {
            u128::from(u64::from_be_bytes(*head)) << 56 | u128::from(u64::from_be_bytes(*tail)) << (8 * q)
        }
        _ => nonce.iter().fold(0, |n, byte| n << 8 | u128::from(*byte)) << (8 * q),
    };
    (q as u128 - 1) << 120 | nonce
}

/// Returns `B_0`: flags, nonce, and the message length in the bytes that the nonce leaves (A.2.1).
fn first_block(message: &Message<'_>) -> Block {
    let has_aad = u128::from(!message.aad.is_empty());
    let t = (message.key.tag_bytes as u128 - 2) / 2;
    // The length has been checked to fit, so its bits do not overlap the nonce.
    (number(message.nonce) | has_aad << 126 | t << 123 | message.data.len() as u128).to_be_bytes()
}

/// Returns the block with which the additional data begins: its length (A.2.2), then as many of its bytes as fit.
/// Also returns their number.
fn first_of_aad(aad: &[u8]) -> (Block, usize) {
    let mut block = [0; BLOCK];
    let a = aad.len() as u64;
    let length = if a < 0xff00 {
        block[..2].copy_from_slice(&(a as u16).to_be_bytes());
        2
    } else if let Ok(a) = u32::try_from(a) {
        block[..2].copy_from_slice(&[0xff, 0xfe]);
        block[2..6].copy_from_slice(&a.to_be_bytes());
        6
    } else {
        block[..2].copy_from_slice(&[0xff, 0xff]);
        block[2..10].copy_from_slice(&a.to_be_bytes());
        10
    };
    let room = aad.len().min(BLOCK - length);
    block[length..length + room].copy_from_slice(&aad[..room]);
    (block, room)
}

/// Computes the last `Y` of each message: the chain over `B_0`, the additional data and the plaintext, each padded
/// with zeros.
fn authenticate<const OPENS: bool>(batch: &mut Batch<'_, '_, '_>, y: &mut Column) {
    y.extend(batch.messages.iter().map(|message| first_block(message)));
    each::encrypt(batch, y);
    if batch.messages.iter().any(|message| !message.aad.is_empty()) {
        begin_aad(batch, y);
    }
    let rest = |message: &Message<'_>| first_of_aad(&message.aad).1;
    if batch.messages.iter().any(|message| message.aad.len() > rest(message)) {
        cbc_mac(batch, |key| &key.aes, y, |message| Span::from(&message.aad[rest(message)..]));
    }
    cbc_mac(batch, |key| &key.aes, y, |message| plaintext::<OPENS>(message));
}

/// Returns the plaintext of a message: the input when sealing, the output when opening.
fn plaintext<'m, const OPENS: bool>(message: &'m Message<'_>) -> Span<'m> {
    if OPENS { message.data.output() } else { message.data.input() }
}

/// Computes `Y ← E_K(Y ⊕ B)` for the first block of the additional data, of messages that have any.
#[inline(never)]
fn begin_aad(batch: &Batch<'_, '_, '_>, y: &mut [Block]) {
    let mut next = Column::new();
    for (message, y) in batch.messages.iter().zip(&*y) {
        let (mut block, _) = first_of_aad(&message.aad);
        xor(&mut block, y);
        next.push(block);
    }
    each::encrypt(batch, &mut next);
    for ((message, y), next) in batch.messages.iter().zip(y).zip(&next) {
        if !message.aad.is_empty() {
            *y = *next;
        }
    }
}

/// Stores the tag `Y ⊕ S_0` in each message, always 16 bytes; `S_0 = E_K(Ctr_0)`.
#[inline(never)]
fn set_tags(batch: &mut Batch<'_, '_, '_>, y: &[Block]) {
    let mut s0 = Column::new();
    s0.extend(batch.messages.iter().map(|message| counter(message.nonce)));
    each::encrypt(batch, &mut s0);
    for ((message, y), s0) in batch.messages.iter_mut().zip(y).zip(&s0) {
        message.tag = *s0;
        xor(&mut message.tag, y);
    }
}
