//! The rekey protocol as a state machine. It has no clock, sockets or threads: the caller passes in the time and
//! datagrams, and executes the resulting [`Action`]s.
//!
//! ```text
//!  master                                          slave
//!    │ ── hello ──────────────► ◄────────── hello ── │   peer discovery, then liveness while there is no traffic
//!    │ ── welcome ────────────► ◄──────── welcome ── │
//!    │                                               │
//!    │ ── offer (epoch, key id, nonce, SPI, proof) ► │   fetches the key by its id
//!    │ ◄───── accept (nonce, SPI, proof) ─────────── │   receives under it
//!    │   receives, then sends under it               │
//!    │ ── confirm (proof) ─────────────────────────► │   sends under it
//!    │ ◄───────────────── done (proof) ───────────── │
//!    │   both ends retire the old key after the      │
//!    │   overlap                                     │
//!    │                                               │
//!    │ ◄─────────────────────────────── worn ─────── │   soft limit reached: the master makes an offer
//! ```
//!
//! Unanswered messages are retransmitted. Every offer and confirmation is answered, so neither end waits forever.
//! Forging a message requires the control key; changing the key that an end sends or receives under also requires the
//! source's key:
//!
//! - A message is accepted only if its HMAC verifies, it is not a copy, and both boot IDs are current. The exceptions
//!   are `hello`, which any boot may send, and `welcome`, which must answer the outstanding challenge and makes its
//!   sender's boot ID current.
//! - Associations begin and end only on valid proofs. Unproven state (the peer's boot ID, an offer whose key is being
//!   fetched, a refusal) is replaced by the next message of its type and never restricts later messages.
//! - The peer is at the address from which it has answered a challenge that was sent there. A message from elsewhere
//!   whose counter is higher than those of all earlier ones only causes such a challenge.
//! - A repeated message has no effect: each step is taken once per epoch and pair of nonces.

mod end;
#[cfg(test)]
mod liveness_tests;
mod master;
pub mod message;
mod presence;
mod recent;
#[cfg(test)]
mod roaming_tests;
mod slave;
#[cfg(test)]
mod tests;
pub mod version;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sealcomb_esp::{Suite, Transform};
use zeroize::Zeroizing;

use crate::config::peers::MAX_PEERS;
use crate::config::{Liveness, Role};
use end::End;
use master::Master;
use message::{Refusal, Say, Tag};
pub(crate) use presence::PATIENCE;
use presence::Presence;
pub use presence::Silence;
use recent::Recent;
use slave::Slave;
use version::Versions;

/// Delay before the first retransmission. It doubles each time, up to [`MAX_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(40);
/// Maximum delay between retransmissions. A peer that is back is found within this time.
const MAX_WAIT: Duration = Duration::from_millis(500);
/// Capacity of each history for duplicate detection: message tags, keys, and SPIs.
const MAX_REMEMBERED: usize = 4096;
/// Capacity of the histories of message tags and of SPIs of each of several peers.
const MAX_REMEMBERED_EACH: usize = 512;
/// Maximum number of future key IDs in an offer.
const MAX_NEXT_KEYS: usize = 4;

/// A key from the key source.
#[derive(Clone)]
pub struct SourceKey {
    /// The key ID assigned by the source.
    pub id: String,
    /// The key.
    pub key: Zeroizing<Vec<u8>>,
}

/// The parameters of a new security association: one direction under one key.
pub struct SaParameters {
    /// Key number at this end, counted from its start. It increases with every key, whatever the peer does.
    pub generation: u64,
    /// Offer number, counted from the master's start. For logs and status only.
    pub epoch: u64,
    /// The receiver's SPI.
    pub spi: u32,
    /// The cipher suite, keyed.
    pub suite: Suite,
}

/// A side effect that the caller executes.
pub enum Action {
    /// Send this datagram to this address.
    Send(Vec<u8>, SocketAddr),
    /// The peer is at this address from now on.
    Move(SocketAddr),
    /// Accept packets under this association from now on.
    Receive(SaParameters),
    /// Send under this association, and no other, from now on.
    SendUnder(SaParameters),
    /// Remove the receiving association of this generation: the peer will never send under it.
    Forget(u64),
    /// Retire the receiving associations of earlier generations after the overlap: the peer no longer sends under
    /// them, but packets may be in flight.
    Retire(u64),
    /// Fetch the key of this ID from the source (slave only). At most one fetch is outstanding.
    Fetch(String),
    /// Report an event to the log and the counters.
    Report(Event),
}

