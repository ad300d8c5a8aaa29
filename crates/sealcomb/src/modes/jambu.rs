//! AES-JAMBU v2 (CAESAR, round 3), with the submission's letters. `U` and `V` are the halves of the cipher's state
//! `S`, and `R` is a register of half a block. `A_i` and `P_i` are half blocks.
//!
//! ```text
//! (U, V) ← E_K(0, IV), V ← V ⊕ 5, R ← U
//! for each half block of the padded additional data:
//!     (U, V) ← E_K(U, V), V ← V ⊕ R ⊕ 1, U ← U ⊕ A_i, R ← R ⊕ U
//! for each half block of the padded plaintext:
//!     (U, V) ← E_K(U, V), V ← V ⊕ R, C_i ← P_i ⊕ V, U ← U ⊕ P_i, R ← R ⊕ U
//! (U, V) ← E_K(U, V), V ← V ⊕ R ⊕ 3, R ← R ⊕ U
//! (U, V) ← E_K(U, V), T ← U ⊕ V ⊕ R
//! ```
//!
//! Padding is a one bit and zeros, and is never omitted. After whole half blocks, it is one more half block, which
//! has no ciphertext.
//!
//! In memory `V` is the first half of `S`, and `U` the second. `R` is the first half of a block whose second half is
//! zero. A step takes a block of input, that is, two half blocks.

use super::Mode;
use crate::backend::{BLOCK, Block, Span, read_part};
use crate::engine::comb::{Chain, chains, encrypting};
use crate::engine::each::{Once, once};
use crate::engine::{Batch, Column, Lanes, Message};
use crate::primitives::block::{PADDING, bytes_mask, mask, padded, whole};

const HALF: usize = BLOCK / 2;

pub(crate) struct Jambu;

impl Mode for Jambu {
    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        run::<false>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        run::<true>(batch);
    }
}

fn run<const OPENS: bool>(batch: &mut Batch<'_, '_, '_>) {
    let (mut s, mut r) = (Column::new(), Column::new());
    for message in batch.messages.iter() {
        s.push(initial_state(message.nonce));
        r.push([0; BLOCK]);
    }
    once::<Initialize, 2>(batch, [&mut s, &mut r]);
    associate(batch, &mut s, &mut r);
    crypt::<OPENS>(batch, &mut s, &mut r);
    batch.set_tags(&s);
}

/// Returns `IV ‖ 0`, in the order of memory.
fn initial_state(iv: &[u8]) -> Block {
    read_part(iv)
}

/// Absorbs the additional data. The bytes after its whole blocks, with padding, are one or two half blocks.
fn associate(batch: &mut Batch<'_, '_, '_>, s: &mut Column, r: &mut Column) {
    if batch.messages.iter().any(|message| message.aad.len() >= BLOCK) {
        chains::<Associate, 2, 1, 0, 1>(batch, encrypting, [s, r], |message| {
            Span::from(&message.aad[..whole(message.aad.len())])
        });
    }
    let (mut a, mut two) = (Column::new(), Column::new());
    for message in batch.messages.iter() {
        let rest = &message.aad[whole(message.aad.len())..];
        a.push(padded(rest));
        two.push(mask(rest.len() >= HALF));
    }
    once::<LastAssociate, 4>(batch, [s, r, &mut a, &mut two]);
}

/// Encrypts or decrypts the messages. Leaves the tags in `s`.
fn crypt<const OPENS: bool>(batch: &mut Batch<'_, '_, '_>, s: &mut Column, r: &mut Column) {
    let at = |message: &Message<'_>| whole(message.data.len());
    chains::<Crypt<OPENS>, 2, 1, 0, 1>(batch, encrypting, [s, r], |message| {
        message.data.part(0, whole(message.data.len()))
    });
    let (mut x, mut bytes) = (Column::new(), Column::new());
    let (mut padding, mut two) = (Column::new(), Column::new());
    for message in batch.messages.iter() {
        let rest = message.data.len() - at(message);
        x.push(message.data.block(at(message)));
        bytes.push(bytes_mask(rest));
        padding.push(PADDING[rest]);
        two.push(mask(rest >= HALF));
    }
    once::<Finish<OPENS>, 6>(batch, [s, r, &mut x, &mut bytes, &mut padding, &mut two]);
    for (message, x) in batch.messages.iter_mut().zip(&x) {
        let at = at(message);
        message.data.set_block(at, x);
    }
}

