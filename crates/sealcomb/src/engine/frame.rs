//! The frame of GCM: flights of messages under one key, which are encrypted in counter mode and hashed.
//!
//! ```text
//! begin:  for each message: its counter block and the mask of its tag, several messages per register
//! hash:   for each message: the hash of its additional data
//! bulk:   for each chunk of each long message: encrypt it; meanwhile, hash the chunk before, whoever's it is
//! tails:  for each number of registers R:
//!             for each message whose tail has R registers: encrypt it; meanwhile, hash the tail before
//! tags:   for each register of messages: add the lengths, multiply, add the masks
//! ```
//!
//! When opening, what is hashed is the ciphertext of the same chunk or tail. Nothing per message is scalar code but
//! addresses. The counter blocks' first round comes from a table (see [`first_round`](crate::primitives::first_round)).

use alloc::boxed::Box;
use core::marker::PhantomData;

use generativity::make_guard;

use super::BlockCipher;
use super::flights::{self, Alone, Flights, Results};
use super::message::{Batch, Material, Message};
use crate::backend::{
    BLOCK, Backend, Block, Columns, Exponents, FLIGHT, Flight, Index, Isa, Kernel, Member, REGISTERS,
    Secrets, Tail, Tails, Weave, Wiped,
};
use crate::primitives::aes::WideRoundKeys;
use crate::primitives::first_round::FirstRounds;
use crate::primitives::gf128::{GcmOrder, Unreduced, haswell};
use crate::primitives::ghash::{Absorb, Ghash, Products, Table};
use crate::primitives::permutation::Permutation;

/// One direction of a counter mode with tags: a hash of the additional data, the ciphertext and their lengths, and a mask.
pub(crate) trait Framed: Alone {
    type Cipher: BlockCipher;

    /// Number of bytes of the nonces of messages that are processed together.
    const NONCE: usize;
    const OPENS: bool;

    /// The last byte of the first counter block. The block before it gives the tag's mask.
    const FIRST: u8;

    /// Returns the first counter blocks of messages with these nonces, with last bytes of zero, one per lane.
    fn bases<B: Isa>(b: B, nonces: [&[u8]; 4]) -> B::V;

    /// Returns the counter block with a last byte of zero that follows `carries` such blocks later.
    fn later_base(nonce: &[u8], carries: usize) -> Block;
}

impl Flights {
    /// Messages are processed in the frame, or one by one if they are few.
    pub(crate) fn framed<M: Framed>() -> Self {
        Self { takes: |_, _| true, run: run_columns::<M>, prepare: prepare_key::<M::Cipher> }
    }

    /// Messages are processed one by one, with what depends on the key if they are many.
    #[cfg(feature = "hazmat")]
    pub(crate) fn prepared<M: Alone, C: BlockCipher>() -> Self {
        let run = |backend, key: &Material, columns: &mut Columns<'_>, results: &mut Results<'_>| {
            if pays(backend, columns.len()) {
                prepare::<C>(backend, key);
            }
            flights::run_columns::<M>(backend, key, columns, results)
        };
        Self { takes: |_, _| true, run, prepare: prepare_key::<C> }
    }
}

/// Fewer messages take less time one by one.
const FEW: usize = 5;

/// Returns whether the frame is faster for this number of messages.
#[inline(always)]
fn pays(backend: Backend, messages: usize) -> bool {
    messages >= FEW && backend.blocks() > 1
}

/// Processes all messages, in flights under one key with nonces of one length.
pub(crate) fn run<M: Framed>(batch: &mut Batch<'_, '_, '_>) {
    let alike = |a: &&mut Message<'_>, b: &&mut Message<'_>| {
        core::ptr::eq(a.key, b.key) && a.nonce.len() == b.nonce.len()
    };
    for run in batch.messages.chunk_by_mut(alike) {
        for messages in run.chunks_mut(FLIGHT) {
            flights::run_flight(batch.backend, messages, run_columns::<M>);
        }
    }
}

