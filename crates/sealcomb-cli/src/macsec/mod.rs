//! `sealcomb macsec`: seals the Ethernet frames of a capture as MACsec frames (IEEE 802.1AE), and opens such
//! captures.
//!
//! The crate `sealcomb-macsec` implements the protocol. `transform` and `sa` apply it to bursts of frames, without
//! file I/O. The other modules implement the command.

pub(crate) mod fuzz;
mod report;
mod sa;
mod sa_file;
mod transform;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use pcap_file::DataLink;
use sealcomb_command::{Classify, Status, with_status};

use crate::captures::capture::Record;
use crate::captures::sequences::KeyFile;
use crate::captures::speed::{self, Round, Sample};
use crate::captures::tally::Tally;
use crate::captures::writer::{Readers, Writer};
use crate::captures::{
    capture_statuses, conclude, fields, lowest_first, next_burst, open_capture, place, take_sequences, warn,
    with_fcs,
};
use report::Unopened;
use sa::Sa;
use transform::{Incoming, Opened, Opener, Sealer, Unverified, Used, Validate};

/// Seal the Ethernet frames of a capture as MACsec frames (IEEE 802.1AE), or open such a capture
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MacsecArgs {
    #[command(subcommand)]
    command: MacsecCommand,
}

#[derive(Subcommand, Debug)]
enum MacsecCommand {
    /// Seal each Ethernet frame of a capture as a MACsec frame
    ///
    /// Prints how many frames were sealed, why others were not, and the packet numbers used by each SA.
    #[command(after_help = after_seal(), verbatim_doc_comment)]
    Seal(Seal),
    /// Verify the MACsec frames of a capture and restore the frames in them
    ///
    /// Drops frames that are forged, late or replayed or have a bad SecTAG. Prints how many frames were
    /// opened and why others were not.
    #[command(after_help = after_open(), verbatim_doc_comment)]
    Open(Open),
}

const EXAMPLES: &str = "\
Examples:
  sealcomb macsec seal in.pcap sealed.pcap --sa macsec.toml
  sealcomb macsec open sealed.pcap opened.pcap --sa macsec.toml";

const SEAL_HELP: &str = "\
Packet numbers:
  Nonces are built from packet numbers. A nonce that repeats under one key reveals the plaintexts.
  Each run therefore continues after the last number used under the same key, wherever the SA file
  is. The last numbers are stored per key and user in ~/.local/state/sealcomb, and also in
  $XDG_STATE_HOME/sealcomb and in the directory given by --state, if there are any. Never delete
  them or restore an older copy. An SA file owned by another user is rejected, because that user's
  numbers are stored separately. When the numbers of an SA are used up, the next SA of the file that
  protects a frame takes over.

Frame check sequences:
  A frame check sequence (FCS) that the capture declares is removed. The output has none.

SA file, for GCM-AES-128; captures/README.md describes all fields:
  [[sa]]
  sci = \"0200000000010001\"
  an = 0
  key = \"0123456789abcdef0123456789abcdef\"
  A 32-byte key selects GCM-AES-256. The fields ssci and salt select GCM-AES-XPN.";

const SEAL_EXAMPLES: &str = "\
Examples:
  sealcomb macsec seal in.pcap sealed.pcap --sa macsec.toml
  sealcomb macsec seal in.pcap sealed.pcapng --sa macsec.toml --state numbers";

const OPEN_HELP: &str = "\
VLAN tags that precede a SecTAG are left in place; nothing protects them. A frame check sequence
(FCS) that the capture declares is removed.

Frames that --validate lets pass unverified are counted as opened, and in a separate line.";

const OPEN_EXAMPLES: &str = "\
Examples:
  sealcomb macsec open sealed.pcap opened.pcap --sa macsec.toml
  sealcomb macsec open sealed.pcap opened.pcapng --sa macsec.toml --burst 64";

