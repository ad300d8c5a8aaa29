//! GCM, whose messages come in pieces.
//!
//! ```text
//! the first piece:    one call of the library, which gives the tag T of a message that ends here
//! another piece:      S = T ⊕ E(J0) is the hash of all that came, and X = S · 1/H ⊕ lengths what it was before its last block
//!                     C = P ⊕ keystream; X ← (X ⊕ C_i) · H for each block of it
//! the end:            T = ((X ⊕ lengths) · H) ⊕ E(J0)
//! ```
//!
//! Nearly all messages have one piece, as records of TLS do, and cost no more than that call. For others H is inverted, once
//! for a key; CTR is the library's, and the hash RustCrypto's.

use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use sealcomb::{Algorithm, Key};
use zeroize::Zeroizing;

use crate::cipher::{self, Data};

pub(crate) type Block = [u8; 16];

/// The most bytes of a message (SP 800-38D, section 5.2.1.1).
const MOST: u64 = (1 << 36) - 32;

/// A key, and what is made of it where messages have several pieces.
pub(crate) struct GcmKey {
    raw: Zeroizing<Vec<u8>>,
    gcm: Key,
    pieces: Option<Pieces>,
}

struct Pieces {
    ctr: Key,
    h: Zeroizing<Block>,
    /// 1/H
    inverse: Zeroizing<Block>,
}

/// Where a message is.
#[derive(Clone)]
pub(crate) enum Gcm {
    /// Nothing of it has come.
    Start,
    /// One piece, the tag if that is all, and the last bytes of its ciphertext that are no whole block.
    One { bytes: u64, tag: Block, rest: Block },
    /// Several: the hash of their whole blocks, and the bytes after those.
    Several { bytes: u64, x: Block, rest: Block },
}

impl GcmKey {
    pub(crate) fn new(raw: &[u8]) -> Option<Self> {
        let gcm = Key::new(named(raw, "gcm")?, raw).ok()?;
        Some(Self { raw: Zeroizing::new(raw.to_vec()), gcm, pieces: None })
    }

    pub(crate) fn again(&self) -> Option<Self> {
        Self::new(&self.raw)
    }

    fn pieces(&mut self) -> Option<&Pieces> {
        if self.pieces.is_none() {
            self.pieces = Some(Pieces::new(&self.raw)?);
        }
        self.pieces.as_ref()
    }
}

fn named(raw: &[u8], mode: &str) -> Option<&'static Algorithm> {
    Algorithm::by_id(&format!("aes{}-{mode}", 8 * raw.len())).ok()
}

impl Pieces {
    fn new(raw: &[u8]) -> Option<Self> {
        let ctr = Key::new(named(raw, "ctr")?, raw).ok()?;
        let mut h = Zeroizing::new([0; 16]);
        ctr.seal_in_place(&[0; 16], b"", &mut *h, &mut []).ok()?;
        let inverse = Zeroizing::new(inverse(&h));
        Some(Self { ctr, h, inverse })
    }

    /// The hash of the data, filled up with zeros to whole blocks, after `x`.
    fn absorb(&self, x: &Block, data: &[u8]) -> Block {
        if data.is_empty() {
            return *x;
        }
        let (head, rest) = data.split_at(data.len().min(16));
        let mut hash = GHash::new(&(*self.h).into());
        hash.update_padded(&sum(x, &block(head)));
        hash.update_padded(rest);
        hash.finalize().into()
    }

    /// The first counter block (SP 800-38D, section 7.1, step 2).
    fn j0(&self, iv: &[u8]) -> Block {
        if iv.len() == 12 {
            let mut j0 = block(iv);
            j0[15] = 1;
            return j0;
        }
        self.absorb(&self.absorb(&[0; 16], iv), &lengths(0, iv.len() as u64))
    }

    fn encrypted(&self, block: &Block) -> Option<Block> {
        let mut result = [0; 16];
        self.ctr.seal_in_place(block, b"", &mut result, &mut []).ok()?;
        Some(result)
    }

