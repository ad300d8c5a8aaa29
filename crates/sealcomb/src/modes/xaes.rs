//! XAES-256-GCM (C2SP, version 1), with the specification's letters. Each message has its own key for AES-256-GCM, which
//! is derived from the first half of the nonce `N`.
//!
//! ```text
//! K1 ← 2 E_K(0)
//! K_x ← E_K((0 ‖ 1 ‖ "X" ‖ 0 ‖ N[..12]) ⊕ K1) ‖ E_K((0 ‖ 2 ‖ "X" ‖ 0 ‖ N[..12]) ⊕ K1)
//! J0 ← N[12..] ‖ 0 ‖ 0 ‖ 0 ‖ 1
//! H ← E_Kx(0)
//! C ← P ⊕ (E_Kx(J0 + 1) ‖ E_Kx(J0 + 2) ‖ …)
//! T ← GHASH_H(A ‖ 0…0 ‖ C ‖ 0…0 ‖ 8 |A| ‖ 8 |C|) ⊕ E_Kx(J0)
//! ```
//!
//! The derivation takes two cipher calls per message and is followed by a key expansion; `H` and the tag's mask take two
//! more calls. These steps are computed for a group of messages together. Then the text of one message is encrypted
//! while the ciphertext of its neighbor is hashed.

use arrayvec::ArrayVec;

use super::Mode;
use super::gcm::reversed_lengths;
use super::omac::Omac;
use crate::backend::{BLOCK, Backend, Block, Isa, LINE, Span};
use crate::engine::blocks::{encrypt_alone, encrypt_each};
use crate::engine::derived_lanes::{self, DerivedLanes, hash_lanes};
use crate::engine::lane_groups::{COLUMNS, Group, lanes, store_tags, xor_columns};
use crate::engine::{Batch, Material, Message};
use crate::primitives::aes::{GROUP, GroupKeys};
use crate::primitives::block::add;
use crate::primitives::counter::{Be32, LAST_BYTES, xor_keystream, xor_keystream_with};
use crate::primitives::derived::Derived;
use crate::primitives::gf128::{Field, GcmOrder};
use crate::primitives::polyval::{Polyval, Powers};
use crate::primitives::wipe;

pub(crate) struct Xaes;

impl Mode for Xaes {
    /// Stores `K1`, added to what precedes the nonce in each block of the derivation.
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        let [mut l] = encrypt_alone(backend, &material.aes, [[0; BLOCK]]);
        let [k1, _] = Omac::subkeys(&l);
        material.subkeys[..2].copy_from_slice(&BEGINNINGS.map(|beginning| add(beginning, k1)));
        wipe(core::slice::from_mut(&mut l));
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        derived_lanes::run::<Self, false>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        derived_lanes::run::<Self, true>(batch);
    }
}

/// The blocks of the derivation without the nonce: a counter of 16 bits, the label "X" and a zero.
const BEGINNINGS: [Block; 2] = [beginning(1), beginning(2)];

