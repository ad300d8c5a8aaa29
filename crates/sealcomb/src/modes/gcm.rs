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
//! Short messages are processed in groups (see [`groups`]). A long message is hashed while the cipher works on its next
//! blocks. The first counter blocks of all messages are encrypted together.

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, ModeState, REGISTERS, Span, Weave};
use crate::engine::blocks::encrypt_each_by;
use crate::engine::groups::{self, Grouped};
use crate::engine::{Batch, BlockCipher, Column, Material, Message, share_key};
use crate::primitives::aes;
use crate::primitives::counter::{Be32, LAST_BYTES};
use crate::primitives::first_round::{Demand, FirstRounds, States, short_states};
use crate::primitives::gf128::{GcmOrder, Unreduced, haswell};
use crate::primitives::ghash::{self, Absorb, Ghash, Products, Table};
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
        groups::run::<Crypt<C, false>>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        groups::run::<Crypt<C, true>>(batch);
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
struct Crypt<C, const OPENS: bool>(PhantomData<C>);

impl<C: BlockCipher, const OPENS: bool> Grouped for Crypt<C, OPENS> {
    const FEW: usize = 4;
    const MOST: usize = 6;

    #[inline(always)]
    fn fits(blocks: usize, message: &Message<'_>) -> bool {
        message.nonce.len() == 12 && message.aad.len() <= BLOCK * blocks
    }

