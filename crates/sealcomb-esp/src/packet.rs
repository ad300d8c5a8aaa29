//! The ESP packet of RFC 4303, figure 1, in tunnel mode:
//!
//! ```text
//! SPI │ sequence number │ IV │ inner packet │ padding │ pad length │ next header │ ICV
//! └────── header ─────────┘    └───────────────── body, encrypted ───────────────┘
//! └────────────────────────── covered by the ICV ────────────────────────────────┘
//! ```
//!
//! The ICV covers the high half of an extended sequence number too, which is not sent (section 2.2.1): for a combined
//! mode it stands between the SPI and the low half (RFC 4106, section 5), for others behind the next header.

use etherparse::IpNumber;
use sealcomb_numbers::Window;

use crate::ip;

/// SPI and sequence number.
pub(crate) const HEADER_BYTES: usize = 8;
/// Of an extended sequence number, half of which is sent.
pub(crate) const HALF_BYTES: usize = 4;
/// Pad length and next header.
const TRAILER_BYTES: usize = 2;

/// A packet's sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// All that there is of it is sent.
    Short(u32),
    /// The low half is sent.
    Extended(u64),
}

impl Sequence {
    /// The number of a packet that carries `sent`, all of it or, if it is extended, the low half; `None` if it can be none.
    pub fn received(sent: u32, extended: bool, window: &Window) -> Option<Self> {
        if extended { window.extend(sent).map(Self::Extended) } else { Some(Self::Short(sent)) }
    }

    /// All of it.
    pub fn number(self) -> u64 {
        match self {
            Self::Short(number) => number.into(),
            Self::Extended(number) => number,
        }
    }

    /// What is sent.
    pub(crate) fn low(self) -> u32 {
        self.number() as u32
    }

    /// What the ICV covers without its being sent.
    pub(crate) fn high(self) -> Option<[u8; HALF_BYTES]> {
        match self {
            Self::Short(_) => None,
            Self::Extended(number) => Some(((number >> 32) as u32).to_be_bytes()),
        }
    }
}

/// Where the parts of an ESP packet lie, which depends on the suite. All in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(crate) iv: usize,
    pub(crate) icv: usize,
    /// What the body must be a multiple of.
    pub(crate) alignment: usize,
}

impl Layout {
    /// Where the inner packet begins.
    pub fn inner_at(self) -> usize {
        HEADER_BYTES + self.iv
    }

    /// Of the whole ESP packet around an inner packet.
    pub fn esp_bytes(self, inner_bytes: usize) -> usize {
        self.inner_at() + inner_bytes + TRAILER_BYTES + self.padding(inner_bytes) + self.icv
    }

    /// The longest inner packet in an ESP packet of this many bytes; `None` if not even an empty one fits.
    pub fn max_inner_bytes(self, esp_bytes: usize) -> Option<usize> {
        let body = esp_bytes.checked_sub(self.inner_at() + self.icv)?;
        (body - body % self.alignment).checked_sub(TRAILER_BYTES)
    }

    /// Of the body of a received ESP packet; `None`: its length cannot be right.
    pub fn body_bytes(self, esp_bytes: usize) -> Option<usize> {
        let body = esp_bytes.checked_sub(self.inner_at() + self.icv)?;
        (body >= TRAILER_BYTES && body.is_multiple_of(self.alignment)).then_some(body)
    }

    fn padding(self, inner_bytes: usize) -> usize {
        (inner_bytes + TRAILER_BYTES).next_multiple_of(self.alignment) - inner_bytes - TRAILER_BYTES
    }

    /// Writes all of a packet but IV and ICV around the inner packet that lies in its place.
    pub(crate) fn frame(self, esp: &mut [u8], spi: u32, sequence: Sequence, inner_bytes: usize) {
        esp[..4].copy_from_slice(&spi.to_be_bytes());
        esp[4..HEADER_BYTES].copy_from_slice(&sequence.low().to_be_bytes());
        let (inner, rest) = esp[self.inner_at()..].split_at_mut(inner_bytes);
        let next_header =
            if inner.first().is_some_and(|byte| byte >> 4 == 6) { IpNumber::IPV6 } else { IpNumber::IPV4 };
        let padding = self.padding(inner_bytes);
        for (byte, count) in rest[..padding].iter_mut().zip(1..) {
            *byte = count; // RFC 4303, section 2.4: padding counts 1, 2, 3, …
        }
        rest[padding] = padding as u8; // shorter than a block
        rest[padding + 1] = next_header.0;
    }
}

/// The SPI with which an ESP packet begins.
pub fn spi(esp: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*esp.first_chunk()?))
}

/// The sequence number that an ESP packet carries: all of it or its low half. `None`: the packet ends before.
pub fn sent_sequence(esp: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*esp.get(4..)?.first_chunk()?))
}

/// Why a verified packet yields no inner packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoInner {
    /// A dummy, sent to hide when there is traffic (RFC 4303, section 2.6).
    Dummy,
    /// Its sender does not keep to the RFC.
    Malformed,
}

