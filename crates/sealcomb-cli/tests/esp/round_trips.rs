//! Sealed packets open to exactly the original packets.

use std::fs::{self, File};
use std::time::Duration;

use etherparse::PacketBuilder;
use pcap_file::DataLink;
use pcap_file::pcapng::{Block, PcapNgReader};
use sealcomb::Backend;

use crate::bench::Bench;
use crate::captures::{PACKETS, Packet, folder, inner_packets, mixed, read, write};
use crate::suites::{CMAC, HMAC, IPV4, IPV6, association, cbc, gcm, narrow_gcm};

/// Seals the capture, checks the format of the ESP packets, and opens them.
fn round_trip(tunnel: &str, cipher: &str, key_bytes: u8, rest: &str, iv_bytes: usize, icv_bytes: usize) {
    let bench = Bench::with_sa(&association(tunnel, cipher, key_bytes, rest));
    let inner = inner_packets();
    let (sealed, report) = bench.seal(&mixed(), &[]);
    assert_eq!((report.count("packets"), report.count("not IP")), (PACKETS, 2));

    let outer = if tunnel == IPV4 { 20 } else { 40 };
    let alignment = if cipher == "aes-cbc" { 16 } else { 4 };
    assert_eq!(sealed.len(), inner.len());
    for (i, ((time, esp), (inner_time, inner))) in sealed.iter().zip(&inner).enumerate() {
        assert_eq!(time, inner_time);
        let body = (inner.len() + 2).next_multiple_of(alignment);
        assert_eq!(esp.len(), outer + 8 + iv_bytes + body + icv_bytes, "packet {i}");
        assert_eq!(esp[outer..outer + 4], 0x1001_u32.to_be_bytes());
        assert_eq!(esp[outer + 4..outer + 8], (i as u32 + 1).to_be_bytes());
        assert!(!esp.windows(16).any(|part| part == &inner[..16]), "packet {i} is not encrypted");
    }

    let (opened, report) = bench.open(&sealed, &[]);
    assert!(opened == inner, "opened to other packets");
    for what in ["forged", "replayed", "malformed", "of unknown SPI", "not ESP"] {
        assert_eq!(report.count(what), 0, "{what}");
    }
}

#[test]
fn aes_gcm_restores_every_packet() {
    for key_bytes in [16, 24, 32] {
        for icv in [8, 12, 16] {
            round_trip(IPV4, "aes-gcm", key_bytes, &format!("salt = \"cafebabe\"\nicv = {icv}"), 8, icv);
        }
    }
}

#[test]
fn aes_ccm_restores_every_packet() {
    for key_bytes in [16, 24, 32] {
        for icv in [8, 12, 16] {
            round_trip(IPV6, "aes-ccm", key_bytes, &format!("salt = \"cafeba\"\nicv = {icv}"), 8, icv);
        }
    }
}

#[test]
fn aes_cbc_restores_every_packet() {
    for key_bytes in [16, 24, 32] {
        round_trip(IPV4, "aes-cbc", key_bytes, HMAC, 16, 16);
        round_trip(IPV6, "aes-cbc", key_bytes, CMAC, 16, 12);
    }
}

#[test]
fn aes_ctr_restores_every_packet() {
    for key_bytes in [16, 24, 32] {
        round_trip(IPV6, "aes-ctr", key_bytes, &format!("salt = \"cafebabe\"\n{HMAC}"), 8, 16);
        round_trip(IPV4, "aes-ctr", key_bytes, &format!("salt = \"cafebabe\"\n{CMAC}"), 8, 12);
    }
}

#[test]
fn bursts_of_mixed_associations_restore_every_packet() {
    let bench = Bench::with_sa(&fs::read_to_string(folder().join("sa.toml")).unwrap());
    for burst in ["1", "31", "300"] {
        let (sealed, _) = bench.seal(&mixed(), &["--burst", burst]);
        let (opened, _) = bench.open(&sealed, &["--burst", burst]);
        assert!(opened == inner_packets(), "bursts of {burst}");
    }
}

#[test]
fn every_backend_opens_what_another_sealed() {
    let mut bench = Bench::with_sa(&fs::read_to_string(folder().join("sa.toml")).unwrap());
    let (sealed, _) = bench.seal(&mixed(), &[]);
    for backend in Backend::available() {
        bench.force(backend.name());
        assert!(bench.open(&sealed, &[]).0 == inner_packets(), "{}", backend.name());
        let (other, report) = bench.seal(&mixed(), &["--start-sequence", "1"]);
        assert!(report.0.contains(&format!("backend {},", backend.name())), "{}", report.0);
        // CBC's IVs are random.
        let is_cbc = |esp: &[u8]| esp[0] >> 4 == 6;
        let differ = sealed.iter().zip(&other).filter(|(a, b)| a != b && !is_cbc(&a.1)).count();
        assert_eq!(differ, 0, "{}", backend.name());
    }
}

#[test]
fn the_burst_size_does_not_change_the_packets() {
    let bench = Bench::with_sa(&gcm());
    let one_by_one = bench.seal_from_1(&["--burst", "1"]);
    for burst in ["7", "32", "1000"] {
        assert!(bench.seal_from_1(&["--burst", burst]) == one_by_one, "bursts of {burst}");
    }
}

#[test]
fn cbc_ivs_never_repeat_even_in_another_run() {
    let bench = Bench::with_sa(&cbc());
    let mut ivs: Vec<Vec<u8>> = Vec::new();
    for _ in 0..2 {
        ivs.extend(bench.seal(&mixed(), &[]).0.iter().map(|(_, esp)| esp[28..44].to_vec()));
    }
    ivs.sort();
    ivs.dedup();
    assert_eq!(ivs.len(), 2 * PACKETS);
}