/// Processes a flight under a key, like [`Flights::run`].
fn run_columns<M: Framed>(
    backend: Backend,
    key: &Material,
    columns: &mut Columns<'_>,
    results: &mut Results<'_>,
) -> bool {
    if columns.nonce_bytes() != Some(M::NONCE) || !pays(backend, columns.len()) {
        return flights::run_columns::<M>(backend, key, columns, results);
    }
    let prepared = prepare::<M::Cipher>(backend, key);
    backend.run(Fly::<M> { key, prepared, columns, results, mode: PhantomData });
    true
}

/// What depends on the key, and is computed for its first flight.
pub(crate) struct Prepared {
    pub(crate) first_rounds: FirstRounds,
    round_keys: WideRoundKeys,
}

impl Prepared {
    fn empty() -> Self {
        Self { first_rounds: FirstRounds::empty(), round_keys: WideRoundKeys::empty() }
    }
}

/// Computes what depends on the key, if flights on this backend use it.
fn prepare_key<C: BlockCipher>(backend: Backend, key: &Material) {
    if pays(backend, FLIGHT) {
        prepare::<C>(backend, key);
    }
}

/// Computes what depends on the keys that many messages of a batch have.
#[cfg(feature = "hazmat")]
pub(crate) fn prepare_keys<C: BlockCipher>(batch: &Batch<'_, '_, '_>) {
    for run in batch.messages.chunk_by(|a, b| core::ptr::eq(a.key, b.key)) {
        if pays(batch.backend, run.len()) {
            prepare::<C>(batch.backend, run[0].key);
        }
    }
}

/// Returns what depends on the key. Of threads that compute it at the same time, all but one discard theirs.
fn prepare<C: BlockCipher>(backend: Backend, key: &Material) -> &Prepared {
    key.prepared.get_or_init(|| {
        let mut prepared = Box::new(Wiped::new(Prepared::empty()));
        backend.run(Prepare::<C> { key, prepared: &mut prepared, cipher: PhantomData });
        prepared
    })
}

struct Prepare<'k, C> {
    key: &'k Material,
    prepared: &'k mut Prepared,
    cipher: PhantomData<C>,
}

impl<C: BlockCipher> Kernel for Prepare<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let cipher = C::of(self.key);
        self.prepared.first_rounds.fill(b, cipher.encrypting::<B>());
        cipher.widen(&mut self.prepared.round_keys);
    }
}

/// A flight.
struct Fly<'f, 'a, 't, M> {
    key: &'f Material,
    prepared: &'f Prepared,
    columns: &'f mut Columns<'a>,
    results: &'f mut Results<'t>,
    mode: PhantomData<M>,
}

impl<M: Framed> Kernel for Fly<'_, '_, '_, M> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        if const { B::BLOCKS == 1 } {
            unreachable!("narrow registers process messages one by one");
        } else {
            let mut secrets = Secrets::new();
            self.run_with(b, &mut secrets);
            secrets.wipe(b);
        }
    }
}

impl<M: Framed> Fly<'_, '_, '_, M> {
    #[inline(always)]
    fn run_with<B: Isa>(self, b: B, secrets: &mut Secrets<B>) {
        let Self { key, prepared, columns, results, .. } = self;
        let frame = Frame::<B, M> { b, key, prepared, mode: PhantomData };
        let mut classes = [0; FLIGHT];
        make_guard!(guard);
        let flight = &mut Flight::new(b, guard, columns, secrets, &mut classes);
        frame.begin_all(flight);
        if flight.has_aads() || flight.is_long() {
            b.call(HashAads { frame, flight: &mut *flight });
        } else {
            flight.begin_without_hashes();
        }
        if flight.is_long() {
            b.call(Bulk { frame, flight: &mut *flight });
        }
        for index in flight.empty(b) {
            let hash = flight.hash(b, index);
            flight.finish(index, hash);
        }
        each_round!(1 2 3 4 5 6 7 8, R => {
            let tails: Tails<'_, R> = flight.tails(b);
            if !tails.is_empty() {
                b.call(CryptTails { frame, flight: &mut *flight, tails });
            }
        });
        frame.finish_all(flight, results);
    }
}

/// A mode under a key, on a backend.
struct Frame<'k, B, M> {
    b: B,
    key: &'k Material,
    prepared: &'k Prepared,
    mode: PhantomData<M>,
}

