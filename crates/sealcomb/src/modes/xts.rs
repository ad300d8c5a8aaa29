//! XTS (IEEE Std 1619, NIST SP 800-38E), with the standard's letters. The key is `Key1 ‖ Key2`, and the nonce is the
//! tweak `i`.
//!
//! ```text
//! T_j ← E(Key2, i) α^j
//! C_j ← E(Key1, P_j ⊕ T_j) ⊕ T_j                      for all whole blocks P_0 … P_{m-1}
//!
//! if bytes P_m follow the whole blocks:
//!     CC ← E(Key1, P_{m-1} ⊕ T_{m-1}) ⊕ T_{m-1}
//!     C_m ← the first bytes of CC, as many as P_m has
//!     PP ← P_m ‖ the other bytes of CC
//!     C_{m-1} ← E(Key1, PP ⊕ T_m) ⊕ T_m
//! ```
//!
//! Decryption uses the inverse cipher with `Key1`, and for the last two blocks the masks `T_m` and `T_{m-1}` in this
//! order. The tweaks of a flight are encrypted together, and so are the blocks that steal ciphertext.

use ctutils::CtEq;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, ModeState};
use crate::engine::blocks::{Loose, encrypt_block, encrypt_blocks};
use crate::engine::xex::{Equation, Sum, Xex};
use crate::engine::{Batch, Column, Material, Message, share_key};
use crate::primitives::aes::KeySchedule;
use crate::primitives::block::rest_mask;
use crate::primitives::doubles::MaskedGroups;

pub(crate) struct Xts;

impl Mode for Xts {
    /// Returns `Key1`.
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        halves(key).0
    }

    /// Refuses equal keys (FIPS 140-3 Implementation Guidance, C.I): Rogaway's proof of XEX assumes independent ones.
    fn takes_key(&self, key: &[u8]) -> bool {
        let (key1, key2) = halves(key);
        !key1.ct_eq(key2).to_bool()
    }

    fn expand_key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        material.aes.invert(backend);
        material.mode_state = ModeState::new(KeySchedule::boxed(backend, halves(key).1));
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        batch.backend.run(Crypt::<false> { messages: batch.messages });
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        batch.backend.run(Crypt::<true> { messages: batch.messages });
    }
}

/// Returns `Key1` and `Key2`.
fn halves(key: &[u8]) -> (&[u8], &[u8]) {
    key.split_at(key.len() / 2)
}

struct Crypt<'b, 'm, 'a, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
}

impl<const OPENS: bool> Kernel for Crypt<'_, '_, '_, OPENS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages } = self;
        let mut tweaks = Column::new();
        tweaks.extend(messages.iter().map(|message| *message.nonce.first_chunk().expect("16 bytes")));
        encrypt_tweaks(b, messages, &mut tweaks);
        let mut masks = LastMasks { first: Column::new(), second: Column::new() };
        let mut groups = MaskedGroups::new(b, &tweaks[0]);
        for (i, message) in messages.iter_mut().enumerate() {
            let next = &tweaks[(i + 1).min(tweaks.len() - 1)];
            whole_blocks::<B, OPENS>(b, message, &mut groups, next, &mut masks);
        }
        if !masks.first.is_empty() {
            steal::<B, OPENS>(b, messages, &masks);
        }
    }
}

