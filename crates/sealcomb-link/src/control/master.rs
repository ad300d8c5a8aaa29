//! The master's part: it chooses keys and when they change.

use std::time::{Duration, Instant};

use super::end::{End, is_same, random};
use super::message::{Accept, Bytes32, Offer, Refusal, Say};
use super::{Action, Again, Association, Event, NAMED, SourceKey};
use crate::config::Role;
use crate::derive::{Secret, Step};

/// Of keys that were refused, until the next is tried; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Between two offers, whatever the other end says: half of the shortest interval that can be configured. Each offer takes
/// a key of the source.
const MIN_INTERVAL: Duration = Duration::from_millis(25);

/// Where an exchange stands.
enum Exchange {
    Idle,
    /// Waits for `accept`.
    Offered {
        offer: Offer,
        key: SourceKey,
        again: Again,
    },
    /// Waits for `done`.
    Confirming {
        epoch: u64,
        generation: u64,
        proof: Bytes32,
        done: Secret,
        again: Again,
    },
}

/// When it is time for another key.
struct Schedule {
    every: Duration,
    /// When the next change is due.
    due: Instant,
    /// Not before, whatever is due.
    not_before: Instant,
    pause: Duration,
}

pub(super) struct Master {
    exchange: Exchange,
    /// Of the last offer.
    epoch: u64,
    schedule: Schedule,
}

impl Master {
    pub(super) fn new(every: Duration, now: Instant) -> Self {
        Self {
            exchange: Exchange::Idle,
            epoch: 0,
            schedule: Schedule { every, due: now, not_before: now, pause: FIRST_PAUSE },
        }
    }

    pub(super) fn set_interval(&mut self, every: Duration, now: Instant) {
        self.schedule.every = every;
        self.schedule.due = self.schedule.due.min(now + every);
    }

    pub(super) fn change_now(&mut self, now: Instant) {
        self.schedule.due = self.schedule.due.min(now);
    }

    /// This end has sent enough under a key.
    pub(super) fn worn(&mut self, end: &End, generation: u64, now: Instant) {
        let is_about_to_go = matches!(self.exchange, Exchange::Offered { .. });
        if generation == end.generation && !is_about_to_go {
            self.change_now(now);
        }
    }

    /// The other end has.
    pub(super) fn worn_there(&mut self, epoch: u64, now: Instant) {
        // Another than the last that was offered is about to go as it is.
        if epoch == self.epoch {
            self.change_now(now);
        }
    }

    /// The other end is another than before, and knows of no exchange.
    pub(super) fn meet(&mut self, now: Instant) {
        if matches!(self.exchange, Exchange::Offered { .. }) {
            // The boot before may have used up the key.
            self.exchange = Exchange::Idle;
        }
        self.schedule.pause = FIRST_PAUSE;
        self.schedule.not_before = self.schedule.not_before.min(now + MIN_INTERVAL);
        self.change_now(now);
    }

    pub(super) fn tick(&mut self, end: &mut End, now: Instant) {
        self.offer_if_due(end, now);
        let (again, say) = match &mut self.exchange {
            Exchange::Idle => return,
            Exchange::Offered { offer, again, .. } => (again, Say::Offer(offer.clone())),
            Exchange::Confirming { epoch, proof, again, .. } => {
                (again, Say::Confirm { epoch: *epoch, proof: *proof })
            }
        };
        if again.is_due(now) {
            end.tell_peer(say);
        }
    }

    fn offer_if_due(&mut self, end: &mut End, now: Instant) {
        let is_waiting = matches!(self.exchange, Exchange::Offered { .. });
        if is_waiting || now < self.schedule.due || now < self.schedule.not_before {
            return;
        }
        let Some(key) = end.keys.pop_front() else { return };
        self.epoch += 1;
        self.schedule.not_before = now + MIN_INTERVAL;
        let mut offer = Offer {
            epoch: self.epoch,
            key: key.id.clone(),
            next_keys: end.keys.iter().take(NAMED).map(|key| key.id.clone()).collect(),
            nonce: Bytes32(random()),
            spi: end.new_spi(),
            suite: end.transform.id.into(),
            esn: end.extended,
            proof: Bytes32::default(),
        };
        offer.proof = Bytes32(*end.offered(&key.key, &offer).proof(Step::Offer));
        self.exchange = Exchange::Offered { offer: offer.clone(), key, again: Again::new(now) };
        end.tell_peer(Say::Offer(offer));
    }

    pub(super) fn accepted(&mut self, end: &mut End, accept: &Accept, now: Instant) {
        let Exchange::Offered { offer, key, .. } = &self.exchange else { return };
        if accept.epoch != offer.epoch {
            return;
        }
        let keys = end.agreed(&key.key, offer, accept.nonce, accept.spi);
        if !is_same(&accept.proof, &keys.proof(Step::Accept)) {
            self.give_up(end, accept.epoch, Refusal::Disagree, now);
            return;
        }
        let (epoch, generation) = (accept.epoch, end.next_generation());
        let association = |spi, sender| Association { generation, epoch, spi, suite: keys.suite(sender) };
        end.actions.push(Action::Receive(association(offer.spi, Role::Slave)));
        end.actions.push(Action::SendUnder(association(accept.spi, Role::Master)));
        end.tell(Event::Changed(epoch));
        let proof = Bytes32(*keys.proof(Step::Confirm));
        let done = keys.proof(Step::Done);
        self.exchange = Exchange::Confirming { epoch, generation, proof, done, again: Again::new(now) };
        // From one offer to the next it is the interval, whatever the exchange takes.
        let Schedule { every, due, .. } = self.schedule;
        self.schedule.due = (due + every).max(now + every / 2);
        self.schedule.pause = FIRST_PAUSE;
        end.tell_peer(Say::Confirm { epoch, proof });
    }

    pub(super) fn refused(&mut self, end: &mut End, epoch: u64, why: Refusal, now: Instant) {
        match &self.exchange {
            Exchange::Offered { offer, .. } if offer.epoch == epoch => self.give_up(end, epoch, why, now),
            // The slave has lost what it accepted: another key, for both.
            Exchange::Confirming { epoch: ours, .. } if *ours == epoch => {
                self.change_now(now);
                self.give_up(end, epoch, why, now);
            }
            _ => {}
        }
    }

    pub(super) fn done(&mut self, end: &mut End, epoch: u64, proof: Bytes32) {
        let Exchange::Confirming { epoch: ours, generation, done, .. } = &self.exchange else { return };
        if *ours == epoch && is_same(&proof, done) {
            end.actions.push(Action::Retire(*generation));
            self.exchange = Exchange::Idle;
        }
    }

    /// Ends an exchange; the next key is tried after a pause.
    fn give_up(&mut self, end: &mut End, epoch: u64, why: Refusal, now: Instant) {
        let exchange = std::mem::replace(&mut self.exchange, Exchange::Idle);
        if let (Exchange::Offered { key, .. }, Refusal::Suite) = (exchange, why) {
            // The slave did not ask for it.
            end.keys.push_front(key);
        }
        self.schedule.not_before = now + self.schedule.pause;
        self.schedule.pause = (self.schedule.pause * 2).min(LONGEST_PAUSE);
        end.tell(Event::Refused(epoch, why));
    }
}
