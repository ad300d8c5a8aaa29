//! Lines: four blocks of each message of a group, read and written by whole registers and transposed into steps.
//!
//! ```text
//!            rows, as in memory                  steps, as in a chain
//! lane 1  |  A1 A2 A3 A4  |             step 1  |  A1 B1 C1 D1  |
//! lane 2  |  B1 B2 B3 B4  |      ↔      step 2  |  A2 B2 C2 D2  |
//! lane 3  |  C1 C2 C3 C4  |             step 3  |  A3 B3 C3 D3  |
//! lane 4  |  D1 D2 D3 D4  |             step 4  |  A4 B4 C4 D4  |
//! ```
//!
//! On registers of fewer blocks, a row takes several registers. The first registers of all rows come first.

use core::marker::PhantomData;

use arrayvec::ArrayVec;

use super::{BLOCK, Block, Isa, LINE, Span};

/// Number of registers of a line.
pub(crate) const STEPS: usize = LINE / BLOCK;

/// Maximum number of lanes of a slot.
pub(crate) const LANES: usize = 4;

/// The distance of prefetched lines in bytes. There are more messages in flight than the CPU's prefetcher follows.
const AHEAD: usize = 2 * LINE;

/// One line of each message of a group, as rows or as steps.
pub(crate) type Line<B> = [<B as Isa>::V; STEPS];

/// A message's pointers and length.
#[derive(Clone, Copy)]
struct Text {
    src: *const u8,
    dst: *mut u8,
    len: usize,
}

/// Up to `N` messages, in the order in which the slots process them.
pub(crate) struct Texts<'a, const N: usize> {
    list: ArrayVec<Text, N>,
    // Whether the messages are written as well as read.
    writes: bool,
    memory: PhantomData<Span<'a>>,
}

impl<'a, const N: usize> Texts<'a, N> {
    /// Creates an empty list. `writes` is whether the messages are written as well as read.
    #[inline(always)]
    pub(crate) fn new(writes: bool) -> Self {
        Self { list: ArrayVec::new(), writes, memory: PhantomData }
    }

    /// Appends a message.
    #[inline(always)]
    pub(crate) fn push(&mut self, span: &Span<'a>) {
        let len = span.len();
        assert!(len <= span.room() || !self.writes);
        let (src, dst) = span.pointers();
        self.list.push(Text { src, dst, len });
    }

    /// Appends empty messages until the number of messages is a multiple of `group`.
    #[inline(always)]
    pub(crate) fn fill_up(&mut self, group: usize) {
        while !self.list.len().is_multiple_of(group) {
            self.list.push(Text { src: core::ptr::null(), dst: core::ptr::null_mut(), len: 0 });
        }
    }

    /// Selects the messages at these places, in this order.
    #[inline(always)]
    pub(crate) fn arrange(&mut self, places: impl Iterator<Item = usize>) {
        let texts = self.list.clone();
        self.list.clear();
        for place in places {
            self.list.push(texts[place]);
        }
    }
}

/// A group of messages, one per lane, and its position.
#[derive(Clone, Copy)]
struct Group {
    // The number of the first message.
    first: usize,
    // Number of bytes before the current line.
    at: usize,
    // Number of bytes in the lines of which all messages have all bytes.
    whole: usize,
    // Number of bytes in the lines that are read and written whole and have no last block that differs.
    inner: usize,
    // Number of bytes of the shortest and of the longest message.
    shortest: usize,
    longest: usize,
}

/// `S` slots, each with a group of messages. The lengths of a group are compared once, when it begins. Each line that
/// all its messages have then needs one comparison.
pub(crate) struct Lines<'t, 'a, const N: usize, const S: usize> {
    texts: &'t Texts<'a, N>,
    groups: [Group; S],
}

impl<'t, 'a, const N: usize, const S: usize> Lines<'t, 'a, N, S> {
    /// Creates slots without messages.
    #[inline(always)]
    pub(crate) fn new(texts: &'t Texts<'a, N>) -> Self {
        Self { texts, groups: [Group { first: 0, at: 0, whole: 0, inner: 0, shortest: 0, longest: 0 }; S] }
    }

