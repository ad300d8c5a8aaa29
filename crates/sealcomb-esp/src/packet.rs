//! The ESP packet of RFC 4303, figure 1, in tunnel mode:
//!
//! ```text
//! SPI │ sequence number │ IV │ inner packet │ padding │ pad length │ next header │ ICV
//! └────── header ─────────┘    └───────────────── body, encrypted ───────────────┘
//! └────────────────────────── covered by the ICV ────────────────────────────────┘
//! ```
//!
//! The ICV also covers the high half of an extended sequence number, which is not sent (section 2.2.1). In combined
//! modes it is inserted between the SPI and the low half (RFC 4106, section 5). In other modes it follows the next
//! header.

use std::ops::Range;

use etherparse::IpNumber;
use sealcomb_numbers::Window;

use crate::ip;

/// Size of the ESP header: SPI and sequence number.
pub(crate) const HEADER_BYTES: usize = 8;
/// Size of half of an extended sequence number. Only the low half is sent.
pub(crate) const HALF_BYTES: usize = 4;
/// Size of the trailer: pad length and next header.
const TRAILER_BYTES: usize = 2;

/// A packet's sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// A 32-bit number, sent in full.
    Short(u32),
    /// A 64-bit number (ESN), of which the low half is sent.
    Extended(u64),
}

impl Sequence {
    /// Returns the sequence number of a received packet whose header contains `sent`. For `extended` numbers,
    /// `window` supplies the high half. Returns `None` if no valid number has this low half.
    pub fn received(sent: u32, extended: bool, window: &Window) -> Option<Self> {
        if extended { window.extend(sent).map(Self::Extended) } else { Some(Self::Short(sent)) }
    }

    /// Returns the whole sequence number.
    pub fn number(self) -> u64 {
        match self {
            Self::Short(number) => number.into(),
            Self::Extended(number) => number,
        }
    }

    /// The part that the header contains: the whole number or its low half.
    pub(crate) fn low(self) -> u32 {
        self.number() as u32
    }

    /// The high half of an extended number, big-endian: covered by the ICV but not sent.
    pub(crate) fn high(self) -> Option<[u8; HALF_BYTES]> {
        match self {
            Self::Short(_) => None,
            Self::Extended(number) => Some(((number >> 32) as u32).to_be_bytes()),
        }
    }
}

/// Sizes and offsets, in bytes, of the parts of an ESP packet under one suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(crate) iv: usize,
    pub(crate) icv: usize,
    /// The body's length is a multiple of this.
    pub(crate) alignment: usize,
}

impl Layout {
    /// Returns the offset of the inner packet in the ESP packet.
    pub fn inner_at(self) -> usize {
        HEADER_BYTES + self.iv
    }

    /// Returns the size of the ESP packet that contains an inner packet of this size.
    pub fn esp_bytes(self, inner_bytes: usize) -> usize {
        self.inner_at() + inner_bytes + TRAILER_BYTES + self.padding(inner_bytes) + self.icv
    }

    /// Returns the size of the largest inner packet that an ESP packet of at most this size can contain, or `None` if
    /// not even an empty one fits.
    pub fn max_inner_bytes(self, esp_bytes: usize) -> Option<usize> {
        let body = esp_bytes.checked_sub(self.inner_at() + self.icv)?;
        (body - body % self.alignment).checked_sub(TRAILER_BYTES)
    }

    /// Returns the byte range of the body in a received ESP packet of this size, or `None` if no packet of the suite
    /// has this size.
    pub fn body(self, esp_bytes: usize) -> Option<Range<usize>> {
        let body = self.inner_at()..esp_bytes.checked_sub(self.icv)?;
        (body.len() >= TRAILER_BYTES && body.len().is_multiple_of(self.alignment)).then_some(body)
    }

    fn padding(self, inner_bytes: usize) -> usize {
        (inner_bytes + TRAILER_BYTES).next_multiple_of(self.alignment) - inner_bytes - TRAILER_BYTES
    }

