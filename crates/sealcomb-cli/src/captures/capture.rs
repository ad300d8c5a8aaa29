//! Captures: reading pcap and pcapng record by record.
//!
//! Of a record everything is kept that says how much of a frame there is. What packets do not need is passed over by
//! its length, whatever it holds.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use pcap_file::{DataLink, Endianness};

use super::pcapng::{self, Cursor, Section};

/// One packet as it was captured, with its link-layer header.
pub(crate) struct Record {
    /// Counted from 1, as capture viewers do.
    pub(crate) number: u64,
    /// Since 1970; 0 if it lies before that.
    pub(crate) time: Duration,
    /// Which of its section's interfaces it was captured on; 0 in a pcap file.
    pub(crate) interface: u32,
    /// What the frame begins with.
    pub(crate) link: DataLink,
    /// The captured bytes without frame check sequence, at most [`FRAME_BYTES`].
    pub(crate) frame: Vec<u8>,
    /// Bytes that the frame had when it was captured, without frame check sequence.
    pub(crate) original: usize,
    /// Bytes of the frame check sequence that the capture says comes behind each frame, and that is left off here.
    pub(crate) fcs: usize,
}

impl Record {
    /// A frame that is there whole, from no capture.
    pub(crate) fn whole(link: DataLink, frame: Vec<u8>) -> Self {
        let original = frame.len();
        Self { number: 1, time: Duration::ZERO, interface: 0, link, frame, original, fcs: 0 }
    }

    /// Whether the frame had more bytes than there are: the capture was made with a snap length.
    pub(crate) fn is_clipped(&self) -> bool {
        self.frame.len() < self.original
    }
}

/// What is kept of a frame: more than the longest IP packet, with the headers before it.
const FRAME_BYTES: usize = 1 << 17;
/// The longest record of a pcap file and the longest packet block of a pcapng file that is read: far above what
/// capture programs write. It bounds the memory that a wrong length can take. Blocks without packets may have any
/// length.
const RECORD_BYTES: u32 = 64 << 20;
/// The header of a pcap file, and of a packet in it.
const PCAP_HEADER_BYTES: usize = 24;
const PCAP_PACKET_HEADER_BYTES: usize = 16;

enum Format {
    Pcap(Pcap),
    PcapNg(Section),
}

/// What the header of a pcap file says of its packets.
struct Pcap {
    order: Endianness,
    nanoseconds: bool,
    link: DataLink,
    fcs: usize,
}

/// A capture that is being read.
pub(crate) struct Capture<R: Read> {
    source: BufReader<R>,
    format: Format,
    name: String,
    /// Packets read so far.
    records: u64,
    /// Bytes before the record or block that is read next.
    offset: u64,
    /// The record or block that is read, as far as it has come.
    bytes: Vec<u8>,
    end: Option<End>,
    /// Packets so far whose time lies before 1970.
    early: u64,
    /// The link types that whoever reads it can use.
    knows: fn(DataLink) -> bool,
}

/// How a capture has ended.
#[derive(Clone, Copy)]
enum End {
    Whole,
    Truncated,
}

/// That a capture ends within a packet, as it does when the program that wrote it was stopped.
pub(crate) struct Truncation {
    name: String,
    records: u64,
    offset: u64,
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, records, offset } = self;
        write!(
            f,
            "{name}: the file ends within what begins at byte {offset}, after packet {records}: it was cut off"
        )
    }
}

/// What a pcap file begins with: microseconds or nanoseconds.
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

impl<R: Read> Capture<R> {
    /// Reads the file header. `name` is what errors call the capture. A pcap file of a link type that is not one of
    /// those that it `knows` is an error; in a pcapng file each interface has its own, and records tell.
    pub(crate) fn new(name: &Path, source: R, knows: fn(DataLink) -> bool) -> Result<Self> {
        let name = name.display().to_string();
        let mut source = BufReader::new(source);
        let mut bytes = Vec::new();
        let (format, offset) =
            file_header(&mut source, &mut bytes).with_context(|| format!("{name}: file header"))?;
        Ok(Self { source, format, name, records: 0, offset, bytes, end: None, early: 0, knows })
    }

