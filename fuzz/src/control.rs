//! The exchange of keys of the link, with somebody on the wire who has the control key, and not the source's keys.
//!
//! ```text
//! line of the input    what happens
//! t                    10 ms pass, and what the ends have sent arrives
//! d                    10 ms pass, and what the ends have sent is lost
//! k                    from now on, or no longer, the slave's source has no keys
//! r                    the slave starts anew
//! w                    both ends have sent enough under their keys
//! m SAY, s SAY         a message that says this, in the name of the other end, comes to the master or the slave
//! M TEXT, S TEXT       likewise, where this is all of the message
//! others               a datagram of these bytes comes to both ends
//! ```
//!
//! In a SAY, `@C`, `@E`, `@K`, `@N` and `@P` stand for the latest challenge, epoch, key's name, nonce and proof on the wire.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use sealcomb_esp::Transform;
use sealcomb_link::config::Role;
use sealcomb_link::control::message::{Codec, Id, LONGEST, Say};
use sealcomb_link::control::{Action, Control, Settings, SourceKey};
use sealcomb_link::derive::Root;
use sha2::Sha256;

const CONTROL_KEY: [u8; 32] = [5; 32];
const ROLES: [Role; 2] = [Role::Master, Role::Slave];
const STEP: Duration = Duration::from_millis(10);
/// Lines of an input that are obeyed.
const LINES: usize = 64;

/// Runs an exchange as these lines say.
///
/// # Panics
/// If an end sends under anything that the other never received under, goes back to an older key, or answers one message
/// by many or long ones.
pub(crate) fn run(bytes: &[u8]) -> u64 {
    let mut wire = Wire::new();
    for line in bytes.split(|byte| *byte == b'\n').take(LINES) {
        wire.obey(line);
    }
    wire.way.finish()
}

/// What an end has done.
#[derive(Default)]
struct Done {
    /// The epoch of the key that it sends under, in this session.
    sending: Option<u64>,
    /// Epochs and SPIs that it has ever received under.
    receiving: HashSet<(u64, u32)>,
    /// Those that it has ever sent under.
    sent: HashSet<(u64, u32)>,
}

/// What goes over the wire in the clear, as anybody can see it.
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
    /// That read what the master and what the slave writes.
    codecs: [Codec; 2],
    in_flight: Vec<(usize, Vec<u8>)>,
    seen: Seen,
    source_is_empty: bool,
    keys: u64,
    way: DefaultHasher,
}

fn end(role: Role, now: Instant) -> Control {
    let transform = Transform::by_id("aes128-gcm").expect("a suite");
    let every = Duration::from_millis(50);
    let settings =
        Settings { role, transform, extended: true, single_use: true, control_key: &CONTROL_KEY, every };
    Control::new(&settings, now)
}

/// What both sources give for a name.
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
            seen: Seen::default(),
            source_is_empty: false,
            keys: 0,
            way: DefaultHasher::new(),
        }
    }

    fn obey(&mut self, line: &[u8]) {
        let (kind, rest) = line.split_first().map_or((0, line), |(kind, rest)| (*kind, rest));
        kind.hash(&mut self.way);
        match kind {
            b't' if rest.is_empty() => self.pass(true),
            b'd' if rest.is_empty() => self.pass(false),
            b'k' if rest.is_empty() => self.source_is_empty ^= true,
            b'r' if rest.is_empty() => {
                self.ends[1] = end(Role::Slave, self.now);
                self.done[1].sending = None;
            }
            b'w' if rest.is_empty() => {
                for which in 0..2 {
                    if let Some(epoch) = self.done[which].sending {
                        self.ends[which].worn(epoch, self.now);
                        self.act(which);
                    }
                }
            }
            b'm' | b's' | b'M' | b'S' => {
                let to = usize::from(kind.eq_ignore_ascii_case(&b's'));
                let text = String::from_utf8_lossy(rest);
                let text =
                    if kind.is_ascii_lowercase() { self.message(to, &text) } else { text.into_owned() };
                let datagram = self.signed(to, text.as_bytes());
                self.deliver(to, &datagram);
            }
            _ => (0..2).for_each(|to| self.deliver(to, line)),
        }
    }

    /// A message to an end that says this, as the other end would put it.
    fn message(&mut self, to: usize, say: &str) -> String {
        let Seen { boots, counts, challenge, epoch, key, nonce, proof } = &mut self.seen;
        let say = say.replace("@C", challenge).replace("@E", &epoch.to_string()).replace("@K", key);
        let say = say.replace("@N", nonce).replace("@P", proof);
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

    /// Time passes, and what is in flight arrives or not.
    fn pass(&mut self, arrives: bool) {
        self.now += STEP;
        if self.ends[0].wants(2) > 0 {
            self.keys += 1;
            self.ends[0].add_key(key(&format!("key {}", self.keys)));
        }
        for (to, datagram) in std::mem::take(&mut self.in_flight) {
            if arrives {
                self.deliver(to, &datagram);
            }
        }
        for which in 0..2 {
            self.ends[which].tick(self.now);
            self.act(which);
        }
    }

    fn deliver(&mut self, to: usize, datagram: &[u8]) {
        self.ends[to].receive(datagram, self.now).hash(&mut self.way);
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
                std::mem::discriminant(&action).hash(&mut self.way);
                self.one(which, action);
            }
        }
    }

    fn one(&mut self, which: usize, action: Action) {
        match action {
            Action::Send(datagram) => {
                assert!(datagram.len() <= LONGEST, "a message of {} bytes", datagram.len());
                self.see(which, &datagram);
                self.in_flight.push((1 - which, datagram));
            }
            Action::Receive(association) => {
                self.done[which].receiving.insert((association.epoch, association.spi));
            }
            Action::SendUnder(association) => {
                let (epoch, spi) = (association.epoch, association.spi);
                let is_received = self.done[1 - which].receiving.contains(&(epoch, spi));
                assert!(is_received, "the other end never received under it");
                let done = &mut self.done[which];
                assert!(
                    done.receiving.iter().any(|(received, _)| *received == epoch),
                    "it does not receive itself"
                );
                assert!(done.sending.is_none_or(|before| before < epoch), "back to an older key");
                assert!(done.sent.insert((epoch, spi)), "one key twice");
                done.sending = Some(epoch);
            }
            Action::Reset => self.done[which].sending = None,
            Action::Fetch(ids) => {
                assert!(ids.len() <= 5, "{} keys at once", ids.len());
                for id in ids {
                    let found = (!self.source_is_empty).then(|| key(&id).key);
                    self.ends[which].fetched(&id, found);
                }
            }
            Action::Retire(_) | Action::Tell(_) => {}
        }
    }

    fn see(&mut self, from: usize, datagram: &[u8]) {
        let message = self.codecs[from].read(datagram).expect("what an end writes can be read");
        let seen = &mut self.seen;
        seen.boots[from] = message.from;
        seen.counts[from] = seen.counts[from].max(message.count);
        match message.say {
            Say::Hello { challenge } | Say::Welcome { challenge } => {
                seen.challenge = hex::encode(challenge.0);
            }
            Say::Offer(offer) => {
                (seen.epoch, seen.key) = (offer.epoch, offer.key);
                seen.nonce = hex::encode(offer.nonce.0);
            }
            Say::Accept(accept) => {
                seen.nonce = hex::encode(accept.nonce.0);
                seen.proof = hex::encode(accept.proof.0);
            }
            Say::Confirm { proof, .. } => seen.proof = hex::encode(proof.0),
            Say::Refuse { .. } | Say::Done { .. } | Say::Worn { .. } => {}
        }
    }
}
