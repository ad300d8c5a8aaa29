//! McOE-G (Fleischmann, Forler, Lucks, FSE 2012), with the paper's letters: `U` the chaining value, `τ` the header's end,
//! `W` the mask of the last, partial block, `E~` the tweakable cipher.

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Span};
use crate::engine::comb::{Chain, Link, chains};
use crate::engine::each;
use crate::engine::{Batch, Column, Lanes, Material, Message};
use crate::primitives::aes::{KeySchedule, Shared};
use crate::primitives::block::{join, skip, split, whole, xor};
use crate::primitives::gf128::{GcmOrder, factor, product};

pub(crate) struct McoeG;

impl Mode for McoeG {
    /// `K1`
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        &key[..BLOCK]
    }

    /// Of `K2` its factor and the product with the tweak of `W`, all of whose bits are ones
    fn key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        material.aes.invert(backend);
        let k2 = factor::<GcmOrder>(backend, key[BLOCK..].try_into().expect("a block"));
        material.subkeys[..3].copy_from_slice(&k2);
        material.subkeys[3] = product::<GcmOrder>(backend, &[0xff; BLOCK], &k2);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let (mut tau, mut u) = (Column::new(), Column::new());
        header(batch, &mut tau, &mut u);
        whole_blocks::<Encrypt>(batch, KeySchedule::encrypting, &mut u);

        let mut q = Column::new();
        if any_partial(batch) {
            let mut w = Column::new();
            masks(batch, &mut w);
            for ((message, tau), w) in batch.messages.iter().zip(&tau).zip(&w) {
                let mut p = filled(message, tau);
                xor(&mut p, w);
                q.push(p);
            }
            partial_blocks::<Encrypt>(batch, KeySchedule::encrypting, &mut u, &mut q);
        }
        let mut t = Column::new();
        tag_blocks(batch, &tau, &mut u, &mut t);

        for (i, message) in batch.messages.iter_mut().enumerate() {
            let (at, s) = last(message);
            if s == 0 {
                message.tag = t[i];
                continue;
            }
            message.data.set_block(at, &q[i]);
            message.tag = split(&q[i], &t[i], s);
        }
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        let (mut tau, mut u) = (Column::new(), Column::new());
        header(batch, &mut tau, &mut u);
        whole_blocks::<Decrypt>(batch, KeySchedule::decrypting, &mut u);

        let (mut w, mut p) = (Column::new(), Column::new());
        if any_partial(batch) {
            masks(batch, &mut w);
            p.extend(batch.messages.iter().map(|message| filled(message, &message.tag)));
            partial_blocks::<Decrypt>(batch, KeySchedule::decrypting, &mut u, &mut p);
        }
        let mut t = Column::new();
        tag_blocks(batch, &tau, &mut u, &mut t);

        for (i, message) in batch.messages.iter_mut().enumerate() {
            let (at, s) = last(message);
            if s == 0 {
                message.tag = t[i];
                continue;
            }
            let mut r = p[i];
            xor(&mut r, &w[i]);
            message.data.set_block(at, &r);
            // Where the message is genuine, `R` ends with the beginning of `τ`, and `E~(U, τ)` begins with the tag's end.
            let mut t = t[i];
            xor(&mut r, &join(&[0; BLOCK], s, &tau[i]));
            xor(&mut t, &skip(&message.tag, BLOCK - s));
            xor(&mut message.tag, &split(&r, &t, s));
        }
    }
}

/// Where a message's last, partial block begins, and how many bytes it has: 0 to 15.
fn last(message: &Message<'_>) -> (usize, usize) {
    let s = message.data.len() % BLOCK;
    (message.data.len() - s, s)
}

fn any_partial(batch: &Batch<'_, '_, '_>) -> bool {
    batch.messages.iter().any(|message| last(message).1 > 0)
}

/// A message's last block, filled up with the first bytes of another.
fn filled(message: &Message<'_>, with: &Block) -> Block {
    let (at, s) = last(message);
    join(&message.data.block(at), s, with)
}

/// `τ` and the tweak of the first block, `U = τ ⊕ N`, of each message; the last block of additional data is filled up with
/// zeros.
fn header(batch: &mut Batch<'_, '_, '_>, tau: &mut Column, u: &mut Column) {
    u.extend(batch.messages.iter().map(|message| (message.aad.len() as u128).to_be_bytes()));
    if batch.messages.iter().any(|message| !message.aad.is_empty()) {
        chains::<Header, 1, 1, 3, 1>(
            batch,
            |key| link(key, KeySchedule::encrypting),
            [u],
            |message| Span::from(&*message.aad),
        );
    }
    let nonce = |message: &Message<'_>| *message.nonce.first_chunk().expect("a nonce of a block");
    tau.extend(batch.messages.iter().map(|message| nonce(message)));
    each::step::<Encrypt, 1, 1, 3, 1>(batch, |key| link(key, KeySchedule::encrypting), [u], [tau]);
}