    /// Whether times are finer than the microseconds of a classic pcap file.
    pub(crate) fn has_nanoseconds(&self) -> bool {
        match &self.format {
            Format::Pcap(pcap) => pcap.nanoseconds,
            Format::PcapNg(_) => true,
        }
    }

    /// The next packet, `None` after the last whole one.
    pub(crate) fn next(&mut self) -> Result<Option<Record>> {
        if self.end.is_some() {
            return Ok(None);
        }
        let record = match self.format {
            Format::Pcap(_) => self.next_of_pcap(),
            Format::PcapNg(_) => self.next_of_pcapng(),
        };
        let place = || format!("{}: record {}, at byte {}", self.name, self.records + 1, self.offset);
        let record = record.with_context(place)?;
        self.records += u64::from(record.is_some());
        Ok(record)
    }

    /// Packets so far.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// After the last packet: whether the file ended within another one.
    pub(crate) fn truncation(&self) -> Option<Truncation> {
        let Self { ref name, records, offset, .. } = *self;
        matches!(self.end, Some(End::Truncated)).then(|| Truncation { name: name.clone(), records, offset })
    }

    /// Packets so far whose time lies before 1970.
    pub(crate) fn early(&self) -> u64 {
        self.early
    }

    /// Reads a header of `len` bytes, with which a record or block begins. `false` at the end of the file.
    fn begin(&mut self, len: usize) -> Result<bool> {
        self.bytes.clear();
        let is_whole = fill(&mut self.source, &mut self.bytes, len)?;
        if !is_whole {
            self.end = Some(if self.bytes.is_empty() { End::Whole } else { End::Truncated });
        }
        Ok(is_whole)
    }

    /// Reads on until there are `len` bytes. `false` if the file ends before.
    fn go_on(&mut self, len: usize) -> Result<bool> {
        let is_whole = fill(&mut self.source, &mut self.bytes, len)?;
        if !is_whole {
            self.end = Some(End::Truncated);
        }
        Ok(is_whole)
    }

    fn next_of_pcap(&mut self) -> Result<Option<Record>> {
        if !self.begin(PCAP_PACKET_HEADER_BYTES)? {
            return Ok(None);
        }
        let Format::Pcap(Pcap { order, nanoseconds, link, fcs }) = self.format else {
            unreachable!("of a pcap file")
        };
        let header: Vec<u32> = self.bytes.chunks_exact(4).map(|field| number(field, order)).collect();
        let [seconds, fraction, captured, original] = header[..] else { unreachable!("four fields") };
        check_length(captured)?;
        if !self.go_on(PCAP_PACKET_HEADER_BYTES + captured as usize)? {
            return Ok(None);
        }
        let nanoseconds = u64::from(fraction) * if nanoseconds { 1 } else { 1000 };
        if nanoseconds >= 1_000_000_000 {
            bail!("its time has a fraction of more than a second");
        }
        if captured > original {
            bail!("more bytes captured than the packet had");
        }
        if !(self.knows)(link) {
            bail!("link type {} is not supported", u32::from(link));
        }
        let time = Duration::from_secs(seconds.into()) + Duration::from_nanos(nanoseconds);
        let record = Record::new(
            self.records + 1,
            time,
            &pcapng::Packet {
                interface: 0,
                link,
                data: &self.bytes[PCAP_PACKET_HEADER_BYTES..],
                original: original as usize,
                fcs,
                time: None,
            },
        );
        self.offset += self.bytes.len() as u64;
        Ok(Some(record))
    }

    fn next_of_pcapng(&mut self) -> Result<Option<Record>> {
        while self.begin(pcapng::MIN_BYTES)? {
            let Format::PcapNg(section) = &self.format else { unreachable!("of a pcapng file") };
            let (kind, len) = pcapng::header(&self.bytes, section.order())?;
            let record = if pcapng::is_needed(kind) {
                check_length(len)?;
                if self.go_on(len as usize)? { self.block(kind)? } else { None }
            } else {
                self.pass_over(u64::from(len) - pcapng::MIN_BYTES as u64)?;
                None
            };
            if self.end.is_some() {
                break;
            }
            self.offset += u64::from(len);
            if record.is_some() {
                return Ok(record);
            }
        }
        Ok(None)
    }

