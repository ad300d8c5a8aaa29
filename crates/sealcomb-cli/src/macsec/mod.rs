//! `sealcomb macsec`: the Ethernet frames of a capture into MACsec frames (IEEE 802.1AE) and back.
//!
//! The protocol is the crate `sealcomb-macsec`; `transform` and `sa` are bursts of frames over it, and know of no
//! files; the rest is the command.

pub(crate) mod fuzz;
mod report;
mod sa;
mod sa_file;
mod transform;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use pcap_file::DataLink;

use crate::captures::capture::Record;
use crate::captures::sequences::KeyFile;
use crate::captures::speed::{self, Round, Sample};
use crate::captures::tally::Tally;
use crate::captures::writer::{Readers, Writer};
use crate::captures::{conclude, fields, next_burst, open_capture, place, take_sequences, warn, with_fcs};
use report::Unopened;
use sa::Sa;
use transform::{Incoming, Opener, Sealer, Used};

/// Turn the Ethernet frames of a capture into MACsec frames (IEEE 802.1AE) and back
#[derive(Args, Debug)]
pub(crate) struct MacsecArgs {
    #[command(subcommand)]
    command: MacsecCommand,
}

#[derive(Subcommand, Debug)]
enum MacsecCommand {
    /// Seal each Ethernet frame of a capture into a MACsec frame
    #[command(after_help = SEAL_STATUS)]
    Seal(Seal),
    /// Verify MACsec frames and give back the frames in them
    ///
    /// Frames that are forged, late, replayed or have a bad SecTAG are dropped and counted.
    #[command(after_help = OPEN_STATUS)]
    Open(Open),
}

const SEAL_STATUS: &str = "\
Packet numbers: nonces are made of them, and a nonce that comes twice under one key gives the plaintext away. So each \
run goes on where the last one with the same key ended, wherever the SA file lies: the numbers are kept for each key \
and user in $XDG_STATE_HOME/sealcomb, ~/.local/state/sealcomb, or the folder that --state names. They must not be \
lost, nor an older copy come back. An SA file of another user is refused, because that user has numbers of their own. \
When a SA's numbers are used up, frames are sealed under the next SA of the file that protects them.

A frame check sequence (FCS) that the capture announces is removed; the output has none.

Exit status: 0 if every frame that an SA protects was sealed; 1 if nothing was sealed, frames were clipped by the \
capture, not whole, longer than any frame or of a link type that is not Ethernet, or their SAs had no packet numbers \
left, or the capture was cut off; 2 for bad input, with no output written. The report counts the frames of each cause, \
and those that are not ours: of key agreement (EAPOL), or that no SA protects.

Examples:
  sealcomb macsec seal in.pcap sealed.pcap --sa macsec.toml
  sealcomb macsec seal in.pcap sealed.pcap --sa macsec.toml --state /var/lib/sealcomb

The SA file, for GCM-AES-128 (a key of 32 bytes is GCM-AES-256; `ssci` and `salt` make it GCM-AES-XPN):
  [[sa]]
  sci = \"0200000000010001\"
  an = 0
  key = \"0123456789abcdef0123456789abcdef\"";

const OPEN_STATUS: &str = "\
VLAN tags before a SecTAG were put there after the frame was sealed; they stay where they are. A frame check sequence \
(FCS) that the capture announces is removed.

Exit status: 0 if every MACsec frame was opened; 1 if nothing was opened, frames were clipped by the capture, of a \
link type that is not Ethernet, not valid, late or replayed, had a bad SecTAG, or were of an unknown SCI or an AN \
without SA, or the capture was cut off; 2 for bad input, with no output written. The report counts the frames of each \
cause, and those that are not MACsec.

Example:
  sealcomb macsec open sealed.pcap opened.pcap --sa macsec.toml";

