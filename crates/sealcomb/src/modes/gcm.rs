//! GCM and GMAC (SP 800-38D), with the paper's letters: `H` the hash key, `J0` the first counter block, `S` the hash.

use core::marker::PhantomData;
use core::ptr;

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Chunk, Isa, Kept, Kernel, REGISTERS, Span, Weave};
use crate::engine::blocks::encrypt_each_by;
use crate::engine::{Batch, BlockCipher, Column, Material, Message};
use crate::primitives::aes;
use crate::primitives::counter::{Be32, Counters, LAST_BYTES};
use crate::primitives::gf128::{GcmOrder, Unreduced, haswell};
use crate::primitives::ghash::{self, Ghash, Table};
use crate::primitives::permutation::Permutation;

/// GCM of a block cipher; as GMAC, its message is what the job has as additional data.
pub(crate) struct Gcm<C>(PhantomData<C>);

pub(crate) const AES: Gcm<aes::KeySchedule> = Gcm(PhantomData);
#[cfg(feature = "research")]
pub(crate) const SERPENT: Gcm<crate::primitives::serpent::KeySchedule> = Gcm(PhantomData);

impl<C: BlockCipher> Mode for Gcm<C> {
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        C::aes_key(key)
    }

    fn key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        self.keys(backend, &mut [(key, material)]);
    }

    fn keys(&self, backend: Backend, pairs: &mut [(&[u8], &mut Material)]) {
        // One key per lane: the CPU allocates and zeroes tables while it waits for products of the keys before.
        for pairs in pairs.chunks_mut(backend.blocks()) {
            for (key, material) in &mut *pairs {
                C::key(backend, key, material);
                // No kernel should allocate: a call makes it store its registers, which have secrets, on the stack.
                C::keep(material, Kept::new(Table::empty()));
            }
            backend.run(HashKeys::<C> { pairs, cipher: PhantomData });
        }
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        crypt_batch::<C, false>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        crypt_batch::<C, true>(batch);
    }
}

/// Number of messages of a set: one bit of a `u64` each.
const SET: usize = u64::BITS as usize;

/// From this number of messages on, it can be worthwhile to group them.
const FEW: usize = 4;

/// From this number of messages on, enough of them have equal numbers of registers if their lengths are mixed.
const MIXED: usize = 48;

/// Processes a batch. In small ones and on narrow registers, there are no groups.
#[inline(always)]
fn crypt_batch<C: BlockCipher, const OPENS: bool>(batch: &mut Batch<'_, '_, '_>) {
    if batch.messages.len() < FEW || batch.backend.blocks() == 1 {
        batch.backend.run(Each::<C, OPENS> { messages: batch.messages, cipher: PhantomData });
    } else {
        crypt_sets::<C, OPENS>(batch);
    }
}

#[inline(never)]
fn crypt_sets<C: BlockCipher, const OPENS: bool>(batch: &mut Batch<'_, '_, '_>) {
    for messages in batch.messages.chunks_mut(SET) {
        if let Some(classes) = classes(batch.backend, messages) {
            batch.backend.run(Groups::<C, OPENS> { messages, classes, cipher: PhantomData });
        } else {
            batch.backend.run(Each::<C, OPENS> { messages, cipher: PhantomData });
        }
    }
}

/// Returns the number of registers of each message if it is worthwhile to group messages. All of them have one key. The
/// number is 0 for a message that cannot be part of a group.
#[inline(always)]
fn classes(backend: Backend, messages: &[&mut Message<'_>]) -> Option<[u8; SET]> {
    let blocks = backend.blocks();
    if messages.len() < FEW {
        return None;
    }
    let (first, mut most) = (registers(blocks, messages[0]), 0);
    let mut classes = [0; SET];
    for (class, message) in classes.iter_mut().zip(messages) {
        let registers = registers(blocks, message);
        if !ptr::eq(message.key, messages[0].key) || registers != first && messages.len() < MIXED {
            return None;
        }
        *class = registers as u8;
        most = most.max(registers);
    }
    (most > 0).then_some(classes)
}

/// The number of registers of a message that can be part of a group; 0 for any other message.
#[inline(always)]
fn registers(blocks: usize, message: &Message<'_>) -> usize {
    // The counter blocks of a group must fit into the CPU's registers.
    let most = if blocks == 4 { 5 } else { 6 };
    let register = BLOCK * blocks;
    let registers = message.data.len().div_ceil(BLOCK).next_multiple_of(blocks) >> blocks.trailing_zeros();
    if message.nonce.len() == 12 && message.aad.len() <= register && registers <= most {
        registers
    } else {
        0
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
        tables.extend(self.pairs.iter_mut().map(|(_, material)| C::kept_mut(material).get_mut()));
        ghash::fill::<GcmOrder, B>(b, h, &mut tables);
    }
}

/// Messages of which those with equal numbers of registers are processed in groups. They have one key.
struct Groups<'b, 'm, 'a, C, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
    classes: [u8; SET],
    cipher: PhantomData<C>,
}

