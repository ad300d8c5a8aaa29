//! Who is at the other end, and whether it still is.
//!
//! An end asks with a challenge that nobody saw before, every second, and believes the boot that answers. Each question
//! is answered, whoever asked, unless it is a copy: answers cost no memory, and a limit to their number would let copies of
//! old questions keep out new ones.

use std::time::{Duration, Instant};

use super::end::{End, random};
use super::message::{Id, Say};
use super::{Again, Control, Event, FIRST_WAIT};

/// From an answer to the next question.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// What may be behind a silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Silence {
    /// Nothing comes that looks like a message.
    Nothing,
    /// Messages come, of another control key or another version of the protocol.
    Forged,
    /// Messages come, of an end of the same role as this one.
    SameRole,
}

/// What an end knows of the presence of the other.
pub(super) struct Presence {
    /// The question that is open, asked until it is answered.
    challenge: Id,
    hello: Again,
    asked: Option<Instant>,
    /// When the other end last answered, or this end started.
    heard: Instant,
    /// The best explanation for a silence since then.
    cause: Silence,
    /// Explanations that were told since then.
    told: Vec<Silence>,
}

impl Presence {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            challenge: Id(random()),
            hello: Again { next: now, wait: FIRST_WAIT },
            asked: None,
            heard: now,
            cause: Silence::Nothing,
            told: Vec::new(),
        }
    }

    pub(super) fn heard(&self) -> Instant {
        self.heard
    }

    #[cfg(test)]
    pub(super) fn challenge(&self) -> Id {
        self.challenge
    }

    /// Whether this is the challenge of a question that is open.
    pub(super) fn is_open(&self, challenge: Id) -> bool {
        challenge == self.challenge
    }

    pub(super) fn tick(&mut self, end: &mut End, now: Instant) {
        if self.hello.is_due(now) {
            self.ask(end, now);
        }
        if self.is_silent(now) && !self.told.contains(&self.cause) {
            self.told.push(self.cause);
            end.tell(Event::Silent(self.cause));
        }
    }

    fn is_silent(&self, now: Instant) -> bool {
        now >= self.heard + Control::SILENCE
    }

    fn ask(&mut self, end: &mut End, now: Instant) {
        self.asked = Some(now);
        end.say(Id::default(), Say::Hello { challenge: self.challenge });
    }

    /// Asks before it is due, since a message came of a boot that is not known, and so tells it who we are.
    pub(super) fn question(&mut self, end: &mut End, now: Instant) {
        if self.asked.is_none_or(|asked| now >= asked + FIRST_WAIT) {
            self.ask(end, now);
        }
    }

    /// The open question was answered; `true`: by another boot than the one before.
    pub(super) fn answered(&mut self, end: &mut End, boot: Id, now: Instant) -> bool {
        let was_silent = !self.told.is_empty();
        *self = Self {
            hello: Again { next: now + HEARTBEAT, wait: FIRST_WAIT },
            asked: self.asked,
            ..Self::new(now)
        };
        let before = end.peer.replace(boot);
        match before {
            None => end.tell(Event::Met),
            Some(before) if before != boot => end.tell(Event::Restarted),
            Some(_) if was_silent => end.tell(Event::Back),
            Some(_) => {}
        }
        before != Some(boot)
    }

    /// A datagram came that the other end did not write as it should.
    pub(super) fn not_read(&mut self, end: &End, datagram: &[u8], now: Instant) {
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