/// Computes `S = E_K(IV ‖ 0)`, `V ← V ⊕ 5`, `R = U`.
struct Initialize;

impl Once<2> for Initialize {
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, r]: &mut [L::Blocks; 2]) {
        lanes.encrypt(s);
        lanes.xor(s, &lanes.splat(&number(5)));
        *r = second_to_first(lanes, s);
    }
}

/// Absorbs a whole block of additional data: two half blocks.
struct Associate;

impl Chain<2> for Associate {
    const WRITES: bool = false;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, r]: &mut [L::Blocks; 2], [a]: &mut [L::Blocks; 1]) {
        associate_half(lanes, s, r, &first_to_second(lanes, a));
        associate_half(lanes, s, r, &second(lanes, a));
    }
}

/// Absorbs the last one or two half blocks of the additional data. `two` is a mask of ones if there are two.
struct LastAssociate;

impl Once<4> for LastAssociate {
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, r, a, two]: &mut [L::Blocks; 4]) {
        associate_half(lanes, s, r, &first_to_second(lanes, a));
        let (mut s2, mut r2) = (*s, *r);
        associate_half(lanes, &mut s2, &mut r2, &second(lanes, a));
        lanes.replace(s, &s2, two);
        lanes.replace(r, &r2, two);
    }
}

/// Computes `S ← E_K(S)`, `V ← V ⊕ R ⊕ 1`, `U ← U ⊕ A`, `R ← R ⊕ U`.
#[inline(always)]
fn associate_half<L: Lanes>(lanes: L, s: &mut L::Blocks, r: &mut L::Blocks, a: &L::Blocks) {
    encrypt(lanes, s, r);
    lanes.xor(s, &lanes.splat(&number(1)));
    absorb(lanes, s, r, a);
}

/// Computes, for both half blocks of a block, `S ← E_K(S)`, `V ← V ⊕ R`, `C = P ⊕ V`, `U ← U ⊕ P`, `R ← R ⊕ U`.
struct Crypt<const OPENS: bool>;

impl<const OPENS: bool> Chain<2> for Crypt<OPENS> {
    const WRITES: bool = true;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, r]: &mut [L::Blocks; 2], [x]: &mut [L::Blocks; 1]) {
        if OPENS {
            encrypt(lanes, s, r);
            lanes.xor(x, &first(lanes, s));
            absorb(lanes, s, r, &first_to_second(lanes, x));
            encrypt(lanes, s, r);
            lanes.xor(x, &first_to_second(lanes, s));
            absorb(lanes, s, r, &second(lanes, x));
        } else {
            // The plaintext is known before `S` is encrypted, and absorbing it leaves `V` unchanged. So `S ⊕ R ⊕ P`
            // is one XOR of three operands.
            let p = *x;
            encrypt(lanes, s, r);
            absorb(lanes, s, r, &first_to_second(lanes, &p));
            lanes.xor(x, &first(lanes, s));
            encrypt(lanes, s, r);
            absorb(lanes, s, r, &second(lanes, &p));
            lanes.xor(x, &first_to_second(lanes, s));
        }
    }
}

/// Adds a half block of keystream to `x`. Returns the block with the plaintext of that half: `x` after the addition
/// when opening, before it when sealing.
#[inline(always)]
fn crypt_half<const OPENS: bool, L: Lanes>(lanes: L, x: &mut L::Blocks, v: &L::Blocks) -> L::Blocks {
    let before = *x;
    lanes.xor(x, v);
    if OPENS { *x } else { before }
}

/// Processes the one or two half blocks that the last bytes of a message form with their padding, and computes the
/// tag. `two` is a mask of ones if there are two.
struct Finish<const OPENS: bool>;

