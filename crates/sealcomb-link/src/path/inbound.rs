//! From the network to the TUN device.
//!
//! ```text
//! receive a batch
//! for each packet: find the tunnel and the association by the SPI; check limits and window
//! open all packets together, in the buffers that received them
//! for each packet that verifies: advance the window; the inner source must belong to the tunnel
//! write the inner packets to the device; report tunnels whose latest packets came from elsewhere
//! ```

#[cfg(test)]
mod tests;

use std::io::IoSliceMut;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use arrayvec::ArrayVec;
use quinn_udp::RecvMeta;
use sealcomb_esp::{Header, Incoming, NoInner, Sequence, decapsulate_ecn, inner, open, sent_sequence, spi};
use tun_rs::{GROTable, SyncDevice, VIRTIO_NET_HDR_LEN};

use super::Shared;
use super::buffer::ForDevice;
use super::keepalive::KEEPALIVE;
use super::tunnels::{Strand, Table, Tunnel};
use super::udp::Udp;
use crate::associations::{Admission, InboundSa, Receiving};
use crate::control::message::LONGEST;
use crate::counters::add;

/// Maximum number of packets that are opened together.
const BATCH: usize = 128;
/// Number of receive buffers that one system call fills, each with up to 64 packets.
const RECEIVED: usize = 16;

/// The inbound half of a packet thread.
pub(super) struct Inbound {
    received: Vec<Vec<u8>>,
    meta: [RecvMeta; RECEIVED],
    /// Room for packets that are coalesced for the device.
    spares: Vec<Vec<u8>>,
    coalescing: GROTable,
}

/// An ESP packet that passed the checks before verification.
struct Admitted<'a> {
    tunnel: &'a Arc<Tunnel>,
    association: Arc<InboundSa>,
    sequence: Sequence,
    esp: &'a mut [u8],
    /// The byte range of the body in `esp`.
    body: Range<usize>,
    /// The ECN field of the outer IP header.
    ecn: u8,
    /// The source of the datagram if the peer is not known to be there.
    elsewhere: Option<SocketAddr>,
}

/// A packet that was verified and is no replay.
struct Opened<'a> {
    tunnel: &'a Arc<Tunnel>,
    /// The source of the datagram if the peer is not known to be there.
    elsewhere: Option<SocketAddr>,
    /// Whether no packet with a higher number of its association was verified before.
    is_highest: bool,
    inner_bytes: usize,
}

/// The tunnel of the latest packet, with a snapshot of its state for the current batch.
struct Latest<'t> {
    tunnel: &'t Arc<Tunnel>,
    receiving: Arc<Receiving>,
    address: Option<SocketAddr>,
}

/// What the classification of a batch needs.
struct Batch<'t> {
    table: &'t Table,
    shared: &'t Shared,
    /// Whether the datagrams come from other addresses than the only peer's.
    is_stray: bool,
    now: Instant,
    latest: Option<Latest<'t>>,
}

impl Inbound {
    pub(super) fn new(udp: &Udp) -> Self {
        Self {
            received: (0..RECEIVED).map(|_| vec![0; udp.receive_bytes()]).collect(),
            meta: [RecvMeta::default(); RECEIVED],
            spares: vec![Vec::new(); BATCH],
            coalescing: GROTable::default(),
        }
    }

    /// Receives datagrams and delivers their packets. Returns `false` if there were none. `is_stray`: they come from
    /// other addresses than the only peer's.
    pub(super) fn step(&mut self, tun: &SyncDevice, udp: &Udp, shared: &Shared, is_stray: bool) -> bool {
        let Self { received, meta, spares, coalescing } = self;
        let mut slices: ArrayVec<IoSliceMut<'_>, RECEIVED> =
            received.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
        // Errors of datagrams sent earlier are reported here too. They need no handling.
        let Ok(count) = udp.receive(&mut slices, meta) else { return false };
        drop(slices);
        let now = Instant::now();
        let table = shared.tunnels.table();
        let mut device = Device { tun, coalescing };
        let mut batch = Batch { table: &table, shared, is_stray, now, latest: None };
        let mut admitted: ArrayVec<Admitted<'_>, BATCH> = ArrayVec::new();
        for (buffer, meta) in received.iter_mut().zip(&meta[..count]) {
            let ecn = meta.ecn.map_or(0, |ecn| ecn as u8);
            if meta.len == 0 {
                batch.classify(&mut [], meta.addr, ecn);
            }
            for datagram in buffer[..meta.len].chunks_mut(meta.stride.max(1)) {
                admitted.extend(batch.classify(datagram, meta.addr, ecn));
                if admitted.is_full() {
                    deliver(&mut admitted, spares, &mut device, &table, shared, now);
                }
            }
        }
        deliver(&mut admitted, spares, &mut device, &table, shared, now);
        true
    }
}

