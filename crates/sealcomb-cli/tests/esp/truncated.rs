//! A truncated capture is used up to its last complete packet.

use std::fs;
use std::path::Path;

use pcap_file::DataLink;

use crate::bench::Bench;
use crate::captures::{Packet, folder, inner_packets, mixed, write};
use crate::suites::gcm;

/// Seals the first `len` bytes of a capture. They end within the record at byte `at`, after `records` packets.
fn seal_cut(bench: &Bench, whole: &[u8], len: usize, at: usize, records: usize) -> Vec<Packet> {
    let input = bench.path("cut.pcap");
    fs::write(&input, &whole[..len]).unwrap();
    let (sealed, run) = bench.try_seal(&input, &[]);
    // Nothing is sealed of a capture without a whole packet.
    assert_eq!(run.status, if sealed.is_empty() { 1 } else { 4 }, "{len} bytes");
    let warning = format!(
        "sealcomb: warning: {}: the capture is truncated after packet {records}: the record at byte {at} is incomplete\n",
        input.display()
    );
    assert!(run.stderr.starts_with(&warning), "{len} bytes: {}", run.stderr);
    assert!(run.report.0.ends_with("the capture is truncated\n"), "{}", run.report.0);
    assert_eq!(run.stderr.lines().count(), if sealed.is_empty() { 2 } else { 1 }, "{}", run.stderr);
    sealed
}

/// The offsets of a pcap file's records, and the end of the last one.
fn records(pcap: &[u8]) -> Vec<usize> {
    let mut places = vec![24];
    while let Some(len) = pcap.get(places.last().unwrap() + 8..).and_then(|rest| rest.first_chunk()) {
        places.push(places.last().unwrap() + 16 + u32::from_le_bytes(*len) as usize);
    }
    places
}

#[test]
fn a_truncated_pcap_capture_is_used_up_to_its_last_complete_packet() {
    let bench = Bench::with_sa(&gcm());
    let whole = fs::read(mixed()).unwrap();
    let places = records(&whole);
    assert_eq!((places.len(), *places.last().unwrap()), (3101, whole.len()));
    for number in [0, 1, 7, 3099] {
        let (begin, end) = (places[number], places[number + 1]);
        for len in [begin + 1, begin + 15, begin + 16, end - 1] {
            let sealed = seal_cut(&bench, &whole, len, begin, number);
            // The two packets that are not IP are missing.
            let inner = &inner_packets()[..sealed.len()];
            assert!(sealed.len() <= number && sealed.len() + 2 >= number, "{number}: {}", sealed.len());
            if !sealed.is_empty() {
                assert!(bench.open(&sealed, &[]).0 == inner, "{len} bytes");
            }
        }
    }
}

#[test]
fn a_capture_that_ends_between_packets_is_complete() {
    let bench = Bench::with_sa(&gcm());
    let whole = fs::read(mixed()).unwrap();
    let input = bench.path("short.pcap");
    fs::write(&input, &whole[..records(&whole)[100]]).unwrap();
    bench.try_seal(&input, &[]).1.assert_well();
}

/// The offset and the type of each block of a little-endian pcapng file.
fn blocks(pcapng: &[u8]) -> Vec<(usize, u32)> {
    let number = |at: usize| u32::from_le_bytes(pcapng[at..at + 4].try_into().unwrap());
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < pcapng.len() {
        blocks.push((at, number(at)));
        at += number(at + 4) as usize;
    }
    blocks
}

#[test]
fn a_truncated_pcapng_capture_is_used_up_to_its_last_complete_packet() {
    let bench = Bench::with_sa(&gcm());
    let whole = fs::read(folder().join("cooked.pcapng")).unwrap();
    let blocks = blocks(&whole);
    let packets: Vec<usize> = blocks.iter().filter(|(_, kind)| *kind == 6).map(|(at, _)| *at).collect();
    assert_eq!(packets.len(), 120);
    for number in [0, 5, 119] {
        let begin = packets[number];
        for len in [begin + 1, begin + 11, begin + 12, begin + 40] {
            let sealed = seal_cut(&bench, &whole, len, begin, number);
            assert!(sealed.len() + 2 >= number, "{number}: {}", sealed.len());
        }
    }
    // A truncated block after the last packet does not matter either.
    let (last, kind) = *blocks.last().unwrap();
    assert_ne!(kind, 6);
    assert_eq!(seal_cut(&bench, &whole, whole.len() - 1, last, 120).len(), 118);
}

#[test]
fn opened_packets_of_a_truncated_capture_are_written() {
    let bench = Bench::with_sa(&gcm());
    bench.seal(&mixed(), &[]);
    let whole = fs::read(bench.path("sealed.pcap")).unwrap();
    let (input, output) = (bench.path("cut.pcap"), bench.path("opened.pcap"));
    fs::write(&input, &whole[..whole.len() - 1]).unwrap();
    let run = bench.run("open", &input, &output, &[]);
    run.assert_incomplete(4, "truncated");
    assert!(run.stderr.contains("after packet 3097"), "{}", run.stderr);
    let inner = inner_packets();
    assert!(crate::captures::read(&output) == inner[..inner.len() - 1]);
}

#[test]
fn study_accepts_a_truncated_trace() {
    let bench = Bench::with_sa(&gcm());
    let whole = fs::read(mixed()).unwrap();
    let input = bench.path("cut.pcap");
    fs::write(&input, &whole[..whole.len() / 2]).unwrap();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_sealcomb"))
        .args([Path::new("study"), Path::new("--quick"), Path::new("--modes"), Path::new("ctr")])
        .args([Path::new("--lengths"), Path::new("mix"), Path::new("--trace"), &input])
        .output()
        .unwrap();
    let stderr = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.success() && stderr.contains("truncated"), "{stderr}");
}

#[test]
fn study_reports_packets_whose_headers_are_clipped() {
    let bench = Bench::with_sa(&gcm());
    let input = bench.path("clipped.pcap");
    let clip = |(time, packet): &Packet| (*time, packet[..10].to_vec());
    write(&input, DataLink::RAW, &inner_packets()[..5].iter().map(clip).collect::<Vec<_>>());
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_sealcomb"))
        .args([Path::new("study"), Path::new("--quick"), Path::new("--trace"), &input])
        .output()
        .unwrap();
    let stderr = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("5 packets are not used") && stderr.contains("contains no IP packets"),
        "{stderr}"
    );
}
