//! The UDP socket to the peers, with segmentation offload (GSO) on sending and coalescing (GRO) on receiving.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use arrayvec::ArrayVec;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg};
use quinn_udp::{RecvMeta, UdpSocketState};
use rustix::net::connect_unspec;
use rustix::net::sockopt::{ip_mtu, ipv6_mtu};
use socket2::{Domain, Socket, Type};

/// Maximum number of segments per send (the kernel's `UDP_MAX_SEGMENTS`).
const SEGMENTS: usize = 64;
/// Maximum size in bytes of a send: the largest IPv4 packet less IP and UDP headers.
const MAX_BYTES: usize = 65_507;
/// Requested size in bytes of the socket's send and receive buffers.
const QUEUE_BYTES: usize = 4 << 20;

/// A socket on this end's port.
///
/// With a single peer, there are two of them: one connected to the peer, which carries all traffic while the peer
/// stays where it is, and one that receives what the kernel does not deliver to the first: datagrams from other
/// addresses, which is how a peer that moved is found. With several peers, one socket serves all of them.
pub struct Udp {
    socket: UdpSocket,
    state: UdpSocketState,
    /// Whether the outer packets are IPv4; IPv6 otherwise.
    pub is_v4: bool,
    /// Maximum number of segments per send; 1 without GSO.
    segments: usize,
}

/// A datagram to send.
pub struct Datagram<'a> {
    /// The UDP payload.
    pub bytes: &'a [u8],
    /// Size in bytes of the inner packet that it carries.
    pub inner_bytes: usize,
    /// TOS or traffic class of the outer IP packet.
    pub class: u8,
}

/// The outcome of sending datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Number of datagrams sent.
    pub sent: usize,
    /// Bytes of the inner packets in the datagrams sent.
    pub sent_bytes: usize,
    /// Number of datagrams that exceed the path MTU.
    pub too_long: usize,
    /// Number of datagrams not sent because of other errors.
    pub unsent: usize,
}

impl Sent {
    fn add(&mut self, sent: &[Datagram<'_>]) {
        self.sent += sent.len();
        self.sent_bytes += sent.iter().map(|datagram| datagram.inner_bytes).sum::<usize>();
    }
}

impl Udp {
    /// Opens the socket to the peer, connected if its address is known and there is a route to it, and the socket for
    /// other addresses.
    ///
    /// # Errors
    /// An error of the operating system; `AddrInUse` if any process uses the port.
    pub fn open_pair(local: SocketAddr, peer: Option<SocketAddr>) -> io::Result<(Self, Self)> {
        // Two links could share a port without an error, since both would set SO_REUSEPORT.
        Socket::new(Domain::for_address(local), Type::DGRAM, None)?.bind(&local.into())?;
        let open = || -> io::Result<Self> { Self::open(local) };
        let (main, stray) = (open()?, open()?);
        if let Some(peer) = peer {
            // Without a route, such as before an interface is up, the control task connects it later.
            let _ = main.socket.connect(peer);
        }
        Ok((main, stray))
    }

    /// Opens a socket for several peers.
    ///
    /// # Errors
    /// An error of the operating system; `AddrInUse` if any process uses the port.
    pub fn open_shared(local: SocketAddr) -> io::Result<Self> {
        Socket::new(Domain::for_address(local), Type::DGRAM, None)?.bind(&local.into())?;
        Self::open(local)
    }

    fn open(local: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(local), Type::DGRAM, None)?;
        // Best effort: the system limits the size.
        let _ = socket.set_send_buffer_size(QUEUE_BYTES);
        let _ = socket.set_recv_buffer_size(QUEUE_BYTES);
        socket.set_reuse_port(true)?;
        socket.bind(&local.into())?;
        let socket = UdpSocket::from(socket);
        let state = UdpSocketState::new((&socket).into())?;
        let segments = state.max_gso_segments().min(SEGMENTS);
        Ok(Self { socket, state, is_v4: local.is_ipv4(), segments })
    }

