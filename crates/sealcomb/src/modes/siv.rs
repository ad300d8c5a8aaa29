//! AES-SIV (RFC 5297), with its letters: `K1 ‖ K2` the key, `S_1 … S_n` the strings, of which the message is the last, `D`
//! what S2V has made of those before it, `V` the synthetic IV, which is the tag.
//!
//! ```text
//! D ← CMAC(K1, 0^128)
//! for each associated string S:  D ← 2 D ⊕ CMAC(K1, S)
//! V ← CMAC(K1, P xorend D)                     the last 16 bytes of P plus D
//!     CMAC(K1, 2 D ⊕ (P ‖ 10…0))               if P has fewer
//! C ← P ⊕ CTR(K2, V without bits 31 and 63)
//! ```
//!
//! All that is a chain is CMAC's, and goes through the comb.

use alloc::boxed::Box;

use super::Mode;
use super::cmac::{chain, chained, subkeys};
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, Span, Wiped, read_part};
use crate::engine::blocks::{Loose, encrypt_block, keystream};
use crate::engine::{Batch, Column, Material, Message, PADDING, join, share_key, skip, xor};
use crate::primitives::aes::Schedule;
use crate::primitives::counter::Be128;

pub(crate) struct Siv;

impl Mode for Siv {
    /// `K2` as the cipher's key, `K1` as the hash's; of that CMAC's subkeys and the first `D`.
    fn key(&self, backend: Backend, key: &[u8]) -> Material {
        let (k1, k2) = key.split_at(key.len() / 2);
        let mac = Schedule::new(backend, k1);
        let mut material = Material::plain(Schedule::new(backend, k2));
        let [whole, padded] = subkeys(backend, &mac);
        // `0^128` is a whole block.
        material.subkeys[..3].copy_from_slice(&[whole, padded, backend.run(Encrypt { aes: &mac, x: whole })]);
        material.hash = Some(Box::new(Wiped::new(mac)));
        material
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let mut d = Column::new();
        hash_strings(batch, &mut d);
        hash_message(batch, &mut d, |message| message.data.input());
        for (message, v) in batch.messages.iter_mut().zip(&d) {
            message.tag = *v;
        }
        encrypt(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        encrypt(batch);
        let mut d = Column::new();
        hash_strings(batch, &mut d);
        hash_message(batch, &mut d, |message| message.data.output());
        for (message, v) in batch.messages.iter_mut().zip(&d) {
            message.tag = *v;
        }
    }
}

struct Encrypt<'a> {
    aes: &'a Schedule,
    x: Block,
}

impl Kernel for Encrypt<'_> {
    type Output = Block;

    #[inline(always)]
    fn run<B: Isa>(mut self, b: B) -> Block {
        encrypt_block(b, self.aes.encrypting(), &mut self.x);
        self.x
    }
}

fn mac(key: &Material) -> &Schedule {
    key.hash.as_deref().expect("a key of SIV has `K1`")
}

// Functions with a block or more of each message are not inlined, so that they take the stack one after the other.

/// `C = P ⊕ CTR(K2, Q)`, where `Q` is `V` with the first bits of its last two words cleared (section 2.5).
#[inline(never)]
fn encrypt(batch: &mut Batch<'_, '_, '_>) {
    const CLEAR: u128 = !(1 << 31 | 1 << 63);
    keystream::<Be128>(batch, |message| (u128::from_be_bytes(message.tag) & CLEAR).to_be_bytes());
}

/// `D` of each message after its associated strings (section 2.4): the additional data, then a nonce if there is one
/// (section 3).
#[inline(never)]
fn hash_strings(batch: &Batch<'_, '_, '_>, d: &mut Column) {
    d.extend(batch.messages.iter().map(|message| message.key.subkeys[2]));
    let most = batch.messages.iter().map(|message| strings(message)).max().unwrap_or(0);
    for i in 0..most {
        let mut macs = Column::new();
        cmac(batch, |message| string(message, i), &mut macs);
        for ((message, d), mac) in batch.messages.iter().zip(&mut *d).zip(&macs) {
            if i < strings(message) {
                *d = double(d);
                xor(d, mac);
            }
        }
    }
}

/// How many associated strings a message has.
fn strings(message: &Message<'_>) -> usize {
    message.aad.strings() + usize::from(!message.nonce.is_empty())
}

