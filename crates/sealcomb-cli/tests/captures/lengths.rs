//! Packet lengths: from the header, or else from the frame.

use std::slice::from_ref;

use crate::files::{ETHERNET, Frame, RAW, pcap};
use crate::packets::*;
use crate::run::{self, MACSEC, esp, macsec, on_capture, opened};

fn framed(packet: &[u8]) -> Frame {
    Frame::whole(ethernet(&[], ether_type(packet), packet))
}

#[test]
fn a_packet_without_a_length_extends_to_the_end_of_its_frame() {
    let segment = tcp(4000, 443, &[5; 2400]);
    let hop_by_hop = [&[TCP, 0, 1, 4, 0, 0, 0, 0], &segment[..]].concat();
    for whole in [
        ip4(TCP, &segment),
        ip4_with(TCP, 0, &[1, 1, 1, 0], &segment),
        ip6(TCP, &segment),
        ip6(HOP_BY_HOP, &hop_by_hop),
        ip6(UDP, &udp(1, 2, &[5; 2000])),
        ip6(NO_NEXT_HEADER, &[]),
    ] {
        let captured = without_length(whole.clone());
        let tagged = ethernet(&[0x81, 0, 0, 5], ether_type(&whole), &captured);
        for (link, frame) in [
            (RAW, Frame::whole(captured.clone())),
            (ETHERNET, framed(&captured)),
            (ETHERNET, Frame::whole(tagged)),
        ] {
            let outcome = esp("seal", link, &[frame]);
            outcome.assert_well();
            assert_eq!(opened(&outcome.packets), from_ref(&whole));
        }
    }
}

#[test]
fn an_outer_packet_without_a_length_opens() {
    let sealed = crate::run::sealed(&[plain(4, 900), plain(6, 900)]);
    let captured: Vec<_> = sealed.into_iter().map(without_length).collect();
    assert_eq!(opened(&captured), [plain(4, 900), plain(6, 900)]);
}

#[test]
fn only_a_packet_before_segmentation_has_no_length() {
    let mut damaged = without_length(plain(4, 1000));
    damaged[10] ^= 1;
    let fragment = without_length(ip4_with(UDP, 0x2000, &[], &[5; 1000]));
    let last = without_length(ip4_with(UDP, 100, &[], &[5; 1000]));
    let mut frames = [damaged, fragment, last].map(Frame::whole).to_vec();
    frames.push(Frame::whole(plain(4, 10)));
    let outcome = esp("seal", RAW, &frames);
    outcome.assert_lost("3 with malformed headers");
    assert_eq!(opened(&outcome.packets), [plain(4, 10)]);

    // Some network cards set the checksum as well.
    let mut without_checksum = without_length(plain(4, 1000));
    without_checksum[10..12].fill(0);
    let outcome = esp("seal", RAW, &[Frame::whole(without_checksum)]);
    outcome.assert_well();
    assert_eq!(opened(&outcome.packets), [plain(4, 1000)]);
}

#[test]
fn ethernet_padding_is_not_part_of_a_packet() {
    for packet in [plain(4, 3), ip6(TCP, &[]), ip6(NO_NEXT_HEADER, &[]), ip6(UDP, &udp(1, 2, &[]))] {
        let mut frame = framed(&packet);
        frame.bytes.resize(frame.bytes.len().max(60), 0);
        frame.original = frame.bytes.len();
        let outcome = esp("seal", ETHERNET, &[frame]);
        outcome.assert_well();
        assert_eq!(opened(&outcome.packets), [packet]);
    }
}

#[test]
fn packets_beyond_the_maximum_ip_length_are_too_long() {
    let jumbo_option = [&[TCP, 0, 0xc2, 4][..], &70_008_u32.to_be_bytes(), &vec![3; 70_000]].concat();
    let jumbogram = ip6(HOP_BY_HOP, &jumbo_option);
    let long = without_length(ip4(TCP, &vec![3; 70_000]));
    let long_v6 = without_length(ip6(TCP, &vec![3; 70_000]));
    let frames = [without_length(jumbogram), long, long_v6, plain(4, 10)].map(Frame::whole);
    let outcome = esp("seal", RAW, &frames);
    outcome.assert_lost("3 too long for the tunnel");
    assert_eq!(opened(&outcome.packets), [plain(4, 10)]);
    let outcome = esp("open", RAW, &frames);
    outcome.assert_lost("nothing was opened, 3 jumbograms");
}

#[test]
fn a_short_jumbogram_is_malformed() {
    let option = [&[TCP, 0, 0xc2, 4][..], &600_u32.to_be_bytes(), &[3; 592]].concat();
    let frames = [without_length(ip6(HOP_BY_HOP, &option)), plain(4, 10)].map(Frame::whole);
    esp("seal", RAW, &frames).assert_lost("1 with malformed headers");
}

