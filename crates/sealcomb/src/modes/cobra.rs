//! COBRA (Andreeva, Luykx, Mennink, Yasuda, FSE 2014), with the paper's letters: two-round Feistel networks on pairs
//! of blocks, over a polynomial hash. Nandi's forgeries break it (ASIACRYPT 2014).
//!
//! ```text
//! L ← E_K(1)
//! V ← (L ⊕ N) L, D ← 4 L, Σ ← 0
//! for each whole pair M[2i-1], M[2i]:
//!     X ← M[2i-1] ⊕ V, Y ← M[2i] ⊕ X L, V ← Y L
//!     ρ ← E_K(Y ⊕ D), C[2i-1] ← X ⊕ ρ
//!     σ ← E_K(C[2i-1] ⊕ D ⊕ L), C[2i] ← Y ⊕ σ
//!     Σ ← Σ ⊕ ρ ⊕ σ, D ← 2 D
//! S ← D ⊕ L
//! if no bytes follow the pairs:
//!     T ← E_K(E_K(Σ ⊕ 3 S) ⊕ N ⊕ A ⊕ 5 S)    A: the hash of the additional data
//! if bytes F follow the pairs, or the message is empty:
//!     X ← F_1 ⊕ V, Y ← F_2 ⊕ X L             F_1 ‖ F_2 = F ‖ 10…0
//!     φ ← E_K(Y ⊕ 2 S)
//!     T ← E_K(E_K(Σ ⊕ φ ⊕ 6 S) ⊕ N ⊕ A ⊕ 22 S)
//!     C ← F ⊕ (E_K(T ⊕ 26 S) ‖ E_K(T ⊕ 38 S))
//! ```
//!
//! Integers denote polynomials: bit `k` is the coefficient of `x^k`. Details that were not published are this
//! library's choice. Only the products are a chain from pair to pair. The Feistel rounds of a pair depend on nothing
//! but `X`, `Y` and the mask `D`.

use alloc::boxed::Box;

use arrayvec::ArrayVec;

use super::Mode;
use super::poet::sum_blocks;
use crate::backend::{BLOCK, Backend, Block, ModeState, Wiped};
use crate::engine::blocks::encrypt_alone;
use crate::engine::comb::{Chain, ChainKey, chains};
use crate::engine::{Batch, Column, FLIGHT, Lanes, Material, Message, each};
use crate::primitives::block::{PADDING, add, before_last, head, padded, xor};
use crate::primitives::gf128::{BigEndian, Field, double_number, factor};

pub(crate) struct Cobra;

/// Bytes of a pair.
const PAIR: usize = 2 * BLOCK;

/// The initial masks of a key.
struct Masks {
    /// `L' = 4 L`, the first pair's mask.
    first: Block,
    /// `15 L'`, the mask of the first block of additional data.
    first_of_aad: Block,
}

impl Mode for Cobra {
    /// Computes `L = E_K(1)`, stored after its three blocks as a factor, and [`Masks`].
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        let [l] = encrypt_alone(backend, &material.aes, [(1u128).to_be_bytes()]);
        let [l0, l1, l2] = factor::<BigEndian>(backend, &l);
        material.subkeys = [l0, l1, l2, l];
        let masks = Masks { first: times::<4>(&l), first_of_aad: times::<60>(&l) };
        material.mode_state = ModeState::new(Box::new(Wiped::new(masks)));
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let (mut a, mut v, mut sums, mut rests) = (Column::new(), Column::new(), Sums::new(), Rests::new());
        hash_aad(batch, &mut a);
        first_values(batch, &mut v);
        pairs::<Encrypt>(batch, &mut v, &mut sums);
        fill_rests(batch, &mut rests);
        let mut tags = Column::new();
        compute_tags(batch, &a, &mut v, &sums, &rests, &mut tags);
        apply_keystream(batch, &tags, &sums, &mut rests);
        batch.set_tags(&tags);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        let (mut a, mut v, mut sums, mut rests) = (Column::new(), Column::new(), Sums::new(), Rests::new());
        hash_aad(batch, &mut a);
        first_values(batch, &mut v);
        pairs::<Decrypt>(batch, &mut v, &mut sums);
        let mut tags = Column::new();
        tags.extend(batch.messages.iter().map(|message| message.tag));
        fill_rests(batch, &mut rests);
        apply_keystream(batch, &tags, &sums, &mut rests);
        tags.clear();
        compute_tags(batch, &a, &mut v, &sums, &rests, &mut tags);
        batch.set_tags(&tags);
    }
}

