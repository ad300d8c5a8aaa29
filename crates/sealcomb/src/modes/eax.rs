//! EAX (Bellare, Rogaway, Wagner, FSE 2004), with the paper's letters. `N` is the nonce, `H` the header, which is the
//! additional data, `M` the message and `C` its ciphertext. `OMAC^t` is OMAC of the number `t`, as a block, followed
//! by a string.
//!
//! ```text
//! C ← M ⊕ CTR(OMAC^0(N))
//! T ← OMAC^0(N) ⊕ OMAC^1(H) ⊕ OMAC^2(C)
//! ```
//!
//! Each message's tag holds the sum so far. At first that is `OMAC^0(N)`, which is also the first counter block.

use alloc::boxed::Box;

use super::Mode;
use super::omac::{Omac, omac};
use crate::backend::{Backend, Block, ModeState, Span, Wiped};
use crate::engine::blocks::{encrypt_alone, keystream};
use crate::engine::{Batch, Column, Material, Message};
use crate::primitives::block::{add, xor};
use crate::primitives::counter::Be128;

pub(crate) struct Eax;

/// For each `t`, `E_K(t)`, with which the chain of `OMAC^t` begins, and `OMAC^t` of the empty string.
struct Starts {
    begin: [Block; 3],
    empty: [Block; 3],
}

impl Mode for Eax {
    fn expand_key(&self, backend: Backend, _: &[u8], material: &mut Material) {
        let numbers = [0, 1, 2u128].map(u128::to_be_bytes);
        let begin = encrypt_alone(backend, &material.aes, numbers);
        let [k1, k2] = Omac::subkeys(&begin[0]);
        material.subkeys[..2].copy_from_slice(&[k1, k2]);
        let empty = encrypt_alone(backend, &material.aes, numbers.map(|number| add(number, k1)));
        material.mode_state = ModeState::new(Box::new(Wiped::new(Starts { begin, empty })));
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        nonces(batch);
        encrypt(batch);
        add_mac::<1>(batch, |message| Span::from(&*message.aad));
        add_mac::<2>(batch, |message| message.data.output());
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        nonces(batch);
        open_ciphertexts(batch);
        add_mac::<1>(batch, |message| Span::from(&*message.aad));
    }
}

// Functions with a block per message are not inlined. So only one of them occupies the stack at a time, and none
// while the chains do.

/// Stores `OMAC^0(N)` as each message's tag.
#[inline(never)]
fn nonces(batch: &mut Batch<'_, '_, '_>) {
    let mut macs = Column::new();
    tagged::<0>(batch, &mut macs, |message| Span::from(message.nonce));
    batch.set_tags(&macs);
}

/// Adds `OMAC^t` of a string of each message to its tag.
#[inline(never)]
fn add_mac<'a, const T: usize>(
    batch: &mut Batch<'_, '_, 'a>,
    string: impl for<'m> Fn(&'m Message<'a>) -> Span<'m>,
) {
    let mut macs = Column::new();
    tagged::<T>(batch, &mut macs, string);
    add_all(batch, &macs);
}

/// Decrypts, and adds `OMAC^2(C)` to the tags. It is computed before the message overwrites `C`, and added after
/// decryption, which needs `OMAC^0(N)`.
#[inline(never)]
fn open_ciphertexts(batch: &mut Batch<'_, '_, '_>) {
    let mut macs = Column::new();
    tagged::<2>(batch, &mut macs, |message| message.data.input());
    encrypt(batch);
    add_all(batch, &macs);
}

/// Adds a MAC to each message's tag.
fn add_all(batch: &mut Batch<'_, '_, '_>, macs: &[Block]) {
    for (message, mac) in batch.messages.iter_mut().zip(macs) {
        xor(&mut message.tag, mac);
    }
}

/// Computes `C = M ⊕ CTR(OMAC^0(N))`.
fn encrypt(batch: &mut Batch<'_, '_, '_>) {
    keystream::<Be128>(batch, |message| message.tag);
}

/// Computes `OMAC^t` of a string of each message.
fn tagged<'a, const T: usize>(
    batch: &mut Batch<'_, '_, 'a>,
    macs: &mut Column,
    string: impl for<'m> Fn(&'m Message<'a>) -> Span<'m>,
) {
    macs.extend(batch.messages.iter().map(|message| message.key.mode_state.get::<Starts>().begin[T]));
    omac(batch, Omac::of, macs, &string);
    for (message, mac) in batch.messages.iter().zip(macs) {
        if string(message).len() == 0 {
            *mac = message.key.mode_state.get::<Starts>().empty[T];
        }
    }
}
