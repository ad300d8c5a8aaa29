//! NAT keepalives (RFC 3948, section 4), which keep the mappings of a NAT between the ends.
//!
//! Every packet thread has its own socket, and therefore its own mapping.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use super::Activity;

/// A NAT keepalive: a datagram of one byte, which the receiver drops (RFC 3948, section 2.3).
pub(super) const KEEPALIVE: &[u8] = &[0xff];

/// Sends a keepalive to the peer with this activity if nothing was sent to it for `interval`: to the given address,
/// or to that which the socket is connected to. Returns whether it did.
pub fn send_nat_keepalive(
    socket: &UdpSocket,
    address: Option<SocketAddr>,
    activity: &Activity,
    interval: Duration,
    now: Instant,
) -> bool {
    if now < activity.sent() + interval {
        return false;
    }
    activity.note_sent(now);
    match address {
        Some(address) => socket.send_to(KEEPALIVE, address).is_ok(),
        None => socket.send(KEEPALIVE).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keepalive_follows_each_interval_without_traffic() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = receiver.local_addr().unwrap();
        let connected = UdpSocket::bind("127.0.0.1:0").unwrap();
        connected.connect(address).unwrap();
        let shared = UdpSocket::bind("127.0.0.1:0").unwrap();
        for (socket, address) in [(connected, None), (shared, Some(address))] {
            let (start, interval) = (Instant::now(), Duration::from_secs(20));
            let activity = Activity::new(start);
            let at = |seconds| start + Duration::from_secs(seconds);
            let due = |seconds| send_nat_keepalive(&socket, address, &activity, interval, at(seconds));
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
}
