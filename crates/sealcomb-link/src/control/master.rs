//! The master's half of the protocol: it chooses the keys and the time of each rekey.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::end::{End, is_same, random};
use super::message::{Accept, Bytes32, Offer, Refusal, Say};
use super::version::printable;
use super::{Action, Event, MAX_NEXT_KEYS, Retransmit, SaParameters, SourceKey};
use crate::config::Role;
use crate::derive::{Secret, Step};

/// Pause after the first of several refusals in a row. It doubles each time, up to [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(100);
pub(super) const MAX_PAUSE: Duration = Duration::from_secs(5);
/// Minimum interval between two offers, whatever the peer sends. Each offer consumes a key of the source. It is half
/// the shortest configurable rekey interval.
const MIN_INTERVAL: Duration = Duration::from_millis(25);
/// Maximum number of receiving associations whose use the slave has not confirmed. The slave sends under the oldest of
/// them only if all later confirmations were lost, each with its retransmissions.
pub(super) const MAX_UNCONFIRMED: usize = 16;

/// The state of the exchange.
enum Exchange {
    Idle,
    /// Waiting for `accept`.
    Offered {
        offer: Offer,
        key: SourceKey,
        retransmit: Retransmit,
    },
    /// Waiting for `done`.
    Confirming {
        epoch: u64,
        generation: u64,
        proof: Bytes32,
        done: Secret,
        retransmit: Retransmit,
    },
}

/// The time of the next rekey.
struct Schedule {
    every: Duration,
    /// When the next rekey is due.
    due: Instant,
    /// Earliest time of the next offer, even if a rekey is due.
    not_before: Instant,
    pause: Duration,
}

pub(super) struct Master {
    exchange: Exchange,
    /// The epoch of the last offer.
    epoch: u64,
    /// Number of keys that the last offer announced: the first ones in store.
    announced: usize,
    schedule: Schedule,
    /// Generations accepted since the last `done`.
    unconfirmed: VecDeque<u64>,
}

impl Master {
    pub(super) fn new(every: Duration, now: Instant) -> Self {
        Self {
            exchange: Exchange::Idle,
            epoch: 0,
            announced: 0,
            schedule: Schedule { every, due: now, not_before: now, pause: FIRST_PAUSE },
            unconfirmed: VecDeque::new(),
        }
    }

    pub(super) fn set_interval(&mut self, every: Duration, now: Instant) {
        self.schedule.every = every;
        self.schedule.due = self.schedule.due.min(now + every);
    }

    pub(super) fn change_now(&mut self, now: Instant) {
        self.schedule.due = self.schedule.due.min(now);
    }

    /// Handles a soft limit that this end's key of this generation has reached.
    pub(super) fn soft_limit_reached(&mut self, end: &End, generation: u64, now: Instant) {
        let is_being_replaced = matches!(self.exchange, Exchange::Offered { .. });
        if generation == end.generation && !is_being_replaced {
            self.change_now(now);
        }
    }

    /// Handles a soft limit that the peer has reported for the key of this epoch.
    pub(super) fn peer_soft_limit_reached(&mut self, epoch: u64, now: Instant) {
        // The slave uses the key, so `done` is on its way or was lost. The slave repeats both messages.
        let is_confirming = matches!(self.exchange, Exchange::Confirming { .. });
        // Keys of earlier epochs are being replaced already.
        if epoch == self.epoch && !is_confirming {
            self.change_now(now);
        }
    }

    /// Handles a new boot ID of the peer. After a restart, the peer has no state of the exchange. It may have fetched
    /// the offered key and those announced before its restart, and cannot fetch them again.
    pub(super) fn reset_for_new_peer(&mut self, end: &mut End, now: Instant) {
        if matches!(self.exchange, Exchange::Offered { .. }) {
            self.exchange = Exchange::Idle;
        }
        end.discard_keys(std::mem::take(&mut self.announced));
        self.schedule.pause = FIRST_PAUSE;
        self.schedule.not_before = self.schedule.not_before.min(now + MIN_INTERVAL);
        self.change_now(now);
    }

    pub(super) fn source_replaced(&mut self, end: &mut End) {
        end.keys.clear();
        self.announced = 0;
        if matches!(self.exchange, Exchange::Offered { .. }) {
            self.exchange = Exchange::Idle;
        }
    }

