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

use super::{BLOCK, Isa, LINE, Span};

/// Number of registers of a line.
pub(crate) const STEPS: usize = LINE / BLOCK;

/// Maximum number of lanes of a slot.
pub(crate) const LANES: usize = 4;

/// The distance of prefetched lines in bytes. There are more messages in flight than the CPU's prefetcher follows.
const AHEAD: usize = 2 * LINE;

/// The last blocks of messages in a line of their group.
pub(crate) enum LastBlocks {
    None,
    /// The last blocks of all messages, in this step.
    All(usize),
    /// The last blocks of some messages, or perhaps of none.
    Some,
}

/// One line of each message of a group, as rows or as steps.
pub(crate) type Line<B> = [<B as Isa>::V; STEPS];

/// A message's pointers and length.
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
    pub(super) len: usize,
}

impl Text {
    const EMPTY: Self = Self { src: core::ptr::null(), dst: core::ptr::null_mut(), len: 0 };
}

/// Up to `N` messages, by their places.
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

    /// Appends messages.
    #[inline(always)]
    pub(crate) fn extend(&mut self, spans: impl Iterator<Item = Span<'a>>) {
        let writes = self.writes;
        self.list.extend(spans.map(|span| {
            let len = span.len();
            assert!(len <= span.room() || !writes);
            let (src, dst) = span.pointers();
            Text { src, dst, len }
        }));
    }

    /// Appends messages.
    ///
    /// # Safety
    /// The messages must be readable and writable for `'a`, by nothing else.
    #[inline(always)]
    pub(super) unsafe fn extend_raw(&mut self, texts: impl Iterator<Item = Text>) {
        self.list.extend(texts);
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the length of each message.
    #[inline(always)]
    pub(crate) fn lens(&self) -> impl Iterator<Item = usize> {
        self.list.iter().map(|text| text.len)
    }
}

/// A group of messages, one per lane, and its position.
#[derive(Clone, Copy)]
struct Group {
    texts: [Text; LANES],
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

impl Group {
    const EMPTY: Self =
        Self { texts: [Text::EMPTY; LANES], at: 0, whole: 0, inner: 0, shortest: 0, longest: 0 };
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
        Self { texts, groups: [Group::EMPTY; S] }
    }

    /// Assigns the messages at some places to the lanes of a slot. Lanes with the same message must write the same. `ends`
    /// is the number of bytes at the end of each message from which on blocks differ: [`Lines::pass`] stops before them.
    #[inline(always)]
    pub(crate) fn begin<B: Isa>(&mut self, _: B, slot: usize, places: [usize; LANES], ends: usize) {
        let (mut shortest, mut longest) = (usize::MAX, 0);
        let group = &mut self.groups[slot];
        each_register!(LANES, 0 1 2 3, lane => {
            if lane < B::BLOCKS {
                let text = &self.texts.list[places[lane]];
                shortest = shortest.min(text.len);
                longest = longest.max(text.len);
                group.texts[lane] = *text;
            }
        });
        group.at = 0;
        group.whole = shortest / LINE * LINE;
        group.inner = shortest.saturating_sub(ends) / LINE * LINE;
        (group.shortest, group.longest) = (shortest, longest);
    }

