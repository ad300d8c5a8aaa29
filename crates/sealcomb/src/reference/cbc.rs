//! CBC, cipher block chaining (SP 800-38A, section 6.2).

use super::{Block, BlockCipher, whole_blocks, xor};
use alloc::vec::Vec;

/// Encrypts a message: `C_j = CIPH_K(P_j ⊕ C_{j-1})`, where `C_0` is the IV.
///
/// # Panics
///
/// If the message is not a multiple of 16 bytes.
#[must_use]
pub fn encrypt<C: BlockCipher>(cipher: &C, iv: Block, msg: &[u8]) -> Vec<u8> {
    let mut previous = iv;
    let mut ct = Vec::new();
    for p in whole_blocks(msg) {
        let c = cipher.encrypt(xor(p, previous));
        ct.extend(c);
        previous = c;
    }
    ct
}

/// Decrypts a ciphertext: `P_j = CIPH⁻¹_K(C_j) ⊕ C_{j-1}`, where `C_0` is the IV.
///
/// # Panics
///
/// If the ciphertext is not a multiple of 16 bytes.
#[must_use]
pub fn decrypt<C: BlockCipher>(cipher: &C, iv: Block, ct: &[u8]) -> Vec<u8> {
    let mut previous = iv;
    let mut msg = Vec::new();
    for c in whole_blocks(ct) {
        msg.extend(xor(cipher.decrypt(c), previous));
        previous = c;
    }
    msg
}
