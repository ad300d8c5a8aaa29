//! CMAC (SP 800-38B). The message is what the job has as additional data.

use arrayvec::ArrayVec;

use super::Mode;
use crate::backend::{BLOCK, Backend, Block, Isa, Kernel, Span};
use crate::engine::blocks::{Loose, encrypt_block};
use crate::engine::comb::{self, Chain, Strand};
use crate::engine::{Batch, FLIGHT, Lanes, Material, xor};
use crate::primitives::aes::Schedule;
use crate::primitives::gf128::double;

pub(crate) struct Cmac;

impl Mode for Cmac {
    /// `L = E_K(0)`, `K1 = 2 L`, `K2 = 4 L`
    fn key(&self, backend: Backend, key: &[u8]) -> Material {
        let mut material = Material::plain(Schedule::new(backend, key));
        material.subkeys = backend.run(Subkeys { aes: &material.aes });
        material
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        // All but the last block, which is never empty unless the message is.
        let mut strands: ArrayVec<Strand<'_, 1>, FLIGHT> = ArrayVec::new();
        for message in batch.messages.iter() {
            let chained = message.aad.len().saturating_sub(1) / BLOCK * BLOCK;
            strands.push(Strand {
                aes: &message.key.aes,
                state: [[0; BLOCK]],
                data: Span::from(&message.aad[..chained]),
            });
        }
        comb::run::<CbcMac, 1>(batch.backend, batch.schedule, &mut strands);

        let mut last = Loose::new();
        for (message, strand) in batch.messages.iter().zip(&strands) {
            let rest = &message.aad[strand.data.len()..];
            let [k1, k2] = &message.key.subkeys;
            let mut block = strand.state[0];
            if rest.len() == BLOCK {
                xor(&mut block, rest);
                xor(&mut block, k1);
            } else {
                xor(&mut block, rest);
                block[rest.len()] ^= 0x80;
                xor(&mut block, k2);
            }
            last.push(&message.key.aes, block);
        }
        drop(strands);
        last.encrypt(batch.backend);
        for (message, tag) in batch.messages.iter_mut().zip(last.blocks) {
            message.tag = tag;
        }
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        self.seal(batch);
    }
}

/// `C_j = E_K(C_{j-1} ⊕ M_j)`, of which only the last `C` counts: the chain of CMAC and of CCM.
pub(super) struct CbcMac;

impl Chain<1> for CbcMac {
    const WRITES: bool = false;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [c]: &mut [L::Blocks; 1], x: &mut L::Blocks) {
        lanes.xor(c, x);
        lanes.encrypt(c);
    }
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
