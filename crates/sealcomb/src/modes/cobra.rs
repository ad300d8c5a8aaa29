//! COBRA (Andreeva, Luykx, Mennink, Yasuda, FSE 2014), with its letters: `V` the chaining value, `X` and `Y` the halves of
//! a pair of blocks before its two Feistel rounds, `ρ` and `σ`, whose sum is `Σ`; `D` a pair's mask, `S` that of the tag,
//! `A` the hash of the additional data. Nandi's forgeries break it (ASIACRYPT 2014).
//!
//! The halves are a polynomial hash of the message, one chain from block to block. The Feistel rounds of all pairs stand
//! side by side.

use arrayvec::ArrayVec;

use super::Mode;
use super::poet::{States, sum_blocks};
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, Span};
use crate::engine::blocks::{PairPass, encrypt_block, pass_pairs};
use crate::engine::comb::{Chain, Strand};
use crate::engine::each::{self, Link};
use crate::engine::{Batch, Column, FLIGHT, Lanes, Material, Message, PADDING, encrypt_for_each, head, xor};
use crate::primitives::aes::{Schedule, Shared};
use crate::primitives::doubles::Doubles;
use crate::primitives::gf128::{BigEndian, Field, factor};

pub(crate) struct Cobra;

/// Bytes of a pair.
const PAIR: usize = 2 * BLOCK;

impl Mode for Cobra {
    /// `L = E_K(1)`, its factor, `L' = 4 L`, and `15 L'`, the first mask of the additional data
    fn key(&self, backend: Backend, key: &[u8]) -> Material {
        let mut material = Material::plain(Schedule::new(backend, key));
        let l = backend.run(One { aes: &material.aes });
        let [l0, l1] = factor::<BigEndian>(backend, &l);
        material.subkeys = [l0, l1, l, times(4, &l), times(60, &l), [0; BLOCK]];
        material
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let (mut a, mut v, mut sums, mut rests) = (Column::new(), Values::new(), Sums::new(), Rests::new());
        hash_aad(batch, &mut a);
        first_values(batch, &mut v);
        pairs::<ToHalves>(batch, &mut v, |message, bytes| message.data.reborrow().first(bytes));
        batch.backend.run(Feistel::<false> { messages: batch.messages, sums: &mut sums });
        rests.extend(batch.messages.iter().map(|message| rest(message)));
        let mut tags = Column::new();
        compute_tags(batch, &a, &mut v, &sums, &rests, &mut tags);
        apply_keystream(batch, &tags, &sums, &mut rests);
        for (message, tag) in batch.messages.iter_mut().zip(&tags) {
            message.tag = *tag;
        }
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        let (mut a, mut v, mut sums, mut rests) = (Column::new(), Values::new(), Sums::new(), Rests::new());
        hash_aad(batch, &mut a);
        first_values(batch, &mut v);
        batch.backend.run(Feistel::<true> { messages: batch.messages, sums: &mut sums });
        pairs::<FromHalves>(batch, &mut v, |message, bytes| message.data.written().first(bytes));
        let mut tags = Column::new();
        tags.extend(batch.messages.iter().map(|message| message.tag));
        rests.extend(batch.messages.iter().map(|message| rest(message)));
        apply_keystream(batch, &tags, &sums, &mut rests);
        tags.clear();
        compute_tags(batch, &a, &mut v, &sums, &rests, &mut tags);
        for (message, tag) in batch.messages.iter_mut().zip(&tags) {
            message.tag = *tag;
        }
    }
}

struct One<'a> {
    aes: &'a Schedule,
}

impl Kernel for One<'_> {
    type Output = Block;

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> Block {
        let mut l = (1u128).to_be_bytes();
        encrypt_block(b, self.aes.encrypting(), &mut l);
        l
    }
}

/// The multiple of a block by a polynomial of degree below 6, whose coefficients are a number's bits.
fn times(polynomial: u8, v: &Block) -> Block {
    let mut multiple = [0; BLOCK];
    let mut power = *v;
    for i in 0..6 {
        if polynomial >> i & 1 == 1 {
            xor(&mut multiple, &power);
        }
        power = BigEndian::double_block(&power);
    }
    multiple
}