    /// Assigns the group that begins with message `first` to a slot. There must be a message for each lane. `ends` is
    /// whether the last block of each message is processed differently: [`Lines::pass`] stops before it.
    #[inline(always)]
    pub(crate) fn begin<B: Isa>(&mut self, _: B, slot: usize, first: usize, ends: bool) {
        let (mut shortest, mut longest) = (usize::MAX, 0);
        for text in &self.texts.list[first..first + B::BLOCKS] {
            shortest = shortest.min(text.len);
            longest = longest.max(text.len);
        }
        let inner = shortest.saturating_sub(usize::from(ends)) / LINE * LINE;
        self.groups[slot] = Group { first, at: 0, whole: shortest / LINE * LINE, inner, shortest, longest };
    }

    /// Advances a slot by one line if all messages have all of the current and the next line, and neither contains a
    /// last block that is processed differently. Writes the output `steps` of the current line, and returns the steps
    /// of the next one.
    #[inline(always)]
    pub(crate) fn pass<B: Isa>(&mut self, b: B, slot: usize, steps: &Line<B>) -> Option<Line<B>> {
        let Group { first, at, inner, .. } = self.groups[slot];
        let next = at + LINE;
        if next + LINE > inner {
            return None;
        }
        self.groups[slot].at = next;
        // The load comes first: the CPU would compare it with the stores, and lines a multiple of 4096 bytes apart
        // look equal to it. SAFETY: all messages have at least `inner` bytes, so they have two lines from `at` on.
        let rows = unsafe { self.load_whole(b, first, next) };
        if self.texts.writes {
            // SAFETY: as above, and all messages are writable.
            unsafe { self.store_whole(b, first, at, &b.transpose(*steps)) };
        }
        Some(b.transpose(rows))
    }

    /// Advances a slot by one line. Returns whether any message has bytes in it.
    #[inline(always)]
    pub(crate) fn advance(&mut self, slot: usize) -> bool {
        let group = &mut self.groups[slot];
        group.at += LINE;
        group.at < group.longest
    }

    /// Returns whether any message of a slot has bytes in the current line.
    #[inline(always)]
    pub(crate) fn is_live(&self, slot: usize) -> bool {
        let Group { at, longest, .. } = self.groups[slot];
        at < longest
    }

    /// Returns whether all messages of a slot have all bytes of the current line.
    #[inline(always)]
    pub(crate) fn is_whole(&self, slot: usize) -> bool {
        let Group { at, whole, .. } = self.groups[slot];
        at < whole
    }

    /// Returns masks for the rows of a slot's current line: ones up to the end of each message, zeros after it.
    #[inline(always)]
    pub(crate) fn masks<B: Isa>(&self, b: B, slot: usize) -> Line<B> {
        let Group { first, at, .. } = self.groups[slot];
        let mut masks = [b.splat(&[0xff; BLOCK]); STEPS];
        for r in 0..STEPS {
            let (_, bytes) = part::<B>(at, self.texts.list[first + r % B::BLOCKS].len, r);
            masks[r] = b.keep(masks[r], bytes);
        }
        masks
    }

    /// Returns the rows of a slot's current line, with zeros after the end of each message.
    #[inline(always)]
    pub(crate) fn rows<B: Isa>(&self, b: B, slot: usize) -> Line<B> {
        let Group { first, at, whole, .. } = self.groups[slot];
        if at < whole {
            // SAFETY: `at` and `whole` are multiples of `LINE`, so all messages have a line from there on.
            return unsafe { self.load_whole(b, first, at) };
        }
        let mut rows = [b.zero(); STEPS];
        for r in 0..STEPS {
            let Text { src, len, .. } = self.texts.list[first + r % B::BLOCKS];
            let (from, bytes) = part::<B>(at, len, r);
            // SAFETY: the message has so many bytes from there on.
            rows[r] = unsafe { b.load_part_from(src.wrapping_add(from), bytes) };
        }
        rows
    }

