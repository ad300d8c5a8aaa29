//! A user's files, runs of the command on them, and all numbers used so far.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The subcommand that seals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Protocol {
    Esp,
    Macsec,
}

/// The owner of a number range: a key, and for MACsec also its transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    pub(crate) protocol: Protocol,
    pub(crate) key: u8,
    pub(crate) transmitter: u8,
}

impl Owner {
    pub(crate) const fn esp(key: u8) -> Self {
        Self { protocol: Protocol::Esp, key, transmitter: 0 }
    }

    pub(crate) const fn macsec(key: u8, transmitter: u8) -> Self {
        Self { protocol: Protocol::Macsec, key, transmitter }
    }

    /// The owner's `[[sa]]` table. `variant` changes fields other than the key.
    fn association(self, variant: u8) -> String {
        let Self { protocol, key, transmitter } = self;
        let bytes = hex::encode([key; 16]);
        match protocol {
            Protocol::Esp => format!(
                "[[sa]]\nspi = {}\nsource = \"203.0.113.1\"\ndestination = \"203.0.113.2\"\n\
                 match = \"192.0.2.{key}/32\"\ncipher = \"aes-gcm\"\nkey = \"{bytes}\"\nsalt = \"cafe{variant:02x}{key:02x}\"\n",
                spi(key, variant)
            ),
            Protocol::Macsec => format!(
                "[[sa]]\nsci = \"02000000{key:02x}{transmitter:02x}0001\"\nan = {}\nkey = \"{bytes}\"\n\
                 source = \"02000000{key:02x}{transmitter:02x}\"\n",
                variant % 4
            ),
        }
    }
}

fn spi(key: u8, variant: u8) -> u32 {
    0x1000 + 256 * u32::from(variant) + u32::from(key)
}

/// An SA file with the keys of these owners, all of one protocol.
pub(crate) fn sa_file(owners: &[Owner], variant: u8) -> String {
    owners.iter().map(|owner| owner.association(variant)).collect()
}

/// A capture with `count` packets for each owner.
pub(crate) fn capture(owners: &[Owner], count: usize) -> Vec<u8> {
    let mut capture = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 1].map(u32::to_le_bytes).concat();
    for Owner { key, transmitter, .. } in owners.iter().cycle().take(count * owners.len()) {
        let mut frame = vec![2, 9, 9, 9, 9, 9, 2, 0, 0, 0, *key, *transmitter, 8, 0];
        frame.extend([0x45, 0, 0, 60, 0, 0, 0, 0, 64, 17, 0, 0, 198, 51, 100, 7, 192, 0, 2, *key]);
        frame.extend([7; 40]);
        let len = frame.len() as u32;
        capture.extend([1_700_000_000, 0, len, len].map(u32::to_le_bytes).concat());
        capture.extend(frame);
    }
    capture
}

/// The result of a run.
pub(crate) struct Outcome {
    pub(crate) status: Option<i32>,
    pub(crate) stderr: String,
    /// The numbers of the sealed packets.
    pub(crate) numbers: Vec<(Owner, u64)>,
}

impl Outcome {
    pub(crate) fn assert_well(&self) {
        assert_eq!(self.status, Some(0), "{}", self.stderr);
    }

    /// Asserts that the run failed with this status, sealed nothing, and printed one line that contains these words.
    pub(crate) fn assert_fails(&self, status: i32, words: &[&str]) {
        assert_eq!((self.status, self.numbers.len()), (Some(status), 0), "{}", self.stderr);
        assert_eq!(self.stderr.trim_end().lines().count(), 1, "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "\"{word}\" is not in: {}", self.stderr);
        }
    }
}

/// Writes a file that no other user can change, whatever the umask is.
pub(crate) fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) {
    fs::write(&path, contents).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

/// Where a run stores its numbers.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// The user's state directory, by `$XDG_STATE_HOME`.
    Xdg,
    /// The user's state directory, by `$HOME`.
    Home,
    /// Another `$XDG_STATE_HOME`.
    OtherXdg(PathBuf),
    /// `--state` with this path.
    Named(PathBuf),
}

