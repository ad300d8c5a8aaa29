//! Sequence numbers on the sender's side: RFC 4303, section 3.3.3.

/// The sequence numbers of one association's sender. Each is issued once, in ascending order, up to a maximum.
///
/// Counter modes build their nonces from these numbers, so a number must never repeat under one key.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// The first number that this sender issues or issued. `None`: it has none to issue.
    first: Option<u64>,
    /// `None`: all numbers are used up.
    next: Option<u64>,
    last: u64,
}

impl Numbers {
    /// Returns a sender's numbers from `first` to `last`, inclusive. `first` is at least 1. There are no numbers if
    /// `first` exceeds `last`.
    pub fn new(first: u64, last: u64) -> Self {
        let first = (first <= last).then_some(first);
        Self { first, next: first, last }
    }

    /// Skips all numbers up to and including `used`, the last one that an earlier sender used.
    pub fn resume_after(&mut self, used: u64) {
        if self.next.is_some_and(|next| used >= next) {
            self.first = self.after(used);
            self.next = self.first;
        }
    }

    /// Issues the next number. Returns `None` if all are used up: the association needs a new key.
    pub fn take(&mut self) -> Option<u64> {
        let number = self.next?;
        self.next = self.after(number);
        Some(number)
    }

    /// Returns the number that [`Numbers::take`] will issue next, or `None` if all are used up.
    pub fn next(&self) -> Option<u64> {
        self.next
    }

    /// Returns the highest number that the next `count` packets can use, or `None` if all numbers are used up.
    /// `count` is at least 1.
    pub fn highest(&self, count: u64) -> Option<u64> {
        Some(self.next?.saturating_add(count - 1).min(self.last))
    }

    /// Returns the first and the last number issued, or `None` if none was.
    pub fn used(&self) -> Option<(u64, u64)> {
        let first = self.first?;
        let last = self.next.map_or(self.last, |next| next - 1);
        (last >= first).then_some((first, last))
    }

    fn after(&self, number: u64) -> Option<u64> {
        (number < self.last).then(|| number + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_issued_once_and_none_after_the_last() {
        let mut numbers = Numbers::new(3, 5);
        assert_eq!(numbers.used(), None);
        let taken: Vec<u64> = std::iter::from_fn(|| numbers.take()).collect();
        assert_eq!(taken, [3, 4, 5]);
        assert_eq!((numbers.take(), numbers.used()), (None, Some((3, 5))));
    }

    #[test]
    fn the_last_of_64_bits_does_not_wrap() {
        let mut numbers = Numbers::new(u64::MAX, u64::MAX);
        assert_eq!((numbers.take(), numbers.take()), (Some(u64::MAX), None));
    }

    #[test]
    fn numbers_resume_after_the_used_ones() {
        let mut numbers = Numbers::new(5, 100);
        numbers.resume_after(3);
        assert_eq!(numbers.next(), Some(5));
        numbers.resume_after(9);
        assert_eq!((numbers.next(), numbers.highest(4), numbers.used()), (Some(10), Some(13), None));
        numbers.resume_after(100);
        assert_eq!((numbers.next(), numbers.take()), (None, None));
    }

    #[test]
    fn an_empty_range_has_no_numbers() {
        assert_eq!(Numbers::new(6, 5).take(), None);
    }
}
