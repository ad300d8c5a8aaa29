//! The current problems of a link, and when each is due to be logged.
//!
//! ```text
//! a problem begins:      log it, unless it was logged less than `wait` ago
//! it persists or recurs: log it again after 10 s, then after 20 s, 40 s, … up to an hour
//! it ends:               log that, if its beginning was logged
//! ```

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Interval between the first two log lines of a problem. It doubles with each line, up to [`MAX_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(10);
const MAX_WAIT: Duration = Duration::from_secs(3600);
/// Maximum number of distinct texts per topic that are logged until they expire.
const MAX_TEXTS: usize = 8;
/// Stands for all further texts of a topic, which are logged like one that persists. No problem has this text.
const OTHERS: &str = "";

/// A text that was logged.
struct Logged {
    /// Earliest time of the next line with this text.
    next: Instant,
    /// Interval from `next` to the line after it.
    wait: Duration,
    /// Whether the problem has persisted since the last line.
    is_current: bool,
}

/// The problems of a topic.
struct Topic {
    logged: HashMap<String, Logged>,
    /// The current problem, whether or not it was logged, and when it began.
    current: Option<(String, Instant)>,
}

/// The problems of all topics `T`. Each topic has at most one current problem.
pub(crate) struct Problems<T>(HashMap<T, Topic>);

impl<T: Copy + Eq + Hash + Ord> Problems<T> {
    pub(crate) fn new() -> Self {
        Self(HashMap::new())
    }

    /// Returns the current problems in the order of their topics.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut topics: Vec<_> = self.0.iter().collect();
        topics.sort_unstable_by_key(|(topic, _)| **topic);
        topics.into_iter().filter_map(|(_, state)| Some(state.current.as_ref()?.0.clone())).collect()
    }

    /// Records a problem. Returns whether it must be logged now: it began, and was not logged recently.
    pub(crate) fn begin(&mut self, topic: T, text: &str, now: Instant) -> bool {
        let new = || Topic { logged: HashMap::new(), current: None };
        let Topic { logged, current } = self.0.entry(topic).or_insert_with(new);
        if current.as_ref().is_none_or(|(current, _)| current != text) {
            *current = Some((text.to_owned(), now));
        }
        logged.retain(|_, entry| entry.is_current || now < entry.next + entry.wait);
        let has_room = logged.contains_key(text) || logged.len() < MAX_TEXTS;
        let key = if has_room { text } else { OTHERS };
        if let Some(entry) = logged.get_mut(key) {
            return !entry.is_current && entry.take_turn(now);
        }
        let entry = Logged { next: now + FIRST_WAIT, wait: FIRST_WAIT * 2, is_current: true };
        logged.insert(key.to_owned(), entry);
        has_room
    }

    /// Returns the persisting problems that are due in the log again, with the time since each began.
    pub(crate) fn reminders(&mut self, now: Instant) -> Vec<(String, Duration)> {
        let remind = |Topic { logged, current }: &mut Topic| {
            let (text, since) = current.as_ref()?;
            let key = if logged.contains_key(text) { text.as_str() } else { OTHERS };
            logged.get_mut(key)?.take_turn(now).then(|| (text.clone(), now - *since))
        };
        self.0.values_mut().filter_map(remind).collect()
    }

    /// Ends the problem of a topic. Returns whether its end must be logged, because its beginning was.
    pub(crate) fn end(&mut self, topic: T) -> bool {
        let Some(Topic { logged, current }) = self.0.get_mut(&topic) else { return false };
        *current = None;
        let was_logged = logged.values().any(|entry| entry.is_current);
        for entry in logged.values_mut() {
            entry.is_current = false;
        }
        was_logged
    }
}

impl Logged {
    fn take_turn(&mut self, now: Instant) -> bool {
        let is_due = now >= self.next;
        if is_due {
            *self = Self { next: now + self.wait, wait: (self.wait * 2).min(MAX_WAIT), is_current: true };
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn a_persisting_problem_is_logged_at_growing_intervals_up_to_an_hour() {
        let (mut problems, start) = (Problems::new(), Instant::now());
        let mut lines = Vec::new();
        for second in 0..6 * 3600 {
            let now = after(start, second);
            // Some problems are reported once, others all the time.
            if (second == 0 || second > 5000) && problems.begin(1, "no keys", now) {
                lines.push(second);
            }
            for (text, age) in problems.reminders(now) {
                assert_eq!((text.as_str(), age.as_secs()), ("no keys", second));
                lines.push(second);
            }
        }
        assert_eq!(lines[..6], [0, 10, 30, 70, 150, 310]);
        let gaps: Vec<u64> = lines.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.is_sorted() && gaps.last() == Some(&3600), "{gaps:?}");
        assert_eq!(problems.texts(), ["no keys"]);
        assert!(problems.end(1) && !problems.end(1) && problems.texts().is_empty());
    }

    #[test]
    fn an_intermittent_problem_is_logged_at_growing_intervals_with_as_many_ends() {
        let (mut problems, start) = (Problems::new(), Instant::now());
        let (mut begun, mut ended) = (Vec::new(), 0);
        for tenth in 0..1000 {
            if problems.begin(1, "refused", start + Duration::from_millis(100 * tenth)) {
                begun.push(tenth / 10);
            }
            ended += usize::from(problems.end(1));
        }
        assert_eq!((begun.as_slice(), ended), (&[0, 10, 30, 70][..], 4));
    }

    #[test]
    fn a_problem_that_recurs_and_then_persists_is_logged_when_it_is_due() {
        let (mut problems, start) = (Problems::new(), Instant::now());
        assert!(problems.begin(1, "refused", start) && problems.end(1));
        assert!(!problems.begin(1, "refused", after(start, 5)));
        assert!(problems.reminders(after(start, 9)).is_empty());
        assert_eq!(problems.reminders(after(start, 10)), [("refused".to_owned(), Duration::from_secs(5))]);
        assert!(problems.end(1));
    }

    #[test]
    fn a_problem_that_returns_after_a_long_time_is_logged_like_a_new_one() {
        let (mut problems, start) = (Problems::new(), Instant::now());
        assert!(problems.begin(1, "refused", start) && problems.end(1));
        assert!(problems.begin(1, "refused", start + MINUTE));
        assert!(problems.reminders(start + MINUTE + Duration::from_millis(9_999)).is_empty());
        assert_eq!(problems.reminders(start + MINUTE + FIRST_WAIT).len(), 1);
    }

    #[test]
    fn other_causes_are_logged_but_their_number_is_limited() {
        let (mut problems, now) = (Problems::new(), Instant::now());
        let logged = (0..1000).filter(|i| problems.begin(1, &format!("cause {i}"), now)).count();
        assert_eq!(logged, MAX_TEXTS);
        assert_eq!(problems.texts(), ["cause 999"]);
        assert!(problems.end(1));
    }

    #[test]
    fn a_problem_whose_text_always_differs_is_logged_at_growing_intervals_too() {
        let (mut problems, start) = (Problems::new(), Instant::now());
        let mut lines = Vec::new();
        for second in 0..3600 {
            let now = after(start, second);
            if problems.begin(1, &format!("request {second} failed"), now) {
                lines.push(second);
            }
            lines.extend(problems.reminders(now).iter().map(|_| second));
        }
        assert_eq!(lines[..MAX_TEXTS], [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(lines[MAX_TEXTS..], [18, 38, 78, 158, 318, 638, 1278, 2558]);
    }

    #[test]
    fn problems_of_different_topics_do_not_hide_each_other() {
        let (mut problems, now) = (Problems::new(), Instant::now());
        assert!(problems.begin(2, "one", now) && problems.begin(1, "one", now));
        assert!(problems.end(1));
        assert_eq!(problems.texts(), ["one"]);
    }
}
