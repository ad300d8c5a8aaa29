//! The order in which the messages of a flight are laid out: longest first.

use arrayvec::ArrayVec;

use super::FLIGHT;

/// Places of a flight's messages, a power of two, as part of a sorting key.
const PLACES: u64 = FLIGHT as u64;

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
    pub(crate) fn sort(&mut self) {
        self.keys.sort_unstable();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The places.
    #[inline(always)]
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        self.keys.iter().map(|&key| place(key))
    }

    /// The places, so many at a time, and those that are left.
    #[inline(always)]
    pub(crate) fn groups<const N: usize>(
        &self,
    ) -> (impl Iterator<Item = [usize; N]>, impl Iterator<Item = usize>) {
        let (groups, rest) = self.keys.as_chunks();
        (groups.iter().map(|group| group.map(place)), rest.iter().map(|&key| place(key)))
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
    fn groups_and_the_rest_are_all_places() {
        let order = order(&[1, 2, 3, 4, 5]);
        let (groups, rest) = order.groups::<2>();
        assert_eq!(groups.collect::<Vec<_>>(), [[4, 3], [2, 1]]);
        assert_eq!(rest.collect::<Vec<_>>(), [0]);
    }
}