    pub(super) fn tick(&mut self, end: &mut End, now: Instant) {
        self.offer_if_due(end, now);
        let (retransmit, say) = match &mut self.exchange {
            Exchange::Idle => return,
            Exchange::Offered { offer, retransmit, .. } => (retransmit, Say::Offer(offer.clone())),
            Exchange::Confirming { epoch, proof, retransmit, .. } => {
                (retransmit, Say::Confirm { epoch: *epoch, proof: *proof })
            }
        };
        if retransmit.is_due(now) {
            end.send_to_peer(say);
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
            next_keys: end.keys.iter().take(MAX_NEXT_KEYS).map(|key| key.id.clone()).collect(),
            nonce: Bytes32(random()),
            spi: end.new_spi(),
            suite: end.transform.id.into(),
            esn: end.extended,
            proof: Bytes32::default(),
        };
        // The slave fetches keys that are not announced later, but never gets an offer that does not fit.
        while !offer.next_keys.is_empty() && !end.fits(Say::Offer(offer.clone())) {
            offer.next_keys.pop();
        }
        self.announced = offer.next_keys.len();
        offer.proof = Bytes32(*end.offered(&key.key, &offer).proof(Step::Offer));
        self.exchange = Exchange::Offered { offer: offer.clone(), key, retransmit: Retransmit::new(now) };
        end.send_to_peer(Say::Offer(offer));
    }

    pub(super) fn accepted(&mut self, end: &mut End, accept: &Accept, now: Instant) {
        let Exchange::Offered { offer, key, .. } = &self.exchange else { return };
        if accept.epoch != offer.epoch {
            return;
        }
        let keys = end.agreed(&key.key, offer, accept.nonce, accept.spi);
        if !is_same(&accept.proof, &keys.proof(Step::Accept)) {
            self.give_up(end, accept.epoch, Refusal::Disagree, "", now);
            return;
        }
        let (epoch, generation) = (accept.epoch, end.next_generation());
        let association = |spi, sender| SaParameters { generation, epoch, spi, suite: keys.suite(sender) };
        if self.unconfirmed.len() == MAX_UNCONFIRMED
            && let Some(oldest) = self.unconfirmed.pop_front()
        {
            end.actions.push(Action::Forget(oldest));
        }
        self.unconfirmed.push_back(generation);
        end.actions.push(Action::Receive(association(offer.spi, Role::Slave)));
        end.actions.push(Action::SendUnder(association(accept.spi, Role::Master)));
        end.report(Event::Changed(epoch));
        let proof = Bytes32(*keys.proof(Step::Confirm));
        let done = keys.proof(Step::Done);
        self.exchange =
            Exchange::Confirming { epoch, generation, proof, done, retransmit: Retransmit::new(now) };
        // The interval runs from offer to offer, so that the duration of exchanges does not accumulate.
        let Schedule { every, due, .. } = self.schedule;
        self.schedule.due = (due + every).max(now + every / 2);
        self.schedule.pause = FIRST_PAUSE;
        end.send_to_peer(Say::Confirm { epoch, proof });
    }

    pub(super) fn refused(&mut self, end: &mut End, epoch: u64, why: Refusal, details: &str, now: Instant) {
        match &self.exchange {
            Exchange::Offered { offer, .. } if offer.epoch == epoch => {
                self.give_up(end, epoch, why, details, now);
            }
            // The slave has discarded the key that it accepted, and both ends need another.
            Exchange::Confirming { epoch: ours, .. } if *ours == epoch => {
                self.change_now(now);
                self.give_up(end, epoch, why, details, now);
            }
            _ => {}
        }
    }

    pub(super) fn done(&mut self, end: &mut End, epoch: u64, proof: Bytes32) {
        let Exchange::Confirming { epoch: ours, generation, done, .. } = &self.exchange else { return };
        if *ours == epoch && is_same(&proof, done) {
            end.actions.push(Action::Retire(*generation));
            self.unconfirmed.clear();
            self.exchange = Exchange::Idle;
        }
    }

    #[cfg(test)]
    pub(super) fn holds(&self) -> usize {
        self.unconfirmed.len()
    }

    /// Abandons the exchange. The next offer follows after a pause.
    fn give_up(&mut self, end: &mut End, epoch: u64, why: Refusal, details: &str, now: Instant) {
        let exchange = std::mem::replace(&mut self.exchange, Exchange::Idle);
        if let (Exchange::Offered { key, .. }, Refusal::Suite) = (exchange, why) {
            // The slave has fetched no key of the offer, so all can be offered again.
            end.keys.push_front(key);
            self.announced = 0;
        }
        self.schedule.not_before = now + self.schedule.pause;
        self.schedule.pause = (self.schedule.pause * 2).min(MAX_PAUSE);
        end.report(Event::Refused(epoch, why, printable(details)));
    }
}
