//! What both roles have: who they are, how they speak, and keys of the source.

use std::collections::VecDeque;

use ctutils::CtEq;
use sealcomb_esp::{Fingerprint, Transform};

use super::message::{Bytes32, Codec, Id, Message, Offer, Say};
use super::recent::Recent;
use super::{Action, Event, REMEMBERED, Settings, SourceKey};
use crate::config::Role;
use crate::derive::{Context, Epoch, Root, Secret};

/// An end of a link.
pub(super) struct End {
    pub(super) role: Role,
    pub(super) transform: Transform,
    pub(super) extended: bool,
    single_use: bool,
    root: Root,
    pub(super) codec: Codec,
    pub(super) boot: Id,
    count: u64,
    /// The boot of the other end, of which the latest answer to a challenge came.
    pub(super) peer: Option<Id>,
    /// Of the latest key that this end receives under.
    pub(super) generation: u64,
    /// The master's: keys to offer. The slave's: those that were fetched.
    pub(super) keys: VecDeque<SourceKey>,
    seen: Recent<Fingerprint>,
    /// SPIs that this end gave out lately.
    spis: Recent<u32>,
    pub(super) actions: Vec<Action>,
}

impl End {
    pub(super) fn new(settings: &Settings<'_>) -> Self {
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
            generation: 0,
            keys: VecDeque::new(),
            seen: Recent::new(REMEMBERED),
            spis: Recent::new(REMEMBERED),
            actions: Vec::new(),
        }
    }

    pub(super) fn say(&mut self, to: Id, say: Say) {
        self.count += 1;
        let message = Message { from: self.boot, to, count: self.count, say };
        self.actions.push(Action::Send(self.codec.write(&message)));
    }

    pub(super) fn tell_peer(&mut self, say: Say) {
        if let Some(boot) = self.peer {
            self.say(boot, say);
        }
    }

    pub(super) fn tell(&mut self, event: Event) {
        self.actions.push(Action::Tell(event));
    }

    /// Whether a key may be used: it was never there, or the source may give keys again.
    pub(super) fn is_new(&mut self, key: &[u8]) -> bool {
        let is_new = !self.single_use || self.seen.insert(Fingerprint::of(key));
        if !is_new {
            self.tell(Event::Repeated);
        }
        is_new
    }

    /// What follows from a key and an offer of it, before the slave has answered.
    pub(super) fn offered(&self, key: &[u8], offer: &Offer) -> Epoch {
        self.agreed(key, offer, Bytes32::default(), 0)
    }

    /// What follows from a key, an offer of it, and the slave's answer.
    pub(super) fn agreed(&self, key: &[u8], offer: &Offer, slave_nonce: Bytes32, slave_spi: u32) -> Epoch {
        let peer = self.peer.unwrap_or_default();
        let context = Context {
            transform: self.transform,
            extended: self.extended,
            boots: match self.role {
                Role::Master => [self.boot.0, peer.0],
                Role::Slave => [peer.0, self.boot.0],
            },
            epoch: offer.epoch,
            nonces: [offer.nonce.0, slave_nonce.0],
            spis: [offer.spi, slave_spi],
            key_id: offer.key.clone(),
        };
        Epoch::new(&self.root, key, context)
    }

    #[cfg(test)]
    pub(super) fn remembers(&self) -> usize {
        self.seen.len() + self.spis.len()
    }

    /// Of a key that this end is about to receive under.
    pub(super) fn next_generation(&mut self) -> u64 {
        self.generation += 1;
        self.generation
    }

    /// Random, and none that this end gave out lately.
    pub(super) fn new_spi(&mut self) -> u32 {
        /// SPIs below are reserved.
        const FIRST: u32 = 256;
        loop {
            let spi = u32::from_be_bytes(random());
            if spi >= FIRST && self.spis.insert(spi) {
                return spi;
            }
        }
    }
}

pub(super) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    sealcomb_random::fill(&mut bytes).expect("the system has random numbers");
    bytes
}

/// In a time that does not depend on where they differ.
pub(super) fn is_same(told: &Bytes32, proof: &Secret) -> bool {
    told.0.ct_eq(&**proof).into()
}
