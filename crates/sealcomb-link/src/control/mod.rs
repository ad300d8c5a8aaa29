//! How two ends change keys: a state machine without clock, sockets or threads.
//!
//! ```text
//!  master                                          slave
//!    │ ── hello ──────────────► ◄────────── hello ── │   each asks who the other is, and then whether it is still there
//!    │ ── welcome ────────────► ◄──────── welcome ── │
//!    │                                               │
//!    │ ── offer (epoch, key id, nonce, SPI, proof) ► │   fetches the key by its id
//!    │ ◄───── accept (nonce, SPI, proof) ─────────── │   receives under it
//!    │   receives, then sends under it               │
//!    │ ── confirm (proof) ─────────────────────────► │   sends under it
//!    │ ◄───────────────── done (proof) ───────────── │
//!    │   the old key goes when what is on the        │
//!    │   way has had time to arrive, likewise there  │
//!    │                                               │
//!    │ ◄─────────────────────────────── worn ─────── │   has sent enough under it: time for an offer
//! ```
//!
//! What is not answered is sent again, and every offer and confirmation has an answer, so that neither end waits for what
//! never comes. Nobody without the control key can write a message, and nobody without the source's key can change what an
//! end sends or receives under:
//!
//! - The HMAC and the boots in it decide whether a message is read. A boot is believed when it answers a challenge.
//! - The proofs decide whether an association begins or ends. What no proof belongs to (the other end's boot, an offer
//!   whose key is being fetched, a refusal) is replaced by the next message of its kind, and none of it is kept as a limit
//!   for later messages.
//! - Repeating a message does nothing: a step is taken once, for one epoch and one pair of nonces.

mod end;
mod master;
pub mod message;
mod presence;
mod recent;
mod slave;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use sealcomb_esp::{Suite, Transform};
use zeroize::Zeroizing;

use crate::config::Role;
use end::End;
use master::Master;
use message::{Refusal, Say, Tag};
use presence::Presence;
pub use presence::Silence;
use recent::Recent;
use slave::Slave;

