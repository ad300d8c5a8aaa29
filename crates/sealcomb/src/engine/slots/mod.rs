//! Slots: chains with one block of state and one key per message, whose only step is the cipher.
//!
//! A group is as many messages of similar length as a register has blocks. Each slot is a register with one group;
//! when the longest message of the group ends, the slot takes the next group. All slots advance together, but their
//! lines of four blocks begin one step after another, so that loads, transpositions and stores are spread over all
//! steps:
//!
//! ```text
//! sort the messages, longest first
//! for each step, while a slot has a group:
//!     for each slot that has ended a line:
//!         write the output of the line
//!         read the next line: of the next group if this one has ended
//!     advance all slots by one block
//! ```
//!
//! The latency of a chain is that of its AES rounds, because the first round key and the block that the chain adds
//! are added to the last round key of the preceding block.
//!
//! Few slots begin their lines together instead: otherwise, the first messages would wait for the last slot. In CCM, EAX
//! and SIV, each step also encrypts one counter block per message, whose keystream encrypts or decrypts the message.

mod driver;
mod keys;

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::comb::{self, Chain, ChainKey};
use super::flights::{Flights, Results};
use super::message::{Batch, Column, Material, Message, share_key};
use super::order::Order;
use super::{FLIGHT, Schedule};
use crate::backend::{BLOCK, Backend, Block, Columns, Isa, Kernel, Span, Texts, has_two_wide_aes_units};
use crate::primitives::aes::KeySchedule;
use driver::Driver;
use keys::{OneKey, SlotKeys};

/// What a chain adds to the output of the cipher to obtain the next input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Added {
    /// The next block of the message. The chain's output is that of the cipher.
    Next,
    /// The block of the message at this step. The sum is the chain's output.
    Current,
    /// Nothing. The chain's output is the sum of the cipher's and the block of the message.
    Nothing,
}

/// What a chain does to the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    /// It is only read.
    Read,
    /// The chain's output replaces it.
    Chained,
    /// Counter mode encrypts or decrypts it, and the chain reads what is read.
    Input,
    /// Counter mode encrypts or decrypts it, and the chain reads what is written.
    Output,
}

/// A chain that slots can process.
pub(crate) trait SlotChain {
    const ADDED: Added;
    const TEXT: Text;
    /// Whether the messages are written.
    const WRITES: bool = !matches!(Self::TEXT, Text::Read);
    /// Whether they are in counter mode.
    const COUNTS: bool = matches!(Self::TEXT, Text::Input | Text::Output);
    /// Whether the counters are whole blocks, and in constant time: EAX and SIV.
    const WHOLE_COUNTERS: bool = false;
    /// Whether counter mode has another key than the chain: SIV.
    const TWO_KEYS: bool = false;
    /// Whether the chain reads what counter mode writes.
    const READS_OUTPUT: bool = matches!(Self::TEXT, Text::Output);
    /// Whether the last state is a result.
    const HAS_RESULT: bool = !matches!(Self::TEXT, Text::Chained);
}

/// The maximum number of bytes of a message in CCM's counter mode: the numbers of its blocks have 32 bits.
pub(crate) const MAX_COUNTED: u64 = BLOCK as u64 * (u32::MAX as u64 - 2);

/// The counter mode of a flight's messages, by place.
#[derive(Clone, Copy)]
pub(crate) struct Counters<'c> {
    /// The first counter blocks; in CCM without the number in their last bytes, which is 1 in the first one.
    pub(crate) bases: &'c [Block],
    /// The first block of each keystream, if the chain reads what is written.
    pub(crate) first: &'c [Block],
    /// The key, if the chain has another one.
    pub(crate) key: Option<&'c KeySchedule>,
}

/// `K1` and `K2` of OMAC, of which a message adds one to its last block, and to a partial one its padding.
pub(crate) type Subkeys<'a> = [&'a Block; 2];

