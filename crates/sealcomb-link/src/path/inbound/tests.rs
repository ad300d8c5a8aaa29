//! Tests of what datagrams change: the device, the peer's signs of life, and its address.

use std::collections::HashMap;
use std::time::Duration;

use sealcomb_esp::{Outgoing, Transform, seal};

use super::*;
use crate::associations::tests::{association, config};
use crate::counters::Counts;
use crate::path::tunnels::Tunnels;

const SPI: u32 = 300;

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, host], 4500))
}

/// Collects the packets that are written.
impl Sink for Vec<Vec<u8>> {
    fn write(&mut self, packets: &mut [ForDevice<'_>]) -> bool {
        self.extend(packets.iter().map(|packet| packet.as_ref()[VIRTIO_NET_HDR_LEN..].to_vec()));
        true
    }
}

/// Returns the inner packet that [`Scene::packet`] seals under a number.
fn inner_packet(number: u64) -> [u8; 40] {
    let mut inner = [0; 40];
    (inner[0], inner[3], inner[39]) = (0x45, 40, number as u8);
    inner
}

/// A packet thread with a peer at the address of host 1, under one association.
struct Scene {
    now: Instant,
    transform: Transform,
    tunnel: Arc<Tunnel>,
    shared: Shared,
    /// Inner packets that were written to the device.
    written: Vec<Vec<u8>>,
}

impl Scene {
    fn new(transform: Transform) -> Self {
        let now = Instant::now();
        let mut config = config("", true);
        config.transform = transform;
        let tunnel = Arc::new(Tunnel::new(0, &config, 1, now));
        tunnel.associations.receive(association(&config, 1, SPI), &config, now);
        tunnel.strands[0].set_address(address(1));
        let tunnels = Arc::new(Tunnels::default());
        tunnels.set_only(tunnel.clone());
        let shared = Shared {
            tunnels,
            thread: 0,
            counters: Arc::default(),
            stop: Arc::default(),
            mail: Arc::default(),
        };
        Self { now, transform, tunnel, shared, written: Vec::new() }
    }

    fn packet(&self, number: u64) -> Vec<u8> {
        let mut config = config("", true);
        config.transform = self.transform;
        let suite = association(&config, 1, SPI).suite;
        let layout = suite.layout();
        let inner = inner_packet(number);
        let mut esp = vec![0; layout.esp_bytes(inner.len())];
        esp[layout.inner_at()..][..inner.len()].copy_from_slice(&inner);
        let sequence = Sequence::Extended(number);
        seal(&mut [Outgoing { suite: &suite, spi: SPI, sequence, inner_bytes: inner.len(), esp: &mut esp }])
            .unwrap();
        esp
    }

    /// Receives a batch of datagrams, each from this host. A millisecond passes before. Returns what is in the receive
    /// buffers then.
    fn receive(&mut self, datagrams: &[(u8, Vec<u8>)]) -> Vec<(u8, Vec<u8>)> {
        self.now += Duration::from_millis(1);
        let table = self.shared.tunnels.table();
        let mut batch =
            Batch { table: &table, shared: &self.shared, is_stray: false, now: self.now, latest: None };
        let mut datagrams = datagrams.to_vec();
        let mut admitted: ArrayVec<Admitted<'_>, BATCH> = ArrayVec::new();
        for (host, datagram) in &mut datagrams {
            admitted.extend(batch.classify(datagram, address(*host), 0));
        }
        let mut spares = vec![Vec::new(); BATCH];
        deliver(&mut admitted, &mut spares, &mut self.written, &table, &self.shared, self.now);
        drop(admitted);
        datagrams
    }

    /// Returns the counts of the tunnel and of packets of no tunnel.
    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.tunnel.strands[0].counters.add_to(&mut counts);
        self.shared.counters.add_to(&mut counts);
        counts
    }

    /// Returns when the thread last heard the peer.
    fn heard(&self) -> Option<Instant> {
        self.tunnel.strands[0].activity.received()
    }

    /// Returns the host from which the peer's latest packet has come since the last call, if it was another one.
    fn elsewhere(&self) -> Option<SocketAddr> {
        let moves: HashMap<(usize, usize), SocketAddr> = self.shared.mail.take_moves();
        moves.get(&(0, 0)).copied()
    }
}