/// `A = E_K(acc ⊕ A_a ⊕ 3 mask)`, or, where the last block isn't whole, with `A_a ‖ 10…0` and `5 mask`; 0 where there is no
/// additional data.
fn hash_aad(batch: &Batch<'_, '_, '_>, a: &mut Column) {
    if batch.messages.iter().all(|message| message.aad.is_empty()) {
        a.extend(batch.messages.iter().map(|_| [0; BLOCK]));
        return;
    }
    let before_last = |message: &Message<'_>| message.aad.len().saturating_sub(1) / BLOCK * BLOCK;
    let mut sums = States::new();
    sums.extend(batch.messages.iter().map(|message| [[0; BLOCK], message.key.subkeys[4]]));
    sum_blocks::<BigEndian>(batch, &mut sums, |message| &message.aad[..before_last(message)]);
    for (message, [acc, mask]) in batch.messages.iter().zip(&sums) {
        let (mut last, is_whole) = padded(&message.aad[before_last(message)..]);
        xor(&mut last, acc);
        xor(&mut last, &times(if is_whole { 3 } else { 5 }, mask));
        a.push(last);
    }
    encrypt_for_each(batch, a);
    for (a, message) in a.iter_mut().zip(batch.messages.iter()) {
        if message.aad.is_empty() {
            *a = [0; BLOCK];
        }
    }
}

/// A last block, padded with a one bit and zeros unless it is whole.
fn padded(bytes: &[u8]) -> (Block, bool) {
    let mut block = Span::from(bytes).block(0);
    xor(&mut block, &PADDING[bytes.len()]);
    (block, bytes.len() == BLOCK)
}

/// The chaining values of a flight's messages.
type Values = ArrayVec<[Block; 1], FLIGHT>;

/// `V = (L ⊕ N) L` of each message.
fn first_values(batch: &Batch<'_, '_, '_>, v: &mut Values) {
    let mut nonces = Column::new();
    for message in batch.messages.iter() {
        v.push([message.key.subkeys[2]]);
        nonces.push(*nonce(message));
    }
    each::step::<ToHalves, 1, 0, 2>(batch, link, v, &mut nonces);
}

fn nonce<'a>(message: &Message<'a>) -> &'a Block {
    message.nonce.first_chunk().expect("a nonce of a block")
}

/// What a message's chain needs of its key.
fn link(key: &Material) -> Link<'_, 0, 2> {
    Link { keys: [], constants: constants(key) }
}

fn constants(key: &Material) -> [&Block; 2] {
    let [l0, l1, ..] = &key.subkeys;
    [l0, l1]
}

/// Bytes of a message's whole pairs.
fn whole_pairs(message: &Message<'_>) -> usize {
    message.data.len() / PAIR * PAIR
}

/// Takes the whole pairs of each message through its chain.
fn pairs<M: Chain<1, 0, 2>>(
    batch: &mut Batch<'_, '_, '_>,
    v: &mut [[Block; 1]],
    part: impl for<'m> Fn(&'m mut Message<'_>, usize) -> Span<'m>,
) {
    let mut strands = ArrayVec::<Strand<'_, 1, 0, 2>, FLIGHT>::new();
    for (message, v) in batch.messages.iter_mut().zip(&*v) {
        let (key, bytes) = (message.key, whole_pairs(message));
        strands.push(Strand { keys: [], constants: constants(key), state: *v, data: part(message, bytes) });
    }
    M::run(batch.backend, batch.schedule, &mut strands);
    for (v, strand) in v.iter_mut().zip(&strands) {
        *v = strand.state;
    }
}

/// `x ← x L`
#[inline(always)]
fn times_l<L: Lanes>(lanes: L, x: &mut L::Blocks) {
    lanes.multiply::<BigEndian>(x, [lanes.constant(0), lanes.constant(1)]);
}

struct ToHalves;

impl Chain<1, 0, 2> for ToHalves {
    const WRITES: bool = true;

