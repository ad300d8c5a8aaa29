//! Julius-ECB, regular (Bahack, CAESAR, first round), with the letters of its submission: `δ = E_K(0)`, `seed` the
//! polynomial in `δ` of everything, `μ = E_K(seed)`, the body `B[0] .. B[n-1]` of a zero block and the message, which is
//! aligned to the right with zeros before it.
//!
//! The masks `μ δ^i` cancel out in the hash. So who opens a message gets `μ` from its first block, which is the tag, and
//! can unmask and hash in one pass.

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Span};
use crate::engine::blocks::Loose;
use crate::engine::comb::{Chain, Strand};
use crate::engine::each::{self, Link};
use crate::engine::{Batch, FLIGHT, Lanes, Material, Message, encrypt_for_each, join, skip, xor};
use crate::primitives::aes::{Schedule, Shared};
use crate::primitives::gf128::{BigEndian, factor};

pub(crate) struct JuliusEcb;

impl Mode for JuliusEcb {
    /// The factor `δ`, and `δ` itself
    fn key(&self, backend: Backend, key: &[u8]) -> Material {
        let aes = Schedule::new(backend, key);
        let delta = encrypt_zero(backend, &aes);
        let mut material = Material::plain(aes);
        let [d0, d1] = factor::<BigEndian>(backend, &delta);
        material.subkeys[..3].copy_from_slice(&[d0, d1, delta]);
        material
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let mut seed = header(batch);
        step::<Hash, 1, 0>(batch, no_keys, &mut seed, &mut zeros(batch));
        for message in batch.messages.iter_mut() {
            align(message);
        }
        let mut b1: Blocks = batch.messages.iter().map(|message| first_block(message)).collect();
        step_of_some::<Hash, 1, 0>(batch, no_keys, &mut seed, &mut b1.clone());
        walk::<Hash, 1, 0>(batch, no_keys, &mut seed, aligned);

        let mu = encrypt_for_each(batch, seed.iter().map(|[seed]| *seed));
        let tags = encrypt_for_each(batch, mu.iter().copied());

        let mut mask: States<1> = mu.iter().map(|mu| [*mu]).collect();
        for ((message, b1), mu) in batch.messages.iter().zip(&mut b1).zip(&mu) {
            xor(b1, &more_mask(message, mu));
        }
        step::<Encrypt, 1, 1>(batch, encrypting, &mut mask, &mut b1);
        for (i, message) in batch.messages.iter_mut().enumerate() {
            message.tag = tags[i];
            message.data.set_block(0, &b1[i]);
            if has_odd_body(message) {
                mask[i] = [mu[i]];
            }
        }
        walk::<Encrypt, 1, 1>(batch, encrypting, &mut mask, aligned);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        let mut state: States<2> = header(batch).into_iter().map(|[seed]| [[0; BLOCK], seed]).collect();
        // `C[0] = E_K(μ)`, and there `μ` masks a zero block.
        let mut mu: Blocks = batch.messages.iter().map(|message| message.tag).collect();
        step::<Decrypt, 2, 1>(batch, decrypting, &mut state, &mut mu);
        for ([mask, seed], mu) in state.iter_mut().zip(&mu) {
            *mask = *mu;
            xor(seed, mu);
        }
        let mut b1: Blocks = batch.messages.iter().map(|message| message.data.block(0)).collect();
        step_of_some::<Decrypt, 2, 1>(batch, decrypting, &mut state, &mut b1);
        for (i, message) in batch.messages.iter_mut().enumerate() {
            if has_odd_body(message) {
                let more = more_mask(message, &mu[i]);
                xor(&mut b1[i], &more);
                state[i][0] = mu[i];
                xor(&mut state[i][1], &more);
            }
            if message.data.len() > 0 {
                message.data.set_block(0, &skip(&b1[i], padding(message)));
            }
        }
        walk::<Decrypt, 2, 1>(batch, decrypting, &mut state, to_message);

        let mu = encrypt_for_each(batch, state.iter().map(|[_, seed]| *seed));
        let tags = encrypt_for_each(batch, mu);
        for ((message, tag), b1) in batch.messages.iter_mut().zip(tags).zip(b1) {
            let wrong = first_bytes(&b1, padding(message));
            for ((t, computed), wrong) in message.tag.iter_mut().zip(tag).zip(wrong) {
                *t ^= (*t ^ computed) | wrong;
            }
        }
    }
}

