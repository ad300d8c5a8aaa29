//! The buffers of a contender, and how messages lie in them.

use std::fmt;

use clap::ValueEnum;
use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::StdRng;

/// Distance in bytes between messages of the layout `page`: twice the page size of most systems.
const PAGE: usize = 8192;

/// The positions of a batch's messages in memory.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layout {
    /// Each message starts where the previous one ends.
    Packed,
    /// Messages start at multiples of 8192 bytes, or of a larger power of two if they are longer.
    Page,
    /// Messages start 16 bytes farther apart than in the layout `page`.
    Offset,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Packed => "packed",
            Self::Page => "page",
            Self::Offset => "offset",
        })
    }
}

impl Layout {
    /// Returns the distance in bytes between the starts of messages of at most `max` bytes; `None` if packed.
    pub(crate) fn stride(self, max: usize) -> Option<usize> {
        let page = PAGE.max(max.next_power_of_two());
        match self {
            Self::Packed => None,
            Self::Page => Some(page),
            Self::Offset => Some(page + 16),
        }
    }
}

/// A nonce or a tag of up to 32 bytes, possibly empty.
#[derive(Clone, Copy)]
pub(crate) struct Short {
    pub(crate) bytes: [u8; 32],
    pub(crate) len: usize,
}

impl AsRef<[u8]> for Short {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl AsMut<[u8]> for Short {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}

/// A contender's buffers for one batch.
pub(crate) struct Buffers {
    memory: Vec<u8>,
    /// Position of the first message. Its address is a multiple of `PAGE`.
    start: usize,
    stride: Option<usize>,
    pub(crate) tags: Vec<Short>,
}

impl Buffers {
    /// Returns buffers with random data: `bytes` bytes, and a tag for each message of a batch.
    pub(crate) fn new(bytes: usize, stride: Option<usize>, tags: Vec<Short>) -> Self {
        let mut memory = vec![0; PAGE + bytes];
        StdRng::seed_from_u64(2).fill(&mut memory[..]);
        let start = memory.as_ptr().align_offset(PAGE);
        memory.truncate(start + bytes);
        Self { memory, start, stride, tags }
    }

    pub(crate) fn data(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..]
    }

    /// Returns a batch of messages with these lengths in bytes.
    pub(crate) fn messages<'b>(&'b mut self, nonces: &'b [Short], lengths: &'b [usize]) -> Messages<'b> {
        let data = &mut self.memory[self.start..];
        let data = Split { rest: data, lengths: lengths.iter(), stride: self.stride };
        Messages { nonces, data, tags: &mut self.tags }
    }

    /// Copies `packed`, contiguous messages of these lengths, into the messages.
    pub(crate) fn copy_from(&mut self, packed: &[u8], lengths: &[usize]) {
        if self.stride.is_none() {
            self.data()[..packed.len()].copy_from_slice(packed);
            return;
        }
        let mut rest = packed;
        for message in self.messages(&[], lengths).data {
            let (now, later) = rest.split_at(message.len());
            message.copy_from_slice(now);
            rest = later;
        }
    }
}

/// A batch in the buffers of a contender.
pub(crate) struct Messages<'b> {
    pub(crate) nonces: &'b [Short],
    /// The data of each message.
    pub(crate) data: Split<'b>,
    pub(crate) tags: &'b mut [Short],
}

impl<'b> Messages<'b> {
    /// Returns each message's nonce, data and tag.
    pub(crate) fn each(self) -> impl Iterator<Item = (&'b [u8], &'b mut [u8], &'b mut [u8])> {
        let messages = self.nonces.iter().zip(self.data).zip(self.tags);
        messages.map(|((nonce, data), tag)| (nonce.as_ref(), data, tag.as_mut()))
    }
}

/// Splits memory into messages.
pub(crate) struct Split<'b> {
    rest: &'b mut [u8],
    lengths: std::slice::Iter<'b, usize>,
    stride: Option<usize>,
}

impl<'b> Iterator for Split<'b> {
    type Item = &'b mut [u8];

    fn next(&mut self) -> Option<&'b mut [u8]> {
        let length = *self.lengths.next()?;
        let taken = self.rest.split_off_mut(..self.stride.unwrap_or(length));
        Some(&mut taken.expect("memory for all messages")[..length])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.lengths.size_hint()
    }
}
