//! The control of one peer: the rekey state machine with a clock, the sockets, and a key source.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::config::peers::PeerConfig;
use crate::config::{Keys, Peer, Role};
use crate::control::message::Refusal;
use crate::control::{Action, Control, Event, Settings};
use crate::keys::{Source, SourceError};
use crate::log::{Log, Topic};
use crate::names::{Found, resolve};
use crate::path::mail::Mail;
use crate::path::send_nat_keepalive;
use crate::path::tunnels::Tunnel;
use crate::path::udp::reconnect;
use crate::status::KeyCounters;
use crate::supply::{SourceEvent, fetch, supply};
use crate::threads::Threads;

/// What the control of all peers shares.
pub(crate) struct Environment {
    /// The sockets of the packet threads. The first carries the control messages.
    pub sockets: Vec<UdpSocket>,
    /// Whether the sockets are connected to the only peer.
    pub is_single: bool,
    pub mail: Arc<Mail>,
    /// Whether `local` is an IPv4 address.
    pub is_v4: bool,
    /// Maximum size in bytes of a datagram on the path.
    pub max_datagram: usize,
}

/// What a task found out for the control of a peer.
pub(crate) enum News {
    /// From the key source.
    Source(SourceEvent),
    /// From a name server.
    Name(Found),
}

/// The news of a peer: the number of the peer, and that of the tasks that they come from, since another peer may have
/// got the number, or the peer another key source.
pub(crate) type PeerNews = (usize, u64, News);

/// The control of one peer.
pub(crate) struct Keying {
    pub config: PeerConfig,
    pub machine: Control,
    pub tunnel: Arc<Tunnel>,
    pub counters: Arc<KeyCounters>,
    /// The number of the current tasks, counted from the start of the link.
    pub serial: u64,
    /// The peer's address, as known to the packet threads.
    pub address: Option<SocketAddr>,
    /// Whether the source must deliver each key only once.
    pub is_single_use: bool,
    pub log: Log,
    tasks: Tasks,
    /// When the sockets to a dead peer are connected again; `None` while it is not dead.
    next_connect: Option<Instant>,
    /// Whether the sockets are connected to the peer. Without a route, as while an interface is down, they are not.
    is_connected: bool,
    started: Instant,
    had_key: bool,
}

/// The tasks of a peer, and what they are asked for.
struct Tasks {
    /// The number of keys to request in advance (master only).
    wanted: watch::Sender<usize>,
    /// The IDs of the keys to fetch (slave only).
    ids: mpsc::Sender<String>,
    is_name_wanted: watch::Sender<bool>,
    handles: Vec<AbortHandle>,
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for handle in &self.handles {
            handle.abort();
        }
    }
}

/// Adds `i` to the port of an address. The configuration ensures that the port does not exceed 65535.
pub(crate) fn with_port_offset(mut address: SocketAddr, i: u16) -> SocketAddr {
    // The interface of a link-local address stays.
    address.set_port(address.port().saturating_add(i));
    address
}

/// Connects the sockets of all packet threads to the peer. Returns whether all are connected: there may be no route.
fn connect(sockets: &[UdpSocket], address: SocketAddr) -> bool {
    let numbered = (0..).zip(sockets);
    // Each socket is tried, even if another fails.
    numbered.fold(true, |all, (number, socket)| {
        reconnect(socket, with_port_offset(address, number)).is_ok() && all
    })
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Passes the messages of a peer's task on to the control of all peers.
fn forward<T: Send + 'static>(
    slot: usize,
    serial: u64,
    to: &mpsc::Sender<PeerNews>,
    wrap: fn(T) -> News,
) -> mpsc::Sender<T> {
    let (sender, mut receiver) = mpsc::channel(1);
    let to = to.clone();
    // Ends with the task that holds the sender.
    tokio::spawn(async move {
        while let Some(message) = receiver.recv().await {
            if to.send((slot, serial, wrap(message))).await.is_err() {
                return;
            }
        }
    });
    sender
}

