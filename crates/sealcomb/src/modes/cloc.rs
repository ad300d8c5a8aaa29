//! CLOC v3 (CAESAR, round 3, CLOC and SILC), with the submission's letters.
//!
//! ```text
//! HASH:  S ← E_K(fix0(ozp(A_1)))             then S ← h(S) if the first bit of ozp(A_1) is 1
//!        S ← E_K(S ⊕ ozp(A_i))               for i ≥ 2
//!        V ← f1(S ⊕ ozp(param ‖ N))          if the last A_i is a whole block, f2 otherwise
//! ENC:   C_1 ← M_1 ⊕ E_K(V)
//!        C_i ← M_i ⊕ E_K(fix1(C_{i-1}))      for i ≥ 2
//! PRF:   S ← E_K(g2(V))
//!        S ← E_K(S ⊕ C_i)                    for all i but the last
//!        T ← E_K(f1(S ⊕ C_m))                if C_m is a whole block, E_K(f2(S ⊕ ozp(C_m))) otherwise
//!        T ← E_K(g1(V))                      if the message is empty
//! ```
//!
//! `ozp` pads with a one bit and zeros. `T` is cut to 8 bytes.
//!
//! `ENC` and `PRF` run together as one chain. Its state contains the inputs of their next cipher calls: `V` and
//! `g2(V)` at first, then `fix1(C_i)` and `S ⊕ C_i`.

use super::Mode;
use super::omac::cbc_mac;
use crate::backend::{BLOCK, Block, Span, read_part};
use crate::engine::comb::{Chain, chains, encrypting};
use crate::engine::each::{Once, once};
use crate::engine::{Batch, Column, Lanes, Message};
use crate::primitives::block::{PADDING, mask, padded, rest_mask, whole};

pub(crate) struct Cloc;

impl Mode for Cloc {
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
    let messages = &batch.messages;
    let (mut beyond, mut padding, mut whole) = (Column::new(), Column::new(), Column::new());
    for message in messages.iter() {
        beyond.push(beyond_end(message));
        padding.push(PADDING[last_bytes(message)]);
        whole.push(mask(is_whole(message.data.len())));
    }
    once::<Tag, 5>(batch, [&mut prf, &mut enc, &mut beyond, &mut padding, &mut whole]);
    batch.set_tags(&prf);
}

/// Returns whether a string ends in a whole block: then `f1` follows, otherwise `f2`.
fn is_whole(bytes: usize) -> bool {
    bytes > 0 && bytes.is_multiple_of(BLOCK)
}

/// Computes `V = HASH_K(N, A)` in `s` and `g2(V)` in `n`.
fn hash(batch: &mut Batch<'_, '_, '_>, s: &mut Column, n: &mut Column) {
    for message in batch.messages.iter() {
        s.push(padded(&message.aad[..BLOCK.min(message.aad.len())]));
    }
    let mut top = Column::new();
    top.extend(s.iter().map(|a1| [(a1[0].cast_signed() >> 7).cast_unsigned(); BLOCK]));
    once::<First, 2>(batch, [s, &mut top]);
    absorb(batch, s);
    let mut whole = Column::new();
    for message in batch.messages.iter() {
        n.push(nonce_block(message.nonce));
        whole.push(mask(is_whole(message.aad.len())));
    }
    once::<Nonce, 3>(batch, [s, n, &mut whole]);
}

/// Returns `param ‖ N ‖ 10…0`. `param` encodes AES, 12-byte nonces and 8-byte tags.
fn nonce_block(nonce: &[u8]) -> Block {
    (u128::from_le_bytes(read_part(nonce)) << 8 | 0x80 << 104 | 0xC0).to_le_bytes()
}

/// Computes `S = E_K(fix0(A_1))`, and `h(S)` if the bit that `fix0` clears was 1.
struct First;

impl Once<2> for First {
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, top]: &mut [L::Blocks; 2]) {
        fix0(lanes, s);
        lanes.encrypt(s);
        let h = sum_of_words(lanes, s, &H);
        lanes.replace(s, &h, top);
    }
}

/// Computes `V = f1(S ⊕ N)` or `f2(S ⊕ N)`, and `g2(V)`.
struct Nonce;

impl Once<3> for Nonce {
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, n, whole]: &mut [L::Blocks; 3]) {
        lanes.xor(s, n);
        f(lanes, s, whole);
        *n = sum_of_words(lanes, s, &G2);
    }
}

/// Computes `T = E_K(f1(S))` or `E_K(f2(S))`. For an empty message, `S` is still `g2(V)`, and `f2(g2(V)) = g1(V)`.
struct Tag;

impl Once<5> for Tag {
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, enc, beyond, padding, whole]: &mut [L::Blocks; 5]) {
        cut(lanes, s, enc, beyond);
        lanes.xor(s, padding);
        f(lanes, s, whole);
        lanes.encrypt(s);
    }
}

/// Computes `S ← E_K(S ⊕ A_i)` for all blocks of the additional data but the first. A partial last block is padded.
fn absorb(batch: &mut Batch<'_, '_, '_>, s: &mut Column) {
    if batch.messages.iter().all(|message| message.aad.len() <= BLOCK) {
        return;
    }
    cbc_mac(
        batch,
        |key| &key.aes,
        s,
        |message| {
            let bytes = whole(message.aad.len());
            Span::from(&message.aad[BLOCK.min(bytes)..bytes])
        },
    );
    let (mut last, mut ragged) = (Column::new(), Column::new());
    for message in batch.messages.iter() {
        let rest = &message.aad[whole(message.aad.len())..];
        last.push(padded(rest));
        ragged.push(mask(message.aad.len() > BLOCK && !rest.is_empty()));
    }
    once::<Absorb, 3>(batch, [s, &mut last, &mut ragged]);
}