#[test]
fn a_clipped_packet_is_never_treated_as_complete() {
    let options = ip4_with(TCP, 0, &[1; 40], &tcp(1, 2, &[5; 100]));
    let no_length = without_length(plain(4, 100));
    let no_length_v6 = without_length(plain(6, 100));
    for packet in [plain(4, 100), plain(6, 100), options, no_length, no_length_v6] {
        let whole = ethernet(&[0x88, 0xa8, 0, 1, 0x81, 0, 0, 5], ether_type(&packet), &packet);
        let frames: Vec<Frame> = (0..whole.len()).map(|len| Frame::clipped(&whole, len)).collect();
        let outcome = esp("seal", ETHERNET, &frames);
        outcome.assert_lost(&format!("nothing was sealed, {} clipped by the capture", whole.len()));
        let outcome = esp("open", ETHERNET, &frames);
        outcome.assert_lost(&format!("nothing was opened, {} clipped by the capture", whole.len()));
    }
}

#[test]
fn incomplete_and_long_packets_that_no_association_protects_are_not_lost() {
    let narrow = format!("{}match = \"10.0.0.0/8\"\n", run::ESP);
    let seal = |frames: &[Frame]| on_capture(["esp", "seal"], &narrow, &pcap(RAW, frames), frames.len());
    let mut ours = plain(4, 100);
    ours[16..20].copy_from_slice(&[10, 0, 0, 1]);
    let other = plain(4, 100);
    let long = without_length(ip4(TCP, &vec![3; 70_000]));
    let outcome = seal(&[Frame::clipped(&other, 20), Frame::whole(long), Frame::whole(ours.clone())]);
    outcome.assert_well();
    assert_eq!(outcome.count("not protected by any SA"), 2);
    let frames = [Frame::clipped(&other, 19), Frame::clipped(&ours, 20), Frame::whole(ours)];
    seal(&frames).assert_lost("2 clipped by the capture");

    let source = format!("{MACSEC}source = \"0a0000000001\"\n");
    let station = MACSEC.replace("020000000001", "0a0000000001") + "send-sci = \"end-station\"\n";
    let other = ethernet(&[], TYPE_V4, &plain(4, 100));
    let mut ours = other.clone();
    ours[6..12].copy_from_slice(&[10, 0, 0, 0, 0, 1]);
    let long = ethernet(&[], TYPE_V4, &vec![7; 70_000]);
    let frames = [Frame::clipped(&other, 50), Frame::whole(long), Frame::whole(ours)];
    for sa in [source, station] {
        let outcome = on_capture(["macsec", "seal"], &sa, &pcap(ETHERNET, &frames), 3);
        outcome.assert_well();
        assert_eq!(outcome.count("not protected by any SA"), 2);
    }
}

#[test]
fn a_frame_that_ends_within_its_headers_is_malformed() {
    for packet in [plain(4, 0), plain(6, 0)] {
        let whole = ethernet(&[0x81, 0, 0, 5], ether_type(&packet), &packet);
        let headers = whole.len() - 20;
        let good = Frame::whole(whole.clone());
        let frames: Vec<Frame> = (1..headers).map(|len| Frame::whole(whole[..len].to_vec())).collect();
        let outcome = esp("seal", ETHERNET, &[&frames[..], &[good]].concat());
        outcome.assert_lost(&format!("{} with malformed headers", headers - 1));
    }
    // An empty frame contains no packet.
    esp("seal", ETHERNET, &[Frame::whole(vec![]), framed(&plain(4, 1))]).assert_well();
}

#[test]
fn invalid_headers_are_malformed() {
    let bad = [
        [&[0x44], &plain(4, 0)[1..]].concat(),
        [&[0x75], &plain(4, 0)[1..]].concat(),
        [&[0x45, 0, 0, 19], &plain(4, 0)[4..]].concat(),
    ];
    let frames = bad.map(|packet| Frame::whole(ethernet(&[], TYPE_V4, &packet)));
    // Declares a hop-by-hop header but has no room for one.
    let bare = Frame::whole(ethernet(&[], TYPE_V6, &[&ip6(HOP_BY_HOP, &[])[..], &[0; 6]].concat()));
    let outcome = esp("seal", ETHERNET, &[&frames[..], &[bare, framed(&plain(4, 1))]].concat());
    outcome.assert_lost("4 with malformed headers");
}

#[test]
fn a_frame_beyond_the_maximum_ethernet_length_is_not_sealed_as_macsec() {
    let long = Frame::whole(ethernet(&[], TYPE_V4, &vec![7; 70_000]));
    let longer = Frame::whole(ethernet(&[], TYPE_V4, &vec![7; 200_000]));
    let outcome = macsec("seal", ETHERNET, &[long, longer, framed(&plain(4, 1))]);
    outcome.assert_lost("2 longer than any Ethernet frame");
}
