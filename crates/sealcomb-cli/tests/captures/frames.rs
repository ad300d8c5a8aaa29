//! Reading frames: every format and byte order, frame check sequences, and arbitrary options and blocks.

use std::slice::from_ref;

use fastrand::Rng;

use crate::files::*;
use crate::packets::*;
use crate::run::{MACSEC, esp, esp_capture, on_capture, opened};

const ORDERS: [Order; 2] = [Order::Little, Order::Big];

fn packets() -> Vec<Vec<u8>> {
    vec![plain(4, 1), plain(6, 2), plain(4, 1003)]
}

fn whole() -> Vec<Frame> {
    packets().into_iter().map(Frame::whole).collect()
}

#[test]
fn every_format_and_byte_order_is_read() {
    for order in ORDERS {
        for nanoseconds in [false, true] {
            let file = pcap_in(order, nanoseconds, RAW, &whole());
            assert_eq!(opened(&esp_capture("seal", &file, 3).packets), packets(), "{order:?}");
        }
        let begin = [section(order, &[]), interface(order, RAW as u16, 0, &[])].concat();
        for kind in 0..3 {
            let mut file = begin.clone();
            for frame in whole() {
                file.extend(match kind {
                    0 => enhanced(order, 0, &frame, &[]),
                    1 => obsolete(order, 0, &frame),
                    _ => simple(order, &frame),
                });
            }
            let outcome = esp_capture("seal", &file, 3);
            outcome.assert_well();
            assert_eq!(opened(&outcome.packets), packets(), "{order:?}, {kind}");
        }
    }
}

#[test]
fn a_simple_packet_is_limited_by_its_interfaces_snap_length() {
    let order = Order::Little;
    let mut file = [section(order, &[]), interface(order, RAW as u16, 100, &[])].concat();
    file.extend(simple(order, &Frame::whole(plain(4, 1))));
    file.extend(simple(order, &Frame::clipped(&plain(4, 1000), 100)));
    esp_capture("seal", &file, 2).assert_lost("1 clipped by the capture");
}

#[test]
fn a_too_small_original_length_does_not_shorten_the_frame() {
    let order = Order::Little;
    let mut file = [section(order, &[]), interface(order, RAW as u16, 0, &[])].concat();
    for original in [0, 1, 10] {
        file.extend(enhanced(order, 0, &Frame { original, ..Frame::whole(plain(4, 10)) }, &[]));
    }
    let outcome = esp_capture("seal", &file, 3);
    outcome.assert_well();
    assert_eq!(outcome.packets.len(), 3);
}

/// Options that do not affect packets, most of them invalid.
fn options(rng: &mut Rng, order: Order) -> Vec<u8> {
    let mut options = Vec::new();
    for _ in 0..rng.usize(0..4) {
        let code =
            *rng.choice(&[1, 3, 4, 5, 6, 7, 8, 10, 11, 12, 15, 16, 17, 2988, 2989, 19372, 0x8001]).unwrap();
        let value: Vec<u8> = (0..rng.usize(0..12)).map(|_| rng.u8(..)).collect();
        options.extend(option(order, code, &value));
    }
    match rng.u8(0..6) {
        0 => options.extend(END),
        1 => options.extend([END, [1, 2, 3, 4]].concat()),
        2 => options.extend([order.u16(1), order.u16(999)].concat()),
        3 => options.extend([order.u16(9), order.u16(0)].concat()),
        4 => options.extend([order.u16(13), order.u16(0), order.u16(14), order.u16(3)].concat()),
        _ => {}
    }
    options
}

#[test]
fn irrelevant_options_and_blocks_do_not_make_packets_unreadable() {
    let mut rng = Rng::with_seed(5);
    let mut file = Vec::new();
    for _ in 0..200 {
        let order = *rng.choice(&ORDERS).unwrap();
        file.extend(section(order, &options(&mut rng, order)));
        file.extend(interface(order, RAW as u16, 0, &options(&mut rng, order)));
        // Name resolution, statistics, secrets, custom and unknown blocks.
        for kind in [4, 5, 9, 10, 0xbad, 0x4000_0bad, 0x8000_0001] {
            let content: Vec<u8> = (0..rng.usize(0..20)).map(|_| rng.u8(..)).collect();
            file.extend(block(order, kind, &content));
        }
        file.extend(enhanced(order, 0, &Frame::whole(plain(6, rng.usize(..50))), &options(&mut rng, order)));
    }
    let outcome = esp_capture("seal", &file, 200);
    outcome.assert_well();
    assert_eq!(outcome.packets.len(), 200);
}

#[test]
fn contradictory_lengths_are_refused() {
    let order = Order::Little;
    let good = [section(order, &[]), interface(order, RAW as u16, 0, &[])].concat();
    let mut differ = enhanced(order, 0, &whole()[0], &[]);
    let last = differ.len() - 4;
    differ[last] ^= 4;
    let mut beyond = enhanced(order, 0, &whole()[0], &[]);
    beyond[20..24].copy_from_slice(&1000_u32.to_le_bytes());
    let short = block(order, 6, &[0; 8]);
    let no_interface = enhanced(order, 1, &whole()[0], &[]);
    for (bad, what) in [
        (differ, "the two lengths of the block differ"),
        (beyond, "a field extends beyond the end of its block"),
        (short, "a field extends beyond the end of its block"),
        (no_interface, "no description of its interface 1"),
        (block(order, 1, &[0; 4]), "a field extends beyond the end of its block"),
    ] {
        let outcome = esp_capture("seal", &[&good[..], &bad].concat(), 1);
        assert_eq!(outcome.status, 1);
        assert!(outcome.stderr.contains(what) && outcome.stderr.contains("record 1"), "{}", outcome.stderr);
    }
}

