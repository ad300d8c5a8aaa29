//! The control task: it runs the rekey state machine with a clock, a socket, and a key source.

use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Mutex, mpsc, watch};

use crate::associations::Associations;
use crate::clock::{ClockTrouble, Clocks};
use crate::config::{Config, Peer, Role};
use crate::control::message::Refusal;
use crate::control::{Action, Control, Event, Settings};
use crate::keys::{Source, SourceError};
use crate::log::{Log, Topic};
use crate::names::{Found, resolve};
use crate::path::udp::reconnect;
use crate::path::{Activity, Input, NatKeepalive};
use crate::run::with_port_offset;
use crate::status::KeyCounters;
use crate::supply::{SourceEvent, fetch, supply};
use crate::threads::Threads;

/// Resolution of the state machine's timers.
const TICK: Duration = Duration::from_millis(5);
/// Maximum number of queued control messages.
pub(crate) const MAX_QUEUED: usize = 64;

/// What the control task shares with a packet thread.
pub(crate) struct Lane {
    /// The thread's socket.
    pub socket: UdpSocket,
    /// The times of the thread's latest traffic.
    pub activity: Arc<Activity>,
}

/// The environment of the state machine: configuration, associations, counters, sockets, and log.
pub(crate) struct Keying {
    config: Config,
    associations: Arc<Associations>,
    counters: Arc<KeyCounters>,
    /// The sockets and activities of the packet threads. The first carries the control messages.
    lanes: Vec<Lane>,
    keepalives: Vec<NatKeepalive>,
    log: Log,
    /// When the sockets to a dead peer are connected again; `None` while it is not dead.
    next_connect: Option<Instant>,
    /// Whether the sockets are connected to the peer. Without a route, as while an interface is down, they are not.
    is_connected: bool,
    started: Instant,
    had_key: bool,
}