    /// Advances a slot by one line if all messages have all of the current and the next line, and neither contains a
    /// last block that is processed differently. Writes the output `steps` of the current line, and returns the steps
    /// of the next one.
    #[inline(always)]
    pub(crate) fn pass<B: Isa>(&mut self, b: B, slot: usize, steps: &Line<B>) -> Option<Line<B>> {
        let group = &mut self.groups[slot];
        let (at, next) = (group.at, group.at + LINE);
        if next + LINE > group.inner {
            return None;
        }
        group.at = next;
        let group = &self.groups[slot];
        // The load comes first: the CPU would compare it with the stores, and lines a multiple of 4096 bytes apart
        // look equal to it. SAFETY: all messages have at least `inner` bytes, so they have two lines from `at` on.
        let rows = unsafe { group.load_whole(b, next) };
        for text in &group.texts[..B::BLOCKS] {
            b.prefetch(text.src.wrapping_add(next + AHEAD));
        }
        if self.texts.writes {
            // SAFETY: as above, and all messages are writable.
            unsafe { group.store_whole(b, at, &b.transpose(*steps)) };
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
        let group = &self.groups[slot];
        let mut masks = [b.splat(&[0xff; BLOCK]); STEPS];
        for r in 0..STEPS {
            let (_, bytes) = group.part::<B>(r);
            masks[r] = b.keep(masks[r], bytes);
        }
        masks
    }

    /// Returns the rows of a slot's current line, with zeros after the end of each message.
    #[inline(always)]
    pub(crate) fn rows<B: Isa>(&self, b: B, slot: usize) -> Line<B> {
        let group = &self.groups[slot];
        if group.at < group.whole {
            // SAFETY: `at` and `whole` are multiples of `LINE`, so all messages have a line from there on.
            return unsafe { group.load_whole(b, group.at) };
        }
        let mut rows = [b.zero(); STEPS];
        for r in 0..STEPS {
            let (from, bytes) = group.part::<B>(r);
            let src = group.texts[r % B::BLOCKS].src.wrapping_add(from);
            // SAFETY: the message has so many bytes from there on.
            rows[r] = unsafe { b.load_part_from(src, bytes) };
        }
        rows
    }

    /// Writes the output `steps` of a slot's current line, up to the end of each message.
    #[inline(always)]
    pub(crate) fn write<B: Isa>(&mut self, b: B, slot: usize, steps: &Line<B>) {
        assert!(self.texts.writes);
        let group = &self.groups[slot];
        let rows = b.transpose(*steps);
        if group.at < group.whole {
            // SAFETY: `at` and `whole` are multiples of `LINE`, so all messages have a writable line from there on.
            return unsafe { group.store_whole(b, group.at, &rows) };
        }
        for r in 0..STEPS {
            let (from, bytes) = group.part::<B>(r);
            let dst = group.texts[r % B::BLOCKS].dst.wrapping_add(from);
            // SAFETY: the message has so many writable bytes from there on.
            unsafe { b.store_part_to(rows[r], dst, bytes) };
        }
    }

    /// Returns which last blocks a slot's current line contains.
    #[inline(always)]
    pub(crate) fn last_blocks(&self, slot: usize) -> LastBlocks {
        let Group { at, shortest, longest, .. } = self.groups[slot];
        if shortest != longest {
            return LastBlocks::Some;
        }
        let step = longest.saturating_sub(1).wrapping_sub(at) / BLOCK;
        if step < STEPS { LastBlocks::All(step) } else { LastBlocks::None }
    }

    /// Returns, for each lane, the step of a slot's current line that contains the last block of the message, as
    /// [`Isa::numbers`]. Other lines have higher numbers. The last block of an empty message is its first if `ends`.
    #[inline(always)]
    pub(crate) fn last_steps<B: Isa>(&self, b: B, slot: usize, ends: bool) -> B::V {
        let Group { texts, at, .. } = &self.groups[slot];
        let mut steps = [0; LANES];
        each_register!(LANES, 0 1 2 3, lane => {
            let len = if ends { texts[lane].len.max(1) } else { texts[lane].len };
            steps[lane] = (len.wrapping_sub(at + 1) / BLOCK) as u64;
        });
        b.numbers(&steps)
    }

    /// Returns the number of bytes of the last block of a lane's message: 0 only if the message is empty.
    #[inline(always)]
    pub(crate) fn last_bytes(&self, slot: usize, lane: usize) -> usize {
        let len = self.groups[slot].texts[lane].len;
        len - len.saturating_sub(1) / BLOCK * BLOCK
    }
}

impl Group {
    /// # Safety
    /// There must be a message in each lane, with a whole line from byte `at` on.
    #[inline(always)]
    unsafe fn load_whole<B: Isa>(&self, b: B, at: usize) -> Line<B> {
        let mut rows = [b.zero(); STEPS];
        for r in 0..STEPS {
            let from = at + r / B::BLOCKS * (BLOCK * B::BLOCKS);
            let src = self.texts[r % B::BLOCKS].src;
            // SAFETY: the caller guarantees the message, and this register of the line.
            rows[r] = unsafe { b.load_from(src.wrapping_add(from)) };
        }
        rows
    }

    /// # Safety
    /// There must be a message in each lane, with a whole, writable line from byte `at` on.
    #[inline(always)]
    unsafe fn store_whole<B: Isa>(&self, b: B, at: usize, rows: &Line<B>) {
        for r in 0..STEPS {
            let from = at + r / B::BLOCKS * (BLOCK * B::BLOCKS);
            let dst = self.texts[r % B::BLOCKS].dst;
            // SAFETY: the caller guarantees the message, and this register of the line.
            unsafe { b.store_to(rows[r], dst.wrapping_add(from)) };
        }
    }

    /// Returns where register `r` of the current line begins in its message, and how many bytes of the register the
    /// message has.
    #[inline(always)]
    fn part<B: Isa>(&self, r: usize) -> (usize, usize) {
        let from = self.at + r / B::BLOCKS * (BLOCK * B::BLOCKS);
        (from, self.texts[r % B::BLOCKS].len.saturating_sub(from).min(BLOCK * B::BLOCKS))
    }
}
