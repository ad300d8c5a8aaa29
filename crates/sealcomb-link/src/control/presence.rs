//! Peer discovery and liveness.
//!
//! ```text
//! every `interval` without a sign of life:      send a challenge, until it is answered
//! `dead` without an answer:                     send a challenge, until it is answered
//! `dead` without a sign of life:                the peer is dead: packets to it are dropped
//! `PATIENCE` times `dead` without an answer:    the peer is dead, and packets are no signs of life
//! a sign of life:                               the peer is alive again
//! an authentic challenge while it is dead:      send a challenge at once
//! an authentic message from another address:    send a challenge there at once
//! ```
//!
//! Signs of life are an answer to the outstanding challenge, and a packet of the peer that was verified and is no
//! replay. Copies of either are none. Originals that someone withholds and sends on later keep a dead peer alive only
//! until it owes an answer.
//!
//! The challenge to each address is another one, so an answer proves that the peer was asked there. Each end accepts
//! the boot ID that answers its challenge. Every authentic challenge is answered unless it is a
//! copy. Answers need no memory, and they are not rate-limited: with a limit, an attacker could exhaust it with
//! copies of old challenges and block new ones.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::end::{End, random};
use super::message::{Id, Say};
use super::version::Versions;
use super::{Event, FIRST_WAIT, Retransmit};
use crate::config::Liveness;

/// A peer that has not answered for this many times `dead` is dead, whatever packets arrive.
pub(crate) const PATIENCE: u32 = 3;
/// Minimum time for which a challenge can be answered: longer than any round trip.
const MIN_CHALLENGE_AGE: Duration = Duration::from_secs(2);

/// The probable cause of a peer's silence, from the least to the most specific.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Silence {
    /// No control messages arrive.
    Nothing,
    /// The peer's packets arrive, but no answers.
    Unanswered,
    /// Messages arrive, but under another control key.
    Forged,
    /// Authentic messages arrive that this release does not understand.
    Unknown,
    /// Messages arrive from an end of the same role as this one.
    SameRole,
    /// Messages arrive from an end that supports other protocol versions.
    OtherVersions,
}

/// The liveness of the peer as seen from this end.
pub(super) struct Presence {
    liveness: Liveness,
    /// The secret from which the outstanding challenge to each address is derived.
    secret: [u8; 16],
    /// When a challenge was sent with this secret first.
    secret_since: Option<Instant>,
    hello: Retransmit,
    /// When the last challenge was sent.
    asked: Option<Instant>,
    /// When the last challenge was sent because the peer had moved.
    followed: Option<Instant>,
    /// The peer's last sign of life, or the start of this end.
    heard: Instant,
    /// The peer's last answer, or the start of this end.
    answered: Instant,
    /// When silence begins to count, if that is later.
    silent_from: Instant,
    /// The most specific cause of a silence observed since `heard`.
    cause: Silence,
    /// The causes reported since `heard`.
    reported: Vec<Silence>,
}

impl Presence {
    pub(super) fn new(liveness: Liveness, now: Instant) -> Self {
        Self {
            liveness,
            secret: random(),
            secret_since: None,
            hello: Retransmit { next: now, wait: FIRST_WAIT },
            asked: None,
            followed: None,
            heard: now,
            answered: now,
            silent_from: now,
            cause: Silence::Nothing,
            reported: Vec::new(),
        }
    }

    pub(super) fn heard(&self) -> Instant {
        self.heard
    }

    #[cfg(test)]
    pub(super) fn cause(&self) -> Silence {
        self.cause
    }

