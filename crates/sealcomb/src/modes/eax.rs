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

use arrayvec::ArrayVec;

use super::Mode;
use super::omac::{CbcMac, Omac, omac};
use crate::backend::{self, BLOCK, Backend, Block, Columns, ModeState, Span, Wiped, read_part};
use crate::engine::blocks::{encrypt_alone, encrypt_together, keystream};
use crate::engine::flights::{self, Flights, Results};
use crate::engine::slots::{self, Added, Common, Counters, Ends, SlotChain, Text};
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
        flights::run_batch(batch, in_columns::<false>(), crypt::<false>);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        flights::run_batch(batch, in_columns::<true>(), crypt::<true>);
    }

    fn flights(&self, opens: bool) -> Option<Flights> {
        Some(if opens { in_columns::<true>() } else { in_columns::<false>() })
    }
}

/// One direction of EAX: the chain of `OMAC^2(C)`.
struct Crypt<const OPENS: bool>;

impl<const OPENS: bool> SlotChain for Crypt<OPENS> {
    const ADDED: Added = Added::Nothing;
    const TEXT: Text = if OPENS { Text::Input } else { Text::Output };
    const WHOLE_COUNTERS: bool = true;
}

fn in_columns<const OPENS: bool>() -> Flights {
    Flights { takes: slots::takes, run: run_columns::<OPENS>, prepare: |_, _| {} }
}

/// One block of each message of a flight in columns.
type Blocks = ArrayVec<Block, { backend::FLIGHT }>;

/// Processes a flight under a key, like [`Flights::run`]. Nonces must be one block, which may be partial.
fn run_columns<const OPENS: bool>(
    backend: Backend,
    key: &Material,
    columns: &mut Columns<'_>,
    results: &mut Results<'_>,
) -> bool {
    if !columns.nonce_bytes().is_some_and(|bytes| (1..=BLOCK).contains(&bytes)) {
        return false;
    }
    let (omac, Starts { begin, empty }) = (Omac::of(key), key.mode_state.get::<Starts>());
    let last = |t: usize, string: &[u8]| add(omac.last(&read_part(string), string.len()), begin[t]);
    let count = columns.len();
    let mut n = Blocks::new();
    for nonce in columns.nonces() {
        n.push(last(0, nonce));
    }
    encrypt_together(backend, omac.aes, &mut n);
    // The first blocks of the keystreams, which the chain needs if it reads the ciphertext that counter mode writes.
    let mut s = Blocks::new();
    if !OPENS {
        s.try_extend_from_slice(&n).expect("as many blocks");
        encrypt_together(backend, omac.aes, &mut s);
    }
    let mut c = [begin[2]; backend::FLIGHT];
    let (c, subkeys) = (&mut c[..count], [omac.subkeys]);
    let counters = Counters { bases: &n, first: &s, key: None };
    let common = Common::of(omac.aes).with_ends(Ends::Omac(&subkeys)).with_counters(counters);
    slots::run_texts::<Crypt<OPENS>>(backend, common, c, |texts| columns.list_texts(texts));
    for (c, (.., data)) in c.iter_mut().zip(columns.messages()) {
        if data.len() == 0 {
            *c = empty[2];
        }
    }
    if columns.has_aads() {
        add_headers(backend, key, columns, c);
    } else {
        for c in &mut *c {
            xor(c, &empty[1]);
        }
    }
    for (c, n) in c.iter_mut().zip(&n) {
        xor(c, n);
    }
    results.put_flight(backend, c);
    true
}

/// Adds `OMAC^1(H)` to a block of each message of a flight in columns.
#[inline(never)]
fn add_headers(backend: Backend, key: &Material, columns: &mut Columns<'_>, tags: &mut [Block]) {
    let (omac, Starts { begin, empty }) = (Omac::of(key), key.mode_state.get::<Starts>());
    let mut h = Blocks::new();
    if columns.messages().any(|(_, header, _)| header.len() > BLOCK) {
        h.extend((0..columns.len()).map(|_| begin[1]));
        let subkeys = [omac.subkeys];
        let common = Common::of(omac.aes).with_ends(Ends::Omac(&subkeys));
        slots::run_texts::<CbcMac>(backend, common, &mut h, |texts| {
            texts.extend(columns.messages().map(|(_, header, _)| Span::from(header)));
        });
    } else {
        for (_, header, _) in columns.messages() {
            h.push(add(omac.last(&read_part(header), header.len()), begin[1]));
        }
        encrypt_together(backend, omac.aes, &mut h);
    }
    for ((tag, h), (_, header, _)) in tags.iter_mut().zip(&h).zip(columns.messages()) {
        *tag = add(*tag, if header.is_empty() { empty[1] } else { *h });
    }
}

/// Encrypts or decrypts messages with any keys.
fn crypt<const OPENS: bool>(batch: &mut Batch<'_, '_, '_>) {
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
