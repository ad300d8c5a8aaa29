//! From the TUN device to the network.

use std::io;
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use nix::errno::Errno;
use sealcomb_esp::{Header, Layout, Outgoing, Sequence, seal};
use tun_rs::{SyncDevice, VIRTIO_NET_HDR_LEN};

use super::Shared;
use super::buffer::Buffer;
use super::inner::{clamp_mss, too_long_answer};
use super::udp::{Datagram, Udp};
use crate::associations::OutboundSa;
use crate::config::{Config, inner_mtu};
use crate::counters::add;

/// Maximum number of packets that are sealed together.
const BATCH: usize = 128;
/// Number of packet buffers. The last read may exceed the batch by 64 KiB in segments of at least 536 bytes.
const BUFFERS: usize = BATCH + 128;

/// The outbound half of a packet thread.
pub(super) struct Outbound {
    layout: Layout,
    /// The configured path MTU in bytes.
    path_mtu: u16,
    /// The current inner MTU in bytes.
    mtu: usize,
    /// Time of the next query of the kernel's path MTU.
    next_mtu_query: Instant,
    mss_clamp: bool,
    /// The buffer for reads from the device, including the virtio header that describes the segmentation.
    read: Vec<u8>,
    /// Inner packets, which are sealed in place.
    buffers: Vec<Buffer>,
    sizes: Vec<usize>,
}

/// A packet to be sealed.
struct Ready<'a> {
    buffer: &'a mut Buffer,
    /// Size of the inner packet.
    bytes: usize,
    /// Traffic class of the inner packet.
    class: u8,
}

impl Outbound {
    pub(super) fn new(config: &Config) -> Self {
        let layout = config.transform.layout();
        let mtu = config.inner_mtu();
        // Packets are at most as long as the device's MTU, unless an administrator raises it.
        let bytes = layout.esp_bytes(mtu.max(1500)) + 64;
        Self {
            layout,
            path_mtu: config.path_mtu,
            mtu,
            next_mtu_query: Instant::now(),
            mss_clamp: config.mss_clamp,
            read: vec![0; VIRTIO_NET_HDR_LEN + (1 << 16)],
            buffers: (0..BUFFERS).map(|_| Buffer::new(bytes)).collect(),
            sizes: vec![0; BUFFERS],
        }
    }

    /// Reads packets from the device, and seals and sends them. Returns `false` if there were none.
    ///
    /// # Errors
    /// The device was deleted.
    pub(super) fn step(&mut self, tun: &SyncDevice, udp: &mut Udp, shared: &Shared) -> io::Result<bool> {
        let count = self.read(tun)?;
        if count == 0 {
            return Ok(false);
        }
        add(&shared.counters.out_packets, count);
        let now = Instant::now();
        self.update_mtu(udp, now);
        match shared.associations.sending() {
            None => add(&shared.counters.out_dropped_no_key, count),
            Some(_) if shared.associations.is_peer_dead() => {
                add(&shared.counters.out_dropped_peer_dead, count);
            }
            Some(association) => {
                let mut from = 0;
                while from < count {
                    let to = count.min(from + BATCH);
                    self.batch(from, to, &association, tun, udp, shared, now);
                    from = to;
                }
            }
        }
        for buffer in &mut self.buffers[..count] {
            buffer.restore();
        }
        Ok(true)
    }

    /// Updates the inner MTU from the kernel's path MTU, which may fall below the configured one and recover later.
    fn update_mtu(&mut self, udp: &Udp, now: Instant) {
        const INTERVAL: Duration = Duration::from_secs(1);
        if now < self.next_mtu_query {
            return;
        }
        self.next_mtu_query = now + INTERVAL;
        let path_mtu = udp.path_mtu().map_or(self.path_mtu, |known| known.min(self.path_mtu));
        let mtu = inner_mtu(self.layout, udp.is_v4, path_mtu);
        if mtu != self.mtu {
            tracing::info!("path MTU changed: {path_mtu} bytes, inner MTU {mtu} bytes");
            self.mtu = mtu;
        }
    }

    /// Reads until the batch is full or the device is empty. Returns the number of packets.
    fn read(&mut self, tun: &SyncDevice) -> io::Result<usize> {
        let at = self.layout.inner_at();
        let mut count = 0;
        while count < BATCH {
            let (buffers, sizes) = (&mut self.buffers[count..], &mut self.sizes[count..]);
            match tun.recv_multiple(&mut self.read, buffers, sizes, at) {
                Ok(read) => count += read,
                // The device was deleted.
                Err(error) if error.raw_os_error() == Some(Errno::EBADFD as i32) => return Err(error),
                Err(_) => break,
            }
        }
        Ok(count)
    }

    /// Seals and sends the packets in the buffers `from..to`.
    #[allow(clippy::too_many_arguments, reason = "a batch involves all of them")]
    fn batch(
        &mut self,
        from: usize,
        to: usize,
        association: &OutboundSa,
        tun: &SyncDevice,
        udp: &mut Udp,
        shared: &Shared,
        now: Instant,
    ) {
        let Self { layout, mtu, mss_clamp, buffers, sizes, .. } = self;
        let (layout, mtu) = (*layout, *mtu);
        let counters = &shared.counters;
        let mut ready: ArrayVec<Ready<'_>, BATCH> = ArrayVec::new();
        for (buffer, bytes) in buffers[from..to].iter_mut().zip(&sizes[from..to]) {
            let bytes = *bytes;
            let inner = &mut buffer.as_mut()[layout.inner_at()..][..bytes];
            let Some(class) = Header::parse(inner).map(|header| header.traffic_class()) else {
                add(&counters.out_dropped_not_ip, 1);
                continue;
            };
            if bytes > mtu {
                add(&counters.out_dropped_too_long, 1);
                answer_too_long(tun, inner, mtu);
                continue;
            }
            if *mss_clamp {
                clamp_mss(inner, mtu);
            }
            ready.push(Ready { buffer, bytes, class });
        }

        let mut numbers: ArrayVec<Sequence, BATCH> = ArrayVec::new();
        association.number(ready.iter().map(|packet| packet.bytes), now, |number| numbers.push(number));
        add(&counters.out_dropped_no_key, ready.len() - numbers.len());
        ready.truncate(numbers.len());

        let mut outgoing: ArrayVec<Outgoing<'_>, BATCH> = ArrayVec::new();
        for (Ready { buffer, bytes, .. }, sequence) in ready.iter_mut().zip(&numbers) {
            buffer.set_len(layout.esp_bytes(*bytes));
            outgoing.push(Outgoing {
                suite: &association.suite,
                spi: association.spi,
                sequence: *sequence,
                inner_bytes: *bytes,
                esp: buffer.as_mut(),
            });
        }
        let sealed = seal(&mut outgoing);
        drop(outgoing);
        if let Err(error) = sealed {
            tracing::error!("sealing failed: {error}");
            add(&counters.out_dropped_unsent, ready.len());
            return;
        }

        let datagrams: ArrayVec<Datagram<'_>, BATCH> = ready
            .iter()
            .map(|Ready { buffer, bytes, class }| Datagram {
                bytes: (**buffer).as_ref(),
                inner_bytes: *bytes,
                class: *class,
            })
            .collect();
        let outcome = udp.send(&datagrams);
        drop(datagrams);
        add(&counters.out_sent, outcome.sent);
        add(&counters.out_dropped_too_long, outcome.too_long);
        add(&counters.out_dropped_unsent, outcome.unsent);
        add(&counters.out_sent_bytes, outcome.sent_bytes);
        if outcome.sent > 0 {
            shared.activity.note_sent(now);
        }
    }
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
