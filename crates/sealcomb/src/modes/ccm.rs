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

use arrayvec::ArrayVec;

use super::Mode;
use super::omac::{CbcMac, cbc_mac};
use crate::backend::{self, BLOCK, Backend, Block, Columns, Span};
use crate::engine::blocks::{encrypt_together, keystream};
use crate::engine::flights::{self, Flights, Results};
use crate::engine::slots::{self, Added, Common, Counters, SlotChain, Text};
use crate::engine::{Batch, Column, Material, Message, each};
use crate::primitives::block::xor;
use crate::primitives::counter::{Be128, Counter};

pub(crate) struct Ccm;

impl Mode for Ccm {
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        flights::run_batch(batch, in_columns::<false>(), crypt::<false>);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        flights::run_batch(batch, in_columns::<true>(), crypt::<true>);
    }

    fn flights(&self, opens: bool) -> Option<Flights> {
        Some(if opens { in_columns::<true>() } else { in_columns::<false>() })
    }
}

/// One direction of CCM, after the additional data.
struct Crypt<const OPENS: bool>;

impl<const OPENS: bool> SlotChain for Crypt<OPENS> {
    const ADDED: Added = Added::Nothing;
    const TEXT: Text = if OPENS { Text::Output } else { Text::Input };
}

fn in_columns<const OPENS: bool>() -> Flights {
    Flights { takes: slots::takes, run: run_columns::<OPENS>, prepare: |_, _| {} }
}

/// Processes a flight under a key, like [`Flights::run`].
fn run_columns<const OPENS: bool>(
    backend: Backend,
    key: &Material,
    columns: &mut Columns<'_>,
    results: &mut Results<'_>,
) -> bool {
    if columns.nonce_bytes().is_none() {
        return false;
    }
    let count = columns.len();
    let (mut counters, mut blocks) =
        (ArrayVec::<_, { backend::FLIGHT }>::new(), ArrayVec::<_, { 3 * backend::FLIGHT }>::new());
    let mut longest = 0;
    for (nonce, aad, data) in columns.messages() {
        let counter = number(nonce);
        counters.push(counter.to_be_bytes());
        blocks.push(first_block(key, counter, aad.len(), data.len()));
        longest = longest.max(data.len());
    }
    if longest as u64 > slots::MAX_COUNTED {
        return false;
    }
    blocks.extend(counters.iter().copied());
    if OPENS {
        blocks.extend(counters.iter().map(|counter| Be128::skip(counter, 1)));
    }
    encrypt_together(backend, &key.aes, &mut blocks);
    let (y, rest) = blocks.split_at_mut(count);
    let (s0, s1) = rest.split_at(count);
    if columns.has_aads() {
        absorb_aads(backend, key, columns, y);
    }
    let common = Common::of(&key.aes).with_counters(Counters { bases: &counters, first: s1, key: None });
    slots::run_texts::<Crypt<OPENS>>(backend, common, y, |texts| columns.list_texts(texts));
    for (y, s0) in y.iter_mut().zip(s0) {
        xor(y, s0);
    }
    results.put_flight(backend, y);
    true
}

/// Absorbs the additional data of a flight in columns.
#[inline(never)]
fn absorb_aads(backend: Backend, key: &Material, columns: &mut Columns<'_>, y: &mut [Block]) {
    let (mut next, mut more) = (ArrayVec::<Block, { backend::FLIGHT }>::new(), false);
    for ((_, aad, _), y) in columns.messages().zip(&*y) {
        let (mut block, bytes) = first_of_aad(aad);
        xor(&mut block, y);
        next.push(block);
        more |= aad.len() > bytes;
    }
    encrypt_together(backend, &key.aes, &mut next);
    for (((_, aad, _), y), next) in columns.messages().zip(&mut *y).zip(&next) {
        if !aad.is_empty() {
            *y = *next;
        }
    }
    if more {
        slots::run_texts::<CbcMac>(backend, Common::of(&key.aes), y, |texts| {
            texts.extend(columns.messages().map(|(_, aad, _)| Span::from(&aad[first_of_aad(aad).1..])));
        });
    }
}

/// Encrypts or decrypts messages with any keys.
fn crypt<const OPENS: bool>(batch: &mut Batch<'_, '_, '_>) {
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
    let join = |head: &[u8; 8], tail: &[u8; 8]| {
        // Two overlapping loads, because bytes that were just stored one by one are slow to load together.
        u128::from(u64::from_be_bytes(*head)) << 56 | u128::from(u64::from_be_bytes(*tail)) << (8 * q)
    };
    let nonce = match (nonce.first_chunk(), nonce.last_chunk()) {
        // The most frequent length, with constant shifts.
        (Some(head), Some(tail)) if q == 3 => {
            u128::from(u64::from_be_bytes(*head)) << 56 | u128::from(u64::from_be_bytes(*tail)) << 24
        }
        (Some(head), Some(tail)) => join(head, tail),
        _ => nonce.iter().fold(0, |n, byte| n << 8 | u128::from(*byte)) << (8 * q),
    };
    (q as u128 - 1) << 120 | nonce
}

/// Returns `B_0`: flags, nonce, and the message length in the bytes that the nonce leaves (A.2.1). `counter` is `Ctr_0`.
#[inline]
fn first_block(key: &Material, counter: u128, aad_bytes: usize, bytes: usize) -> Block {
    let has_aad = u128::from(aad_bytes > 0);
    let t = (key.tag_bytes as u128 - 2) / 2;
    // The length has been checked to fit, so its bits do not overlap the nonce.
    (counter | has_aad << 126 | t << 123 | bytes as u128).to_be_bytes()
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
    y.extend(batch.messages.iter().map(|message| {
        first_block(message.key, number(message.nonce), message.aad.len(), message.data.len())
    }));
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
