//! Tests of the peer's address against a reference: it is the source of the peer's latest message at its first
//! arrival.

use std::collections::HashSet;

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
    /// The peer answers the latest challenge.
    Welcome,
    /// The network delivers one of the messages that the peer has sent, for the first time or again, from this
    /// address.
    Deliver(prop::sample::Index, u8),
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
        1 => Just(Step::Welcome),
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
    challenge: Option<Id>,
    /// The challenge whose answer arrived last.
    answered: Option<Id>,
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
            challenge: None,
            answered: None,
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
            Step::Welcome => {
                if let Some(challenge) = self.challenge {
                    self.send(Say::Welcome { challenge, versions: Versions::current() });
                }
            }
            Step::Deliver(index, from) => self.deliver(*index, address(*from)),
            Step::Forgery(from) => {
                let stranger = Codec::new(&Root::new(&[6; 32]), Role::Slave);
                let say = Say::Hello { challenge: Id::default(), versions: Versions::current() };
                let message = Message { from: PEER, to: Id::default(), count: u64::MAX, say };
                self.end.receive(&stranger.write(&message), address(*from), self.now);
            }
            Step::Packet(from) => {
                self.end.heard_from(address(*from));
                if self.is_met {
                    self.expected = Some(address(*from));
                }
            }
            Step::Pass(milliseconds) => self.now += Duration::from_millis(*milliseconds),
        }
        self.end.tick(self.now);
        self.act();
        assert_eq!(self.end.address(), self.expected, "after {step:?}");
    }

    /// Returns whether a challenge is the end's latest, and was not answered yet.
    fn is_open(&self, challenge: Id) -> bool {
        self.challenge == Some(challenge) && self.answered != Some(challenge)
    }

    fn deliver(&mut self, index: prop::sample::Index, source: SocketAddr) {
        if self.sent.is_empty() {
            return;
        }
        let message = &self.sent[index.index(self.sent.len())];
        let is_answer = matches!(message.say, Say::Welcome { challenge, .. } if self.is_open(challenge));
        let is_stale_answer = matches!(message.say, Say::Welcome { .. }) && !is_answer;
        let is_new = self.arrived.insert(message.count);
        let is_later = is_new && self.is_met && message.count > self.newest && !is_stale_answer;
        if is_answer {
            self.answered = self.challenge;
        }
        if is_answer || is_later {
            self.is_met = true;
            self.newest = message.count;
            self.expected = Some(source);
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
            if let Action::Send(datagram, _) = action
                && let Some(Message { say: Say::Hello { challenge, .. }, .. }) = codec.read(datagram)
            {
                self.challenge = Some(challenge);
            }
        }
        actions
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Messages may be lost, delayed, reordered, copied, and sent on from any address. Forgeries and copies move
    /// nothing.
    #[test]
    fn the_peer_is_where_its_latest_message_came_from(steps in prop::collection::vec(step(), 1..80)) {
        let mut scene = Scene::new();
        for step in steps {
            scene.execute(&step);
        }
    }
}

#[test]
fn a_living_peer_is_not_moved_by_a_name_server_and_a_dead_one_is() {
    let mut scene = Scene::new();
    scene.end.set_liveness(Liveness::DEFAULT, scene.now);
    scene.end.set_address(address(1), scene.now);
    assert_eq!(scene.end.address(), Some(address(1)));
    scene.act();
    let challenge = scene.challenge.expect("a challenge");
    scene.send(Say::Welcome { challenge, versions: Versions::current() });
    let welcome = scene.peer.write(&scene.sent[0]);
    assert!(scene.end.receive(&welcome, address(2), scene.now));
    scene.end.set_address(address(3), scene.now);
    assert_eq!(scene.end.address(), Some(address(2)), "the answer is more recent than the name server");
    let dead = scene.now + Liveness::DEFAULT.dead;
    scene.end.set_address(address(3), dead);
    assert_eq!(scene.end.address(), Some(address(3)));
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
        let mut scene = Scene::new();
        scene.end.set_address(address(1), scene.now);
        scene.act();
        let challenge = scene.challenge.expect("a challenge");
        scene.send(Say::Welcome { challenge, versions: Versions::current() });
        let welcome = scene.peer.write(&scene.sent[0]);
        assert!(scene.end.receive(&welcome, address(1), scene.now));
        scene.act();
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
