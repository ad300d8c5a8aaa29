//! SILC (third-round submission to CAESAR, version 3), with 12-byte nonces and 8-byte tags.

use super::{Block, BlockCipher, pad, xor, xor_partial};
use alloc::vec::Vec;

/// `param`, which encodes the nonce and tag sizes for a cipher with 16-byte blocks.
const PARAM: u8 = 0xC0;

/// Returns the ciphertext and the tag.
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

/// Returns the message, or `None` if the tag is wrong.
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

/// Returns `V ← HASH_K(N, A)`.
fn hash<C: BlockCipher>(cipher: &C, nonce: &[u8; 12], aad: &[u8]) -> Block {
    let mut first = [0; 16];
    first[3] = PARAM;
    first[4..].copy_from_slice(nonce);
    g(cbc(cipher, cipher.encrypt(first), aad))
}

/// Returns `T ← PRF_K(V, C)`.
fn prf<C: BlockCipher>(cipher: &C, v: Block, ct: &[u8]) -> Vec<u8> {
    let s = cbc(cipher, cipher.encrypt(g(v)), ct);
    cipher.encrypt(g(s))[..8].to_vec()
}

/// Chains the zero-padded blocks of a string from `s` on, then adds its length.
fn cbc<C: BlockCipher>(cipher: &C, mut s: Block, string: &[u8]) -> Block {
    for x in string.chunks(16) {
        s = cipher.encrypt(xor(s, pad(x)));
    }
    xor(s, (string.len() as u128).to_be_bytes())
}

/// Sets the first bit of a block.
fn fix1(mut block: Block) -> Block {
    block[0] |= 0x80;
    block
}

/// Maps `(x_0, …, x_15)` to `(x_1, …, x_15, x_0 ⊕ x_1)`.
fn g(mut x: Block) -> Block {
    x.rotate_left(1);
    x[15] ^= x[0];
    x
}