    /// Writes header, padding and trailer around the inner packet, which is already in place. IV and ICV are left
    /// unset.
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

/// Returns the SPI of an ESP packet, or `None` if the packet is too short to contain one.
pub fn spi(esp: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*esp.first_chunk()?))
}

/// Returns the sequence number in an ESP packet's header: the whole number, or the low half of an extended one.
/// Returns `None` if the packet is too short to contain one.
pub fn sent_sequence(esp: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*esp.get(4..)?.first_chunk()?))
}

/// Why a verified packet yields no inner packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoInner {
    /// The packet is a dummy, sent to hide traffic patterns (RFC 4303, section 2.6).
    Dummy,
    /// The padding, the next header or the inner packet violates the RFC.
    Malformed,
}

/// Returns the inner packet in a decrypted and verified body. It is a prefix of the body.
///
/// # Errors
/// [`NoInner`] if the body contains no inner packet.
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
    // Any bytes after the inner packet are padding that hides its length (RFC 4303, section 2.7).
    header.packet_len().and_then(|len| payload.get(..len)).ok_or(NoInner::Malformed)
}

/// Returns the offset of the padding and the next header; `None` if the padding is not 1, 2, 3, ….
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

    /// A body: payload, `padding` bytes of padding, trailer.
    fn body(payload: &[u8], padding: u8, next_header: IpNumber) -> Vec<u8> {
        let padding_bytes: Vec<u8> = (1..=padding).collect();
        [payload, &padding_bytes, &[padding, next_header.0]].concat()
    }

    /// An IPv4 and an IPv6 header, each declaring a packet of this many bytes, header included.
    fn packets(declared: u16) -> [(Vec<u8>, IpNumber); 2] {
        let mut v4 = [0; 20];
        v4[0] = 0x45;
        v4[2..4].copy_from_slice(&declared.to_be_bytes());
        let mut v6 = [0; 40];
        (v6[0], v6[6]) = (0x60, IpNumber::UDP.0);
        v6[4..6].copy_from_slice(&declared.saturating_sub(40).to_be_bytes());
        [(v4.to_vec(), IpNumber::IPV4), (v6.to_vec(), IpNumber::IPV6)]
    }

    #[test]
    fn an_inner_packet_has_its_declared_length_whatever_follows() {
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
    fn a_declared_length_beyond_the_payload_or_below_the_header_is_refused() {
        for (mut packet, next) in packets(41) {
            packet.resize(40, 0);
            assert_eq!(inner(&body(&packet, 3, next)), Err(NoInner::Malformed), "one byte short");
        }
        let [(packet, next), _] = packets(19);
        assert_eq!(inner(&body(&packet, 0, next)), Err(NoInner::Malformed));
    }

    #[test]
    fn the_next_header_must_match_the_inner_packet() {
        let [(v4, _), (v6, _)] = packets(40);
        let long_v4 = [&v4[..], &[0; 20]].concat();
        for (packet, wrong) in [(&long_v4, IpNumber::IPV6), (&v6, IpNumber::IPV4), (&v6, IpNumber::UDP)] {
            assert_eq!(inner(&body(packet, 0, wrong)), Err(NoInner::Malformed));
            assert_eq!(inner(&body(packet, 0, IpNumber::IPV6_NO_NEXT_HEADER)), Err(NoInner::Dummy));
        }
        assert_eq!(inner(&body(&[], 255, IpNumber::IPV4)), Err(NoInner::Malformed), "only padding");
        assert_eq!(inner(&body(&[], 255, IpNumber::IPV6_NO_NEXT_HEADER)), Err(NoInner::Dummy));
    }

    #[test]
    fn a_body_holds_at_least_a_trailer_and_is_aligned() {
        for (iv, icv, alignment) in [(8, 16, 4), (16, 16, 16), (8, 8, 4)] {
            let layout = Layout { iv, icv, alignment };
            let min = 8 + iv + alignment + icv;
            for bytes in 0..200 {
                let fits = bytes >= min && (bytes - min) % alignment == 0;
                let expected = fits.then(|| 8 + iv..bytes - icv);
                assert_eq!(layout.body(bytes), expected, "{bytes}");
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
