//! POET v2 with its two AES-based hashes, and POET-G, which is version 1 with multiplications.

use super::gf128::ghash_multiply;
use super::{Block, BlockCipher, aes_rounds, pad, xor};
use alloc::vec::Vec;

/// The function `F` of both chains.
#[derive(Clone, Copy)]
pub enum Hash {
    /// AES-128 with all ten rounds.
    Aes,
    /// Four full rounds of AES-128.
    Aes4,
    /// Multiplication in GF(2^128), with a separate factor for each chain.
    Multiplication,
}

/// Returns the ciphertext and the tag.
#[must_use]
pub fn seal<C: BlockCipher>(sk: &C, hash: Hash, nonce: Block, aad: &[u8], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut poet = Poet::new(sk, hash, nonce, aad);
    let s = poet.length_mask(msg.len());
    let (whole, last) = split_last(msg);
    let mut ct = Vec::new();
    for m in whole {
        ct.extend(poet.step(pad(m)));
    }
    let r = last.len();
    let z = xor(poet.step(xor(fill(last, &poet.tau), s)), s);
    let t = poet.tag_block();
    ct.extend(&z[..r]);
    (ct, [&z[r..], &t[..r]].concat())
}

/// Returns the message, or `None` if the tag is wrong.
#[must_use]
pub fn open<C: BlockCipher>(
    sk: &C,
    hash: Hash,
    nonce: Block,
    aad: &[u8],
    ct: &[u8],
    tag: Block,
) -> Option<Vec<u8>> {
    let mut poet = Poet::new(sk, hash, nonce, aad);
    let s = poet.length_mask(ct.len());
    let (whole, last) = split_last(ct);
    let mut msg = Vec::new();
    for c in whole {
        msg.extend(poet.unstep(pad(c)));
    }
    let r = last.len();
    let z = xor(poet.unstep(xor(fill(last, &tag), s)), s);
    let t = poet.tag_block();
    msg.extend(&z[..r]);
    (z[r..] == poet.tau[..16 - r] && t[..r] == tag[16 - r..]).then_some(msg)
}

/// Splits a text into whole blocks and a last block of 1 to 16 bytes, which is empty only if the text is.
fn split_last(text: &[u8]) -> (impl Iterator<Item = &[u8]>, &[u8]) {
    let (whole, last) = text.split_at(text.len().saturating_sub(1) / 16 * 16);
    (whole.chunks(16), last)
}

/// Completes a string to a block with the first bytes of `with`.
fn fill(string: &[u8], with: &Block) -> Block {
    let mut block = pad(string);
    block[string.len()..].copy_from_slice(&with[..16 - string.len()]);
    block
}

/// The keys, the header hash, and the state of both chains.
struct Poet<C> {
    hash: Hash,
    e: C,
    top: Block,
    bottom: Block,
    tau: Block,
    /// Masks added to the tag block before and after its step.
    tag_masks: [Block; 2],
    x: Block,
    y: Block,
}

impl<C: BlockCipher> Poet<C> {
    fn new(sk: &C, hash: Hash, nonce: Block, aad: &[u8]) -> Self {
        let key = |i: u8| sk.encrypt((u128::from(i)).to_be_bytes());
        let e = C::with_key(&key(0)).expect("a key of 16 bytes");
        let header = [aad, &nonce].concat();
        if let Hash::Multiplication = hash {
            let tau = header_of_version_1(&e, key(1), &header);
            let (tag_masks, x, y) = ([key(4); 2], tau, tau);
            Self { hash, e, top: key(2), bottom: key(3), tau, tag_masks, x, y }
        } else {
            let tau = header_of_version_2(&e, key(1), &header);
            let (tag_masks, x) = ([[0; 16], tau], tau);
            let mut y = tau;
            y[15] ^= 1;
            Self { hash, e, top: key(2), bottom: key(2), tau, tag_masks, x, y }
        }
    }

    fn f(&self, key: Block, x: Block) -> Block {
        match self.hash {
            Hash::Aes => C::with_key(&key).expect("a key of 16 bytes").encrypt(x),
            Hash::Aes4 => aes_rounds::encrypt(key, 4, x),
            Hash::Multiplication => ghash_multiply(x, key),
        }
    }

    fn length_mask(&self, bytes: usize) -> Block {
        self.e.encrypt(pad(&(8 * bytes as u64).to_le_bytes()))
    }

    fn step(&mut self, m: Block) -> Block {
        self.x = xor(self.f(self.top, self.x), m);
        let y = self.e.encrypt(self.x);
        let c = xor(y, self.f(self.bottom, self.y));
        self.y = y;
        c
    }

    fn unstep(&mut self, c: Block) -> Block {
        self.y = xor(self.f(self.bottom, self.y), c);
        let x = self.e.decrypt(self.y);
        let m = xor(x, self.f(self.top, self.x));
        self.x = x;
        m
    }

    fn tag_block(&mut self) -> Block {
        let [before, after] = self.tag_masks;
        xor(self.step(xor(self.tau, before)), after)
    }
}

/// Returns `tau` of version 2: the parameter block, the whole blocks, and the remainder, which is always padded.
fn header_of_version_2<C: BlockCipher>(e: &C, l: Block, header: &[u8]) -> Block {
    let mut acc = e.encrypt(l);
    let mut mask = double(l);
    let (blocks, rest) = header.as_chunks();
    for h in blocks {
        acc = xor(acc, e.encrypt(xor(*h, mask)));
        mask = double(mask);
    }
    e.encrypt(xor(acc, e.encrypt(xor(pad_one(rest), mask))))
}

/// Returns `tau` of version 1: the last block, of 1 to 16 bytes, is added to the input of the last call.
fn header_of_version_1<C: BlockCipher>(e: &C, l: Block, header: &[u8]) -> Block {
    let mut acc = [0; 16];
    let mut mask = l;
    let (blocks, last) = split_last(header);
    for h in blocks {
        acc = xor(acc, e.encrypt(xor(pad(h), mask)));
        mask = double(mask);
    }
    let (last, mask) = if last.len() == 16 {
        (pad(last), xor(double(mask), mask))
    } else {
        (pad_one(last), xor(double(double(mask)), mask))
    };
    e.encrypt(xor(acc, xor(last, mask)))
}

/// Returns `X || 80 00 … 00`.
fn pad_one(string: &[u8]) -> Block {
    let mut block = pad(string);
    block[string.len()] = 0x80;
    block
}

/// Doubles a block in GCM's bit order: a right shift, reduced by `E1` if a bit is shifted out.
fn double(v: Block) -> Block {
    let number = u128::from_be_bytes(v);
    let carry = if number & 1 == 0 { 0 } else { 0xe1 << 120 };
    ((number >> 1) ^ carry).to_be_bytes()
}
