//! A bounded history of recent values.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

/// The most recent distinct values, at most `max`. Inserting into a full history evicts the oldest value.
pub(super) struct Recent<T> {
    max: usize,
    order: VecDeque<T>,
    all: HashSet<T>,
}

impl<T: Copy + Eq + Hash> Recent<T> {
    pub(super) fn new(max: usize) -> Self {
        Self { max, order: VecDeque::new(), all: HashSet::new() }
    }

    pub(super) fn contains(&self, value: &T) -> bool {
        self.all.contains(value)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Inserts a value. Returns `false` if it was present already.
    pub(super) fn insert(&mut self, value: T) -> bool {
        if !self.all.insert(value) {
            return false;
        }
        // Before the insertion, so that a full queue never grows.
        if self.order.len() == self.max
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
        self.order.push_back(value);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserting_into_a_full_history_evicts_the_oldest_value() {
        let mut recent = Recent::new(2);
        assert!(recent.insert(1) && recent.insert(2) && !recent.insert(1));
        assert!(recent.insert(3) && !recent.contains(&1) && recent.contains(&2));
        assert!(recent.insert(1) && !recent.contains(&2));
        assert_eq!((recent.order.len(), recent.all.len()), (2, 2));
    }

    #[test]
    fn a_full_history_takes_no_more_memory_for_further_values() {
        let mut recent = Recent::new(64);
        let fill = |recent: &mut Recent<u32>, values: std::ops::Range<u32>| {
            assert!(values.into_iter().all(|value| recent.insert(value)));
            recent.order.capacity()
        };
        let full = fill(&mut recent, 0..64);
        assert_eq!(fill(&mut recent, 64..1000), full);
    }
}
