//! McOE-G (Fleischmann, Forler, Lucks, FSE 2012), with the paper's letters: `U` the chaining value, `τ` the header's end,
//! `W` the mask of the last, partial block, `E~` the tweakable cipher.

use core::marker::PhantomData;
use core::ops::Range;

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Span};
use crate::engine::comb::{Chain, Strand};
use crate::engine::{Batch, FLIGHT, Lanes, Material, Message, encrypt_for_each, xor};
use crate::primitives::aes::{Schedule, Shared};
use crate::primitives::gf128::{GcmOrder, Halves, Product, factor, product};

/// McOE-G with a method of multiplication.
pub(crate) struct McoeG<P>(PhantomData<P>);

pub(crate) const MCOE_G: McoeG<Halves<GcmOrder>> = McoeG(PhantomData);

impl<P: Product> Mode for McoeG<P> {
    /// `K1`, the cipher's key, and of `K2` its factor and the product with the tweak of `W`, all of whose bits are ones
    fn key(&self, backend: Backend, key: &[u8]) -> Material {
        let (k1, k2) = key.split_at(BLOCK);
        let mut material = Material::plain(Schedule::new(backend, k1));
        let k2 = factor::<P>(backend, k2.try_into().expect("a block"));
        material.subkeys[..2].copy_from_slice(&k2);
        material.subkeys[2] = product::<P>(backend, &[0xff; BLOCK], &k2);
        material
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let (tau, mut u) = header::<P>(batch);
        let w = masks(batch);
        whole_blocks::<Encrypt<P>>(batch, Schedule::encrypting, &mut u);

        let mut ends = ArrayVec::<[Block; 2], FLIGHT>::new();
        for ((message, tau), w) in batch.messages.iter().zip(&tau).zip(&w) {
            let mut p = filled(message, tau);
            xor(&mut p, w);
            ends.push([p, *tau]);
        }
        blocks::<Encrypt<P>>(batch, Schedule::encrypting, &mut u, &mut ends, |message| {
            if last(message).1 == 0 { 1..2 } else { 0..2 }
        });

        for (message, [q, t]) in batch.messages.iter_mut().zip(ends) {
            let (at, s) = last(message);
            message.data.set_block(at, &q);
            message.tag = if s == 0 { t } else { split(&q, &t, s) };
        }
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        let (tau, mut u) = header::<P>(batch);
        let w = masks(batch);
        whole_blocks::<Decrypt<P>>(batch, Schedule::decrypting, &mut u);

        let mut ends = ArrayVec::<[Block; 2], FLIGHT>::new();
        for (message, tau) in batch.messages.iter().zip(&tau) {
            ends.push([filled(message, &message.tag), *tau]);
        }
        blocks::<Decrypt<P>>(batch, Schedule::decrypting, &mut u, &mut ends, |message| {
            0..usize::from(last(message).1 > 0)
        });
        blocks::<Encrypt<P>>(batch, Schedule::encrypting, &mut u, &mut ends, |_| 1..2);

        for (((message, tau), w), [p, t]) in batch.messages.iter_mut().zip(&tau).zip(&w).zip(ends) {
            let (at, s) = last(message);
            if s == 0 {
                message.tag = t;
                continue;
            }
            let mut r = p;
            xor(&mut r, w);
            message.data.set_block(at, &r);
            // Where the message is genuine, `R` ends with the beginning of `τ`, and `E~(U, τ)` begins with the tag's end.
            let mut difference = message.tag;
            difference[..BLOCK - s].copy_from_slice(&tau[..BLOCK - s]);
            xor(&mut difference, &split(&r, &t, s));
            xor(&mut message.tag, &difference);
        }
    }
}

/// Where a message's last, partial block begins, and how many bytes it has: 0 to 15.
fn last(message: &Message<'_>) -> (usize, usize) {
    let s = message.data.len() % BLOCK;
    (message.data.len() - s, s)
}

/// A message's last block, filled up with the first bytes of another.
fn filled(message: &Message<'_>, with: &Block) -> Block {
    let (at, s) = last(message);
    let mut block = message.data.block(at);
    block[s..].copy_from_slice(&with[..BLOCK - s]);
    block
}

/// `Q[s..] ‖ T[..s]`
fn split(q: &Block, t: &Block, s: usize) -> Block {
    let mut tag = [0; BLOCK];
    tag[..BLOCK - s].copy_from_slice(&q[s..]);
    tag[BLOCK - s..].copy_from_slice(&t[..s]);
    tag
}

/// `τ` and the tweak of the first block, `U = τ ⊕ N`, of each message.
fn header<P: Product>(batch: &Batch<'_, '_, '_>) -> (ArrayVec<Block, FLIGHT>, ArrayVec<Block, FLIGHT>) {
    let mut u: ArrayVec<Block, FLIGHT> =
        batch.messages.iter().map(|message| (message.aad.len() as u128).to_be_bytes()).collect();
    if batch.messages.iter().any(|message| !message.aad.is_empty()) {
        absorb::<P>(batch, &mut u, |message| &message.aad);
    }
    absorb::<P>(batch, &mut u, |message| message.nonce);
    let mut tau = u.clone();
    for (tau, message) in tau.iter_mut().zip(batch.messages.iter()) {
        xor(tau, message.nonce.first_chunk().expect("a nonce of a block"));
    }
    (tau, u)
}

