//! Tests of both ends with a simulated network, key source, and clock.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::master::{MAX_PAUSE, MAX_UNCONFIRMED};
use super::message::{Bytes32, Codec, Id, Message, Offer};
use super::slave::MAX_PENDING;
use super::*;
use crate::derive::Root;

const CONTROL_KEY: [u8; 32] = [5; 32];
const EVERY: Duration = Duration::from_millis(100);

fn end(role: Role, now: Instant) -> Control {
    end_with(role, true, now)
}

fn end_with(role: Role, single_use: bool, now: Instant) -> Control {
    let transform = Transform::by_id("aes128-gcm").unwrap();
    Control::new(
        &Settings {
            role,
            transform,
            extended: true,
            single_use,
            control_key: &CONTROL_KEY,
            every: EVERY,
            liveness: Liveness::DEFAULT,
            slot: None,
        },
        now,
    )
}

/// The associations that an end has installed, and its reported events.
#[derive(Default)]
struct Installed {
    sending: Option<Sending>,
    /// Generations by SPI.
    receiving: HashMap<u32, u64>,
    retired: u64,
    changes: u64,
    events: Vec<Event>,
}

/// The association that an end sends under, and the boot IDs of master and slave that agreed on it.
struct Sending {
    epoch: u64,
    generation: u64,
    spi: u32,
    boots: [Id; 2],
}

struct Datagram {
    bytes: Vec<u8>,
    from: SocketAddr,
    to: usize,
    at: Instant,
}

/// Two ends, the network between them, and their key sources.
struct World {
    now: Instant,
    ends: [Control; 2],
    installed: [Installed; 2],
    wire: Vec<Datagram>,
    /// Every datagram ever sent, with its receiver.
    recorded: Vec<(usize, Vec<u8>)>,
    issued: u32,
    single_use: bool,
    /// The slave's source: the key of an ID.
    slave_source: fn(&str) -> Option<Zeroizing<Vec<u8>>>,
    /// Response time of the slave's source.
    slave_source_takes: Duration,
    /// Fetches from the slave's source, with their times.
    asked: Vec<(Instant, String)>,
    answered: usize,
}

fn key_of(id: &str) -> Zeroizing<Vec<u8>> {
    let mut key = Zeroizing::new(vec![0; 32]);
    key[..id.len()].copy_from_slice(id.as_bytes());
    key
}

impl World {
    fn new() -> Self {
        Self::with(true)
    }

    /// Builds a world whose sources repeat a single key unless `single_use`.
    fn with(single_use: bool) -> Self {
        let now = Instant::now();
        let mut ends = [Role::Master, Role::Slave].map(|role| end_with(role, single_use, now));
        for (which, end) in ends.iter_mut().enumerate() {
            end.set_address(address(1 - which), now);
        }
        Self {
            now,
            ends,
            single_use,
            installed: Default::default(),
            wire: Vec::new(),
            recorded: Vec::new(),
            issued: 0,
            slave_source: |id| Some(key_of(id)),
            slave_source_takes: Duration::ZERO,
            asked: Vec::new(),
            answered: 0,
        }
    }

    fn restart(&mut self, which: usize) {
        self.ends[which] = end_with([Role::Master, Role::Slave][which], self.single_use, self.now);
        let now = self.now;
        self.ends[which].set_address(address(1 - which), now);
        self.installed[which] = Installed::default();
    }

    /// Advances by a millisecond. `fate` returns how often a datagram arrives, and after how many milliseconds.
    fn step(&mut self, fate: &mut impl FnMut() -> (usize, u64)) {
        self.now += Duration::from_millis(1);
        if self.ends[0].wants(2) > 0 {
            self.issued += u32::from(self.single_use);
            let id = format!("key-{}", self.issued);
            self.ends[0].add_key(SourceKey { key: key_of(&id), id });
        }
        let now = self.now;
        let (due, later) =
            std::mem::take(&mut self.wire).into_iter().partition(|datagram| datagram.at <= now);
        self.wire = later;
        let due: Vec<Datagram> = due;
        for Datagram { bytes, from, to, .. } in due {
            self.ends[to].receive(&bytes, from, now);
            self.act(to, fate);
        }
        for which in 0..2 {
            self.ends[which].tick(now);
            self.act(which, fate);
        }
        while let Some((at, id)) = self.asked.get(self.answered) {
            if *at + self.slave_source_takes > now {
                break;
            }
            self.ends[1].fetched(id, (self.slave_source)(id).ok_or_else(|| "no such key\n".into()));
            self.answered += 1;
            self.act(1, fate);
        }
        self.check();
    }

    fn act(&mut self, which: usize, fate: &mut impl FnMut() -> (usize, u64)) {
        loop {
            let actions: Vec<Action> = self.ends[which].actions().collect();
            if actions.is_empty() {
                return;
            }
            for action in actions {
                self.execute(which, action, fate);
            }
        }
    }

    fn boots(&self) -> [Id; 2] {
        [0, 1].map(|i| self.ends[i].end.boot)
    }

