//! Processing of outbound inner packets: ICMP errors for oversized packets, and MSS clamping.

use etherparse::{
    Icmpv4Type, Icmpv6Type, IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice, PacketBuilder, TcpHeaderSlice,
    icmpv4::DestUnreachableHeader,
};
use sealcomb_esp::Header;

/// Builds the ICMP error for a packet that exceeds the inner MTU: "fragmentation needed" (RFC 1191) or "packet too
/// big" (RFC 4443, section 3.2). Returns `None` if the packet must not be answered: an ICMP error, or an IPv4
/// fragment other than the first.
pub(crate) fn too_long_answer(packet: &[u8], mtu: usize) -> Option<Vec<u8>> {
    /// Maximum number of quoted bytes with IPv4 (RFC 1812, section 4.3.2.3) and IPv6 (RFC 4443, section 2.4).
    const QUOTED: (usize, usize) = (548, 1232);
    const HOP_LIMIT: u8 = 64;
    let mut answer = Vec::new();
    match Header::parse(packet)? {
        Header::V4(header) => {
            let is_answerable = header.fragments_offset().value() == 0 && !is_icmp_error(packet, &header);
            let next_hop_mtu = u16::try_from(mtu).ok()?;
            let icmp = Icmpv4Type::DestinationUnreachable(DestUnreachableHeader::FragmentationNeeded {
                next_hop_mtu,
            });
            // The source is the packet's destination, since the link itself may have no address.
            is_answerable.then_some(())?;
            PacketBuilder::ipv4(header.destination(), header.source(), HOP_LIMIT)
                .icmpv4(icmp)
                .write(&mut answer, &packet[..packet.len().min(QUOTED.0)])
                .ok()?;
        }
        Header::V6(header) => {
            let is_icmp_error =
                header.next_header() == IpNumber::IPV6_ICMP && packet.get(40).is_some_and(|kind| *kind < 128);
            (!is_icmp_error).then_some(())?;
            PacketBuilder::ipv6(header.destination(), header.source(), HOP_LIMIT)
                .icmpv6(Icmpv6Type::PacketTooBig { mtu: u32::try_from(mtu).ok()? })
                .write(&mut answer, &packet[..packet.len().min(QUOTED.1)])
                .ok()?;
        }
    }
    Some(answer)
}

fn is_icmp_error(packet: &[u8], header: &Ipv4HeaderSlice<'_>) -> bool {
    /// Query types: echo reply, echo, timestamp, timestamp reply.
    const QUERIES: [u8; 4] = [0, 8, 13, 14];
    header.protocol() == IpNumber::ICMP
        && packet.get(header.slice().len()).is_none_or(|kind| !QUERIES.contains(kind))
}

/// Returns the offset of the TCP header if the packet is a TCP segment with the SYN flag.
fn syn_at(packet: &[u8]) -> Option<usize> {
    const SYN: u8 = 2;
    let at = match packet.first()? >> 4 {
        4 => {
            let header = Ipv4HeaderSlice::from_slice(packet).ok()?;
            (header.protocol() == IpNumber::TCP && header.fragments_offset().value() == 0)
                .then(|| header.slice().len())?
        }
        6 => {
            let header = Ipv6HeaderSlice::from_slice(packet).ok()?;
            (header.next_header() == IpNumber::TCP).then(|| header.slice().len())?
        }
        _ => return None,
    };
    (packet.get(at + 13)? & SYN != 0).then_some(at)
}

/// Lowers the MSS option of a TCP SYN segment to what fits into the inner MTU (RFC 4459, section 3.2), and updates
/// the checksum.
pub(crate) fn clamp_mss(packet: &mut [u8], mtu: usize) {
    const MSS: u8 = 2;
    const TCP_BYTES: usize = 20;
    let Some(tcp_at) = syn_at(packet) else { return };
    let Ok(header) = TcpHeaderSlice::from_slice(&packet[tcp_at..]) else { return };
    let ip_bytes = if packet[0] >> 4 == 4 { 20 } else { 40 };
    let Ok(max_mss) = u16::try_from(mtu.saturating_sub(ip_bytes + TCP_BYTES)) else { return };
    let options_end = tcp_at + header.slice().len();
    let mut at = tcp_at + TCP_BYTES;
    while at < options_end {
        let bytes = match packet[at] {
            0 => return,
            1 => 1,
            _ => match packet.get(at + 1) {
                Some(bytes) if *bytes >= 2 => usize::from(*bytes),
                _ => return,
            },
        };
        if packet[at] == MSS && bytes == 4 && at + 4 <= options_end {
            let mss = u16::from_be_bytes([packet[at + 2], packet[at + 3]]);
            if mss > max_mss {
                packet[at + 2..at + 4].copy_from_slice(&max_mss.to_be_bytes());
                let swapped = (at - tcp_at) % 2 == 1;
                update_checksum(&mut packet[tcp_at + 16..tcp_at + 18], mss, max_mss, swapped);
            }
            return;
        }
        at += bytes;
    }
}

