//! Keys derived from the nonces of a group of messages, for modes in which each message has its own keys.

use super::aes::{GROUP, GroupKeys};
use super::wipe;
use crate::backend::{BLOCK, Block};

/// A hash key and an AES key for each message of a group. They are zeroized on drop.
pub(crate) struct Derived {
    pub(crate) authentication: [Block; GROUP],
    pub(crate) encryption: GroupKeys,
}

impl Derived {
    /// Returns a group without keys.
    #[inline(always)]
    pub(crate) fn empty() -> Self {
        Self { authentication: [[0; BLOCK]; GROUP], encryption: GroupKeys::empty() }
    }
}

/// Zeroizes the hash keys. [`GroupKeys`] zeroizes the AES keys.
impl Drop for Derived {
    fn drop(&mut self) {
        wipe(&mut self.authentication);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, Isa, Kernel, after_drop};

    /// A byte of all keys: no round key consists of it.
    const BYTE: u8 = 0xa5;

    /// Expands keys in the place of `derived`: a copy would remain where they were.
    struct Fill<'d> {
        derived: &'d mut Derived,
        halves: usize,
    }

    impl Kernel for Fill<'_> {
        type Output = ();

        #[inline(always)]
        fn run<B: Isa>(self, b: B) {
            self.derived.authentication = [[BYTE; BLOCK]; GROUP];
            for m in 0..GROUP {
                for half in 0..self.halves {
                    *self.derived.encryption.half(m, half) = [BYTE ^ m as u8; BLOCK];
                }
            }
            self.derived.encryption.expand(b, GROUP, self.halves);
        }
    }

    #[test]
    fn a_dropped_group_of_keys_leaves_no_key_of_any_round_and_message() {
        for backend in Backend::available().filter(|backend| !backend.is_soft()) {
            for halves in [1, 2] {
                let mut derived = Derived::empty();
                backend.run(Fill { derived: &mut derived, halves });
                let rounds = if halves == 1 { 10 } else { 14 };
                let keys: alloc::vec::Vec<Block> = (0..=rounds)
                    .flat_map(|round| (0..GROUP).map(move |m| (round, m)))
                    .map(|(round, m)| derived.encryption.round_key(round, m))
                    .chain([[BYTE; BLOCK]])
                    .collect();
                let left = after_drop(derived);
                for (i, key) in keys.iter().enumerate() {
                    assert!(!left.windows(BLOCK).any(|bytes| bytes == key), "{backend:?} {halves}: key {i}");
                }
            }
        }
    }
}
