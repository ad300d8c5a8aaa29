//! AES-SIV (RFC 5297), with the RFC's letters. `K1 ‖ K2` is the key. `S_1 … S_n` are the strings, the last of which
//! is the message. `D` is the state of S2V (section 2.4), and `V` the synthetic IV, which is the tag.
//!
//! ```text
//! D ← CMAC(K1, 0^128)
//! for each associated string S:  D ← 2 D ⊕ CMAC(K1, S)
//! V ← CMAC(K1, P xorend D)                   if P has at least 16 bytes: D is added to the last 16
//!     CMAC(K1, 2 D ⊕ (P ‖ 10…0))             otherwise
//! C ← P ⊕ CTR(K2, V without bits 31 and 63)
//! ```
//!
//! `D`, and later `V`, is stored in the message's tag.

use arrayvec::ArrayVec;

use super::Mode;
use super::omac::{CbcMac, Omac, cbc_mac, omac};
use crate::backend::{self, BLOCK, Backend, Block, Columns, Isa, Kernel, ModeState, Span, read_part};
use crate::engine::blocks::{Loose, encrypt_alone, encrypt_together, keystream};
use crate::engine::flights::{self, Flights, Results};
use crate::engine::slots::{self, Added, Common, Counters, Ends, SlotChain, Text};
use crate::engine::{AssociatedData, Batch, Column, Material, Message, share_key};
use crate::primitives::aes::KeySchedule;
use crate::primitives::block::{PADDING, add, join, skip, whole, xor};
use crate::primitives::counter::{Be128, xor_keystream};
use crate::primitives::gf128::{BigEndian, Field};

pub(crate) struct Siv;

impl Mode for Siv {
    /// Returns `K2`.
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        &key[key.len() / 2..]
    }

    /// Expands `K1` for the MAC, and computes CMAC's subkeys and the first `D`.
    fn expand_key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        let mac = KeySchedule::boxed(backend, &key[..key.len() / 2]);
        let [zero] = encrypt_alone(backend, &mac, [[0; BLOCK]]);
        let [whole, padded] = Omac::subkeys(&zero);
        // `0^128` is a whole block, so CMAC adds the first subkey to it.
        let [d] = encrypt_alone(backend, &mac, [whole]);
        material.subkeys[..3].copy_from_slice(&[whole, padded, d]);
        material.mode_state = ModeState::new(mac);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        run_batch::<false>(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        run_batch::<true>(batch);
    }

    fn flights(&self, opens: bool) -> Option<Flights> {
        Some(if opens { in_columns::<true>() } else { in_columns::<false>() })
    }
}

fn in_columns<const OPENS: bool>() -> Flights {
    Flights { takes: slots::takes, run: run_columns::<OPENS>, prepare: |_, _| {} }
}

fn run_batch<const OPENS: bool>(batch: &mut Batch<'_, '_, '_>) {
    // Columns have one string of additional data.
    if batch.messages.iter().all(|message| matches!(message.aad, AssociatedData::One(_))) {
        flights::run_batch(batch, in_columns::<OPENS>(), crypt::<OPENS>);
    } else {
        crypt::<OPENS>(batch);
    }
}

/// Encrypts or decrypts messages with any keys.
fn crypt<const OPENS: bool>(batch: &mut Batch<'_, '_, '_>) {
    if OPENS {
        encrypt(batch);
        hash_strings(batch);
        hash_message(batch, |message| message.data.output());
    } else {
        hash_strings(batch);
        hash_message(batch, |message| message.data.input());
        encrypt(batch);
    }
}

/// The chain of the `V` of a message that is decrypted next to it.
struct Open;

impl SlotChain for Open {
    const ADDED: Added = Added::Nothing;
    const TEXT: Text = Text::Output;
    const WHOLE_COUNTERS: bool = true;
    const TWO_KEYS: bool = true;
}

/// One block of each message of a flight in columns.
type Blocks = ArrayVec<Block, { backend::FLIGHT }>;

/// Processes a flight under a key, like [`Flights::run`]. Nonces must be one block, which may be partial, or empty.
fn run_columns<const OPENS: bool>(
    backend: Backend,
    key: &Material,
    columns: &mut Columns<'_>,
    results: &mut Results<'_>,
) -> bool {
    let omac = mac(key);
    let Some(0..=BLOCK) = columns.nonce_bytes() else { return false };
    let (mut d, mut before) = (Blocks::new(), Blocks::new());
    hash_strings_in_columns(backend, key, columns, &mut d);
    for (d, (.., data)) in d.iter_mut().zip(columns.messages()) {
        let (last, block_before) = ends(omac, d, data.len());
        *d = last;
        before.push(block_before);
    }
    let common = Common::of(omac.aes).with_ends(Ends::Blocks { last: &d, before: &before });
    let mut v = [[0; BLOCK]; backend::FLIGHT];
    let v = &mut v[..columns.len()];
    if OPENS {
        let (mut counters, mut streams) = (Blocks::new(), Blocks::new());
        for tag in results.received() {
            counters.push(first_counter(tag));
        }
        streams.try_extend_from_slice(&counters).expect("as many blocks");
        encrypt_together(backend, &key.aes, &mut streams);
        let counters = Counters { bases: &counters, first: &streams, key: Some(&key.aes) };
        slots::run_texts::<Open>(backend, common.with_counters(counters), v, |texts| {
            columns.list_texts(texts);
        });
    } else {
        slots::run_texts::<CbcMac>(backend, common, v, |texts| columns.list_texts(texts));
        backend.run(EncryptColumns { key, columns, v });
    }
    results.put_flight(backend, v);
    true
}

