//! XTS (IEEE Std 1619, NIST SP 800-38E).
//!
//! ```text
//! encrypt(i, P_0 … P_m):                   P_m has less than 16 bytes, possibly none
//!     T_j = E_K2(i) ⊗ α^j
//!     C_j = E_K1(P_j ⊕ T_j) ⊕ T_j          for j < m
//!     if P_m is not empty:                 ciphertext stealing
//!         C_m || CP = C_{m-1}              C_m is as long as P_m
//!         C_{m-1} = E_K1((P_m || CP) ⊕ T_m) ⊕ T_m
//!
//! decrypt(i, C_0 … C_m):
//!     P_j = D_K1(C_j ⊕ T_j) ⊕ T_j          for j < m
//!     if C_m is not empty:
//!         P_m || CP = D_K1(C_{m-1} ⊕ T_m) ⊕ T_m
//!         P_{m-1} = D_K1((C_m || CP) ⊕ T_{m-1}) ⊕ T_{m-1}
//! ```

use super::gf128::double_little_endian as times_alpha;
use super::{Block, BlockCipher, pad, xor};
use alloc::vec::Vec;

/// Encrypts a data unit of at least 16 bytes (section 5.3.2). `i` is the tweak, usually a little-endian sector number.
///
/// # Panics
///
/// If the data unit is shorter.
#[must_use]
pub fn encrypt<C: BlockCipher>(k1: &C, k2: &C, i: Block, msg: &[u8]) -> Vec<u8> {
    let encrypt = |p, t| xor(k1.encrypt(xor(p, t)), t);
    let mut t = k2.encrypt(i);
    let (blocks, p_m) = msg.as_chunks();
    let mut ct = Vec::new();
    for &p in blocks {
        ct.extend(encrypt(p, t));
        t = times_alpha(t);
    }
    if !p_m.is_empty() {
        let last = ct.split_off(ct.len() - 16);
        let (c_m, cp) = last.split_at(p_m.len());
        ct.extend(encrypt(join(p_m, cp), t));
        ct.extend(c_m);
    }
    ct
}

/// Decrypts a data unit of at least 16 bytes (section 5.4.2).
///
/// # Panics
///
/// If the data unit is shorter.
#[must_use]
pub fn decrypt<C: BlockCipher>(k1: &C, k2: &C, i: Block, ct: &[u8]) -> Vec<u8> {
    let decrypt = |c, t| xor(k1.decrypt(xor(c, t)), t);
    let mut t = k2.encrypt(i);
    let (blocks, c_m) = ct.as_chunks();
    let whole = if c_m.is_empty() { blocks.len() } else { blocks.len() - 1 };
    let mut msg = Vec::new();
    for &c in &blocks[..whole] {
        msg.extend(decrypt(c, t));
        t = times_alpha(t);
    }
    if !c_m.is_empty() {
        let last = decrypt(blocks[whole], times_alpha(t));
        let (p_m, cp) = last.split_at(c_m.len());
        msg.extend(decrypt(join(c_m, cp), t));
        msg.extend(p_m);
    }
    msg
}

/// Returns the block that consists of two strings.
fn join(first: &[u8], second: &[u8]) -> Block {
    pad(&[first, second].concat())
}

/// Examples of IEEE Std 1619, annex B: vector 2, and vectors 15 to 18, which steal ciphertext.
#[cfg(test)]
mod tests {
    use super::*;
    use aes::Aes128;

    fn must_hold(key: &str, i: &str, msg: &str, ct: &str) {
        let bytes = |text| hex::decode(text).expect("hex");
        let key = bytes(key);
        let [k1, k2] = [&key[..16], &key[16..]].map(|key| Aes128::with_key(key).expect("16 bytes"));
        let i = pad(&bytes(i));
        assert_eq!(hex::encode(encrypt(&k1, &k2, i, &bytes(msg))), ct);
        assert_eq!(hex::encode(decrypt(&k1, &k2, i, &bytes(ct))), msg);
    }

    #[test]
    fn whole_blocks_are_encrypted_as_in_the_example() {
        must_hold(
            "1111111111111111111111111111111122222222222222222222222222222222",
            "3333333333",
            "4444444444444444444444444444444444444444444444444444444444444444",
            "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0",
        );
    }

    #[test]
    fn partial_blocks_steal_ciphertext_as_in_the_examples() {
        for (msg, ct) in [
            ("000102030405060708090a0b0c0d0e0f10", "6c1625db4671522d3d7599601de7ca09ed"),
            ("000102030405060708090a0b0c0d0e0f1011", "d069444b7a7e0cab09e24447d24deb1fedbf"),
            ("000102030405060708090a0b0c0d0e0f101112", "e5df1351c0544ba1350b3363cd8ef4beedbf9d"),
            ("000102030405060708090a0b0c0d0e0f10111213", "9d84c813f719aa2c7be3f66171c7c5c2edbf9dac"),
        ] {
            must_hold(
                "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
                "9a78563412",
                msg,
                ct,
            );
        }
    }
}
