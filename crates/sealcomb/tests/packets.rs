//! A burst of packets, and jobs with packets, equal detached tags; packets that are too short are refused.

mod common {
    pub(crate) mod backends;
}

use common::backends;
#[cfg(not(feature = "unstable-study"))]
use sealcomb::ALGORITHMS;
#[cfg(feature = "unstable-study")]
use sealcomb::study::ALGORITHMS;
use sealcomb::{
    Algorithm, BatchError, Burst, Error, Key, KeyOptions, Kind, OpenJob, PacketLayout, SealJob, TagPosition,
    Verdict, open_jobs, seal_jobs,
};

/// Size in bytes of the gap that half of the layouts have.
const GAP: usize = 8;

/// Packets with headers of one size, gaps of one size, and messages of different sizes.
struct Packets {
    key: Key,
    header: usize,
    gap: usize,
    nonces: Vec<Vec<u8>>,
    /// Additional data that is not in the packets.
    aads: Vec<Vec<u8>>,
    headers: Vec<Vec<u8>>,
    messages: Vec<Vec<u8>>,
}

impl Packets {
    fn new(key: Key, header: usize, gap: usize, count: usize) -> Self {
        let algorithm = key.algorithm();
        let bytes = |seed: usize, len: usize| (0..len).map(|j| (seed * 31 + j * 7) as u8).collect::<Vec<_>>();
        let message = |i: usize| match algorithm.kind() {
            Kind::Mac => 0,
            _ => algorithm.padded_bytes(i * 137 % 700),
        };
        let aad = if Self::takes_aad(algorithm) { 11 } else { 0 };
        Self {
            header,
            gap,
            nonces: (0..count).map(|i| bytes(i, algorithm.nonce_bytes())).collect(),
            aads: (0..count).map(|i| bytes(i + 3, aad)).collect(),
            headers: (0..count).map(|i| bytes(i + 1, header + gap)).collect(),
            messages: (0..count).map(|i| bytes(i + 2, message(i))).collect(),
            key,
        }
    }

    fn takes_aad(algorithm: Algorithm) -> bool {
        algorithm.kind() != Kind::Cipher || algorithm.tweaked()
    }

    fn layout(&self) -> PacketLayout {
        PacketLayout::header(self.header).gap(self.gap)
    }

    /// Returns the packets with this text and tag in each.
    fn with(&self, texts: &[Vec<u8>], tags: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let first = self.key.algorithm().tag_position() == TagPosition::First;
        let combined = |(text, tag): (&Vec<u8>, &Vec<u8>)| {
            if first { [&tag[..], text].concat() } else { [&text[..], tag].concat() }
        };
        let headers = self.headers.iter().zip(texts.iter().zip(tags));
        headers.map(|(header, parts)| [&header[..], &combined(parts)].concat()).collect()
    }

    fn unsealed(&self) -> Vec<Vec<u8>> {
        self.with(&self.messages, &vec![vec![0x55; self.key.tag_bytes()]; self.messages.len()])
    }

    /// Returns the ciphertexts and tags that bursts with detached tags yield, with the headers or with `aads`.
    fn detached(&self, aads: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        let mut data = self.messages.clone();
        let mut tags = vec![vec![0; self.key.tag_bytes()]; data.len()];
        Burst::new(&self.key, &self.nonces).aads(aads).seal(&mut data, &mut tags).unwrap();
        (data, tags)
    }

