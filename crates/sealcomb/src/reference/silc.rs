//! SILC (third-round submission to CAESAR, version 3) with nonces of 12 bytes and tags of 8.

use super::{Block, BlockCipher, pad, xor, xor_partial};
use alloc::vec::Vec;

/// What names the sizes of nonce and tag, for a cipher with blocks of 16 bytes.
const PARAM: u8 = 0xC0;

/// Encryption: ciphertext and tag.
#[must_use]
pub fn seal<C: BlockCipher>(cipher: &C, nonce: &[u8; 12], aad: &[u8], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let v = hash(cipher, nonce, aad);
    let mut ct = Vec::new();
    let mut input = v;
    for m in msg.chunks(16) {
        let c = xor_partial(m, cipher.encrypt(input));
        input = fix1(pad(&c));
        ct.extend(c);
    }
    let tag = prf(cipher, v, &ct);
    (ct, tag)
}

/// Decryption: the message, or nothing if the tag is wrong.
#[must_use]
pub fn open<C: BlockCipher>(
    cipher: &C,
    nonce: &[u8; 12],
    aad: &[u8],
    ct: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    let v = hash(cipher, nonce, aad);
    if prf(cipher, v, ct) != tag {
        return None;
    }
    let mut msg = Vec::new();
    let mut input = v;
    for c in ct.chunks(16) {
        msg.extend(xor_partial(c, cipher.encrypt(input)));
        input = fix1(pad(c));
    }
    Some(msg)
}

/// `V ← HASH_K(N, A)`.
fn hash<C: BlockCipher>(cipher: &C, nonce: &[u8; 12], aad: &[u8]) -> Block {
    let mut first = [0; 16];
    first[3] = PARAM;
    first[4..].copy_from_slice(nonce);
    g(cbc(cipher, cipher.encrypt(first), aad))
}

/// `T ← PRF_K(V, C)`.
fn prf<C: BlockCipher>(cipher: &C, v: Block, ct: &[u8]) -> Vec<u8> {
    let s = cbc(cipher, cipher.encrypt(g(v)), ct);
    cipher.encrypt(g(s))[..8].to_vec()
}

/// The string's blocks, padded with zeros, chained from `s` on, and the length added at the end.
fn cbc<C: BlockCipher>(cipher: &C, mut s: Block, string: &[u8]) -> Block {
    for x in string.chunks(16) {
        s = cipher.encrypt(xor(s, pad(x)));
    }
    xor(s, (string.len() as u128).to_be_bytes())
}

/// The block with its first bit set.
fn fix1(mut block: Block) -> Block {
    block[0] |= 0x80;
    block
}

/// `(x_0, …, x_15) ↦ (x_1, …, x_15, x_0 ⊕ x_1)`.
fn g(mut x: Block) -> Block {
    x.rotate_left(1);
    x[15] ^= x[0];
    x
}
