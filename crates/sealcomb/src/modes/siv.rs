//! AES-SIV (RFC 5297), with the RFC's letters. `K1 ‖ K2` is the key. `S_1 … S_n` are the strings, the last of which
//! is the message. `D` is the state of S2V (section 2.4), and `V` the synthetic IV, which is the tag.
//!
//! ```text
//! D ← CMAC(K1, 0^128)
//! for each associated string S:  D ← 2 D ⊕ CMAC(K1, S)
//! V ← CMAC(K1, P xorend D)                   if P has at least 16 bytes: D is added to the last 16
//!     CMAC(K1, 2 D ⊕ (P ‖ 10…0))             otherwise
//! C ← P ⊕ CTR(K2, V without bits 31 and 63)
//! ```
//!
//! `D`, and later `V`, is stored in the message's tag.

use super::Mode;
use super::omac::{Omac, cbc_mac, omac};
use crate::backend::{BLOCK, Backend, Block, ModeState, Span};
use crate::engine::blocks::{Loose, encrypt_alone, keystream};
use crate::engine::{Batch, Column, Material, Message, share_key};
use crate::primitives::aes::KeySchedule;
use crate::primitives::block::{PADDING, join, skip, whole, xor};
use crate::primitives::counter::Be128;
use crate::primitives::gf128::{BigEndian, Field};

pub(crate) struct Siv;

impl Mode for Siv {
    /// Returns `K2`.
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        &key[key.len() / 2..]
    }

    /// Expands `K1` for the MAC, and computes CMAC's subkeys and the first `D`.
    fn expand_key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        let mac = KeySchedule::boxed(backend, &key[..key.len() / 2]);
        let [zero] = encrypt_alone(backend, &mac, [[0; BLOCK]]);
        let [whole, padded] = Omac::subkeys(&zero);
        // `0^128` is a whole block, so CMAC adds the first subkey to it.
        let [d] = encrypt_alone(backend, &mac, [whole]);
        material.subkeys[..3].copy_from_slice(&[whole, padded, d]);
        material.mode_state = ModeState::new(mac);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        hash_strings(batch);
        hash_message(batch, |message| message.data.input());
        encrypt(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        encrypt(batch);
        hash_strings(batch);
        hash_message(batch, |message| message.data.output());
    }
}

/// Returns what CMAC needs of a key: its part `K1`.
fn mac(key: &Material) -> Omac<'_> {
    let [whole, padded, ..] = &key.subkeys;
    Omac { aes: key.mode_state.get(), subkeys: [whole, padded] }
}

// Functions with a block or more per message are not inlined, so that only one of them occupies the stack at a time.

/// Computes `C = P ⊕ CTR(K2, Q)`, where `Q` is `V` without the first bits of its last two words (section 2.5).
#[inline(never)]
fn encrypt(batch: &mut Batch<'_, '_, '_>) {
    const CLEAR: u128 = !(1 << 31 | 1 << 63);
    keystream::<Be128>(batch, |message| (u128::from_be_bytes(message.tag) & CLEAR).to_be_bytes());
}

/// Stores `D` after the associated strings in each message's tag (section 2.4). The strings are the additional data,
/// followed by the nonce if there is one (section 3).
#[inline(never)]
fn hash_strings(batch: &mut Batch<'_, '_, '_>) {
    for message in batch.messages.iter_mut() {
        message.tag = message.key.subkeys[2];
    }
    let most = batch.messages.iter().map(|message| strings(message)).max().unwrap_or(0);
    for i in 0..most {
        let mut macs = Column::new();
        cmac(batch, |message| string(message, i), &mut macs);
        for (message, mac) in batch.messages.iter_mut().zip(&macs) {
            if i < strings(message) {
                message.tag = BigEndian::double_block(&message.tag);
                xor(&mut message.tag, mac);
            }
        }
    }
}

/// Returns the number of a message's associated strings.
fn strings(message: &Message<'_>) -> usize {
    message.aad.strings() + usize::from(!message.nonce.is_empty())
}

/// Returns an associated string of a message, or an empty one if it has fewer.
fn string<'m>(message: &'m Message<'_>, number: usize) -> &'m [u8] {
    if number < message.aad.strings() {
        message.aad.string(number)
    } else if number < strings(message) {
        message.nonce
    } else {
        &[]
    }
}