/// What is added to the ends of messages.
#[derive(Clone, Copy)]
pub(crate) enum Ends<'a> {
    None,
    /// The padding and subkeys of OMAC. There is one pair for each message, by place, or for all of them. An empty message
    /// has one block.
    Omac(&'a [Subkeys<'a>]),
    /// A block to the last block of each message, by place, and one to the block before it. An empty message has one block.
    Blocks {
        last: &'a [Block],
        before: &'a [Block],
    },
}

impl Ends<'_> {
    /// Returns the number of bytes at the end of a message from which on its blocks may differ.
    #[inline(always)]
    fn bytes(self) -> usize {
        match self {
            Self::None => 0,
            Self::Omac(_) => 1,
            Self::Blocks { .. } => BLOCK + 1,
        }
    }
}

/// Maximum number of messages.
const TEXTS: usize = FLIGHT;

/// The messages of a flight in a chain.
struct ChainJobs<'s> {
    /// The places of the messages that have a block. It is empty if the messages are `even`: all equally long.
    order: Order,
    even: bool,
    /// The messages, by place.
    texts: Texts<'s, TEXTS>,
    /// The key of each message, by place, or that of all messages.
    keys: ArrayVec<&'s KeySchedule, FLIGHT>,
    /// The key of counter mode, if there are two.
    counter_key: &'s KeySchedule,
    ends: Ends<'s>,
    counters: Counters<'s>,
}

impl<'s> ChainJobs<'s> {
    /// Returns a flight without messages, to be filled in place: it is too large to be moved.
    #[inline(always)]
    fn empty(writes: bool, common: Common<'s>) -> Self {
        let Common { aes, ends, counters } = common;
        Self {
            order: Order::new(),
            even: false,
            texts: Texts::new(writes),
            keys: ArrayVec::new(),
            counter_key: counters.key.unwrap_or(aes),
            ends,
            counters,
        }
    }

    /// Orders the messages, longest first.
    #[inline(always)]
    fn sort(&mut self) {
        let is_live = |len| len > 0 || self.ends.bytes() > 0;
        let first = self.texts.lens().next().unwrap_or(0);
        self.even = is_live(first) && self.texts.lens().all(|len| len == first);
        if !self.even {
            for (place, len) in self.texts.lens().enumerate() {
                if is_live(len) {
                    self.order.push(place, len);
                }
            }
            self.order.sort();
        }
    }

    /// Returns the number of messages that have a block.
    #[inline(always)]
    fn count(&self) -> usize {
        if self.even { self.texts.len() } else { self.order.len() }
    }

    /// Returns the place of the message at a position in the order, or of the last one behind it.
    #[inline(always)]
    fn place(&self, position: usize) -> usize {
        let position = position.min(self.count() - 1);
        if self.even { position } else { self.order.place(position) }
    }
}

/// Fewer messages are faster in the comb.
const FEWEST: usize = 4;

/// Processes a part of each message with a chain. `aes` returns the cipher of a key. The column `states` has the
/// first states. It receives the last ones if the chain does not write; otherwise, its values are unspecified
/// afterwards.
pub(crate) fn chains<'a, M: Chain<1> + SlotChain>(
    batch: &mut Batch<'_, '_, 'a>,
    aes: impl for<'k> Fn(&'k Material) -> &'k KeySchedule,
    states: &mut Column,
    part: impl for<'m> Fn(&'m mut Message<'a>) -> Span<'m>,
) {
    if pay::<M>(batch, &part) {
        run::<M>(batch, aes, states, Ends::None, part);
    } else {
        comb::chains::<M, 1, 1, 0, 1>(batch, |key| ChainKey::under(aes(key)), [states], part);
    }
}