/// Computes `S ← E_K(S ⊕ A_i)` for the padded last block of the additional data, where the mask `ragged` is 1.
struct Absorb;

impl Once<3> for Absorb {
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, last, ragged]: &mut [L::Blocks; 3]) {
        lanes.xor(last, s);
        lanes.encrypt(last);
        lanes.replace(s, last, ragged);
    }
}

/// Runs `ENC` or `DEC`, and `PRF` without its last call. The columns contain the inputs of the next cipher calls,
/// before and afterwards. The inputs after a partial last block are those for zeros as padding.
pub(super) fn crypt<const OPENS: bool>(batch: &mut Batch<'_, '_, '_>, enc: &mut Column, prf: &mut Column) {
    chains::<Crypt<OPENS>, 2, 1, 0, 1>(batch, encrypting, [enc, prf], |message| message.data.reborrow());
}

/// Computes `C_i = M_i ⊕ E_K(…)`, the next input `fix1(C_i)` of `ENC`, and `S ⊕ C_i` of `PRF`.
struct Crypt<const OPENS: bool>;

impl<const OPENS: bool> Chain<2> for Crypt<OPENS> {
    const WRITES: bool = true;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [enc, prf]: &mut [L::Blocks; 2], [x]: &mut [L::Blocks; 1]) {
        lanes.encrypt(enc);
        lanes.encrypt(prf);
        let mut c = *x;
        lanes.xor(x, enc);
        if !OPENS {
            c = *x;
        }
        lanes.xor(prf, &c);
        *enc = c;
        fix1(lanes, enc);
    }
}

/// Returns the mask of the bytes after a message's end in its last block.
pub(super) fn beyond_end(message: &Message<'_>) -> Block {
    rest_mask(last_bytes(message))
}

/// Returns the number of bytes of a message's last block, 1 to 16; 16 if the message is empty.
fn last_bytes(message: &Message<'_>) -> usize {
    match message.data.len() % BLOCK {
        0 => BLOCK,
        bytes => bytes,
    }
}

/// Removes the bytes after a message's end from the state of `PRF`. When sealing, a partial last block is encrypted
/// with zeros after it, and the resulting bytes are in the states of both `ENC` and `PRF`.
#[inline(always)]
pub(super) fn cut<L: Lanes>(lanes: L, prf: &mut L::Blocks, enc: &L::Blocks, beyond: &L::Blocks) {
    let mut rest = *enc;
    lanes.and(&mut rest, beyond);
    lanes.xor(prf, &rest);
}

/// The first bit of a block.
const FIRST_BIT: Block = [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// All bits of a block but the first.
const OTHER_BITS: Block = [0x7F, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0, !0];

/// Clears the first bit of each block.
#[inline(always)]
fn fix0<L: Lanes>(lanes: L, x: &mut L::Blocks) {
    lanes.and(x, &lanes.splat(&OTHER_BITS));
}

/// Sets the first bit of each block.
#[inline(always)]
fn fix1<L: Lanes>(lanes: L, x: &mut L::Blocks) {
    fix0(lanes, x);
    lanes.xor(x, &lanes.splat(&FIRST_BIT));
}

/// Computes `f1` where the mask `whole` is 1, and `f2` elsewhere.
#[inline(always)]
fn f<L: Lanes>(lanes: L, x: &mut L::Blocks, whole: &L::Blocks) {
    let f1 = sum_of_words(lanes, x, &F1);
    *x = sum_of_words(lanes, x, &F2);
    lanes.replace(x, &f1, whole);
}

// The four words of a block, and zero.
const A: u8 = 0;
const B: u8 = 1;
const C: u8 = 2;
const D: u8 = 3;
const O: u8 = 4;

/// `f1`: `(A, B, C, D) ↦ (A ⊕ C, B ⊕ D, A ⊕ B ⊕ C, B ⊕ C ⊕ D)`.
const F1: [Block; 3] = [order([A, B, A, B]), order([C, D, B, C]), order([O, O, C, D])];
/// `f2`: `(A, B, C, D) ↦ (B, C, D, A ⊕ B)`.
const F2: [Block; 2] = [order([B, C, D, A]), order([O, O, O, B])];
/// `g2`, equal to `f2`.
const G2: [Block; 2] = F2;
/// `h`: `(A, B, C, D) ↦ (A ⊕ B, B ⊕ C, C ⊕ D, A ⊕ B ⊕ D)`.
const H: [Block; 3] = [order([A, B, C, A]), order([B, C, D, B]), order([O, O, O, D])];

/// Returns the order of bytes that corresponds to an order of words.
const fn order(words: [u8; 4]) -> Block {
    let mut bytes = [0x80; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        if words[i / 4] != O {
            bytes[i] = 4 * words[i / 4] + i as u8 % 4;
        }
        i += 1;
    }
    bytes
}

/// Returns the sum of each block's words in several orders.
#[inline(always)]
fn sum_of_words<L: Lanes, const N: usize>(lanes: L, x: &L::Blocks, orders: &[Block; N]) -> L::Blocks {
    let mut sum = lanes.splat(&[0; BLOCK]);
    for order in orders {
        let mut summand = *x;
        lanes.shuffle(&mut summand, order);
        lanes.xor(&mut sum, &summand);
    }
    sum
}
