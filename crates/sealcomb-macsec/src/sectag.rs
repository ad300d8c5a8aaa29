//! The sealed frame of IEEE 802.1AE-2018, clause 9:
//!
//! ```text
//! DA │ SA │ 88-E5 │ TCI, AN │ SL │ PN │ SCI │ user data │ ICV
//!  6    6     2        1      1    4   0, 8    any        16   bytes
//!          └────────────── SecTAG ─────────┘└─ encrypted ┘
//! └────────────── covered by the ICV ────────────────────┘
//! ```
//!
//! TCI and AN share one byte. From the highest bit: V (0), ES, SC, SCB, E, C, and two bits of AN. The user data
//! begins with the EtherType of the original frame.

use std::fmt;
use std::ops::Range;

/// MACsec's EtherType, the first two bytes of a SecTAG.
pub const ETHER_TYPE: u16 = 0x88e5;
/// Size of the integrity check value (ICV) at the end of a sealed frame, the same in all cipher suites of the
/// standard.
pub const ICV_BYTES: usize = 16;
/// Size of destination and source address together.
const ADDRESS_BYTES: usize = 12;
/// Size of a SecTAG without SCI, EtherType included.
const TAG_BYTES: usize = 8;
const SCI_BYTES: usize = 8;
/// The SecTAG's SL field contains the length of user data shorter than this (9.7).
const SHORT_BYTES: usize = 48;
/// Minimum size of an Ethernet frame without FCS. MACs pad shorter frames.
const SHORTEST_FRAME_BYTES: usize = 60;

const VERSION: u8 = 0x80;
const ES: u8 = 0x40;
const SC: u8 = 0x20;
const SCB: u8 = 0x10;
const E: u8 = 0x08;
const C: u8 = 0x04;
const AN: u8 = 0x03;

/// Secure channel identifier: the MAC address of a transmitter and the number of its port (7.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sci(pub [u8; SCI_BYTES]);

impl Sci {
    /// Returns the SCI of a MAC address and a port.
    pub fn new(address: [u8; 6], port: u16) -> Self {
        let mut sci = [0; SCI_BYTES];
        sci[..6].copy_from_slice(&address);
        sci[6..].copy_from_slice(&port.to_be_bytes());
        Self(sci)
    }

    /// Returns the transmitter's MAC address.
    pub fn address(self) -> [u8; 6] {
        let [a, b, c, d, e, f, ..] = self.0;
        [a, b, c, d, e, f]
    }
}

/// Formats the SCI as `02:00:00:00:00:01/0001`: the standard's notation, with colons instead of hyphens.
impl fmt::Display for Sci {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g, high, low] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}/{high:02x}{low:02x}")
    }
}

/// How a frame identifies its secure channel (9.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SciForm {
    /// The SecTAG contains the SCI. SC is set.
    Explicit,
    /// The SCI is the frame's source address and port 1. ES is set.
    EndStation,
    /// The frame does not identify its channel. The receiver has only one peer.
    Omitted,
}

/// The fields that are constant in all SecTAGs of a sender's association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The secure channel identifier.
    pub sci: Sci,
    /// Association number, 0 to 3.
    pub an: u8,
    /// Whether and how the SCI is sent.
    pub form: SciForm,
    /// Whether user data is encrypted. The ICV covers it in either case.
    pub encrypt: bool,
}

impl Header {
    /// Returns the offset of the user data in a sealed frame.
    pub fn data_at(&self) -> usize {
        ADDRESS_BYTES + TAG_BYTES + if self.form == SciForm::Explicit { SCI_BYTES } else { 0 }
    }

    /// Returns the size of the sealed frame for a frame of `frame_bytes` bytes, at least 12. Neither includes the
    /// FCS.
    pub fn sealed_bytes(&self, frame_bytes: usize) -> usize {
        frame_bytes - ADDRESS_BYTES + self.data_at() + ICV_BYTES
    }

    /// Returns a buffer for [`seal`](fn@crate::seal) with the frame's addresses and user data in place. Returns
    /// `None` if the frame is shorter than an Ethernet header, or if under [`SciForm::EndStation`] the SCI is not the
    /// frame's source address and port 1.
    pub fn lay_out(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let (addresses, data) = frame.split_at_checked(ADDRESS_BYTES)?;
        let is_source = || self.sci == Sci::new(source(frame), 1);
        if data.len() < 2 || self.form == SciForm::EndStation && !is_source() {
            return None;
        }
        let mut sealed = Vec::with_capacity(self.sealed_bytes(frame.len()));
        sealed.extend(addresses);
        sealed.resize(self.data_at(), 0);
        sealed.extend(data);
        sealed.resize(self.sealed_bytes(frame.len()), 0);
        Some(sealed)
    }

