//! The link's key exchange, with an attacker on the wire who may have the control key, but not the source's keys.
//!
//! ```text
//! line of the input    effect
//! t                    10 ms pass, and datagrams in flight arrive
//! l                    1 s passes in steps of 10 ms, and datagrams in flight arrive
//! d                    10 ms pass, and datagrams in flight are lost
//! h                    10 ms pass, and datagrams in flight are held back
//! u                    held-back datagrams arrive in reverse order
//! pN                   datagram N of all that were sent arrives again
//! f                    toggles continuous replay of all datagrams sent so far
//! k                    toggles a lack of keys in the slave's source
//! r, R                 the slave or the master restarts
//! w                    both ends reach the soft limit of their keys
//! x                    the attacker loses the control key: lines m, s, M and S have no effect
//! m SAY, s SAY         the master or the slave receives a message with this content, authenticated as the peer
//! M TEXT, S TEXT       the master or the slave receives this complete message, authenticated as the peer
//! others               both ends receive a datagram of these bytes
//! ```
//!
//! In SAY and TEXT, `@C`, `@E`, `@K`, `@N` and `@P` are replaced by the latest challenge, epoch, key name, nonce and
//! proof on the wire, `@A` and `@B` by the boot IDs of the master and the slave, and `@X` by the highest number.
//!
//! The attack ends with the input. Replay continues if it was on and the attacker had no control key, because replay
//! alone must not stop rekeying. Both ends must then rekey twice within [`MAX_RECOVERY`].

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use sealcomb_esp::Transform;
use sealcomb_link::config::{Liveness, Role};
use sealcomb_link::control::message::{Codec, Id, LONGEST, Say};
use sealcomb_link::control::{Action, Control, Settings, SourceKey};
use sealcomb_link::derive::Root;
use sha2::Sha256;

const CONTROL_KEY: [u8; 32] = [5; 32];
const ROLES: [Role; 2] = [Role::Master, Role::Slave];
const STEP: Duration = Duration::from_millis(10);
/// Maximum number of lines of an input that are executed.
const LINES: usize = 96;
/// Maximum number of datagrams that are recorded for replay.
const RECORDED: usize = 1000;
/// Number of datagrams replayed every 10 ms, in addition to challenges.
const COPIES: usize = 16;
/// Maximum number of recorded challenges, all of which are replayed every 10 ms.
const CHALLENGES: usize = 8;
/// Maximum time after an attack in which both ends must rekey twice. The longest pause of the protocol, after keys
/// were refused, is five seconds.
const MAX_RECOVERY: Duration = Duration::from_secs(8);
/// Maximum number of receive associations of an end whose peer confirms none.
const MAX_RECEIVING: usize = 8;

/// Runs a key exchange with the events that the lines of the input describe.
///
/// # Panics
/// If an end
/// - sends under an association that the peer never received under,
/// - returns to an older key or uses a key twice,
/// - answers one message with many or oversized ones, or accumulates associations,
/// - does not rekey after the attack.
pub(crate) fn run(bytes: &[u8]) -> u64 {
    let mut wire = Wire::new();
    for line in bytes.split(|byte| *byte == b'\n').take(LINES) {
        wire.execute(line);
    }
    wire.recover();
    wire.path.finish()
}

/// The associations that an end has used.
#[derive(Default)]
struct Done {
    /// The generation of the key that it sends under.
    sending: Option<u64>,
    /// The SPI that it sends to.
    sending_to: u32,
    /// The epochs and SPIs that it ever received under, with the generation of each.
    received: HashMap<(u64, u32), u64>,
    /// The SPIs that it receives under, by generation: `received` without those that were dropped or retired.
    receiving: HashMap<u64, u32>,
    /// The epochs and SPIs that it ever sent under.
    sent: Vec<(u64, u32)>,
    /// Number of times that its sending key changed.
    changes: u32,
}

/// The latest values seen in cleartext on the wire.
#[derive(Default)]
struct Seen {
    boots: [Id; 2],
    counts: [u64; 2],
    challenge: String,
    epoch: u64,
    key: String,
    nonce: String,
    proof: String,
}

