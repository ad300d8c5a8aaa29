//! What a mode gets: messages that were found in order, each with its key.

use alloc::borrow::Cow;
use core::ops::Deref;

use arrayvec::ArrayVec;

use super::{FLIGHT, Schedule};
use crate::backend::{Backend, Block, Kept, Span};
use crate::primitives::aes::KeySchedule;

/// Blocks that a mode may derive from a key; one that has more keeps them apart.
pub(crate) const SUBKEYS: usize = 4;

/// What there is of a key, within memory that is wiped: its own is the [`Key`](crate::Key)'s.
pub(crate) struct Material {
    /// Without a use where the cipher is another one.
    pub(crate) aes: KeySchedule,
    /// Blocks derived from the key; each mode says which.
    pub(crate) subkeys: [Block; SUBKEYS],
    /// What else the mode keeps; each says what.
    pub(crate) kept: Kept,
    /// Bytes of a tag under this key.
    pub(crate) tag_bytes: usize,
}

impl Material {
    /// That of no key yet. A constant, since it is sooner copied than put together where nothing else is to be moved.
    pub(crate) const EMPTY: Self =
        Self { aes: KeySchedule::empty(), subkeys: [[0; 16]; SUBKEYS], kept: Kept::nothing(), tag_bytes: 0 };
}

/// The additional data of a message: one string of bytes, as which it also reads, or, for the mode that tells strings apart,
/// any number of them, of which nothing can be read but string by string.
#[derive(Clone, Debug)]
pub(crate) enum AssociatedData<'a> {
    One(Cow<'a, [u8]>),
    Several(&'a [&'a [u8]]),
}

impl AssociatedData<'_> {
    /// How many strings there are.
    pub(crate) fn strings(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Several(strings) => strings.len(),
        }
    }

    /// The string of this number, counted from 0.
    pub(crate) fn string(&self, number: usize) -> &[u8] {
        match self {
            Self::One(string) => string,
            Self::Several(strings) => strings[number],
        }
    }
}

impl Deref for AssociatedData<'_> {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match self {
            Self::One(string) => string,
            Self::Several(_) => &[],
        }
    }
}

/// A message to seal or open.
pub(crate) struct Message<'a> {
    pub(crate) key: &'a Material,
    pub(crate) nonce: &'a [u8],
    pub(crate) aad: AssociatedData<'a>,
    pub(crate) data: Span<'a>,
    /// Bytes of the message. When opening: as many as it can have, until the mode finds that it has fewer.
    pub(crate) bytes: usize,
    /// Before opening: the tag that came with the message. Afterwards: the tag that it should have, in 16 bytes
    /// however long the tag is.
    pub(crate) tag: Block,
}

impl Message<'_> {
    /// Zeros the bytes of the output after the message.
    #[inline]
    pub(crate) fn wipe_rest(&mut self) {
        if self.bytes < self.data.room() {
            self.data.wipe(self.bytes);
        }
    }
}

/// Whether all messages have one key.
#[inline(always)]
pub(crate) fn share_key(messages: &[&mut Message<'_>]) -> bool {
    messages.iter().all(|message| core::ptr::eq(message.key, messages[0].key))
}

/// Messages for one mode, all under keys of one algorithm.
pub(crate) struct Batch<'b, 'm, 'a> {
    pub(crate) backend: Backend,
    pub(crate) schedule: Schedule,
    pub(crate) messages: &'b mut [&'m mut Message<'a>],
}

impl Batch<'_, '_, '_> {
    /// Leaves each message's tag in it.
    pub(crate) fn set_tags(&mut self, tags: &[Block]) {
        for (message, tag) in self.messages.iter_mut().zip(tags) {
            message.tag = *tag;
        }
    }
}

/// A block of each message of a flight. Filled where it stays: to return or collect an array copies all that it has room
/// for, which is more than a short message costs.
pub(crate) type Column = ArrayVec<Block, FLIGHT>;
