//! CMAC (SP 800-38B).

use super::gf128::double;
use super::{Block, BlockCipher, pad, pad_one, xor};
use alloc::vec::Vec;

/// Returns the first `tag_bytes` bytes of the CMAC of a message (section 6.2).
///
/// # Panics
///
/// If `tag_bytes` is more than 16.
#[must_use]
pub fn tag<C: BlockCipher>(cipher: &C, msg: &[u8], tag_bytes: usize) -> Vec<u8> {
    let (k1, k2) = subkeys(cipher);
    let mut blocks: Vec<&[u8]> = msg.chunks(16).collect();
    let last = blocks.pop().unwrap_or_default();
    let last = if last.len() == 16 { xor(k1, pad(last)) } else { xor(k2, pad_one(last)) };
    let mut c = [0; 16];
    for m in blocks {
        c = cipher.encrypt(xor(c, pad(m)));
    }
    c = cipher.encrypt(xor(c, last));
    c[..tag_bytes].to_vec()
}

/// Returns the subkeys `K1` and `K2` (section 6.1).
fn subkeys<C: BlockCipher>(cipher: &C) -> (Block, Block) {
    let l = cipher.encrypt([0; 16]);
    let k1 = double(l);
    (k1, double(k1))
}
