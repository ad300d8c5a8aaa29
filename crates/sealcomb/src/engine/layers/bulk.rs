//! All blocks but the last of each message, through both layers.
//!
//! ```text
//! for each group of registers:
//!     first layer    group i
//!     mixing         group i - 1
//!     second layer   group i - 1 of a single message, i - 2 of messages abreast
//! ```
//!
//! The groups are independent of each other, except for the mixing. So their instructions fill the units together.

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::last::{Last, MOST_TAGS, or};
use super::mixing::{Abreast, Alone, Course, Mixing};
use super::{GROUP, Layers, doublings, layer};
use crate::backend::{BLOCK, Block, Isa, Span, Spans, Weave};
use crate::engine::order::Order;
use crate::engine::{Material, Message, Schedule, share_key};
use crate::primitives::block::add;
use crate::primitives::doublings::{Masks, Room};
use crate::primitives::rounds::{LayerCipher, run_both};

/// Passes all blocks but the last of each message through both layers. Four messages pass abreast if all have one
/// key, the schedule allows it, and it pays off.
#[inline(always)]
pub(super) fn before_last<M: Layers, B: Isa, const OPENS: bool>(
    b: B,
    schedule: Schedule,
    messages: &mut [&mut Message<'_>],
    rooms: &mut [Room; 2],
    lasts: &mut [Last],
) {
    // With one block per register, there are no lanes to gain.
    let may_go_abreast = B::BLOCKS > 1
        && M::GAP == 0
        && M::Mixing::ABREAST
        && !matches!(schedule, Schedule::Single | Schedule::Blocks)
        && share_key(messages);
    let mut groups = if may_go_abreast { messages.len() / GROUP } else { 0 };
    let mut order = Order::new();
    for (i, last) in lasts.iter().enumerate() {
        order.push(i, last.whole);
    }
    if groups > 0 {
        order.sort();
    }
    let mut places = order.places();
    while let Some(first) = places.next() {
        let last = &lasts[first];
        let mut masks = masks::<M>(messages[first].key, last.whole / BLOCK, last.tags, rooms);
        let mut done = 0;
        if groups > 0
            && let (Some(second), Some(third), Some(fourth)) = (places.next(), places.next(), places.next())
        {
            groups -= 1;
            let group = [first, second, third, fourth];
            (masks, done) = abreast::<M, B, OPENS>(b, messages, masks, lasts, group);
        }
        if done < lasts[first].whole {
            alone::<M, B, OPENS>(b, messages[first], masks, done, &mut lasts[first]);
        }
    }
}

/// Processes a group of messages abreast, of which the first is the longest. Stops at the end of the second longest
/// if the first exceeds it by more than a register. Returns the first message's masks, and how many of its bytes are
/// done.
#[inline(always)]
fn abreast<'k, 'a: 'k, M: Layers, B: Isa, const OPENS: bool>(
    b: B,
    messages: &mut [&mut Message<'a>],
    masks: [Masks<'k>; 2],
    lasts: &mut [Last],
    group: [usize; GROUP],
) -> ([Masks<'k>; 2], usize) {
    const ONCE: &str = "an order has each place once";
    let mut lasts = lasts.get_disjoint_mut(group).expect(ONCE);
    let [first, second, third, fourth] = messages.get_disjoint_mut(group).expect(ONCE);
    let (key, longest) = (first.key, lasts[0].whole);
    let register = BLOCK * B::BLOCKS;
    let others = lasts[1].whole.next_multiple_of(register);
    let to = if longest > others + register { others } else { longest };
    let states = lasts.each_ref().map(|last| last.w);
    let mut run = Run::<M, B, Abreast<B>, GROUP>::new(b, key, masks, &states);
    let data = [
        first.data.part(0, to),
        second.data.part(0, lasts[1].whole),
        third.data.part(0, lasts[2].whole),
        fourth.data.part(0, lasts[3].whole),
    ];
    run.blocks::<OPENS>(data, &mut lasts);
    (run.masks, to)
}

/// Processes a message without others, from byte `from` on.
#[inline(always)]
fn alone<M: Layers, B: Isa, const OPENS: bool>(
    b: B,
    message: &mut Message<'_>,
    masks: [Masks<'_>; 2],
    from: usize,
    last: &mut Last,
) {
    let mut run = Run::<M, B, Alone<B>, 1>::new(b, message.key, masks, &[last.w]);
    if M::GAP == 0 {
        let whole = last.whole;
        run.blocks::<OPENS>([message.data.part(from, whole)], &mut [last]);
    } else {
        run.stretches::<OPENS>(&mut message.data, last);
    }
}

/// Returns the masks of both layers for a number of blocks and of intermediate tags.
#[inline(always)]
fn masks<'k, M: Layers>(
    key: &'k Material,
    blocks: usize,
    tags: usize,
    rooms: &'k mut [Room; 2],
) -> [Masks<'k>; 2] {
    let [top, lower] = rooms;
    let bottom = if M::GAP > 0 { blocks + tags } else { 0 };
    [Masks::new(doublings(key), blocks, top), Masks::new(doublings(key), bottom, lower)]
}

/// `N` messages that pass through both layers together.
struct Run<'k, M, B, S, const N: usize> {
    b: B,
    key: &'k Material,
    /// The masks of the upper layer, and those of the lower layer. Without intermediate tags the blocks of both
    /// layers have equal numbers, and the first masks serve both.
    masks: [Masks<'k>; 2],
    course: S,
    mode: PhantomData<M>,
}

impl<'k, M: Layers, B: Isa, S: Course<B, N>, const N: usize> Run<'k, M, B, S, N> {
    /// Index of the lower layer's masks.
    const BOTTOM: usize = if M::GAP > 0 { 1 } else { 0 };
    /// Bytes of a register.
    const REGISTER: usize = BLOCK * B::BLOCKS;
    /// Bytes of each message in a group of registers.
    const STEP: usize = GROUP / N * Self::REGISTER;
    /// Bytes by which the second layer lags behind the first. A group is mixed in the step after its first layer. A
    /// single message enters the second layer in that same step. Messages abreast enter it in the next step, because
    /// there are enough registers for three groups.
    const LAG: usize = if N == 1 { Self::STEP } else { 2 * Self::STEP };

    /// Begins messages of one key, with `w` as the states of their mixings.
    #[inline(always)]
    fn new(b: B, key: &'k Material, masks: [Masks<'k>; 2], w: &[Block; N]) -> Self {
        Self { b, key, masks, course: S::new::<M::Mixing>(b, w), mode: PhantomData }
    }

    /// Passes whole blocks of each message through both layers. A group of registers is mixed while the next one
    /// passes the first layer, so that all units have work.
    #[inline(always)]
    fn blocks<const OPENS: bool>(&mut self, data: [Span<'_>; N], lasts: &mut [&mut Last; N]) {
        let b = self.b;
        let mut data = Spans::new(data);
        // A local copy stays in registers, because the compiler knows that no store changes it.
        let mut course = self.course;
        let mut sums = [b.zero(); N];
        let bytes = data.lens();
        let longest = bytes.iter().fold(0, |longest, &bytes| longest.max(bytes));
        let end = longest.next_multiple_of(Self::STEP);
        // Until a message ends, the instructions of the three groups are interleaved.
        let (mut x, mut x_masks) = ([b.zero(); GROUP], [b.zero(); GROUP]);
        let (mut y, mut y_masks) = (x, x_masks);
        for at in (0..end + Self::LAG).step_by(Self::STEP) {
            // Far from the ends of all messages, the three groups are processed with interleaved instructions.
            let all = N > 1 && at >= Self::LAG && at < end && data.hold(at - Self::STEP, Self::STEP + 1);
            if at > 0 && at <= end && !all {
                let at = at - Self::STEP;
                Self::mix::<OPENS>(b, &mut course, &mut x, data.hold(at, Self::STEP), longest - at);
                if !data.hold(at, Self::STEP + 1) {
                    for m in 0..N {
                        if let Some(blocks) = Self::end(bytes[m], at) {
                            lasts[m].w = course.after::<M::Mixing>(b, m, blocks - 1);
                        }
                    }
                }
            }
            if Self::LAG == Self::STEP {
                (y, y_masks) = (x, x_masks);
            }
            let (mut next, mut next_masks) = ([b.zero(); GROUP], [b.zero(); GROUP]);
            if at < end {
                next = data.load(b, at);
                if !OPENS {
                    Self::add_to(b, &mut sums, &next);
                }
                if !data.hold(at, Self::STEP + 1) {
                    for m in 0..N {
                        if let Some(blocks) = Self::end(bytes[m], at) {
                            lasts[m].set_masks::<M>(&self.masks[0], &self.masks[Self::BOTTOM], blocks);
                        }
                    }
                }
                next_masks = self.mask::<OPENS>(&mut next, longest - at);
            }
            if all {
                self.all_layers::<OPENS>(&mut next, &mut course, &mut x, &mut y);
            } else {
                if at < end {
                    self.first_layer::<OPENS>(&mut next);
                }
                if at >= Self::LAG {
                    self.second_layer::<OPENS>(&mut y);
                }
            }
            if at >= Self::LAG {
                let at = at - Self::LAG;
                for r in 0..GROUP {
                    y[r] = b.xor(y[r], y_masks[r]);
                }
                if OPENS {
                    let mut opened = y;
                    if !data.hold(at, Self::STEP) {
                        for r in 0..GROUP {
                            let bytes = bytes[r % N].saturating_sub(at + r / N * Self::REGISTER);
                            opened[r] = b.keep(y[r], bytes.min(Self::REGISTER));
                        }
                    }
                    Self::add_to(b, &mut sums, &opened);
                }
                data.store(b, at, &y);
            }
            if Self::LAG > Self::STEP {
                (y, y_masks) = (x, x_masks);
            }
            (x, x_masks) = (next, next_masks);
        }
        for m in 0..N {
            lasts[m].sum = add(lasts[m].sum, b.first(b.fold(sums[m])));
        }
    }

    /// Masks a group before the first layer. The longest message has `left` bytes left. Returns the masks to add
    /// after the second layer.
    #[inline(always)]
    fn mask<const OPENS: bool>(&mut self, x: &mut [B::V; GROUP], left: usize) -> [B::V; GROUP] {
        let b = self.b;
        let mut after = *x;
        let (top, bottom) = (self.masks[0].ahead(), self.masks[Self::BOTTOM].ahead());
        for r in 0..GROUP {
            let (top, bottom) = (top.register(b, r / N, M::TOP), bottom.register(b, r / N, M::BOTTOM));
            x[r] = b.xor(x[r], if OPENS { bottom } else { top });
            after[r] = if OPENS { top } else { bottom };
        }
        for masks in &mut self.masks[..=Self::BOTTOM] {
            masks.go(b, left.min(Self::STEP) / BLOCK);
        }
        after
    }

    /// Passes a group through the first layer.
    #[inline(always)]
    fn first_layer<const OPENS: bool>(&self, x: &mut [B::V; GROUP]) {
        if OPENS {
            M::LowerInverse::run(self.b, &self.key.aes, x);
        } else {
            M::Upper::run(self.b, &self.key.aes, x);
        }
    }

    /// Passes a group through the second layer.
    #[inline(always)]
    fn second_layer<const OPENS: bool>(&self, x: &mut [B::V; GROUP]) {
        if OPENS {
            M::UpperInverse::run(self.b, &self.key.aes, x);
        } else {
            M::Lower::run(self.b, &self.key.aes, x);
        }
    }

    /// Passes `next` through the first layer and `y` through the second, and mixes `x` meanwhile.
    #[inline(always)]
    fn all_layers<const OPENS: bool>(
        &self,
        next: &mut [B::V; GROUP],
        course: &mut S,
        x: &mut [B::V; GROUP],
        y: &mut [B::V; GROUP],
    ) {
        let (b, key) = (self.b, &self.key.aes);
        let mut mixing = Pieces::<B, S, M::Mixing, N, OPENS> { course, x, mixing: PhantomData };
        if OPENS {
            run_both::<M::LowerInverse, M::UpperInverse, B, _, GROUP>(b, key, next, y, &mut mixing);
        } else {
            run_both::<M::Upper, M::Lower, B, _, GROUP>(b, key, next, y, &mut mixing);
        }
    }

    /// Mixes a group. Either all its registers are full, or the longest message has `left` bytes in it.
    #[inline(always)]
    fn mix<const OPENS: bool>(b: B, course: &mut S, x: &mut [B::V; GROUP], full: bool, left: usize) {
        if full {
            for r in 0..GROUP {
                course.mix::<M::Mixing, OPENS>(b, x, r);
            }
        } else {
            for r in 0..GROUP {
                if r < N || r / N * Self::REGISTER < left {
                    course.mix::<M::Mixing, OPENS>(b, x, r);
                }
            }
        }
    }

    /// Adds a group to the messages' sums.
    #[inline(always)]
    fn add_to(b: B, sums: &mut [B::V; N], x: &[B::V; GROUP]) {
        for r in 0..GROUP {
            sums[r % N] = b.xor(sums[r % N], x[r]);
        }
    }

    /// Returns the number of blocks that a message has in the group that begins at byte `at`, if the message ends
    /// there.
    #[inline(always)]
    fn end(bytes: usize, at: usize) -> Option<usize> {
        (at < bytes && bytes - at <= Self::STEP).then(|| (bytes - at) / BLOCK)
    }
}

/// The mixing of a group, in pieces between the rounds of other groups.
struct Pieces<'x, B: Isa, S, X, const N: usize, const OPENS: bool> {
    course: &'x mut S,
    x: &'x mut [B::V; GROUP],
    mixing: PhantomData<X>,
}

impl<B: Isa, S: Course<B, N>, X: Mixing, const N: usize, const OPENS: bool> Weave<B>
    for Pieces<'_, B, S, X, N, OPENS>
{
    #[inline(always)]
    fn thread(&mut self, b: B, piece: usize) {
        if piece < GROUP {
            self.course.mix::<X, OPENS>(b, self.x, piece);
            self.x[piece] = b.pin(self.x[piece]);
        }
    }
}

impl<M: Layers, B: Isa> Run<'_, M, B, Alone<B>, 1> {
    /// Passes all blocks but the last of a message through both layers, in stretches between intermediate tags.
    #[inline(always)]
    fn stretches<const OPENS: bool>(&mut self, data: &mut Span<'_>, last: &mut Last) {
        let stretch = BLOCK * M::GAP;
        // The offsets of a stretch's plaintext and of its ciphertext.
        let plain = |i: usize| i * stretch;
        let cipher = |i: usize| i * (stretch + BLOCK);
        let (tags, whole) = (last.tags, last.whole);
        if !OPENS && tags > 0 {
            // Each stretch moves to the offset of its ciphertext. In place the two overlap, so the last stretch moves
            // first. There are at most 32 intermediate tags, and the last stretch has all remaining blocks.
            for i in (0..=tags).rev() {
                let end = if i < tags { plain(i + 1) } else { whole };
                data.copy(plain(i), end, cipher(i));
            }
        }
        let mut states = ArrayVec::<Block, MOST_TAGS>::new();
        let mut tag_blocks = ArrayVec::<Block, MOST_TAGS>::new();
        for i in 0..=tags {
            let bytes = if i < tags { stretch } else { whole - plain(i) };
            if bytes == 0 {
                break;
            }
            self.course = Alone::new::<M::Mixing>(self.b, &[last.w]);
            let received = if OPENS && i < tags { data.block(cipher(i) + bytes) } else { [0; BLOCK] };
            let part = if OPENS {
                data.part_at(cipher(i), cipher(i) + bytes, plain(i))
            } else if tags == 0 {
                data.part(0, whole)
            } else {
                data.written().first(cipher(i) + bytes).after(cipher(i))
            };
            self.blocks::<OPENS>([part], &mut [last]);
            if i < tags {
                states.push(last.w);
                tag_blocks.push(add(received, self.masks[1].block(1, u16::from(M::BOTTOM))));
                self.masks[1].go(self.b, 1);
            }
        }
        last.set_masks::<M>(&self.masks[0], &self.masks[1], 0);
        layer::<M::Lower, B>(self.b, self.key, &mut states);
        for (i, (state, tag)) in states.iter().zip(&tag_blocks).enumerate() {
            let tag = add(*state, *tag);
            if OPENS {
                last.difference = or(last.difference, tag);
            } else {
                data.set_block(cipher(i) + stretch, &tag);
            }
        }
    }
}
