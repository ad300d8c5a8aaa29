//! What commands that work on captures share: reading and writing them, the files with keys, the numbers that keys
//! have used, how it went.

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

/// The numbers that the keys of a file have used, for this run alone: in the folder `state`, or in the user's.
pub(crate) fn take_sequences(
    state: Option<&Path>,
    file: KeyFile<'_>,
    keys: &[Fingerprint],
) -> Result<Sequences> {
    let waiting = |lock: &Path| warn(format!("waiting for another run that has {}", lock.display()));
    Sequences::open(state, file, keys, waiting)
}

/// Gives the output its name, tells what was done, and says with the exit status whether all went well.
pub(crate) fn conclude(
    (input, output): (&Path, &Path),
    capture: &Capture<impl Read>,
    writer: Writer,
    mut lines: Vec<String>,
    tally: &Tally<impl Cause>,
    verb: &str,
) -> Result<ExitCode> {
    debug_assert_eq!(tally.total(), capture.records(), "a packet has no name");
    let failures = tally.failures(verb);
    let displaced = capture.early() + writer.late();
    writer.finish()?;
    if displaced > 0 {
        warn(format!(
            "{}: the times of {displaced} packets do not fit into the format, and are the nearest that do; pcap holds \
             those from 1970 to 2106, pcapng to 2554",
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
            failures.into_iter().chain(truncation.map(|_| "the capture was cut off".into())).collect();
        lines.push(format!("exit status 1: {}", reasons.join(", ")));
    }
    stdout::print(&(lines.join("\n") + "\n"))?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

pub(crate) fn warn(what: impl Display) {
    eprintln!("sealcomb: warning: {what}");
}

/// Opens a capture of link types that the command knows, with a progress bar while it is read if this is a terminal.
pub(crate) fn open_capture(path: &Path, knows: fn(DataLink) -> bool) -> Result<Capture<impl Read>> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(name)?;
    let bytes = file.metadata().with_context(name)?.len();
    let bar = ProgressBar::new(bytes)
        .with_style(ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}")?);
    let source: ProgressBarIter<File> = bar.wrap_read(file);
    Capture::new(path, source, knows)
}

/// The next records, `None` at the end.
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

/// How many records came with a frame check sequence.
pub(crate) fn with_fcs(records: &[Record]) -> u64 {
    records.iter().filter(|record| record.fcs > 0).count() as u64
}

/// Which records a burst is of.
pub(crate) fn place(input: &Path, records: &[Record]) -> impl Display + Send + Sync + 'static {
    let first = records.first().map_or(0, |record| record.number);
    let last = records.last().map_or(0, |record| record.number);
    format!("{}: records {first} to {last}", input.display())
}
