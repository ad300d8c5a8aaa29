//! COBRA: two-round Feistel networks on pairs of blocks, over a polynomial hash.

use super::{Block, BlockCipher, pad, xor};
use alloc::vec::Vec;

/// Returns the ciphertext and the tag.
#[must_use]
pub fn seal<C: BlockCipher>(e: &C, nonce: Block, aad: &[u8], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut cobra = Cobra::new(e, nonce);
    let mut ct = Vec::new();
    let (pairs, last) = msg.as_chunks::<32>();
    for pair in pairs {
        let (m1, m2) = halves(pair);
        let x = xor(m1, cobra.v);
        let y = xor(m2, cobra.times_l(x));
        let rho = cobra.rho(y);
        let c1 = xor(x, rho);
        let sigma = cobra.sigma(c1);
        ct.extend(c1);
        ct.extend(xor(y, sigma));
        cobra.next(rho, sigma, y);
    }
    let tag = cobra.tag(nonce, aad, pairs.len(), last);
    ct.extend(cobra.apply_keystream(tag, last));
    (ct, tag.to_vec())
}

/// Returns the message, or `None` if the tag is wrong.
#[must_use]
pub fn open<C: BlockCipher>(e: &C, nonce: Block, aad: &[u8], ct: &[u8], tag: Block) -> Option<Vec<u8>> {
    let mut cobra = Cobra::new(e, nonce);
    let mut msg = Vec::new();
    let (pairs, last) = ct.as_chunks::<32>();
    for pair in pairs {
        let (c1, c2) = halves(pair);
        let sigma = cobra.sigma(c1);
        let y = xor(c2, sigma);
        let rho = cobra.rho(y);
        let x = xor(c1, rho);
        msg.extend(xor(x, cobra.v));
        msg.extend(xor(y, cobra.times_l(x)));
        cobra.next(rho, sigma, y);
    }
    let last = cobra.apply_keystream(tag, last);
    msg.extend(&last);
    (cobra.tag(nonce, aad, pairs.len(), &last) == tag).then_some(msg)
}

fn halves(pair: &[u8; 32]) -> (Block, Block) {
    (pad(&pair[..16]), pad(&pair[16..]))
}

/// The secrets derived from the key, and the state carried from pair to pair.
struct Cobra<'a, C> {
    e: &'a C,
    l: Block,
    v: Block,
    d: Block,
    sum: Block,
}

impl<'a, C: BlockCipher> Cobra<'a, C> {
    fn new(e: &'a C, nonce: Block) -> Self {
        let l = e.encrypt(1u128.to_be_bytes());
        Self { e, l, v: multiply(xor(l, nonce), l), d: times(4, l), sum: [0; 16] }
    }

    fn times_l(&self, x: Block) -> Block {
        multiply(x, self.l)
    }

    fn rho(&self, y: Block) -> Block {
        self.e.encrypt(xor(y, self.d))
    }

    fn sigma(&self, c1: Block) -> Block {
        self.e.encrypt(xor(c1, xor(self.d, self.l)))
    }

    fn next(&mut self, rho: Block, sigma: Block, y: Block) {
        self.sum = xor(self.sum, xor(rho, sigma));
        self.v = self.times_l(y);
        self.d = times(2, self.d);
    }

    /// Returns `S` after all pairs.
    fn s(&self) -> Block {
        xor(self.d, self.l)
    }

    /// Returns the tag of a message whose pairs are followed by the bytes `last`.
    fn tag(&self, nonce: Block, aad: &[u8], pairs: usize, last: &[u8]) -> Block {
        let s = self.s();
        let finish = |sum: Block, inner: u32, outer: u32| {
            let inner = self.e.encrypt(xor(sum, times(inner, s)));
            self.e.encrypt(xor(xor(inner, nonce), xor(self.hash(aad), times(outer, s))))
        };
        if pairs > 0 && last.is_empty() {
            return finish(self.sum, 3, 5);
        }
        let mut padded = [0; 32];
        padded[..last.len()].copy_from_slice(last);
        padded[last.len()] = 0x80;
        let (f1, f2) = halves(&padded);
        let x = xor(f1, self.v);
        let y = xor(f2, self.times_l(x));
        let phi = self.e.encrypt(xor(y, times(2, s)));
        finish(xor(self.sum, phi), 6, 22)
    }

    /// Encrypts or decrypts the bytes that follow the pairs.
    fn apply_keystream(&self, tag: Block, last: &[u8]) -> Vec<u8> {
        let z = [26, 38].map(|mask| self.e.encrypt(xor(tag, times(mask, self.s()))));
        last.iter().zip(z.as_flattened()).map(|(byte, z)| byte ^ z).collect()
    }

    /// Returns `A`: the additional data, processed like PMAC.
    fn hash(&self, aad: &[u8]) -> Block {
        if aad.is_empty() {
            return [0; 16];
        }
        let mut mask = times(15 * 4, self.l);
        let mut acc = [0; 16];
        let (blocks, last) = aad.split_at((aad.len() - 1) / 16 * 16);
        for a in blocks.chunks(16) {
            acc = xor(acc, self.e.encrypt(xor(pad(a), mask)));
            mask = times(2, mask);
        }
        let mut padded = pad(last);
        let mask = if last.len() == 16 {
            times(3, mask)
        } else {
            padded[last.len()] = 0x80;
            times(5, mask)
        };
        self.e.encrypt(xor(acc, xor(padded, mask)))
    }
}

/// Multiplies a block by a polynomial, given as a number whose bits are its coefficients.
fn times(polynomial: u32, v: Block) -> Block {
    multiply(u128::from(polynomial).to_be_bytes(), v)
}

/// Returns the product of two blocks as big-endian polynomials modulo `x^128 + x^7 + x^2 + x + 1`.
fn multiply(a: Block, b: Block) -> Block {
    let a = u128::from_be_bytes(a);
    let b = u128::from_be_bytes(b);
    let mut product = 0;
    for i in (0..128).rev() {
        product = (product << 1) ^ if product >> 127 == 0 { 0 } else { 0x87 };
        if a >> i & 1 == 1 {
            product ^= b;
        }
    }
    product.to_be_bytes()
}
