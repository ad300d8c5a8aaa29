//! Peer discovery and liveness.
//!
//! Each end sends a fresh random challenge every second and accepts the boot ID that answers it. Every authentic
//! challenge is answered unless it is a copy. Answers need no memory, and they are not rate-limited: with a limit, an
//! attacker could exhaust it with copies of old challenges and block new ones.

use std::time::{Duration, Instant};

use super::end::{End, random};
use super::message::{Id, Say};
use super::{Control, Event, FIRST_WAIT, Retransmit};

/// Interval from an answer to the next challenge.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// The probable cause of a peer's silence, from the least to the most specific.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Silence {
    /// No control messages arrive.
    Nothing,
    /// Messages arrive, but under another control key or protocol version.
    Forged,
    /// Messages arrive from an end of the same role as this one.
    SameRole,
}

/// The liveness of the peer as seen from this end.
pub(super) struct Presence {
    /// The outstanding challenge, sent until it is answered.
    challenge: Id,
    hello: Retransmit,
    /// When the last challenge was sent.
    asked: Option<Instant>,
    /// When the peer last answered, or this end started.
    heard: Instant,
    /// The most specific cause of a silence observed since `heard`.
    cause: Silence,
    /// The causes reported since `heard`.
    reported: Vec<Silence>,
}

impl Presence {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            challenge: Id(random()),
            hello: Retransmit { next: now, wait: FIRST_WAIT },
            asked: None,
            heard: now,
            cause: Silence::Nothing,
            reported: Vec::new(),
        }
    }

    pub(super) fn heard(&self) -> Instant {
        self.heard
    }

    #[cfg(test)]
    pub(super) fn challenge(&self) -> Id {
        self.challenge
    }

    /// Returns whether this is the outstanding challenge.
    pub(super) fn is_open(&self, challenge: Id) -> bool {
        challenge == self.challenge
    }

    pub(super) fn tick(&mut self, end: &mut End, now: Instant) {
        if self.hello.is_due(now) {
            self.ask(end, now);
        }
        if self.is_silent(now) && !self.reported.contains(&self.cause) {
            self.reported.push(self.cause);
            end.report(Event::Silent(self.cause));
        }
    }

    fn is_silent(&self, now: Instant) -> bool {
        now >= self.heard + Control::SILENCE
    }

    fn ask(&mut self, end: &mut End, now: Instant) {
        self.asked = Some(now);
        end.send(Id::default(), Say::Hello { challenge: self.challenge });
    }

    /// Sends a challenge ahead of schedule, because a message arrived from an unknown boot ID. The challenge also
    /// gives the peer this end's boot ID.
    pub(super) fn probe(&mut self, end: &mut End, now: Instant) {
        if self.asked.is_none_or(|asked| now >= asked + FIRST_WAIT) {
            self.ask(end, now);
        }
    }

    /// Records an answer to the outstanding challenge. Returns whether the peer's boot ID has changed.
    pub(super) fn answered(&mut self, end: &mut End, boot: Id, now: Instant) -> bool {
        let was_silent = !self.reported.is_empty();
        *self = Self {
            hello: Retransmit { next: now + HEARTBEAT, wait: FIRST_WAIT },
            asked: self.asked,
            ..Self::new(now)
        };
        let before = end.peer.replace(boot);
        match before {
            None => end.report(Event::Met),
            Some(before) if before != boot => end.report(Event::Restarted),
            Some(_) if was_silent => end.report(Event::Back),
            Some(_) => {}
        }
        before != Some(boot)
    }

    /// Records a datagram whose HMAC does not verify, as a possible cause of the peer's silence.
    pub(super) fn note_unreadable(&mut self, end: &End, datagram: &[u8], now: Instant) {
        if end.peer.is_some() && !self.is_silent(now) {
            return;
        }
        let cause = match end.codec.read_own(datagram) {
            Some(message) if message.from == end.boot => return,
            Some(_) => Silence::SameRole,
            None => Silence::Forged,
        };
        self.cause = self.cause.max(cause);
    }
}
