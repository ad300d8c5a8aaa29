//! Tests of the peer's address against a reference: it is the source of the peer's latest answer to a challenge that
//! was sent there.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::message::{Codec, Id, Message};
use super::*;
use crate::derive::Root;

const CONTROL_KEY: [u8; 32] = [5; 32];
const PEER: Id = Id([8; 16]);

fn address(number: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, number], 4500))
}

/// What can happen to an end.
#[derive(Clone, Debug)]
enum Step {
    /// The peer sends a challenge.
    Hello,
    /// The peer sends another message.
    Worn,
    /// The peer answers one of the challenges that were sent to any address.
    Welcome(prop::sample::Index),
    /// The network delivers one of the messages that the peer has sent, for the first time or again, from this
    /// address.
    Deliver(prop::sample::Index, u8),
    /// The network delivers one of the peer's answers from the address to which its challenge was sent.
    Return(prop::sample::Index),
    /// A message authenticated with another key arrives from this address.
    Forgery(u8),
    /// A packet of the peer from this address was verified.
    Packet(u8),
    /// This many milliseconds pass.
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => Just(Step::Hello),
        1 => Just(Step::Worn),
        2 => any::<prop::sample::Index>().prop_map(Step::Welcome),
        2 => any::<prop::sample::Index>().prop_map(Step::Return),
        4 => (any::<prop::sample::Index>(), 10_u8..16).prop_map(|(index, from)| Step::Deliver(index, from)),
        1 => (10_u8..16).prop_map(Step::Forgery),
        1 => (10_u8..16).prop_map(Step::Packet),
        1 => (1_u64..400).prop_map(Step::Pass),
    ]
}

struct Scene {
    now: Instant,
    end: Control,
    peer: Codec,
    sent: Vec<Message>,
    /// The challenges, in order, and the address that each was sent to.
    challenges: Vec<Id>,
    asked: HashMap<Id, SocketAddr>,
    /// The challenges that were sent since the last answer.
    open: HashSet<Id>,
    /// The counters of the messages that have arrived.
    arrived: HashSet<u64>,
    /// The highest counter that has arrived since the peer is known.
    newest: u64,
    is_met: bool,
    expected: Option<SocketAddr>,
}

impl Scene {
    /// Creates an end whose peer is absent from its configuration.
    fn new() -> Self {
        let now = Instant::now();
        let settings = Settings {
            role: Role::Master,
            transform: Transform::by_id("aes128-gcm").unwrap(),
            extended: true,
            single_use: true,
            control_key: &CONTROL_KEY,
            every: Duration::from_secs(3600),
            liveness: Liveness { dead: Duration::from_secs(3600), ..Liveness::DEFAULT },
            slot: None,
        };
        Self {
            now,
            end: Control::new(&settings, now),
            peer: Codec::new(&Root::new(&CONTROL_KEY), Role::Slave),
            sent: Vec::new(),
            challenges: Vec::new(),
            asked: HashMap::new(),
            open: HashSet::new(),
            arrived: HashSet::new(),
            newest: 0,
            is_met: false,
            expected: None,
        }
    }

    fn send(&mut self, say: Say) {
        let count = self.sent.len() as u64 + 1;
        self.sent.push(Message { from: PEER, to: self.end.end.boot, count, say });
    }

    fn execute(&mut self, step: &Step) {
        match step {
            Step::Hello => self.send(Say::Hello { challenge: Id([1; 16]), versions: Versions::current() }),
            Step::Worn => self.send(Say::SoftLimit { epoch: 1 }),
            Step::Welcome(index) => {
                if !self.challenges.is_empty() {
                    self.answer(self.challenges[index.index(self.challenges.len())]);
                }
            }
            Step::Deliver(index, from) => {
                if !self.sent.is_empty() {
                    self.deliver(index.index(self.sent.len()), address(*from));
                }
            }
            Step::Return(index) => {
                let answers: Vec<(usize, SocketAddr)> = self.answers().collect();
                if !answers.is_empty() {
                    let (which, from) = answers[index.index(answers.len())];
                    self.deliver(which, from);
                }
            }
            Step::Forgery(from) => {
                let stranger = Codec::new(&Root::new(&[6; 32]), Role::Slave);
                let say = Say::Hello { challenge: Id::default(), versions: Versions::current() };
                let message = Message { from: PEER, to: Id::default(), count: u64::MAX, say };
                self.end.receive(&stranger.write(&message), address(*from), self.now);
            }
            Step::Packet(from) => self.end.heard_from(address(*from), self.now),
            Step::Pass(milliseconds) => self.now += Duration::from_millis(*milliseconds),
        }
        self.end.tick(self.now);
        self.act();
        assert_eq!(self.end.address(), self.expected, "after {step:?}");
    }

