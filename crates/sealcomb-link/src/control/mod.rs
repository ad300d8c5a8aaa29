//! How two ends change keys: a state machine without clock, sockets or threads.
//!
//! ```text
//!  master                                   slave
//!    │ ── hello ──────────────► ◄────── hello ── │   each asks who the other is, now
//!    │ ── welcome ────────────► ◄──── welcome ── │
//!    │                                           │
//!    │ ── offer (epoch, key id, nonce, SPI) ───► │   fetches the key by its id
//!    │ ◄───── accept (nonce, SPI, proof) ─────── │   receives under it
//!    │   receives, then sends under it           │
//!    │ ── confirm (proof) ─────────────────────► │   sends under it
//!    │ ◄───────────────── done ───────────────── │
//!    │   the old key goes when what is on the    │
//!    │   way has had time to arrive, likewise there
//!    │                                           │
//!    │ ◄─────────────────────────── worn ─────── │   has sent enough under it: time for an offer
//! ```
//!
//! What is not answered is sent again. A message counts if the other end wrote it (its HMAC), in its present boot and for
//! ours, and its count is higher than all before; so a message that is forged or comes again changes nothing. A boot is
//! believed only when it answers a challenge.

pub mod message;
#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use ctutils::CtEq;
use sealcomb_esp::{Fingerprint, Suite, Transform};
use zeroize::Zeroizing;

use crate::config::Role;
use crate::derive::{Context, Epoch, Root, Secret};
use message::{Accept, Bytes32, Codec, Id, Message, Offer, Refusal, Say};

/// Between the first time that something is sent and the second; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(40);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Between two answers to questions, and between two questions that a stranger's message made us ask.
const LEAST_PAUSE: Duration = Duration::from_millis(10);
/// Of keys that were refused or do not agree, until the next is tried; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Keys that are remembered, to tell when one comes again.
const REMEMBERED: usize = 4096;
/// Keys that the slave keeps until they are offered, and those that it asks its source for at one time.
pub const KEPT: usize = 64;
/// Identifiers that an offer names ahead.
const NAMED: usize = 4;

/// A key as its source gives it.
#[derive(Clone)]
pub struct SourceKey {
    /// Its name at the source.
    pub id: String,
    /// The key.
    pub key: Zeroizing<Vec<u8>>,
}

/// One direction under one key.
pub struct Association {
    /// Counts the keys of a session.
    pub epoch: u64,
    /// Of the end that receives.
    pub spi: u32,
    /// With the keys.
    pub suite: Suite,
}

/// What is to be done.
pub enum Action {
    /// Send a datagram to the other end.
    Send(Vec<u8>),
    /// Accept packets under this from now on.
    Receive(Association),
    /// Send under this from now on, and under nothing else.
    SendUnder(Association),
    /// No more packets will be sent to us under keys of epochs before this one; those on the way may still come.
    Retire(u64),
    /// The other end has started anew, or was never there: none of the associations is good for anything.
    Reset,
    /// The slave's: get these keys from the source.
    Fetch(Vec<String>),
    /// Tell whoever watches.
    Tell(Event),
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The other end answered.
    Met,
    /// A key is in use, for both directions at the master, or else for the one to the other end.
    Changed(u64),
    /// The slave refused an offer.
    Refused(u64, Refusal),
    /// The two ends got different keys of one name.
    Disagree(u64),
    /// The source gave a key that was there before.
    Repeated,
}

struct Peer {
    boot: Id,
    /// The highest count of its messages.
    heard: u64,
}

/// Something that is sent again until it is answered.
struct Again {
    next: Instant,
    wait: Duration,
}

impl Again {
    fn new(now: Instant) -> Self {
        Self { next: now + FIRST_WAIT, wait: FIRST_WAIT }
    }

    fn is_due(&mut self, now: Instant) -> bool {
        if now < self.next {
            return false;
        }
        self.wait = (self.wait * 2).min(LONGEST_WAIT);
        self.next = now + self.wait;
        true
    }
}

/// Where an exchange stands.
enum Exchange {
    Idle,
    /// The master waits for `accept`.
    Offered {
        offer: Offer,
        key: SourceKey,
        again: Again,
    },
    /// The master waits for `done`.
    Confirming {
        epoch: u64,
        proof: Bytes32,
        again: Again,
    },
    /// The slave waits for its source.
    Fetching(Offer),
    /// The slave waits for `confirm`.
    Accepted {
        offer: Offer,
        accept: Accept,
        keys: Box<Epoch>,
    },
    /// The slave has answered `done`. Once the key is worn, it says so until there is an offer.
    Following {
        epoch: u64,
        worn: Option<Again>,
    },
}

