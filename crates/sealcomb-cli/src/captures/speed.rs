//! How fast packets are processed, with caches and branch predictors warm.

// Counts of packets and bytes have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss)]

use std::time::Duration;

use anyhow::Result;
use sealcomb::Backend;
use sealcomb_timing::Clock;

use super::capture::Record;

/// Packets that a sample has at least, if the capture has as many: about a megabyte of usual traffic.
const PACKETS: usize = 2048;

/// Rounds that are timed, unless they take longer than this together.
const ROUNDS: usize = 31;
const PATIENCE: Duration = Duration::from_millis(100);

/// The first bursts of a capture, which are processed again and again to measure the speed. The first time around, it
/// is rather the memory and the disk that would be measured.
#[derive(Default)]
pub(crate) struct Sample {
    bursts: Vec<Vec<Record>>,
    packets: usize,
}

impl Sample {
    /// Takes a burst in, if there is room left.
    pub(crate) fn keep(&mut self, burst: Vec<Record>) {
        if self.packets < PACKETS {
            self.packets += burst.len();
            self.bursts.push(burst);
        }
    }

    pub(crate) fn bursts(&self) -> impl Iterator<Item = &[Record]> {
        self.bursts.iter().map(Vec::as_slice)
    }
}

/// What one round through a sample did.
#[derive(Default)]
pub(crate) struct Round {
    packets: u64,
    /// Without protection.
    bytes: u64,
}

impl Round {
    pub(crate) fn count(&mut self, plain_bytes: usize) {
        self.packets += 1;
        self.bytes += plain_bytes as u64;
    }
}

/// Times a round through a sample again and again and tells how fast it is, if it does anything. `how` says what is
/// done to the packets.
pub(crate) fn tell(
    how: &str,
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
        "{:.0} packets/s, {:.2} cycles/byte, warm: {packets} packets {how} again and again in bursts of {burst} on the \
         backend {}; reading and writing captures is not counted",
        packets as f64 * cycles_per_second() / cycles.median,
        cycles.median / bytes as f64,
        Backend::selected()?.name(),
    )))
}

/// The core's frequency under load, now.
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
    fn a_round_is_told_by_what_it_counted() {
        let mut rounds = 0;
        let told = tell("sealed", 32, || {
            rounds += 1;
            let mut round = Round::default();
            round.count(100);
            round.count(200);
            Ok(round)
        });
        let told = told.unwrap().unwrap();
        assert!(told.contains("2 packets sealed again and again in bursts of 32"), "{told}");
        assert!(rounds > ROUNDS, "{rounds}");
    }

    #[test]
    fn nothing_is_told_of_rounds_that_do_nothing_or_fail() {
        assert!(tell("opened", 32, || Ok(Round::default())).unwrap().is_none());
        assert!(tell("opened", 32, || anyhow::bail!("no")).is_err());
    }
}
