//! Runs the command in a temporary directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pcap_file::DataLink;
use tempfile::TempDir;

use crate::captures::{Packet, mixed, read, write};

/// A directory for the files of one test, with an SA file that only the user can read.
pub(crate) struct Bench {
    folder: TempDir,
    backend: Option<String>,
}

/// The result of a run.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) report: Report,
    pub(crate) stderr: String,
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap(),
            report: Report(String::from_utf8(output.stdout).unwrap()),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts status 0 and an empty standard error. There is no progress bar without a terminal.
    pub(crate) fn assert_well(&self) {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{}", self.report.0);
    }

    /// Asserts that packets were lost: status 1, which is also in the report's last line, and one warning. Both
    /// contain `what`.
    pub(crate) fn assert_lost(&self, what: &str) {
        self.assert_incomplete(1, what);
    }

    /// Asserts this status, which is also in the report's last line, and one warning. Both contain `what`.
    pub(crate) fn assert_incomplete(&self, expected: i32, what: &str) {
        let Self { status, report: Report(report), stderr } = self;
        assert_eq!(*status, expected, "{report}{stderr}");
        let last = report.lines().last().unwrap();
        assert!(
            last.starts_with(&format!("exit status {expected}: ")) && last.contains(what),
            "{what}: {report}"
        );
        assert!(stderr.starts_with("sealcomb: warning: ") && stderr.contains(what), "{what}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }

    /// Asserts a failure: this status, one line on standard error, no report. Returns the line.
    pub(crate) fn assert_fails(self, status: i32) -> String {
        assert_eq!((self.status, self.report.0.as_str()), (status, ""), "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        self.stderr
    }
}

impl Bench {
    pub(crate) fn with_sa(associations: &str) -> Self {
        let bench = Self { folder: TempDir::new().unwrap(), backend: None };
        bench.write_sa(associations);
        bench
    }

    /// Replaces the SA file.
    pub(crate) fn write_sa(&self, associations: &str) {
        fs::write(self.path("sa.toml"), associations).unwrap();
        #[cfg(unix)]
        fs::set_permissions(self.path("sa.toml"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
    }

    /// Makes later runs use a backend.
    pub(crate) fn force(&mut self, backend: &str) {
        self.backend = Some(backend.into());
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command to run.
    pub(crate) fn command(&self, direction: &str, input: &Path, output: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealcomb"));
        command
            .args(["esp", direction])
            .args([input, output])
            .arg("--sa")
            .arg(self.path("sa.toml"))
            .env("XDG_STATE_HOME", self.path("state"))
            // The other state directory of the user, which cannot be created.
            .env("HOME", "/dev/null")
            .envs(self.backend.iter().map(|backend| ("SEALCOMB_BACKEND", backend)));
        command
    }

    pub(crate) fn run(&self, direction: &str, input: &Path, output: &Path, more: &[&str]) -> Run {
        Run::of(self.command(direction, input, output).args(more).output().unwrap())
    }

    /// Seals a capture. Packets may be lost.
    pub(crate) fn try_seal(&self, input: &Path, more: &[&str]) -> (Vec<Packet>, Run) {
        let output = self.path("sealed.pcap");
        let run = self.run("seal", input, &output, more);
        assert!([0, 1, 4].contains(&run.status) && !run.report.0.is_empty(), "{}", run.stderr);
        (read(&output), run)
    }

    /// Writes packets to a raw IP capture and opens it. Packets may be lost.
    pub(crate) fn try_open(&self, packets: &[Packet], more: &[&str]) -> (Vec<Packet>, Run) {
        let (input, output) = (self.path("to-open.pcap"), self.path("opened.pcap"));
        write(&input, DataLink::RAW, packets);
        let run = self.run("open", &input, &output, more);
        assert!([0, 1, 4].contains(&run.status) && !run.report.0.is_empty(), "{}", run.stderr);
        (read(&output), run)
    }

    /// Seals a capture. No packet may be lost.
    pub(crate) fn seal(&self, input: &Path, more: &[&str]) -> (Vec<Packet>, Report) {
        let (packets, run) = self.try_seal(input, more);
        run.assert_well();
        (packets, run.report)
    }

    /// The command's state directory.
    pub(crate) fn state(&self) -> PathBuf {
        self.path("state/sealcomb")
    }

    /// The state files, one per key.
    pub(crate) fn state_files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.state()) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
    }

    /// Seals `mixed.pcap` from sequence number 1, regardless of earlier runs.
    pub(crate) fn seal_from_1(&self, more: &[&str]) -> Vec<Packet> {
        let _ = fs::remove_dir_all(self.state());
        self.seal(&mixed(), more).0
    }

    /// Opens packets. None may be lost.
    pub(crate) fn open(&self, packets: &[Packet], more: &[&str]) -> (Vec<Packet>, Report) {
        let (packets, run) = self.try_open(packets, more);
        run.assert_well();
        (packets, run.report)
    }

    /// Runs a command that must fail with this status, without leaving files other than state. Returns the error line.
    pub(crate) fn fail(&self, status: i32, direction: &str, input: &Path, output: &Path) -> String {
        let before = self.listing();
        let line = self.run(direction, input, output, &[]).assert_fails(status);
        assert_eq!(self.listing(), before);
        line
    }

    /// The files of the test, without the state.
    pub(crate) fn listing(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder()).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<PathBuf> = entries.filter(|path| *path != self.path("state")).collect();
        paths.sort();
        paths
    }
}

/// The report that the command printed.
pub(crate) struct Report(pub(crate) String);

impl Report {
    /// The number that precedes `what`.
    pub(crate) fn count(&self, what: &str) -> usize {
        let (before, _) =
            self.0.split_once(&format!(" {what}")).unwrap_or_else(|| panic!("{what} in {}", self.0));
        let number = before.rsplit([' ', '\n']).next().unwrap();
        number.parse().unwrap_or_else(|_| panic!("{number} before {what} in {}", self.0))
    }
}