#[derive(Args, Debug)]
struct Transform {
    /// Capture to read: pcap or pcapng, Ethernet
    #[arg(value_name = "IN.pcap")]
    input: PathBuf,
    /// Capture to write, Ethernet too: as pcapng if its name ends in .pcapng, else as pcap
    #[arg(value_name = "OUT.pcap")]
    output: PathBuf,
    /// Secure associations, in TOML
    #[arg(long, value_name = "FILE")]
    sa: PathBuf,
    /// Frames that are processed at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    burst: u16,
}

#[derive(Args, Debug)]
struct Seal {
    #[command(flatten)]
    transform: Transform,
    /// Folder to keep the packet numbers in that keys have used [default: `$XDG_STATE_HOME/sealcomb`, or
    /// `~/.local/state/sealcomb`]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Number the frames of each SA from N, whatever was used before, and keep no state: for demonstrations, and for
    /// whoever keeps the numbers elsewhere. The same numbers must never serve twice under one key
    #[arg(long, value_name = "N", conflicts_with = "state", value_parser = clap::value_parser!(u64).range(1..))]
    start_pn: Option<u64>,
}

#[derive(Args, Debug)]
struct Open {
    #[command(flatten)]
    transform: Transform,
    /// For SAs with `ssci`: the packet number near which the capture begins, since frames carry its low half only
    /// [default: the SA's `pn`, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    start_pn: Option<u64>,
}

/// Runs the command. An error is one line that names the file and the place in it.
pub(crate) fn run(args: MacsecArgs) -> Result<ExitCode> {
    match args.command {
        MacsecCommand::Seal(args) => seal(&args),
        MacsecCommand::Open(args) => open(&args),
    }
}

fn is_ethernet(link: DataLink) -> bool {
    link == DataLink::ETHERNET
}

fn seal(args: &Seal) -> Result<ExitCode> {
    let Seal { transform: args, state, start_pn } = args;
    let (associations, keys_are_public) = fields::read(&args.sa, |name, text| {
        let (associations, keys_are_public) = sa_file::parse(name, text)?;
        Ok(((associations, keys_are_public), keys_are_public))
    })?;
    let throwaway: Vec<Sa> = associations.iter().map(Sa::throwaway).collect::<Result<_>>()?;
    let mut sealer = Sealer::new(match *start_pn {
        None => associations,
        Some(first) => starting_at(first, associations)?,
    });
    if start_pn.is_some() && !keys_are_public {
        warn("--start-pn: the same numbers must never serve twice under one key");
    }
    let mut capture = open_capture(&args.input, is_ethernet)?;
    let mut writer =
        Writer::create(&args.output, DataLink::ETHERNET, capture.has_nanoseconds(), Readers::Any)?;
    let file = KeyFile { path: &args.sa, is_public: keys_are_public };
    let keys = sealer.fingerprints();
    let take = || take_sequences(state.as_deref(), file, &keys);
    let mut sequences = if start_pn.is_none() { Some(take()?) } else { None };
    if let Some(sequences) = &sequences {
        sealer.go_on(|key| sequences.last(key));
    }

    let mut tally = Tally::new();
    let mut sample = Sample::default();
    while let Some(records) = next_burst(&mut capture, args.burst)? {
        let laid_out = sealer.lay_out(&records);
        if let Some(sequences) = &mut sequences {
            sequences.reserve(sealer.wanted())?;
        }
        let sealed = sealer.seal(laid_out).with_context(|| place(&args.input, &records))?;
        for (record, sealed) in records.iter().zip(sealed) {
            match sealed {
                Err(why) => tally.not_done(why),
                Ok(sealed) => {
                    tally.done(record.frame.len());
                    writer.write(record.time, &sealed)?;
                }
            }
        }
        tally.with_fcs(with_fcs(&records));
        sample.keep(records);
    }
    if let Some(sequences) = &mut sequences {
        sequences.settle(sealer.used().map(|Used { numbers, .. }| numbers))?;
    }
    let numbers = |Used { sci, an, numbers }: Used| {
        format!("SA {sci}, AN {an}: packet numbers {} to {}", numbers.first, numbers.last)
    };
    let mut lines = vec![tally.report("sealed", "frames")];
    lines.extend(sealer.used().map(numbers));
    lines.extend(sealing_speed(Sealer::new(throwaway), &sample, args.burst)?);
    conclude((&args.input, &args.output), &capture, writer, lines, &tally, "sealed")
}