impl<const OPENS: bool> Once<6> for Finish<OPENS> {
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, r, x, bytes, padding, two]: &mut [L::Blocks; 6]) {
        let padded = |x: &L::Blocks| {
            let mut p = *x;
            if OPENS {
                lanes.and(&mut p, bytes);
            }
            lanes.xor(&mut p, padding);
            p
        };
        encrypt(lanes, s, r);
        let p = crypt_half::<OPENS, L>(lanes, x, &first(lanes, s));
        absorb(lanes, s, r, &first_to_second(lanes, &padded(&p)));
        let (mut s2, mut r2) = (*s, *r);
        encrypt(lanes, &mut s2, &r2);
        let p = crypt_half::<OPENS, L>(lanes, x, &first_to_second(lanes, &s2));
        absorb(lanes, &mut s2, &mut r2, &second(lanes, &padded(&p)));
        lanes.replace(s, &s2, two);
        lanes.replace(r, &r2, two);
        tag(lanes, s, r);
    }
}

/// Computes `S ← E_K(S)`, `V ← V ⊕ R ⊕ 3`, `R ← R ⊕ U`, `S ← E_K(S)`, `T = U ⊕ V ⊕ R`. `T` replaces `V`.
#[inline(always)]
fn tag<L: Lanes>(lanes: L, s: &mut L::Blocks, r: &mut L::Blocks) {
    encrypt(lanes, s, r);
    lanes.xor(s, &lanes.splat(&number(3)));
    lanes.xor(r, &second_to_first(lanes, s));
    lanes.encrypt(s);
    lanes.xor(r, &second_to_first(lanes, s));
    lanes.xor(s, r);
}

/// Computes `S ← E_K(S)`, `V ← V ⊕ R`.
#[inline(always)]
fn encrypt<L: Lanes>(lanes: L, s: &mut L::Blocks, r: &L::Blocks) {
    lanes.encrypt(s);
    lanes.xor(s, r);
}

/// Computes `U ← U ⊕ P`, `R ← R ⊕ U`. `P` is the second half of `p`, whose first half is zero.
#[inline(always)]
fn absorb<L: Lanes>(lanes: L, s: &mut L::Blocks, r: &mut L::Blocks, p: &L::Blocks) {
    lanes.xor(s, p);
    lanes.xor(r, &second_to_first(lanes, s));
}

/// Returns a block with a number in the first byte of `V`.
fn number(k: u8) -> Block {
    let mut block = [0; BLOCK];
    block[0] = k;
    block
}

/// Returns the first half of each block, followed by zeros.
#[inline(always)]
fn first<L: Lanes>(lanes: L, x: &L::Blocks) -> L::Blocks {
    let mut half = *x;
    lanes.and(&mut half, &lanes.splat(&[!0, !0, !0, !0, !0, !0, !0, !0, 0, 0, 0, 0, 0, 0, 0, 0]));
    half
}

/// Returns zeros, followed by the second half of each block.
#[inline(always)]
fn second<L: Lanes>(lanes: L, x: &L::Blocks) -> L::Blocks {
    let mut half = *x;
    lanes.and(&mut half, &lanes.splat(&[0, 0, 0, 0, 0, 0, 0, 0, !0, !0, !0, !0, !0, !0, !0, !0]));
    half
}

/// Moves the first half of each block to the second, and zeros the first.
#[inline(always)]
fn first_to_second<L: Lanes>(lanes: L, x: &L::Blocks) -> L::Blocks {
    let mut half = *x;
    lanes.shuffle(&mut half, &[!0, !0, !0, !0, !0, !0, !0, !0, 0, 1, 2, 3, 4, 5, 6, 7]);
    half
}

/// Moves the second half of each block to the first, and zeros the second.
#[inline(always)]
fn second_to_first<L: Lanes>(lanes: L, x: &L::Blocks) -> L::Blocks {
    let mut half = *x;
    lanes.shuffle(&mut half, &[8, 9, 10, 11, 12, 13, 14, 15, !0, !0, !0, !0, !0, !0, !0, !0]);
    half
}