/// An associated string of a message, or an empty one where there are fewer.
fn string<'m>(message: &'m Message<'_>, number: usize) -> &'m [u8] {
    if number < message.aad.strings() {
        message.aad.string(number)
    } else if number < strings(message) {
        message.nonce
    } else {
        &[]
    }
}

/// `CMAC(K1, S)` of a string of each message; once where it is one string in one place, as columns have it.
fn cmac<'m, 'a>(
    batch: &'m Batch<'_, '_, 'a>,
    string: impl Fn(&'m Message<'a>) -> &'m [u8],
    macs: &mut Column,
) {
    let first = string(&*batch.messages[0]);
    let same = share_key(batch.messages) && batch.messages.iter().all(|m| core::ptr::eq(string(m), first));
    let messages = if same { &batch.messages[..1] } else { &*batch.messages };
    macs.extend(messages.iter().map(|_| [0; BLOCK]));
    let whole = |message| &string(message)[..chained(string(message))];
    if messages.iter().any(|message| !whole(message).is_empty()) {
        chain(batch, mac, macs, |message| Span::from(whole(message)));
    }
    let mut last = Loose::new();
    for (message, c) in messages.iter().zip(&mut *macs) {
        let rest = &string(message)[whole(message).len()..];
        xor(c, &last_block(message.key, &read_part(rest), rest.len()));
        last.push(mac(message.key), *c);
    }
    last.encrypt(batch.backend);
    macs.clear();
    macs.extend(last.blocks.iter().copied());
    while macs.len() < batch.messages.len() {
        macs.push(macs[0]);
    }
}

/// What CMAC adds before its last call of the cipher: `S ⊕ K'`, or, where `S` isn't a whole block, `(S ‖ 10…0) ⊕ K''`.
fn last_block(key: &Material, s: &Block, bytes: usize) -> Block {
    let mut block = *s;
    xor(&mut block, &PADDING[bytes]);
    xor(&mut block, &key.subkeys[usize::from(bytes < BLOCK)]);
    block
}

/// `V` of each message from its `D`.
#[inline(never)]
fn hash_message<'m, 'a>(
    batch: &'m Batch<'_, '_, 'a>,
    d: &mut Column,
    plaintext: impl Fn(&'m Message<'a>) -> Span<'m>,
) {
    // `D` reaches the last 16 bytes, which are in the last one or two blocks; those before them are as they are.
    let before = |message: &Message<'_>| message.data.len().saturating_sub(BLOCK) / BLOCK * BLOCK;
    let mut c = Column::new();
    c.extend(batch.messages.iter().map(|_| [0; BLOCK]));
    if batch.messages.iter().any(|message| before(message) > 0) {
        chain(batch, mac, &mut c, |message| plaintext(message).first(before(message)));
    }

    let mut second_last = Loose::new();
    for ((message, c), d) in batch.messages.iter().zip(&mut c).zip(&*d) {
        let at = before(message);
        if message.data.len() - at > BLOCK {
            xor(c, &plaintext(message).block(at));
            xor(c, &join(&[0; BLOCK], message.data.len() - at - BLOCK, d));
            second_last.push(mac(message.key), *c);
        }
    }
    second_last.encrypt(batch.backend);

    let mut second_last = second_last.blocks.iter();
    let mut last = Loose::new();
    for ((message, c), d) in batch.messages.iter().zip(&mut c).zip(&*d) {
        let bytes = message.data.len() - before(message);
        let mut s = plaintext(message).block(before(message) + if bytes > BLOCK { BLOCK } else { 0 });
        let bytes = if bytes > BLOCK {
            *c = *second_last.next().expect("a block for each such message");
            xor(&mut s, &skip(d, 2 * BLOCK - bytes));
            bytes - BLOCK
        } else if bytes == BLOCK {
            xor(&mut s, d);
            bytes
        } else {
            xor(&mut s, &PADDING[bytes]);
            xor(&mut s, &double(d));
            BLOCK
        };
        xor(c, &last_block(message.key, &s, bytes));
        last.push(mac(message.key), *c);
    }
    last.encrypt(batch.backend);
    d.copy_from_slice(&last.blocks);
}

/// `2 D` in CMAC's field.
fn double(d: &Block) -> Block {
    let d = u128::from_be_bytes(*d);
    (d << 1 ^ (d >> 127).wrapping_neg() & 0x87).to_be_bytes()
}
