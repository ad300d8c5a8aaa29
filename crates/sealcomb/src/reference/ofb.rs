//! OFB, output feedback (SP 800-38A, section 6.4).

use super::{Block, BlockCipher, xor_partial};
use alloc::vec::Vec;

/// Encrypts or decrypts a message: `O_j = CIPH_K(O_{j-1})`, where `O_0` is the IV, and `C_j = P_j ⊕ O_j`.
#[must_use]
pub fn apply<C: BlockCipher>(cipher: &C, iv: Block, input: &[u8]) -> Vec<u8> {
    let mut o = iv;
    let mut output = Vec::new();
    for segment in input.chunks(16) {
        o = cipher.encrypt(o);
        output.extend(xor_partial(segment, o));
    }
    output
}
