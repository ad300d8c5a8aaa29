//! The command `sealcomb`: studies batch encryption on this CPU, lists what there is, checks known answers and
//! seals captures as IPsec ESP and as MACsec.
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
mod vectors;

use clap::{Parser, Subcommand};
use sealcomb::Backend;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  sealcomb study                                 every mode on this CPU on one screen, within a minute
  sealcomb study --quick --modes gcm,cbc         two modes, in seconds
  sealcomb study --tables all                    the tables behind the screen
  sealcomb study --report study.html             curves and heat maps, as one HTML file
  sealcomb list                                  backends and algorithms
  sealcomb vectors testvectors/*.json            known answers through every backend
  sealcomb esp seal in.pcap out.pcap --sa sa.toml   IP packets of a capture as ESP packets
  sealcomb macsec seal in.pcap out.pcap --sa sa.toml   Ethernet frames of a capture as MACsec frames

Exit status: 0 if all went well, 1 if known answers failed or packets were lost, 2 for bad input.
SEALCOMB_BACKEND=NAME forces a backend of `sealcomb list`; `vectors` then checks that one alone.";

/// Batch authenticated encryption with AES: study it, check it, use it.
#[derive(Parser)]
#[command(name = "sealcomb", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure every mode on this CPU, single messages and batches, beside the CPU's own bound
    ///
    /// Ends within a minute and prints one screen: the CPU, whether the claims of the papers hold on it, and what each
    /// mode costs per message and per byte.
    #[command(after_help = study::EXAMPLES)]
    Study(study::StudyArgs),
    /// List the backends that this CPU has and the algorithms
    List(list::ListArgs),
    /// Check known answers with every backend, one by one and in shuffled batches
    Vectors(vectors::VectorsArgs),
    /// Turn the IP packets of a capture into IPsec ESP packets, and back
    Esp(esp::EspArgs),
    /// Turn the Ethernet frames of a capture into MACsec frames, and back
    Macsec(macsec::MacsecArgs),
    /// What `study` runs to count instructions
    #[command(hide = true)]
    CountInstructions(study::CountArgs),
}

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
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
        Command::CountInstructions(args) => study::count_instructions(&args).map(|()| ExitCode::SUCCESS),
        Command::Esp(args) => esp::run(args),
        Command::Macsec(args) => macsec::run(args),
    };
    outcome.unwrap_or_else(|error| complain(&format!("{error:#}")))
}

/// What `--help` and `--version` ask for, or in one line why the arguments make no sense.
fn explain(refusal: &clap::Error) -> ExitCode {
    if !refusal.use_stderr() {
        print!("{refusal}");
        return ExitCode::SUCCESS;
    }
    let text = refusal.to_string();
    let mut lines = text.lines().map(str::trim);
    let first_paragraph: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    let tip = lines.find_map(|line| line.strip_prefix("tip: "));
    let reason = first_paragraph.join(" ") + &tip.map_or_else(String::new, |tip| format!("; {tip}"));
    complain(reason.trim_start_matches("error: "))
}

fn complain(reason: &str) -> ExitCode {
    eprintln!("sealcomb: {reason}");
    ExitCode::from(2)
}
