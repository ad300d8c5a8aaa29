//! AES-COPA v2 (CAESAR round 2).

use super::gf128::{double, multiply};
use super::{Block, BlockCipher, pad, pad_one, xor};
use alloc::vec::Vec;

/// The field elements 3 and 7.
const THREE: Block = 3_u128.to_be_bytes();
const SEVEN: Block = 7_u128.to_be_bytes();

/// Returns the ciphertext, which ends with the byte `P`, and the tag.
#[must_use]
pub fn seal<C: BlockCipher>(cipher: &C, nonce: &[u8], aad: &[u8], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let l = cipher.encrypt([0; 16]);
    let blocks = blocks_of(msg);
    let partial = !msg.len().is_multiple_of(16) || msg.is_empty();
    let (top, bot) = masks(l, blocks.len(), partial);
    let mut s = xor(process_aad(cipher, l, nonce, aad), l);
    let mut ct = Vec::new();
    for (i, m) in blocks.iter().enumerate() {
        s = xor(s, cipher.encrypt(xor(*m, top[i])));
        ct.extend(xor(cipher.encrypt(s), bot[i]));
    }
    ct.push(u8::from(partial));
    (ct, tag(cipher, &blocks, s, &top, &bot).to_vec())
}

/// Returns the message, or `None` if the tag, the padding or `P` is wrong.
#[must_use]
pub fn open<C: BlockCipher>(
    cipher: &C,
    nonce: &[u8],
    aad: &[u8],
    ct: &[u8],
    received: &[u8],
) -> Option<Vec<u8>> {
    let (p, ct) = ct.split_last()?;
    let (c, rest) = ct.as_chunks();
    if c.is_empty() || !rest.is_empty() || *p > 1 {
        return None;
    }
    let partial = *p == 1;
    let l = cipher.encrypt([0; 16]);
    let (top, bot) = masks(l, c.len(), partial);
    let mut before = xor(process_aad(cipher, l, nonce, aad), l);
    let mut blocks = Vec::new();
    for (i, c) in c.iter().enumerate() {
        let s = cipher.decrypt(xor(*c, bot[i]));
        blocks.push(xor(cipher.decrypt(xor(s, before)), top[i]));
        before = s;
    }
    if tag(cipher, &blocks, before, &top, &bot) != received {
        return None;
    }
    let msg = blocks.as_flattened();
    if partial { strip(msg) } else { Some(msg.to_vec()) }
}

/// Returns `V`: all blocks of additional data and nonce but the last are encrypted and summed, then encrypted with
/// the last.
fn process_aad<C: BlockCipher>(cipher: &C, l: Block, nonce: &[u8], aad: &[u8]) -> Block {
    let b = [aad, nonce].concat();
    let mut chunks: Vec<&[u8]> = b.chunks(16).collect();
    let last = chunks.pop().expect("a nonce");
    let mut mask = multiply(l, power(THREE, 3));
    let mut acc = [0; 16];
    for b in chunks {
        acc = xor(acc, cipher.encrypt(xor(pad(b), mask)));
        mask = double(mask);
    }
    // The mask of the last block has one more factor of 3 if the block is full, and two more if it is not.
    mask = multiply(mask, if last.len() == 16 { THREE } else { power(THREE, 2) });
    cipher.encrypt(xor(xor(acc, pad_one(last)), mask))
}

/// Returns `T`.
fn tag<C: BlockCipher>(cipher: &C, blocks: &[Block], s: Block, top: &[Block], bot: &[Block]) -> Block {
    let sigma = blocks.iter().fold([0; 16], |sum, m| xor(sum, *m));
    let (top, bot) = (top.last().expect("a block"), bot.last().expect("a block"));
    let upper = cipher.encrypt(xor(sigma, multiply(*top, THREE)));
    xor(cipher.encrypt(xor(upper, s)), multiply(*bot, SEVEN))
}

/// Returns the masks of the upper layer and those of the lower layer.
fn masks(l: Block, blocks: usize, partial: bool) -> (Vec<Block>, Vec<Block>) {
    let (mut top, mut bot) = (Vec::from([multiply(l, THREE)]), Vec::from([double(l)]));
    for i in 1..blocks {
        top.push(double(top[i - 1]));
        bot.push(double(bot[i - 1]));
    }
    if partial {
        top[blocks - 1] = multiply(top[blocks - 1], SEVEN);
    }
    (top, bot)
}

/// Splits a message into blocks, at least one, and pads the last if it is partial.
pub(super) fn blocks_of(msg: &[u8]) -> Vec<Block> {
    if msg.is_empty() { Vec::from([pad_one(msg)]) } else { msg.chunks(16).map(pad_one).collect() }
}

/// Removes the padding, or returns `None` if it is wrong. It must begin in the last block, and after its first byte
/// unless that is the only block.
pub(super) fn strip(padded: &[u8]) -> Option<Vec<u8>> {
    let zeros = padded.iter().rev().take_while(|&&byte| byte == 0).count();
    let (end, msg) = padded[..padded.len() - zeros].split_last()?;
    let in_last_block = msg.len() + 16 >= padded.len();
    let nothing_before = padded.len() > 16 && msg.len() + 16 == padded.len();
    (*end == 0x80 && in_last_block && !nothing_before).then(|| msg.to_vec())
}

fn power(x: Block, n: usize) -> Block {
    (1..n).fold(x, |product, _| multiply(product, x))
}
