//! Finding ESP: after options and extension headers, in UDP, and in tunnels, where it cannot be opened.

use crate::files::{ETHERNET, Frame, RAW};
use crate::packets::*;
use crate::run::{esp, opened, sealed};

/// Seals packets and removes the outer headers.
fn bodies(packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    sealed(packets).into_iter().map(|packet| packet[20..].to_vec()).collect()
}

fn extension(next: u8) -> [u8; 8] {
    [next, 0, 1, 4, 0, 0, 0, 0]
}

#[test]
fn esp_is_found_after_options_and_extension_headers() {
    const DESTINATION_OPTIONS: u8 = 60;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    let inner: Vec<_> = (0..6).map(|i| plain(4, i)).collect();
    let body = bodies(&inner);
    let headers = [extension(DESTINATION_OPTIONS), extension(ROUTING), [ESP, 0, 0, 0, 0, 0, 0, 0]].concat();
    // An atomic fragment, which contains the whole packet.
    let atomic = [[ESP, 0, 0, 0, 0, 0, 0, 7].as_slice(), &body[4]].concat();
    let outer = [
        ip4(ESP, &body[0]),
        ip4_with(ESP, 0x4000, &[1; 40], &body[1]),
        ip6(ESP, &body[2]),
        ip6(HOP_BY_HOP, &[&headers[..], &body[3]].concat()),
        ip6(FRAGMENT, &atomic),
        ip6(DESTINATION_OPTIONS, &[&extension(ESP)[..], &body[5]].concat()),
    ];
    assert_eq!(opened(&outer), inner);
}

#[test]
fn esp_opens_with_and_without_udp_and_key_exchange_is_skipped() {
    let inner: Vec<_> = (0..6).map(|i| plain(6, i)).collect();
    let body = bodies(&inner);
    let mut no_length = udp(4500, 4500, &body[4]);
    no_length[4..6].fill(0);
    let trailing = [udp(4500, 4500, &body[5]), vec![0; 9]].concat();
    let packets = [
        ip4(ESP, &body[0]),
        ip4(UDP, &udp(4500, 4500, &[0xff])),
        ip4(UDP, &udp(4500, 4500, &body[1])),
        ip4(UDP, &udp(4500, 4500, &[&[0; 4][..], b"IKE"].concat())),
        ip4(UDP, &udp(61_000, 4500, &body[2])),
        ip6(UDP, &udp(4500, 1024, &body[3])),
        ip4(UDP, &udp(500, 500, b"IKE without a marker")),
        ip4(UDP, &udp(53, 53, &body[0])),
        ip4(UDP, &no_length),
        ip4(UDP, &trailing),
    ];
    let outcome = esp("open", RAW, &packets.map(Frame::whole));
    outcome.assert_well();
    assert_eq!(outcome.packets, inner);
    assert_eq!((outcome.count("IKE or NAT keepalives"), outcome.count("not ESP")), (2, 2));
}

