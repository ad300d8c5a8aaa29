//! Trouble with the system's clocks, found by comparing them at every tick of the control task.
//!
//! ```text
//! monotonic clock    stops while the machine is suspended; measures the ages of keys
//! boot-time clock    does not stop
//! real-time clock    can be set; the validity of certificates is checked against it
//! ```

use std::time::{Duration, Instant, SystemTime};

use rustix::time::{ClockId, clock_gettime};

/// Smaller differences are not reported.
const TOLERANCE: Duration = Duration::from_secs(2);

/// What happened to the clocks between two ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockTrouble {
    /// The machine was suspended for this time.
    Suspended(Duration),
    /// The control task did not run for this time.
    Stalled(Duration),
    /// The real-time clock was set forward by this time.
    SetForward(Duration),
    /// The real-time clock was set back by this time.
    SetBack(Duration),
}

/// The readings of the three clocks at one time.
#[derive(Clone, Copy)]
struct Readings {
    monotonic: Instant,
    boot: Duration,
    real: SystemTime,
}

impl Readings {
    fn take(now: Instant) -> Self {
        let boot = clock_gettime(ClockId::Boottime);
        let seconds = u64::try_from(boot.tv_sec).unwrap_or(0);
        let nanos = u32::try_from(boot.tv_nsec).unwrap_or(0);
        Self { monotonic: now, boot: Duration::new(seconds, nanos), real: SystemTime::now() }
    }

    /// Returns what happened from `self` to `later`, the gravest trouble first.
    fn trouble(self, later: Self) -> Option<ClockTrouble> {
        let run = later.monotonic.saturating_duration_since(self.monotonic);
        let passed = later.boot.saturating_sub(self.boot);
        let suspended = passed.saturating_sub(run);
        if suspended >= TOLERANCE {
            return Some(ClockTrouble::Suspended(suspended));
        }
        if run >= TOLERANCE {
            return Some(ClockTrouble::Stalled(run));
        }
        let expected = self.real + passed;
        match later.real.duration_since(expected) {
            Ok(ahead) if ahead >= TOLERANCE => Some(ClockTrouble::SetForward(ahead)),
            Err(behind) if behind.duration() >= TOLERANCE => Some(ClockTrouble::SetBack(behind.duration())),
            _ => None,
        }
    }
}

/// The clocks as of the last tick.
pub(crate) struct Clocks(Readings);

impl Clocks {
    pub(crate) fn new(now: Instant) -> Self {
        Self(Readings::take(now))
    }

    /// Compares the clocks with the last tick.
    pub(crate) fn tick(&mut self, now: Instant) -> Option<ClockTrouble> {
        let before = std::mem::replace(&mut self.0, Readings::take(now));
        before.trouble(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn each_trouble_is_told_from_the_others() {
        let first = Readings {
            monotonic: Instant::now(),
            boot: SECOND * 900,
            real: SystemTime::UNIX_EPOCH + SECOND * 9000,
        };
        let second = |run: u32, suspended: u32, set: i32| {
            let real = first.real + SECOND * (run + suspended);
            let step = SECOND * set.unsigned_abs();
            Readings {
                monotonic: first.monotonic + SECOND * run,
                boot: first.boot + SECOND * (run + suspended),
                real: if set < 0 { real - step } else { real + step },
            }
        };
        for (run, suspended, set, expected) in [
            (0, 0, 0, None),
            (1, 1, 1, None),
            (1, 0, -1, None),
            (2, 0, 0, Some(ClockTrouble::Stalled(SECOND * 2))),
            (1, 2, 0, Some(ClockTrouble::Suspended(SECOND * 2))),
            (7, 3600, 5, Some(ClockTrouble::Suspended(SECOND * 3600))),
            (1, 0, 2, Some(ClockTrouble::SetForward(SECOND * 2))),
            (0, 1, -8000, Some(ClockTrouble::SetBack(SECOND * 8000))),
        ] {
            assert_eq!(first.trouble(second(run, suspended, set)), expected, "{run} {suspended} {set}");
        }
    }

    #[test]
    fn clocks_that_agree_are_no_trouble() {
        let mut clocks = Clocks::new(Instant::now());
        // A busy machine may stall between the two calls, but its clocks still agree.
        let trouble = clocks.tick(Instant::now());
        assert!(matches!(trouble, None | Some(ClockTrouble::Stalled(_))), "{trouble:?}");
    }
}
