//! How an algorithm of the library looks on a top's wires.

use crate::packet::{Expected, Packet};
use rand::rngs::StdRng;
use rand::{Rng, RngExt};
use sealcomb::{Algorithm, Key, Kind};

/// A top, and which algorithm of the library it is.
#[derive(Clone)]
pub struct Mode {
    /// Its name in `tops.list` or `variants.list`.
    pub top: &'static str,
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Bytes of the nonces that it takes.
    pub nonce_bytes: usize,
    /// What `s_cmd_nonce` carries, from the library's nonce. What is missing is zero.
    pub nonce: fn(&[u8]) -> Vec<u8>,
    /// What `s_key_key` carries, from the library's key. What is missing is zero.
    pub key: fn(&[u8]) -> Vec<u8>,
    /// Slots of the top, at least 2. Random packets leave the last one unloaded.
    pub slots: u8,
    /// The longest random message.
    pub longest: usize,
    /// The longest random additional data.
    pub longest_ad: usize,
    /// Lengths that the top must refuse: open, bytes of additional data, bytes of the message part.
    pub illegal: Vec<(bool, usize, usize)>,
    /// A received tag comes on `s_tag`, and not as a beat of the stream.
    pub tag_beside: bool,
    /// The longest message and additional data that the top takes.
    pub longest_known: usize,
}

/// What a forger changed.
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
    /// A top of the algorithm of this id, with what most have: 16 slots, the algorithm's usual nonce, and nonce and key as
    /// they are.
    ///
    /// # Panics
    /// If the library has no such algorithm.
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

    /// Whether its ciphertexts are whole blocks and a flag that tells whether the last was padded.
    pub(crate) fn is_flagged(&self) -> bool {
        self.algorithm.expands() && !self.algorithm.needs_message_bytes()
    }

    fn is_authenticated(&self) -> bool {
        self.algorithm.kind == Kind::Aead
    }

    /// The message as a packet to be sealed, and what the library makes of it.
    ///
    /// # Panics
    /// If the library refuses it.
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

    /// The message, sealed by the library, as a packet to be opened.
    ///
    /// # Panics
    /// If the library refuses it.
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

    /// A sound packet to be opened, forged. Nothing happens to one that lacks what should be forged, or is a cipher's.
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

    /// A packet of lengths that the top must refuse.
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

    /// Ciphertext without flag, the flag, and the tag.
    fn sealed(&self, key: &Key, nonce: &[u8], ad: &[u8], message: &[u8]) -> (Vec<u8>, bool, [u8; 16]) {
        let mut output = key.seal(nonce, ad, message).expect("a message that the library takes");
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
