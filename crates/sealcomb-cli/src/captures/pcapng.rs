//! Blocks of pcapng files (draft-ietf-opsawg-pcapng): packets and the parameters they depend on.
//!
//! Invalid options are ignored: neither their content nor a missing end mark makes a packet unreadable.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use pcap_file::pcapng::blocks::{
    ENHANCED_PACKET_BLOCK, INTERFACE_DESCRIPTION_BLOCK, PACKET_BLOCK, SECTION_HEADER_BLOCK,
    SIMPLE_PACKET_BLOCK,
};
use pcap_file::{DataLink, Endianness};

use super::capture::link;

/// Size of the smallest block: type, length, and the length again. A block's content is between the two lengths.
pub(super) const MIN_BYTES: usize = 12;
const HEADER_BYTES: usize = 8;
const TRAILER_BYTES: usize = 4;
/// The byte-order magic, the first field of a section header.
const MAGIC: u32 = 0x1a2b_3c4d;

/// Options of an interface description block.
const IF_TSRESOL: u16 = 9;
const IF_FCSLEN: u16 = 13;
const IF_TSOFFSET: u16 = 14;
/// Option of an enhanced and of an obsolete packet block.
const EPB_FLAGS: u16 = 2;

/// Returns whether a file begins with a section header block, as pcapng files do.
pub(super) fn is_magic(bytes: &[u8]) -> bool {
    bytes.starts_with(&SECTION_HEADER_BLOCK.to_be_bytes())
}

/// Returns whether blocks of this type contain packets or the parameters they depend on.
pub(super) fn is_needed(kind: u32) -> bool {
    [
        SECTION_HEADER_BLOCK,
        INTERFACE_DESCRIPTION_BLOCK,
        ENHANCED_PACKET_BLOCK,
        PACKET_BLOCK,
        SIMPLE_PACKET_BLOCK,
    ]
    .contains(&kind)
}

/// Parses the type and the length of a block from its first [`MIN_BYTES`]. `order` is the current section's byte
/// order. A section header has its own.
pub(super) fn header(bytes: &[u8], order: Endianness) -> Result<(u32, u32)> {
    let kind = Cursor::new(bytes, order).u32().context(REACHES_BEYOND)?;
    let order = if kind == SECTION_HEADER_BLOCK { order_of(bytes)? } else { order };
    let len = Cursor::new(&bytes[4..], order).u32().context(REACHES_BEYOND)?;
    if len < MIN_BYTES as u32 || !len.is_multiple_of(4) {
        bail!("corrupt: block of {len} bytes; expected a multiple of 4, at least {MIN_BYTES}");
    }
    Ok((kind, len))
}

const REACHES_BEYOND: &str = "corrupt: a field extends beyond the end of its block";

/// Returns a section's byte order, from its header.
fn order_of(block: &[u8]) -> Result<Endianness> {
    let is_magic =
        |order: &Endianness| Cursor::new(&block[HEADER_BYTES..], *order).u32().is_some_and(|m| m == MAGIC);
    let order = [Endianness::Little, Endianness::Big].into_iter().find(is_magic);
    order.context("corrupt: section header without byte-order magic")
}

/// A section: its byte order and its interfaces.
pub(super) struct Section {
    order: Endianness,
    interfaces: Vec<Interface>,
}

struct Interface {
    link: DataLink,
    /// Maximum number of captured bytes per packet. 0: no limit.
    snap_bytes: u32,
    fcs: usize,
    /// Resolution of timestamps. `None` if it exceeds 128 bits.
    units_per_second: Option<u128>,
    /// Offset of timestamps in seconds.
    offset: i64,
}

/// A packet of the file.
pub(super) struct Packet<'a> {
    pub(super) interface: u32,
    pub(super) link: DataLink,
    pub(super) data: &'a [u8],
    /// Size on the wire in bytes, frame check sequence included.
    pub(super) original: usize,
    /// Size of the frame check sequence at the end of `data`.
    pub(super) fcs: usize,
    /// Time since 1970; `None` for earlier times.
    pub(super) time: Option<Duration>,
}

impl Section {
    /// Parses a section header block.
    pub(super) fn new(block: &[u8]) -> Result<Self> {
        let order = order_of(block)?;
        content(block, order)?;
        Ok(Self { order, interfaces: Vec::new() })
    }

    pub(super) fn order(&self) -> Endianness {
        self.order
    }

    /// Processes a block for which [`is_needed`] holds, and returns its packet, if it contains one.
    pub(super) fn take<'a>(&mut self, kind: u32, block: &'a [u8]) -> Result<Option<Packet<'a>>> {
        if kind == SECTION_HEADER_BLOCK {
            // A new section has its own byte order and interfaces.
            *self = Self::new(block)?;
            return Ok(None);
        }
        let mut content = Cursor::new(content(block, self.order)?, self.order);
        let packet = match kind {
            INTERFACE_DESCRIPTION_BLOCK => {
                self.interfaces.push(interface(&mut content).context(REACHES_BEYOND)?);
                return Ok(None);
            }
            ENHANCED_PACKET_BLOCK => enhanced(&mut content),
            PACKET_BLOCK => obsolete(&mut content),
            _ => self.simple(&mut content),
        };
        let Raw { interface: id, units, captured, original } = packet.context(REACHES_BEYOND)?;
        let interface = usize::try_from(id).ok().and_then(|id| self.interfaces.get(id));
        let interface =
            interface.with_context(|| format!("corrupt: no description of its interface {id}"))?;
        let data = content.bytes(captured).context(REACHES_BEYOND)?;
        content.pad();
        let fcs = if kind == SIMPLE_PACKET_BLOCK { None } else { fcs_of_packet(content) };
        Ok(Some(Packet {
            interface: id,
            link: interface.link,
            data,
            original: original as usize,
            fcs: fcs.unwrap_or(interface.fcs),
            time: interface.time(units),
        }))
    }

    /// Parses the fields of a simple packet block, which has neither a time nor a captured length.
    fn simple(&self, content: &mut Cursor<'_>) -> Option<Raw> {
        let original = content.u32()?;
        let snap_bytes = self.interfaces.first().map_or(0, |interface| interface.snap_bytes);
        let limit = if snap_bytes == 0 { usize::MAX } else { snap_bytes as usize };
        let captured = (original as usize).min(limit).min(content.rest.len());
        Some(Raw { interface: 0, units: 0, captured, original })
    }
}

