//! Finding IP packets after link-layer headers. No frame that contains an IP packet is counted as not IP.

use crate::files::{ETHERNET, Frame, Order, RAW, enhanced, interface, section};
use crate::packets::*;
use crate::run::{esp, esp_capture, opened};

const NULL: u32 = 0;
const LOOP: u32 = 108;
const LINUX_SLL: u32 = 113;
const LINUX_SLL2: u32 = 276;

#[test]
fn the_packet_is_found_after_every_header() {
    let [v4, v6] = [plain(4, 100), plain(6, 100)];
    let tag = [0x81, 0, 0, 5];
    let service_tag = [0x88, 0xa8, 0, 6];
    let old_tag = [0x91, 0, 0, 7];
    let older_tag = [0x92, 0, 0, 7];
    let mut frames = Vec::new();
    for packet in [&v4, &v6] {
        let kind = ether_type(packet);
        for tags in
            [&[][..], &tag, &service_tag, &[service_tag, tag].concat(), &[older_tag, old_tag, tag].concat()]
        {
            frames.push((ETHERNET, ethernet(tags, kind, packet)));
        }
        let ppp: u16 = if kind == TYPE_V4 { 0x0021 } else { 0x0057 };
        let pppoe = [&[0x11, 0, 0, 1, 0, 102][..], &ppp.to_be_bytes(), packet].concat();
        frames.push((ETHERNET, ethernet(&tag, 0x8864, &pppoe)));
        for labels in [&[0, 0, 0x11, 64][..], &[0, 0, 0x10, 64, 0, 0, 0x11, 64]] {
            frames.push((ETHERNET, ethernet(&[], 0x8847, &[labels, packet].concat())));
        }
        let snap = [&[0xaa, 0xaa, 3, 0, 0, 0][..], &kind.to_be_bytes(), packet].concat();
        frames.push((ETHERNET, ethernet(&[], snap.len() as u16, &snap)));
        frames.push((LINUX_SLL, [&[0; 14][..], &kind.to_be_bytes(), packet].concat()));
        frames.push((LINUX_SLL, [&[0; 14][..], &tag, &kind.to_be_bytes(), packet].concat()));
        frames.push((LINUX_SLL2, [&kind.to_be_bytes()[..], &[0; 18], packet].concat()));
        let families: &[u32] = if kind == TYPE_V4 { &[2] } else { &[10, 23, 24, 28, 30] };
        for family in families {
            frames.push((NULL, [&family.to_le_bytes()[..], packet].concat()));
            frames.push((NULL, [&family.to_be_bytes()[..], packet].concat()));
            frames.push((LOOP, [&family.to_be_bytes()[..], packet].concat()));
        }
        for raw in [RAW, 12, 14, if kind == TYPE_V4 { 228 } else { 229 }] {
            frames.push((raw, packet.clone()));
        }
    }
    for (link, frame) in frames {
        let outcome = esp("seal", link, &[Frame::whole(frame.clone())]);
        outcome.assert_well();
        let inner = opened(&outcome.packets);
        assert!(inner == [v4.clone()] || inner == [v6.clone()], "link type {link}: {frame:02x?}");
    }
}

#[test]
fn frames_that_are_certainly_not_ip_are_skipped() {
    let bridge = [&[0x42, 0x42, 3][..], &[0; 35]].concat();
    let frames = [
        ethernet(&[], 0x0806, &[0; 46]),
        ethernet(&[0x81, 0, 0, 5], 0x0806, &[0; 46]),
        ethernet(&[], 0x888e, &[0; 46]),
        ethernet(&[], 38, &bridge),
        ethernet(&[], 0x8864, &[0x11, 0, 0, 1, 0, 4, 0xc0, 0x21, 0, 0]),
        ethernet(&[], 0x8847, &[&[0, 0, 0x11, 64][..], &[0; 40]].concat()),
        ethernet(&[], TYPE_V4, &plain(4, 0)),
    ];
    let outcome = esp("seal", ETHERNET, &frames.map(Frame::whole));
    outcome.assert_well();
    assert_eq!((outcome.count("not IP"), outcome.packets.len()), (6, 1));
    let outcome = esp("seal", RAW, &[vec![0x70; 40], plain(6, 0)].map(Frame::whole));
    outcome.assert_well();
}

