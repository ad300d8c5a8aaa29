//! `sealcomb esp`: the IP packets of a capture into ESP tunnel packets (RFC 4303) and back.
//!
//! The protocol is the crate `sealcomb-esp`; `transform` and `sa` are bursts of whole IP packets over it, and know of
//! no files; the rest is the command.

mod carried;
mod fragments;
pub(crate) mod fuzz;
mod ip;
mod report;
mod sa;
mod sa_file;
#[cfg(test)]
mod tests;
mod transform;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use pcap_file::DataLink;

use crate::captures::capture::{Capture, Record};
use crate::captures::sequences::KeyFile;
use crate::captures::speed::{self, Round, Sample};
use crate::captures::tally::Tally;
use crate::captures::writer::{Readers, Writer};
use crate::captures::{conclude, fields, next_burst, open_capture, place, take_sequences, warn, with_fcs};
use fragments::{Added, Fragments};
use report::{TOO_LONG, Unopened, Unsealed};
use sa::Sa;
use transform::{Incoming, Opener, Outgoing, Sealer, Used};

/// Turn the IP packets of a capture into ESP tunnel packets (RFC 4303) and back
#[derive(Args, Debug)]
pub(crate) struct EspArgs {
    #[command(subcommand)]
    command: EspCommand,
}

#[derive(Subcommand, Debug)]
enum EspCommand {
    /// Seal each IP packet of a capture into an ESP packet
    #[command(after_help = SEAL_STATUS)]
    Seal(Seal),
    /// Verify ESP packets and give back the IP packets in them
    ///
    /// Forged and replayed packets are dropped and counted.
    #[command(after_help = OPEN_STATUS)]
    Open(Open),
}

const SEAL_STATUS: &str = "\
Sequence numbers: the counter modes make their nonces of them, and a nonce that comes twice under one key gives the \
plaintext away. So each run goes on where the last one with the same key ended, wherever the SA file lies: the numbers \
are kept for each key and user in $XDG_STATE_HOME/sealcomb, ~/.local/state/sealcomb, or the folder that --state names. \
They must not be lost, nor an older copy come back. An SA file of another user is refused, because that user has \
numbers of their own.

Lengths: a packet is as long as its header says; where that is 0, because the network card was to write it after the \
capture (segmentation offload), it is as long as its frame, and the length is written into its header. A frame check \
sequence (FCS) that the capture announces is removed.

Exit status: 0 if every packet that an SA protects was sealed; 1 if nothing was sealed, packets were clipped by the \
capture, too long for the tunnel, with malformed headers, or of a link type that is not read, or the capture was cut \
off; 2 for bad input, with no output written. The report counts the packets of each cause, and those that are not \
ours: not IP, or that no SA protects.

Examples:
  sealcomb esp seal in.pcap sealed.pcap --sa sa.toml
  sealcomb esp seal in.pcap sealed.pcap --sa sa.toml --state /var/lib/sealcomb";

const OPEN_STATUS: &str = "\
ESP is found behind IP options and extension headers, in UDP on port 4500 (RFC 3948), and in IP fragments, which are \
reassembled.

Exit status: 0 if every ESP packet was opened; 1 if nothing was opened, or packets were
  clipped by the capture, with malformed headers, jumbograms, or of a link type that is not read;
  IP fragments of incomplete packets;
  ESP in another tunnel (GRE, IP in IP, VXLAN and others), or on TCP port 4500 (RFC 9329);
  too short for ESP, forged, replayed, malformed, of an unknown SPI, or outside their SA's selector;
or the capture was cut off; 2 for bad input, with no output written. The report counts the packets of each cause, and \
those that are not ours: not IP, not ESP, or IKE or NAT keepalives. Dummies are dropped, as they are meant to be.

Example:
  sealcomb esp open sealed.pcap opened.pcap --sa sa.toml";

#[derive(Args, Debug)]
struct Transform {
    /// Capture to read: pcap or pcapng; Ethernet, Linux cooked, loopback or raw IP
    #[arg(value_name = "IN.pcap")]
    input: PathBuf,
    /// Capture to write: raw IP (ESP does not carry link-layer headers), as pcapng if its name ends in .pcapng, else
    /// as pcap
    #[arg(value_name = "OUT.pcap")]
    output: PathBuf,
    /// Security associations, in TOML
    #[arg(long, value_name = "FILE")]
    sa: PathBuf,
    /// Packets that are processed at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    burst: u16,
}

#[derive(Args, Debug)]
struct Seal {
    #[command(flatten)]
    transform: Transform,
    /// Folder to keep the sequence numbers in that keys have used [default: `$XDG_STATE_HOME/sealcomb`, or
    /// `~/.local/state/sealcomb`]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Number the packets of each SA from N, whatever was used before, and keep no state: for demonstrations, and for
    /// whoever keeps the numbers elsewhere. The same numbers must never serve twice under one key
    #[arg(long, value_name = "N", conflicts_with = "state", value_parser = clap::value_parser!(u64).range(1..))]
    start_sequence: Option<u64>,
}