    /// `X = M[2i-1] ⊕ V`, `Y = M[2i] ⊕ X L`, `V ← Y L`: the same for both halves.
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [v]: &mut [L::Blocks; 1], m: &mut L::Blocks) {
        lanes.xor(m, v);
        *v = *m;
        times_l(lanes, v);
    }
}

struct FromHalves;

impl Chain<1, 0, 2> for FromHalves {
    const WRITES: bool = true;

    /// `M[2i-1] = X ⊕ V`, `M[2i] = Y ⊕ X L`, `V ← Y L`
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [v]: &mut [L::Blocks; 1], x: &mut L::Blocks) {
        let half = *x;
        lanes.xor(x, v);
        *v = half;
        times_l(lanes, v);
    }
}

/// What the pairs of a message leave for its tag.
struct Sum {
    /// `Σ`
    sigma: Block,
    /// `S`
    s: Block,
}

/// That of each message of a flight.
type Sums = ArrayVec<Sum, FLIGHT>;

/// The Feistel rounds: of the halves that were written, or of the ciphertext.
struct Feistel<'b, 'm, 'a, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
    sums: &'b mut Sums,
}

impl<const OPENS: bool> Kernel for Feistel<'_, '_, '_, OPENS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for message in self.messages {
            let bytes = whole_pairs(message);
            let Message { key, data, .. } = &mut **message;
            let l = b.splat(&key.subkeys[2]);
            let d = Doubles::from(b, b.splat(&key.subkeys[3]));
            let mut rounds = Rounds::<B, OPENS> { keys: key.aes.encrypting(), l, d, sum: b.zero() };
            let mut data = if OPENS { data.reborrow() } else { data.written() };
            pass_pairs(b, &mut data.part(0, bytes), &mut rounds);
            let s = b.xor(rounds.d.at(b, bytes / PAIR), l);
            self.sums.push(Sum { sigma: b.first(b.fold(rounds.sum)), s: b.first(s) });
        }
    }
}

struct Rounds<'k, B: Isa, const OPENS: bool> {
    keys: Shared<'k>,
    l: B::V,
    d: Doubles<B, true>,
    sum: B::V,
}

impl<B: Isa, const OPENS: bool> PairPass<B> for Rounds<'_, B, OPENS> {
    /// `ρ = E_K(Y ⊕ D)`, `C[2i-1] = X ⊕ ρ`, `σ = E_K(C[2i-1] ⊕ D ⊕ L)`, `C[2i] = Y ⊕ σ`; on the way back `σ` comes first.
    #[inline(always)]
    fn step<const R: usize>(&mut self, b: B, first: &mut [B::V; R], second: &mut [B::V; R], pairs: usize) {
        let d = self.d.take::<R>(b, (R - 1) * B::BLOCKS + pairs);
        if OPENS {
            self.sigma(b, &d, first, second, pairs);
            self.rho(b, &d, first, second, pairs);
        } else {
            self.rho(b, &d, first, second, pairs);
            self.sigma(b, &d, first, second, pairs);
        }
    }
}

impl<B: Isa, const OPENS: bool> Rounds<'_, B, OPENS> {
    #[inline(always)]
    fn rho<const R: usize>(
        &mut self,
        b: B,
        d: &[B::V; R],
        first: &mut [B::V; R],
        second: &[B::V; R],
        pairs: usize,
    ) {
        let mut rho = *second;
        for r in 0..R {
            rho[r] = b.xor(rho[r], d[r]);
        }
        self.add(b, first, rho, pairs);
    }

    #[inline(always)]
    fn sigma<const R: usize>(
        &mut self,
        b: B,
        d: &[B::V; R],
        first: &[B::V; R],
        second: &mut [B::V; R],
        pairs: usize,
    ) {
        let mut sigma = *first;
        for r in 0..R {
            sigma[r] = b.xor3(sigma[r], d[r], self.l);
        }
        self.add(b, second, sigma, pairs);
    }

    /// Encrypts, and adds what comes out to a half of the pairs and to `Σ`.
    #[inline(always)]
    fn add<const R: usize>(&mut self, b: B, half: &mut [B::V; R], mut x: [B::V; R], pairs: usize) {
        b.encrypt(self.keys, &mut x);
        for r in 0..R {
            half[r] = b.xor(half[r], x[r]);
        }
        x[R - 1] = b.keep(x[R - 1], BLOCK * pairs);
        for r in 0..R {
            self.sum = b.xor(self.sum, x[r]);
        }
    }
}