fn after_seal() -> String {
    let statuses = capture_statuses(
        "nothing was sealed; or frames were clipped by the capture, shorter than an\n\
         Ethernet header, too long, not Ethernet, or their SAs had no packet numbers left",
    );
    format!(
        "{SEAL_HELP}\n\n{statuses}\n  EAPOL frames (key agreement) and frames that no SA protects are skipped and do \
         not affect the\n  status.\n\n{SEAL_EXAMPLES}"
    )
}

fn after_open() -> String {
    let statuses = capture_statuses(
        "nothing was opened; or frames were clipped by the capture, not Ethernet, not\n\
         valid (wrong ICV), late or replayed, had a bad SecTAG, an unknown SCI or an AN without an SA",
    );
    format!(
        "{OPEN_HELP}\n\n{statuses}\n  Frames that are not MACsec are skipped and do not affect the status.\n\n\
         {OPEN_EXAMPLES}"
    )
}

#[derive(Args, Debug)]
struct Transform {
    /// Capture to read: pcap or pcapng, with Ethernet frames
    #[arg(value_name = "IN.pcap")]
    input: PathBuf,
    /// Capture to write, with Ethernet frames: pcapng if the name ends in .pcapng, else pcap
    #[arg(value_name = "OUT.pcap")]
    output: PathBuf,
    /// TOML file of secure associations
    #[arg(long, value_name = "FILE")]
    sa: PathBuf,
    /// Number of frames per burst; a burst is sealed or opened in batches of up to 128
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    burst: u16,
}

#[derive(Args, Debug)]
struct Seal {
    #[command(flatten)]
    transform: Transform,
    /// Directory that stores the last packet number of each key
    ///
    /// [default: `$XDG_STATE_HOME/sealcomb` or `~/.local/state/sealcomb`]
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    state: Option<PathBuf>,
    /// Number the frames of each SA from N, and store no numbers
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
    start_pn: Option<u64>,
}

#[derive(Args, Debug)]
struct Open {
    #[command(flatten)]
    transform: Transform,
    /// Approximate first packet number of the capture, for SAs with `ssci`
    ///
    /// Frames contain only the low half of the number.
    /// N may be off by a billion.
    /// [default: the SA's `pn`, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), verbatim_doc_comment)]
    start_pn: Option<u64>,
    /// The frames that must verify; an encrypted frame always must
    #[arg(long, value_name = "MODE", value_enum, default_value_t = Validate::Strict)]
    validate: Validate,
}

/// Runs the command. Errors are one line, with the file and the position in it.
pub(crate) fn run(args: MacsecArgs) -> Result<Status> {
    match args.command {
        MacsecCommand::Seal(args) => seal(&args),
        MacsecCommand::Open(args) => open(&args),
    }
}

fn is_ethernet(link: DataLink) -> bool {
    link == DataLink::ETHERNET
}