/// Returns the state of a peer that is not connected.
fn machine(
    config: &PeerConfig,
    is_single_use: bool,
    environment: &Environment,
    slot: usize,
    now: Instant,
) -> Control {
    let settings = Settings {
        role: config.role,
        transform: config.transform,
        extended: config.extended,
        single_use: is_single_use,
        control_key: &config.control_key,
        every: config.rekey.age,
        liveness: config.liveness,
        slot: (!environment.is_single).then_some(slot as u32),
    };
    let mut machine = Control::new(&settings, now);
    machine.set_max_datagram(environment.max_datagram);
    if let Some(address) = config.address.address() {
        machine.set_address(address, now);
    }
    machine
}

impl Tasks {
    fn start(
        config: &PeerConfig,
        source: Source,
        (slot, serial): (usize, u64),
        is_v4: bool,
        news: &mpsc::Sender<PeerNews>,
        threads: &Threads,
    ) -> Self {
        let (wanted, wants) = watch::channel(0);
        // The state machine fetches one key at a time.
        let (ids, named) = mpsc::channel(1);
        let sender = forward(slot, serial, news, News::Source);
        let mut handles = vec![match config.role {
            Role::Master => threads.start_task("source", supply(source, wants, sender)),
            Role::Slave => threads.start_task("source", fetch(source, named, sender)),
        }];
        let (is_name_wanted, wants_name) = watch::channel(true);
        if let Peer::Name { host, port } = &config.address {
            let found = forward(slot, serial, news, News::Name);
            let lookups = resolve(host.clone(), *port, is_v4, wants_name, found);
            handles.push(threads.start_task("names", lookups));
        }
        Self { wanted, ids, is_name_wanted, handles }
    }
}

impl Keying {
    /// Starts the control of a peer and its tasks. `slot` is the number of the peer if there may be several.
    pub(crate) fn new(
        config: PeerConfig,
        source: Source,
        serial: u64,
        environment: &Environment,
        news: &mpsc::Sender<PeerNews>,
        threads: &Threads,
        tunnel: Arc<Tunnel>,
    ) -> Self {
        let (now, is_single_use) = (Instant::now(), source.is_single_use());
        let machine = machine(&config, is_single_use, environment, tunnel.slot, now);
        let tasks = Tasks::start(&config, source, (tunnel.slot, serial), environment.is_v4, news, threads);
        Self {
            log: Log::new(&config),
            config,
            machine,
            tunnel,
            counters: Arc::default(),
            serial,
            address: None,
            is_single_use,
            tasks,
            next_connect: None,
            is_connected: false,
            started: now,
            had_key: false,
        }
    }

    /// Ends all associations and begins the exchange with the peer again, as after a restart.
    pub(crate) fn begin_again(&mut self, environment: &Environment, now: Instant) {
        self.tunnel.associations.end_all();
        let known = self.machine.address();
        self.machine = machine(&self.config, self.is_single_use, environment, self.tunnel.slot, now);
        if let Some(address) = known {
            self.machine.set_address(address, now);
        }
    }

    /// Processes a control message. Returns whether it was accepted.
    pub(crate) fn receive(&mut self, datagram: &[u8], source: SocketAddr, now: Instant) -> bool {
        let is_accepted = self.machine.receive(datagram, source, now);
        if !is_accepted {
            count(&self.counters.control_ignored);
        }
        is_accepted
    }

    /// Handles a verified packet that a thread received from another address than the known one.
    pub(crate) fn moved(
        &mut self,
        environment: &Environment,
        thread: usize,
        source: SocketAddr,
        now: Instant,
    ) {
        if thread == 0 {
            self.machine.heard_from(source, now);
            return;
        }
        // Behind a NAT, the ports of the peer's other threads do not follow from that of the first. Only the first can
        // ask the peer whether it is there.
        if self.machine.address().is_none_or(|address| address.ip() != source.ip()) {
            return;
        }
        if !environment.is_single {
            if let Some(strand) = self.tunnel.strands.get(thread) {
                strand.set_address(source);
            }
        } else if let Some(socket) = environment.sockets.get(thread) {
            let _ = reconnect(socket, source);
        }
    }