/// A change in the state of the peer or of the key exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The peer answered for the first time.
    Met,
    /// The peer restarted: it answered with a new boot ID.
    Restarted,
    /// The peer has shown no sign of life for the dead time, or a new cause of its silence became known.
    Dead(Silence),
    /// The peer is alive again, after this long without a sign of life.
    Back(Duration),
    /// The key of this epoch is in use: in both directions at the master, for sending at the slave.
    Changed(u64),
    /// The slave refused the offer of this epoch, or the master rejected the answer to it. The text gives details,
    /// such as the message of the slave's KME, and may be empty.
    Refused(u64, Refusal, String),
    /// The master offered another suite or ESN setting (slave only): its suite if this version supports it, and
    /// whether its sequence numbers have 64 bits.
    OtherSuite(Option<&'static str>, bool),
    /// The peer supports these protocol versions, none of which this end supports.
    OtherVersions(Versions),
    /// The source delivered a key that it had delivered before.
    Repeated,
}

/// The timer of a message that is retransmitted until it is answered.
struct Retransmit {
    next: Instant,
    wait: Duration,
}

impl Retransmit {
    fn new(now: Instant) -> Self {
        Self { next: now + FIRST_WAIT, wait: FIRST_WAIT }
    }

    fn is_due(&mut self, now: Instant) -> bool {
        if now < self.next {
            return false;
        }
        self.wait = (self.wait * 2).min(MAX_WAIT);
        self.next = now + self.wait;
        true
    }
}

/// The role-specific part of the state.
#[allow(clippy::large_enum_variant, reason = "a process has one")]
enum Side {
    Master(Master),
    Slave(Slave),
}

/// The rekey state machine of one end. Its memory is bounded, whatever it receives.
pub struct Control {
    end: End,
    presence: Presence,
    side: Side,
    /// Tags of authentic messages, to detect copies.
    read: Recent<Tag>,
}

/// The fixed settings of a [`Control`].
pub struct Settings<'a> {
    /// This end's role.
    pub role: Role,
    /// The cipher suite.
    pub transform: Transform,
    /// Whether sequence numbers have 64 bits (ESN).
    pub extended: bool,
    /// Whether each key of the source may be used only once.
    pub single_use: bool,
    /// The key that authenticates control messages.
    pub control_key: &'a [u8],
    /// Rekey interval.
    pub every: Duration,
    /// Intervals of keepalives and of dead-peer detection.
    pub liveness: Liveness,
    /// The peer's number if there may be several peers, less than [`MAX_PEERS`]: the low bits of the SPIs under which
    /// this end receives from it. Peers therefore never have an SPI in common.
    pub slot: Option<u32>,
}

/// Returns the capacity of the histories of message tags and of SPIs.
fn remembered(settings: &Settings<'_>) -> usize {
    if settings.slot.is_some() { MAX_REMEMBERED_EACH } else { MAX_REMEMBERED }
}

impl Control {
    /// Returns the state of an end that has just started, with a new random boot ID.
    pub fn new(settings: &Settings<'_>, now: Instant) -> Self {
        Self {
            end: End::new(settings),
            presence: Presence::new(settings.liveness, now),
            side: match settings.role {
                Role::Master => Side::Master(Master::new(settings.every, now)),
                Role::Slave => Side::Slave(Slave::default()),
            },
            read: Recent::new(remembered(settings)),
        }
    }

    /// Drains the pending actions, to be executed in order.
    pub fn actions(&mut self) -> impl Iterator<Item = Action> {
        self.end.actions.drain(..)
    }

    /// Returns the time of the peer's last sign of life, or `None` if it never answered a challenge.
    pub fn heard(&self) -> Option<Instant> {
        self.end.peer.map(|_| self.presence.heard())
    }

    /// Returns the peer's versions and the one in use, or `None` if it never answered.
    pub fn peer_versions(&self) -> Option<(&Versions, u16)> {
        self.end.peer.as_ref()?;
        Some((&self.end.peer_versions, self.end.version))
    }

    /// Returns whether the peer has shown no sign of life for the dead time.
    pub fn is_peer_dead(&self, now: Instant) -> bool {
        self.presence.is_dead(now)
    }

