//! The mapping between an algorithm of the library and the ports of a top.

use crate::packet::{Expected, Packet};
use rand::rngs::StdRng;
use rand::{Rng, RngExt};
use sealcomb::study;
use sealcomb::{Algorithm, Key, Kind};

/// A top, and the algorithm of the library that it implements.
#[derive(Clone)]
pub struct Mode {
    /// The top's name in `tops.list` or `variants.list`.
    pub top: &'static str,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The algorithm with another key size, if the top takes keys of both sizes. Random keys alternate.
    pub other_size: Option<Algorithm>,
    /// Nonce size in bytes.
    pub nonce_bytes: usize,
    /// Converts the library's nonce to `s_cmd_nonce`, which is zero beyond the returned bytes.
    pub nonce: fn(&[u8]) -> Vec<u8>,
    /// Converts the library's key to `s_key_key`, which is zero beyond the returned bytes.
    pub key: fn(&[u8]) -> Vec<u8>,
    /// Number of slots used, at least 2. Random packets leave the last one unloaded.
    pub slots: u8,
    /// Maximum size of random messages in bytes.
    pub max_random_message_bytes: usize,
    /// Maximum size of random additional data in bytes.
    pub max_random_ad_bytes: usize,
    /// Commands that the top must reject: open, bytes of additional data, bytes of the message part.
    pub illegal: Vec<(bool, usize, usize)>,
    /// Received tags use the port `s_tag` instead of a beat of `s_axis`.
    pub tag_beside: bool,
    /// Maximum size in bytes that the top supports, of the message and of the additional data.
    pub max_bytes: usize,
}

/// The part of a packet that a forgery modifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgery {
    /// A bit of the tag.
    Tag,
    /// A bit of the ciphertext.
    Ciphertext,
    /// A bit of the additional data.
    Ad,
    /// A bit of the nonce.
    Nonce,
}

impl Mode {
    /// Creates the mode of a top from the id of its algorithm, with the defaults of most tops: 16 slots, the
    /// algorithm's default nonce size, and nonce and key unchanged on the ports.
    ///
    /// # Panics
    /// If the library does not have the algorithm.
    pub fn new(top: &'static str, algorithm: &str) -> Self {
        let algorithm = study::by_id(algorithm).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        Self {
            top,
            algorithm,
            other_size: None,
            nonce_bytes: algorithm.nonce_bytes(),
            nonce: <[u8]>::to_vec,
            key: <[u8]>::to_vec,
            slots: 16,
            max_random_message_bytes: 2000,
            max_random_ad_bytes: 300,
            illegal: Vec::new(),
            tag_beside: false,
            max_bytes: 65535,
        }
    }

    /// Whether a ciphertext consists of whole blocks and a flag that is set if the last block was padded.
    pub(crate) fn is_flagged(&self) -> bool {
        self.algorithm.expands() && !self.algorithm.needs_message_bytes()
    }

    fn is_authenticated(&self) -> bool {
        self.algorithm.kind() == Kind::Aead
    }

    /// Returns a packet to seal, with the library's output as the expected one.
    ///
    /// # Panics
    /// If the library rejects the message.
    pub fn seal(&self, key: &Key, slot: u8, nonce: &[u8], ad: &[u8], message: &[u8]) -> Packet {
        let (output, padded, tag) = self.sealed(key, nonce, ad, message);
        Packet {
            open: false,
            slot,
            nonce: (self.nonce)(nonce),
            ad: ad.to_vec(),
            message: message.to_vec(),
            padded: false,
            tag: None,
            tag_beside: self.tag_beside,
            fault: None,
            expected: Expected::Sound { output, tag, padded },
        }
    }

    /// Returns a packet to open, whose message the library has sealed.
    ///
    /// # Panics
    /// If the library rejects the message.
    pub fn open(&self, key: &Key, slot: u8, nonce: &[u8], ad: &[u8], message: &[u8]) -> Packet {
        let (ciphertext, padded, tag) = self.sealed(key, nonce, ad, message);
        Packet {
            open: true,
            slot,
            nonce: (self.nonce)(nonce),
            ad: ad.to_vec(),
            message: ciphertext,
            padded,
            tag: self.is_authenticated().then_some(tag),
            tag_beside: self.tag_beside,
            fault: None,
            expected: Expected::Sound { output: message.to_vec(), tag: [0; 16], padded: false },
        }
    }

    /// Flips a bit of a valid packet to open, which must then not verify. A packet without a tag, or without the part
    /// to modify, is unchanged.
    pub fn forge(&self, packet: &mut Packet, forgery: Forgery, random: &mut StdRng) {
        let bytes = match (&mut packet.tag, forgery) {
            (None, _) => return,
            (Some(tag), Forgery::Tag) => &mut tag[..],
            (_, Forgery::Ciphertext) => &mut packet.message[..],
            (_, Forgery::Ad) => &mut packet.ad[..],
            (_, Forgery::Nonce) => &mut packet.nonce[..self.nonce_bytes],
        };
        if bytes.is_empty() {
            return;
        }
        let at = random.random_range(0..bytes.len());
        bytes[at] ^= 1 << random.random_range(0..8);
        let output_bytes = (!self.is_flagged()).then_some(packet.message.len());
        packet.expected = Expected::Forged { output_bytes };
    }

    /// Returns a packet with an entry of `illegal`, which the top must reject.
    pub(crate) fn rejected(&self, slot: u8, lengths: (bool, usize, usize), random: &mut StdRng) -> Packet {
        let mut bytes = |count| {
            let mut bytes = vec![0; count];
            random.fill_bytes(&mut bytes);
            bytes
        };
        let (open, ad, message) = lengths;
        Packet {
            open,
            slot,
            nonce: bytes(self.nonce_bytes),
            ad: bytes(ad),
            message: bytes(message),
            padded: false,
            tag: (open && self.is_authenticated()).then_some([7; 16]),
            tag_beside: self.tag_beside,
            fault: None,
            expected: Expected::Error,
        }
    }

    /// Returns the ciphertext without its flag, the flag, and the tag.
    fn sealed(&self, key: &Key, nonce: &[u8], ad: &[u8], message: &[u8]) -> (Vec<u8>, bool, [u8; 16]) {
        let mut output = key.seal(nonce, ad, message).expect("the library accepts the message");
        let mut tag = [0; 16];
        if self.is_authenticated() {
            let at = output.len() - key.tag_bytes();
            let bytes = output.split_off(at);
            tag[..bytes.len()].copy_from_slice(&bytes);
        }
        let padded = self.is_flagged() && output.pop() == Some(1);
        (output, padded, tag)
    }
}
