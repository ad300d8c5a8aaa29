//! From an IP packet to the ESP packet that it carries: as its payload (RFC 4303) or in UDP (RFC 3948).

use std::ops::Range;

use etherparse::{IpNumber, IpSlice};

use super::ip;

/// Why an IP packet carries no ESP packet that can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoEsp {
    /// Another protocol.
    Other,
    /// IKE and keepalives, with which ESP shares a UDP port.
    KeyExchange,
    /// ESP in a tunnel that is not opened here: IP in IP, GRE.
    Tunneled,
    /// It may be ESP in a TCP stream (RFC 9329).
    Stream,
    /// A header makes no sense, or what should be ESP has no SPI.
    Malformed,
}

/// IKE with NAT traversal, and ESP beside it.
pub(super) const NAT_TRAVERSAL: u16 = 4500;

const SPI_BYTES: usize = 4;
const UDP_HEADER_BYTES: usize = 8;
const GRE: IpNumber = IpNumber(47);
/// Ethernet frames, as an EtherType.
const BRIDGED: u16 = 0x6558;
/// How many tunnels within each other are looked into.
const DEPTH: usize = 4;

/// Where the ESP packet lies in an IP packet that is not a fragment.
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
            let esp = in_udp(payload)?;
            Ok(at + esp.start..at + esp.end)
        }
        IpNumber::TCP => Err(in_tcp(payload)),
        IpNumber::IPV4 | IpNumber::IPV6 => Err(in_tunnel(payload, depth)),
        GRE => Err(in_gre(payload, depth)),
        _ => Err(NoEsp::Other),
    }
}

fn ports(payload: &[u8]) -> Option<[u16; 2]> {
    Some([ip::number(payload, 0).ok()?, ip::number(payload, 2).ok()?])
}

/// Whether one of the ports with which a UDP datagram or a TCP segment begins is that of IKE with NAT traversal.
pub(super) fn has_port(payload: &[u8]) -> Option<bool> {
    Some(ports(payload)?.contains(&NAT_TRAVERSAL))
}

fn in_udp(payload: &[u8]) -> Result<Range<usize>, NoEsp> {
    if !has_port(payload).ok_or(NoEsp::Malformed)? {
        return Err(NoEsp::Other);
    }
    let len = match ip::number(payload, 4).map_err(|_| NoEsp::Malformed)? {
        0 => payload.len(),
        len => len.into(),
    };
    match payload.get(UDP_HEADER_BYTES..len).ok_or(NoEsp::Malformed)? {
        // RFC 3948, sections 2.2 and 2.3: an SPI is never 0, and IKE begins with that instead.
        [0xff] | [0, 0, 0, 0, ..] => Err(NoEsp::KeyExchange),
        esp if esp.len() < SPI_BYTES => Err(NoEsp::Malformed),
        _ => Ok(UDP_HEADER_BYTES..len),
    }
}

fn in_tcp(payload: &[u8]) -> NoEsp {
    let (Some(has_port), Some(words)) = (has_port(payload), payload.get(12)) else { return NoEsp::Malformed };
    let has_data = payload.len() > 4 * usize::from(words >> 4);
    if has_port && has_data { NoEsp::Stream } else { NoEsp::Other }
}

/// What a tunnel's inner packet means for the outer one.
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
    // RFC 2784 and 2890: checksum, key and sequence number are there if their flags are set.
    let optional = [0x8000, 0x2000, 0x1000].iter().filter(|flag| flags & **flag != 0).count();
    let Some(inner) = payload.get(4 + 4 * optional..) else { return NoEsp::Malformed };
    let inner = match protocol {
        BRIDGED => ip::of_type_at(inner, 12, 14),
        protocol => ip::of_type(protocol, inner),
    };
    match inner {
        Ok(inner) => in_tunnel(inner, depth),
        Err(ip::NoPacket::NotIp) => NoEsp::Other,
        Err(_) => NoEsp::Malformed,
    }
}
