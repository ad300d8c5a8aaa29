//! Packet counters.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

macro_rules! counters {
    ($($(#[doc = $doc:literal])* $field:ident,)*) => {
        /// Counters of one packet thread, for a peer or for packets of no peer. Only that thread writes them; any
        /// thread may read them.
        #[derive(Debug, Default)]
        pub struct Counters {
            $($(#[doc = $doc])* pub $field: AtomicU64,)*
        }

        /// A snapshot of the counters' values.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Counts {
            $($(#[doc = $doc])* pub $field: u64,)*
        }

        impl Counters {
            /// Adds the current values to `counts`.
            pub fn add_to(&self, counts: &mut Counts) {
                $(counts.$field += self.$field.load(Ordering::Relaxed);)*
            }
        }

        impl Counts {
            /// Iterates over the counters' names and values.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($field), self.$field),)*].into_iter()
            }

            /// Adds other counts.
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            /// Returns the counters' descriptions, in the order of [`Self::named`].
            pub fn descriptions() -> impl Iterator<Item = &'static str> {
                [$(concat!($($doc),*),)*].into_iter().map(str::trim)
            }
        }
    };
}

counters! {
    /// Packets read from the TUN device, including those in `out_dropped_unreadable`.
    out_packets,
    /// Packets sealed and sent.
    out_sent,
    /// Bytes of the inner packets in `out_sent`.
    out_sent_bytes,
    /// Packets dropped because there was no key, or the key was past a hard limit.
    out_dropped_no_key,
    /// Packets dropped because the peer is dead.
    out_dropped_peer_dead,
    /// Packets dropped because they exceed the path MTU. Packets found too long before sealing are answered with
    /// ICMP.
    out_dropped_too_long,
    /// Packets dropped because they are neither IPv4 nor IPv6.
    out_dropped_not_ip,
    /// Packets dropped because no peer has a prefix with their destination.
    out_dropped_no_peer,
    /// Packets dropped because sealing or sending failed.
    out_dropped_unsent,
    /// Packets dropped because they are longer than the MTU that the TUN device had at the start, or because they
    /// cannot be divided into segments. Undivided packets count as one.
    out_dropped_unreadable,
    /// Datagrams received, from any address. Segments of a coalesced datagram count individually.
    in_datagrams,
    /// NAT keepalives (RFC 3948, section 2.3).
    in_keepalives,
    /// Datagrams that begin like a control message.
    in_control,
    /// Packets delivered to the TUN device.
    in_delivered,
    /// Bytes of the inner packets in `in_delivered`.
    in_delivered_bytes,
    /// Datagrams dropped because no association has their SPI.
    in_dropped_unknown_spi,
    /// Datagrams dropped because their length, trailer, or inner packet is invalid.
    in_dropped_malformed,
    /// Packets dropped as replays, or as older than the window.
    in_dropped_replayed,
    /// Packets dropped because their ICV does not verify.
    in_dropped_forged,
    /// Packets dropped because their key is past a hard limit.
    in_dropped_expired,
    /// Dummy packets (RFC 4303, section 2.6), which are dropped.
    in_dropped_dummy,
    /// Packets dropped because they are marked as having experienced congestion while the inner packet does not
    /// support ECN (RFC 6040).
    in_dropped_congestion,
    /// Packets dropped because their source is not in the prefixes of their peer.
    in_dropped_other_source,
    /// Packets that the TUN device did not accept.
    in_dropped_undelivered,
    /// Datagrams among `in_control` dropped unread, because they are too long or too many were queued.
    control_overrun,
}

/// Adds to a counter. Only the counter's own thread may call it.
pub fn add(counter: &AtomicU64, count: usize) {
    counter.store(counter.load(Ordering::Relaxed) + count as u64, Ordering::Relaxed);
}

impl Counts {
    /// Returns the outbound packets counted in no category. Nonzero only while packets are being processed.
    pub fn unaccounted_out(&self) -> i128 {
        let dropped = [
            self.out_dropped_no_key,
            self.out_dropped_peer_dead,
            self.out_dropped_too_long,
            self.out_dropped_not_ip,
            self.out_dropped_no_peer,
            self.out_dropped_unsent,
            self.out_dropped_unreadable,
        ];
        i128::from(self.out_packets)
            - i128::from(self.out_sent)
            - dropped.map(i128::from).iter().sum::<i128>()
    }

    /// Returns the inbound datagrams counted in no category. Nonzero only while datagrams are being processed.
    pub fn unaccounted_in(&self) -> i128 {
        let accounted = [
            self.in_keepalives,
            self.in_control,
            self.in_delivered,
            self.in_dropped_unknown_spi,
            self.in_dropped_malformed,
            self.in_dropped_replayed,
            self.in_dropped_forged,
            self.in_dropped_expired,
            self.in_dropped_dummy,
            self.in_dropped_congestion,
            self.in_dropped_other_source,
            self.in_dropped_undelivered,
        ];
        i128::from(self.in_datagrams) - accounted.map(i128::from).iter().sum::<i128>()
    }
}
