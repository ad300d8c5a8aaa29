//! Short messages under one key, one per lane, for keys derived from it: groups of them, and their blocks in columns.
//!
//! ```text
//! count the lines of each message, and sort by them
//! for each group of as many messages as some registers have lanes:
//!     load the lines of the messages, and transpose them: one register per block
//! ```

use super::message::Message;
use crate::backend::{BLOCK, Isa, LINE, Span};
pub(crate) use crate::primitives::aes::COLUMNS;

/// Number of messages of a set: one bit of a `u64` each.
pub(crate) const SET: usize = u64::BITS as usize;

/// From this number of messages on, enough of them have similar lengths if their lengths are mixed.
const MIXED: usize = 48;

/// Maximum number of lines of a message in a group.
const LINES: usize = 8;

/// Messages by their numbers of lines.
pub(crate) struct Sorted {
    /// The number of lines of each message, and 0 for messages that cannot be part of a group.
    lines: [u8; SET],
    /// The set of these numbers.
    seen: u64,
    /// Whether any of these messages has additional data.
    aad: bool,
    /// Whether all of them have four blocks in their last line.
    whole: bool,
}

/// Finds the messages that can be part of a group: those with up to `most_aad` bytes of additional data, whose lines
/// are those of a string of `bytes` bytes. Returns `None` if groups do not pay off.
#[inline(always)]
pub(crate) fn classify(
    messages: &[&mut Message<'_>],
    few: usize,
    most_aad: usize,
    bytes: impl Fn(&Message<'_>) -> usize,
) -> Option<Sorted> {
    let mut lines = [0; SET];
    // Variables of their own stay in registers. `seen` is the set of the numbers of lines.
    let (mut seen, mut aad, mut missing) = (0u64, 0, 0);
    for (place, message) in lines.iter_mut().zip(messages) {
        let bytes = bytes(message);
        let lines = bytes.div_ceil(LINE);
        let lines = if message.aad.len() <= most_aad && lines <= LINES { lines } else { 0 };
        *place = lines as u8;
        seen |= 1 << lines;
        aad |= message.aad.len();
        missing |= (lines * LINE).wrapping_sub(bytes);
        if seen & (seen - 1) != 0 && messages.len() < MIXED {
            return None;
        }
    }
    // In a message of whole blocks or a partial last block, fewer than 16 bytes are missing in the last line.
    (messages.len() >= few && seen > 1).then_some(Sorted {
        lines,
        seen,
        aad: aad > 0,
        whole: missing < BLOCK,
    })
}

impl Sorted {
    /// Moves messages with fewer lines before those with more, and all others to the end. Returns the number of
    /// messages that can be part of a group.
    #[inline(always)]
    pub(crate) fn sort<B: Isa>(&mut self, b: B, messages: &mut [&mut Message<'_>]) -> usize {
        if self.seen.is_power_of_two() {
            return messages.len();
        }
        let mut next = 0;
        let mut seen = self.seen & !1;
        while seen != 0 {
            let mut members = b.equal(&self.lines, seen.trailing_zeros() as u8);
            while members != 0 {
                let i = members.trailing_zeros() as usize;
                members &= members - 1;
                messages.swap(i, next);
                self.lines.swap(i, next);
                next += 1;
            }
            seen &= seen - 1;
        }
        next
    }

    /// Returns the group of these messages, the first of which is at `at`.
    #[inline(always)]
    pub(crate) fn group<'g, 'm, 'a>(
        &self,
        at: usize,
        messages: &'g mut [&'m mut Message<'a>],
    ) -> Group<'g, 'm, 'a> {
        let (least, lines) = (self.lines[at], self.lines[at + messages.len() - 1]);
        Group {
            messages,
            lines: usize::from(lines),
            aad: self.aad,
            equal: least == lines,
            whole: least == lines && self.whole,
        }
    }
}

/// Some registers of messages, one per lane.
pub(crate) struct Group<'g, 'm, 'a> {
    pub(crate) messages: &'g mut [&'m mut Message<'a>],
    /// The number of lines of the longest message.
    pub(crate) lines: usize,
    /// Whether any message may have additional data.
    pub(crate) aad: bool,
    /// Whether all messages have this number of lines.
    pub(crate) equal: bool,
    /// Whether all messages have four blocks in the last line.
    pub(crate) whole: bool,
}