    fn execute(&mut self, which: usize, action: Action, fate: &mut impl FnMut() -> (usize, u64)) {
        let (ours, theirs) = (self.ends[which].end.boot, self.ends[which].end.peer.unwrap_or_default());
        let boots = if which == 0 { [ours, theirs] } else { [theirs, ours] };
        let installed = &mut self.installed[which];
        match action {
            Action::Move(_) => {}
            Action::Send(bytes, _) => {
                let to = 1 - which;
                let from = address(which);
                self.recorded.push((to, bytes.clone()));
                for _ in 0..fate().0 {
                    let at = self.now + Duration::from_millis(fate().1);
                    self.wire.push(Datagram { bytes: bytes.clone(), from, to, at });
                }
            }
            Action::Receive(association) => {
                installed.receiving.insert(association.spi, association.generation);
            }
            Action::SendUnder(association) => {
                let SaParameters { epoch, generation, spi, .. } = association;
                let before = installed.sending.as_ref();
                assert!(
                    before.is_none_or(|before| before.generation < generation
                        && (before.epoch < epoch || before.boots != boots)),
                    "back to an old key"
                );
                installed.sending = Some(Sending { epoch, generation, spi, boots });
                installed.changes += 1;
            }
            Action::Forget(generation) => installed.receiving.retain(|_, ours| *ours != generation),
            Action::Retire(generation) => {
                assert!(installed.receiving.values().any(|ours| *ours == generation), "all keys retire");
                installed.retired = installed.retired.max(generation);
            }
            Action::Fetch(id) => self.asked.push((self.now, id)),
            Action::Report(event) => installed.events.push(event),
        }
    }

    /// Asserts make before break: each end sends under an association that its peer receives under and has not
    /// retired, unless the peer has restarted since.
    fn check(&self) {
        for (here, there) in [(0, 1), (1, 0)] {
            let Some(sending) = &self.installed[here].sending else { continue };
            if sending.boots != self.boots() {
                continue;
            }
            let receiving = &self.installed[there];
            let generation = receiving.receiving.get(&sending.spi);
            assert!(generation.is_some(), "nobody receives what end {here} sends");
            assert!(generation >= Some(&receiving.retired), "end {here} sends under a retired key");
        }
    }

    fn run(&mut self, milliseconds: usize, mut fate: impl FnMut() -> (usize, u64)) {
        for _ in 0..milliseconds {
            self.step(&mut fate);
        }
    }

    /// Returns the generation that an end sends under, or 0.
    fn generation(&self, which: usize) -> u64 {
        self.installed[which].sending.as_ref().map_or(0, |sending| sending.generation)
    }

    fn changes(&self) -> [u64; 2] {
        [0, 1].map(|i| self.installed[i].changes)
    }

    /// Asserts that both ends rekey to the same epoch within `milliseconds` on a good wire.
    fn assert_keys_change_within(&mut self, milliseconds: usize) {
        let before = self.changes();
        self.run(milliseconds, good_wire);
        let after = self.changes();
        assert!(before[0] < after[0] && before[1] < after[1], "{before:?} and then {after:?}");
        let [master, slave] = self.epochs().map(Option::unwrap);
        assert!(master.abs_diff(slave) <= 1, "{master} and {slave}");
        for installed in &self.installed {
            let used = installed.receiving.values().filter(|ours| **ours >= installed.retired).count();
            assert!(used <= 1 + MAX_PENDING, "{used} associations");
        }
    }

    fn epochs(&self) -> [Option<u64>; 2] {
        [0, 1].map(|i| self.installed[i].sending.as_ref().map(|sending| sending.epoch))
    }
}

/// The address of an end.
fn address(which: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, which as u8 + 1], 4500))
}

fn good_wire() -> (usize, u64) {
    (1, 1)
}

#[test]
fn keys_change_as_often_as_they_should() {
    let mut world = World::new();
    world.run(10_050, good_wire);
    let [master, slave] = world.epochs();
    assert_eq!(master, slave);
    assert!((95..=102).contains(&master.unwrap()), "{master:?} in ten seconds");
}

#[test]
fn an_offer_announces_as_many_keys_as_fit_into_a_datagram() {
    for (bytes, count) in [(1472, 4), (528, 2), (470, 1), (0, 0)] {
        let mut world = World::new();
        world.ends[0].set_max_datagram(bytes);
        for i in 0..5 {
            let id = format!("{i:032}");
            world.ends[0].add_key(SourceKey { key: key_of(&id), id });
        }
        world.run(50, good_wire);
        assert_eq!((world.overheard().next_keys.len(), world.changes()), (count, [1, 1]), "{bytes} bytes");
        let longest = world.recorded.iter().map(|(_, datagram)| datagram.len()).max();
        assert!(bytes == 0 || longest <= Some(bytes), "{longest:?}");
    }
}

/// The longest offer without announced keys.
#[test]
fn every_offer_fits_into_a_datagram_of_the_minimum_path_mtu() {
    let offer = Offer {
        epoch: u64::MAX,
        key: "k".repeat(64),
        next_keys: Vec::new(),
        nonce: Bytes32::default(),
        spi: u32::MAX,
        suite: "aes256-cbc-hmac-sha256".into(),
        esn: false,
        proof: Bytes32::default(),
    };
    let mut end = end(Role::Master, Instant::now());
    end.set_max_datagram(576 - 48);
    assert!(end.end.fits(Say::Offer(offer)));
}

#[test]
fn a_key_can_be_changed_out_of_turn() {
    let mut world = World::new();
    world.run(50, good_wire);
    let before = world.epochs()[0].unwrap();
    world.ends[0].change_now(world.now);
    world.run(10, good_wire);
    assert_eq!(world.epochs(), [Some(before + 1); 2]);
}

#[test]
fn a_soft_limit_at_either_end_causes_one_rekey() {
    for which in [0, 1] {
        let mut world = World::new();
        world.run(20, good_wire);
        let before = world.epochs()[which].unwrap();
        let generation = world.generation(which);
        for _ in 0..40 {
            // The link reports it repeatedly, even while the new key is being installed.
            let now = world.now;
            world.ends[which].soft_limit_reached(generation, now);
            world.run(1, good_wire);
        }
        assert_eq!(world.epochs(), [Some(before + 1); 2]);
    }
}

