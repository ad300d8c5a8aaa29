//! `sealcomb-link`: a user-space IPsec ESP tunnel that rekeys up to ten times per second.
//!
//! The rekey state machine ([`control`]) and the key derivation ([`mod@derive`]) are independent of I/O. The data
//! path ([`path`]) gets its keys from [`associations`] only. `docs/link.md` describes operation and protocol.
#![forbid(unsafe_code)]

pub mod associations;
mod clock;
pub mod config;
pub mod control;
pub mod counters;
pub mod derive;
mod keying;
pub mod keys;
mod listener;
mod log;
pub mod path;
mod privileges;
mod problems;
mod run;
mod status;
mod supply;
mod threads;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use config::Config;

const EXAMPLES: &str = "\
Examples:
  sealcomb-link check /etc/sealcomb/link.toml
  sealcomb-link run /etc/sealcomb/link.toml
  sealcomb-link status /etc/sealcomb/link.toml

Exit status: 0 on success, 1 if the link failed or is not running, 2 if the configuration is invalid.
RUST_LOG=debug also logs every rekey and refusal. Keys are never logged.";

/// User-space IPsec ESP tunnel with continuous rekeying
#[derive(Parser)]
#[command(name = "sealcomb-link", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run one end of a link until SIGTERM; SIGHUP reloads the configuration
    Run {
        /// Configuration file, in TOML
        config: PathBuf,
    },
    /// Check a configuration and list all its errors
    Check {
        /// Configuration file, in TOML
        config: PathBuf,
    },
    /// Show the keys, peer state and counters of a running link
    Status {
        /// Configuration file of the running link
        config: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    let command = Cli::parse().command;
    let (Command::Run { config: path }
    | Command::Check { config: path }
    | Command::Status { config: path, .. }) = &command;
    let config = match Config::read(path) {
        Ok(config) => config,
        Err(errors) => {
            for error in errors {
                eprintln!("sealcomb-link: {error}");
            }
            return ExitCode::from(2);
        }
    };
    let outcome = match &command {
        Command::Run { config: path } => run::run(config, path),
        Command::Check { .. } => {
            println!("{}: no errors; inner MTU {} bytes", path.display(), config.inner_mtu());
            Ok(())
        }
        Command::Status { json, .. } => status::query(&config, *json),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sealcomb-link: {error:#}");
            ExitCode::FAILURE
        }
    }
}