/// Computes `C = P ⊕ CTR(K2, Q)` of a flight in columns.
struct EncryptColumns<'f, 'a> {
    key: &'f Material,
    columns: &'f mut Columns<'a>,
    v: &'f [Block],
}

impl Kernel for EncryptColumns<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for ((.., mut data), v) in self.columns.messages().zip(self.v) {
            xor_keystream::<Be128, B, _>(b, self.key.aes.encrypting(), &first_counter(v), &mut data);
        }
    }
}

/// Returns what a message of `bytes` bytes adds to its last block, and to the block before it: `D`, and the padding and the
/// subkey of CMAC.
#[inline(always)]
fn ends(omac: Omac<'_>, d: &Block, bytes: usize) -> (Block, Block) {
    if bytes < BLOCK {
        // A padded string of less than a block counts as whole.
        return (omac.last(&add(BigEndian::double_block(d), PADDING[bytes]), BLOCK), [0; BLOCK]);
    }
    if bytes.is_multiple_of(BLOCK) {
        return (omac.last(d, BLOCK), [0; BLOCK]);
    }
    let in_last = bytes % BLOCK;
    (omac.last(&skip(d, BLOCK - in_last), in_last), join(&[0; BLOCK], in_last, d))
}

/// Computes `D` after the associated strings of a flight in columns.
#[inline(never)]
fn hash_strings_in_columns(backend: Backend, key: &Material, columns: &mut Columns<'_>, d: &mut Blocks) {
    let (omac, count) = (mac(key), columns.len());
    let (mut macs, mut nonce_macs) = (Blocks::new(), Blocks::new());
    // The MAC of a string that all messages have is computed once.
    let [empty] = encrypt_alone(backend, omac.aes, [omac.last(&[0; BLOCK], 0)]);
    if columns.messages().any(|(_, string, _)| string.len() > BLOCK) {
        let subkeys = [omac.subkeys];
        let common = Common::of(omac.aes).with_ends(Ends::Omac(&subkeys));
        macs.extend((0..count).map(|_| [0; BLOCK]));
        slots::run_texts::<CbcMac>(backend, common, &mut macs, |texts| {
            texts.extend(columns.messages().map(|(_, string, _)| Span::from(string)));
        });
    } else if columns.has_aads() {
        for (_, string, _) in columns.messages() {
            macs.push(omac.last(&read_part(string), string.len()));
        }
        encrypt_together(backend, omac.aes, &mut macs);
    }
    if columns.nonce_bytes() != Some(0) {
        for nonce in columns.nonces() {
            nonce_macs.push(omac.last(&read_part(nonce), nonce.len()));
        }
        encrypt_together(backend, omac.aes, &mut nonce_macs);
    }
    let first = BigEndian::double_block(&key.subkeys[2]);
    for i in 0..count {
        let after_aad = add(first, *macs.get(i).unwrap_or(&empty));
        d.push(nonce_macs.get(i).map_or(after_aad, |mac| add(BigEndian::double_block(&after_aad), *mac)));
    }
}

/// Mask that clears the first bits of the last two words of `V` (section 2.5).
const CLEAR: u128 = !(1 << 31 | 1 << 63);

/// Returns `Q`, the first counter block, given `V`.
fn first_counter(v: &Block) -> Block {
    (u128::from_be_bytes(*v) & CLEAR).to_be_bytes()
}

/// Returns what CMAC needs of a key: its part `K1`.
fn mac(key: &Material) -> Omac<'_> {
    let [whole, padded, ..] = &key.subkeys;
    Omac { aes: key.mode_state.get(), subkeys: [whole, padded] }
}

// Functions with a block or more per message are not inlined, so that only one of them occupies the stack at a time.

/// Computes `C = P ⊕ CTR(K2, Q)`, where `Q` is `V` without the bits that [`CLEAR`] clears.
#[inline(never)]
fn encrypt(batch: &mut Batch<'_, '_, '_>) {
    keystream::<Be128>(batch, |message| first_counter(&message.tag));
}

