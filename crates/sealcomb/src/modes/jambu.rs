//! AES-JAMBU (submission to CAESAR, version 2) with its letters: `U` and `V` are the halves of the state `S`, `R` the
//! register beside it, `A` and `P` half blocks of additional data and of plaintext.
//!
//! Bytes stand as they do in memory, so that `V` is the first half of `S`. `R` is the first half of a block of its own,
//! whose second half is zero. A step takes a whole block of input: two half blocks, one after the other.

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

/// `IV ‖ 0`
fn initial_state(iv: &[u8]) -> Block {
    read_part(iv)
}

/// Takes the additional data in. The bytes after its whole blocks make one half block or two with the padding, which is never
/// left out.
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

/// Encrypts or decrypts the messages, and leaves the tags in `s`.
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

/// `S = E_K(IV ‖ 0)`, `V ← V ⊕ 5`, `R = U`
struct Initialize;

impl Once<2> for Initialize {
    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, r]: &mut [L::Blocks; 2]) {
        lanes.encrypt(s);
        lanes.xor(s, &lanes.splat(&number(5)));
        *r = second_to_first(lanes, s);
    }
}

struct Associate;

impl Chain<2> for Associate {
    const WRITES: bool = false;

    #[inline(always)]
    fn step<L: Lanes>(lanes: L, [s, r]: &mut [L::Blocks; 2], [a]: &mut [L::Blocks; 1]) {
        associate_half(lanes, s, r, &first_to_second(lanes, a));
        associate_half(lanes, s, r, &second(lanes, a));
    }
}

/// The last one or two half blocks of the additional data
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

/// `S ← E_K(S)`, `V ← V ⊕ R ⊕ 1`, `U ← U ⊕ A`, `R ← R ⊕ U`
#[inline(always)]
fn associate_half<L: Lanes>(lanes: L, s: &mut L::Blocks, r: &mut L::Blocks, a: &L::Blocks) {
    encrypt(lanes, s, r);
    lanes.xor(s, &lanes.splat(&number(1)));
    absorb(lanes, s, r, a);
}

/// `S ← E_K(S)`, `V ← V ⊕ R`, `C = P ⊕ V`, `U ← U ⊕ P`, `R ← R ⊕ U`, and the same once more
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
            // The plaintext is there before `S`, and leaves `V` as it is: one sum of three.
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

/// Adds a half of the keystream to `x`, and returns which of both was plaintext there.
#[inline(always)]
fn crypt_half<const OPENS: bool, L: Lanes>(lanes: L, x: &mut L::Blocks, v: &L::Blocks) -> L::Blocks {
    let before = *x;
    lanes.xor(x, v);
    if OPENS { *x } else { before }
}

/// The same for the one or two half blocks that the last bytes of a message make with their padding, and then the tag
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

/// `S ← E_K(S)`, `V ← V ⊕ R ⊕ 3`, `R ← R ⊕ U`, `S ← E_K(S)`, `T = U ⊕ V ⊕ R`, which comes in the place of `V`
#[inline(always)]
fn tag<L: Lanes>(lanes: L, s: &mut L::Blocks, r: &mut L::Blocks) {
    encrypt(lanes, s, r);
    lanes.xor(s, &lanes.splat(&number(3)));
    lanes.xor(r, &second_to_first(lanes, s));
    lanes.encrypt(s);
    lanes.xor(r, &second_to_first(lanes, s));
    lanes.xor(s, r);
}

/// `S ← E_K(S)`, `V ← V ⊕ R`
#[inline(always)]
fn encrypt<L: Lanes>(lanes: L, s: &mut L::Blocks, r: &L::Blocks) {
    lanes.encrypt(s);
    lanes.xor(s, r);
}

/// `U ← U ⊕ P`, `R ← R ⊕ U`; `P` is the second half of `p`, the first is zero
#[inline(always)]
fn absorb<L: Lanes>(lanes: L, s: &mut L::Blocks, r: &mut L::Blocks, p: &L::Blocks) {
    lanes.xor(s, p);
    lanes.xor(r, &second_to_first(lanes, s));
}

/// A number in the first byte of `V`
fn number(k: u8) -> Block {
    let mut block = [0; BLOCK];
    block[0] = k;
    block
}

/// The first half, and zeros
#[inline(always)]
fn first<L: Lanes>(lanes: L, x: &L::Blocks) -> L::Blocks {
    let mut half = *x;
    lanes.and(&mut half, &lanes.splat(&[!0, !0, !0, !0, !0, !0, !0, !0, 0, 0, 0, 0, 0, 0, 0, 0]));
    half
}

/// Zeros, and the second half
#[inline(always)]
fn second<L: Lanes>(lanes: L, x: &L::Blocks) -> L::Blocks {
    let mut half = *x;
    lanes.and(&mut half, &lanes.splat(&[0, 0, 0, 0, 0, 0, 0, 0, !0, !0, !0, !0, !0, !0, !0, !0]));
    half
}

/// Zeros, and the first half as the second
#[inline(always)]
fn first_to_second<L: Lanes>(lanes: L, x: &L::Blocks) -> L::Blocks {
    let mut half = *x;
    lanes.shuffle(&mut half, &[!0, !0, !0, !0, !0, !0, !0, !0, 0, 1, 2, 3, 4, 5, 6, 7]);
    half
}

/// The second half as the first, and zeros
#[inline(always)]
fn second_to_first<L: Lanes>(lanes: L, x: &L::Blocks) -> L::Blocks {
    let mut half = *x;
    lanes.shuffle(&mut half, &[8, 9, 10, 11, 12, 13, 14, 15, !0, !0, !0, !0, !0, !0, !0, !0]);
    half
}
