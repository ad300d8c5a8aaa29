//! Regular Julius-ECB (Bahack, Julius v1.0, CAESAR, round 1): ECB of blocks that are masked by the encrypted hash of
//! the whole input.
//!
//! ```text
//! δ ← E_K(0)
//! B[0] ← 0, B[1] ‖ … ‖ B[n-1] ← 0…0 ‖ M      zeros that make whole blocks, then the message
//! seed ← polynomial in δ with coefficients 1, N, |A| ‖ |M|, A, B[0], …, B[n-1]
//! μ ← E_K(seed)
//! mask[i] ← μ δ^i                            n = 1, or n is even
//! mask[0] ← μ, mask[1] ← μ δ ⊕ μ,
//!     mask[i] ← μ δ^(i-1) for i ≥ 2          otherwise
//! C[i] ← E_K(B[i] ⊕ mask[i])
//! T ← C[0]
//! ```
//!
//! `|A|` and `|M|` are numbers of bytes, 64 bits each. `A` is padded with zeros to whole blocks.
//!
//! The file follows the submission's reference code, except for the multiplication, in which that code has an error.
//! `C[0]` is `E_K(μ)`, so `μ` is known before anything else is decrypted: opening decrypts first and then hashes.

use alloc::boxed::Box;
use core::slice;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, ModeState, REGISTERS, Span, Weave, Wiped};
use crate::engine::blocks::{Pass, encrypt_alone, pass};
use crate::engine::comb::{Chain, ChainKey};
use crate::engine::{Batch, Column, Lanes, Material, Message, each};
use crate::primitives::aes::{KeySchedule, Shared};
use crate::primitives::block::{head, join, skip, xor};
use crate::primitives::gf128::{BigEndian, factor, multiply_reversed, split_factor};
use crate::primitives::ghash::{self, KeyHash, Table};
use crate::primitives::wipe;

pub(crate) struct JuliusEcb;

impl Mode for JuliusEcb {
    /// Computes `δ`, stored as the factor of a multiplication, and its powers.
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        material.aes.invert(backend);
        let [mut delta] = encrypt_alone(backend, &material.aes, [[0; BLOCK]]);
        material.subkeys[..3].copy_from_slice(&factor::<BigEndian>(backend, &delta));
        material.mode_state = ModeState::new(backend.run(PowersOf { delta: &delta }));
        wipe(slice::from_mut(&mut delta));
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        for message in batch.messages.iter_mut() {
            align(message);
        }
        let (mut b1, mut mu, mut tags) = (Column::new(), Column::new(), Column::new());
        b1.extend(batch.messages.iter().map(|message| first_block(message)));
        batch.backend.run(Seeds::<false> { messages: batch.messages, b1: &b1, out: &mut mu });
        each::encrypt(batch, &mut mu);
        tags.extend(mu.iter().copied());
        each::encrypt(batch, &mut tags);

        let mut mask = Column::new();
        for ((message, b1), mu) in batch.messages.iter().zip(&mut b1).zip(&mu) {
            xor(b1, &more_mask(message, mu));
            mask.push(*mu);
        }
        each::step::<Encrypt, 1, 1, 3, 1>(batch, encrypting, [&mut mask], [&mut b1]);
        for (i, message) in batch.messages.iter_mut().enumerate() {
            message.tag = tags[i];
            message.data.set_block(0, &b1[i]);
            if has_odd_body(message) {
                mask[i] = mu[i];
            }
        }
        batch.backend.run(Rests::<false> { messages: batch.messages, masks: &mask });
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        // `C[0] = E_K(μ)` since `B[0] = 0`, so a step with a zero mask returns `μ`.
        let (mut mu, mut mask) = (Column::new(), Column::new());
        for message in batch.messages.iter() {
            mu.push(message.tag);
            mask.push([0; BLOCK]);
        }
        each::step::<Decrypt, 1, 1, 3, 1>(batch, decrypting, [&mut mask], [&mut mu]);
        let mut b1 = Column::new();
        for ((message, mu), mask) in batch.messages.iter().zip(&mu).zip(&mut mask) {
            b1.push(message.data.block(0));
            *mask = *mu;
        }
        each::step::<Decrypt, 1, 1, 3, 1>(batch, decrypting, [&mut mask], [&mut b1]);
        for (i, message) in batch.messages.iter_mut().enumerate() {
            if has_odd_body(message) {
                xor(&mut b1[i], &more_mask(message, &mu[i]));
                mask[i] = mu[i];
            }
            if message.data.len() > 0 {
                message.data.set_block(0, &skip(&b1[i], padding(message)));
            }
        }
        batch.backend.run(Rests::<true> { messages: batch.messages, masks: &mask });