/// The frame with a check sequence of this many bytes.
fn with_fcs(frame: &[u8], bytes: usize) -> Vec<u8> {
    [frame, &vec![0xfc; bytes]].concat()
}

/// Files that declare a frame check sequence of 4 bytes, in all ways of the formats.
fn files_with_fcs(frames: &[Frame]) -> Vec<Vec<u8>> {
    let mut files = vec![pcap(0x2400_0001, frames), pcap_in(Order::Big, true, 0x2400_0001, frames)];
    for order in ORDERS {
        for length in [4, 32] {
            let options = option(order, 13, &[length]);
            let mut file = [section(order, &[]), interface(order, 1, 0, &options)].concat();
            file.extend(frames.iter().flat_map(|frame| enhanced(order, 0, frame, &[])));
            files.push(file);
        }
        // Each packet declares it, which overrides the interface.
        for of_interface in [&[][..], &option(order, 13, &[2])] {
            let flags = option(order, 2, &order.u32(4 << 5 | 1));
            let mut file = [section(order, &[]), interface(order, 1, 0, of_interface)].concat();
            file.extend(frames.iter().flat_map(|frame| enhanced(order, 0, frame, &flags)));
            files.push(file);
        }
    }
    files
}

#[test]
fn a_declared_frame_check_sequence_is_removed() {
    let frames: Vec<Vec<u8>> =
        packets().iter().map(|packet| ethernet(&[], ether_type(packet), packet)).collect();
    let plain: Vec<Frame> = frames.iter().cloned().map(Frame::whole).collect();
    let macsec = |direction, file: &[u8]| on_capture(["macsec", direction], MACSEC, file, 3);
    let expected = macsec("seal", &pcap(ETHERNET, &plain));
    let with = |frames: &[Vec<u8>]| -> Vec<Frame> {
        frames.iter().map(|frame| Frame::whole(with_fcs(frame, 4))).collect()
    };
    for file in files_with_fcs(&with(&frames)) {
        let outcome = macsec("seal", &file);
        outcome.assert_well();
        assert!(outcome.stdout.contains("\nremoved: frame check sequences of 3 frames\n"));
        assert_eq!((outcome.link, outcome.packets), (ETHERNET, expected.packets.clone()));
    }
    for file in files_with_fcs(&with(&expected.packets)) {
        let outcome = macsec("open", &file);
        outcome.assert_well();
        assert_eq!((outcome.link, outcome.packets), (ETHERNET, frames.clone()));
    }
}

#[test]
fn a_check_sequence_that_an_obsolete_packet_block_declares_is_removed() {
    let frame = ethernet(&[], TYPE_V4, &plain(4, 101));
    for order in ORDERS {
        let whole = obsolete(order, 0, &Frame::whole(with_fcs(&frame, 4)));
        let content = [&whole[8..whole.len() - 4], &option(order, 2, &order.u32(4 << 5))].concat();
        let file = [section(order, &[]), interface(order, 1, 0, &[]), block(order, 2, &content)].concat();
        let outcome = on_capture(["macsec", "seal"], MACSEC, &file, 1);
        outcome.assert_well();
        assert_eq!(outcome.packets[0].len(), frame.len() + 32);
    }
}

#[test]
fn a_frame_is_whole_if_only_its_check_sequence_is_clipped() {
    let frame = ethernet(&[], TYPE_V4, &plain(4, 100));
    let with_fcs = with_fcs(&frame, 4);
    let frames: Vec<Frame> = (0..6).map(|cut| Frame::clipped(&with_fcs, with_fcs.len() - cut)).collect();
    for file in files_with_fcs(&frames) {
        let outcome = on_capture(["macsec", "seal"], MACSEC, &file, 6);
        outcome.assert_lost("1 clipped by the capture");
        assert!(outcome.packets.iter().all(|sealed| sealed.len() == frame.len() + 32));
    }
}

#[test]
fn a_check_sequence_is_not_part_of_a_packet_without_a_length() {
    let packet = plain(4, 1000);
    let frame = ethernet(&[], TYPE_V4, &without_length(packet.clone()));
    for file in files_with_fcs(&[Frame::whole(with_fcs(&frame, 4))]) {
        assert_eq!(opened(&esp_capture("seal", &file, 1).packets), from_ref(&packet));
    }
    // Bits of the field that declare no frame check sequence.
    for link in [0x2000_0001, 0x0400_0001, 0x0001_0001] {
        let outcome = esp("seal", link, &[Frame::whole(frame.clone())]);
        outcome.assert_well();
        assert_eq!(opened(&outcome.packets), from_ref(&packet), "{link:#x}");
    }
}
