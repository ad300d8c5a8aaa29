//! Two ends and what lies between them, in a time that the test makes.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

const CONTROL_KEY: [u8; 32] = [5; 32];
const EVERY: Duration = Duration::from_millis(100);

fn end(role: Role, now: Instant) -> Control {
    let transform = Transform::by_id("aes128-gcm").unwrap();
    Control::new(
        &Settings {
            role,
            transform,
            extended: true,
            single_use: true,
            control_key: &CONTROL_KEY,
            every: EVERY,
        },
        now,
    )
}

/// What an end has installed, as the threads that move packets would.
#[derive(Default)]
struct Installed {
    sending: Option<(u64, u32)>,
    /// By SPI, the epoch.
    receiving: HashMap<u32, u64>,
    retired: u64,
    changes: u64,
    events: Vec<Event>,
}

struct Datagram {
    bytes: Vec<u8>,
    to: usize,
    at: Instant,
}

/// Two ends, the wire, and a source of keys that both have.
struct World {
    now: Instant,
    ends: [Control; 2],
    installed: [Installed; 2],
    wire: Vec<Datagram>,
    /// All that ever was on the wire, with where it went.
    recorded: Vec<(usize, Vec<u8>)>,
    issued: u8,
    /// What the slave's source has beside the master's.
    slave_source: fn(&str) -> Option<Zeroizing<Vec<u8>>>,
    /// How long that takes for a key.
    slave_source_takes: Duration,
    /// What it was asked for, and when.
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
        let now = Instant::now();
        Self {
            now,
            ends: [end(Role::Master, now), end(Role::Slave, now)],
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
        self.ends[which] = end([Role::Master, Role::Slave][which], self.now);
        self.installed[which] = Installed::default();
    }

    /// A millisecond passes. `fate` says how often a datagram arrives, and how many milliseconds later.
    fn step(&mut self, fate: &mut impl FnMut() -> (usize, u64)) {
        self.now += Duration::from_millis(1);
        if self.ends[0].wants(2) > 0 {
            self.issued = self.issued.wrapping_add(1);
            let id = format!("key {} {}", self.issued, self.recorded.len());
            self.ends[0].add_key(SourceKey { key: key_of(&id), id });
        }
        let now = self.now;
        let (due, later) =
            std::mem::take(&mut self.wire).into_iter().partition(|datagram| datagram.at <= now);
        self.wire = later;
        let due: Vec<Datagram> = due;
        for Datagram { bytes, to, .. } in due {
            self.ends[to].receive(&bytes, now);
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
            self.ends[1].fetched(id, (self.slave_source)(id));
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
                self.one(which, action, fate);
            }
        }
    }

    fn one(&mut self, which: usize, action: Action, fate: &mut impl FnMut() -> (usize, u64)) {
        let installed = &mut self.installed[which];
        match action {
            Action::Send(bytes) => {
                let to = 1 - which;
                self.recorded.push((to, bytes.clone()));
                for _ in 0..fate().0 {
                    let at = self.now + Duration::from_millis(fate().1);
                    self.wire.push(Datagram { bytes: bytes.clone(), to, at });
                }
            }
            Action::Receive(association) => {
                installed.receiving.insert(association.spi, association.epoch);
            }
            Action::SendUnder(association) => {
                assert!(
                    installed.sending.is_none_or(|(epoch, _)| epoch < association.epoch),
                    "back to an old key"
                );
                installed.sending = Some((association.epoch, association.spi));
                installed.changes += 1;
            }
            Action::Retire(epoch) => installed.retired = installed.retired.max(epoch),
            Action::Reset => {
                installed.sending = None;
                installed.receiving.clear();
                installed.retired = 0;
            }
            Action::Fetch(ids) => self.asked.extend(ids.into_iter().map(|id| (self.now, id))),
            Action::Tell(event) => installed.events.push(event),
        }
    }

    /// Make before break: what either end sends under, the other receives under, and has not retired.
    fn check(&self) {
        let boots = [0, 1].map(|i| self.ends[i].boot);
        let know_each_other =
            (0..2).all(|i| self.ends[i].peer.as_ref().is_some_and(|peer| peer.boot == boots[1 - i]));
        if !know_each_other {
            return;
        }
        for (here, there) in [(0, 1), (1, 0)] {
            if let Some((epoch, spi)) = self.installed[here].sending {
                let receiving = self.installed[there].receiving.get(&spi);
                assert_eq!(receiving, Some(&epoch), "nobody receives what end {here} sends");
                assert!(epoch >= self.installed[there].retired, "end {here} sends under a retired key");
            }
        }
    }

    fn run(&mut self, milliseconds: usize, mut fate: impl FnMut() -> (usize, u64)) {
        for _ in 0..milliseconds {
            self.step(&mut fate);
        }
    }

    fn epochs(&self) -> [Option<u64>; 2] {
        [0, 1].map(|i| self.installed[i].sending.map(|(epoch, _)| epoch))
    }
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
fn a_key_can_be_changed_out_of_turn() {
    let mut world = World::new();
    world.run(50, good_wire);
    let before = world.epochs()[0].unwrap();
    world.ends[0].change_now(world.now);
    world.run(10, good_wire);
    assert_eq!(world.epochs(), [Some(before + 1); 2]);
}

