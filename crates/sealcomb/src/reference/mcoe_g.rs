//! McOE-G: an online mode over a block cipher that one multiplication makes tweakable.

use super::gf128::ghash_multiply;
use super::{Block, BlockCipher, pad, xor};
use alloc::vec::Vec;

/// Returns the ciphertext and the tag.
#[must_use]
pub fn seal<C: BlockCipher>(k1: &C, k2: Block, nonce: Block, aad: &[u8], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let cipher = Tweakable { k1, k2 };
    let (tau, mut u) = cipher.header(nonce, aad);
    let mut ct = Vec::new();
    let (blocks, last) = msg.as_chunks();
    for m in blocks {
        let c = cipher.encrypt(u, *m);
        u = xor(*m, c);
        ct.extend(c);
    }
    if last.is_empty() {
        return (ct, cipher.encrypt(u, tau).to_vec());
    }
    let s = last.len();
    let p = xor(fill(last, &tau), cipher.mask(s));
    let q = cipher.encrypt(u, p);
    ct.extend(&q[..s]);
    u = xor(p, q);
    (ct, [&q[s..], &cipher.encrypt(u, tau)[..s]].concat())
}

/// Returns the message, or `None` if the tag is wrong.
#[must_use]
pub fn open<C: BlockCipher>(
    k1: &C,
    k2: Block,
    nonce: Block,
    aad: &[u8],
    ct: &[u8],
    tag: Block,
) -> Option<Vec<u8>> {
    let cipher = Tweakable { k1, k2 };
    let (tau, mut u) = cipher.header(nonce, aad);
    let mut msg = Vec::new();
    let (blocks, last) = ct.as_chunks();
    for c in blocks {
        let m = cipher.decrypt(u, *c);
        u = xor(m, *c);
        msg.extend(m);
    }
    if last.is_empty() {
        return (cipher.encrypt(u, tau) == tag).then_some(msg);
    }
    let s = last.len();
    let q = fill(last, &tag);
    let p = cipher.decrypt(u, q);
    u = xor(p, q);
    let r = xor(p, cipher.mask(s));
    msg.extend(&r[..s]);
    (r[s..] == tau[..16 - s] && cipher.encrypt(u, tau)[..s] == tag[16 - s..]).then_some(msg)
}

/// Completes a string to a block with the first bytes of `with`.
fn fill(string: &[u8], with: &Block) -> Block {
    let mut block = pad(string);
    block[string.len()..].copy_from_slice(&with[..16 - string.len()]);
    block
}

/// The tweakable cipher.
struct Tweakable<'a, C> {
    k1: &'a C,
    k2: Block,
}

impl<C: BlockCipher> Tweakable<'_, C> {
    fn encrypt(&self, u: Block, x: Block) -> Block {
        let h = ghash_multiply(u, self.k2);
        xor(self.k1.encrypt(xor(x, h)), h)
    }

    fn decrypt(&self, u: Block, y: Block) -> Block {
        let h = ghash_multiply(u, self.k2);
        xor(self.k1.decrypt(xor(y, h)), h)
    }

    /// Returns `tau` and the tweak of the first block.
    fn header(&self, nonce: Block, aad: &[u8]) -> (Block, Block) {
        let mut u = (aad.len() as u128).to_be_bytes();
        for a in aad.chunks(16).map(pad) {
            u = xor(self.encrypt(u, a), a);
        }
        let tau = self.encrypt(u, nonce);
        (tau, xor(tau, nonce))
    }

    /// Returns `W`, the mask of a partial last block of `s` bytes.
    fn mask(&self, s: usize) -> Block {
        self.encrypt([0xff; 16], (s as u128).to_be_bytes())
    }
}
