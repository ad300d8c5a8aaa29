//! The slave's half of the protocol: it fetches the keys that the master offers from its own source.

use std::collections::VecDeque;
use std::time::Instant;

use zeroize::Zeroizing;

use super::end::{End, is_same, random};
use super::message::{Accept, Bytes32, Id, Offer, Refusal, Say, is_key_name};
use super::version::printable;
use super::{Action, Event, MAX_NEXT_KEYS, Retransmit, SaParameters, SourceKey};
use crate::config::Role;
use crate::derive::{Epoch, Step};

/// Maximum number of fetched keys that await their offer.
const MAX_FETCHED_KEYS: usize = 64;
/// Maximum number of accepted but unconfirmed receiving associations. A master that follows the protocol causes at
/// most two: the one that it sends under, and the next.
pub(super) const MAX_PENDING: usize = 4;

/// The latest offer with a valid proof, and the answer to it.
struct Accepted {
    from: Id,
    offer: Offer,
    accept: Accept,
    /// The key material; `None` once the offer is confirmed, or is too old to be confirmed.
    keys: Option<Epoch>,
    generation: u64,
}

/// The confirmed key, under which this end sends.
struct Following {
    from: Id,
    epoch: u64,
    generation: u64,
    done: Bytes32,
    /// The timer of `worn`, which is sent from the soft limit until the next key.
    soft_limit_notice: Option<Retransmit>,
}

#[derive(Default)]
pub(super) struct Slave {
    /// The offer whose key is being fetched. Its proof is not verified yet, so the next offer replaces it.
    awaited: Option<Offer>,
    /// IDs of the keys to be offered next.
    ahead: VecDeque<String>,
    /// ID of the key that is being fetched.
    asked: Option<String>,
    accepted: Option<Accepted>,
    /// Generations accepted since the last confirmation.
    pending: VecDeque<u64>,
    following: Option<Following>,
}

impl Slave {
    /// Handles a soft limit that this end's key of this generation has reached.
    pub(super) fn soft_limit_reached(&mut self, end: &mut End, generation: u64, now: Instant) {
        if let Some(Following { epoch, generation: ours, soft_limit_notice: notice @ None, .. }) =
            &mut self.following
            && *ours == generation
        {
            *notice = Some(Retransmit::new(now));
            end.send_to_peer(Say::SoftLimit { epoch: *epoch });
        }
    }

    /// Handles a new boot ID of the peer.
    pub(super) fn reset_for_new_peer(&mut self) {
        self.awaited = None;
        self.ahead.clear();
    }

    pub(super) fn source_replaced(&mut self, end: &mut End) {
        self.asked = None;
        self.ask(end);
    }

    pub(super) fn tick(&mut self, end: &mut End, now: Instant) {
        if let Some(Following { epoch, soft_limit_notice: Some(retransmit), .. }) = &mut self.following
            && retransmit.is_due(now)
        {
            end.send_to_peer(Say::SoftLimit { epoch: *epoch });
        }
    }

    pub(super) fn offered(&mut self, end: &mut End, offer: Offer) {
        if let Some(accepted) = self.accepted.as_ref().filter(|accepted| end.peer == Some(accepted.from))
            && offer.epoch <= accepted.offer.epoch
        {
            let is_following = |following: &Following| following.generation == accepted.generation;
            let is_valid = accepted.keys.is_some() || self.following.as_ref().is_some_and(is_following);
            if accepted.offer == offer && is_valid {
                end.send_to_peer(Say::Accept(accepted.accept.clone()));
            } else {
                let details = String::new();
                end.send_to_peer(Say::Refuse { epoch: offer.epoch, why: Refusal::Outdated, details });
            }
            return;
        }
        if self.awaited.as_ref() == Some(&offer) {
            return;
        }
        if offer.suite != end.transform.id || offer.esn != end.extended {
            let theirs = sealcomb_esp::Transform::by_id(&offer.suite).map(|transform| transform.id);
            end.report(Event::OtherSuite(theirs, offer.esn));
            let details = format!("the slave has `suite` {} and `esn` {}", end.transform.id, end.extended);
            end.send_to_peer(Say::Refuse { epoch: offer.epoch, why: Refusal::Suite, details });
            return;
        }
        if !is_key_name(&offer.key) {
            refuse(end, offer.epoch, Refusal::NoKey, "the key ID is invalid");
            return;
        }
        self.ahead =
            offer.next_keys.iter().take(MAX_NEXT_KEYS).filter(|id| is_key_name(id)).cloned().collect();
        let is_there = has(end, &offer.key);
        self.awaited = Some(offer);
        if is_there {
            self.accept(end);
        }
        self.ask(end);
    }

    /// Handles receiving associations that are too old to come into use. The master did not get the answer to an
    /// offer, such as on a wire that was cut, and would soon send under an association that has expired here.
    pub(super) fn too_old(&mut self, generation: u64) {
        if let Some(accepted) = self.accepted.as_mut().filter(|accepted| accepted.generation <= generation) {
            accepted.keys = None;
        }
    }