struct Wire {
    now: Instant,
    ends: [Control; 2],
    done: [Done; 2],
    root: Root,
    /// Decoders for the messages of the master and of the slave.
    codecs: [Codec; 2],
    in_flight: Vec<(usize, Vec<u8>)>,
    held: Vec<(usize, Vec<u8>)>,
    recorded: Vec<(usize, Vec<u8>)>,
    /// Recorded challenges, which an end cannot distinguish from fresh ones.
    challenges: Vec<(usize, Vec<u8>)>,
    seen: Seen,
    source_is_empty: bool,
    repeats: bool,
    /// Number of recorded datagrams to replay. Later ones are not, since a copy could arrive in place of the
    /// original.
    old: usize,
    /// Number of datagrams replayed so far.
    repeated: usize,
    has_control_key: bool,
    keys: u64,
    path: DefaultHasher,
}

fn end(role: Role, now: Instant) -> Control {
    let transform = Transform::by_id("aes128-gcm").expect("a suite");
    let every = Duration::from_millis(50);
    let settings = Settings {
        role,
        transform,
        extended: true,
        single_use: true,
        control_key: &CONTROL_KEY,
        every,
        liveness: Liveness::DEFAULT,
        slot: None,
    };
    let mut control = Control::new(&settings, now);
    control.set_address(address(role.other()), now);
    control
}

/// The address of the end with this role.
fn address(role: Role) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, if role == Role::Master { 1 } else { 2 }], 4500))
}

/// Returns the key that both sources have for an id.
fn key(id: &str) -> SourceKey {
    let key = id.bytes().chain(std::iter::repeat(0)).take(32).collect::<Vec<u8>>().into();
    SourceKey { id: id.to_owned(), key }
}

impl Wire {
    fn new() -> Self {
        let now = Instant::now();
        let root = Root::new(&CONTROL_KEY);
        Self {
            now,
            ends: ROLES.map(|role| end(role, now)),
            done: Default::default(),
            codecs: ROLES.map(|role| Codec::new(&root, role.other())),
            root,
            in_flight: Vec::new(),
            held: Vec::new(),
            recorded: Vec::new(),
            challenges: Vec::new(),
            seen: Seen::default(),
            source_is_empty: false,
            repeats: false,
            old: 0,
            repeated: 0,
            has_control_key: true,
            keys: 0,
            path: DefaultHasher::new(),
        }
    }

    fn execute(&mut self, line: &[u8]) {
        let (kind, rest) = line.split_first().map_or((0, line), |(kind, rest)| (*kind, rest));
        kind.hash(&mut self.path);
        match kind {
            b't' if rest.is_empty() => self.arrive(),
            b'l' if rest.is_empty() => (0..100).for_each(|_| self.arrive()),
            b'd' if rest.is_empty() => {
                self.in_flight.clear();
                self.pass();
            }
            b'h' if rest.is_empty() => {
                self.held.append(&mut self.in_flight);
                self.pass();
            }
            b'u' if rest.is_empty() => {
                for (to, datagram) in std::mem::take(&mut self.held).into_iter().rev() {
                    self.deliver(to, &datagram);
                }
            }
            b'p' if rest.iter().all(u8::is_ascii_digit) => {
                let number = rest.iter().fold(0_usize, |number, digit| {
                    number.wrapping_mul(10).wrapping_add(usize::from(digit - b'0'))
                });
                self.repeat(number);
            }
            b'f' if rest.is_empty() => {
                self.repeats ^= true;
                self.old = self.recorded.len();
            }
            b'k' if rest.is_empty() => self.source_is_empty ^= true,
            b'r' if rest.is_empty() => self.restart(1),
            b'R' if rest.is_empty() => self.restart(0),
            b'x' if rest.is_empty() => self.has_control_key = false,
            b'w' if rest.is_empty() => {
                for which in 0..2 {
                    if let Some(generation) = self.done[which].sending {
                        self.ends[which].soft_limit_reached(generation, self.now);
                        self.act(which);
                    }
                }
            }
            b'm' | b's' | b'M' | b'S' => {
                if self.has_control_key {
                    let to = usize::from(kind.eq_ignore_ascii_case(&b's'));
                    let text = self.filled_in(&String::from_utf8_lossy(rest));
                    let text = if kind.is_ascii_lowercase() { self.message(to, &text) } else { text };
                    let datagram = self.signed(to, text.as_bytes());
                    self.deliver(to, &datagram);
                }
            }
            _ => (0..2).for_each(|to| self.deliver(to, line)),
        }
    }

