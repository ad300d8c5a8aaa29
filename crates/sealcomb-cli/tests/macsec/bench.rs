//! Runs the command with an SA file and captures in a temporary directory.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapReader, PcapWriter};
use pcap_file::{DataLink, TsResolution};
use tempfile::TempDir;

#[path = "../run/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with other tests")]
mod run;
pub(crate) use run::Run;

/// The time and the bytes of a frame.
pub(crate) type Frame = (Duration, Vec<u8>);

/// An SA file with one association, GCM-AES-128, for all frames.
pub(crate) const ONE: &str = "keys-are-public = true
[[sa]]
sci = \"0200000000010001\"
an = 1
key = \"000102030405060708090a0b0c0d0e0f\"
";

pub(crate) struct Bench {
    folder: TempDir,
}

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../captures")
}

/// The frames of `mixed.pcap`.
pub(crate) fn plain() -> Vec<Frame> {
    read(&captures().join("mixed.pcap"))
}

/// The SA file of the demonstration.
pub(crate) fn demonstration() -> String {
    fs::read_to_string(captures().join("macsec.toml")).unwrap()
}

fn read(path: &Path) -> Vec<Frame> {
    let mut reader = PcapReader::new(File::open(path).unwrap()).unwrap();
    assert_eq!(reader.header().datalink, DataLink::ETHERNET);
    let mut frames = Vec::new();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.unwrap();
        frames.push((packet.timestamp, packet.data.into_owned()));
    }
    frames
}

fn write(path: &Path, datalink: DataLink, frames: &[Frame]) {
    let header = PcapHeader {
        datalink,
        ts_resolution: TsResolution::NanoSecond,
        snaplen: 262_144,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(File::create(path).unwrap(), header).unwrap();
    for (time, data) in frames {
        writer.write_packet(&PcapPacket::new(*time, data.len() as u32, data)).unwrap();
    }
}

impl Bench {
    pub(crate) fn new(sa_file: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("sa.toml"), sa_file).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `seal` or `open`. Returns the frames written, if any, and the result of the run.
    pub(crate) fn try_run(&self, direction: &str, frames: &[Frame], options: &[&str]) -> (Vec<Frame>, Run) {
        self.try_run_on(DataLink::ETHERNET, direction, frames, options)
    }

    pub(crate) fn try_run_on(
        &self,
        link: DataLink,
        direction: &str,
        frames: &[Frame],
        options: &[&str],
    ) -> (Vec<Frame>, Run) {
        let [input, output, sa] = ["in.pcap", "out.pcap", "sa.toml"].map(|name| self.path(name));
        write(&input, link, frames);
        let _ = fs::remove_file(&output);
        let [input, out, sa] = [&input, &output, &sa].map(|path| path.to_str().unwrap());
        let arguments = [&["macsec", direction, input, out, "--sa", sa], options].concat();
        let run = run::sealcomb_with("XDG_STATE_HOME", &self.path("state"), &arguments);
        (if output.exists() { read(&output) } else { Vec::new() }, run)
    }

    /// Runs `seal` or `open`, which must succeed without warnings. Returns the frames written.
    pub(crate) fn run(&self, direction: &str, frames: &[Frame], options: &[&str]) -> Vec<Frame> {
        let (frames, run) = self.try_run(direction, frames, options);
        assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
        assert!(!run.stderr.contains("warning"), "{}", run.stderr);
        frames
    }

    pub(crate) fn seal(&self, frames: &[Frame]) -> Vec<Frame> {
        self.run("seal", frames, &["--start-pn", "1"])
    }
}

impl Run {
    /// Asserts that the exit status is 1, with these reasons in the report.
    pub(crate) fn assert_lost(&self, reasons: &str) {
        assert_eq!(self.status, 1, "{}{}", self.stdout, self.stderr);
        assert!(self.stdout.ends_with(&format!("exit status 1: {reasons}\n")), "{}", self.stdout);
    }
}
