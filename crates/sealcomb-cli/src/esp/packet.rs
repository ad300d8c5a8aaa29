//! The ESP packet of RFC 4303, figure 1, in tunnel mode:
//!
//! ```text
//! outer IP header │ SPI │ sequence number │ IV │ inner packet │ padding │ pad length │ next header │ ICV
//!                 └────── header ─────────┘    └───────────────── body, encrypted ───────────────┘
//!                 └────────────────────────── covered by the ICV ────────────────────────────────┘
//! ```

use etherparse::{IpNumber, IpSlice, Ipv4Header, Ipv6FlowLabel, Ipv6Header};

use super::ip;
use super::sa::{Suite, Tunnel};

/// SPI and sequence number.
const HEADER_BYTES: usize = 8;
/// Pad length and next header.
const TRAILER_BYTES: usize = 2;
/// Of the outer header.
const HOP_LIMIT: u8 = 64;

/// Lengths that depend on the cipher suite.
#[derive(Clone, Copy)]
struct Sizes {
    iv: usize,
    icv: usize,
    alignment: usize,
}

impl Sizes {
    fn of(suite: &Suite) -> Self {
        Self { iv: suite.iv_bytes(), icv: suite.icv_bytes(), alignment: suite.alignment() }
    }
}

/// An IP packet that carries ESP.
pub(crate) struct EspPacket {
    bytes: Vec<u8>,
    /// Where the SPI begins.
    start: usize,
    sizes: Sizes,
}

/// The parts that a cipher works on.
pub(crate) struct Parts<'a> {
    /// SPI and sequence number: what the combined modes authenticate beside the body.
    pub(crate) header: &'a [u8],
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
        sequence: u32,
        iv: &[u8],
        suite: &Suite,
        inner: &[u8],
    ) -> Option<Self> {
        let sizes = Sizes::of(suite);
        let inner_header = ip::Header::parse(inner)?;
        let padding =
            (inner.len() + TRAILER_BYTES).next_multiple_of(sizes.alignment) - inner.len() - TRAILER_BYTES;
        let esp_bytes = HEADER_BYTES + iv.len() + inner.len() + padding + TRAILER_BYTES + sizes.icv;

        let mut bytes = Vec::with_capacity(Ipv6Header::LEN + esp_bytes);
        write_outer_header(&mut bytes, tunnel, sequence, esp_bytes, &inner_header)?;
        let start = bytes.len();
        bytes.extend(spi.to_be_bytes());
        bytes.extend(sequence.to_be_bytes());
        bytes.extend(iv);
        bytes.extend(inner);
        bytes.extend((1..).take(padding)); // RFC 4303, section 2.4: padding counts 1, 2, 3, …
        bytes.push(u8::try_from(padding).ok()?);
        bytes.push(inner_header.ip_number().0);
        bytes.resize(start + esp_bytes, 0);
        Some(Self { bytes, start, sizes })
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

    /// Takes an IP packet whose SPI begins at `start` as one of this suite. `None`: its length cannot be right.
    pub(crate) fn received(bytes: Vec<u8>, start: usize, suite: &Suite) -> Option<Self> {
        let sizes = Sizes::of(suite);
        let body = bytes.len().checked_sub(start + HEADER_BYTES + sizes.iv + sizes.icv)?;
        (body >= TRAILER_BYTES && body.is_multiple_of(sizes.alignment)).then_some(Self {
            bytes,
            start,
            sizes,
        })
    }

    pub(crate) fn sequence(&self) -> u32 {
        let field = self.bytes[self.start + 4..].first_chunk().expect("a packet has a header");
        u32::from_be_bytes(*field)
    }

    pub(crate) fn parts(&mut self) -> Parts<'_> {
        let (header, rest) = self.bytes[self.start..].split_at_mut(HEADER_BYTES);
        let (iv, rest) = rest.split_at_mut(self.sizes.iv);
        let (body, icv) = rest.split_at_mut(rest.len() - self.sizes.icv);
        Parts { header, iv, body, icv }
    }

    /// What an integrity algorithm apart from the cipher covers, and the ICV.
    pub(crate) fn covered(&mut self) -> (&[u8], &mut [u8]) {
        let esp = &mut self.bytes[self.start..];
        let (covered, icv) = esp.split_at_mut(esp.len() - self.sizes.icv);
        (covered, icv)
    }

    /// The whole IP packet.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
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
    sequence: u32,
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
                outer.identification = sequence as u16; // tells fragments of neighbouring packets apart
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
