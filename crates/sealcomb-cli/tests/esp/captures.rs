//! Reads and writes captures without the command.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapReader, PcapWriter};
use pcap_file::{DataLink, TsResolution};

/// The time and the bytes of a packet.
pub(crate) type Packet = (Duration, Vec<u8>);

/// Number of IP packets in `mixed.pcap`.
pub(crate) const PACKETS: usize = 3098;

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../captures")
}

/// The path of `mixed.pcap`.
pub(crate) fn mixed() -> PathBuf {
    folder().join("mixed.pcap")
}

/// The IP packets of `mixed.pcap`. Its frames have 14 bytes of Ethernet header and no padding.
pub(crate) fn inner_packets() -> Vec<Packet> {
    let (_, frames) = frames(&mixed());
    let packets: Vec<Packet> = frames
        .into_iter()
        .filter(|(_, frame)| matches!(frame[12..14], [0x08, 0x00] | [0x86, 0xdd]))
        .map(|(time, frame)| (time, frame[14..].to_vec()))
        .collect();
    assert_eq!(packets.len(), PACKETS);
    packets
}

/// The packets of a raw IP capture.
pub(crate) fn read(path: &Path) -> Vec<Packet> {
    let (link, packets) = frames(path);
    assert_eq!(link, DataLink::RAW);
    packets
}

fn frames(path: &Path) -> (DataLink, Vec<Packet>) {
    let mut reader = PcapReader::new(File::open(path).unwrap()).unwrap();
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.unwrap();
        assert_eq!(packet.orig_len as usize, packet.data.len());
        packets.push((packet.timestamp, packet.data.into_owned()));
    }
    (reader.header().datalink, packets)
}

pub(crate) fn write(path: &Path, datalink: DataLink, packets: &[Packet]) {
    let ts_resolution = TsResolution::NanoSecond;
    let header = PcapHeader { datalink, ts_resolution, snaplen: 262_144, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(File::create(path).unwrap(), header).unwrap();
    for (time, data) in packets {
        writer.write_packet(&PcapPacket::new(*time, data.len() as u32, data)).unwrap();
    }
}
