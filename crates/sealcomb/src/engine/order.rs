//! The order in which the messages of a flight are assigned to lanes: longest first.

use core::hint::black_box;

use arrayvec::ArrayVec;

use super::FLIGHT;

/// Number of places in a flight, a power of two, as a factor of sort keys.
const PLACES: u64 = FLIGHT as u64;

/// The high half of the sort key of every message shorter than 32 MiB.
const HIGH: u64 = !(u32::MAX as u64);

/// Number of keys that are ranked together.
const RANKED: usize = 32;

/// The places of messages in a flight, sorted by length.
pub(crate) struct Order {
    /// Sort keys: the complement of the length, then the place.
    keys: ArrayVec<u64, FLIGHT>,
}

impl Order {
    pub(crate) fn new() -> Self {
        Self { keys: ArrayVec::new() }
    }

    /// Appends the message at this place. Places must be appended in ascending order.
    #[inline(always)]
    pub(crate) fn push(&mut self, place: usize, len: usize) {
        self.keys.push((u64::MAX / PLACES - len as u64) * PLACES + place as u64);
    }

    /// Sorts by length, longest first. Messages of equal length keep their order, so a batch of equal lengths is
    /// sorted already.
    #[inline(always)]
    pub(crate) fn sort(&mut self) {
        if self.is_sorted() {
            return;
        }
        if self.keys.iter().all(|key| key & HIGH == HIGH) {
            self.rank();
        } else {
            self.keys.sort_unstable();
        }
    }

    #[inline(always)]
    pub(crate) fn is_sorted(&self) -> bool {
        self.keys.is_sorted()
    }

    /// Moves each key to its rank: the number of keys below it. On a CPU with wide registers, counting takes half as
    /// long as sorting. The keys must differ only in their low halves.
    #[inline(always)]
    fn rank(&mut self) {
        let count = self.keys.len();
        let mut keys = [u32::MAX; FLIGHT];
        for (key, &whole) in keys.iter_mut().zip(&self.keys) {
            *key = whole as u32;
        }
        for group in keys.as_chunks::<RANKED>().0.iter().take(count.div_ceil(RANKED)) {
            let mut ranks = [0; RANKED];
            for &key in &keys[..count] {
                // The barrier makes the compiler vectorize over the ranks, not over the keys.
                let key = black_box(key);
                for i in 0..RANKED {
                    ranks[i] += u32::from(key < group[i]);
                }
            }
            for i in 0..RANKED {
                if let Some(key) = self.keys.get_mut(ranks[i] as usize) {
                    *key = HIGH | u64::from(group[i]);
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the place at this position of the order.
    #[inline(always)]
    pub(crate) fn place(&self, position: usize) -> usize {
        place(self.keys[position])
    }

    /// Returns the places in order.
    #[inline(always)]
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        self.keys.iter().map(|&key| place(key))
    }
}

/// Returns the place in a sort key.
fn place(key: u64) -> usize {
    (key % PLACES) as usize
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn order(lens: &[usize]) -> Order {
        let mut order = Order::new();
        for (place, &len) in lens.iter().enumerate() {
            order.push(place, len);
        }
        order.sort();
        order
    }

    #[test]
    fn the_longest_come_first_and_equal_ones_in_order() {
        assert_eq!(order(&[5, 9, 9, 0, 7, 5]).places().collect::<Vec<_>>(), [1, 2, 4, 0, 5, 3]);
        assert!(order(&[]).is_empty());
    }

    #[test]
    fn many_lengths_short_and_long_come_in_falling_order() {
        for shift in [0, 20, 30] {
            for count in [2, 31, 32, 33, 64, 65, FLIGHT] {
                let lens: Vec<usize> = (0..count).map(|i| (i * 7919 % 61) << shift).collect();
                let mut places: Vec<usize> = (0..count).collect();
                places.sort_by_key(|&place| core::cmp::Reverse(lens[place]));
                assert_eq!(order(&lens).places().collect::<Vec<_>>(), places, "{count} of 2^{shift}");
            }
        }
    }
}