        let mut tags = Column::new();
        batch.backend.run(Seeds::<true> { messages: batch.messages, b1: &b1, out: &mut tags });
        each::encrypt(batch, &mut tags);
        each::encrypt(batch, &mut tags);
        for ((message, tag), b1) in batch.messages.iter_mut().zip(&tags).zip(&b1) {
            let wrong = head(b1, padding(message));
            for ((t, computed), wrong) in message.tag.iter_mut().zip(tag).zip(wrong) {
                *t ^= (*t ^ computed) | wrong;
            }
        }
    }
}

struct PowersOf<'a> {
    delta: &'a Block,
}

impl Kernel for PowersOf<'_> {
    type Output = Box<Wiped<Table>>;

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> Box<Wiped<Table>> {
        let mut table = Table::empty();
        ghash::fill::<BigEndian, B>(b, b.one(self.delta), &mut [&mut table]);
        table
    }
}

fn table(key: &Material) -> &Table {
    key.mode_state.get()
}

/// Returns the number of zero bytes between `B[0]` and the message in the body.
fn padding(message: &Message<'_>) -> usize {
    message.bytes.next_multiple_of(BLOCK) - message.bytes
}

/// Returns whether the body has an odd number of blocks, at least three.
fn has_odd_body(message: &Message<'_>) -> bool {
    message.bytes > 0 && message.bytes.div_ceil(BLOCK).is_multiple_of(2)
}

/// Returns what is added to `μ δ` in `mask[1]`: `μ` if the body has an odd number of blocks, else zero.
fn more_mask(message: &Message<'_>, mu: &Block) -> Block {
    if has_odd_body(message) { *mu } else { [0; BLOCK] }
}

/// Returns `B[1]` of a message to seal.
fn first_block(message: &Message<'_>) -> Block {
    join(&[0; BLOCK], padding(message), &message.data.block(0))
}

/// Moves the part of a message after `B[1]` to the position of its ciphertext. Messages of whole blocks are already
/// there.
fn align(message: &mut Message<'_>) {
    let (bytes, padding) = (message.bytes, padding(message));
    if padding > 0 && bytes > BLOCK {
        message.data.copy(BLOCK - padding, bytes, BLOCK);
    }
}

/// Returns the blocks after `B[1]` of a message. When sealing they have been aligned and are encrypted in place. When
/// opening they are decrypted to the message's position, up to a block lower; no byte is overwritten before it is
/// read.
fn rest<'m, const OPENS: bool>(message: &'m mut Message<'_>) -> Span<'m> {
    let (padding, to) = (padding(message), message.data.len());
    if OPENS {
        let from = BLOCK.min(to);
        return message.data.part_at(from, to, from - padding);
    }
    let data = if padding > 0 { message.data.written() } else { message.data.reborrow() };
    let first = BLOCK.min(data.len());
    data.after(first)
}

/// Returns the plaintext of the blocks after `B[1]`, to be hashed: before encryption when sealing, after decryption
/// when opening.
fn plain_rest<'m, const OPENS: bool>(message: &'m Message<'_>) -> Span<'m> {
    let padding = padding(message);
    if OPENS {
        let first = (BLOCK - padding).min(message.bytes);
        return message.data.output().first(message.bytes).after(first);
    }
    let data = if padding > 0 { message.data.output() } else { message.data.input() };
    let first = BLOCK.min(data.len());
    data.after(first)
}

