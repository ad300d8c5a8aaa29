//! The way of packets: TUN device ↔ ESP in UDP, in batches, a thread a worker.
//!
//! ```text
//! out: read what the device has ─► number ─► seal, in place ─► send, those of one length together
//! in:  receive what has come ─► look up, admit ─► open, into the device's buffers ─► write, coalesced
//! ```
//!
//! A batch is what is there; nothing waits for more. A thread that has nothing to do sleeps until either side has.

mod buffer;
mod inbound;
mod inner;
mod outbound;
pub mod udp;

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::sync::mpsc;
use tun_rs::SyncDevice;

use crate::associations::Associations;
use crate::config::Config;
use crate::counters::Counters;
use inbound::Inbound;
use outbound::Outbound;
use udp::Udp;

/// What a thread that moves packets shares with the rest of the link.
pub struct Shared {
    /// Keys.
    pub associations: Arc<Associations>,
    /// What became of its packets.
    pub counters: Arc<Counters>,
    /// Set when the link is to end.
    pub stop: Arc<AtomicBool>,
    /// Where control messages go; those that find it full are lost.
    pub control: mpsc::Sender<Vec<u8>>,
}

/// A thread that moves packets, with its queue of the device and its socket.
pub struct Worker {
    tun: SyncDevice,
    udp: Udp,
    shared: Shared,
    outbound: Outbound,
    inbound: Inbound,
}

impl Worker {
    /// One of `config.workers`.
    ///
    /// # Errors
    /// The system's.
    pub fn new(tun: SyncDevice, udp: Udp, shared: Shared, config: &Config) -> io::Result<Self> {
        tun.set_nonblocking(true)?;
        let outbound = Outbound::new(config);
        let inbound = Inbound::new(&udp);
        Ok(Self { tun, udp, shared, outbound, inbound })
    }

    /// Moves packets until it is told to stop; then those that are there still go.
    ///
    /// # Errors
    /// Where the device is gone.
    pub fn run(mut self) -> anyhow::Result<()> {
        /// After it was told to stop: for how long packets on the way in are still taken.
        const DRAIN: Duration = Duration::from_millis(100);
        let mut end = None;
        loop {
            let out = self.outbound.step(&self.tun, &mut self.udp, &self.shared).context("the TUN device")?;
            let in_ = self.inbound.step(&self.tun, &self.udp, &self.shared);
            if end.is_none() && self.shared.stop.load(Ordering::Relaxed) {
                end = Some(Instant::now() + DRAIN);
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                return Ok(());
            }
            if !out && !in_ {
                self.sleep();
            }
        }
    }

    /// Until either side has something, or at most as long as it may take to notice that it is to stop.
    fn sleep(&self) {
        const MILLISECONDS: u8 = 50;
        let mut fds = [self.tun.as_fd(), self.udp.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let _ = poll(&mut fds, PollTimeout::from(MILLISECONDS));
    }
}
