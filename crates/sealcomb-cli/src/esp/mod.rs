//! `sealcomb esp`: the IP packets of a capture into ESP tunnel packets (RFC 4303) and back.
//!
//! Sequence numbers have 32 bits; extended sequence numbers are not supported.

mod capture;
mod ip;
mod packet;
mod replay;
mod report;
mod sa;
mod speed;
#[cfg(test)]
mod tests;
mod transform;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressBarIter, ProgressStyle};
use sealcomb::Backend;

use crate::stdout;
use capture::{Capture, Record, Writer};
use report::{Done, Opened, Sealed};
use speed::Meter;
use transform::{Incoming, Opener, Outgoing, Sealer, Used};

pub(crate) use capture::packet_lengths;

/// Turn the IP packets of a capture into ESP tunnel packets (RFC 4303) and back
#[derive(Args, Debug)]
pub(crate) struct EspArgs {
    #[command(subcommand)]
    command: EspCommand,
}

#[derive(Subcommand, Debug)]
enum EspCommand {
    /// Seal each IP packet of a capture into an ESP packet
    ///
    /// Every run counts sequence numbers from the SA's `sequence` (1 if not given), and the counter modes make their
    /// nonces of them: an SA's key must serve for one run only, or the next run must go on where the last one ended.
    Seal(Transform),
    /// Verify ESP packets and give back the IP packets in them
    ///
    /// Forged and replayed packets are dropped and counted.
    Open(Transform),
}

#[derive(Args, Debug)]
struct Transform {
    /// Capture to read: pcap or pcapng; Ethernet, Linux cooked, loopback or raw IP
    #[arg(value_name = "IN.pcap")]
    input: PathBuf,
    /// Capture to write: pcap, raw IP (ESP does not carry link-layer headers)
    #[arg(value_name = "OUT.pcap")]
    output: PathBuf,
    /// Security associations, in TOML
    #[arg(long, value_name = "FILE")]
    sa: PathBuf,
    /// Packets that are processed at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    burst: u16,
}

/// Runs the command. An error is one line that names the file and the place in it.
pub(crate) fn run(args: EspArgs) -> Result<()> {
    match args.command {
        EspCommand::Seal(transform) => seal(&transform),
        EspCommand::Open(transform) => open(&transform),
    }
}

fn seal(args: &Transform) -> Result<()> {
    let mut sealer = Sealer::new(sa::read(&args.sa)?);
    let mut capture = open_capture(&args.input)?;
    let mut writer = Writer::create(&args.output, capture.has_nanoseconds())?;
    let mut report = Sealed::default();
    let mut meter = Meter::default();
    while let Some(records) = next_burst(&mut capture, args.burst)? {
        let (times, burst) = outgoing(&sealer, &records, &mut report);
        let sealed = meter.measure(|| sealer.seal(&burst)).with_context(|| place(&args.input, &records))?;
        for ((time, outgoing), esp) in times.into_iter().zip(&burst).zip(sealed) {
            let Some(esp) = esp else {
                report.too_long += 1;
                continue;
            };
            report.done.count(outgoing.inner());
            writer.write(time, &esp)?;
        }
    }
    writer.finish()?;
    let mut lines = vec![report.to_string()];
    let numbers = |Used { spi, first, last }| format!("SA {spi:#x}: sequence numbers {first} to {last}");
    lines.extend(sealer.used().map(numbers));
    lines.extend(speed(&meter, &report.done, args.burst)?);
    stdout::print(&(lines.join("\n") + "\n"))
}

/// The packets to seal of a burst of records, with their times.
fn outgoing<'a>(
    sealer: &Sealer,
    records: &'a [Record],
    report: &mut Sealed,
) -> (Vec<Duration>, Vec<Outgoing<'a>>) {
    let mut packets = Vec::with_capacity(records.len());
    for record in records {
        match ip::packet(record.link, &record.frame) {
            Err(reason) => report.done.count_no_packet(reason),
            Ok(inner) => match sealer.select(inner) {
                None => report.unprotected += 1,
                Some(outgoing) => packets.push((record.time, outgoing)),
            },
        }
    }
    packets.into_iter().unzip()
}

fn open(args: &Transform) -> Result<()> {
    let mut opener = Opener::new(sa::read(&args.sa)?);
    let mut capture = open_capture(&args.input)?;
    let mut writer = Writer::create(&args.output, capture.has_nanoseconds())?;
    let mut report = Opened::default();
    let mut meter = Meter::default();
    while let Some(records) = next_burst(&mut capture, args.burst)? {
        let (times, burst) = incoming(&records, &mut report);
        let opened = meter.measure(|| opener.open(&burst)).with_context(|| place(&args.input, &records))?;
        for (time, inner) in times.into_iter().zip(opened) {
            match inner {
                Err(reason) => report.count_dropped(reason),
                Ok(inner) => {
                    report.done.count(&inner);
                    writer.write(time, &inner)?;
                }
            }
        }
    }
    writer.finish()?;
    let mut lines = vec![report.to_string()];
    lines.extend(speed(&meter, &report.done, args.burst)?);
    stdout::print(&(lines.join("\n") + "\n"))
}

/// The packets to open of a burst of records, with their times.
fn incoming<'a>(records: &'a [Record], report: &mut Opened) -> (Vec<Duration>, Vec<Incoming<'a>>) {
    let mut packets = Vec::with_capacity(records.len());
    for record in records {
        match ip::packet(record.link, &record.frame) {
            Err(reason) => report.done.count_no_packet(reason),
            Ok(packet) => match Incoming::find(packet) {
                None => report.not_esp += 1,
                Some(incoming) => packets.push((record.time, incoming)),
            },
        }
    }
    packets.into_iter().unzip()
}

/// Opens a capture, with a progress bar while it is read if this is a terminal.
fn open_capture(path: &Path) -> Result<Capture<impl Read>> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(name)?;
    let bytes = file.metadata().with_context(name)?.len();
    let bar = ProgressBar::new(bytes)
        .with_style(ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}")?);
    let source: ProgressBarIter<File> = bar.wrap_read(file);
    Capture::new(path, source)
}

/// The next records, `None` at the end.
fn next_burst(capture: &mut Capture<impl Read>, burst: u16) -> Result<Option<Vec<Record>>> {
    let mut records = Vec::with_capacity(burst.into());
    while records.len() < burst.into() {
        match capture.next()? {
            Some(record) => records.push(record),
            None => break,
        }
    }
    Ok((!records.is_empty()).then_some(records))
}

/// Which records a burst is of.
fn place(input: &Path, records: &[Record]) -> impl fmt::Display + Send + Sync + 'static {
    let first = records.first().map_or(0, |record| record.number);
    let last = records.last().map_or(0, |record| record.number);
    format!("{}: records {first} to {last}", input.display())
}

/// How fast it went, if there was anything to do.
fn speed(meter: &Meter, done: &Done, burst: u16) -> Result<Option<String>> {
    if done.packets == 0 {
        return Ok(None);
    }
    Ok(Some(format!(
        "{:.0} packets/s, {:.2} cycles/byte in bursts of {burst} on the backend {}; captures' reading and writing \
         not counted",
        meter.packets_per_second(done.packets),
        meter.cycles_per_byte(done.bytes),
        Backend::selected()?.name(),
    )))
}