/// Between the first time that something is sent and the second; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(40);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Messages, keys and SPIs that are remembered, to tell when one comes again.
const REMEMBERED: usize = 4096;
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
    /// Counts the keys of this end since its start: a later key has a higher one, whatever the other end does.
    pub generation: u64,
    /// Counts the offers of the master since its start, for people who read it.
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
    /// No packet will be sent to us under the key of this generation.
    Forget(u64),
    /// No more packets will be sent to us under keys of generations before this one; those on the way may still come.
    Retire(u64),
    /// The slave's: get this key from the source. There is one such question at a time.
    Fetch(String),
    /// Tell whoever watches.
    Tell(Event),
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The other end answered for the first time.
    Met,
    /// The other end has started anew.
    Restarted,
    /// The other end has not answered for [`Control::SILENCE`], or there is a new reason to believe that it cannot.
    Silent(Silence),
    /// The other end, which was silent, has answered.
    Back,
    /// The key of this epoch is in use, for both directions at the master, or else for the one to the other end.
    Changed(u64),
    /// The slave refused the offer of this epoch, or the master an answer to it.
    Refused(u64, Refusal),
    /// The slave's: the master's algorithms, if this end knows them, and whether its sequence numbers have 64 bits.
    OtherSuite(Option<&'static str>, bool),
    /// The source gave a key that was there before.
    Repeated,
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

/// What only one of the two roles has.
#[allow(clippy::large_enum_variant, reason = "there is one in a process")]
enum Side {
    Master(Master),
    Slave(Slave),
}

/// One end's part in the exchange of keys. Its memory is bounded, whatever it receives.
pub struct Control {
    end: End,
    presence: Presence,
    side: Side,
    /// Tags of messages that were read.
    read: Recent<Tag>,
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
    /// After so long without an answer the other end counts as silent.
    pub const SILENCE: Duration = Duration::from_secs(5);

    /// An end that has just started.
    pub fn new(settings: &Settings<'_>, now: Instant) -> Self {
        Self {
            end: End::new(settings),
            presence: Presence::new(now),
            side: match settings.role {
                Role::Master => Side::Master(Master::new(settings.every, now)),
                Role::Slave => Side::Slave(Slave::default()),
            },
            read: Recent::new(REMEMBERED),
        }
    }

    /// What is to be done, in this order.
    pub fn actions(&mut self) -> impl Iterator<Item = Action> {
        self.end.actions.drain(..)
    }

    /// When the other end last answered a challenge; `None`: never.
    pub fn heard(&self) -> Option<Instant> {
        self.end.peer.map(|_| self.presence.heard())
    }

    /// How many more keys of the source the master could take.
    pub fn wants(&self, ahead: usize) -> usize {
        match self.side {
            Side::Master(_) => ahead.saturating_sub(self.end.keys.len()),
            Side::Slave(_) => 0,
        }
    }

    /// Another interval between changes.
    pub fn set_interval(&mut self, every: Duration, now: Instant) {
        if let Side::Master(master) = &mut self.side {
            master.set_interval(every, now);
        }
    }

    /// The master's: a key is to be changed, whatever the present one has done.
    pub fn change_now(&mut self, now: Instant) {
        if let Side::Master(master) = &mut self.side {
            master.change_now(now);
        }
    }

    /// This end has sent as much under the key of this generation as it should. The master changes it, the slave asks it
    /// to.
    pub fn worn(&mut self, generation: u64, now: Instant) {
        match &mut self.side {
            Side::Master(master) => master.worn(&self.end, generation, now),
            Side::Slave(slave) => slave.worn(&mut self.end, generation, now),
        }
    }

    /// The master's: a key of the source, to be offered in its turn; `false`: it was there before, and is not used.
    pub fn add_key(&mut self, key: SourceKey) -> bool {
        let is_new = self.end.is_new(&key.key);
        if is_new {
            self.end.keys.push_back(key);
        }
        is_new
    }

    /// The slave's: what the source said to [`Action::Fetch`]; `None`: it does not give this key.
    pub fn fetched(&mut self, id: &str, key: Option<Zeroizing<Vec<u8>>>) {
        if let Side::Slave(slave) = &mut self.side {
            slave.fetched(&mut self.end, id, key);
        }
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Instant) {
        self.presence.tick(&mut self.end, now);
        match &mut self.side {
            _ if self.end.peer.is_none() => {}
            Side::Master(master) => master.tick(&mut self.end, now),
            Side::Slave(slave) => slave.tick(&mut self.end, now),
        }
    }

    /// Takes a datagram that came to the port and begins as control messages do. `false`: the other end did not write
    /// it in its present boot and for ours, or it came before.
    pub fn receive(&mut self, datagram: &[u8], now: Instant) -> bool {
        let Some(tag) = message::tag(datagram) else { return false };
        if self.read.contains(tag) {
            return false;
        }
        let Some(message) = self.end.codec.read(datagram) else {
            self.presence.not_read(&self.end, datagram, now);
            return false;
        };
        self.read.insert(*tag);
        let from = message.from;
        match message.say {
            Say::Hello { challenge } => {
                self.end.say(from, Say::Welcome { challenge });
                if self.end.peer != Some(from) {
                    self.presence.question(&mut self.end, now);
                }
                true
            }
            Say::Welcome { challenge } => {
                let is_answer = message.to == self.end.boot && self.presence.is_open(challenge);
                if is_answer {
                    self.answered(from, now);
                }
                is_answer
            }
            say => {
                let is_ours = message.to == self.end.boot && self.end.peer == Some(from);
                if is_ours {
                    self.follow(say, now);
                } else {
                    // Either of us takes the other for who it was before a start.
                    self.presence.question(&mut self.end, now);
                }
                is_ours
            }
        }
    }

    fn answered(&mut self, from: message::Id, now: Instant) {
        let is_another = self.presence.answered(&mut self.end, from, now);
        if is_another {
            match &mut self.side {
                Side::Master(master) => master.meet(now),
                Side::Slave(slave) => slave.meet(),
            }
        }
    }

    fn follow(&mut self, say: Say, now: Instant) {
        let end = &mut self.end;
        match (&mut self.side, say) {
            (Side::Master(master), Say::Accept(accept)) => master.accepted(end, &accept, now),
            (Side::Master(master), Say::Refuse { epoch, why }) => master.refused(end, epoch, why, now),
            (Side::Master(master), Say::Done { epoch, proof }) => master.done(end, epoch, proof),
            (Side::Master(master), Say::Worn { epoch }) => master.worn_there(epoch, now),
            (Side::Slave(slave), Say::Offer(offer)) => slave.offered(end, offer),
            (Side::Slave(slave), Say::Confirm { epoch, proof }) => slave.confirmed(end, epoch, proof),
            _ => {}
        }
    }
}
