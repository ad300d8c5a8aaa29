//! AES-GCM-SIV (RFC 8452): every message has keys of its own, derived from the nonce.
//!
//! What comes before and after a message's bulk, four or six blocks of key derivation, a key expansion and the
//! encryption of the tag, is done for a group of messages side by side.

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{BLOCK, Block, Isa, Kernel, Span};
use crate::engine::blocks::encrypt_each;
use crate::engine::{Batch, Message};
use crate::primitives::aes::{GROUP, GroupKeys};
use crate::primitives::counter::{Le32, xor_keystream};
use crate::primitives::ghash::{Polyval, Table};
use crate::primitives::wipe;

pub(crate) struct GcmSiv;

impl Mode for GcmSiv {
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        for messages in batch.messages.chunks_mut(GROUP) {
            batch.backend.run(Crypt::<false> { messages });
        }
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        for messages in batch.messages.chunks_mut(GROUP) {
            batch.backend.run(Crypt::<true> { messages });
        }
    }
}

struct Crypt<'b, 'm, 'a, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
}

impl<const OPENS: bool> Kernel for Crypt<'_, '_, '_, OPENS> {
    type Output = ();

    /// RFC 8452, sections 4 and 5, up to the comparison of the tags.
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let mut authentication = [[0; BLOCK]; GROUP];
        let mut keys = GroupKeys::empty();
        derive_keys(b, self.messages, &mut authentication, &mut keys);
        if OPENS {
            for (i, message) in self.messages.iter_mut().enumerate() {
                let start = counter(&message.tag);
                xor_keystream::<Le32, B, _>(b, keys.of(i), &start, &mut message.data);
            }
        }
        let mut tags = [[0; BLOCK]; GROUP];
        let mut table = Table::empty();
        for ((message, h), tag) in self.messages.iter().zip(&authentication).zip(&mut tags) {
            let plaintext = if OPENS { message.data.output() } else { message.data.input() };
            let s = hash(b, &mut table, h, &message.aad, &plaintext);
            let s = b.xor(s, b.load_bytes(message.nonce));
            *tag = b.first(b.and(s, b.one(&WITHOUT_LAST_BIT)));
        }
        keys.encrypt_each(b, &mut tags);
        for (i, (message, tag)) in self.messages.iter_mut().zip(tags).enumerate() {
            message.tag = tag;
            if !OPENS {
                xor_keystream::<Le32, B, _>(b, keys.of(i), &counter(&tag), &mut message.data);
            }
        }
        wipe(&mut authentication);
    }
}

const WITHOUT_LAST_BIT: Block = (u128::MAX >> 1).to_le_bytes();

/// The first counter block: the tag with its last bit set.
#[inline(always)]
fn counter(tag: &Block) -> Block {
    let mut block = *tag;
    block[15] |= 0x80;
    block
}

/// Section 4: halves of encrypted counters with the nonce, first those of the authentication key, then those of the
/// encryption key.
#[inline(always)]
fn derive_keys<B: Isa>(
    b: B,
    messages: &[&mut Message<'_>],
    authentication: &mut [Block; GROUP],
    keys: &mut GroupKeys,
) {
    // Four bytes up, to make room for the counter.
    const UP: Block = [255, 255, 255, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    let halves = 2 + (messages[0].key.aes.rounds() - 6) / 2;
    let mut blocks = ArrayVec::<Block, { 6 * GROUP }>::new();
    for message in messages {
        let nonce = b.shuffle(b.load_bytes(message.nonce), &UP);
        for i in 0..halves {
            blocks.push(b.first(b.xor(nonce, b.one(&(i as u128).to_le_bytes()))));
        }
    }
    encrypt_each(b, messages, &mut blocks);
    for (m, halves) in blocks.chunks(halves).enumerate() {
        for (i, half) in halves.iter().enumerate() {
            let key = if i < 2 { &mut authentication[m] } else { keys.half(m, i / 2 - 1) };
            let at = 8 * (i % 2);
            key[at..at + 8].copy_from_slice(&half[..8]);
        }
    }
    wipe(&mut blocks);
    keys.expand(b, messages.len(), halves / 2 - 1);
}

/// `POLYVAL(H, AAD, plaintext, lengths)`, strings padded with zeros.
#[inline(always)]
fn hash<B: Isa>(b: B, table: &mut Table, h: &Block, aad: &[u8], plaintext: &Span<'_>) -> B::V {
    let blocks = aad.len().div_ceil(BLOCK) + plaintext.len().div_ceil(BLOCK) + 1;
    table.fill_for(b, h, blocks);
    let mut hash = Polyval::new(b, table);
    let lengths = u128::from(8 * aad.len() as u64) | u128::from(8 * plaintext.len() as u64) << 64;
    let lengths = b.one(&lengths.to_le_bytes());
    let aad = Span::from(aad);
    if blocks <= table.count() {
        hash.begin(b, blocks);
        hash.absorb_part(b, &aad, 0, aad.len());
        hash.absorb_part(b, plaintext, 0, plaintext.len());
    } else {
        hash.absorb_string(b, &aad);
        hash.absorb_string(b, plaintext);
        hash.begin(b, 1);
    }
    hash.absorb(b, lengths, 1);
    hash.end(b);
    hash.value(b)
}
