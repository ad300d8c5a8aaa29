//! NAT keepalives (RFC 3948, section 4), which keep the mappings of a NAT between the ends.
//!
//! Every packet thread has its own socket, and therefore its own mapping.

use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Activity;

/// A NAT keepalive: a datagram of one byte, which the receiver drops (RFC 3948, section 2.3).
pub(super) const KEEPALIVE: &[u8] = &[0xff];

/// Sends NAT keepalives through the socket of one packet thread while nothing else is sent.
pub struct NatKeepalive {
    socket: UdpSocket,
    activity: Arc<Activity>,
}

impl NatKeepalive {
    /// Creates the sender for the socket of the thread with this activity.
    pub fn new(socket: UdpSocket, activity: Arc<Activity>) -> Self {
        Self { socket, activity }
    }

    /// Sends a keepalive if nothing was sent for `interval`. Returns whether it did.
    pub fn send_if_due(&self, interval: Duration, now: Instant) -> bool {
        if now < self.activity.sent() + interval {
            return false;
        }
        self.activity.note_sent(now);
        self.socket.send(KEEPALIVE).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keepalive_follows_each_interval_without_traffic() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(receiver.local_addr().unwrap()).unwrap();
        let (start, interval) = (Instant::now(), Duration::from_secs(20));
        let activity = Arc::new(Activity::new(start));
        let keepalive = NatKeepalive::new(socket, activity.clone());
        let at = |seconds| start + Duration::from_secs(seconds);
        let due = |seconds| keepalive.send_if_due(interval, at(seconds));
        assert!(!due(19) && due(20) && !due(21) && !due(39) && due(40));
        activity.note_sent(at(55));
        assert!(!due(60) && !due(74) && due(75));
        let mut buffer = [0; 10];
        for _ in 0..3 {
            assert_eq!(receiver.recv(&mut buffer).unwrap(), 1);
            assert_eq!(&buffer[..1], KEEPALIVE);
        }
    }
}
