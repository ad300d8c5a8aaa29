//! The relation of a top to an algorithm of the library.

use crate::packet::{Expected, Packet};
use rand::rngs::StdRng;
use rand::{Rng, RngExt};
use sealcomb::{Algorithm, Key, Kind};

/// A top, and the library's algorithm that it implements.
#[derive(Clone)]
pub struct Mode {
    /// The top's name in `tops.list` or `variants.list`.
    pub top: &'static str,
    /// The library's algorithm.
    pub algorithm: &'static Algorithm,
    /// The nonce size in bytes.
    pub nonce_bytes: usize,
    /// Converts the library's nonce to the value of `s_cmd_nonce`. Missing bytes are zero.
    pub nonce: fn(&[u8]) -> Vec<u8>,
    /// Converts the library's key to the value of `s_key_key`. Missing bytes are zero.
    pub key: fn(&[u8]) -> Vec<u8>,
    /// The number of slots, at least 2. Random packets never load the last one.
    pub slots: u8,
    /// The maximum size in bytes of a random message.
    pub longest: usize,
    /// The maximum size in bytes of random additional data.
    pub longest_ad: usize,
    /// Lengths that the top must refuse: whether to open, bytes of additional data, bytes of the message part.
    pub illegal: Vec<(bool, usize, usize)>,
    /// Whether a received tag arrives on `s_tag` instead of in a beat of `s_axis`.
    pub tag_beside: bool,
    /// The maximum size in bytes of messages and additional data in known answers.
    pub longest_known: usize,
}

/// The changed part of a forged packet.
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
    /// A mode with the defaults of most tops: 16 slots, the algorithm's default nonce size, unchanged nonces and
    /// keys.
    ///
    /// # Panics
    /// If `algorithm` is not the id of an algorithm in the library.
    pub fn new(top: &'static str, algorithm: &str) -> Self {
        let algorithm = Algorithm::by_id(algorithm).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        Self {
            top,
            algorithm,
            nonce_bytes: algorithm.nonce_bytes,
            nonce: <[u8]>::to_vec,
            key: <[u8]>::to_vec,
            slots: 16,
            longest: 2000,
            longest_ad: 300,
            illegal: Vec::new(),
            tag_beside: false,
            longest_known: 65535,
        }
    }

    /// Whether a ciphertext consists of whole blocks and a flag that indicates whether the last one was padded.
    pub(crate) fn is_flagged(&self) -> bool {
        self.algorithm.expands() && !self.algorithm.needs_message_bytes()
    }

    fn is_authenticated(&self) -> bool {
        self.algorithm.kind == Kind::Aead
    }

    /// Returns a packet to seal, with the library's result as the expected output.
    ///
    /// # Panics
    /// If the library refuses the message.
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

    /// Seals a message with the library, and returns a packet to open it.
    ///
    /// # Panics
    /// If the library refuses the message.
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

    /// Forges a valid packet to open. The packet stays unchanged if the part to forge is empty, or if it has no tag.
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

    /// Returns a packet with lengths that the top must refuse.
    pub(crate) fn refused(&self, slot: u8, lengths: (bool, usize, usize), random: &mut StdRng) -> Packet {
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

    /// Seals a message. Returns the ciphertext without the flag, the flag, and the tag.
    fn sealed(&self, key: &Key, nonce: &[u8], ad: &[u8], message: &[u8]) -> (Vec<u8>, bool, [u8; 16]) {
        let mut output = key.seal(nonce, ad, message).expect("valid lengths");
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