    /// Returns the outstanding challenge to this address.
    pub(super) fn challenge(&self, address: SocketAddr) -> Id {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).expect("HMAC accepts keys of any size");
        mac.update(address.to_string().as_bytes());
        let mut challenge = Id::default();
        challenge.0.copy_from_slice(&mac.finalize().into_bytes()[..16]);
        challenge
    }

    /// Changes the intervals. A longer interval applies from the next sign of life or retransmission on. A living peer
    /// gets a shorter dead time from now on: it may not have been asked for long.
    pub(super) fn set_liveness(&mut self, liveness: Liveness, now: Instant) {
        if !self.is_dead(now) && liveness.dead < self.liveness.dead {
            self.silent_from = now;
        }
        self.liveness = liveness;
        self.hello.next = self.hello.next.min(now.max(self.next_challenge()));
    }

    /// Returns when the peer must be asked for an answer.
    fn next_challenge(&self) -> Instant {
        (self.heard + self.liveness.interval).min(self.answered + self.liveness.dead)
    }

    /// Returns whether this is the outstanding challenge to this address.
    pub(super) fn is_open(&self, challenge: Id, address: SocketAddr, now: Instant) -> bool {
        !self.is_secret_old(now) && challenge == self.challenge(address)
    }

    /// Returns whether an answer to the outstanding challenge may have been withheld.
    fn is_secret_old(&self, now: Instant) -> bool {
        let max_age = self.liveness.dead.max(MIN_CHALLENGE_AGE);
        self.secret_since.is_some_and(|since| now >= since + max_age)
    }

    pub(super) fn tick(&mut self, end: &mut End, now: Instant) {
        if self.hello.is_due(now)
            && let Some(address) = end.address
        {
            self.ask(end, address, now);
        }
        if !self.is_dead(now) {
            return;
        }
        if !self.is_silent(now) {
            self.cause = self.cause.max(Silence::Unanswered);
        }
        if !self.reported.contains(&self.cause) {
            self.reported.push(self.cause);
            end.report(Event::Dead(self.cause));
        }
    }

    /// Returns whether the peer has shown no sign of life for the dead time, or owes an answer.
    pub(super) fn is_dead(&self, now: Instant) -> bool {
        self.is_silent(now) || self.owes_answer(now)
    }

    fn is_silent(&self, now: Instant) -> bool {
        now >= self.heard.max(self.silent_from) + self.liveness.dead
    }

    /// Returns whether the peer has not answered for so long that its packets may have been withheld.
    fn owes_answer(&self, now: Instant) -> bool {
        now >= self.answered.max(self.silent_from) + self.liveness.dead * PATIENCE
    }

    /// Sends a challenge ahead of schedule to the source of a challenge, because its boot ID is unknown or the peer
    /// was dead. Like answers, this is not rate-limited: copies of old challenges could exhaust the limit, and keep
    /// this end from asking at the only address where the peer can be found.
    pub(super) fn ask(&mut self, end: &mut End, address: SocketAddr, now: Instant) {
        self.asked = Some(now);
        if self.secret_since.is_none() || self.is_secret_old(now) {
            (self.secret, self.secret_since) = (random(), Some(now));
        }
        let say = Say::Hello { challenge: self.challenge(address), versions: end.versions.clone() };
        end.send_to(address, Id::default(), say);
    }

    /// Sends a challenge ahead of schedule, because another message arrived from an unknown boot ID. The challenge
    /// also gives the peer this end's boot ID.
    pub(super) fn probe(&mut self, end: &mut End, address: SocketAddr, now: Instant) {
        if self.asked.is_none_or(|asked| now >= asked + FIRST_WAIT) {
            self.ask(end, address, now);
        }
    }

    /// Sends a challenge ahead of schedule to an address that may be that of the peer from now on, unless it is the known
    /// one. At most one per [`FIRST_WAIT`], since a NAT that changes all mappings would make two ends challenge each
    /// other forever.
    pub(super) fn follow(&mut self, end: &mut End, address: SocketAddr, now: Instant) {
        if end.address == Some(address) {
            return;
        }
        if self.followed.is_none_or(|followed| now >= followed + FIRST_WAIT) {
            self.followed = Some(now);
            self.ask(end, address, now);
        }
    }

    /// Records an answer to the outstanding challenge. Returns whether the peer's boot ID has changed.
    pub(super) fn answered(&mut self, end: &mut End, boot: Id, now: Instant) -> bool {
        (self.secret, self.secret_since) = (random(), None);
        self.answered = now;
        let silence = self.alive(now);
        let before = end.set_peer(boot);
        match (before, silence) {
            (None, _) => end.report(Event::Met),
            (Some(before), _) if before != boot => end.report(Event::Restarted),
            (Some(_), Some(silence)) => end.report(Event::Back(silence)),
            (Some(_), None) => {}
        }
        before != Some(boot)
    }

    /// Records that a packet of the peer was verified at this time, which may lie in the past.
    pub(super) fn heard_traffic(&mut self, end: &mut End, at: Instant) {
        if end.peer.is_none() || at <= self.heard {
            return;
        }
        if self.owes_answer(at) {
            self.cause = self.cause.max(Silence::Unanswered);
            return;
        }
        if let Some(silence) = self.alive(at) {
            end.report(Event::Back(silence));
        }
    }

    /// Records a sign of life. Returns the duration of the silence that it ends, if the silence was reported.
    fn alive(&mut self, at: Instant) -> Option<Duration> {
        let silence = at.saturating_duration_since(self.heard);
        self.heard = self.heard.max(at);
        // Packets do not delay the challenges of a peer that has to answer.
        if at < self.answered + self.liveness.dead {
            self.hello = Retransmit { next: self.next_challenge(), wait: FIRST_WAIT };
        }
        self.cause = Silence::Nothing;
        let was_reported = !self.reported.is_empty();
        self.reported.clear();
        was_reported.then_some(silence)
    }

    /// Records the versions in an authentic message of the peer, and reports them if there is none in common. A
    /// living peer has proved its versions; the message may then be a copy from before an update.
    pub(super) fn note_versions(&mut self, end: &mut End, versions: Versions, now: Instant) {
        let is_alive = end.peer.is_some() && !self.is_dead(now);
        if is_alive || end.versions.common(&versions).is_some() {
            return;
        }
        self.cause = Silence::OtherVersions;
        end.report(Event::OtherVersions(versions));
    }

    /// Records a datagram whose HMAC does not verify, as a possible cause of the peer's silence.
    pub(super) fn note_unreadable(&mut self, end: &End, datagram: &[u8], now: Instant) {
        if end.peer.is_some() && !self.is_dead(now) {
            return;
        }
        let cause = match end.codec.read_own(datagram) {
            Some(message) if message.from == end.boot => return,
            Some(_) => Silence::SameRole,
            None if end.codec.is_authentic(datagram) => Silence::Unknown,
            None => Silence::Forged,
        };
        self.cause = self.cause.max(cause);
    }
}
