//! The control task: it passes messages and news to the peers and gives each its turns.
//!
//! ```text
//! control message:   to the peer with its sender's boot ID if its key authenticates it, or else to one at its source
//!                    whose key does, or else to any whose key does; the peer then gets a turn
//! every TICK:        TURNS peers get a turn, the next ones at the next tick
//!                    messages from unknown sources, as long as the budget for trying the keys of all peers lasts
//! ```
//!
//! However many messages one source sends, the others wait for one message of it per turn ([`Mail`]).

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::clock::{ClockTrouble, Clocks};
use crate::config::Config;
use crate::config::peers::{MAX_PEERS, PeerConfig};
use crate::control::message::{Id, sender};
use crate::findings::Findings;
use crate::generation::Generation;
use crate::keying::{Environment, Keying, PeerNews};
use crate::keys::Source;
use crate::log::Lines;
use crate::path::mail::Mail;
use crate::path::tunnels::{Tunnel, Tunnels};
use crate::status::{PeerState, StatusState};
use crate::threads::Threads;

/// Resolution of the timers.
const TICK: Duration = Duration::from_millis(5);
/// Maximum number of peers that get a turn at a tick.
const TURNS: usize = 128;
/// Maximum number of messages that are processed before the next turn of the other peers.
const MESSAGES: usize = 256;
/// Maximum number of keys that are tried per tick on messages whose sender is unknown, unless two messages require
/// more: of the peers at their sources, and as many of all peers.
const TRIALS: usize = 1024;
/// Number of boot IDs that are remembered per peer: the current one, and that after a restart.
const BOOTS: usize = 2;

/// The control of all peers.
pub(crate) struct Hub {
    config: Config,
    /// The file of the configuration.
    path: PathBuf,
    environment: Environment,
    tunnels: Arc<Tunnels>,
    status: Arc<StatusState>,
    /// The peers by their numbers.
    peers: Vec<Option<Peer>>,
    /// The number of the peer that last sent an authentic message with this boot ID: the entries of all
    /// [`Peer::boots`].
    senders: HashMap<Id, usize>,
    /// The number of the tasks that were started last.
    serial: u64,
    /// The number of the peer that gets the next turn.
    next: usize,
    /// The number of keys that may still be tried until the next tick, of any peers.
    trials: usize,
    /// The number of keys that may still be tried until the next tick, of peers at the source of a message.
    trials_there: usize,
    log: Lines,
    news: mpsc::Sender<PeerNews>,
    generation: Generation,
}

/// A peer, with the boot IDs of its authentic messages.
struct Peer {
    keying: Keying,
    boots: VecDeque<Id>,
}

/// What a reload changes.
#[derive(Default)]
struct Changes {
    removed: Vec<usize>,
    changed: Vec<(usize, PeerConfig, Source)>,
    added: Vec<(PeerConfig, Source)>,
}

impl Hub {
    /// Returns the control of the configured peers, and the channel that [`Self::run`] requires.
    pub(crate) fn new(
        config: Config,
        path: PathBuf,
        environment: Environment,
        tunnels: Arc<Tunnels>,
        status: Arc<StatusState>,
        generation: Generation,
    ) -> (Self, mpsc::Receiver<PeerNews>) {
        let (news, receiver) = mpsc::channel(64);
        let hub = Self {
            config,
            path,
            environment,
            tunnels,
            status,
            peers: Vec::new(),
            senders: HashMap::new(),
            serial: 0,
            next: 0,
            trials: TRIALS,
            trials_there: TRIALS,
            log: Lines::new(String::new()),
            news,
            generation,
        };
        (hub, receiver)
    }

    /// Starts the configured peers, with these sources. Requires the context of a runtime.
    pub(crate) fn start(&mut self, sources: Vec<Source>, threads: &Threads) {
        for (config, source) in self.config.peers.clone().into_iter().zip(sources) {
            self.add(config, source, threads);
        }
        self.publish();
    }

