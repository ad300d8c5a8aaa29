//! Captures: reading pcap and pcapng record by record, writing pcap that appears under its name only when it is whole.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapReader, PcapWriter};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use tempfile::NamedTempFile;

use super::ip;

/// One packet as it was captured, with its link-layer header.
pub(crate) struct Record {
    /// Counted from 1, as capture viewers do.
    pub(crate) number: u64,
    /// Since 1970.
    pub(crate) time: Duration,
    /// What the frame begins with.
    pub(crate) link: DataLink,
    /// The captured bytes; fewer than the packet had if the capture was made with a snap length.
    pub(crate) frame: Vec<u8>,
}

enum Format<R: Read> {
    Pcap(PcapReader<R>),
    PcapNg(PcapNgReader<R>),
}

/// A capture that is being read.
pub(crate) struct Capture<R: Read> {
    format: Format<io::Chain<io::Cursor<[u8; 4]>, R>>,
    name: String,
    records: u64,
}

/// The first four bytes of a pcapng file: a section header block.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// What a pcap file begins with: microseconds or nanoseconds, in the byte order of the machine that wrote it.
const PCAP: [u32; 4] = [0xa1b2_c3d4, 0xd4c3_b2a1, 0xa1b2_3c4d, 0x4d3c_b2a1];

impl<R: Read> Capture<R> {
    /// Reads the file header. `name` is what errors call the capture.
    pub(crate) fn new(name: &Path, mut source: R) -> Result<Self> {
        let name = name.display().to_string();
        let mut magic = [0; 4];
        source
            .read_exact(&mut magic)
            .map_err(|error| explain(&error))
            .with_context(|| format!("{name}: file header"))?;
        let source = io::Cursor::new(magic).chain(source);
        let format = if magic == PCAPNG {
            PcapNgReader::new(source).map(Format::PcapNg)
        } else if PCAP.contains(&u32::from_le_bytes(magic)) {
            PcapReader::new(source).map(Format::Pcap)
        } else {
            bail!("{name}: neither a pcap nor a pcapng file");
        };
        let format =
            format.map_err(|error| unreadable(&error)).with_context(|| format!("{name}: file header"))?;
        Ok(Self { format, name, records: 0 })
    }

    /// Whether times are finer than the microseconds of a classic pcap file.
    pub(crate) fn has_nanoseconds(&self) -> bool {
        match &self.format {
            Format::Pcap(reader) => reader.header().ts_resolution == TsResolution::NanoSecond,
            Format::PcapNg(_) => true,
        }
    }

    /// The next packet, `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<Record>> {
        let number = self.records + 1;
        let record = match &mut self.format {
            Format::Pcap(reader) => next_of_pcap(reader, number),
            Format::PcapNg(reader) => next_of_pcapng(reader, number),
        };
        let record = record.with_context(|| format!("{}: record {number}", self.name))?;
        self.records += u64::from(record.is_some());
        Ok(record)
    }
}

fn next_of_pcap<R: Read>(reader: &mut PcapReader<R>, number: u64) -> Result<Option<Record>> {
    let PcapHeader { datalink, ts_resolution, .. } = reader.header();
    // Raw, because the checked form refuses packets that are longer than the snap length.
    let Some(packet) = reader.next_raw_packet() else { return Ok(None) };
    let packet = packet.map_err(|error| unreadable(&error))?;
    let nanoseconds = match ts_resolution {
        TsResolution::MicroSecond => u64::from(packet.ts_frac) * 1000,
        TsResolution::NanoSecond => u64::from(packet.ts_frac),
    };
    if nanoseconds >= 1_000_000_000 {
        bail!("its time has a fraction of more than a second");
    }
    if packet.incl_len > packet.orig_len {
        bail!("more bytes captured than the packet had");
    }
    Ok(Some(Record {
        number,
        time: Duration::from_secs(packet.ts_sec.into()) + Duration::from_nanos(nanoseconds),
        link: link_of_pcap(datalink)?,
        frame: packet.data.into_owned(),
    }))
}

/// The link type: the upper bits of the header's field tell of a frame check sequence, which lies behind the IP packet.
fn link_of_pcap(field: DataLink) -> Result<DataLink> {
    supported(DataLink::from(u32::from(field) & 0xffff))
}

fn supported(link: DataLink) -> Result<DataLink> {
    if ip::knows(link) { Ok(link) } else { bail!("link type {} is not supported", u32::from(link)) }
}