    /// Gives the peer its turn: runs what is due, and executes the actions of the state machine.
    pub(crate) fn turn(&mut self, environment: &Environment, other_troubles: &[String], now: Instant) {
        let associations = &self.tunnel.associations;
        if let Some(outbound) = associations.sending().filter(|outbound| outbound.is_past_soft_limit()) {
            self.machine.soft_limit_reached(outbound.generation, now);
        }
        if let Some(at) = self.tunnel.strands.iter().filter_map(|strand| strand.activity.received()).max() {
            self.machine.heard_traffic(at);
        }
        // With half of its age left, a key lasts until the next rekey: the soft limit is below the hard one.
        if let Some(generation) = associations.latest_of_age(self.config.limits.age / 2, now) {
            self.machine.too_old(generation);
        }
        self.machine.tick(now);
        self.execute(environment, now);
        self.tunnel.associations.set_peer_dead(self.machine.is_peer_dead(now));
        self.find_dead_peer(environment, now);
        let is_alive = self.is_peer_alive(now);
        if is_alive {
            // The name of a living peer is not looked up.
            self.log.end(Topic::Name);
        }
        self.tasks.is_name_wanted.send_if_modified(|wanted| std::mem::replace(wanted, !is_alive) == is_alive);
        self.keep_nat_mappings(environment, now);
        let wants = self.machine.wants(self.config.keys.ahead());
        self.tasks.wanted.send_if_modified(|wanted| std::mem::replace(wanted, wants) != wants);
        let associations = &self.tunnel.associations;
        associations.expire(now);
        let has_key = associations.sending().is_some_and(|outbound| !outbound.is_past_hard_limit(now));
        self.log.key(has_key, self.had_key, self.started, now);
        self.had_key |= has_key;
        self.log.tick(now);
        let troubles = [other_troubles, &self.log.troubles()[..]].concat();
        self.counters.note(&self.machine, troubles, now);
    }

    /// Returns whether the peer has answered and is not dead.
    fn is_peer_alive(&self, now: Instant) -> bool {
        self.machine.heard().is_some() && !self.machine.is_peer_dead(now)
    }

    /// Handles what a task found out.
    pub(crate) fn handle(&mut self, news: News) {
        let now = Instant::now();
        match news {
            News::Source(event) => self.handle_source_event(event),
            News::Name(Ok(address)) => {
                self.log.end(Topic::Name);
                self.machine.set_address(address, now);
            }
            News::Name(Err(_)) if self.is_peer_alive(now) => {}
            News::Name(Err(why)) => {
                let text = format!("peer not found: cannot resolve {}: {why}", self.config.address);
                self.log.begin(Topic::Name, &text, now);
            }
        }
    }

    /// Looks for a dead peer at its configured address, in case it moved there. Connects the sockets to the only peer
    /// again once per second, in case this end's own address has changed.
    fn find_dead_peer(&mut self, environment: &Environment, now: Instant) {
        const INTERVAL: Duration = Duration::from_secs(1);
        let Environment { sockets, is_single, .. } = environment;
        if !self.machine.is_peer_dead(now) {
            self.next_connect = None;
            if *is_single
                && !self.is_connected
                && let Some(address) = self.machine.address()
            {
                self.is_connected = connect(sockets, address);
            }
            return;
        }
        if self.next_connect.is_some_and(|next| now < next) {
            return;
        }
        if self.next_connect.replace(now + INTERVAL).is_none()
            && let Some(address) = self.config.address.address()
        {
            self.machine.set_address(address, now);
        }
        if *is_single && let Some(address) = self.machine.address() {
            self.is_connected = connect(sockets, address);
        }
    }

