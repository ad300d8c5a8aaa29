//! The associations in use: one to send under, any number to receive under.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use sealcomb_esp::{Numbers, Sequence, Suite, Window};

use crate::config::Config;
use crate::control::Association;

/// Whoever panicked with a lock held left nothing half done that matters.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What may still be done under a key.
struct Budget {
    numbers: Numbers,
    bytes: u64,
}

/// The sending side of an association. After any of its limits it gives out no numbers, and so nothing is sealed.
pub struct Outbound {
    /// Counts the keys of this end since its start.
    pub generation: u64,
    /// Counts the offers of the master since its start.
    pub epoch: u64,
    /// Of the other end.
    pub spi: u32,
    /// With the keys.
    pub suite: Suite,
    /// When it was installed.
    pub since: Instant,
    extended: bool,
    until: Instant,
    soft_packets: u64,
    soft_bytes: u64,
    budget: Mutex<Budget>,
    /// A packet did not go for want of numbers or bytes.
    spent: AtomicBool,
    packets: AtomicU64,
    bytes: AtomicU64,
}

impl Outbound {
    fn new(association: Association, config: &Config, now: Instant) -> Self {
        let Association { generation, epoch, spi, suite } = association;
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
            spent: AtomicBool::new(false),
            packets: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Numbers for packets of these lengths, in order; it ends early where the key has reached a limit.
    pub fn number(&self, lengths: impl Iterator<Item = usize>, now: Instant, mut take: impl FnMut(Sequence)) {
        if now >= self.until {
            return;
        }
        let (mut packets, mut bytes) = (0, 0);
        let mut budget = lock(&self.budget);
        for length in lengths {
            let length = length as u64;
            // In this order: no number is lost to a packet that does not go.
            let left = budget.bytes.checked_sub(length);
            let Some((left, number)) = left.and_then(|left| Some((left, budget.numbers.take()?))) else {
                self.spent.store(true, Ordering::Relaxed);
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

    /// Packets and bytes so far.
    pub fn used(&self) -> (u64, u64) {
        (self.packets.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Whether it has carried so much that the key should be changed.
    pub fn is_worn(&self) -> bool {
        let (packets, bytes) = self.used();
        packets >= self.soft_packets || bytes >= self.soft_bytes
    }

    /// Whether it is past a limit: its age, or those of packets and bytes, for which a packet did not go.
    pub fn is_over(&self, now: Instant) -> bool {
        now >= self.until || self.spent.load(Ordering::Relaxed)
    }
}

/// The receiving side of an association.
pub struct Inbound {
    /// Counts the keys of this end since its start.
    pub generation: u64,
    /// Counts the offers of the master since its start.
    pub epoch: u64,
    /// Of this end.
    pub spi: u32,
    /// With the keys.
    pub suite: Suite,
    /// When it was installed.
    pub since: Instant,
    extended: bool,
    /// The highest number that the other end may use.
    last: u64,
    until: Instant,
    window: Mutex<Window>,
    packets: AtomicU64,
}

/// What a receiver thinks of a packet before it is verified.
pub enum Admission {
    /// It may be new, and has this number.
    New(Sequence),
    /// It came before, or is too old to tell.
    Replayed,
    /// The key is past a limit.
    Expired,
}

impl Inbound {
    fn new(association: Association, config: &Config, now: Instant) -> Self {
        let Association { generation, epoch, spi, suite } = association;
        Self {
            generation,
            epoch,
            spi,
            suite,
            since: now,
            extended: config.extended,
            last: config.last_number(),
            // The other end begins to count a little later, and its last packets have the overlap to arrive.
            until: now + config.limits.age + config.overlap,
            window: Mutex::new(Window::new(config.window, 1)),
            packets: AtomicU64::new(0),
        }
    }

    /// Of a packet that carries this number or its low half.
    pub fn admit(&self, sent: u32, now: Instant) -> Admission {
        if now >= self.until {
            return Admission::Expired;
        }
        let window = lock(&self.window);
        match Sequence::received(sent, self.extended, &window) {
            Some(sequence) if sequence.number() > self.last => Admission::Expired,
            Some(sequence) if window.admits(sequence.number()) => Admission::New(sequence),
            _ => Admission::Replayed,
        }
    }

    /// Takes note of a verified packet; `false`: another one of its number came first.
    pub fn accept(&self, sequence: Sequence) -> bool {
        let is_new = lock(&self.window).accept(sequence.number());
        self.packets.fetch_add(is_new.into(), Ordering::Relaxed);
        is_new
    }

    /// Packets that were accepted.
    pub fn packets(&self) -> u64 {
        self.packets.load(Ordering::Relaxed)
    }
}

/// By SPI.
pub type Receiving = HashMap<u32, Arc<Inbound>>;

/// All of them. Threads that move packets take what there is once a batch; the control of keys changes it.
#[derive(Default)]
pub struct Associations {
    sending: RwLock<Option<Arc<Outbound>>>,
    receiving: RwLock<Arc<Receiving>>,
    /// Generations before this one end at this time.
    retiring: Mutex<Vec<(u64, Instant)>>,
}

impl Associations {
    /// The one to send under, if there is one.
    pub fn sending(&self) -> Option<Arc<Outbound>> {
        self.sending.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Those to receive under.
    pub fn receiving(&self) -> Arc<Receiving> {
        self.receiving.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends under this one from the next batch on. The one before it ends with the batches that have it.
    pub fn send_under(&self, association: Association, config: &Config, now: Instant) {
        let outbound = Arc::new(Outbound::new(association, config, now));
        *self.sending.write().unwrap_or_else(PoisonError::into_inner) = Some(outbound);
    }

    /// Receives under this one too.
    pub fn receive(&self, association: Association, config: &Config, now: Instant) {
        let inbound = Arc::new(Inbound::new(association, config, now));
        self.change(|receiving| {
            receiving.insert(inbound.spi, inbound);
        });
    }

    /// Receives no more under the one of this generation.
    pub fn forget(&self, generation: u64) {
        self.change(|receiving| receiving.retain(|_, inbound| inbound.generation != generation));
    }

    /// Receives under generations before this one until then.
    pub fn retire(&self, generation: u64, at: Instant) {
        lock(&self.retiring).push((generation, at));
    }

    /// Drops what is past its time, and with it the keys.
    pub fn expire(&self, now: Instant) {
        let mut retiring = lock(&self.retiring);
        let ended = retiring.iter().filter(|(_, at)| *at <= now).map(|(generation, _)| *generation).max();
        retiring.retain(|(_, at)| *at > now);
        drop(retiring);
        let is_over =
            |inbound: &Inbound| ended.is_some_and(|ended| inbound.generation < ended) || inbound.until <= now;
        if self.receiving().values().any(|inbound| is_over(inbound)) {
            self.change(|receiving| receiving.retain(|_, inbound| !is_over(inbound)));
        }
        // Some batch more would be refused anyway; but the key goes.
        let long_ago = |outbound: &Arc<Outbound>| now >= outbound.until + Duration::from_secs(1);
        if self.sending().as_ref().is_some_and(long_ago) {
            *self.sending.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    fn change(&self, change: impl FnOnce(&mut Receiving)) {
        let mut receiving = self.receiving.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Receiving::clone(&receiving);
        change(&mut changed);
        *receiving = Arc::new(changed);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const AGE: Duration = Duration::from_secs(100);
    const OVERLAP: Duration = Duration::from_secs(3);

    fn config(limits: &str, esn: bool) -> Config {
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
        Config::read(&at("link.toml")).unwrap()
    }

    /// Of the latest start of a master whose epochs begin anew with each key.
    fn association(config: &Config, generation: u64, spi: u32) -> Association {
        let keymat = vec![7; config.transform.keymat_bytes()];
        Association { generation, epoch: 1, spi, suite: config.transform.suite(&keymat).unwrap() }
    }

    /// The numbers that packets of these lengths get.
    fn numbers(outbound: &Outbound, lengths: &[usize], now: Instant) -> Vec<u64> {
        let mut taken = Vec::new();
        outbound.number(lengths.iter().copied(), now, |sequence| taken.push(sequence.number()));
        taken
    }

    #[test]
    fn a_key_carries_as_many_packets_as_it_may_and_no_other() {
        let config = config("packets = 3", false);
        let now = Instant::now();
        let outbound = Outbound::new(association(&config, 1, 300), &config, now);
        assert_eq!(numbers(&outbound, &[100, 100], now), [1, 2]);
        assert_eq!(numbers(&outbound, &[100], now), [3]);
        assert!(!outbound.is_over(now), "nothing was refused");
        assert_eq!(numbers(&outbound, &[0], now), [0; 0]);
        assert!(outbound.is_over(now));
        assert_eq!(outbound.used(), (3, 300));
    }

    #[test]
    fn a_key_carries_as_many_bytes_as_it_may_and_no_other() {
        let config = config("bytes = 1000", false);
        let now = Instant::now();
        let outbound = Outbound::new(association(&config, 1, 300), &config, now);
        assert_eq!(
            numbers(&outbound, &[600, 401, 1], now),
            [1],
            "order is kept: the third waits for the second"
        );
        assert!(outbound.is_over(now));
        assert_eq!(numbers(&outbound, &[400], now), [2], "no number is lost to what does not go");
        assert_eq!(numbers(&outbound, &[1], now), [0; 0]);
        assert_eq!(outbound.used(), (2, 1000));
    }

    #[test]
    fn a_key_ends_at_its_age_for_sending_and_an_overlap_later_for_receiving() {
        let config = config("", false);
        // The key is a moment younger than what the test begins with.
        let before = Instant::now();
        let now = before + Duration::from_nanos(1);
        let outbound = Outbound::new(association(&config, 1, 300), &config, now);
        let inbound = Inbound::new(association(&config, 1, 300), &config, now);
        assert_eq!(numbers(&outbound, &[1], before + AGE), [1]);
        assert!(numbers(&outbound, &[1], now + AGE).is_empty());
        assert!(outbound.is_over(now + AGE) && !outbound.is_over(before + AGE));
        assert!(matches!(inbound.admit(1, before + AGE + OVERLAP), Admission::New(_)));
        assert!(matches!(inbound.admit(1, now + AGE + OVERLAP), Admission::Expired));
    }

    #[test]
    fn no_number_beyond_the_last_is_received_and_none_twice() {
        for esn in [false, true] {
            let config = config("packets = 1000", esn);
            let now = Instant::now();
            let inbound = Inbound::new(association(&config, 1, 300), &config, now);
            let admitted = |sent| match inbound.admit(sent, now) {
                Admission::New(sequence) => Some(sequence),
                Admission::Replayed | Admission::Expired => None,
            };
            assert!(admitted(0).is_none(), "numbers begin at 1");
            assert!(matches!(inbound.admit(1001, now), Admission::Expired));
            let last = admitted(1000).unwrap();
            assert_eq!(last.number(), 1000);
            assert!(admitted(1000).is_some(), "what is not verified moves nothing");
            assert!(inbound.accept(last));
            assert!(!inbound.accept(last), "a copy in the same batch");
            assert!(matches!(inbound.admit(1000, now), Admission::Replayed));
            assert_eq!(inbound.packets(), 1);
        }
    }

    #[test]
    fn a_key_that_nobody_will_send_under_goes_at_once() {
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
    fn retired_keys_go_and_later_ones_stay() {
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
    fn the_key_to_send_under_goes_after_its_age() {
        let config = config("", false);
        let now = Instant::now();
        let associations = Associations::default();
        associations.send_under(association(&config, 1, 300), &config, now);
        associations.expire(now + AGE);
        assert!(associations.sending().is_some(), "a batch may have it");
        associations.expire(now + AGE + Duration::from_secs(1));
        assert!(associations.sending().is_none());
    }
}