fn seal(args: &Seal) -> Result<Status> {
    let Seal { transform: args, state, start_pn } = args;
    let (associations, keys_are_public) = fields::read(&args.sa, |name, text| {
        let (associations, keys_are_public) = sa_file::parse(name, text)?;
        Ok(((associations, keys_are_public), keys_are_public))
    })?;
    let throwaway: Vec<Sa> = associations.iter().map(Sa::throwaway).collect::<Result<_>>()?;
    let mut sealer = Sealer::new(match *start_pn {
        None => associations,
        Some(first) => starting_at(first, associations).or_usage()?,
    });
    if start_pn.is_some() && !keys_are_public {
        warn("--start-pn: never use the same number twice under one key");
    }
    let mut capture = open_capture(&args.input, is_ethernet)?;
    let mut writer =
        Writer::create(&args.output, DataLink::ETHERNET, capture.has_nanoseconds(), Readers::Any)?;
    let file = KeyFile { path: &args.sa, is_public: keys_are_public };
    let keys = sealer.fingerprints();
    let take = || take_sequences(state.as_deref(), file, &keys);
    let mut sequences = if start_pn.is_none() { Some(take()?) } else { None };
    if let Some(sequences) = &sequences {
        sealer.resume(|key| sequences.last(key));
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

/// Measures sealing the sample repeatedly. Uses throwaway keys, because packet numbers must not repeat under the
/// file's keys.
fn sealing_speed(mut sealer: Sealer, sample: &Sample, size: u16) -> Result<Option<String>> {
    let bursts: Vec<&[Record]> = sample.bursts().collect();
    speed::measure("sealed under throwaway keys", size, || {
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

/// Sets the first packet number of all associations.
fn starting_at(first: u64, mut associations: Vec<Sa>) -> Result<Vec<Sa>> {
    for sa in &mut associations {
        let last = sa.sak.last_pn();
        if first > last {
            let sci = sa.header.sci;
            bail!(
                "--start-pn {first}: the last number of SA {sci} is {last}; with ssci and salt it has 64 bits"
            );
        }
        sa.first = first;
    }
    Ok(associations)
}

fn open(args: &Open) -> Result<Status> {
    let Open { transform: args, start_pn, validate } = args;
    let mut associations = fields::read(&args.sa, sa_file::parse)?;
    if start_pn.is_some() && !associations.iter().any(|sa| sa.sak.is_extended()) {
        let error = anyhow!("--start-pn: no SA has ssci and salt; other frames contain the whole number");
        return Err(with_status(Status::Usage, error));
    }
    for sa in &mut associations {
        sa.first = if sa.sak.is_extended() { start_pn.map_or(sa.first, lowest_first) } else { 1 };
    }
    let mut opener = Opener::new(associations, *validate);
    let mut capture = open_capture(&args.input, is_ethernet)?;
    let mut writer =
        Writer::create(&args.output, DataLink::ETHERNET, capture.has_nanoseconds(), Readers::Owner)?;
    let mut tally = Tally::new();
    let mut unverified = BTreeMap::new();
    let mut sample = Sample::default();
    while let Some(records) = next_burst(&mut capture, args.burst)? {
        let (times, burst) = incoming(&records, &mut tally);
        let opened = opener.open(&burst).with_context(|| place(&args.input, &records))?;
        for (time, opened) in times.into_iter().zip(opened) {
            match opened {
                Err(reason) => tally.not_done(Unopened::Dropped(reason)),
                Ok(Opened { frame, unverified: why }) => {
                    tally.done(frame.len());
                    if let Some(why) = why {
                        *unverified.entry(why).or_insert(0_u64) += 1;
                    }
                    writer.write(time, &frame)?;
                }
            }
        }
        tally.with_fcs(with_fcs(&records));
        sample.keep(records);
    }
    let mut lines = vec![tally.report("opened", "frames")];
    lines.extend(not_verified(&unverified));
    lines.extend(opening_speed(&mut opener, &sample, args.burst)?);
    conclude((&args.input, &args.output), &capture, writer, lines, &tally, "opened")
}

/// Returns a line about the frames that passed without being verified, if there are any.
fn not_verified(unverified: &BTreeMap<Unverified, u64>) -> Option<String> {
    let counts = unverified.iter().map(|(why, count)| format!("{count} {}", why.name()));
    let counts: Vec<_> = counts.collect();
    (!counts.is_empty()).then(|| format!("not verified: {}", counts.join(", ")))
}

/// Selects the frames to open from a burst of records, with their times, and counts the others.
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

/// Measures opening the sample repeatedly.
fn opening_speed(opener: &mut Opener, sample: &Sample, size: u16) -> Result<Option<String>> {
    let mut ignored = Tally::new();
    let bursts: Vec<Vec<Incoming<'_>>> =
        sample.bursts().map(|records| incoming(records, &mut ignored).1).collect();
    speed::measure("opened", size, || {
        let mut round = Round::default();
        opener.reset();
        for burst in &bursts {
            for plain in opener.open(burst)?.into_iter().flatten() {
                round.count(plain.frame.len());
            }
        }
        Ok(round)
    })
}