/// Seals the sample again and again, under other keys: no packet number may serve twice under those of the file.
fn sealing_speed(mut sealer: Sealer, sample: &Sample, size: u16) -> Result<Option<String>> {
    let bursts: Vec<&[Record]> = sample.bursts().collect();
    speed::tell("sealed under throwaway keys", size, || {
        let mut round = Round::default();
        for burst in &bursts {
            let laid_out = sealer.lay_out(burst);
            for (record, sealed) in burst.iter().zip(sealer.seal(laid_out)?) {
                if sealed.is_ok() {
                    round.count(record.frame.len());
                }
            }
        }
        Ok(round)
    })
}

/// Has all associations begin at a number.
fn starting_at(first: u64, mut associations: Vec<Sa>) -> Result<Vec<Sa>> {
    for sa in &mut associations {
        let last = sa.sak.last_pn();
        if first > last {
            let sci = sa.header.sci;
            bail!("--start-pn {first}: SA {sci} has no `ssci`, so its numbers end at {last}");
        }
        sa.first = first;
    }
    Ok(associations)
}

fn open(args: &Open) -> Result<ExitCode> {
    let Open { transform: args, start_pn } = args;
    let mut associations = fields::read(&args.sa, sa_file::parse)?;
    for sa in &mut associations {
        sa.first = if sa.sak.is_extended() { start_pn.unwrap_or(sa.first) } else { 1 };
    }
    let mut opener = Opener::new(associations);
    let mut capture = open_capture(&args.input, is_ethernet)?;
    let mut writer =
        Writer::create(&args.output, DataLink::ETHERNET, capture.has_nanoseconds(), Readers::Owner)?;
    let mut tally = Tally::new();
    let mut sample = Sample::default();
    while let Some(records) = next_burst(&mut capture, args.burst)? {
        let (times, burst) = incoming(&records, &mut tally);
        let opened = opener.open(&burst).with_context(|| place(&args.input, &records))?;
        for (time, opened) in times.into_iter().zip(opened) {
            match opened {
                Err(reason) => tally.not_done(Unopened::Dropped(reason)),
                Ok(plain) => {
                    tally.done(plain.len());
                    writer.write(time, &plain)?;
                }
            }
        }
        tally.with_fcs(with_fcs(&records));
        sample.keep(records);
    }
    let mut lines = vec![tally.report("opened", "frames")];
    lines.extend(opening_speed(&mut opener, &sample, args.burst)?);
    conclude((&args.input, &args.output), &capture, writer, lines, &tally, "opened")
}

/// The frames to open of a burst of records, with their times.
fn incoming<'a>(records: &'a [Record], tally: &mut Tally<Unopened>) -> (Vec<Duration>, Vec<Incoming<'a>>) {
    let mut frames = Vec::with_capacity(records.len());
    for record in records {
        match Incoming::find(record) {
            Err(cause) => tally.not_done(cause),
            Ok(incoming) => frames.push((record.time, incoming)),
        }
    }
    frames.into_iter().unzip()
}

/// Opens the sample again and again.
fn opening_speed(opener: &mut Opener, sample: &Sample, size: u16) -> Result<Option<String>> {
    let mut ignored = Tally::new();
    let bursts: Vec<Vec<Incoming<'_>>> =
        sample.bursts().map(|records| incoming(records, &mut ignored).1).collect();
    speed::tell("opened", size, || {
        let mut round = Round::default();
        opener.forget();
        for burst in &bursts {
            for plain in opener.open(burst)?.into_iter().flatten() {
                round.count(plain.len());
            }
        }
        Ok(round)
    })
}