    /// Returns the peer's address, if it is known.
    pub fn address(&self) -> Option<SocketAddr> {
        self.end.address
    }

    /// Sets the address of a peer that is not alive, from the configuration or a name server. The address of a living
    /// peer is known from its packets.
    pub fn set_address(&mut self, address: SocketAddr, now: Instant) {
        if self.end.peer.is_none() || self.presence.is_dead(now) {
            self.end.move_to(address);
            self.presence.probe(&mut self.end, address, now);
        }
    }

    /// Reports that a packet of the peer from this address was verified, and that its number is the highest so far. The
    /// peer is asked there, since someone may have withheld the packet and sent it on.
    pub fn heard_from(&mut self, source: SocketAddr, now: Instant) {
        if self.end.peer.is_some() {
            self.presence.follow(&mut self.end, source, now);
        }
    }

    /// Reports that a packet of the peer was verified and is no replay, at this time, which may lie in the past: a sign
    /// of life.
    pub fn heard_traffic(&mut self, at: Instant) {
        self.presence.heard_traffic(&mut self.end, at);
    }

    /// Sets the size in bytes that datagrams may have on the path to the peer. Every offer fits into 528 bytes, those of
    /// the minimum path MTU, if it announces no future keys; it announces as many as fit.
    pub fn set_max_datagram(&mut self, bytes: usize) {
        self.end.max_datagram = bytes.min(message::LONGEST);
    }

    /// Sets the intervals of keepalives and of dead-peer detection.
    pub fn set_liveness(&mut self, liveness: Liveness, now: Instant) {
        self.presence.set_liveness(liveness, now);
    }

    /// Returns how many more keys the master needs to have `ahead` of them in advance; 0 for the slave.
    pub fn wants(&self, ahead: usize) -> usize {
        match self.side {
            Side::Master(_) => ahead.saturating_sub(self.end.keys.len()),
            Side::Slave(_) => 0,
        }
    }

    /// Sets the rekey interval (master only).
    pub fn set_interval(&mut self, every: Duration, now: Instant) {
        if let Side::Master(master) = &mut self.side {
            master.set_interval(every, now);
        }
    }

    /// Rekeys as soon as possible, regardless of the current key's usage (master only).
    pub fn change_now(&mut self, now: Instant) {
        if let Side::Master(master) = &mut self.side {
            master.change_now(now);
        }
    }

    /// Reports that this end's key of this generation has reached its soft limit. The master rekeys; the slave
    /// requests it. Has no effect if the generation is not the current one.
    pub fn soft_limit_reached(&mut self, generation: u64, now: Instant) {
        match &mut self.side {
            Side::Master(master) => master.soft_limit_reached(&self.end, generation, now),
            Side::Slave(slave) => slave.soft_limit_reached(&mut self.end, generation, now),
        }
    }

    /// Reports that the receiving associations up to this generation are too old to come into use. The slave then
    /// refuses the offer of such an association if the master has not confirmed it.
    pub fn too_old(&mut self, generation: u64) {
        if let Side::Slave(slave) = &mut self.side {
            slave.too_old(generation);
        }
    }

    /// Adds a key of the source to those to be offered (master only). Returns `false`, and discards the key, if it is
    /// a repeated one.
    pub fn add_key(&mut self, key: SourceKey) -> bool {
        let is_new = self.end.is_new(&key.key);
        if is_new {
            self.end.keys.push_back(key);
        }
        is_new
    }

    /// Passes in the result of [`Action::Fetch`] (slave only): the key, or the reason why the source does not have
    /// it, which the master logs too.
    pub fn fetched(&mut self, id: &str, key: Result<Zeroizing<Vec<u8>>, String>) {
        if let Side::Slave(slave) = &mut self.side {
            slave.fetched(&mut self.end, id, key);
        }
    }

    /// Reports that the source was replaced. The master discards the keys of the old one that it has not used, and
    /// withdraws an offer that is not accepted yet. The slave fetches the key that it waits for again, and keeps those
    /// that it has fetched: the master decides which of them are used.
    pub fn source_replaced(&mut self) {
        match &mut self.side {
            Side::Master(master) => master.source_replaced(&mut self.end),
            Side::Slave(slave) => slave.source_replaced(&mut self.end),
        }
    }

