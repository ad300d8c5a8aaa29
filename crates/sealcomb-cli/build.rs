//! Records the commit and the compiler version in the command, for the conditions that `sealcomb study` reports.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    // The `-dirty` mark depends on these files.
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

/// Returns the commit, with `-dirty` if files have changed since. `None` without git, or if the enclosing repository
/// does not track this crate.
fn commit() -> Option<String> {
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    for name in ["HEAD", "refs/heads", "packed-refs"] {
        rerun_if_changed(&git(&["rev-parse", "--git-path", name])?);
    }
    git(&["describe", "--always", "--dirty", "--exclude=*"])
}

/// Skips paths that do not exist: Cargo would rerun this script in every build.
fn rerun_if_changed(path: &str) {
    if Path::new(path).exists() {
        println!("cargo::rerun-if-changed={path}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    // Keeps git from refreshing its index, which another process may have locked.
    output(Command::new("git").arg("--no-optional-locks").args(arguments))
}

/// Returns a command's trimmed output; `None` if the command fails.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
