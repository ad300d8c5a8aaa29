//! AES-JAMBU (third-round submission to CAESAR, version 2).

use super::{Block, BlockCipher};
use alloc::vec::Vec;

/// Half a block.
type Half = [u8; 8];

/// The state `(U, V)` and the register `R`.
struct State<'c, C> {
    cipher: &'c C,
    u: Half,
    v: Half,
    r: Half,
}

/// Returns the ciphertext and the tag.
#[must_use]
pub fn seal<C: BlockCipher>(cipher: &C, iv: &Half, aad: &[u8], msg: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut state = State::new(cipher, *iv, aad);
    let mut ct = Vec::new();
    for p in msg.chunks(8) {
        let v = state.next();
        ct.extend(p.iter().zip(v).map(|(p, v)| p ^ v));
        state.absorb(pad(p));
    }
    if msg.len().is_multiple_of(8) {
        state.next();
        state.absorb(pad(&[]));
    }
    (ct, state.tag())
}

/// Returns the message, or `None` if the tag is wrong.
#[must_use]
pub fn open<C: BlockCipher>(cipher: &C, iv: &Half, aad: &[u8], ct: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
    let mut state = State::new(cipher, *iv, aad);
    let mut msg = Vec::new();
    for c in ct.chunks(8) {
        let v = state.next();
        let p: Vec<u8> = c.iter().zip(v).map(|(c, v)| c ^ v).collect();
        state.absorb(pad(&p));
        msg.extend(p);
    }
    if ct.len().is_multiple_of(8) {
        state.next();
        state.absorb(pad(&[]));
    }
    (state.tag() == tag).then_some(msg)
}

impl<'c, C: BlockCipher> State<'c, C> {
    /// Initializes the state and absorbs the padded associated data.
    fn new(cipher: &'c C, iv: Half, aad: &[u8]) -> Self {
        let mut state = Self { cipher, u: [0; 8], v: iv, r: [0; 8] };
        state.encrypt();
        state.v[0] ^= 5;
        state.r = state.u;
        let (blocks, rest) = aad.as_chunks();
        for a in blocks.iter().copied().chain([pad(rest)]) {
            state.next();
            state.v[0] ^= 1;
            state.absorb(a);
        }
        state
    }

    /// `(U, V) ← E_K(U, V)`. In memory, `V` is the first half.
    fn encrypt(&mut self) {
        let mut block: Block = [0; 16];
        block[..8].copy_from_slice(&self.v);
        block[8..].copy_from_slice(&self.u);
        let block = self.cipher.encrypt(block);
        self.v.copy_from_slice(&block[..8]);
        self.u.copy_from_slice(&block[8..]);
    }

    /// Encrypts the state and computes `V ← V ⊕ R`. Returns `V`, the keystream.
    fn next(&mut self) -> Half {
        self.encrypt();
        self.v = xor(self.v, self.r);
        self.v
    }

    /// `U ← U ⊕ P`, `R ← R ⊕ U`.
    fn absorb(&mut self, p: Half) {
        self.u = xor(self.u, p);
        self.r = xor(self.r, self.u);
    }

    /// Returns the tag (finalization).
    fn tag(mut self) -> Vec<u8> {
        self.next();
        self.v[0] ^= 3;
        self.absorb([0; 8]);
        self.encrypt();
        xor(xor(self.u, self.v), self.r).to_vec()
    }
}

/// Appends a one bit and zeros to a string shorter than 8 bytes. A string of 8 bytes is unchanged.
fn pad(string: &[u8]) -> Half {
    let mut half = [0; 8];
    half[..string.len()].copy_from_slice(string);
    if string.len() < 8 {
        half[string.len()] = 0x80;
    }
    half
}

fn xor(x: Half, y: Half) -> Half {
    core::array::from_fn(|i| x[i] ^ y[i])
}
