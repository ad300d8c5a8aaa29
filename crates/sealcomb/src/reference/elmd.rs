//! ELmD v2.0 (CAESAR, round 2), with the parameter sets of the catalog.

use super::copa::{blocks_of, strip};
use super::gf128::{double, multiply};
use super::{Block, BlockCipher, pad, pad_one, xor};
use alloc::vec::Vec;

/// A parameter set, except for the number of rounds, which is a property of the cipher.
pub struct Parameters {
    /// The parameter bytes that follow the nonce.
    pub param: [u8; 8],
    /// Number of times the zero block is encrypted to obtain `L`.
    pub calls: usize,
    /// Number of blocks between intermediate tags, or `None` without intermediate tags.
    pub gap: Option<usize>,
    /// Whether the tag is truncated, so that the ciphertext is as long as the message.
    pub variable_tag: bool,
}

/// ELmD(10, 0, 0).
pub const FULL: Parameters =
    Parameters { param: [10, 0, 0, 0, 0x80, 0, 0, 0], calls: 1, gap: None, variable_tag: false };
/// ELmD(6, 0, 0).
pub const SIX_ROUNDS: Parameters = Parameters { param: [6, 0, 0, 0, 0x80, 0, 0, 0], calls: 2, ..FULL };
/// ELmD(10, 127, 0).
pub const INTERMEDIATE_TAGS: Parameters =
    Parameters { param: [10, 0, 127, 0x80, 0x80, 0, 0, 0], gap: Some(127), ..FULL };
/// ELmD(10, 0, 1).
pub const VARIABLE_TAG: Parameters =
    Parameters { param: [10, 0, 0, 1, 0x80, 0, 0, 0], variable_tag: true, ..FULL };

/// The field elements 1, 3, 3^2, 7 and 1/2.
const ONE: Block = 1_u128.to_be_bytes();
const THREE: Block = 3_u128.to_be_bytes();
const THREE_SQUARED: Block = 5_u128.to_be_bytes();
const SEVEN: Block = 7_u128.to_be_bytes();
const HALF: Block = (1_u128 << 127 | 0x43).to_be_bytes();

/// Maximum number of intermediate tags of a message.
const MAX_TAGS: usize = 32;

impl Parameters {
    fn l<C: BlockCipher>(&self, cipher: &C) -> Block {
        (0..self.calls).fold([0; 16], |l, _| cipher.encrypt(l))
    }

    /// Returns whether an intermediate tag follows block `i`, counted from 1, of `l` blocks.
    fn tag_follows(&self, i: usize, l: usize) -> bool {
        self.gap.is_some_and(|gap| i < l && i.is_multiple_of(gap) && i / gap <= MAX_TAGS)
    }

    /// Returns `IV`.
    fn initial_value<C: BlockCipher>(&self, cipher: &C, nonce: &[u8], aad: &[u8]) -> Block {
        let mut mask = multiply(self.l(cipher), THREE);
        let mut w = [0; 16];
        let first = [nonce, &self.param].concat();
        rho(cipher.encrypt(xor(pad(&first), mask)), &mut w);
        for d in aad.chunks(16) {
            mask = if d.len() == 16 { double(mask) } else { multiply(mask, SEVEN) };
            rho(cipher.encrypt(xor(pad_one(d), mask)), &mut w);
        }
        w
    }

    /// Returns the masks of the upper layer for `l` blocks, then that of the tag block.
    fn top<C: BlockCipher>(&self, cipher: &C, l: usize, partial: bool) -> Vec<Block> {
        let mut mask = multiply(self.l(cipher), HALF);
        let mut top = Vec::new();
        for i in 1..=l + 1 {
            mask = if partial && i == l { multiply(mask, SEVEN) } else { double(mask) };
            top.push(mask);
        }
        top
    }
}

/// Returns the ciphertext and the tag.
#[must_use]
pub fn seal<C: BlockCipher>(
    cipher: &C,
    parameters: &Parameters,
    nonce: &[u8],
    aad: &[u8],
    msg: &[u8],
) -> (Vec<u8>, Vec<u8>) {
    let mut m = blocks_of(msg);
    let l = m.len();
    let partial = msg.len() < 16 * l;
    let sum = m.iter().fold([0; 16], |sum, m| xor(sum, *m));
    m[l - 1] = sum;
    m.push(sum);
    let top = parameters.top(cipher, l, partial);
    let mut bottom = multiply(parameters.l(cipher), THREE_SQUARED);
    let mut w = parameters.initial_value(cipher, nonce, aad);
    let mut output = Vec::new();
    for i in 1..=l + 1 {
        let mut y = rho(cipher.encrypt(xor(m[i - 1], top[i - 1])), &mut w);
        if i == l + 1 {
            y = xor(y, ONE);
        }
        output.extend(xor(cipher.decrypt(y), bottom));
        bottom = double(bottom);
        if parameters.tag_follows(i, l) {
            output.extend(xor(cipher.decrypt(w), bottom));
            bottom = double(bottom);
        }
    }
    if parameters.variable_tag {
        output.truncate(msg.len() + 16);
        let tag = output.split_off(msg.len());
        (output, tag)
    } else {
        let tag = output.split_off(output.len() - 16);
        output.push(u8::from(partial));
        (output, tag)
    }
}

