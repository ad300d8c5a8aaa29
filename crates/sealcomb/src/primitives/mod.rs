//! Building blocks of the modes, for any backend: AES and Serpent with their keys, counters, masks, and GF(2^128).
#![forbid(unsafe_code)]

pub(crate) mod aes;
pub(crate) mod block;
pub(crate) mod counter;
pub(crate) mod derived;
pub(crate) mod doubles;
pub(crate) mod doublings;
pub(crate) mod first_round;
pub(crate) mod gf128;
pub(crate) mod ghash;
pub(crate) mod masked;
pub(crate) mod offsets;
pub(crate) mod permutation;
pub(crate) mod polyval;
pub(crate) mod rounds;
pub(crate) mod serpent;

use crate::backend::{BLOCK, Block};

/// Zeroizes secret blocks. The optimization barrier prevents the compiler from removing the stores.
pub(crate) fn wipe(blocks: &mut [Block]) {
    blocks.fill([0; BLOCK]);
    zeroize::optimization_barrier(blocks);
}
