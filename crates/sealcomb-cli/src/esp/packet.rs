//! The ESP packet of RFC 4303, figure 1, in tunnel mode:
//!
//! ```text
//! outer IP header │ SPI │ sequence number │ IV │ inner packet │ padding │ pad length │ next header │ ICV
//!                 └────── header ─────────┘    └───────────────── body, encrypted ───────────────┘
//!                 └────────────────────────── covered by the ICV ────────────────────────────────┘
//! ```
//!
//! The ICV covers the high half of an extended sequence number too, which is not sent (section 2.2.1): for a combined
//! mode it stands between the SPI and the low half (RFC 4106, section 5), for others behind the next header.

use etherparse::{IpNumber, IpSlice, Ipv4Header, Ipv6FlowLabel, Ipv6Header};

use super::ip;
use super::sa::{Suite, Tunnel};

/// SPI and sequence number.
const HEADER_BYTES: usize = 8;
/// Of an extended sequence number, half of which is sent.
const HALF_BYTES: usize = 4;
/// Pad length and next header.
const TRAILER_BYTES: usize = 2;
/// Of the outer header.
const HOP_LIMIT: u8 = 64;

/// A packet's sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sequence {
    /// All that there is of it is sent.
    Short(u32),
    /// The low half is sent.
    Extended(u64),
}

impl Sequence {
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Short(number) => number.into(),
            Self::Extended(number) => number,
        }
    }

    /// What is sent.
    fn low(self) -> u32 {
        self.number() as u32
    }

    /// What the ICV covers without its being sent.
    fn high(self) -> Option<[u8; HALF_BYTES]> {
        match self {
            Self::Short(_) => None,
            Self::Extended(number) => Some(((number >> 32) as u32).to_be_bytes()),
        }
    }
}

/// Lengths that depend on the cipher suite.
#[derive(Clone, Copy)]
struct Sizes {
    iv: usize,
    /// What is covered between next header and ICV and not sent.
    unsent: usize,
    icv: usize,
    alignment: usize,
}

impl Sizes {
    fn of(suite: &Suite, sequence: Sequence) -> Self {
        let is_unsent_behind = suite.auth().is_some() && sequence.high().is_some();
        Self {
            iv: suite.iv_bytes(),
            unsent: if is_unsent_behind { HALF_BYTES } else { 0 },
            icv: suite.icv_bytes(),
            alignment: suite.alignment(),
        }
    }
}

/// A few bytes, joined of parts: up to the 16 of a block.
pub(crate) struct Short {
    bytes: [u8; 16],
    len: usize,
}

impl Short {
    pub(crate) fn joined(parts: &[&[u8]]) -> Self {
        let mut short = Self { bytes: [0; 16], len: 0 };
        for part in parts {
            short.bytes[short.len..short.len + part.len()].copy_from_slice(part);
            short.len += part.len();
        }
        short
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// An IP packet that carries ESP.
pub(crate) struct EspPacket {
    /// With the part that is covered and not sent, so that all that the ICV covers lies together.
    bytes: Vec<u8>,
    /// Where the SPI begins.
    start: usize,
    sequence: Sequence,
    sizes: Sizes,
}

/// The parts that a cipher works on.
pub(crate) struct Parts<'a> {
    pub(crate) iv: &'a [u8],
    pub(crate) body: &'a mut [u8],
    pub(crate) icv: &'a mut [u8],
}

impl EspPacket {
    /// Lays a packet out around `inner`, with its body not encrypted yet and a zero ICV. `None`: it would be longer
    /// than IP packets can be.
    pub(crate) fn lay_out(
        tunnel: Tunnel,
        spi: u32,
        sequence: Sequence,
        iv: &[u8],
        suite: &Suite,
        inner: &[u8],
    ) -> Option<Self> {
        let sizes = Sizes::of(suite, sequence);
        let inner_header = ip::Header::parse(inner)?;
        let padding =
            (inner.len() + TRAILER_BYTES).next_multiple_of(sizes.alignment) - inner.len() - TRAILER_BYTES;
        let esp_bytes = HEADER_BYTES + iv.len() + inner.len() + padding + TRAILER_BYTES + sizes.icv;

        let mut bytes = Vec::with_capacity(Ipv6Header::LEN + esp_bytes + sizes.unsent);
        write_outer_header(&mut bytes, tunnel, sequence.low(), esp_bytes, &inner_header)?;
        let start = bytes.len();
        bytes.extend(spi.to_be_bytes());
        bytes.extend(sequence.low().to_be_bytes());
        bytes.extend(iv);
        bytes.extend(inner);
        bytes.extend((1..).take(padding)); // RFC 4303, section 2.4: padding counts 1, 2, 3, …
        bytes.push(u8::try_from(padding).ok()?);
        bytes.push(inner_header.ip_number().0);
        bytes.resize(start + esp_bytes, 0);
        Some(Self { bytes, start, sequence, sizes }.with_unsent())
    }

