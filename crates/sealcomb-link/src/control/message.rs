//! Control messages on the wire.
//!
//! ```text
//! 00 00 00 00 │ HMAC-SHA-256 of the text, 32 bytes │ text, JSON
//! ```
//!
//! They share the port with ESP, from which the four zeros tell them (RFC 3948, section 2.2): no SPI is 0.

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::config::Role;
use crate::derive::Root;

/// Where an SPI would be.
const MARKER: [u8; 4] = [0; 4];
/// HMAC-SHA-256 of a text.
pub(super) type Tag = [u8; 32];
/// No longer datagram is a control message.
pub const LONGEST: usize = 1200;

/// Whether this can be the name of a key: there must be room for an offer's names in a datagram, as JSON has them.
pub fn is_key_name(id: &str) -> bool {
    const LONGEST_NAME: usize = 64;
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"\\".contains(&byte);
    (1..=LONGEST_NAME).contains(&id.len()) && id.bytes().all(is_plain)
}

/// 16 bytes, in hex where they are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Id(#[serde(with = "hex")] pub [u8; 16]);

/// 32 bytes, in hex where they are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes32(#[serde(with = "hex")] pub [u8; 32]);

/// A message, with its sender and receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The sender's boot: random, new with each start.
    pub from: Id,
    /// The receiver's, as far as the sender knows; else zeros.
    pub to: Id,
    /// Another one in every message of a boot, so that no two datagrams are alike.
    pub count: u64,
    /// What it says.
    pub say: Say,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Say {
    /// Who are you, now?
    Hello {
        /// Random, new with each question.
        challenge: Id,
    },
    /// The answer.
    Welcome {
        /// That of the question.
        challenge: Id,
    },
    /// The master's: let us change to this key.
    Offer(Offer),
    /// The slave's: I receive under it.
    Accept(Accept),
    /// The slave's: not this one.
    Refuse {
        /// Which.
        epoch: u64,
        /// Why.
        why: Refusal,
    },
    /// The master's: I receive and send under it.
    Confirm {
        /// Which.
        epoch: u64,
        /// Shows that the master has the key.
        proof: Bytes32,
    },
    /// The slave's: so do I.
    Done {
        /// Which.
        epoch: u64,
        /// Shows that the slave has the key.
        proof: Bytes32,
    },
    /// The slave's: what I send under it is as much as it should be.
    Worn {
        /// Which.
        epoch: u64,
    },
}

/// See [`Say::Offer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Offer {
    /// Counts the keys of a session, from 1.
    pub epoch: u64,
    /// The name that the source of keys has for it.
    pub key: String,
    /// Those that will come next, to be fetched meanwhile.
    pub next_keys: Vec<String>,
    /// Random, new with each offer.
    pub nonce: Bytes32,
    /// Under which the master will receive.
    pub spi: u32,
    /// The name of the algorithms.
    pub suite: String,
    /// Whether sequence numbers have 64 bits.
    pub esn: bool,
    /// Shows that the master has the key.
    pub proof: Bytes32,
}

/// See [`Say::Accept`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// That of the offer.
    pub epoch: u64,
    /// Random, new with each offer.
    pub nonce: Bytes32,
    /// Under which the slave receives.
    pub spi: u32,
    /// Shows that the slave has the key.
    pub proof: Bytes32,
}

/// Why the slave does not take an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Its source of keys does not give the key.
    NoKey,
    /// The key was there before.
    Repeated,
    /// It is configured for other algorithms.
    Suite,
    /// The slave has another key of this name, or the master has none.
    Disagree,
    /// The slave has taken a later offer, or has never accepted this one.
    Outdated,
}

/// Writes messages of one end and reads those of the other.
pub struct Codec {
    sending: Hmac<Sha256>,
    receiving: Hmac<Sha256>,
}

impl Codec {
    /// For this end.
    ///
    /// # Panics
    /// Never: HMAC takes keys of any length.
    pub fn new(root: &Root, role: Role) -> Self {
        let keyed =
            |sender| Hmac::new_from_slice(&*root.control(sender)).expect("HMAC takes keys of any length");
        Self { sending: keyed(role), receiving: keyed(role.other()) }
    }

    /// The datagram of a message.
    ///
    /// # Panics
    /// Never: nothing in a message cannot be written.
    pub fn write(&self, message: &Message) -> Vec<u8> {
        let text = serde_json::to_vec(message).expect("nothing in it cannot be written");
        let tag = self.sending.clone().chain_update(&text).finalize().into_bytes();
        [&MARKER[..], &tag, &text].concat()
    }

    /// The message of a datagram, if the other end wrote it.
    pub fn read(&self, datagram: &[u8]) -> Option<Message> {
        Self::read_with(&self.receiving, datagram)
    }

    /// The message of a datagram, if an end of the same role as this one wrote it. It is either misconfigured, or this
    /// end, whose own message came back.
    pub fn read_own(&self, datagram: &[u8]) -> Option<Message> {
        Self::read_with(&self.sending, datagram)
    }

    fn read_with(key: &Hmac<Sha256>, datagram: &[u8]) -> Option<Message> {
        let (tag, text) = split(datagram)?;
        key.clone().chain_update(text).verify_slice(tag).ok()?;
        serde_json::from_slice(text).ok()
    }
}

/// The tag of a datagram and its text, if it begins like a message and is not too long for one.
fn split(datagram: &[u8]) -> Option<(&Tag, &[u8])> {
    if datagram.len() > LONGEST {
        return None;
    }
    datagram.strip_prefix(&MARKER)?.split_first_chunk()
}

/// The tag of a datagram that begins like a message. Datagrams of equal authentic tags are equal.
pub(super) fn tag(datagram: &[u8]) -> Option<&Tag> {
    split(datagram).map(|(tag, _)| tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codecs() -> [Codec; 2] {
        let root = Root::new(&[1; 32]);
        [Codec::new(&root, Role::Master), Codec::new(&root, Role::Slave)]
    }

    fn message() -> Message {
        let offer = Offer {
            epoch: 1,
            key: "k".repeat(64),
            next_keys: vec!["n".repeat(64); 4],
            nonce: Bytes32([2; 32]),
            spi: 0xffff_ffff,
            suite: "aes256-cbc-hmac-sha256".into(),
            esn: true,
            proof: Bytes32([5; 32]),
        };
        Message { from: Id([3; 16]), to: Id([4; 16]), count: u64::MAX, say: Say::Offer(offer) }
    }

    #[test]
    fn the_other_end_reads_what_one_end_writes() {
        let [master, slave] = codecs();
        let datagram = master.write(&message());
        assert!(datagram.len() <= LONGEST, "{}", datagram.len());
        assert_eq!(slave.read(&datagram), Some(message()));
    }

    #[test]
    fn nobody_reads_what_was_changed_or_sent_back() {
        let [master, slave] = codecs();
        let datagram = master.write(&message());
        assert_eq!(master.read(&datagram), None, "reflected");
        assert_eq!((master.read_own(&datagram), slave.read_own(&datagram)), (Some(message()), None));
        for at in 0..datagram.len() {
            let mut changed = datagram.clone();
            changed[at] ^= 1;
            assert_eq!(slave.read(&changed), None, "byte {at}");
        }
        for end in 0..datagram.len() {
            assert_eq!(slave.read(&datagram[..end]), None);
        }
        let stranger = Codec::new(&Root::new(&[2; 32]), Role::Master);
        assert_eq!(slave.read(&stranger.write(&message())), None);
    }
}
