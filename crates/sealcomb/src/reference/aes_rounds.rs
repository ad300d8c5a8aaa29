//! Full rounds of AES-128 (FIPS 197), for modes that use fewer rounds than the cipher.

use super::{Block, xor};
use aes::hazmat::cipher_round;

/// Returns the block after `rounds` full rounds, with round key 0 added first.
#[must_use]
pub fn encrypt(key: Block, rounds: usize, block: Block) -> Block {
    let mut round_key = key;
    let mut rcon = 1;
    let mut state = xor(block, round_key);
    for _ in 0..rounds {
        round_key = next_round_key(round_key, rcon);
        rcon = (rcon << 1) ^ if rcon & 0x80 == 0 { 0 } else { 0x1b };
        state = round(state, round_key);
    }
    state
}

/// Computes one full round: `SubBytes`, `ShiftRows`, `MixColumns`, `AddRoundKey`.
pub(super) fn round(state: Block, key: Block) -> Block {
    let mut state = state.into();
    cipher_round(&mut state, &key.into());
    state.into()
}

/// Computes the next round key of `KeyExpansion` for keys of four words.
fn next_round_key(key: Block, rcon: u8) -> Block {
    let mut next = key;
    for i in 0..4 {
        next[i] ^= s_box(key[12 + (i + 1) % 4]);
    }
    next[0] ^= rcon;
    for i in 4..16 {
        next[i] ^= next[i - 4];
    }
    next
}

/// Returns the S-box of a byte, computed by a round on 16 equal bytes, on which `ShiftRows` and `MixColumns` have no
/// effect.
fn s_box(byte: u8) -> u8 {
    round([byte; 16], [0; 16])[0]
}
