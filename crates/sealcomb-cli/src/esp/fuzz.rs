//! Fuzz targets: captures, SA files, and the packets of a burst.
#![allow(clippy::missing_panics_doc, reason = "fuzz targets panic on purpose")]

use std::cell::RefCell;
use std::mem;
use std::path::Path;

use pcap_file::DataLink;
use sealcomb_esp::Header;

use super::fragments::Fragments;
use super::report::{Unopened, Unsealed};
use super::transform::{Incoming, Opener, Sealer};
use super::{incoming, ip, outgoing, sa_file};
use crate::captures::capture::{Capture, Record};
use crate::captures::tally::Tally;
use crate::fuzz::{kind, outcome};

/// The associations of the demonstration, and one with extended sequence numbers.
const ASSOCIATIONS: &str = concat!(
    include_str!("../../../../captures/sa.toml"),
    "[[sa]]\nspi = 0x1006\nsource = \"203.0.113.1\"\ndestination = \"203.0.113.2\"\nmatch = \"198.18.0.0/15\"\n\
     cipher = \"aes-gcm\"\nkey = \"00112233445566778899aabbccddeeff\"\nsalt = \"cafe0006\"\nesn = true\n\
     sequence = 0xfffffff0\n",
);

/// An inner destination of each association, and its SPI.
const DESTINATIONS: [(&[u8], u32); 6] = [
    (&[192, 0, 2, 1], 0x1001),
    (&[192, 0, 2, 2], 0x1002),
    (&[0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 0x1003),
    (&[0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2], 0x1004),
    (&[0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 0x1005),
    (&[198, 18, 0, 1], 0x1006),
];

const UDP: u8 = 17;
const ESP: u8 = 50;

/// Reads arbitrary bytes as a capture. Sealing and opening must each account for every packet.
pub fn capture(bytes: &[u8]) -> u64 {
    let mut records = Vec::new();
    let mut capture = match Capture::new(Path::new("capture"), bytes, ip::is_supported) {
        Ok(capture) => capture,
        Err(error) => return outcome(kind(&format_args!("{error:#}"))),
    };
    let end = loop {
        let record = match capture.next() {
            Ok(Some(record)) => record,
            Ok(None) => break String::new(),
            Err(error) => break kind(&format_args!("{error:#}")),
        };
        assert!(record.frame.len() <= record.original);
        if let Ok(packet) = ip::packet(&record) {
            assert!(packet.len() <= record.frame.len());
            assert_eq!(ip::packet_len(&record), Ok(packet.len()));
            let header = Header::parse(&packet).expect("the header of a packet");
            assert!(
                header.packet_len().is_none_or(|len| len == packet.len()),
                "the header has another length"
            );
        }
        records.push(record);
    };
    assert_eq!(capture.records(), records.len() as u64);
    let links: Vec<u32> = records.iter().take(3).map(|record| record.link.into()).collect();
    ENDS.with_borrow_mut(|(sealer, opener)| {
        let sealed = sealing(sealer, &records);
        let opened = opening(opener, &records);
        let frames = crate::macsec::fuzz::accounted_for(&records);
        outcome((capture.has_nanoseconds(), links, sealed, opened, frames, end))
    })
}

/// Selects packets for sealing and returns which causes occurred. Every packet is sealed or has a cause.
fn sealing(sealer: &Sealer, records: &[Record]) -> Vec<bool> {
    let mut tally = Tally::<Unsealed>::new();
    let (_, burst) = outgoing(sealer, records, &mut tally);
    for outgoing in burst {
        tally.done(outgoing.inner().len());
    }
    assert_eq!(tally.total(), records.len() as u64);
    tally.causes()
}

/// Opens packets and returns which causes occurred. No packet may open.
fn opening(opener: &mut Opener, records: &[Record]) -> Vec<bool> {
    let (mut tally, mut fragments) = (Tally::<Unopened>::new(), Fragments::default());
    let (_, burst) = incoming(records, &mut fragments, &mut tally);
    for opened in opener.open(&burst).expect("a burst") {
        tally.not_done(Unopened::Dropped(opened.expect_err("a forged packet must not open")));
    }
    for (cause, count) in fragments.lost() {
        tally.add(cause, count);
    }
    assert_eq!(tally.total(), records.len() as u64);
    tally.causes()
}

/// Parses arbitrary text as an SA file. An error must be one line and must not contain anything that looks like a
/// key.
pub fn associations(bytes: &[u8]) -> u64 {
    let Ok(text) = str::from_utf8(bytes) else { return 0 };
    match sa_file::parse("sa.toml", text) {
        Ok((associations, keys_are_public)) => {
            let suites: Vec<_> = associations.iter().map(|sa| mem::discriminant(&sa.suite)).collect();
            outcome((suites, keys_are_public))
        }
        Err(error) => {
            let line = format!("{error:#}");
            assert!(line.starts_with("sa.toml:") && line.lines().count() == 1, "{line}");
            assert!(!contains_key(&line), "{line}");
            outcome(kind(&line))
        }
    }
}

/// Returns whether a line contains hex digits that could be part of a key rather than a decimal number.
pub(crate) fn contains_key(line: &str) -> bool {
    let looks_like_key = |digits: &str| digits.len() >= 8 && digits.contains(|c: char| !c.is_ascii_digit());
    line.split(|c: char| !c.is_ascii_hexdigit()).any(looks_like_key)
}

thread_local! {
    /// Both peers of the associations. Key setup is slow, so inputs share them. Only sequence numbers advance.
    static ENDS: RefCell<(Sealer, Opener)> = {
        let associations =
            || sa_file::parse("sa.toml", ASSOCIATIONS).expect("valid associations").0;
        RefCell::new((Sealer::new(associations()), Opener::new(associations())))
    };
}

/// Interprets arbitrary bytes as a burst of packets. Foreign packets are opened and must be rejected. Others are
/// sealed, some of them modified, and opened. Unmodified packets must open, and those modified within ESP must not.
pub fn packets(bytes: &[u8]) -> u64 {
    ENDS.with_borrow_mut(|(sealer, opener)| {
        let burst = Burst::read(bytes);
        let foreign: Vec<_> = burst.foreign.iter().filter_map(|packet| Incoming::find(packet).ok()).collect();
        let opened = opener.open(&foreign).expect("a burst");
        let refused: Vec<_> = opened
            .iter()
            .map(|opened| mem::discriminant(opened.as_ref().expect_err("a forged packet must not open")))
            .collect();

        let (inner, outgoing): (Vec<_>, Vec<_>) = burst
            .inner
            .iter()
            .filter_map(|(inner, change)| Some(((inner, change), sealer.select(inner)?)))
            .unzip();
        let sealed = sealer.seal(&outgoing).expect("a burst");
        let mut sent = Vec::new();
        for ((inner, change), mut esp) in
            inner.into_iter().zip(sealed).filter_map(|(inner, esp)| Some((inner, esp?)))
        {
            let start = super::carried::find(&esp).expect("what was sealed is ESP").start;
            let at = change.map(|(at, bits)| {
                let at = at % esp.len();
                esp[at] ^= bits;
                at
            });
            sent.push((inner, esp, at.is_some_and(|at| at >= start), at.is_some()));
        }
        let arrived: Vec<_> =
            sent.iter().filter_map(|sent| Some((sent, Incoming::find(&sent.1).ok()?))).collect();
        let (arrived, incoming): (Vec<_>, Vec<_>) = arrived.into_iter().unzip();
        let opened = opener.open(&incoming).expect("a burst");
        let mut ways = Vec::new();
        for ((inner, _, is_forged, is_changed), opened) in arrived.into_iter().zip(opened) {
            match &opened {
                Ok(message) => assert!(message == *inner && !is_forged, "a changed packet was opened"),
                Err(why) => assert!(*is_changed, "{why:?}: a good packet was refused"),
            }
            ways.push((opened.err().map(|why| mem::discriminant(&why)), *is_forged));
        }
        outcome((refused, ways))
    })
}

/// A modification of a sealed packet: byte offset and bits to flip.
type Change = (usize, u8);

/// The packets of an input.
#[derive(Default)]
struct Burst {
    foreign: Vec<Vec<u8>>,
    inner: Vec<(Vec<u8>, Option<Change>)>,
}

impl Burst {
    /// Parses packets. Each is encoded as a type byte, a length byte and content.
    fn read(mut input: &[u8]) -> Self {
        let mut burst = Self::default();
        while let Some((&[kind, bytes], rest)) = input.split_first_chunk() {
            let (content, rest) = rest.split_at(usize::from(bytes).min(rest.len()));
            input = rest;
            let (destination, spi) = DESTINATIONS[usize::from(kind >> 3) % DESTINATIONS.len()];
            match kind & 7 {
                0 => burst.foreign.push(content.to_vec()),
                1 | 2 => {
                    burst.foreign.push(ip_packet(destination, ESP, &[&spi.to_be_bytes(), content].concat()));
                }
                3 => {
                    if let Ok(inner) = ip::packet(&Record::whole(DataLink::RAW, content.to_vec())) {
                        burst.inner.push((inner.into_owned(), None));
                    }
                }
                4 | 5 => burst.inner.push((ip_packet(destination, UDP, content), None)),
                _ => {
                    let at = content.first_chunk().map_or(0, |at| usize::from(u16::from_le_bytes(*at)));
                    let bits = content.get(2).copied().unwrap_or(1).max(1);
                    burst.inner.push((ip_packet(destination, UDP, content), Some((at, bits))));
                }
            }
        }
        burst
    }
}

/// Returns an IPv4 or IPv6 packet, depending on the destination's length.
fn ip_packet(destination: &[u8], protocol: u8, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(payload.len()).expect("a short payload");
    let mut packet = Vec::with_capacity(40 + payload.len());
    if destination.len() == 4 {
        packet.extend([0x45, 0]);
        packet.extend((20 + len).to_be_bytes());
        packet.extend([0, 0, 0, 0, 64, protocol, 0, 0, 198, 51, 100, 7]);
    } else {
        packet.extend([0x60, 0, 0, 0]);
        packet.extend(len.to_be_bytes());
        packet.extend([protocol, 64]);
        packet.extend([0xfe; 16]);
    }
    packet.extend(destination);
    packet.extend(payload);
    packet
}
