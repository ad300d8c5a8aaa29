//! Lines of the messages of one group, without masks until a message ends.
//!
//! A lane whose message has ended, and a lane without one, follows the longest message: it reads that message's lines,
//! and its own output is overwritten by that message's.

use core::marker::PhantomData;

use super::lines::{LANES, Line, STEPS, Text, part};
use super::{BLOCK, Isa, LINE, Span};

/// Up to as many messages as a register has blocks, one per lane, and the position in them.
pub(crate) struct LaneLines<'a> {
    // The messages that the lanes read and write: their own, or the longest.
    texts: [Text; LANES],
    // Number of bytes of each lane's own message.
    own: [usize; LANES],
    // Whether the messages are written as well as read.
    writes: bool,
    // Number of bytes before the current line.
    at: usize,
    // Number of bytes in the lines before the next one in which a message ends; in whole lines if all messages have the
    // same length.
    whole: usize,
    // Number of bytes of the longest message.
    longest: usize,
    uniform: bool,
    memory: PhantomData<Span<'a>>,
}

impl<'a> LaneLines<'a> {
    /// Returns the lines of no message.
    #[inline(always)]
    pub(crate) const fn empty() -> Self {
        Self {
            texts: [Text::EMPTY; LANES],
            own: [0; LANES],
            writes: false,
            at: 0,
            whole: 0,
            longest: 0,
            uniform: true,
            memory: PhantomData,
        }
    }

    /// Begins messages, at most `B::BLOCKS`. `writes` is whether they are written as well as read. The longest of those
    /// must come first.
    #[inline(always)]
    pub(crate) fn begin<B: Isa>(&mut self, _: B, writes: bool, messages: impl Iterator<Item = Span<'a>>) {
        let (mut count, mut shortest, mut first) = (0, usize::MAX, 0);
        for span in messages {
            let text = Text::of(&span, writes);
            first = if count == 0 { text.len } else { first };
            assert!(!writes || text.len <= first);
            self.texts[count] = text;
            self.own[count] = text.len;
            shortest = shortest.min(text.len);
            self.longest = self.longest.max(text.len);
            count += 1;
        }
        self.writes = writes;
        self.uniform = shortest == self.longest;
        if self.uniform && count >= B::BLOCKS {
            self.whole = shortest / LINE * LINE;
        } else {
            self.own[count..].fill(if self.uniform { shortest } else { 0 });
            self.follow(count);
        }
    }

    /// Makes the lanes whose message has ended, and those from `count` on, follow the longest message. Determines where
    /// the next message ends.
    #[inline(always)]
    fn follow(&mut self, count: usize) {
        let longest = self.texts.iter().position(|text| text.len == self.longest).unwrap_or(0);
        let longest = self.texts[longest];
        let mut shortest = self.longest;
        for (lane, (text, &own)) in self.texts.iter_mut().zip(&self.own).enumerate() {
            if own <= self.at || lane >= count {
                *text = longest;
            }
            shortest = shortest.min(text.len);
        }
        let end = if self.uniform { shortest } else { shortest.saturating_sub(1) };
        self.whole = end / LINE * LINE;
    }

    /// Returns whether any message has bytes in the current line.
    #[inline(always)]
    pub(crate) fn is_live(&self) -> bool {
        self.at < self.longest
    }

    /// Returns whether all messages have the same length.
    #[inline(always)]
    pub(crate) fn is_uniform(&self) -> bool {
        self.uniform
    }

    /// Returns the number of lines before the one in which a message ends. If all messages have the same length, that
    /// is the number of whole lines.
    #[inline(always)]
    pub(crate) fn whole(&self) -> usize {
        self.whole.saturating_sub(self.at) / LINE
    }

    /// Returns the number of bytes of the longest message from the current line on.
    #[inline(always)]
    pub(crate) fn rest(&self) -> usize {
        self.longest - self.at
    }

    /// Returns the steps of the line `ahead` lines after the current one. It must be one of [`LaneLines::whole`].
    #[inline(always)]
    pub(crate) fn read<B: Isa>(&self, b: B, ahead: usize) -> Line<B> {
        let at = self.at + ahead * LINE;
        assert!(at < self.whole);
        let mut rows = [b.zero(); STEPS];
        each_register!(STEPS, 0 1 2 3, r => {
            let from = at + r / B::BLOCKS * (BLOCK * B::BLOCKS);
            // SAFETY: `at` and `whole` are multiples of `LINE`, and each lane's message has at least `whole` bytes.
            rows[r] = unsafe { b.load_from(self.texts[r % B::BLOCKS].src.wrapping_add(from)) };
        });
        b.transpose(rows)
    }

    /// Writes the output `steps` of the current line, which must be one of [`LaneLines::whole`].
    #[inline(always)]
    pub(crate) fn write<B: Isa>(&mut self, b: B, steps: &Line<B>) {
        assert!(self.at < self.whole && self.writes);
        let rows = b.transpose(*steps);
        // Lanes that follow another message are written first, so that it overwrites them.
        each_register!(STEPS, 0 1 2 3, i => {
            let r = STEPS - 1 - i;
            let to = self.at + r / B::BLOCKS * (BLOCK * B::BLOCKS);
            // SAFETY: as in `read`, and all messages are writable.
            unsafe { b.store_to(rows[r], self.texts[r % B::BLOCKS].dst.wrapping_add(to)) };
        });
    }

    /// Advances by one of [`LaneLines::whole`].
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        self.at += LINE;
    }

    /// Returns the steps of the current line, with zeros after the end of each message.
    #[inline(always)]
    pub(crate) fn read_last<B: Isa>(&self, b: B) -> Line<B> {
        let mut rows = [b.zero(); STEPS];
        for r in 0..STEPS {
            let Text { src, len, .. } = self.texts[r % B::BLOCKS];
            let (from, bytes) = part::<B>(self.at, len, r);
            // SAFETY: the message has so many bytes from there on.
            rows[r] = unsafe { b.load_part_from(src.wrapping_add(from), bytes) };
        }
        b.transpose(rows)
    }

    /// Returns masks for the steps of the current line: ones up to the end of each lane's own message, zeros after it.
    #[inline(always)]
    pub(crate) fn masks<B: Isa>(&self, b: B) -> Line<B> {
        let mut masks = [b.splat(&[0xff; BLOCK]); STEPS];
        for r in 0..STEPS {
            let (_, bytes) = part::<B>(self.at, self.own[r % B::BLOCKS], r);
            masks[r] = b.keep(masks[r], bytes);
        }
        b.transpose(masks)
    }

    /// Writes the output `steps` of the current line, up to the end of each message.
    #[inline(always)]
    pub(crate) fn write_last<B: Isa>(&mut self, b: B, steps: &Line<B>) {
        assert!(self.writes);
        let rows = b.transpose(*steps);
        // Lanes that follow another message are written first, so that it overwrites them.
        for r in (0..STEPS).rev() {
            let Text { dst, len, .. } = self.texts[r % B::BLOCKS];
            let (to, bytes) = part::<B>(self.at, len, r);
            // SAFETY: the message has so many writable bytes from there on.
            unsafe { b.store_part_to(rows[r], dst.wrapping_add(to), bytes) };
        }
    }

    /// Advances by a line in which messages end.
    #[inline(always)]
    pub(crate) fn advance_last(&mut self) {
        self.at += LINE;
        self.follow(LANES);
    }
}
