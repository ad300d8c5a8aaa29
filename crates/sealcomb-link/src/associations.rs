//! The security associations in use: at most one for sending, any number for receiving.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use sealcomb_esp::{Numbers, Sequence, Suite, Window};

use crate::config::peers::{MAX_OVERLAPPING, PeerConfig};
use crate::control::SaParameters;

/// Locks a mutex. Poisoning is ignored: every critical section leaves the data consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The remaining sequence numbers and bytes of a key.
struct Budget {
    numbers: Numbers,
    bytes: u64,
}

/// The sending side of an association. Beyond a hard limit it issues no sequence numbers, so nothing can be sealed.
pub struct OutboundSa {
    /// Key number at this end, counted from its start.
    pub generation: u64,
    /// Offer number, counted from the master's start.
    pub epoch: u64,
    /// The peer's SPI.
    pub spi: u32,
    /// The cipher suite, keyed.
    pub suite: Suite,
    /// Time of installation.
    pub since: Instant,
    extended: bool,
    until: Instant,
    soft_packets: u64,
    soft_bytes: u64,
    budget: Mutex<Budget>,
    /// Set once a packet was refused for lack of sequence numbers or bytes.
    exhausted: AtomicBool,
    packets: AtomicU64,
    bytes: AtomicU64,
}