impl<C: BlockCipher, const OPENS: bool> Kernel for Groups<'_, '_, '_, C, OPENS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages, classes, .. } = self;
        assert!(B::BLOCKS > 1);
        let mut rest = u64::MAX >> (SET - messages.len());
        crypt_class::<C, B, OPENS, 1>(b, messages, &classes, &mut rest);
        crypt_class::<C, B, OPENS, 2>(b, messages, &classes, &mut rest);
        crypt_class::<C, B, OPENS, 3>(b, messages, &classes, &mut rest);
        crypt_class::<C, B, OPENS, 4>(b, messages, &classes, &mut rest);
        crypt_class::<C, B, OPENS, 5>(b, messages, &classes, &mut rest);
        if B::BLOCKS == 2 {
            crypt_class::<C, B, OPENS, 6>(b, messages, &classes, &mut rest);
        }
        if rest != 0 {
            let mut others = ArrayVec::<&mut Message<'_>, SET>::new();
            for (i, message) in messages.iter_mut().enumerate() {
                if rest >> i & 1 == 1 {
                    others.push(message);
                }
            }
            b.call(Each::<C, OPENS> { messages: &mut others, cipher: PhantomData });
        }
    }
}

/// Processes groups of messages of `R` registers, and removes them from the set `rest`.
#[inline(always)]
fn crypt_class<C: BlockCipher, B: Isa, const OPENS: bool, const R: usize>(
    b: B,
    messages: &mut [&mut Message<'_>],
    classes: &[u8; SET],
    rest: &mut u64,
) {
    let mut members = b.equal(classes, R as u8);
    loop {
        let (mut group, mut used) = ([0; 4], 0);
        for place in &mut group[..B::BLOCKS] {
            if members == 0 {
                return;
            }
            *place = members.trailing_zeros() as usize;
            used |= 1 << *place;
            members &= members - 1;
        }
        *rest &= !used;
        crypt_group::<C, B, OPENS, R>(b, messages, group);
    }
}

/// Processes a group: as many messages as a register has blocks, with one key and `R` registers each. Their tags are
/// computed together, one per lane.
///
/// Nothing of a message passes through memory between its parts: a load of several stores just before it would wait
/// until they have left the store buffer, and all younger instructions with it.
#[inline(always)]
fn crypt_group<C: BlockCipher, B: Isa, const OPENS: bool, const R: usize>(
    b: B,
    messages: &mut [&mut Message<'_>],
    group: [usize; 4],
) {
    let key = messages[0].key;
    let (keys, powers) = (C::of(key).encrypting::<B>(), table::<C>(key).products());
    let (mut nonces, mut x) = ([b.zero(); 4], [[b.zero(); R]; 4]);
    each_register!(4, 0 1 2 3, n => {
        if n < B::BLOCKS {
            let nonce: &[u8; 12] = messages[group[n]].nonce.first_chunk().expect("12 bytes");
            nonces[n] = b.load_bytes(nonce);
            let nonce = b.spread(nonces[n]);
            each_register!(R, r => {
                x[n][r] = b.xor(nonce, b.load(&LAST_BYTES[2 + r * B::BLOCKS..]));
            });
        }
    });
    let [nonces, ..] = b.transpose(nonces);
    let mut masks = b.xor(nonces, b.splat(&LAST_BYTES[1]));
    keys.encrypt_rows(b, &mut masks, &mut x);

    let mut sums = [b.zero(); 4];
    each_register!(4, 0 1 2 3, n => {
        if n < B::BLOCKS {
            let Message { aad, data, .. } = &mut *messages[group[n]];
            let (bytes, mut sum) = (data.len(), Unreduced::zero(b));
            let data = data.whole::<B, R>();
            let input = data.load(b);
            each_register!(R, r => {
                x[n][r] = b.xor(x[n][r], input[r]);
            });
            data.store(b, &x[n]);
            let mut ciphertext = input;
            if !OPENS {
                ciphertext = x[n];
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
            // The length block goes with the lane that has the sum of all lanes later.
            sums[n] = b.xor(sum.reduce::<GcmOrder>(b), b.one(&reversed_lengths(aad.len(), bytes)));
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

/// Messages that are processed one after the other.
struct Each<'b, 'm, 'a, C, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
    cipher: PhantomData<C>,
}

impl<C: BlockCipher, const OPENS: bool> Kernel for Each<'_, '_, '_, C, OPENS> {
    type Output = ();

    /// Algorithms 4 and 5 of SP 800-38D, up to the comparison of the tags.
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let mut masks = Column::new();
        for message in self.messages.iter_mut() {
            // `J0` is kept where the tag will be: to hash a long IV takes longer than a short message.
            message.tag = b.first(first_counter::<C, B>(b, message.key, message.nonce));
            masks.push(message.tag);
        }
        encrypt_each_by::<C, B>(b, self.messages, &mut masks);
        for (message, mask) in self.messages.iter_mut().zip(&masks) {
            let s = crypt::<C, B, OPENS>(b, message);
            message.tag = b.first(b.xor(s, b.one(mask)));
        }
    }
}

#[inline(always)]
fn table<C: BlockCipher>(key: &Material) -> &Table {
    C::kept(key).get()
}

/// `J0`, in the first lane: the IV and the number 1, or the hash of the IV where it hasn't 96 bits.
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

/// The bit lengths of two strings of bytes as the hash's last block.
#[inline(always)]
fn lengths(first: usize, second: usize) -> Block {
    (u128::from(8 * first as u64) << 64 | u128::from(8 * second as u64)).to_be_bytes()
}

/// Returns the block of [`lengths`], byte-reversed.
#[inline(always)]
fn reversed_lengths(first: usize, second: usize) -> Block {
    (u128::from(8 * first as u64) << 64 | u128::from(8 * second as u64)).to_le_bytes()
}

/// Encrypts or decrypts a message and returns `S`, the hash of its additional data and ciphertext, in the first lane.
#[inline(always)]
fn crypt<C: BlockCipher, B: Isa, const OPENS: bool>(b: B, message: &mut Message<'_>) -> B::V {
    let Message { key, aad, data, tag: j0, .. } = message;
    // A span of its own stays in registers: the compiler knows that no store changes it.
    let data = &mut data.reborrow();
    let (keys, table) = (C::of(key).encrypting::<B>(), table::<C>(key));
    let mut counters = Counters::<B, Be32>::skipping(b, b.splat(j0), 1);
    let mut hash = Ghash::new(b, table);
    let group = REGISTERS * BLOCK * B::BLOCKS;
    let lengths = b.one(&lengths(aad.len(), data.len()));

    // A short message is one group with its additional data and its lengths, and takes one reduction.
    let aad_blocks = aad.len().div_ceil(BLOCK);
    let aad = Span::from(&**aad);
    let short = data.len() <= group && aad_blocks + data.len().div_ceil(BLOCK) < Table::count::<B>();
    if !short {
        hash.absorb_string(b, &aad);
    }

    // What is left for the last group, with the lengths, is never nothing unless the message is empty.
    let mut at = 0;
    while data.len() - at > group {
        let mut x: [B::V; REGISTERS] = counters.take(b);
        // The ciphertext to hash meanwhile: this group's when opening, the one's before it when sealing.
        let from = if OPENS { Some(at) } else { at.checked_sub(group) };
        if let Some(from) = from {
            hash.begin(b, 0);
            let mut absorb = Absorb::<B, OPENS> { hash: &mut hash, chunk: data.chunk(from) };
            keys.encrypt_with(b, &mut x, &mut absorb);
            hash.end(b);
        } else {
            keys.encrypt(b, &mut x);
        }
        let mut chunk = data.chunk::<B, REGISTERS>(at);
        for r in 0..REGISTERS {
            chunk.store(b, r, b.xor(x[r], chunk.load(b, r)));
        }
        at += group;
    }
    let blocks = (data.len() - at).div_ceil(BLOCK);
    if !OPENS && at > 0 {
        // Apart from what opens and what is short, which have nothing to hash meanwhile.
        each_count!(blocks.div_ceil(B::BLOCKS), R => {
            let mut x: [B::V; R] = counters.take(b);
            hash.begin(b, 0);
            let mut absorb = Absorb::<B, OPENS> { hash: &mut hash, chunk: data.chunk(at - group) };
            // Between the rounds is place for a piece a register.
            for piece in R..REGISTERS {
                absorb.thread(b, piece);
            }
            keys.encrypt_with(b, &mut x, &mut absorb);
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
            let mut x: [B::V; R] = counters.take(b);
            keys.encrypt(b, &mut x);
            last_group::<B, OPENS, R>(b, &mut hash, data, at, &x);
        });
    }
    hash.absorb(b, lengths, 1);
    hash.end(b);
    hash.value(b)
}

/// Adds the keystream to the last group of a message, and hashes its ciphertext.
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

/// Hashes a group of ciphertext, a register between two AES rounds: what is read when opening, what was written when
/// sealing.
struct Absorb<'h, 't, 'd, B: Isa, const OPENS: bool> {
    hash: &'h mut Ghash<'t, B>,
    chunk: Chunk<'d, B, REGISTERS>,
}

impl<B: Isa, const OPENS: bool> Weave<B> for Absorb<'_, '_, '_, B, OPENS> {
    #[inline(always)]
    fn thread(&mut self, b: B, piece: usize) {
        let r = Ghash::<B>::register(piece, REGISTERS);
        let x = if OPENS { self.chunk.load(b, r) } else { self.chunk.load_written(b, r) };
        self.hash.absorb_register(b, REGISTERS, r, x);
    }
}