    /// Nothing of a message passes through memory between its parts: a load of several stores just before it would wait
    /// until they have left the store buffer, and all younger instructions with it.
    #[inline(always)]
    fn crypt_group<B: Isa, const R: usize>(b: B, messages: &mut [&mut Message<'_>], group: [usize; 4]) {
        let key = messages[0].key;
        let (keys, powers) = (C::of(key).encrypting::<B>(), table::<C>(key).products());
        let (mut nonces, mut x) = ([b.zero(); 4], [[b.zero(); R]; 4]);
        each_register!(4, 0 1 2 3, n => {
            if n < B::BLOCKS {
                let nonce: &[u8; 12] = messages[group[n]].nonce.first_chunk().expect("12 bytes");
                nonces[n] = b.load_bytes(nonce);
                x[n][0] = b.spread(nonces[n]);
            }
        });
        short_states::<B, _, R>(b, keys, usize::from(FIRST), &mut x);
        let [nonces, ..] = b.transpose(nonces);
        let masks = b.xor(nonces, b.splat(&LAST_BYTES[1]));
        let mut extra = [masks];
        keys.first_round(b, &mut extra);
        keys.finish_rows(b, &mut extra, &mut x);
        let [masks] = extra;

        let mut sums = [b.zero(); 4];
        each_register!(4, 0 1 2 3, n => {
            if n < B::BLOCKS {
                sums[n] = add_and_hash::<B, OPENS, R>(b, powers, messages[group[n]], &mut x[n]);
            }
        });
        let [s0, s1, s2, s3] = b.transpose(sums);
        let sums = b.xor(b.xor(s0, s1), b.xor(s2, s3));
        let h = b.splat(&table::<C>(key).powers_from(1)[0]);
        let s = haswell::<GcmOrder, B>(b, sums, h);
        let mut tags = [[0; BLOCK]; 4];
        b.store(b.xor(b.reverse(s), masks), &mut tags);
        for n in 0..B::BLOCKS {
            messages[group[n]].tag = tags[n];
        }
    }

    /// Algorithms 4 and 5 of SP 800-38D, up to the comparison of the tags.
    #[inline(always)]
    fn crypt_each<B: Isa>(b: B, messages: &mut [&mut Message<'_>]) {
        let mut masks = Column::new();
        for message in messages.iter_mut() {
            // The tag's place holds `J0` meanwhile. Hashing a long IV twice would take longer than a short message.
            message.tag = b.first(first_counter::<C, B>(b, message.key, message.nonce));
            masks.push(message.tag);
        }
        encrypt_each_by::<C, B>(b, messages, &mut masks);
        let mut rounds = None;
        if let Some(first) = messages.first() {
            let keys = C::of(first.key).encrypting::<B>();
            let run = |i: usize| (FIRST, messages[i].data.len());
            if let Some(demand) = Demand::of(b, keys, messages.len(), run, || share_key(messages)) {
                rounds.insert(FirstRounds::new()).fill(b, keys, &demand);
            }
        }
        for (message, mask) in messages.iter_mut().zip(&masks) {
            // Any other IV is hashed with a secret key, so its counters must not be indices.
            let rounds = rounds.as_ref().filter(|_| message.nonce.len() == 12);
            let s = crypt::<C, B, OPENS>(b, message, rounds);
            message.tag = b.first(b.xor(s, b.one(mask)));
        }
    }
}

/// Adds the keystream `x` to a message of a group. Returns its hash as a sum of all lanes, with the block of its
/// lengths not yet multiplied by `H`.
#[inline(always)]
fn add_and_hash<B: Isa, const OPENS: bool, const R: usize>(
    b: B,
    powers: Products<'_>,
    message: &mut Message<'_>,
    x: &mut [B::V; R],
) -> B::V {
    let Message { aad, data, .. } = message;
    let (bytes, mut sum) = (data.len(), Unreduced::zero(b));
    let data = data.whole::<B, R>();
    let input = data.load(b);
    each_register!(R, r => {
        x[r] = b.xor(x[r], input[r]);
    });
    data.store(b, x);
    let mut ciphertext = input;
    if !OPENS {
        ciphertext = *x;
        data.trim(b, &mut ciphertext);
    }
    each_register!(R, r => {
        ciphertext[r] = b.reverse(ciphertext[r]);
    });
    let blocks = bytes.div_ceil(BLOCK);
    powers.add(b, blocks, &ciphertext, &mut sum);
    if !aad.is_empty() {
        let aad_blocks = aad.len().div_ceil(BLOCK);
        powers.add(b, blocks + aad_blocks, &[b.reverse(b.load_bytes(aad))], &mut sum);
    }
    // The block of the lengths is in the lane that has the sum of all lanes later.
    b.xor(sum.reduce::<GcmOrder>(b), b.one(&reversed_lengths(aad.len(), bytes)))
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
    (u128::from(8 * first as u64) << 64 | u128::from(8 * second as u64)).to_be_bytes()
}

/// Returns the block of [`lengths`], byte-reversed.
#[inline(always)]
pub(super) fn reversed_lengths(first: usize, second: usize) -> Block {
    (u128::from(8 * first as u64) << 64 | u128::from(8 * second as u64)).to_le_bytes()
}

/// Encrypts or decrypts a message and returns `S`, the hash of its additional data and ciphertext, in the first lane.
#[inline(always)]
fn crypt<C: BlockCipher, B: Isa, const OPENS: bool>(
    b: B,
    message: &mut Message<'_>,
    rounds: Option<&FirstRounds<B>>,
) -> B::V {
    let Message { key, aad, data, tag: j0, .. } = message;
    // A local span stays in registers, because the compiler knows that no store changes it.
    let data = &mut data.reborrow();
    let keys = C::of(key).encrypting::<B>();
    let mut states = States::<B, Be32, _, true>::skipping(b, keys, j0, 1, rounds);
    let mut hash = Ghash::new(b, table::<C>(key));
    let group = REGISTERS * BLOCK * B::BLOCKS;
    let lengths = b.one(&lengths(aad.len(), data.len()));

    // A short message is one group with its additional data and its lengths, and takes one reduction.
    let aad_blocks = aad.len().div_ceil(BLOCK);
    let aad = Span::from(&**aad);
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
            let mut absorb = Absorb::<B, _, OPENS> { hash: &mut hash, chunk: data.chunk(from) };
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
    if !OPENS && at > 0 {
        // Only here is there ciphertext to hash meanwhile.
        each_count!(blocks.div_ceil(B::BLOCKS), R => {
            let mut x: [B::V; R] = states.take(b);
            hash.begin(b, 0);
            let mut absorb = Absorb::<B, _, OPENS> { hash: &mut hash, chunk: data.chunk(at - group) };
            // There is time for one piece per register between the rounds. The others come first.
            for piece in R..REGISTERS {
                absorb.thread(b, piece);
            }
            states.finish(b, &mut x, &mut absorb);
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
        each_count!(blocks.div_ceil(B::BLOCKS), R => {
            let mut x: [B::V; R] = states.take(b);
            states.finish(b, &mut x, &mut ());
            last_group::<B, OPENS, R>(b, &mut hash, data, at, &x);
        });
    }
    hash.absorb(b, lengths, 1);
    hash.end(b);
    hash.value(b)
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