    /// Inserts what is covered and not sent.
    fn with_unsent(mut self) -> Self {
        let at = self.bytes.len() - self.sizes.icv;
        if let (HALF_BYTES, Some(high)) = (self.sizes.unsent, self.sequence.high()) {
            self.bytes.splice(at..at, high);
        }
        self
    }

    /// The SPI and where it begins, if the IP packet carries ESP whole, not a fragment of it.
    pub(crate) fn find(packet: &[u8]) -> Option<(u32, usize)> {
        let outer = IpSlice::from_slice(packet).ok()?;
        if outer.payload_ip_number() != IpNumber::ENCAPSULATING_SECURITY_PAYLOAD
            || outer.is_fragmenting_payload()
        {
            return None;
        }
        let esp = outer.payload().payload;
        let spi = u32::from_be_bytes(*esp.first_chunk()?);
        Some((spi, packet.len() - esp.len()))
    }

    /// The sequence number that stands behind an SPI at `start`: all of it or its low half. `None`: the packet ends
    /// before.
    pub(crate) fn sent_sequence(packet: &[u8], start: usize) -> Option<u32> {
        let field = packet.get(start + 4..)?.first_chunk()?;
        Some(u32::from_be_bytes(*field))
    }

    /// Takes an IP packet whose SPI begins at `start` as one of this suite and sequence number. `None`: its length
    /// cannot be right.
    pub(crate) fn received(bytes: Vec<u8>, start: usize, sequence: Sequence, suite: &Suite) -> Option<Self> {
        let sizes = Sizes::of(suite, sequence);
        let body = bytes.len().checked_sub(start + HEADER_BYTES + sizes.iv + sizes.icv)?;
        let is_possible = body >= TRAILER_BYTES && body.is_multiple_of(sizes.alignment);
        is_possible.then(|| Self { bytes, start, sequence, sizes }.with_unsent())
    }

    pub(crate) fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// What the combined modes authenticate beside the body.
    pub(crate) fn additional_data(&self) -> Short {
        let (spi, low) = self.bytes[self.start..self.start + HEADER_BYTES].split_at(4);
        match self.sequence.high() {
            None => Short::joined(&[spi, low]),
            Some(high) => Short::joined(&[spi, &high, low]),
        }
    }

    pub(crate) fn parts(&mut self) -> Parts<'_> {
        let (_, rest) = self.bytes[self.start..].split_at_mut(HEADER_BYTES);
        let (iv, rest) = rest.split_at_mut(self.sizes.iv);
        let (rest, icv) = rest.split_at_mut(rest.len() - self.sizes.icv);
        let (body, _) = rest.split_at_mut(rest.len() - self.sizes.unsent);
        Parts { iv, body, icv }
    }

    /// What an integrity algorithm apart from the cipher covers, and the ICV.
    pub(crate) fn covered(&mut self) -> (&[u8], &mut [u8]) {
        let esp = &mut self.bytes[self.start..];
        let (covered, icv) = esp.split_at_mut(esp.len() - self.sizes.icv);
        (covered, icv)
    }

    /// The whole IP packet, as it is sent.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        let icv = self.bytes.len() - self.sizes.icv;
        self.bytes.drain(icv - self.sizes.unsent..icv);
        self.bytes
    }

    /// The inner packet of a body that is decrypted and verified.
    pub(crate) fn into_inner(mut self) -> Result<Vec<u8>, NoInner> {
        let body = self.parts().body;
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
        let inner = header.packet_len().and_then(|len| payload.get(..len));
        inner.map(<[u8]>::to_vec).ok_or(NoInner::Malformed)
    }
}

/// Why a verified packet yields no inner packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoInner {
    /// A dummy, sent to hide when there is traffic (RFC 4303, section 2.6).
    Dummy,
    /// Its sender does not keep to the RFC.
    Malformed,
}