/// Returns whether slots are faster than the comb for a part of each message. Four lengths and two addresses are examined,
/// because more would take too long for short messages.
///
/// The thresholds are measured. The comb is faster where the end of a message costs more than its blocks: on narrow
/// registers, with round keys in lane order, and in chains that do not write and whose states must be stored.
#[inline(always)]
pub(crate) fn pay<'a, M: SlotChain>(
    batch: &mut Batch<'_, '_, 'a>,
    part: impl for<'m> Fn(&'m mut Message<'a>) -> Span<'m>,
) -> bool {
    const SAMPLE: usize = FEWEST;
    let count = batch.messages.len();
    if batch.schedule != Schedule::Auto || batch.backend.is_soft() || count < SAMPLE {
        return false;
    }
    if batch.backend.blocks() == 4 && share_key(batch.messages) {
        return true;
    }
    let (mut blocks, mut longest) = (0, 0);
    for i in 0..SAMPLE {
        let message_blocks = part(batch.messages[i * count / SAMPLE]).len().div_ceil(BLOCK);
        blocks += message_blocks;
        longest = longest.max(message_blocks);
    }
    if blocks * count / SAMPLE < longest + comb::min_blocks(batch.backend, longest) {
        return false;
    }
    // Whether lines share sets of the L1 data cache, so that some are evicted between the comb's accesses to their
    // blocks. Slots access a line only once.
    let [first, second] = [0, 1].map(|i| part(batch.messages[i]).address());
    let share_sets = first.wrapping_sub(second).is_multiple_of(2048);
    let few = count <= 16;
    let long = longest >= if M::WRITES { 32 } else { 128 };
    match batch.backend.blocks() {
        1 => few && long && share_key(batch.messages),
        2 => M::WRITES && share_sets || long && share_key(batch.messages),
        _ if few => M::WRITES,
        _ => share_sets,
    }
}

/// Processes a part of each message in slots; see [`chains`].
// Not inlined, so that the chain jobs occupy the stack only while they are needed.
#[inline(never)]
pub(crate) fn run<'a, M: SlotChain>(
    batch: &mut Batch<'_, '_, 'a>,
    aes: impl for<'k> Fn(&'k Material) -> &'k KeySchedule,
    states: &mut [Block],
    ends: Ends<'_>,
    part: impl for<'m> Fn(&'m mut Message<'a>) -> Span<'m>,
) {
    let common = Common::of(aes(batch.messages[0].key)).with_ends(ends);
    let jobs = &mut ChainJobs::empty(M::WRITES, common);
    for message in batch.messages.iter_mut() {
        jobs.keys.push(aes(message.key));
        jobs.texts.push(&part(message));
    }
    let shared = jobs.keys.iter().all(|key| core::ptr::eq(*key, jobs.keys[0]));
    let chain = PhantomData::<M>;
    if shared {
        batch.backend.run(InSlots::<M, true> { jobs, states, chain });
    } else {
        batch.backend.run(InSlots::<M, false> { jobs, states, chain });
    }
}

/// Processes the messages with a chain whose first state is the nonce, 16 bytes.
#[cfg(feature = "hazmat")]
pub(crate) fn from_nonces<M: Chain<1> + SlotChain>(batch: &mut Batch<'_, '_, '_>) {
    let mut states = Column::new();
    states.extend(batch.messages.iter().map(|message| first_state(message.nonce)));
    chains::<M>(batch, |key| &key.aes, &mut states, |message| message.data.reborrow());
}

/// Returns an IV as the first state.
#[cfg(feature = "hazmat")]
fn first_state(nonce: &[u8]) -> Block {
    *nonce.first_chunk().expect("an IV of 16 bytes")
}

impl Flights {
    /// Messages are processed in slots, with a chain whose first state is the nonce, 16 bytes.
    #[cfg(feature = "hazmat")]
    pub(crate) fn chained<M: SlotChain>() -> Self {
        Self { takes, run: run_columns::<M>, prepare: |_, _| {} }
    }
}

/// Returns whether slots take this number of messages under one key, whatever their lengths.
pub(crate) fn takes(backend: Backend, messages: usize) -> bool {
    messages >= FEWEST && backend.blocks() == 4 && !backend.is_soft()
}