/// The inner packet of a body that is decrypted and verified; it begins where the body does.
///
/// # Errors
/// [`NoInner`], if there is none.
pub fn inner(body: &[u8]) -> Result<&[u8], NoInner> {
    let (trailer_at, next_header) = trailer(body).ok_or(NoInner::Malformed)?;
    if next_header == IpNumber::IPV6_NO_NEXT_HEADER {
        return Err(NoInner::Dummy);
    }
    let payload = &body[..trailer_at];
    let header = ip::Header::parse(payload).ok_or(NoInner::Malformed)?;
    if header.ip_number() != next_header {
        return Err(NoInner::Malformed);
    }
    // What lies behind the inner packet is padding to hide its length (RFC 4303, section 2.7).
    header.packet_len().and_then(|len| payload.get(..len)).ok_or(NoInner::Malformed)
}

/// Where padding begins, and the next header; `None` if the padding does not count 1, 2, 3, ….
fn trailer(body: &[u8]) -> Option<(usize, IpNumber)> {
    let (rest, &[pad_length, next_header]) = body.split_last_chunk()?;
    let padding_at = rest.len().checked_sub(pad_length.into())?;
    let counts_up = rest[padding_at..].iter().copied().eq(1..=pad_length);
    counts_up.then_some((padding_at, IpNumber(next_header)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_must_count_up() {
        let next = IpNumber::IPV4.0;
        assert_eq!(trailer(&[9, 9, 0, next]), Some((2, IpNumber::IPV4)));
        assert_eq!(trailer(&[9, 9, 1, 2, 3, 3, next]), Some((2, IpNumber::IPV4)));
        assert_eq!(trailer(&[9, 9, 1, 2, 4, 3, next]), None);
    }

    #[test]
    fn padding_longer_than_the_body_is_refused() {
        assert_eq!(trailer(&[1, 2, 3, IpNumber::IPV4.0]), None);
        assert_eq!(trailer(&[4]), None);
    }

    /// A body around a payload, with as much padding as is said and this next header.
    fn body(payload: &[u8], padding: u8, next_header: IpNumber) -> Vec<u8> {
        let padding_bytes: Vec<u8> = (1..=padding).collect();
        [payload, &padding_bytes, &[padding, next_header.0]].concat()
    }

    /// Packets without a payload, whose headers say so many bytes; of IPv6 40 are the header's.
    fn packets(said: u16) -> [(Vec<u8>, IpNumber); 2] {
        let mut v4 = [0; 20];
        v4[0] = 0x45;
        v4[2..4].copy_from_slice(&said.to_be_bytes());
        let mut v6 = [0; 40];
        (v6[0], v6[6]) = (0x60, IpNumber::UDP.0);
        v6[4..6].copy_from_slice(&said.saturating_sub(40).to_be_bytes());
        [(v4.to_vec(), IpNumber::IPV4), (v6.to_vec(), IpNumber::IPV6)]
    }

    #[test]
    fn an_inner_packet_is_as_long_as_its_header_says_whatever_follows() {
        for (mut packet, next) in packets(40) {
            packet.resize(40, 0);
            for padding in [0, 1, 254, 255] {
                for hiding in [0, 1, 1000] {
                    let payload = [&packet[..], &vec![1; hiding]].concat();
                    assert_eq!(inner(&body(&payload, padding, next)), Ok(&packet[..]));
                }
            }
        }
    }

    #[test]
    fn a_header_that_says_more_than_there_is_or_less_than_itself_is_refused() {
        for (mut packet, next) in packets(41) {
            packet.resize(40, 0);
            assert_eq!(inner(&body(&packet, 3, next)), Err(NoInner::Malformed), "a byte is lacking");
        }
        let [(packet, next), _] = packets(19);
        assert_eq!(inner(&body(&packet, 0, next)), Err(NoInner::Malformed));
    }

    #[test]
    fn the_next_header_must_be_what_the_packet_is() {
        let [(v4, _), (v6, _)] = packets(40);
        let long_v4 = [&v4[..], &[0; 20]].concat();
        for (packet, wrong) in [(&long_v4, IpNumber::IPV6), (&v6, IpNumber::IPV4), (&v6, IpNumber::UDP)] {
            assert_eq!(inner(&body(packet, 0, wrong)), Err(NoInner::Malformed));
            assert_eq!(inner(&body(packet, 0, IpNumber::IPV6_NO_NEXT_HEADER)), Err(NoInner::Dummy));
        }
        assert_eq!(inner(&body(&[], 255, IpNumber::IPV4)), Err(NoInner::Malformed), "padding alone");
        assert_eq!(inner(&body(&[], 255, IpNumber::IPV6_NO_NEXT_HEADER)), Err(NoInner::Dummy));
    }

    #[test]
    fn a_received_packet_has_room_for_a_trailer_in_whole_blocks() {
        for (iv, icv, alignment) in [(8, 16, 4), (16, 16, 16), (8, 8, 4)] {
            let layout = Layout { iv, icv, alignment };
            let least = 8 + iv + alignment + icv;
            for bytes in 0..200 {
                let fits = bytes >= least && (bytes - least) % alignment == 0;
                let expected = fits.then(|| bytes - 8 - iv - icv);
                assert_eq!(layout.body_bytes(bytes), expected, "{bytes}");
            }
        }
    }

    #[test]
    fn the_longest_inner_packet_is_the_longest_that_fits() {
        for (iv, alignment) in [(8, 4), (16, 16)] {
            let layout = Layout { iv, icv: 16, alignment };
            for esp in 0..200 {
                let by_trial = (0..200).rev().find(|inner| layout.esp_bytes(*inner) <= esp);
                assert_eq!(layout.max_inner_bytes(esp), by_trial, "{esp}");
            }
        }
    }
}
