//! Runs the command on captures in memory.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::files::{Frame, pcap};

pub(crate) const ESP: &str = "keys-are-public = true
[[sa]]
spi = 0x1001
source = \"203.0.113.1\"
destination = \"203.0.113.2\"
cipher = \"aes-gcm\"
key = \"000102030405060708090a0b0c0d0e0f\"
salt = \"cafebabe\"
";

pub(crate) const MACSEC: &str = "keys-are-public = true
[[sa]]
sci = \"0200000000010001\"
an = 1
key = \"000102030405060708090a0b0c0d0e0f\"
";

/// The result of a run.
pub(crate) struct Outcome {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The link type of the output.
    pub(crate) link: u32,
    /// The packets of the output.
    pub(crate) packets: Vec<Vec<u8>>,
}

impl Outcome {
    /// Asserts that nothing was lost.
    pub(crate) fn assert_well(&self) {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{}", self.stdout);
    }

    /// Asserts that packets were lost for exactly these causes.
    pub(crate) fn assert_lost(&self, causes: &str) {
        assert_eq!(self.status, 1, "{}{}", self.stdout, self.stderr);
        let last = self.stdout.lines().last().unwrap();
        assert_eq!(last, format!("exit status 1: {causes}"), "{}", self.stdout);
    }

    /// The report's number of packets under a cause; 0 if it does not contain the cause.
    pub(crate) fn count(&self, cause: &str) -> usize {
        let counts = self.counts();
        counts.iter().find(|(_, name)| name == cause).map_or(0, |(count, _)| *count)
    }

    /// All counts of the report with their causes.
    fn counts(&self) -> Vec<(usize, String)> {
        let titles = ["skipped: ", "dropped: "];
        let lines =
            self.stdout.lines().filter_map(|line| titles.iter().find_map(|title| line.strip_prefix(title)));
        let done = self.stdout.lines().next().unwrap().split_once(' ').unwrap().1;
        let entries = lines.flat_map(|line| line.split(", ")).chain([done]);
        entries
            .map(|entry| {
                let (count, name) = entry.split_once(' ').unwrap();
                (count.parse().unwrap(), name.to_owned())
            })
            .collect()
    }

    /// The number of packets that the report accounts for.
    fn total(&self) -> usize {
        let counted: usize = self.counts().iter().map(|(count, _)| count).sum();
        let reassembled = self.stdout.lines().find_map(|line| line.strip_prefix("reassembled: "));
        let Some(reassembled) = reassembled else { return counted };
        let (packets, fragments) = reassembled.split_once(" packets from ").unwrap();
        let fragments = fragments.strip_suffix(" IP fragments").unwrap();
        counted + fragments.parse::<usize>().unwrap() - packets.parse::<usize>().unwrap()
    }
}

/// Runs `sealcomb COMMAND DIRECTION` on a capture of `count` packets. The report must account for all of them.
pub(crate) fn on_capture(words: [&str; 2], sa: &str, capture: &[u8], count: usize) -> Outcome {
    let (_folder, mut command, output) = prepare(words, sa, capture);
    let run = command.output().unwrap();
    let (link, packets) = if output.exists() { read(&output) } else { (0, Vec::new()) };
    let outcome = Outcome {
        status: run.status.code().unwrap(),
        stdout: String::from_utf8(run.stdout).unwrap(),
        stderr: String::from_utf8(run.stderr).unwrap(),
        link,
        packets,
    };
    if !outcome.stdout.is_empty() {
        assert_eq!(outcome.total(), count, "{}", outcome.stdout);
    }
    outcome
}

/// Runs `sealcomb COMMAND DIRECTION` on a capture with other streams. Returns the exit status, what it printed to
/// standard error if that is a pipe, and the packets of its output.
#[cfg(target_os = "linux")]
pub(crate) fn to_streams(
    words: [&str; 2],
    sa: &str,
    capture: &[u8],
    [stdout, stderr]: [std::process::Stdio; 2],
) -> (i32, String, Vec<Vec<u8>>) {
    let (_folder, mut command, output) = prepare(words, sa, capture);
    let run = command.stdout(stdout).stderr(stderr).spawn().unwrap().wait_with_output().unwrap();
    (run.status.code().unwrap(), String::from_utf8(run.stderr).unwrap(), read(&output).1)
}

/// Writes the input and the SA file. Returns their folder, the command and the path of its output.
fn prepare(words: [&str; 2], sa: &str, capture: &[u8]) -> (TempDir, Command, PathBuf) {
    let folder = TempDir::new().unwrap();
    let [input, output, sa_file] = ["in", "out.pcap", "sa.toml"].map(|name| folder.path().join(name));
    fs::write(&input, capture).unwrap();
    fs::write(&sa_file, sa).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealcomb"));
    command.args(words).args([&input, &output]).arg("--sa").arg(&sa_file);
    command
        .env_remove("SEALCOMB_BACKEND")
        .env("XDG_STATE_HOME", folder.path().join("state"))
        .env("HOME", "/dev/null");
    (folder, command, output)
}

/// Reads a pcap file that the command wrote. None of its packets is clipped.
fn read(path: &PathBuf) -> (u32, Vec<Vec<u8>>) {
    let bytes = fs::read(path).unwrap();
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut packets) = (24, Vec::new());
    while at < bytes.len() {
        let len = number(at + 8);
        assert_eq!(number(at + 12), len);
        packets.push(bytes[at + 16..][..len as usize].to_vec());
        at += 16 + len as usize;
    }
    (number(20), packets)
}

pub(crate) fn esp(direction: &str, link: u32, frames: &[Frame]) -> Outcome {
    on_capture(["esp", direction], ESP, &pcap(link, frames), frames.len())
}

pub(crate) fn esp_capture(direction: &str, capture: &[u8], count: usize) -> Outcome {
    on_capture(["esp", direction], ESP, capture, count)
}

pub(crate) fn macsec(direction: &str, link: u32, frames: &[Frame]) -> Outcome {
    on_capture(["macsec", direction], MACSEC, &pcap(link, frames), frames.len())
}

/// Seals packets with an IPv4 outer header. None may be lost.
pub(crate) fn sealed(packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let frames: Vec<Frame> = packets.iter().cloned().map(Frame::whole).collect();
    let outcome = esp("seal", crate::files::RAW, &frames);
    outcome.assert_well();
    outcome.packets
}

/// Opens packets. None may be lost.
pub(crate) fn opened(packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let frames: Vec<Frame> = packets.iter().cloned().map(Frame::whole).collect();
    let outcome = esp("open", crate::files::RAW, &frames);
    outcome.assert_well();
    outcome.packets
}
