//! One end of a link, from the configuration to its end.

use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ipnet::IpNet;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Mutex, mpsc, watch};
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::associations::Associations;
use crate::config::{Config, Role};
use crate::control::{Action, Control, Event, KEPT, Settings, SourceKey};
use crate::counters::Counters;
use crate::keys::Source;
use crate::path::udp::Udp;
use crate::path::{Shared, Worker};
use crate::privileges;
use crate::status::{self, KeyCounters, Watched};

/// How often the control of keys looks whether something is due.
const TICK: Duration = Duration::from_millis(5);
/// Control messages that may wait.
const WAITING: usize = 64;

/// Runs until SIGTERM or SIGINT.
pub(crate) fn run(config: Config, path: &Path) -> Result<()> {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_target(false).with_writer(std::io::stderr).init();
    let source = Source::new(&config.keys)?;

    let devices = open_devices(&config)?;
    let sockets = (0..config.workers)
        .map(|i| Udp::open(above(config.local, i), above(config.peer, i)))
        .collect::<std::io::Result<Vec<Udp>>>()
        .with_context(|| format!("the socket on {}", config.local))?;
    let control_socket = sockets[0].for_control()?;
    let listener = match config.listen {
        Some(listen) => {
            let listener =
                std::net::TcpListener::bind(listen).with_context(|| format!("listening on {listen}"))?;
            listener.set_nonblocking(true)?;
            Some(listener)
        }
        None => None,
    };
    if let Some(user) = &config.user {
        privileges::drop_to(user)?;
    }

    let associations = Arc::new(Associations::default());
    let stop = Arc::new(AtomicBool::new(false));
    let (control_sender, control) = mpsc::channel(WAITING);
    let counters: Vec<Arc<Counters>> = sockets.iter().map(|_| Arc::default()).collect();
    let mut workers = Vec::new();
    for ((tun, udp), counters) in devices.into_iter().zip(sockets).zip(&counters) {
        let shared = Shared {
            associations: associations.clone(),
            counters: counters.clone(),
            stop: stop.clone(),
            control: control_sender.clone(),
        };
        let worker = Worker::new(tun, udp, shared, &config).context("the TUN device")?;
        workers.push(thread::Builder::new().name("packets".into()).spawn(move || worker.run())?);
    }
    let keys = Arc::new(KeyCounters::default());
    let watched = Arc::new(Watched {
        role: config.role,
        suite: config.transform.id,
        inner_mtu: config.inner_mtu(),
        started: Instant::now(),
        associations: associations.clone(),
        workers: counters,
        keys: keys.clone(),
    });
    tracing::info!("{} on {}, to {}, {}", config.role.name(), config.local, config.peer, config.transform.id);

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let link = Link { config, associations, keys, socket: control_socket };
    let outcome = runtime.block_on(async {
        if let Some(listener) = listener {
            tokio::spawn(status::serve(tokio::net::TcpListener::from_std(listener)?, watched));
        }
        link.control(source, control, path).await
    });
    // What asks for a key's source by name may be waiting for a name server, and cannot be called back.
    runtime.shutdown_background();
    stop.store(true, Ordering::Relaxed);
    for worker in workers {
        let _ = worker.join();
    }
    tracing::info!("ended");
    outcome
}

/// The address with a port that is higher by `i`; the configuration has no more workers than there are ports.
fn above(address: SocketAddr, i: u16) -> SocketAddr {
    SocketAddr::new(address.ip(), address.port().saturating_add(i))
}

/// The TUN device, a queue for each worker.
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
    let first = builder.build_sync().with_context(|| format!("the TUN device {name}"))?;
    // What the kernel queues for us while we are busy.
    let _ = first.set_tx_queue_len(2000);
    let mut devices = vec![first];
    for _ in 1..config.workers {
        devices.push(devices[0].try_clone().with_context(|| format!("another queue of {name}"))?);
    }
    Ok(devices)
}

