//! Startup, run, and shutdown of one end of a link.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result};
use ipnet::IpNet;
use tokio::sync::{mpsc, watch};
use tun_rs::{DeviceBuilder, SyncDevice};
use zeroize::Zeroizing;

use crate::associations::Associations;
use crate::config::{Config, ListenTls};
use crate::counters::Counters;
use crate::dns::NameServers;
use crate::hooks::{self, Down};
use crate::keying::{Keying, Lane, MAX_QUEUED};
use crate::keys::Source;
use crate::path::udp::Udp;
use crate::path::{Activity, Shared, Worker};
use crate::privileges;
use crate::status::{self, KeyCounters, StatusState};
use crate::status_tls;
use crate::threads::{Threads, guard};

/// Maximum number of threads for DNS lookups, which cannot be canceled.
const NAME_LOOKUPS: usize = 4;

/// Runs one end of a link until SIGTERM or SIGINT, or until one of its threads or tasks fails.
pub(crate) fn run(config: Config, path: &Path, warnings: &[String]) -> Result<()> {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_target(false).with_writer(std::io::stderr).init();
    for warning in warnings {
        tracing::warn!("configuration: {warning}");
    }
    let source = Source::new(&config.keys)?;

    let devices = open_devices(&config)?;
    let sockets = (0..config.workers)
        .map(|i| {
            let peer = config.peer.address().map(|peer| with_port_offset(peer, i));
            Udp::open_pair(with_port_offset(config.local, i), peer)
        })
        .collect::<std::io::Result<Vec<(Udp, Udp)>>>()
        .with_context(|| format!("cannot open the UDP socket on {}", config.local))?;
    let started = Instant::now();
    let lanes = sockets
        .iter()
        .map(|(udp, _)| Ok(Lane { socket: udp.for_control()?, activity: Arc::new(Activity::new(started)) }))
        .collect::<std::io::Result<Vec<Lane>>>()?;
    let listener = match config.listen {
        Some(listen) => {
            let listener = TcpListener::bind(listen).with_context(|| format!("cannot listen on {listen}"))?;
            listener.set_nonblocking(true)?;
            Some(listener)
        }
        None => None,
    };
    hooks::add_routes(&config.tun)?;
    let name_servers = NameServers::set(&config.tun);
    // Dropped last, when the link has ended.
    let _down = Down::prepare(&config.tun)?;
    hooks::run_up(&config.tun)?;
    if let Some(user) = &config.user {
        privileges::drop_to(user)?;
    }

    let associations = Arc::new(Associations::default());
    let stop = Arc::new(AtomicBool::new(false));
    let (control_sender, control) = mpsc::channel(MAX_QUEUED);
    let counters: Vec<Arc<Counters>> = sockets.iter().map(|_| Arc::default()).collect();
    let mut threads = Threads::new(stop.clone());
    let parts = devices.into_iter().zip(sockets).zip(&counters).zip(&lanes);
    for (number, (((tun, sockets), counters), lane)) in parts.enumerate() {
        let shared = Shared {
            associations: associations.clone(),
            lane: number,
            counters: counters.clone(),
            activity: lane.activity.clone(),
            stop: stop.clone(),
            control: control_sender.clone(),
        };
        let worker = Worker::new(tun, sockets, shared, &config).context("cannot set up the TUN device")?;
        threads.start("packets", move || worker.run())?;
    }
    let keys = Arc::new(KeyCounters::default());
    let status_state = Arc::new(StatusState {
        role: config.role,
        suite: config.transform.id,
        inner_mtu: config.inner_mtu(),
        started,
        associations: associations.clone(),
        workers: counters,
        keys: keys.clone(),
    });
    tracing::info!(
        "started: role {}, local {}, peer {}, suite {}",
        config.role.name(),
        config.local,
        config.peer,
        config.transform.id
    );

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(NAME_LOOKUPS)
        .build()?;
    let access = (config.listen_token.clone(), config.listen_tls.clone());
    let keying = Keying::new(config, associations, keys, lanes)?;
    let outcome = guard(|| {
        runtime.block_on(async {
            if let Some(listener) = listener {
                start_status(&threads, listener, access, status_state, path)?;
            }
            keying.run(source, control, &mut threads, path).await
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
    (token, tls): (Option<Zeroizing<String>>, Option<ListenTls>),
    state: Arc<StatusState>,
    path: &Path,
) -> Result<()> {
    let settings = match tls {
        Some(tls) => {
            let (sender, settings) = watch::channel(tls.server()?);
            threads.start_task("certificate", status_tls::reload(path.to_owned(), tls, sender));
            Some(settings)
        }
        None => None,
    };
    threads.start_task("status", status::serve(listener, token, settings, state));
    Ok(())
}

/// Adds `i` to the port of an address. The configuration ensures that the port does not exceed 65535.
pub(crate) fn with_port_offset(address: SocketAddr, i: u16) -> SocketAddr {
    SocketAddr::new(address.ip(), address.port().saturating_add(i))
}

/// Creates the TUN device, with one queue per worker.
fn open_devices(config: &Config) -> Result<Vec<SyncDevice>> {
    let name = &config.tun.name;
    let mut builder = DeviceBuilder::new()
        .name(name)
        .mtu(u16::try_from(config.inner_mtu())?)
        .multi_queue(config.workers > 1)
        .offload(true);
    for address in &config.tun.addresses {
        builder = match address {
            IpNet::V4(net) => builder.ipv4(net.addr(), net.prefix_len(), None),
            IpNet::V6(net) => builder.ipv6(net.addr(), net.prefix_len()),
        };
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
