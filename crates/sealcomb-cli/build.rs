//! Tells the command which commit and compiler it was built with, for the conditions of a study.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    // Whether files have changed since the commit follows from those that are compiled.
    for path in ["build.rs", "src", "../sealcomb/src"] {
        rerun_if_changed(path);
    }
    if let Some(compiler) = env::var_os("RUSTC").and_then(|rustc| output(Command::new(rustc).arg("-V"))) {
        println!("cargo::rustc-env=SEALCOMB_COMPILER={compiler}");
    }
    if let Some(commit) = commit() {
        println!("cargo::rustc-env=SEALCOMB_COMMIT={commit}");
    }
}

/// The commit, with `-dirty` if files have changed since. None where there is no git, or where the repository is
/// another one that this crate merely lies in.
fn commit() -> Option<String> {
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    for name in ["HEAD", "refs/heads", "packed-refs"] {
        rerun_if_changed(&git(&["rev-parse", "--git-path", name])?);
    }
    git(&["describe", "--always", "--dirty", "--exclude=*"])
}

/// A path that does not exist would have every build run this again.
fn rerun_if_changed(path: &str) {
    if Path::new(path).exists() {
        println!("cargo::rerun-if-changed={path}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    // Without its locks, git leaves its index alone, which somebody else may be using.
    output(Command::new("git").arg("--no-optional-locks").args(arguments))
}

/// The line that a command prints, if it succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