    #[cfg(test)]
    pub(super) fn holds(&self) -> usize {
        self.ahead.len() + self.pending.len()
    }

    /// Starts a fetch unless one is outstanding: of the offered key, or else of the next announced one.
    fn ask(&mut self, end: &mut End) {
        if self.asked.is_some() {
            return;
        }
        let offered = self.awaited.as_ref().map(|offer| offer.key.clone());
        let mut wanted = offered.into_iter().chain(std::iter::from_fn(|| self.ahead.pop_front()));
        if let Some(id) = wanted.find(|id| !has(end, id)) {
            self.asked = Some(id.clone());
            end.actions.push(Action::Fetch(id));
        }
    }

    pub(super) fn fetched(&mut self, end: &mut End, id: &str, key: Result<Zeroizing<Vec<u8>>, String>) {
        if self.asked.as_deref() == Some(id) {
            self.asked = None;
        }
        let failure = match key {
            Ok(key) => {
                if end.keys.len() == MAX_FETCHED_KEYS {
                    end.keys.pop_front();
                }
                end.keys.push_back(SourceKey { id: id.to_owned(), key });
                None
            }
            Err(why) => Some(why),
        };
        if let Some(offer) = self.awaited.as_ref().filter(|offer| offer.key == id) {
            if let Some(why) = failure {
                refuse(end, offer.epoch, Refusal::NoKey, &why);
                self.awaited = None;
            } else {
                self.accept(end);
            }
        }
        self.ask(end);
    }

    /// Accepts the awaited offer, whose key has been fetched, if its proof verifies.
    fn accept(&mut self, end: &mut End) {
        let (Some(offer), Some(from)) = (self.awaited.take(), end.peer) else { return };
        let Some(at) = end.keys.iter().position(|key| key.id == offer.key) else { return };
        let proof = end.offered(&end.keys[at].key, &offer).proof(Step::Offer);
        if !is_same(&offer.proof, &proof) {
            // The key is not consumed: an offer without a valid proof must not exhaust the store.
            refuse(end, offer.epoch, Refusal::Disagree, "");
            return;
        }
        let Some(SourceKey { key, .. }) = end.keys.remove(at) else { return };
        if !end.is_new(&key) {
            refuse(end, offer.epoch, Refusal::Repeated, "");
            return;
        }
        let (nonce, spi) = (Bytes32(random()), end.new_spi());
        let keys = end.agreed(&key, &offer, nonce, spi);
        let (epoch, generation) = (offer.epoch, end.next_generation());
        let accept = Accept { epoch, nonce, spi, proof: Bytes32(*keys.proof(Step::Accept)) };
        if self.pending.len() == MAX_PENDING
            && let Some(oldest) = self.pending.pop_front()
        {
            end.actions.push(Action::Forget(oldest));
        }
        self.pending.push_back(generation);
        let suite = keys.suite(Role::Master);
        end.actions.push(Action::Receive(SaParameters { generation, epoch, spi, suite }));
        end.send_to_peer(Say::Accept(accept.clone()));
        self.accepted = Some(Accepted { from, offer, accept, keys: Some(keys), generation });
    }

    pub(super) fn confirmed(&mut self, end: &mut End, epoch: u64, proof: Bytes32) {
        let is_of_peer = |from, ours| end.peer == Some(from) && ours == epoch;
        if let Some(Following { done, .. }) =
            self.following.as_ref().filter(|following| is_of_peer(following.from, following.epoch))
        {
            let proof = *done;
            end.send_to_peer(Say::Done { epoch, proof });
            return;
        }
        let Some(Accepted { from, offer, keys: unconfirmed @ Some(_), generation, .. }) =
            self.accepted.as_mut().filter(|accepted| is_of_peer(accepted.from, accepted.offer.epoch))
        else {
            // A later offer has superseded it, or it is too old.
            let details = String::new();
            end.send_to_peer(Say::Refuse { epoch, why: Refusal::Outdated, details });
            return;
        };
        let Some(keys) = unconfirmed.take_if(|keys| is_same(&proof, &keys.proof(Step::Confirm))) else {
            return;
        };
        let (generation, spi, suite) = (*generation, offer.spi, keys.suite(Role::Slave));
        let done = Bytes32(*keys.proof(Step::Done));
        self.following = Some(Following { from: *from, epoch, generation, done, soft_limit_notice: None });
        self.pending.clear();
        end.actions.push(Action::SendUnder(SaParameters { generation, epoch, spi, suite }));
        end.actions.push(Action::Retire(generation));
        end.report(Event::Changed(epoch));
        end.send_to_peer(Say::Done { epoch, proof: done });
    }
}

fn has(end: &End, id: &str) -> bool {
    end.keys.iter().any(|key| key.id == id)
}

fn refuse(end: &mut End, epoch: u64, why: Refusal, details: &str) {
    let details = printable(details);
    end.report(Event::Refused(epoch, why, details.clone()));
    end.send_to_peer(Say::Refuse { epoch, why, details });
}