    /// Seals and opens packets by bursts and jobs, some of them forged.
    fn check(&self) {
        let place = format!("{:?}, {} + {}, {}", self.key, self.header, self.gap, self.messages.len());
        let count = self.messages.len();
        let in_packets: Vec<&[u8]> = self.headers.iter().map(|header| &header[..self.header]).collect();
        let (data, tags) = self.detached(&in_packets);
        let expected = self.with(&data, &tags);

        let mut packets = self.unsealed();
        Burst::new(&self.key, &self.nonces).seal_packets(self.layout(), &mut packets).unwrap();
        assert_eq!(packets, expected, "{place}");

        let mut by_jobs = self.unsealed();
        let mut jobs: Vec<SealJob<'_>> = (self.nonces.iter().zip(&mut by_jobs))
            .map(|(nonce, packet)| SealJob::packet(&self.key, nonce, self.layout(), packet).unwrap())
            .collect();
        seal_jobs(&mut jobs).unwrap();
        drop(jobs);
        assert_eq!(by_jobs, expected, "jobs: {place}");

        // Additional data that is not in the packets.
        let elsewhere: Vec<&[u8]> = self.aads.iter().map(|aad| &aad[..]).collect();
        let (data, tags) = self.detached(&elsewhere);
        let (apart, layout) = (self.with(&data, &tags), PacketLayout::new().gap(self.header + self.gap));
        let mut packets = self.unsealed();
        Burst::new(&self.key, &self.nonces).aads(&elsewhere).seal_packets(layout, &mut packets).unwrap();
        assert_eq!(packets, apart, "{place}");
        let mut by_jobs = self.unsealed();
        let mut jobs: Vec<SealJob<'_>> = (self.nonces.iter().zip(&mut by_jobs).zip(&self.aads))
            .map(|((nonce, packet), aad)| {
                SealJob::packet(&self.key, nonce, layout, packet).unwrap().aad(&aad[..])
            })
            .collect();
        seal_jobs(&mut jobs).unwrap();
        drop(jobs);
        assert_eq!(by_jobs, apart, "jobs: {place}");

        // Every third packet is forged somewhere.
        let mut received = expected.clone();
        let mut opened = self.with(&self.messages, &self.tags_of(&expected));
        let mut verdicts = vec![Verdict::Verified; count];
        for (i, packet) in received.iter_mut().enumerate().skip(1).step_by(3) {
            // Whatever the gap contains, it is not authenticated.
            let places: Vec<usize> =
                (0..packet.len()).filter(|at| !(self.header..self.header + self.gap).contains(at)).collect();
            let at = places[i * 29 % places.len()];
            packet[at] ^= 1 << (i % 8);
            opened[i].clone_from(packet);
            let message = self.message_in(packet);
            opened[i][message].fill(0);
            verdicts[i] = Verdict::Forged;
        }
        if self.key.algorithm().kind() == Kind::Cipher {
            (received, opened) = (expected.clone(), self.with(&self.messages, &self.tags_of(&expected)));
            verdicts.fill(Verdict::Unauthenticated);
        }
        let mut packets = received.clone();
        let mut found = vec![Verdict::Pending; count];
        let burst = Burst::new(&self.key, &self.nonces);
        let outcome = burst.open_packets(self.layout(), &mut packets, &mut found).unwrap();
        assert_eq!(found, verdicts, "{place}");
        assert_eq!(packets, opened, "{place}");
        assert_eq!(outcome.forged(), verdicts.iter().filter(|v| **v == Verdict::Forged).count());

        let mut packets = received;
        let mut jobs: Vec<OpenJob<'_>> = (self.nonces.iter().zip(&mut packets))
            .map(|(nonce, packet)| OpenJob::packet(&self.key, nonce, self.layout(), packet).unwrap())
            .collect();
        assert_eq!(open_jobs(&mut jobs), Ok(outcome), "{place}");
        assert_eq!(jobs.iter().map(OpenJob::verdict).collect::<Vec<_>>(), verdicts, "{place}");
        drop(jobs);
        assert_eq!(packets, opened, "jobs: {place}");

        let mut packets = apart;
        let mut jobs: Vec<OpenJob<'_>> = (self.nonces.iter().zip(&mut packets).zip(&self.aads))
            .map(|((nonce, packet), aad)| {
                OpenJob::packet(&self.key, nonce, layout, packet).unwrap().aad(&aad[..])
            })
            .collect();
        assert_eq!(open_jobs(&mut jobs).unwrap().forged(), 0, "{place}");
    }

    /// Returns where a packet has its message.
    fn message_in(&self, packet: &[u8]) -> std::ops::Range<usize> {
        let (at, tag) = (self.header + self.gap, self.key.tag_bytes());
        match self.key.algorithm().tag_position() {
            TagPosition::First => at + tag..packet.len(),
            TagPosition::Last => at..packet.len() - tag,
        }
    }

    fn tags_of(&self, packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let tag = |packet: &Vec<u8>| {
            let message = self.message_in(packet);
            match self.key.algorithm().tag_position() {
                TagPosition::First => packet[message.start - self.key.tag_bytes()..message.start].to_vec(),
                TagPosition::Last => packet[message.end..].to_vec(),
            }
        };
        packets.iter().map(tag).collect()
    }
}