#[test]
fn a_slave_at_its_soft_limit_requests_a_key_until_there_is_an_offer() {
    let mut world = World::new();
    // No rekey is due by age.
    world.ends[0].set_interval(Duration::from_secs(3600), world.now);
    world.run(3000, good_wire);
    let before = world.epochs()[1].unwrap();
    let now = world.now;
    world.ends[1].soft_limit_reached(world.generation(1), now);
    world.run(1000, || (0, 1));
    assert_eq!(world.epochs(), [Some(before); 2], "nothing arrives");
    world.run(1100, good_wire);
    assert_eq!(world.epochs(), [Some(before + 1); 2]);
    let sent = world.recorded.len();
    world.run(5000, good_wire);
    // Each second, each end sends a challenge and an answer.
    assert!(world.recorded.len() <= sent + 4 * 5, "only heartbeats remain");
}

#[test]
fn a_soft_limit_of_another_than_the_current_key_is_ignored() {
    let mut world = World::new();
    world.ends[0].set_interval(Duration::from_secs(3600), world.now);
    world.run(3000, good_wire);
    let before = world.epochs();
    let now = world.now;
    for which in 0..2 {
        let present = world.generation(which);
        for generation in [0, present - 1, present + 1, u64::MAX] {
            world.ends[which].soft_limit_reached(generation, now);
        }
    }
    world.ends[1].end.send_to_peer(Say::SoftLimit { epoch: before[0].unwrap() - 1 });
    world.ends[0].end.send_to_peer(Say::SoftLimit { epoch: before[0].unwrap() });
    world.run(1000, good_wire);
    assert_eq!(world.epochs(), before);
}

#[test]
fn a_slow_source_is_asked_once_for_a_key() {
    let mut world = World::new();
    world.slave_source_takes = Duration::from_millis(250);
    world.run(3000, good_wire);
    let names: HashSet<&String> = world.asked.iter().map(|(_, id)| id).collect();
    assert_eq!(names.len(), world.asked.len(), "{:?}", world.asked);
    assert!(world.epochs()[1].unwrap() > 5);
}

#[test]
fn a_source_that_does_not_answer_is_asked_for_one_key_and_then_for_the_latest() {
    let mut world = World::new();
    world.slave_source_takes = Duration::from_secs(3600);
    // Each restart of the master offers another key.
    for _ in 0..100 {
        world.run(100, good_wire);
        world.restart(0);
    }
    assert_eq!(world.asked.len(), 1);
    world.slave_source_takes = Duration::from_millis(50);
    world.assert_keys_change_within(1000);
}

#[test]
fn no_key_of_a_replaced_source_is_offered() {
    for wait in [0, 1, 2, 3, 50] {
        let mut world = World::new();
        world.run(500, good_wire);
        world.ends[0].change_now(world.now);
        // The offer may be due, on its way, accepted, or confirmed.
        world.run(wait, good_wire);
        world.ends[0].source_replaced();
        world.ends[0].change_now(world.now);
        let (sent, old) = (world.recorded.len(), world.issued);
        world.assert_keys_change_within(60);
        let codec = Codec::new(&Root::new(&CONTROL_KEY), Role::Slave);
        for (to, bytes) in &world.recorded[sent..] {
            if let (1, Some(Message { say: Say::Offer(offer), .. })) = (to, codec.read(bytes)) {
                for id in [offer.key].iter().chain(&offer.next_keys) {
                    assert!(id["key-".len()..].parse::<u32>().unwrap() > old, "{id} after {wait} ms");
                }
            }
        }
    }
}

#[test]
fn a_slave_asks_a_new_source_for_the_key_that_the_old_one_did_not_deliver() {
    let mut world = World::new();
    world.slave_source_takes = Duration::from_secs(3600);
    world.run(500, good_wire);
    world.ends[1].source_replaced();
    world.run(1, good_wire);
    let names: Vec<&String> = world.asked.iter().map(|(_, id)| id).collect();
    assert!(names.len() == 2 && names[0] == names[1], "{names:?}");
    world.slave_source_takes = Duration::ZERO;
    world.assert_keys_change_within(1000);
}

/// After a cut that outlasts the age of a key, the slave no longer receives under the offer that it had accepted.
#[test]
fn an_offer_that_was_accepted_too_long_ago_is_replaced() {
    let mut world = World::new();
    world.run(500, good_wire);
    let before = world.ends[1].end.generation;
    world.ends[0].change_now(world.now);
    while world.ends[1].end.generation == before {
        world.run(1, good_wire);
    }
    // The answer is lost, like everything after it.
    world.wire.clear();
    world.run(1000, || (0, 1));
    let generations = [0, 1].map(|which| world.ends[which].end.generation);
    assert_eq!(generations[1], before + 1);
    for (which, generation) in generations.into_iter().enumerate() {
        let installed = &mut world.installed[which];
        (installed.sending, installed.receiving) = (None, HashMap::new());
        world.ends[which].too_old(generation);
    }
    world.assert_keys_change_within(1000);
}

/// Describes an action.
fn effect(action: &Action) -> String {
    match action {
        Action::Send(..) => "a message".into(),
        Action::Move(address) => format!("moving to {address}"),
        Action::Receive(association) => format!("receiving under epoch {}", association.epoch),
        Action::SendUnder(association) => format!("sending under epoch {}", association.epoch),
        Action::Forget(generation) => format!("forgetting {generation}"),
        Action::Retire(generation) => format!("retiring all before {generation}"),
        Action::Fetch(id) => format!("asking for {id}"),
        Action::Report(event) => format!("{event:?}"),
    }
}

