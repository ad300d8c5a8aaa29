//! From the network to the TUN device.

use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use arrayvec::ArrayVec;
use quinn_udp::RecvMeta;
use sealcomb_esp::{Incoming, NoInner, Sequence, decapsulate_ecn, inner, open, sent_sequence, spi};
use tun_rs::{GROTable, SyncDevice, VIRTIO_NET_HDR_LEN};

use super::buffer::Buffer;
use super::keepalive::KEEPALIVE;
use super::udp::Udp;
use super::{Input, Shared};
use crate::associations::{Admission, InboundSa, Receiving};
use crate::control::message::LONGEST;
use crate::counters::{Counters, add};

/// Maximum number of packets that are opened together.
const BATCH: usize = 128;
/// Number of receive buffers that one system call fills, each with up to 64 packets.
const RECEIVED: usize = 16;
/// Offset of a packet in its buffer, after the virtio header that the device requires.
const AT: usize = VIRTIO_NET_HDR_LEN;

/// The inbound half of a packet thread.
pub(super) struct Inbound {
    received: Vec<Vec<u8>>,
    meta: [RecvMeta; RECEIVED],
    /// Opened packets, to be written to the device.
    buffers: Vec<Buffer>,
    table: GROTable,
}

/// An ESP packet that passed the checks before verification.
struct Admitted<'a> {
    association: Arc<InboundSa>,
    sequence: Sequence,
    esp: &'a mut [u8],
    /// The ECN field of the outer IP header.
    ecn: u8,
}

impl Inbound {
    pub(super) fn new(udp: &Udp) -> Self {
        Self {
            received: (0..RECEIVED).map(|_| vec![0; udp.receive_bytes()]).collect(),
            meta: [RecvMeta::default(); RECEIVED],
            buffers: (0..BATCH).map(|_| Buffer::new(2048)).collect(),
            table: GROTable::default(),
        }
    }

    /// Receives datagrams and delivers their packets. Returns `false` if there were none. `is_stray`: they come from
    /// other addresses than the peer's, so those with verified packets are reported.
    pub(super) fn step(&mut self, tun: &SyncDevice, udp: &Udp, shared: &Shared, is_stray: bool) -> bool {
        let Self { received, meta, buffers, table } = self;
        let mut slices: ArrayVec<IoSliceMut<'_>, RECEIVED> =
            received.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
        // Errors of datagrams sent earlier are reported here too. They need no handling.
        let Ok(count) = udp.receive(&mut slices, meta) else { return false };
        drop(slices);
        let now = Instant::now();
        let receiving = shared.associations.receiving();
        let mut admitted: ArrayVec<Admitted<'_>, BATCH> = ArrayVec::new();
        for (buffer, meta) in received.iter_mut().zip(&meta[..count]) {
            let ecn = meta.ecn.map_or(0, |ecn| ecn as u8);
            for datagram in buffer[..meta.len].chunks_mut(meta.stride.max(1)) {
                admitted.extend(classify(datagram, meta.addr, ecn, &receiving, shared, now));
                if admitted.is_full() {
                    deliver(&mut admitted, buffers, table, tun, shared, now);
                }
            }
            if is_stray && deliver(&mut admitted, buffers, table, tun, shared, now) > 0 {
                // Dropped if the queue is full: another packet follows.
                let _ = shared.control.try_send(Input::Moved(shared.lane, meta.addr));
            }
        }
        deliver(&mut admitted, buffers, table, tun, shared, now);
        true
    }
}