/// A cooked header of version 2 for a station, before its packet.
fn cooked_v2(protocol: u16, station: [u8; 6], rest: &[u8]) -> Vec<u8> {
    cooked_v2_with(protocol, station, [0, 0], rest)
}

/// A cooked header of version 2 whose address field ends with some bytes.
fn cooked_v2_with(protocol: u16, station: [u8; 6], end: [u8; 2], rest: &[u8]) -> Vec<u8> {
    let fields = [&protocol.to_be_bytes()[..], &[0, 0, 0, 0, 0, 2, 0, 1, 0, 6], &station, &end];
    [&fields.concat(), rest].concat()
}

/// The frame with a VLAN tag at an offset.
fn tagged_at(at: usize, tag: [u8; 4], frame: &[u8]) -> Vec<u8> {
    [&frame[..at], &tag, &frame[at..]].concat()
}

/// Asserts that every frame counts as malformed, and is neither sealed nor skipped.
fn assert_malformed(link: u32, frames: &[Vec<u8>]) {
    let frames: Vec<Frame> = frames.iter().cloned().map(Frame::whole).collect();
    let causes = format!("{} with malformed headers", frames.len());
    esp("seal", link, &frames).assert_lost(&format!("nothing was sealed, {causes}"));
    esp("open", link, &frames).assert_lost(&format!("nothing was opened, {causes}"));
}

#[test]
fn a_misplaced_vlan_tag_in_a_cooked_header_is_malformed() {
    let mut frames = Vec::new();
    for packet in [plain(4, 100), plain(6, 100), plain(4, 0)] {
        let kind = ether_type(&packet);
        for [fifth, sixth] in
            [[0x45, 0], [0x45, 0x77], [0x46, 0xff], [0x60, 0], [0x6f, 0xff], [0, 0], [0x81, 0]]
        {
            // With zeros at the end of the address, or with the length of a packet that would fit.
            for end in [[0, 0], [0, 40], [0, 60]] {
                let frame = cooked_v2_with(kind, [2, 0, 0, 0, fifth, sixth], end, &packet);
                for tag in [[0x81, 0, 0, 5], [0x81, 0, 0x60, 5], [0x88, 0xa8, 0x0f, 0xfe]] {
                    frames.push(tagged_at(14, tag, &frame));
                }
            }
            let frame = cooked_v2(kind, [2, 0, 0, 0, fifth, sixth], &packet);
            // Within the zeros, and as the protocol.
            frames.push(tagged_at(2, [0x81, 0, 0, 5], &frame));
            frames.push(tagged_at(0, [0x81, 0, 0, 5], &frame));
        }
    }
    assert_malformed(LINUX_SLL2, &frames);
}

#[test]
fn an_address_like_a_vlan_tag_hides_no_packet() {
    for packet in [plain(4, 100), plain(6, 100), plain(4, 0), ip6(UDP, &[])] {
        let mut frame = cooked_v2(ether_type(&packet), [2, 0, 0x81, 0, 0x45, 0], &packet);
        frame.resize(frame.len().max(66), 0);
        let outcome = esp("seal", LINUX_SLL2, &[Frame::whole(frame)]);
        outcome.assert_well();
        assert_eq!(opened(&outcome.packets), [packet]);
    }
}

