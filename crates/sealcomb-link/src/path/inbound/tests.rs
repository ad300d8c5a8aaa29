//! Tests of what datagrams change: the device, the peer's signs of life, and its address.

use std::collections::HashMap;
use std::time::Duration;

use sealcomb_esp::{Outgoing, Transform, seal};

use super::*;
use crate::associations::tests::{association, config};
use crate::path::tunnels::Tunnels;

const SPI: u32 = 300;

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, host], 4500))
}

/// Counts the packets that are written.
#[derive(Default)]
struct Written(usize);

impl Sink for Written {
    fn write(&mut self, packets: &mut [Buffer]) -> bool {
        self.0 += packets.len();
        true
    }
}

/// A packet thread with a peer at the address of host 1, under one association.
struct Scene {
    now: Instant,
    transform: Transform,
    tunnel: Arc<Tunnel>,
    shared: Shared,
    written: Written,
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
        Self { now, transform, tunnel, shared, written: Written::default() }
    }

    fn packet(&self, number: u64) -> Vec<u8> {
        let mut config = config("", true);
        config.transform = self.transform;
        let suite = association(&config, 1, SPI).suite;
        let layout = suite.layout();
        let mut inner = [0; 40];
        (inner[0], inner[3]) = (0x45, 40);
        let mut esp = vec![0; layout.esp_bytes(inner.len())];
        esp[layout.inner_at()..][..inner.len()].copy_from_slice(&inner);
        let sequence = Sequence::Extended(number);
        seal(&mut [Outgoing { suite: &suite, spi: SPI, sequence, inner_bytes: inner.len(), esp: &mut esp }])
            .unwrap();
        esp
    }

    /// Receives a batch of datagrams, each from this host. A millisecond passes before.
    fn receive(&mut self, datagrams: &[(u8, Vec<u8>)]) {
        self.now += Duration::from_millis(1);
        let table = self.shared.tunnels.table();
        let mut batch =
            Batch { table: &table, shared: &self.shared, is_stray: false, now: self.now, latest: None };
        let mut datagrams = datagrams.to_vec();
        let mut admitted: ArrayVec<Admitted<'_>, BATCH> = ArrayVec::new();
        for (host, datagram) in &mut datagrams {
            admitted.extend(batch.classify(datagram, address(*host), 0));
        }
        let mut buffers: Vec<Buffer> = (0..BATCH).map(|_| Buffer::new(2048)).collect();
        deliver(&mut admitted, &mut buffers, &mut self.written, &table, &self.shared, self.now);
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
            assert_eq!((scene.heard(), scene.elsewhere(), scene.written.0), (None, None, 0));
        }
        scene.receive(&[(1, first.clone())]);
        let heard = scene.now;
        assert_eq!((scene.heard(), scene.elsewhere(), scene.written.0), (Some(heard), None, 1));
        let second = scene.packet(2);
        for datagram in forgeries(&second).into_iter().chain([first]) {
            scene.receive(&[(1, datagram.clone()), (2, datagram)]);
            assert_eq!((scene.heard(), scene.elsewhere(), scene.written.0), (Some(heard), None, 1));
        }
        let forged = forgeries(&second).pop().unwrap();
        scene.receive(&[(1, forged), (1, second.clone()), (2, second)]);
        assert_eq!((scene.heard(), scene.elsewhere(), scene.written.0), (Some(scene.now), None, 2));
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
    assert_eq!(scene.written.0, written - 1, "all but the replay");
}
