//! Short messages with derived keys, one per lane: the driver of modes that derive keys for each message, and their hash.
//!
//! ```text
//! for each group of as many messages as two registers have lanes:
//!     derive the keys of each message, and expand them
//!     encrypt or decrypt the messages, and hash their additional data, texts and lengths
//! ```

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::lane_groups::{COLUMNS, Group, SET, Sorted, bits_of_data, classify, columns, lanes};
use super::message::{Batch, Message, share_key};
use crate::backend::{Block, Isa, Kernel, LINE, Span};
use crate::primitives::block::bit_lengths;
use crate::primitives::derived::Derived;
use crate::primitives::polyval::LaneHash;

/// A mode with derived keys for each message, which processes short messages in groups of lanes.
pub(crate) trait DerivedLanes {
    /// Minimum number of messages for which a group takes less time than its messages one by one.
    const FEW: usize;
    /// Seals a group, or opens it. `derived` is memory for its keys.
    fn crypt_group<B: Isa, const OPENS: bool>(b: B, group: Group<'_, '_, '_>, derived: &mut Derived);
    /// Seals messages of any length, or opens them.
    fn crypt_each<B: Isa>(b: B, messages: &mut [&mut Message<'_>], opens: bool);
    /// Whether the mode has a function for single messages.
    const HAS_ONE: bool = false;
    /// Seals a single message, or opens it.
    #[inline(always)]
    fn crypt_one<B: Isa>(b: B, message: &mut Message<'_>, opens: bool) {
        Self::crypt_each(b, &mut [message], opens);
    }
}

/// Processes a batch. Groups pay off only on the widest registers.
pub(crate) fn run<G: DerivedLanes, const OPENS: bool>(batch: &mut Batch<'_, '_, '_>) {
    if G::HAS_ONE
        && let [message] = &mut *batch.messages
        && !batch.backend.is_soft()
    {
        return batch.backend.run(One::<G> { message, opens: OPENS, mode: PhantomData });
    }
    if batch.messages.len() < G::FEW || batch.backend.blocks() < 4 || !share_key(batch.messages) {
        return batch.backend.run(Each::<G> { messages: batch.messages, opens: OPENS, mode: PhantomData });
    }
    for messages in batch.messages.chunks_mut(SET) {
        if let Some(sorted) = classify(messages, G::FEW, LINE, |message| message.data.len()) {
            // Groups sort references of their own: the messages of a batch stay in order.
            let mut references = ArrayVec::<&mut Message<'_>, SET>::new();
            references.extend(messages.iter_mut().map(|message| &mut **message));
            batch.backend.run(Groups::<G, OPENS> { messages: &mut references, sorted, mode: PhantomData });
        } else {
            batch.backend.run(Each::<G> { messages, opens: OPENS, mode: PhantomData });
        }
    }
}

/// A single message.
struct One<'m, 'a, G> {
    message: &'m mut Message<'a>,
    opens: bool,
    mode: PhantomData<G>,
}

impl<G: DerivedLanes> Kernel for One<'_, '_, G> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        G::crypt_one(b, self.message, self.opens);
    }
}

/// Messages of any length. Both directions share the kernel, since it is long and they differ only in its order.
struct Each<'b, 'm, 'a, G> {
    messages: &'b mut [&'m mut Message<'a>],
    opens: bool,
    mode: PhantomData<G>,
}

impl<G: DerivedLanes> Kernel for Each<'_, '_, '_, G> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        G::crypt_each(b, self.messages, self.opens);
    }
}

/// Messages under one key, at most a set. The short ones are processed in groups, and then all others.
struct Groups<'b, 'm, 'a, G, const OPENS: bool> {
    messages: &'b mut [&'m mut Message<'a>],
    sorted: Sorted,
    mode: PhantomData<G>,
}

impl<G: DerivedLanes, const OPENS: bool> Kernel for Groups<'_, '_, '_, G, OPENS> {
    type Output = ();

    #[inline(always)]
    fn run<B: Isa>(self, b: B) {
        // Elsewhere, nothing of this is compiled.
        assert!(B::BLOCKS == 4);
        let Self { messages, mut sorted, .. } = self;
        let count = sorted.sort(b, messages);
        let size = 2 * B::BLOCKS;
        let odd = count % size;
        let (grouped, rest) = messages.split_at_mut(count - if odd < G::FEW { odd } else { 0 });
        if !grouped.is_empty() {
            let mut derived = Derived::empty();
            for (n, messages) in grouped.chunks_mut(size).enumerate() {
                G::crypt_group::<B, OPENS>(b, sorted.group(n * size, messages), &mut derived);
            }
        }
        if !rest.is_empty() {
            b.call(Each::<G> { messages: rest, opens: OPENS, mode: PhantomData });
        }
    }
}

/// Returns the hashes of a group's additional data, texts and lengths, with all strings padded with zeros: POLYVAL, or with
/// `GHASH` GHASH, byte-reversed. The texts are the outputs if `OUTPUTS`, otherwise the inputs.
#[inline(always)]
pub(crate) fn hash_lanes<B: Isa, const GHASH: bool, const OUTPUTS: bool>(
    b: B,
    group: &Group<'_, '_, '_>,
    derived: &Derived,
) -> [B::V; 2] {
    let lengths = lanes(b, group.messages, |message| {
        b.one(&bit_lengths(message.aad.len() as u64, message.data.len() as u64).to_le_bytes())
    });
    let mut hash = LaneHash::new(b, &derived.authentication);
    if group.aad {
        let x = columns(b, group.messages, 0, |message| Span::from(&*message.aad));
        let mut bits = lengths;
        for q in 0..2 {
            bits[q] = low_lanes(b, lengths[q], lengths[q]);
        }
        hash.absorb_some(b, &turned::<B, GHASH>(b, x), bits, 0);
    }
    let bits = bits_of_data(b, lengths);
    if group.equal && group.lines > 1 {
        hash.prepare(b);
    }
    for line in 0..group.lines {
        let x = columns(b, group.messages, line * LINE, |message| {
            if OUTPUTS { message.data.output() } else { message.data.input() }
        });
        let x = turned::<B, GHASH>(b, x);
        let last = line == group.lines - 1;
        if group.equal && !last {
            hash.absorb_four(b, &x);
        } else if group.whole {
            hash.absorb_all(b, &x);
        } else {
            hash.absorb_some(b, &x, bits, line * COLUMNS);
        }
    }
    let mut end = lengths;
    for q in 0..2 {
        // GHASH's lengths are byte-reversed big-endian numbers, in the opposite order.
        end[q] = if GHASH { b.swap(lengths[q]) } else { lengths[q] };
    }
    hash.finish(b, end)
}

/// Byte-reverses blocks for GHASH.
#[inline(always)]
fn turned<B: Isa, const GHASH: bool>(b: B, mut x: [[B::V; COLUMNS]; 2]) -> [[B::V; COLUMNS]; 2] {
    if GHASH {
        each_register!(2, 0 1, q => {
            each_register!(COLUMNS, 0 1 2 3, i => {
                x[q][i] = b.reverse(x[q][i]);
            });
        });
    }
    x
}

/// Returns the low halves of corresponding blocks as one block.
#[inline(always)]
pub(crate) fn low_lanes<B: Isa>(b: B, first: B::V, second: B::V) -> B::V {
    const LOW: Block = (u64::MAX as u128).to_le_bytes();
    b.xor(b.and(first, b.splat(&LOW)), b.low_to_high(second))
}