#[test]
fn a_pcapng_capture_of_cooked_frames_round_trips() {
    let bench = Bench::with_sa(&gcm());
    let cooked = folder().join("cooked.pcapng");
    let mut reader = PcapNgReader::new(File::open(&cooked).unwrap()).unwrap();
    let mut inner = Vec::new();
    while let Some(block) = reader.next_block() {
        // This reader assumes nanoseconds, which is the capture's resolution.
        let Block::EnhancedPacket(packet) = block.unwrap() else { continue };
        if matches!(packet.data[14..16], [0x08, 0x00] | [0x86, 0xdd]) {
            inner.push((packet.timestamp, packet.data[16..].to_vec()));
        }
    }
    assert_eq!(inner.len(), 118);
    let (sealed, _) = bench.seal(&cooked, &[]);
    assert!(bench.open(&sealed, &[]).0 == inner);
}

#[test]
fn the_link_type_does_not_change_the_packets() {
    let bench = Bench::with_sa(&gcm());
    let (expected, _) = bench.seal(&mixed(), &[]);
    let ether_type = |packet: &[u8]| if packet[0] >> 4 == 4 { [0x08, 0x00] } else { [0x86, 0xdd] };
    let family = |packet: &[u8]| if packet[0] >> 4 == 4 { [2, 0, 0, 0] } else { [30, 0, 0, 0] };
    let framed = |header: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<Packet> {
        inner_packets().into_iter().map(|(time, inner)| (time, [header(&inner), inner].concat())).collect()
    };
    for (link, packets) in [
        (DataLink::RAW, framed(&|_| vec![])),
        (DataLink::NULL, framed(&|inner| family(inner).to_vec())),
        (DataLink::LINUX_SLL2, framed(&|inner| [&ether_type(inner)[..], &[0; 18]].concat())),
        // With a VLAN tag.
        (
            DataLink::ETHERNET,
            framed(&|inner| [&[2; 12][..], &[0x81, 0x00, 0, 7], &ether_type(inner)].concat()),
        ),
    ] {
        let input = bench.path("relinked.pcap");
        write(&input, link, &packets);
        fs::remove_dir_all(bench.state()).unwrap();
        assert!(bench.seal(&input, &[]).0 == expected, "{link:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_output_is_written_through_symbolic_links() {
    let bench = Bench::with_sa(&gcm());
    let [link, target] = ["link.pcap", "target.pcap"].map(|name| bench.path(name));
    std::os::unix::fs::symlink("target.pcap", &link).unwrap();
    // First the link is dangling.
    for _ in 0..2 {
        bench.run("seal", &mixed(), &link, &[]).assert_well();
        assert!(link.is_symlink() && !target.is_symlink());
        assert_eq!(read(&target).len(), PACKETS);
        fs::write(&target, "").unwrap();
    }
}

#[test]
fn an_empty_capture_becomes_an_empty_one() {
    let bench = Bench::with_sa(&gcm());
    let input = bench.path("empty.pcap");
    write(&input, DataLink::ETHERNET, &[]);
    let (sealed, run) = bench.try_seal(&input, &[]);
    assert!(sealed.is_empty());
    run.assert_lost("nothing was sealed");
    let (opened, run) = bench.try_open(&[], &[]);
    assert!(opened.is_empty());
    run.assert_lost("nothing was opened");
}

#[test]
fn unprotected_packets_are_counted() {
    let (sealed, report) = Bench::with_sa(&narrow_gcm()).seal(&mixed(), &[]);
    let is_protected = |packet: &[u8]| packet[0] >> 4 == 4 && packet[16..20] == [192, 0, 2, 1];
    let protected = inner_packets().iter().filter(|(_, packet)| is_protected(packet)).count();
    assert!(protected > 0);
    assert_eq!(sealed.len(), protected);
    assert_eq!(report.count("not protected by any SA"), PACKETS - protected);
}

#[test]
fn clipped_packets_are_counted() {
    let bench = Bench::with_sa(&gcm());
    let input = bench.path("clipped.pcap");
    let whole = inner_packets();
    let clip = |(time, packet): &Packet| (*time, packet[..packet.len().min(96)].to_vec());
    write(&input, DataLink::RAW, &whole.iter().map(clip).collect::<Vec<_>>());
    let (sealed, run) = bench.try_seal(&input, &[]);
    let expected: Vec<Packet> = whole.into_iter().filter(|(_, packet)| packet.len() <= 96).collect();
    run.assert_lost(&format!("{} clipped by the capture", PACKETS - expected.len()));
    assert!(bench.open(&sealed, &[]).0 == expected);
}

#[test]
fn a_packet_too_long_for_the_tunnel_is_counted() {
    let bench = Bench::with_sa(&gcm());
    let input = bench.path("huge.pcap");
    let udp = |payload: &[u8]| {
        let mut packet = Vec::new();
        PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 9).udp(7, 7).write(&mut packet, payload).unwrap();
        (Duration::ZERO, packet)
    };
    let packets = [udp(&vec![5; 65_507]), udp(b"small")];
    assert_eq!(packets[0].1.len(), usize::from(u16::MAX));
    write(&input, DataLink::RAW, &packets);
    let (sealed, run) = bench.try_seal(&input, &[]);
    run.assert_lost("1 too long for the tunnel");
    assert!(bench.open(&sealed, &[]).0 == packets[1..]);
}
