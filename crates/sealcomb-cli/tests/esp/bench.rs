//! Running the command in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pcap_file::DataLink;
use tempfile::TempDir;

use crate::captures::{Packet, read, write};

/// A folder for the files of one test, with an SA file.
pub(crate) struct Bench {
    folder: TempDir,
    backend: Option<String>,
}

impl Bench {
    pub(crate) fn with_sa(associations: &str) -> Self {
        let bench = Self { folder: TempDir::new().unwrap(), backend: None };
        fs::write(bench.path("sa.toml"), associations).unwrap();
        bench
    }

    /// Has later calls use a backend.
    pub(crate) fn force(&mut self, backend: &str) {
        self.backend = Some(backend.into());
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, direction: &str, input: &Path, output: &Path, more: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_sealcomb"))
            .args(["esp", direction])
            .args([input, output])
            .arg("--sa")
            .arg(self.path("sa.toml"))
            .args(more)
            .envs(self.backend.iter().map(|backend| ("SEALCOMB_BACKEND", backend)))
            .output()
            .unwrap()
    }

    fn succeed(&self, direction: &str, input: &Path, output: &Path, more: &[&str]) -> Report {
        let Output { status, stdout, stderr } = self.run(direction, input, output, more);
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        assert!(stderr.is_empty(), "no progress bar away from a terminal");
        Report(String::from_utf8(stdout).unwrap())
    }

    /// Seals a capture.
    pub(crate) fn seal(&self, input: &Path, more: &[&str]) -> (Vec<Packet>, Report) {
        let output = self.path("sealed.pcap");
        let report = self.succeed("seal", input, &output, more);
        (read(&output), report)
    }

    /// Opens packets, which first become a raw IP capture.
    pub(crate) fn open(&self, packets: &[Packet], more: &[&str]) -> (Vec<Packet>, Report) {
        let (input, output) = (self.path("to-open.pcap"), self.path("opened.pcap"));
        write(&input, DataLink::RAW, packets);
        let report = self.succeed("open", &input, &output, more);
        (read(&output), report)
    }

    /// Does what must fail: with status 2, one line, and nothing left behind. The line.
    pub(crate) fn fail(&self, direction: &str, input: &Path, output: &Path) -> String {
        let before = self.listing();
        let Output { status, stdout, stderr } = self.run(direction, input, output, &[]);
        let stderr = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(2), "{stderr}");
        assert_eq!(String::from_utf8(stdout).unwrap(), "");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert_eq!(self.listing(), before);
        stderr
    }

    fn listing(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(self.folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }
}

/// What the command printed.
pub(crate) struct Report(pub(crate) String);

impl Report {
    /// The number that stands before `what`.
    pub(crate) fn count(&self, what: &str) -> usize {
        let (before, _) =
            self.0.split_once(&format!(" {what}")).unwrap_or_else(|| panic!("{what} in {}", self.0));
        let number = before.rsplit([' ', '\n']).next().unwrap();
        number.parse().unwrap_or_else(|_| panic!("{number} before {what} in {}", self.0))
    }
}
