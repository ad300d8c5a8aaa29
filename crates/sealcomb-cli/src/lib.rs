//! The command `sealcomb`: benchmarks batch encryption on this CPU, lists backends and algorithms, checks known
//! answers, and seals captures as IPsec ESP and MACsec.
#![forbid(unsafe_code)]

mod captures;
mod esp;
#[doc(hidden)]
pub mod fuzz;
mod list;
mod machine;
mod macsec;
mod names;
mod output;
mod study;
mod unfinished;
mod vectors;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser, Subcommand};
use sealcomb::Backend;
use sealcomb_command::{Classify, Status, conclude, exit_statuses, explain};
use std::process::ExitCode;

/// The command's name in messages.
const NAME: &str = "sealcomb";

const EXAMPLES: &str = "\
Examples:
  sealcomb study                                           benchmark every mode, in under a minute
  sealcomb study --quick --modes gcm,cbc                   benchmark two modes, in seconds
  sealcomb study --tables all                              print all tables of results
  sealcomb study --report study.html                       write curves and heat maps to one HTML file
  sealcomb list                                            list backends and algorithms
  sealcomb vectors testvectors/*.json                      check known answers with every backend
  sealcomb esp seal in.pcap out.pcap --sa sa.toml          seal IP packets of a capture as ESP packets
  sealcomb macsec seal in.pcap out.pcap --sa macsec.toml   seal Ethernet frames of a capture as MACsec frames

Environment:
  SEALCOMB_BACKEND=NAME   use this backend of `sealcomb list`; `vectors` checks only this one";

fn after_help() -> String {
    let statuses = exit_statuses(&[
        (Status::Failed, "known answers failed, packets were lost, or a file is damaged"),
        (Status::Usage, "an argument, an SA file or SEALCOMB_BACKEND"),
        (Status::Io, "a file, or a standard stream"),
        (Status::Partly, "IN is truncated, or the report could not be printed; OUT is complete so far"),
    ]);
    format!("{EXAMPLES}\n\n{statuses}")
}

/// Benchmark, check and use batch authenticated encryption with AES
#[derive(Parser)]
#[command(name = "sealcomb", version, after_help = after_help())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Benchmark every mode on this CPU, for single messages and batches, against the CPU's own bound
    ///
    /// Runs for less than a minute and prints one screen: the CPU, whether the papers' claims hold on it, and the
    /// cost of each mode per message and per byte.
    #[command(after_help = study::after_help())]
    Study(study::StudyArgs),
    /// List the backends and the algorithms
    ///
    /// Prints the backends and whether this CPU supports them, then the algorithms with their sizes in
    /// bytes and properties, then the specification and the status of each mode.
    #[command(after_help = list::after_help(), verbatim_doc_comment)]
    List(list::ListArgs),
    /// Check known answers with every available backend
    ///
    /// Seals and opens every test as a single message and in shuffled batches, in place and out of
    /// place, and checks that forged tags are rejected.
    #[command(after_help = vectors::after_help(), verbatim_doc_comment)]
    Vectors(vectors::VectorsArgs),
    /// Seal the IP packets of a capture as IPsec ESP packets, or open such a capture
    Esp(esp::EspArgs),
    /// Seal the Ethernet frames of a capture as MACsec frames, or open such a capture
    Macsec(macsec::MacsecArgs),
}

/// Returns the command line's definition, for manual pages and completions.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    let status = if let Some(counted) = study::count_instructions(std::env::args_os().skip(1)) {
        conclude(NAME, counted.map(|()| Status::Done))
    } else {
        match Cli::try_parse() {
            Ok(cli) => conclude(NAME, execute(cli.command)),
            Err(refusal) => explain(NAME, &refusal),
        }
    };
    status.into()
}

fn execute(command: Command) -> Result<Status> {
    Backend::selected().context("SEALCOMB_BACKEND").or_usage()?;
    match command {
        Command::Study(args) => study::run(&args).map(|()| Status::Done),
        Command::List(args) => list::run(&args).map(|()| Status::Done),
        Command::Vectors(args) => vectors::run(&args),
        Command::Esp(args) => esp::run(args),
        Command::Macsec(args) => macsec::run(args),
    }
}
