//! Julius-ECB (CAESAR, round 1), regular variant: ECB of blocks that are masked by the encrypted hash of the whole
//! input.

use super::gf128::multiply;
use super::{Block, BlockCipher, pad, whole_blocks, xor};
use alloc::vec::Vec;

/// Returns the ciphertext and the tag, which is the block preceding it.
#[must_use]
pub fn seal<C: BlockCipher>(cipher: &C, nonce: Block, aad: &[u8], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let delta = cipher.encrypt([0; 16]);
    let padding = msg.len().next_multiple_of(16) - msg.len();
    let body: Vec<Block> = whole_blocks(&[&[0; 16], &[0; 16][..padding], msg].concat()).collect();
    let mu = cipher.encrypt(hash(delta, nonce, aad, msg.len(), &body));
    let c: Vec<Block> = body
        .iter()
        .zip(masks(delta, mu, body.len()))
        .map(|(b, mask)| cipher.encrypt(xor(*b, mask)))
        .collect();
    (c[1..].as_flattened().to_vec(), c[0].to_vec())
}

/// Returns the message, or `None` if the tag is wrong. Tries every message length that this ciphertext may have, and
/// accepts one for which the first block and the padding are zero. The length is hashed, and a receiver should know
/// it.
#[must_use]
pub fn open<C: BlockCipher>(cipher: &C, nonce: Block, aad: &[u8], ct: &[u8], tag: Block) -> Option<Vec<u8>> {
    let lengths = ct.len().saturating_sub(15)..=ct.len();
    lengths.rev().find_map(|bytes| open_as(cipher, nonce, aad, ct, tag, bytes))
}

/// Returns the message if it has `bytes` bytes and verifies.
fn open_as<C: BlockCipher>(
    cipher: &C,
    nonce: Block,
    aad: &[u8],
    ct: &[u8],
    tag: Block,
    bytes: usize,
) -> Option<Vec<u8>> {
    if ct.len() != bytes.next_multiple_of(16) {
        return None;
    }
    let delta = cipher.encrypt([0; 16]);
    if ct.is_empty() {
        let mu = cipher.encrypt(hash(delta, nonce, aad, 0, &[[0; 16]]));
        return (cipher.encrypt(mu) == tag).then(Vec::new);
    }
    let masked: Vec<Block> = whole_blocks(&[&tag, ct].concat()).map(|c| cipher.decrypt(c)).collect();
    // The masks cancel out in the hash.
    let mu = cipher.encrypt(hash(delta, nonce, aad, bytes, &masked));
    let body: Vec<Block> =
        masked.iter().zip(masks(delta, mu, masked.len())).map(|(u, mask)| xor(*u, mask)).collect();
    let (zeros, msg) = body.as_flattened().split_at(16 + ct.len() - bytes);
    zeros.iter().all(|&byte| byte == 0).then(|| msg.to_vec())
}

/// Returns `seed`: the polynomial in `delta` whose coefficients are the blocks of the prefix and of the body.
fn hash(delta: Block, nonce: Block, aad: &[u8], msg_bytes: usize, body: &[Block]) -> Block {
    let lengths = (aad.len() as u128) << 64 | msg_bytes as u128;
    let prefix = [1_u128.to_be_bytes(), nonce, lengths.to_be_bytes()];
    let blocks = prefix.into_iter().chain(aad.chunks(16).map(pad)).chain(body.iter().copied());
    blocks.fold([0; 16], |seed, block| xor(multiply(seed, delta), block))
}

/// Returns `n` masks. If there is more than one, their own hash is zero.
fn masks(delta: Block, mu: Block, n: usize) -> Vec<Block> {
    let mut powers = Vec::from([mu]);
    for i in 1..n {
        powers.push(multiply(powers[i - 1], delta));
    }
    if n.is_multiple_of(2) || n == 1 {
        return powers;
    }
    let mut masks = Vec::from([mu, xor(powers[1], mu)]);
    masks.extend(&powers[1..n - 1]);
    masks
}
