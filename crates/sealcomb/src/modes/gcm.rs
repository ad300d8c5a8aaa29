//! GCM and GMAC (SP 800-38D), with the standard's letters.
//!
//! ```text
//! H ← E_K(0)
//! J0 ← IV || 1 if the IV has 96 bits, otherwise GHASH_H(IV || 0...0 || 8 |IV|)
//! C ← P ⊕ (E_K(J0 + 1) || E_K(J0 + 2) || ...)
//! S ← GHASH_H(A || 0...0 || C || 0...0 || 8 |A| || 8 |C|)
//! T ← S ⊕ E_K(J0)
//! ```
//!
//! Batches are processed in the [`frame`]. A long message alone is hashed while the cipher works on its next blocks.

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{
    BLOCK, Backend, Block, Isa, Kernel, ModeState, REGISTERS, Span, Tail, Weave, read_part,
};
use crate::engine::flights::{Alone, Flights};
use crate::engine::frame::{self, Framed};
use crate::engine::{Batch, BlockCipher, Material};
use crate::primitives::aes;
use crate::primitives::block::bit_lengths;
use crate::primitives::counter::{Be32, LAST_BYTES};
use crate::primitives::first_round::States;
use crate::primitives::gf128::GcmOrder;
use crate::primitives::ghash::{self, Absorb, Ghash, Table};
use crate::primitives::permutation::Permutation;

/// GCM with a block cipher. In GMAC, the message is the job's additional data.
pub(crate) struct Gcm<C>(PhantomData<C>);

pub(crate) const AES: Gcm<aes::KeySchedule> = Gcm(PhantomData);
#[cfg(feature = "research")]
pub(crate) const SERPENT: Gcm<crate::primitives::serpent::KeySchedule> = Gcm(PhantomData);

impl<C: BlockCipher> Mode for Gcm<C> {
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        C::aes_key(key)
    }

    fn expand_key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        self.expand_keys(backend, &mut [(key, material)]);
    }

    fn expand_keys(&self, backend: Backend, pairs: &mut [(&[u8], &mut Material)]) {
        // One key per lane: the CPU allocates and zeroes tables while it waits for products of the keys before.
        for pairs in pairs.chunks_mut(backend.blocks()) {
            for (key, material) in &mut *pairs {
                C::expand_key(backend, key, material);
                // No kernel should allocate: a call makes it store its registers, which have secrets, on the stack.
                *C::mode_state_mut(material) = ModeState::new(Table::empty());
            }
            backend.run(HashKeys::<C> { pairs, cipher: PhantomData });
        }
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        frame::run::<Crypt<C, false>>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        frame::run::<Crypt<C, true>>(batch);
    }

    fn flights(&self, opens: bool) -> Option<Flights> {
        Some(if opens { Flights::framed::<Crypt<C, true>>() } else { Flights::framed::<Crypt<C, false>>() })
    }
}

/// Up to one key per lane.
struct HashKeys<'p, 'k, 'm, C> {
    pairs: &'p mut [(&'k [u8], &'m mut Material)],
    cipher: PhantomData<C>,
}

impl<C: BlockCipher> Kernel for HashKeys<'_, '_, '_, C> {
    type Output = ();

    /// Computes the powers of `H = E_K(0)`.
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let mut h = [[b.zero()]; 4];
        for (h, (_, material)) in h.iter_mut().zip(&*self.pairs) {
            C::of(material).encrypting::<B>().encrypt(b, h);
        }
        let [h, ..] = b.transpose(h.map(|[h]| h));
        let mut tables = ArrayVec::<_, 4>::new();
        tables.extend(self.pairs.iter_mut().map(|(_, material)| C::mode_state_mut(material).get_mut()));
        ghash::fill::<GcmOrder, B>(b, h, &mut tables);
    }
}

/// The last byte of the first counter block of a message whose IV has 96 bits.
const FIRST: u8 = 2;

/// One direction of GCM.
pub(crate) struct Crypt<C, const OPENS: bool>(PhantomData<C>);

impl<C: BlockCipher, const OPENS: bool> Framed for Crypt<C, OPENS> {
    type Cipher = C;

    const NONCE: usize = 12;
    const OPENS: bool = OPENS;
    const FIRST: u8 = FIRST;

