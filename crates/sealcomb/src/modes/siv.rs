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
use super::omac_lanes::LaneOmac;
use crate::backend::{BLOCK, Backend, Block, Isa, LINE, ModeState, Span};
use crate::engine::blocks::{Loose, encrypt_alone, keystream};
use crate::engine::lane_groups::{
    self, COLUMNS, Group, LaneGrouped, R, columns, encrypt_columns, lanes, store_tags, xor_columns,
};
use crate::engine::{AssociatedData, Batch, Column, Material, Message, share_key};
use crate::primitives::aes::KeySchedule;
use crate::primitives::block::{PADDING, join, mask, skip, whole, xor};
use crate::primitives::counter::{Be128, NUMBERS};
use crate::primitives::gf128::{BigEndian, Field, moved_out, moved_up};

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
        lane_groups::run::<Crypt<false>>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        lane_groups::run::<Crypt<true>>(batch);
    }
}

/// One direction of SIV.
struct Crypt<const OPENS: bool>;

impl<const OPENS: bool> LaneGrouped for Crypt<OPENS> {
    const MOST_AAD: usize = LINE;

    /// Messages must have one string of additional data, which may be empty, and either all of them a nonce of one
    /// block, which may be partial, or none of them.
    #[inline(always)]
    fn fit(messages: &[&mut Message<'_>]) -> bool {
        let least = usize::from(!messages[0].nonce.is_empty());
        let nonces = least..=least * BLOCK;
        messages.iter().all(|message| {
            matches!(message.aad, AssociatedData::One(_)) && nonces.contains(&message.nonce.len())
        })
    }

    #[inline(always)]
    fn crypt_group<B: Isa>(b: B, group: &mut Group<'_, '_, '_>) {
        let mut chains = begin_lanes(b, group);
        if OPENS {
            let tags = lanes(b, group.messages, |message| b.one(&message.tag));
            encrypt_lanes(b, group, tags, |line, output| chains.absorb(b, line * COLUMNS, output));
            return store_tags(b, group.messages, chains.macs());
        }
        for line in 0..group.lines {
            let x = columns(b, group.messages, line * LINE, |message| message.data.input());
            chains.absorb(b, line * COLUMNS, &x);
        }
        let tags = chains.macs();
        store_tags(b, group.messages, tags);
        encrypt_lanes(b, group, tags, |_, _| {});
    }

    fn crypt_chains(batch: &mut Batch<'_, '_, '_>) {
        if OPENS {
            encrypt(batch);
            hash_strings(batch);
            hash_message(batch, |message| message.data.output());
        } else {
            hash_strings(batch);
            hash_message(batch, |message| message.data.input());
            encrypt(batch);
        }
    }
}

/// Encrypts or decrypts a group with its tags, one per lane. Calls `each` with every line of output.
#[inline(always)]
fn encrypt_lanes<B: Isa>(
    b: B,
    group: &mut Group<'_, '_, '_>,
    tags: [B::V; R],
    mut each: impl FnMut(usize, &[[B::V; COLUMNS]; R]),
) {
    let aes = &group.messages[0].key.aes;
    let mut counters = tags;
    each_register!(R, 0 1 2 3, q => {
        counters[q] = b.reverse(b.and(tags[q], b.splat(&CLEAR.to_be_bytes())));
    });
    for line in 0..group.lines {
        // The first bits of the last two words are zero, so the sum carries into neither.
        let mut x = [[b.zero(); COLUMNS]; R];
        each_register!(R, 0 1 2 3, q => {
            each_register!(COLUMNS, 0 1 2 3, i => {
                x[q][i] = b.reverse(b.add32(counters[q], b.splat(&NUMBERS.0[line * COLUMNS + i])));
            });
        });
        encrypt_columns(b, aes, &mut x);
        let [_, output] = xor_columns(b, group.messages, line * LINE, x);
        each(line, &output);
    }
}

/// Starts the chains that compute the `V` of a group, with the `D` of its associated strings.
#[inline(always)]
fn begin_lanes<'a, B: Isa>(b: B, group: &Group<'_, '_, 'a>) -> LaneOmac<'a, B> {
    let key = group.messages[0].key;
    let omac = mac(key);
    let [whole, ..] = omac.subkeys;
    let d = hash_strings_in_lanes(b, group);
    let bytes = |message: &Message<'_>| message.data.len();
    let mut chains = LaneOmac::new(b, omac.aes, group.messages, bytes, |bytes| {
        // A padded string of less than a block counts as whole.
        if bytes < BLOCK { [&PADDING[bytes], whole] } else { omac.ends_of(bytes) }
    });
    let short = |message: &Message<'_>| bytes(message) < BLOCK;
    // The number of bytes of D that are added to the last block. The others are added to the block before it.
    let shift = |message: &Message<'_>| if short(message) { BLOCK } else { 1 + (bytes(message) - 1) % BLOCK };
    let ups: [B::V; R] = lanes(b, group.messages, |message| b.one(moved_up(shift(message))));
    let outs: [B::V; R] = lanes(b, group.messages, |message| b.one(moved_out(shift(message))));
    let masks: [B::V; R] = lanes(b, group.messages, |message| b.one(&mask(short(message))));
    let (mut ends, mut before_ends) = (d, d);
    each_register!(R, 0 1 2 3, q => {
        let both = b.xor(d[q], b.and(masks[q], b.xor(d[q], BigEndian::double(b, d[q]))));
        ends[q] = b.shuffle_each(both, outs[q]);
        before_ends[q] = b.shuffle_each(both, ups[q]);
    });
    chains.add_to_ends(b, ends, before_ends);
    chains
}

/// Returns `D` after the associated strings of a group.
#[inline(always)]
fn hash_strings_in_lanes<B: Isa>(b: B, group: &Group<'_, '_, '_>) -> [B::V; R] {
    let key = group.messages[0].key;
    let omac = mac(key);
    let mut aad =
        LaneOmac::new(b, omac.aes, group.messages, |message| message.aad.len(), |n| omac.ends_of(n));
    let x = if group.aad {
        columns(b, group.messages, 0, |message| Span::from(&*message.aad))
    } else {
        [[b.zero(); COLUMNS]; R]
    };
    aad.absorb(b, 0, &x);
    let first = BigEndian::double(b, b.splat(&key.subkeys[2]));
    let mut d = aad.macs();
    each_register!(R, 0 1 2 3, q => {
        d[q] = b.xor(d[q], first);
    });
    if !group.messages[0].nonce.is_empty() {
        let mut n =
            LaneOmac::new(b, omac.aes, group.messages, |message| message.nonce.len(), |n| omac.ends_of(n));
        n.step(b, 0, lanes(b, group.messages, |message| b.load_bytes(message.nonce)));
        let n = n.macs();
        each_register!(R, 0 1 2 3, q => {
            d[q] = b.xor(n[q], BigEndian::double(b, d[q]));
        });
    }
    d
}

/// Mask that clears the first bits of the last two words of `V` (section 2.5).
const CLEAR: u128 = !(1 << 31 | 1 << 63);

/// Returns what CMAC needs of a key: its part `K1`.
fn mac(key: &Material) -> Omac<'_> {
    let [whole, padded, ..] = &key.subkeys;
    Omac { aes: key.mode_state.get(), subkeys: [whole, padded] }
}

// Functions with a block or more per message are not inlined, so that only one of them occupies the stack at a time.

/// Computes `C = P ⊕ CTR(K2, Q)`, where `Q` is `V` without the bits that [`CLEAR`] clears.
#[inline(never)]
fn encrypt(batch: &mut Batch<'_, '_, '_>) {
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
