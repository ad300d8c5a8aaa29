//! EME2 (IEEE Std 1619.2), a tweakable wide-block cipher.

use super::gf128::double_little_endian as double;
use super::{Block, BlockCipher, pad, pad_one, xor, xor_partial};
use alloc::vec::Vec;

/// The cipher and the two additional keys.
#[derive(Debug)]
pub struct Keys<C> {
    k_ad: Block,
    k_ecb: Block,
    cipher: C,
}

impl<C: BlockCipher> Keys<C> {
    /// Splits a key into `K_AD`, `K_ECB` and the cipher's key, in this order. Returns `None` if it has the wrong
    /// length.
    #[must_use]
    pub fn new(key: &[u8]) -> Option<Self> {
        let (k_ad, rest) = key.split_first_chunk()?;
        let (k_ecb, k_aes) = rest.split_first_chunk()?;
        Some(Self { k_ad: *k_ad, k_ecb: *k_ecb, cipher: C::with_key(k_aes)? })
    }

    /// Encrypts a message of at least 16 bytes.
    ///
    /// # Panics
    ///
    /// If the message is shorter.
    #[must_use]
    pub fn encrypt(&self, tweak: &[u8], msg: &[u8]) -> Vec<u8> {
        self.eme(tweak, msg, |block| self.cipher.encrypt(block))
    }

    /// Decrypts a message of at least 16 bytes.
    ///
    /// # Panics
    ///
    /// If the message is shorter.
    #[must_use]
    pub fn decrypt(&self, tweak: &[u8], ct: &[u8]) -> Vec<u8> {
        self.eme(tweak, ct, |block| self.cipher.decrypt(block))
    }

    /// Encrypts or decrypts, where `f` is the cipher or its inverse.
    fn eme(&self, tweak: &[u8], input: &[u8], f: impl Fn(Block) -> Block) -> Vec<u8> {
        let t = self.tweak_block(tweak);
        let (blocks, q) = input.as_chunks::<16>();
        let mut masks = Vec::new();
        for _ in blocks {
            masks.push(masks.last().map_or(self.k_ecb, |&mask| double(mask)));
        }
        let b: Vec<_> = blocks.iter().zip(&masks).map(|(p, mask)| f(xor(*p, *mask))).collect();

        let padded = |q: &[u8]| if q.is_empty() { [0; 16] } else { pad_one(q) };
        let mp = b.iter().fold(xor(t, padded(q)), |sum, b| xor(sum, *b));
        let mm = if q.is_empty() { mp } else { f(mp) };
        let mc = f(mm);
        let q = xor_partial(q, mm);
        let m1 = xor(mp, mc);
        let mut m = m1;
        let mut g = b.clone();
        for (i, g) in g.iter_mut().enumerate().skip(1) {
            if i % 128 == 0 {
                let a = xor(*g, m1);
                let b = f(a);
                m = xor(a, b);
                *g = xor(b, m1);
            } else {
                m = double(m);
                *g = xor(*g, m);
            }
        }
        g[0] = g[1..].iter().fold(xor(xor(t, mc), padded(&q)), |sum, g| xor(sum, *g));

        let mut output: Vec<u8> = g.iter().zip(&masks).flat_map(|(g, mask)| xor(f(*g), *mask)).collect();
        output.extend(q);
        output
    }

    /// Returns `t`.
    fn tweak_block(&self, tweak: &[u8]) -> Block {
        if tweak.is_empty() {
            return self.cipher.encrypt(self.k_ad);
        }
        let mut k = self.k_ad;
        let mut t = [0; 16];
        for piece in tweak.chunks(16) {
            k = double(k);
            let mut block = pad(piece);
            if piece.len() < 16 {
                k = double(k);
                block = pad_one(piece);
            }
            t = xor(t, xor(self.cipher.encrypt(xor(block, k)), k));
        }
        t
    }
}
