//! Reassembly of IP fragments. Incomplete packets are lost.

use std::slice::from_ref;

use fastrand::Rng;

use crate::files::{Frame, RAW};
use crate::packets::*;
use crate::run::{esp, opened, sealed};

/// Splits a packet into fragments with a payload of up to `size` bytes, a multiple of 8.
fn fragments(packet: &[u8], size: usize, identification: u16) -> Vec<Vec<u8>> {
    let is_v4 = packet[0] >> 4 == 4;
    let (header, payload) = packet.split_at(if is_v4 { 20 } else { 40 });
    let count = payload.len().div_ceil(size);
    let fragment = |(i, part): (usize, &[u8])| {
        let more = i + 1 < count;
        if is_v4 {
            let mut fragment = ip4_with(header[9], (i * size / 8) as u16 | u16::from(more) << 13, &[], part);
            fragment[4..6].copy_from_slice(&identification.to_be_bytes());
            return fragment;
        }
        let [high, low] = ((i * size) as u16 | u16::from(more)).to_be_bytes();
        let [id_high, id_low] = identification.to_be_bytes();
        ip6(44, &[&[header[6], 0, high, low, 0, 0, id_high, id_low], part].concat())
    };
    payload.chunks(size).enumerate().map(fragment).collect()
}

/// Inner packets, and ESP packets that contain them in IPv4, IPv6 and UDP.
fn packets(count: usize) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let inner: Vec<_> = (0..count).map(|i| plain(if i % 2 == 0 { 4 } else { 6 }, 300 + i)).collect();
    let outer = sealed(&inner).into_iter().enumerate().map(|(i, packet)| match i % 4 {
        0 => packet,
        1 => ip6(ESP, &packet[20..]),
        2 => ip4(UDP, &udp(4500, 4500, &packet[20..])),
        _ => ip6(UDP, &udp(4500, 4500, &packet[20..])),
    });
    (inner, outer.collect())
}

#[test]
fn fragments_in_any_order_are_reassembled() {
    let (inner, outer) = packets(16);
    let mut rng = Rng::with_seed(3);
    for size in [8, 40, 160, 320] {
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        for (i, packet) in outer.iter().enumerate() {
            pieces.extend(fragments(packet, size, i as u16));
        }
        let mut in_order = opened(&pieces);
        assert_eq!(in_order, inner, "{size}");
        rng.shuffle(&mut pieces);
        let mut shuffled = opened(&pieces);
        in_order.sort();
        shuffled.sort();
        assert_eq!(shuffled, in_order, "{size}");
    }
}

#[test]
fn the_fragment_at_offset_0_names_the_protocol() {
    let inner = plain(6, 300);
    let outer = ip6(ESP, &sealed(from_ref(&inner))[0][20..]);
    let mut pieces = fragments(&outer, 160, 1);
    for piece in &mut pieces[1..] {
        piece[40] = NO_NEXT_HEADER;
    }
    pieces.reverse();
    assert_eq!(opened(&pieces), [inner]);
}

#[test]
fn fragments_of_incomplete_packets_are_lost() {
    let (inner, outer) = packets(4);
    for missing in 0..3 {
        let mut frames = vec![Frame::whole(sealed(&[plain(4, 1)]).remove(0))];
        let mut expected = 0;
        for (i, packet) in outer.iter().enumerate() {
            let mut pieces = fragments(packet, 160, i as u16);
            assert_eq!(pieces.len(), 3, "{}", inner[i].len());
            pieces.remove(missing);
            expected += pieces.len();
            frames.extend(pieces.into_iter().map(Frame::whole));
        }
        let outcome = esp("open", RAW, &frames);
        // The whole packet has the sequence number of the first fragmented one, which never opened.
        outcome.assert_lost(&format!("{expected} IP fragments of incomplete packets"));
        assert_eq!(outcome.packets, [plain(4, 1)]);
    }
}