/// The fields that precede a packet's bytes.
struct Raw {
    interface: u32,
    units: u64,
    captured: usize,
    original: u32,
}

fn enhanced(content: &mut Cursor<'_>) -> Option<Raw> {
    let interface = content.u32()?;
    Some(Raw {
        interface,
        units: content.time()?,
        captured: content.u32()? as usize,
        original: content.u32()?,
    })
}

/// Parses the fields of an obsolete packet block. They include a drop count, which is ignored.
fn obsolete(content: &mut Cursor<'_>) -> Option<Raw> {
    let interface = content.u16()?.into();
    content.u16()?;
    Some(Raw {
        interface,
        units: content.time()?,
        captured: content.u32()? as usize,
        original: content.u32()?,
    })
}

fn interface(content: &mut Cursor<'_>) -> Option<Interface> {
    let link_type = content.u16()?;
    content.u16()?;
    let snap_bytes = content.u32()?;
    let mut interface = Interface {
        link: link(link_type.into()),
        snap_bytes,
        fcs: 0,
        units_per_second: Some(1_000_000),
        offset: 0,
    };
    let order = content.order;
    while let Some((code, value)) = content.option() {
        match (code, value) {
            (IF_TSRESOL, [exponent, ..]) => {
                let base: u128 = if exponent & 0x80 == 0 { 10 } else { 2 };
                interface.units_per_second = base.checked_pow(u32::from(exponent & 0x7f));
            }
            (IF_TSOFFSET, value) => {
                let seconds = Cursor::new(value, order).u64().map(u64::cast_signed);
                interface.offset = seconds.unwrap_or(interface.offset);
            }
            // The unit is bytes, but old drafts said bits. No link type has an FCS longer than 8 bytes.
            (IF_FCSLEN, [length, ..]) => {
                interface.fcs = usize::from(if *length > 8 { length / 8 } else { *length });
            }
            _ => {}
        }
    }
    Some(interface)
}

/// Returns the length of the frame check sequence from a packet's own options, if they contain it.
fn fcs_of_packet(mut options: Cursor<'_>) -> Option<usize> {
    let order = options.order;
    let options = std::iter::from_fn(|| options.option());
    let flags = options.filter(|(code, _)| *code == EPB_FLAGS);
    let lengths = flags.filter_map(|(_, value)| Some(Cursor::new(value, order).u32()? >> 5 & 0xf));
    lengths.filter(|bytes| *bytes > 0).last().map(|bytes| bytes as usize)
}

impl Interface {
    /// Converts a timestamp to a time since 1970, rounded down to nanoseconds. `None` for earlier times.
    fn time(&self, units: u64) -> Option<Duration> {
        let units = u128::from(units);
        // A timestamp has 64 bits. If the resolution exceeds 128 bits, any timestamp is less than a nanosecond.
        let (seconds, nanoseconds) = self.units_per_second.map_or((0, 0), |per_second| {
            (units / per_second, (units % per_second) * 1_000_000_000 / per_second)
        });
        let seconds = u128::checked_add_signed(seconds, self.offset.into())?;
        Some(Duration::new(u64::try_from(seconds).unwrap_or(u64::MAX), nanoseconds as u32))
    }
}

/// Returns a block's content, the bytes between its two lengths.
fn content(block: &[u8], order: Endianness) -> Result<&[u8]> {
    let (head, trailer) = block.split_at(block.len() - TRAILER_BYTES);
    if Cursor::new(trailer, order).u32() != Cursor::new(&head[4..], order).u32() {
        bail!("corrupt: the two lengths of the block differ");
    }
    Ok(&head[HEADER_BYTES..])
}

/// Reads consecutive fields in a given byte order.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    order: Endianness,
    /// Number of bytes read so far.
    taken: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], order: Endianness) -> Self {
        Self { rest: bytes, order, taken: 0 }
    }

    fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        self.taken += len;
        Some(bytes)
    }

    /// Skips the padding to a multiple of four bytes.
    fn pad(&mut self) {
        let padding = self.taken.next_multiple_of(4) - self.taken;
        self.bytes(padding.min(self.rest.len()));
    }

    /// Reads the bytes of a number, least significant first.
    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes: [u8; N] = self.bytes(N)?.try_into().ok()?;
        if self.order == Endianness::Big {
            bytes.reverse();
        }
        Some(bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.number()?))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.number()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.number()?))
    }

    /// Reads a timestamp. Its upper half comes first in either byte order.
    fn time(&mut self) -> Option<u64> {
        Some(u64::from(self.u32()?) << 32 | u64::from(self.u32()?))
    }

    /// Reads the code and the value of the next option. `None` at the end mark or an invalid option.
    fn option(&mut self) -> Option<(u16, &'a [u8])> {
        let (code, len) = (self.u16()?, self.u16()?);
        let value = self.bytes(len.into())?;
        self.pad();
        (code != 0).then_some((code, value))
    }
}
