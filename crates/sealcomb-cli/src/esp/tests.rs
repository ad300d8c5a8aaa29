//! Tests that need packets `seal` never produces, and tests of arbitrary input.

use std::borrow::Cow;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etherparse::{IpNumber, Ipv4Header, PacketBuilder};
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use proptest::prelude::*;
use proptest::sample::Index;
use sealcomb::{Algorithm, Key};

use super::transform::{Dropped, Incoming, Opener, Sealer};
use super::{ip, packet_lengths, sa, sa_file};
use crate::captures::capture::{Capture, Record};
use crate::captures::fields;

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../captures")
}

fn shipped(name: &str) -> Vec<u8> {
    fs::read(captures().join(name)).unwrap()
}

fn associations() -> Vec<sa::Sa> {
    fields::read(&captures().join("sa.toml"), sa_file::parse).unwrap()
}

/// Returns the records of a capture, up to the first unreadable one.
fn records(bytes: &[u8]) -> Vec<Record> {
    let Ok(mut capture) = Capture::new(Path::new("capture"), bytes, ip::is_supported) else {
        return Vec::new();
    };
    std::iter::from_fn(|| capture.next().ok().flatten()).collect()
}

/// Returns the first IP packets of the shipped capture.
fn inner_packets(count: usize) -> Vec<Vec<u8>> {
    let records = records(&shipped("mixed.pcap"));
    let packets = records.iter().filter_map(|record| ip::packet(record).ok());
    packets.take(count).map(Cow::into_owned).collect()
}

fn seal(inner: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut sealer = Sealer::new(associations());
    let burst: Vec<_> = inner.iter().filter_map(|inner| sealer.select(inner)).collect();
    sealer.seal(&burst).unwrap().into_iter().flatten().collect()
}

fn open(packets: &[Vec<u8>]) -> Vec<Result<Vec<u8>, Dropped>> {
    let burst: Vec<_> = packets.iter().filter_map(|packet| Incoming::find(packet).ok()).collect();
    Opener::new(associations()).open(&burst).unwrap()
}

// ---- Bodies that verify but contain no valid packet

/// Returns an ESP packet of SA 0x1001 (AES-256-GCM) with an arbitrary body.
fn sealed_body(body: &[u8]) -> Vec<u8> {
    let key = hex::decode("4a1f0e5bd1b1c5a7f3e2d4c69788a9ba0b1c2d3e4f506172839405a6b7c8d9ea").unwrap();
    let key = Key::new(Algorithm::by_id("aes256-gcm").unwrap(), &key).unwrap();
    let header = [0, 0, 0x10, 0x01, 0, 0, 0, 1];
    let nonce = [0xca, 0xfe, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9];
    let sealed = key.seal(&nonce, &header, body).unwrap();
    let esp = [&header[..], &nonce[4..], &sealed].concat();
    let protocol = IpNumber::ENCAPSULATING_SECURITY_PAYLOAD;
    let outer = Ipv4Header::new(esp.len() as u16, 64, protocol, [203, 0, 113, 1], [203, 0, 113, 2]).unwrap();
    [&outer.to_bytes()[..], &esp].concat()
}

/// Returns a 32-byte inner packet that SA 0x1001 protects.
fn udp() -> Vec<u8> {
    let to = Ipv4Addr::new(192, 0, 2, 1);
    let mut packet = Vec::new();
    PacketBuilder::ipv4([192, 0, 2, 9], to.octets(), 9).udp(7, 7).write(&mut packet, b"load").unwrap();
    packet
}

fn open_body(trailer: &[u8]) -> Result<Vec<u8>, Dropped> {
    open(&[sealed_body(&[&udp(), trailer].concat())]).remove(0)
}

#[test]
fn a_valid_body_opens() {
    assert_eq!(open_body(&[1, 2, 2, 4]), Ok(udp()));
}

#[test]
fn traffic_flow_padding_is_removed() {
    assert_eq!(open_body(&[0xaa; 14].into_iter().chain([0, 4]).collect::<Vec<_>>()), Ok(udp()));
}

#[test]
fn a_dummy_is_dropped_as_such() {
    assert_eq!(open_body(&[1, 2, 2, 59]), Err(Dropped::Dummy));
}

