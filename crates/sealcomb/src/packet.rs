//! Packets: buffers with a header, a message and its tag.

use crate::catalog::TagPosition;
use crate::{Error, Key};

/// The header, the message and the tag of a packet.
type Parts<'p> = (&'p [u8], &'p mut [u8], &'p mut [u8]);

/// Where a packet has its additional data and its message, which is in the combined form of its algorithm.
///
/// ```
/// use sealcomb::PacketLayout;
///
/// // TLS, QUIC, MACsec: the header is authenticated; the message follows it.
/// let record = PacketLayout::header(5);
/// // ESP: SPI and sequence number are authenticated; an IV of 8 bytes, which is a part of the nonce, follows.
/// let esp = PacketLayout::header(8).gap(8);
/// // The additional data is not in the packet, as in ESP with extended sequence numbers.
/// let extended = PacketLayout::new().gap(16);
/// # let _ = (record, esp, extended);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketLayout {
    header: Option<usize>,
    gap: usize,
}

impl PacketLayout {
    /// Returns the layout of packets without a header: the message is at the beginning, and the additional data elsewhere.
    #[must_use]
    pub const fn new() -> Self {
        Self { header: None, gap: 0 }
    }

    /// Returns the layout of packets whose first `bytes` bytes are the additional data. The message follows.
    #[must_use]
    pub const fn header(bytes: usize) -> Self {
        Self { header: Some(bytes), gap: 0 }
    }

    /// Inserts `bytes` bytes before the message that are neither additional data nor encrypted, such as an IV.
    #[must_use]
    pub const fn gap(self, bytes: usize) -> Self {
        Self { gap: bytes, ..self }
    }

    /// Returns whether packets contain their additional data.
    pub(crate) fn has_header(self) -> bool {
        self.header.is_some()
    }

    /// Adds the tag, whose size and position are the key's.
    #[inline]
    pub(crate) fn with_tag(self, key: &Key) -> Whole {
        let (header, tag_bytes) = (self.header.unwrap_or(0), key.tag_bytes());
        let message_at = header.saturating_add(self.gap);
        let min = message_at.saturating_add(tag_bytes);
        let tag_first = key.algorithm().tag_position() == TagPosition::First;
        Whole { header, message_at, min, tag_bytes, tag_first }
    }
}

/// The layout of packets with their tags.
#[derive(Clone, Copy)]
pub(crate) struct Whole {
    /// Size of the header in bytes; 0 if there is none.
    header: usize,
    /// Where the combined form begins.
    message_at: usize,
    /// Size of a packet with an empty message in bytes.
    min: usize,
    tag_bytes: usize,
    tag_first: bool,
}

impl Whole {
    /// Splits a packet into its header, its message and its tag.
    #[inline(always)]
    pub(crate) fn parts(self, packet: &mut [u8]) -> Result<Parts<'_>, Error> {
        let got = packet.len();
        if got < self.min {
            return Err(Error::PacketTooShort { min: self.min, got });
        }
        let (before, combined) = packet.split_at_mut(self.message_at);
        let message_bytes = got - self.min;
        let (message, tag) = if self.tag_first {
            let (tag, message) = combined.split_at_mut(self.tag_bytes);
            (message, tag)
        } else {
            combined.split_at_mut(message_bytes)
        };
        Ok((&before[..self.header], message, tag))
    }
}