fn key(algorithm: Algorithm, options: KeyOptions) -> Key {
    let bytes: Vec<u8> = (3..).take(algorithm.key_bytes()).collect();
    options.expand(algorithm, &bytes).unwrap()
}

#[test]
fn packets_of_every_algorithm_equal_detached_tags() {
    for backend in backends::available() {
        for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| !algorithm.expands()) {
            let header = if Packets::takes_aad(algorithm) { 13 } else { 0 };
            for (count, gap) in [(0, 0), (1, 0), (3, GAP), (33, 0), (130, GAP)] {
                let key = key(algorithm, KeyOptions::new().backend(backend));
                Packets::new(key, header, gap, count).check();
            }
        }
    }
}

#[test]
fn headers_and_tags_of_every_size_equal_detached_tags() {
    for algorithm in [Algorithm::AES_128_GCM, Algorithm::AES_128_EAX, Algorithm::AES_256_SIV] {
        for tag_bytes in algorithm.tag_sizes() {
            for header in [0, 1, 15, 16, 17, 64, 300] {
                let key = key(algorithm, KeyOptions::new().tag_bytes(*tag_bytes));
                Packets::new(key, header, header % 3, 9).check();
            }
        }
    }
}

#[test]
fn one_packet_that_is_too_short_leaves_all_unchanged() {
    for algorithm in [Algorithm::AES_128_GCM, Algorithm::AES_128_SIV, Algorithm::AES_128_CCM] {
        let key = key(algorithm, KeyOptions::new());
        for (count, bad) in [(1, 0), (5, 3), (200, 0), (200, 127), (200, 128), (200, 199)] {
            let nonces = vec![vec![7; algorithm.nonce_bytes()]; count];
            let burst = Burst::new(&key, &nonces);
            let layout = PacketLayout::header(5).gap(4);
            for got in [0, 4, 5, 8, 9, 24] {
                let mut packets = vec![vec![1; 40]; count];
                packets[bad].truncate(got);
                let before = packets.clone();
                let error = Error::PacketTooShort { min: 25, got };
                let refused = BatchError::new(bad, error);
                assert_eq!(burst.seal_packets(layout, &mut packets), Err(refused));
                let mut verdicts = vec![Verdict::Pending; count];
                assert_eq!(burst.open_packets(layout, &mut packets, &mut verdicts), Err(refused));
                assert_eq!((&packets, verdicts), (&before, vec![Verdict::Pending; count]));
                assert_eq!(SealJob::packet(&key, &nonces[0], layout, &mut packets[bad]).err(), Some(error));
                assert_eq!(OpenJob::packet(&key, &nonces[0], layout, &mut packets[bad]).err(), Some(error));
            }
        }
        let mut packets = vec![vec![1; 25]];
        let nonces = vec![vec![7; algorithm.nonce_bytes()]];
        Burst::new(&key, &nonces).seal_packets(PacketLayout::header(5).gap(4), &mut packets).unwrap();
        // A layout that no packet has.
        let endless = PacketLayout::header(usize::MAX).gap(usize::MAX);
        let error = Error::PacketTooShort { min: usize::MAX, got: 25 };
        assert_eq!(
            Burst::new(&key, &nonces).seal_packets(endless, &mut packets),
            Err(BatchError::new(0, error))
        );
    }
}

#[test]
fn columns_with_another_number_of_entries_are_refused() {
    let key = key(Algorithm::AES_128_GCM, KeyOptions::new());
    let mut packets = vec![vec![1; 40]; 3];
    let (uneven, layout) = (Error::UnevenColumns { messages: 3, got: 2 }, PacketLayout::header(5));
    let short = Burst::new(&key, &[[7; 12]; 2]);
    assert_eq!(short.seal_packets(layout, &mut packets), Err(BatchError::new(2, uneven)));
    let burst = Burst::new(&key, &[[7; 12]; 3]);
    let refused = burst.open_packets(layout, &mut packets, &mut [Verdict::Pending; 2]);
    assert_eq!(refused, Err(BatchError::new(2, uneven)));
    assert_eq!(packets, vec![vec![1; 40]; 3]);
}
