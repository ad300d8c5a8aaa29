//! Forged, replayed and misplaced packets are dropped, and no others.

use crate::bench::Bench;
use crate::captures::{PACKETS, Packet, inner_packets, mixed};
use crate::suites::{CMAC, HMAC, IPV4, association, cbc, gcm, narrow_gcm};

/// Offset of the sequence number after an IPv4 header.
const SEQUENCE: usize = 24;

#[test]
fn a_flipped_bit_anywhere_drops_only_that_packet() {
    for sa in [
        gcm(),
        association(IPV4, "aes-ccm", 16, "salt = \"cafeba\""),
        cbc(),
        association(IPV4, "aes-cbc", 16, CMAC),
        association(IPV4, "aes-ctr", 16, &format!("salt = \"cafebabe\"\n{HMAC}")),
        association(IPV4, "aes-ctr", 16, &format!("salt = \"cafebabe\"\n{CMAC}")),
    ] {
        let bench = Bench::with_sa(&sa);
        let (mut sealed, _) = bench.seal(&mixed(), &[]);
        let mut expected = Vec::new();
        for (i, ((_, esp), inner)) in sealed.iter_mut().zip(inner_packets()).enumerate() {
            if i % 5 == 3 {
                // Alternately the sequence number (upward, to avoid a replay), the IV, the body and the ICV.
                let last = esp.len() - 1;
                let at = [SEQUENCE + 3, SEQUENCE + 4 + i % 8, 44 + i % (last - 60), last - i % 12][i / 5 % 4];
                esp[at] ^= 1;
            } else {
                expected.push(inner);
            }
        }
        let (opened, run) = bench.try_open(&sealed, &["--burst", "64"]);
        assert!(opened == expected, "{sa}");
        run.assert_lost(&format!("{} forged", PACKETS - expected.len()));
    }
}

#[test]
fn another_salt_drops_every_packet() {
    let (sealed, _) = Bench::with_sa(&gcm()).seal(&mixed(), &[]);
    let (opened, run) = Bench::with_sa(&gcm().replace("cafebabe", "cafebabf")).try_open(&sealed, &[]);
    assert_eq!(opened.len(), 0);
    run.assert_lost("nothing was opened, 3098 forged");
}

#[test]
fn another_spi_drops_every_packet() {
    let (sealed, _) = Bench::with_sa(&gcm()).seal(&mixed(), &[]);
    let (opened, run) = Bench::with_sa(&gcm().replace("0x1001", "0x1002")).try_open(&sealed, &[]);
    assert_eq!(opened.len(), 0);
    run.assert_lost("nothing was opened, 3098 of unknown SPI");
}

#[test]
fn other_protocols_are_skipped() {
    let (opened, run) = Bench::with_sa(&gcm()).try_open(&inner_packets(), &[]);
    assert_eq!((opened.len(), run.report.count("not ESP")), (0, PACKETS));
    run.assert_lost("nothing was opened");
}

#[test]
fn a_packet_of_an_impossible_length_is_malformed() {
    let bench = Bench::with_sa(&cbc());
    let (mut sealed, _) = bench.seal(&mixed(), &[]);
    let esp = &mut sealed[10].1;
    esp.truncate(esp.len() - 3);
    let len = u16::try_from(esp.len()).unwrap();
    esp[2..4].copy_from_slice(&len.to_be_bytes()); // the outer header agrees
    let (opened, run) = bench.try_open(&sealed, &[]);
    assert_eq!(opened.len(), PACKETS - 1);
    run.assert_lost("1 malformed");
}

#[test]
fn replayed_packets_are_dropped_within_and_across_bursts() {
    let bench = Bench::with_sa(&gcm());
    let (sealed, _) = bench.seal(&mixed(), &[]);
    let each_twice: Vec<Packet> = sealed.iter().flat_map(|packet| [packet.clone(), packet.clone()]).collect();
    let all_twice = [&sealed[..], &sealed[..]].concat();
    for packets in [each_twice, all_twice] {
        let (opened, run) = bench.try_open(&packets, &[]);
        assert!(opened == inner_packets());
        run.assert_lost("3098 replayed");
    }
}

#[test]
fn the_window_has_the_associations_size() {
    for (line, size) in [("", 64), ("window = 32", 32), ("window = 200", 200)] {
        let bench = Bench::with_sa(&(gcm() + line));
        let (mut sealed, _) = bench.seal(&mixed(), &[]);
        let first = sealed.remove(0);
        // Sequence number 1 after number `size` is the latest accepted. One position later it is dropped.
        sealed.insert(size - 1, first.clone());
        assert_eq!(bench.open(&sealed, &[]).1.count("replayed"), 0, "{line}");
        sealed.remove(size - 1);
        sealed.insert(size, first);
        bench.try_open(&sealed, &[]).1.assert_lost("1 replayed");
    }
}

#[test]
fn a_forged_sequence_number_does_not_move_the_window() {
    let bench = Bench::with_sa(&gcm());
    let (mut sealed, _) = bench.seal(&mixed(), &[]);
    let mut forged = sealed[0].clone();
    forged.1[SEQUENCE] = 0x7f;
    sealed.insert(0, forged);
    let (opened, run) = bench.try_open(&sealed, &["--burst", "1"]);
    assert!(opened == inner_packets());
    run.assert_lost("1 forged");
}

#[test]
fn an_inner_packet_outside_the_selector_is_dropped() {
    let (sealed, _) = Bench::with_sa(&gcm()).seal(&mixed(), &[]);
    let (opened, run) = Bench::with_sa(&narrow_gcm()).try_open(&sealed, &[]);
    assert!(!opened.is_empty());
    assert!(opened.iter().all(|(_, inner)| inner[0] >> 4 == 4 && inner[16..20] == [192, 0, 2, 1]));
    run.assert_lost(&format!("{} outside their SA's selector", PACKETS - opened.len()));
}
