//! CTR, counter mode (SP 800-38A, section 6.5). The whole block is a big-endian counter.

use super::{Block, BlockCipher, xor_partial};
use alloc::vec::Vec;

/// Encrypts or decrypts a message: `C_j = P_j ⊕ CIPH_K(T_j)`, where `T_1` is the nonce and `T_{j+1} = T_j + 1 mod
/// 2^128`.
#[must_use]
pub fn apply<C: BlockCipher>(cipher: &C, nonce: Block, input: &[u8]) -> Vec<u8> {
    let mut counter = u128::from_be_bytes(nonce);
    let mut output = Vec::new();
    for segment in input.chunks(16) {
        output.extend(xor_partial(segment, cipher.encrypt(counter.to_be_bytes())));
        counter = counter.wrapping_add(1);
    }
    output
}