/// Computes the seed of each message from its plaintext.
struct Seeds<'b, 'm, 'a, const OPENS: bool> {
    messages: &'b [&'m mut Message<'a>],
    b1: &'b [Block],
    out: &'b mut Column,
}

impl<const OPENS: bool> Kernel for Seeds<'_, '_, '_, OPENS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for (message, b1) in self.messages.iter().zip(self.b1) {
            self.out.push(seed(b, message, b1, &plain_rest::<OPENS>(message)));
        }
    }
}

/// Returns the hash of `1 ‖ N ‖ |A| ‖ |M| ‖ A ‖ B[0] ‖ … ‖ B[n-1]`.
#[inline(always)]
fn seed<B: Isa>(b: B, message: &Message<'_>, b1: &Block, rest: &Span<'_>) -> Block {
    let one = (1u128).to_be_bytes();
    let nonce = *message.nonce.first_chunk().expect("a nonce of a block");
    let lengths = ((message.aad.len() as u128) << 64 | message.bytes as u128).to_be_bytes();
    let head = [one, nonce, lengths];
    let body = &[[0; BLOCK], *b1][..if message.bytes > 0 { 2 } else { 1 }];
    let aad = Span::from(&*message.aad);

    let table = table(message.key);
    let mut hash = KeyHash::<B, BigEndian>::new(b, table);
    let blocks = head.len() + aad.len().div_ceil(BLOCK) + body.len() + rest.len() / BLOCK;
    let mut at = 0;
    if blocks <= Table::count::<B>() {
        hash.begin_last(b, blocks);
        hash.absorb_blocks(b, &head);
        hash.absorb_part(b, &aad, 0, aad.len());
        hash.absorb_blocks(b, body);
    } else {
        hash.begin(b, head.len() + if aad.len() > 0 { 0 } else { body.len() });
        hash.absorb_blocks(b, &head);
        if aad.len() > 0 {
            hash.end(b);
            hash.absorb_string(b, &aad);
            if rest.len() > 0 { hash.begin(b, body.len()) } else { hash.begin_last(b, body.len()) }
        }
        hash.absorb_blocks(b, body);
        if rest.len() > 0 {
            hash.end(b);
            at = hash.absorb_groups(b, rest, rest.len() - BLOCK);
            hash.begin_last(b, (rest.len() - at) / BLOCK);
        }
    }
    hash.absorb_part(b, rest, at, rest.len());
    hash.end(b);
    b.first(hash.value(b))
}

/// Encrypts or decrypts the blocks after `B[1]` of each message.
struct Rests<'b, 'm, 'a, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
    /// One block per message: the next block's mask divided by `δ`.
    masks: &'b [Block],
}

impl<const OPENS: bool> Kernel for Rests<'_, '_, '_, OPENS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for (message, mask) in self.messages.iter_mut().zip(self.masks) {
            let key = message.key;
            let mut rest = rest::<OPENS>(message);
            if rest.len() > 0 {
                let mut crypt = Crypt::<B, OPENS>::new(b, key, mask, rest.len().div_ceil(BLOCK * B::BLOCKS));
                pass(b, &mut rest, &mut crypt);
            }
        }
    }
}

/// Consecutive blocks of a message under their masks, each of which is `δ` times its predecessor.
struct Crypt<'k, B: Isa, const OPENS: bool> {
    aes: &'k KeySchedule,
    // Byte-reversed.
    masks: [B::V; REGISTERS],
    // The factor from a group's masks to the next group's masks.
    on: [B::V; 3],
}

