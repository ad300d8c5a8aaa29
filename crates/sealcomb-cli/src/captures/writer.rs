//! Writes captures atomically: the output appears only when it is complete.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use sealcomb_command::{Status, with_status};

use crate::output;
use crate::unfinished::Unfinished;

/// Who may read a capture that is written.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Readers {
    /// Everyone that the user's umask allows.
    Any,
    /// Only the owner.
    Owner,
}

/// A capture that is being written. All its packets have one link type.
pub(crate) struct Writer {
    target: Target,
    path: PathBuf,
    /// Number of packets so far with a time that was too late for the format.
    late: u64,
}

type Buffer = BufWriter<Unfinished>;

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

    /// Returns the last time that the format supports, in the year 2106 (pcap) or 2554 (pcapng).
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

/// The snap length in the output: the maximum packet size in bytes that viewers expect.
const SNAP_BYTES: u32 = 262_144;

impl Writer {
    /// Begins a capture, which appears at `path` when it is complete. The format is pcapng if the name ends in `.pcapng`,
    /// else pcap.
    pub(crate) fn create(path: &Path, link: DataLink, nanoseconds: bool, readers: Readers) -> Result<Self> {
        let name = || path.display().to_string();
        let is_pcapng = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pcapng"));
        // Replaces the target of a symbolic link, not the link. The file of a descriptor may be open elsewhere.
        let path = &output::follow(path).map_err(|error| unwritable(&error)).with_context(name)?;
        if output::descriptor(path).is_some() || path.exists() && !path.is_file() {
            return Err(with_status(Status::Io, anyhow!("{}: not a regular file", name())));
        }
        let directory = output::folder_of(path);
        if !directory.is_dir() {
            return Err(with_status(Status::Io, anyhow!("{}: no such directory", name())));
        }
        let file = Unfinished::create(directory, readers == Readers::Any);
        let file = file.map_err(|error| unwritable(&error)).with_context(name)?;
        let target = Target::new(BufWriter::new(file), is_pcapng, nanoseconds, link);
        let target = target.map_err(|error| not_written(&error)).with_context(name)?;
        Ok(Self { target, path: path.clone(), late: 0 })
    }

    /// Appends a packet. Times that are too late for the format are clamped.
    pub(crate) fn write(&mut self, time: Duration, packet: &[u8]) -> Result<()> {
        let last = self.target.last_time();
        self.late += u64::from(time > last);
        self.target
            .write(time.min(last), packet)
            .map_err(|error| not_written(&error))
            .with_context(|| self.path.display().to_string())
    }

    /// Returns the number of packets so far with a time that was too late for the format.
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
        file.finish(&path).map_err(|error| unwritable(&error)).with_context(name)
    }
}

/// Reports only the error's kind: the full error contains the name of the temporary file.
fn unwritable(error: &io::Error) -> anyhow::Error {
    with_status(Status::Io, anyhow!("cannot write: {}", error.kind()))
}

fn not_written(error: &PcapError) -> anyhow::Error {
    match error {
        PcapError::IoError(error) => unwritable(error),
        other => anyhow!("cannot write: {other}"),
    }
}
