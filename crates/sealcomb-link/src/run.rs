//! Startup, run, and shutdown of one end of a link.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result};
use ipnet::IpNet;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::config::{Config, max_datagram};
use crate::counters::Counters;
use crate::dns::NameServers;
use crate::generation::Generation;
use crate::hooks::{self, Down};
use crate::hub::Hub;
use crate::keying::{Environment, with_port_offset};
use crate::keys::Source;
use crate::path::tunnels::Tunnels;
use crate::path::udp::Udp;
use crate::path::{MAX_SEGMENTS, Shared, Worker};
use crate::privileges;
use crate::status::{self, StatusState};
use crate::status_tls;
use crate::threads::{Threads, guard};

/// Maximum number of threads for DNS lookups, which cannot be canceled. Lookups of peers leave most of them to the key
/// sources.
const BLOCKING_THREADS: usize = 16;

/// The beginning of a run, before the configuration is read. From now on, SIGHUP no longer ends the process: it
/// reloads the configuration as soon as the link runs.
pub(crate) struct Start {
    runtime: Runtime,
    hang_up: Signal,
}

impl Start {
    /// # Errors
    /// An error of the operating system.
    pub(crate) fn new() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS)
            .build()?;
        let hang_up = {
            let _entered = runtime.enter();
            signal(SignalKind::hangup())?
        };
        Ok(Self { runtime, hang_up })
    }
}