    #[inline(always)]
    fn bases<B: Isa>(b: B, ivs: [&[u8]; 4]) -> B::V {
        let mut whole = [&[0; 12]; 4];
        each_register!(4, 0 1 2 3, n => {
            whole[n] = ivs[n].first_chunk().expect("12 bytes");
        });
        b.load_each_12(whole)
    }

    #[inline(always)]
    fn later_base(iv: &[u8], carries: usize) -> Block {
        let mut block = read_part(iv);
        block[12..].copy_from_slice(&((carries as u32) << 8).to_be_bytes());
        block
    }
}

impl<C: BlockCipher, const OPENS: bool> Alone for Crypt<C, OPENS> {
    const TAGS: bool = true;

    #[inline(always)]
    fn alone<B: Isa>(b: B, key: &Material, iv: &[u8], aad: &[u8], data: Span<'_>) -> B::V {
        crypt::<C, B, OPENS>(b, key, iv, aad, data)
    }
}

#[inline(always)]
fn table<C: BlockCipher>(key: &Material) -> &Table {
    C::mode_state(key).get()
}

/// Returns `J0` in the first lane: an IV of 96 bits followed by the number 1, or the hash of any other IV.
#[inline(always)]
fn first_counter<C: BlockCipher, B: Isa>(b: B, key: &Material, iv: &[u8]) -> B::V {
    if iv.len() == 12 {
        let one = (1u128).to_be_bytes();
        return b.xor(b.load_bytes(iv), b.one(&one));
    }
    let mut hash = Ghash::new(b, table::<C>(key));
    hash.absorb_string(b, &iv.into());
    hash.begin(b, 1);
    hash.absorb(b, b.one(&lengths(0, iv.len())), 1);
    hash.end(b);
    hash.value(b)
}

/// Returns the last block of a hash: the lengths of two byte strings in bits.
#[inline(always)]
fn lengths(first: usize, second: usize) -> Block {
    bit_lengths(second as u64, first as u64).to_be_bytes()
}

/// Returns the block of [`lengths`], byte-reversed.
#[inline(always)]
pub(super) fn reversed_lengths(first: usize, second: usize) -> Block {
    bit_lengths(second as u64, first as u64).to_le_bytes()
}

/// Encrypts or decrypts a message and returns its tag in the first lane: algorithms 4 and 5 of SP 800-38D, up to the
/// comparison of the tags.
#[inline(always)]
fn crypt<C: BlockCipher, B: Isa, const OPENS: bool>(
    b: B,
    key: &Material,
    iv: &[u8],
    aad: &[u8],
    data: Span<'_>,
) -> B::V {
    // The additional data, the text and the lengths are multiplied by a table's powers.
    let blocks = aad.len().div_ceil(BLOCK) + data.len().div_ceil(BLOCK);
    if let Ok(iv) = iv.try_into()
        && aad.len() <= BLOCK * B::BLOCKS
        && blocks < Table::count::<B>()
    {
        let registers = data.len().div_ceil(BLOCK * B::BLOCKS);
        each_round!(1 2 3 4 5 6 7 8, R => {
            if registers == R {
                return crypt_short::<C, B, OPENS, R, { R + 1 }>(b, key, iv, aad, data);
            }
        });
    }
    crypt_long::<C, B, OPENS>(b, key, iv, aad, data)
}

/// Encrypts or decrypts a message of `R` registers with a register of additional data: one pass of the cipher, and one
/// reduction. `N` is `R + 1`.
#[inline(always)]
fn crypt_short<C: BlockCipher, B: Isa, const OPENS: bool, const R: usize, const N: usize>(
    b: B,
    key: &Material,
    iv: &[u8; 12],
    aad: &[u8],
    data: Span<'_>,
) -> B::V {
    let (bytes, table) = (data.len(), table::<C>(key));
    let text = Tail::<B, R>::whole(data);
    let input = text.load(b);
    // The last register is the mask of the tag.
    let mut x = [b.spread(b.load_bytes(iv)); N];
    each_register!(N, r => {
        let first = if r < R { usize::from(FIRST) + r * B::BLOCKS } else { 1 };
        x[r] = b.xor(x[r], b.load(&LAST_BYTES[first..]));
    });
    C::of(key).encrypting::<B>().encrypt(b, &mut x);
    let mut ciphertext = input;
    each_register!(R, r => {
        let output = b.xor(x[r], input[r]);
        if !OPENS {
            ciphertext[r] = output;
        }
        x[r] = output;
    });
    let mask = x[R];
    text.store(b, x.first_chunk().expect("R of R + 1 registers"));
    if !OPENS {
        text.trim(b, &mut ciphertext);
    }
    let (aad_blocks, blocks) = (aad.len().div_ceil(BLOCK), bytes.div_ceil(BLOCK));
    let mut hash = Ghash::new(b, table);
    hash.begin(b, aad_blocks + blocks + 1);
    if aad_blocks > 0 {
        hash.absorb(b, b.load_bytes(aad), aad_blocks);
    }
    each_register!(R, r => {
        hash.absorb(b, ciphertext[r], if r < R - 1 { B::BLOCKS } else { blocks - r * B::BLOCKS });
        hash.pin(b);
    });
    hash.absorb(b, b.one(&lengths(aad.len(), bytes)), 1);
    hash.end(b);
    b.xor(hash.value(b), mask)
}