impl<B: Copy, M> Clone for Frame<'_, B, M> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Copy, M> Copy for Frame<'_, B, M> {}

/// Number of registers of messages that begin together.
const BEGIN: usize = 8;

impl<'k, B: Isa, M: Framed> Frame<'k, B, M> {
    #[inline(always)]
    fn keys(self) -> <M::Cipher as BlockCipher>::Wide<'k, B> {
        M::Cipher::of(self.key).wide::<B>(&self.prepared.round_keys)
    }

    #[inline(always)]
    fn table(self) -> &'k Table {
        M::Cipher::mode_state(self.key).get()
    }

    /// Computes the states of all messages' first counter blocks, and the masks of their tags.
    #[inline(always)]
    fn begin_all(self, flight: &mut Flight<'_, '_, '_, B>) {
        let mut from = 0;
        while from < flight.len() {
            if flight.len() - from > BEGIN / 2 * B::BLOCKS {
                self.begin::<BEGIN>(flight, from);
                from += BEGIN * B::BLOCKS;
            } else {
                self.begin::<{ BEGIN / 2 }>(flight, from);
                from += BEGIN / 2 * B::BLOCKS;
            }
        }
    }

    /// Does this for up to `G` registers of messages.
    #[inline(always)]
    fn begin<const G: usize>(self, flight: &mut Flight<'_, '_, '_, B>, from: usize) {
        let b = self.b;
        let (mut states, mut masks) = ([b.zero(); G], [b.zero(); G]);
        each_register!(G, g => {
            let at = from + g * B::BLOCKS;
            let mut nonces = [flight.nonce_at(at); 4];
            each_register!(4, 1 2 3, n => {
                if n < B::BLOCKS {
                    nonces[n] = flight.nonce_at(at + n);
                }
            });
            states[g] = M::bases(b, nonces);
        });
        self.keys().first_round(b, &mut states);
        let before_first = b.spread(self.prepared.first_rounds.at(b, usize::from(M::FIRST) - 1));
        each_register!(G, g => {
            masks[g] = b.xor(states[g], before_first);
        });
        self.keys().finish_with(b, &mut masks, &mut ());
        each_register!(G, g => {
            if from + g * B::BLOCKS < flight.len() {
                flight.begin(b, states[g], masks[g]);
            }
        });
    }

    /// Returns the states of `R` registers of counter blocks. The first one is at byte `at`, counted from a last byte of
    /// zero. `state` is that of the blocks with the same bytes before the last one. If the last byte overflows, it becomes
    /// that of the following blocks.
    #[inline(always)]
    fn take<const R: usize>(self, state: &mut B::V, nonce: &[u8], at: usize) -> [B::V; R] {
        let b = self.b;
        let last = at % (256 * BLOCK) / BLOCK;
        let mut x = [*state; R];
        if last + R * B::BLOCKS >= 256 {
            let mut next = [b.spread(b.one(&M::later_base(nonce, at / (256 * BLOCK) + 1)))];
            self.keys().first_round(b, &mut next);
            [*state] = next;
            each_register!(R, r => {
                let before = (256 - last).saturating_sub(r * B::BLOCKS).min(B::BLOCKS);
                x[r] = b.xor(*state, b.keep(b.xor(x[r], *state), BLOCK * before));
            });
        }
        each_register!(R, r => {
            x[r] = b.xor(x[r], self.prepared.first_rounds.at(b, last + r * B::BLOCKS));
        });
        x
    }

    /// Adds the lengths to the hashes of all messages, and computes their tags.
    #[inline(always)]
    fn finish_all(self, flight: &Flight<'_, '_, '_, B>, results: &mut Results<'_>) {
        let b = self.b;
        let h = b.spread(b.one(&self.table().powers_from(1)[0]));
        let low = b.splat(&u128::from(u64::MAX).to_le_bytes());
        for row in 0..flight.rows() {
            let [s0, s1, s2, s3] = b.transpose(flight.sums(b, row));
            let sums = b.xor(b.xor(s0, s1), b.xor(s2, s3));
            let [bytes, aad_bytes] = flight.lengths(b, row);
            // In a reversed block, the length of the additional data is in the high half.
            let lengths = b.xor(b.and(bytes, low), b.low_to_high(aad_bytes));
            let s = haswell::<GcmOrder, B>(b, b.xor(sums, b.shift_left(lengths, 3)), h);
            results.put(b, row * B::BLOCKS, b.xor(b.reverse(s), flight.masks(b, row)));
        }
    }
}

