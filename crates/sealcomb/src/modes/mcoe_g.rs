//! McOE-G (Fleischmann, Forler, Lucks, FSE 2012; ePrint 2011/644), with the paper's letters: an online mode whose
//! cipher is made tweakable by a multiplication in GF(2^128).
//!
//! ```text
//! E~(U, M) = E_K1(M ⊕ U K2) ⊕ U K2
//! U ← |A|                                    in bytes
//! for each block of the additional data:  U ← A_i ⊕ E~(U, A_i)
//! τ ← E~(U, N), U ← τ ⊕ N
//! for each whole block:  C_i ← E~(U, M_i), U ← M_i ⊕ C_i
//! T ← E~(U, τ)                               if no partial block follows
//! otherwise, with the last block M_l of s bytes:
//!     W ← E~(1^128, s)
//!     P ← (M_l ‖ the first 16 - s bytes of τ) ⊕ W
//!     C_l ‖ T_1 ← E~(U, P), U ← P ⊕ (C_l ‖ T_1)
//!     T ← T_1 ‖ the first s bytes of E~(U, τ)
//! ```
//!
//! The last block of additional data is padded with zeros. The paper leaves open how additional data is hashed and in
//! which order bits are read; both are this library's choice. Bits have GCM's order.

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Span};
use crate::engine::comb::{Chain, ChainKey, chains};
use crate::engine::each;
use crate::engine::{Batch, Column, Lanes, Material, Message};
use crate::primitives::aes::Shared;
use crate::primitives::block::{join, skip, split, whole, xor};
use crate::primitives::gf128::{GcmOrder, factor, product};

pub(crate) struct McoeG;

impl Mode for McoeG {
    /// Returns `K1`.
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        &key[..BLOCK]
    }

    /// Stores the factor `K2`, and the product of `K2` and the tweak of `W`, whose bits are all ones.
    fn expand_key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        material.aes.invert(backend);
        let k2 = factor::<GcmOrder>(backend, key[BLOCK..].try_into().expect("a block"));
        material.subkeys[..3].copy_from_slice(&k2);
        material.subkeys[3] = product::<GcmOrder>(backend, &[0xff; BLOCK], &k2);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let (mut tau, mut u) = (Column::new(), Column::new());
        header(batch, &mut tau, &mut u);
        whole_blocks::<Encrypt>(batch, encrypting, &mut u);

        let mut q = Column::new();
        if any_partial(batch) {
            let mut w = Column::new();
            masks(batch, &mut w);
            for ((message, tau), w) in batch.messages.iter().zip(&tau).zip(&w) {
                let mut p = filled(message, tau);
                xor(&mut p, w);
                q.push(p);
            }
            partial_blocks::<Encrypt>(batch, encrypting, &mut u, &mut q);
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
        whole_blocks::<Decrypt>(batch, decrypting, &mut u);

        let (mut w, mut p) = (Column::new(), Column::new());
        if any_partial(batch) {
            masks(batch, &mut w);
            p.extend(batch.messages.iter().map(|message| filled(message, &message.tag)));
            partial_blocks::<Decrypt>(batch, decrypting, &mut u, &mut p);
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
            // If the message is valid, `R` ends with the first bytes of `τ`, and `E~(U, τ)` begins with the last `s`
            // bytes of the tag.
            let mut t = t[i];
            xor(&mut r, &join(&[0; BLOCK], s, &tau[i]));
            xor(&mut t, &skip(&message.tag, BLOCK - s));
            xor(&mut message.tag, &split(&r, &t, s));
        }
    }
}

/// Returns the offset of a message's partial last block, and its size: 0 to 15 bytes.
fn last(message: &Message<'_>) -> (usize, usize) {
    let s = message.data.len() % BLOCK;
    (message.data.len() - s, s)
}

/// Returns whether any message has a partial last block.
fn any_partial(batch: &Batch<'_, '_, '_>) -> bool {
    batch.messages.iter().any(|message| last(message).1 > 0)
}

