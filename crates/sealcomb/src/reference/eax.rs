//! EAX (Bellare, Rogaway, Wagner, FSE 2004).

use super::{Block, BlockCipher, cmac, ctr, xor};
use alloc::vec::Vec;

/// Returns the ciphertext and the tag (encryption, figure 1 of the paper).
///
/// # Panics
///
/// If `tag_bytes` is more than 16.
#[must_use]
pub fn seal<C: BlockCipher>(
    cipher: &C,
    nonce: &[u8],
    header: &[u8],
    msg: &[u8],
    tag_bytes: usize,
) -> (Vec<u8>, Vec<u8>) {
    let ct = ctr::apply(cipher, omac(cipher, 0, nonce), msg);
    let tag = tag(cipher, nonce, header, &ct, tag_bytes);
    (ct, tag)
}

/// Returns the message, or `None` if the tag is wrong (decryption, figure 1).
///
/// # Panics
///
/// If the tag is longer than 16 bytes.
#[must_use]
pub fn open<C: BlockCipher>(
    cipher: &C,
    nonce: &[u8],
    header: &[u8],
    ct: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    let is_right = self::tag(cipher, nonce, header, ct, tag.len()) == tag;
    is_right.then(|| ctr::apply(cipher, omac(cipher, 0, nonce), ct))
}

/// Returns the first bytes of `OMAC^0(N) ⊕ OMAC^1(H) ⊕ OMAC^2(C)`.
fn tag<C: BlockCipher>(cipher: &C, nonce: &[u8], header: &[u8], ct: &[u8], tag_bytes: usize) -> Vec<u8> {
    let sum = xor(xor(omac(cipher, 0, nonce), omac(cipher, 1, header)), omac(cipher, 2, ct));
    sum[..tag_bytes].to_vec()
}

/// Returns `OMAC^t(M)`: OMAC, which is CMAC, of the number `t` as a block followed by the string.
fn omac<C: BlockCipher>(cipher: &C, t: u128, string: &[u8]) -> Block {
    let tagged = [&t.to_be_bytes(), string].concat();
    cmac::tag(cipher, &tagged, 16).try_into().expect("a block")
}
