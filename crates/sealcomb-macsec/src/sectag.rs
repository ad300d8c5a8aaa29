//! The sealed frame of IEEE 802.1AE-2018, clause 9:
//!
//! ```text
//! DA │ SA │ 88-E5 │ TCI, AN │ SL │ PN │ SCI │ user data │ ICV
//!  6    6     2        1      1    4   0, 8    any        16   bytes
//!          └────────────── SecTAG ─────────┘└─ encrypted ┘
//! └────────────── covered by the ICV ────────────────────┘
//! ```
//!
//! TCI and AN, from the highest bit: V (0), ES, SC, SCB, E, C, and two bits of AN. The user data begin with the
//! EtherType of the frame that is protected.

use std::fmt;
use std::ops::Range;

/// Of MACsec, with which a SecTAG begins.
pub const ETHER_TYPE: u16 = 0x88e5;
/// Of the integrity check value at the end of a frame: all cipher suites of the standard have the same.
pub const ICV_BYTES: usize = 16;
/// Destination and source.
const ADDRESS_BYTES: usize = 12;
/// A SecTAG without SCI, EtherType included.
const TAG_BYTES: usize = 8;
const SCI_BYTES: usize = 8;
/// User data that are shorter have their length in the SecTAG (9.7).
const SHORT_BYTES: usize = 48;
/// A MAC fills shorter frames up to this length, FCS not counted.
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
    /// That of a MAC address and a port.
    pub fn new(address: [u8; 6], port: u16) -> Self {
        let mut sci = [0; SCI_BYTES];
        sci[..6].copy_from_slice(&address);
        sci[6..].copy_from_slice(&port.to_be_bytes());
        Self(sci)
    }

    /// Of the transmitter.
    pub fn address(self) -> [u8; 6] {
        let [a, b, c, d, e, f, ..] = self.0;
        [a, b, c, d, e, f]
    }
}

/// As it is written in the standard: `02-00-00-00-00-01/0001`, but with colons.
impl fmt::Display for Sci {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g, high, low] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}/{high:02x}{low:02x}")
    }
}

/// How frames say which secure channel they are of (9.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SciForm {
    /// The SecTAG has the SCI: SC is set.
    Explicit,
    /// The SCI is the frame's source address and port 1: ES is set.
    EndStation,
    /// Not at all: the receiver has a single peer.
    Omitted,
}

/// What the SecTAGs of a sender's association have alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Of the channel.
    pub sci: Sci,
    /// Association number, 0 to 3.
    pub an: u8,
    /// Whether and how the SCI is sent.
    pub form: SciForm,
    /// Whether user data are encrypted; the ICV covers them either way.
    pub encrypt: bool,
}

impl Header {
    /// Where the user data begin in a sealed frame.
    pub fn data_at(&self) -> usize {
        ADDRESS_BYTES + TAG_BYTES + if self.form == SciForm::Explicit { SCI_BYTES } else { 0 }
    }

    /// Of the sealed frame around a frame of this many bytes, FCS not counted.
    pub fn sealed_bytes(&self, frame_bytes: usize) -> usize {
        frame_bytes - ADDRESS_BYTES + self.data_at() + ICV_BYTES
    }

    /// A buffer for [`seal`](fn@crate::seal) with a frame's addresses and user data in their places. `None`: the frame is
    /// shorter than an Ethernet header, or has another source than [`SciForm::EndStation`] promises.
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

    /// Writes the SecTAG into a frame that is laid out.
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

/// Which channel a received frame is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// That of this SCI.
    Sci(Sci),
    /// The one of the receiver's only peer.
    OnlyPeer,
}

/// Why a frame is not a valid one of MACsec (9.12), whatever its ICV says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTag {
    /// It has another EtherType, or none: it is not protected.
    Untagged,
    /// Its version is not 0, its bits contradict each other, or its length is impossible.
    Invalid,
}

/// A received frame's SecTAG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecTag {
    /// Of the association within its channel.
    pub an: u8,
    /// The packet number, or the low half of an extended one.
    pub pn: u32,
    /// Whose frame it is.
    pub channel: Channel,
    /// Whether user data are encrypted.
    pub is_encrypted: bool,
    data_at: usize,
    data_bytes: usize,
}

impl SecTag {
    /// The SecTAG of a frame without FCS.
    ///
    /// # Errors
    /// [`BadTag`], where it has none or a wrong one.
    pub fn parse(frame: &[u8]) -> Result<Self, BadTag> {
        let ether_type = frame.get(ADDRESS_BYTES..ADDRESS_BYTES + 2).ok_or(BadTag::Untagged)?;
        if ether_type != ETHER_TYPE.to_be_bytes() {
            return Err(BadTag::Untagged);
        }
        let tag = frame[ADDRESS_BYTES..].first_chunk::<TAG_BYTES>().ok_or(BadTag::Invalid)?;
        let [_, _, tci, short_bytes, pn @ ..] = *tag;
        let has = |bit| tci & bit != 0;
        // E without C is key agreement's, C without E is for cipher suites that change what they do not encrypt (9.5).
        if has(VERSION) || has(SC) && (has(ES) || has(SCB)) || has(E) != has(C) {
            return Err(BadTag::Invalid);
        }
        let data_at = ADDRESS_BYTES + TAG_BYTES + if has(SC) { SCI_BYTES } else { 0 };
        let channel = if has(SC) {
            let sci = frame.get(data_at - SCI_BYTES..data_at).and_then(|sci| sci.first_chunk());
            Channel::Sci(Sci(*sci.ok_or(BadTag::Invalid)?))
        } else if has(ES) || has(SCB) {
            // Port 0 is that of a single copy broadcast (9.5, figure 10-6).
            Channel::Sci(Sci::new(source(frame), u16::from(!has(SCB))))
        } else {
            Channel::OnlyPeer
        };
        let data_bytes = data_bytes(frame.len(), data_at, short_bytes.into()).ok_or(BadTag::Invalid)?;
        let pn = u32::from_be_bytes(pn);
        Ok(Self { an: tci & AN, pn, channel, is_encrypted: has(E), data_at, data_bytes })
    }

    /// Where the user data lie in the frame.
    pub fn data(&self) -> Range<usize> {
        self.data_at..self.data_at + self.data_bytes
    }

    /// The frame that was protected: addresses and user data of one that [`open`](fn@crate::open) has verified.
    pub fn without(&self, opened: &[u8]) -> Vec<u8> {
        [&opened[..ADDRESS_BYTES], &opened[self.data()]].concat()
    }
}

/// How many user data a frame has, by its length and what its SecTAG says of it (9.7, 9.12).
fn data_bytes(frame_bytes: usize, data_at: usize, short_bytes: usize) -> Option<usize> {
    let room = frame_bytes.checked_sub(data_at + ICV_BYTES)?;
    match short_bytes {
        0 => (room >= SHORT_BYTES).then_some(room),
        // What lies behind the ICV is filling.
        1..SHORT_BYTES => {
            let fits = room == short_bytes || room > short_bytes && frame_bytes <= SHORTEST_FRAME_BYTES;
            fits.then_some(short_bytes)
        }
        _ => None,
    }
}
