//! ECB, electronic codebook (SP 800-38A, section 6.1).

use super::{BlockCipher, whole_blocks};
use alloc::vec::Vec;

/// Encrypts a message: `C_j = CIPH_K(P_j)`.
///
/// # Panics
///
/// If the message is not a multiple of 16 bytes.
#[must_use]
pub fn encrypt<C: BlockCipher>(cipher: &C, msg: &[u8]) -> Vec<u8> {
    whole_blocks(msg).flat_map(|p| cipher.encrypt(p)).collect()
}

/// Decrypts a ciphertext: `P_j = CIPH⁻¹_K(C_j)`.
///
/// # Panics
///
/// If the ciphertext is not a multiple of 16 bytes.
#[must_use]
pub fn decrypt<C: BlockCipher>(cipher: &C, ct: &[u8]) -> Vec<u8> {
    whole_blocks(ct).flat_map(|c| cipher.decrypt(c)).collect()
}
