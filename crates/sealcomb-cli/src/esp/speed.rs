//! How fast packets were processed.

// Counts of packets and bytes have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss)]

use std::time::{Duration, Instant};

use sealcomb_timing::Clock;

/// Adds up the time spent on packets, reading and writing captures not counted.
#[derive(Default)]
pub(crate) struct Meter {
    time: Duration,
}

impl Meter {
    pub(crate) fn measure<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.time += start.elapsed();
        result
    }

    pub(crate) fn packets_per_second(&self, packets: u64) -> f64 {
        packets as f64 / self.time.as_secs_f64()
    }

    pub(crate) fn cycles_per_byte(&self, bytes: u64) -> f64 {
        self.time.as_secs_f64() * cycles_per_second() / bytes as f64
    }
}

/// The core's frequency under load, now.
fn cycles_per_second() -> f64 {
    const SPIN: Duration = Duration::from_micros(20);
    let spin = || {
        let start = Instant::now();
        while start.elapsed() < SPIN {}
    };
    Clock::new().measure(15, spin).median / SPIN.as_secs_f64()
}
