//! Printing to a reader that may have seen enough.

use anyhow::{Context, Result};
use std::io::{self, ErrorKind, Write};

/// Prints `text`. That the reader is gone (as in `sealcomb list | head`) is no mistake.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