    /// Adds the keystream from byte `at` of the message on.
    fn crypt(&self, j0: &Block, mut at: u64, mut data: &mut [u8]) -> Option<()> {
        let first = u32::from_be_bytes([j0[12], j0[13], j0[14], j0[15]]);
        while !data.is_empty() {
            // Blocks are numbered by the last 32 bits, which begin anew after the highest number.
            let number = first.wrapping_add(1).wrapping_add((at / 16) as u32);
            let mut counter = *j0;
            counter[12..].copy_from_slice(&number.to_be_bytes());
            let within = (at % 16) as usize;
            let taken = if within > 0 {
                let taken = data.len().min(16 - within);
                let mut padded = [0; 16];
                padded[within..][..taken].copy_from_slice(&data[..taken]);
                self.ctr.seal_in_place(&counter, b"", &mut padded, &mut []).ok()?;
                data[..taken].copy_from_slice(&padded[within..][..taken]);
                taken
            } else {
                let left = 16 * (u64::from(u32::MAX - number) + 1);
                let taken = data.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                self.ctr.seal_in_place(&counter, b"", &mut data[..taken], &mut []).ok()?;
                taken
            };
            at += taken as u64;
            data = &mut data[taken..];
        }
        Some(())
    }
}

impl Gcm {
    /// Encrypts or decrypts the next piece. None if that cannot be.
    pub(crate) fn update(
        &mut self,
        key: &mut GcmKey,
        encrypts: bool,
        iv: &[u8],
        aad: &[u8],
        data: Data<'_>,
    ) -> Option<()> {
        if data.len() == 0 {
            return Some(());
        }
        if let Self::Start = self {
            let (bytes, mut tag) = (data.len() as u64, [0; 16]);
            let mut rest = last(data.input());
            if encrypts {
                let output = cipher::seal(&key.gcm, iv, aad, data, &mut tag)?;
                rest = last(output);
            } else {
                key.gcm.open_unverified_in_place(iv, aad, data.moved(), &mut tag).ok()?;
            }
            *self = Self::One { bytes, tag, rest };
            return Some(());
        }
        self.divide(key, iv, aad)?;
        let Self::Several { bytes, x, rest } = self else { return None };
        if bytes.checked_add(data.len() as u64)? > MOST {
            return None;
        }
        let pieces = key.pieces()?;
        let j0 = pieces.j0(iv);
        let data = data.moved();
        if encrypts {
            pieces.crypt(&j0, *bytes, data)?;
            take(pieces, bytes, x, rest, data);
        } else {
            let at = *bytes;
            take(pieces, bytes, x, rest, data);
            pieces.crypt(&j0, at, data)?;
        }
        Some(())
    }

    /// Makes of one piece the first of several.
    fn divide(&mut self, key: &mut GcmKey, iv: &[u8], aad: &[u8]) -> Option<()> {
        let Self::One { bytes, tag, rest } = *self else { return Some(()) };
        let pieces = key.pieces()?;
        let hash = sum(&tag, &pieces.encrypted(&pieces.j0(iv))?);
        let mut x = sum(&times(&hash, &pieces.inverse), &lengths(aad.len() as u64, bytes));
        if bytes % 16 > 0 {
            x = sum(&times(&x, &pieces.inverse), &rest);
        }
        *self = Self::Several { bytes, x, rest };
        Some(())
    }

    /// The tag of the message that ends here.
    pub(crate) fn tag(&mut self, key: &mut GcmKey, iv: &[u8], aad: &[u8]) -> Option<Block> {
        match self {
            Self::Start => {
                let mut tag = [0; 16];
                key.gcm.seal_in_place(iv, aad, &mut [], &mut tag).ok()?;
                Some(tag)
            }
            Self::One { tag, .. } => Some(*tag),
            Self::Several { bytes, x, rest } => {
                let pieces = key.pieces()?;
                let x = if *bytes % 16 > 0 { pieces.absorb(x, rest) } else { *x };
                let hash = pieces.absorb(&x, &lengths(aad.len() as u64, *bytes));
                Some(sum(&hash, &pieces.encrypted(&pieces.j0(iv))?))
            }
        }
    }
}