    /// Runs until SIGTERM or SIGINT. `hang_up` receives SIGHUP.
    ///
    /// # Errors
    /// The reason why a thread or task has ended.
    pub(crate) async fn run(
        mut self,
        mut news: mpsc::Receiver<PeerNews>,
        mut hang_up: Signal,
        threads: &mut Threads,
    ) -> Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut clocks = Clocks::new(Instant::now());
        let mail = self.environment.mail.clone();
        loop {
            let mut is_tick = false;
            tokio::select! {
                () = mail.wait() => {}
                Some(news) = news.recv() => self.pass_on(news),
                error = threads.ended() => return Err(error),
                _ = tick.tick() => is_tick = true,
                _ = hang_up.recv() => self.reload(threads),
                _ = terminate.recv() => return Ok(()),
                _ = interrupt.recv() => return Ok(()),
            }
            let now = Instant::now();
            self.read_mail(&mail, now);
            if is_tick || self.environment.is_single {
                self.trials = TRIALS.max(2 * self.peers.len());
                self.trials_there = self.trials;
                self.read_mail_of_strangers(&mail, now);
                self.check_generation(now);
                self.check_clocks(&mut clocks, now);
                self.give_turns(now);
            }
        }
    }

    /// Adds a peer under a free number.
    fn add(&mut self, config: PeerConfig, source: Source, threads: &Threads) {
        // The configuration limits the number of peers.
        let slot = self.peers.iter().position(Option::is_none).unwrap_or(self.peers.len()) % MAX_PEERS;
        self.serial += 1;
        let tunnel = Arc::new(Tunnel::new(slot, &config, self.environment.sockets.len(), Instant::now()));
        let keying = Keying::new(config, source, self.serial, &self.environment, &self.news, threads, tunnel);
        if slot == self.peers.len() {
            self.peers.push(None);
        }
        self.peers[slot] = Some(Peer { keying, boots: VecDeque::new() });
    }

    fn remove(&mut self, slot: usize) {
        let Some(Peer { keying, boots }) = self.peers[slot].take() else { return };
        for boot in boots {
            self.senders.remove(&boot);
        }
        self.environment.mail.note_address(keying.address, None);
        self.status.remove(keying.tunnel);
    }

    /// Makes the peers known to the packet threads and to the status server.
    fn publish(&self) {
        let peers = || self.peers.iter().flatten().map(|peer| &peer.keying);
        if self.environment.is_single {
            if let Some(only) = peers().next() {
                self.tunnels.set_only(only.tunnel.clone());
            }
        } else {
            self.tunnels.replace(peers().map(|keying| (&keying.tunnel, &keying.config.allowed[..])));
        }
        let states = peers().map(|keying| PeerState {
            name: keying.config.name.clone(),
            role: keying.config.role,
            suite: keying.config.transform.id,
            tunnel: keying.tunnel.clone(),
            keys: keying.counters.clone(),
        });
        self.status.set_peers(states.collect());
    }

    fn keying(&mut self, slot: usize) -> Option<&mut Keying> {
        self.peers.get_mut(slot)?.as_mut().map(|peer| &mut peer.keying)
    }

    fn pass_on(&mut self, (slot, serial, news): PeerNews) {
        if let Some(keying) = self.keying(slot).filter(|keying| keying.serial == serial) {
            keying.handle(news);
            self.turn(slot, Instant::now());
        }
    }

    fn turn(&mut self, slot: usize, now: Instant) {
        // Trouble of the link as a whole is shown with the only peer.
        let troubles = if self.environment.is_single { self.log.troubles() } else { Vec::new() };
        if let Some(Peer { keying, .. }) = self.peers.get_mut(slot).and_then(Option::as_mut) {
            keying.turn(&self.environment, &troubles, now);
        }
    }

    /// Gives the next peers their turns.
    fn give_turns(&mut self, now: Instant) {
        let count = self.peers.len();
        for _ in 0..count.min(TURNS) {
            self.next = (self.next + 1) % count;
            self.turn(self.next, now);
        }
    }

    /// Begins again with all peers, under new keys, if this process has become a copy of an earlier state, which may have
    /// gone on to use the same keys and sequence numbers.
    fn check_generation(&mut self, now: Instant) {
        if !self.generation.has_changed() {
            return;
        }
        tracing::warn!(
            "restored: this machine or process continues from a snapshot; nothing is sent to a peer before it has \
             agreed on a new key"
        );
        for peer in self.peers.iter_mut().flatten() {
            peer.keying.begin_again(&self.environment, now);
        }
    }

    fn check_clocks(&mut self, clocks: &mut Clocks, now: Instant) {
        if let Some(trouble) = clocks.tick(now) {
            self.log.clock(trouble, now);
            if matches!(trouble, ClockTrouble::Suspended(_)) {
                for peer in self.peers.iter_mut().flatten() {
                    peer.keying.machine.change_now(now);
                }
            }
        }
        self.log.tick(now);
        self.status.set_troubles(self.log.troubles());
    }

    fn read_mail(&mut self, mail: &Mail, now: Instant) {
        for ((thread, slot), source) in mail.take_moves() {
            if let Some(Peer { keying, .. }) = self.peers.get_mut(slot).and_then(Option::as_mut) {
                keying.moved(&self.environment, thread, source, now);
            }
            self.turn(slot, now);
        }
        for _ in 0..MESSAGES {
            let Some((datagram, source)) = mail.take() else { return };
            self.deliver(&datagram, source, now);
        }
    }

    /// Processes messages from addresses where no peer is known, as long as there are trials for one more.
    fn read_mail_of_strangers(&mut self, mail: &Mail, now: Instant) {
        for _ in 0..MESSAGES {
            if !self.environment.is_single && self.trials < self.peers.len() {
                return;
            }
            let Some((datagram, source)) = mail.take_from_strangers() else { return };
            self.deliver(&datagram, source, now);
        }
    }

    /// Passes a control message to the peer that sent it.
    fn deliver(&mut self, datagram: &[u8], source: SocketAddr, now: Instant) {
        let boot = sender(datagram);
        let Some(slot) = self.addressee(datagram, boot, source) else {
            self.status.control_ignored.fetch_add(1, Ordering::Relaxed);
            return;
        };
        if self.receive(slot, datagram, source, now)
            && let Some(boot) = boot
        {
            self.remember(slot, boot);
        }
    }

    fn receive(&mut self, slot: usize, datagram: &[u8], source: SocketAddr, now: Instant) -> bool {
        let is_accepted = self.keying(slot).is_some_and(|keying| keying.receive(datagram, source, now));
        self.turn(slot, now);
        is_accepted
    }

    /// Remembers the boot ID of a peer's authentic message. Another peer may have claimed the same one.
    fn remember(&mut self, slot: usize, boot: Id) {
        if self.environment.is_single {
            return;
        }
        let before = self.senders.insert(boot, slot);
        if before == Some(slot) {
            return;
        }
        if let Some(other) = before.and_then(|other| self.peers[other].as_mut()) {
            other.boots.retain(|known| *known != boot);
        }
        let Some(peer) = self.peers[slot].as_mut() else { return };
        peer.boots.push_back(boot);
        if peer.boots.len() > BOOTS
            && let Some(oldest) = peer.boots.pop_front()
        {
            self.senders.remove(&oldest);
        }
    }

    /// Returns the numbers of the peers that are at this address.
    fn at(&self, source: SocketAddr) -> impl Iterator<Item = usize> {
        let numbered = self.peers.iter().enumerate();
        numbered.filter_map(move |(slot, peer)| {
            let address = peer.as_ref()?.keying.machine.address();
            (address == Some(source)).then_some(slot)
        })
    }

    /// Returns the number of the peer that a message came from; `None` if no key authenticates it, or no more keys
    /// may be tried until the next tick.
    fn addressee(&mut self, datagram: &[u8], boot: Option<Id>, source: SocketAddr) -> Option<usize> {
        if self.environment.is_single {
            return Some(0);
        }
        // A peer that claims the boot ID of another must not get its messages.
        if let Some(slot) = boot.and_then(|boot| self.senders.get(&boot)).copied()
            && self.authenticates(slot, datagram)
        {
            return Some(slot);
        }
        let there: Vec<usize> = self.at(source).collect();
        if let [only] = there[..]
            && self.authenticates(only, datagram)
        {
            return Some(only);
        }
        // Several peers may be at one address, such as those of another end with several peers. Messages from
        // elsewhere must not use up what theirs need.
        if there.len() > 1 && self.trials_there >= there.len() {
            self.trials_there -= there.len();
            let found = there.iter().copied().find(|slot| self.authenticates(*slot, datagram));
            if found.is_some() {
                return found;
            }
        }
        if self.trials < self.peers.len() {
            return None;
        }
        self.trials -= self.peers.len();
        let found = (0..self.peers.len()).find(|slot| self.authenticates(*slot, datagram));
        // The only peer at this address may have a wrong key, which its log explains.
        found.or(if let [only] = there[..] { Some(only) } else { None })
    }

    fn authenticates(&self, slot: usize, datagram: &[u8]) -> bool {
        self.peers[slot].as_ref().is_some_and(|peer| peer.keying.machine.is_authentic(datagram))
    }

    /// Applies the configuration file again.
    fn reload(&mut self, threads: &Threads) {
        let new = match Findings::none_in(&self.path) {
            Ok(new) => new,
            Err(errors) => {
                for error in errors {
                    tracing::error!("reload failed: {error}");
                }
                tracing::error!("reload failed: the configuration is invalid and remains unchanged");
                return;
            }
        };
        let fields = self.config.fields_fixed_until_restart(&new);
        if !fields.is_empty() {
            tracing::warn!("not reloaded: changing these fields requires a restart: {}", fields.join(", "));
        }
        let outcome = match (self.config.has_tables(), new.has_tables()) {
            (true, true) => self.reload_tables(new, threads),
            (false, false) => self.reload_only(new, threads),
            _ => return,
        };
        if let Err(error) = outcome {
            tracing::error!("reload failed: {error:#}; the configuration remains unchanged");
        }
    }

    /// Applies the reloadable fields of a configuration without tables of peers.
    fn reload_only(&mut self, mut new: Config, threads: &Threads) -> Result<()> {
        let new = new.peers.remove(0);
        let source = Source::new(&new.keys)?;
        let is_same_kind =
            self.keying(0).is_some_and(|keying| keying.is_single_use == source.is_single_use());
        if !is_same_kind {
            tracing::warn!("not reloaded: changing the type of key source requires a restart");
        }
        self.change(0, new, is_same_kind.then_some(source), threads);
        let keys = if is_same_kind { "[keys], " } else { "" };
        tracing::info!("reloaded: {keys}[rekey], [limits], [liveness] and overlap");
        Ok(())
    }

    /// Applies the reloadable fields of a peer's new configuration, and rekeys. `source` is its key source, if it can
    /// replace the current one.
    fn change(&mut self, slot: usize, new: PeerConfig, source: Option<Source>, threads: &Threads) {
        let Some(Peer { keying, .. }) = self.peers.get_mut(slot).and_then(Option::as_mut) else { return };
        if let Some(source) = source
            && !keying.config.keys.is_same(&new.keys)
        {
            self.serial += 1;
            let is_v4 = self.environment.is_v4;
            keying.replace_source(new.keys.clone(), source, self.serial, is_v4, &self.news, threads);
        }
        keying.reload(new, Instant::now());
    }

    /// Finds out what a new configuration changes.
    fn changes(&self, new: &Config) -> Result<Changes> {
        let mut changes = Changes::default();
        let mut added: HashSet<&Option<String>> = new.peers.iter().map(|peer| &peer.name).collect();
        let by_name: HashMap<&Option<String>, &PeerConfig> =
            new.peers.iter().map(|peer| (&peer.name, peer)).collect();
        for (slot, peer) in self.peers.iter().enumerate() {
            let Some(Peer { keying: Keying { config: old, .. }, .. }) = peer else { continue };
            match by_name.get(&old.name) {
                Some(new) if old.is_same(new) => {
                    added.remove(&old.name);
                }
                Some(new) if old.can_become(new) => {
                    added.remove(&old.name);
                    changes.changed.push((slot, PeerConfig::clone(new), Source::new(&new.keys)?));
                }
                _ => changes.removed.push(slot),
            }
        }
        for peer in new.peers.iter().filter(|peer| added.contains(&peer.name)) {
            changes.added.push((peer.clone(), Source::new(&peer.keys)?));
        }
        Ok(changes)
    }

    /// Adds, removes and changes peers. The others notice nothing. A peer whose suite, control key or similar
    /// fields change starts again.
    fn reload_tables(&mut self, new: Config, threads: &Threads) -> Result<()> {
        let Changes { removed, changed, added } = self.changes(&new)?;
        let name = |config: &PeerConfig| config.name.clone().unwrap_or_default();
        let names_of = |slots: &[usize]| -> HashSet<String> {
            slots.iter().filter_map(|slot| Some(name(&self.peers[*slot].as_ref()?.keying.config))).collect()
        };
        let gone = names_of(&removed);
        let here: HashSet<String> = added.iter().map(|(config, _)| name(config)).collect();
        let words = [
            ("added", here.difference(&gone).cloned().collect::<Vec<String>>()),
            ("removed", gone.difference(&here).cloned().collect()),
            ("restarted", gone.intersection(&here).cloned().collect()),
            ("changed", changed.iter().map(|(_, config, _)| name(config)).collect()),
        ];
        for slot in removed {
            self.remove(slot);
        }
        for (slot, config, source) in changed {
            self.change(slot, config, Some(source), threads);
        }
        for (config, source) in added {
            self.add(config, source, threads);
        }
        self.publish();
        self.config.peers = new.peers;
        let words = words.map(|(what, mut names)| {
            names.sort_unstable();
            format!("{what}: {}", if names.is_empty() { "none".into() } else { names.join(", ") })
        });
        tracing::info!("reloaded: peers {}", words.join("; "));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::UdpSocket;
    use std::path::Path;

    use tokio::sync::oneshot;
    use zeroize::Zeroizing;

    use super::*;
    use crate::associations::tests::association;
    use crate::config::Role;
    use crate::control::message::{Codec, Message, Say};
    use crate::control::version::Versions;
    use crate::control::{Action, SourceKey};
    use crate::derive::Root;
    use crate::keying::News;
    use crate::log::logged;
    use crate::supply::SourceEvent;

    /// A hub that is the master of two peers, whose control keys consist of the bytes 0 and 1.
    struct Fixture {
        hub: Hub,
        threads: Threads,
        folder: tempfile::TempDir,
        _news: mpsc::Receiver<PeerNews>,
    }

    fn address(slot: usize) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, slot as u8 + 2], 4500))
    }

    /// Returns the table of a peer, whose keys it writes into the folder.
    fn table(folder: &Path, slot: usize) -> String {
        let name = ["berlin", "madrid"][slot];
        let address = address(slot);
        fs::write(folder.join(format!("{name}.control.key")), format!("0{slot}").repeat(32)).unwrap();
        fs::write(folder.join(format!("{name}.link.key")), format!("1{slot}").repeat(32)).unwrap();
        format!(
            r#"
            [[peer]]
            name = "{name}"
            address = "{address}"
            control-key = "{name}.control.key"
            allowed = ["10.9.{slot}.0/24"]
            keys = {{ file = "{name}.link.key" }}
            "#
        )
    }

    impl Fixture {
        fn start() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let tables = table(folder.path(), 0) + &table(folder.path(), 1);
            Self::with(folder, "", &tables)
        }

        /// Starts a hub whose configuration has these fields and tables in addition to those of the end itself.
        fn with(folder: tempfile::TempDir, fields: &str, tables: &str) -> Self {
            let text = format!(
                r#"
                role = "master"
                local = "192.0.2.1:4500"
                suite = "aes256-gcm"
                {fields}
                [tun]
                name = "seal0"
                addresses = ["10.9.0.1/16"]
                {tables}
                "#
            );
            let path = folder.path().join("link.toml");
            fs::write(&path, text).unwrap();
            let config = Config::read(&path).unwrap();
            let sources = config.peers.iter().map(|peer| Source::new(&peer.keys).unwrap()).collect();
            let environment = Environment {
                sockets: (0..2).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect(),
                is_single: !config.has_tables(),
                mail: Arc::default(),
                is_v4: true,
                max_datagram: 1472,
            };
            let status = Arc::new(StatusState::new(1400, Instant::now(), Vec::new()));
            let threads = Threads::new(Arc::default());
            let (mut hub, news) =
                Hub::new(config, path, environment, Arc::default(), status, Generation::from_files([]));
            hub.start(sources, &threads);
            Self { hub, threads, folder, _news: news }
        }

        /// Delivers a message of a peer with this boot ID. Returns the peer that is taken for its sender.
        fn hello(&mut self, slot: usize, boot: Id, count: u64) -> Option<usize> {
            let codec = Codec::new(&Root::new(&[slot as u8; 32]), Role::Slave);
            let say = Say::Hello { challenge: Id([9; 16]), versions: Versions::current() };
            let datagram = codec.write(&Message { from: boot, to: Id::default(), count, say });
            let addressee = self.hub.addressee(&datagram, sender(&datagram), address(slot));
            self.hub.deliver(&datagram, address(slot), Instant::now());
            addressee
        }

        /// Delivers a peer's answer to the current challenge.
        fn answer(&mut self, slot: usize) {
            let codec = Codec::new(&Root::new(&[slot as u8; 32]), Role::Slave);
            let machine = &mut self.hub.keying(slot).unwrap().machine;
            // The challenge is due again.
            machine.tick(Instant::now() + Duration::from_secs(1));
            let challenge = machine.actions().find_map(|action| match action {
                Action::Send(datagram, _) => match codec.read(&datagram)? {
                    Message { from, say: Say::Hello { challenge, .. }, .. } => Some((from, challenge)),
                    _ => None,
                },
                _ => None,
            });
            let (to, challenge) = challenge.unwrap();
            let say = Say::Welcome { challenge, versions: Versions::current() };
            let datagram = codec.write(&Message { from: Id([7; 16]), to, count: 1, say });
            self.hub.deliver(&datagram, address(slot), Instant::now());
        }

        /// Returns the boot IDs of a peer. All boot IDs must be those of their senders.
        fn boots(&self, slot: usize) -> Vec<Id> {
            let boots = |slot: usize| self.hub.peers[slot].as_ref().unwrap().boots.iter().copied();
            let all = [0, 1].into_iter().flat_map(|slot| boots(slot).map(move |boot| (boot, slot)));
            assert_eq!(all.collect::<HashMap<Id, usize>>(), self.hub.senders);
            boots(slot).collect()
        }
    }

    #[tokio::test]
    async fn a_peer_that_claims_the_boot_id_of_another_keeps_no_message_from_it() {
        let mut fixture = Fixture::start();
        let [own, claimed] = [Id([1; 16]), Id([2; 16])];
        for count in 1..4 {
            assert_eq!(fixture.hello(0, claimed, count), Some(0));
            assert_eq!((fixture.boots(0), fixture.boots(1)), (vec![claimed], vec![]));
            assert_eq!(fixture.hello(1, claimed, count), Some(1));
            assert_eq!((fixture.boots(0), fixture.boots(1)), (vec![], vec![claimed]));
        }
        // What the first peer is forgotten with does not affect the second.
        assert_eq!(fixture.hello(0, own, 4), Some(0));
        for boot in 10..14 {
            assert_eq!(fixture.hello(0, Id([boot; 16]), 5), Some(0));
        }
        assert_eq!(
            (fixture.boots(0), fixture.boots(1)),
            ([12, 13].map(|i| Id([i; 16])).to_vec(), vec![claimed])
        );
        fixture.hub.remove(0);
        assert_eq!(fixture.hub.senders, HashMap::from([(claimed, 1)]));
    }

    #[tokio::test]
    async fn messages_from_elsewhere_do_not_keep_several_peers_at_one_address_from_being_heard() {
        let mut fixture = Fixture::start();
        let now = Instant::now();
        fixture.hub.keying(0).unwrap().machine.set_address(address(1), now);
        // A flood of messages from unknown addresses leaves no more at every tick.
        fixture.hub.trials = 1;
        assert_eq!(fixture.hello(1, Id([1; 16]), 1), Some(1));
        fixture.hub.keying(0).unwrap().machine.set_address(address(0), now);
        fixture.hub.keying(1).unwrap().machine.set_address(address(0), now);
        assert_eq!(fixture.hello(0, Id([2; 16]), 1), Some(0));
    }

    #[tokio::test]
    async fn the_name_of_a_peer_that_has_connected_is_no_problem() {
        let mut fixture = Fixture::start();
        let fail = |fixture: &mut Fixture| {
            let serial = fixture.hub.keying(0).unwrap().serial;
            fixture.hub.pass_on((0, serial, News::Name(Err("no name server".into()))));
        };
        let is_problem = |fixture: &mut Fixture| {
            let troubles = fixture.hub.keying(0).unwrap().log.troubles();
            troubles.iter().any(|text| text.contains("no name server"))
        };
        fail(&mut fixture);
        assert!(is_problem(&mut fixture));
        fixture.answer(0);
        assert!(!is_problem(&mut fixture));
        // The result of a lookup that began before.
        fail(&mut fixture);
        assert!(!is_problem(&mut fixture));
    }

    #[tokio::test]
    async fn the_other_threads_follow_a_peer_only_to_other_ports_of_its_address() {
        let mut fixture = Fixture::start();
        let now = Instant::now();
        let Hub { peers, environment, .. } = &mut fixture.hub;
        let keying = &mut peers[0].as_mut().unwrap().keying;
        keying.turn(environment, &[], now);
        let mut moved = |thread, source: &str| {
            keying.moved(environment, thread, source.parse().unwrap(), now);
            [0, 1].map(|thread| keying.tunnel.strands[thread].address().unwrap().to_string())
        };
        let [first, second] = ["192.0.2.2:4500", "192.0.2.2:4501"];
        assert_eq!(moved(1, "192.0.2.3:4501"), [first, second], "somebody may have sent the packet on");
        assert_eq!(moved(0, "192.0.2.2:999"), [first, second], "it must answer there first");
        assert_eq!(moved(1, "192.0.2.2:999"), [first, "192.0.2.2:999"]);
    }

    #[tokio::test]
    async fn a_restored_snapshot_sends_and_receives_nothing_under_its_keys() {
        let mut fixture = Fixture::start();
        let id = fixture.folder.path().join("id");
        fs::write(&id, "one").unwrap();
        fixture.hub.generation = Generation::from_files([id.as_path()]);
        let now = Instant::now();
        for slot in 0..2 {
            fixture.answer(slot);
            let Keying { tunnel, config, .. } = fixture.hub.keying(slot).unwrap();
            let key = |generation| association(config, generation, 300 + generation as u32);
            for generation in 1..3 {
                tunnel.associations.receive(key(generation), config, now);
            }
            tunnel.associations.send_under(key(2), config, now);
            tunnel.associations.retire(2, now);
        }
        let state = |fixture: &mut Fixture, slot: usize| {
            let Keying { tunnel, machine, .. } = fixture.hub.keying(slot).unwrap();
            let associations = &tunnel.associations;
            (associations.sending().is_some(), associations.receiving().len(), machine.heard().is_some())
        };
        let lines = logged(|| fixture.hub.check_generation(now));
        assert_eq!((lines.as_str(), state(&mut fixture, 0)), ("", (true, 2, true)));
        fs::write(&id, "two").unwrap();
        let lines = logged(|| fixture.hub.check_generation(now));
        assert!(lines.contains("continues from a snapshot"), "{lines}");
        for slot in 0..2 {
            assert_eq!(state(&mut fixture, slot), (false, 0, false));
            assert_eq!(fixture.hub.keying(slot).unwrap().machine.address(), Some(address(slot)));
        }
        assert_eq!(logged(|| fixture.hub.check_generation(now)), "");
        fixture.answer(0);
        assert!(state(&mut fixture, 0).2, "a new beginning");
    }

    #[tokio::test]
    async fn a_reload_does_not_claim_to_use_another_type_of_key_source() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("control.key"), "01".repeat(32)).unwrap();
        fs::write(folder.path().join("link.key"), "10".repeat(32)).unwrap();
        let source = "[keys]\nfile = \"link.key\"\n";
        let mut fixture = Fixture::with(folder, "control-key = \"control.key\"", source);
        let path = fixture.folder.path().join("link.toml");
        let text = fs::read_to_string(&path).unwrap();
        for (new, is_used) in [(source, true), ("[keys.command]\nprogram = [\"/bin/sh\"]\n", false)] {
            fs::write(&path, text.replacen(source, new, 1)).unwrap();
            let lines = logged(|| fixture.hub.reload(&fixture.threads));
            assert_eq!(lines.contains("not reloaded: changing the type of key source"), !is_used, "{lines}");
            assert_eq!(lines.contains("reloaded: [keys], [rekey]"), is_used, "{lines}");
            assert!(lines.contains("[rekey], [limits], [liveness] and overlap"), "{lines}");
        }
    }

    fn file_keys(byte: u8, count: usize) -> News {
        let key = SourceKey { id: format!("file-{byte}"), key: Zeroizing::new(vec![byte; 32]) };
        News::Source(SourceEvent::Keys(vec![key; count], oneshot::channel().0))
    }

    #[tokio::test]
    async fn a_reload_discards_the_keys_of_another_source_and_no_others() {
        let mut fixture = Fixture::start();
        let change = |fixture: &mut Fixture, file: &str, contents: &str| {
            fs::write(fixture.folder.path().join(file), contents).unwrap();
            let serial = fixture.hub.keying(0).unwrap().serial;
            fixture.hub.reload(&fixture.threads);
            serial
        };
        let wants = |fixture: &mut Fixture| fixture.hub.keying(0).unwrap().machine.wants(4);
        let serial = fixture.hub.keying(0).unwrap().serial;
        fixture.hub.pass_on((0, serial, file_keys(0x10, 4)));
        assert_eq!(wants(&mut fixture), 0);

        // The link would not start with the control key as link key.
        let lines = logged(|| {
            change(&mut fixture, "berlin.link.key", &"00".repeat(32));
        });
        let is_failure = |line: &str| line.contains("reload failed: ");
        assert!(lines.contains("contain the same key") && lines.lines().all(is_failure), "{lines}");
        assert_eq!((fixture.hub.keying(0).unwrap().serial, wants(&mut fixture)), (serial, 0));
        fs::write(fixture.folder.path().join("berlin.link.key"), "10".repeat(32)).unwrap();

        let faster = fs::read_to_string(fixture.folder.path().join("link.toml")).unwrap()
            + "[peer.rekey]\nevery = \"200ms\"\n";
        let faster = faster.replacen("[[peer]]", "[rekey]\nevery = \"100ms\"\n[[peer]]", 1);
        let before = change(&mut fixture, "link.toml", &faster);
        let keying = fixture.hub.keying(0).unwrap();
        assert_eq!((keying.config.rekey.age, keying.serial), (Duration::from_millis(100), before));
        assert_eq!(wants(&mut fixture), 0, "the source is the same");

        let old = change(&mut fixture, "berlin.link.key", &"20".repeat(32));
        let new = fixture.hub.keying(0).unwrap().serial;
        assert_eq!(wants(&mut fixture), 4, "the keys of the old source are discarded");
        fixture.hub.pass_on((0, old, file_keys(0x10, 4)));
        assert_eq!(wants(&mut fixture), 4, "and so are those that arrive later");
        fixture.hub.pass_on((0, new, file_keys(0x20, 4)));
        assert_eq!(wants(&mut fixture), 0);
    }
}