/// Updates a checksum for a changed 16-bit value (RFC 1624, equation 3). `swapped`: the value is at an odd offset, so
/// its bytes count in swapped order.
fn update_checksum(field: &mut [u8], old: u16, new: u16, swapped: bool) {
    let (old, new) = if swapped { (old.swap_bytes(), new.swap_bytes()) } else { (old, new) };
    let sum = u32::from(!u16::from_be_bytes([field[0], field[1]])) + u32::from(!old) + u32::from(new);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = ((folded & 0xffff) + (folded >> 16)) as u16;
    field.copy_from_slice(&(!folded).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use etherparse::{IpSlice, TcpHeader, TcpOptionElement, TransportHeader};

    use super::*;

    fn syn(options: &[TcpOptionElement], v6: bool) -> Vec<u8> {
        let mut packet = Vec::new();
        if v6 {
            let builder = PacketBuilder::ipv6([1; 16], [2; 16], 9).tcp(80, 81, 7, 1000).syn();
            builder.options(options).unwrap().write(&mut packet, b"").unwrap();
        } else {
            let builder = PacketBuilder::ipv4([1; 4], [2; 4], 9).tcp(80, 81, 7, 1000).syn();
            builder.options(options).unwrap().write(&mut packet, b"").unwrap();
        }
        packet
    }

    /// Parses the TCP header and asserts that its checksum is correct.
    fn tcp(packet: &[u8]) -> TcpHeader {
        let headers = etherparse::PacketHeaders::from_ip_slice(packet).unwrap();
        let Some(TransportHeader::Tcp(tcp)) = headers.transport else { panic!() };
        let checksum = match headers.net.unwrap() {
            etherparse::NetHeaders::Ipv4(ip, _) => tcp.calc_checksum_ipv4(&ip, b"").unwrap(),
            etherparse::NetHeaders::Ipv6(ip, _) => tcp.calc_checksum_ipv6(&ip, b"").unwrap(),
            etherparse::NetHeaders::Arp(_) => panic!(),
        };
        assert_eq!(tcp.checksum, checksum);
        tcp
    }

    #[test]
    fn an_mss_that_does_not_fit_is_lowered() {
        use TcpOptionElement::{MaximumSegmentSize, Noop, WindowScale};
        for v6 in [false, true] {
            for before in [&[][..], &[Noop], &[WindowScale(7)], &[Noop, Noop, WindowScale(7)]] {
                for (mss, expected) in [(1460, if v6 { 1340 } else { 1360 }), (500, 500)] {
                    let options = [before, &[MaximumSegmentSize(mss)]].concat();
                    let mut packet = syn(&options, v6);
                    clamp_mss(&mut packet, 1400);
                    let found = tcp(&packet).options.elements_iter().flatten().last();
                    assert_eq!(found, Some(MaximumSegmentSize(expected)));
                }
            }
        }
    }

    #[test]
    fn packets_without_syn_are_unchanged() {
        let mut packet = Vec::new();
        PacketBuilder::ipv4([1; 4], [2; 4], 9)
            .tcp(80, 81, 7, 9)
            .write(&mut packet, &[2, 4, 0xff, 0xff])
            .unwrap();
        for end in 0..packet.len() {
            let mut copy = packet[..end].to_vec();
            clamp_mss(&mut copy, 1400);
            assert_eq!(copy, packet[..end]);
        }
    }

    #[test]
    fn an_oversized_packet_is_answered_but_its_answer_is_not() {
        for v6 in [false, true] {
            let mut packet = syn(&[], v6);
            packet.resize(1500, 0);
            let answer = too_long_answer(&packet, 1400).unwrap();
            let ip = IpSlice::from_slice(&answer).unwrap();
            assert_eq!(
                ip.destination_addr(),
                Header::parse(&packet)
                    .map(|_| if v6 {
                        std::net::IpAddr::from([1_u8; 16])
                    } else {
                        std::net::IpAddr::from([1_u8; 4])
                    })
                    .unwrap()
            );
            let at = if v6 { 40 } else { 20 };
            assert_eq!(answer[at..at + 2], if v6 { [2, 0] } else { [3, 4] });
            assert!(answer.len() <= 1280);
            assert_eq!(too_long_answer(&answer, 100), None, "an ICMP error is never answered");
        }
        assert_eq!(too_long_answer(&[0x70; 50], 100), None);
    }
}
