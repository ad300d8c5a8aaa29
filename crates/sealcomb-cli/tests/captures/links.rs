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