fn encrypt_zero(backend: Backend, aes: &Schedule) -> Block {
    let mut zero = Loose::new();
    zero.push(aes, [0; BLOCK]);
    zero.encrypt(backend);
    zero.blocks[0]
}

/// A block of each message of a flight.
type Blocks = ArrayVec<Block, FLIGHT>;

/// The states of a flight's chains.
type States<const S: usize> = ArrayVec<[Block; S], FLIGHT>;

fn zeros(batch: &Batch<'_, '_, '_>) -> Blocks {
    batch.messages.iter().map(|_| [0; BLOCK]).collect()
}

/// The hash of `1 ‖ N ‖ |A| ‖ |M| ‖ A`, whose first step gives `δ ⊕ N`.
fn header(batch: &Batch<'_, '_, '_>) -> States<1> {
    let mut seed = States::<1>::new();
    let mut lengths = Blocks::new();
    for message in batch.messages.iter() {
        let mut n = *message.nonce.first_chunk().expect("a nonce of a block");
        xor(&mut n, &message.key.subkeys[2]);
        seed.push([n]);
        lengths.push(((message.aad.len() as u128) << 64 | message.bytes as u128).to_be_bytes());
    }
    step::<Hash, 1, 0>(batch, no_keys, &mut seed, &mut lengths);
    if batch.messages.iter().any(|message| !message.aad.is_empty()) {
        let mut strands = ArrayVec::<Strand<'_, 1, 0, 2>, FLIGHT>::new();
        for (message, seed) in batch.messages.iter().zip(&seed) {
            let constants = constants(message.key);
            strands.push(Strand { keys: [], constants, state: *seed, data: Span::from(&*message.aad) });
        }
        Hash::run(batch.backend, batch.schedule, &mut strands);
        keep(&mut seed, &strands);
    }
    seed
}

/// Zero bytes of the body between `B[0]` and the message.
fn padding(message: &Message<'_>) -> usize {
    message.bytes.next_multiple_of(BLOCK) - message.bytes
}

/// Whether the body has an odd number of blocks, three or more.
fn has_odd_body(message: &Message<'_>) -> bool {
    message.bytes > 0 && message.bytes.div_ceil(BLOCK).is_multiple_of(2)
}

/// What masks `B[1]` besides `μ δ`: `μ` where the body has an odd number of blocks.
fn more_mask(message: &Message<'_>, mu: &Block) -> Block {
    if has_odd_body(message) { *mu } else { [0; BLOCK] }
}

/// `B[1]` of a message to seal.
fn first_block(message: &Message<'_>) -> Block {
    join(&[0; BLOCK], padding(message), &message.data.block(0))
}

/// Moves what follows `B[1]` of a message to where its ciphertext goes; a message of whole blocks can stay where it is.
fn align(message: &mut Message<'_>) {
    let (bytes, padding) = (message.bytes, padding(message));
    if padding > 0 && bytes > BLOCK {
        message.data.copy(BLOCK - padding, bytes, BLOCK);
    }
}

/// What follows `B[1]` of a message to seal, once it is aligned.
fn aligned<'m>(message: &'m mut Message<'_>) -> Span<'m> {
    let data = if padding(message) > 0 { message.data.written() } else { message.data.reborrow() };
    let first = BLOCK.min(data.len());
    data.after(first)
}

/// What follows `B[1]` of a message to open, and goes where the message does. In place that is up to a block before it:
/// a chain writes no byte there that it has yet to read.
fn to_message<'m>(message: &'m mut Message<'_>) -> Span<'m> {
    let (padding, to) = (padding(message), message.data.len());
    let from = BLOCK.min(to);
    message.data.part_at(from, to, from - padding)
}

/// The first bytes of a block, and zeros.
fn first_bytes(block: &Block, bytes: usize) -> Block {
    let mut first = *block;
    xor(&mut first, &join(&[0; BLOCK], bytes, &skip(block, bytes)));
    first
}

