//! State common to both roles: identity, message codec, keys from the source, and pending actions.

use std::collections::VecDeque;
use std::net::SocketAddr;

use ctutils::CtEq;
use sealcomb_esp::{Fingerprint, Transform};

use super::message::{Bytes32, Codec, Id, LONGEST, Message, Offer, Say};
use super::recent::Recent;
use super::version::Versions;
use super::{Action, Event, MAX_PEERS, MAX_REMEMBERED, Settings, SourceKey, remembered};
use crate::config::Role;
use crate::derive::{Context, Epoch, Root, Secret};

/// The role-independent state of one end.
pub(super) struct End {
    pub(super) role: Role,
    pub(super) transform: Transform,
    pub(super) extended: bool,
    single_use: bool,
    root: Root,
    pub(super) codec: Codec,
    pub(super) boot: Id,
    count: u64,
    /// The peer's address; `None` until it is known.
    pub(super) address: Option<SocketAddr>,
    /// Maximum size in bytes of an offer.
    pub(super) max_datagram: usize,
    /// The highest counter of the peer's messages in its current boot.
    newest: u64,
    /// The peer's boot ID, from the latest answer to a challenge.
    pub(super) peer: Option<Id>,
    /// The protocol versions that this end supports.
    pub(super) versions: Versions,
    /// The protocol versions that the peer supports.
    pub(super) peer_versions: Versions,
    /// The protocol version in use with the peer.
    pub(super) version: u16,
    /// The generation of the newest receiving association.
    pub(super) generation: u64,
    /// Keys to offer (master), or keys fetched from the source (slave).
    pub(super) keys: VecDeque<SourceKey>,
    seen: Recent<Fingerprint>,
    /// SPIs recently allocated by this end.
    spis: Recent<u32>,
    slot: Option<u32>,
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
            address: None,
            max_datagram: LONGEST,
            newest: 0,
            peer: None,
            versions: Versions::current(),
            peer_versions: Versions::default(),
            version: 0,
            generation: 0,
            keys: VecDeque::new(),
            seen: Recent::new(MAX_REMEMBERED),
            spis: Recent::new(remembered(settings)),
            slot: settings.slot,
            actions: Vec::new(),
        }
    }

    /// Sends a message to the peer's address; nowhere while it is unknown.
    pub(super) fn send(&mut self, to: Id, say: Say) {
        if let Some(address) = self.address {
            self.send_to(address, to, say);
        }
    }

    pub(super) fn send_to(&mut self, address: SocketAddr, to: Id, say: Say) {
        self.count += 1;
        let message = Message { from: self.boot, to, count: self.count, say };
        self.actions.push(Action::Send(self.codec.write(&message), address));
    }

    /// Returns whether a message to the peer fits into a datagram on the path, however often it is retransmitted.
    pub(super) fn fits(&self, say: Say) -> bool {
        let to = self.peer.unwrap_or_default();
        let message = Message { from: self.boot, to, count: u64::MAX, say };
        self.codec.write(&message).len() <= self.max_datagram
    }

    /// Records the counter of an authentic message of the peer's current boot. Returns whether it is the highest so
    /// far: that of a message that was overtaken is not.
    pub(super) fn note_count(&mut self, count: u64) -> bool {
        let is_newest = count > self.newest;
        self.newest = self.newest.max(count);
        is_newest
    }

    /// Records the counter of an answer to a challenge, as [`Self::note_count`] does. No message from before the answer
    /// is higher, unless someone who has the control key has forged it.
    pub(super) fn note_count_of_answer(&mut self, count: u64) -> bool {
        let is_newest = count > self.newest;
        self.newest = count;
        is_newest
    }

    /// Sets the peer's address.
    pub(super) fn move_to(&mut self, address: SocketAddr) {
        if self.address.replace(address) != Some(address) {
            self.actions.push(Action::Move(address));
        }
    }

    /// Sets the boot ID of the peer, whose messages are counted from its start. Returns the earlier one.
    pub(super) fn set_peer(&mut self, boot: Id) -> Option<Id> {
        let before = self.peer.replace(boot);
        if before != Some(boot) {
            self.newest = 0;
        }
        before
    }

    pub(super) fn send_to_peer(&mut self, say: Say) {
        if let Some(boot) = self.peer {
            self.send(boot, say);
        }
    }

    pub(super) fn report(&mut self, event: Event) {
        self.actions.push(Action::Report(event));
    }

    /// Returns whether a key may be used: it is not a repeated one, or the source may repeat keys.
    pub(super) fn is_new(&mut self, key: &[u8]) -> bool {
        let is_new = !self.single_use || self.seen.insert(Fingerprint::of(key));
        if !is_new {
            self.report(Event::Repeated);
        }
        is_new
    }

    /// Discards this number of keys in store, the first ones, unless the source delivers keys repeatedly.
    pub(super) fn discard_keys(&mut self, count: usize) {
        if self.single_use {
            self.keys.drain(..count.min(self.keys.len()));
        }
    }

    /// Derives the key material of an offer before the slave has chosen its nonce and SPI, for the proof in the
    /// offer.
    pub(super) fn offered(&self, key: &[u8], offer: &Offer) -> Epoch {
        self.agreed(key, offer, Bytes32::default(), 0)
    }

    /// Derives the key material that both ends agree on from a source key, its offer, and the slave's nonce and SPI.
    pub(super) fn agreed(&self, key: &[u8], offer: &Offer, slave_nonce: Bytes32, slave_spi: u32) -> Epoch {
        let peer = self.peer.unwrap_or_default();
        let context = Context {
            version: self.version,
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

    /// Allocates the generation of a new receiving association.
    pub(super) fn next_generation(&mut self) -> u64 {
        self.generation += 1;
        self.generation
    }

    /// Allocates a random SPI that differs from those that this end recently allocated.
    pub(super) fn new_spi(&mut self) -> u32 {
        /// Lower SPIs are reserved (RFC 4303, section 2.1).
        const FIRST: u32 = 256;
        const SLOTS: u32 = MAX_PEERS as u32;
        loop {
            let random = u32::from_be_bytes(random());
            let spi = self.slot.map_or(random, |slot| random / SLOTS * SLOTS + slot);
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

/// Compares a received proof with the expected one in constant time.
pub(super) fn is_same(received: &Bytes32, expected: &Secret) -> bool {
    received.0.ct_eq(&**expected).into()
}
