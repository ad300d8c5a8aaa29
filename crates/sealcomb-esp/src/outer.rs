//! The outer header of tunnel mode, for callers that have no socket to write it.

use std::net::{Ipv4Addr, Ipv6Addr};

use etherparse::{IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header};

use crate::ip;

/// The outer header's hop limit or TTL.
const HOP_LIMIT: u8 = 64;

/// The addresses of the outer header.
#[derive(Clone, Copy, Debug)]
pub enum Tunnel {
    /// IPv4 addresses.
    V4 {
        /// The local tunnel endpoint.
        source: Ipv4Addr,
        /// The remote tunnel endpoint.
        destination: Ipv4Addr,
    },
    /// IPv6 addresses.
    V6 {
        /// The local tunnel endpoint.
        source: Ipv6Addr,
        /// The remote tunnel endpoint.
        destination: Ipv6Addr,
    },
}

/// Appends the outer header for an ESP packet of `esp_bytes` bytes, derived from the inner header according to RFC
/// 4301, section 5.1.2. `low` is the low half of the packet's sequence number.
///
/// ECN is off (RFC 6040's compatibility mode): opening such a packet never changes the inner one.
///
/// Returns `None` if the packet would exceed the maximum length of an IP packet. `out` is then unchanged.
pub fn write_outer_header(
    out: &mut Vec<u8>,
    tunnel: Tunnel,
    low: u32,
    esp_bytes: usize,
    inner: &ip::Header<'_>,
) -> Option<()> {
    let payload_bytes = u16::try_from(esp_bytes).ok()?;
    let protocol = IpNumber::ENCAPSULATING_SECURITY_PAYLOAD;
    match tunnel {
        Tunnel::V4 { source, destination } => {
            let mut outer =
                Ipv4Header::new(payload_bytes, HOP_LIMIT, protocol, source.octets(), destination.octets())
                    .ok()?;
            outer.dscp = inner.dscp();
            outer.dont_fragment = inner.dont_fragment();
            if !outer.dont_fragment {
                outer.identification = low as u16; // distinguishes fragments of successive packets
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
    fn an_ipv4_outer_header_is_derived_from_the_inner_one() {
        for dont_fragment in [false, true] {
            let bytes = outer(V4, dont_fragment);
            let header = Ipv4HeaderSlice::from_slice(&bytes).unwrap();
            assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
            assert_eq!((header.total_len(), header.protocol().0, header.ttl()), (1020, 50, 64));
            assert_eq!(header.source_addr(), Ipv4Addr::new(203, 0, 113, 1));
            assert_eq!(header.destination_addr(), Ipv4Addr::new(203, 0, 113, 2));
            assert_eq!((header.dcp(), header.dont_fragment()), (IpDscp::EF, dont_fragment));
            // The identification must separate one packet's fragments from the next one's. Without fragments it is 0.
            assert_eq!(header.identification(), if dont_fragment { 0 } else { 0x2345 });
        }
    }

    #[test]
    fn an_ipv6_outer_header_is_derived_from_the_inner_one() {
        let bytes = outer(V6, false);
        let header = Ipv6HeaderSlice::from_slice(&bytes).unwrap();
        assert_eq!((header.payload_length(), header.next_header().0, header.hop_limit()), (1000, 50, 64));
        assert_eq!(header.source_addr(), Ipv6Addr::LOCALHOST);
        assert_eq!(header.destination_addr(), Ipv6Addr::UNSPECIFIED);
        assert_eq!(header.dscp(), IpDscp::EF);
    }
}