    /// Ends the attack, then checks that both ends rekey twice in time, and that each receives what the other sends.
    fn recover(&mut self) {
        self.source_is_empty = false;
        self.held.clear();
        self.repeats &= !self.has_control_key;
        let end = self.now + MAX_RECOVERY;
        let before = [0, 1].map(|which| self.done[which].changes);
        while (0..2).any(|which| self.done[which].changes < before[which] + 2) {
            assert!(self.now < end, "the ends did not rekey twice within {MAX_RECOVERY:?} after the attack");
            self.arrive();
        }
        // Datagrams in flight arrive.
        self.arrive();
        self.arrive();
        for (here, there) in [(0, 1), (1, 0)] {
            let spi = self.done[here].sending_to;
            let is_received = self.done[there].receiving.values().any(|received| *received == spi);
            assert!(is_received, "end {here} sends to SPI {spi:#x}, which its peer no longer receives");
        }
    }

    fn restart(&mut self, which: usize) {
        self.ends[which] = end(ROLES[which], self.now);
        let Done { received, sent, changes, .. } = std::mem::take(&mut self.done[which]);
        self.done[which] = Done { received, sent, changes, ..Done::default() };
    }

    fn filled_in(&self, text: &str) -> String {
        let Seen { boots, challenge, epoch, key, nonce, proof, .. } = &self.seen;
        let [a, b] = boots.map(|boot| hex::encode(boot.0));
        let filled = text.replace("@C", challenge).replace("@E", &epoch.to_string()).replace("@K", key);
        let filled = filled.replace("@N", nonce).replace("@P", proof).replace("@A", &a).replace("@B", &b);
        filled.replace("@X", &u64::MAX.to_string())
    }

