//! CCM (SP 800-38C), with the formatting function and the counter blocks of its appendix A.

use super::{Block, BlockCipher, pad, xor, xor_partial};
use alloc::vec::Vec;

/// Returns the ciphertext and the tag (generation-encryption, section 6.1).
///
/// # Panics
///
/// If the nonce is not 7 to 13 bytes, the tag not 4 to 16 bytes, or the message too long for its length field.
#[must_use]
pub fn seal<C: BlockCipher>(
    cipher: &C,
    nonce: &[u8],
    aad: &[u8],
    msg: &[u8],
    tag_bytes: usize,
) -> (Vec<u8>, Vec<u8>) {
    let t = mac(cipher, nonce, aad, msg, tag_bytes);
    let tag = xor_partial(&t, cipher.encrypt(counter_block(nonce, 0)));
    (apply_counters(cipher, nonce, msg), tag)
}

/// Returns the message, or `None` if the tag is wrong (decryption-verification, section 6.2).
///
/// # Panics
///
/// If the nonce is not 7 to 13 bytes, the tag not 4 to 16 bytes, or the message too long for its length field.
#[must_use]
pub fn open<C: BlockCipher>(cipher: &C, nonce: &[u8], aad: &[u8], ct: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
    let msg = apply_counters(cipher, nonce, ct);
    let received = xor_partial(tag, cipher.encrypt(counter_block(nonce, 0)));
    (mac(cipher, nonce, aad, &msg, tag.len()) == received).then_some(msg)
}

/// Returns `T`, the truncated CBC-MAC of the formatted input.
fn mac<C: BlockCipher>(cipher: &C, nonce: &[u8], aad: &[u8], msg: &[u8], tag_bytes: usize) -> Vec<u8> {
    let mut y = [0; 16];
    for b in format(nonce, aad, msg, tag_bytes) {
        y = cipher.encrypt(xor(b, y));
    }
    y[..tag_bytes].to_vec()
}

/// Returns the blocks `B_0, B_1, …` of the formatting function (appendix A.2).
fn format(nonce: &[u8], aad: &[u8], msg: &[u8], tag_bytes: usize) -> Vec<Block> {
    let mut blocks = Vec::from([first_block(nonce, !aad.is_empty(), msg.len(), tag_bytes)]);
    if !aad.is_empty() {
        let mut encoded = length_of_aad(aad.len());
        encoded.extend(aad);
        blocks.extend(encoded.chunks(16).map(pad));
    }
    blocks.extend(msg.chunks(16).map(pad));
    blocks
}

/// Returns `B_0`: flags, nonce, and the message length in `q` bytes (A.2.1).
fn first_block(nonce: &[u8], has_aad: bool, msg_bytes: usize, tag_bytes: usize) -> Block {
    assert!(matches!(tag_bytes, 4 | 6 | 8 | 10 | 12 | 14 | 16), "the tag's length");
    let q = length_field(nonce);
    let mut block = numbered_block(nonce, msg_bytes);
    block[0] = 64 * u8::from(has_aad) + 8 * ((tag_bytes as u8 - 2) / 2) + (q as u8 - 1);
    block
}

/// Returns the length of the additional data, encoded in 2, 6 or 10 bytes (A.2.2).
fn length_of_aad(bytes: usize) -> Vec<u8> {
    match bytes as u64 {
        a @ 0..0xff00 => (a as u16).to_be_bytes().to_vec(),
        a @ 0xff00..0x1_0000_0000 => [&[0xff, 0xfe][..], &(a as u32).to_be_bytes()].concat(),
        a => [&[0xff, 0xff][..], &a.to_be_bytes()].concat(),
    }
}

/// XORs each 16-byte segment of the message with the encryption of its counter block, starting at `Ctr_1`.
fn apply_counters<C: BlockCipher>(cipher: &C, nonce: &[u8], input: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    for (i, segment) in input.chunks(16).enumerate() {
        output.extend(xor_partial(segment, cipher.encrypt(counter_block(nonce, i + 1))));
    }
    output
}

/// Returns `Ctr_i`: flags, nonce, and `i` in `q` bytes (A.3).
fn counter_block(nonce: &[u8], i: usize) -> Block {
    let mut block = numbered_block(nonce, i);
    block[0] = length_field(nonce) as u8 - 1;
    block
}

/// Returns a block of a zero byte for the flags, the nonce, and a number in the last `q` bytes.
fn numbered_block(nonce: &[u8], number: usize) -> Block {
    let q = length_field(nonce);
    assert!((number as u128) < 1 << (8 * q), "the number does not fit its field");
    let mut block = (number as u128).to_be_bytes();
    block[1..16 - q].copy_from_slice(nonce);
    block
}

/// Returns `q`, the size of the length field in bytes.
fn length_field(nonce: &[u8]) -> usize {
    assert!(matches!(nonce.len(), 7..=13), "the nonce's length");
    15 - nonce.len()
}