#[derive(Args, Debug)]
struct Open {
    #[command(flatten)]
    transform: Transform,
    /// For SAs with `esn`: the sequence number near which the capture begins, since packets carry its low half only
    /// [default: the SA's `sequence`, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    start_sequence: Option<u64>,
}

/// Runs the command. An error is one line that names the file and the place in it.
pub(crate) fn run(args: EspArgs) -> Result<ExitCode> {
    match args.command {
        EspCommand::Seal(args) => seal(&args),
        EspCommand::Open(args) => open(&args),
    }
}

fn seal(args: &Seal) -> Result<ExitCode> {
    let Seal { transform: args, state, start_sequence } = args;
    let (associations, keys_are_public) = fields::read(&args.sa, |name, text| {
        let (associations, keys_are_public) = sa_file::parse(name, text)?;
        Ok(((associations, keys_are_public), keys_are_public))
    })?;
    let throwaway: Vec<Sa> = associations.iter().map(Sa::throwaway).collect::<Result<_>>()?;
    let mut sealer = Sealer::new(match *start_sequence {
        None => associations,
        Some(first) => starting_at(first, associations)?,
    });
    if start_sequence.is_some() && !keys_are_public {
        warn("--start-sequence: the same numbers must never serve twice under one key");
    }
    let mut capture = open_capture(&args.input, ip::knows)?;
    let mut writer = Writer::create(&args.output, DataLink::RAW, capture.has_nanoseconds(), Readers::Any)?;
    let file = KeyFile { path: &args.sa, is_public: keys_are_public };
    let keys = sealer.fingerprints();
    let take = || take_sequences(state.as_deref(), file, &keys);
    let mut sequences = if start_sequence.is_none() { Some(take()?) } else { None };
    if let Some(sequences) = &sequences {
        sealer.go_on(|key| sequences.last(key));
    }

    let mut tally = Tally::new();
    let mut sample = Sample::default();
    while let Some(records) = next_burst(&mut capture, args.burst)? {
        let (times, burst) = outgoing(&sealer, &records, &mut tally);
        if let Some(sequences) = &mut sequences {
            sequences.reserve(sealer.wanted(&burst))?;
        }
        let sealed = sealer.seal(&burst).with_context(|| place(&args.input, &records))?;
        for ((time, outgoing), esp) in times.into_iter().zip(&burst).zip(sealed) {
            let Some(esp) = esp else {
                tally.not_done(TOO_LONG);
                continue;
            };
            tally.done(outgoing.inner().len());
            writer.write(time, &esp)?;
        }
        tally.with_fcs(with_fcs(&records));
        sample.keep(records);
    }
    if let Some(sequences) = &mut sequences {
        sequences.settle(sealer.used().map(|Used { numbers, .. }| numbers))?;
    }
    let numbers = |Used { spi, numbers }: Used| {
        format!("SA {spi:#x}: sequence numbers {} to {}", numbers.first, numbers.last)
    };
    let mut lines = vec![tally.report("sealed", "packets")];
    lines.extend(sealer.used().map(numbers));
    lines.extend(sealing_speed(Sealer::new(throwaway), &sample, args.burst)?);
    conclude((&args.input, &args.output), &capture, writer, lines, &tally, "sealed")
}

/// Seals the sample again and again, under other keys: no sequence number may serve twice under those of the file.
fn sealing_speed(mut sealer: Sealer, sample: &Sample, size: u16) -> Result<Option<String>> {
    let mut ignored = Tally::new();
    let bursts: Vec<Vec<Outgoing<'_>>> =
        sample.bursts().map(|records| outgoing(&sealer, records, &mut ignored).1).collect();
    speed::tell("sealed under throwaway keys", size, || {
        let mut round = Round::default();
        for burst in &bursts {
            for (outgoing, sealed) in burst.iter().zip(sealer.seal(burst)?) {
                if sealed.is_some() {
                    round.count(outgoing.inner().len());
                }
            }
        }
        Ok(round)
    })
}

/// Has all associations begin at a number.
fn starting_at(first: u64, mut associations: Vec<Sa>) -> Result<Vec<Sa>> {
    for sa in &mut associations {
        let last = sa.last();
        if first > last {
            bail!(
                "--start-sequence {first}: SA {:#x} has no `esn = true`, so its numbers end at {last}",
                sa.spi
            );
        }
        sa.first = first;
    }
    Ok(associations)
}

