//! CFB128: CFB, cipher feedback, with segments of 128 bits (SP 800-38A, section 6.3). The last segment may be
//! shorter.

use super::{Block, BlockCipher, pad, xor_partial};
use alloc::vec::Vec;

/// Encrypts a message: `I_1 = IV`, `I_j = C_{j-1}`, `C_j = P_j ⊕ CIPH_K(I_j)`.
#[must_use]
pub fn encrypt<C: BlockCipher>(cipher: &C, iv: Block, msg: &[u8]) -> Vec<u8> {
    let mut input = iv;
    let mut ct = Vec::new();
    for p in msg.chunks(16) {
        let c = xor_partial(p, cipher.encrypt(input));
        input = pad(&c);
        ct.extend(c);
    }
    ct
}

/// Decrypts a ciphertext: `I_1 = IV`, `I_j = C_{j-1}`, `P_j = C_j ⊕ CIPH_K(I_j)`.
#[must_use]
pub fn decrypt<C: BlockCipher>(cipher: &C, iv: Block, ct: &[u8]) -> Vec<u8> {
    let mut input = iv;
    let mut msg = Vec::new();
    for c in ct.chunks(16) {
        msg.extend(xor_partial(c, cipher.encrypt(input)));
        input = pad(c);
    }
    msg
}
