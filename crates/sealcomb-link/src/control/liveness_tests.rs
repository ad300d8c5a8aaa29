//! Tests of dead-peer detection against a reference that keeps the whole history.

use proptest::prelude::*;

use super::message::{Codec, Id, Message};
use super::*;
use crate::derive::Root;

const CONTROL_KEY: [u8; 32] = [5; 32];
const LIVENESS: Liveness =
    Liveness { interval: Duration::from_millis(200), dead: Duration::from_secs(1), nat_keepalive: None };
const TICK: Duration = Duration::from_millis(20);
const PEER: Id = Id([8; 16]);
const ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 4500);

/// What can happen to an end.
#[derive(Clone, Debug)]
enum Step {
    /// This many ticks pass.
    Pass(u32),
    /// The peer answers the latest challenge.
    Answer,
    /// A copy of the peer's latest answer arrives.
    CopiedAnswer,
    /// The peer answers the challenge before the latest one, in a new message.
    LateAnswer,
    /// The peer sends a challenge.
    Hello,
    /// A forged message arrives.
    Forgery,
    /// A packet of the peer was verified this many ticks ago.
    Traffic(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1_u32..90).prop_map(Step::Pass),
        3 => Just(Step::Answer),
        1 => Just(Step::CopiedAnswer),
        1 => Just(Step::LateAnswer),
        1 => Just(Step::Hello),
        1 => Just(Step::Forgery),
        2 => (0_u32..20).prop_map(Step::Traffic),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Met,
    Dead,
    Back,
}

/// The reference: all signs of life, from which everything else follows.
struct Reference {
    signs: Vec<Instant>,
    /// The times of the peer's answers.
    answers: Vec<Instant>,
    is_met: bool,
    edges: Vec<Edge>,
}

impl Reference {
    fn heard(&self) -> Instant {
        *self.signs.iter().max().expect("the start counts as a sign")
    }

    fn answered(&self) -> Instant {
        *self.answers.iter().max().expect("the start counts as an answer")
    }

    fn owes_answer(&self, at: Instant) -> bool {
        self.answers.iter().all(|answer| at >= *answer + LIVENESS.dead * 3)
    }

    fn is_dead(&self, now: Instant) -> bool {
        self.signs.iter().all(|sign| now >= *sign + LIVENESS.dead) || self.owes_answer(now)
    }

    fn answer(&mut self, now: Instant) {
        self.answers.push(now);
        self.sign(now);
    }

    fn packet(&mut self, at: Instant) {
        if self.is_met && !self.owes_answer(at) {
            self.sign(at);
        }
    }

    fn tick(&mut self, now: Instant) {
        if self.is_dead(now) && self.edges.last() != Some(&Edge::Dead) {
            self.edges.push(Edge::Dead);
        }
    }

    fn sign(&mut self, at: Instant) {
        let is_later = at > self.heard();
        self.signs.push(at);
        if !self.is_met {
            self.is_met = true;
            self.edges.push(Edge::Met);
        } else if is_later && self.edges.last() == Some(&Edge::Dead) {
            self.edges.push(Edge::Back);
        }
    }
}

/// An end, its reference, and a scripted peer.
struct Scene {
    now: Instant,
    end: Control,
    peer: Codec,
    reference: Reference,
    count: u64,
    /// The challenges that the end has sent, without repetitions.
    challenges: Vec<Id>,
    /// When the latest of them was sent first.
    challenged: Option<Instant>,
    asked: Option<Instant>,
    /// The challenge that the peer answered last.
    accepted: Option<Id>,
    answered: Option<Vec<u8>>,
    edges: Vec<Edge>,
}

impl Scene {
    fn new() -> Self {
        let now = Instant::now();
        let settings = Settings {
            role: Role::Slave,
            transform: Transform::by_id("aes128-gcm").unwrap(),
            extended: true,
            single_use: true,
            control_key: &CONTROL_KEY,
            every: Duration::from_secs(3600),
            liveness: LIVENESS,
            slot: None,
        };
        let mut end = Control::new(&settings, now);
        end.set_address(ADDRESS, now);
        let mut scene = Self {
            now,
            end,
            peer: Codec::new(&Root::new(&CONTROL_KEY), Role::Master),
            reference: Reference { signs: vec![now], answers: vec![now], is_met: false, edges: Vec::new() },
            count: 0,
            challenges: Vec::new(),
            challenged: None,
            asked: None,
            accepted: None,
            answered: None,
            edges: Vec::new(),
        };
        assert!(scene.act(), "the first challenge");
        scene
    }