/// Why it is time for another key, or not.
#[derive(Clone, Copy)]
struct Schedule {
    every: Duration,
    /// When the next change is due.
    due: Instant,
    /// Not before, whatever is due.
    not_before: Instant,
    pause: Duration,
}

/// One end's part in the exchange of keys.
pub struct Control {
    role: Role,
    transform: Transform,
    extended: bool,
    /// Whether each key of the source may serve once only.
    single_use: bool,
    root: Root,
    codec: Codec,
    boot: Id,
    count: u64,
    peer: Option<Peer>,
    /// The question that is open.
    challenge: Id,
    hello: Again,
    welcomed: Option<Instant>,
    exchange: Exchange,
    /// The last that was offered or accepted.
    epoch: u64,
    schedule: Schedule,
    /// The master's: keys to offer. The slave's: those that were fetched.
    keys: VecDeque<SourceKey>,
    /// The slave's: names of keys that its source has not answered for yet.
    asked: HashSet<String>,
    seen: Seen,
    /// SPIs that this end gave out lately.
    spis: VecDeque<u32>,
    actions: Vec<Action>,
}

/// What the state machine is told once.
pub struct Settings<'a> {
    /// Which end.
    pub role: Role,
    /// Algorithms.
    pub transform: Transform,
    /// Whether sequence numbers have 64 bits.
    pub extended: bool,
    /// Whether each key of the source may serve once only.
    pub single_use: bool,
    /// Authenticates messages.
    pub control_key: &'a [u8],
    /// From one change of keys to the next.
    pub every: Duration,
}

impl Control {
    /// An end that has just started.
    pub fn new(settings: &Settings<'_>, now: Instant) -> Self {
        let root = Root::new(settings.control_key);
        Self {
            role: settings.role,
            transform: settings.transform,
            extended: settings.extended,
            single_use: settings.single_use,
            codec: Codec::new(&root, settings.role),
            root,
            boot: Id(random()),
            count: 0,
            peer: None,
            challenge: Id(random()),
            hello: Again { next: now, wait: FIRST_WAIT },
            welcomed: None,
            exchange: Exchange::Idle,
            epoch: 0,
            schedule: Schedule { every: settings.every, due: now, not_before: now, pause: FIRST_PAUSE },
            keys: VecDeque::new(),
            asked: HashSet::new(),
            seen: Seen::default(),
            spis: VecDeque::new(),
            actions: Vec::new(),
        }
    }

    /// What is to be done, in this order.
    pub fn actions(&mut self) -> impl Iterator<Item = Action> {
        self.actions.drain(..)
    }

    /// Whether the other end has answered.
    pub fn is_met(&self) -> bool {
        self.peer.is_some()
    }

    /// How many more keys of the source the master could take.
    pub fn wants(&self, ahead: usize) -> usize {
        match self.role {
            Role::Master => ahead.saturating_sub(self.keys.len()),
            Role::Slave => 0,
        }
    }

    /// Another interval between changes.
    pub fn set_interval(&mut self, every: Duration, now: Instant) {
        self.schedule.every = every;
        self.schedule.due = self.schedule.due.min(now + every);
    }

    /// The master's: a key is to be changed, whatever the present one has done.
    pub fn change_now(&mut self, now: Instant) {
        self.schedule.due = self.schedule.due.min(now);
    }

    /// This end has sent as much under the key of this epoch as it should. The master changes it, the slave asks it to.
    pub fn worn(&mut self, epoch: u64, now: Instant) {
        match (self.role, &mut self.exchange) {
            // Another than the last that was offered is about to go as it is.
            (Role::Master, _) if epoch == self.epoch => self.change_now(now),
            (Role::Slave, Exchange::Following { epoch: ours, worn: worn @ None }) if *ours == epoch => {
                *worn = Some(Again::new(now));
                self.tell_peer(Say::Worn { epoch });
            }
            _ => {}
        }
    }

    /// The master's: a key of the source, to be offered in its turn.
    pub fn add_key(&mut self, key: SourceKey) {
        if self.single_use && !self.seen.is_new(&key.key) {
            self.actions.push(Action::Tell(Event::Repeated));
            return;
        }
        self.keys.push_back(key);
    }