    /// Returns a message with this content to end `to`, with the boot IDs and the next count of its peer.
    fn message(&mut self, to: usize, say: &str) -> String {
        let Seen { boots, counts, .. } = &mut self.seen;
        let from = 1 - to;
        counts[from] = counts[from].saturating_add(1);
        let [from_boot, to_boot] = [from, to].map(|i| hex::encode(boots[i].0));
        format!(r#"{{"from":"{from_boot}","to":"{to_boot}","count":{},"say":{say}}}"#, counts[from])
    }

    fn signed(&self, to: usize, text: &[u8]) -> Vec<u8> {
        let key = self.root.control(ROLES[1 - to]);
        let tag = Hmac::<Sha256>::new_from_slice(&*key).expect("any length").chain_update(text).finalize();
        [&[0; 4][..], &tag.into_bytes(), text].concat()
    }

    /// Delivers the datagrams in flight, then lets 10 ms pass.
    fn arrive(&mut self) {
        for (to, datagram) in std::mem::take(&mut self.in_flight) {
            self.deliver(to, &datagram);
        }
        self.pass();
    }

    fn pass(&mut self) {
        self.now += STEP;
        if self.ends[0].wants(2) > 0 {
            self.keys += 1;
            self.ends[0].add_key(key(&format!("key-{}", self.keys)));
        }
        for which in 0..2 {
            self.ends[which].tick(self.now);
            self.act(which);
        }
        if self.repeats {
            for _ in 0..COPIES {
                self.repeated += 1;
                self.repeat(self.repeated % self.old.max(1));
            }
            for (to, datagram) in self.challenges.clone() {
                self.deliver(to, &datagram);
            }
        }
    }

    fn repeat(&mut self, number: usize) {
        if !self.recorded.is_empty() {
            let (to, datagram) = self.recorded[number % self.recorded.len()].clone();
            self.deliver(to, &datagram);
        }
    }

    fn deliver(&mut self, to: usize, datagram: &[u8]) {
        self.ends[to].receive(datagram, address(ROLES[1 - to]), self.now).hash(&mut self.path);
        self.act(to);
    }

    fn act(&mut self, which: usize) {
        loop {
            let actions: Vec<Action> = self.ends[which].actions().collect();
            assert!(actions.len() <= 8, "{} actions at once", actions.len());
            if actions.is_empty() {
                return;
            }
            for action in actions {
                std::mem::discriminant(&action).hash(&mut self.path);
                self.perform(which, action);
            }
        }
    }

    fn perform(&mut self, which: usize, action: Action) {
        match action {
            Action::Send(datagram, _) => {
                assert!(datagram.len() <= LONGEST, "a message of {} bytes", datagram.len());
                if self.see(which, &datagram) && !self.repeats && self.challenges.len() < CHALLENGES {
                    self.challenges.push((1 - which, datagram.clone()));
                }
                if self.recorded.len() < RECORDED {
                    self.recorded.push((1 - which, datagram.clone()));
                }
                self.in_flight.push((1 - which, datagram));
            }
            Action::Receive(association) => {
                let done = &mut self.done[which];
                done.received.insert((association.epoch, association.spi), association.generation);
                done.receiving.insert(association.generation, association.spi);
                let is_slave = which == 1;
                assert!(!is_slave || done.receiving.len() <= MAX_RECEIVING, "{}", done.receiving.len());
            }
            Action::Forget(generation) => drop(self.done[which].receiving.remove(&generation)),
            Action::Retire(generation) => self.done[which].receiving.retain(|ours, _| *ours >= generation),
            Action::SendUnder(association) => {
                let (epoch, spi) = (association.epoch, association.spi);
                let is_received = self.done[1 - which].received.contains_key(&(epoch, spi));
                assert!(is_received, "sends under an association that the peer never received under");
                let done = &mut self.done[which];
                let generation = association.generation;
                assert!(
                    done.receiving.contains_key(&generation),
                    "does not receive under the key it sends under"
                );
                assert!(done.sending.is_none_or(|before| before < generation), "returns to an older key");
                assert!(!done.sent.contains(&(epoch, spi)), "uses a key twice");
                done.sent.push((epoch, spi));
                done.sending = Some(generation);
                done.sending_to = spi;
                done.changes += 1;
            }
            Action::Fetch(id) => {
                let found = if self.source_is_empty { Err("none".to_owned()) } else { Ok(key(&id).key) };
                self.ends[which].fetched(&id, found);
            }
            Action::Move(_) | Action::Report(_) => {}
        }
    }

    /// Records the values in a datagram. Returns whether it is a challenge.
    fn see(&mut self, from: usize, datagram: &[u8]) -> bool {
        let message = self.codecs[from].read(datagram).expect("a valid message of an end");
        let seen = &mut self.seen;
        seen.boots[from] = message.from;
        seen.counts[from] = seen.counts[from].max(message.count);
        let is_challenge = matches!(message.say, Say::Hello { .. });
        match message.say {
            Say::Hello { challenge, .. } | Say::Welcome { challenge, .. } => {
                seen.challenge = hex::encode(challenge.0);
            }
            Say::Offer(offer) => {
                (seen.epoch, seen.key) = (offer.epoch, offer.key);
                seen.nonce = hex::encode(offer.nonce.0);
                seen.proof = hex::encode(offer.proof.0);
            }
            Say::Accept(accept) => {
                seen.nonce = hex::encode(accept.nonce.0);
                seen.proof = hex::encode(accept.proof.0);
            }
            Say::Confirm { proof, .. } | Say::Done { proof, .. } => seen.proof = hex::encode(proof.0),
            Say::Refuse { .. } | Say::SoftLimit { .. } => {}
        }
        is_challenge
    }
}