/// Returns the message, or `None` if a tag, the padding or the flag is wrong.
#[must_use]
pub fn open<C: BlockCipher>(
    cipher: &C,
    parameters: &Parameters,
    nonce: &[u8],
    aad: &[u8],
    ct: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    if parameters.variable_tag {
        return open_variable(cipher, parameters, nonce, aad, ct, tag);
    }
    let (flag, ct) = ct.split_last()?;
    let (c, rest) = ct.as_chunks::<16>();
    if c.is_empty() || !rest.is_empty() || *flag > 1 {
        return None;
    }
    let partial = *flag == 1;
    let l =
        (1..=c.len()).find(|&l| l + (1..=l).filter(|&i| parameters.tag_follows(i, l)).count() == c.len())?;
    let top = parameters.top(cipher, l, partial);
    let mut bottom = multiply(parameters.l(cipher), THREE_SQUARED);
    let mut w = parameters.initial_value(cipher, nonce, aad);
    let mut c = c.iter();
    let mut m = Vec::new();
    for i in 1..=l {
        let x = unrho(cipher.encrypt(xor(*c.next()?, bottom)), &mut w);
        bottom = double(bottom);
        m.push(xor(cipher.decrypt(x), top[i - 1]));
        if parameters.tag_follows(i, l) {
            if *c.next()? != xor(cipher.decrypt(w), bottom) {
                return None;
            }
            bottom = double(bottom);
        }
    }
    let y = xor(cipher.encrypt(xor(pad(tag), bottom)), ONE);
    let after = xor(cipher.decrypt(unrho(y, &mut w)), top[l]);
    let sum = m[l - 1];
    m[l - 1] = m.iter().fold([0; 16], |sum, m| xor(sum, *m));
    if after != sum {
        return None;
    }
    if partial { strip(m.as_flattened()) } else { Some(m.as_flattened().to_vec()) }
}

/// Opens a message of the variable-tag variant, whose tag begins within the last block.
fn open_variable<C: BlockCipher>(
    cipher: &C,
    parameters: &Parameters,
    nonce: &[u8],
    aad: &[u8],
    ct: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    let l = ct.len().div_ceil(16).max(1);
    let r = ct.len() - 16 * (l - 1);
    let top = parameters.top(cipher, l, r < 16);
    let mut bottom = multiply(parameters.l(cipher), THREE_SQUARED);
    let mut w = parameters.initial_value(cipher, nonce, aad);
    let input = [ct, tag].concat();
    let (c, cut) = input.split_at(16 * l);
    let mut m = Vec::new();
    for (i, c) in c.chunks(16).enumerate() {
        let x = unrho(cipher.encrypt(xor(pad(c), bottom)), &mut w);
        bottom = double(bottom);
        m.push(xor(cipher.decrypt(x), top[i]));
    }
    let sum = m[l - 1];
    m[l - 1] = m.iter().fold([0; 16], |sum, m| xor(sum, *m));
    let y = xor(rho(cipher.encrypt(xor(sum, top[l])), &mut w), ONE);
    let last = xor(cipher.decrypt(y), bottom);
    let (msg, padding) = m.as_flattened().split_at(ct.len());
    let expected = pad_one(&m[l - 1][..r]);
    (cut == &last[..r] && padding == &expected[r..]).then(|| msg.to_vec())
}

/// `rho(X, W)`: returns `Y` and replaces `W` by its successor.
pub(super) fn rho(x: Block, w: &mut Block) -> Block {
    let y = xor(x, multiply(*w, THREE));
    *w = xor(x, double(*w));
    y
}

/// The inverse of [`rho`]: returns `X` and replaces `W` by the same successor.
pub(super) fn unrho(y: Block, w: &mut Block) -> Block {
    let x = xor(y, multiply(*w, THREE));
    *w = xor(y, *w);
    x
}
