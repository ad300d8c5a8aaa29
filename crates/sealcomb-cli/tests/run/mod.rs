//! Runs the command as a user would.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The result of a run of the command.
pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Asserts that the command failed with this status and one line on standard error that contains all these words.
    pub fn assert_fails(&self, status: i32, words: &[&str]) {
        assert_eq!(self.status, status, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stderr.trim_end().lines().count(), 1, "{}", self.stderr);
        assert!(self.stderr.starts_with("sealcomb: "), "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "\"{word}\" is not in: {}", self.stderr);
        }
    }
}

/// Runs `sealcomb` with these arguments.
pub fn sealcomb<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Run {
    finish(command().args(arguments))
}

/// Runs `sealcomb` with these arguments and a backend forced.
pub fn sealcomb_on<S: AsRef<std::ffi::OsStr>>(backend: &str, arguments: &[S]) -> Run {
    finish(command().env("SEALCOMB_BACKEND", backend).args(arguments))
}

/// Runs `sealcomb` with these arguments and a variable set.
pub fn sealcomb_with<S: AsRef<std::ffi::OsStr>>(variable: &str, value: &Path, arguments: &[S]) -> Run {
    finish(command().env(variable, value).args(arguments))
}

/// Runs `sealcomb` with these arguments and a standard output that is closed.
pub fn sealcomb_unread(arguments: &[&str]) -> Run {
    let mut child = command().args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    Run { status: status.code().unwrap(), stdout: String::new(), stderr: String::from_utf8(stderr).unwrap() }
}

/// Runs `sealcomb` with these arguments and streams. What is written to a stream that is not a pipe is not returned.
pub fn sealcomb_to(stdout: Stdio, stderr: Stdio, arguments: &[&str]) -> Run {
    let output = command().args(arguments).stdout(stdout).stderr(stderr).spawn().unwrap().wait_with_output();
    run(&output.unwrap())
}

/// A device that refuses everything that is written to it, as a full disk does.
pub fn full() -> Stdio {
    std::fs::File::options().write(true).open("/dev/full").unwrap().into()
}

/// A pipe without a reader.
pub fn unread() -> Stdio {
    std::io::pipe().unwrap().1.into()
}

/// Writes a file with this content in its own directory.
pub fn file(name: &str, content: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

/// The number of entries of a directory, including hidden ones.
pub fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealcomb"));
    // Without a home, the user's only state directory is that in `$XDG_STATE_HOME`.
    command.env_remove("SEALCOMB_BACKEND").env("HOME", "/dev/null");
    command
}

fn finish(command: &mut Command) -> Run {
    run(&command.output().unwrap())
}

fn run(Output { status, stdout, stderr }: &Output) -> Run {
    Run {
        status: status.code().unwrap(),
        stdout: String::from_utf8(stdout.clone()).unwrap(),
        stderr: String::from_utf8(stderr.clone()).unwrap(),
    }
}
