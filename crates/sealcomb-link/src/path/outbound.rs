//! From the TUN device to the network.
//!
//! ```text
//! read a batch
//! route each packet to its tunnel by its destination; sort the batch by tunnels, in which packets keep their order
//! for each tunnel: drop what is too long; assign sequence numbers
//! seal all packets together
//! for each tunnel: send its packets
//! ```

use std::io;
use std::net::{IpAddr, UdpSocket};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use nix::errno::Errno;
use sealcomb_esp::{Header, Layout, Outgoing, Sequence, Transform, seal};
use tun_rs::{SyncDevice, VIRTIO_NET_HDR_LEN};

use super::Shared;
use super::buffer::Buffer;
use super::inner::{clamp_mss, too_long_answer};
use super::tunnels::{Table, Tunnel};
use super::udp::{Datagram, Udp, path_mtu_to};
use crate::associations::OutboundSa;
use crate::config::{Config, inner_mtu};
use crate::counters::add;

/// Maximum number of packets that are sealed together.
const BATCH: usize = 128;
/// Maximum number of segments into which the device divides a packet of 64 KiB.
pub(crate) const MAX_SEGMENTS: usize = 128;
/// Number of packet buffers. The last read may exceed the batch.
const BUFFERS: usize = BATCH + MAX_SEGMENTS;

/// The outbound half of a packet thread.
pub(super) struct Outbound {
    /// Offset in bytes of the inner packets in their buffers: the largest of all suites that a peer may have.
    inner_at: usize,
    mtus: Mtus,
    mss_clamp: bool,
    /// The buffer for reads from the device, including the virtio header that describes the segmentation.
    read: Vec<u8>,
    /// Inner packets, which are sealed in place.
    buffers: Vec<Buffer>,
    sizes: Vec<usize>,
}

/// A packet from the device.
struct Packet<'a> {
    buffer: &'a mut Buffer,
    /// Size of the inner packet.
    bytes: usize,
    /// Traffic class of the inner packet.
    class: u8,
    tunnel: &'a Arc<Tunnel>,
}

/// Consecutive packets of a batch to one peer, to be sealed under one association.
struct Run<'t> {
    tunnel: &'t Arc<Tunnel>,
    association: Arc<OutboundSa>,
    /// The places of its packets in the batch.
    packets: Range<usize>,
}

/// The inner MTU to a peer.
struct Mtu {
    /// The tunnel's layout: another peer may get the number of one that was removed.
    layout: Layout,
    bytes: usize,
    /// Time of the next query of the kernel's path MTU.
    next_query: Instant,
}

/// The inner MTUs to the peers, by their numbers.
struct Mtus {
    /// The configured path MTU in bytes.
    path_mtu: u16,
    /// The socket that is asked for path MTUs; `None` if that of the packets is connected to the only peer.
    probe: Option<UdpSocket>,
    known: Vec<Option<Mtu>>,
}

impl Mtus {
    /// Returns the inner MTU to a peer in bytes. It follows the kernel's path MTU, which may fall below the
    /// configured one and recover later.
    fn get(&mut self, tunnel: &Tunnel, udp: &Udp, shared: &Shared, now: Instant) -> usize {
        const INTERVAL: Duration = Duration::from_secs(1);
        if self.known.len() <= tunnel.slot {
            self.known.resize_with(tunnel.slot + 1, || None);
        }
        let configured = inner_mtu(tunnel.layout, udp.is_v4, self.path_mtu);
        let entry = self.known[tunnel.slot].take().filter(|mtu| mtu.layout == tunnel.layout);
        let mut mtu = entry.unwrap_or(Mtu { layout: tunnel.layout, bytes: configured, next_query: now });
        if now >= mtu.next_query {
            mtu.next_query = now + INTERVAL;
            let known = match &self.probe {
                Some(probe) => {
                    let address = tunnel.strands[shared.thread].address();
                    address.and_then(|address| path_mtu_to(probe, address))
                }
                None => udp.path_mtu(),
            };
            let path_mtu = known.map_or(self.path_mtu, |known| known.min(self.path_mtu));
            let bytes = inner_mtu(tunnel.layout, udp.is_v4, path_mtu);
            if bytes != mtu.bytes {
                tracing::info!(
                    "{}path MTU changed: {path_mtu} bytes, inner MTU {bytes} bytes",
                    tunnel.prefix
                );
                mtu.bytes = bytes;
            }
        }
        self.known[tunnel.slot].insert(mtu).bytes
    }
}

impl Outbound {
    pub(super) fn new(config: &Config) -> io::Result<Self> {
        // A reload may add a peer with any suite.
        let all = Transform::ALL.map(Transform::layout);
        let own = config.peers.iter().map(|peer| peer.transform.layout());
        let layouts: Vec<Layout> = if config.has_tables() { all.into() } else { own.collect() };
        // Packets are at most as long as the device's MTU, unless an administrator raises it.
        let mtu = config.inner_mtu().max(1500);
        let bytes = layouts.iter().map(|layout| layout.esp_bytes(mtu)).max().unwrap_or(mtu);
        let inner_at = layouts.iter().map(|layout| layout.inner_at()).max().unwrap_or(0);
        let probe = config.has_tables().then(|| Udp::open_unbound(config.local.is_ipv4())).transpose()?;
        Ok(Self {
            inner_at,
            mtus: Mtus { path_mtu: config.path_mtu, probe, known: Vec::new() },
            mss_clamp: config.mss_clamp,
            read: vec![0; VIRTIO_NET_HDR_LEN + (1 << 16)],
            buffers: (0..BUFFERS).map(|_| Buffer::new(inner_at + bytes + 64)).collect(),
            sizes: vec![0; BUFFERS],
        })
    }

