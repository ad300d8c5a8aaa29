//! The sequence numbers that a sender gives out: RFC 4303, section 3.3.3.

/// The sequence numbers of one association's sender: each once, in order, up to a last one, after which there is none.
///
/// The counter modes make their nonces of them, so that none may ever come twice under one key.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// `None` where there is none to give.
    first: Option<u64>,
    next: Option<u64>,
    last: u64,
}

impl Numbers {
    /// Numbers from `first`, which is 1 or more, to `last`.
    pub fn new(first: u64, last: u64) -> Self {
        let first = (first <= last).then_some(first);
        Self { first, next: first, last }
    }

    /// Goes on after a number that was used before, unless they begin above it anyway.
    pub fn go_on_after(&mut self, used: u64) {
        if self.next.is_some_and(|next| used >= next) {
            self.first = self.after(used);
            self.next = self.first;
        }
    }

    /// The next number. `None` when they are used up: then the association needs a new key.
    pub fn take(&mut self) -> Option<u64> {
        let number = self.next?;
        self.next = self.after(number);
        Some(number)
    }

    /// The number that [`Numbers::take`] would give.
    pub fn next(&self) -> Option<u64> {
        self.next
    }

    /// The highest number that `count` further packets may use, `count` being 1 or more.
    pub fn highest(&self, count: u64) -> Option<u64> {
        Some(self.next?.saturating_add(count - 1).min(self.last))
    }

    /// The first and the last number that were taken, if any was.
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
    fn each_number_comes_once_and_none_after_the_last() {
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
    fn they_go_on_behind_what_was_used() {
        let mut numbers = Numbers::new(5, 100);
        numbers.go_on_after(3);
        assert_eq!(numbers.next(), Some(5));
        numbers.go_on_after(9);
        assert_eq!((numbers.next(), numbers.highest(4), numbers.used()), (Some(10), Some(13), None));
        numbers.go_on_after(100);
        assert_eq!((numbers.next(), numbers.take()), (None, None));
    }

    #[test]
    fn a_range_without_numbers_gives_none() {
        assert_eq!(Numbers::new(6, 5).take(), None);
    }
}