/// The packets to seal of a burst of records, with their times.
fn outgoing<'a>(
    sealer: &Sealer,
    records: &'a [Record],
    tally: &mut Tally<Unsealed>,
) -> (Vec<Duration>, Vec<Outgoing<'a>>) {
    let mut packets = Vec::with_capacity(records.len());
    for record in records {
        let inner = ip::packet(record).map_err(Unsealed::NoPacket);
        match inner.and_then(|inner| sealer.select(inner).ok_or(Unsealed::Unprotected)) {
            Err(cause) => tally.not_done(cause),
            Ok(outgoing) => packets.push((record.time, outgoing)),
        }
    }
    packets.into_iter().unzip()
}

fn open(args: &Open) -> Result<ExitCode> {
    let Open { transform: args, start_sequence } = args;
    let mut associations = fields::read(&args.sa, sa_file::parse)?;
    for sa in associations.iter_mut().filter(|sa| sa.extended) {
        sa.first = start_sequence.unwrap_or(sa.first);
    }
    let mut opener = Opener::new(associations);
    let mut capture = open_capture(&args.input, ip::knows)?;
    let mut writer = Writer::create(&args.output, DataLink::RAW, capture.has_nanoseconds(), Readers::Owner)?;
    let mut tally = Tally::new();
    let mut fragments = Fragments::default();
    let mut sample = Sample::default();
    while let Some(records) = next_burst(&mut capture, args.burst)? {
        let (times, burst) = incoming(&records, &mut fragments, &mut tally);
        let opened = opener.open(&burst).with_context(|| place(&args.input, &records))?;
        for (time, inner) in times.into_iter().zip(opened) {
            match inner {
                Err(reason) => tally.not_done(Unopened::Dropped(reason)),
                Ok(inner) => {
                    tally.done(inner.len());
                    writer.write(time, &inner)?;
                }
            }
        }
        tally.with_fcs(with_fcs(&records));
        sample.keep(records);
    }
    for (cause, count) in fragments.lost() {
        tally.add(cause, count);
    }
    let mut lines = vec![tally.report("opened", "packets")];
    lines.extend(opening_speed(&mut opener, &sample, args.burst)?);
    conclude((&args.input, &args.output), &capture, writer, lines, &tally, "opened")
}

/// Opens the sample again and again.
fn opening_speed(opener: &mut Opener, sample: &Sample, size: u16) -> Result<Option<String>> {
    let (mut fragments, mut ignored) = (Fragments::default(), Tally::new());
    let bursts: Vec<Vec<Incoming<'_>>> =
        sample.bursts().map(|records| incoming(records, &mut fragments, &mut ignored).1).collect();
    speed::tell("opened", size, || {
        let mut round = Round::default();
        opener.forget();
        for burst in &bursts {
            for inner in opener.open(burst)?.into_iter().flatten() {
                round.count(inner.len());
            }
        }
        Ok(round)
    })
}

/// The packets to open of a burst of records, with their times. Those that came in fragments have the time of their
/// last one.
fn incoming<'a>(
    records: &'a [Record],
    fragments: &mut Fragments,
    tally: &mut Tally<Unopened>,
) -> (Vec<Duration>, Vec<Incoming<'a>>) {
    let mut packets = Vec::with_capacity(records.len());
    for record in records {
        match incoming_packet(record, fragments, tally) {
            Err(cause) => tally.not_done(cause),
            Ok(None) => {}
            Ok(Some(incoming)) => packets.push((record.time, incoming)),
        }
    }
    packets.into_iter().unzip()
}

/// The packet to open of a record. `None`: it is a fragment, and others are to come.
fn incoming_packet<'a>(
    record: &'a Record,
    fragments: &mut Fragments,
    tally: &mut Tally<Unopened>,
) -> Result<Option<Incoming<'a>>, Unopened> {
    let packet = ip::packet(record).map_err(Unopened::NoPacket)?;
    match fragments.add(packet, record.interface, record.time).map_err(Unopened::NoEsp)? {
        Added::Waiting => Ok(None),
        Added::Whole(packet) => Incoming::find(packet).map(Some).map_err(Unopened::NoEsp),
        Added::Reassembled(packet, fragments) => {
            tally.reassembled(fragments);
            Incoming::find(packet).map(Some).map_err(Unopened::NoEsp)
        }
    }
}

/// The lengths of the IP packets of a capture: one that holds only the beginning of each packet serves as well. What
/// is not IP is passed over. A capture that was cut off serves up to there, with a warning.
pub(crate) fn packet_lengths(path: &Path) -> Result<Vec<usize>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut capture = Capture::new(path, file, ip::knows)?;
    let mut lengths = Vec::new();
    while let Some(record) = capture.next()? {
        lengths.extend(ip::packet_len(&record));
    }
    if let Some(truncation) = capture.truncation() {
        warn(truncation);
    }
    Ok(lengths)
}