/// Hashes ciphertext, but for the last bytes, which are no whole block.
fn take(pieces: &Pieces, bytes: &mut u64, x: &mut Block, rest: &mut Block, mut data: &[u8]) {
    let filled = (*bytes % 16) as usize;
    *bytes += data.len() as u64;
    if filled > 0 {
        let (head, after) = data.split_at(data.len().min(16 - filled));
        rest[filled..][..head.len()].copy_from_slice(head);
        if filled + head.len() < 16 {
            return;
        }
        *x = pieces.absorb(x, &*rest);
        data = after;
    }
    let (whole, after) = data.split_at(data.len() / 16 * 16);
    *x = pieces.absorb(x, whole);
    *rest = block(after);
}

/// The first bytes of a block, the others being zero.
pub(crate) fn block(bytes: &[u8]) -> Block {
    let mut block = [0; 16];
    block[..bytes.len()].copy_from_slice(bytes);
    block
}

/// What is left after the whole blocks.
fn last(data: &[u8]) -> Block {
    block(&data[data.len() / 16 * 16..])
}

pub(crate) fn sum(a: &Block, b: &Block) -> Block {
    (u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b)).to_ne_bytes()
}

/// The last block of the hash: the bits of additional data and message.
fn lengths(aad: u64, message: u64) -> Block {
    let mut block = [0; 16];
    block[..8].copy_from_slice(&(8 * aad).to_be_bytes());
    block[8..].copy_from_slice(&(8 * message).to_be_bytes());
    block
}

/// The product in the field of GCM: the hash of one block is its product with the key.
fn times(a: &Block, b: &Block) -> Block {
    let mut hash = GHash::new(&(*b).into());
    hash.update_padded(a);
    hash.finalize().into()
}

/// 1/a = a^(2^128 − 2), the product of a^2, a^4, …, a^(2^127).
fn inverse(a: &Block) -> Block {
    let mut square = times(a, a);
    let mut product = square;
    for _ in 2..128 {
        square = times(&square, &square);
        product = times(&product, &square);
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_times_its_inverse_is_one() {
        let one = block(&[0x80]);
        for seed in 1..20_u8 {
            let a = std::array::from_fn(|i| seed.wrapping_mul(i as u8 + 3) ^ (i as u8) << 4);
            assert_eq!(times(&a, &inverse(&a)), one);
        }
    }

    /// Messages of any pieces, among them the counter's turn from its highest number to 0.
    #[test]
    fn the_pieces_of_a_message_make_the_same_as_the_whole() {
        let message: Vec<u8> = (0..200).collect();
        let mut turning = 0;
        for iv_bytes in [12_u8, 1, 16, 60] {
            for cut in 0..message.len() {
                let iv: Vec<u8> = (0..iv_bytes).map(|i| i ^ cut as u8).collect();
                let mut key = GcmKey::new(&[7; 16]).unwrap();
                turning += usize::from(key.pieces().unwrap().j0(&iv)[12] == 0xff);
                let aad = &message[..cut % 40];
                let mut whole = message.clone();
                let mut tag = [0; 16];
                key.gcm.seal_in_place(&iv, aad, &mut whole, &mut tag).unwrap();
                for encrypts in [true, false] {
                    let (from, to) = if encrypts { (&message, &whole) } else { (&whole, &message) };
                    let mut data = from.clone();
                    let mut gcm = Gcm::Start;
                    let (first, rest) = data.split_at_mut(cut);
                    let (second, third) = rest.split_at_mut(rest.len() / 3);
                    for piece in [first, second, third] {
                        gcm.update(&mut key, encrypts, &iv, aad, Data::InPlace(piece)).unwrap();
                    }
                    assert_eq!((&data, gcm.tag(&mut key, &iv, aad)), (to, Some(tag)), "{iv_bytes} {cut}");
                }
            }
        }
        assert!(turning > 0);
    }

    #[test]
    fn the_counter_turns_from_its_highest_number_to_0() {
        let pieces = Pieces::new(&[7; 16]).unwrap();
        let mut j0 = [9; 16];
        j0[12..].copy_from_slice(&[0xff, 0xff, 0xff, 0xfd]);
        let mut all = [0; 80];
        pieces.crypt(&j0, 0, &mut all).unwrap();
        for (i, number) in [0xffff_fffe_u32, 0xffff_ffff, 0, 1, 2].into_iter().enumerate() {
            j0[12..].copy_from_slice(&number.to_be_bytes());
            assert_eq!(all[16 * i..][..16], pieces.encrypted(&j0).unwrap());
        }
    }
}