/// Takes a part of each header through the chain, its last block filled up with zeros.
fn absorb<P: Product>(
    batch: &Batch<'_, '_, '_>,
    u: &mut [Block],
    part: impl for<'m> Fn(&'m Message<'_>) -> &'m [u8],
) {
    let mut strands = ArrayVec::<Strand<'_, 1, 1, 2>, FLIGHT>::new();
    for (message, u) in batch.messages.iter().zip(&*u) {
        strands.push(strand(message.key, Schedule::encrypting, u, Span::from(part(message))));
    }
    Header::<P>::run(batch.backend, batch.schedule, &mut strands);
    keep(u, &strands);
}

/// `W = E~(1^128, s)` of each message.
fn masks(batch: &Batch<'_, '_, '_>) -> ArrayVec<Block, FLIGHT> {
    let lengths = batch.messages.iter().map(|message| {
        let mut block = (last(message).1 as u128).to_be_bytes();
        xor(&mut block, &message.key.subkeys[2]);
        block
    });
    let mut w = encrypt_for_each(batch, lengths);
    for (w, message) in w.iter_mut().zip(batch.messages.iter()) {
        xor(w, &message.key.subkeys[2]);
    }
    w
}

/// Takes the whole blocks of each message through its chain.
fn whole_blocks<M: Chain<1, 1, 2>>(
    batch: &mut Batch<'_, '_, '_>,
    e: fn(&Schedule) -> Shared<'_>,
    u: &mut [Block],
) {
    let mut strands = ArrayVec::<Strand<'_, 1, 1, 2>, FLIGHT>::new();
    for (message, u) in batch.messages.iter_mut().zip(&*u) {
        let (at, _) = last(message);
        let Message { key, data, .. } = &mut **message;
        strands.push(strand(key, e, u, data.part(0, at)));
    }
    M::run(batch.backend, batch.schedule, &mut strands);
    keep(u, &strands);
}

/// Takes the chosen ones of two blocks a message through its chain.
fn blocks<M: Chain<1, 1, 2>>(
    batch: &Batch<'_, '_, '_>,
    e: fn(&Schedule) -> Shared<'_>,
    u: &mut [Block],
    blocks: &mut [[Block; 2]],
    chosen: impl Fn(&Message<'_>) -> Range<usize>,
) {
    let mut strands = ArrayVec::<Strand<'_, 1, 1, 2>, FLIGHT>::new();
    for ((message, u), blocks) in batch.messages.iter().zip(&*u).zip(blocks) {
        let data = Span::from(blocks[chosen(message)].as_flattened_mut());
        strands.push(strand(message.key, e, u, data));
    }
    M::run(batch.backend, batch.schedule, &mut strands);
    keep(u, &strands);
}

fn strand<'a>(
    key: &'a Material,
    e: fn(&Schedule) -> Shared<'_>,
    u: &Block,
    data: Span<'a>,
) -> Strand<'a, 1, 1, 2> {
    let [h0, h1, ..] = &key.subkeys;
    Strand { keys: [e(&key.aes)], constants: [h0, h1], state: [*u], data }
}

fn keep(u: &mut [Block], strands: &[Strand<'_, 1, 1, 2>]) {
    for (u, strand) in u.iter_mut().zip(strands) {
        [*u] = strand.state;
    }
}

/// `h = U K2`
#[inline(always)]
fn tweak<P: Product, L: Lanes>(lanes: L, u: &mut L::Blocks) {
    lanes.multiply::<P>(u, [lanes.constant(0), lanes.constant(1)]);
}

/// `C_i = E~(U, M_i) = E_K1(M_i ⊕ h) ⊕ h`, `U ← M_i ⊕ C_i`
#[inline(always)]
fn encrypt<P: Product, L: Lanes>(lanes: L, u: &mut L::Blocks, m: &mut L::Blocks) {
    tweak::<P, L>(lanes, u);
    let mut c = *m;
    lanes.xor(&mut c, u);
    lanes.encrypt(&mut c);
    lanes.xor(&mut c, u);
    *u = *m;
    lanes.xor(u, &c);
    *m = c;
}

struct Encrypt<P>(PhantomData<P>);

impl<P: Product> Chain<1, 1, 2> for Encrypt<P> {
    const WRITES: bool = true;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [u]: &mut [L::Blocks; 1], m: &mut L::Blocks) {
        encrypt::<P, L>(lanes, u, m);
    }
}

/// The same for the header, whose ciphertext nobody gets.
struct Header<P>(PhantomData<P>);

impl<P: Product> Chain<1, 1, 2> for Header<P> {
    const WRITES: bool = false;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [u]: &mut [L::Blocks; 1], a: &mut L::Blocks) {
        encrypt::<P, L>(lanes, u, a);
    }
}

struct Decrypt<P>(PhantomData<P>);

impl<P: Product> Chain<1, 1, 2> for Decrypt<P> {
    const WRITES: bool = true;

    /// `M_i = E~⁻¹(U, C_i) = E_K1⁻¹(C_i ⊕ h) ⊕ h`, `U ← M_i ⊕ C_i`
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [u]: &mut [L::Blocks; 1], c: &mut L::Blocks) {
        tweak::<P, L>(lanes, u);
        let mut m = *c;
        lanes.xor(&mut m, u);
        lanes.decrypt(&mut m);
        lanes.xor(&mut m, u);
        *u = *c;
        lanes.xor(u, &m);
        *c = m;
    }
}
