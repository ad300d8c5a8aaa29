//! Groups: short messages under one key side by side, as many as a register has blocks.
//!
//! ```text
//! for R from 1 to the largest number of registers:
//!     while enough messages of R registers are left:
//!         process them together, each in R registers
//! process the other messages one at a time
//! ```
//!
//! All blocks of a group pass through the cipher together, and what occurs once per message, such as its tag, is done
//! for all messages in one register.

use core::marker::PhantomData;
use core::ptr;

use arrayvec::ArrayVec;

use super::message::{Batch, Message};
use crate::backend::{BLOCK, Backend, Isa, Kernel};

/// One direction of a mode that processes short messages in groups.
pub(crate) trait Grouped {
    /// From this number of messages on, it can be worthwhile to group them.
    const FEW: usize;
    /// Maximum number of registers of a message. There are no groups of messages that are faster one at a time.
    const MOST: usize;

    /// Returns whether a message can be part of a group, regardless of its length.
    fn fits(blocks: usize, message: &Message<'_>) -> bool;

    /// Processes the messages with the first `B::BLOCKS` indices of `group`. They have `R` registers each and share a
    /// key.
    fn crypt_group<B: Isa, const R: usize>(b: B, messages: &mut [&mut Message<'_>], group: [usize; 4]);

    /// Processes messages of any length and with any keys.
    fn crypt_each<B: Isa>(b: B, messages: &mut [&mut Message<'_>]);
}

/// Number of messages of a set: one bit of a `u64` each.
pub(crate) const SET: usize = u64::BITS as usize;

/// Number of messages that are examined first. If none of them can be part of a group, the others are not examined.
const SAMPLE: usize = 4;

/// From this number of messages on, enough of them have similar lengths if their lengths are mixed.
pub(super) const MIXED: usize = 48;

/// Processes a batch. In small ones and on registers of one block, there are no groups.
#[inline(always)]
pub(crate) fn run<G: Grouped>(batch: &mut Batch<'_, '_, '_>) {
    if batch.messages.len() < G::FEW || batch.backend.blocks() == 1 {
        batch.backend.run(Each::<G> { messages: batch.messages, mode: PhantomData });
    } else {
        run_sets::<G>(batch);
    }
}

#[inline(never)]
fn run_sets<G: Grouped>(batch: &mut Batch<'_, '_, '_>) {
    for messages in batch.messages.chunks_mut(SET) {
        if let Some(classes) = classes::<G>(batch.backend, messages) {
            batch.backend.run(Groups::<G> { messages, classes, mode: PhantomData });
        } else {
            batch.backend.run(Each::<G> { messages, mode: PhantomData });
        }
    }
}

/// Returns the number of registers of each message if it is worthwhile to group messages. All of them have one key. The
/// number is 0 for a message that cannot be part of a group.
#[inline(always)]
fn classes<G: Grouped>(backend: Backend, messages: &[&mut Message<'_>]) -> Option<[u8; SET]> {
    let (blocks, count) = (backend.blocks(), messages.len());
    let mut sample = (0..SAMPLE).map(|i| &messages[i * count / SAMPLE]);
    if count < G::FEW || sample.all(|message| registers::<G>(blocks, message) == 0) {
        return None;
    }
    let first = registers::<G>(blocks, messages[0]);
    let mut classes = [0; SET];
    for (class, message) in classes.iter_mut().zip(messages) {
        let registers = registers::<G>(blocks, message);
        if !ptr::eq(message.key, messages[0].key) || registers != first && count < MIXED {
            return None;
        }
        *class = registers as u8;
    }
    Some(classes)
}

/// Returns the number of registers of a message that can be part of a group; 0 for any other message.
#[inline(always)]
fn registers<G: Grouped>(blocks: usize, message: &Message<'_>) -> usize {
    let registers = message.data.len().div_ceil(BLOCK).next_multiple_of(blocks) >> blocks.trailing_zeros();
    if registers <= most::<G>(blocks) && G::fits(blocks, message) { registers } else { 0 }
}

/// Returns the maximum number of registers of a message that can be part of a group, whose blocks must fit into the
/// CPU's registers.
#[inline(always)]
const fn most<G: Grouped>(blocks: usize) -> usize {
    let most = if blocks == 4 { 5 } else { 6 };
    if G::MOST < most { G::MOST } else { most }
}

/// Messages under one key, of which those with equal numbers of registers are processed in groups.
struct Groups<'b, 'm, 'a, G> {
    messages: &'b mut [&'m mut Message<'a>],
    classes: [u8; SET],
    mode: PhantomData<G>,
}

impl<G: Grouped> Kernel for Groups<'_, '_, '_, G> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        let Self { messages, classes, .. } = self;
        assert!(B::BLOCKS > 1);
        let mut rest = u64::MAX >> (SET - messages.len());
        each_round!(1 2 3 4 5 6, R => {
            if const { R <= most::<G>(B::BLOCKS) } {
                crypt_class::<G, B, R>(b, messages, &classes, &mut rest);
            }
        });
        if rest != 0 {
            let mut others = ArrayVec::<&mut Message<'_>, SET>::new();
            for (i, message) in messages.iter_mut().enumerate() {
                if rest >> i & 1 == 1 {
                    others.push(message);
                }
            }
            b.call(Each::<G> { messages: &mut others, mode: PhantomData });
        }
    }
}

/// Processes groups of messages of `R` registers, and removes them from the set `rest`.
#[inline(always)]
fn crypt_class<G: Grouped, B: Isa, const R: usize>(
    b: B,
    messages: &mut [&mut Message<'_>],
    classes: &[u8; SET],
    rest: &mut u64,
) {
    let mut members = b.equal(classes, R as u8);
    loop {
        let (mut group, mut used) = ([0; 4], 0);
        for place in &mut group[..B::BLOCKS] {
            if members == 0 {
                return;
            }
            *place = members.trailing_zeros() as usize;
            used |= 1 << *place;
            members &= members - 1;
        }
        *rest &= !used;
        G::crypt_group::<B, R>(b, messages, group);
    }
}

/// Messages that are processed one after the other.
struct Each<'b, 'm, 'a, G> {
    messages: &'b mut [&'m mut Message<'a>],
    mode: PhantomData<G>,
}

impl<G: Grouped> Kernel for Each<'_, '_, '_, G> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        G::crypt_each(b, self.messages);
    }
}