/// Returns a block of each message in lanes.
#[inline(always)]
pub(crate) fn lanes<B: Isa, const R: usize>(
    b: B,
    messages: &[&mut Message<'_>],
    block: impl Fn(&Message<'_>) -> B::V,
) -> [B::V; R] {
    let mut lanes = [b.zero(); R];
    each_register!(R, 0 1 2 3, q => {
        let mut rows = [b.zero(); 4];
        each_register!(4, 0 1 2 3, n => {
            if n < B::BLOCKS && let Some(message) = messages.get(q * B::BLOCKS + n) {
                rows[n] = block(message);
            }
        });
        [lanes[q], ..] = b.transpose(rows);
    });
    lanes
}

/// Returns four consecutive blocks of each message from byte `at` of a string on, zero-padded: one message per lane,
/// and one register per block.
#[inline(always)]
pub(crate) fn columns<B: Isa, const R: usize>(
    b: B,
    messages: &[&mut Message<'_>],
    at: usize,
    string: impl for<'s> Fn(&'s Message<'_>) -> Span<'s>,
) -> [[B::V; COLUMNS]; R] {
    let mut x = [[b.zero(); COLUMNS]; R];
    each_register!(R, 0 1 2 3, q => {
        let mut rows = [b.zero(); COLUMNS];
        each_register!(COLUMNS, 0 1 2 3, i => {
            if let Some(message) = messages.get(q * B::BLOCKS + i % B::BLOCKS) {
                let string = string(message);
                let at = at + i / B::BLOCKS * B::BLOCKS * BLOCK;
                rows[i] = string.load_part(b, at.min(string.len()));
            }
        });
        x[q] = b.transpose(rows);
    });
    x
}

/// Stores the tags of messages, which are in lanes.
#[inline(always)]
pub(crate) fn store_tags<B: Isa, const R: usize>(b: B, messages: &mut [&mut Message<'_>], tags: [B::V; R]) {
    each_register!(R, 0 1 2 3, q => {
        // A block that is loaded from a store of a whole register has to wait until that store is complete.
        let rows = b.transpose([tags[q], b.zero(), b.zero(), b.zero()]);
        each_register!(4, 0 1 2 3, n => {
            if n < B::BLOCKS && let Some(message) = messages.get_mut(q * B::BLOCKS + n) {
                message.tag = b.first(rows[n]);
            }
        });
    });
}

/// Adds columns of keystream to four blocks of each message from byte `at` on, up to its end. Returns columns of the
/// blocks read and of those written, zero-padded.
#[inline(always)]
pub(crate) fn xor_columns<B: Isa, const R: usize>(
    b: B,
    messages: &mut [&mut Message<'_>],
    at: usize,
    x: [[B::V; COLUMNS]; R],
) -> [[[B::V; COLUMNS]; R]; 2] {
    let (mut inputs, mut outputs) = (x, x);
    each_register!(R, 0 1 2 3, q => {
        let rows = b.transpose(x[q]);
        let (mut read, mut written) = ([b.zero(); COLUMNS], [b.zero(); COLUMNS]);
        each_register!(COLUMNS, 0 1 2 3, i => {
            if let Some(message) = messages.get_mut(q * B::BLOCKS + i % B::BLOCKS) {
                let at = at + i / B::BLOCKS * B::BLOCKS * BLOCK;
                if at < message.data.len() {
                    (read[i], written[i]) = message.data.xor_part(b, at, rows[i]);
                }
            }
        });
        (inputs[q], outputs[q]) = (b.transpose(read), b.transpose(written));
    });
    [inputs, outputs]
}

/// Returns the second halves of blocks, in both halves.
#[inline(always)]
pub(crate) fn bits_of_data<B: Isa, const R: usize>(b: B, lengths: [B::V; R]) -> [B::V; R] {
    let mut bits = lengths;
    each_register!(R, 0 1 2 3, q => {
        let low = b.high_to_low(lengths[q]);
        bits[q] = b.xor(low, b.low_to_high(low));
    });
    bits
}