/// Computes `E(Key2, i)` of each message.
#[inline(always)]
fn encrypt_tweaks<B: Isa>(b: B, messages: &[&mut Message<'_>], tweaks: &mut [Block]) {
    if share_key(messages) {
        encrypt_blocks(b, key2(messages[0].key).encrypting(), tweaks);
    } else {
        for (message, tweak) in messages.iter().zip(tweaks) {
            encrypt_block(b, key2(message.key).encrypting(), tweak);
        }
    }
}

fn key2(key: &Material) -> &KeySchedule {
    key.mode_state.get()
}

/// The masks of the last two blocks of the messages that steal ciphertext, in the order of their use.
struct LastMasks {
    first: Column,
    second: Column,
}

/// Returns the number of bytes after the whole blocks, which is the length of `P_m`.
#[inline(always)]
fn ragged(message: &Message<'_>) -> usize {
    message.data.len() % BLOCK
}

/// Returns the number of bytes before the blocks that steal ciphertext.
#[inline(always)]
fn before_stealing(message: &Message<'_>) -> usize {
    match ragged(message) {
        0 => message.data.len(),
        bytes => message.data.len() - bytes - BLOCK,
    }
}

/// Encrypts or decrypts the blocks of a message that depend on no other block. Adds the masks of its last two blocks if
/// they steal ciphertext.
#[inline(always)]
fn whole_blocks<B: Isa, const OPENS: bool>(
    b: B,
    message: &mut Message<'_>,
    groups: &mut MaskedGroups<B>,
    next_tweak: &Block,
    masks: &mut LastMasks,
) {
    let bytes = before_stealing(message);
    let aes = &message.key.aes;
    let keys = if OPENS { aes.decrypting() } else { aes.encrypting() };
    let (at, rest) = groups.crypt::<OPENS>(b, keys, &mut message.data, bytes, next_tweak);
    if at == message.data.len() {
        return;
    }
    let blocks = &mut message.data.part(at, bytes);
    let rest = Xex::<B, _, _, Blocks<OPENS>>::over(b, blocks, keys, rest).masks;
    if ragged(message) > 0 {
        let before = (bytes - at) / BLOCK;
        let (before_last, last) = (b.first(rest.at(b, before)), b.first(rest.at(b, before + 1)));
        masks.first.push(if OPENS { last } else { before_last });
        masks.second.push(if OPENS { before_last } else { last });
    }
}

/// `C_j = E(Key1, P_j ⊕ T_j) ⊕ T_j`, or `P_j` from `C_j` with the inverse cipher.
struct Blocks<const OPENS: bool>;

impl<const OPENS: bool> Equation for Blocks<OPENS> {
    const IS_XEX: bool = true;
    const DECRYPTS: bool = OPENS;
    const SUM: Sum = Sum::Nothing;
}

/// Encrypts or decrypts the last whole block and the bytes after it, in all messages that have such bytes.
#[inline(always)]
fn steal<B: Isa, const OPENS: bool>(b: B, messages: &mut [&mut Message<'_>], masks: &LastMasks) {
    let mut first = Loose::new();
    for (message, mask) in messages.iter().filter(|message| ragged(message) > 0).zip(&masks.first) {
        let x = b.one(&message.data.block(before_stealing(message)));
        first.push(&message.key.aes, b.first(b.xor(x, b.one(mask))));
    }
    crypt_loose::<B, OPENS>(b, &mut first);

    let stealing = messages.iter_mut().filter(|message| ragged(message) > 0);
    let mut second = Loose::new();
    for (((message, cc), first), mask) in stealing.zip(&first.blocks).zip(&masks.first).zip(&masks.second) {
        let (bytes, at) = (ragged(message), before_stealing(message) + BLOCK);
        let cc = b.xor(b.one(cc), b.one(first));
        let pp = b.xor(message.data.load_part(b, at), b.and(cc, b.one(&rest_mask(bytes))));
        message.data.store_part(b, at, cc);
        second.push(&message.key.aes, b.first(b.xor(pp, b.one(mask))));
    }
    crypt_loose::<B, OPENS>(b, &mut second);

    let stealing = messages.iter_mut().filter(|message| ragged(message) > 0);
    for ((message, block), mask) in stealing.zip(&second.blocks).zip(&masks.second) {
        let at = before_stealing(message);
        let output = b.xor(b.one(block), b.one(mask));
        message.data.part(at, at + BLOCK).store_part(b, 0, output);
    }
}

/// Encrypts or decrypts loose blocks.
#[inline(always)]
fn crypt_loose<B: Isa, const OPENS: bool>(b: B, blocks: &mut Loose<'_>) {
    if OPENS {
        blocks.decrypt_on(b);
    } else {
        blocks.encrypt_on(b);
    }
}