/// Computes `CMAC(K1, S)` of a string of each message. Computes it once if all messages have one key and one string
/// in memory, for example the shared additional data of a burst.
fn cmac<'a>(
    batch: &mut Batch<'_, '_, 'a>,
    string: impl for<'m> Fn(&'m Message<'a>) -> &'m [u8],
    macs: &mut Column,
) {
    let first = string(&*batch.messages[0]);
    let same = share_key(batch.messages) && batch.messages.iter().all(|m| core::ptr::eq(string(m), first));
    let count = if same { 1 } else { batch.messages.len() };
    macs.extend((0..count).map(|_| [0; BLOCK]));
    let Batch { backend, schedule, messages } = batch;
    let mut some = Batch { backend: *backend, schedule: *schedule, messages: &mut messages[..count] };
    omac(&mut some, mac, macs, |message| Span::from(string(message)));
    while macs.len() < batch.messages.len() {
        macs.push(macs[0]);
    }
}

/// Returns the offset of the block in which the last 16 bytes of a message begin.
fn before_end(message: &Message<'_>) -> usize {
    whole(message.data.len().saturating_sub(BLOCK))
}

/// Computes `V` from the `D` in each message's tag, and stores it there.
#[inline(never)]
fn hash_message<'a>(batch: &mut Batch<'_, '_, 'a>, plaintext: impl for<'m> Fn(&'m Message<'a>) -> Span<'m>) {
    let mut c = Column::new();
    c.extend(batch.messages.iter().map(|_| [0; BLOCK]));
    if batch.messages.iter().any(|message| before_end(message) > 0) {
        cbc_mac(batch, |key| mac(key).aes, &mut c, |message| plaintext(message).first(before_end(message)));
    }
    second_last(batch, &plaintext, &mut c);
    last_of_messages(batch, &plaintext, &mut c);
    batch.set_tags(&c);
}

/// Absorbs the block in which the last 16 bytes begin, for messages in which they straddle two blocks.
#[inline(never)]
fn second_last<'a>(
    batch: &Batch<'_, '_, 'a>,
    plaintext: &impl for<'m> Fn(&'m Message<'a>) -> Span<'m>,
    c: &mut [Block],
) {
    let bytes_in_last =
        |message: &Message<'_>| (message.data.len() - before_end(message)).saturating_sub(BLOCK);
    let in_two = || batch.messages.iter().enumerate().filter(|(_, message)| bytes_in_last(message) > 0);
    let mut blocks = Loose::new();
    for (i, message) in in_two() {
        let mut x = plaintext(message).block(before_end(message));
        xor(&mut x, &join(&[0; BLOCK], bytes_in_last(message), &message.tag));
        xor(&mut x, &c[i]);
        blocks.push(mac(message.key).aes, x);
    }
    blocks.encrypt(batch.backend);
    for ((i, _), block) in in_two().zip(&blocks.blocks) {
        c[i] = *block;
    }
}

/// Makes the last call of CMAC for each message.
#[inline(never)]
fn last_of_messages<'a>(
    batch: &Batch<'_, '_, 'a>,
    plaintext: &impl for<'m> Fn(&'m Message<'a>) -> Span<'m>,
    c: &mut [Block],
) {
    let mut last = Loose::new();
    for (message, c) in batch.messages.iter().zip(&*c) {
        let (at, d) = (before_end(message), &message.tag);
        let bytes = message.data.len() - at;
        let (mut x, bytes) = if bytes > BLOCK {
            let mut x = plaintext(message).block(at + BLOCK);
            xor(&mut x, &skip(d, 2 * BLOCK - bytes));
            (x, bytes - BLOCK)
        } else {
            let mut x = plaintext(message).block(at);
            xor(&mut x, &PADDING[bytes]);
            xor(&mut x, &if bytes == BLOCK { *d } else { BigEndian::double_block(d) });
            (x, BLOCK)
        };
        xor(&mut x, c);
        last.push(mac(message.key).aes, mac(message.key).last(&x, bytes));
    }
    last.encrypt(batch.backend);
    c.copy_from_slice(&last.blocks);
}