impl OutboundSa {
    fn new(association: SaParameters, config: &PeerConfig, now: Instant) -> Self {
        let SaParameters { generation, epoch, spi, suite } = association;
        let numbers = Numbers::new(1, config.last_number());
        Self {
            generation,
            epoch,
            spi,
            suite,
            since: now,
            extended: config.extended,
            until: now + config.limits.age,
            soft_packets: config.rekey.packets,
            soft_bytes: config.rekey.bytes,
            budget: Mutex::new(Budget { numbers, bytes: config.limits.bytes }),
            exhausted: AtomicBool::new(false),
            packets: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Issues sequence numbers for packets of these lengths, in order. Stops at the first packet that exceeds a hard
    /// limit.
    pub fn number(&self, lengths: impl Iterator<Item = usize>, now: Instant, mut take: impl FnMut(Sequence)) {
        if now >= self.until {
            return;
        }
        let (mut packets, mut bytes) = (0, 0);
        let mut budget = lock(&self.budget);
        for length in lengths {
            let length = length as u64;
            // Bytes are checked first, so that a refused packet uses up no sequence number.
            let left = budget.bytes.checked_sub(length);
            let Some((left, number)) = left.and_then(|left| Some((left, budget.numbers.take()?))) else {
                self.exhausted.store(true, Ordering::Relaxed);
                break;
            };
            budget.bytes = left;
            take(if self.extended { Sequence::Extended(number) } else { Sequence::Short(number as u32) });
            packets += 1;
            bytes += length;
        }
        drop(budget);
        self.packets.fetch_add(packets, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the numbers of packets and of bytes sent so far.
    pub fn used(&self) -> (u64, u64) {
        (self.packets.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Returns whether a soft limit of packets or bytes is reached, or a packet was refused because of a hard limit, so
    /// that the key should be replaced. A packet may exceed the hard limit of bytes before the soft limit is reached.
    pub fn is_past_soft_limit(&self) -> bool {
        let (packets, bytes) = self.used();
        packets >= self.soft_packets || bytes >= self.soft_bytes || self.exhausted.load(Ordering::Relaxed)
    }

    /// Returns whether the key is past its age, or a packet was refused because of a limit of packets or bytes.
    pub fn is_past_hard_limit(&self, now: Instant) -> bool {
        now >= self.until || self.exhausted.load(Ordering::Relaxed)
    }
}

/// The receiving side of an association.
pub struct InboundSa {
    /// Key number at this end, counted from its start.
    pub generation: u64,
    /// Offer number, counted from the master's start.
    pub epoch: u64,
    /// This end's SPI.
    pub spi: u32,
    /// The cipher suite, keyed.
    pub suite: Suite,
    /// Time of installation.
    pub since: Instant,
    extended: bool,
    /// The highest sequence number that the peer may use.
    last: u64,
    until: Instant,
    window: Mutex<Window>,
    packets: AtomicU64,
}

/// The result of checking a packet before it is verified.
pub enum Admission {
    /// The packet may be new. Its full sequence number is this one.
    New(Sequence),
    /// The packet is a replay, or older than the window.
    Replayed,
    /// The key is beyond a hard limit.
    Expired,
}

impl InboundSa {
    fn new(association: SaParameters, config: &PeerConfig, now: Instant) -> Self {
        let SaParameters { generation, epoch, spi, suite } = association;
        Self {
            generation,
            epoch,
            spi,
            suite,
            since: now,
            extended: config.extended,
            last: config.last_number(),
            // The peer installs the key slightly later, and its last packets may take up to the overlap to arrive.
            until: now + config.limits.age + config.overlap,
            window: Mutex::new(Window::new(config.window, 1)),
            packets: AtomicU64::new(0),
        }
    }

    /// Checks a packet that carries this sequence number (with ESN, its low 32 bits) against limits and window.
    pub fn admit(&self, sent: u32, now: Instant) -> Admission {
        if now >= self.until {
            return Admission::Expired;
        }
        let window = lock(&self.window);
        match Sequence::received(sent, self.extended, &window) {
            Some(sequence) if sequence.number() > self.last => {
                // The window extends an old number to one that is nearly 2^32 above its left edge.
                let is_old = self.extended && sequence.number() - window.lowest() >= 1 << 31;
                if is_old { Admission::Replayed } else { Admission::Expired }
            }
            Some(sequence) if window.admits(sequence.number()) => Admission::New(sequence),
            _ => Admission::Replayed,
        }
    }

    /// Advances the window for a verified packet. Returns whether its sequence number is the highest so far, or `None` if
    /// it was accepted before.
    pub fn accept(&self, sequence: Sequence) -> Option<bool> {
        let mut window = lock(&self.window);
        let is_highest = sequence.number() > window.highest();
        let is_new = window.accept(sequence.number());
        drop(window);
        self.packets.fetch_add(is_new.into(), Ordering::Relaxed);
        is_new.then_some(is_highest)
    }

    /// Returns the number of accepted packets.
    pub fn packets(&self) -> u64 {
        self.packets.load(Ordering::Relaxed)
    }
}

/// The receiving associations by SPI.
pub type Receiving = HashMap<u32, Arc<InboundSa>>;

/// All associations with a peer. Packet threads take a snapshot per batch; the control task updates them.
#[derive(Default)]
pub struct Associations {
    sending: RwLock<Option<Arc<OutboundSa>>>,
    receiving: RwLock<Arc<Receiving>>,
    /// Scheduled retirements: at this time, all earlier generations end.
    retiring: Mutex<Vec<(u64, Instant)>>,
    /// Whether the peer is dead, so that nothing is sent to it.
    is_peer_dead: AtomicBool,
}

impl Associations {
    /// Returns the sending association, if any.
    pub fn sending(&self) -> Option<Arc<OutboundSa>> {
        self.sending.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether the peer is dead, so that packets to it must be dropped.
    pub fn is_peer_dead(&self) -> bool {
        self.is_peer_dead.load(Ordering::Relaxed)
    }

    /// Sets whether the peer is dead, from the next batch on.
    pub fn set_peer_dead(&self, is_dead: bool) {
        self.is_peer_dead.store(is_dead, Ordering::Relaxed);
    }

    /// Returns the receiving associations.
    pub fn receiving(&self) -> Arc<Receiving> {
        self.receiving.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the sending association, from the next batch on. Batches in flight finish under the old one.
    pub fn send_under(&self, association: SaParameters, config: &PeerConfig, now: Instant) {
        let outbound = Arc::new(OutboundSa::new(association, config, now));
        *self.sending.write().unwrap_or_else(PoisonError::into_inner) = Some(outbound);
    }

    /// Adds a receiving association.
    pub fn receive(&self, association: SaParameters, config: &PeerConfig, now: Instant) {
        let inbound = Arc::new(InboundSa::new(association, config, now));
        self.change(|receiving| {
            receiving.insert(inbound.spi, inbound);
        });
    }

    /// Removes the receiving association of this generation.
    pub fn forget(&self, generation: u64) {
        self.change(|receiving| receiving.retain(|_, inbound| inbound.generation != generation));
    }

    /// Schedules the removal of all receiving associations of earlier generations at the time `at`, or earlier if
    /// there are more than [`MAX_OVERLAPPING`] replaced keys.
    pub fn retire(&self, generation: u64, at: Instant) {
        lock(&self.retiring).push((generation, at));
    }

    /// Returns the latest generation of the receiving associations that have at least this age.
    pub fn latest_of_age(&self, age: Duration, now: Instant) -> Option<u64> {
        let receiving = self.receiving();
        let old = receiving.values().filter(|inbound| now.saturating_duration_since(inbound.since) >= age);
        old.map(|inbound| inbound.generation).max()
    }

    /// Removes expired and retired associations, and drops their keys.
    pub fn expire(&self, now: Instant) {
        let mut retiring = lock(&self.retiring);
        // Soft limits of packets and bytes may cause more rekeys than the interval does.
        let excess = retiring.len().saturating_sub(MAX_OVERLAPPING as usize);
        let early = retiring.drain(..excess).map(|(generation, _)| generation).max();
        let due = retiring.iter().filter(|(_, at)| *at <= now).map(|(generation, _)| *generation).max();
        let ended = early.max(due);
        retiring.retain(|(_, at)| *at > now);
        drop(retiring);
        let is_past_hard_limit = |inbound: &InboundSa| {
            ended.is_some_and(|ended| inbound.generation < ended) || inbound.until <= now
        };
        if self.receiving().values().any(|inbound| is_past_hard_limit(inbound)) {
            self.change(|receiving| receiving.retain(|_, inbound| !is_past_hard_limit(inbound)));
        }
        // The limit already prevents sending; this drops the key. The delay lets batches in flight finish.
        let long_ago = |outbound: &Arc<OutboundSa>| now >= outbound.until + Duration::from_secs(1);
        if self.sending().as_ref().is_some_and(long_ago) {
            *self.sending.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// Ends all associations at once, and drops their keys.
    pub fn end_all(&self) {
        *self.sending.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.change(HashMap::clear);
        lock(&self.retiring).clear();
    }

    fn change(&self, change: impl FnOnce(&mut Receiving)) {
        let mut receiving = self.receiving.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Receiving::clone(&receiving);
        change(&mut changed);
        *receiving = Arc::new(changed);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;

    use super::*;
    use crate::config::Config;

    const AGE: Duration = Duration::from_secs(100);
    const OVERLAP: Duration = Duration::from_secs(3);

    /// Returns the configuration of a peer with these fields of `[limits]`.
    pub(crate) fn config(limits: &str, esn: bool) -> PeerConfig {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        fs::write(at("control.key"), "ab".repeat(32)).unwrap();
        fs::write(at("link.key"), "cd".repeat(32)).unwrap();
        let text = format!(
            r#"
            role = "master"
            local = "192.0.2.1:4500"
            peer = "192.0.2.2:4500"
            suite = "aes128-gcm"
            esn = {esn}
            overlap = "3s"
            control-key = "control.key"
            [tun]
            name = "seal0"
            addresses = ["10.9.0.1/24"]
            [keys]
            file = "link.key"
            [rekey]
            every = "50s"
            packets = 1
            bytes = 1
            [limits]
            age = "100s"
            {limits}
            "#
        );
        fs::write(at("link.toml"), text).unwrap();
        Config::read(&at("link.toml")).unwrap().peers.remove(0)
    }

    /// Returns parameters of epoch 1, as if the master had restarted before each key.
    pub(crate) fn association(config: &PeerConfig, generation: u64, spi: u32) -> SaParameters {
        let keymat = vec![7; config.transform.keymat_bytes()];
        SaParameters { generation, epoch: 1, spi, suite: config.transform.suite(&keymat).unwrap() }
    }

    /// Returns the sequence numbers issued for packets of these lengths.
    fn numbers(outbound: &OutboundSa, lengths: &[usize], now: Instant) -> Vec<u64> {
        let mut taken = Vec::new();
        outbound.number(lengths.iter().copied(), now, |sequence| taken.push(sequence.number()));
        taken
    }

    #[test]
    fn a_key_carries_as_many_packets_as_it_may_and_no_other() {
        let config = config("packets = 3", false);
        let now = Instant::now();
        let outbound = OutboundSa::new(association(&config, 1, 300), &config, now);
        assert_eq!(numbers(&outbound, &[100, 100], now), [1, 2]);
        assert_eq!(numbers(&outbound, &[100], now), [3]);
        assert!(!outbound.is_past_hard_limit(now), "nothing was refused");
        assert_eq!(numbers(&outbound, &[0], now), [0; 0]);
        assert!(outbound.is_past_hard_limit(now));
        assert_eq!(outbound.used(), (3, 300));
    }

    #[test]
    fn a_key_carries_as_many_bytes_as_it_may_and_no_other() {
        let mut config = config("", false);
        config.limits.bytes = 1000;
        let now = Instant::now();
        let outbound = OutboundSa::new(association(&config, 1, 300), &config, now);
        assert_eq!(numbers(&outbound, &[600, 401, 1], now), [1], "no packet overtakes a refused one");
        assert!(outbound.is_past_hard_limit(now));
        assert_eq!(numbers(&outbound, &[400], now), [2], "a refused packet uses up no number");
        assert_eq!(numbers(&outbound, &[1], now), [0; 0]);
        assert_eq!(outbound.used(), (2, 1000));
    }

    #[test]
    fn a_packet_that_exceeds_the_hard_limit_before_the_soft_one_calls_for_another_key() {
        let mut config = config("", false);
        (config.rekey.packets, config.rekey.bytes, config.limits.bytes) = (100, 999, 1000);
        let now = Instant::now();
        let outbound = OutboundSa::new(association(&config, 1, 300), &config, now);
        assert_eq!(numbers(&outbound, &[600], now), [1]);
        assert!(!outbound.is_past_soft_limit());
        assert!(numbers(&outbound, &[500], now).is_empty());
        assert!(outbound.is_past_soft_limit());
    }

    #[test]
    fn a_key_ends_at_its_age_for_sending_and_an_overlap_later_for_receiving() {
        let config = config("", false);
        // The key is installed one nanosecond after `before`.
        let before = Instant::now();
        let now = before + Duration::from_nanos(1);
        let outbound = OutboundSa::new(association(&config, 1, 300), &config, now);
        let inbound = InboundSa::new(association(&config, 1, 300), &config, now);
        assert_eq!(numbers(&outbound, &[1], before + AGE), [1]);
        assert!(numbers(&outbound, &[1], now + AGE).is_empty());
        assert!(outbound.is_past_hard_limit(now + AGE) && !outbound.is_past_hard_limit(before + AGE));
        assert!(matches!(inbound.admit(1, before + AGE + OVERLAP), Admission::New(_)));
        assert!(matches!(inbound.admit(1, now + AGE + OVERLAP), Admission::Expired));
    }

    #[test]
    fn no_number_beyond_the_last_is_received_and_none_twice() {
        for esn in [false, true] {
            let config = config("packets = 1000", esn);
            let now = Instant::now();
            let inbound = InboundSa::new(association(&config, 1, 300), &config, now);
            let admitted = |sent| match inbound.admit(sent, now) {
                Admission::New(sequence) => Some(sequence),
                Admission::Replayed | Admission::Expired => None,
            };
            assert!(admitted(0).is_none(), "numbers begin at 1");
            assert!(matches!(inbound.admit(1001, now), Admission::Expired));
            let last = admitted(1000).unwrap();
            assert_eq!(last.number(), 1000);
            assert!(admitted(1000).is_some(), "an unverified packet does not move the window");
            assert!(inbound.accept(last).is_some());
            assert!(inbound.accept(last).is_none(), "a copy in the same batch");
            assert!(matches!(inbound.admit(1000, now), Admission::Replayed));
            assert_eq!(inbound.packets(), 1);
        }
    }

    #[test]
    fn a_number_older_than_the_window_is_a_replay_and_one_beyond_the_last_is_not() {
        for esn in [false, true] {
            let config = config("packets = 20000", esn);
            let now = Instant::now();
            let inbound = InboundSa::new(association(&config, 1, 300), &config, now);
            let Admission::New(highest) = inbound.admit(20_000, now) else { panic!("esn {esn}") };
            assert!(inbound.accept(highest).is_some());
            let left = 20_000 - 8192 + 1;
            assert!(matches!(inbound.admit(left, now), Admission::New(_)), "esn {esn}");
            for old in [left - 1, 1000, 1, 0] {
                assert!(matches!(inbound.admit(old, now), Admission::Replayed), "esn {esn}: {old}");
            }
            for beyond in [20_001, 1 << 31] {
                assert!(matches!(inbound.admit(beyond, now), Admission::Expired), "esn {esn}: {beyond}");
            }
        }
    }

    #[test]
    fn a_forgotten_association_is_removed_at_once() {
        let config = config("", false);
        let now = Instant::now();
        let associations = Associations::default();
        for (generation, spi) in [(1, 301), (2, 302), (3, 303)] {
            associations.receive(association(&config, generation, spi), &config, now);
        }
        associations.forget(2);
        associations.forget(7);
        let mut left: Vec<u32> = associations.receiving().keys().copied().collect();
        left.sort_unstable();
        assert_eq!(left, [301, 303]);
    }

    #[test]
    fn retired_associations_are_removed_and_later_ones_stay() {
        let config = config("", false);
        let now = Instant::now();
        let associations = Associations::default();
        for (generation, spi) in [(1, 301), (2, 302), (3, 303)] {
            associations.receive(association(&config, generation, spi), &config, now);
        }
        let left = |at| {
            associations.expire(at);
            let mut spis: Vec<u32> = associations.receiving().keys().copied().collect();
            spis.sort_unstable();
            spis
        };
        associations.retire(3, now + OVERLAP);
        associations.retire(2, now + OVERLAP / 2);
        assert_eq!(left(now), [301, 302, 303]);
        assert_eq!(left(now + OVERLAP / 2), [302, 303]);
        assert_eq!(left(now + OVERLAP), [303]);
        assert!(left(now + AGE + OVERLAP).is_empty());
    }

    #[test]
    fn replaced_associations_are_limited_in_number_however_often_the_key_changes() {
        let config = config("", false);
        let now = Instant::now();
        let associations = Associations::default();
        let max = u64::from(MAX_OVERLAPPING);
        for generation in 1..=2 * max {
            let spi = 300 + generation as u32;
            associations.receive(association(&config, generation, spi), &config, now);
            associations.retire(generation, now + OVERLAP);
            associations.expire(now);
            let receiving = associations.receiving();
            let oldest = receiving.values().map(|inbound| inbound.generation).min();
            assert_eq!(oldest, Some(generation.saturating_sub(max).max(1)));
            assert_eq!(receiving.len() as u64, generation.min(max + 1));
        }
    }

    #[test]
    fn the_latest_generation_of_an_age_is_found() {
        let config = config("", false);
        let now = Instant::now();
        let associations = Associations::default();
        for (generation, spi, at) in [(1, 301, now), (2, 302, now), (3, 303, now + AGE)] {
            associations.receive(association(&config, generation, spi), &config, at);
        }
        let found = [now, now + AGE / 2, now + AGE, now + AGE * 3 / 2]
            .map(|now| associations.latest_of_age(AGE / 2, now));
        assert_eq!(found, [None, Some(2), Some(2), Some(3)]);
    }

    #[test]
    fn the_sending_association_is_removed_after_its_age() {
        let config = config("", false);
        let now = Instant::now();
        let associations = Associations::default();
        associations.send_under(association(&config, 1, 300), &config, now);
        associations.expire(now + AGE);
        assert!(associations.sending().is_some(), "a batch may be using it");
        associations.expire(now + AGE + Duration::from_secs(1));
        assert!(associations.sending().is_none());
    }
}