#[test]
fn an_invalid_trailer_is_malformed() {
    assert_eq!(open_body(&[2, 1, 2, 4]), Err(Dropped::Malformed), "padding");
    assert_eq!(open_body(&[1, 2, 200, 4]), Err(Dropped::Malformed), "pad length");
    assert_eq!(open_body(&[1, 2, 2, 41]), Err(Dropped::Malformed), "next header IPv6");
    assert_eq!(open_body(&[1, 2, 2, 17]), Err(Dropped::Malformed), "next header UDP");
}

#[test]
fn a_truncated_inner_packet_is_malformed() {
    let cut = [&udp()[..28], &[1, 2, 2, 4]].concat();
    assert_eq!(open(&[sealed_body(&cut)]), [Err(Dropped::Malformed)]);
}

// ---- Captures

#[test]
fn a_packet_without_length_gets_the_length_of_the_frame() {
    let mut v4 = [0; 28];
    v4[0] = 0x45;
    for bytes in [20, 21, 28] {
        let frame = Record::whole(DataLink::RAW, v4[..bytes].to_vec());
        let packet = ip::packet(&frame).unwrap();
        assert_eq!(packet[2..4], [0, bytes as u8], "{bytes} bytes");
        assert_eq!(packet.len(), bytes);
    }
}

#[test]
fn packet_lengths_returns_the_lengths_of_the_ip_packets() {
    let lengths = packet_lengths(&captures().join("mixed.pcap"), usize::MAX).unwrap();
    let expected: Vec<usize> = inner_packets(usize::MAX).iter().map(Vec::len).collect();
    assert_eq!(lengths.len(), 3098);
    assert_eq!(lengths, expected);
}

/// Returns an IPv4 packet whose length field is 0, as segmentation offload leaves it.
fn without_length(bytes: usize) -> Vec<u8> {
    let mut packet = vec![0; bytes];
    packet[0] = 0x45;
    packet
}

/// Returns the headers of an IPv6 jumbogram with a payload of `bytes` bytes.
fn jumbogram(bytes: u32) -> Vec<u8> {
    let mut packet = vec![0; 48];
    packet[0] = 0x60;
    packet[40..44].copy_from_slice(&[59, 0, 0xc2, 4]);
    packet[44..].copy_from_slice(&bytes.to_be_bytes());
    packet
}

#[test]
fn a_packet_length_above_the_limit_is_refused_with_the_packets_number() {
    let packet_lengths = |second: &[u8], original: u32| {
        let file = tempfile::NamedTempFile::new().unwrap();
        let header = PcapHeader { datalink: DataLink::RAW, snaplen: u32::MAX, ..PcapHeader::default() };
        let mut writer = PcapWriter::with_header(file.reopen().unwrap(), header).unwrap();
        for (packet, original) in [(&without_length(60)[..], 60), (second, original)] {
            let packet = PcapPacket { timestamp: Duration::ZERO, orig_len: original, data: packet.into() };
            writer.write_packet(&packet).unwrap();
        }
        packet_lengths(file.path(), 70_000).map_err(|error| error.to_string())
    };
    assert_eq!(packet_lengths(&without_length(60), 70_000), Ok(vec![60, 70_000]));
    assert_eq!(packet_lengths(&jumbogram(69_960), 70_000), Ok(vec![60, 70_000]));
    for (packet, original, bytes) in [
        (without_length(60), 70_001, 70_001),
        (without_length(60), u32::MAX, u32::MAX.into()),
        (jumbogram(69_961), 70_001, 70_001),
        (jumbogram(u32::MAX), 48, 40 + u64::from(u32::MAX)),
    ] {
        let error = packet_lengths(&packet, original).unwrap_err();
        assert!(error.contains(&format!("packet 2: {bytes} bytes")) && error.contains("70000"), "{error}");
    }
}