    /// Writes the SecTAG into a buffer from [`Header::lay_out`].
    pub(crate) fn write(&self, frame: &mut [u8], pn: u64) {
        let data_bytes = frame.len() - ICV_BYTES - self.data_at();
        let form = match self.form {
            SciForm::Explicit => SC,
            SciForm::EndStation => ES,
            SciForm::Omitted => 0,
        };
        let tag = &mut frame[ADDRESS_BYTES..self.data_at()];
        tag[..2].copy_from_slice(&ETHER_TYPE.to_be_bytes());
        tag[2] = form | if self.encrypt { E | C } else { 0 } | self.an & AN;
        tag[3] = if data_bytes < SHORT_BYTES { data_bytes as u8 } else { 0 };
        tag[4..8].copy_from_slice(&(pn as u32).to_be_bytes());
        if self.form == SciForm::Explicit {
            tag[8..].copy_from_slice(&self.sci.0);
        }
    }
}

fn source(frame: &[u8]) -> [u8; 6] {
    *frame[6..].first_chunk().expect("a frame has a source")
}

/// The secure channel of a received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// The channel with this SCI.
    Sci(Sci),
    /// The channel of the receiver's only peer: the frame does not identify it.
    OnlyPeer,
}

/// Why a frame is not a valid MACsec frame (9.12), regardless of its ICV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTag {
    /// The frame is not protected: it has another EtherType, or is too short for one.
    Untagged,
    /// The version is not 0, flags contradict each other, or the length is impossible.
    Invalid,
}

/// The SecTAG of a received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecTag {
    /// The association number within the channel, 0 to 3.
    pub an: u8,
    /// The packet number, or the low half of an extended one.
    pub pn: u32,
    /// The frame's secure channel.
    pub channel: Channel,
    /// Whether the user data is encrypted.
    pub is_encrypted: bool,
    data_at: usize,
    data_bytes: usize,
}

impl SecTag {
    /// Parses the SecTAG of a frame that has no FCS.
    ///
    /// # Errors
    /// [`BadTag`] if the frame has no SecTAG or an invalid one.
    pub fn parse(frame: &[u8]) -> Result<Self, BadTag> {
        let ether_type = frame.get(ADDRESS_BYTES..ADDRESS_BYTES + 2).ok_or(BadTag::Untagged)?;
        if ether_type != ETHER_TYPE.to_be_bytes() {
            return Err(BadTag::Untagged);
        }
        let tag = frame[ADDRESS_BYTES..].first_chunk::<TAG_BYTES>().ok_or(BadTag::Invalid)?;
        let [_, _, tci, short_bytes, pn @ ..] = *tag;
        let has = |bit| tci & bit != 0;
        // E without C is reserved for key agreement, C without E for cipher suites that modify unencrypted data
        // (9.5).
        if has(VERSION) || has(SC) && (has(ES) || has(SCB)) || has(E) != has(C) {
            return Err(BadTag::Invalid);
        }
        let data_at = ADDRESS_BYTES + TAG_BYTES + if has(SC) { SCI_BYTES } else { 0 };
        let channel = if has(SC) {
            let sci = frame.get(data_at - SCI_BYTES..data_at).and_then(|sci| sci.first_chunk());
            Channel::Sci(Sci(*sci.ok_or(BadTag::Invalid)?))
        } else if has(ES) || has(SCB) {
            // Single copy broadcast implies port 0 (9.5, figure 10-6).
            Channel::Sci(Sci::new(source(frame), u16::from(!has(SCB))))
        } else {
            Channel::OnlyPeer
        };
        let data_bytes = data_bytes(frame.len(), data_at, short_bytes.into()).ok_or(BadTag::Invalid)?;
        let pn = u32::from_be_bytes(pn);
        Ok(Self { an: tci & AN, pn, channel, is_encrypted: has(E), data_at, data_bytes })
    }

    /// Returns the byte range of the user data in the frame.
    pub fn data(&self) -> Range<usize> {
        self.data_at..self.data_at + self.data_bytes
    }

    /// Returns the original frame, without SecTAG and ICV, from a frame that [`open`](fn@crate::open) has verified.
    pub fn without(&self, opened: &[u8]) -> Vec<u8> {
        [&opened[..ADDRESS_BYTES], &opened[self.data()]].concat()
    }
}

/// Returns the size of the user data (9.7, 9.12). `short_bytes` is the SecTAG's SL field. `None`: it contradicts the
/// frame's length.
fn data_bytes(frame_bytes: usize, data_at: usize, short_bytes: usize) -> Option<usize> {
    let room = frame_bytes.checked_sub(data_at + ICV_BYTES)?;
    match short_bytes {
        0 => (room >= SHORT_BYTES).then_some(room),
        // Bytes after the ICV are Ethernet padding.
        1..SHORT_BYTES => {
            let fits = room == short_bytes || room > short_bytes && frame_bytes <= SHORTEST_FRAME_BYTES;
            fits.then_some(short_bytes)
        }
        _ => None,
    }
}
