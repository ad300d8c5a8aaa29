//! The wire format of control messages.
//!
//! ```text
//! 00 00 00 00 │ HMAC-SHA-256 of the text, 32 bytes │ text, JSON
//! ```
//!
//! Control messages share the port with ESP. The four zero bytes distinguish them, since no SPI is 0 (RFC 3948,
//! section 2.2).
//!
//! Fields that a version does not know are ignored, so that later versions can add some. The files in `tests/vectors`
//! contain a message of each type, made by the independent implementation in `tests/net/peer.py`.

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::version::Versions;
use crate::config::Role;
use crate::derive::Root;

/// The non-ESP marker, in place of the SPI.
const MARKER: [u8; 4] = [0; 4];
/// The HMAC-SHA-256 of a message's text.
pub(super) type Tag = [u8; 32];
/// Maximum size of a control message in bytes, including marker and tag.
pub const LONGEST: usize = 1200;

/// Returns whether a key ID is valid: 1 to 64 printable ASCII characters that need no escaping in JSON, so that an
/// offer's key IDs fit into a datagram.
pub fn is_key_name(id: &str) -> bool {
    const MAX_NAME_BYTES: usize = 64;
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"\\".contains(&byte);
    (1..=MAX_NAME_BYTES).contains(&id.len()) && id.bytes().all(is_plain)
}

/// A boot ID or a challenge: 16 random bytes, hex-encoded on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Id(#[serde(with = "hex")] pub [u8; 16]);

/// A nonce or a proof: 32 bytes, hex-encoded on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes32(#[serde(with = "hex")] pub [u8; 32]);

/// A control message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The sender's boot ID: random, regenerated at each start.
    pub from: Id,
    /// The receiver's boot ID; zeros if the sender does not know it.
    pub to: Id,
    /// A counter that makes every message of a boot unique.
    pub count: u64,
    /// The message body.
    pub say: Say,
}

/// The body of a control message, by type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Say {
    /// A challenge to the peer to prove that it is alive.
    Hello {
        /// A random challenge. It changes once it has been answered.
        challenge: Id,
        /// The protocol versions that the sender supports.
        #[serde(default)]
        versions: Versions,
    },
    /// The answer to a challenge.
    Welcome {
        /// The challenge of the `hello`.
        challenge: Id,
        /// The protocol versions that the sender supports.
        #[serde(default)]
        versions: Versions,
    },
    /// Master to slave: rekey to this key.
    Offer(Offer),
    /// Slave to master: the slave receives under the offered key.
    Accept(Accept),
    /// Slave to master: the slave rejects the offer or the confirmation.
    Refuse {
        /// The epoch of the offer.
        epoch: u64,
        /// The reason.
        why: Refusal,
        /// Details for the master's log, such as the message of the slave's KME; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        details: String,
    },
    /// Master to slave: the master sends and receives under the key.
    Confirm {
        /// The epoch of the offer.
        epoch: u64,
        /// Proves that the master has the key.
        proof: Bytes32,
    },
    /// Slave to master: the slave sends and receives under the key.
    Done {
        /// The epoch of the offer.
        epoch: u64,
        /// Proves that the slave has the key.
        proof: Bytes32,
    },
    /// Slave to master: the slave has reached a soft limit of the key and requests another.
    #[serde(rename = "worn")]
    SoftLimit {
        /// The epoch of the key.
        epoch: u64,
    },
}

/// The body of an `offer` message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Offer {
    /// The key epoch: the number of this offer since the master's start, from 1.
    pub epoch: u64,
    /// The source's ID of the key.
    pub key: String,
    /// The IDs of the keys to be offered next, for the slave to fetch in advance.
    pub next_keys: Vec<String>,
    /// The master's nonce: random, regenerated for each offer.
    pub nonce: Bytes32,
    /// The SPI under which the master will receive.
    pub spi: u32,
    /// The ID of the cipher suite.
    pub suite: String,
    /// Whether sequence numbers have 64 bits.
    pub esn: bool,
    /// Proves that the master has the key.
    pub proof: Bytes32,
}

/// The body of an `accept` message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accept {
    /// The epoch of the offer.
    pub epoch: u64,
    /// The slave's nonce: random, regenerated for each offer.
    pub nonce: Bytes32,
    /// The SPI under which the slave receives.
    pub spi: u32,
    /// Proves that the slave has the key.
    pub proof: Bytes32,
}