/// Returns a message's partial last block, filled up with the first bytes of `with`.
fn filled(message: &Message<'_>, with: &Block) -> Block {
    let (at, s) = last(message);
    join(&message.data.block(at), s, with)
}

/// Computes `τ` and the first block's tweak, `U = τ ⊕ N`, of each message. The last block of additional data is
/// padded with zeros.
fn header(batch: &mut Batch<'_, '_, '_>, tau: &mut Column, u: &mut Column) {
    u.extend(batch.messages.iter().map(|message| (message.aad.len() as u128).to_be_bytes()));
    if batch.messages.iter().any(|message| !message.aad.is_empty()) {
        chains::<Header, 1, 1, 3, 1>(batch, encrypting, [u], |message| Span::from(&*message.aad));
    }
    let nonce = |message: &Message<'_>| *message.nonce.first_chunk().expect("a nonce of a block");
    tau.extend(batch.messages.iter().map(|message| nonce(message)));
    each::step::<Encrypt, 1, 1, 3, 1>(batch, encrypting, [u], [tau]);
}

/// Computes `W = E~(1^128, s)` of each message.
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

/// Processes the whole blocks of each message.
fn whole_blocks<M: Chain<1, 1, 3>>(
    batch: &mut Batch<'_, '_, '_>,
    chain_key: impl for<'k> Fn(&'k Material) -> ChainKey<'k, 1, 3>,
    u: &mut Column,
) {
    chains::<M, 1, 1, 3, 1>(batch, chain_key, [u], |message| message.data.part(0, whole(message.data.len())));
}

/// Processes `blocks`, the filled-up last blocks. Messages without a partial block keep their `U`.
fn partial_blocks<M: Chain<1, 1, 3>>(
    batch: &Batch<'_, '_, '_>,
    chain_key: impl for<'k> Fn(&'k Material) -> ChainKey<'k, 1, 3>,
    u: &mut Column,
    blocks: &mut Column,
) {
    let mut after = Column::new();
    after.extend(u.iter().copied());
    each::step::<M, 1, 1, 3, 1>(batch, chain_key, [&mut after], [blocks]);
    for ((message, u), after) in batch.messages.iter().zip(u).zip(after) {
        if last(message).1 > 0 {
            *u = after;
        }
    }
}

/// Computes `E~(U, τ)` of each message.
fn tag_blocks(batch: &Batch<'_, '_, '_>, tau: &[Block], u: &mut Column, t: &mut Column) {
    t.extend(tau.iter().copied());
    each::step::<Encrypt, 1, 1, 3, 1>(batch, encrypting, [u], [t]);
}

/// Returns what the steps that encrypt need of a message's key.
fn encrypting(key: &Material) -> ChainKey<'_, 1, 3> {
    chain_key(key, key.aes.encrypting())
}

/// Returns what the steps that decrypt need of a message's key.
fn decrypting(key: &Material) -> ChainKey<'_, 1, 3> {
    chain_key(key, key.aes.decrypting())
}

fn chain_key<'k>(key: &'k Material, aes: Shared<'k>) -> ChainKey<'k, 1, 3> {
    let [h0, h1, h2, ..] = &key.subkeys;
    ChainKey { keys: [aes], constants: [h0, h1, h2] }
}

/// Computes `U K2`.
#[inline(always)]
fn tweak<L: Lanes>(lanes: L, u: &mut L::Blocks) {
    lanes.multiply::<GcmOrder>(u, 0);
}

/// Computes `C_i = E~(U, M_i) = E_K1(M_i ⊕ h) ⊕ h`, where `h = U K2`, and `U ← M_i ⊕ C_i`.
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

/// Encryption of the additional data, without output.
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

    /// Computes `M_i = E~⁻¹(U, C_i) = E_K1⁻¹(C_i ⊕ h) ⊕ h`, where `h = U K2`, and `U ← M_i ⊕ C_i`.
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