const fn beginning(counter: u8) -> Block {
    [0, counter, b'X', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

impl DerivedLanes for Xaes {
    const FEW: usize = 5;

    #[inline(always)]
    fn crypt_group<B: Isa, const OPENS: bool>(b: B, mut group: Group<'_, '_, '_>, derived: &mut Derived) {
        let n = lanes(b, group.messages, |message| b.load_bytes(halves(message)[0]));
        let iv = lanes(b, group.messages, |message| b.load_bytes(halves(message)[1]));
        derive_lanes(b, group.messages[0].key, n, derived);
        let masks = mask_lanes(b, iv, derived);
        let mut tags;
        if OPENS {
            tags = hash_lanes::<B, true, false>(b, &group, derived);
            crypt_lanes(b, &mut group, iv, &derived.encryption);
        } else {
            crypt_lanes(b, &mut group, iv, &derived.encryption);
            tags = hash_lanes::<B, true, true>(b, &group, derived);
        }
        for q in 0..2 {
            tags[q] = b.xor(b.reverse(tags[q]), masks[q]);
        }
        store_tags(b, group.messages, tags);
    }

    #[inline(always)]
    fn crypt_each<B: Isa>(b: B, messages: &mut [&mut Message<'_>], opens: bool) {
        let mut derived = Derived::empty();
        let mut powers = ArrayVec::<Powers, GROUP>::new();
        for _ in 0..messages.len().min(GROUP) {
            powers.push(Powers::empty());
        }
        for messages in messages.chunks_mut(GROUP) {
            derive_keys(b, messages, &mut derived);
            let masks = masks(b, messages, &mut derived);
            let longest = messages.iter().map(|message| message.data.len().max(message.aad.len())).max();
            let powers = &mut powers[..messages.len()];
            Powers::fill_each(b, powers, &derived.authentication, longest.unwrap_or(0));
            let sums = crypt_and_hash(b, messages, &derived, powers, opens);
            for ((message, sum), mask) in messages.iter_mut().zip(sums).zip(masks) {
                message.tag = add(sum, mask);
            }
        }
    }
}

/// Computes `K_x` of a group and its round keys, one message per lane.
#[inline(always)]
fn derive_lanes<B: Isa>(b: B, key: &Material, n: [B::V; 2], derived: &mut Derived) {
    let mut x = [b.zero(); 4];
    each_register!(2, 0 1, q => {
        let n = b.shuffle(n[q], &UP);
        x[2 * q] = b.xor(n, b.splat(&key.subkeys[0]));
        x[2 * q + 1] = b.xor(n, b.splat(&key.subkeys[1]));
    });
    b.encrypt(key.aes.encrypting(), &mut x);
    each_register!(2, 0 1, q => {
        derived.encryption.set_lanes(b, q, 0, x[2 * q]);
        derived.encryption.set_lanes(b, q, 1, x[2 * q + 1]);
    });
    derived.encryption.expand_pair(b, 2);
}

/// Returns `E_Kx(J0)` of a group in lanes. Stores `H` as a factor of POLYVAL's product.
#[inline(always)]
fn mask_lanes<B: Isa>(b: B, iv: [B::V; 2], derived: &mut Derived) -> [B::V; 2] {
    let mut x = [b.zero(); 4];
    each_register!(2, 0 1, q => {
        x[2 * q + 1] = b.xor(iv[q], b.splat(&LAST_BYTES[1]));
    });
    derived.encryption.encrypt_columns::<B, 2, 4>(b, &mut x);
    each_register!(2, 0 1, q => {
        b.store(GcmOrder::factor(b, x[2 * q]), &mut derived.authentication[q * B::BLOCKS..]);
    });
    [x[1], x[3]]
}

/// Encrypts or decrypts a group, one message per lane.
#[inline(always)]
fn crypt_lanes<B: Isa>(b: B, group: &mut Group<'_, '_, '_>, iv: [B::V; 2], keys: &GroupKeys) {
    for line in 0..group.lines {
        // The counter of the first block is 2.
        let first = 2 + line * COLUMNS;
        let mut x = [b.zero(); 2 * COLUMNS];
        each_register!(2, 0 1, q => {
            each_register!(COLUMNS, 0 1 2 3, i => {
                x[q * COLUMNS + i] = b.xor(iv[q], b.splat(&LAST_BYTES[first + i]));
            });
        });
        keys.encrypt_columns::<B, COLUMNS, { 2 * COLUMNS }>(b, &mut x);
        let x = [[x[0], x[1], x[2], x[3]], [x[4], x[5], x[6], x[7]]];
        xor_columns(b, group.messages, line * LINE, x);
    }
}

/// Returns the two halves of a message's nonce.
#[inline(always)]
fn halves<'a>(message: &Message<'a>) -> [&'a [u8; 12]; 2] {
    let (key, iv) = message.nonce.split_at(12);
    [key, iv].map(|half| half.first_chunk().expect("12 bytes"))
}

/// Moves the nonce up by four bytes.
const UP: Block = [255, 255, 255, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/// Computes `K_x` of each message, and its round keys.
#[inline(always)]
fn derive_keys<B: Isa>(b: B, messages: &[&mut Message<'_>], derived: &mut Derived) {
    let mut blocks = [[0; BLOCK]; 2 * GROUP];
    for (message, blocks) in messages.iter().zip(blocks.as_chunks_mut::<2>().0) {
        let n = b.shuffle(b.load_bytes(halves(message)[0]), &UP);
        for i in 0..2 {
            blocks[i] = b.first(b.xor(n, b.one(&message.key.subkeys[i])));
        }
    }
    encrypt_each(b, messages, &mut blocks[..2 * messages.len()]);
    for m in 0..messages.len() {
        for i in 0..2 {
            *derived.encryption.half(m, i) = blocks[2 * m + i];
        }
    }
    wipe(&mut blocks);
    derived.encryption.expand(b, messages.len(), 2);
}

/// Returns `J0` of a message.
#[inline(always)]
fn j0<B: Isa>(b: B, message: &Message<'_>) -> B::V {
    b.xor(b.load_bytes(halves(message)[1]), b.one(&LAST_BYTES[1]))
}

/// Returns `E_Kx(J0)` of each message. Stores `H` as a factor of POLYVAL's product.
#[inline(always)]
fn masks<B: Isa>(b: B, messages: &[&mut Message<'_>], derived: &mut Derived) -> [Block; GROUP] {
    let Derived { authentication, encryption } = derived;
    let mut masks = [[0; BLOCK]; GROUP];
    for (message, mask) in messages.iter().zip(&mut masks) {
        *mask = b.first(j0(b, message));
    }
    encryption.encrypt_each(b, &mut masks);
    authentication.fill([0; BLOCK]);
    encryption.encrypt_each(b, authentication);
    for h in authentication.chunks_mut(B::BLOCKS) {
        b.store(GcmOrder::factor(b, b.load(h)), h);
    }
    masks
}

/// Encrypts or decrypts the messages, and returns the hash of each. The ciphertext of a message is hashed while the next
/// one is encrypted, or while the previous one is decrypted.
#[inline(always)]
fn crypt_and_hash<B: Isa>(
    b: B,
    messages: &mut [&mut Message<'_>],
    derived: &Derived,
    powers: &[Powers],
    opens: bool,
) -> [Block; GROUP] {
    let mut sums = [[0; BLOCK]; GROUP];
    for turn in 0..=messages.len() {
        // The first turn has no message before it, and the last turn has none after it: such an index is out of bounds.
        let before = turn.wrapping_sub(1);
        let [crypted, hashed] = if opens { [before, turn] } else { [turn, before] };
        let keys = || derived.encryption.of(crypted);
        if let Ok([message, neighbor]) = messages.get_disjoint_mut([crypted, hashed]) {
            let mut hash = hash(b, &powers[hashed], neighbor, opens);
            let start = first_counter(b, message);
            xor_keystream_with::<Be32, B, _, _>(b, keys(), &start, &mut message.data, &mut hash, None);
            sums[hashed] = b.first(b.reverse(hash.finish(b)));
        } else if let Some(message) = messages.get_mut(crypted) {
            let start = first_counter(b, message);
            xor_keystream::<Be32, B, _>(b, keys(), &start, &mut message.data);
        } else if let Some(message) = messages.get(hashed) {
            let hash = hash(b, &powers[hashed], message, opens);
            sums[hashed] = b.first(b.reverse(hash.finish(b)));
        }
    }
    sums
}

/// Returns `J0 + 1` of a message.
#[inline(always)]
fn first_counter<B: Isa>(b: B, message: &Message<'_>) -> Block {
    b.first(b.xor(b.load_bytes(halves(message)[1]), b.one(&LAST_BYTES[2])))
}

/// Returns the state of the hash of a message's additional data and ciphertext.
#[inline(always)]
fn hash<'p, 'd, B: Isa>(
    b: B,
    powers: &'p Powers,
    message: &'d Message<'_>,
    opens: bool,
) -> Polyval<'p, 'd, B, true> {
    let Message { aad, data, .. } = message;
    let lengths = reversed_lengths(aad.len(), data.len());
    let ciphertext = if opens { data.input() } else { data.output() };
    let y = match &**aad {
        [] => b.zero(),
        aad => Polyval::<_, true>::new(b, powers, b.zero(), Span::from(aad), None).finish(b),
    };
    Polyval::new(b, powers, y, ciphertext, Some(&lengths))
}