/// Computes the hashes of the additional data of all messages.
struct HashAads<'w, 'id, 'f, 'a, 'k, B: Isa, M: Framed> {
    frame: Frame<'k, B, M>,
    flight: &'w mut Flight<'id, 'f, 'a, B>,
}

impl<Of: Isa, M: Framed> Kernel for HashAads<'_, '_, '_, '_, '_, Of, M> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, _: B) {
        let Self { frame, flight } = self;
        let b = frame.b;
        if let Some(aad) = flight.shared_aad() {
            let hash = if aad.is_empty() { b.zero() } else { b.spread(Ghash::of(b, frame.table(), aad)) };
            for _ in (0..flight.len()).step_by(Of::BLOCKS) {
                flight.begin_hashes(b, hash);
            }
            return;
        }
        let h = b.spread(b.one(&frame.table().powers_from(1)[0]));
        for from in (0..flight.len()).step_by(Of::BLOCKS) {
            let mut blocks = [b.zero(); 4];
            if flight.has_aads() {
                each_register!(4, 0 1 2 3, n => {
                    if n < Of::BLOCKS {
                        // One block of each. Longer data follow below.
                        let aad = flight.aad_at(from + n);
                        blocks[n] = b.load_bytes(aad.get(..BLOCK).unwrap_or(aad));
                    }
                });
                let [lanes, ..] = b.transpose(blocks);
                flight.begin_hashes(b, haswell::<GcmOrder, Of>(b, b.reverse(lanes), h));
            } else {
                flight.begin_hashes(b, b.zero());
            }
        }
        for i in 0..flight.len() {
            let aad = flight.aad_at(i);
            if aad.len() > BLOCK {
                flight.set_hash_at(b, i, Ghash::of(b, frame.table(), aad));
            }
        }
    }
}

/// Encrypts or decrypts the chunks of all long messages.
struct Bulk<'w, 'id, 'f, 'a, 'k, B: Isa, M: Framed> {
    frame: Frame<'k, B, M>,
    flight: &'w mut Flight<'id, 'f, 'a, B>,
}

impl<Of: Isa, M: Framed> Kernel for Bulk<'_, '_, '_, '_, '_, Of, M> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, _: B) {
        let Self { frame, flight } = self;
        let b = frame.b;
        let flight = &mut flight.local();
        let keys = frame.keys();
        let mut hash = Ghash::new(b, frame.table());
        // The last chunk, which has not been hashed yet, and its message.
        let mut pending = None;
        for index in flight.long() {
            let nonce = flight.nonce(index);
            let (mut state, first) = (flight.state(b, index), BLOCK * usize::from(M::FIRST));
            if M::OPENS {
                hash.set(flight.hash(b, index));
            }
            for (at, mut chunk) in flight.chunks(index) {
                let mut x: [Of::V; REGISTERS] = frame.take(&mut state, nonce, first + at);
                if M::OPENS {
                    hash.begin(b, 0);
                    let mut absorb = Absorb::<Of, _, true, 4> { hash: &mut hash, chunk: &chunk };
                    keys.finish_with(b, &mut x, &mut absorb);
                } else if let Some((_, pending)) = &pending {
                    hash.begin(b, 0);
                    let mut absorb = Absorb::<Of, _, false, 4> { hash: &mut hash, chunk: pending };
                    keys.finish_with(b, &mut x, &mut absorb);
                } else {
                    keys.finish_with(b, &mut x, &mut ());
                }
                each_register!(REGISTERS, 0 1 2 3 4 5 6 7, r => {
                    x[r] = b.xor(x[r], chunk.load(b, r));
                });
                each_register!(REGISTERS, 0 1 2 3 4 5 6 7, r => {
                    chunk.store(b, r, x[r]);
                });
                if M::OPENS {
                    hash.end(b);
                } else {
                    if let Some((of, _)) = pending {
                        hash.end(b);
                        if at == 0 {
                            flight.set_hash(b, of, hash.get());
                        }
                    }
                    if at == 0 {
                        hash.set(flight.hash(b, index));
                    }
                    pending = Some((index, chunk));
                }
            }
            flight.set_state(b, index, state);
            if M::OPENS {
                flight.set_hash(b, index, hash.get());
            }
        }
        if let Some((of, chunk)) = &pending {
            hash.begin(b, 0);
            let mut absorb = Absorb::<Of, _, false, 4> { hash: &mut hash, chunk };
            each_register!(REGISTERS, 0 1 2 3 4 5 6 7, r => {
                absorb.thread(b, r);
            });
            hash.end(b);
            flight.set_hash(b, *of, hash.get());
        }
    }
}

