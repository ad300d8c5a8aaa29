//! CMAC (SP 800-38B). The message is what the job has as additional data.

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, Span};
use crate::engine::blocks::{encrypt_block, encrypt_each};
use crate::engine::comb::{Chain, Strand};
use crate::engine::{Batch, Column, FLIGHT, Lanes, Material, Message, PADDING};
use crate::primitives::aes::Schedule;
use crate::primitives::gf128::double;

pub(crate) struct Cmac;

impl Mode for Cmac {
    /// `L = E_K(0)`, `K1 = 2 L`, `K2 = 4 L`
    fn key(&self, backend: Backend, key: &[u8]) -> Material {
        let mut material = Material::plain(Schedule::new(backend, key));
        let subkeys = subkeys(backend, &material.aes);
        material.subkeys[..2].copy_from_slice(&subkeys);
        material
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        let mut c = Column::new();
        c.extend(batch.messages.iter().map(|_| [0; BLOCK]));
        chain(batch, |key| &key.aes, &mut c, |message| Span::from(&message.aad[..chained(&message.aad)]));
        batch.backend.run(LastBlocks { messages: batch.messages, blocks: &mut c });
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        self.seal(batch);
    }
}

/// `C_j = E_K(C_{j-1} ⊕ M_j)`, of which only the last `C` counts: the chain of CMAC, and of CCM, CLOC, SILC and SIV.
pub(crate) struct CbcMac;

impl Chain<1> for CbcMac {
    const WRITES: bool = false;
    const INTERLEAVES_KEYS: bool = true;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [c]: &mut [L::Blocks; 1], [x]: &mut [L::Blocks; 1]) {
        lanes.xor(c, x);
        lanes.encrypt(c);
    }
}

struct LastBlocks<'b, 'm, 'a> {
    messages: &'b mut [&'m mut Message<'a>],
    blocks: &'b mut [Block],
}

impl Kernel for LastBlocks<'_, '_, '_> {
    type Output = ();

    /// `T = E_K(C_{n-1} ⊕ M_n ⊕ K1)`, or, where `M_n` isn't whole, with `M_n ‖ 10…0` and `K2`
    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages, blocks } = self;
        for (message, block) in messages.iter().zip(&mut *blocks) {
            let [k1, k2, ..] = &message.key.subkeys;
            let rest = &message.aad[chained(&message.aad)..];
            let k = if rest.len() == BLOCK { k1 } else { k2 };
            let m = b.xor(b.load_bytes(rest), b.one(&PADDING[rest.len()]));
            *block = b.first(b.xor3(m, b.one(k), b.one(block)));
        }
        encrypt_each(b, messages, blocks);
        for (message, tag) in messages.iter_mut().zip(blocks) {
            message.tag = *tag;
        }
    }
}

/// Bytes before the last block, which is never empty unless the message is.
pub(super) fn chained(message: &[u8]) -> usize {
    message.len().saturating_sub(1) / BLOCK * BLOCK
}

/// `C ← E_K(C ⊕ M)` for all blocks of a part of the messages, those that have a `C`, under the keys that `aes` finds.
#[inline(never)]
pub(super) fn chain<'m, 'a>(
    batch: &'m Batch<'_, '_, 'a>,
    aes: impl Fn(&'m Material) -> &'m Schedule,
    c: &mut [Block],
    part: impl Fn(&'m Message<'a>) -> Span<'m>,
) {
    let mut strands: ArrayVec<Strand<'_, 1>, FLIGHT> = ArrayVec::new();
    for (message, c) in batch.messages.iter().zip(c.iter()) {
        let keys = [aes(message.key).encrypting()];
        strands.push(Strand { keys, constants: [], state: [*c], data: part(message) });
    }
    CbcMac::run(batch.backend, batch.schedule, &mut strands);
    for (c, strand) in c.iter_mut().zip(&strands) {
        *c = strand.state[0];
    }
}

/// `K1` and `K2`
pub(super) fn subkeys(backend: Backend, aes: &Schedule) -> [Block; 2] {
    backend.run(Subkeys { aes })
}

struct Subkeys<'a> {
    aes: &'a Schedule,
}

impl Kernel for Subkeys<'_> {
    type Output = [Block; 2];

    #[inline(always)]
    fn run<B: Isa>(self, b: B) -> [Block; 2] {
        let mut l = [0; BLOCK];
        encrypt_block(b, self.aes.encrypting(), &mut l);
        let k1 = double(b, b.one(&l));
        [b.first(k1), b.first(double(b, k1))]
    }
}
