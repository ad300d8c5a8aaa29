//! Measures the speed of sealing and opening, with warm caches and branch predictors.

// Packet and byte counts have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss)]

use std::time::Duration;

use anyhow::Result;
use sealcomb::Backend;
use sealcomb_timing::Clock;

use super::capture::Record;

/// Minimum number of packets in a sample, if the capture has that many: about a megabyte of typical traffic.
const MIN_PACKETS: usize = 2048;

/// Maximum number of timed rounds.
const ROUNDS: usize = 31;
/// Maximum duration of all timed rounds together.
const PATIENCE: Duration = Duration::from_millis(100);

/// The first bursts of a capture. They are processed repeatedly to measure the speed: a single pass would measure
/// memory and disk instead.
#[derive(Default)]
pub(crate) struct Sample {
    bursts: Vec<Vec<Record>>,
    packets: usize,
}

impl Sample {
    /// Adds a burst unless the sample already has [`MIN_PACKETS`].
    pub(crate) fn keep(&mut self, burst: Vec<Record>) {
        if self.packets < MIN_PACKETS {
            self.packets += burst.len();
            self.bursts.push(burst);
        }
    }

    pub(crate) fn bursts(&self) -> impl Iterator<Item = &[Record]> {
        self.bursts.iter().map(Vec::as_slice)
    }
}

/// The work of one round through a sample.
#[derive(Default)]
pub(crate) struct Round {
    packets: u64,
    /// Total size of the unprotected packets.
    bytes: u64,
}

impl Round {
    pub(crate) fn count(&mut self, plain_bytes: usize) {
        self.packets += 1;
        self.bytes += plain_bytes as u64;
    }
}

/// Times rounds through a sample and returns the line of the report; `None` if a round processes no packets. `action`
/// is what happens to the packets, for the line.
pub(crate) fn measure(
    action: &str,
    burst: u16,
    mut round: impl FnMut() -> Result<Round>,
) -> Result<Option<String>> {
    let Round { packets, bytes } = round()?;
    if packets == 0 {
        return Ok(None);
    }
    let mut outcome = Ok(());
    let cycles = Clock::new().with_patience(PATIENCE).measure(ROUNDS, || {
        if outcome.is_ok() {
            outcome = round().map(drop);
        }
    });
    outcome?;
    Ok(Some(format!(
        "speed: {:.0} packets/s, {:.2} cycles/byte ({packets} packets repeatedly {action}, in bursts of {burst}, \
         backend {}, warm caches, without file I/O)",
        packets as f64 * cycles_per_second() / cycles.median,
        cycles.median / bytes as f64,
        Backend::selected()?.name(),
    )))
}

/// Returns the core's current frequency under load, in Hz.
fn cycles_per_second() -> f64 {
    const SPIN: Duration = Duration::from_micros(20);
    let spin = || {
        let start = std::time::Instant::now();
        while start.elapsed() < SPIN {}
    };
    Clock::new().measure(15, spin).median / SPIN.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burst(packets: usize) -> Vec<Record> {
        (0..packets).map(|_| Record::whole(pcap_file::DataLink::RAW, vec![0; 60])).collect()
    }

    #[test]
    fn a_sample_ends_with_the_burst_that_fills_it() {
        let mut sample = Sample::default();
        for _ in 0..10 {
            sample.keep(burst(1000));
        }
        assert_eq!(sample.bursts().count(), 3);
    }

    #[test]
    fn the_line_contains_the_counts_of_a_round() {
        let mut rounds = 0;
        let line = measure("sealed", 32, || {
            rounds += 1;
            let mut round = Round::default();
            round.count(100);
            round.count(200);
            Ok(round)
        });
        let line = line.unwrap().unwrap();
        assert!(line.contains("2 packets repeatedly sealed, in bursts of 32"), "{line}");
        assert!(rounds > ROUNDS, "{rounds}");
    }

    #[test]
    fn rounds_that_do_nothing_or_fail_have_no_line() {
        assert!(measure("opened", 32, || Ok(Round::default())).unwrap().is_none());
        assert!(measure("opened", 32, || anyhow::bail!("no")).is_err());
    }
}