#[test]
fn the_number_of_a_vlan_in_place_of_a_protocol_is_malformed() {
    let (mut v1, mut v2, mut plainly) = (Vec::new(), Vec::new(), Vec::new());
    for packet in [plain(4, 100), plain(6, 100), plain(4, 0)] {
        let typed = [&ether_type(&packet).to_be_bytes()[..], &packet].concat();
        let tagged = [&[0x81, 0][..], &typed].concat();
        for number in [0_u16, 2, 5, 100, 0x5ff, 0xffe, 0x6005, 0x8ffe] {
            for rest in [&packet, &typed, &tagged] {
                let fields = [0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
                v1.push([&fields[..], &number.to_be_bytes(), rest].concat());
                v2.push(cooked_v2(number, [2, 0, 0, 0, 0, 1], rest));
                plainly.push(ethernet(&[], number, rest));
            }
        }
    }
    for (link, frames) in [(LINUX_SLL, v1), (LINUX_SLL2, v2), (ETHERNET, plainly)] {
        assert_malformed(link, &frames);
    }
}

#[test]
fn a_packet_of_another_version_than_its_frame_declares_is_malformed() {
    for (packet, kind) in [(plain(4, 100), TYPE_V6), (plain(6, 100), TYPE_V4)] {
        let (ppp, family, raw): (u16, u32, u32) =
            if kind == TYPE_V4 { (0x0021, 2, 228) } else { (0x0057, 30, 229) };
        let pppoe = [&[0x11, 0, 0, 1, 0, 102][..], &ppp.to_be_bytes(), &packet].concat();
        let typed = [&kind.to_be_bytes()[..], &packet].concat();
        assert_malformed(
            ETHERNET,
            &[ethernet(&[], kind, &packet), ethernet(&[0x81, 0, 0, 5], kind, &packet)],
        );
        assert_malformed(ETHERNET, &[ethernet(&[], 0x8864, &pppoe)]);
        assert_malformed(ETHERNET, &[ethernet(&[], 100, &[&[0xaa, 0xaa, 3, 0, 0, 0], &typed[..]].concat())]);
        assert_malformed(LINUX_SLL, &[[&[0; 14], &typed[..]].concat()]);
        assert_malformed(LINUX_SLL2, &[cooked_v2(kind, [2; 6], &packet)]);
        assert_malformed(NULL, &[[&family.to_le_bytes()[..], &packet].concat()]);
        assert_malformed(LOOP, &[[&family.to_be_bytes()[..], &packet].concat()]);
        assert_malformed(raw, &[packet]);
    }
}

#[test]
fn cooked_frames_of_other_protocols_are_skipped() {
    let good = cooked_v2(TYPE_V4, [2; 6], &plain(4, 0));
    let frame = |protocol: u16, hardware: u16| {
        let mut frame = cooked_v2(protocol, [2; 6], &[0x42; 50]);
        frame[8..10].copy_from_slice(&hardware.to_be_bytes());
        Frame::whole(frame)
    };
    let others =
        [frame(4, 1), frame(0x0806, 1), frame(0xc, 280), frame(0, 824), frame(16, 824), frame(25, 803)];
    let outcome = esp("seal", LINUX_SLL2, &[&others[..], &[Frame::whole(good)]].concat());
    outcome.assert_well();
    assert_eq!((outcome.count("not IP"), outcome.packets.len()), (6, 1));
}

#[test]
fn each_interface_has_its_own_link_type() {
    const USER: u16 = 147;
    let order = Order::Little;
    let packet = plain(6, 50);
    let frames = [
        Frame::whole(packet.clone()),
        Frame::whole(ethernet(&[], TYPE_V6, &packet)),
        Frame::whole([&[0; 14][..], &TYPE_V6.to_be_bytes(), &packet].concat()),
    ];
    let mut file = section(order, &[]);
    for link in [RAW, ETHERNET, LINUX_SLL] {
        file.extend(interface(order, link as u16, 0, &[]));
    }
    for id in [2, 0, 1, 0] {
        file.extend(enhanced(order, id, &frames[id as usize], &[]));
    }
    let outcome = esp_capture("seal", &file, 4);
    outcome.assert_well();
    assert_eq!(opened(&outcome.packets), vec![packet; 4]);

    // An unsupported interface does not affect the others.
    file.extend(interface(order, USER, 0, &[]));
    file.extend(enhanced(order, 3, &frames[0], &[]));
    file.extend(enhanced(order, 0, &frames[0], &[]));
    let outcome = esp_capture("seal", &file, 6);
    outcome.assert_lost("1 of an unsupported link type");
    assert_eq!(outcome.packets.len(), 5);
}
