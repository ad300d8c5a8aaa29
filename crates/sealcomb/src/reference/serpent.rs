//! Serpent (Anderson, Biham, Knudsen 1998) as described in the paper: with S-box tables, initial and final
//! permutations, one nibble at a time.
//!
//! Byte order is that of NESSIE: the first byte of a block or key is the least significant of its number.

use super::{Block, BlockCipher};

const S: [[u8; 16]; 8] = [
    [3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12],
    [15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4],
    [8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2],
    [0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14],
    [1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13],
    [15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1],
    [7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0],
    [1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6],
];

/// Serpent under a key of `KEY_BYTES` bytes, as the round keys `K̂_0` to `K̂_32`.
pub struct Serpent<const KEY_BYTES: usize>([u128; 33]);

impl<const KEY_BYTES: usize> BlockCipher for Serpent<KEY_BYTES> {
    const KEY_BYTES: usize = KEY_BYTES;

    fn with_key(key: &[u8]) -> Option<Self> {
        (key.len() == KEY_BYTES).then(|| Self(round_keys(key)))
    }

    /// Encrypts a block: `B̂_0 = IP(P)`, `B̂_{i+1} = R_i(B̂_i)`, `C = FP(B̂_32)`.
    fn encrypt(&self, block: Block) -> Block {
        let mut b = initial(u128::from_le_bytes(block));
        for i in 0..32 {
            b = substitute(&S[i % 8], b ^ self.0[i]);
            b = if i < 31 { initial(linear(last(b))) } else { b ^ self.0[32] };
        }
        last(b).to_le_bytes()
    }

    fn decrypt(&self, block: Block) -> Block {
        let mut b = initial(u128::from_le_bytes(block));
        for i in (0..32).rev() {
            b = if i < 31 { initial(inverse_linear(last(b))) } else { b ^ self.0[32] };
            b = substitute(&inverse(&S[i % 8]), b) ^ self.0[i];
        }
        last(b).to_le_bytes()
    }
}

/// Computes the round keys: the key is padded to 256 bits, expanded to prekeys `w_i`, passed through the S-boxes to
/// `K_i`, and permuted to `K̂_i = IP(K_i)`.
fn round_keys(key: &[u8]) -> [u128; 33] {
    let mut padded = key.to_vec();
    if padded.len() < 32 {
        padded.push(1);
        padded.resize(32, 0);
    }
    // `w[i]` is the paper's `w_{i-8}`.
    let mut w = [0_u32; 140];
    for (w, bytes) in w.iter_mut().zip(padded.chunks(4)) {
        *w = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    }
    for i in 8..140 {
        let sum = w[i - 8] ^ w[i - 5] ^ w[i - 3] ^ w[i - 1];
        w[i] = (sum ^ 0x9e37_79b9 ^ (i as u32 - 8)).rotate_left(11);
    }
    core::array::from_fn(|i| {
        let [w0, w1, w2, w3] = [0, 1, 2, 3].map(|j| u128::from(w[8 + 4 * i + j]));
        substitute(&S[(32 + 3 - i) % 8], initial(w0 | w1 << 32 | w2 << 64 | w3 << 96))
    })
}

/// Applies an S-box to each of the 32 nibbles.
fn substitute(s: &[u8; 16], b: u128) -> u128 {
    (0..32).fold(0, |sum, i| sum | u128::from(s[(b >> (4 * i) & 15) as usize]) << (4 * i))
}

fn inverse(s: &[u8; 16]) -> [u8; 16] {
    let mut inverse = [0; 16];
    for (x, &y) in s.iter().enumerate() {
        inverse[usize::from(y)] = x as u8;
    }
    inverse
}

/// `IP`: bit `i` is bit `32 i mod 127` of the input; the last bit is unchanged.
fn initial(x: u128) -> u128 {
    (0..127).fold(x >> 127 << 127, |sum, i| sum | (x >> (32 * i % 127) & 1) << i)
}

/// `FP`, the inverse of `IP`: bit `i` is bit `4 i mod 127` of the input; the last bit is unchanged.
fn last(x: u128) -> u128 {
    (0..127).fold(x >> 127 << 127, |sum, i| sum | (x >> (4 * i % 127) & 1) << i)
}

/// Applies the linear transformation to a block in the order before `IP`.
fn linear(x: u128) -> u128 {
    let [mut x0, mut x1, mut x2, mut x3] = words(x);
    x0 = x0.rotate_left(13);
    x2 = x2.rotate_left(3);
    x1 ^= x0 ^ x2;
    x3 ^= x2 ^ (x0 << 3);
    x1 = x1.rotate_left(1);
    x3 = x3.rotate_left(7);
    x0 ^= x1 ^ x3;
    x2 ^= x3 ^ (x1 << 7);
    block([x0.rotate_left(5), x1, x2.rotate_left(22), x3])
}

/// Applies the inverse of [`linear`].
fn inverse_linear(x: u128) -> u128 {
    let [mut x0, mut x1, mut x2, mut x3] = words(x);
    x2 = x2.rotate_right(22);
    x0 = x0.rotate_right(5);
    x2 ^= x3 ^ (x1 << 7);
    x0 ^= x1 ^ x3;
    x3 = x3.rotate_right(7);
    x1 = x1.rotate_right(1);
    x3 ^= x2 ^ (x0 << 3);
    x1 ^= x0 ^ x2;
    block([x0.rotate_right(13), x1, x2.rotate_right(3), x3])
}

fn words(x: u128) -> [u32; 4] {
    [0, 32, 64, 96].map(|shift| (x >> shift) as u32)
}

fn block(words: [u32; 4]) -> u128 {
    words.iter().rev().fold(0, |x, &word| x << 32 | u128::from(word))
}
