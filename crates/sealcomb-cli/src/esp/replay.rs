//! The anti-replay window of RFC 4303, section 3.4.3.

/// Remembers which of the latest sequence numbers have come.
pub(crate) struct Window {
    /// The highest number that verified so far; the right edge.
    highest: u32,
    /// Whether a number within the window has come, at the number modulo the window's size.
    seen: Vec<bool>,
}

impl Window {
    pub(crate) fn new(size: usize) -> Self {
        Self { highest: 0, seen: vec![false; size] }
    }

    /// Whether a packet of this number can still be new. Asked before verification: it spares the work for a packet
    /// that is certain to be dropped, and changes nothing.
    pub(crate) fn admits(&self, sequence: u32) -> bool {
        if sequence > self.highest {
            return true;
        }
        let age = (self.highest - sequence) as usize;
        // A sender's first packet has number 1.
        sequence != 0 && age < self.seen.len() && !self.seen[self.slot(sequence)]
    }

    /// Takes note of a verified packet, moving the window up if need be. `false`: a packet of this number came before
    /// it, or it is too old to tell.
    pub(crate) fn accept(&mut self, sequence: u32) -> bool {
        if !self.admits(sequence) {
            return false;
        }
        if sequence > self.highest {
            self.move_up(sequence);
        }
        let slot = self.slot(sequence);
        self.seen[slot] = true;
        true
    }

    fn move_up(&mut self, highest: u32) {
        let distance = highest - self.highest;
        if distance as usize >= self.seen.len() {
            self.seen.fill(false);
        } else {
            for skipped in self.highest + 1..=highest {
                let slot = self.slot(skipped);
                self.seen[slot] = false;
            }
        }
        self.highest = highest;
    }

    fn slot(&self, sequence: u32) -> usize {
        sequence as usize % self.seen.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn zero_is_no_sequence_number() {
        assert!(!Window::new(64).accept(0));
    }

    #[test]
    fn the_window_reaches_back_exactly_its_size() {
        let mut window = Window::new(64);
        assert!(window.accept(100));
        assert!(!window.accept(36));
        assert!(window.accept(37));
    }

    #[test]
    fn the_last_sequence_number_is_accepted_once() {
        let mut window = Window::new(64);
        assert!(window.accept(u32::MAX));
        assert!(!window.accept(u32::MAX));
        assert!(window.accept(u32::MAX - 63));
        assert!(!window.accept(u32::MAX - 64));
    }

    proptest! {
        #[test]
        fn agrees_with_a_list_of_all_numbers_seen(
            size in 32_usize..100,
            numbers in prop::collection::vec(prop_oneof![0_u32..300, 1000_u32..1200], 1..400),
        ) {
            let mut window = Window::new(size);
            let mut seen = HashSet::new();
            let mut highest = 0;
            for number in numbers {
                let in_window = number > highest || ((highest - number) as usize) < size;
                let is_new = number != 0 && in_window && !seen.contains(&number);
                prop_assert_eq!(window.admits(number), is_new);
                prop_assert_eq!(window.accept(number), is_new);
                if is_new {
                    seen.insert(number);
                    highest = highest.max(number);
                }
            }
        }
    }
}