/// The reason of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// The slave's source does not have the key, or the key ID is invalid.
    NoKey,
    /// The slave's source had delivered the key before.
    Repeated,
    /// The slave is configured with another suite or ESN setting.
    Suite,
    /// The proof is wrong: the ends have different keys of this ID.
    Disagree,
    /// The slave has accepted a later offer, never accepted this one, or accepted it too long ago.
    Outdated,
}

/// Encodes and authenticates this end's messages, and verifies and decodes the peer's.
pub struct Codec {
    sending: Hmac<Sha256>,
    receiving: Hmac<Sha256>,
}

impl Codec {
    /// Returns the codec of the end with this role.
    ///
    /// # Panics
    /// Never: HMAC takes keys of any length.
    pub fn new(root: &Root, role: Role) -> Self {
        let keyed =
            |sender| Hmac::new_from_slice(&*root.control(sender)).expect("HMAC takes keys of any length");
        Self { sending: keyed(role), receiving: keyed(role.other()) }
    }

    /// Encodes a message as a datagram.
    ///
    /// # Panics
    /// Never: every message is serializable.
    pub fn write(&self, message: &Message) -> Vec<u8> {
        let text = serde_json::to_vec(message).expect("every message is serializable");
        let tag = self.sending.clone().chain_update(&text).finalize().into_bytes();
        [&MARKER[..], &tag, &text].concat()
    }

    /// Decodes a datagram. Returns `None` unless the peer authenticated it.
    pub fn read(&self, datagram: &[u8]) -> Option<Message> {
        Self::read_with(&self.receiving, datagram)
    }

    /// Decodes a datagram from an end of this end's own role: a misconfigured peer, or this end itself if its message
    /// was reflected.
    pub fn read_own(&self, datagram: &[u8]) -> Option<Message> {
        Self::read_with(&self.sending, datagram)
    }

    /// Returns whether the peer authenticated a datagram, even if it is none of the known messages.
    pub fn is_authentic(&self, datagram: &[u8]) -> bool {
        split(datagram)
            .is_some_and(|(tag, text)| self.receiving.clone().chain_update(text).verify_slice(tag).is_ok())
    }

    fn read_with(key: &Hmac<Sha256>, datagram: &[u8]) -> Option<Message> {
        let (tag, text) = split(datagram)?;
        key.clone().chain_update(text).verify_slice(tag).ok()?;
        serde_json::from_slice(text).ok()
    }
}

/// Returns the sender's boot ID in a datagram, which need not be authentic.
pub(crate) fn sender(datagram: &[u8]) -> Option<Id> {
    #[derive(Deserialize)]
    struct Sender {
        from: Id,
    }
    let (_, text) = split(datagram)?;
    serde_json::from_slice(text).ok().map(|Sender { from }| from)
}

/// Splits a datagram into tag and text. Returns `None` if it lacks the marker or exceeds [`LONGEST`].
fn split(datagram: &[u8]) -> Option<(&Tag, &[u8])> {
    if datagram.len() > LONGEST {
        return None;
    }
    datagram.strip_prefix(&MARKER)?.split_first_chunk()
}

/// Returns the tag of a datagram that begins like a message. Authentic datagrams with equal tags are equal.
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
    fn the_peer_reads_what_an_end_writes() {
        let [master, slave] = codecs();
        let datagram = master.write(&message());
        assert!(datagram.len() <= LONGEST, "{}", datagram.len());
        assert_eq!(slave.read(&datagram), Some(message()));
    }

    /// The vectors are written by the Python peer.
    #[test]
    fn the_wire_format_is_that_of_the_golden_messages() {
        let vectors: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/vectors/control.json")).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let root = Root::new(&hex::decode(text(&vectors["control-key"])).unwrap());
        let messages = vectors["messages"].as_array().unwrap();
        let mut types = std::collections::HashSet::new();
        for golden in messages {
            let role = if golden["sender"] == "master" { Role::Master } else { Role::Slave };
            let datagram = hex::decode(text(&golden["datagram"])).unwrap();
            let message = Codec::new(&root, role.other()).read(&datagram).unwrap();
            assert_eq!(serde_json::to_string(&message).unwrap(), text(&golden["text"]));
            assert_eq!(Codec::new(&root, role).write(&message), datagram, "{message:?}");
            types.insert(std::mem::discriminant(&message.say));
        }
        assert_eq!((messages.len(), types.len()), (9, 8), "every type of message");
    }

    #[test]
    fn modified_reflected_and_foreign_messages_are_rejected() {
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
