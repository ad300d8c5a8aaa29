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

mod driver;
mod keys;
#[cfg(feature = "hazmat")]
mod short;

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::comb::{self, Chain, ChainKey};
#[cfg(feature = "hazmat")]
use super::lane_groups;
use super::message::{Batch, Column, Material, Message, share_key};
use super::order::Order;
use super::{FLIGHT, Schedule};
use crate::backend::{BLOCK, Block, Isa, Kernel, LANES, Span, Texts, has_two_wide_aes_units};
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

/// A chain that slots can process.
pub(crate) trait SlotChain: Chain<1> {
    const ADDED: Added;
}

/// Two blocks that a message adds to its last block.
pub(crate) type Ends<'a> = [&'a Block; 2];

/// Maximum number of messages: those of a flight, and empty ones that complete the last group.
const TEXTS: usize = FLIGHT + LANES;

/// The messages of a flight in a chain.
struct ChainJobs<'s> {
    order: Order,
    /// The messages, in order.
    texts: Texts<'s, TEXTS>,
    /// The key of each message, by place.
    keys: ArrayVec<&'s KeySchedule, FLIGHT>,
    /// The blocks that each message adds to its last block, by place; empty if there are none.
    ends: &'s [Ends<'s>],
}

/// Processes a part of each message with a chain. `aes` returns the cipher of a key. The column `states` has the
/// first states. It receives the last ones if the chain does not write; otherwise, its values are unspecified
/// afterwards.
pub(crate) fn chains<'a, M: SlotChain>(
    batch: &mut Batch<'_, '_, 'a>,
    aes: impl for<'k> Fn(&'k Material) -> &'k KeySchedule,
    states: &mut Column,
    part: impl for<'m> Fn(&'m mut Message<'a>) -> Span<'m>,
) {
    if pay::<M>(batch, false, &part) {
        run::<M>(batch, aes, states, &[], part);
    } else {
        comb::chains::<M, 1, 1, 0, 1>(batch, |key| ChainKey::under(aes(key)), [states], part);
    }
}

/// Returns whether slots are faster than the comb for a part of each message, whose last block adds others if
/// `has_ends`. Four lengths and two addresses are examined, because more would take too long for short messages.
///
/// The thresholds are measured. The comb is faster where the end of a message costs more than its blocks: on narrow
/// registers, with round keys in lane order, and in chains that do not write and whose states must be stored.
#[inline(always)]
pub(crate) fn pay<'a, M: SlotChain>(
    batch: &mut Batch<'_, '_, 'a>,
    has_ends: bool,
    part: impl for<'m> Fn(&'m mut Message<'a>) -> Span<'m>,
) -> bool {
    const SAMPLE: usize = 4;
    let count = batch.messages.len();
    if batch.schedule != Schedule::Auto || batch.backend.is_soft() || count < SAMPLE {
        return false;
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
        _ if few => M::WRITES || (has_ends || long) && share_key(batch.messages),
        _ => share_sets || M::WRITES && share_key(batch.messages),
    }
}

/// Processes a part of each message in slots; see [`chains`]. If `ends` is not empty, it has the blocks that each
/// message adds to its last block, zero-padded; an empty message then consists of one block.
// Not inlined, so that the chain jobs occupy the stack only while they are needed.
#[inline(never)]
pub(crate) fn run<'a, M: SlotChain>(
    batch: &mut Batch<'_, '_, 'a>,
    aes: impl for<'k> Fn(&'k Material) -> &'k KeySchedule,
    states: &mut [Block],
    ends: &[Ends<'_>],
    part: impl for<'m> Fn(&'m mut Message<'a>) -> Span<'m>,
) {
    let mut jobs =
        ChainJobs { order: Order::new(), texts: Texts::new(M::WRITES), keys: ArrayVec::new(), ends };
    let mut shared = true;
    for (i, message) in batch.messages.iter_mut().enumerate() {
        let (key, data) = (aes(message.key), part(message));
        if data.len() > 0 || !ends.is_empty() {
            jobs.order.push(i, data.len());
        }
        shared &= jobs.keys.first().is_none_or(|first| core::ptr::eq(*first, key));
        jobs.keys.push(key);
        jobs.texts.push(&data);
    }
    let jobs = &mut jobs;
    let chain = PhantomData::<M>;
    if shared {
        batch.backend.run(InSlots::<M, true> { jobs, states, chain });
    } else {
        batch.backend.run(InSlots::<M, false> { jobs, states, chain });
    }
}

/// Processes the messages with a chain whose first state is the nonce, 16 bytes.
#[cfg(feature = "hazmat")]
pub(crate) fn from_nonces<M: SlotChain>(batch: &mut Batch<'_, '_, '_>) {
    lane_groups::run::<short::FromNonces<M>>(batch);
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
        if const { B::SOFT } {
            unreachable!("slots need AES instructions");
        }
        let Self { jobs, states, .. } = self;
        if !jobs.order.is_sorted() || jobs.order.len() < jobs.keys.len() {
            jobs.order.sort();
            jobs.texts.arrange(jobs.order.places());
        }
        jobs.texts.fill_up(B::BLOCKS);
        let few = jobs.order.len() <= 4 * B::BLOCKS || !has_two_wide_aes_units();
        let key = jobs.keys[0];
        if const { SHARED && B::BLOCKS == 4 } && few {
            Driver::<B, M, _, 4>::new(b, jobs, states, OneKey::of(key)).run();
        } else if const { SHARED } {
            Driver::<B, M, _, 8>::new(b, jobs, states, OneKey::of(key)).run();
        } else if const { B::BLOCKS == 4 } && few {
            Driver::<B, M, _, 4>::new(b, jobs, states, SlotKeys::<16>::like(key)).run();
        } else if const { B::BLOCKS == 4 } {
            Driver::<B, M, _, 8>::new(b, jobs, states, SlotKeys::<32>::like(key)).run();
        } else {
            Driver::<B, M, _, 8>::new(b, jobs, states, SlotKeys::<16>::like(key)).run();
        }
    }
}
