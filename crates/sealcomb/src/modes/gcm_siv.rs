//! AES-GCM-SIV (RFC 8452). Each message has its own keys, which are derived from the nonce.
//!
//! ```text
//! H, K ← halves of E(0 ‖ N), E(1 ‖ N), …     E is AES with the caller's key
//! S ← POLYVAL(H, A ‖ P ‖ lengths)            A and P padded with zeros
//! T ← E_K((S ⊕ N) without its last bit)
//! C ← P ⊕ CTR(K, T with its last bit set)    32-bit little-endian counter
//! ```
//!
//! The derivation takes four or six cipher calls per message and is followed by a key expansion; the tag takes one
//! more call. These steps are computed for a group of messages together. Short messages under one key have a lane
//! each in all steps.

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{BLOCK, Block, Isa, LINE, Span, Wiped};
use crate::engine::derived_lanes::{self, DerivedLanes, hash_lanes, low_lanes};
use crate::engine::lane_groups::{COLUMNS, Group, lanes, store_tags, xor_columns};
use crate::engine::{Batch, Message};
use crate::primitives::aes::{GROUP, GroupKeys, KeySchedule};
use crate::primitives::block::bit_lengths;
use crate::primitives::counter::{Counters, Le32, NUMBERS, xor_keystream, xor_keystream_with};
use crate::primitives::derived::Derived;
use crate::primitives::polyval::{Polyval, Powers};
use crate::primitives::wipe;

pub(crate) struct GcmSiv;

impl Mode for GcmSiv {
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        derived_lanes::run::<Self, false>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        derived_lanes::run::<Self, true>(batch);
    }
}

impl DerivedLanes for GcmSiv {
    const FEW: usize = 5;

    #[inline(always)]
    fn crypt_group<B: Isa, const OPENS: bool>(b: B, group: Group<'_, '_, '_>, derived: &mut Derived) {
        crypt_group::<B, OPENS>(b, group, derived);
    }