/// Runs one end of a link until SIGTERM or SIGINT, or until one of its threads or tasks fails.
pub(crate) fn run(start: Start, config: &Config, path: &Path, warnings: &[String]) -> Result<()> {
    let Start { runtime, hang_up } = start;
    let filter = tracing_subscriber::EnvFilter::try_from_env("SEALCOMB_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_writer(std::io::stderr)
        // Lines that cannot be written are dropped: reporting them on the same stream would panic.
        .log_internal_errors(false)
        .init();
    for warning in warnings {
        tracing::warn!("configuration: {warning}");
    }
    let sources = config.peers.iter().map(|peer| Source::new(&peer.keys)).collect::<Result<Vec<Source>>>()?;

    let devices = open_devices(config)?;
    let sockets = (0..config.workers)
        .map(|i| open_sockets(config, i))
        .collect::<std::io::Result<Vec<(Udp, Option<Udp>)>>>()
        .with_context(|| format!("cannot open the UDP socket on {}", config.local))?;
    let started = Instant::now();
    let environment = Environment {
        sockets: sockets.iter().map(|(udp, _)| udp.for_control()).collect::<std::io::Result<_>>()?,
        is_single: !config.has_tables(),
        mail: Arc::default(),
        is_v4: config.local.is_ipv4(),
        max_datagram: max_datagram(config.local.is_ipv4(), config.path_mtu),
    };
    let listener = match config.listen {
        Some(listen) => {
            let listener = TcpListener::bind(listen).with_context(|| format!("cannot listen on {listen}"))?;
            listener.set_nonblocking(true)?;
            Some(listener)
        }
        None => None,
    };
    hooks::limit_segments(&config.tun, MAX_SEGMENTS);
    hooks::add_addresses(&config.tun)?;
    hooks::add_routes(&config.tun)?;
    let name_servers = NameServers::set(&config.tun);
    // Dropped last, when the link has ended.
    let _down = Down::prepare(&config.tun)?;
    hooks::run_up(&config.tun)?;
    let generation = Generation::current();
    if let Some(user) = &config.user {
        privileges::drop_to(user)?;
    }

    let stop = Arc::new(AtomicBool::new(false));
    let mut threads = Threads::new(stop.clone());
    let counters: Vec<Arc<Counters>> = sockets.iter().map(|_| Arc::default()).collect();
    let tunnels = Arc::new(Tunnels::default());
    let status = Arc::new(StatusState::new(config.inner_mtu(), started, counters.clone()));
    let mail = environment.mail.clone();
    let (mut hub, news) =
        Hub::new(config.clone(), path.to_owned(), environment, tunnels.clone(), status.clone(), generation);
    {
        let _entered = runtime.enter();
        hub.start(sources, &threads);
    }
    for (thread, ((tun, sockets), counters)) in devices.into_iter().zip(sockets).zip(&counters).enumerate() {
        let (tunnels, mail) = (tunnels.clone(), mail.clone());
        let shared = Shared { tunnels, thread, counters: counters.clone(), stop: stop.clone(), mail };
        let worker = Worker::new(tun, sockets, shared, config).context("cannot set up the TUN device")?;
        threads.start("packets", move || worker.run())?;
    }
    log_start(config);
    let outcome = guard(|| {
        runtime.block_on(async {
            if let Some(listener) = listener {
                start_status(&threads, listener, config, status, path)?;
            }
            hub.run(news, hang_up, &mut threads).await
        })
    });
    runtime.shutdown_background();
    // While the interface exists, which the threads keep open.
    drop(name_servers);
    threads.stop();
    match &outcome {
        Ok(()) => tracing::info!("stopped"),
        Err(error) => tracing::error!("{error:#}"),
    }
    outcome
}

/// Starts the status server, and the task that reloads its certificate.
fn start_status(
    threads: &Threads,
    listener: TcpListener,
    config: &Config,
    state: Arc<StatusState>,
    path: &Path,
) -> Result<()> {
    let settings = match config.listen_tls.clone() {
        Some(tls) => {
            let (sender, settings) = watch::channel(tls.server()?);
            let hang_up = signal(SignalKind::hangup())?;
            threads.start_task("certificate", status_tls::reload(path.to_owned(), tls, hang_up, sender));
            Some(settings)
        }
        None => None,
    };
    threads.start_task("status", status::serve(listener, config.listen_token.clone(), settings, state));
    Ok(())
}

fn log_start(config: &Config) {
    if config.has_tables() {
        let (local, count) = (config.local, config.peers.len());
        tracing::info!("started: local {local}, {count} peers");
        return;
    }
    let peer = &config.peers[0];
    tracing::info!(
        "started: role {}, local {}, peer {}, suite {}",
        peer.role.name(),
        config.local,
        peer.address,
        peer.transform.id
    );
}

/// Opens the sockets of the packet thread of this number: one for several peers, or two for a single one.
fn open_sockets(config: &Config, number: u16) -> std::io::Result<(Udp, Option<Udp>)> {
    let local = with_port_offset(config.local, number);
    if config.has_tables() {
        return Ok((Udp::open_shared(local)?, None));
    }
    let peer = config.peers[0].address.address().map(|peer| with_port_offset(peer, number));
    let (main, stray) = Udp::open_pair(local, peer)?;
    Ok((main, Some(stray)))
}

/// Creates the TUN device, with one queue per worker.
fn open_devices(config: &Config) -> Result<Vec<SyncDevice>> {
    let name = &config.tun.name;
    let mut builder = DeviceBuilder::new()
        .name(name)
        .mtu(u16::try_from(config.inner_mtu())?)
        .multi_queue(config.workers > 1)
        .offload(true);
    let mut has_v4 = false;
    for address in &config.tun.addresses {
        builder = match address {
            // The builder takes only one; `hooks` adds the others.
            IpNet::V4(_) if has_v4 => builder,
            IpNet::V4(net) => builder.ipv4(net.addr(), net.prefix_len(), None),
            IpNet::V6(net) => builder.ipv6(net.addr(), net.prefix_len()),
        };
        has_v4 |= matches!(address, IpNet::V4(_));
    }
    let first = builder.build_sync().with_context(|| format!("cannot create the TUN device {name}"))?;
    // Absorbs bursts while the workers are busy.
    let _ = first.set_tx_queue_len(2000);
    let mut devices = vec![first];
    for _ in 1..config.workers {
        devices.push(devices[0].try_clone().with_context(|| format!("cannot open another queue of {name}"))?);
    }
    Ok(devices)
}
