//! SILC v3 (CAESAR, round 3, CLOC and SILC), with the submission's letters. `ENC` and `PRF`'s chain are CLOC's
//! (`modes/cloc.rs`); the hash and the ends of the chains differ.
//!
//! ```text
//! HASH:  S ← E_K(0…0 ‖ param ‖ N)
//!        S ← E_K(S ⊕ zpp(A_i))               for all i
//!        V ← g(S ⊕ len(A))
//! PRF:   S ← E_K(g(V))
//!        S ← E_K(S ⊕ zpp(C_i))               for all i
//!        T ← E_K(g(S ⊕ len(C)))
//! ```
//!
//! `zpp` pads with zeros; `len` is the number of bytes as a block. `T` is cut to 8 bytes.

use super::Mode;
use super::cloc::{beyond_end, crypt, cut};
use super::omac::cbc_mac;
use crate::backend::{Block, Span, read_part};
use crate::engine::each::{self, Once, once};
use crate::engine::{Batch, Column, Lanes};

pub(crate) struct Silc;

impl Mode for Silc {
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        run::<false>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        run::<true>(batch);
    }
}

fn run<const OPENS: bool>(batch: &mut Batch<'_, '_, '_>) {
    let (mut enc, mut prf) = (Column::new(), Column::new());
    hash(batch, &mut enc, &mut prf);
    crypt::<OPENS>(batch, &mut enc, &mut prf);
    let (mut beyond, mut len) = (Column::new(), Column::new());
    for message in batch.messages.iter() {
        beyond.push(beyond_end(message));
        len.push(length(message.data.len()));
    }
    once::<Tag, 4>(batch, [&mut prf, &mut enc, &mut beyond, &mut len]);
    batch.set_tags(&prf);
}

/// Computes `V = HASH_K(N, A)` in `s` and `g(V)` in `len`.
fn hash(batch: &mut Batch<'_, '_, '_>, s: &mut Column, len: &mut Column) {
    s.extend(batch.messages.iter().map(|message| nonce_block(message.nonce)));
    each::encrypt(batch, s);
    if batch.messages.iter().any(|message| !message.aad.is_empty()) {
        cbc_mac(batch, |key| &key.aes, s, |message| Span::from(&*message.aad));
    }
    len.extend(batch.messages.iter().map(|message| length(message.aad.len())));
    once::<Length, 2>(batch, [s, len]);
}

/// Returns `0…0 ‖ param ‖ N`. `param` encodes AES, 12-byte nonces and 8-byte tags.
fn nonce_block(nonce: &[u8]) -> Block {
    (u128::from_le_bytes(read_part(nonce)) << 32 | 0xC0 << 24).to_le_bytes()
}

/// Returns a number of bytes as a big-endian block.
fn length(bytes: usize) -> Block {
    (bytes as u128).to_be_bytes()
}

/// Computes `V = g(S ⊕ len(A))`, and `g(V)`.
struct Length;

impl Once<2> for Length {
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, len]: &mut [L::Blocks; 2]) {
        lanes.xor(s, len);
        g(lanes, s);
        *len = *s;
        g(lanes, len);
    }
}

/// Computes `T = E_K(g(E_K(S) ⊕ len(M)))`, where `S` includes the last block of ciphertext.
struct Tag;

impl Once<4> for Tag {
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, enc, beyond, len]: &mut [L::Blocks; 4]) {
        cut(lanes, s, enc, beyond);
        lanes.encrypt(s);
        lanes.xor(s, len);
        g(lanes, s);
        lanes.encrypt(s);
    }
}

/// Computes `g`: `(X_0, …, X_15) ↦ (X_1, …, X_15, X_0 ⊕ X_1)`.
#[inline(always)]
fn g<L: Lanes>(lanes: L, x: &mut L::Blocks) {
    let mut x1 = *x;
    lanes.shuffle(x, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]);
    lanes.shuffle(&mut x1, &[!0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, 1]);
    lanes.xor(x, &x1);
}
