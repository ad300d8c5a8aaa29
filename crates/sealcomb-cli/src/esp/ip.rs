//! From a captured frame to its IP packet.

use etherparse::{EtherType, Ethernet2Slice, SingleVlanSlice};
use pcap_file::DataLink;
use sealcomb_esp::Header;

/// Whether [`payload`] knows the link type.
pub(crate) fn knows(link: DataLink) -> bool {
    matches!(
        link,
        DataLink::ETHERNET
            | DataLink::RAW
            | DataLink::IPV4
            | DataLink::IPV6
            | DataLink::LINUX_SLL
            | DataLink::LINUX_SLL2
            | DataLink::NULL
            | DataLink::LOOP
    )
}

/// What follows the frame's link-layer header, if that says IPv4 or IPv6. Padding of short frames is still there.
pub(crate) fn payload(link: DataLink, frame: &[u8]) -> Option<&[u8]> {
    match link {
        DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => Some(frame),
        DataLink::ETHERNET => {
            let ethernet = Ethernet2Slice::from_slice_without_fcs(frame).ok()?;
            payload_of_ether_type(ethernet.ether_type(), ethernet.payload_slice())
        }
        // "Linux cooked": the protocol stands at byte 14 of 16, in version 2 at byte 0 of 20.
        DataLink::LINUX_SLL => payload_of_ether_type(ether_type(frame, 14)?, frame.get(16..)?),
        DataLink::LINUX_SLL2 => payload_of_ether_type(ether_type(frame, 0)?, frame.get(20..)?),
        DataLink::NULL | DataLink::LOOP => {
            let (family, payload) = frame.split_first_chunk()?;
            is_ip_family(*family).then_some(payload)
        }
        _ => None,
    }
}

fn ether_type(frame: &[u8], at: usize) -> Option<EtherType> {
    let field = frame.get(at..)?.first_chunk()?;
    Some(EtherType(u16::from_be_bytes(*field)))
}

fn payload_of_ether_type(mut ether_type: EtherType, mut payload: &[u8]) -> Option<&[u8]> {
    while matches!(
        ether_type,
        EtherType::VLAN_TAGGED_FRAME | EtherType::PROVIDER_BRIDGING | EtherType::VLAN_DOUBLE_TAGGED_FRAME
    ) {
        let vlan = SingleVlanSlice::from_slice(payload).ok()?;
        (ether_type, payload) = (vlan.ether_type(), vlan.payload_slice());
    }
    matches!(ether_type, EtherType::IPV4 | EtherType::IPV6).then_some(payload)
}

/// The address family of a loopback frame, in the byte order of the machine that captured it. IPv6 has another number
/// on each family of systems.
fn is_ip_family(field: [u8; 4]) -> bool {
    const IPV4: u32 = 2;
    const IPV6: [u32; 4] = [10, 24, 28, 30];
    [u32::from_le_bytes(field), u32::from_be_bytes(field)]
        .iter()
        .any(|family| *family == IPV4 || IPV6.contains(family))
}

/// Why a frame yields no IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPacket {
    /// Another protocol, or a header that makes no sense.
    NotIp,
    /// The capture holds only the beginning of it.
    Clipped,
}

/// The frame's IP packet from the first byte of its header to the last byte of its payload.
pub(crate) fn packet(link: DataLink, frame: &[u8]) -> Result<&[u8], NoPacket> {
    let payload = payload(link, frame).ok_or(NoPacket::NotIp)?;
    let len = Header::parse(payload).and_then(|header| header.packet_len()).ok_or(NoPacket::NotIp)?;
    payload.get(..len).ok_or(NoPacket::Clipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp_packet() -> Vec<u8> {
        let builder = etherparse::PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 9).udp(7, 7);
        let mut packet = Vec::new();
        builder.write(&mut packet, b"payload").unwrap();
        packet
    }

    fn framed(header: &[u8], packet: &[u8]) -> Vec<u8> {
        [header, packet].concat()
    }

    #[test]
    fn every_known_link_type_leads_to_the_packet() {
        let packet = udp_packet();
        let ethernet = [[2; 12].as_slice(), &[0x08, 0x00]].concat();
        let vlan_in_vlan = [[2; 12].as_slice(), &[0x88, 0xa8, 0, 5, 0x81, 0x00, 0, 6, 0x08, 0x00]].concat();
        let cooked = [[0; 14].as_slice(), &[0x08, 0x00]].concat();
        let cooked_2 = [[0x08, 0x00].as_slice(), &[0; 18]].concat();
        for (link, header) in [
            (DataLink::RAW, [].as_slice()),
            (DataLink::IPV4, &[]),
            (DataLink::ETHERNET, &ethernet),
            (DataLink::ETHERNET, &vlan_in_vlan),
            (DataLink::LINUX_SLL, &cooked),
            (DataLink::LINUX_SLL2, &cooked_2),
            (DataLink::NULL, &[2, 0, 0, 0]),
            (DataLink::LOOP, &[0, 0, 0, 2]),
        ] {
            assert!(knows(link), "{link:?}");
            assert_eq!(super::packet(link, &framed(header, &packet)), Ok(packet.as_slice()), "{link:?}");
        }
    }

    #[test]
    fn padding_of_a_short_frame_is_not_part_of_the_packet() {
        let packet = udp_packet();
        let mut frame = framed(&[[2; 12].as_slice(), &[0x08, 0x00]].concat(), &packet);
        frame.resize(60, 0);
        assert_eq!(super::packet(DataLink::ETHERNET, &frame), Ok(packet.as_slice()));
    }

    #[test]
    fn other_protocols_are_not_ip() {
        let arp = [[2; 12].as_slice(), &[0x08, 0x06], &[0; 28]].concat();
        assert_eq!(super::packet(DataLink::ETHERNET, &arp), Err(NoPacket::NotIp));
        assert_eq!(super::packet(DataLink::RAW, &[]), Err(NoPacket::NotIp));
        assert_eq!(super::packet(DataLink::RAW, &[0x70; 40]), Err(NoPacket::NotIp));
    }

    #[test]
    fn a_packet_without_its_end_is_clipped() {
        let packet = udp_packet();
        let cut = &packet[..packet.len() - 1];
        assert_eq!(super::packet(DataLink::RAW, cut), Err(NoPacket::Clipped));
    }
}
