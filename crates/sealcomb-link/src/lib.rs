//! `sealcomb-link`: a user-space IPsec ESP tunnel whose keys change all the time.
//!
//! The state machine that changes keys ([`control`]) and the derivation of keys ([`mod@derive`]) know of no sockets; the way of
//! packets ([`path`]) knows of keys only what [`associations`] gives it. The protocol is described in `docs/link.md`.
#![forbid(unsafe_code)]

pub mod associations;
pub mod config;
pub mod control;
pub mod counters;
pub mod derive;
mod guests;
mod keying;
pub mod keys;
mod log;
pub mod path;
mod privileges;
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

Exit status: 0 if all went well, 1 if the link could not be or is not there, 2 for a wrong configuration.
RUST_LOG=debug tells every message of the control exchange, never a key.";

/// A user-space IPsec ESP tunnel whose keys change every second.
#[derive(Parser)]
#[command(name = "sealcomb-link", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Be one end of a link, until SIGTERM; SIGHUP reads the configuration again
    Run {
        /// Configuration, in TOML
        config: PathBuf,
    },
    /// Tell all mistakes of a configuration
    Check {
        /// Configuration, in TOML
        config: PathBuf,
    },
    /// Ask a running link about its keys and counters
    Status {
        /// Its configuration, in TOML
        config: PathBuf,
        /// As it answers, in JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    let command = Cli::parse().command;
    let (Command::Run { config: path }
    | Command::Check { config: path }
    | Command::Status { config: path, .. }) = &command;
    let config = match Config::read(path) {
        Ok(config) => config,
        Err(mistakes) => {
            for mistake in mistakes {
                eprintln!("sealcomb-link: {mistake}");
            }
            return ExitCode::from(2);
        }
    };
    let outcome = match &command {
        Command::Run { config: path } => run::run(config, path),
        Command::Check { .. } => {
            println!("{}: no mistakes; inner packets of up to {} bytes", path.display(), config.inner_mtu());
            Ok(())
        }
        Command::Status { json, .. } => status::ask(&config, *json),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sealcomb-link: {error:#}");
            ExitCode::FAILURE
        }
    }
}