/// Returns the product of a block and a polynomial. The bits of `POLYNOMIAL` are its coefficients.
fn times<const POLYNOMIAL: u8>(v: &Block) -> Block {
    let (mut multiple, mut power) = (0, u128::from_be_bytes(*v));
    for i in 0..=POLYNOMIAL.ilog2() {
        if POLYNOMIAL >> i & 1 == 1 {
            multiple ^= power;
        }
        power = double_number(power);
    }
    multiple.to_be_bytes()
}

/// Computes `A = E_K(acc ⊕ A_a ⊕ 3 mask)` of each message, or, if its last block `A_a` is partial,
/// `E_K(acc ⊕ (A_a ‖ 10…0) ⊕ 5 mask)`. `A` is 0 without additional data.
fn hash_aad(batch: &mut Batch<'_, '_, '_>, a: &mut Column) {
    if batch.messages.iter().all(|message| message.aad.is_empty()) {
        a.extend(batch.messages.iter().map(|_| [0; BLOCK]));
        return;
    }
    let mut sums = [Column::new(), Column::new()];
    for message in batch.messages.iter() {
        sums[0].push([0; BLOCK]);
        sums[1].push(message.key.mode_state.get::<Masks>().first_of_aad);
    }
    sum_blocks::<BigEndian>(batch, &mut sums, |message| &message.aad[..before_last(message.aad.len())]);
    let [acc, mask] = &sums;
    for ((message, acc), mask) in batch.messages.iter().zip(acc).zip(mask) {
        let rest = &message.aad[before_last(message.aad.len())..];
        let mut last = padded(rest);
        xor(&mut last, acc);
        xor(&mut last, &if rest.len() == BLOCK { times::<3>(mask) } else { times::<5>(mask) });
        a.push(last);
    }
    each::encrypt(batch, a);
    for (a, message) in a.iter_mut().zip(batch.messages.iter()) {
        if message.aad.is_empty() {
            *a = [0; BLOCK];
        }
    }
}

/// Computes `V = (L ⊕ N) L` of each message.
fn first_values(batch: &Batch<'_, '_, '_>, v: &mut Column) {
    let mut nonces = Column::new();
    for message in batch.messages.iter() {
        v.push(message.key.subkeys[3]);
        nonces.push(*nonce(message));
    }
    each::step::<Hash, 1, 0, 3, 1>(batch, chain_key, [v], [&mut nonces]);
}

fn nonce<'a>(message: &Message<'a>) -> &'a Block {
    message.nonce.first_chunk().expect("a nonce of a block")
}

/// Returns what a step of the hash needs of a key.
fn chain_key(key: &Material) -> ChainKey<'_, 0, 3> {
    let [l0, l1, l2, ..] = &key.subkeys;
    ChainKey { keys: [], constants: [l0, l1, l2] }
}

/// Returns the number of bytes of a message's whole pairs.
fn whole_pairs(message: &Message<'_>) -> usize {
    message.data.len() / PAIR * PAIR
}

/// The results of a message's pairs, from which the tag is computed.
struct Sum {
    /// `Σ`.
    sigma: Block,
    /// `S`.
    s: Block,
}

/// One [`Sum`] per message of a flight.
type Sums = ArrayVec<Sum, FLIGHT>;

/// Processes the whole pairs of each message.
fn pairs<M: Chain<3, 1, 4, 2>>(batch: &mut Batch<'_, '_, '_>, v: &mut Column, sums: &mut Sums) {
    fn chain_key(key: &Material) -> ChainKey<'_, 1, 4> {
        let [l0, l1, l2, l] = &key.subkeys;
        ChainKey { keys: [key.aes.encrypting()], constants: [l0, l1, l2, l] }
    }
    let (mut d, mut sigma) = (Column::new(), Column::new());
    for message in batch.messages.iter() {
        d.push(message.key.mode_state.get::<Masks>().first);
        sigma.push([0; BLOCK]);
    }
    chains::<M, 3, 1, 4, 2>(batch, chain_key, [v, &mut d, &mut sigma], |message| {
        let bytes = whole_pairs(message);
        message.data.part(0, bytes)
    });
    for ((message, d), sigma) in batch.messages.iter().zip(&d).zip(&sigma) {
        sums.push(Sum { sigma: *sigma, s: add(*d, message.key.subkeys[3]) });
    }
}

