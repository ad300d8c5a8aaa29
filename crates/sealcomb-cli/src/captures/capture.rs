//! Reads pcap and pcapng captures record by record.
//!
//! Blocks that contain neither packets nor their parameters are skipped by their length, whatever their content.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use pcap_file::{DataLink, Endianness};

use super::pcapng::{self, Cursor, Section};

/// A captured packet with its link-layer header.
pub(crate) struct Record {
    /// The packet's number in the capture, from 1, as in capture viewers.
    pub(crate) number: u64,
    /// Time since 1970; 0 for earlier times.
    pub(crate) time: Duration,
    /// Index of the interface in its section; 0 in a pcap file.
    pub(crate) interface: u32,
    /// The type of the link-layer header.
    pub(crate) link: DataLink,
    /// The captured bytes, at most [`MAX_FRAME_BYTES`], without the frame check sequence.
    pub(crate) frame: Vec<u8>,
    /// The frame's size on the wire in bytes, without the frame check sequence.
    pub(crate) original: usize,
    /// Size of the frame check sequence that the capture declares. It is removed from `frame`.
    pub(crate) fcs: usize,
}

impl Record {
    /// Returns a complete frame that comes from no capture.
    pub(crate) fn whole(link: DataLink, frame: Vec<u8>) -> Self {
        let original = frame.len();
        Self { number: 1, time: Duration::ZERO, interface: 0, link, frame, original, fcs: 0 }
    }

    /// Returns whether the capture contains only the start of the frame, because of a snap length.
    pub(crate) fn is_clipped(&self) -> bool {
        self.frame.len() < self.original
    }
}

/// Maximum size of [`Record::frame`]. Exceeds the largest IP packet with its link-layer headers.
const MAX_FRAME_BYTES: usize = 1 << 17;
/// Maximum size of a pcap record and of a pcapng packet block, far above what capture programs write. Bounds the
/// memory that a corrupt length can allocate. Blocks without packets can have any length.
const MAX_RECORD_BYTES: u32 = 64 << 20;
/// Size of a pcap file's header.
const PCAP_HEADER_BYTES: usize = 24;
/// Size of a packet's header in a pcap file.
const PCAP_PACKET_HEADER_BYTES: usize = 16;

enum Format {
    Pcap(Pcap),
    PcapNg(Section),
}

/// The fields of a pcap file's header that apply to its packets.
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
    /// Number of packets read so far.
    records: u64,
    /// File offset of the next record or block.
    offset: u64,
    /// The bytes of the current record or block that have been read.
    bytes: Vec<u8>,
    end: Option<End>,
    /// Number of packets so far with a time before 1970.
    early: u64,
    /// Whether the command supports a link type.
    is_supported: fn(DataLink) -> bool,
}

/// How a capture ends.
#[derive(Clone, Copy)]
enum End {
    Whole,
    Truncated,
}

/// A capture that ends within a record, as if its writer was killed.
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
            "{name}: the capture is truncated after packet {records}: the record at byte {offset} is incomplete"
        )
    }
}

/// Magic numbers of pcap files with microseconds and nanoseconds.
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

impl<R: Read> Capture<R> {
    /// Reads the file header. Errors use `name`. A pcap file has one link type; if `is_supported` rejects it, reading
    /// the first packet fails. A pcapng file has one link type per interface, and [`Record::link`] contains it.
    pub(crate) fn new(name: &Path, source: R, is_supported: fn(DataLink) -> bool) -> Result<Self> {
        let name = name.display().to_string();
        let mut source = BufReader::new(source);
        let mut bytes = Vec::new();
        let (format, offset) =
            file_header(&mut source, &mut bytes).with_context(|| format!("{name}: file header"))?;
        Ok(Self { source, format, name, records: 0, offset, bytes, end: None, early: 0, is_supported })
    }

    /// Returns whether times may be finer than microseconds.
    pub(crate) fn has_nanoseconds(&self) -> bool {
        match &self.format {
            Format::Pcap(pcap) => pcap.nanoseconds,
            Format::PcapNg(_) => true,
        }
    }

    /// Reads the next packet; `None` after the last complete one.
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

    /// Returns the number of packets read so far.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Returns where the capture is truncated; `None` if it ends after a complete record. Call it after the last
    /// packet.
    pub(crate) fn truncation(&self) -> Option<Truncation> {
        let Self { ref name, records, offset, .. } = *self;
        matches!(self.end, Some(End::Truncated)).then(|| Truncation { name: name.clone(), records, offset })
    }

    /// Returns the number of packets so far with a time before 1970.
    pub(crate) fn early(&self) -> u64 {
        self.early
    }

    /// Reads the first `len` bytes of a record or block. Returns `false` if the file ends before.
    fn begin(&mut self, len: usize) -> Result<bool> {
        self.bytes.clear();
        let is_whole = fill(&mut self.source, &mut self.bytes, len)?;
        if !is_whole {
            self.end = Some(if self.bytes.is_empty() { End::Whole } else { End::Truncated });
        }
        Ok(is_whole)
    }

    /// Reads the current record or block up to `len` bytes in total. Returns `false` if the file ends before.
    fn read_to(&mut self, len: usize) -> Result<bool> {
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
        if !self.read_to(PCAP_PACKET_HEADER_BYTES + captured as usize)? {
            return Ok(None);
        }
        let nanoseconds = u64::from(fraction) * if nanoseconds { 1 } else { 1000 };
        // Some writers, scapy among them, round a fraction up to a whole second without carrying it.
        if nanoseconds > 1_000_000_000 {
            bail!("corrupt: the fraction of its timestamp is more than a second");
        }
        if captured > original {
            bail!("corrupt: {captured} bytes captured of a packet of {original}");
        }
        if !(self.is_supported)(link) {
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
                if self.read_to(len as usize)? { self.block(kind)? } else { None }
            } else {
                self.skip(u64::from(len) - pcapng::MIN_BYTES as u64)?;
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

    /// Skips `len` bytes.
    fn skip(&mut self, len: u64) -> Result<()> {
        if io::copy(&mut self.source.by_ref().take(len), &mut io::sink())? < len {
            self.end = Some(End::Truncated);
        }
        Ok(())
    }

    /// Processes a complete block and returns its packet, if it contains one.
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
        // Some programs write 0 or a too small value as the original length.
        let original = original.max(data.len()).saturating_sub(fcs);
        let frame = data[..data.len().min(original).min(MAX_FRAME_BYTES)].to_vec();
        Self { number, time, interface, link, frame, original, fcs }
    }
}

/// Reads until `bytes` has `len` bytes. Returns `false` if the source ends before. Memory grows with the bytes that
/// are read, not with `len`.
fn fill(source: &mut impl Read, bytes: &mut Vec<u8>, len: usize) -> io::Result<bool> {
    source.take((len - bytes.len()) as u64).read_to_end(bytes)?;
    Ok(bytes.len() == len)
}

/// Reads the file header. Returns the format and the header's size in bytes.
fn file_header(source: &mut impl Read, bytes: &mut Vec<u8>) -> Result<(Format, u64)> {
    let ends = || anyhow!("incomplete, so the capture contains no packets");
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

/// Parses a pcap file's header. The lower half of its last field is the link type. If bit 26 is set, the upper four
/// bits are the length of the frame check sequence in units of 16 bits.
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

/// Returns the link type of a number. Some systems write their own numbers for raw IP, 12 and 14.
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
    if len > MAX_RECORD_BYTES {
        bail!("length of {len} bytes; at most {MAX_RECORD_BYTES} are supported; is the length corrupt?");
    }
    Ok(())
}
