//! OCB3 (RFC 7253).

use super::gf128::double;
use super::{Block, BlockCipher, pad, pad_one, xor, xor_partial};
use alloc::vec::Vec;

/// Returns the ciphertext and the tag (`OCB-ENCRYPT`, section 4.2).
///
/// # Panics
///
/// If the nonce is not 1 to 15 bytes, or `tag_bytes` is more than 16.
#[must_use]
pub fn seal<C: BlockCipher>(
    cipher: &C,
    nonce: &[u8],
    aad: &[u8],
    msg: &[u8],
    tag_bytes: usize,
) -> (Vec<u8>, Vec<u8>) {
    let l = Masks::new(cipher);
    let mut offset = first_offset(cipher, nonce, tag_bytes);
    let mut checksum = [0; 16];
    let mut ct = Vec::new();
    for (i, p) in msg.chunks(16).enumerate() {
        if p.len() == 16 {
            offset = xor(offset, l.of_block(i + 1));
            ct.extend(xor(offset, cipher.encrypt(xor(pad(p), offset))));
        } else {
            offset = xor(offset, l.asterisk);
            ct.extend(xor_partial(p, cipher.encrypt(offset)));
        }
        checksum = xor(checksum, pad_one(p));
    }
    (ct, tag(cipher, &l, checksum, offset, aad, tag_bytes))
}

/// Returns the message, or `None` if the tag is wrong (`OCB-DECRYPT`, section 4.3).
///
/// # Panics
///
/// If the nonce is not 1 to 15 bytes.
#[must_use]
pub fn open<C: BlockCipher>(
    cipher: &C,
    nonce: &[u8],
    aad: &[u8],
    ct: &[u8],
    received: &[u8],
) -> Option<Vec<u8>> {
    let l = Masks::new(cipher);
    let mut offset = first_offset(cipher, nonce, received.len());
    let mut checksum = [0; 16];
    let mut msg = Vec::new();
    for (i, c) in ct.chunks(16).enumerate() {
        let p = if c.len() == 16 {
            offset = xor(offset, l.of_block(i + 1));
            xor(offset, cipher.decrypt(xor(pad(c), offset))).to_vec()
        } else {
            offset = xor(offset, l.asterisk);
            xor_partial(c, cipher.encrypt(offset))
        };
        checksum = xor(checksum, pad_one(&p));
        msg.extend(p);
    }
    (tag(cipher, &l, checksum, offset, aad, received.len()) == received).then_some(msg)
}

/// The key-dependent variables (section 4.1).
struct Masks {
    asterisk: Block,
    dollar: Block,
}

impl Masks {
    fn new<C: BlockCipher>(cipher: &C) -> Self {
        let asterisk = cipher.encrypt([0; 16]);
        Self { asterisk, dollar: double(asterisk) }
    }

    /// Returns `L_{ntz(i)}`, which advances the offset to block `i`.
    fn of_block(&self, i: usize) -> Block {
        (0..=i.trailing_zeros()).fold(self.dollar, |l, _| double(l))
    }
}

/// Returns `Offset_0`: 128 bits of `Stretch`, starting at bit `bottom`.
fn first_offset<C: BlockCipher>(cipher: &C, nonce: &[u8], tag_bytes: usize) -> Block {
    let mut block = [0; 16];
    block[16 - nonce.len()..].copy_from_slice(nonce);
    block[15 - nonce.len()] |= 1;
    block[0] |= ((8 * tag_bytes % 128) << 1) as u8;
    let bottom = usize::from(block[15] & 0x3f);
    block[15] &= 0xc0;
    let ktop = cipher.encrypt(block);
    let mut stretch = ktop.to_vec();
    stretch.extend((0..8).map(|i| ktop[i] ^ ktop[i + 1]));
    let bit = |i: usize| stretch[i / 8] >> (7 - i % 8) & 1;
    core::array::from_fn(|byte| (0..8).fold(0, |bits, i| bits << 1 | bit(bottom + 8 * byte + i)))
}

/// Returns `Tag = ENCIPHER(K, Checksum ⊕ Offset ⊕ L_$) ⊕ HASH(K, A)`, truncated.
fn tag<C: BlockCipher>(
    cipher: &C,
    l: &Masks,
    checksum: Block,
    offset: Block,
    aad: &[u8],
    tag_bytes: usize,
) -> Vec<u8> {
    let full = cipher.encrypt(xor(xor(checksum, offset), l.dollar));
    xor(full, hash(cipher, l, aad))[..tag_bytes].to_vec()
}

/// Returns `HASH(K, A)` (section 4.1).
fn hash<C: BlockCipher>(cipher: &C, l: &Masks, aad: &[u8]) -> Block {
    let mut offset = [0; 16];
    let mut sum = [0; 16];
    for (i, a) in aad.chunks(16).enumerate() {
        offset = xor(offset, if a.len() == 16 { l.of_block(i + 1) } else { l.asterisk });
        sum = xor(sum, cipher.encrypt(xor(pad_one(a), offset)));
    }
    sum
}