    /// Passes over the next bytes, however many.
    fn pass_over(&mut self, len: u64) -> Result<()> {
        if io::copy(&mut self.source.by_ref().take(len), &mut io::sink())? < len {
            self.end = Some(End::Truncated);
        }
        Ok(())
    }

    /// Takes a block that is there whole. The packet, if it has one.
    fn block(&mut self, kind: u32) -> Result<Option<Record>> {
        let Format::PcapNg(section) = &mut self.format else { unreachable!("of a pcapng file") };
        let Some(packet) = section.take(kind, &self.bytes)? else { return Ok(None) };
        self.early += u64::from(packet.time.is_none());
        Ok(Some(Record::new(self.records + 1, packet.time.unwrap_or_default(), &packet)))
    }
}

impl Record {
    fn new(number: u64, time: Duration, packet: &pcapng::Packet<'_>) -> Self {
        let pcapng::Packet { interface, link, data, original, fcs, .. } = *packet;
        // Some programs write too few bytes, or 0, as the original length.
        let original = original.max(data.len()).saturating_sub(fcs);
        let frame = data[..data.len().min(original).min(FRAME_BYTES)].to_vec();
        Self { number, time, interface, link, frame, original, fcs }
    }
}

/// Reads until there are `len` bytes. `false` if the source ends before. No more memory is taken than there are bytes.
fn fill(source: &mut impl Read, bytes: &mut Vec<u8>, len: usize) -> io::Result<bool> {
    source.take((len - bytes.len()) as u64).read_to_end(bytes)?;
    Ok(bytes.len() == len)
}

/// The format, and how long the file header was.
fn file_header(source: &mut impl Read, bytes: &mut Vec<u8>) -> Result<(Format, u64)> {
    let ends = || anyhow!("the file ends within it: there is nothing to read");
    if !fill(source, bytes, 4)? {
        return Err(ends());
    }
    let order = [Endianness::Little, Endianness::Big]
        .into_iter()
        .find(|order| [MICROSECONDS, NANOSECONDS].contains(&number(bytes, *order)));
    let format = if pcapng::is_magic(bytes) {
        if !fill(source, bytes, pcapng::MIN_BYTES)? {
            return Err(ends());
        }
        let (_, len) = pcapng::header(bytes, Endianness::Little)?;
        check_length(len)?;
        if !fill(source, bytes, len as usize)? {
            return Err(ends());
        }
        Format::PcapNg(Section::new(bytes)?)
    } else if let Some(order) = order {
        if !fill(source, bytes, PCAP_HEADER_BYTES)? {
            return Err(ends());
        }
        Format::Pcap(pcap(bytes, order))
    } else {
        bail!("neither a pcap nor a pcapng file");
    };
    Ok((format, bytes.len() as u64))
}

/// What is needed of a pcap file's header: its last field has the link type in its lower half and, if a bit says so,
/// the length of the frame check sequence in its upper four bits, in units of 16 bits.
fn pcap(header: &[u8], order: Endianness) -> Pcap {
    const HAS_FCS: u32 = 1 << 26;
    let field = number(&header[20..24], order);
    Pcap {
        order,
        nanoseconds: number(header, order) == NANOSECONDS,
        link: link(field & 0xffff),
        fcs: if field & HAS_FCS == 0 { 0 } else { 2 * (field >> 28) as usize },
    }
}

/// A link type by its number. Two of them are raw IP on some systems, which put their own numbers into files.
pub(super) fn link(number: u32) -> DataLink {
    match number {
        12 | 14 => DataLink::RAW,
        number => DataLink::from(number),
    }
}

fn number(bytes: &[u8], order: Endianness) -> u32 {
    Cursor::new(bytes, order).u32().expect("a field of 4 bytes")
}

fn check_length(len: u32) -> Result<()> {
    if len > RECORD_BYTES {
        bail!("it says that it has {len} bytes, and up to {RECORD_BYTES} are read: is its length corrupt?");
    }
    Ok(())
}
