//! Captures: reading pcap and pcapng record by record, writing one that appears under its name only when it is whole.

use std::fmt;
use std::fs::Permissions;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapParser, PcapWriter};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::{
    ENHANCED_PACKET_BLOCK, INTERFACE_DESCRIPTION_BLOCK, PACKET_BLOCK, SECTION_HEADER_BLOCK,
    SIMPLE_PACKET_BLOCK,
};
use pcap_file::pcapng::{Block, PcapNgParser, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use tempfile::NamedTempFile;

/// One packet as it was captured, with its link-layer header.
pub(crate) struct Record {
    /// Counted from 1, as capture viewers do.
    pub(crate) number: u64,
    /// Since 1970; 0 if it lies before that.
    pub(crate) time: Duration,
    /// What the frame begins with.
    pub(crate) link: DataLink,
    /// The captured bytes; fewer than the packet had if the capture was made with a snap length, and at most
    /// [`FRAME_BYTES`].
    pub(crate) frame: Vec<u8>,
}

/// What is kept of a frame: more than the longest IP packet, with the headers before it.
const FRAME_BYTES: usize = 1 << 17;
/// The longest record of a pcap file and the longest packet block of a pcapng file that is read: far above what capture
/// programs write. It bounds the memory that a wrong length can take. Blocks without packets may have any length.
const RECORD_BYTES: u32 = 64 << 20;
/// The header of a pcap file, and of a packet in it.
const PCAP_HEADER_BYTES: usize = 24;
const PCAP_PACKET_HEADER_BYTES: usize = 16;
/// The shortest block of a pcapng file: type, length, and the length again.
const BLOCK_BYTES: usize = 12;

enum Format {
    Pcap(PcapParser),
    PcapNg(PcapNgParser),
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

/// The first four bytes of a pcapng file: a section header block.
const PCAPNG: [u8; 4] = SECTION_HEADER_BLOCK.to_be_bytes();
/// What a pcap file begins with: microseconds or nanoseconds, in the byte order of the machine that wrote it.
const PCAP: [u32; 4] = [0xa1b2_c3d4, 0xd4c3_b2a1, 0xa1b2_3c4d, 0x4d3c_b2a1];

impl<R: Read> Capture<R> {
    /// Reads the file header. `name` is what errors call the capture. A packet of a link type that is not one of those that
    /// it `knows` is an error.
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
            Format::Pcap(parser) => parser.header().ts_resolution == TsResolution::NanoSecond,
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
        let Format::Pcap(parser) = &self.format else { unreachable!("of a pcap file") };
        let header = parser.header();
        let captured = number(&self.bytes[8..12], header.endianness);
        check_length(captured)?;
        if !self.go_on(PCAP_PACKET_HEADER_BYTES + captured as usize)? {
            return Ok(None);
        }
        let Format::Pcap(parser) = &self.format else { unreachable!("of a pcap file") };
        // Raw, because the checked form refuses packets that are longer than the snap length.
        let (_, packet) = parser.next_raw_packet(&self.bytes).map_err(|error| corrupt(&error))?;
        let nanoseconds = match header.ts_resolution {
            TsResolution::MicroSecond => u64::from(packet.ts_frac) * 1000,
            TsResolution::NanoSecond => u64::from(packet.ts_frac),
        };
        if nanoseconds >= 1_000_000_000 {
            bail!("its time has a fraction of more than a second");
        }
        if packet.incl_len > packet.orig_len {
            bail!("more bytes captured than the packet had");
        }
        let record = Record {
            number: self.records + 1,
            time: Duration::from_secs(packet.ts_sec.into()) + Duration::from_nanos(nanoseconds),
            link: supported(link_of_pcap(header.datalink), self.knows)?,
            frame: frame(&packet.data),
        };
        self.offset += self.bytes.len() as u64;
        Ok(Some(record))
    }

    fn next_of_pcapng(&mut self) -> Result<Option<Record>> {
        while self.begin(BLOCK_BYTES)? {
            let Format::PcapNg(parser) = &self.format else { unreachable!("of a pcapng file") };
            let (kind, len) = block_header(&self.bytes, parser.section().endianness)?;
            let is_used = [
                SECTION_HEADER_BLOCK,
                INTERFACE_DESCRIPTION_BLOCK,
                ENHANCED_PACKET_BLOCK,
                PACKET_BLOCK,
                SIMPLE_PACKET_BLOCK,
            ]
            .contains(&kind);
            let record = if is_used {
                check_length(len)?;
                if self.go_on(len as usize)? { self.block()? } else { None }
            } else {
                self.pass_over(u64::from(len) - BLOCK_BYTES as u64)?;
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
    fn block(&mut self) -> Result<Option<Record>> {
        let Format::PcapNg(parser) = &mut self.format else { unreachable!("of a pcapng file") };
        if self.bytes[..4] == PCAPNG {
            // A new section, which may have another byte order and has interfaces of its own.
            *parser = section(&self.bytes)?;
            return Ok(None);
        }
        // Which interface, its units since 1970, and the bytes.
        let (_, block) = parser.next_block(&self.bytes).map_err(|error| corrupt(&error))?;
        let (interface, units, original_len, data) = match &block {
            // The parser hands the file's units on as if they were nanoseconds.
            Block::EnhancedPacket(packet) => {
                (packet.interface_id, packet.timestamp.as_nanos(), packet.original_len, &packet.data)
            }
            Block::Packet(packet) => {
                (packet.interface_id.into(), packet.timestamp.into(), packet.original_len, &packet.data)
            }
            // Has no time, and comes with its padding.
            Block::SimplePacket(packet) => (0, 0, packet.original_len, &packet.data),
            _ => return Ok(None),
        };
        let frame = frame(&data[..data.len().min(original_len as usize)]);
        let interface = usize::try_from(interface).ok().and_then(|id| parser.interfaces().get(id));
        let interface = interface.context("its interface is not described")?;
        let time = time_of_pcapng(interface, units);
        self.early += u64::from(time.is_none());
        Ok(Some(Record {
            number: self.records + 1,
            time: time.unwrap_or_default(),
            link: supported(interface.linktype, self.knows)?,
            frame,
        }))
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
    let format = if bytes[..] == PCAPNG {
        if !fill(source, bytes, BLOCK_BYTES)? {
            return Err(ends());
        }
        let (_, len) = block_header(bytes, Endianness::Little)?;
        check_length(len)?;
        if !fill(source, bytes, len as usize)? {
            return Err(ends());
        }
        Format::PcapNg(section(bytes)?)
    } else if PCAP.contains(&number(bytes, Endianness::Little)) {
        if !fill(source, bytes, PCAP_HEADER_BYTES)? {
            return Err(ends());
        }
        Format::Pcap(PcapParser::new(bytes).map_err(|error| corrupt(&error))?.1)
    } else {
        bail!("neither a pcap nor a pcapng file");
    };
    Ok((format, bytes.len() as u64))
}

/// A parser for what follows a section header block.
fn section(block: &[u8]) -> Result<PcapNgParser> {
    Ok(PcapNgParser::new(block).map_err(|error| corrupt(&error))?.1)
}

/// The type and the length of a block. The byte order is the section's, which a section header says itself.
fn block_header(bytes: &[u8], endianness: Endianness) -> Result<(u32, u32)> {
    const MAGIC: u32 = 0x1a2b_3c4d;
    let kind = number(&bytes[..4], endianness);
    let endianness = match number(&bytes[8..12], Endianness::Little) {
        _ if kind != SECTION_HEADER_BLOCK => endianness,
        MAGIC => Endianness::Little,
        magic if magic == MAGIC.swap_bytes() => Endianness::Big,
        _ => bail!("corrupt: a section header without its magic number"),
    };
    let len = number(&bytes[4..8], endianness);
    if len < BLOCK_BYTES as u32 || !len.is_multiple_of(4) {
        bail!("corrupt: a block cannot have {len} bytes");
    }
    Ok((kind, len))
}

fn number(bytes: &[u8], endianness: Endianness) -> u32 {
    let bytes = *bytes.first_chunk().expect("a field of 4 bytes");
    if endianness == Endianness::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
}

fn check_length(len: u32) -> Result<()> {
    if len > RECORD_BYTES {
        bail!("it says that it has {len} bytes, and up to {RECORD_BYTES} are read: is its length corrupt?");
    }
    Ok(())
}

/// What is kept of a frame.
fn frame(bytes: &[u8]) -> Vec<u8> {
    bytes[..bytes.len().min(FRAME_BYTES)].to_vec()
}

/// The link type: the upper bits of the header's field tell of a frame check sequence, which lies behind the packet.
fn link_of_pcap(field: DataLink) -> DataLink {
    DataLink::from(u32::from(field) & 0xffff)
}

fn supported(link: DataLink, knows: fn(DataLink) -> bool) -> Result<DataLink> {
    if knows(link) { Ok(link) } else { bail!("link type {} is not supported", u32::from(link)) }
}

/// A packet's time, to the nanosecond. `None`: it lies before 1970.
fn time_of_pcapng(interface: &InterfaceDescriptionBlock<'_>, units: u128) -> Option<Duration> {
    let mut per_second: Option<u128> = Some(1_000_000);
    let mut offset = 0;
    for option in &interface.options {
        match *option {
            InterfaceDescriptionOption::IfTsResol(exponent) => {
                let base: u128 = if exponent & 0x80 == 0 { 10 } else { 2 };
                per_second = base.checked_pow(u32::from(exponent & 0x7f));
            }
            InterfaceDescriptionOption::IfTsOffset(seconds) => offset = seconds.cast_signed(),
            _ => {}
        }
    }
    // A packet has 64 bits of units: if they are too small for this type, all of them are less than a nanosecond.
    let (seconds, nanoseconds) = per_second
        .map_or((0, 0), |per_second| (units / per_second, (units % per_second) * 1_000_000_000 / per_second));
    let seconds = u128::checked_add_signed(seconds, offset.into())?;
    Some(Duration::new(u64::try_from(seconds).unwrap_or(u64::MAX), nanoseconds as u32))
}

fn corrupt(error: &PcapError) -> anyhow::Error {
    match error {
        PcapError::IncompleteBuffer => anyhow!("corrupt: a field reaches beyond its block"),
        PcapError::InvalidField(what) => anyhow!("corrupt: {what}"),
        other => anyhow!("corrupt: {other}"),
    }
}

/// Who may read a capture that is written.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Readers {
    /// Those that the user's umask lets.
    Any,
    /// Its owner alone.
    Owner,
}

/// A capture of packets of one link type, being written beside its final name.
pub(crate) struct Writer {
    target: Target,
    path: PathBuf,
    /// Packets so far whose time the format cannot hold.
    late: u64,
}

type Buffer = BufWriter<NamedTempFile>;

enum Target {
    Pcap(PcapWriter<Buffer>),
    PcapNg(PcapNgWriter<Buffer>),
}

impl Target {
    fn new(buffer: Buffer, is_pcapng: bool, nanoseconds: bool, link: DataLink) -> Result<Self, PcapError> {
        if !is_pcapng {
            let header = PcapHeader {
                snaplen: SNAP_BYTES,
                datalink: link,
                ts_resolution: if nanoseconds { TsResolution::NanoSecond } else { TsResolution::MicroSecond },
                endianness: Endianness::Little,
                ..PcapHeader::default()
            };
            return PcapWriter::with_header(buffer, header).map(Self::Pcap);
        }
        let mut writer = PcapNgWriter::with_endianness(buffer, Endianness::Little)?;
        writer.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: link,
            snaplen: SNAP_BYTES,
            options: vec![InterfaceDescriptionOption::IfTsResol(9)], // 10^-9 s
        })?;
        Ok(Self::PcapNg(writer))
    }

    /// The last time that it can hold: in the year 2106, or in 2554.
    fn last_time(&self) -> Duration {
        match self {
            Self::Pcap(_) => Duration::new(u32::MAX.into(), 999_999_999),
            Self::PcapNg(_) => Duration::from_nanos(u64::MAX),
        }
    }

    fn write(&mut self, time: Duration, packet: &[u8]) -> Result<(), PcapError> {
        let original_len = packet.len() as u32;
        match self {
            Self::Pcap(pcap) => pcap.write_packet(&PcapPacket::new(time, original_len, packet))?,
            Self::PcapNg(pcapng) => pcapng.write_pcapng_block(EnhancedPacketBlock {
                interface_id: 0,
                timestamp: time,
                original_len,
                data: packet.into(),
                options: vec![],
            })?,
        };
        Ok(())
    }

    fn into_buffer(self) -> Buffer {
        match self {
            Self::Pcap(pcap) => pcap.into_writer(),
            Self::PcapNg(pcapng) => pcapng.into_inner(),
        }
    }
}

/// What viewers are told that packets have at most.
const SNAP_BYTES: u32 = 262_144;

/// What a file made by `File::create` would get, before the umask. A temporary file is its owner's alone.
#[cfg(unix)]
fn any_readers() -> Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

impl Writer {
    /// Opens a temporary file in the directory of `path`. The format is pcapng if the name ends in `.pcapng`, and pcap
    /// otherwise.
    pub(crate) fn create(path: &Path, link: DataLink, nanoseconds: bool, readers: Readers) -> Result<Self> {
        let name = || path.display().to_string();
        let is_pcapng = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pcapng"));
        // Behind a symbolic link the file that it leads to is replaced, not the link.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.exists() && !path.is_file() {
            bail!("{}: not a regular file", name());
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if !directory.is_dir() {
            bail!("{}: there is no such folder", name());
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".sealcomb-");
        #[cfg(unix)]
        if readers == Readers::Any {
            builder.permissions(any_readers());
        }
        let file = builder.tempfile_in(directory).map_err(|error| unwritable(&error)).with_context(name)?;
        let target = Target::new(BufWriter::new(file), is_pcapng, nanoseconds, link);
        let target = target.map_err(|error| not_written(&error)).with_context(name)?;
        Ok(Self { target, path: path.clone(), late: 0 })
    }

    /// Appends one packet. A time that is too late for the format becomes the last one that it can hold.
    pub(crate) fn write(&mut self, time: Duration, packet: &[u8]) -> Result<()> {
        let last = self.target.last_time();
        self.late += u64::from(time > last);
        self.target
            .write(time.min(last), packet)
            .map_err(|error| not_written(&error))
            .with_context(|| self.path.display().to_string())
    }

    /// Packets so far whose time the format cannot hold.
    pub(crate) fn late(&self) -> u64 {
        self.late
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> Result<()> {
        let Self { target, path, .. } = self;
        let name = || path.display().to_string();
        let mut buffer = target.into_buffer();
        buffer.flush().map_err(|error| unwritable(&error)).with_context(name)?;
        let file = buffer.into_inner().map_err(|error| unwritable(error.error())).with_context(name)?;
        file.persist(&path).map_err(|error| unwritable(&error.error)).with_context(name)?;
        Ok(())
    }
}

/// The kind alone: the whole error tells the name of the temporary file, which would mislead.
fn unwritable(error: &io::Error) -> anyhow::Error {
    anyhow!("cannot be written: {}", error.kind())
}

fn not_written(error: &PcapError) -> anyhow::Error {
    match error {
        PcapError::IoError(error) => unwritable(error),
        other => anyhow!("cannot be written: {other}"),
    }
}
