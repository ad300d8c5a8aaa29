//! IP packets and Ethernet frames.

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
pub(crate) const ESP: u8 = 50;
pub(crate) const NO_NEXT_HEADER: u8 = 59;
pub(crate) const HOP_BY_HOP: u8 = 0;

pub(crate) const TYPE_V4: u16 = 0x0800;
pub(crate) const TYPE_V6: u16 = 0x86dd;
pub(crate) const TYPE_MACSEC: u16 = 0x88e5;

/// An IPv4 packet. The length of the options is a multiple of 4.
pub(crate) fn ip4_with(protocol: u8, fragment: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let header_bytes = 20 + options.len();
    let mut packet = vec![0x40 | (header_bytes / 4) as u8, 0];
    packet.extend(((header_bytes + payload.len()) as u16).to_be_bytes());
    packet.extend([0x12, 0x34]);
    packet.extend(fragment.to_be_bytes());
    packet.extend([64, protocol, 0, 0, 198, 51, 100, 7, 192, 0, 2, 1]);
    packet.extend(options);
    let checksum = checksum(&packet);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet.extend(payload);
    packet
}

pub(crate) fn ip4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    ip4_with(protocol, 0, &[], payload)
}

/// The Internet checksum of a header whose own checksum is 0.
pub(crate) fn checksum(header: &[u8]) -> u16 {
    let words = header.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    !((sum & 0xffff) + (sum >> 16)) as u16
}

/// An IPv6 packet.
pub(crate) fn ip6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend((payload.len() as u16).to_be_bytes());
    packet.extend([next, 64]);
    packet.extend([0xfd; 16]);
    packet.extend([0xfe; 16]);
    packet.extend(payload);
    packet
}

/// The packet with a length of 0 in its header, as captured before segmentation offload.
pub(crate) fn without_length(mut packet: Vec<u8>) -> Vec<u8> {
    let at = if packet[0] >> 4 == 4 { 2 } else { 4 };
    packet[at..at + 2].fill(0);
    packet
}

pub(crate) fn udp(source: u16, destination: u16, payload: &[u8]) -> Vec<u8> {
    let len = (8 + payload.len()) as u16;
    [&[source, destination, len, 0].map(u16::to_be_bytes).concat(), payload].concat()
}

pub(crate) fn tcp(source: u16, destination: u16, payload: &[u8]) -> Vec<u8> {
    let header = [&[source, destination].map(u16::to_be_bytes).concat()[..], &[0; 8], &[0x50, 0], &[0; 6]];
    [header.concat().as_slice(), payload].concat()
}

/// A TCP packet in IPv4 or IPv6.
pub(crate) fn plain(version: u8, payload_bytes: usize) -> Vec<u8> {
    let payload = tcp(4000, 443, &vec![7; payload_bytes]);
    if version == 4 { ip4(TCP, &payload) } else { ip6(TCP, &payload) }
}

pub(crate) fn ether_type(packet: &[u8]) -> u16 {
    if packet[0] >> 4 == 4 { TYPE_V4 } else { TYPE_V6 }
}

/// An Ethernet frame, with VLAN `tags` before its EtherType.
pub(crate) fn ethernet(tags: &[u8], ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [&[2, 9, 9, 9, 9, 9, 2, 0, 0, 0, 0, 1], tags, &ether_type.to_be_bytes(), payload].concat()
}
