//! MACsec frames with VLAN tags, and incomplete frames.

use std::slice::from_ref;

use crate::files::{ETHERNET, Frame, Order, RAW, enhanced, interface, section};
use crate::packets::*;
use crate::run::{MACSEC, macsec, on_capture};

fn frames() -> Vec<Vec<u8>> {
    let bytes = [0, 1, 46, 47, 48, 100, 1400];
    bytes.iter().map(|bytes| ethernet(&[], TYPE_V4, &plain(4, *bytes))).collect()
}

fn sealed(frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let outcome = macsec("seal", ETHERNET, &frames.iter().cloned().map(Frame::whole).collect::<Vec<_>>());
    outcome.assert_well();
    outcome.packets
}

fn with_tags(frame: &[u8], tags: &[u8]) -> Vec<u8> {
    [&frame[..12], tags, &frame[12..]].concat()
}

const TAGS: [&[u8]; 5] = [
    &[0x81, 0, 0, 5],
    &[0x88, 0xa8, 0, 5],
    &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6],
    &[0x91, 0, 0, 5, 0x81, 0, 0, 6],
    &[0x92, 0, 0, 5],
];

#[test]
fn vlan_tags_before_a_sectag_are_left_in_place() {
    let plain = frames();
    let sealed = sealed(&plain);
    for tags in TAGS {
        let frames: Vec<Frame> = sealed.iter().map(|frame| Frame::whole(with_tags(frame, tags))).collect();
        let outcome = macsec("open", ETHERNET, &frames);
        outcome.assert_well();
        let expected: Vec<_> = plain.iter().map(|frame| with_tags(frame, tags)).collect();
        assert_eq!(outcome.packets, expected, "{tags:02x?}");
    }
}

#[test]
fn vlan_tags_of_a_frame_to_seal_are_encrypted() {
    for tags in TAGS {
        let tagged: Vec<_> = frames().iter().map(|frame| with_tags(frame, tags)).collect();
        let sealed = sealed(&tagged);
        assert!(sealed.iter().all(|frame| frame[12..14] == TYPE_MACSEC.to_be_bytes()));
        let outcome = macsec("open", ETHERNET, &sealed.into_iter().map(Frame::whole).collect::<Vec<_>>());
        outcome.assert_well();
        assert_eq!(outcome.packets, tagged);
    }
}

#[test]
fn a_vlan_tag_in_the_clear_stays_before_the_sectag() {
    let clear = format!("{MACSEC}vlan-in-clear = true\n");
    let run = |direction, file: &str, frames: &[Vec<u8>]| {
        let frames: Vec<_> = frames.iter().cloned().map(Frame::whole).collect();
        let capture = crate::files::pcap(ETHERNET, &frames);
        let outcome = on_capture(["macsec", direction], file, &capture, frames.len());
        outcome.assert_well();
        outcome.packets
    };
    for tags in TAGS {
        let tagged: Vec<_> = frames().iter().map(|frame| with_tags(frame, tags)).collect();
        let sealed = run("seal", &clear, &tagged);
        // Only the first tag is in the clear.
        let bare: Vec<_> = frames().iter().map(|frame| with_tags(frame, &tags[4..])).collect();
        let expected: Vec<_> =
            run("seal", MACSEC, &bare).iter().map(|frame| with_tags(frame, &tags[..4])).collect();
        assert_eq!(sealed, expected, "{tags:02x?}");
        assert_eq!(run("open", MACSEC, &sealed), tagged, "{tags:02x?}");
    }
    // After the tag there must be an EtherType: these bytes are user data.
    let short = with_tags(&frames()[0][..12], TAGS[0]);
    assert_eq!(run("seal", &clear, &[short])[0][12..14], TYPE_MACSEC.to_be_bytes());
}

#[test]
fn a_clipped_frame_is_never_sealed_or_opened() {
    let plain = frames().remove(5);
    let sealed = sealed(from_ref(&plain)).remove(0);
    for tags in [&[][..], TAGS[0], TAGS[2]] {
        for (direction, whole) in [("seal", &plain), ("open", &sealed)] {
            let whole = with_tags(whole, tags);
            let clipped: Vec<Frame> = (0..whole.len()).map(|len| Frame::clipped(&whole, len)).collect();
            let outcome = macsec(direction, ETHERNET, &clipped);
            let done = if direction == "seal" { "sealed" } else { "opened" };
            outcome.assert_lost(&format!("nothing was {done}, {} clipped by the capture", whole.len()));
        }
    }
}

#[test]
fn a_clipped_frame_that_needs_no_handling_is_not_a_loss() {
    let arp = ethernet(TAGS[0], 0x0806, &[0; 46]);
    let eapol = ethernet(&[], 0x888e, &[0; 46]);
    let good = Frame::whole(sealed(&frames()[..1]).remove(0));
    let outcome = macsec("open", ETHERNET, &[Frame::clipped(&arp, 30), good.clone()]);
    outcome.assert_well();
    let outcome = macsec("seal", ETHERNET, &[Frame::clipped(&eapol, 30), good]);
    outcome.assert_well();
    let narrow = format!("{MACSEC}source = \"0a0000000001\"\n");
    let mut ours = frames().remove(0);
    ours[6..12].copy_from_slice(&[10, 0, 0, 0, 0, 1]);
    let frames = [Frame::clipped(&arp, 30), Frame::whole(ours)];
    let outcome = on_capture(["macsec", "seal"], &narrow, &crate::files::pcap(ETHERNET, &frames), 2);
    outcome.assert_well();
    assert_eq!(outcome.count("not protected by any SA"), 1);
}

#[test]
fn short_frames_are_counted() {
    let whole = frames().remove(0);
    let runts: Vec<Frame> = (0..14).map(|len| Frame::whole(whole[..len].to_vec())).collect();
    let good = Frame::whole(whole);
    macsec("seal", ETHERNET, &[&runts[..], &[good]].concat())
        .assert_lost("14 shorter than an Ethernet header");
    let good = Frame::whole(sealed(&frames()[..1]).remove(0));
    let outcome = macsec("open", ETHERNET, &[&runts[..], &[good]].concat());
    outcome.assert_well();
    assert_eq!(outcome.count("not MACsec"), 14);
    // After MACsec's EtherType there must be a SecTAG and an ICV.
    let sealed = sealed(&frames()[..1]).remove(0);
    let cut: Vec<Frame> = (14..44).map(|len| Frame::whole(sealed[..len].to_vec())).collect();
    macsec("open", ETHERNET, &cut).assert_lost("nothing was opened, 30 with a bad SecTAG");
}

#[test]
fn an_interface_that_is_not_ethernet_does_not_affect_others() {
    let order = Order::Big;
    let mut file = [section(order, &[]), interface(order, RAW as u16, 0, &[])].concat();
    file.extend(interface(order, 1, 0, &[]));
    file.extend(enhanced(order, 1, &Frame::whole(frames().remove(3)), &[]));
    file.extend(enhanced(order, 0, &Frame::whole(plain(4, 9)), &[]));
    let outcome = on_capture(["macsec", "seal"], MACSEC, &file, 2);
    outcome.assert_lost("1 not Ethernet");
    let outcome = on_capture(["macsec", "open"], MACSEC, &file, 2);
    outcome.assert_lost("nothing was opened, 1 not Ethernet");
}