    /// Writes the output `steps` of a slot's current line, up to the end of each message.
    #[inline(always)]
    pub(crate) fn write<B: Isa>(&mut self, b: B, slot: usize, steps: &Line<B>) {
        assert!(self.texts.writes);
        let Group { first, at, whole, .. } = self.groups[slot];
        let rows = b.transpose(*steps);
        if at < whole {
            // SAFETY: `at` and `whole` are multiples of `LINE`, so all messages have a writable line from there on.
            return unsafe { self.store_whole(b, first, at, &rows) };
        }
        for r in 0..STEPS {
            let Text { dst, len, .. } = self.texts.list[first + r % B::BLOCKS];
            let (from, bytes) = part::<B>(at, len, r);
            // SAFETY: the message has so many writable bytes from there on.
            unsafe { b.store_part_to(rows[r], dst.wrapping_add(from), bytes) };
        }
    }

    /// Returns the step of a slot's current line that contains the last block of a lane's message, if the line
    /// contains it. The last block of an empty message is its first.
    #[inline(always)]
    pub(crate) fn last_step(&self, slot: usize, lane: usize) -> Option<usize> {
        let Group { first, at, .. } = self.groups[slot];
        let step = self.texts.list[first + lane].len.saturating_sub(1).wrapping_sub(at) / BLOCK;
        (step < STEPS).then_some(step)
    }

    /// Returns the step of a slot's current line that contains the last block of each message, if all messages have
    /// equal lengths and end in this line.
    #[inline(always)]
    pub(crate) fn common_last_step(&self, slot: usize) -> Option<usize> {
        let Group { shortest, longest, .. } = self.groups[slot];
        if shortest == longest { self.last_step(slot, 0) } else { None }
    }

    /// # Safety
    /// There must be a message `first`, and one after it for each lane, all with a whole line from byte `at` on.
    #[inline(always)]
    unsafe fn load_whole<B: Isa>(&self, b: B, first: usize, at: usize) -> Line<B> {
        let mut rows = [b.zero(); STEPS];
        for r in 0..STEPS {
            let from = at + r / B::BLOCKS * (BLOCK * B::BLOCKS);
            // SAFETY: the caller guarantees the message, and this register of the line.
            unsafe {
                let src = (*self.texts.list.as_ptr().add(first + r % B::BLOCKS)).src;
                if r < B::BLOCKS {
                    b.prefetch(src.wrapping_add(at + AHEAD));
                }
                rows[r] = b.load_from(src.wrapping_add(from));
            }
        }
        rows
    }

    /// # Safety
    /// There must be a message `first`, and one after it for each lane, all with a whole, writable line from byte
    /// `at` on.
    #[inline(always)]
    unsafe fn store_whole<B: Isa>(&self, b: B, first: usize, at: usize, rows: &Line<B>) {
        for r in 0..STEPS {
            let from = at + r / B::BLOCKS * (BLOCK * B::BLOCKS);
            // SAFETY: the caller guarantees the message, and this register of the line.
            unsafe {
                let dst = (*self.texts.list.as_ptr().add(first + r % B::BLOCKS)).dst;
                b.store_to(rows[r], dst.wrapping_add(from));
            }
        }
    }
}

/// Returns where register `r` of the line at byte `at` begins in its message of `len` bytes, and how many bytes of
/// the register the message has.
#[inline(always)]
fn part<B: Isa>(at: usize, len: usize, r: usize) -> (usize, usize) {
    let from = at + r / B::BLOCKS * (BLOCK * B::BLOCKS);
    (from, len.saturating_sub(from).min(BLOCK * B::BLOCKS))
}

/// Adds two blocks to step `step` of a lane, given the rows of a line.
#[inline(always)]
pub(crate) fn add_to_row<B: Isa>(b: B, rows: &mut Line<B>, lane: usize, step: usize, blocks: [&Block; 2]) {
    static ONE_OF_EIGHT: [Block; 2 * STEPS] = {
        let mut blocks = [[0; BLOCK]; 2 * STEPS];
        blocks[STEPS] = [0xff; BLOCK];
        blocks
    };
    let block = b.xor(b.splat(blocks[0]), b.splat(blocks[1]));
    for r in (lane..STEPS).step_by(B::BLOCKS) {
        let mask = b.load(&ONE_OF_EIGHT[STEPS - step + (r - lane)..]);
        rows[r] = b.xor(rows[r], b.and(block, mask));
    }
}