/// Computes `x ← x L`.
#[inline(always)]
fn times_l<L: Lanes>(lanes: L, x: &mut L::Blocks) {
    lanes.multiply::<BigEndian>(x, 0);
}

/// The hash step for one block of a pair.
struct Hash;

impl Chain<1, 0, 3> for Hash {
    const WRITES: bool = true;

    /// Computes `X = M[2i-1] ⊕ V`, `V ← X L` for the first block of a pair, and `Y = M[2i] ⊕ V`, `V ← Y L` for the
    /// second.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [v]: &mut [L::Blocks; 1], [m]: &mut [L::Blocks; 1]) {
        lanes.xor(m, v);
        *v = *m;
        times_l(lanes, v);
    }
}

/// Computes `x ← x ⊕ ρ`, where `ρ = E_K(y ⊕ D)`, and adds `ρ` to `sum`.
#[inline(always)]
fn add_rho<L: Lanes>(lanes: L, x: &mut L::Blocks, y: &L::Blocks, d: &L::Blocks, sum: &mut L::Blocks) {
    let mut rho = *y;
    lanes.xor(&mut rho, d);
    lanes.encrypt(&mut rho);
    lanes.xor(x, &rho);
    lanes.xor(sum, &rho);
}

/// Computes `y ← y ⊕ σ`, where `σ = E_K(x ⊕ D ⊕ L)`, and adds `σ` to `sum`.
#[inline(always)]
fn add_sigma<L: Lanes>(lanes: L, x: &L::Blocks, y: &mut L::Blocks, d: &L::Blocks, sum: &mut L::Blocks) {
    let mut sigma = *x;
    lanes.xor(&mut sigma, d);
    lanes.xor(&mut sigma, &lanes.constant(3));
    lanes.encrypt(&mut sigma);
    lanes.xor(y, &sigma);
    lanes.xor(sum, &sigma);
}

struct Encrypt;

impl Chain<3, 1, 4, 2> for Encrypt {
    const WRITES: bool = true;

    /// Computes `X = M[2i-1] ⊕ V`, `Y = M[2i] ⊕ X L`, `V ← Y L`; then `C[2i-1] = X ⊕ ρ`, `C[2i] = Y ⊕ σ`.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [v, d, sum]: &mut [L::Blocks; 3], [x, y]: &mut [L::Blocks; 2]) {
        lanes.xor(x, v);
        *v = *x;
        times_l(lanes, v);
        lanes.xor(y, v);
        *v = *y;
        times_l(lanes, v);
        add_rho(lanes, x, y, d, sum);
        add_sigma(lanes, x, y, d, sum);
        lanes.double::<BigEndian>(d);
    }
}

struct Decrypt;

impl Chain<3, 1, 4, 2> for Decrypt {
    const WRITES: bool = true;

    /// Computes `Y = C[2i] ⊕ σ`, `X = C[2i-1] ⊕ ρ`; then `M[2i-1] = X ⊕ V`, `M[2i] = Y ⊕ X L`, `V ← Y L`.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [v, d, sum]: &mut [L::Blocks; 3], [x, y]: &mut [L::Blocks; 2]) {
        add_sigma(lanes, x, y, d, sum);
        add_rho(lanes, x, y, d, sum);
        let mut product = *x;
        times_l(lanes, &mut product);
        lanes.xor(x, v);
        *v = *y;
        times_l(lanes, v);
        lanes.xor(y, &product);
        lanes.double::<BigEndian>(d);
    }
}

/// The bytes `F` of each message of a flight, zero-padded to a pair. Empty if no message has any.
type Rests = ArrayVec<[Block; 2], FLIGHT>;

/// Fills in the bytes `F` of all messages if [`has_rest`] is true of any.
fn fill_rests(batch: &Batch<'_, '_, '_>, rests: &mut Rests) {
    if batch.messages.iter().any(|message| has_rest(message)) {
        rests.extend(batch.messages.iter().map(|message| rest(message)));
    }
}

/// Returns the bytes `F` after a message's whole pairs, zero-padded to a pair.
#[inline]
fn rest(message: &Message<'_>) -> [Block; 2] {
    let at = whole_pairs(message);
    [message.data.block(at), message.data.block((at + BLOCK).min(message.data.len()))]
}