/// One user's files.
pub(crate) struct World {
    folder: TempDir,
    runs: usize,
    seen: HashSet<(Owner, u64)>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), runs: 0, seen: HashSet::new() }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The user's state directory.
    pub(crate) fn state(&self) -> PathBuf {
        self.path("home/.local/state/sealcomb")
    }

    /// Writes an SA file that only the user can read.
    pub(crate) fn write_sa(&self, name: &str, owners: &[Owner], variant: u8) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        write(&path, sa_file(owners, variant));
        path
    }

    /// A command that seals `input`, and the path of its output.
    pub(crate) fn command(
        &mut self,
        protocol: Protocol,
        sa: &Path,
        state: &State,
        input: &Path,
    ) -> (Command, PathBuf) {
        self.runs += 1;
        let folder = self.path(format!("out/{}", self.runs));
        fs::create_dir_all(&folder).unwrap();
        let output = folder.join("sealed.pcap");
        let name = if protocol == Protocol::Esp { "esp" } else { "macsec" };
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealcomb"));
        command.args([name, "seal"]).args([input, &output]).arg("--sa").arg(sa);
        command.env_remove("SEALCOMB_BACKEND").env("HOME", self.path("home"));
        match state {
            State::Xdg => command.env("XDG_STATE_HOME", self.path("home/.local/state")),
            State::Home => command.env_remove("XDG_STATE_HOME"),
            State::OtherXdg(path) => command.env("XDG_STATE_HOME", path),
            State::Named(path) => {
                command.env("XDG_STATE_HOME", self.path("home/.local/state")).arg("--state").arg(path)
            }
        };
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        (command, output)
    }

    /// Seals `count` packets for each owner.
    pub(crate) fn seal(&mut self, owners: &[Owner], sa: &Path, state: &State, count: usize) -> Outcome {
        let (command, output) = self.command(owners[0].protocol, sa, state, Path::new("/dev/stdin"));
        self.run(command, &output, owners, count)
    }

    /// Runs a command with `count` packets per owner on standard input.
    pub(crate) fn run(
        &mut self,
        mut command: Command,
        output: &Path,
        owners: &[Owner],
        count: usize,
    ) -> Outcome {
        let mut child = command.spawn().unwrap();
        feed(&mut child, &capture(owners, count));
        self.finish(child, output, owners)
    }

    /// Waits for a run to end. Panics if it used a number that was used before.
    pub(crate) fn finish(&mut self, child: Child, output: &Path, owners: &[Owner]) -> Outcome {
        let ended = child.wait_with_output().unwrap();
        let mut numbers = Vec::new();
        // Where files need names, a killed run leaves its output under a temporary one.
        for entry in fs::read_dir(output.parent().unwrap()).unwrap() {
            numbers.extend(sealed(&fs::read(entry.unwrap().path()).unwrap(), owners));
        }
        for number in &numbers {
            assert!(self.seen.insert(*number), "{number:?} was used twice");
        }
        Outcome { status: ended.status.code(), stderr: String::from_utf8(ended.stderr).unwrap(), numbers }
    }

    /// The number of all sequence and packet numbers used so far.
    pub(crate) fn count(&self) -> usize {
        self.seen.len()
    }
}

/// Writes to a run's standard input. Ignores errors if the run has ended.
pub(crate) fn feed(child: &mut Child, bytes: &[u8]) {
    let _ = child.stdin.take().unwrap().write_all(bytes);
}

/// The numbers of the sealed packets in a capture, which may be truncated.
fn sealed(capture: &[u8], owners: &[Owner]) -> Vec<(Owner, u64)> {
    let by_spi: BTreeMap<u32, Owner> = owners
        .iter()
        .flat_map(|owner| (0..=u8::MAX).map(|variant| (spi(owner.key, variant), *owner)))
        .collect();
    let big = |bytes: &[u8]| u32::from_be_bytes(bytes[..4].try_into().unwrap());
    let mut numbers = Vec::new();
    let mut at = 24;
    while let Some(len) = capture.get(at + 8..at + 12) {
        let len = u32::from_le_bytes(len.try_into().unwrap()) as usize;
        let Some(packet) = capture.get(at + 16..at + 16 + len) else { break };
        numbers.push(match owners[0].protocol {
            Protocol::Esp => (by_spi[&big(&packet[20..])], big(&packet[24..]).into()),
            Protocol::Macsec => (Owner::macsec(packet[24], packet[25]), big(&packet[16..]).into()),
        });
        at += 16 + len;
    }
    numbers
}