#[test]
fn whatever_comes_again_changes_nothing() {
    for single_use in [true, false] {
        for remembered in [MAX_REMEMBERED, 0] {
            let mut world = World::with(single_use);
            world.run(1000, good_wire);
            world.restart(1);
            world.run(1000, good_wire);
            world.restart(0);
            world.run(1000, good_wire);
            let (now, generation) = (world.now, world.generation(1));
            world.ends[1].soft_limit_reached(generation, now);
            world.run(1000, good_wire);
            // Let every recorded datagram arrive.
            while !world.wire.is_empty() {
                world.step(&mut good_wire);
            }
            let recorded = world.recorded.clone();
            assert!(recorded.len() > 100);
            let now = world.now;
            for end in &mut world.ends {
                end.read = Recent::new(remembered);
            }
            for (to, bytes) in recorded.iter().chain(recorded.iter().rev()) {
                for to in [*to, 1 - *to] {
                    world.ends[to].receive(bytes, address(1 - to), now);
                    for action in world.ends[to].actions() {
                        let text = String::from_utf8_lossy(bytes);
                        assert!(matches!(action, Action::Send(..)), "{} after {text}", effect(&action));
                    }
                }
            }
            world.assert_keys_change_within(1000);
        }
    }
}

#[test]
fn a_restarted_end_rekeys_within_milliseconds() {
    for which in [0, 1] {
        let mut world = World::new();
        world.run(500, good_wire);
        world.restart(which);
        world.assert_keys_change_within(60);
        assert!(world.installed[1 - which].events.contains(&Event::Restarted));
    }
}

#[test]
fn a_restarted_slave_is_offered_no_key_that_it_may_have_fetched_before() {
    let mut world = World::new();
    world.run(250, good_wire);
    let fetched: HashSet<String> = world.asked.iter().map(|(_, id)| id.clone()).collect();
    let before = world.recorded.len();
    world.restart(1);
    world.run(60, good_wire);
    let codec = Codec::new(&Root::new(&CONTROL_KEY), Role::Slave);
    let offered = |(to, bytes): &(usize, Vec<u8>)| match codec.read(bytes)?.say {
        Say::Offer(offer) if *to == 1 => Some(offer.key),
        _ => None,
    };
    let keys: Vec<String> = world.recorded[before..].iter().filter_map(offered).collect();
    assert!(!keys.is_empty() && !keys.iter().any(|key| fetched.contains(key)), "{keys:?} and {fetched:?}");
}

#[test]
fn an_end_without_another_says_hello_and_nothing_else() {
    let now = Instant::now();
    let mut master = end(Role::Master, now);
    master.set_address(address(1), now);
    master.add_key(SourceKey { id: "key".into(), key: key_of("key") });
    for i in 0..60_000 {
        master.tick(now + Duration::from_millis(i));
    }
    let sent = master.actions().filter(|action| matches!(action, Action::Send(..))).count();
    assert!((110..140).contains(&sent), "{sent} in a minute");
}

#[test]
fn keys_that_differ_between_the_ends_are_never_used() {
    let mut world = World::new();
    world.run(300, good_wire);
    let before = world.epochs();
    world.slave_source = |_| Some(Zeroizing::new(vec![9; 32]));
    world.run(2000, good_wire);
    let disagree = |event: &Event| matches!(event, Event::Refused(_, Refusal::Disagree, _));
    assert!(world.installed.iter().all(|installed| installed.events.iter().any(disagree)));
    let worst = before[0].unwrap() + 2; // keys fetched in advance, before the fault
    assert!(world.epochs().iter().all(|epoch| epoch.unwrap() <= worst));
    world.slave_source = |id| Some(key_of(id));
    world.run(12_000, good_wire);
    assert!(world.epochs()[0].unwrap() > worst, "rekeying does not resume");
}

#[test]
fn keys_that_the_slaves_source_lacks_are_refused_and_the_old_one_stays() {
    let mut world = World::new();
    world.run(300, good_wire);
    world.slave_source = |_| None;
    let before = world.epochs()[0].unwrap();
    world.run(3000, good_wire);
    let refused = |event: &Event| matches!(event, Event::Refused(_, Refusal::NoKey, _));
    assert!(world.installed[0].events.iter().filter(|event| refused(event)).count() > 2);
    let named = |event: &Event| matches!(event, Event::Refused(.., details) if details == "no such key");
    assert!(world.installed.iter().all(|installed| installed.events.iter().any(named)), "both ends log why");
    assert!(world.epochs().iter().all(|epoch| epoch.unwrap() <= before + 2));
}

#[test]
fn a_repeated_key_is_not_offered() {
    let now = Instant::now();
    let mut master = end(Role::Master, now);
    let key = SourceKey { id: "one".into(), key: key_of("one") };
    assert!(master.add_key(key.clone()));
    assert!(!master.add_key(SourceKey { id: "two".into(), ..key }));
    assert_eq!(master.wants(4), 3);
    assert!(matches!(master.actions().last(), Some(Action::Report(Event::Repeated))));
}

#[test]
fn ends_with_different_suites_never_agree_on_a_key() {
    let mut world = World::new();
    world.ends[1].end.transform = Transform::by_id("aes256-gcm").unwrap();
    world.run(1000, good_wire);
    assert_eq!(world.epochs(), [None, None]);
    let details = "the slave has `suite` aes256-gcm and `esn` true".to_owned();
    assert!(world.installed[0].events.contains(&Event::Refused(1, Refusal::Suite, details)));
    assert!(world.installed[1].events.contains(&Event::OtherSuite(Some("aes128-gcm"), true)));
    assert!(world.issued <= 3, "{} keys are used up", world.issued);
}

