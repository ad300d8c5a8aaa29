//! GCM and GMAC (SP 800-38D), with an IV of any length.

use super::gf128::ghash_multiply;
use super::{Block, BlockCipher, pad, xor, xor_partial};
use alloc::vec::Vec;

/// Returns the ciphertext and the tag: `GCM-AE_K(IV, P, A)` (section 7.1).
///
/// # Panics
///
/// If `tag_bytes` is more than 16.
#[must_use]
pub fn seal<C: BlockCipher>(
    cipher: &C,
    iv: &[u8],
    aad: &[u8],
    msg: &[u8],
    tag_bytes: usize,
) -> (Vec<u8>, Vec<u8>) {
    let h = cipher.encrypt([0; 16]);
    let j0 = pre_counter_block(h, iv);
    let ct = gctr(cipher, increment(j0), msg);
    let tag = tag(cipher, h, j0, aad, &ct, tag_bytes);
    (ct, tag)
}

/// Returns the message, or `None` if the tag is wrong: `GCM-AD_K(IV, C, A, T)` (section 7.2).
#[must_use]
pub fn open<C: BlockCipher>(
    cipher: &C,
    iv: &[u8],
    aad: &[u8],
    ct: &[u8],
    received: &[u8],
) -> Option<Vec<u8>> {
    let h = cipher.encrypt([0; 16]);
    let j0 = pre_counter_block(h, iv);
    let msg = gctr(cipher, increment(j0), ct);
    (tag(cipher, h, j0, aad, ct, received.len()) == received).then_some(msg)
}

/// Returns the GMAC of additional data: the GCM tag with an empty message.
///
/// # Panics
///
/// If `tag_bytes` is more than 16.
#[must_use]
pub fn gmac<C: BlockCipher>(cipher: &C, iv: &[u8], aad: &[u8], tag_bytes: usize) -> Vec<u8> {
    seal(cipher, iv, aad, &[], tag_bytes).1
}

/// Returns `T = MSB_t(GCTR_K(J_0, S))`, where `S` is the hash of the padded `A`, the padded `C`, and their lengths
/// in bits.
fn tag<C: BlockCipher>(cipher: &C, h: Block, j0: Block, aad: &[u8], ct: &[u8], tag_bytes: usize) -> Vec<u8> {
    let mut hashed = padded(aad);
    hashed.extend(padded(ct));
    hashed.push(lengths(aad.len(), ct.len()));
    let s = ghash(h, &hashed);
    let mut t = gctr(cipher, j0, &s);
    t.truncate(tag_bytes);
    t
}

/// Returns `J_0`: a 96-bit IV with a counter of 1, or the hash of any other IV.
fn pre_counter_block(h: Block, iv: &[u8]) -> Block {
    if iv.len() == 12 {
        let mut j0 = pad(iv);
        j0[15] = 1;
        j0
    } else {
        let mut hashed = padded(iv);
        hashed.push(lengths(0, iv.len()));
        ghash(h, &hashed)
    }
}

/// Returns `GHASH_H(X)`: `Y_i = (Y_{i-1} ⊕ X_i) • H` (section 6.4).
fn ghash(h: Block, blocks: &[Block]) -> Block {
    blocks.iter().fold([0; 16], |y, &x| ghash_multiply(xor(y, x), h))
}

/// Returns `GCTR_K(ICB, X)` (section 6.5).
fn gctr<C: BlockCipher>(cipher: &C, icb: Block, x: &[u8]) -> Vec<u8> {
    let mut cb = icb;
    let mut y = Vec::new();
    for segment in x.chunks(16) {
        y.extend(xor_partial(segment, cipher.encrypt(cb)));
        cb = increment(cb);
    }
    y
}

/// `inc_32`: increments the last 32 bits modulo 2^32 and leaves the others unchanged.
fn increment(mut block: Block) -> Block {
    let counter = block.last_chunk_mut().expect("a block has four bytes");
    *counter = u32::from_be_bytes(*counter).wrapping_add(1).to_be_bytes();
    block
}

/// Returns the blocks of a string, the last one zero-padded.
fn padded(string: &[u8]) -> Vec<Block> {
    string.chunks(16).map(pad).collect()
}

/// Encodes two lengths, given in bytes, as 64-bit numbers of bits.
fn lengths(first: usize, second: usize) -> Block {
    let bits = |bytes: usize| 8 * bytes as u128;
    (bits(first) << 64 | bits(second)).to_be_bytes()
}
