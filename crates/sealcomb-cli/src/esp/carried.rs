//! Finds the ESP packet in an IP packet: as its payload (RFC 4303) or in UDP (RFC 3948).

use std::ops::Range;

use etherparse::{IpNumber, IpSlice};

use super::ip;

/// Why an IP packet contains no ESP packet that can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoEsp {
    /// The packet carries another protocol.
    Other,
    /// The packet is IKE or a NAT keepalive. Both share a UDP port with ESP.
    KeyExchange,
    /// ESP is inside another tunnel, such as GRE, which is not supported.
    Tunneled,
    /// The packet may be part of ESP in a TCP stream (RFC 9329), which is not supported.
    Stream,
    /// A header is invalid, or the ESP packet is too short for an SPI.
    Malformed,
}

/// The port of IKE with NAT traversal and of ESP in UDP.
pub(super) const NAT_TRAVERSAL: u16 = 4500;

const SPI_BYTES: usize = 4;
const UDP_HEADER_BYTES: usize = 8;
/// Wrapped ESP (RFC 5840).
const WESP: IpNumber = IpNumber(141);
const GRE: IpNumber = IpNumber(47);
/// Ethernet frames in IP (RFC 3378), and MPLS (RFC 4023).
const ETHER_IP: IpNumber = IpNumber(97);
const MPLS_IN_IP: IpNumber = IpNumber(137);
/// Ethernet frames and MPLS, by EtherType.
const BRIDGED: u16 = 0x6558;
const MPLS: u16 = 0x8847;
/// UDP ports of tunnels.
const GTP: u16 = 2152;
const VXLAN: u16 = 4789;
const GENEVE: u16 = 6081;
/// Maximum depth of nested tunnels that are searched.
const DEPTH: usize = 4;

/// Returns the byte range of the ESP packet in an IP packet that is not a fragment.
pub(crate) fn find(packet: &[u8]) -> Result<Range<usize>, NoEsp> {
    find_within(packet, DEPTH)
}

fn find_within(packet: &[u8], depth: usize) -> Result<Range<usize>, NoEsp> {
    let outer = IpSlice::from_slice(packet).map_err(|_| NoEsp::Malformed)?;
    let payload = outer.payload().payload;
    let at = packet.len() - payload.len();
    match outer.payload_ip_number() {
        IpNumber::ENCAPSULATING_SECURITY_PAYLOAD if payload.len() < SPI_BYTES => Err(NoEsp::Malformed),
        IpNumber::ENCAPSULATING_SECURITY_PAYLOAD => Ok(at..packet.len()),
        IpNumber::UDP => {
            let esp = in_udp(payload, depth)?;
            Ok(at + esp.start..at + esp.end)
        }
        WESP => Err(NoEsp::Tunneled),
        IpNumber::TCP => Err(in_tcp(payload)),
        IpNumber::IPV4 | IpNumber::IPV6 => Err(in_tunnel(payload, depth)),
        GRE => Err(in_gre(payload, depth)),
        ETHER_IP => Err(in_type(BRIDGED, payload.get(2..), depth)),
        MPLS_IN_IP => Err(in_type(MPLS, Some(payload), depth)),
        _ => Err(NoEsp::Other),
    }
}

fn ports(payload: &[u8]) -> Option<[u16; 2]> {
    Some([ip::number(payload, 0).ok()?, ip::number(payload, 2).ok()?])
}

/// Returns whether the source or the destination port of a UDP datagram or TCP segment is [`NAT_TRAVERSAL`].
/// `None` if the payload is too short for ports.
pub(super) fn has_port(payload: &[u8]) -> Option<bool> {
    Some(ports(payload)?.contains(&NAT_TRAVERSAL))
}

/// Returns whether the destination port of a UDP datagram is that of a tunnel.
pub(super) fn is_tunnel(payload: &[u8]) -> bool {
    matches!(ip::number(payload, 2), Ok(VXLAN | GENEVE | GTP))
}

