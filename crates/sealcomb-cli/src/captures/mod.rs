//! Common parts of the commands that work on captures: reading and writing captures, SA files, sequence numbers,
//! speed measurement and the report.

pub(crate) mod capture;
pub(crate) mod fields;
mod pcapng;
pub(crate) mod sequences;
pub(crate) mod speed;
pub(crate) mod tally;
pub(crate) mod writer;

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressBarIter, ProgressStyle};
use pcap_file::DataLink;
use sealcomb_numbers::Fingerprint;

use crate::stdout;
use capture::{Capture, Record};
use sequences::{KeyFile, Sequences};
use tally::{Cause, Tally};
use writer::Writer;

/// Locks the sequence numbers of `keys` for this run and reads them, from the directory `state` and the user's state
/// directories.
pub(crate) fn take_sequences(
    state: Option<&Path>,
    file: KeyFile<'_>,
    keys: &[Fingerprint],
) -> Result<Sequences> {
    let waiting = |lock: &Path| warn(format!("waiting for another run, which holds {}", lock.display()));
    Sequences::open(state, file, keys, waiting)
}

/// Gives the output its name, prints the report and the warnings, and returns the exit status. Once the
/// output has its name, nothing is an error: status 2 would mean that there is no output.
pub(crate) fn conclude(
    (input, output): (&Path, &Path),
    capture: &Capture<impl Read>,
    writer: Writer,
    mut lines: Vec<String>,
    tally: &Tally<impl Cause>,
    verb: &str,
) -> Result<ExitCode> {
    debug_assert_eq!(tally.total(), capture.records(), "a packet is not accounted for");
    let failures = tally.failures(verb);
    let clamped = capture.early() + writer.late();
    writer.finish()?;
    if clamped > 0 {
        warn(format!(
            "{}: {clamped} timestamps are out of range and were clamped; pcap supports the years 1970 to 2106, pcapng \
             1970 to 2554",
            output.display()
        ));
    }
    let truncation = capture.truncation();
    if let Some(truncation) = &truncation {
        warn(truncation);
    }
    if let Some(failures) = &failures {
        warn(format!("{}: {failures}", input.display()));
    }
    let failed = truncation.is_some() || failures.is_some();
    if failed {
        let reasons: Vec<String> =
            failures.into_iter().chain(truncation.map(|_| "the capture is truncated".into())).collect();
        lines.push(format!("exit status 1: {}", reasons.join(", ")));
    }
    let printed = stdout::print(&(lines.join("\n") + "\n"));
    if let Err(error) = &printed {
        warn(format!("the report is lost: {error:#}; {} is complete", output.display()));
    }
    Ok(if failed || printed.is_err() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Prints a warning. A standard error that is full or closed changes nothing.
pub(crate) fn warn(what: impl Display) {
    let _ = writeln!(io::stderr(), "sealcomb: warning: {what}");
}

/// Opens a capture, with a progress bar on standard error if that is a terminal. A pcap file whose link type
/// `is_supported` rejects is an error.
pub(crate) fn open_capture(path: &Path, is_supported: fn(DataLink) -> bool) -> Result<Capture<impl Read>> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(name)?;
    let bytes = file.metadata().with_context(name)?.len();
    let bar = ProgressBar::new(bytes)
        .with_style(ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}")?);
    let source: ProgressBarIter<File> = bar.wrap_read(file);
    Capture::new(path, source, is_supported)
}

/// Reads up to `burst` records; `None` at the end of the capture.
pub(crate) fn next_burst(capture: &mut Capture<impl Read>, burst: u16) -> Result<Option<Vec<Record>>> {
    let mut records = Vec::with_capacity(burst.into());
    while records.len() < burst.into() {
        match capture.next()? {
            Some(record) => records.push(record),
            None => break,
        }
    }
    Ok((!records.is_empty()).then_some(records))
}

/// Returns the number of records whose capture contains a frame check sequence.
pub(crate) fn with_fcs(records: &[Record]) -> u64 {
    records.iter().filter(|record| record.fcs > 0).count() as u64
}

/// Returns where the receiver's window starts for a capture whose first number is approximately `first`. The actual one
/// can be lower by 2^30, and higher by 2^30 less a burst: more than the billion that the options promise.
pub(crate) fn lowest_first(first: u64) -> u64 {
    first.saturating_sub(1 << 30).max(1)
}

/// Describes the records of a burst, for error messages.
pub(crate) fn place(input: &Path, records: &[Record]) -> impl Display + Send + Sync + 'static {
    let first = records.first().map_or(0, |record| record.number);
    let last = records.last().map_or(0, |record| record.number);
    format!("{}: records {first} to {last}", input.display())
}