/// The largest tail that is read before the preceding one is written. Longer ones need the registers.
const EARLY: usize = 4;

/// The largest tail that is hashed with four products per register, which takes fewer other instructions.
const SHORT: usize = 2;

/// A tail that must be hashed: reversed ciphertext, with the hash of what precedes it.
struct Hashed<'id, B: Isa, const R: usize> {
    index: Index<'id>,
    /// The exponents of the powers by which the blocks are multiplied.
    exponents: Exponents<B, R>,
    blocks: [B::V; R],
}

impl<'id, B: Isa, const R: usize> Hashed<'id, B, R> {
    #[inline(always)]
    fn new(
        b: B,
        flight: &Flight<'id, '_, '_, B>,
        index: Index<'id>,
        tail: &Tail<'_, B, R>,
        mut blocks: [B::V; R],
    ) -> Self {
        each_register!(R, r => {
            blocks[r] = b.reverse(blocks[r]);
        });
        blocks[0] = b.xor(blocks[0], flight.hash(b, index));
        Self { index, exponents: tail.exponents(), blocks }
    }
}

/// Hashes a tail, one register between two rounds.
struct HashTail<'w, 'id, 'f, 'a, 't, B: Isa, const R: usize> {
    flight: &'w mut Flight<'id, 'f, 'a, B>,
    powers: Products<'t>,
    hashed: &'w Hashed<'id, B, R>,
    sum: Unreduced<B>,
}

impl<B: Isa, const R: usize> Weave<B> for HashTail<'_, '_, '_, '_, '_, B, R> {
    const LONG: bool = true;

    #[inline(always)]
    fn thread(&mut self, b: B, piece: usize) {
        let Hashed { index, exponents, blocks } = self.hashed;
        if const { R <= SHORT } {
            self.powers.add_register_by_four(b, *exponents, piece, blocks[piece], &mut self.sum);
        } else {
            self.powers.add_register(b, *exponents, piece, blocks[piece], &mut self.sum);
        }
        self.sum.pin(b);
        if piece == R - 1 {
            let sum = if const { R <= SHORT } {
                self.sum.reduce_by_four::<GcmOrder>(b)
            } else {
                self.sum.reduce::<GcmOrder>(b)
            };
            self.flight.finish(*index, sum);
        }
    }
}

/// Encrypts or decrypts tails of `R` registers.
struct CryptTails<'w, 'id, 'f, 'a, 'k, B: Isa, M: Framed, const R: usize> {
    frame: Frame<'k, B, M>,
    flight: &'w mut Flight<'id, 'f, 'a, B>,
    tails: Tails<'id, R>,
}

