//! Unusual captures: extreme times, huge blocks, other byte orders.

use std::fs::{self, File};
use std::time::Duration;

use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::unknown::UnknownBlock;
use pcap_file::pcapng::{Block, PcapNgReader, PcapNgWriter};
use pcap_file::{DataLink, Endianness};

use crate::bench::Bench;
use crate::captures::{Packet, inner_packets, mixed, read};
use crate::suites::gcm;

/// 2106-02-07T06:28:15.999999999Z, the last time of a pcap file with nanoseconds.
const LAST_OF_PCAP: Duration = Duration::new(u32::MAX as u64, 999_999_999);

/// A pcapng file in memory, of raw IP packets with times in nanoseconds.
struct PcapNg(PcapNgWriter<Vec<u8>>);

impl PcapNg {
    fn new(endianness: Endianness) -> Self {
        let mut writer = PcapNgWriter::with_endianness(Vec::new(), endianness).unwrap();
        let options = vec![InterfaceDescriptionOption::IfTsResol(9)];
        let interface = InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: 0, options };
        writer.write_pcapng_block(interface).unwrap();
        Self(writer)
    }

    fn packet(&mut self, nanoseconds: u64, bytes: &[u8]) {
        let packet = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(nanoseconds),
            original_len: bytes.len() as u32,
            data: bytes.into(),
            options: vec![],
        };
        self.0.write_pcapng_block(packet).unwrap();
    }

    fn of(endianness: Endianness, packets: &[Packet]) -> Self {
        let mut file = Self::new(endianness);
        for (time, bytes) in packets {
            file.packet(time.as_nanos() as u64, bytes);
        }
        file
    }

    fn write(self, bench: &Bench) -> std::path::PathBuf {
        let path = bench.path("input.pcapng");
        fs::write(&path, self.0.into_inner()).unwrap();
        path
    }
}

/// The packets of a pcapng file with nanoseconds.
fn read_pcapng(path: &std::path::Path) -> Vec<Packet> {
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            packets.push((packet.timestamp, packet.data.into_owned()));
        }
    }
    let [interface] = reader.interfaces() else { panic!("one interface") };
    assert_eq!(interface.options, [InterfaceDescriptionOption::IfTsResol(9)]);
    packets
}

#[test]
fn times_out_of_pcaps_range_are_clamped() {
    let bench = Bench::with_sa(&gcm());
    let mut packets: Vec<Packet> = inner_packets()[..4].to_vec();
    packets[1].0 = LAST_OF_PCAP;
    packets[2].0 = LAST_OF_PCAP + Duration::from_nanos(1);
    packets[3].0 = Duration::from_nanos(u64::MAX);
    let input = PcapNg::of(Endianness::Little, &packets).write(&bench);
    let output = bench.path("sealed.pcap");
    let run = bench.run("seal", &input, &output, &[]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("sealed.pcap: 2 timestamps are out of range and were clamped"),
        "{}",
        run.stderr
    );
    let times: Vec<Duration> = read(&output).iter().map(|(time, _)| *time).collect();
    assert_eq!(times, [packets[0].0, LAST_OF_PCAP, LAST_OF_PCAP, LAST_OF_PCAP]);
}

#[test]
fn a_fraction_rounded_up_to_a_second_is_carried() {
    let bench = Bench::with_sa(&gcm());
    for (magic, second) in [(0xa1b2_c3d4_u32, 1_000_000_u32), (0xa1b2_3c4d, 1_000_000_000)] {
        let mut file = fs::read(mixed()).unwrap();
        file[..4].copy_from_slice(&magic.to_le_bytes());
        let seconds = u32::from_le_bytes(file[24..28].try_into().unwrap());
        for (fraction, time) in [
            (0, Some(Duration::new(seconds.into(), 0))),
            (second - 1, Some(Duration::new(seconds.into(), 1_000_000_000 - 1_000_000_000 / second))),
            (second, Some(Duration::new(u64::from(seconds) + 1, 0))),
            (second + 1, None),
        ] {
            file[28..32].copy_from_slice(&fraction.to_le_bytes());
            let (input, output) = (bench.path("input.pcap"), bench.path("sealed.pcap"));
            fs::write(&input, &file).unwrap();
            if let Some(time) = time {
                bench.run("seal", &input, &output, &[]).assert_well();
                assert_eq!(read(&output)[0].0, time, "{fraction}");
            } else {
                let line = bench.fail(1, "seal", &input, &output);
                assert!(
                    line.contains("record 1, at byte 24: corrupt: the fraction of its timestamp"),
                    "{line}"
                );
            }
        }
    }
}

