//! AES-OTR, version 3, with parallel or serial associated data.

use super::gf128::double;
use super::{Block, BlockCipher, pad, pad_one, xor, xor_partial};
use alloc::vec::Vec;

/// How associated data is processed; one of the two families of parameter sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ad {
    /// Like PMAC, independently of the message.
    Parallel,
    /// Like CMAC, before the message.
    Serial,
}

/// Returns the ciphertext and the tag.
///
/// # Panics
///
/// If the nonce is not 1 to 15 bytes, or `tag_bytes` is more than 16.
#[must_use]
pub fn seal<C: BlockCipher>(
    cipher: &C,
    ad: Ad,
    nonce: &[u8],
    aad: &[u8],
    msg: &[u8],
    tag_bytes: usize,
) -> (Vec<u8>, Vec<u8>) {
    let mut state = State::new(cipher, ad, nonce, aad, tag_bytes);
    let mut ct = Vec::new();
    let (chunks, last) = split(msg);
    for p in chunks {
        let (p1, p2) = (pad(&p[..16]), pad(&p[16..]));
        let c1 = xor(cipher.encrypt(xor(state.l, p1)), p2);
        let c2 = xor(cipher.encrypt(xor(state.l_sharp, c1)), p1);
        ct.extend([c1, c2].concat());
        state.sum = xor(state.sum, p2);
        state.next();
    }
    if last.len() <= 16 {
        ct.extend(xor_partial(last, cipher.encrypt(state.l)));
        state.sum = xor(state.sum, pad_one(last));
    } else {
        let (p1, p2) = (pad(&last[..16]), &last[16..]);
        let z = cipher.encrypt(xor(state.l, p1));
        let c2 = xor_partial(p2, z);
        let x = pad_one(&c2);
        ct.extend(xor(cipher.encrypt(xor(state.l_sharp, x)), p1));
        ct.extend(c2);
        state.sum = xor(state.sum, xor(z, x));
    }
    let tag = state.tag(cipher, last.len());
    (ct, tag[..tag_bytes].to_vec())
}

/// Returns the message, or `None` if the tag is wrong.
///
/// # Panics
///
/// If the nonce is not 1 to 15 bytes.
#[must_use]
pub fn open<C: BlockCipher>(
    cipher: &C,
    ad: Ad,
    nonce: &[u8],
    aad: &[u8],
    ct: &[u8],
    received: &[u8],
) -> Option<Vec<u8>> {
    let mut state = State::new(cipher, ad, nonce, aad, received.len());
    let mut msg = Vec::new();
    let (chunks, last) = split(ct);
    for c in chunks {
        let (c1, c2) = (pad(&c[..16]), pad(&c[16..]));
        let p1 = xor(cipher.encrypt(xor(state.l_sharp, c1)), c2);
        let p2 = xor(cipher.encrypt(xor(state.l, p1)), c1);
        msg.extend([p1, p2].concat());
        state.sum = xor(state.sum, p2);
        state.next();
    }
    if last.len() <= 16 {
        let p = xor_partial(last, cipher.encrypt(state.l));
        state.sum = xor(state.sum, pad_one(&p));
        msg.extend(p);
    } else {
        let (c1, c2) = (pad(&last[..16]), &last[16..]);
        let x = pad_one(c2);
        let p1 = xor(cipher.encrypt(xor(state.l_sharp, x)), c1);
        let z = cipher.encrypt(xor(state.l, p1));
        msg.extend(p1);
        msg.extend(xor_partial(c2, z));
        state.sum = xor(state.sum, xor(z, x));
    }
    (state.tag(cipher, last.len())[..received.len()] == *received).then_some(msg)
}

/// Splits a string into chunks of 32 bytes and a last one of 1 to 32 bytes, which is empty only if the string is.
fn split(string: &[u8]) -> (impl Iterator<Item = &[u8]>, &[u8]) {
    let (chunks, last) = string.split_at(string.len().saturating_sub(1) / 32 * 32);
    (chunks.chunks(32), last)
}

struct State {
    /// `L_i`.
    l: Block,
    /// `L#_i`.
    l_sharp: Block,
    sum: Block,
    /// The mask added to the output of the tag's cipher call: `TA`, unless `L` already includes it.
    ta: Block,
}

impl State {
    fn new<C: BlockCipher>(cipher: &C, ad: Ad, nonce: &[u8], aad: &[u8], tag_bytes: usize) -> Self {
        let mut f = [0; 16];
        f[16 - nonce.len()..].copy_from_slice(nonce);
        f[15 - nonce.len()] |= 1;
        f[0] |= ((8 * tag_bytes % 128) << 1) as u8;
        let (l, ta) = match ad {
            Ad::Parallel => (cipher.encrypt(f), parallel(cipher, aad)),
            Ad::Serial => (double(xor(cipher.encrypt(f), serial(cipher, aad))), [0; 16]),
        };
        Self { l, l_sharp: xor(double(l), l), sum: [0; 16], ta }
    }

    /// Advances to the masks of the next chunk.
    fn next(&mut self) {
        self.l = double(self.l);
        self.l_sharp = double(self.l_sharp);
    }

    /// Returns the tag if the last chunk has `r` bytes.
    fn tag<C: BlockCipher>(&self, cipher: &C, r: usize) -> Block {
        let la = if r <= 16 { self.l } else { self.l_sharp };
        let (two, four) = (double(la), double(double(la)));
        let mask = xor(xor(four, la), if r == 16 || r == 32 { two } else { [0; 16] });
        xor(cipher.encrypt(xor(self.sum, mask)), self.ta)
    }
}

/// Returns `TA` of the parallel parameter sets.
fn parallel<C: BlockCipher>(cipher: &C, aad: &[u8]) -> Block {
    let mut blocks: Vec<_> = aad.chunks(16).collect();
    let Some(last) = blocks.pop() else { return [0; 16] };
    let mut mask = cipher.encrypt([0; 16]);
    let mut s = [0; 16];
    for a in blocks {
        s = xor(s, cipher.encrypt(xor(pad(a), mask)));
        mask = double(mask);
    }
    let times = if last.len() == 16 { double(double(mask)) } else { double(mask) };
    cipher.encrypt(xor(xor(s, pad_one(last)), xor(times, mask)))
}

/// Returns `TA` of the serial parameter sets.
fn serial<C: BlockCipher>(cipher: &C, aad: &[u8]) -> Block {
    let mut blocks: Vec<_> = aad.chunks(16).collect();
    let Some(last) = blocks.pop() else { return [0; 16] };
    let s = blocks.iter().fold([0; 16], |s, a| cipher.encrypt(xor(s, pad(a))));
    let two_q = double(cipher.encrypt([0; 16]));
    let mask = if last.len() == 16 { double(two_q) } else { two_q };
    cipher.encrypt(xor(xor(s, pad_one(last)), mask))
}