fn in_udp(payload: &[u8], depth: usize) -> Result<Range<usize>, NoEsp> {
    if !has_port(payload).ok_or(NoEsp::Malformed)? {
        return Err(in_udp_tunnel(payload, depth));
    }
    let len = match ip::number(payload, 4).map_err(|_| NoEsp::Malformed)? {
        0 => payload.len(),
        len => len.into(),
    };
    match payload.get(UDP_HEADER_BYTES..len).ok_or(NoEsp::Malformed)? {
        // RFC 3948, sections 2.2 and 2.3: NAT keepalives are ff, IKE begins with an SPI of 0.
        [0xff] | [0, 0, 0, 0, ..] => Err(NoEsp::KeyExchange),
        esp if esp.len() < SPI_BYTES => Err(NoEsp::Malformed),
        _ => Ok(UDP_HEADER_BYTES..len),
    }
}

/// Classifies UDP datagrams on the ports of tunnels. Other protocols may use these ports, so invalid content is
/// `Other`, not `Malformed`.
fn in_udp_tunnel(payload: &[u8], depth: usize) -> NoEsp {
    let inner = payload.get(UDP_HEADER_BYTES..).unwrap_or_default();
    let inner_type = |at| ip::number(inner, at).unwrap_or_default();
    let found = match ip::number(payload, 2) {
        Ok(VXLAN) => in_type(BRIDGED, inner.get(8..), depth),
        Ok(GENEVE) => {
            let option_words = inner.first().map_or(0, |first| usize::from(first & 0x3f));
            in_type(inner_type(2), inner.get(8 + 4 * option_words..), depth)
        }
        Ok(GTP) => {
            // The header has four more bytes if any of three flags is set.
            let header_bytes = if inner.first().is_some_and(|flags| flags & 7 != 0) { 12 } else { 8 };
            inner.get(header_bytes..).map_or(NoEsp::Other, |inner| in_tunnel(inner, depth))
        }
        _ => NoEsp::Other,
    };
    if found == NoEsp::Malformed { NoEsp::Other } else { found }
}

fn in_tcp(payload: &[u8]) -> NoEsp {
    let (Some(has_port), Some(words)) = (has_port(payload), payload.get(12)) else { return NoEsp::Malformed };
    let has_data = payload.len() > 4 * usize::from(words >> 4);
    if has_port && has_data { NoEsp::Stream } else { NoEsp::Other }
}

/// Classifies a packet by the inner packet of its tunnel.
fn in_tunnel(inner: &[u8], depth: usize) -> NoEsp {
    let Some(depth) = depth.checked_sub(1) else { return NoEsp::Tunneled };
    match find_within(inner, depth) {
        Ok(_) | Err(NoEsp::Tunneled) => NoEsp::Tunneled,
        Err(other) => other,
    }
}

fn in_gre(payload: &[u8], depth: usize) -> NoEsp {
    let (Ok(flags), Ok(protocol)) = (ip::number(payload, 0), ip::number(payload, 2)) else {
        return NoEsp::Malformed;
    };
    // RFC 2784 and RFC 2890: checksum, key and sequence number are present if their flags are set.
    let optional = [0x8000, 0x2000, 0x1000].iter().filter(|flag| flags & **flag != 0).count();
    in_type(protocol, payload.get(4 + 4 * optional..), depth)
}

/// Classifies a packet by the inner packet or frame of its tunnel. `inner` is `None` if the tunnel's header is
/// truncated.
fn in_type(ether_type: u16, inner: Option<&[u8]>, depth: usize) -> NoEsp {
    let Some(inner) = inner else { return NoEsp::Malformed };
    let inner = match ether_type {
        BRIDGED => ip::of_type_at(inner, 12, 14),
        ether_type => ip::of_type(ether_type, inner),
    };
    match inner {
        Ok(inner) => in_tunnel(inner, depth),
        Err(ip::NoPacket::NotIp) => NoEsp::Other,
        Err(_) => NoEsp::Malformed,
    }
}
