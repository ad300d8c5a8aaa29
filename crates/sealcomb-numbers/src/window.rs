//! The anti-replay window of RFC 4303, section 3.4.3. It also serves MACsec's replay protection (IEEE 802.1AE-2018,
//! 10.6.2), and recovers the high half of an extended sequence number, which packets do not carry (RFC 4303, appendix
//! A2).

/// An anti-replay window: which of the most recent sequence numbers have been received.
#[derive(Clone, Debug)]
pub struct Window {
    /// The window's right edge: the highest number of a verified packet.
    highest: u64,
    /// Whether each number in the window was received, at index number mod window size.
    seen: Vec<bool>,
}

impl Window {
    /// Returns a window of `size` numbers for a sender whose first packet has the number `first`. Both are at least
    /// 1.
    pub fn new(size: usize, first: u64) -> Self {
        Self { highest: first - 1, seen: vec![false; size] }
    }

    /// Returns the window's right edge: the highest number of a verified packet, or the one before the first.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// Returns the window's left edge: the lowest number that is not too old, received or not. It is at least 1.
    pub fn lowest(&self) -> u64 {
        self.highest.saturating_sub(self.seen.len() as u64 - 1).max(1)
    }

    /// Returns the 64-bit (extended) sequence number of a packet that carries only the low 32 bits: the lowest number
    /// with this low half that is not below the window. Returns `None` if that number exceeds 64 bits.
    ///
    /// The result for a packet older than the window is therefore 2^32 too high, and the packet fails verification.
    pub fn extend(&self, low: u32) -> Option<u64> {
        const SUBSPACE: u64 = 1 << 32;
        let size = self.seen.len() as u64;
        let Some(left) = self.highest.checked_sub(size - 1) else {
            // The window's left edge is below 0: every low half is the number itself.
            return Some(low.into());
        };
        let number = left & !(SUBSPACE - 1) | u64::from(low);
        if number >= left { Some(number) } else { number.checked_add(SUBSPACE) }
    }

    /// Returns whether a packet with this number would be accepted. Call it before verification, to skip the
    /// cryptography for packets that are dropped anyway. It does not change the window.
    pub fn admits(&self, sequence: u64) -> bool {
        if sequence > self.highest {
            return true;
        }
        let age = self.highest - sequence;
        // 0 is never valid: a sender's first packet has number 1.
        sequence != 0 && age < self.seen.len() as u64 && !self.seen[self.slot(sequence)]
    }