impl<'k, B: Isa, const OPENS: bool> Crypt<'k, B, OPENS> {
    /// Computes the masks that follow `mask`, for at most `registers` registers.
    #[inline(always)]
    fn new(b: B, key: &'k Material, mask: &Block, registers: usize) -> Self {
        let table = table(key);
        let mask = split_factor::<BigEndian, B>(b, b.reverse(b.splat(mask)));
        let mut masks = [b.zero(); REGISTERS];
        for r in 0..REGISTERS {
            if r < registers {
                let powers = b.reverse_blocks(b.load(table.powers_from((r + 1) * B::BLOCKS)));
                masks[r] = multiply_reversed::<BigEndian, B>(b, powers, mask);
            }
        }
        let mut on = [b.zero(); 3];
        if registers > REGISTERS {
            on = split_factor::<BigEndian, B>(b, b.splat(&table.powers_from(REGISTERS * B::BLOCKS)[0]));
        }
        Self { aes: &key.aes, masks, on }
    }
}

impl<B: Isa, const OPENS: bool> Pass<B> for Crypt<'_, B, OPENS> {
    const WRITES: bool = true;

    /// Computes `mask ← mask δ`, then `C[i] = E_K(B[i] ⊕ mask)` or its inverse.
    #[inline(always)]
    fn step<const R: usize>(&mut self, b: B, x: &mut [B::V; R], bytes: usize) {
        if OPENS {
            b.decrypt(self.aes.decrypting(), x);
        }
        for r in 0..R {
            x[r] = b.xor(x[r], b.reverse(self.masks[r]));
        }
        let is_last = R < REGISTERS || bytes < BLOCK * B::BLOCKS;
        if OPENS && !is_last {
            for r in 0..R {
                self.thread(b, r);
            }
        }
        if !OPENS && is_last {
            b.encrypt(self.aes.encrypting(), x);
        } else if !OPENS {
            b.encrypt_with(self.aes.encrypting(), x, self);
        }
    }
}

/// Computes the next group's masks between the AES rounds.
impl<B: Isa, const OPENS: bool> Weave<B> for Crypt<'_, B, OPENS> {
    #[inline(always)]
    fn thread(&mut self, b: B, r: usize) {
        self.masks[r] = multiply_reversed::<BigEndian, B>(b, self.masks[r], self.on);
    }
}

/// Returns what the step that encrypts a message's first blocks needs of its key.
fn encrypting(key: &Material) -> ChainKey<'_, 1, 3> {
    chain_key(key, key.aes.encrypting())
}

/// Returns what the step that decrypts a message's first blocks needs of its key.
fn decrypting(key: &Material) -> ChainKey<'_, 1, 3> {
    chain_key(key, key.aes.decrypting())
}

fn chain_key<'k>(key: &'k Material, aes: Shared<'k>) -> ChainKey<'k, 1, 3> {
    let [d0, d1, d2, ..] = &key.subkeys;
    ChainKey { keys: [aes], constants: [d0, d1, d2] }
}

/// Computes `mask ← mask δ`.
#[inline(always)]
fn next_mask<L: Lanes>(lanes: L, mask: &mut L::Blocks) {
    lanes.multiply::<BigEndian>(mask, 0);
}

struct Encrypt;

impl Chain<1, 1, 3> for Encrypt {
    const WRITES: bool = true;

    /// Computes `mask ← mask δ`, `C[i] = E_K(B[i] ⊕ mask)`.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [mask]: &mut [L::Blocks; 1], [b]: &mut [L::Blocks; 1]) {
        next_mask(lanes, mask);
        lanes.xor(b, mask);
        lanes.encrypt(b);
    }
}

struct Decrypt;

impl Chain<1, 1, 3> for Decrypt {
    const WRITES: bool = true;

    /// Computes `mask ← mask δ`, `B[i] = E_K⁻¹(C[i]) ⊕ mask`.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [mask]: &mut [L::Blocks; 1], [c]: &mut [L::Blocks; 1]) {
        next_mask(lanes, mask);
        lanes.decrypt(c);
        lanes.xor(c, mask);
    }
}