#[test]
fn fragments_that_are_certainly_not_esp_are_skipped() {
    let dns = ip4(UDP, &udp(53, 53, &[1; 400]));
    let web = ip6(TCP, &tcp(443, 60_000, &[1; 400]));
    let echo = ip4(1, &[8; 400]);
    let mut pieces = Vec::new();
    for (i, packet) in [&dns, &web, &echo].into_iter().enumerate() {
        let mut fragments = fragments(packet, 160, i as u16);
        fragments.pop();
        pieces.extend(fragments);
    }
    // Complete packets too.
    pieces.extend(fragments(&dns, 160, 9));
    pieces.push(sealed(&[plain(4, 1)]).remove(0));
    let outcome = esp("open", RAW, &pieces.into_iter().map(Frame::whole).collect::<Vec<_>>());
    outcome.assert_well();
    assert_eq!(outcome.count("not ESP"), 7);

    // The port is in the first fragment, which is missing.
    let mut unknown = fragments(&dns, 160, 1);
    unknown.remove(0);
    let outcome = esp("open", RAW, &unknown.into_iter().map(Frame::whole).collect::<Vec<_>>());
    outcome.assert_lost("nothing was opened, 2 IP fragments of incomplete packets");
}

#[test]
fn fragments_of_incomplete_packets_in_tunnels_are_lost() {
    let whole = sealed(&[plain(4, 1)]).remove(0);
    // VXLAN, GENEVE and GTP.
    for port in [4789, 6081, 2152] {
        let first = fragments(&ip4(UDP, &udp(60_000, port, &[1; 400])), 160, 1).remove(0);
        let outcome = esp("open", RAW, &[first, whole.clone()].map(Frame::whole));
        outcome.assert_lost("1 IP fragments of incomplete packets");
    }
}

#[test]
fn fragments_that_contradict_each_other_are_lost() {
    let (_, outer) = packets(1);
    let mut pieces = fragments(&outer[0], 160, 1);
    let end = pieces.pop().unwrap();
    // Two last fragments, and one beyond the maximum packet length.
    let other_end = fragments(&outer[0], 80, 1).pop().unwrap();
    let beyond = ip4_with(ESP, 0x1fff, &[], &[0; 100]);
    let odd = ip4_with(ESP, 0x2000, &[], &[0; 9]);
    pieces.extend([end, beyond, odd]);
    let outcome = esp("open", RAW, &pieces.iter().cloned().map(Frame::whole).collect::<Vec<_>>());
    outcome.assert_lost("2 too short for ESP or malformed before the ESP header");
    assert_eq!(outcome.packets.len(), 1);
    let short_end = ip4_with(ESP, 20, &[], &[0; 8]);
    let frames = [short_end, other_end].map(|mut fragment| {
        fragment[4..6].copy_from_slice(&[0, 7]);
        Frame::whole(fragment)
    });
    let outcome = esp("open", RAW, &frames);
    assert_eq!(outcome.status, 1);
    assert_eq!(outcome.count("too short for ESP or malformed before the ESP header"), 1);
}

#[test]
fn an_identification_reused_after_the_timeout_belongs_to_another_packet() {
    let (inner, outer) = packets(2);
    let first = fragments(&outer[0], 320, 1);
    let second = sealed(&inner).remove(1);
    let second = fragments(&second, 320, 1);
    let mut frames: Vec<Frame> = [&first[..1], &second[..]].concat().into_iter().map(Frame::whole).collect();
    for frame in &mut frames[1..] {
        frame.seconds += 61;
    }
    let outcome = esp("open", RAW, &frames);
    outcome.assert_lost("1 IP fragments of incomplete packets");
    assert_eq!(outcome.packets, [inner[1].clone()]);
}

#[test]
fn the_number_of_incomplete_packets_is_bounded() {
    let (_, outer) = packets(1);
    let one = &fragments(&outer[0], 160, 0)[0];
    let mut frames = Vec::new();
    for i in 0..3000_u32 {
        let mut fragment = one.clone();
        fragment[4..6].copy_from_slice(&(i as u16).to_be_bytes());
        frames.push(Frame { seconds: i / 100, ..Frame::whole(fragment) });
    }
    let outcome = esp("open", RAW, &frames);
    outcome.assert_lost("nothing was opened, 3000 IP fragments of incomplete packets");
}

#[test]
fn sealing_does_not_reassemble_fragments() {
    let pieces = [fragments(&plain(4, 900), 160, 1), fragments(&plain(6, 900), 160, 2)].concat();
    assert_eq!(opened(&sealed(&pieces)), pieces);
}
