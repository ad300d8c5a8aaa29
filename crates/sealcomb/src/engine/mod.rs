//! How messages are laid into the lanes: the comb of the FSE 2015 paper, and what came after it.
#![forbid(unsafe_code)]

pub(crate) mod blocks;
mod cipher;
pub(crate) mod comb;
pub(crate) mod each;
mod lanes;
pub(crate) mod layers;
mod message;
mod order;

pub(crate) use cipher::BlockCipher;
pub(crate) use lanes::Lanes;
pub(crate) use message::{AssociatedData, Batch, Column, Material, Message, share_key};

/// Messages that are laid out together; longer batches go in parts of this size.
pub(crate) const FLIGHT: usize = 128;

/// How a batch is laid into the lanes. [`Schedule::Auto`] is what [`crate::seal_batch`] uses; the others are for
/// comparison and study. The result is the same under each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Schedule {
    /// What measures best for the mode and the batch.
    #[default]
    Auto,
    /// One message after the other.
    Single,
    /// The comb scheduler of Bogdanov, Lauridsen and Tischhauser (FSE 2015), algorithms 1 and 2, with this
    /// parallelism: groups of so many messages sorted by length, each processed in precomputed windows. Modes without a
    /// chain from block to block lay the blocks of one message side by side instead.
    Comb(usize),
    /// Lanes that take the next message as soon as theirs has ended, longest first; messages of very few blocks go one by
    /// one. Modes without a chain from block to block lay the blocks of one message side by side instead.
    Refill,
    /// Consecutive blocks of one message side by side. Modes with a chain from block to block go one by one.
    Blocks,
}
