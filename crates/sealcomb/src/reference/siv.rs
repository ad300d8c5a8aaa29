//! AES-SIV (RFC 5297).

use super::ctr;
use super::gf128::double;
use super::{Block, BlockCipher, cmac, pad_one, xor};
use alloc::vec::Vec;

/// Returns the ciphertext and the synthetic IV (`SIV-ENCRYPT`, section 2.6). `mac` has `K1` and `encryption` has
/// `K2`, the two halves of the key.
#[must_use]
pub fn seal<C: BlockCipher>(mac: &C, encryption: &C, strings: &[&[u8]], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let v = s2v(mac, strings, msg);
    (ctr::apply(encryption, counter(v), msg), v.to_vec())
}

/// Returns the message, or `None` if the IV is not that of the message (`SIV-DECRYPT`, section 2.7).
#[must_use]
pub fn open<C: BlockCipher>(
    mac: &C,
    encryption: &C,
    strings: &[&[u8]],
    ct: &[u8],
    v: Block,
) -> Option<Vec<u8>> {
    let msg = ctr::apply(encryption, counter(v), ct);
    (s2v(mac, strings, &msg) == v).then_some(msg)
}

/// Returns `S2V(K1, S_1, …, S_n)`, where the message is the last string (section 2.4).
fn s2v<C: BlockCipher>(mac: &C, strings: &[&[u8]], msg: &[u8]) -> Block {
    let mut d = cmac(mac, &[0; 16]);
    for s in strings {
        d = xor(double(d), cmac(mac, s));
    }
    let t = if let Some(before) = msg.len().checked_sub(16) {
        let (head, end) = msg.split_at(before);
        [head, &xor(end.try_into().expect("a block"), d)].concat()
    } else {
        xor(double(d), pad_one(msg)).to_vec()
    };
    cmac(mac, &t)
}

fn cmac<C: BlockCipher>(cipher: &C, string: &[u8]) -> Block {
    cmac::tag(cipher, string, 16).try_into().expect("a block")
}

/// Clears the top bits of the IV's last two words, so that 32-bit counters cannot overflow (section 2.5).
fn counter(mut v: Block) -> Block {
    v[8] &= 0x7f;
    v[12] &= 0x7f;
    v
}
