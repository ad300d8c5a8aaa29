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
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressBarIter, ProgressStyle};
use pcap_file::DataLink;
use sealcomb_command::{Status, complain, exit_statuses, print};
use sealcomb_numbers::Fingerprint;

use crate::NAME;
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
/// output has its name, nothing is an error: status 3 would mean that there is no output.
pub(crate) fn conclude(
    (input, output): (&Path, &Path),
    capture: &Capture<impl Read>,
    writer: Writer,
    mut lines: Vec<String>,
    tally: &Tally<impl Cause>,
    verb: &str,
) -> Result<Status> {
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
    let mut status = match (&failures, &truncation) {
        (Some(_), _) => Status::Failed,
        (None, Some(_)) => Status::Partly,
        (None, None) => Status::Done,
    };
    if status != Status::Done {
        let reasons: Vec<String> =
            failures.into_iter().chain(truncation.map(|_| "the capture is truncated".into())).collect();
        lines.push(format!("exit status {}: {}", status as u8, reasons.join(", ")));
    }
    if let Err(error) = print(lines.join("\n")) {
        warn(format!("the report is lost: {error:#}; {} is complete", output.display()));
        if status == Status::Done {
            status = Status::Partly;
        }
    }
    Ok(status)
}

/// Returns the section about exit statuses of a command's `--help`. `lost` says what makes the status 1 although there
/// is an output.
pub(crate) fn capture_statuses(lost: &str) -> String {
    let failed = format!("{lost};\nor IN is no capture, or damaged");
    exit_statuses(&[
        (Status::Failed, &failed),
        (Status::Usage, "an argument, or the SA file"),
        (Status::Io, "a file, or the folder of the numbers; there is no OUT"),
        (Status::Partly, "IN is truncated, or the report could not be printed; OUT is complete\nso far"),
    ])
}

/// Prints a warning. A standard error that is full or closed changes nothing.
pub(crate) fn warn(what: impl Display) {
    complain(NAME, format_args!("warning: {what}"));
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
