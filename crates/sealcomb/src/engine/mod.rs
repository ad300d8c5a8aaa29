//! The engine: assigns messages, or the blocks of one message, to the lanes of registers.
//!
//! - `comb`: one message per lane, for chains of blocks: the comb of the FSE 2015 paper, and a schedule that refills
//!   lanes.
//! - `blocks`: consecutive blocks of one message per register.
//! - `derived_lanes`: short messages with derived keys, one per lane.
//! - `each`: operations that occur once per message.
//! - `flights`: how modes take the messages of a burst, and messages one by one.
//! - `frame`: counter mode with a polynomial hash.
//! - `lane_groups`: short messages with derived keys, one per lane.
//! - `layers`: two cipher layers with a mixing between them.
//! - `slots`: chains whose only step is the cipher, with counter mode next to them.
//! - `wide`: states of several blocks, of one message per lane.
//! - `xex`: the cipher under a mask per block.
#![forbid(unsafe_code)]

pub(crate) mod blocks;
mod cipher;
pub(crate) mod comb;
pub(crate) mod derived_lanes;
pub(crate) mod each;
pub(crate) mod flights;
pub(crate) mod frame;
pub(crate) mod lane_groups;
mod lanes;
pub(crate) mod layers;
mod message;
mod order;
pub(crate) mod slots;
pub(crate) mod wide;
pub(crate) mod xex;

pub(crate) use cipher::BlockCipher;
pub(crate) use lanes::Lanes;
pub(crate) use message::{AssociatedData, Batch, Column, Material, Message, share_key};

/// Maximum number of messages processed together. Longer batches are divided into flights of this size.
pub(crate) const FLIGHT: usize = 128;

/// How the messages of a batch are assigned to lanes. [`crate::seal_jobs`] uses [`Schedule::Auto`]. The others are
/// for comparison and study. All schedules return equal results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Schedule {
    /// The schedule that is fastest for the mode and the batch.
    #[default]
    Auto,
    /// One message at a time.
    Single,
    /// The comb scheduler of Bogdanov, Lauridsen and Tischhauser (FSE 2015, algorithms 1 and 2) with this
    /// parallelism: groups of this many messages, sorted by length, are processed in precomputed windows. Modes
    /// without a chain from block to block process consecutive blocks of one message in parallel instead.
    Comb(usize),
    /// A lane takes the next message, longest first, as soon as its message ends. Very short messages are processed
    /// one at a time. Modes without a chain from block to block process consecutive blocks of one message in parallel
    /// instead.
    Refill,
    /// Consecutive blocks of one message in parallel. Modes with a chain from block to block process one message at a
    /// time.
    Blocks,
}