fn versions(oldest: u16, newest: u16) -> Versions {
    Versions { oldest, newest, release: format!("0.{newest}") }
}

#[test]
fn releases_with_a_common_version_use_the_newest_of_them() {
    for (master, slave, common) in [((1, 1), (1, 3), 1), ((1, 3), (2, 2), 2), ((1, 3), (2, 4), 3)] {
        let mut world = World::new();
        world.ends[0].end.versions = versions(master.0, master.1);
        world.ends[1].end.versions = versions(slave.0, slave.1);
        world.run(500, good_wire);
        assert!(world.epochs()[0].is_some() && world.epochs()[0] == world.epochs()[1]);
        assert_eq!(world.ends[0].peer_versions(), Some((&versions(slave.0, slave.1), common)));
        assert_eq!(world.ends[1].peer_versions(), Some((&versions(master.0, master.1), common)));
    }
}

#[test]
fn releases_without_a_common_version_say_so_and_agree_on_nothing() {
    let mut world = World::new();
    world.ends[1].end.versions = versions(2, 3);
    world.run(6000, good_wire);
    assert_eq!(world.epochs(), [None, None]);
    for (which, theirs) in [versions(2, 3), Versions::current()].into_iter().enumerate() {
        let events = &world.installed[which].events;
        assert_eq!(events.first(), Some(&Event::OtherVersions(theirs)), "{events:?}");
        assert!(events.contains(&Event::Dead(Silence::OtherVersions)));
        assert_eq!(world.ends[which].peer_versions(), None);
    }
    // The update of one end resolves it.
    world.restart(1);
    world.assert_keys_change_within(1000);
}

#[test]
fn a_copy_from_before_an_update_does_not_affect_a_living_peer() {
    let mut world = World::new();
    world.run(500, good_wire);
    let old = Say::Hello { challenge: Id([9; 16]), versions: versions(7, 8) };
    world.inject(0, &forged(0, Id([6; 16]), Id::default(), 1, old));
    world.run(500, good_wire);
    assert!(!world.installed[0].events.iter().any(|event| matches!(event, Event::OtherVersions(_))));
}

