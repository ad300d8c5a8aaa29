//! The standard streams, which may be full or closed: by a full disk, or by a reader that has ended.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use anyhow::{Context, Result};

/// Prints a line to standard output. A closed pipe, as in `sealcomb list | head`, is not an error.
///
/// # Errors
/// An error of the operating system.
pub fn print(line: impl Display) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// Prints an error or a warning of a command to standard error. If that fails, only the exit status reports it.
pub fn complain(command: &str, line: impl Display) {
    let _ = writeln!(io::stderr(), "{command}: {line}");
}