/// Encrypts or decrypts any message.
#[inline(always)]
fn crypt_long<C: BlockCipher, B: Isa, const OPENS: bool>(
    b: B,
    key: &Material,
    iv: &[u8],
    aad: &[u8],
    mut data: Span<'_>,
) -> B::V {
    let data = &mut data;
    let keys = C::of(key).encrypting::<B>();
    let j0 = first_counter::<C, B>(b, key, iv);
    // Any other IV is hashed with a secret key, so its counters must not be indices.
    let prepared = key.prepared.get().filter(|_| iv.len() == 12);
    let rounds = prepared.map(|prepared| &prepared.first_rounds);
    let mut states = States::<B, Be32, _, true>::skipping(b, keys, b.spread(j0), FIRST - 1, 1, rounds);
    let mut hash = Ghash::new(b, table::<C>(key));
    let group = REGISTERS * BLOCK * B::BLOCKS;
    let lengths = b.one(&lengths(aad.len(), data.len()));

    // A short message is one group with its additional data and its lengths, and takes one reduction.
    let aad_blocks = aad.len().div_ceil(BLOCK);
    let aad = Span::from(aad);
    let short = data.len() <= group && aad_blocks + data.len().div_ceil(BLOCK) < Table::count::<B>();
    if !short {
        hash.absorb_string(b, &aad);
    }

    // The last group is only empty if the message is.
    let mut at = 0;
    while data.len() - at > group {
        let mut x: [B::V; REGISTERS] = states.take(b);
        // Meanwhile, ciphertext is hashed: that of this group when opening, that of the preceding one when sealing.
        let from = if OPENS { Some(at) } else { at.checked_sub(group) };
        if let Some(from) = from {
            hash.begin(b, 0);
            let mut absorb = Absorb::<B, _, OPENS, 2> { hash: &mut hash, chunk: &data.chunk(from) };
            states.finish(b, &mut x, &mut absorb);
            hash.end(b);
        } else {
            states.finish(b, &mut x, &mut ());
        }
        let mut chunk = data.chunk::<B, REGISTERS>(at);
        for r in 0..REGISTERS {
            chunk.store(b, r, b.xor(x[r], chunk.load(b, r)));
        }
        at += group;
    }
    let blocks = (data.len() - at).div_ceil(BLOCK);
    // The counter blocks of the last group have room for one more, which masks the tag.
    let mut mask = states.prepare(b, j0);
    if !OPENS && at > 0 {
        // Only here is there ciphertext to hash meanwhile.
        each_count!(blocks.div_ceil(B::BLOCKS), R => {
            let mut x: [B::V; R] = states.take(b);
            hash.begin(b, 0);
            let chunk = &data.chunk(at - group);
            // SSE instructions overwrite an operand, so they need more registers.
            if const { R == REGISTERS && B::BLOCKS == 1 } {
                let mut absorb = Absorb::<B, _, OPENS, 0> { hash: &mut hash, chunk };
                states.finish(b, &mut x, &mut absorb);
                let mut alone = [mask];
                states.finish(b, &mut alone, &mut ());
                [mask] = alone;
            } else {
                let mut absorb = Absorb::<B, _, OPENS, 2> { hash: &mut hash, chunk };
                // There is time for one piece per register between the rounds. The others come first.
                for piece in R + 1..REGISTERS {
                    absorb.thread(b, piece);
                }
                finish_both::<_, _, _, R, { R + 1 }>(b, &states, &mut x, &mut mask, &mut absorb);
            }
            hash.end(b);
            hash.begin(b, blocks + 1);
            last_group::<B, OPENS, R>(b, &mut hash, data, at, &x);
        });
    } else {
        if short {
            hash.begin(b, aad_blocks + blocks + 1);
            hash.absorb_part(b, &aad, 0, aad.len());
        } else {
            hash.begin(b, blocks + 1);
        }
        if blocks == 0 {
            let mut x = [mask];
            states.finish(b, &mut x, &mut ());
            [mask] = x;
        }
        each_count!(blocks.div_ceil(B::BLOCKS), R => {
            let mut x: [B::V; R] = states.take(b);
            // The CPU overlaps the hash with the next message by itself, except with registers of two blocks.
            if OPENS && B::BLOCKS == 2 {
                let ciphertext = load_last::<B, R>(b, data, at);
                let mut absorb = AbsorbLast { hash: &mut hash, ciphertext: &ciphertext, blocks };
                finish_both::<_, _, _, R, { R + 1 }>(b, &states, &mut x, &mut mask, &mut absorb);
                store_last(b, data, at, &ciphertext, &x);
            } else {
                finish_both::<_, _, _, R, { R + 1 }>(b, &states, &mut x, &mut mask, &mut ());
                last_group::<B, OPENS, R>(b, &mut hash, data, at, &x);
            }
        });
    }
    hash.absorb(b, lengths, 1);
    hash.end(b);
    b.xor(hash.value(b), mask)
}