    /// The slave's: what the source said to [`Action::Fetch`]; `None`: it does not give this key.
    pub fn fetched(&mut self, id: &str, key: Option<Zeroizing<Vec<u8>>>) {
        self.asked.remove(id);
        let is_awaited = matches!(&self.exchange, Exchange::Fetching(offer) if offer.key == id);
        match key {
            Some(key) => {
                if self.keys.len() == KEPT {
                    self.keys.pop_front();
                }
                self.keys.push_back(SourceKey { id: id.to_owned(), key });
                if is_awaited {
                    self.accept();
                }
            }
            None if is_awaited => self.refuse(Refusal::NoKey),
            None => {}
        }
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Instant) {
        if self.peer.is_none() {
            if self.hello.is_due(now) {
                self.say(Id::default(), Say::Hello { challenge: self.challenge });
            }
            return;
        }
        if self.role == Role::Master {
            self.offer_if_due(now);
        }
        let (again, say) = match &mut self.exchange {
            Exchange::Offered { offer, again, .. } => (again, Say::Offer(offer.clone())),
            Exchange::Confirming { epoch, proof, again } => {
                (again, Say::Confirm { epoch: *epoch, proof: *proof })
            }
            Exchange::Following { epoch, worn: Some(again) } => (again, Say::Worn { epoch: *epoch }),
            _ => return,
        };
        if again.is_due(now) {
            self.tell_peer(say);
        }
    }

    /// Takes a datagram that came to the port and begins as control messages do. `false`: the other end did not write
    /// it, or it came before.
    pub fn receive(&mut self, datagram: &[u8], now: Instant) -> bool {
        let Some(message) = self.codec.read(datagram) else { return false };
        match message.say {
            Say::Hello { challenge } => {
                self.answer_hello(message.from, challenge, now);
                true
            }
            Say::Welcome { challenge } => {
                let is_answer = message.to == self.boot && challenge == self.challenge;
                if is_answer {
                    self.meet(message.from, message.count, now);
                }
                is_answer
            }
            say => {
                let is_new = message.to == self.boot
                    && self
                        .peer
                        .as_ref()
                        .is_some_and(|peer| peer.boot == message.from && peer.heard < message.count);
                if is_new {
                    if let Some(peer) = &mut self.peer {
                        peer.heard = message.count;
                    }
                    self.follow(say, now);
                } else if message.to != self.boot || !self.knows(message.from) {
                    // Either of us takes the other for who it was before a start.
                    self.question(message.from, now);
                }
                is_new
            }
        }
    }

    // ---- Who is there

    fn answer_hello(&mut self, from: Id, challenge: Id, now: Instant) {
        if self.welcomed.is_none_or(|last| now >= last + LEAST_PAUSE) {
            self.welcomed = Some(now);
            self.say(from, Say::Welcome { challenge });
        }
        if !self.knows(from) {
            self.question(from, now);
        }
    }