    /// Runs all timers that have expired: retransmissions, heartbeats, and rekeys.
    pub fn tick(&mut self, now: Instant) {
        self.presence.tick(&mut self.end, now);
        match &mut self.side {
            _ if self.end.peer.is_none() => {}
            Side::Master(master) => master.tick(&mut self.end, now),
            Side::Slave(slave) => slave.tick(&mut self.end, now),
        }
    }

    /// Returns whether the peer authenticated a datagram. It may be a copy, and from an old boot.
    pub fn is_authentic(&self, datagram: &[u8]) -> bool {
        self.end.codec.is_authentic(datagram)
    }

    /// Processes a datagram from `source` that begins like a control message. It is accepted only if its HMAC
    /// verifies, it is not a copy, and both boot IDs are current; a `welcome` makes its sender's current. Returns
    /// whether it was accepted.
    pub fn receive(&mut self, datagram: &[u8], source: SocketAddr, now: Instant) -> bool {
        let Some(tag) = message::tag(datagram) else { return false };
        if self.read.contains(tag) {
            return false;
        }
        let Some(message) = self.end.codec.read(datagram) else {
            self.presence.note_unreadable(&self.end, datagram, now);
            return false;
        };
        self.read.insert(*tag);
        let from = message.from;
        let is_peer = self.end.peer == Some(from);
        match message.say {
            Say::Hello { challenge, versions } => {
                let ours = self.end.versions.clone();
                self.end.send_to(source, from, Say::Welcome { challenge, versions: ours });
                let is_understood = self.end.versions.common(&versions).is_some();
                self.presence.note_versions(&mut self.end, versions, now);
                let is_newest = is_peer && self.end.note_count(message.count);
                if is_understood && (!is_peer || self.presence.is_dead(now)) {
                    self.presence.ask(&mut self.end, source, now);
                } else if is_newest {
                    self.presence.follow(&mut self.end, source, now);
                }
                true
            }
            Say::Welcome { challenge, versions } => {
                let is_open = |address| self.presence.is_open(challenge, address, now);
                let was_asked_there = is_open(source);
                let is_answer =
                    message.to == self.end.boot && (was_asked_there || self.end.address.is_some_and(is_open));
                if is_answer {
                    self.answered(from, versions, now);
                    if self.end.peer == Some(from) {
                        let is_newest = self.end.note_count_of_answer(message.count);
                        if is_newest && was_asked_there {
                            self.end.move_to(source);
                        } else {
                            self.presence.follow(&mut self.end, source, now);
                        }
                    }
                }
                is_answer
            }
            say => {
                let is_ours = message.to == self.end.boot && is_peer;
                if is_ours {
                    if self.end.note_count(message.count) {
                        self.presence.follow(&mut self.end, source, now);
                    }
                    self.follow(say, now);
                } else {
                    // One end has restarted, and the other has not noticed yet.
                    self.presence.probe(&mut self.end, source, now);
                }
                is_ours
            }
        }
    }

    fn answered(&mut self, from: message::Id, versions: Versions, now: Instant) {
        let Some(version) = self.end.versions.common(&versions) else {
            self.presence.note_versions(&mut self.end, versions, now);
            return;
        };
        (self.end.version, self.end.peer_versions) = (version, versions);
        let is_another = self.presence.answered(&mut self.end, from, now);
        if is_another {
            match &mut self.side {
                Side::Master(master) => master.reset_for_new_peer(&mut self.end, now),
                Side::Slave(slave) => slave.reset_for_new_peer(),
            }
        }
    }

    fn follow(&mut self, say: Say, now: Instant) {
        let end = &mut self.end;
        match (&mut self.side, say) {
            (Side::Master(master), Say::Accept(accept)) => master.accepted(end, &accept, now),
            (Side::Master(master), Say::Refuse { epoch, why, details }) => {
                master.refused(end, epoch, why, &details, now);
            }
            (Side::Master(master), Say::Done { epoch, proof }) => master.done(end, epoch, proof),
            (Side::Master(master), Say::SoftLimit { epoch }) => master.peer_soft_limit_reached(epoch, now),
            (Side::Slave(slave), Say::Offer(offer)) => slave.offered(end, offer),
            (Side::Slave(slave), Say::Confirm { epoch, proof }) => slave.confirmed(end, epoch, proof),
            _ => {}
        }
    }
}