    /// Duplicates the socket, for sending control messages.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn for_control(&self) -> io::Result<UdpSocket> {
        self.socket.try_clone()
    }

    /// Opens a socket that is only asked for the path MTU to several peers.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn open_unbound(is_v4: bool) -> io::Result<UdpSocket> {
        let domain = if is_v4 { Domain::IPV4 } else { Domain::IPV6 };
        Ok(Socket::new(domain, Type::DGRAM, None)?.into())
    }

    /// Returns the kernel's path MTU to the peer in bytes: that of its interface, or less after ICMP (RFC 1191, RFC
    /// 8201). The latter expires after some minutes. Returns `None` if it is unknown or exceeds the size of an IP
    /// packet.
    pub fn path_mtu(&self) -> Option<u16> {
        path_mtu(&self.socket, self.is_v4)
    }

    /// Receives into the buffers without blocking. Each buffer may receive several coalesced datagrams of equal size,
    /// as `meta` describes. Returns the number of filled buffers.
    ///
    /// # Errors
    /// `WouldBlock` if there are no datagrams, or another error of the operating system.
    pub fn receive(&self, buffers: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta]) -> io::Result<usize> {
        self.state.recv((&self.socket).into(), buffers, meta)
    }

    /// Returns the size in bytes of a buffer for `receive`.
    pub fn receive_bytes(&self) -> usize {
        1 << 16
    }

    /// Sends datagrams in order, to the given address or to that which the socket is connected to. Consecutive
    /// datagrams of equal size and class share a system call.
    pub fn send(&mut self, datagrams: &[Datagram<'_>], to: Option<SocketAddr>) -> Sent {
        let to = to.map(SockaddrStorage::from);
        let mut outcome = Sent::default();
        let mut rest = datagrams;
        while !rest.is_empty() {
            let count = coalescible(rest, self.segments);
            let (together, others) = rest.split_at(count);
            match self.send_together(together, to.as_ref()) {
                Ok(()) => outcome.add(together),
                // The network device does not support GSO.
                Err(Errno::EIO) if count > 1 => {
                    self.segments = 1;
                    continue;
                }
                // Either error means that the segments exceed the path MTU.
                Err(Errno::EMSGSIZE | Errno::EINVAL) if count > 1 => {
                    self.one_by_one(together, to.as_ref(), &mut outcome);
                }
                Err(Errno::EMSGSIZE) => outcome.too_long += 1,
                Err(_) => outcome.unsent += count,
            }
            rest = others;
        }
        outcome
    }

    fn one_by_one(&self, datagrams: &[Datagram<'_>], to: Option<&SockaddrStorage>, outcome: &mut Sent) {
        for one in datagrams.chunks(1) {
            match self.send_together(one, to) {
                Ok(()) => outcome.add(one),
                Err(Errno::EMSGSIZE) => outcome.too_long += 1,
                Err(_) => outcome.unsent += 1,
            }
        }
    }

    fn send_together(&self, datagrams: &[Datagram<'_>], to: Option<&SockaddrStorage>) -> Result<(), Errno> {
        /// The kernel may first report an error of an earlier datagram, which anybody can cause by ICMP, and a full
        /// queue drains over time.
        const TRIES: usize = 8;
        let parts: ArrayVec<IoSlice<'_>, SEGMENTS> =
            datagrams.iter().map(|datagram| IoSlice::new(datagram.bytes)).collect();
        let bytes = datagrams[0].bytes.len() as u16;
        let class = datagrams[0].class;
        let class_v6 = i32::from(class);
        let mut control: ArrayVec<ControlMessage<'_>, 2> = ArrayVec::new();
        if datagrams.len() > 1 {
            control.push(ControlMessage::UdpGsoSegments(&bytes));
        }
        if class != 0 {
            control.push(if self.is_v4 {
                ControlMessage::Ipv4Tos(&class)
            } else {
                ControlMessage::Ipv6TClass(&class_v6)
            });
        }
        let mut outcome = Err(Errno::EAGAIN);
        for _ in 0..TRIES {
            let before = outcome;
            outcome = sendmsg(self.socket.as_raw_fd(), &parts, &control, MsgFlags::MSG_DONTWAIT, to);
            match outcome {
                Ok(_) => return Ok(()),
                Err(Errno::EAGAIN) => self.wait_until_writable(),
                Err(Errno::ECONNREFUSED | Errno::EINTR) => {}
                Err(error) if before == Err(error) => return Err(error),
                Err(_) => {}
            }
        }
        outcome.map(|_| ())
    }

    /// Waits up to 50 ms until the socket is writable. This is backpressure: nothing is read from the device
    /// meanwhile.
    fn wait_until_writable(&self) {
        const MILLISECONDS: u8 = 50;
        let mut fds = [PollFd::new(self.socket.as_fd(), PollFlags::POLLOUT)];
        let _ = poll(&mut fds, PollTimeout::from(MILLISECONDS));
    }
}

impl AsFd for Udp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Returns the kernel's path MTU to an address in bytes, as [`Udp::path_mtu`] does, by a socket that is used for
/// nothing else.
pub fn path_mtu_to(probe: &UdpSocket, address: SocketAddr) -> Option<u16> {
    probe.connect(address).ok()?;
    path_mtu(probe, address.is_ipv4())
}

fn path_mtu(socket: &UdpSocket, is_v4: bool) -> Option<u16> {
    let known = if is_v4 { ip_mtu(socket) } else { ipv6_mtu(socket) };
    known.ok()?.try_into().ok()
}

/// Connects a socket to another address of the peer. The kernel then chooses another source address if it must, so
/// this also helps after a change of this end's own address.
///
/// # Errors
/// An error of the operating system, such as a missing route. The socket is then not connected.
pub fn reconnect(socket: &UdpSocket, peer: SocketAddr) -> io::Result<()> {
    connect_unspec(socket)?;
    socket.connect(peer)
}

/// Returns how many datagrams, from the first, can share a system call: they have equal class and size, except that
/// the last may be shorter.
fn coalescible(datagrams: &[Datagram<'_>], segments: usize) -> usize {
    let first = &datagrams[0];
    let len = first.bytes.len().max(1);
    let max = segments.min(MAX_BYTES / len).max(1);
    let mut count = 1;
    for datagram in datagrams.iter().take(max).skip(1) {
        if datagram.class != first.class || datagram.bytes.len() > len {
            break;
        }
        count += 1;
        if datagram.bytes.len() < len {
            break;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(lengths: &[(usize, u8)], segments: usize) -> Vec<usize> {
        let bytes = [0; 2000];
        let datagrams: Vec<Datagram<'_>> = lengths
            .iter()
            .map(|(len, class)| Datagram { bytes: &bytes[..*len], inner_bytes: 1, class: *class })
            .collect();
        let mut rest = &datagrams[..];
        let mut runs = Vec::new();
        while !rest.is_empty() {
            runs.push(coalescible(rest, segments));
            rest = &rest[runs[runs.len() - 1]..];
        }
        runs
    }

    #[test]
    fn datagrams_of_equal_size_are_coalesced_up_to_a_shorter_one() {
        assert_eq!(runs(&[(100, 0), (100, 0), (60, 0), (100, 0), (120, 0), (120, 0)], 64), [3, 1, 2]);
        assert_eq!(runs(&[(100, 0), (100, 8), (100, 8)], 64), [1, 2]);
        assert_eq!(runs(&[(100, 0); 5], 2), [2, 2, 1]);
        assert_eq!(runs(&[(1400, 0); 50], 64), [46, 4], "limited by the size of an IP packet");
    }

    fn connected(local: SocketAddr, receiver: &UdpSocket) -> Udp {
        let udp = Udp::open(local).unwrap();
        udp.socket.connect(receiver.local_addr().unwrap()).unwrap();
        udp
    }

    /// Returns a free address of the loopback interface.
    fn free() -> SocketAddr {
        UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }

    #[test]
    fn the_peer_and_all_others_arrive_at_different_sockets() {
        let local = free();
        let ends = [(); 3].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        let peers = ends.each_ref().map(|end| end.local_addr().unwrap());
        let (main, stray) = Udp::open_pair(local, None).unwrap();
        for turn in [0, 1, 2, 0] {
            reconnect(&main.socket, peers[turn]).unwrap();
            for (i, end) in ends.iter().enumerate() {
                end.send_to(&[i as u8], local).unwrap();
            }
            for (udp, count, is_main) in [(&main, 1, true), (&stray, 2, false)] {
                for _ in 0..count {
                    let mut fds = [PollFd::new(udp.as_fd(), PollFlags::POLLIN)];
                    assert_eq!(poll(&mut fds, PollTimeout::from(5000_u16)).unwrap(), 1);
                    let (mut buffer, mut meta) = ([0; 100], [RecvMeta::default()]);
                    assert_eq!(udp.receive(&mut [IoSliceMut::new(&mut buffer)], &mut meta).unwrap(), 1);
                    let sender = usize::from(buffer[0]);
                    assert_eq!((meta[0].addr, sender == turn), (peers[sender], is_main));
                }
            }
        }
    }

    #[test]
    fn a_port_in_use_is_refused_even_if_it_may_be_shared() {
        let local = free();
        let pair = Udp::open_pair(local, None).unwrap();
        let error = Udp::open_pair(local, None).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        drop(pair);
        assert!(Udp::open_pair(local, None).is_ok());
    }

    #[test]
    fn coalesced_datagrams_arrive_individually() {
        let local = "127.0.0.1:0".parse().unwrap();
        let receiver = UdpSocket::bind::<SocketAddr>(local).unwrap();
        let mut udp = connected(local, &receiver);
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let datagrams: Vec<Datagram<'_>> = (0..40)
            .map(|i| Datagram {
                bytes: &bytes[..if i == 39 { 10 } else { 900 }],
                inner_bytes: i,
                class: 0x28,
            })
            .collect();
        assert_eq!(udp.send(&datagrams, None), Sent { sent: 40, sent_bytes: 39 * 40 / 2, ..Sent::default() });
        let mut buffer = [0; 2000];
        for datagram in &datagrams {
            let len = receiver.recv(&mut buffer).unwrap();
            assert_eq!(&buffer[..len], datagram.bytes);
        }
    }

    #[test]
    fn oversized_datagrams_do_not_affect_others_in_the_batch() {
        let local = "127.0.0.1:0".parse().unwrap();
        let receiver = UdpSocket::bind::<SocketAddr>(local).unwrap();
        let mut udp = connected(local, &receiver);
        let bytes = vec![0; 1 << 16];
        let lengths = [10, bytes.len(), 20, bytes.len(), 20, 30];
        let datagrams: Vec<Datagram<'_>> = lengths
            .iter()
            .map(|len| Datagram { bytes: &bytes[..*len], inner_bytes: *len, class: 0 })
            .collect();
        assert_eq!(udp.send(&datagrams, None), Sent { sent: 4, sent_bytes: 80, too_long: 2, unsent: 0 });
    }
}
