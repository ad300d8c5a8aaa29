//! `sealcomb esp`: seals the IP packets of a capture as ESP tunnel packets (RFC 4303), and opens such captures.
//!
//! The crate `sealcomb-esp` implements the protocol. `transform` and `sa` apply it to bursts of IP packets, without
//! file I/O. The other modules implement the command.

mod carried;
mod cooked;
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
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use pcap_file::DataLink;
use sealcomb_command::{Classify, Status, with_status};

use crate::captures::capture::{Capture, Record};
use crate::captures::sequences::KeyFile;
use crate::captures::speed::{self, Round, Sample};
use crate::captures::tally::Tally;
use crate::captures::writer::{Readers, Writer};
use crate::captures::{
    capture_statuses, conclude, fields, lowest_first, next_burst, open_capture, place, take_sequences, warn,
    with_fcs,
};
use fragments::{Added, Fragments};
use ip::NoPacket;
use report::{TOO_LONG, Unopened, Unsealed};
use sa::Sa;
use transform::{Incoming, Opener, Outgoing, Sealer, Used};

/// Seal the IP packets of a capture as ESP tunnel packets (RFC 4303), or open such a capture
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EspArgs {
    #[command(subcommand)]
    command: EspCommand,
}

#[derive(Subcommand, Debug)]
enum EspCommand {
    /// Seal each IP packet of a capture as an ESP packet
    ///
    /// Prints how many packets were sealed, why others were not, and the sequence numbers used by each
    /// SA.
    #[command(after_help = after_seal(), verbatim_doc_comment)]
    Seal(Seal),
    /// Verify the ESP packets of a capture and restore the IP packets in them
    ///
    /// Drops forged and replayed packets. Prints how many packets were opened and why others were not.
    #[command(after_help = after_open(), verbatim_doc_comment)]
    Open(Open),
}

const EXAMPLES: &str = "\
Examples:
  sealcomb esp seal in.pcap sealed.pcap --sa sa.toml
  sealcomb esp open sealed.pcap opened.pcap --sa sa.toml";

const SEAL_HELP: &str = "\
Sequence numbers:
  Counter modes build their nonces from sequence numbers. A nonce that repeats under one key
  reveals the plaintexts. Each run therefore continues after the last number used under the same
  key, wherever the SA file is. The last numbers are stored per key and user in
  ~/.local/state/sealcomb, and also in $XDG_STATE_HOME/sealcomb and in the directory given by
  --state, if there are any. Never delete them or restore an older copy. An SA file owned by another
  user is rejected, because that user's numbers are stored separately.

Packet lengths:
  A packet has the length in its header. If that is 0 because of segmentation offload, the length of
  the frame is used and written to the header. A frame check sequence (FCS) that the capture
  declares is removed.

SA file, for AES-128-GCM; captures/README.md describes all fields:
  [[sa]]
  spi = 0x1001
  source = \"203.0.113.1\"
  destination = \"203.0.113.2\"
  cipher = \"aes-gcm\"
  key = \"000102030405060708090a0b0c0d0e0f\"
  salt = \"cafebabe\"";

const SEAL_EXAMPLES: &str = "\
Examples:
  sealcomb esp seal in.pcap sealed.pcap --sa sa.toml
  sealcomb esp seal in.pcap sealed.pcapng --sa sa.toml --state numbers";

const OPEN_HELP: &str = "\
ESP packets are found after IP options and extension headers, in UDP on port 4500 (RFC 3948), and in
IP fragments, which are reassembled.";

const OPEN_EXAMPLES: &str = "\
Examples:
  sealcomb esp open sealed.pcap opened.pcap --sa sa.toml
  sealcomb esp open sealed.pcap opened.pcapng --sa sa.toml --burst 64";

fn after_seal() -> String {
    let statuses = capture_statuses(
        "nothing was sealed; or packets were clipped by the capture, too long for the\n\
         tunnel, of an unsupported link type, or had malformed headers;\n\
         or the numbers of an SA's key are used up",
    );
    format!(
        "{SEAL_HELP}\n\n{statuses}\n  Packets that are not IP or not protected by any SA are skipped and do not \
         affect the status.\n\n{SEAL_EXAMPLES}"
    )
}