impl<'t> Batch<'t> {
    /// Classifies a datagram. Returns it if it is an ESP packet that passes the checks before verification; otherwise
    /// counts and consumes it.
    fn classify<'a>(&mut self, datagram: &'a mut [u8], source: SocketAddr, ecn: u8) -> Option<Admitted<'a>>
    where
        't: 'a,
    {
        let counters = &self.shared.counters;
        if datagram == KEEPALIVE {
            add(&counters.in_datagrams, 1);
            add(&counters.in_keepalives, 1);
            return None;
        }
        match (spi(datagram), sent_sequence(datagram)) {
            (Some(0), _) => {
                add(&counters.in_datagrams, 1);
                add(&counters.in_control, 1);
                let is_taken = datagram.len() <= LONGEST && self.shared.mail.send(datagram, source);
                add(&counters.control_overrun, usize::from(!is_taken));
                None
            }
            (Some(spi), Some(sent)) => self.admit(datagram, spi, sent, source, ecn),
            _ => {
                add(&counters.in_datagrams, 1);
                add(&counters.in_dropped_malformed, 1);
                None
            }
        }
    }

    /// Finds the association of an ESP packet, and checks limits and window. Counts and drops what does not pass.
    fn admit<'a>(
        &mut self,
        datagram: &'a mut [u8],
        spi: u32,
        sent: u32,
        source: SocketAddr,
        ecn: u8,
    ) -> Option<Admitted<'a>>
    where
        't: 'a,
    {
        let (shared, now, is_stray) = (self.shared, self.now, self.is_stray);
        let latest = self.latest(spi);
        let Some((latest, found)) = latest.and_then(|latest| Some((latest, latest.receiving.get(&spi)?)))
        else {
            add(&shared.counters.in_datagrams, 1);
            add(&shared.counters.in_dropped_unknown_spi, 1);
            return None;
        };
        let tunnel = latest.tunnel;
        let counters = &tunnel.strands[shared.thread].counters;
        add(&counters.in_datagrams, 1);
        let Some(body) = found.suite.layout().body(datagram.len()) else {
            add(&counters.in_dropped_malformed, 1);
            return None;
        };
        match found.admit(sent, now) {
            Admission::New(sequence) => {
                let is_elsewhere = is_stray || latest.address.is_some_and(|address| address != source);
                let elsewhere = is_elsewhere.then_some(source);
                let association = found.clone();
                return Some(Admitted { tunnel, association, sequence, esp: datagram, body, ecn, elsewhere });
            }
            Admission::Replayed => add(&counters.in_dropped_replayed, 1),
            Admission::Expired => add(&counters.in_dropped_expired, 1),
        }
        None
    }

    /// Returns the tunnel whose packets may have this SPI.
    fn latest(&mut self, spi: u32) -> Option<&Latest<'t>> {
        let tunnel = self.table.with_spi(spi)?;
        if self.latest.as_ref().is_none_or(|latest| latest.tunnel.slot != tunnel.slot) {
            let receiving = tunnel.associations.receiving();
            let address = tunnel.strands[self.shared.thread].address();
            self.latest = Some(Latest { tunnel, receiving, address });
        }
        self.latest.as_ref()
    }
}

