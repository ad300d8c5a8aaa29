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
use super::omac_lanes::LaneOmac;
use crate::backend::{BLOCK, Backend, Block, Isa, LINE, ModeState, Span, Wiped};
use crate::engine::blocks::{encrypt_alone, keystream};
use crate::engine::lane_groups::{
    self, COLUMNS, Group, LaneGrouped, R, columns, encrypt_columns, lanes, store_tags, xor_columns,
};
use crate::engine::{Batch, Column, Material, Message};
use crate::primitives::block::{add, mask, xor};
use crate::primitives::counter::{Be128, NUMBERS};

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
        lane_groups::run::<Crypt<false>>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        lane_groups::run::<Crypt<true>>(batch);
    }
}

/// One direction of EAX.
struct Crypt<const OPENS: bool>;

impl<const OPENS: bool> LaneGrouped for Crypt<OPENS> {
    const MOST_AAD: usize = LINE;

    /// A nonce must be one block, which may be partial.
    #[inline(always)]
    fn fit(messages: &[&mut Message<'_>]) -> bool {
        messages.iter().all(|message| (1..=BLOCK).contains(&message.nonce.len()))
    }

    #[inline(always)]
    fn crypt_group<B: Isa>(b: B, group: &mut Group<'_, '_, '_>) {
        let key = group.messages[0].key;
        let (omac, Starts { begin, .. }) = (Omac::of(key), key.mode_state.get::<Starts>());
        let mut n =
            LaneOmac::new(b, omac.aes, group.messages, |message| message.nonce.len(), |n| omac.ends_of(n));
        n.start(b, &begin[0]);
        n.step(b, 0, lanes(b, group.messages, |message| b.load_bytes(message.nonce)));
        let n = n.macs();
        let h = headers(b, group);
        let mut c =
            LaneOmac::new(b, omac.aes, group.messages, |message| message.data.len(), |n| omac.ends_of(n));
        c.start(b, &begin[2]);
        let mut counters = n;
        each_register!(R, 0 1 2 3, q => {
            counters[q] = b.reverse(n[q]);
        });
        for line in 0..group.lines {
            let first = line * COLUMNS;
            let mut x = [[b.zero(); COLUMNS]; R];
            each_register!(R, 0 1 2 3, q => {
                each_register!(COLUMNS, 0 1 2 3, i => {
                    x[q][i] = b.reverse(sum(b, counters[q], first + i));
                });
            });
            encrypt_columns(b, omac.aes, &mut x);
            let [input, output] = xor_columns(b, group.messages, line * LINE, x);
            c.absorb(b, first, if OPENS { &input } else { &output });
        }
        let mut tags = c.macs();
        each_register!(R, 0 1 2 3, q => {
            tags[q] = b.xor3(tags[q], n[q], h[q]);
        });
        store_tags(b, group.messages, tags);
    }

    fn crypt_chains(batch: &mut Batch<'_, '_, '_>) {
        nonces(batch);
        if OPENS {
            open_ciphertexts(batch);
        } else {
            encrypt(batch);
        }
        add_mac::<1>(batch, |message| Span::from(&*message.aad));
        if !OPENS {
            add_mac::<2>(batch, |message| message.data.output());
        }
    }
}

/// Returns `OMAC^1(H)` of the messages of a group.
#[inline(always)]
fn headers<B: Isa>(b: B, group: &Group<'_, '_, '_>) -> [B::V; R] {
    let key = group.messages[0].key;
    let (omac, Starts { begin, empty }) = (Omac::of(key), key.mode_state.get::<Starts>());
    let empty = b.splat(&empty[1]);
    if !group.aad {
        return [empty; R];
    }
    let mut h = LaneOmac::new(b, omac.aes, group.messages, |message| message.aad.len(), |n| omac.ends_of(n));
    h.start(b, &begin[1]);
    h.absorb(b, 0, &columns(b, group.messages, 0, |message| Span::from(&*message.aad)));
    let mut macs = h.macs();
    if group.messages.iter().any(|message| message.aad.is_empty()) {
        let masks: [B::V; R] = lanes(b, group.messages, |message| b.one(&mask(message.aad.is_empty())));
        each_register!(R, 0 1 2 3, q => {
            macs[q] = b.xor(macs[q], b.and(masks[q], b.xor(macs[q], empty)));
        });
    }
    macs
}

/// Adds up to 31 to byte-reversed blocks.
#[inline(always)]
fn sum<B: Isa>(b: B, x: B::V, n: usize) -> B::V {
    let sum = b.add64(x, b.splat(&NUMBERS.0[n]));
    // The low half carries if its top bit changes from 1 to 0.
    let carries = b.shift_right(b.and(x, b.xor(x, sum)), 63);
    b.add64(sum, b.low_to_high(carries))
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
