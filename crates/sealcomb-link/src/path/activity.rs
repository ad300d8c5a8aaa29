//! The times of a packet thread's latest traffic, one store per batch.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When a packet thread last delivered a verified packet, and when a datagram was last sent through its socket.
pub struct Activity {
    /// The start of the link.
    start: Instant,
    /// Microseconds from `start` to the latest batch with a verified packet; 0 if there was none.
    received: AtomicU64,
    /// Microseconds from `start` to the latest batch that was sent; 0 if there was none.
    sent: AtomicU64,
}

impl Activity {
    /// Returns the activity of a thread of a link that started at this time.
    pub fn new(start: Instant) -> Self {
        Self { start, received: AtomicU64::new(0), sent: AtomicU64::new(0) }
    }

    fn micros(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.start).as_micros()).unwrap_or(u64::MAX)
    }

    /// Records that a batch contained a verified packet.
    pub fn note_received(&self, now: Instant) {
        self.received.store(self.micros(now), Ordering::Relaxed);
    }

    /// Records that a datagram was sent. Two threads may race; the older time then stays, which is harmless.
    pub fn note_sent(&self, now: Instant) {
        self.sent.store(self.micros(now), Ordering::Relaxed);
    }

    /// Returns when a verified packet last arrived, or `None` if none has.
    pub fn received(&self) -> Option<Instant> {
        let micros = self.received.load(Ordering::Relaxed);
        (micros != 0).then(|| self.start + Duration::from_micros(micros))
    }

    /// Returns when a datagram was last sent, or the start of the link if none was.
    pub fn sent(&self) -> Instant {
        self.start + Duration::from_micros(self.sent.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_times_are_returned() {
        let start = Instant::now();
        let activity = Activity::new(start);
        assert_eq!((activity.received(), activity.sent()), (None, start));
        for seconds in [1, 7] {
            let now = start + Duration::from_secs(seconds);
            activity.note_received(now);
            assert_eq!(activity.received(), Some(now));
            activity.note_sent(now);
            assert_eq!(activity.sent(), now);
        }
    }
}