/// Where inner packets go.
trait Sink {
    /// Writes the packets, each after the room for a virtio header. Returns whether they were accepted.
    fn write(&mut self, packets: &mut [ForDevice<'_>]) -> bool;
}

/// The device, and what it needs to coalesce packets.
struct Device<'a> {
    tun: &'a SyncDevice,
    coalescing: &'a mut GROTable,
}

impl Sink for Device<'_> {
    fn write(&mut self, packets: &mut [ForDevice<'_>]) -> bool {
        // The device does not report how many packets it accepted.
        self.tun.send_multiple(self.coalescing, packets, VIRTIO_NET_HDR_LEN).is_ok()
    }
}

/// Opens packets and delivers those that verify.
fn deliver(
    admitted: &mut ArrayVec<Admitted<'_>, BATCH>,
    spares: &mut [Vec<u8>],
    sink: &mut impl Sink,
    table: &Table,
    shared: &Shared,
    now: Instant,
) {
    let mut incoming: ArrayVec<Incoming<'_>, BATCH> = admitted
        .iter_mut()
        .map(|Admitted { association, sequence, esp, .. }| Incoming::new(&association.suite, *sequence, esp))
        .collect();
    if let Err(error) = open(&mut incoming) {
        // No packet is marked as verified.
        tracing::error!("opening failed: {error}");
    }
    let verified: ArrayVec<bool, BATCH> = incoming.iter().map(Incoming::is_verified).collect();
    drop(incoming);

    let mut good: ArrayVec<Opened<'_>, BATCH> = ArrayVec::new();
    let mut packets: ArrayVec<ForDevice<'_>, BATCH> = ArrayVec::new();
    for ((packet, is_verified), spare) in admitted.drain(..).zip(verified).zip(spares) {
        match unwrap(packet, is_verified, table, shared) {
            Ok((opened, packet)) => {
                good.push(opened);
                packets.push(ForDevice::new(packet, spare));
            }
            Err(dropped) => add(dropped, 1),
        }
    }
    if !good.is_empty() {
        write(&good, &mut packets, sink, shared, now);
    }
}

/// Writes inner packets to the device. `good` are the packets that contained them, in the same order. Reports peers whose
/// latest packets came from elsewhere.
fn write(
    good: &[Opened<'_>],
    packets: &mut [ForDevice<'_>],
    sink: &mut impl Sink,
    shared: &Shared,
    now: Instant,
) {
    let is_accepted = sink.write(packets);
    for run in good.chunk_by(|one, next| one.tunnel.slot == next.tunnel.slot) {
        let tunnel = run[0].tunnel;
        let Strand { counters, activity, .. } = &tunnel.strands[shared.thread];
        activity.note_received(now);
        if is_accepted {
            add(&counters.in_delivered, run.len());
            add(&counters.in_delivered_bytes, run.iter().map(|opened| opened.inner_bytes).sum());
        } else {
            add(&counters.in_dropped_undelivered, run.len());
        }
        // A packet that was overtaken may have been withheld.
        let latest = run.iter().rfind(|opened| opened.is_highest);
        if let Some(source) = latest.and_then(|latest| latest.elsewhere) {
            shared.mail.report_move(shared.thread, tunnel.slot, source);
        }
    }
}

/// Checks an opened packet and propagates its ECN field. Returns the inner packet after room for the virtio header, or
/// the counter of the drop.
fn unwrap<'a>(
    packet: Admitted<'a>,
    is_verified: bool,
    table: &Table,
    shared: &Shared,
) -> Result<(Opened<'a>, &'a mut [u8]), &'a AtomicU64> {
    let Admitted { tunnel, association, sequence, esp, body, ecn, elsewhere } = packet;
    let counters = &tunnel.strands[shared.thread].counters;
    if !is_verified {
        return Err(&counters.in_dropped_forged);
    }
    // Not before verification: a forged packet must not move the window (RFC 4303, section 3.4.3).
    let is_highest = association.accept(sequence).ok_or(&counters.in_dropped_replayed)?;
    let inner = inner(&esp[body.clone()]).map_err(|why| match why {
        NoInner::Dummy => &counters.in_dropped_dummy,
        NoInner::Malformed => &counters.in_dropped_malformed,
    })?;
    let is_allowed = |source| table.is_allowed(tunnel, source);
    if table.only().is_none() && !source(inner).is_some_and(is_allowed) {
        return Err(&counters.in_dropped_other_source);
    }
    let inner_bytes = inner.len();
    // The virtio header replaces the end of the ESP header and the IV, which together are longer.
    let packet = &mut esp[body.start - VIRTIO_NET_HDR_LEN..body.start + inner_bytes];
    decapsulate_ecn(ecn, &mut packet[VIRTIO_NET_HDR_LEN..]).map_err(|_| &counters.in_dropped_congestion)?;
    Ok((Opened { tunnel, elsewhere, is_highest, inner_bytes }, packet))
}

/// Returns the source address of an inner packet.
fn source(inner: &[u8]) -> Option<IpAddr> {
    Some(match Header::parse(inner)? {
        Header::V4(header) => header.source_addr().into(),
        Header::V6(header) => header.source_addr().into(),
    })
}