fn next_of_pcapng<R: Read>(reader: &mut PcapNgReader<R>, number: u64) -> Result<Option<Record>> {
    // Which interface, its units since 1970, and the bytes.
    let (interface, units, original_len, mut frame) = loop {
        let Some(block) = reader.next_block() else { return Ok(None) };
        match block.map_err(|error| unreadable(&error))? {
            Block::EnhancedPacket(packet) => {
                // The reader hands the file's units on as if they were nanoseconds.
                let units = packet.timestamp.as_nanos();
                break (packet.interface_id, units, packet.original_len, packet.data.into_owned());
            }
            Block::Packet(packet) => {
                let id = u32::from(packet.interface_id);
                break (id, packet.timestamp.into(), packet.original_len, packet.data.into_owned());
            }
            // Has no time.
            Block::SimplePacket(packet) => {
                break (0, 0, packet.original_len, packet.data.into_owned());
            }
            _ => {}
        }
    };
    let interface = usize::try_from(interface).ok().and_then(|id| reader.interfaces().get(id));
    let interface = interface.context("its interface is not described")?;
    frame.truncate(original_len as usize); // a simple packet block comes with its padding
    Ok(Some(Record {
        number,
        time: time_of_pcapng(interface, units)?,
        link: supported(interface.linktype)?,
        frame,
    }))
}

fn time_of_pcapng(interface: &InterfaceDescriptionBlock<'_>, units: u128) -> Result<Duration> {
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
    // Any finer unit would not fit the multiplication below, and nothing measures it.
    let per_second = per_second
        .filter(|&units| units <= u128::from(u64::MAX))
        .context("its interface counts time in absurdly small units")?;
    let seconds = i128::try_from(units / per_second)? + i128::from(offset);
    let seconds = u64::try_from(seconds).context("its time lies before 1970")?;
    let nanoseconds = (units % per_second) * 1_000_000_000 / per_second;
    Ok(Duration::new(seconds, u32::try_from(nanoseconds)?))
}

fn unreadable(error: &PcapError) -> anyhow::Error {
    match error {
        PcapError::IoError(error) => explain(error),
        PcapError::IncompleteBuffer => explain(&io::ErrorKind::UnexpectedEof.into()),
        PcapError::InvalidField(what) => anyhow!("corrupt: {what}"),
        other => anyhow!("corrupt: {other}"),
    }
}

fn explain(error: &io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        anyhow!("the file ends inside it, or its length is corrupt")
    } else {
        anyhow!("{error}")
    }
}

/// The lengths of the IP packets of a capture, as their headers declare them: a capture that holds only the beginning
/// of each packet serves as well. What is not IP is passed over.
pub(crate) fn packet_lengths(path: &Path) -> Result<Vec<usize>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut capture = Capture::new(path, file)?;
    let mut lengths = Vec::new();
    while let Some(record) = capture.next()? {
        let header = ip::payload(record.link, &record.frame).and_then(ip::Header::parse);
        lengths.extend(header.and_then(|header| header.packet_len()));
    }
    Ok(lengths)
}

/// A pcap file of IP packets without link-layer headers, being written beside its final name.
pub(crate) struct Writer {
    pcap: PcapWriter<BufWriter<NamedTempFile>>,
    path: PathBuf,
}

/// What a file made by `File::create` would get, before the umask.
#[cfg(unix)]
fn permissions() -> Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

impl Writer {
    /// Opens a temporary file in the directory of `path`.
    pub(crate) fn create(path: &Path, nanoseconds: bool) -> Result<Self> {
        let name = || path.display().to_string();
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
        let builder = builder.permissions(permissions());
        let file = builder.tempfile_in(directory).map_err(|error| unwritable(&error)).with_context(name)?;
        let header = PcapHeader {
            snaplen: 262_144,
            datalink: DataLink::RAW,
            ts_resolution: if nanoseconds { TsResolution::NanoSecond } else { TsResolution::MicroSecond },
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        let pcap = PcapWriter::with_header(BufWriter::new(file), header)
            .map_err(|error| not_written(&error))
            .with_context(name)?;
        Ok(Self { pcap, path: path.clone() })
    }

    /// Appends one IP packet.
    pub(crate) fn write(&mut self, time: Duration, packet: &[u8]) -> Result<()> {
        let len = u32::try_from(packet.len())?;
        self.pcap
            .write_packet(&PcapPacket::new(time, len, packet))
            .map_err(|error| not_written(&error))
            .with_context(|| self.path.display().to_string())?;
        Ok(())
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> Result<()> {
        let Self { pcap, path } = self;
        let name = || path.display().to_string();
        let mut buffer = pcap.into_writer();
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