#[test]
fn pcapng_preserves_every_time_of_pcapng() {
    let bench = Bench::with_sa(&gcm());
    let mut packets: Vec<Packet> = inner_packets()[..4].to_vec();
    packets[0].0 = Duration::ZERO;
    packets[2].0 = LAST_OF_PCAP + Duration::from_nanos(1);
    packets[3].0 = Duration::from_nanos(u64::MAX);
    let input = PcapNg::of(Endianness::Little, &packets).write(&bench);
    let (sealed, opened) = (bench.path("sealed.pcapng"), bench.path("opened.PCAPNG"));
    bench.run("seal", &input, &sealed, &[]).assert_well();
    let times = |packets: &[Packet]| -> Vec<Duration> { packets.iter().map(|(time, _)| *time).collect() };
    assert_eq!(times(&read_pcapng(&sealed)), times(&packets));
    bench.run("open", &sealed, &opened, &[]).assert_well();
    assert!(read_pcapng(&opened) == packets);
}

#[test]
fn huge_blocks_do_not_end_the_run() {
    let bench = Bench::with_sa(&gcm());
    let packets: Vec<Packet> = inner_packets()[..3].to_vec();
    let mut file = PcapNg::new(Endianness::Little);
    file.packet(packets[0].0.as_nanos() as u64, &packets[0].1);
    // A record of 9 MB: an IP packet of the declared length, followed by padding.
    let padded = [&packets[1].1[..], &vec![0; 9_000_000]].concat();
    file.packet(packets[1].0.as_nanos() as u64, &padded);
    // A block without a packet, longer than the maximum for packets.
    let block = UnknownBlock::new(0xbad, 70_000_000 + 12, vec![0; 70_000_000].leak());
    file.0.write_pcapng_block(block).unwrap();
    file.packet(packets[2].0.as_nanos() as u64, &packets[2].1);
    let input = file.write(&bench);
    let (sealed, report) = bench.seal(&input, &[]);
    assert_eq!(report.count("packets"), 3);
    assert!(bench.open(&sealed, &[]).0 == packets);
}

#[test]
fn a_too_long_packet_block_is_refused_with_the_limit() {
    let bench = Bench::with_sa(&gcm());
    let mut file = PcapNg::of(Endianness::Little, &inner_packets()[..1]).0.into_inner();
    let at = file.len();
    file.extend([6_u32, 67_108_868, 0].map(u32::to_le_bytes).as_flattened());
    let input = bench.path("long.pcapng");
    fs::write(&input, file).unwrap();
    let line = bench.fail(1, "seal", &input, &bench.path("out.pcap"));
    let what = format!("record 2, at byte {at}: length of 67108868 bytes; at most 67108864 are supported");
    assert!(line.contains(&what) && !line.contains("corrupt:"), "{line}");
}

#[test]
fn both_byte_orders_are_read_even_in_one_file() {
    let bench = Bench::with_sa(&gcm());
    let packets: Vec<Packet> = inner_packets()[..4].to_vec();
    let sections = [(Endianness::Big, &packets[..2]), (Endianness::Little, &packets[2..])]
        .map(|(order, packets)| PcapNg::of(order, packets).0.into_inner());
    let input = bench.path("sections.pcapng");
    fs::write(&input, sections.concat()).unwrap();
    let (sealed, _) = bench.seal(&input, &[]);
    assert!(bench.open(&sealed, &[]).0 == packets);
}
