//! HCTR2 (Crowley, Huckleberry, Biggers, "Length-preserving encryption with HCTR2", 2021), a tweakable wide-block
//! cipher.
//!
//! ```text
//! h = E_k(bin(0)), L = E_k(bin(1))
//!
//! Encrypt(k, T, P):                    Decrypt(k, T, C):
//!     M || N = P, |M| = n                  U || V = C, |U| = n
//!     MM = M ⊕ H_h(T, N)                   UU = U ⊕ H_h(T, V)
//!     UU = E_k(MM)                         MM = E_k^-1(UU)
//!     S = MM ⊕ UU ⊕ L                      S = MM ⊕ UU ⊕ L
//!     V = N ⊕ XCTR_k(S)                    N = V ⊕ XCTR_k(S)
//!     U = UU ⊕ H_h(T, V)                   M = MM ⊕ H_h(T, N)
//!     C = U || V                           P = M || N
//! ```
//!
//! `n` is the size of a block, and `bin(x)` the little-endian block of a number.

use super::gcm_siv::polyval;
use super::{Block, BlockCipher, pad, xor, xor_partial};
use alloc::vec::Vec;

/// Encrypts a message of at least 16 bytes.
///
/// # Panics
///
/// If the message is shorter.
#[must_use]
pub fn encrypt<C: BlockCipher>(k: &C, tweak: &[u8], msg: &[u8]) -> Vec<u8> {
    let h = k.encrypt(bin(0));
    let l = k.encrypt(bin(1));
    let (&m, n) = msg.split_first_chunk().expect("at least one block");
    let mm = xor(m, hash(h, tweak, n));
    let uu = k.encrypt(mm);
    let s = xor(xor(mm, uu), l);
    let v = xctr(k, s, n);
    let u = xor(uu, hash(h, tweak, &v));
    [&u, &v[..]].concat()
}

/// Decrypts a message of at least 16 bytes.
///
/// # Panics
///
/// If the message is shorter.
#[must_use]
pub fn decrypt<C: BlockCipher>(k: &C, tweak: &[u8], ct: &[u8]) -> Vec<u8> {
    let h = k.encrypt(bin(0));
    let l = k.encrypt(bin(1));
    let (&u, v) = ct.split_first_chunk().expect("at least one block");
    let uu = xor(u, hash(h, tweak, v));
    let mm = k.decrypt(uu);
    let s = xor(xor(mm, uu), l);
    let n = xctr(k, s, v);
    let m = xor(mm, hash(h, tweak, &n));
    [&m, &n[..]].concat()
}

/// Returns `H_h(T, M)`, the POLYVAL of the tweak's length, the tweak and the message. A message that is not a multiple
/// of blocks gets a one bit, which is the least significant bit of the next byte.
fn hash(h: Block, tweak: &[u8], msg: &[u8]) -> Block {
    let t = 8 * tweak.len() as u128;
    let mut msg = msg.to_vec();
    let length = if msg.len().is_multiple_of(16) {
        bin(2 * t + 2)
    } else {
        msg.push(1);
        bin(2 * t + 3)
    };
    polyval(h, [length].into_iter().chain(tweak.chunks(16).map(pad)).chain(msg.chunks(16).map(pad)))
}

/// Returns `X ⊕ XCTR_k(S)`: keystream block `i` is `E_k(S ⊕ bin(i))`, counting from 1.
fn xctr<C: BlockCipher>(k: &C, s: Block, x: &[u8]) -> Vec<u8> {
    let segments = (1..).zip(x.chunks(16));
    segments.flat_map(|(i, segment)| xor_partial(segment, k.encrypt(xor(s, bin(i))))).collect()
}

fn bin(number: u128) -> Block {
    number.to_le_bytes()
}

/// Answers of the authors' test vectors: for XCTR, and for a key size that the catalog does not list.
#[cfg(test)]
mod tests {
    use super::*;
    use aes::{Aes128, Aes192};

    fn bytes(text: &str) -> Vec<u8> {
        hex::decode(text).expect("hex")
    }

    #[test]
    fn xctr_yields_the_published_keystream() {
        let k = Aes128::with_key(&bytes("4403bf4c30f0a7d6bd54bb668ea60e8a")).expect("16 bytes");
        let s = pad(&bytes("e6f726df8c3caa88cec1bd433b0962ad"));
        let x = bytes("3ce346b98f9d3f8deff253ab24e22908f87e1da66d867d60976393297194b4");
        let expected = "d4a3c6b8c16f701a520ced4caf5156234845071034c5ba71e5f81ed8cba6e7";
        assert_eq!(hex::encode(xctr(&k, s, &x)), expected);
    }

    #[test]
    fn a_message_is_encrypted_under_192_bits_as_published() {
        let k =
            Aes192::with_key(&bytes("8fce64a7a258565c55fe4a3c58eb037e42c185a441bb9df1")).expect("24 bytes");
        let tweak = bytes("8832b0bcf71e9a9c3dc7cee63688693eaaf1248fc534951d17b3dc22d350bebe");
        let (msg, ct) =
            (bytes("3ac2a259561c9db2c18bec679b483db1c2"), bytes("9614f35b2ca66f4e34acf9da09aed40189"));
        assert_eq!(encrypt(&k, &tweak, &msg), ct);
        assert_eq!(decrypt(&k, &tweak, &ct), msg);
    }
}