    /// Records a verified packet, and advances the window if its number is the highest so far. Call it only for
    /// packets whose ICV is correct. Returns `false` if the packet is a replay or older than the window: drop it.
    pub fn accept(&mut self, sequence: u64) -> bool {
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

    fn move_up(&mut self, highest: u64) {
        let distance = highest - self.highest;
        if distance >= self.seen.len() as u64 {
            self.seen.fill(false);
        } else {
            for skipped in self.highest + 1..=highest {
                let slot = self.slot(skipped);
                self.seen[slot] = false;
            }
        }
        self.highest = highest;
    }

    fn slot(&self, sequence: u64) -> usize {
        (sequence % self.seen.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    const SUBSPACE: u64 = 1 << 32;

    #[test]
    fn zero_is_not_a_sequence_number() {
        assert!(!Window::new(64, 1).accept(0));
    }

    #[test]
    fn the_window_reaches_back_exactly_its_size() {
        let mut window = Window::new(64, 1);
        assert!(window.accept(100));
        assert!(!window.accept(36));
        assert!(window.accept(37));
    }

    #[test]
    fn the_lowest_number_is_the_left_edge_of_the_window() {
        let mut window = Window::new(64, 1);
        assert_eq!(window.lowest(), 1);
        assert!(window.accept(64));
        assert_eq!(window.lowest(), 1);
        assert!(window.accept(65));
        assert_eq!(window.lowest(), 2);
        assert!(!window.admits(1) && window.admits(2));
    }

    #[test]
    fn the_last_sequence_number_is_accepted_once() {
        for last in [u64::from(u32::MAX), u64::MAX] {
            let mut window = Window::new(64, 1);
            assert!(window.accept(last));
            assert!(!window.accept(last));
            assert!(window.accept(last - 63));
            assert!(!window.accept(last - 64));
        }
    }

    #[test]
    fn the_high_half_increments_when_the_low_half_wraps() {
        let mut window = Window::new(64, 1);
        assert!(window.accept(SUBSPACE - 3));
        assert_eq!(window.extend(u32::MAX), Some(SUBSPACE - 1));
        assert_eq!(window.extend(0), Some(SUBSPACE));
        assert_eq!(window.extend(5), Some(SUBSPACE + 5));
        assert!(window.accept(SUBSPACE + 5));
        assert_eq!(window.extend(u32::MAX), Some(SUBSPACE - 1), "late, and still within the window");
        assert_eq!(window.extend(u32::MAX - 70), Some(2 * SUBSPACE - 71), "too late");
    }

    #[test]
    fn the_first_numbers_have_a_high_half_of_0() {
        let window = Window::new(64, 1);
        for low in [1, 2, 1 << 31, u32::MAX] {
            assert_eq!(window.extend(low), Some(low.into()));
        }
    }

    #[test]
    fn a_window_starts_at_its_senders_first_number() {
        let window = Window::new(64, SUBSPACE * 7 - 2);
        assert_eq!(window.extend(u32::MAX - 1), Some(SUBSPACE * 7 - 2));
        assert_eq!(window.extend(3), Some(SUBSPACE * 7 + 3));
    }

    #[test]
    fn no_number_exceeds_64_bits() {
        let window = Window::new(64, u64::MAX);
        assert_eq!(window.extend(u32::MAX), Some(u64::MAX));
        assert_eq!(window.extend(0), None);
        let mut window = window;
        assert!(window.accept(u64::MAX));
        assert_eq!(window.extend(u32::MAX - 63), Some(u64::MAX - 63));
        assert_eq!(window.extend(u32::MAX - 64), None);
    }

    /// RFC 4303, appendixes A2.1 and A2.2, transcribed: compares low halves in two cases.
    fn extend_by_rfc_4303(highest: u64, size: u32, low: u32) -> Option<u64> {
        let (top_low, top_high) = (highest as u32, (highest >> 32) as u32);
        let bottom_low = top_low.wrapping_sub(size - 1);
        let high = if top_low >= size - 1 {
            if low >= bottom_low { Some(top_high) } else { top_high.checked_add(1) }
        } else if low >= bottom_low {
            top_high.checked_sub(1)
        } else {
            Some(top_high)
        };
        high.map(|high| u64::from(high) << 32 | u64::from(low))
    }

    /// Numbers of all sizes, most of them near multiples of 2^32.
    fn numbers() -> impl Strategy<Value = u64> {
        let near = |middle: u64| (0_u64..300).prop_map(move |i| middle.wrapping_add(i).wrapping_sub(150));
        prop_oneof![
            near(SUBSPACE),
            near(SUBSPACE * 2),
            near(SUBSPACE << 31),
            near(u64::MAX - 150),
            any::<u64>(),
            0_u64..1000,
        ]
    }

    proptest! {
        #[test]
        fn the_high_half_matches_rfc_4303(highest in numbers(), size in 32_u32..100, low in numbers()) {
            let mut window = Window::new(size as usize, 1);
            window.move_up(highest);
            let low = low as u32;
            // The RFC's algorithm has no result below 0. In that case the number is the low half, which may be new.
            let expected = extend_by_rfc_4303(highest, size, low).or((highest < size.into()).then_some(low.into()));
            prop_assert_eq!(window.extend(low), expected);
        }

        #[test]
        fn a_number_less_than_2_to_the_32_above_the_left_edge_is_found(
            highest in numbers(),
            size in 32_u64..100,
            distance in 0..SUBSPACE,
        ) {
            let mut window = Window::new(size as usize, 1);
            window.move_up(highest);
            let left = highest.saturating_sub(size - 1);
            if let Some(number) = left.checked_add(distance) {
                prop_assert_eq!(window.extend(number as u32), Some(number));
            }
        }

        #[test]
        fn a_window_agrees_with_the_set_of_all_numbers_seen(
            size in 32_usize..100,
            base in prop_oneof![Just(0), Just(SUBSPACE - 150), Just(u64::MAX - 1200)],
            numbers in prop::collection::vec(prop_oneof![0_u64..300, 1000_u64..1200], 1..400),
        ) {
            let mut window = Window::new(size, 1);
            let mut seen = HashSet::new();
            let mut highest = 0;
            for number in numbers {
                let number = base + number;
                let in_window = number > highest || highest - number < size as u64;
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
