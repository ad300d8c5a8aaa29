//! Printing to a standard output that the reader may close early.

use anyhow::{Context, Result};
use std::io::{self, ErrorKind, Write};

/// Prints `text`. A closed pipe, as in `sealcomb list | head`, is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
