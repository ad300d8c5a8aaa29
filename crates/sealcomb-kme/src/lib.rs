//! `sealcomb-kme`: a key management entity of ETSI GS QKD 014 v1.1.1, for tests and demonstrations.
//!
//! Two instances that are given the same secret share a key stream, as the two ends of a QKD link do: what one gives out
//! by `enc_keys`, the other has for `dec_keys`. There is no quantum in it. It keeps the interface's limits and errors,
//! delivers each key once, and does wrong what its configuration tells it to.
#![forbid(unsafe_code)]

pub mod api;
pub mod certificates;
pub mod config;
pub mod stream;
pub mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use config::Config;

/// A key management entity of ETSI GS QKD 014, for tests and demonstrations.
#[derive(Parser)]
#[command(name = "sealcomb-kme", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Be an entity, until SIGTERM
    Run {
        /// Configuration, in TOML
        config: PathBuf,
    },
    /// Make an authority and certificates of it
    Certificates {
        /// Where to write them
        folder: PathBuf,
        /// Name of an entity
        #[arg(long, value_name = "NAME")]
        kme: Vec<String>,
        /// Name of a secure application entity
        #[arg(long, value_name = "NAME")]
        sae: Vec<String>,
        /// Name or IP address under which entities are reached
        #[arg(long, value_name = "ADDRESS")]
        address: Vec<String>,
    },
}

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run { config } => Config::read(&config).and_then(run),
        Command::Certificates { folder, kme, sae, address } => {
            certificates::write(&folder, &kme, &sae, &address)
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sealcomb-kme: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(config: Config) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(config.listen)
            .await
            .with_context(|| format!("listening on {}", config.listen))?;
        println!("{} on {}", config.id, listener.local_addr()?);
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            served = serve(config, listener) => served,
            _ = terminate.recv() => Ok(()),
        }
    })
}

/// Answers on a socket for as long as it is polled.
///
/// # Errors
/// Where certificates or the key are none.
pub async fn serve(config: Config, listener: TcpListener) -> Result<()> {
    let acceptor = tls::acceptor(&config)?;
    let connections = tls::Connections::new(listener, acceptor)?;
    let router = api::Entity::new(config).router();
    axum::serve(connections, router.into_make_service_with_connect_info::<tls::Caller>()).await?;
    Ok(())
}

/// What tests need to reach an entity in their own process: it listens on a free port of the loopback.
///
/// # Errors
/// As [`serve`], or the system's.
pub async fn spawn(config: Config) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(serve(config, listener));
    Ok(address)
}
