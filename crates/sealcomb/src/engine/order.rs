//! The order in which the messages of a flight are laid out: longest first.

use core::hint::black_box;

use arrayvec::ArrayVec;

use super::FLIGHT;

/// Places of a flight's messages, a power of two, as part of a sorting key.
const PLACES: u64 = FLIGHT as u64;

/// The high half of the key of every message of less than 32 MiB.
const HIGH: u64 = !(u32::MAX as u64);

/// Keys that are ranked together.
const RANKED: usize = 32;

/// Places of messages, sorted by length.
pub(crate) struct Order {
    /// The length, from the top down, and below it the message's place.
    keys: ArrayVec<u64, FLIGHT>,
}

impl Order {
    pub(crate) fn new() -> Self {
        Self { keys: ArrayVec::new() }
    }

    /// Appends the message at this place, which comes after those before it.
    #[inline(always)]
    pub(crate) fn push(&mut self, place: usize, len: usize) {
        self.keys.push((u64::MAX / PLACES - len as u64) * PLACES + place as u64);
    }

    /// Longest first, and in order where the lengths are equal: batches of equal messages are sorted already.
    #[inline(always)]
    pub(crate) fn sort(&mut self) {
        if self.keys.is_sorted() {
            return;
        }
        if self.keys.iter().all(|key| key & HIGH == HIGH) {
            self.rank();
        } else {
            self.keys.sort_unstable();
        }
    }

    /// Puts each key to its rank, that is the number of keys below it. To count them takes a CPU with wide registers half
    /// the time of a sort. Only for keys that differ in their low halves.
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
                // Opaque, or the compiler would lay several keys side by side and not the ranks.
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

    /// The places.
    #[inline(always)]
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        self.keys.iter().map(|&key| place(key))
    }
}

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
