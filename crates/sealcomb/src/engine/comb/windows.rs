//! The windows of the comb: algorithm 2 of the FSE 2015 paper.

use alloc::vec::Vec;

/// A stretch of steps with the same messages in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Messages processed in parallel: the paper's `P[w]`.
    pub(crate) messages: usize,
    /// Blocks of each of them: the paper's `B[w]`.
    pub(crate) blocks: usize,
}

/// Cuts a group of messages, whose `lengths` in blocks fall or stay, into windows: each ends where a message does.
pub(crate) fn windows(lengths: &[usize]) -> Vec<Window> {
    let mut windows = Vec::new();
    let mut done = 0;
    let mut messages = lengths.len();
    while messages > 0 {
        let shortest = lengths[messages - 1];
        if shortest > done {
            windows.push(Window { messages, blocks: shortest - done });
            done = shortest;
        }
        // All messages as short as this one end here.
        while messages > 0 && lengths[messages - 1] == shortest {
            messages -= 1;
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(lengths: &[usize]) -> Vec<(usize, usize)> {
        windows(lengths).iter().map(|w| (w.messages, w.blocks)).collect()
    }

    #[test]
    fn the_papers_example_gives_the_papers_windows() {
        let mut lengths = [94, 5, 5, 5, 85, 94, 94];
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(lists(&lengths), [(7, 5), (4, 80), (3, 9)]);
    }

    #[test]
    fn a_lone_message_is_one_window() {
        assert_eq!(lists(&[12]), [(1, 12)]);
        assert_eq!(lists(&[]), []);
    }

    #[test]
    fn equal_messages_share_one_window() {
        assert_eq!(lists(&[8; 5]), [(5, 8)]);
    }

    #[test]
    fn empty_messages_open_no_window() {
        assert_eq!(lists(&[3, 0, 0]), [(1, 3)]);
        assert_eq!(lists(&[0]), []);
    }

    #[test]
    fn every_block_is_in_exactly_one_window() {
        let lengths = [40, 39, 39, 17, 16, 2, 1, 1, 0];
        let total: usize = windows(&lengths).iter().map(|w| w.messages * w.blocks).sum();
        assert_eq!(total, lengths.iter().sum::<usize>());
    }
}