/// The keys of a chain.
type Keys<const K: usize> = fn(&Material) -> [Shared<'_>; K];

fn no_keys(_: &Material) -> [Shared<'_>; 0] {
    []
}

fn encrypting(key: &Material) -> [Shared<'_>; 1] {
    [key.aes.encrypting()]
}

fn decrypting(key: &Material) -> [Shared<'_>; 1] {
    [key.aes.decrypting()]
}

/// The factor `δ`.
fn constants(key: &Material) -> [&Block; 2] {
    let [d0, d1, ..] = &key.subkeys;
    [d0, d1]
}

/// Takes one block of each message through its chain.
fn step<M: Chain<S, K, 2>, const S: usize, const K: usize>(
    batch: &Batch<'_, '_, '_>,
    keys: Keys<K>,
    states: &mut [[Block; S]],
    blocks: &mut [Block],
) {
    let links: ArrayVec<_, FLIGHT> = batch
        .messages
        .iter()
        .map(|message| Link { keys: keys(message.key), constants: constants(message.key) })
        .collect();
    each::step::<M, S, K, 2>(batch.backend, &links, states, blocks);
}

/// The same, but the chains of empty messages stay where they are.
fn step_of_some<M: Chain<S, K, 2>, const S: usize, const K: usize>(
    batch: &Batch<'_, '_, '_>,
    keys: Keys<K>,
    states: &mut [[Block; S]],
    blocks: &mut [Block],
) {
    let before: States<S> = states.iter().copied().collect();
    step::<M, S, K>(batch, keys, states, blocks);
    for ((message, state), before) in batch.messages.iter().zip(states).zip(before) {
        if message.bytes == 0 {
            *state = before;
        }
    }
}

/// Takes what follows the first block of each message through its chain.
fn walk<M: Chain<S, K, 2>, const S: usize, const K: usize>(
    batch: &mut Batch<'_, '_, '_>,
    keys: Keys<K>,
    states: &mut [[Block; S]],
    part: for<'m> fn(&'m mut Message<'_>) -> Span<'m>,
) {
    let mut strands = ArrayVec::<Strand<'_, S, K, 2>, FLIGHT>::new();
    for (message, state) in batch.messages.iter_mut().zip(&*states) {
        let key = message.key;
        let data = part(message);
        strands.push(Strand { keys: keys(key), constants: constants(key), state: *state, data });
    }
    M::run(batch.backend, batch.schedule, &mut strands);
    keep(states, &strands);
}

fn keep<const S: usize, const K: usize>(states: &mut [[Block; S]], strands: &[Strand<'_, S, K, 2>]) {
    for (state, strand) in states.iter_mut().zip(strands) {
        *state = strand.state;
    }
}

/// `x ← x δ`
#[inline(always)]
fn times_delta<L: Lanes>(lanes: L, x: &mut L::Blocks) {
    lanes.multiply::<BigEndian>(x, [lanes.constant(0), lanes.constant(1)]);
}

struct Hash;

impl Chain<1, 0, 2> for Hash {
    const WRITES: bool = false;

    /// `seed ← seed δ ⊕ P[j]`
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [seed]: &mut [L::Blocks; 1], p: &mut L::Blocks) {
        times_delta(lanes, seed);
        lanes.xor(seed, p);
    }
}

struct Encrypt;

impl Chain<1, 1, 2> for Encrypt {
    const WRITES: bool = true;

    /// `mask ← mask δ`, `C[i] = E_K(B[i] ⊕ mask)`
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [mask]: &mut [L::Blocks; 1], b: &mut L::Blocks) {
        times_delta(lanes, mask);
        lanes.xor(b, mask);
        lanes.encrypt(b);
    }
}

struct Decrypt;

impl Chain<2, 1, 2> for Decrypt {
    const WRITES: bool = true;

    /// `mask ← mask δ`, `B[i] = E_K⁻¹(C[i]) ⊕ mask`, `seed ← seed δ ⊕ B[i]`
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [mask, seed]: &mut [L::Blocks; 2], c: &mut L::Blocks) {
        times_delta(lanes, mask);
        lanes.decrypt(c);
        lanes.xor(c, mask);
        times_delta(lanes, seed);
        lanes.xor(seed, c);
    }
}