    fn handle_source_event(&mut self, event: SourceEvent) {
        match event {
            SourceEvent::Keys(keys, used) => {
                let new =
                    keys.into_iter().map(|key| self.machine.add_key(key)).filter(|is_new| *is_new).count();
                if new > 0 {
                    self.log.end(Topic::Source);
                }
                // Fails only while the link is stopping.
                let _ = used.send(new);
            }
            SourceEvent::Fetched(id, Ok(key)) => {
                self.log.end(Topic::Source);
                self.machine.fetched(&id, Ok(key.key));
            }
            SourceEvent::Fetched(id, Err(error)) => {
                self.source_failed(&error);
                self.machine.fetched(&id, Err(error.to_string()));
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

    fn keep_nat_mappings(&self, environment: &Environment, now: Instant) {
        let Some(interval) = self.config.liveness.nat_keepalive else { return };
        for (socket, strand) in environment.sockets.iter().zip(&self.tunnel.strands) {
            let address = strand.address();
            let has_address = environment.is_single || address.is_some();
            if has_address && send_nat_keepalive(socket, address, &strand.activity, interval, now) {
                count(&self.counters.nat_keepalives);
            }
        }
    }

    /// Records the peer's address for the packet threads.
    fn move_to(&mut self, environment: &Environment, address: SocketAddr, now: Instant) {
        environment.mail.note_address(self.address.replace(address), Some(address));
        if environment.is_single {
            self.is_connected = connect(&environment.sockets, address);
        } else {
            for (number, strand) in (0..).zip(&self.tunnel.strands) {
                strand.set_address(with_port_offset(address, number));
            }
        }
        self.log.moved(&self.config.address, address, now);
    }

    fn execute(&mut self, environment: &Environment, now: Instant) {
        let actions: Vec<Action> = self.machine.actions().collect();
        let tunnel = self.tunnel.clone();
        let associations = &tunnel.associations;
        for action in actions {
            match action {
                // A message that cannot be sent now is retransmitted.
                Action::Send(datagram, address) => {
                    let _ = environment.sockets[0].send_to(&datagram, address);
                    tunnel.strands[0].activity.note_sent(now);
                }
                Action::Move(address) => self.move_to(environment, address, now),
                Action::Receive(association) => associations.receive(association, &self.config, now),
                Action::Forget(generation) => associations.forget(generation),
                Action::SendUnder(association) => {
                    associations.send_under(association, &self.config, now);
                    count(&self.counters.changes);
                }
                Action::Retire(generation) => associations.retire(generation, now + self.config.overlap),
                // The channel has room: the previous fetch is complete.
                Action::Fetch(id) => drop(self.tasks.ids.try_send(id)),
                Action::Report(event) => self.report(event, now),
            }
        }
    }

    fn report(&mut self, event: Event, now: Instant) {
        match &event {
            Event::Refused(_, Refusal::Disagree, _) => count(&self.counters.disagreements),
            Event::Refused(..) | Event::OtherSuite(..) => count(&self.counters.refused),
            Event::Repeated => count(&self.counters.repeated),
            Event::Met
            | Event::Restarted
            | Event::Dead(_)
            | Event::OtherVersions(_)
            | Event::Back(_)
            | Event::Changed(_) => {}
        }
        self.log.event(event, now);
    }

    /// Replaces the key source. Requests to the old one are canceled, and the news of its tasks no longer count.
    pub(crate) fn replace_source(
        &mut self,
        keys: Keys,
        source: Source,
        serial: u64,
        is_v4: bool,
        news: &mpsc::Sender<PeerNews>,
        threads: &Threads,
    ) {
        self.config.keys = keys;
        self.serial = serial;
        self.tasks = Tasks::start(&self.config, source, (self.tunnel.slot, serial), is_v4, news, threads);
        self.machine.source_replaced();
    }

    /// Applies the reloadable fields of a new configuration except for the key source, and rekeys.
    pub(crate) fn reload(&mut self, new: PeerConfig, now: Instant) {
        self.config.rekey = new.rekey;
        self.config.limits = new.limits;
        self.config.overlap = new.overlap;
        self.config.liveness = new.liveness;
        self.config.allowed = new.allowed;
        self.machine.set_liveness(new.liveness, now);
        self.log.set_dead_time(new.liveness.dead);
        self.machine.set_interval(self.config.rekey.age, now);
        self.machine.change_now(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_offset_keeps_the_interface_of_a_link_local_address() {
        for (from, to) in [("192.0.2.1:4500", "192.0.2.1:4507"), ("[fe80::1%3]:4500", "[fe80::1%3]:4507")] {
            let [from, to] = [from, to].map(|text| text.parse::<SocketAddr>().unwrap());
            assert_eq!(with_port_offset(from, 7), to);
        }
    }
}