/// Classifies a datagram. Returns it if it is an ESP packet that passes the checks before verification; otherwise
/// counts and consumes it.
fn classify<'a>(
    datagram: &'a mut [u8],
    source: SocketAddr,
    ecn: u8,
    receiving: &Receiving,
    shared: &Shared,
    now: Instant,
) -> Option<Admitted<'a>> {
    let counters = &shared.counters;
    add(&counters.in_datagrams, 1);
    if datagram == KEEPALIVE {
        add(&counters.in_keepalives, 1);
        return None;
    }
    let dropped = match (spi(datagram), sent_sequence(datagram)) {
        (Some(0), _) => {
            add(&counters.in_control, 1);
            let is_taken = datagram.len() <= LONGEST
                && shared.control.try_send(Input::Message(datagram.to_vec(), source)).is_ok();
            add(&counters.control_overrun, usize::from(!is_taken));
            return None;
        }
        (Some(spi), Some(sent)) => match receiving.get(&spi) {
            None => &counters.in_dropped_unknown_spi,
            Some(found) if found.suite.layout().body_bytes(datagram.len()).is_none() => {
                &counters.in_dropped_malformed
            }
            Some(found) => match found.admit(sent, now) {
                Admission::New(sequence) => {
                    return Some(Admitted { association: found.clone(), sequence, esp: datagram, ecn });
                }
                Admission::Replayed => &counters.in_dropped_replayed,
                Admission::Expired => &counters.in_dropped_expired,
            },
        },
        _ => &counters.in_dropped_malformed,
    };
    add(dropped, 1);
    None
}

/// Opens packets and writes the verified inner packets to the device. Returns their number.
fn deliver(
    admitted: &mut ArrayVec<Admitted<'_>, BATCH>,
    buffers: &mut [Buffer],
    table: &mut GROTable,
    tun: &SyncDevice,
    shared: &Shared,
    now: Instant,
) -> usize {
    let counters = &shared.counters;
    let mut incoming: ArrayVec<Incoming<'_>, BATCH> = ArrayVec::new();
    for (Admitted { association, sequence, esp, .. }, buffer) in admitted.iter_mut().zip(buffers.iter_mut()) {
        let Some(bytes) = association.suite.layout().body_bytes(esp.len()) else { continue };
        buffer.set_len(AT + bytes);
        incoming.push(Incoming::new(&association.suite, *sequence, esp, &mut buffer.as_mut()[AT..]));
    }
    if let Err(error) = open(&mut incoming) {
        tracing::error!("opening failed: {error}");
    }
    let verified: ArrayVec<bool, BATCH> = incoming.iter().map(Incoming::is_verified).collect();
    drop(incoming);

    let (mut count, mut bytes) = (0, 0);
    for (i, (packet, is_verified)) in admitted.iter().zip(verified).enumerate() {
        let buffer = &mut buffers[i];
        match unwrap(packet, is_verified, &mut buffer.as_mut()[AT..], counters) {
            Ok(len) => {
                buffer.set_len(AT + len);
                bytes += len;
                buffers.swap(count, i);
                count += 1;
            }
            Err(dropped) => add(dropped, 1),
        }
    }
    admitted.clear();
    if count == 0 {
        return 0;
    }
    shared.activity.note_received(now);
    match tun.send_multiple(table, &mut buffers[..count], AT) {
        Ok(_) => {
            add(&counters.in_delivered, count);
            add(&counters.in_delivered_bytes, bytes);
        }
        // The device does not report how many packets it accepted.
        Err(_) => add(&counters.in_dropped_undelivered, count),
    }
    count
}

/// Checks an opened packet and propagates its ECN field. Returns the size in bytes of the inner packet at the start
/// of `body`, or the counter of the drop.
fn unwrap<'c>(
    packet: &Admitted<'_>,
    is_verified: bool,
    body: &mut [u8],
    counters: &'c Counters,
) -> Result<usize, &'c std::sync::atomic::AtomicU64> {
    if !is_verified {
        return Err(&counters.in_dropped_forged);
    }
    // Not before verification: a forged packet must not move the window (RFC 4303, section 3.4.3).
    if !packet.association.accept(packet.sequence) {
        return Err(&counters.in_dropped_replayed);
    }
    let len = inner(body).map(<[u8]>::len).map_err(|why| match why {
        NoInner::Dummy => &counters.in_dropped_dummy,
        NoInner::Malformed => &counters.in_dropped_malformed,
    })?;
    decapsulate_ecn(packet.ecn, &mut body[..len]).map_err(|_| &counters.in_dropped_congestion)?;
    Ok(len)
}
