//! AES-GCM-SIV (RFC 8452).

use super::gf128::polyval_dot;
use super::{Block, BlockCipher, pad, xor, xor_partial};
use alloc::vec::Vec;

/// Returns the ciphertext and the tag (`encrypt`, section 4). `cipher` has the key-generating key.
///
/// # Panics
///
/// If the nonce is not 12 bytes.
#[must_use]
pub fn seal<C: BlockCipher>(cipher: &C, nonce: &[u8], aad: &[u8], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (authentication_key, encryption_key) = derive_keys(cipher, nonce);
    let tag = tag(authentication_key, &encryption_key, nonce, aad, msg);
    (aes_ctr(&encryption_key, tag, msg), tag.to_vec())
}

/// Returns the message, or `None` if the tag is wrong (`decrypt`, section 5). `cipher` has the key-generating key.
///
/// # Panics
///
/// If the nonce is not 12 bytes.
#[must_use]
pub fn open<C: BlockCipher>(
    cipher: &C,
    nonce: &[u8],
    aad: &[u8],
    ct: &[u8],
    received: &[u8],
) -> Option<Vec<u8>> {
    let (authentication_key, encryption_key) = derive_keys(cipher, nonce);
    let msg = aes_ctr(&encryption_key, received.try_into().ok()?, ct);
    (tag(authentication_key, &encryption_key, nonce, aad, &msg) == received).then_some(msg)
}

/// `derive_keys`: returns the message-authentication key, and the cipher under the message-encryption key.
fn derive_keys<C: BlockCipher>(cipher: &C, nonce: &[u8]) -> (Block, C) {
    let mut stream = Vec::new();
    for i in 0..(16 + C::KEY_BYTES as u32) / 8 {
        let mut block = [0; 16];
        block[..4].copy_from_slice(&i.to_le_bytes());
        block[4..].copy_from_slice(nonce);
        stream.extend(&cipher.encrypt(block)[..8]);
    }
    let (authentication_key, encryption_key) = stream.split_at(16);
    (pad(authentication_key), C::with_key(encryption_key).expect("as many bytes as a key has"))
}

/// Returns the tag of a message, which is also the initial counter block.
fn tag<C: BlockCipher>(
    authentication_key: Block,
    encryption_key: &C,
    nonce: &[u8],
    aad: &[u8],
    msg: &[u8],
) -> Block {
    let bits = |bytes: usize| 8 * bytes as u128;
    let length_block = (bits(msg.len()) << 64 | bits(aad.len())).to_le_bytes();
    let blocks = aad.chunks(16).chain(msg.chunks(16)).map(pad).chain([length_block]);
    let s = polyval(authentication_key, blocks);
    let mut s = xor(s, pad(nonce));
    s[15] &= 0x7f;
    encryption_key.encrypt(s)
}

/// Returns `POLYVAL(H, X_1, X_2, …)`: `S_j = dot(S_{j-1} + X_j, H)` (section 3).
pub(super) fn polyval(h: Block, blocks: impl Iterator<Item = Block>) -> Block {
    blocks.fold([0; 16], |s, x| polyval_dot(xor(s, x), h))
}

/// `AES_CTR` of section 4: the initial counter block is the tag with its top bit set, and its first 32 bits count,
/// little-endian.
fn aes_ctr<C: BlockCipher>(cipher: &C, tag: Block, input: &[u8]) -> Vec<u8> {
    let mut block = tag;
    block[15] |= 0x80;
    let mut output = Vec::new();
    for segment in input.chunks(16) {
        output.extend(xor_partial(segment, cipher.encrypt(block)));
        let counter = block.first_chunk_mut().expect("a block has four bytes");
        *counter = u32::from_le_bytes(*counter).wrapping_add(1).to_le_bytes();
    }
    output
}
