//! Flights in columns: how a mode takes the messages of a burst, and messages one by one.
//!
//! ```text
//! for each message: encrypt or decrypt it, and compute its tag
//! write the tags, or compare them with those received
//! ```
//!
//! Consecutive messages do not depend on each other, so the CPU overlaps the end of one with the beginning of the next.

use core::convert::Infallible;
use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::Schedule;
use super::message::{Batch, Material, Message, share_key};
use crate::backend::{self, Backend, Block, Columns, Isa, Kernel, Span, Tags};
use crate::primitives::block::bytes_mask;

type Run = fn(Backend, &Material, &mut Columns<'_>, &mut Results<'_>) -> bool;

/// How one direction of a mode processes flights in columns.
#[derive(Clone, Copy)]
pub(crate) struct Flights {
    /// Returns whether this number of messages is better processed in columns.
    pub(crate) takes: fn(Backend, usize) -> bool,
    /// Processes a flight under a key. Returns whether it did: it does nothing if the lengths of the nonces differ.
    pub(crate) run: Run,
    /// Computes what the first flight under a key computes otherwise.
    pub(crate) prepare: fn(Backend, &Material),
}

impl Flights {
    /// Messages are processed one by one.
    pub(crate) fn of_single_messages<M: Alone>() -> Self {
        Self { takes: |_, _| true, run: run_columns::<M>, prepare: |_, _| {} }
    }
}

/// Processes the messages of a batch in columns, if there are enough of them under one key, and otherwise as `otherwise`
/// does.
pub(crate) fn run_batch(
    batch: &mut Batch<'_, '_, '_>,
    flights: Flights,
    otherwise: impl Fn(&mut Batch<'_, '_, '_>),
) {
    let Batch { backend, schedule, ref mut messages } = *batch;
    if schedule != Schedule::Auto || !(flights.takes)(backend, messages.len()) || !share_key(messages) {
        return otherwise(batch);
    }
    for messages in messages.chunks_mut(backend::FLIGHT) {
        if !run_flight(backend, messages, flights.run) {
            otherwise(&mut Batch { backend, schedule, messages });
        }
    }
}

/// Processes messages under one key, at most a flight, in columns. Returns whether it did, like [`Flights::run`].
pub(crate) fn run_flight(backend: Backend, messages: &mut [&mut Message<'_>], run: Run) -> bool {
    let (mut columns, mut tags) = (Columns::new(), Tags::new());
    let key = messages[0].key;
    let mut received = ArrayVec::<Block, { backend::FLIGHT }>::new();
    for message in messages.iter() {
        received.push(message.tag);
    }
    let Ok(()) = columns.fill(
        None,
        messages.iter_mut().map(|message| {
            let Message { nonce, aad, data, .. } = &mut **message;
            Ok::<_, Infallible>((*nonce, &**aad, data.reborrow()))
        }),
    );
    let done = run(backend, key, &mut columns, &mut Results::Write { tags: &mut tags, received: &received });
    for (message, tag) in messages.iter_mut().zip(tags.get()) {
        message.tag = *tag;
    }
    done
}

/// One direction of a mode that can process messages one by one.
pub(crate) trait Alone: 'static {
    /// Whether messages have tags.
    const TAGS: bool;

    /// Encrypts or decrypts a message. Returns its tag in the first lane.
    fn alone<B: Isa>(b: B, key: &Material, nonce: &[u8], aad: &[u8], data: Span<'_>) -> B::V;
}

/// Processes the messages of a batch one by one.
#[cfg(feature = "hazmat")]
pub(crate) fn run<M: Alone>(batch: &mut Batch<'_, '_, '_>) {
    batch.backend.run(EachMessage::<M> { messages: batch.messages, mode: PhantomData });
}

/// Processes the messages of a flight one by one, like [`Flights::run`].
pub(crate) fn run_columns<M: Alone>(
    backend: Backend,
    key: &Material,
    columns: &mut Columns<'_>,
    results: &mut Results<'_>,
) -> bool {
    let is_even = columns.nonce_bytes().is_some();
    if is_even {
        backend.run(EachAlone::<M> { key, columns, results, mode: PhantomData });
    }
    is_even
}

#[cfg(feature = "hazmat")]
struct EachMessage<'b, 'm, 'a, M> {
    messages: &'b mut [&'m mut Message<'a>],
    mode: PhantomData<M>,
}

#[cfg(feature = "hazmat")]
impl<M: Alone> Kernel for EachMessage<'_, '_, '_, M> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        for message in self.messages {
            let Message { key, nonce, aad, data, .. } = &mut **message;
            let tag = M::alone(b, key, nonce, aad, data.reborrow());
            if M::TAGS {
                message.tag = b.first(tag);
            }
        }
    }
}

