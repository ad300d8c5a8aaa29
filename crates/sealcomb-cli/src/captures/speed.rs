//! How fast packets were processed.

// Counts of packets and bytes have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss)]

use std::time::{Duration, Instant};

use anyhow::Result;
use sealcomb::Backend;
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

    /// How fast so many packets of so many bytes together went, if there was anything to do.
    pub(crate) fn tell(&self, packets: u64, bytes: u64, burst: u16) -> Result<Option<String>> {
        if packets == 0 {
            return Ok(None);
        }
        let seconds = self.time.as_secs_f64();
        Ok(Some(format!(
            "{:.0} packets/s, {:.2} cycles/byte in bursts of {burst} on the backend {}; captures' reading and writing \
             not counted",
            packets as f64 / seconds,
            seconds * cycles_per_second() / bytes as f64,
            Backend::selected()?.name(),
        )))
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
