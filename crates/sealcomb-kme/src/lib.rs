//! `sealcomb-kme`: a key management entity (KME) of ETSI GS QKD 014 v1.1.1, for tests and demonstrations.
//!
//! Two instances with the same secret share a key stream, like the two ends of a QKD link: the keys that one delivers
//! by `enc_keys` are available from the other by `dec_keys`. The keys are pseudo-random; no quantum channel is
//! involved. The KME enforces the limits of the interface, returns its errors, delivers each key once, and can inject
//! faults. It serves the same keys by the Secure Key Integration Protocol (SKIP) too.
#![forbid(unsafe_code)]

pub mod api;
pub mod certificates;
pub mod config;
pub mod skip;
pub mod stream;
pub mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser, Subcommand};
use sealcomb_command::{Classify, Status, conclude, exit_statuses, explain, print};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;

use certificates::Request;
use config::Config;

const EXAMPLES: &str = "\
Examples:
  sealcomb-kme certificates keys --kme kme-a --kme kme-b --sae alice --sae bob --address 127.0.0.1
  sealcomb-kme run keys/kme-a.toml";

/// The command's name in messages.
const NAME: &str = "sealcomb-kme";

fn after_help() -> String {
    let statuses = exit_statuses(&[
        (Status::Failed, "the KME cannot run, for example because its address is in use"),
        (Status::Usage, "an argument, or what the configuration contains or names"),
        (Status::Io, "the file of the configuration, a new certificate, or a standard stream"),
    ]);
    format!("{EXAMPLES}\n\n{statuses}")
}

const RUN_HELP: &str = "\
Configuration; the fields from key-size on are optional and have these defaults:
  id = \"kme-a\"
  peer-id = \"kme-b\"
  listen = \"127.0.0.1:8443\"
  ca = \"ca.pem\"              # signs the certificates of SAEs
  cert = \"kme-a.pem\"
  key = \"kme-a.key.pem\"
  stream = \"stream.key\"      # at least 32 bytes in hex, equal at both KMEs
  saes = [\"alice\"]           # SAEs that may request keys here, by their certificates' names
  peer-saes = [\"bob\"]        # SAEs of the other KME
  key-size = 256             # default size of a key in bits
  max-per-request = 128      # keys per request
  capacity = 10000           # keys that are stored
  rate = 1000                # keys that are added per second
  [faults]                   # to be injected, for tests
  delay = \"0s\"               # delays every response
  unavailable = false        # answers every request with status 503
  wrong = false              # flips a bit of every key
  repeat = false             # delivers the first key again and again
  empty = false              # returns empty key containers
  garbled = false            # truncates responses

Paths are relative to the folder of the file.";

/// Key management entity of ETSI GS QKD 014, for tests and demonstrations
#[derive(Parser)]
#[command(name = "sealcomb-kme", version, after_help = after_help())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a KME until SIGTERM
    #[command(after_help = RUN_HELP)]
    Run {
        /// Configuration file, in TOML
        config: PathBuf,
    },
    /// Create a certificate authority, and certificates of KMEs and SAEs
    Certificates {
        /// Output folder
        folder: PathBuf,
        /// Name of a KME; may be repeated
        #[arg(long, value_name = "NAME", requires = "address")]
        kme: Vec<String>,
        /// Name of a secure application entity (SAE); may be repeated
        #[arg(long, value_name = "NAME")]
        sae: Vec<String>,
        /// DNS name or IP address of the KMEs; may be repeated
        #[arg(long, value_name = "ADDRESS", requires = "kme")]
        address: Vec<String>,
        /// Owner of the files
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
    },
}

/// Returns the command line's definition, for manual pages and completions.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    let status = match Cli::try_parse() {
        Ok(cli) => conclude(NAME, execute(&cli.command).map(|()| Status::Done)),
        Err(refusal) => explain(NAME, &refusal),
    };
    status.into()
}

fn execute(command: &Command) -> Result<()> {
    match command {
        Command::Run { config } => {
            let config = Config::read(config)?;
            let acceptor = tls::acceptor(&config).or_usage()?;
            run(config, acceptor).or_failed()
        }
        Command::Certificates { folder, kme, sae, address, user } => certificates::write(
            folder,
            &Request { entities: kme, saes: sae, addresses: address, owner: user.as_deref() },
        ),
    }
}

fn run(config: Config, acceptor: TlsAcceptor) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(config.listen)
            .await
            .with_context(|| format!("cannot listen on {}", config.listen))?;
        // If standard output is full or closed, only this line is lost.
        let _ = print(format_args!("{} on {}", config.id, listener.local_addr()?));
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            served = serve_with(config, acceptor, listener) => served,
            _ = terminate.recv() => Ok(()),
        }
    })
}

/// Serves a KME on a listener until it is canceled.
///
/// # Errors
/// An invalid certificate or private key.
pub async fn serve(config: Config, listener: TcpListener) -> Result<()> {
    let acceptor = tls::acceptor(&config)?;
    serve_with(config, acceptor, listener).await
}

async fn serve_with(config: Config, acceptor: TlsAcceptor, listener: TcpListener) -> Result<()> {
    let connections = tls::Connections::new(listener, acceptor)?;
    let entity = api::Entity::new(config);
    let router = skip::router(entity.clone()).merge(entity.router());
    axum::serve(connections, router.into_make_service_with_connect_info::<tls::Caller>()).await?;
    Ok(())
}

/// Starts a KME as a task of this process, on a free loopback port, for tests. Returns its address.
///
/// # Errors
/// An error of the operating system.
pub async fn spawn(config: Config) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(serve(config, listener));
    Ok(address)
}