    fn answer(&mut self, challenge: Id) {
        self.send(Say::Welcome { challenge, versions: Versions::current() });
    }

    /// Returns the numbers of the peer's answers, each with the address to which the challenge was sent.
    fn answers(&self) -> impl Iterator<Item = (usize, SocketAddr)> {
        self.sent.iter().enumerate().filter_map(|(which, message)| match message.say {
            Say::Welcome { challenge, .. } => Some((which, self.asked[&challenge])),
            _ => None,
        })
    }

    fn deliver(&mut self, which: usize, source: SocketAddr) {
        let message = &self.sent[which];
        let is_new = self.arrived.insert(message.count);
        match message.say {
            _ if !is_new => {}
            Say::Welcome { challenge, .. } => {
                let was_asked_at = self.asked[&challenge];
                if self.open.contains(&challenge)
                    && (was_asked_at == source || Some(was_asked_at) == self.expected)
                {
                    if was_asked_at == source && message.count > self.newest {
                        self.expected = Some(source);
                    }
                    self.newest = message.count;
                    self.is_met = true;
                    self.open.clear();
                }
            }
            _ if self.is_met => self.newest = self.newest.max(message.count),
            _ => {}
        }
        let datagram = self.peer.write(message);
        self.end.receive(&datagram, source, self.now);
        for action in self.act() {
            if let Action::Send(_, to) = action {
                assert!(to == source || Some(to) == self.end.address(), "an answer to {to}");
            }
        }
    }