/// Connects the sockets of all packet threads to the peer. Returns whether all are connected: there may be no route.
fn connect(lanes: &[Lane], address: SocketAddr) -> bool {
    let numbered = (0..).zip(lanes);
    // Each socket is tried, even if another fails.
    numbered.fold(true, |all, (number, lane)| {
        reconnect(&lane.socket, with_port_offset(address, number)).is_ok() && all
    })
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Keying {
    pub(crate) fn new(
        config: Config,
        associations: Arc<Associations>,
        counters: Arc<KeyCounters>,
        lanes: Vec<Lane>,
    ) -> std::io::Result<Self> {
        let log = Log::new(&config);
        let keepalives = lanes
            .iter()
            .map(|lane| Ok(NatKeepalive::new(lane.socket.try_clone()?, lane.activity.clone())))
            .collect::<std::io::Result<Vec<NatKeepalive>>>()?;
        let started = Instant::now();
        Ok(Self {
            config,
            associations,
            counters,
            lanes,
            keepalives,
            log,
            next_connect: None,
            is_connected: false,
            started,
            had_key: false,
        })
    }

    /// Runs until SIGTERM or SIGINT.
    ///
    /// # Errors
    /// The reason why a thread or task has ended.
    pub(crate) async fn run(
        mut self,
        source: Source,
        mut control: mpsc::Receiver<Input>,
        threads: &mut Threads,
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
                liveness: self.config.liveness,
            },
            Instant::now(),
        );
        if let Some(address) = self.config.peer.address() {
            machine.set_address(address, Instant::now());
        }
        let ahead = self.config.keys.ahead();
        let source = Arc::new(Mutex::new(Arc::new(source)));
        let (wanted, wants) = watch::channel(0);
        // The state machine fetches one key at a time.
        let (ids_sender, ids) = mpsc::channel(1);
        let (news_sender, mut news) = mpsc::channel(1);
        match self.config.role {
            Role::Master => threads.start_task("source", supply(source.clone(), wants, news_sender)),
            Role::Slave => threads.start_task("source", fetch(source.clone(), ids, news_sender)),
        }
        let (name_wanted, is_name_wanted) = watch::channel(true);
        let (found_sender, mut found) = mpsc::channel(1);
        if let Peer::Name { host, port } = &self.config.peer {
            let is_v4 = self.config.local.is_ipv4();
            let lookups = resolve(host.clone(), *port, is_v4, is_name_wanted, found_sender.clone());
            threads.start_task("names", lookups);
        }
        let mut hang_up = signal(SignalKind::hangup())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut clocks = Clocks::new(Instant::now());
        let mut inputs = Vec::with_capacity(MAX_QUEUED);
        loop {
            tokio::select! {
                _ = control.recv_many(&mut inputs, MAX_QUEUED) => {
                    for input in inputs.drain(..) {
                        self.handle_input(&mut machine, input);
                    }
                }
                Some(found) = found.recv() => self.handle_name(&mut machine, found),
                Some(news) = news.recv() => self.handle_source_event(&mut machine, news),
                error = threads.ended() => return Err(error),
                _ = tick.tick() => {}
                _ = hang_up.recv() => self.reload(&mut machine, &source, path).await,
                _ = terminate.recv() => return Ok(()),
                _ = interrupt.recv() => return Ok(()),
            }
            let now = Instant::now();
            if let Some(outbound) =
                self.associations.sending().filter(|outbound| outbound.is_past_soft_limit())
            {
                machine.soft_limit_reached(outbound.generation, now);
            }
            if let Some(trouble) = clocks.tick(now) {
                self.log.clock(trouble, now);
                if matches!(trouble, ClockTrouble::Suspended(_)) {
                    machine.change_now(now);
                }
            }
            if let Some(at) = self.lanes.iter().filter_map(|lane| lane.activity.received()).max() {
                machine.heard_traffic(at);
            }
            machine.tick(now);
            self.execute(&mut machine, &ids_sender, now);
            self.associations.set_peer_dead(machine.is_peer_dead(now));
            self.find_dead_peer(&mut machine, now);
            let is_alive = machine.heard().is_some() && !machine.is_peer_dead(now);
            name_wanted.send_if_modified(|wanted| std::mem::replace(wanted, !is_alive) == is_alive);
            self.keep_nat_mappings(now);
            wanted.send_if_modified(|wanted| std::mem::replace(wanted, machine.wants(ahead)) != *wanted);
            self.associations.expire(now);
            let has_key =
                self.associations.sending().is_some_and(|outbound| !outbound.is_past_hard_limit(now));
            self.log.key(has_key, self.had_key, self.started, now);
            self.had_key |= has_key;
            self.log.tick(now);
            self.counters.note(&machine, self.log.troubles(), now);
        }
    }

    fn handle_input(&mut self, machine: &mut Control, input: Input) {
        match input {
            Input::Message(datagram, source) => {
                if !machine.receive(&datagram, source, Instant::now()) {
                    count(&self.counters.control_ignored);
                }
            }
            Input::Moved(0, source) => machine.heard_from(source),
            // Behind a NAT, the ports of the peer's other threads do not follow from that of the first.
            Input::Moved(number, source) => {
                if let Some(lane) = self.lanes.get(number) {
                    let _ = reconnect(&lane.socket, source);
                }
            }
        }
    }

    fn handle_name(&mut self, machine: &mut Control, found: Found) {
        let now = Instant::now();
        match found {
            Ok(address) => {
                self.log.end(Topic::Name);
                machine.set_address(address, now);
            }
            Err(why) => {
                let text = format!("peer not found: cannot resolve {}: {why}", self.config.peer);
                self.log.begin(Topic::Name, &text, now);
            }
        }
    }

    /// Looks for a dead peer at its configured address, in case it moved there, and connects the sockets again once
    /// per second, in case this end's own address has changed.
    fn find_dead_peer(&mut self, machine: &mut Control, now: Instant) {
        const INTERVAL: Duration = Duration::from_secs(1);
        if !machine.is_peer_dead(now) {
            self.next_connect = None;
            if !self.is_connected
                && let Some(address) = machine.address()
            {
                self.is_connected = connect(&self.lanes, address);
            }
            return;
        }
        if self.next_connect.is_some_and(|next| now < next) {
            return;
        }
        if self.next_connect.replace(now + INTERVAL).is_none()
            && let Some(address) = self.config.peer.address()
        {
            machine.set_address(address, now);
        }
        if let Some(address) = machine.address() {
            self.is_connected = connect(&self.lanes, address);
        }
    }

    fn handle_source_event(&mut self, machine: &mut Control, news: SourceEvent) {
        match news {
            SourceEvent::Keys(keys, used) => {
                let new = keys.into_iter().map(|key| machine.add_key(key)).filter(|is_new| *is_new).count();
                if new > 0 {
                    self.log.end(Topic::Source);
                }
                // Fails only while the link is stopping.
                let _ = used.send(new);
            }
            SourceEvent::Fetched(id, Ok(key)) => {
                self.log.end(Topic::Source);
                machine.fetched(&id, Ok(key.key));
            }
            SourceEvent::Fetched(id, Err(error)) => {
                self.source_failed(&error);
                machine.fetched(&id, Err(error.to_string()));
            }
            SourceEvent::Failed(error) => self.source_failed(&error),
        }
    }

    fn source_failed(&mut self, error: &SourceError) {
        count(&self.counters.source_failures);
        match error {
            SourceError::Empty => count(&self.counters.source_empty),
            SourceError::Malformed(_) => count(&self.counters.source_malformed),
            SourceError::Failed(_) => {}
        }
        self.log.begin(Topic::Source, &format!("key source failed: {error}"), Instant::now());
    }

    fn keep_nat_mappings(&self, now: Instant) {
        let Some(interval) = self.config.liveness.nat_keepalive else { return };
        for keepalive in &self.keepalives {
            if keepalive.send_if_due(interval, now) {
                count(&self.counters.nat_keepalives);
            }
        }
    }

    fn execute(&mut self, machine: &mut Control, ids: &mpsc::Sender<String>, now: Instant) {
        let Self { config, associations, counters, lanes, log, is_connected, .. } = self;
        for action in machine.actions() {
            match action {
                // A message that cannot be sent now is retransmitted.
                Action::Send(datagram, address) => {
                    let _ = lanes[0].socket.send_to(&datagram, address);
                    lanes[0].activity.note_sent(now);
                }
                Action::Move(address) => {
                    *is_connected = connect(lanes, address);
                    log.moved(&config.peer, address, now);
                }
                Action::Receive(association) => associations.receive(association, config, now),
                Action::Forget(generation) => associations.forget(generation),
                Action::SendUnder(association) => {
                    associations.send_under(association, config, now);
                    count(&counters.changes);
                }
                Action::Retire(generation) => associations.retire(generation, now + config.overlap),
                // The channel has room: the previous fetch is complete.
                Action::Fetch(id) => drop(ids.try_send(id)),
                Action::Report(event) => {
                    match &event {
                        Event::Refused(_, Refusal::Disagree, _) => count(&counters.disagreements),
                        Event::Refused(..) | Event::OtherSuite(..) => count(&counters.refused),
                        Event::Repeated => count(&counters.repeated),
                        Event::Met
                        | Event::Restarted
                        | Event::Dead(_)
                        | Event::OtherVersions(_)
                        | Event::Back(_)
                        | Event::Changed(_) => {}
                    }
                    log.event(event, now);
                }
            }
        }
    }

    /// Applies the reloadable fields of the configuration file.
    async fn reload(&mut self, machine: &mut Control, source: &Mutex<Arc<Source>>, path: &Path) {
        let new = match Config::read(path) {
            Ok(new) => new,
            Err(errors) => {
                for error in errors {
                    tracing::error!("{error}");
                }
                tracing::error!("reload failed: the configuration is invalid and remains unchanged");
                return;
            }
        };
        match Source::new(&new.keys) {
            Ok(new) if new.is_single_use() == source.lock().await.is_single_use() => {
                *source.lock().await = Arc::new(new);
            }
            Ok(_) => tracing::warn!("not reloaded: changing the type of key source requires a restart"),
            Err(error) => {
                tracing::error!("reload failed: {error:#}; the configuration remains unchanged");
                return;
            }
        }
        let fields = self.config.fields_fixed_until_restart(&new);
        if !fields.is_empty() {
            tracing::warn!("not reloaded: changing these fields requires a restart: {}", fields.join(", "));
        }
        let now = Instant::now();
        self.config.rekey = new.rekey;
        self.config.limits = new.limits;
        self.config.overlap = new.overlap;
        self.config.liveness = new.liveness;
        machine.set_liveness(new.liveness);
        self.log.set_dead_time(new.liveness.dead);
        self.config.keys = new.keys;
        machine.set_interval(self.config.rekey.age, now);
        machine.change_now(now);
        tracing::info!("reloaded: [keys], [rekey], [limits], [liveness] and overlap");
    }
}