/// Returns the time of a pcapng packet with this timestamp and interface options.
fn time_of(units: u64, options: Vec<InterfaceDescriptionOption<'static>>) -> Option<Duration> {
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    let interface = InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: 0, options };
    writer.write_block(&interface.into_block()).unwrap();
    let packet = EnhancedPacketBlock {
        interface_id: 0,
        timestamp: Duration::from_nanos(units),
        original_len: 4,
        data: (&[0; 4]).into(),
        options: vec![],
    };
    writer.write_block(&packet.into_block()).unwrap();
    records(&writer.into_inner()).first().map(|record| record.time)
}

#[test]
fn pcapng_times_are_in_the_units_of_their_interface() {
    use InterfaceDescriptionOption::{IfTsOffset, IfTsResol};
    let one_and_a_half = Some(Duration::from_millis(1500));
    assert_eq!(time_of(1_500_000, vec![]), one_and_a_half);
    assert_eq!(time_of(1_500, vec![IfTsResol(3)]), one_and_a_half);
    assert_eq!(time_of(1_500_000_000, vec![IfTsResol(9)]), one_and_a_half);
    assert_eq!(time_of(1_500_000_000_000, vec![IfTsResol(12)]), one_and_a_half);
    assert_eq!(time_of(3 << 19, vec![IfTsResol(0x94)]), one_and_a_half);
    assert_eq!(time_of(500_000, vec![IfTsOffset(1)]), one_and_a_half);
    assert_eq!(time_of(2_500_000, vec![IfTsOffset(u64::MAX)]), one_and_a_half, "an offset of -1");
    assert_eq!(time_of(u64::MAX, vec![IfTsResol(127)]), Some(Duration::ZERO), "absurd units");
    let last = Duration::new(18_446_744_073, 709_551_615);
    assert_eq!(time_of(u64::MAX, vec![IfTsResol(9)]), Some(last), "in the year 2554");
    let far = Duration::from_secs(u64::MAX);
    assert_eq!(time_of(u64::MAX, vec![IfTsResol(0), IfTsOffset(1)]), Some(far));
    assert_eq!(time_of(1, vec![IfTsOffset(u64::MAX)]), Some(Duration::ZERO), "before 1970");
}

// ---- Arbitrary input

/// Bytes to overwrite.
fn mutations() -> impl Strategy<Value = Vec<(Index, u8)>> {
    prop::collection::vec((any::<Index>(), prop_oneof![Just(0), Just(0xff), any::<u8>()]), 1..20)
}

fn mutate(bytes: &mut [u8], mutations: Vec<(Index, u8)>) {
    for (index, byte) in mutations {
        bytes[index.index(bytes.len())] = byte;
    }
}

/// Reads a capture, and seals and opens its packets.
fn process(capture: &[u8]) {
    let records = records(capture);
    let packets = records.iter().filter_map(|record| ip::packet(record).ok());
    let packets: Vec<Vec<u8>> = packets.map(Cow::into_owned).collect();
    seal(&packets);
    open(&packets);
}

proptest! {
    #[test]
    fn no_capture_causes_a_panic(
        pcapng in any::<bool>(),
        len in 0_usize..6000,
        mutations in mutations(),
    ) {
        let mut bytes = shipped(if pcapng { "cooked.pcapng" } else { "mixed.pcap" });
        bytes.truncate(len.max(1));
        mutate(&mut bytes, mutations);
        process(&bytes);
    }

    #[test]
    fn modified_packets_open_only_to_sealed_packets(mutations in prop::collection::vec(mutations(), 40)) {
        let inner = inner_packets(40);
        let mut sealed = seal(&inner);
        prop_assert_eq!(sealed.len(), inner.len());
        for (packet, mutations) in sealed.iter_mut().zip(mutations) {
            mutate(packet, mutations);
        }
        for opened in open(&sealed).into_iter().flatten() {
            prop_assert!(inner.contains(&opened));
        }
    }

    #[test]
    fn errors_in_an_sa_file_are_one_line(mutations in mutations()) {
        let mut text = shipped("sa.toml");
        mutate(&mut text, mutations);
        if let Err(error) = sa_file::parse("sa.toml", &String::from_utf8_lossy(&text)) {
            let line = format!("{error:#}");
            prop_assert!(line.starts_with("sa.toml:"));
            prop_assert!(line.lines().count() == 1, "{}", line);
        }
    }
}