#[test]
fn esp_in_tunnels_and_tcp_is_counted_as_lost() {
    const GRE: u8 = 47;
    const IP_IN_IP: u8 = 4;
    let [packet] = &sealed(&[plain(4, 9)])[..] else { panic!("one") };
    let in_udp = ip4(UDP, &udp(4500, 4500, &packet[20..]));
    let ipv4_in_gre = |flags: &[u8], inner: &[u8]| ip4(GRE, &[flags, &[8, 0], inner].concat());
    let bridged = ethernet(&[0x81, 0, 0, 5], TYPE_V4, packet);
    let in_port = |port, header: &[u8], inner: &[u8]| ip4(UDP, &udp(60_000, port, &[header, inner].concat()));
    let tunneled = [
        ip4(IP_IN_IP, packet),
        ip6(IP_IN_IP, &in_udp),
        ip4(IP_IN_IP, &ip4(IP_IN_IP, packet)),
        ipv4_in_gre(&[0, 0], packet),
        // With a checksum, a key and a sequence number.
        ip4(GRE, &[&[0xb0, 0, 8, 0][..], &[0; 12], packet].concat()),
        ip4(GRE, &[&[0x20, 0, 0x65, 0x58][..], &[0; 4], &bridged].concat()),
        // VXLAN, GENEVE with an option, GTP with and without a sequence number.
        in_port(4789, &[8, 0, 0, 0, 0, 0, 5, 0], &bridged),
        in_port(6081, &[1, 0, 0x65, 0x58, 0, 0, 5, 0, 1, 2, 3, 4], &bridged),
        in_port(2152, &[0x30, 0xff, 0, 100, 0, 0, 0, 1], packet),
        in_port(2152, &[0x32, 0xff, 0, 100, 0, 0, 0, 1, 0, 1, 0, 0], packet),
        // Ethernet and MPLS in IP, and wrapped ESP.
        ip4(97, &[&[0x30, 0][..], &bridged].concat()),
        ip4(137, &[&[0, 0, 0x11, 64][..], packet].concat()),
        ip4(141, &[&[50, 12, 16, 0][..], &packet[20..]].concat()),
    ];
    let mut frames = tunneled.map(Frame::whole).to_vec();
    frames.push(Frame::whole(packet.clone()));
    let outcome = esp("open", RAW, &frames);
    outcome.assert_lost("13 ESP inside another tunnel");
    assert_eq!(outcome.packets.len(), 1);
    // Tunnels that carry other protocols.
    let other = plain(4, 9);
    let frames = [
        ip4(IP_IN_IP, &other),
        ipv4_in_gre(&[0, 0], &other),
        in_port(4789, &[8, 0, 0, 0, 0, 0, 5, 0], &ethernet(&[], TYPE_V4, &other)),
        in_port(2152, &[], b"not GTP"),
        packet.clone(),
    ]
    .map(Frame::whole);
    esp("open", RAW, &frames).assert_well();

    let stream = [
        ip4(TCP, &tcp(4500, 60_000, b"IKETCP")),
        ip6(TCP, &tcp(60_000, 4500, &packet[20..])),
        ip4(TCP, &tcp(4500, 60_000, &[])),
        packet.clone(),
    ];
    esp("open", RAW, &stream.map(Frame::whole)).assert_lost("2 on TCP port 4500 (RFC 9329)");
}

#[test]
fn packets_that_declare_esp_but_contain_none_are_lost() {
    let mut wrong_length = udp(4500, 4500, &[1, 2, 3, 4, 5]);
    wrong_length[5] = 200;
    let bad = [
        ip4(ESP, &[]),
        ip4(ESP, &[1, 2, 3]),
        ip4(UDP, &udp(4500, 4500, &[1, 2, 3])),
        ip4(UDP, &wrong_length),
        ip4(UDP, &[17, 148]),
        // An extension header longer than the packet.
        ip6(HOP_BY_HOP, &[ESP, 200, 0, 0, 0, 0, 0, 0]),
    ];
    let mut frames = bad.map(Frame::whole).to_vec();
    frames.extend(sealed(&[plain(4, 9)]).into_iter().map(Frame::whole));
    esp("open", RAW, &frames).assert_lost("6 too short for ESP or malformed before the ESP header");
    // A known SPI and a sequence number, but no room for an ICV.
    let short = ip4(ESP, &[0, 0, 0x10, 1, 0, 0, 0, 1, 9]);
    esp("open", RAW, &[Frame::whole(short)]).assert_lost("nothing was opened, 1 malformed");
}

#[test]
fn vlan_tags_before_the_outer_header_are_skipped() {
    let inner = [plain(4, 5), plain(6, 5)];
    let tags: [&[u8]; 2] = [&[0x81, 0, 0, 5], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6]];
    let framed = |(packet, tags): (Vec<u8>, &[u8])| Frame::whole(ethernet(tags, TYPE_V4, &packet));
    let frames: Vec<Frame> = sealed(&inner).into_iter().zip(tags).map(framed).collect();
    let outcome = esp("open", ETHERNET, &frames);
    outcome.assert_well();
    assert_eq!(outcome.packets, inner);
}