/// Completes the encryption of `R` registers of counter blocks and of the block that masks the tag. `N` is `R + 1`.
#[inline(always)]
fn finish_both<B: Isa, K: Permutation<B>, W: Weave<B>, const R: usize, const N: usize>(
    b: B,
    states: &States<'_, B, Be32, K, true>,
    x: &mut [B::V; R],
    mask: &mut B::V,
    weave: &mut W,
) {
    let mut all = [*mask; N];
    all[..R].copy_from_slice(x);
    states.finish(b, &mut all, weave);
    *mask = all[R];
    x.copy_from_slice(&all[..R]);
}

/// Adds the keystream to the last group of a message and hashes its ciphertext.
#[inline(always)]
fn last_group<B: Isa, const OPENS: bool, const R: usize>(
    b: B,
    hash: &mut Ghash<'_, B>,
    data: &mut Span<'_>,
    mut at: usize,
    x: &[B::V; R],
) {
    for r in 0..R - 1 {
        let input = data.load(b, at);
        let output = b.xor(x[r], input);
        data.store(b, at, output);
        hash.absorb(b, if OPENS { input } else { output }, B::BLOCKS);
        at += BLOCK * B::BLOCKS;
    }
    let bytes = data.len() - at;
    let (input, output) = data.xor_part(b, at, x[R - 1]);
    hash.absorb(b, if OPENS { input } else { output }, bytes.div_ceil(BLOCK));
}

/// Loads the last group of a message from byte `at` on, zero-padded.
#[inline(always)]
fn load_last<B: Isa, const R: usize>(b: B, data: &Span<'_>, at: usize) -> [B::V; R] {
    let mut x = [b.zero(); R];
    for r in 0..R - 1 {
        x[r] = data.load(b, at + r * BLOCK * B::BLOCKS);
    }
    x[R - 1] = data.load_part(b, at + (R - 1) * BLOCK * B::BLOCKS);
    x
}

/// Adds the keystream to the last group of a message.
#[inline(always)]
fn store_last<B: Isa, const R: usize>(
    b: B,
    data: &mut Span<'_>,
    mut at: usize,
    ciphertext: &[B::V; R],
    x: &[B::V; R],
) {
    for r in 0..R - 1 {
        data.store(b, at, b.xor(x[r], ciphertext[r]));
        at += BLOCK * B::BLOCKS;
    }
    data.store_part(b, at, b.xor(x[R - 1], ciphertext[R - 1]));
}

/// Hashes the last group of a ciphertext, one register between two rounds.
struct AbsorbLast<'h, 't, B: Isa, const R: usize> {
    hash: &'h mut Ghash<'t, B>,
    ciphertext: &'h [B::V; R],
    blocks: usize,
}

impl<B: Isa, const R: usize> Weave<B> for AbsorbLast<'_, '_, B, R> {
    #[inline(always)]
    fn thread(&mut self, b: B, r: usize) {
        if r < R {
            let blocks = if r < R - 1 { B::BLOCKS } else { self.blocks - r * B::BLOCKS };
            self.hash.absorb(b, self.ciphertext[r], blocks);
        }
    }
}
