//! CLOC (third-round submission to CAESAR, version 3), with 12-byte nonces and 8-byte tags.

use super::{Block, BlockCipher, pad, xor, xor_partial};
use alloc::vec::Vec;

/// `param`, which encodes the nonce and tag sizes for a cipher with 16-byte blocks.
const PARAM: u8 = 0xC0;

/// Returns the ciphertext and the tag.
#[must_use]
pub fn seal<C: BlockCipher>(cipher: &C, nonce: &[u8; 12], aad: &[u8], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let v = hash(cipher, nonce, aad);
    let ct = if msg.is_empty() { Vec::new() } else { enc(cipher, v, msg) };
    let tag = prf(cipher, v, &ct);
    (ct, tag)
}

/// Returns the message, or `None` if the tag is wrong.
#[must_use]
pub fn open<C: BlockCipher>(
    cipher: &C,
    nonce: &[u8; 12],
    aad: &[u8],
    ct: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    let v = hash(cipher, nonce, aad);
    (prf(cipher, v, ct) == tag).then(|| dec(cipher, v, ct))
}

/// Returns `V ← HASH_K(N, A)`.
fn hash<C: BlockCipher>(cipher: &C, nonce: &[u8; 12], aad: &[u8]) -> Block {
    let mut blocks = aad.chunks(16);
    let x = ozp(blocks.next().unwrap_or_default());
    let mut s = cipher.encrypt(fix0(x));
    if x[0] & 0x80 != 0 {
        s = h(s);
    }
    for a in blocks {
        s = cipher.encrypt(xor(s, ozp(a)));
    }
    let mut last = Vec::from([PARAM]);
    last.extend(nonce);
    s = xor(s, ozp(&last));
    if !aad.is_empty() && aad.len().is_multiple_of(16) { f1(s) } else { f2(s) }
}

/// Returns `C ← ENC_K(V, M)` for a nonempty message.
fn enc<C: BlockCipher>(cipher: &C, v: Block, msg: &[u8]) -> Vec<u8> {
    let mut ct = Vec::new();
    let mut input = v;
    for m in msg.chunks(16) {
        let c = xor_partial(m, cipher.encrypt(input));
        input = fix1(pad(&c));
        ct.extend(c);
    }
    ct
}

/// Returns `M ← DEC_K(V, C)`.
fn dec<C: BlockCipher>(cipher: &C, v: Block, ct: &[u8]) -> Vec<u8> {
    let mut msg = Vec::new();
    let mut input = v;
    for c in ct.chunks(16) {
        msg.extend(xor_partial(c, cipher.encrypt(input)));
        input = fix1(pad(c));
    }
    msg
}

/// Returns `T ← PRF_K(V, C)`.
fn prf<C: BlockCipher>(cipher: &C, v: Block, ct: &[u8]) -> Vec<u8> {
    if ct.is_empty() {
        return cipher.encrypt(g1(v))[..8].to_vec();
    }
    let mut s = cipher.encrypt(g2(v));
    let mut blocks = ct.chunks(16).peekable();
    while let Some(c) = blocks.next() {
        s = xor(s, ozp(c));
        if blocks.peek().is_some() {
            s = cipher.encrypt(s);
        } else if c.len() == 16 {
            s = f1(s);
        } else {
            s = f2(s);
        }
    }
    cipher.encrypt(s)[..8].to_vec()
}

/// One-zero padding: appends a one bit and zeros to a string shorter than a block.
fn ozp(string: &[u8]) -> Block {
    let mut block = pad(string);
    if string.len() < 16 {
        block[string.len()] = 0x80;
    }
    block
}

/// Clears the first bit of a block.
fn fix0(mut block: Block) -> Block {
    block[0] &= 0x7F;
    block
}

/// Sets the first bit of a block.
fn fix1(mut block: Block) -> Block {
    block[0] |= 0x80;
    block
}

/// `f1`: maps the words `(a, b, c, d)` to `(a ⊕ c, b ⊕ d, a ⊕ b ⊕ c, b ⊕ c ⊕ d)`.
fn f1(x: Block) -> Block {
    let [a, b, c, d] = words(x);
    bytes([a ^ c, b ^ d, a ^ b ^ c, b ^ c ^ d])
}

/// `f2`: maps the words `(a, b, c, d)` to `(b, c, d, a ⊕ b)`.
fn f2(x: Block) -> Block {
    let [a, b, c, d] = words(x);
    bytes([b, c, d, a ^ b])
}

/// `g1`: maps the words `(a, b, c, d)` to `(c, d, a ⊕ b, b ⊕ c)`.
fn g1(x: Block) -> Block {
    let [a, b, c, d] = words(x);
    bytes([c, d, a ^ b, b ^ c])
}

/// `g2`: maps the words `(a, b, c, d)` to `(b, c, d, a ⊕ b)`.
fn g2(x: Block) -> Block {
    f2(x)
}

/// `h`: maps the words `(a, b, c, d)` to `(a ⊕ b, b ⊕ c, c ⊕ d, a ⊕ b ⊕ d)`.
fn h(x: Block) -> Block {
    let [a, b, c, d] = words(x);
    bytes([a ^ b, b ^ c, c ^ d, a ^ b ^ d])
}

fn words(x: Block) -> [u32; 4] {
    core::array::from_fn(|i| u32::from_be_bytes(core::array::from_fn(|j| x[4 * i + j])))
}

fn bytes(words: [u32; 4]) -> Block {
    core::array::from_fn(|i| words[i / 4].to_be_bytes()[i % 4])
}