/// Returns whether a message has bytes `F` after its pairs, or is empty. An empty message counts as an empty `F`.
fn has_rest(message: &Message<'_>) -> bool {
    message.data.len() == 0 || !message.data.len().is_multiple_of(PAIR)
}

/// Computes `T = E_K(E_K(Σ ⊕ 3 S) ⊕ N ⊕ A ⊕ 5 S)` of each message. With bytes `F`, their hash `φ` is added to the
/// sum, and the multiples are `6 S` and `22 S`.
fn compute_tags(
    batch: &Batch<'_, '_, '_>,
    a: &[Block],
    v: &mut Column,
    sums: &[Sum],
    rests: &[[Block; 2]],
    tags: &mut Column,
) {
    if rests.is_empty() {
        tags.extend(batch.messages.iter().map(|_| [0; BLOCK]));
    } else {
        hash_rests(batch, v, sums, rests, tags);
    }
    for ((message, Sum { sigma, s }), tag) in batch.messages.iter().zip(sums).zip(&mut *tags) {
        if has_rest(message) {
            xor(tag, &times::<6>(s));
        } else {
            *tag = times::<3>(s);
        }
        xor(tag, sigma);
    }
    each::encrypt(batch, tags);
    for (((message, sum), a), tag) in batch.messages.iter().zip(sums).zip(a).zip(&mut *tags) {
        xor(tag, nonce(message));
        xor(tag, a);
        xor(tag, &if has_rest(message) { times::<22>(&sum.s) } else { times::<5>(&sum.s) });
    }
    each::encrypt(batch, tags);
}

/// Computes `φ = E_K(Y ⊕ 2 S)` of each message, from the pair `F ‖ 10…0`. Overwrites `v`.
fn hash_rests(
    batch: &Batch<'_, '_, '_>,
    v: &mut Column,
    sums: &[Sum],
    rests: &[[Block; 2]],
    phi: &mut Column,
) {
    let mut x = Column::new();
    for (message, [f1, f2]) in batch.messages.iter().zip(rests) {
        let (mut f1, mut f2) = (*f1, *f2);
        let r = message.data.len() % PAIR;
        if r < BLOCK {
            xor(&mut f1, &PADDING[r]);
        } else {
            xor(&mut f2, &PADDING[r - BLOCK]);
        }
        x.push(f1);
        phi.push(f2);
    }
    each::step::<Hash, 1, 0, 3, 1>(batch, chain_key, [v], [&mut x]);
    each::step::<Hash, 1, 0, 3, 1>(batch, chain_key, [v], [phi]);
    for (y, sum) in phi.iter_mut().zip(sums) {
        xor(y, &BigEndian::double_block(&sum.s));
    }
    each::encrypt(batch, phi);
}

/// Adds `E_K(T ⊕ 26 S) ‖ E_K(T ⊕ 38 S)` to the bytes `F` of each message, and writes them to its output.
fn apply_keystream(batch: &mut Batch<'_, '_, '_>, tags: &[Block], sums: &[Sum], rests: &mut Rests) {
    if rests.is_empty() {
        return;
    }
    let (mut z1, mut z2) = (Column::new(), Column::new());
    keystream::<26>(batch, tags, sums, &mut z1);
    keystream::<38>(batch, tags, sums, &mut z2);
    for (i, (message, rest)) in batch.messages.iter_mut().zip(rests).enumerate() {
        let at = whole_pairs(message);
        let r = message.data.len() - at;
        xor(&mut rest[0], &head(&z1[i], r.min(BLOCK)));
        xor(&mut rest[1], &head(&z2[i], r.saturating_sub(BLOCK)));
        message.data.set_block(at, &rest[0]);
        message.data.set_block(at + r.min(BLOCK), &rest[1]);
    }
}

/// Computes `E_K(T ⊕ MULTIPLE S)` of each message.
fn keystream<const MULTIPLE: u8>(batch: &Batch<'_, '_, '_>, tags: &[Block], sums: &[Sum], z: &mut Column) {
    for (tag, Sum { s, .. }) in tags.iter().zip(sums) {
        let mut block = *tag;
        xor(&mut block, &times::<MULTIPLE>(s));
        z.push(block);
    }
    each::encrypt(batch, z);
}