#[test]
fn a_key_that_either_end_has_worn_is_changed_once() {
    for which in [0, 1] {
        let mut world = World::new();
        world.run(20, good_wire);
        let before = world.epochs()[which].unwrap();
        for _ in 0..40 {
            // The link says so again and again, also while the new key is being installed.
            let now = world.now;
            world.ends[which].worn(before, now);
            world.run(1, good_wire);
        }
        assert_eq!(world.epochs(), [Some(before + 1); 2]);
    }
}

#[test]
fn a_slave_whose_key_is_worn_says_so_until_there_is_an_offer() {
    let mut world = World::new();
    // No key is due by its age.
    world.ends[0].set_interval(Duration::from_secs(3600), world.now);
    world.run(3000, good_wire);
    let before = world.epochs()[1].unwrap();
    let now = world.now;
    world.ends[1].worn(before, now);
    world.run(1000, || (0, 1));
    assert_eq!(world.epochs(), [Some(before); 2], "nothing arrives");
    world.run(1100, good_wire);
    assert_eq!(world.epochs(), [Some(before + 1); 2]);
    let sent = world.recorded.len();
    world.run(5000, good_wire);
    assert_eq!(world.recorded.len(), sent, "all is said");
}

#[test]
fn a_key_that_is_not_the_present_one_cannot_be_worn() {
    let mut world = World::new();
    world.ends[0].set_interval(Duration::from_secs(3600), world.now);
    world.run(3000, good_wire);
    let before = world.epochs();
    let now = world.now;
    for end in &mut world.ends {
        for epoch in [0, before[0].unwrap() - 1, before[0].unwrap() + 1, u64::MAX] {
            end.worn(epoch, now);
        }
    }
    world.ends[1].tell_peer(Say::Worn { epoch: before[0].unwrap() - 1 });
    world.ends[0].tell_peer(Say::Worn { epoch: before[0].unwrap() });
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
fn a_source_that_does_not_answer_is_asked_for_no_more_than_there_is_room_for() {
    let mut world = World::new();
    world.slave_source_takes = Duration::from_secs(3600);
    // Each start of the master offers another key.
    for _ in 0..2 * KEPT {
        world.run(100, good_wire);
        world.restart(0);
    }
    assert_eq!(world.asked.len(), KEPT);
    world.run(500, good_wire);
    assert!(world.installed[1].events.iter().any(|event| matches!(event, Event::Refused(_, Refusal::NoKey))));
}

#[test]
fn whatever_comes_again_changes_nothing() {
    let mut world = World::new();
    world.run(1000, good_wire);
    world.restart(1);
    world.run(1000, good_wire);
    world.restart(0);
    world.run(1000, good_wire);
    let (now, epoch) = (world.now, world.epochs()[1].unwrap());
    world.ends[1].worn(epoch, now);
    world.run(1000, good_wire);
    let recorded = world.recorded.clone();
    assert!(recorded.len() > 100);
    world.wire.clear();
    let now = world.now;
    for (to, bytes) in recorded.iter().chain(recorded.iter().rev()) {
        for to in [*to, 1 - *to] {
            world.ends[to].receive(bytes, now);
            let harmless = world.ends[to].actions().all(|action| matches!(action, Action::Send(_)));
            assert!(harmless, "a message that came before had an effect");
        }
    }
    world.run(1000, good_wire);
    let [master, slave] = world.epochs();
    assert!(master == slave && master.unwrap() > 10);
}

#[test]
fn an_end_that_starts_anew_is_back_within_milliseconds() {
    for which in [0, 1] {
        let mut world = World::new();
        world.run(500, good_wire);
        world.restart(which);
        world.run(150, good_wire);
        assert!(
            world.epochs().iter().all(|epoch| epoch.is_some_and(|epoch| epoch <= 3)),
            "{:?}",
            world.epochs()
        );
    }
}

#[test]
fn an_end_without_another_says_hello_and_nothing_else() {
    let now = Instant::now();
    let mut master = end(Role::Master, now);
    master.add_key(SourceKey { id: "key".into(), key: key_of("key") });
    for i in 0..60_000 {
        master.tick(now + Duration::from_millis(i));
    }
    let sent = master.actions().filter(|action| matches!(action, Action::Send(_))).count();
    assert!((50..80).contains(&sent), "{sent} in a minute");
}

#[test]
fn keys_that_are_not_the_same_at_both_ends_are_never_used() {
    let mut world = World::new();
    world.run(300, good_wire);
    let before = world.epochs();
    world.slave_source = |_| Some(Zeroizing::new(vec![9; 32]));
    world.run(2000, good_wire);
    // The slave's source gives one wrong key again and again; that is noticed the second time.
    assert!(world.installed[0].events.iter().any(|event| matches!(event, Event::Disagree(_))));
    assert!(world.installed[1].events.contains(&Event::Repeated));
    let worst = before[0].unwrap() + 2; // what was fetched ahead while all was well
    assert!(world.epochs().iter().all(|epoch| epoch.unwrap() <= worst));
    world.slave_source = |id| Some(key_of(id));
    world.run(12_000, good_wire);
    assert!(world.epochs()[0].unwrap() > worst, "it does not come back");
}

#[test]
fn keys_that_the_slave_does_not_get_are_refused_and_the_old_one_stays() {
    let mut world = World::new();
    world.run(300, good_wire);
    world.slave_source = |_| None;
    let before = world.epochs()[0].unwrap();
    world.run(3000, good_wire);
    let refused = |event: &Event| matches!(event, Event::Refused(_, Refusal::NoKey));
    assert!(world.installed[0].events.iter().filter(|event| refused(event)).count() > 2);
    assert!(world.epochs().iter().all(|epoch| epoch.unwrap() <= before + 2));
}

#[test]
fn a_key_that_was_there_before_is_not_offered() {
    let now = Instant::now();
    let mut master = end(Role::Master, now);
    let key = SourceKey { id: "one".into(), key: key_of("one") };
    master.add_key(key.clone());
    master.add_key(SourceKey { id: "two".into(), ..key });
    assert_eq!(master.wants(4), 3);
    assert!(matches!(master.actions().last(), Some(Action::Tell(Event::Repeated))));
}

#[test]
fn ends_of_different_algorithms_have_no_key() {
    let mut world = World::new();
    world.ends[1].transform = Transform::by_id("aes256-gcm").unwrap();
    world.run(1000, good_wire);
    assert_eq!(world.epochs(), [None, None]);
    assert!(world.installed[0].events.contains(&Event::Refused(1, Refusal::Suite)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Loss, doubling, delay and with it reordering, restarts of either end: there never is a moment at which one end sends
    /// what the other does not receive under, and when the wire is good again, keys change again.
    #[test]
    fn no_wire_makes_an_end_send_what_the_other_does_not_open(
        seed in any::<u64>(),
        loss in 0_u64..90,
        most_delay in 1_u64..300,
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
            (copies, 1 + dice(most_delay))
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
