//! What was there lately.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

/// The latest distinct values, up to a number of them: the oldest is forgotten for a new one.
pub(super) struct Recent<T> {
    most: usize,
    order: VecDeque<T>,
    all: HashSet<T>,
}

impl<T: Copy + Eq + Hash> Recent<T> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, order: VecDeque::new(), all: HashSet::new() }
    }

    pub(super) fn contains(&self, value: &T) -> bool {
        self.all.contains(value)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Remembers a value; `false`: it was there already.
    pub(super) fn insert(&mut self, value: T) -> bool {
        if !self.all.insert(value) {
            return false;
        }
        self.order.push_back(value);
        if self.order.len() > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_value_is_forgotten_for_a_new_one() {
        let mut recent = Recent::new(2);
        assert!(recent.insert(1) && recent.insert(2) && !recent.insert(1));
        assert!(recent.insert(3) && !recent.contains(&1) && recent.contains(&2));
        assert!(recent.insert(1) && !recent.contains(&2));
        assert_eq!((recent.order.len(), recent.all.len()), (2, 2));
    }
}
