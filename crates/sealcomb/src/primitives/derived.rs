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