#[test]
fn messages_of_a_later_protocol_are_not_taken_for_forgeries() {
    let mut world = World::new();
    let slave = Codec::new(&Root::new(&CONTROL_KEY), Role::Slave);
    let hello = slave.write(&Message {
        from: Id([6; 16]),
        to: Id::default(),
        count: 1,
        say: Say::Hello { challenge: Id::default(), versions: Versions::current() },
    });
    let text = String::from_utf8(hello[36..].to_vec()).unwrap();
    let key = Root::new(&CONTROL_KEY).control(Role::Slave);
    for (from, to, cause) in [("hello", "greeting", Silence::Unknown), ("count", "x", Silence::Unknown)] {
        world.restart(0);
        let text = text.replace(from, to);
        let tag = hmac_of(&*key, text.as_bytes());
        world.inject(0, &[&[0; 4][..], &tag, text.as_bytes()].concat());
        world.run(6000, || (0, 1));
        assert!(world.installed[0].events.contains(&Event::Dead(cause)), "{text}");
    }
    // A field that this version does not know is ignored.
    let text = text.replace(r#""count""#, r#""later":[1],"count""#);
    let tag = hmac_of(&*key, text.as_bytes());
    let datagram = [&[0; 4][..], &tag, text.as_bytes()].concat();
    let now = world.now;
    assert!(world.ends[0].receive(&datagram, address(1), now));
}

fn hmac_of(key: &[u8], text: &[u8]) -> [u8; 32] {
    use hmac::{KeyInit, Mac};
    hmac::Hmac::<sha2::Sha256>::new_from_slice(key).unwrap().chain_update(text).finalize().into_bytes().into()
}

// ---- Attackers

/// Forges a datagram to an end, in the name of its peer, with the control key.
fn forged(to: usize, from: Id, to_boot: Id, count: u64, say: Say) -> Vec<u8> {
    let role = [Role::Slave, Role::Master][to];
    let codec = Codec::new(&Root::new(&CONTROL_KEY), role);
    codec.write(&Message { from, to: to_boot, count, say })
}

impl World {
    /// Returns the latest offer on the wire.
    fn overheard(&self) -> Offer {
        let codec = Codec::new(&Root::new(&CONTROL_KEY), Role::Slave);
        let offer = |(to, bytes): &(usize, Vec<u8>)| match codec.read(bytes)?.say {
            Say::Offer(offer) if *to == 1 => Some(offer),
            _ => None,
        };
        self.recorded.iter().rev().find_map(offer).expect("an offer")
    }

    /// Returns messages of all types with boundary values in their fields, each with the end that would act on it.
    fn forgeries(&self) -> Vec<(usize, Say)> {
        let offer = self.overheard();
        let proof = Bytes32([7; 32]);
        let mut forgeries = Vec::new();
        for epoch in [0, 1, offer.epoch - 1, offer.epoch, offer.epoch + 1, offer.epoch + 2, u64::MAX] {
            for key in
                [offer.key.clone(), format!("key-{}", self.issued), "key-of-nobody".into(), String::new()]
            {
                let offer = Offer { epoch, key, next_keys: vec!["a".into(); 60], ..offer.clone() };
                forgeries.push((1, Say::Offer(offer.clone())));
                forgeries.push((1, Say::Offer(Offer { proof, ..offer.clone() })));
                forgeries.push((1, Say::Offer(Offer { suite: "aes256-gcm".into(), ..offer.clone() })));
                forgeries.push((1, Say::Offer(Offer { esn: false, spi: 0, ..offer })));
            }
            for spi in [0, 4096] {
                forgeries.push((0, Say::Accept(message::Accept { epoch, nonce: proof, spi, proof })));
            }
            for why in
                [Refusal::NoKey, Refusal::Repeated, Refusal::Suite, Refusal::Disagree, Refusal::Outdated]
            {
                forgeries.push((0, Say::Refuse { epoch, why, details: String::new() }));
            }
            forgeries.push((1, Say::Confirm { epoch, proof }));
            forgeries.push((0, Say::Done { epoch, proof }));
            forgeries.push((0, Say::SoftLimit { epoch }));
        }
        for to in 0..2 {
            let challenge = self.ends[to].presence.challenge(address(1 - to));
            forgeries.push((to, Say::Hello { challenge: Id([9; 16]), versions: Versions::current() }));
            forgeries.push((to, Say::Welcome { challenge, versions: Versions::current() }));
            let versions = Versions { oldest: 2, newest: 9, release: String::new() };
            forgeries.push((to, Say::Hello { challenge: Id([9; 16]), versions: versions.clone() }));
            forgeries.push((to, Say::Welcome { challenge, versions }));
        }
        forgeries
    }

    fn inject(&mut self, to: usize, datagram: &[u8]) {
        let now = self.now;
        self.ends[to].receive(datagram, address(1 - to), now);
        self.act(to, &mut good_wire);
    }

    /// Injects a forged message under the peer's current boot ID, and under a boot ID that never existed.
    fn inject_forgery(&mut self, to: usize, say: &Say, count: u64) {
        let boots = self.boots();
        for from in [boots[1 - to], Id([6; 16])] {
            let datagram = forged(to, from, boots[to], count, say.clone());
            if datagram.len() <= message::LONGEST {
                self.inject(to, &datagram);
            }
        }
    }
}

#[test]
fn no_lie_of_one_who_has_the_control_key_lasts() {
    for single_use in [true, false] {
        let mut honest = World::with(single_use);
        honest.run(500, good_wire);
        let forgeries = honest.forgeries().len();
        for index in 0..forgeries {
            for (count, later) in [(u64::MAX, 0), (0, 37)] {
                let mut world = World::with(single_use);
                world.run(500 + later, good_wire);
                let (to, say) = world.forgeries().swap_remove(index);
                world.inject_forgery(to, &say, count);
                let before = world.changes();
                world.run(2500, good_wire);
                let after = world.changes();
                assert!(
                    before[0] + 3 <= after[0] && before[1] + 3 <= after[1],
                    "{before:?} and {after:?} after {say:?} to end {to}"
                );
            }
        }
    }
}

#[test]
fn no_number_of_lies_lasts_or_takes_memory() {
    for single_use in [true, false] {
        let mut world = World::with(single_use);
        world.run(500, good_wire);
        for round in 0..60 {
            for (i, (to, say)) in world.forgeries().into_iter().enumerate() {
                world.inject_forgery(to, &say, round * 1000 + i as u64);
            }
            world.run(1, good_wire);
        }
        world.assert_bounded();
        world.run(MAX_PAUSE.as_millis() as usize, good_wire);
        world.assert_keys_change_within(2000);
    }
}

/// An attacker with the control key and the key file can construct valid offers without end.
#[test]
fn offers_of_one_key_do_not_add_up() {
    let mut world = World::with(false);
    world.run(500, good_wire);
    let offer = world.overheard();
    let mut receives = 0_usize;
    for epoch in 1000..51_000 {
        let boots = world.boots();
        let mut offer = Offer { epoch, ..offer.clone() };
        let slave = &mut world.ends[1].end;
        offer.proof = Bytes32(*slave.offered(&key_of(&offer.key), &offer).proof(crate::derive::Step::Offer));
        let datagram = forged(1, boots[0], boots[1], epoch, Say::Offer(offer.clone()));
        let now = world.now;
        world.ends[1].receive(&datagram, address(0), now);
        let actions: Vec<Action> = world.ends[1].actions().collect();
        if actions.iter().any(|action| matches!(action, Action::Fetch(_))) {
            world.ends[1].fetched(&offer.key, Ok(key_of(&offer.key)));
        }
        for action in actions.into_iter().chain(world.ends[1].actions().collect::<Vec<_>>()) {
            match action {
                Action::Receive(_) => receives += 1,
                Action::Forget(_) => receives -= 1,
                _ => {}
            }
        }
    }
    assert_eq!(receives, MAX_PENDING);
    world.assert_bounded();
}

/// Returns whether a datagram is a message of this type.
fn is_say(bytes: &[u8], name: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(&format!("\"say\":{{\"{name}\""))
}

/// A slave that accepts every offer but reports the end of no exchange makes the master wait, not store keys.
#[test]
fn a_slave_that_never_says_done_is_given_no_keys_without_end() {
    let mut world = World::new();
    world.ends[0].set_interval(Duration::from_secs(3600), world.now);
    world.run(500, good_wire);
    world.ends[0].change_now(world.now);
    let mut count = 0;
    let mut epoch = 0;
    for _ in 0..5000 {
        world.run(1, good_wire);
        world.wire.retain(|datagram| !is_say(&datagram.bytes, "done"));
        epoch = world.epochs()[0].unwrap();
        count += 1;
        let boots = world.boots();
        world.inject(0, &forged(0, boots[1], boots[0], u64::MAX - 5000 + count, Say::SoftLimit { epoch }));
    }
    assert!(epoch <= 3, "{epoch} epochs by requests during one exchange");
    // Without requests, each interval brings an exchange that the slave does not finish.
    world.ends[0].set_interval(EVERY, world.now);
    for _ in 0..5000 {
        world.run(1, good_wire);
        world.wire.retain(|datagram| !is_say(&datagram.bytes, "done"));
        let Installed { receiving, retired, .. } = &world.installed[0];
        assert!(receiving.values().filter(|generation| *generation > retired).count() <= MAX_UNCONFIRMED);
    }
    assert!(world.epochs()[0].unwrap() > epoch + 2 * MAX_UNCONFIRMED as u64);
    world.assert_bounded();
    world.assert_keys_change_within(1000);
}

/// The slave then sends under an old key, which the master must still receive under: see [`World::check`].
#[test]
fn lost_confirmations_of_several_rekeys_lose_no_packets() {
    for lost in ["confirm", "done"] {
        let mut world = World::new();
        world.run(500, good_wire);
        let before = world.epochs()[0].unwrap();
        while world.epochs()[0].unwrap() < before + MAX_UNCONFIRMED as u64 - 1 {
            world.run(1, good_wire);
            world.wire.retain(|datagram| !is_say(&datagram.bytes, lost));
        }
        world.assert_keys_change_within(1000);
    }
}

impl World {
    fn assert_bounded(&self) {
        for end in &self.ends {
            assert!(end.end.keys.len() <= 64, "{} keys", end.end.keys.len());
            assert!(end.end.actions.is_empty());
            assert!(end.read.len() <= MAX_REMEMBERED && end.end.remembers() <= 2 * MAX_REMEMBERED);
        }
        let [Side::Master(master), Side::Slave(slave)] = self.ends.each_ref().map(|end| &end.side) else {
            panic!("a master and a slave")
        };
        assert!(master.holds() <= MAX_UNCONFIRMED, "{} generations", master.holds());
        assert!(slave.holds() <= MAX_NEXT_KEYS + MAX_PENDING, "{} names and generations", slave.holds());
    }
}

#[test]
fn a_false_answer_to_a_challenge_leaves_the_keys_in_use() {
    for to in 0..2 {
        let mut world = World::new();
        world.ends[0].set_interval(Duration::from_secs(3600), world.now);
        world.run(3000, good_wire);
        let before = world.epochs();
        let challenge = world.ends[to].presence.challenge(address(1 - to));
        let say = Say::Welcome { challenge, versions: Versions::current() };
        let datagram = forged(to, Id([6; 16]), world.boots()[to], 1, say);
        // Only the forged message arrives.
        world.inject(to, &datagram);
        world.run(10_000, || (0, 1));
        assert_eq!(world.epochs(), before);
        world.run(2500, good_wire);
        assert!(world.epochs()[to] >= before[to], "{:?}", world.epochs());
        world.ends[0].change_now(world.now);
        world.assert_keys_change_within(100);
    }
}

#[test]
fn only_the_present_boot_of_the_other_end_is_followed() {
    // With a single key, only the boot ID distinguishes an old offer from a new one.
    let mut world = World::with(false);
    world.run(500, good_wire);
    let old = world.boots();
    for which in 0..2 {
        world.restart(which);
    }
    world.run(500, good_wire);
    let new = world.boots();
    for (to, say) in world.forgeries() {
        if matches!(say, Say::Hello { .. } | Say::Welcome { .. }) {
            continue;
        }
        for (from, to_boot) in [(old[1 - to], new[to]), (new[1 - to], old[to]), (old[1 - to], old[to])] {
            let datagram = forged(to, from, to_boot, 1, say.clone());
            let now = world.now;
            if datagram.len() <= message::LONGEST {
                assert!(!world.ends[to].receive(&datagram, address(1 - to), now), "{say:?}");
            }
            let codec = Codec::new(&Root::new(&CONTROL_KEY), [Role::Slave, Role::Master][to]);
            for action in world.ends[to].actions() {
                let Action::Send(sent, _) = action else { panic!("an effect of {say:?}") };
                let said = codec.read(&sent).map(|message| message.say);
                assert!(matches!(said, Some(Say::Hello { .. })), "{said:?} to {say:?}");
            }
        }
    }
}

#[test]
fn copies_of_old_questions_keep_nobody_out() {
    for restarted in 0..2 {
        for copies in [1, 10, 100] {
            let mut world = World::new();
            world.run(500, good_wire);
            let hellos: Vec<(usize, Vec<u8>)> =
                (0..2).map(|to| world.recorded.iter().find(|(at, _)| *at == to).unwrap().clone()).collect();
            world.restart(restarted);
            let (changes, sent) = (world.installed[restarted].changes, world.recorded.len());
            for _ in 0..60 {
                world.step(&mut good_wire);
                for (to, bytes) in &hellos {
                    for _ in 0..copies {
                        world.inject(*to, bytes);
                    }
                }
            }
            assert!(world.installed[restarted].changes > changes, "{copies} copies each millisecond");
            assert!(world.recorded.len() < sent + 100, "copies are answered");
        }
    }
}

#[test]
fn every_question_is_answered_however_many_there_are() {
    let mut world = World::new();
    world.run(500, good_wire);
    let now = world.now;
    for i in 0..10_000_u64 {
        let mut challenge = Id::default();
        challenge.0[..8].copy_from_slice(&i.to_be_bytes());
        let say = Say::Hello { challenge, versions: Versions::current() };
        let datagram = forged(0, Id([6; 16]), Id::default(), i, say);
        world.ends[0].receive(&datagram, address(1), now);
        let answers = world.ends[0].actions().filter(|action| matches!(action, Action::Send(..))).count();
        assert!((1..=2).contains(&answers), "{answers} answers");
    }
    world.assert_bounded();
}

/// A man in the middle without keys drops one type of message.
#[test]
fn no_message_that_is_missing_stops_an_exchange_for_good() {
    for missing in ["hello", "welcome", "offer", "accept", "confirm", "done", "worn"] {
        let mut world = World::new();
        world.run(300, good_wire);
        let name = format!("\"say\":{{\"{missing}\"");
        for _ in 0..3000 {
            world.step(&mut good_wire);
            world.wire.retain(|datagram| !String::from_utf8_lossy(&datagram.bytes).contains(&name));
        }
        world.assert_keys_change_within(2500);
    }
}

#[test]
fn a_dead_peer_is_reported_once_and_so_is_its_return() {
    let mut world = World::new();
    world.run(1000, good_wire);
    let heard = world.ends[0].heard().unwrap();
    world.run(60_000, || (0, 1));
    assert!(world.ends[0].heard().unwrap() < heard + Duration::from_secs(1));
    world.run(2000, good_wire);
    for installed in &world.installed {
        let reported: Vec<&Event> = installed
            .events
            .iter()
            .filter(|event| !matches!(event, Event::Changed(_) | Event::Refused(..)))
            .collect();
        let [Event::Met, Event::Dead(Silence::Nothing), Event::Back(silence)] = reported[..] else {
            panic!("{reported:?}")
        };
        assert!((59..=61).contains(&silence.as_secs()), "{silence:?}");
    }
    assert!(world.ends[0].heard().unwrap() > heard);
}

#[test]
fn an_end_that_cannot_understand_the_other_says_why() {
    for (role, control_key, cause) in [
        (Role::Slave, [5; 32], None),
        (Role::Slave, [6; 32], Some(Silence::Forged)),
        (Role::Master, [5; 32], Some(Silence::SameRole)),
    ] {
        let mut world = World::new();
        let transform = Transform::by_id("aes128-gcm").unwrap();
        let settings = Settings {
            role,
            transform,
            extended: true,
            single_use: true,
            control_key: &control_key,
            every: EVERY,
            liveness: Liveness::DEFAULT,
            slot: None,
        };
        world.ends[1] = Control::new(&settings, world.now);
        let now = world.now;
        world.ends[1].set_address(address(0), now);
        // This end's own messages are reflected too, which explains nothing.
        for _ in 0..20_000 {
            world.step(&mut good_wire);
            let own = world.recorded.last().filter(|(to, _)| *to == 1).map(|(_, bytes)| bytes.clone());
            own.inspect(|own| world.inject(0, own));
        }
        let reported = world.installed[0].events.iter().filter_map(|event| match event {
            Event::Dead(cause) => Some(*cause),
            _ => None,
        });
        assert_eq!(reported.collect::<Vec<_>>(), Vec::from_iter(cause));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Under loss, duplication, delay, reordering, and restarts of either end, no end ever sends under an association
    /// that its peer does not receive under. Rekeying resumes once the wire is good again.
    #[test]
    fn no_wire_makes_an_end_send_what_the_other_does_not_open(
        seed in any::<u64>(),
        loss in 0_u64..90,
        max_delay in 1_u64..300,
        restarts in prop::collection::vec((0_usize..4000, 0_usize..2), 0..4),
    ) {
        let mut state = seed | 1;
        let mut dice = move |sides: u64| {
            // xorshift64*
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % sides
        };
        let mut world = World::new();
        let mut fate = || {
            let copies = if dice(100) < loss { 0 } else { 1 + usize::from(dice(10) == 0) };
            (copies, 1 + dice(max_delay))
        };
        for i in 0..4000 {
            for (at, which) in &restarts {
                if *at == i {
                    world.restart(*which);
                }
            }
            world.step(&mut fate);
        }
        let before: u64 = world.installed.iter().map(|installed| installed.changes).sum();
        world.run(8000, good_wire);
        let after: u64 = world.installed.iter().map(|installed| installed.changes).sum();
        prop_assert!(after >= before + 20, "{before} and then {after}");
        let [master, slave] = world.epochs().map(|epoch| epoch.unwrap_or(0));
        prop_assert!(master.abs_diff(slave) <= 1, "{master} and {slave}");
    }
}

#[test]
fn peers_never_have_an_spi_in_common() {
    let settings = |slot| Settings {
        role: Role::Slave,
        transform: Transform::by_id("aes128-gcm").unwrap(),
        extended: true,
        single_use: true,
        control_key: &CONTROL_KEY,
        every: EVERY,
        liveness: Liveness::DEFAULT,
        slot: Some(slot),
    };
    for slot in [0, 1, 255, MAX_PEERS as u32 - 1] {
        let mut end = Control::new(&settings(slot), Instant::now()).end;
        let spis: Vec<u32> = (0..1000).map(|_| end.new_spi()).collect();
        for recent in spis.windows(MAX_REMEMBERED_EACH) {
            assert_eq!(recent.iter().collect::<HashSet<_>>().len(), MAX_REMEMBERED_EACH);
        }
        assert!(spis.iter().all(|spi| *spi >= 256 && spi % MAX_PEERS as u32 == slot));
    }
}