    #[inline(always)]
    fn crypt_each<B: Isa>(b: B, messages: &mut [&mut Message<'_>], opens: bool) {
        crypt_each(b, messages, opens);
    }

    const HAS_ONE: bool = true;

    #[inline(always)]
    fn crypt_one<B: Isa>(b: B, message: &mut Message<'_>, opens: bool) {
        crypt_one(b, message, opens);
    }
}

/// Computes the tag of a message, and encrypts or decrypts it. The blocks from which its keys are derived have a register
/// each, because lanes would have to be moved.
#[inline(always)]
fn crypt_one<B: Isa>(b: B, message: &mut Message<'_>, opens: bool) {
    let mut encryption = Wiped::new(KeySchedule::empty());
    let mut authentication = Wiped::new([[0; BLOCK]; GROUP]);
    let mut powers = Powers::empty();
    let nonce = b.load_bytes(message.nonce);
    let aes = message.key.aes.encrypting();
    let halves = if message.key.aes.rounds() == 14 { 2 } else { 1 };
    let numbered = b.spread(b.shuffle(nonce, &UP));
    let mut x = [b.zero(); 4];
    each_register!(4, 0 1 2 3, i => {
        x[i] = b.xor(numbered, b.splat(&NUMBERS.0[i]));
    });
    b.encrypt(aes, &mut x);
    authentication[0] = b.first(low_lanes(b, x[0], x[1]));
    let mut key = Wiped::new([b.first(low_lanes(b, x[2], x[3])), [0; BLOCK]]);
    if halves == 2 {
        let mut x = [b.xor(numbered, b.splat(&NUMBERS.0[4])), b.xor(numbered, b.splat(&NUMBERS.0[5]))];
        b.encrypt(aes, &mut x);
        key[1] = b.first(low_lanes(b, x[0], x[1]));
    }
    encryption.expand_on(b, key[..halves].as_flattened());
    let keys = encryption.encrypting();

    if opens {
        xor_keystream::<Le32, B, _>(b, keys, &counter(&message.tag), &mut message.data);
    }
    let longest = message.data.len().max(message.aad.len());
    Powers::fill_each(b, core::slice::from_mut(&mut powers), &authentication, longest);
    let s = hash(b, &powers, &message.aad, plaintext(message, opens)).finish(b);
    let mut tag = [b.and(b.xor(s, nonce), b.one(&WITHOUT_LAST_BIT))];
    b.encrypt(keys, &mut tag);
    message.tag = b.first(tag[0]);
    if !opens {
        xor_keystream::<Le32, B, _>(b, keys, &counter(&message.tag), &mut message.data);
    }
}

/// Computes the tags of a group, and encrypts or decrypts its messages.
#[inline(always)]
fn crypt_group<B: Isa, const OPENS: bool>(b: B, mut group: Group<'_, '_, '_>, derived: &mut Derived) {
    let nonces = lanes(b, group.messages, |message| {
        b.load_bytes(message.nonce.first_chunk::<12>().expect("12 bytes"))
    });
    derive_lanes(b, &group.messages[0].key.aes, nonces, derived);
    if OPENS {
        let tags = lanes(b, group.messages, |message| b.one(&message.tag));
        crypt_lanes(b, &mut group, tags, &derived.encryption);
    }
    let mut s = hash_lanes::<B, false, OPENS>(b, &group, derived);
    for q in 0..2 {
        s[q] = b.and(b.xor(s[q], nonces[q]), b.splat(&WITHOUT_LAST_BIT));
    }
    derived.encryption.encrypt_lanes(b, &mut s);
    store_tags(b, group.messages, s);
    if !OPENS {
        crypt_lanes(b, &mut group, s, &derived.encryption);
    }
}

/// Derives the keys of a group from its nonces, one message per lane.
#[inline(always)]
fn derive_lanes<B: Isa>(b: B, aes: &KeySchedule, nonces: [B::V; 2], derived: &mut Derived) {
    let mut x = [b.zero(); 2 * COLUMNS];
    each_register!(2, 0 1, q => {
        let nonce = b.shuffle(nonces[q], &UP);
        each_register!(COLUMNS, 0 1 2 3, i => {
            x[q * COLUMNS + i] = b.xor(nonce, b.splat(&NUMBERS.0[i]));
        });
    });
    b.encrypt(aes.encrypting(), &mut x);
    each_register!(2, 0 1, q => {
        let at = q * COLUMNS;
        b.store(low_lanes(b, x[at], x[at + 1]), &mut derived.authentication[q * B::BLOCKS..]);
        derived.encryption.set_lanes(b, q, 0, low_lanes(b, x[at + 2], x[at + 3]));
    });
    let halves = if aes.rounds() == 14 { 2 } else { 1 };
    if halves == 2 {
        let mut x = [b.zero(); 4];
        each_register!(2, 0 1, q => {
            let nonce = b.shuffle(nonces[q], &UP);
            x[2 * q] = b.xor(nonce, b.splat(&NUMBERS.0[4]));
            x[2 * q + 1] = b.xor(nonce, b.splat(&NUMBERS.0[5]));
        });
        b.encrypt(aes.encrypting(), &mut x);
        each_register!(2, 0 1, q => {
            derived.encryption.set_lanes(b, q, 1, low_lanes(b, x[2 * q], x[2 * q + 1]));
        });
    }
    derived.encryption.expand_pair(b, halves);
}

/// Encrypts or decrypts a group with its tags, one per lane.
#[inline(always)]
fn crypt_lanes<B: Isa>(b: B, group: &mut Group<'_, '_, '_>, tags: [B::V; 2], keys: &GroupKeys) {
    const LAST_BIT: Block = (1u128 << 127).to_le_bytes();
    let mut counters = tags;
    for q in 0..2 {
        counters[q] = b.or(tags[q], b.splat(&LAST_BIT));
    }
    for line in 0..group.lines {
        let mut x = [b.zero(); 2 * COLUMNS];
        each_register!(2, 0 1, q => {
            each_register!(COLUMNS, 0 1 2 3, i => {
                x[q * COLUMNS + i] = b.add32(counters[q], b.splat(&NUMBERS.0[i]));
            });
            counters[q] = b.add32(counters[q], b.splat(&NUMBERS.0[COLUMNS]));
        });
        keys.encrypt_columns::<B, COLUMNS, { 2 * COLUMNS }>(b, &mut x);
        let x = [[x[0], x[1], x[2], x[3]], [x[4], x[5], x[6], x[7]]];
        xor_columns(b, group.messages, line * LINE, x);
    }
}

/// RFC 8452, sections 4 and 5, without the comparison of the tags.
///
/// Sealing must hash a message before it encrypts it, and opening must decrypt it before it hashes it. To keep all units
/// busy, one group of messages is in its second pass while the next group is in its first.
#[inline(always)]
fn crypt_each<B: Isa>(b: B, messages: &mut [&mut Message<'_>], opens: bool) {
    let groups = messages.len().div_ceil(GROUP);
    let mut derived = ArrayVec::<Derived, 2>::new();
    for _ in 0..groups.min(2) {
        derived.push(Derived::empty());
    }
    let mut powers = ArrayVec::<Powers, GROUP>::new();
    for _ in 0..messages.len().min(GROUP) {
        powers.push(Powers::empty());
    }
    let mut chunks = messages.chunks_mut(GROUP);
    let mut before: &mut [&mut Message<'_>] = &mut [];
    for g in 0..=groups {
        let current = chunks.next().unwrap_or_default();
        if !current.is_empty() {
            derive_keys(b, current, &mut derived[g % 2]);
        }
        let (hashed, crypted) = if opens { (before, current) } else { (current, before) };
        let (of_hashed, of_crypted) = if opens { (g + 1, g) } else { (g, g + 1) };
        let tags = {
            // With only one group there is only one `Derived`, which is also passed for the empty group.
            let of = |g: usize| &derived[g % derived.len()];
            let (of_hashed, of_crypted) = (of(of_hashed), of(of_crypted));
            both_passes(b, hashed, of_hashed, crypted, of_crypted, &mut powers, opens)
        };
        for (message, tag) in hashed.iter_mut().zip(tags) {
            message.tag = tag;
        }
        before = if opens { crypted } else { hashed };
    }
}

/// Hashes the messages of one group while it encrypts or decrypts those of another. Returns the tags of the hashed
/// ones.
#[inline(always)]
fn both_passes<B: Isa>(
    b: B,
    hashed: &[&mut Message<'_>],
    of_hashed: &Derived,
    crypted: &mut [&mut Message<'_>],
    of_crypted: &Derived,
    powers: &mut [Powers],
    opens: bool,
) -> [Block; GROUP] {
    let longest = hashed.iter().map(|message| message.data.len().max(message.aad.len())).max().unwrap_or(0);
    Powers::fill_each(b, &mut powers[..hashed.len()], &of_hashed.authentication, longest);
    let mut tags = [[0; BLOCK]; GROUP];
    for i in 0..hashed.len().max(crypted.len()) {
        let mut hash =
            hashed.get(i).map(|message| hash(b, &powers[i], &message.aad, plaintext(message, opens)));
        if let Some(message) = crypted.get_mut(i) {
            let (keys, start) = (of_crypted.encryption.of(i), counter(&message.tag));
            let data = &mut message.data;
            if let Some(hash) = &mut hash {
                xor_keystream_with::<Le32, B, _, _>(b, keys, &start, data, hash, None);
            } else {
                xor_keystream::<Le32, B, _>(b, keys, &start, data);
            }
        }
        if let (Some(hash), Some(message)) = (hash, hashed.get(i)) {
            let s = b.xor(hash.finish(b), b.load_bytes(message.nonce));
            tags[i] = b.first(b.and(s, b.one(&WITHOUT_LAST_BIT)));
        }
    }
    if !hashed.is_empty() {
        of_hashed.encryption.encrypt_each(b, &mut tags);
    }
    tags
}

/// Returns the plaintext of a message: the input when sealing, the output when opening.
#[inline(always)]
fn plaintext<'m>(message: &'m Message<'_>, opens: bool) -> Span<'m> {
    if opens { message.data.output() } else { message.data.input() }
}

/// Mask that clears the last bit of a block.
const WITHOUT_LAST_BIT: Block = (u128::MAX >> 1).to_le_bytes();

/// Returns the first counter block: the tag with its last bit set.
#[inline(always)]
fn counter(tag: &Block) -> Block {
    let mut block = *tag;
    block[15] |= 0x80;
    block
}

/// Moves the nonce up by four bytes, to make room for the counter.
const UP: Block = [255, 255, 255, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/// Derives the keys of a group (section 4): halves of encrypted counters with the nonce, first for the authentication
/// key, then for the encryption key.
#[inline(always)]
fn derive_keys<B: Isa>(b: B, messages: &[&mut Message<'_>], derived: &mut Derived) {
    let halves = 2 + (messages[0].key.aes.rounds() - 6) / 2;
    let mut blocks = [[0; BLOCK]; 8];
    for (m, message) in messages.iter().enumerate() {
        let nonce = b.spread(b.shuffle(b.load_bytes(message.nonce), &UP));
        let mut counters = Counters::<B, Le32>::skipping(b, nonce, 0);
        for first in (0..halves).step_by(B::BLOCKS) {
            let mut x = counters.take::<1>(b);
            b.encrypt(message.key.aes.encrypting(), &mut x);
            b.store(x[0], &mut blocks[first..]);
        }
        derived.authentication[m] = low_halves(&blocks[0], &blocks[1]);
        for i in 1..halves / 2 {
            *derived.encryption.half(m, i - 1) = low_halves(&blocks[2 * i], &blocks[2 * i + 1]);
        }
    }
    wipe(&mut blocks);
    derived.encryption.expand(b, messages.len(), halves / 2 - 1);
}

/// Returns the first eight bytes of each block. It computes on numbers because blocks assembled from bytes in memory
/// are slow to load.
#[inline(always)]
fn low_halves(first: &Block, second: &Block) -> Block {
    let low = u128::from_le_bytes(*first) & u128::from(u64::MAX);
    (low | u128::from_le_bytes(*second) << 64).to_le_bytes()
}

/// Returns the state of `POLYVAL(H, AAD, plaintext, lengths)`, with all strings padded with zeros.
#[inline(always)]
fn hash<'p, 'd, B: Isa>(
    b: B,
    powers: &'p Powers,
    aad: &[u8],
    plaintext: Span<'d>,
) -> Polyval<'p, 'd, B, false> {
    let lengths = bit_lengths(aad.len() as u64, plaintext.len() as u64);
    let y = match aad {
        [] => b.zero(),
        _ => Polyval::<_, false>::new(b, powers, b.zero(), Span::from(aad), None).finish(b),
    };
    Polyval::new(b, powers, y, plaintext, Some(&lengths.to_le_bytes()))
}