    /// Reads packets from the device, and seals and sends them. Returns `false` if there were none.
    ///
    /// # Errors
    /// The device was deleted.
    pub(super) fn step(&mut self, tun: &SyncDevice, udp: &mut Udp, shared: &Shared) -> io::Result<bool> {
        let count = self.read(tun, shared)?;
        if count == 0 {
            return Ok(false);
        }
        let now = Instant::now();
        let table = shared.tunnels.table();
        let mut from = 0;
        while from < count {
            let to = count.min(from + BATCH);
            self.batch(from..to, &table, tun, udp, shared, now);
            from = to;
        }
        for buffer in &mut self.buffers[..count] {
            buffer.restore();
        }
        Ok(true)
    }

    /// Reads until the batch is full or the device is empty. Returns the number of packets.
    fn read(&mut self, tun: &SyncDevice, shared: &Shared) -> io::Result<usize> {
        let mut count = 0;
        while count < BATCH {
            let (buffers, sizes) = (&mut self.buffers[count..], &mut self.sizes[count..]);
            match tun.recv_multiple(&mut self.read, buffers, sizes, self.inner_at) {
                Ok(read) => count += read,
                // The device was deleted.
                Err(error) if error.raw_os_error() == Some(Errno::EBADFD as i32) => return Err(error),
                Err(error) => {
                    let lost = usize::from(is_packet_lost(&error));
                    add(&shared.counters.out_packets, lost);
                    add(&shared.counters.out_dropped_unreadable, lost);
                    break;
                }
            }
        }
        Ok(count)
    }

    /// Seals and sends the packets in these buffers.
    fn batch(
        &mut self,
        range: Range<usize>,
        table: &Table,
        tun: &SyncDevice,
        udp: &mut Udp,
        shared: &Shared,
        now: Instant,
    ) {
        let Self { inner_at, mtus, mss_clamp, buffers, sizes, .. } = self;
        let inner_at = *inner_at;
        let packets = route(&mut buffers[range.clone()], &sizes[range], inner_at, table, shared);

        let mut runs: ArrayVec<Run<'_>, BATCH> = ArrayVec::new();
        let mut ready: ArrayVec<(Packet<'_>, Sequence), BATCH> = ArrayVec::new();
        let mut packets = packets.into_iter().peekable();
        while let Some(tunnel) = packets.peek().map(|packet| packet.tunnel) {
            let own = std::iter::from_fn(|| packets.next_if(|packet| packet.tunnel.slot == tunnel.slot));
            let mtu = mtus.get(tunnel, udp, shared, now);
            let first = ready.len();
            let association = number(own, tunnel, inner_at, shared, now, &mut ready, |inner| {
                if inner.len() > mtu {
                    answer_too_long(tun, inner, mtu);
                    return false;
                }
                if *mss_clamp {
                    clamp_mss(inner, mtu);
                }
                true
            });
            if let Some(association) = association {
                runs.push(Run { tunnel, association, packets: first..ready.len() });
            }
        }

        let is_sealed = seal_all(&runs, &mut ready, inner_at);
        for Run { tunnel, packets, .. } in &runs {
            let strand = &tunnel.strands[shared.thread];
            let counters = &strand.counters;
            if !is_sealed {
                add(&counters.out_dropped_unsent, packets.len());
                continue;
            }
            let at = inner_at - tunnel.layout.inner_at();
            let datagrams: ArrayVec<Datagram<'_>, BATCH> = ready[packets.clone()]
                .iter()
                .map(|(Packet { buffer, bytes, class, .. }, _)| Datagram {
                    bytes: &(**buffer).as_ref()[at..],
                    inner_bytes: *bytes,
                    class: *class,
                })
                .collect();
            let outcome = udp.send(&datagrams, strand.address());
            add(&counters.out_sent, outcome.sent);
            add(&counters.out_dropped_too_long, outcome.too_long);
            add(&counters.out_dropped_unsent, outcome.unsent);
            add(&counters.out_sent_bytes, outcome.sent_bytes);
            if outcome.sent > 0 {
                strand.activity.note_sent(now);
            }
        }
    }
}

/// Returns whether a failed read has consumed a packet. The errors of the operating system, such as that of an empty
/// device, mean that there was none; all others are about the packet.
fn is_packet_lost(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}

/// Assigns each packet to a peer by its destination, and sorts them by peers. Counts and drops those that are no IP
/// packets or belong to no peer.
fn route<'a>(
    buffers: &'a mut [Buffer],
    sizes: &[usize],
    inner_at: usize,
    table: &'a Table,
    shared: &Shared,
) -> ArrayVec<Packet<'a>, BATCH> {
    let mut packets: ArrayVec<Packet<'_>, BATCH> = ArrayVec::new();
    // Most packets go where the one before went.
    let mut latest: Option<(IpAddr, Option<&Arc<Tunnel>>)> = None;
    for (buffer, bytes) in buffers.iter_mut().zip(sizes) {
        let bytes = *bytes;
        let Some(header) = Header::parse(&buffer.as_ref()[inner_at..][..bytes]) else {
            add(&shared.counters.out_packets, 1);
            add(&shared.counters.out_dropped_not_ip, 1);
            continue;
        };
        let class = header.traffic_class();
        let tunnel = table.only().or_else(|| {
            let to = header.destination();
            if latest.is_none_or(|(address, _)| address != to) {
                latest = Some((to, table.to(to)));
            }
            latest.and_then(|(_, tunnel)| tunnel)
        });
        let Some(tunnel) = tunnel else {
            add(&shared.counters.out_packets, 1);
            add(&shared.counters.out_dropped_no_peer, 1);
            continue;
        };
        packets.push(Packet { buffer, bytes, class, tunnel });
    }
    if !packets.is_sorted_by_key(|packet| packet.tunnel.slot) {
        // Stable, so that the packets of a flow keep their order.
        packets.sort_by_key(|packet| packet.tunnel.slot);
    }
    packets
}