struct EachAlone<'f, 'a, 't, M> {
    key: &'f Material,
    columns: &'f mut Columns<'a>,
    results: &'f mut Results<'t>,
    mode: PhantomData<M>,
}

impl<M: Alone> Kernel for EachAlone<'_, '_, '_, M> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { key, columns, results, .. } = self;
        for (i, (nonce, aad, data)) in columns.messages().enumerate() {
            let tag = M::alone(b, key, nonce, aad, data);
            if M::TAGS {
                results.put_one(b, i, tag);
            }
        }
    }
}

/// What happens to the tags of a flight.
pub(crate) enum Results<'t> {
    /// They are written. Messages to open have those received.
    Write { tags: &'t mut Tags, received: &'t [Block] },
    /// They are compared with those received, which are zero-padded, in their first `bytes` bytes.
    Compare { received: &'t [Block], bytes: usize, forged: u64 },
}

impl Results<'_> {
    /// Takes the tags of a register of messages, from index `at` on. Lanes without a message are ignored.
    #[inline(always)]
    pub(crate) fn put<B: Isa>(&mut self, b: B, at: usize, tags: B::V) {
        match self {
            Self::Write { tags: all, .. } => all.push(b, tags),
            Self::Compare { received, bytes, forged } => {
                let received = &received[at..];
                let lanes = received.len().min(B::BLOCKS);
                let expected =
                    if lanes == B::BLOCKS { b.load(received) } else { b.load_bytes(received.as_flattened()) };
                let wrong = b.and(b.xor(tags, expected), b.splat(&bytes_mask(*bytes)));
                *forged |= (b.nonzero(wrong) & !(u64::MAX << lanes)) << at;
            }
        }
    }

    /// Takes the tags of all messages of a flight.
    pub(crate) fn put_flight(&mut self, backend: Backend, tags: &[Block]) {
        backend.run(PutFlight { results: self, tags });
    }

    /// Takes the tag of the message with index `i`, in the first lane.
    #[inline(always)]
    fn put_one<B: Isa>(&mut self, b: B, i: usize, tag: B::V) {
        match self {
            Self::Write { tags: all, .. } => all.push_one(b, tag),
            Self::Compare { received, bytes, forged } => {
                let wrong = b.and(b.xor(tag, b.one(&received[i])), b.one(&bytes_mask(*bytes)));
                *forged |= (b.nonzero(wrong) & 1) << i;
            }
        }
    }

    /// Returns the tags of messages to open as they were received, zero-padded.
    pub(crate) fn received(&self) -> &[Block] {
        match self {
            Self::Write { received, .. } | Self::Compare { received, .. } => received,
        }
    }

    /// Returns the set of the messages whose tags differ, one bit each.
    #[inline(always)]
    pub(crate) fn forged(&self) -> u64 {
        match self {
            Self::Write { .. } => 0,
            Self::Compare { forged, .. } => *forged,
        }
    }
}

struct PutFlight<'f, 't> {
    results: &'f mut Results<'t>,
    tags: &'f [Block],
}

impl Kernel for PutFlight<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { results, tags } = self;
        let (registers, rest) = tags.split_at(tags.len() / B::BLOCKS * B::BLOCKS);
        for (n, blocks) in registers.chunks_exact(B::BLOCKS).enumerate() {
            results.put(b, n * B::BLOCKS, b.load(blocks));
        }
        if !rest.is_empty() {
            results.put(b, registers.len(), b.load_bytes(rest.as_flattened()));
        }
    }
}
