//! What became of the packets, counted.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

macro_rules! counters {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Counters that one thread writes and any reads.
        #[derive(Debug, Default)]
        pub struct Counters {
            $($(#[$doc])* pub $field: AtomicU64,)*
        }

        /// Their values at some time.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Counts {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl Counters {
            /// Adds their values to `counts`.
            pub fn add_to(&self, counts: &mut Counts) {
                $(counts.$field += self.$field.load(Ordering::Relaxed);)*
            }
        }

        impl Counts {
            /// Each with its name.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($field), self.$field),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Packets that came from the TUN device.
    out_packets,
    /// Of these: sealed and handed to the network.
    out_sent,
    /// Bytes of those, as inner packets.
    out_sent_bytes,
    /// Of `out_packets`: no key was there to seal them under, or the key was past a limit.
    out_dropped_no_key,
    /// Of `out_packets`: longer than the path carries. Their senders were told.
    out_dropped_too_long,
    /// Of `out_packets`: neither IPv4 nor IPv6.
    out_dropped_not_ip,
    /// Of `out_packets`: the network did not take them.
    out_dropped_unsent,
    /// Datagrams that came from the other end's address, each segment of a coalesced one for itself.
    in_datagrams,
    /// Of these: of one byte, which keep a NAT's mapping alive (RFC 3948, section 2.3).
    in_keepalives,
    /// Of these: control messages, or what begins like one.
    in_control,
    /// Of these: delivered to the TUN device.
    in_delivered,
    /// Bytes of those, as inner packets.
    in_delivered_bytes,
    /// Of `in_datagrams`: no association has their SPI.
    in_dropped_unknown_spi,
    /// Of `in_datagrams`: their length, trailer or inner packet cannot be right.
    in_dropped_malformed,
    /// Of `in_datagrams`: their number came before, or is too old to tell.
    in_dropped_replayed,
    /// Of `in_datagrams`: their ICV is wrong.
    in_dropped_forged,
    /// Of `in_datagrams`: under a key past its limit.
    in_dropped_expired,
    /// Of `in_datagrams`: dummies.
    in_dropped_dummy,
    /// Of `in_datagrams`: marked by congestion where the inner flow knows no marks (RFC 6040).
    in_dropped_congestion,
    /// Of `in_datagrams`: the TUN device did not take them.
    in_dropped_undelivered,
    /// Of `in_control`: thrown away unread, since too many came at once.
    control_overrun,
}

/// Adds to a counter of which this thread is the only writer.
pub fn add(counter: &AtomicU64, count: usize) {
    counter.store(counter.load(Ordering::Relaxed) + count as u64, Ordering::Relaxed);
}

impl Counts {
    /// What left the TUN device and is not accounted for: packets at work at this moment, and else none.
    pub fn outbound_rest(&self) -> i128 {
        let dropped = [
            self.out_dropped_no_key,
            self.out_dropped_too_long,
            self.out_dropped_not_ip,
            self.out_dropped_unsent,
        ];
        i128::from(self.out_packets)
            - i128::from(self.out_sent)
            - dropped.map(i128::from).iter().sum::<i128>()
    }

    /// What came from the network and is not accounted for, likewise.
    pub fn inbound_rest(&self) -> i128 {
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
            self.in_dropped_undelivered,
        ];
        i128::from(self.in_datagrams) - accounted.map(i128::from).iter().sum::<i128>()
    }
}