/// Assigns sequence numbers to the packets of a peer that are `fit`, and appends them to `ready`. Counts and drops
/// the others. Returns the association that they are sealed under, if any of them may be sent.
fn number<'a>(
    packets: impl Iterator<Item = Packet<'a>>,
    tunnel: &Tunnel,
    inner_at: usize,
    shared: &Shared,
    now: Instant,
    ready: &mut ArrayVec<(Packet<'a>, Sequence), BATCH>,
    mut fit: impl FnMut(&mut [u8]) -> bool,
) -> Option<Arc<OutboundSa>> {
    let strand = &tunnel.strands[shared.thread];
    let counters = &strand.counters;
    let dropped = match tunnel.associations.sending() {
        None => &counters.out_dropped_no_key,
        Some(_) if tunnel.associations.is_peer_dead() => &counters.out_dropped_peer_dead,
        Some(association) => {
            let first = ready.len();
            let (mut count, mut too_long) = (0, 0);
            for packet in packets {
                count += 1;
                if fit(&mut packet.buffer.as_mut()[inner_at..][..packet.bytes]) {
                    // The number follows.
                    ready.push((packet, Sequence::Short(0)));
                } else {
                    too_long += 1;
                }
            }
            let mut numbers: ArrayVec<Sequence, BATCH> = ArrayVec::new();
            let sizes = ready[first..].iter().map(|(packet, _)| packet.bytes);
            association.number(sizes, now, |number| numbers.push(number));
            add(&counters.out_packets, count);
            add(&counters.out_dropped_too_long, too_long);
            add(&counters.out_dropped_no_key, ready.len() - first - numbers.len());
            ready.truncate(first + numbers.len());
            for ((_, sequence), number) in ready[first..].iter_mut().zip(numbers) {
                *sequence = number;
            }
            return (ready.len() > first).then_some(association);
        }
    };
    let count = packets.count();
    add(&counters.out_packets, count);
    add(dropped, count);
    None
}

/// Seals all packets of a batch together, each under the association of its run. Returns whether it succeeded.
fn seal_all(runs: &[Run<'_>], ready: &mut [(Packet<'_>, Sequence)], inner_at: usize) -> bool {
    let mut outgoing: ArrayVec<Outgoing<'_>, BATCH> = ArrayVec::new();
    let mut rest = ready;
    for Run { tunnel, association, packets } in runs {
        let (own, others) = std::mem::take(&mut rest).split_at_mut(packets.len());
        rest = others;
        let at = inner_at - tunnel.layout.inner_at();
        for (Packet { buffer, bytes, .. }, sequence) in own {
            buffer.set_len(at + tunnel.layout.esp_bytes(*bytes));
            outgoing.push(Outgoing {
                suite: &association.suite,
                spi: association.spi,
                sequence: *sequence,
                inner_bytes: *bytes,
                esp: &mut buffer.as_mut()[at..],
            });
        }
    }
    let sealed = seal(&mut outgoing);
    if let Err(error) = &sealed {
        tracing::error!("sealing failed: {error}");
    }
    sealed.is_ok()
}

/// Answers a packet that exceeds the MTU with an ICMP error. A write error is ignored, like the loss of a packet.
fn answer_too_long(tun: &SyncDevice, packet: &[u8], mtu: usize) {
    let Some(answer) = too_long_answer(packet, mtu) else { return };
    // A zero virtio header, where the device requires one: no segmentation and no checksum to complete.
    let mut framed = vec![0; VIRTIO_NET_HDR_LEN];
    framed.extend(answer);
    let from = if tun.tcp_gso() { 0 } else { VIRTIO_NET_HDR_LEN };
    let _ = tun.send(&framed[from..]);
}
