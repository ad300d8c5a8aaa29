//! The windows of the comb: algorithm 2 of Bogdanov, Lauridsen and Tischhauser (FSE 2015).
//!
//! ```text
//! for each distinct length of the group, shortest first:
//!     a window of all messages at least as long, from the previous length to this one
//! ```

use alloc::vec::Vec;

/// Consecutive steps with the same messages in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Number of messages processed in parallel: the paper's `P[w]`.
    pub(crate) messages: usize,
    /// Number of blocks of each of them: the paper's `B[w]`.
    pub(crate) blocks: usize,
}

/// Divides a group of messages into windows, each of which ends where a message ends. `lengths` are in blocks, in
/// descending order.
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
        // All messages of this length end here.
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