/// `W = E~(1^128, s)` of each message.
fn masks(batch: &Batch<'_, '_, '_>, w: &mut Column) {
    for message in batch.messages.iter() {
        let mut block = (last(message).1 as u128).to_be_bytes();
        xor(&mut block, &message.key.subkeys[3]);
        w.push(block);
    }
    each::encrypt(batch, w);
    for (w, message) in w.iter_mut().zip(batch.messages.iter()) {
        xor(w, &message.key.subkeys[3]);
    }
}

/// Takes the whole blocks of each message through its chain.
fn whole_blocks<M: Chain<1, 1, 3>>(
    batch: &mut Batch<'_, '_, '_>,
    e: fn(&KeySchedule) -> Shared<'_>,
    u: &mut Column,
) {
    chains::<M, 1, 1, 3, 1>(
        batch,
        |key| link(key, e),
        [u],
        |message| message.data.part(0, whole(message.data.len())),
    );
}

/// Takes the last block of those messages that have a partial one through its chain.
fn partial_blocks<M: Chain<1, 1, 3>>(
    batch: &Batch<'_, '_, '_>,
    e: fn(&KeySchedule) -> Shared<'_>,
    u: &mut Column,
    blocks: &mut Column,
) {
    let mut after = Column::new();
    after.extend(u.iter().copied());
    each::step::<M, 1, 1, 3, 1>(batch, |key| link(key, e), [&mut after], [blocks]);
    for ((message, u), after) in batch.messages.iter().zip(u).zip(after) {
        if last(message).1 > 0 {
            *u = after;
        }
    }
}

/// `E~(U, τ)`
fn tag_blocks(batch: &Batch<'_, '_, '_>, tau: &[Block], u: &mut Column, t: &mut Column) {
    t.extend(tau.iter().copied());
    each::step::<Encrypt, 1, 1, 3, 1>(batch, |key| link(key, KeySchedule::encrypting), [u], [t]);
}

/// What a message's chain needs of its key.
fn link(key: &Material, e: fn(&KeySchedule) -> Shared<'_>) -> Link<'_, 1, 3> {
    let [h0, h1, h2, ..] = &key.subkeys;
    Link { keys: [e(&key.aes)], constants: [h0, h1, h2] }
}

/// `h = U K2`
#[inline(always)]
fn tweak<L: Lanes>(lanes: L, u: &mut L::Blocks) {
    lanes.multiply::<GcmOrder>(u, 0);
}

/// `C_i = E~(U, M_i) = E_K1(M_i ⊕ h) ⊕ h`, `U ← M_i ⊕ C_i`
#[inline(always)]
fn encrypt<L: Lanes>(lanes: L, u: &mut L::Blocks, m: &mut L::Blocks) {
    tweak(lanes, u);
    let mut c = *m;
    lanes.xor(&mut c, u);
    lanes.encrypt(&mut c);
    lanes.xor(&mut c, u);
    *u = *m;
    lanes.xor(u, &c);
    *m = c;
}

struct Encrypt;

impl Chain<1, 1, 3> for Encrypt {
    const WRITES: bool = true;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [u]: &mut [L::Blocks; 1], [m]: &mut [L::Blocks; 1]) {
        encrypt(lanes, u, m);
    }
}

/// The same for the header, whose ciphertext nobody gets.
struct Header;

impl Chain<1, 1, 3> for Header {
    const WRITES: bool = false;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [u]: &mut [L::Blocks; 1], [a]: &mut [L::Blocks; 1]) {
        encrypt(lanes, u, a);
    }
}

struct Decrypt;

impl Chain<1, 1, 3> for Decrypt {
    const WRITES: bool = true;

    /// `M_i = E~⁻¹(U, C_i) = E_K1⁻¹(C_i ⊕ h) ⊕ h`, `U ← M_i ⊕ C_i`
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [u]: &mut [L::Blocks; 1], [c]: &mut [L::Blocks; 1]) {
        tweak(lanes, u);
        let mut m = *c;
        lanes.xor(&mut m, u);
        lanes.decrypt(&mut m);
        lanes.xor(&mut m, u);
        *u = *c;
        lanes.xor(u, &m);
        *c = m;
    }
}