/// Processes a flight under a key, like [`Flights::run`].
#[cfg(feature = "hazmat")]
fn run_columns<M: SlotChain>(
    backend: Backend,
    key: &Material,
    columns: &mut Columns<'_>,
    _: &mut Results<'_>,
) -> bool {
    let mut states = Column::new();
    states.extend(columns.nonces().map(first_state));
    run_texts::<M>(backend, Common::of(&key.aes), &mut states, |texts| columns.list_texts(texts));
    true
}

/// What all messages of a flight have, and the columns of what each has.
#[derive(Clone, Copy)]
pub(crate) struct Common<'k> {
    aes: &'k KeySchedule,
    ends: Ends<'k>,
    counters: Counters<'k>,
}

impl<'k> Common<'k> {
    /// Returns a chain without ends and counters.
    pub(crate) fn of(aes: &'k KeySchedule) -> Self {
        Self { aes, ends: Ends::None, counters: Counters { bases: &[], first: &[], key: None } }
    }

    pub(crate) fn with_ends(self, ends: Ends<'k>) -> Self {
        Self { ends, ..self }
    }

    pub(crate) fn with_counters(self, counters: Counters<'k>) -> Self {
        Self { counters, ..self }
    }
}

/// Processes the texts that `list` appends, under one key, like [`run`].
#[inline(always)]
pub(crate) fn run_texts<'s, M: SlotChain>(
    backend: Backend,
    common: Common<'s>,
    states: &mut [Block],
    list: impl FnOnce(&mut Texts<'s, TEXTS>),
) {
    let jobs = &mut ChainJobs::empty(M::WRITES, common);
    jobs.keys.push(common.aes);
    list(&mut jobs.texts);
    backend.run(InSlots::<M, true> { jobs, states, chain: PhantomData });
}

/// The kernel: chain jobs with one key, or one key each.
struct InSlots<'d, 's, M, const SHARED: bool> {
    jobs: &'d mut ChainJobs<'s>,
    states: &'d mut [Block],
    chain: PhantomData<M>,
}

impl<M: SlotChain, const SHARED: bool> Kernel for InSlots<'_, '_, M, SHARED> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        // `pay` selects the comb there.
        if const { B::SOFT || M::COUNTS && B::BLOCKS < 4 } {
            unreachable!("slots need AES instructions, and with counters registers of four blocks");
        }
        let Self { jobs, states, .. } = self;
        jobs.sort();
        let (key, registers) = (jobs.keys[0], jobs.count().div_ceil(B::BLOCKS));
        let is_wide = has_two_wide_aes_units();
        if const { M::COUNTS } {
            if registers <= 2 || !is_wide {
                Driver::<B, M, _, 2, 2, false>::new(b, jobs, states, OneKey::of(key)).run();
            } else {
                Driver::<B, M, _, 4, 4, true>::new(b, jobs, states, OneKey::of(key)).run();
            }
        } else if const { SHARED && B::BLOCKS == 4 } && (registers <= 4 || !is_wide) {
            Driver::<B, M, _, 4, 0, true>::new(b, jobs, states, OneKey::of(key)).run();
        } else if const { SHARED } {
            Driver::<B, M, _, 8, 0, false>::new(b, jobs, states, OneKey::of(key)).run();
        } else if const { B::BLOCKS == 4 } && (registers <= 4 || !is_wide) {
            Driver::<B, M, _, 4, 0, false>::new(b, jobs, states, SlotKeys::<16>::like(key)).run();
        } else if const { B::BLOCKS == 4 } {
            Driver::<B, M, _, 8, 0, false>::new(b, jobs, states, SlotKeys::<32>::like(key)).run();
        } else {
            Driver::<B, M, _, 8, 0, false>::new(b, jobs, states, SlotKeys::<16>::like(key)).run();
        }
    }
}
