//! Measures core cycles, even on noisy machines.
//!
//! A [`Clock`] reads the CPU's cycle counter if the kernel provides it. Otherwise, as on most virtual machines, it
//! times a chain of dependent instructions of known length before and after each timing. That yields the duration of
//! a core cycle at the current frequency. Time is read with the standard library. On Arm, this is the virtual
//! counter (`CNTVCT_EL0`), read without a system call on Linux and macOS.
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
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod stepping;

pub use quartiles::Quartiles;

use chain::run_chain;
use counter::Counter;
use std::time::{Duration, Instant};

/// Minimum duration of a timing in nanoseconds: 1000 times the cost and the resolution of reading the time. On
/// Apple's CPUs, whose counter ticks every 42 ns, 600 times.
const TIMING_NANOS: f64 = 25_000.0;

/// Length of the known chain in core cycles: some tens of microseconds.
const CHAIN_CYCLES: u64 = 96_000;

/// Minimum number of timings of a measurement, however long they are.
const MIN_SAMPLES: usize = 5;

/// Measures the core cycles that a piece of work takes.
pub struct Clock {
    counter: Option<Counter>,
    patience: Duration,
}

impl Clock {
    /// Creates a clock with the best source of this machine.
    pub fn new() -> Self {
        Self { counter: Counter::open().and_then(trusted), patience: Duration::MAX }
    }

    /// Limits measurements to about `patience`, by taking fewer samples of slow work, but at least 5.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Returns the source of the cycles: `"perf"` for the CPU's counter, otherwise `"calibrated"`.
    pub fn source(&self) -> &'static str {
        if self.counter.is_some() { "perf" } else { "calibrated" }
    }

    /// Returns the core cycles per call of `work`: median and quartiles of `samples` timings. Each timing has as
    /// many calls as take some tens of microseconds.
    ///
    /// # Panics
    /// If `samples` is 0.
    pub fn measure(&mut self, samples: usize, mut work: impl FnMut()) -> Quartiles {
        Quartiles::of(self.interleave(samples, &mut [&mut work]).swap_remove(0))
    }

    /// Returns the core cycles per call of each contender. The contenders are timed in turn, `samples` times, so that
    /// disturbances of the machine affect all of them. `result[c][s]` is timing `s` of contender `c`.
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
                // Interruptions lengthen a chain, never shorten it.
                timings.push(ticks / before.min(after) / f64::from(calls));
                before = after;
            }
        }
        timings
    }

    /// Returns the core cycles of a single call of each contender after `prepare`, which could evict a cache. The
    /// contenders are timed in turn like in [`Clock::interleave`]. A timing includes the cost of reading the time twice,
    /// some 100 cycles.
    ///
    /// ```
    /// let mut clock = sealcomb_timing::Clock::new();
    /// let mut cold = vec![0u8; 1 << 16];
    /// let mut work = || std::hint::black_box(());
    /// let timings = clock.interleave_after(7, &mut [&mut work], &mut || cold.fill(1));
    /// assert_eq!(timings[0].len(), 7);
    /// ```
    pub fn interleave_after(
        &mut self,
        samples: usize,
        contenders: &mut [&mut dyn FnMut()],
        prepare: &mut dyn FnMut(),
    ) -> Vec<Vec<f64>> {
        let mut timings = vec![Vec::with_capacity(samples); contenders.len()];
        for _ in 0..samples {
            for (work, timings) in contenders.iter_mut().zip(&mut timings) {
                let before = self.cycle_length();
                prepare();
                let ticks = self.ticks(work);
                timings.push(ticks / before.min(self.cycle_length()));
            }
        }
        timings
    }

    /// Returns the number of rounds to take, at most `samples`, if a round takes `nanos` nanoseconds.
    fn affordable(&self, samples: usize, nanos: f64) -> usize {
        let rounds = self.patience.as_nanos() as f64 / nanos;
        if rounds < samples as f64 {
            (rounds as usize).clamp(MIN_SAMPLES.min(samples), samples)
        } else {
            samples
        }
    }

    /// Returns the ticks of this clock's source per core cycle at the current frequency.
    fn cycle_length(&mut self) -> f64 {
        match self.counter {
            Some(_) => 1.0,
            None => nanoseconds(|| run_chain(CHAIN_CYCLES)) / CHAIN_CYCLES as f64,
        }
    }

    /// Returns the ticks of this clock's source during `work`.
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

/// Returns the counter if it measures a chain of known length correctly. On some hypervisors it does not advance.
fn trusted(mut counter: Counter) -> Option<Counter> {
    let counted = counter.cycles(|| run_chain(CHAIN_CYCLES)) / CHAIN_CYCLES as f64;
    (0.9..1.2).contains(&counted).then_some(counter)
}

fn nanoseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

/// Returns the number of calls of `work` per timing, and their duration in nanoseconds. As a side effect, warms
/// caches and branch predictors.
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
        assert!((MIN_SAMPLES..50).contains(&calls), "{calls} calls");
    }

    #[test]
    fn every_single_call_follows_a_preparation_that_is_not_timed() {
        let calls = std::cell::RefCell::new(String::new());
        let timings = Clock::new().interleave_after(
            3,
            &mut [&mut || calls.borrow_mut().push('a'), &mut || calls.borrow_mut().push('b')],
            &mut || {
                calls.borrow_mut().push('-');
                run_chain(10_000_000);
            },
        );
        assert_eq!(*calls.borrow(), "-a-b-a-b-a-b");
        assert!(timings.iter().all(|timings| Quartiles::of(timings.clone()).median < 1_000_000.0));
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
