//! XAES-256-GCM (C2SP, version 1): AES-256-GCM under a key derived from the nonce.
//!
//! ```text
//! L = E_K(0^128)
//! K1 = 2 L
//! M1 = 0x00 || 0x01 || "X" || 0x00 || N[:12]
//! M2 = 0x00 || 0x02 || "X" || 0x00 || N[:12]
//! K_x = E_K(M1 ⊕ K1) || E_K(M2 ⊕ K1)
//! N_x = N[12:]
//! C = AES-256-GCM of the message under K_x and N_x
//! ```
//!
//! `K_x` is the output of NIST SP 800-108's KDF in counter mode, whose PRF is AES-256-CMAC.

use super::gf128::double;
use super::{Block, BlockCipher, gcm, xor};
use aes::Aes256;
use alloc::vec::Vec;

/// Returns the ciphertext and the tag.
#[must_use]
pub fn seal(cipher: &Aes256, nonce: &[u8; 24], aad: &[u8], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    gcm::seal(&derived(cipher, nonce), &nonce[12..], aad, msg, 16)
}

/// Returns the message, or `None` if the tag is wrong.
#[must_use]
pub fn open(cipher: &Aes256, nonce: &[u8; 24], aad: &[u8], ct: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
    gcm::open(&derived(cipher, nonce), &nonce[12..], aad, ct, tag)
}

/// Returns the cipher under the derived key.
fn derived(cipher: &Aes256, nonce: &[u8; 24]) -> Aes256 {
    Aes256::with_key(&derived_key(cipher, nonce)).expect("two blocks")
}

/// Returns `K_x`.
fn derived_key(cipher: &Aes256, nonce: &[u8; 24]) -> Vec<u8> {
    let l = BlockCipher::encrypt(cipher, [0; 16]);
    let k1 = double(l);
    let [m1, m2] = [1, 2].map(|counter| {
        let mut m: Block = [0; 16];
        m[1] = counter;
        m[2] = b'X';
        m[4..].copy_from_slice(&nonce[..12]);
        m
    });
    [m1, m2].map(|m| BlockCipher::encrypt(cipher, xor(m, k1))).concat()
}

/// The derived keys of the specification's test vectors. The first bit of `L` is zero in the first, and one in the
/// second.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_derived_as_in_the_test_vectors() {
        for (byte, expected) in [
            (1, "c8612c9ed53fe43e8e005b828a1631a0bbcb6ab2f46514ec4f439fcfd0fa969b"),
            (3, "e9c621d4cdd9b11b00a6427ad7e559aeedd66b3857646677748f8ca796cb3fd8"),
        ] {
            let cipher = Aes256::with_key(&[byte; 32]).expect("32 bytes");
            assert_eq!(hex::encode(derived_key(&cipher, b"ABCDEFGHIJKLMNOPQRSTUVWX")), expected);
        }
    }
}