    /// Executes the end's actions. Returns whether it sent a challenge.
    fn act(&mut self) -> bool {
        let mut has_asked = false;
        for action in self.end.actions() {
            match action {
                Action::Move(_) => {}
                Action::Send(datagram, address) => {
                    let message = Codec::new(&Root::new(&CONTROL_KEY), Role::Master).read(&datagram).unwrap();
                    assert_eq!(address, ADDRESS);
                    if let Say::Hello { challenge, .. } = message.say {
                        has_asked = true;
                        if self.challenges.last() != Some(&challenge) {
                            self.challenges.push(challenge);
                            self.challenged = Some(self.now);
                        }
                    }
                }
                Action::Report(event) => {
                    let edge = match event {
                        Event::Met => Edge::Met,
                        Event::Dead(_) => Edge::Dead,
                        Event::Back(_) => Edge::Back,
                        other => panic!("{other:?}"),
                    };
                    // A more specific cause of a silence is another event, but not another edge.
                    if (edge, self.edges.last()) != (Edge::Dead, Some(&Edge::Dead)) {
                        self.edges.push(edge);
                    }
                }
                _ => panic!("an effect on keys"),
            }
        }
        if has_asked {
            self.asked = Some(self.now);
        }
        has_asked
    }

    fn message(&mut self, say: Say) -> Vec<u8> {
        self.count += 1;
        let to = self.end.end.boot;
        self.peer.write(&Message { from: PEER, to, count: self.count, say })
    }

    fn receive(&mut self, datagram: &[u8]) -> bool {
        self.end.receive(datagram, ADDRESS, self.now);
        self.act()
    }

    fn execute(&mut self, step: &Step) {
        match step {
            Step::Pass(ticks) => (0..*ticks).for_each(|_| self.tick()),
            Step::Answer => {
                if let Some(challenge) = self.challenges.last().copied() {
                    let datagram = self.message(Say::Welcome { challenge, versions: Versions::current() });
                    // An answer that is older may have been withheld.
                    let is_fresh = self.challenged.is_some_and(|at| self.now < at + Duration::from_secs(2));
                    if self.accepted != Some(challenge) && is_fresh {
                        self.accepted = Some(challenge);
                        self.reference.answer(self.now);
                    }
                    self.receive(&datagram);
                    self.answered = Some(datagram);
                }
            }
            Step::CopiedAnswer => {
                if let Some(datagram) = self.answered.clone() {
                    self.receive(&datagram);
                }
            }
            Step::LateAnswer => {
                if let [.., challenge, _] = self.challenges[..] {
                    let datagram = self.message(Say::Welcome { challenge, versions: Versions::current() });
                    self.receive(&datagram);
                }
            }
            Step::Hello => {
                let is_wanted = self.end.end.peer.is_none() || self.end.is_peer_dead(self.now);
                let datagram =
                    self.message(Say::Hello { challenge: Id([1; 16]), versions: Versions::current() });
                assert_eq!(self.receive(&datagram), is_wanted);
            }
            Step::Forgery => {
                let stranger = Codec::new(&Root::new(&[6; 32]), Role::Master);
                let say = Say::Hello { challenge: Id::default(), versions: Versions::current() };
                let message = Message { from: PEER, to: Id::default(), count: 1, say };
                self.receive(&stranger.write(&message));
            }
            Step::Traffic(ticks) => {
                let at = self.now.checked_sub(TICK * *ticks).expect("the machine has run for a while");
                self.end.heard_traffic(at);
                self.reference.packet(at);
                self.act();
            }
        }
        self.check();
    }

    fn tick(&mut self) {
        self.now += TICK;
        self.end.tick(self.now);
        let has_asked = self.act();
        self.reference.tick(self.now);
        let due = self.reference.heard() + LIVENESS.interval;
        let due = due.min(self.reference.answered() + LIVENESS.dead);
        assert!(!has_asked || self.now >= due || !self.reference.is_met, "asks an audible peer");
        let is_late = self.asked.is_none_or(|asked| self.now > asked.max(due) + MAX_WAIT + TICK);
        assert!(!is_late, "does not ask a silent peer");
        self.check();
    }