fn after_open() -> String {
    let statuses = capture_statuses(
        "nothing was opened; or packets were\n\
         \x20 clipped by the capture, jumbograms, of an unsupported link type, or had malformed headers;\n\
         \x20 IP fragments of incomplete packets;\n\
         \x20 ESP inside another tunnel (GRE, IP in IP, VXLAN and others), or on TCP port 4500 (RFC 9329);\n\
         \x20 too short for ESP, forged, replayed, malformed, of an unknown SPI, or outside their SA's\n\
         \x20 selector",
    );
    format!(
        "{OPEN_HELP}\n\n{statuses}\n  Packets that are not IP, not ESP, or IKE or NAT keepalives are skipped, and \
         dummy packets are\n  dropped. Neither affects the status.\n\n{OPEN_EXAMPLES}"
    )
}

#[derive(Args, Debug)]
struct Transform {
    /// Capture to read: pcap or pcapng, with Ethernet, Linux cooked, loopback or raw IP packets
    #[arg(value_name = "IN.pcap")]
    input: PathBuf,
    /// Capture to write, with raw IP packets: pcapng if the name ends in .pcapng, else pcap
    #[arg(value_name = "OUT.pcap")]
    output: PathBuf,
    /// TOML file of security associations
    #[arg(long, value_name = "FILE")]
    sa: PathBuf,
    /// Number of packets per burst; a burst is sealed or opened in batches of up to 128
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    burst: u16,
}

#[derive(Args, Debug)]
struct Seal {
    #[command(flatten)]
    transform: Transform,
    /// Directory that stores the last sequence number of each key
    ///
    /// [default: `$XDG_STATE_HOME/sealcomb` or `~/.local/state/sealcomb`]
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    state: Option<PathBuf>,
    /// Number the packets of each SA from N, and store no numbers
    ///
    /// Ignores the numbers used before. Never use a number twice under one key: use this option
    /// only for demonstrations, or if you keep track of the numbers yourself.
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "state",
        value_parser = clap::value_parser!(u64).range(1..),
        verbatim_doc_comment
    )]
    start_sequence: Option<u64>,
}

#[derive(Args, Debug)]
struct Open {
    #[command(flatten)]
    transform: Transform,
    /// Approximate first sequence number of the capture, for SAs with `esn`
    ///
    /// Packets contain only the low half of the number.
    /// N may be off by a billion.
    /// [default: the SA's `sequence`, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), verbatim_doc_comment)]
    start_sequence: Option<u64>,
}

/// Runs the command. Errors are one line, with the file and the position in it.
pub(crate) fn run(args: EspArgs) -> Result<Status> {
    match args.command {
        EspCommand::Seal(args) => seal(&args),
        EspCommand::Open(args) => open(&args),
    }
}