/// Stores `D` after the associated strings in each message's tag (section 2.4). The strings are the additional data,
/// followed by the nonce if there is one (section 3).
#[inline(never)]
fn hash_strings(batch: &mut Batch<'_, '_, '_>) {
    for message in batch.messages.iter_mut() {
        message.tag = message.key.subkeys[2];
    }
    let most = batch.messages.iter().map(|message| strings(message)).max().unwrap_or(0);
    for i in 0..most {
        let mut macs = Column::new();
        cmac(batch, |message| string(message, i), &mut macs);
        for (message, mac) in batch.messages.iter_mut().zip(&macs) {
            if i < strings(message) {
                message.tag = BigEndian::double_block(&message.tag);
                xor(&mut message.tag, mac);
            }
        }
    }
}

/// Returns the number of a message's associated strings.
fn strings(message: &Message<'_>) -> usize {
    message.aad.strings() + usize::from(!message.nonce.is_empty())
}

/// Returns an associated string of a message, or an empty one if it has fewer.
fn string<'m>(message: &'m Message<'_>, number: usize) -> &'m [u8] {
    if number < message.aad.strings() {
        message.aad.string(number)
    } else if number < strings(message) {
        message.nonce
    } else {
        &[]
    }
}

/// Computes `CMAC(K1, S)` of a string of each message. Computes it once if all messages have one key and one string
/// in memory, for example the shared additional data of a burst.
fn cmac<'a>(
    batch: &mut Batch<'_, '_, 'a>,
    string: impl for<'m> Fn(&'m Message<'a>) -> &'m [u8],
    macs: &mut Column,
) {
    let first = string(&*batch.messages[0]);
    let same = share_key(batch.messages) && batch.messages.iter().all(|m| core::ptr::eq(string(m), first));
    let count = if same { 1 } else { batch.messages.len() };
    macs.extend((0..count).map(|_| [0; BLOCK]));
    let Batch { backend, schedule, messages } = batch;
    let mut some = Batch { backend: *backend, schedule: *schedule, messages: &mut messages[..count] };
    omac(&mut some, mac, macs, |message| Span::from(string(message)));
    while macs.len() < batch.messages.len() {
        macs.push(macs[0]);
    }
}

/// Returns the offset of the block in which the last 16 bytes of a message begin.
fn before_end(message: &Message<'_>) -> usize {
    whole(message.data.len().saturating_sub(BLOCK))
}

/// Computes `V` from the `D` in each message's tag, and stores it there.
#[inline(never)]
fn hash_message<'a>(batch: &mut Batch<'_, '_, 'a>, plaintext: impl for<'m> Fn(&'m Message<'a>) -> Span<'m>) {
    let mut c = Column::new();
    c.extend(batch.messages.iter().map(|_| [0; BLOCK]));
    if batch.messages.iter().any(|message| before_end(message) > 0) {
        cbc_mac(batch, |key| mac(key).aes, &mut c, |message| plaintext(message).first(before_end(message)));
    }
    second_last(batch, &plaintext, &mut c);
    last_of_messages(batch, &plaintext, &mut c);
    batch.set_tags(&c);
}

/// Absorbs the block in which the last 16 bytes begin, for messages in which they straddle two blocks.
#[inline(never)]
fn second_last<'a>(
    batch: &Batch<'_, '_, 'a>,
    plaintext: &impl for<'m> Fn(&'m Message<'a>) -> Span<'m>,
    c: &mut [Block],
) {
    let bytes_in_last =
        |message: &Message<'_>| (message.data.len() - before_end(message)).saturating_sub(BLOCK);
    let in_two = || batch.messages.iter().enumerate().filter(|(_, message)| bytes_in_last(message) > 0);
    let mut blocks = Loose::new();
    for (i, message) in in_two() {
        let mut x = plaintext(message).block(before_end(message));
        xor(&mut x, &join(&[0; BLOCK], bytes_in_last(message), &message.tag));
        xor(&mut x, &c[i]);
        blocks.push(mac(message.key).aes, x);
    }
    blocks.encrypt(batch.backend);
    for ((i, _), block) in in_two().zip(&blocks.blocks) {
        c[i] = *block;
    }
}

/// Makes the last call of CMAC for each message.
#[inline(never)]
fn last_of_messages<'a>(
    batch: &Batch<'_, '_, 'a>,
    plaintext: &impl for<'m> Fn(&'m Message<'a>) -> Span<'m>,
    c: &mut [Block],
) {
    let mut last = Loose::new();
    for (message, c) in batch.messages.iter().zip(&*c) {
        let (at, d) = (before_end(message), &message.tag);
        let bytes = message.data.len() - at;
        let (mut x, bytes) = if bytes > BLOCK {
            let mut x = plaintext(message).block(at + BLOCK);
            xor(&mut x, &skip(d, 2 * BLOCK - bytes));
            (x, bytes - BLOCK)
        } else {
            let mut x = plaintext(message).block(at);
            xor(&mut x, &PADDING[bytes]);
            xor(&mut x, &if bytes == BLOCK { *d } else { BigEndian::double_block(d) });
            (x, BLOCK)
        };
        xor(&mut x, c);
        last.push(mac(message.key).aes, mac(message.key).last(&x, bytes));
    }
    last.encrypt(batch.backend);
    c.copy_from_slice(&last.blocks);
}