/// The control of keys and what it acts upon.
struct Link {
    config: Config,
    associations: Arc<Associations>,
    keys: Arc<KeyCounters>,
    socket: UdpSocket,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// What the slave's source said.
struct Fetched {
    id: String,
    key: Option<SourceKey>,
}

impl Link {
    async fn control(
        mut self,
        source: Source,
        mut control: mpsc::Receiver<Vec<u8>>,
        path: &Path,
    ) -> Result<()> {
        let mut machine = Control::new(
            &Settings {
                role: self.config.role,
                transform: self.config.transform,
                extended: self.config.extended,
                single_use: source.is_single_use(),
                control_key: &self.config.control_key,
                every: self.config.rekey.age,
            },
            Instant::now(),
        );
        let ahead = match &self.config.keys {
            crate::config::Keys::Etsi014(etsi014) => etsi014.ahead,
            crate::config::Keys::File(_) => 1,
        };
        let source = Arc::new(Mutex::new(Arc::new(source)));
        let (wanted, wants) = watch::channel(0);
        let (new_sender, mut new_keys) = mpsc::channel(1);
        // All that may be asked for find room.
        let (ids_sender, ids) = mpsc::channel(KEPT);
        let (fetched_sender, mut fetched) = mpsc::channel(WAITING);
        if self.config.role == Role::Master {
            tokio::spawn(supply(source.clone(), wants, new_sender, self.keys.clone()));
        } else {
            tokio::spawn(fetch(source.clone(), ids, fetched_sender, self.keys.clone()));
        }
        let mut hang_up = signal(SignalKind::hangup())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut was_silent = true;
        loop {
            tokio::select! {
                Some(datagram) = control.recv() => {
                    if !machine.receive(&datagram, Instant::now()) {
                        count(&self.keys.control_ignored);
                    }
                }
                Some(keys) = new_keys.recv() => {
                    let keys: Vec<SourceKey> = keys;
                    for key in keys {
                        machine.add_key(key);
                    }
                }
                Some(Fetched { id, key }) = fetched.recv() => machine.fetched(&id, key.map(|key| key.key)),
                _ = tick.tick() => {}
                _ = hang_up.recv() => self.reload(&mut machine, &source, path).await,
                _ = terminate.recv() => return Ok(()),
                _ = interrupt.recv() => return Ok(()),
            }
            let now = Instant::now();
            if let Some(outbound) = self.associations.sending().filter(|outbound| outbound.is_worn()) {
                machine.worn(outbound.epoch, now);
            }
            machine.tick(now);
            self.act(&mut machine, &ids_sender, now);
            wanted.send_if_modified(|wanted| std::mem::replace(wanted, machine.wants(ahead)) != *wanted);
            self.associations.expire(now);
            self.keys.met.store(machine.is_met().into(), Ordering::Relaxed);
            was_silent = self.tell_silence(was_silent, now);
        }
    }

    fn act(&self, machine: &mut Control, ids: &mpsc::Sender<String>, now: Instant) {
        let Self { config, associations, keys, socket } = self;
        for action in machine.actions() {
            match action {
                // What is not sent now is sent again.
                Action::Send(datagram) => {
                    let _ = socket.send(&datagram);
                }
                Action::Receive(association) => associations.receive(association, config, now),
                Action::SendUnder(association) => {
                    associations.send_under(association, config, now);
                    count(&keys.changes);
                }
                Action::Retire(epoch) => associations.retire(epoch, now + config.overlap),
                Action::Reset => associations.reset(),
                Action::Fetch(names) => names.into_iter().for_each(|id| drop(ids.try_send(id))),
                Action::Tell(event) => {
                    tell(&event);
                    match event {
                        Event::Met | Event::Changed(_) => {}
                        Event::Refused(..) => count(&keys.refused),
                        Event::Disagree(_) => count(&keys.disagreements),
                        Event::Repeated => count(&keys.repeated),
                    }
                }
            }
        }
    }

