//! Core cycles, measured so that a noisy machine does not spoil them.
//!
//! A [`Clock`] reads the CPU's cycle counter where the kernel gives it. Elsewhere (most virtual machines) it times
//! a chain of dependent instructions of known length just before and after each timing, and so learns how many
//! nanoseconds a core cycle takes at the frequency of that very moment. The time is the standard library's, which on Arm
//! reads the virtual counter (`CNTVCT_EL0`) without a call of the kernel, on Linux and macOS alike.
//!
//! ```
//! let mut clock = sealcomb_timing::Clock::new();
//! let mut sum = 0u64;
//! let cycles = clock.measure(7, || sum = std::hint::black_box(sum + 1));
//! assert!(cycles.q1 <= cycles.median && cycles.median <= cycles.q3);
//! ```
#![forbid(unsafe_code)]
// Measured numbers are positive and have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]

mod chain;
mod counter;
mod quartiles;

pub use quartiles::Quartiles;

use chain::run_chain;
use counter::Counter;
use std::time::{Duration, Instant};

/// The least time that one timing takes: a thousand times the cost and the resolution of reading the time, or six hundred
/// where the counter goes on every 42 ns, as on Apple's CPUs.
const TIMING_NANOS: f64 = 25_000.0;

/// Length of the known chain in cycles: some tens of microseconds as well.
const CHAIN_CYCLES: u64 = 96_000;

/// A measurement takes at least this many timings, however long they are.
const FEWEST_SAMPLES: usize = 5;

/// Measures how many core cycles a piece of work takes.
pub struct Clock {
    counter: Option<Counter>,
    patience: Duration,
}

impl Clock {
    /// A clock on the best source that this machine has.
    pub fn new() -> Self {
        Self { counter: Counter::open().and_then(trusted), patience: Duration::MAX }
    }

    /// Takes fewer samples of work so slow that its measurement would take longer than `patience`.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Where the cycles come from: `"perf"`, the CPU's counter, or `"calibrated"`.
    pub fn source(&self) -> &'static str {
        if self.counter.is_some() { "perf" } else { "calibrated" }
    }

    /// Core cycles of one call of `work`: median and quartiles of `samples` timings, each of as many calls as take
    /// some tens of microseconds.
    ///
    /// # Panics
    /// If `samples` is 0.
    pub fn measure(&mut self, samples: usize, mut work: impl FnMut()) -> Quartiles {
        Quartiles::of(self.interleave(samples, &mut [&mut work]).swap_remove(0))
    }

    /// Core cycles of one call of each contender, timed in turn `samples` times, so that whatever disturbs the
    /// machine disturbs all alike. `result[c][s]` is the timing `s` of contender `c`.
    pub fn interleave(&mut self, samples: usize, contenders: &mut [&mut dyn FnMut()]) -> Vec<Vec<f64>> {
        let (calls, nanos): (Vec<u32>, Vec<f64>) =
            contenders.iter_mut().map(|work| calls_per_timing(*work)).unzip();
        let samples = self.affordable(samples, nanos.iter().sum());
        let mut timings = vec![Vec::with_capacity(samples); contenders.len()];
        let mut before = self.cycle_length();
        for _ in 0..samples {
            for ((work, &calls), timings) in contenders.iter_mut().zip(&calls).zip(&mut timings) {
                let ticks = self.ticks(|| {
                    for _ in 0..calls {
                        work();
                    }
                });
                let after = self.cycle_length();
                // An interruption makes a chain look long, never short.
                timings.push(ticks / before.min(after) / f64::from(calls));
                before = after;
            }
        }
        timings
    }

    /// As many of `samples` rounds of so many nanoseconds as patience allows.
    fn affordable(&self, samples: usize, nanos: f64) -> usize {
        let rounds = self.patience.as_nanos() as f64 / nanos;
        if rounds < samples as f64 {
            (rounds as usize).clamp(FEWEST_SAMPLES.min(samples), samples)
        } else {
            samples
        }
    }

    /// Ticks of this clock's source in one core cycle, now.
    fn cycle_length(&mut self) -> f64 {
        match self.counter {
            Some(_) => 1.0,
            None => nanoseconds(|| run_chain(CHAIN_CYCLES)) / CHAIN_CYCLES as f64,
        }
    }

    /// Ticks of this clock's source while `work` runs.
    fn ticks(&mut self, work: impl FnOnce()) -> f64 {
        match &mut self.counter {
            Some(counter) => counter.cycles(work),
            None => nanoseconds(work),
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// The counter, if it counts a chain of known length right: some hypervisors offer one that stands still.
fn trusted(mut counter: Counter) -> Option<Counter> {
    let counted = counter.cycles(|| run_chain(CHAIN_CYCLES)) / CHAIN_CYCLES as f64;
    (0.9..1.2).contains(&counted).then_some(counter)
}

fn nanoseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

/// How many calls of `work` make one timing, and how many nanoseconds they take. The calls that find it out warm
/// caches and branch predictors as well.
fn calls_per_timing(work: &mut dyn FnMut()) -> (u32, f64) {
    let mut calls = 1u32;
    loop {
        let taken = nanoseconds(|| {
            for _ in 0..calls {
                work();
            }
        });
        if taken >= TIMING_NANOS || calls >= 1 << 24 {
            return (calls, taken);
        }
        calls *= if taken * 4.0 < TIMING_NANOS { 4 } else { 2 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_twice_as_long_takes_twice_the_cycles() {
        let mut clock = Clock::new();
        let timings = clock.interleave(31, &mut [&mut || run_chain(20_000), &mut || run_chain(40_000)]);
        let ratio =
            Quartiles::of(timings[1].iter().zip(&timings[0]).map(|(long, short)| long / short).collect());
        assert!((1.8..2.2).contains(&ratio.median), "ratio {}", ratio.median);
    }

    #[test]
    fn the_known_chain_has_its_known_length() {
        let cycles = Clock::new().measure(31, || run_chain(40_000));
        assert!((36_000.0..44_000.0).contains(&cycles.median), "{} cycles", cycles.median);
    }

    #[test]
    fn slow_work_gets_fewer_samples() {
        let mut clock = Clock::new().with_patience(Duration::from_millis(4));
        let mut calls = 0;
        clock.measure(1000, || {
            calls += 1;
            std::thread::sleep(Duration::from_millis(1));
        });
        assert!((FEWEST_SAMPLES..50).contains(&calls), "{calls} calls");
    }

    #[test]
    fn every_contender_gets_every_sample() {
        let (mut first, mut second) = (0u64, 0u64);
        let timings = Clock::new().interleave(
            5,
            &mut [&mut || first = std::hint::black_box(first + 1), &mut || {
                second = std::hint::black_box(second + 1);
            }],
        );
        assert_eq!(timings.iter().map(Vec::len).collect::<Vec<_>>(), [5, 5]);
        assert!(first > 5 && second > 5);
    }
}