fn seal(args: &Seal) -> Result<Status> {
    let Seal { transform: args, state, start_sequence } = args;
    let (associations, keys_are_public) = fields::read(&args.sa, |name, text| {
        let (associations, keys_are_public) = sa_file::parse(name, text)?;
        Ok(((associations, keys_are_public), keys_are_public))
    })?;
    let throwaway: Vec<Sa> = associations.iter().map(Sa::throwaway).collect::<Result<_>>()?;
    let mut sealer = Sealer::new(match *start_sequence {
        None => associations,
        Some(first) => starting_at(first, associations).or_usage()?,
    });
    if start_sequence.is_some() && !keys_are_public {
        warn("--start-sequence: never use the same number twice under one key");
    }
    let mut capture = open_capture(&args.input, ip::is_supported)?;
    let mut writer = Writer::create(&args.output, DataLink::RAW, capture.has_nanoseconds(), Readers::Any)?;
    let file = KeyFile { path: &args.sa, is_public: keys_are_public };
    let keys = sealer.fingerprints();
    let take = || take_sequences(state.as_deref(), file, &keys);
    let mut sequences = if start_sequence.is_none() { Some(take()?) } else { None };
    if let Some(sequences) = &sequences {
        sealer.resume(|key| sequences.last(key));
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

/// Measures sealing the sample repeatedly. Uses throwaway keys, because sequence numbers must not repeat under the
/// file's keys.
fn sealing_speed(mut sealer: Sealer, sample: &Sample, size: u16) -> Result<Option<String>> {
    let mut ignored = Tally::new();
    let bursts: Vec<Vec<Outgoing<'_>>> =
        sample.bursts().map(|records| outgoing(&sealer, records, &mut ignored).1).collect();
    speed::measure("sealed under throwaway keys", size, || {
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

/// Sets the first sequence number of all associations.
fn starting_at(first: u64, mut associations: Vec<Sa>) -> Result<Vec<Sa>> {
    for sa in &mut associations {
        let last = sa.last();
        if first > last {
            bail!(
                "--start-sequence {first}: the last number of SA {:#x} is {last}; with esn = true it has 64 bits",
                sa.spi
            );
        }
        sa.first = first;
    }
    Ok(associations)
}

/// Selects the packets to seal from a burst of records, with their times, and counts the others.
fn outgoing<'a>(
    sealer: &Sealer,
    records: &'a [Record],
    tally: &mut Tally<Unsealed>,
) -> (Vec<Duration>, Vec<Outgoing<'a>>) {
    let mut packets = Vec::with_capacity(records.len());
    for record in records {
        match outgoing_packet(sealer, record) {
            Err(cause) => tally.not_done(cause),
            Ok(outgoing) => packets.push((record.time, outgoing)),
        }
    }
    packets.into_iter().unzip()
}

fn outgoing_packet<'a>(sealer: &Sealer, record: &'a Record) -> Result<Outgoing<'a>, Unsealed> {
    match ip::packet(record) {
        Ok(inner) => sealer.select(inner).ok_or(Unsealed::Unprotected),
        Err(reason) => {
            // The packet is not lost if its header shows that no association protects it.
            let is_incomplete = matches!(reason, NoPacket::Clipped | NoPacket::TooLong);
            let beginning = ip::beginning(record).filter(|_| is_incomplete);
            let is_unprotected = beginning.is_some_and(|packet| sealer.select(packet).is_none());
            Err(if is_unprotected { Unsealed::Unprotected } else { Unsealed::NoPacket(reason) })
        }
    }
}

fn open(args: &Open) -> Result<Status> {
    let Open { transform: args, start_sequence } = args;
    let mut associations = fields::read(&args.sa, sa_file::parse)?;
    if start_sequence.is_some() && !associations.iter().any(|sa| sa.extended) {
        let error = anyhow!("--start-sequence: no SA has esn = true; other packets contain the whole number");
        return Err(with_status(Status::Usage, error));
    }
    for sa in associations.iter_mut().filter(|sa| sa.extended) {
        sa.first = start_sequence.map_or(sa.first, lowest_first);
    }
    let mut opener = Opener::new(associations);
    let mut capture = open_capture(&args.input, ip::is_supported)?;
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

/// Measures opening the sample repeatedly.
fn opening_speed(opener: &mut Opener, sample: &Sample, size: u16) -> Result<Option<String>> {
    let (mut fragments, mut ignored) = (Fragments::default(), Tally::new());
    let bursts: Vec<Vec<Incoming<'_>>> =
        sample.bursts().map(|records| incoming(records, &mut fragments, &mut ignored).1).collect();
    speed::measure("opened", size, || {
        let mut round = Round::default();
        opener.reset();
        for burst in &bursts {
            for inner in opener.open(burst)?.into_iter().flatten() {
                round.count(inner.len());
            }
        }
        Ok(round)
    })
}

/// Selects the packets to open from a burst of records, with their times, and counts the others. The time of a
/// reassembled packet is that of the last fragment.
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

/// Returns the packet to open from a record. `None` if the record is a fragment of a packet that is not yet complete.
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

/// Returns the lengths in bytes of all IP packets in a capture. Works on captures with a snap length too, whose
/// packets can claim any length: one of more than `max` bytes is an error. Skips other packets, with a warning if
/// these may be IP packets. A truncated capture is used up to its last complete packet, with a warning.
pub(crate) fn packet_lengths(path: &Path, max: usize) -> Result<Vec<usize>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut capture = Capture::new(path, file, ip::is_supported)?;
    let (mut lengths, mut unknown) = (Vec::new(), 0_u64);
    while let Some(record) = capture.next()? {
        match ip::packet_len(&record) {
            Ok(bytes) if bytes > max => bail!(
                "{}: packet {}: {bytes} bytes; expected at most {max}; if its length is corrupt, remove the packet",
                path.display(),
                record.number
            ),
            Ok(bytes) => lengths.push(bytes),
            Err(NoPacket::NotIp) => {}
            Err(_) => unknown += 1,
        }
    }
    if unknown > 0 {
        warn(format!(
            "{}: {unknown} packets are not used: the capture clips their headers, or these are malformed or of an \
             unsupported link type",
            path.display()
        ));
    }
    if let Some(truncation) = capture.truncation() {
        warn(truncation);
    }
    Ok(lengths)
}