    /// Says when the link falls silent because its key is past a limit, and when it speaks again.
    fn tell_silence(&self, was_silent: bool, now: Instant) -> bool {
        let is_silent = self.associations.sending().is_none_or(|outbound| outbound.is_over(now));
        match (was_silent, is_silent) {
            (false, true) => {
                tracing::warn!("the key is past its limit and there is no other: nothing is sent");
            }
            (true, false) => tracing::info!("there is a key: packets are sent"),
            _ => {}
        }
        is_silent
    }

    /// Takes over from the file what can change while the link runs.
    async fn reload(&mut self, machine: &mut Control, source: &Mutex<Arc<Source>>, path: &Path) {
        let new = match Config::read(path) {
            Ok(new) => new,
            Err(mistakes) => {
                for mistake in mistakes {
                    tracing::error!("{mistake}");
                }
                tracing::error!("the configuration stays as it was");
                return;
            }
        };
        match Source::new(&new.keys) {
            Ok(new) if new.is_single_use() == source.lock().await.is_single_use() => {
                *source.lock().await = Arc::new(new);
            }
            Ok(_) => tracing::warn!("another kind of source takes effect at the next start"),
            Err(error) => {
                tracing::error!("{error:#}; the configuration stays as it was");
                return;
            }
        }
        let kept = self.config.kept(&new);
        if !kept.is_empty() {
            tracing::warn!("{} stay as they were until the next start", kept.join(", "));
        }
        let now = Instant::now();
        self.config.rekey = new.rekey;
        self.config.limits = new.limits;
        self.config.overlap = new.overlap;
        self.config.keys = new.keys;
        machine.set_interval(self.config.rekey.age, now);
        machine.change_now(now);
        tracing::info!("[keys], [rekey], [limits] and overlap are as the file says now");
    }
}

fn tell(event: &Event) {
    match event {
        Event::Met => tracing::info!("the other end is there"),
        Event::Changed(1) => tracing::info!("the first key is in use"),
        Event::Changed(epoch) => tracing::debug!("key {epoch} is in use"),
        Event::Refused(epoch, why) => tracing::warn!("key {epoch} was refused: {why:?}"),
        Event::Disagree(epoch) => {
            tracing::error!("key {epoch} is not the same at both ends; the old one stays");
        }
        Event::Repeated => tracing::error!("the source gave a key that was there before; it is not used"),
    }
}

/// The master's: gets keys before they are needed, and after a failure tries again, ever more slowly.
async fn supply(
    source: Arc<Mutex<Arc<Source>>>,
    mut wants: watch::Receiver<usize>,
    keys: mpsc::Sender<Vec<SourceKey>>,
    counters: Arc<KeyCounters>,
) {
    const FIRST: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(2);
    let mut pause = FIRST;
    loop {
        let wanted = *wants.borrow_and_update();
        if wanted == 0 {
            if wants.changed().await.is_err() {
                return;
            }
            continue;
        }
        let present = source.lock().await.clone();
        match present.new_keys(wanted).await {
            Ok(new) => {
                pause = FIRST;
                if keys.send(new).await.is_err() {
                    return;
                }
                // They are counted before more are asked for.
                tokio::time::sleep(TICK).await;
            }
            Err(error) => {
                count(&counters.source_failures);
                tracing::warn!("the source of keys: {error:#}");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST);
            }
        }
    }
}

/// The slave's: gets the keys that the master names.
async fn fetch(
    source: Arc<Mutex<Arc<Source>>>,
    mut ids: mpsc::Receiver<String>,
    fetched: mpsc::Sender<Fetched>,
    counters: Arc<KeyCounters>,
) {
    while let Some(id) = ids.recv().await {
        let present = source.lock().await.clone();
        let key = match present.key(&id).await {
            Ok(key) => Some(key),
            Err(error) => {
                count(&counters.source_failures);
                tracing::warn!("the source of keys: {error:#}");
                None
            }
        };
        if fetched.send(Fetched { id, key }).await.is_err() {
            return;
        }
    }
}
