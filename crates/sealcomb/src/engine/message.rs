//! The interface between the library and its modes: checked messages, each with its key.

use alloc::borrow::Cow;
use core::ops::Deref;

use arrayvec::ArrayVec;
use once_cell::race::OnceBox;

use super::frame::Prepared;
use super::{FLIGHT, Schedule};
use crate::backend::{Backend, Block, ModeState, Span, Wiped};
use crate::primitives::aes::KeySchedule;

/// Maximum number of blocks that a mode can store in [`Material::subkeys`].
pub(crate) const SUBKEYS: usize = 4;

/// The key material of an algorithm. Its owner, a [`Key`](crate::Key), zeroizes it on drop.
pub(crate) struct Material {
    /// Unused if the mode's cipher is not AES.
    pub(crate) aes: KeySchedule,
    /// Blocks derived from the key, as defined by each mode.
    pub(crate) subkeys: [Block; SUBKEYS],
    /// Other state of the mode.
    pub(crate) mode_state: ModeState,
    /// What flights of GCM need.
    pub(crate) prepared: OnceBox<Wiped<Prepared>>,
    /// Size of a tag in bytes under this key.
    pub(crate) tag_bytes: usize,
}

impl Material {
    /// Returns material without a key. In a constant block, it is copied, which is faster than constructing its fields.
    pub(crate) const fn empty() -> Self {
        Self {
            aes: KeySchedule::empty(),
            subkeys: [[0; 16]; SUBKEYS],
            mode_state: ModeState::none(),
            prepared: OnceBox::new(),
            tag_bytes: 0,
        }
    }
}

/// The additional data of a message: one byte string, to which it dereferences, or any number of separate strings for a
/// mode that distinguishes them.
#[derive(Clone, Debug)]
pub(crate) enum AssociatedData<'a> {
    One(Cow<'a, [u8]>),
    Several(&'a [&'a [u8]]),
}

impl AssociatedData<'_> {
    /// Returns the number of strings.
    pub(crate) fn strings(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Several(strings) => strings.len(),
        }
    }

    /// Returns the string with this index.
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
    /// Size of the message in bytes. When opening, it is the maximum until the mode determines the size.
    pub(crate) bytes: usize,
    /// Before opening, the received tag, zero-padded; afterwards, the computed tag. A computed tag has 16 bytes even if
    /// the algorithm's tags are shorter.
    pub(crate) tag: Block,
}

impl Message<'_> {
    /// Zeroes the output after the message.
    #[inline]
    pub(crate) fn wipe_rest(&mut self) {
        if self.bytes < self.data.room() {
            self.data.wipe(self.bytes);
        }
    }
}

/// Returns whether all messages share one key.
#[inline(always)]
pub(crate) fn share_key(messages: &[&mut Message<'_>]) -> bool {
    messages.iter().all(|message| core::ptr::eq(message.key, messages[0].key))
}

/// Messages for one mode, all under keys of one algorithm.
pub(crate) struct Batch<'b, 'm, 'a> {
    pub(crate) backend: Backend,
    pub(crate) schedule: Schedule,
    /// The messages, which must stay in this order.
    pub(crate) messages: &'b mut [&'m mut Message<'a>],
}

impl Batch<'_, '_, '_> {
    /// Stores the tag of each message in it.
    pub(crate) fn set_tags(&mut self, tags: &[Block]) {
        for (message, tag) in self.messages.iter_mut().zip(tags) {
            message.tag = *tag;
        }
    }
}

/// One block per message of a flight. It is filled in place, because returning or collecting it would copy its whole
/// capacity, which takes longer than a short message.
pub(crate) type Column = ArrayVec<Block, FLIGHT>;