impl<Of: Isa, M: Framed, const R: usize> Kernel for CryptTails<'_, '_, '_, '_, '_, Of, M, R> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, _: B) {
        let Self { frame, flight: whole, mut tails } = self;
        let b = frame.b;
        let flight = &mut whole.local();
        let keys = frame.keys();
        let powers = frame.table().products();
        let Some(mut member): Option<Member<'_, R>> = flight.first(&mut tails) else { return };
        let mut tail = flight.tail(member);
        let mut text = if R <= EARLY { tail.load(b) } else { [b.zero(); R] };
        let mut hashed = None;
        loop {
            let is_last = tails.is_empty();
            let next_member = flight.next_or(&mut tails, member);
            let next = flight.tail(next_member);
            let index = member.index();
            if M::OPENS {
                if R > EARLY {
                    text = tail.load(b);
                }
                hashed = Some(Hashed::new(b, flight, index, &tail, text));
            }
            let nonce = flight.nonce(index);
            let at = BLOCK * usize::from(M::FIRST) + tail.at();
            let mut x: [Of::V; R] = frame.take(&mut flight.state(b, index), nonce, at);
            if let Some(hashed) = &hashed {
                let sum = Unreduced::zero(b);
                keys.finish_with(b, &mut x, &mut HashTail { flight: &mut *flight, powers, hashed, sum });
            } else {
                keys.finish_with(b, &mut x, &mut ());
            }
            if R > EARLY {
                text = tail.load(b);
            }
            each_register!(R, r => {
                x[r] = b.xor(x[r], text[r]);
            });
            // Before the store: a load of bytes next to it would wait until the store is complete.
            if R <= EARLY {
                text = next.load(b);
            }
            tail.store(b, &x);
            if !M::OPENS {
                tail.trim(b, &mut x);
                hashed = Some(Hashed::new(b, flight, index, &tail, x));
            }
            if is_last {
                break;
            }
            (member, tail) = (next_member, next);
        }
        if !M::OPENS
            && let Some(hashed) = &hashed
        {
            let sum = Unreduced::zero(b);
            let mut hash = HashTail { flight: &mut *flight, powers, hashed, sum };
            each_register!(R, r => {
                hash.thread(b, r);
            });
        }
        let finished = flight.finished();
        whole.adopt(finished);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::backend::{Span, Tags};
    use crate::{Algorithm, KeyOptions};

    /// Seals a flight, and returns the memory of its secrets before and after it is zeroized.
    struct Memory<'f, 'a, 't> {
        fly: Fly<'f, 'a, 't, crate::modes::gcm::Crypt<crate::primitives::aes::KeySchedule, false>>,
        messages: usize,
        wipes: bool,
    }

    impl Kernel for Memory<'_, '_, '_> {
        type Output = [Vec<u8>; 2];

        #[inline(always)]
        fn run<B: Isa>(self, b: B) -> Self::Output {
            let mut secrets = Secrets::new();
            self.fly.run_with(b, &mut secrets);
            let before = secrets.written(self.messages);
            if self.wipes {
                secrets.wipe(b);
            } else {
                secrets.wipe_all();
            }
            let places = before.iter().map(|&(address, _)| address);
            let after = secrets.bytes_at(places);
            [before.iter().map(|&(_, byte)| byte).collect(), after]
        }
    }

    #[test]
    fn secrets_of_a_flight_are_zeroed() {
        for backend in crate::Backend::available().filter(|backend| backend.blocks() > 1) {
            for messages in [5, 8, 33, FLIGHT] {
                for wipes in [false, true] {
                    let algorithm = Algorithm::by_id("aes128-gcm").expect("an algorithm");
                    let key = KeyOptions::new().backend(backend).expand(algorithm, &[7; 16]).expect("a key");
                    let key = key.material();
                    let mut texts: Vec<Vec<u8>> = (0..messages).map(|i| vec![1; 40 * i]).collect();
                    let nonces: Vec<[u8; 12]> = (0..messages).map(|i| [i as u8; 12]).collect();
                    let (mut columns, mut tags) = (Columns::new(), Tags::new());
                    let entries = nonces.iter().zip(&mut texts);
                    let entries = entries.map(|(nonce, text)| {
                        Ok::<_, ()>((&nonce[..], &[2; 20][..], Span::from(&mut text[..])))
                    });
                    columns.fill(None, entries).expect("no error");
                    let prepared = prepare::<crate::primitives::aes::KeySchedule>(backend, key);
                    let results = &mut Results::Write { tags: &mut tags, received: &[] };
                    let fly = Fly { key, prepared, columns: &mut columns, results, mode: PhantomData };
                    let [before, after] = backend.run(Memory { fly, messages, wipes });
                    assert!(before.iter().filter(|&&byte| byte != 0).count() > 60 * messages, "{backend:?}");
                    assert!(after.iter().all(|&byte| byte == 0), "{backend:?}, {messages}");
                }
            }
        }
    }
}