    fn check(&self) {
        assert_eq!(self.end.is_peer_dead(self.now), self.reference.is_dead(self.now));
        assert_eq!(self.end.heard(), self.reference.is_met.then(|| self.reference.heard()));
        assert_eq!(self.edges, self.reference.edges);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// In any order of events, the peer is dead exactly if there was no sign of life within the dead time or no answer
    /// within three of them, and each change is reported once.
    #[test]
    fn the_peer_is_dead_exactly_if_it_was_not_heard_within_the_dead_time(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut scene = Scene::new();
        for step in steps {
            scene.execute(&step);
        }
    }
}

/// Returns an end whose peer has just answered.
fn met() -> Scene {
    let mut scene = Scene::new();
    scene.execute(&Step::Pass(1));
    scene.execute(&Step::Answer);
    scene
}

#[test]
fn a_peer_that_sends_packets_is_asked_once_per_dead_time() {
    let mut scene = met();
    let (start, asked) = (scene.now, scene.challenges.len());
    for _ in 0..1000 {
        scene.execute(&Step::Traffic(0));
        scene.execute(&Step::Pass(1));
        scene.execute(&Step::Answer);
    }
    assert_eq!(scene.edges, [Edge::Met]);
    let dead_times = (scene.now - start).as_secs() / LIVENESS.dead.as_secs();
    let asked = scene.challenges.len() - asked;
    assert!(asked as u64 <= dead_times, "{asked} challenges in {dead_times} dead times");
}

#[test]
fn packets_that_were_withheld_do_not_keep_a_dead_peer_alive() {
    // From each tick to just below the dead time.
    for ticks in 1..50 {
        let mut scene = met();
        let (died, asked) = (scene.now, scene.asked);
        for _ in 0..1000 / ticks {
            scene.execute(&Step::Pass(ticks));
            scene.execute(&Step::Traffic(0));
            let silence = scene.now - died;
            let is_dead = scene.end.is_peer_dead(scene.now);
            assert_eq!(is_dead, silence >= LIVENESS.dead * 3, "{ticks} ticks, {silence:?}");
        }
        assert_eq!(scene.edges, [Edge::Met, Edge::Dead], "{ticks} ticks");
        assert!(scene.asked > asked);
        assert_eq!(scene.end.presence.cause(), Silence::Unanswered);
        scene.execute(&Step::Answer);
        assert_eq!(scene.edges, [Edge::Met, Edge::Dead, Edge::Back]);
        scene.execute(&Step::Pass(ticks));
        scene.execute(&Step::Traffic(0));
        assert!(!scene.end.is_peer_dead(scene.now), "{ticks} ticks");
    }
}

#[test]
fn an_answer_that_was_withheld_is_no_sign_of_life_later() {
    for ticks in [1, 50, 99, 100, 101, 500] {
        let mut scene = met();
        while !scene.act() {
            scene.now += TICK;
            scene.end.tick(scene.now);
        }
        let (asked, challenge) = (scene.now, *scene.challenges.last().unwrap());
        let answer = scene.message(Say::Welcome { challenge, versions: Versions::current() });
        for _ in 0..ticks {
            scene.now += TICK;
            scene.end.tick(scene.now);
        }
        let is_fresh = scene.now - asked < Duration::from_secs(2);
        let is_alive = |scene: &Scene| !scene.end.is_peer_dead(scene.now);
        assert_eq!(is_alive(&scene), scene.now - asked + LIVENESS.interval < LIVENESS.dead);
        scene.end.receive(&answer, ADDRESS, scene.now);
        assert_eq!(is_alive(&scene), is_fresh, "{ticks} ticks");
    }
}

#[test]
fn packets_from_before_the_first_answer_are_no_sign_of_life() {
    let mut scene = Scene::new();
    for _ in 0..60 {
        scene.execute(&Step::Pass(1));
        scene.execute(&Step::Traffic(0));
    }
    assert_eq!(scene.edges, [Edge::Dead]);
}

#[test]
fn another_dead_time_applies_at_once() {
    let mut scene = Scene::new();
    scene.execute(&Step::Pass(1));
    scene.execute(&Step::Answer);
    let heard = scene.now;
    let longer = Duration::from_secs(60);
    let before = longer.checked_sub(TICK).expect("it is longer");
    scene.end.set_liveness(Liveness { dead: longer, ..LIVENESS }, heard);
    assert!(!scene.end.is_peer_dead(heard + before) && scene.end.is_peer_dead(heard + longer));
}

#[test]
fn a_living_peer_is_asked_before_a_shorter_dead_time_applies() {
    let mut scene = Scene::new();
    let (interval, dead) = (Duration::from_secs(600), Duration::from_secs(3600));
    scene.end.set_liveness(Liveness { interval, dead, ..LIVENESS }, scene.now);
    scene.execute(&Step::Pass(1));
    scene.execute(&Step::Answer);
    scene.now += Duration::from_secs(300);
    scene.end.tick(scene.now);
    assert!(!scene.act(), "asked too early");
    scene.end.set_liveness(LIVENESS, scene.now);
    scene.end.tick(scene.now);
    assert!(scene.act(), "not asked");
    let end = scene.now + LIVENESS.dead;
    let before = end.checked_sub(TICK).expect("the machine has run for a while");
    assert!(!scene.end.is_peer_dead(before) && scene.end.is_peer_dead(end));
    assert_eq!(scene.edges, [Edge::Met]);
}
