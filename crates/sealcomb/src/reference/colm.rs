//! `COLM_0` of COLM v1 (CAESAR's final portfolio).

use super::copa::blocks_of;
use super::elmd::{rho, unrho};
use super::gf128::{double, multiply};
use super::{Block, BlockCipher, pad, pad_one, xor};
use alloc::vec::Vec;

/// The field elements 3, 3^2 and 7.
const THREE: Block = 3_u128.to_be_bytes();
const THREE_SQUARED: Block = 5_u128.to_be_bytes();
const SEVEN: Block = 7_u128.to_be_bytes();

/// Returns the ciphertext and the tag: the first bytes and the last 16 bytes of one string.
#[must_use]
pub fn seal<C: BlockCipher>(cipher: &C, nonce: &[u8], aad: &[u8], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let l = cipher.encrypt([0; 16]);
    let mut m = blocks_of(msg);
    let blocks = m.len();
    let r = msg.len() - 16 * (blocks - 1);
    let sum = m.iter().fold([0; 16], |sum, m| xor(sum, *m));
    m[blocks - 1] = sum;
    m.push(sum);
    let (top, bot) = (masks(l, blocks, r), masks(multiply(l, THREE_SQUARED), blocks, r));
    let mut w = initial_value(cipher, l, nonce, aad);
    let mut output = Vec::new();
    for i in 0..=blocks {
        let y = rho(cipher.encrypt(xor(m[i], top[i])), &mut w);
        output.extend(xor(cipher.encrypt(y), bot[i]));
    }
    output.truncate(msg.len() + 16);
    let tag = output.split_off(msg.len());
    (output, tag)
}

/// Returns the message, or `None` if the tag or the padding is wrong.
#[must_use]
pub fn open<C: BlockCipher>(cipher: &C, nonce: &[u8], aad: &[u8], ct: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
    let l = cipher.encrypt([0; 16]);
    let blocks = ct.len().div_ceil(16).max(1);
    let r = ct.len() - 16 * (blocks - 1);
    let (top, bot) = (masks(l, blocks, r), masks(multiply(l, THREE_SQUARED), blocks, r));
    let input = [ct, tag].concat();
    let (c, cut) = input.split_at(16 * blocks);
    let mut w = initial_value(cipher, l, nonce, aad);
    let mut m = Vec::new();
    for (i, c) in c.chunks(16).enumerate() {
        let x = unrho(cipher.decrypt(xor(pad(c), bot[i])), &mut w);
        m.push(xor(cipher.decrypt(x), top[i]));
    }
    let sum = m[blocks - 1];
    m[blocks - 1] = m.iter().fold([0; 16], |sum, m| xor(sum, *m));
    let y = rho(cipher.encrypt(xor(sum, top[blocks])), &mut w);
    let last = xor(cipher.encrypt(y), bot[blocks]);
    let (msg, padding) = m.as_flattened().split_at(ct.len());
    let expected = pad_one(&m[blocks - 1][..r]);
    (cut == &last[..r] && padding == &expected[r..]).then(|| msg.to_vec())
}

/// Returns `IV`.
fn initial_value<C: BlockCipher>(cipher: &C, l: Block, nonce: &[u8], aad: &[u8]) -> Block {
    let mut mask = multiply(l, THREE);
    let mut iv = cipher.encrypt(xor(pad(nonce), mask));
    for d in aad.chunks(16) {
        mask = if d.len() == 16 { double(mask) } else { multiply(mask, SEVEN) };
        iv = xor(iv, cipher.encrypt(xor(pad_one(d), mask)));
    }
    iv
}

/// Returns the masks of the message blocks, then that of the tag block.
fn masks(first: Block, blocks: usize, r: usize) -> Vec<Block> {
    let mut mask = first;
    let mut masks = Vec::new();
    for _ in 1..blocks {
        mask = double(mask);
        masks.push(mask);
    }
    mask = multiply(mask, SEVEN);
    if r < 16 {
        mask = multiply(mask, SEVEN);
    }
    masks.push(mask);
    masks.push(double(mask));
    masks
}