/// Where padding begins, and the next header; `None` if the padding does not count 1, 2, 3, ….
fn trailer(body: &[u8]) -> Option<(usize, IpNumber)> {
    let (rest, &[pad_length, next_header]) = body.split_last_chunk()?;
    let padding_at = rest.len().checked_sub(pad_length.into())?;
    let counts_up = rest[padding_at..].iter().copied().eq(1..=pad_length);
    counts_up.then_some((padding_at, IpNumber(next_header)))
}

/// The outer header as RFC 4301, section 5.1.2, makes it from the inner one. Explicit congestion notification stays
/// off (RFC 6040's compatibility mode), so that opening never needs to change the inner packet.
fn write_outer_header(
    out: &mut Vec<u8>,
    tunnel: Tunnel,
    low: u32,
    payload_bytes: usize,
    inner: &ip::Header<'_>,
) -> Option<()> {
    let payload_bytes = u16::try_from(payload_bytes).ok()?;
    let protocol = IpNumber::ENCAPSULATING_SECURITY_PAYLOAD;
    match tunnel {
        Tunnel::V4 { source, destination } => {
            let mut outer =
                Ipv4Header::new(payload_bytes, HOP_LIMIT, protocol, source.octets(), destination.octets())
                    .ok()?;
            outer.dscp = inner.dscp();
            outer.dont_fragment = inner.dont_fragment();
            if !outer.dont_fragment {
                outer.identification = low as u16; // tells fragments of neighbouring packets apart
            }
            outer.header_checksum = outer.calc_header_checksum();
            out.extend(outer.to_bytes());
        }
        Tunnel::V6 { source, destination } => {
            let mut outer = Ipv6Header {
                traffic_class: 0,
                flow_label: Ipv6FlowLabel::ZERO,
                payload_length: payload_bytes,
                next_header: protocol,
                hop_limit: HOP_LIMIT,
                source: source.octets(),
                destination: destination.octets(),
            };
            outer.set_dscp(inner.dscp());
            out.extend(outer.to_bytes());
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use etherparse::{IpDscp, Ipv4HeaderSlice, Ipv6HeaderSlice};

    use super::*;

    const V4: Tunnel =
        Tunnel::V4 { source: Ipv4Addr::new(203, 0, 113, 1), destination: Ipv4Addr::new(203, 0, 113, 2) };
    const V6: Tunnel = Tunnel::V6 { source: Ipv6Addr::LOCALHOST, destination: Ipv6Addr::UNSPECIFIED };

    /// The outer header for 1000 bytes of ESP with sequence number 0x12345 around an IPv4 packet.
    fn outer(tunnel: Tunnel, dont_fragment: bool) -> Vec<u8> {
        let mut inner = Ipv4Header { dont_fragment, total_len: 20, ..Ipv4Header::default() };
        inner.dscp = IpDscp::EF;
        let inner = inner.to_bytes();
        let mut out = Vec::new();
        write_outer_header(&mut out, tunnel, 0x12345, 1000, &ip::Header::parse(&inner).unwrap()).unwrap();
        out
    }

    #[test]
    fn an_ipv4_outer_header_is_made_from_the_inner_one() {
        for dont_fragment in [false, true] {
            let bytes = outer(V4, dont_fragment);
            let header = Ipv4HeaderSlice::from_slice(&bytes).unwrap();
            assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
            assert_eq!((header.total_len(), header.protocol().0, header.ttl()), (1020, 50, 64));
            assert_eq!(header.source_addr(), Ipv4Addr::new(203, 0, 113, 1));
            assert_eq!(header.destination_addr(), Ipv4Addr::new(203, 0, 113, 2));
            assert_eq!((header.dcp(), header.dont_fragment()), (IpDscp::EF, dont_fragment));
            // Fragments of one packet must be told from those of the next; without fragments it does not matter.
            assert_eq!(header.identification(), if dont_fragment { 0 } else { 0x2345 });
        }
    }

    #[test]
    fn an_ipv6_outer_header_is_made_from_the_inner_one() {
        let bytes = outer(V6, false);
        let header = Ipv6HeaderSlice::from_slice(&bytes).unwrap();
        assert_eq!((header.payload_length(), header.next_header().0, header.hop_limit()), (1000, 50, 64));
        assert_eq!(header.source_addr(), Ipv6Addr::LOCALHOST);
        assert_eq!(header.destination_addr(), Ipv6Addr::UNSPECIFIED);
        assert_eq!(header.dscp(), IpDscp::EF);
    }

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
}
