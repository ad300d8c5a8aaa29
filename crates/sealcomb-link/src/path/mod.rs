//! The data path: TUN device ↔ ESP in UDP, in batches, with one thread per worker.
//!
//! ```text
//! out: read from the TUN device ─► assign sequence numbers ─► seal in place ─► send, equal sizes coalesced (GSO)
//! in:  receive (GRO) ─► look up SPI, check window ─► open into the device's buffers ─► write, coalesced
//! ```
//!
//! With a single peer, the socket is connected to it. Datagrams from other addresses arrive at a second socket, which
//! is read less often. They are how a peer that has moved is found. With several peers, all use one socket.
//!
//! A batch consists of the packets that are available. No packet waits for a batch to fill. An idle thread sleeps
//! until the device or the socket is readable.

mod activity;
mod buffer;
mod inbound;
mod inner;
mod keepalive;
pub mod mail;
mod outbound;
mod routes;
pub mod tunnels;
pub mod udp;

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use arrayvec::ArrayVec;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tun_rs::SyncDevice;

use crate::config::Config;
use crate::counters::Counters;
pub use activity::Activity;
use inbound::Inbound;
pub use keepalive::send_nat_keepalive;
use mail::Mail;
pub(crate) use outbound::MAX_SEGMENTS;
use outbound::Outbound;
use tunnels::Tunnels;
use udp::Udp;

/// The state that a packet thread shares with the rest of the link.
pub struct Shared {
    /// The tunnels to the peers.
    pub tunnels: Arc<Tunnels>,
    /// The number of this thread, from 0.
    pub thread: usize,
    /// The thread's counters of the packets that belong to no peer.
    pub counters: Arc<Counters>,
    /// Set to stop the thread.
    pub stop: Arc<AtomicBool>,
    /// The queues to the control task.
    pub mail: Arc<Mail>,
}

/// A packet thread, with its queue of the TUN device and its socket.
pub struct Worker {
    tun: SyncDevice,
    udp: Udp,
    /// The socket for datagrams from addresses that the only peer does not have; `None` if there may be several
    /// peers.
    stray: Option<Udp>,
    shared: Shared,
    outbound: Outbound,
    inbound: Inbound,
}

impl Worker {
    /// Creates a worker. Each of `config.workers` has its own device queue, socket, and counters.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn new(
        tun: SyncDevice,
        (udp, stray): (Udp, Option<Udp>),
        shared: Shared,
        config: &Config,
    ) -> io::Result<Self> {
        tun.set_nonblocking(true)?;
        let outbound = Outbound::new(config)?;
        let inbound = Inbound::new(&udp);
        Ok(Self { tun, udp, stray, shared, outbound, inbound })
    }

    /// Processes packets until `Shared::stop` is set, and then drains both directions for 100 ms.
    ///
    /// # Errors
    /// The TUN device was deleted.
    pub fn run(mut self) -> anyhow::Result<()> {
        /// Time for processing the queued packets after a stop.
        const DRAIN: Duration = Duration::from_millis(100);
        /// The socket for other addresses is read once in this many turns, even if the thread never sleeps.
        const STRAY_TURNS: u32 = 64;
        let mut end = None;
        for turn in (0..STRAY_TURNS).cycle() {
            let out = self
                .outbound
                .step(&self.tun, &mut self.udp, &self.shared)
                .context("cannot read the TUN device")?;
            let in_ = self.inbound.step(&self.tun, &self.udp, &self.shared, false);
            if end.is_none() && self.shared.stop.load(Ordering::Relaxed) {
                end = Some(Instant::now() + DRAIN);
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                return Ok(());
            }
            let is_stray = if out || in_ { turn == 0 } else { self.sleep() };
            if is_stray && let Some(stray) = &self.stray {
                self.inbound.step(&self.tun, stray, &self.shared, true);
            }
        }
        Ok(())
    }

    /// Sleeps until the device or a socket is readable, for at most 50 ms, so that a stop is noticed. Returns whether
    /// there is a datagram from another address than the peer's.
    fn sleep(&self) -> bool {
        const MILLISECONDS: u8 = 50;
        let fds = [Some(self.tun.as_fd()), Some(self.udp.as_fd()), self.stray.as_ref().map(AsFd::as_fd)];
        let mut fds: ArrayVec<PollFd<'_>, 3> =
            fds.into_iter().flatten().map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        let _ = poll(&mut fds, PollTimeout::from(MILLISECONDS));
        fds.get(2).and_then(PollFd::any).unwrap_or(false)
    }
}
