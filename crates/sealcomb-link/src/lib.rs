//! `sealcomb-link`: a user-space IPsec ESP tunnel that rekeys up to 20 times per second.
//!
//! The rekey state machine ([`control`]) and the key derivation ([`mod@derive`]) are independent of I/O. The data
//! path ([`path`]) gets its keys from [`associations`] only. An end may have several peers, each with its own state
//! machine, keys and associations. `docs/link.md` introduces it.
#![forbid(unsafe_code)]

pub mod associations;
mod check;
mod clock;
pub mod config;
pub mod control;
pub mod counters;
pub mod derive;
mod dns;
mod findings;
mod generation;
mod hooks;
mod hub;
mod keygen;
mod keying;
pub mod keys;
mod listener;
mod log;
mod names;
pub mod path;
mod privileges;
mod problems;
mod run;
mod status;
mod status_tls;
mod supply;
mod threads;
mod trust;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser, Subcommand};
use config::Config;
use findings::Findings;
use run::Start;
use sealcomb_command::{Classify, Status, complain, conclude, exit_statuses, explain};

const EXAMPLES: &str = "\
Examples:
  sealcomb-link keygen --user sealcomb /etc/sealcomb/control.key /etc/sealcomb/link.key
  sealcomb-link check --strict --online /etc/sealcomb/link.toml
  sealcomb-link run /etc/sealcomb/link.toml
  sealcomb-link status /etc/sealcomb/link.toml

SEALCOMB_LOG=debug also logs every rekey and refusal. Keys are never logged.";

/// The command's name in messages.
const NAME: &str = "sealcomb-link";

fn after_help() -> String {
    let statuses = exit_statuses(&[
        (Status::Failed, "the link cannot run or is not running, or a key source does not answer"),
        (Status::Usage, "an argument, or what the configuration contains or names"),
        (Status::Io, "the file of the configuration, a new key file, or a standard stream"),
    ]);
    format!("{EXAMPLES}\n\n{statuses}")
}

/// User-space IPsec ESP tunnel with continuous rekeying
#[derive(Parser)]
#[command(name = "sealcomb-link", version, after_help = after_help())]
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
    /// Check a configuration and list all its errors and warnings
    Check {
        /// Configuration file, in TOML
        config: PathBuf,
        /// Treat warnings as errors
        #[arg(long)]
        strict: bool,
        /// Ask the key source for its status
        #[arg(long)]
        online: bool,
    },
    /// Show the keys, peer state and counters of a running link
    Status {
        /// Configuration file of the running link
        config: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Create key files of mode 600, each with a random key of 32 bytes in hex
    Keygen {
        /// Owner of the files
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// Files to create; existing files are not overwritten
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// Returns the command line's definition, for manual pages and completions.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    let status = match Cli::try_parse() {
        Ok(cli) => conclude(NAME, execute(&cli.command)),
        Err(refusal) => explain(NAME, &refusal),
    };
    status.into()
}

fn execute(command: &Command) -> Result<Status> {
    match command {
        Command::Keygen { user, files } => {
            keygen::create(files, user.as_deref())?;
            Ok(Status::Done)
        }
        Command::Run { config: path } => {
            let start = Start::new().or_failed()?;
            with_config(path, |config| {
                let Findings { mut errors, warnings, mut commands } = Findings::of(config, path);
                errors.append(&mut commands);
                if !errors.is_empty() {
                    return Ok(invalid(&errors));
                }
                run::run(start, config, path, &warnings).or_failed()?;
                Ok(Status::Done)
            })
        }
        Command::Check { config: path, strict, online } => {
            let options = check::Options { strict: *strict, online: *online };
            with_config(path, |config| check::check(config, path, options))
        }
        Command::Status { config: path, json } => with_config(path, |config| {
            status::query(config, *json)?;
            Ok(Status::Done)
        }),
    }
}

/// Reads a configuration and passes it on, or prints its errors. Returns the exit status.
fn with_config(path: &Path, work: impl FnOnce(&Config) -> Result<Status>) -> Result<Status> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string()).or_usage()?;
    match Config::of(path, &text) {
        Ok(config) => work(&config),
        Err(errors) => Ok(invalid(&errors)),
    }
}

/// Prints the errors of a configuration. Returns the exit status.
fn invalid(errors: &[String]) -> Status {
    for error in errors {
        complain(NAME, error);
    }
    Status::Usage
}
