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
mod stdout;
mod study;
mod unfinished;
mod vectors;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use sealcomb::Backend;
use std::io::{self, Write};
use std::process::ExitCode;

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
  SEALCOMB_BACKEND=NAME   use this backend of `sealcomb list`; `vectors` checks only this one

Exit status:
  0  success
  1  known answers failed, or packets were lost
  2  bad input or arguments";

/// Benchmark, check and use batch authenticated encryption with AES
#[derive(Parser)]
#[command(name = "sealcomb", version, after_help = EXAMPLES)]
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
    #[command(after_help = study::EXAMPLES)]
    Study(study::StudyArgs),
    /// List the backends and the algorithms
    ///
    /// Prints the backends and whether this CPU supports them, then the algorithms with their sizes in
    /// bytes and properties, then the specification and the status of each mode.
    #[command(after_help = list::EXAMPLES, verbatim_doc_comment)]
    List(list::ListArgs),
    /// Check known answers with every available backend
    ///
    /// Seals and opens every test as a single message and in shuffled batches, in place and out of
    /// place, and checks that forged tags are rejected.
    #[command(after_help = vectors::EXAMPLES, verbatim_doc_comment)]
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
    if let Some(counted) = study::count_instructions(std::env::args_os().skip(1)) {
        return counted.map_or_else(|error| complain(&format!("{error:#}")), |()| ExitCode::SUCCESS);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => return explain(&refusal),
    };
    if let Err(error) = Backend::selected() {
        return complain(&format!("SEALCOMB_BACKEND: {error}"));
    }
    let outcome = match cli.command {
        Command::Study(args) => study::run(&args).map(|()| ExitCode::SUCCESS),
        Command::List(args) => list::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Vectors(args) => vectors::run(&args),
        Command::Esp(args) => esp::run(args),
        Command::Macsec(args) => macsec::run(args),
    };
    outcome.unwrap_or_else(|error| complain(&format!("{error:#}")))
}

/// Prints the output of `--help` or `--version`, or a one-line error for invalid arguments.
fn explain(refusal: &clap::Error) -> ExitCode {
    if !refusal.use_stderr() {
        let printed = stdout::print(&refusal.to_string());
        return printed.map_or_else(|error| complain(&format!("{error:#}")), |()| ExitCode::SUCCESS);
    }
    let text = refusal.to_string();
    if refusal.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let usage = text.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or_default();
        return complain(&format!("expected a command: {usage}; --help lists them"));
    }
    let mut lines = text.lines().map(str::trim);
    let first_paragraph: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    let tip = lines.find_map(|line| line.strip_prefix("tip: "));
    let reason = first_paragraph.join(" ") + &tip.map_or_else(String::new, |tip| format!("; {tip}"));
    complain(reason.trim_start_matches("error: "))
}

/// Prints an error. If standard error is full or closed, only the exit status reports it.
fn complain(reason: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "sealcomb: {reason}");
    ExitCode::from(2)
}
