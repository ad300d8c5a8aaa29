//! GCM and GMAC (SP 800-38D), with the paper's letters: `H` the hash key, `J0` the first counter block, `S` the hash.

use alloc::boxed::Box;

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, REGISTERS, Span, Weave};
use crate::engine::blocks::{encrypt_block, encrypt_each};
use crate::engine::{Batch, FLIGHT, Material, Message};
use crate::primitives::aes::Schedule;
use crate::primitives::counter::{Be32, Counter, Counters};
use crate::primitives::ghash::{Ghash, Table};

/// GCM; as GMAC, its message is what the job has as additional data.
pub(crate) struct Gcm;

impl Mode for Gcm {
    fn key(&self, backend: Backend, key: &[u8]) -> Material {
        let mut material = Material::plain(Schedule::new(backend, key));
        material.table = Some(backend.run(HashKey { aes: &material.aes }));
        material
    }

    fn seal(&self, batch: &mut Batch<'_, '_>) {
        batch.backend.run(Crypt::<false> { messages: batch.messages });
    }

    fn open(&self, batch: &mut Batch<'_, '_>) {
        batch.backend.run(Crypt::<true> { messages: batch.messages });
    }
}

struct HashKey<'a> {
    aes: &'a Schedule,
}

impl Kernel for HashKey<'_> {
    type Output = Box<Table>;

    /// `H = E_K(0)` and its powers
    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> Box<Table> {
        let mut h = [0; BLOCK];
        encrypt_block(b, self.aes.encrypting(), &mut h);
        Box::new(Table::for_ghash(b, &h))
    }
}

struct Crypt<'b, 'a, const OPENS: bool> {
    messages: &'b mut [Message<'a>],
}

impl<const OPENS: bool> Kernel for Crypt<'_, '_, OPENS> {
    type Output = ();

    /// Algorithms 4 and 5 of SP 800-38D, up to the comparison of the tags.
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let mut j0 = ArrayVec::<Block, FLIGHT>::new();
        for message in self.messages.iter() {
            j0.push(first_counter(b, table(message.key), message.nonce));
        }
        let mut masks = j0.clone();
        encrypt_each(b, self.messages, &mut masks);
        for ((message, j0), mask) in self.messages.iter_mut().zip(&j0).zip(&masks) {
            let counter = Be32::skip(j0, 1);
            let s = crypt::<B, OPENS>(b, message.key, &counter, message.aad, &mut message.data);
            message.tag = b.first(b.xor(s, b.splat(mask)));
        }
    }
}

#[inline(always)]
fn table(key: &Material) -> &Table {
    key.table.as_deref().expect("a GCM key has its table")
}

/// `J0`: the IV and the number 1, or the hash of the IV where it hasn't 96 bits.
#[inline(always)]
fn first_counter<B: Isa>(b: B, table: &Table, iv: &[u8]) -> Block {
    if let Ok(iv) = <[u8; 12]>::try_from(iv) {
        let mut j0 = [0; BLOCK];
        j0[..12].copy_from_slice(&iv);
        j0[15] = 1;
        return j0;
    }
    let mut hash = Ghash::new(b, table);
    hash.absorb_string(b, iv);
    hash.begin(b, 1);
    hash.absorb(b, b.one(&lengths(0, iv.len())), 1);
    hash.end(b);
    b.first(hash.value(b))
}

/// The bit lengths of two strings of bytes as the hash's last block.
#[inline(always)]
fn lengths(first: usize, second: usize) -> Block {
    (((8 * first as u64) as u128) << 64 | (8 * second as u64) as u128).to_be_bytes()
}

/// Encrypts or decrypts a message and returns `S`, the hash of its additional data and ciphertext.
#[inline(always)]
fn crypt<B: Isa, const OPENS: bool>(
    b: B,
    key: &Material,
    counter: &Block,
    aad: &[u8],
    data: &mut Span<'_>,
) -> B::V {
    let keys = key.aes.encrypting();
    let table = table(key);
    let mut hash = Ghash::new(b, table);
    let mut counters = Counters::<B, Be32>::new(b, counter);
    let register = BLOCK * B::BLOCKS;
    let group = REGISTERS * register;
    let lengths = b.one(&lengths(aad.len(), data.len()));

    // A short message is one group with its additional data and its lengths, and takes one reduction.
    let aad_blocks = aad.len().div_ceil(BLOCK);
    let short = aad_blocks + data.len().div_ceil(BLOCK) < table.count();
    if !short {
        hash.absorb_string(b, aad);
    }

    let mut at = 0;
    while data.len() - at >= group {
        let mut x: [B::V; REGISTERS] = counters.take(b);
        if OPENS {
            hash.begin(b, table.count());
            b.encrypt_with(keys, &mut x, &mut Absorb::<B, false> { hash: &mut hash, data, at });
            hash.end(b);
        } else if at == 0 {
            b.encrypt(keys, &mut x);
        } else {
            // The ciphertext of the group before this one.
            hash.begin(b, table.count());
            let mut absorb = Absorb::<B, true> { hash: &mut hash, data, at: at - group };
            b.encrypt_with(keys, &mut x, &mut absorb);
            hash.end(b);
        }
        for r in 0..REGISTERS {
            data.store(b, at, b.xor(x[r], data.load(b, at)));
            at += register;
        }
    }
    if !OPENS && at > 0 {
        hash.begin(b, table.count());
        let mut absorb = Absorb::<B, true> { hash: &mut hash, data, at: at - group };
        for r in 0..REGISTERS {
            absorb.thread(b, r);
        }
        hash.end(b);
    }

    let blocks = (data.len() - at).div_ceil(BLOCK);
    let lengths_fit = blocks < table.count();
    if short {
        hash.begin(b, aad_blocks + blocks + 1);
        hash.absorb_bytes(b, aad);
    } else {
        hash.begin(b, blocks + usize::from(lengths_fit));
    }
    each_count!(blocks.div_ceil(B::BLOCKS), R => {
        let mut x: [B::V; R] = counters.take(b);
        b.encrypt(keys, &mut x);
        for r in 0..R {
            let input = data.load_part(b, at);
            let output = b.xor(x[r], input);
            let bytes = (data.len() - at).min(register);
            let ciphertext = if OPENS { input } else { b.keep(output, bytes) };
            data.store_part(b, at, output);
            hash.absorb(b, ciphertext, bytes.div_ceil(BLOCK));
            at += bytes;
        }
    });
    if !lengths_fit {
        hash.end(b);
        hash.begin(b, 1);
    }
    hash.absorb(b, lengths, 1);
    hash.end(b);
    hash.value(b)
}

/// Hashes a group of ciphertext, a register between two AES rounds.
struct Absorb<'h, 't, 'd, B: Isa, const WRITTEN: bool> {
    hash: &'h mut Ghash<'t, B>,
    data: &'h Span<'d>,
    at: usize,
}

impl<B: Isa, const WRITTEN: bool> Weave<B> for Absorb<'_, '_, '_, B, WRITTEN> {
    #[inline(always)]
    fn thread(&mut self, b: B, piece: usize) {
        let at = self.at + piece * BLOCK * B::BLOCKS;
        let x = if WRITTEN { self.data.load_written(b, at) } else { self.data.load(b, at) };
        self.hash.absorb(b, x, B::BLOCKS);
    }
}