    fn act(&mut self) -> Vec<Action> {
        let actions: Vec<Action> = self.end.actions().collect();
        let codec = Codec::new(&Root::new(&CONTROL_KEY), Role::Slave);
        for action in &actions {
            if let Action::Send(datagram, to) = action
                && let Some(Message { say: Say::Hello { challenge, .. }, .. }) = codec.read(datagram)
            {
                self.challenges.push(challenge);
                self.asked.insert(challenge, *to);
                self.open.insert(challenge);
            }
        }
        actions
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Messages may be lost, delayed, reordered, copied, and sent on from any address. Nothing but an answer moves the
    /// peer.
    #[test]
    fn the_peer_is_where_it_has_answered(steps in prop::collection::vec(step(), 1..80)) {
        let mut scene = Scene::new();
        for step in steps {
            scene.execute(&step);
        }
    }
}

/// Returns an end whose peer has answered from the address of host 1.
fn met() -> Scene {
    let mut scene = Scene::new();
    scene.end.set_address(address(1), scene.now);
    scene.expected = Some(address(1));
    scene.act();
    scene.answer(scene.challenges[0]);
    scene.deliver(0, address(1));
    assert!(scene.is_met);
    scene
}

#[test]
fn a_living_peer_is_not_moved_by_a_name_server_and_a_dead_one_is() {
    let mut scene = met();
    scene.end.set_liveness(Liveness::DEFAULT, scene.now);
    scene.end.set_address(address(3), scene.now);
    assert_eq!(scene.end.address(), Some(address(1)), "the answer is more recent than the name server");
    let dead = scene.now + Liveness::DEFAULT.dead;
    scene.end.set_address(address(3), dead);
    assert_eq!(scene.end.address(), Some(address(3)));
}

#[test]
fn a_peer_that_has_moved_is_followed_once_it_has_answered_there() {
    for step in [Step::Hello, Step::Worn, Step::Packet(2)] {
        let mut scene = met();
        let asked = scene.challenges.len();
        scene.execute(&step);
        if scene.sent.len() > 1 {
            scene.deliver(1, address(2));
        }
        assert_eq!(scene.end.address(), Some(address(1)), "{step:?} may have been withheld");
        assert_eq!(scene.asked[&scene.challenges[asked]], address(2));
        scene.answer(scene.challenges[asked]);
        scene.deliver(scene.sent.len() - 1, address(2));
        assert_eq!(scene.end.address(), Some(address(2)), "{step:?}");
    }
}

/// The mapping of a NAT may change just then.
#[test]
fn an_answer_from_elsewhere_is_a_sign_of_life_and_moves_nothing() {
    let mut scene = met();
    scene.end.set_liveness(Liveness::DEFAULT, scene.now);
    scene.now += Liveness::DEFAULT.interval;
    scene.end.tick(scene.now);
    scene.act();
    let asked = scene.challenges.len();
    scene.answer(scene.challenges[asked - 1]);
    scene.deliver(1, address(2));
    assert_eq!((scene.end.address(), scene.end.heard()), (Some(address(1)), Some(scene.now)));
    assert_eq!(scene.asked[&scene.challenges[asked]], address(2), "but it is asked there");
}

/// Someone who has the control key can send messages with any counter.
#[test]
fn a_forged_counter_keeps_the_peer_from_being_followed_only_until_its_next_answers() {
    let mut scene = met();
    let say = Say::SoftLimit { epoch: 1 };
    let forged = Message { from: PEER, to: scene.end.end.boot, count: u64::MAX, say };
    scene.end.receive(&scene.peer.write(&forged), address(1), scene.now);
    for step in 0..2 {
        let asked = scene.challenges.len();
        scene.end.presence.ask(&mut scene.end.end, address(2), scene.now);
        scene.act();
        scene.answer(scene.challenges[asked]);
        let answer = scene.peer.write(scene.sent.last().expect("an answer"));
        scene.end.receive(&answer, address(2), scene.now);
        scene.act();
        assert_eq!(scene.end.address() == Some(address(2)), step == 1);
    }
}

#[test]
fn an_end_that_waits_for_its_peer_sends_nothing_until_it_is_asked() {
    let mut scene = Scene::new();
    for _ in 0..100 {
        scene.now += Duration::from_millis(100);
        scene.end.tick(scene.now);
        assert!(scene.act().iter().all(|action| !matches!(action, Action::Send(..))));
    }
    scene.send(Say::Hello { challenge: Id([1; 16]), versions: Versions::current() });
    let hello = scene.peer.write(&scene.sent[0]);
    scene.end.receive(&hello, address(7), scene.now);
    let sent = scene.act();
    let to_peer = |action: &&Action| matches!(action, Action::Send(_, to) if *to == address(7));
    assert_eq!(sent.iter().filter(to_peer).count(), 2, "an answer and a challenge");
    assert_eq!(scene.end.address(), None, "the challenge may be a copy");
}

#[test]
fn a_peer_that_has_moved_is_challenged_there_at_once_but_not_by_copies() {
    for kind in [Step::Worn, Step::Hello] {
        let mut scene = met();
        let challenged = |scene: &mut Scene, sent: usize, from: u8| {
            let datagram = scene.peer.write(&scene.sent[sent]);
            scene.end.receive(&datagram, address(from), scene.now);
            let codec = Codec::new(&Root::new(&CONTROL_KEY), Role::Slave);
            let is_challenge = |action: &Action| match action {
                Action::Send(datagram, to) => {
                    let is_hello =
                        matches!(codec.read(datagram), Some(Message { say: Say::Hello { .. }, .. }));
                    is_hello && *to == address(from)
                }
                _ => false,
            };
            scene.act().iter().any(is_challenge)
        };
        for _ in 0..3 {
            match kind {
                Step::Hello => {
                    scene.send(Say::Hello { challenge: Id([1; 16]), versions: Versions::current() });
                }
                _ => scene.send(Say::SoftLimit { epoch: 1 }),
            }
        }
        assert!(!challenged(&mut scene, 1, 1), "the peer is where it was");
        assert!(challenged(&mut scene, 2, 2), "{kind:?}");
        assert!(!challenged(&mut scene, 2, 3), "a copy moves nothing");
        assert!(!challenged(&mut scene, 3, 4), "at most one in 40 ms");
        scene.now += FIRST_WAIT;
        scene.send(Say::SoftLimit { epoch: 1 });
        assert!(challenged(&mut scene, 4, 5));
    }
}
