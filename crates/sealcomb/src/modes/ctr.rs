//! CTR: the counter mode (SP 800-38A, section 6.5); the whole block counts, big-endian.
//!
//! ```text
//! T_1 ← nonce
//! T_{j+1} ← T_j + 1 (mod 2^128)
//! C_j ← P_j ⊕ E_K(T_j)
//! ```

use super::Mode;
use crate::backend::{BLOCK, Block, Isa, Kernel};
use crate::engine::groups::{self, Grouped};
use crate::engine::{Batch, Message, share_key};
use crate::primitives::counter::{Be128, LAST_BYTES, xor_keystream, xor_keystream_with};
use crate::primitives::first_round::{Demand, FirstRounds};
use crate::primitives::permutation::Permutation;

pub(crate) struct Ctr;

impl Mode for Ctr {
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        groups::run::<Self>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        self.seal(batch);
    }
}

/// The first counter block.
#[inline(always)]
fn first_counter<'a>(message: &Message<'a>) -> &'a Block {
    message.nonce.first_chunk().expect("a counter block of 16 bytes")
}

impl Grouped for Ctr {
    const FEW: usize = 8;
    const MOST: usize = 3;

    /// In a group, only the last byte of the counter blocks changes.
    #[inline(always)]
    fn fits(_: usize, message: &Message<'_>) -> bool {
        usize::from(first_counter(message)[BLOCK - 1]) + message.data.len().div_ceil(BLOCK) <= 256
    }

    #[inline(always)]
    fn crypt_group<B: Isa, const R: usize>(b: B, messages: &mut [&mut Message<'_>], group: [usize; 4]) {
        let mut x = [[b.zero(); R]; 4];
        each_register!(4, 0 1 2 3, n => {
            if n < B::BLOCKS {
                let first = b.splat(first_counter(messages[group[n]]));
                each_register!(R, r => {
                    x[n][r] = b.add64(first, b.load(&LAST_BYTES[r * B::BLOCKS..]));
                });
            }
        });
        messages[0].key.aes.encrypting().encrypt_rows(b, &mut [], &mut x);
        each_register!(4, 0 1 2 3, n => {
            if n < B::BLOCKS {
                let data = messages[group[n]].data.whole::<B, R>();
                let input = data.load(b);
                each_register!(R, r => {
                    x[n][r] = b.xor(x[n][r], input[r]);
                });
                data.store(b, &x[n]);
            }
        });
    }

    #[inline(always)]
    fn crypt_each<B: Isa>(b: B, messages: &mut [&mut Message<'_>]) {
        let Some(first) = messages.first() else { return };
        let run = |i: usize| (first_counter(messages[i])[BLOCK - 1], messages[i].data.len());
        let keys = first.key.aes.encrypting();
        if let Some(demand) = Demand::of(b, keys, messages.len(), run, || share_key(messages)) {
            return b.call(Long { messages, demand });
        }
        for message in messages {
            let first = first_counter(message);
            xor_keystream::<Be128, B, _>(b, message.key.aes.encrypting(), first, &mut message.data);
        }
    }
}

/// Messages under one key that are long enough for a table of the first round. Other messages do without the table's
/// place on the stack.
struct Long<'b, 'm, 'a> {
    messages: &'b mut [&'m mut Message<'a>],
    demand: Demand,
}

impl Kernel for Long<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let keys = self.messages[0].key.aes.encrypting();
        let mut rounds = FirstRounds::new();
        rounds.fill(b, keys, &self.demand);
        for message in self.messages {
            let first = first_counter(message);
            xor_keystream_with::<Be128, B, _, _>(b, keys, first, &mut message.data, &mut (), Some(&rounds));
        }
    }
}