    fn knows(&self, boot: Id) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.boot == boot)
    }

    /// Asks an end who it is, and so tells it who we are.
    fn question(&mut self, from: Id, now: Instant) {
        if now >= self.hello.next {
            self.hello = Again::new(now);
            self.say(from, Say::Hello { challenge: self.challenge });
        }
    }

    fn meet(&mut self, boot: Id, count: u64, now: Instant) {
        self.challenge = Id(random());
        if let Some(peer) = self.peer.as_mut().filter(|peer| peer.boot == boot) {
            peer.heard = peer.heard.max(count);
            return;
        }
        self.peer = Some(Peer { boot, heard: count });
        self.exchange = Exchange::Idle;
        self.epoch = 0;
        self.schedule = Schedule { due: now, not_before: now, pause: FIRST_PAUSE, ..self.schedule };
        self.actions.push(Action::Reset);
        self.actions.push(Action::Tell(Event::Met));
    }

    fn say(&mut self, to: Id, say: Say) {
        self.count += 1;
        let message = Message { from: self.boot, to, count: self.count, say };
        self.actions.push(Action::Send(self.codec.write(&message)));
    }

    fn tell_peer(&mut self, say: Say) {
        if let Some(Peer { boot, .. }) = self.peer {
            self.say(boot, say);
        }
    }

    fn boots(&self) -> [[u8; 16]; 2] {
        let peer = self.peer.as_ref().map_or_else(Id::default, |peer| peer.boot);
        match self.role {
            Role::Master => [self.boot.0, peer.0],
            Role::Slave => [peer.0, self.boot.0],
        }
    }

    // ---- The exchange

    fn follow(&mut self, say: Say, now: Instant) {
        match (self.role, say) {
            (Role::Master, Say::Accept(accept)) => self.accepted(&accept, now),
            (Role::Master, Say::Refuse { epoch, why }) => self.refused(epoch, why, now),
            (Role::Master, Say::Done { epoch }) => {
                if matches!(&self.exchange, Exchange::Confirming { epoch: ours, .. } if *ours == epoch) {
                    self.exchange = Exchange::Idle;
                    self.actions.push(Action::Retire(epoch));
                }
            }
            (Role::Master, Say::Worn { epoch }) => self.worn(epoch, now),
            (Role::Slave, Say::Offer(offer)) => self.offered(&offer),
            (Role::Slave, Say::Confirm { epoch, proof }) => self.confirmed(epoch, proof),
            _ => {}
        }
    }

    fn offer_if_due(&mut self, now: Instant) {
        let is_waiting = matches!(self.exchange, Exchange::Offered { .. });
        if is_waiting || now < self.schedule.due || now < self.schedule.not_before {
            return;
        }
        let Some(key) = self.keys.pop_front() else { return };
        self.epoch += 1;
        let offer = Offer {
            epoch: self.epoch,
            key: key.id.clone(),
            next_keys: self.keys.iter().take(NAMED).map(|key| key.id.clone()).collect(),
            nonce: Bytes32(random()),
            spi: self.new_spi(),
            suite: self.transform.id.into(),
            esn: self.extended,
        };
        self.exchange = Exchange::Offered { offer: offer.clone(), key, again: Again::new(now) };
        self.tell_peer(Say::Offer(offer));
    }

    fn accepted(&mut self, accept: &Accept, now: Instant) {
        let Exchange::Offered { offer, key, .. } = &self.exchange else { return };
        if accept.epoch != offer.epoch {
            return;
        }
        let keys = Epoch::new(&self.root, &key.key, self.context(offer, accept.nonce, accept.spi));
        if !is_same(&accept.proof, &keys.proof(Role::Slave)) {
            self.give_up(Event::Disagree(accept.epoch), now);
            return;
        }
        let (epoch, spi) = (accept.epoch, offer.spi);
        let receiving = Association { epoch, spi, suite: keys.suite(Role::Slave) };
        let sending = Association { epoch, spi: accept.spi, suite: keys.suite(Role::Master) };
        let proof = Bytes32(*keys.proof(Role::Master));
        self.actions.push(Action::Receive(receiving));
        self.actions.push(Action::SendUnder(sending));
        self.actions.push(Action::Tell(Event::Changed(epoch)));
        self.exchange = Exchange::Confirming { epoch, proof, again: Again::new(now) };
        self.schedule = Schedule {
            // From one offer to the next it is the interval, whatever the exchange takes.
            due: (self.schedule.due + self.schedule.every).max(now + self.schedule.every / 2),
            pause: FIRST_PAUSE,
            ..self.schedule
        };
        self.tell_peer(Say::Confirm { epoch, proof });
    }

    fn refused(&mut self, epoch: u64, why: Refusal, now: Instant) {
        if matches!(&self.exchange, Exchange::Offered { offer, .. } if offer.epoch == epoch) {
            self.give_up(Event::Refused(epoch, why), now);
        }
    }

    /// Drops the key that was offered; the next is tried after a pause.
    fn give_up(&mut self, event: Event, now: Instant) {
        self.exchange = Exchange::Idle;
        self.schedule.not_before = now + self.schedule.pause;
        self.schedule.pause = (self.schedule.pause * 2).min(LONGEST_PAUSE);
        self.actions.push(Action::Tell(event));
    }

    fn offered(&mut self, offer: &Offer) {
        if offer.epoch <= self.epoch {
            if let Exchange::Accepted { offer: ours, accept, .. } = &self.exchange
                && ours == offer
            {
                self.tell_peer(Say::Accept(accept.clone()));
            }
            return;
        }
        if matches!(&self.exchange, Exchange::Fetching(ours) if ours == offer) {
            return;
        }
        self.exchange = Exchange::Fetching(offer.clone());
        if offer.suite != self.transform.id || offer.esn != self.extended {
            self.refuse(Refusal::Suite);
            return;
        }
        let names = std::iter::once(&offer.key).chain(offer.next_keys.iter().take(NAMED));
        let missing: Vec<String> = names.filter(|id| self.is_to_be_asked(id)).cloned().collect();
        if self.has(&offer.key) {
            self.accept();
        } else if !self.asked.contains(&offer.key) {
            self.refuse(Refusal::NoKey);
        }
        if !missing.is_empty() {
            self.actions.push(Action::Fetch(missing));
        }
    }

    fn has(&self, id: &str) -> bool {
        self.keys.iter().any(|key| key.id == id)
    }

    /// Whether the source is to be asked for this key: it is not there, and was not asked for already.
    fn is_to_be_asked(&mut self, id: &str) -> bool {
        !self.has(id) && self.asked.len() < KEPT && self.asked.insert(id.to_owned())
    }

    fn accept(&mut self) {
        let Exchange::Fetching(offer) = &self.exchange else { return };
        let Some(at) = self.keys.iter().position(|key| key.id == offer.key) else { return };
        let offer = offer.clone();
        let Some(SourceKey { key, .. }) = self.keys.remove(at) else { return };
        if self.single_use && !self.seen.is_new(&key) {
            self.actions.push(Action::Tell(Event::Repeated));
            self.refuse(Refusal::Repeated);
            return;
        }
        let (nonce, spi) = (Bytes32(random()), self.new_spi());
        let keys = Epoch::new(&self.root, &key, self.context(&offer, nonce, spi));
        let epoch = offer.epoch;
        let accept = Accept { epoch, nonce, spi, proof: Bytes32(*keys.proof(Role::Slave)) };
        let receiving = Association { epoch, spi, suite: keys.suite(Role::Master) };
        self.actions.push(Action::Receive(receiving));
        self.tell_peer(Say::Accept(accept.clone()));
        self.epoch = epoch;
        self.exchange = Exchange::Accepted { offer, accept, keys: Box::new(keys) };
    }

    fn refuse(&mut self, why: Refusal) {
        if let Exchange::Fetching(Offer { epoch, .. }) = self.exchange {
            self.exchange = Exchange::Idle;
            self.actions.push(Action::Tell(Event::Refused(epoch, why)));
            self.tell_peer(Say::Refuse { epoch, why });
        }
    }

    fn confirmed(&mut self, epoch: u64, proof: Bytes32) {
        match &self.exchange {
            Exchange::Following { epoch: ours, .. } if *ours == epoch => self.tell_peer(Say::Done { epoch }),
            Exchange::Accepted { offer, keys, .. } if offer.epoch == epoch => {
                if !is_same(&proof, &keys.proof(Role::Master)) {
                    self.actions.push(Action::Tell(Event::Disagree(epoch)));
                    return;
                }
                let sending = Association { epoch, spi: offer.spi, suite: keys.suite(Role::Slave) };
                self.exchange = Exchange::Following { epoch, worn: None };
                self.actions.push(Action::SendUnder(sending));
                self.actions.push(Action::Retire(epoch));
                self.actions.push(Action::Tell(Event::Changed(epoch)));
                self.tell_peer(Say::Done { epoch });
            }
            _ => {}
        }
    }

    fn context(&self, offer: &Offer, slave_nonce: Bytes32, slave_spi: u32) -> Context {
        Context {
            transform: self.transform,
            extended: self.extended,
            boots: self.boots(),
            epoch: offer.epoch,
            nonces: [offer.nonce.0, slave_nonce.0],
            spis: [offer.spi, slave_spi],
            key_id: offer.key.clone(),
        }
    }

    /// Random, and none that this end gave out lately.
    fn new_spi(&mut self) -> u32 {
        /// SPIs below are reserved.
        const FIRST: u32 = 256;
        loop {
            let spi = u32::from_be_bytes(random());
            if spi >= FIRST && !self.spis.contains(&spi) {
                if self.spis.len() == REMEMBERED {
                    self.spis.pop_front();
                }
                self.spis.push_back(spi);
                return spi;
            }
        }
    }
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    sealcomb_random::fill(&mut bytes).expect("the system has random numbers");
    bytes
}

/// In a time that does not depend on where they differ.
fn is_same(told: &Bytes32, proof: &Secret) -> bool {
    told.0.ct_eq(&**proof).into()
}

/// Keys that were there, by their fingerprints.
#[derive(Default)]
struct Seen {
    order: VecDeque<Fingerprint>,
    all: HashSet<Fingerprint>,
}

impl Seen {
    fn is_new(&mut self, key: &[u8]) -> bool {
        let fingerprint = Fingerprint::of(key);
        if !self.all.insert(fingerprint) {
            return false;
        }
        self.order.push_back(fingerprint);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
        true
    }
}
