//! AES-128 (FIPS 197) reduced to six rounds, each of which includes `MixColumns`.

use super::{Block, BlockCipher, xor};

const ROUNDS: usize = 6;

/// The round keys.
pub(super) struct SixRounds([Block; ROUNDS + 1]);

impl BlockCipher for SixRounds {
    const KEY_BYTES: usize = 16;

    /// Computes the required round keys of `KeyExpansion` (section 5.2).
    fn with_key(key: &[u8]) -> Option<Self> {
        let mut keys = [[0; 16]; ROUNDS + 1];
        keys[0] = key.try_into().ok()?;
        let mut rcon = 1;
        for i in 1..=ROUNDS {
            let mut word = [keys[i - 1][13], keys[i - 1][14], keys[i - 1][15], keys[i - 1][12]].map(s_box);
            word[0] ^= rcon;
            rcon = times(rcon, 2);
            for at in 0..16 {
                let left = if at < 4 { word[at] } else { keys[i][at - 4] };
                keys[i][at] = keys[i - 1][at] ^ left;
            }
        }
        Some(Self(keys))
    }

    fn encrypt(&self, block: Block) -> Block {
        let mut state = xor(block, self.0[0]);
        for key in &self.0[1..] {
            state = xor(mix_columns(shift_rows(state.map(s_box), 1), [2, 3, 1, 1]), *key);
        }
        state
    }

    fn decrypt(&self, block: Block) -> Block {
        let mut state = block;
        for key in self.0[1..].iter().rev() {
            let unmixed = mix_columns(xor(state, *key), [14, 11, 13, 9]);
            state = shift_rows(unmixed, 3).map(inverse_s_box);
        }
        xor(state, self.0[0])
    }
}

/// Returns `SubBytes` of all byte values: the affine transformation of the inverse (section 5.1.1).
static S_BOX: [u8; 256] = {
    // All elements but 0 are powers of 3, a generator of order 255. The inverse of 3^i is 3^(255 - i).
    let mut powers = [1; 256];
    let mut i = 1;
    while i < 256 {
        powers[i] = times(powers[i - 1], 3);
        i += 1;
    }
    let mut table = [0x63; 256];
    let mut i = 0;
    while i < 255 {
        let b: u8 = powers[255 - i];
        table[powers[i] as usize] =
            b ^ b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4) ^ 0x63;
        i += 1;
    }
    table
};

fn s_box(byte: u8) -> u8 {
    S_BOX[usize::from(byte)]
}

fn inverse_s_box(byte: u8) -> u8 {
    S_BOX.iter().position(|&substitute| substitute == byte).expect("the S-box is a permutation") as u8
}

/// Applies `ShiftRows` `times` times. Byte `i` of the state is in row `i mod 4`.
fn shift_rows(state: Block, times: usize) -> Block {
    core::array::from_fn(|i| state[(i + 4 * times * (i % 4)) % 16])
}

/// Multiplies each column by a circulant matrix with this first row.
fn mix_columns(state: Block, row: [u8; 4]) -> Block {
    core::array::from_fn(|i| {
        let (column, r) = (i / 4 * 4, i % 4);
        (0..4).fold(0, |sum, c| sum ^ times(row[(c + 4 - r) % 4], state[column + c]))
    })
}

/// Returns the product in GF(2^8) (section 4.2).
const fn times(x: u8, y: u8) -> u8 {
    let (mut product, mut power, mut bit) = (0, x, 0);
    while bit < 8 {
        if y >> bit & 1 == 1 {
            product ^= power;
        }
        power = (power << 1) ^ if power & 0x80 == 0 { 0 } else { 0x1b };
        bit += 1;
    }
    product
}