/// The rests of a flight's messages.
type Rests = ArrayVec<[Block; 2], FLIGHT>;

/// The bytes after a message's whole pairs, and zeros.
fn rest(message: &Message<'_>) -> [Block; 2] {
    let at = whole_pairs(message);
    [message.data.block(at), message.data.block((at + BLOCK).min(message.data.len()))]
}

/// Whether a message's last bytes, or that it has none at all, go into the tag by themselves.
fn has_rest(message: &Message<'_>) -> bool {
    message.data.len() == 0 || !message.data.len().is_multiple_of(PAIR)
}

/// `T = E_K(E_K(Σ ⊕ 3 S) ⊕ N ⊕ A ⊕ 5 S)`; where there is a rest, its hash `φ` is in the sum, and other multiples of `S`.
fn compute_tags(
    batch: &Batch<'_, '_, '_>,
    a: &[Block],
    v: &mut Values,
    sums: &[Sum],
    rests: &[[Block; 2]],
    tags: &mut Column,
) {
    if batch.messages.iter().any(|message| has_rest(message)) {
        hash_rests(batch, v, sums, rests, tags);
    } else {
        tags.extend(batch.messages.iter().map(|_| [0; BLOCK]));
    }
    for ((message, Sum { sigma, s }), tag) in batch.messages.iter().zip(sums).zip(&mut *tags) {
        if has_rest(message) {
            xor(tag, &times(6, s));
        } else {
            *tag = times(3, s);
        }
        xor(tag, sigma);
    }
    encrypt_for_each(batch, tags);
    for (((message, sum), a), tag) in batch.messages.iter().zip(sums).zip(a).zip(&mut *tags) {
        xor(tag, nonce(message));
        xor(tag, a);
        xor(tag, &times(if has_rest(message) { 22 } else { 5 }, &sum.s));
    }
    encrypt_for_each(batch, tags);
}

/// `φ = E_K(Y ⊕ 2 S)` of each message's rest `F ‖ 10…0`, whose halves are `X` and `Y`; uses `V` up.
fn hash_rests(
    batch: &Batch<'_, '_, '_>,
    v: &mut Values,
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
    each::step::<ToHalves, 1, 0, 2>(batch, link, v, &mut x);
    each::step::<ToHalves, 1, 0, 2>(batch, link, v, phi);
    for (y, sum) in phi.iter_mut().zip(sums) {
        xor(y, &BigEndian::double_block(&sum.s));
    }
    encrypt_for_each(batch, phi);
}

/// Adds `E_K(T ⊕ 26 S) ‖ E_K(T ⊕ 38 S)` to each message's rest.
fn apply_keystream(batch: &mut Batch<'_, '_, '_>, tags: &[Block], sums: &[Sum], rests: &mut Rests) {
    if batch.messages.iter().all(|message| message.data.len() == whole_pairs(message)) {
        return;
    }
    let mut z = [Column::new(), Column::new()];
    for (z, multiple) in z.iter_mut().zip([26, 38]) {
        for (tag, sum) in tags.iter().zip(sums) {
            let mut block = *tag;
            xor(&mut block, &times(multiple, &sum.s));
            z.push(block);
        }
        encrypt_for_each(batch, z);
    }
    for (i, (message, rest)) in batch.messages.iter_mut().zip(rests).enumerate() {
        let at = whole_pairs(message);
        let r = message.data.len() - at;
        xor(&mut rest[0], &head(&z[0][i], r.min(BLOCK)));
        xor(&mut rest[1], &head(&z[1][i], r.saturating_sub(BLOCK)));
        message.data.set_block(at, &rest[0]);
        message.data.set_block(at + r.min(BLOCK), &rest[1]);
    }
}