/// Returns a packet with each of its bytes changed in turn, and shortened by each number of bytes.
fn forgeries(packet: &[u8]) -> Vec<Vec<u8>> {
    let mut forgeries: Vec<Vec<u8>> = (0..packet.len()).map(|bytes| packet[..bytes].to_vec()).collect();
    for at in 0..packet.len() {
        let mut forgery = packet.to_vec();
        forgery[at] ^= 0x10;
        forgeries.push(forgery);
    }
    forgeries
}

#[test]
fn only_verified_packets_that_are_no_replays_are_signs_of_life() {
    for transform in Transform::ALL {
        let mut scene = Scene::new(transform);
        let first = scene.packet(1);
        let nothing = [Vec::new(), KEEPALIVE.to_vec(), vec![0; 100], vec![0xff; 100]];
        for datagram in forgeries(&first).into_iter().chain(nothing) {
            scene.receive(&[(1, datagram.clone()), (2, datagram)]);
            assert_eq!((scene.heard(), scene.elsewhere(), scene.written.len()), (None, None, 0));
        }
        scene.receive(&[(1, first.clone())]);
        let heard = scene.now;
        assert_eq!((scene.heard(), scene.elsewhere(), scene.written.len()), (Some(heard), None, 1));
        let second = scene.packet(2);
        for datagram in forgeries(&second).into_iter().chain([first]) {
            scene.receive(&[(1, datagram.clone()), (2, datagram)]);
            assert_eq!((scene.heard(), scene.elsewhere(), scene.written.len()), (Some(heard), None, 1));
        }
        let forged = forgeries(&second).pop().unwrap();
        scene.receive(&[(1, forged), (1, second.clone()), (2, second)]);
        assert_eq!((scene.heard(), scene.elsewhere(), scene.written.len()), (Some(scene.now), None, 2));
    }
}

#[test]
fn only_the_packet_with_the_highest_number_reports_another_address() {
    let mut scene = Scene::new(Transform::ALL[0]);
    let mut written = 0;
    for (batch, expected) in [
        (&[(1, 10)][..], None),
        (&[(2, 9)], None),
        (&[(2, 20)], Some(address(2))),
        (&[(2, 20)], None),
        (&[(3, 19), (3, 18)], None),
        (&[(1, 22), (2, 21)], None),
        (&[(2, 24), (1, 23)], Some(address(2))),
        (&[(2, 25), (3, 27), (1, 26)], Some(address(3))),
        (&[(2, 28), (1, 29)], None),
    ] {
        let datagrams: Vec<(u8, Vec<u8>)> =
            batch.iter().map(|(host, number)| (*host, scene.packet(*number))).collect();
        scene.receive(&datagrams);
        assert_eq!(scene.elsewhere(), expected, "{batch:?}");
        written += batch.len();
    }
    assert_eq!(scene.written.len(), written - 1, "all but the replay");
}

#[test]
fn a_mixed_batch_is_opened_in_place_like_single_packets() {
    for transform in Transform::ALL {
        let [mut together, mut singly] = [Scene::new(transform), Scene::new(transform)];
        let old = together.packet(1);
        for scene in [&mut together, &mut singly] {
            scene.receive(&[(1, old.clone())]);
        }
        // A number that would move the window past the other packets.
        let mut forged = together.packet(100_000);
        *forged.last_mut().unwrap() ^= 1;
        let mut of_no_association = together.packet(3);
        of_no_association[3] ^= 1;
        let [second, third, fourth] = [2, 3, 4].map(|number| together.packet(number));
        let too_short = third[..transform.layout().inner_at()].to_vec();
        let batch = [&second, &forged, &too_short, &of_no_association, &old, &fourth, &fourth, &third]
            .map(|datagram| (1, datagram.clone()));

        let received = together.receive(&batch);
        for datagram in batch.clone() {
            singly.receive(&[datagram]);
        }
        for scene in [&together, &singly] {
            assert_eq!(scene.written, [1, 2, 4, 3].map(inner_packet));
            let counts = Counts {
                in_datagrams: 9,
                in_delivered: 4,
                in_delivered_bytes: 160,
                in_dropped_forged: 1,
                in_dropped_malformed: 1,
                in_dropped_unknown_spi: 1,
                in_dropped_replayed: 2,
                ..Counts::default()
            };
            assert_eq!(scene.counts(), counts);
        }
        let body = transform.layout().body(forged.len()).unwrap();
        assert_eq!(received[1].1[..body.start], forged[..body.start]);
        assert_eq!(received[1].1[body.clone()], vec![0; body.len()]);
        assert_eq!(received[2..=4], batch[2..=4], "packets that were not opened are unchanged");
    }
}
