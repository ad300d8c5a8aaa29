//! The states of a context's IV and tag. They follow OpenSSL's default provider.

use crate::errors::{Outcome, Refused};

/// The state of a context's IV, with the message `M` in progress.
pub(crate) enum Iv<M> {
    /// No IV was ever set. GCM draws a random one when encrypting; other modes fail.
    Unset,
    /// An IV was set, restored or drawn, and no message has used it.
    Buffered,
    /// A message with this IV is in progress.
    Running(M),
    /// A message with this IV has ended, or the IV became invalid. The next message needs a new IV.
    Finished,
}

impl<M> Iv<M> {
    /// Aborts the message in progress, if any; its IV counts as used.
    pub(crate) fn abort(&mut self) {
        if matches!(self, Self::Running(_)) {
            *self = Self::Finished;
        }
    }
}

impl<M: Clone> Clone for Iv<M> {
    fn clone(&self) -> Self {
        match self {
            Self::Unset => Self::Unset,
            Self::Buffered => Self::Buffered,
            Self::Running(message) => Self::Running(message.clone()),
            Self::Finished => Self::Finished,
        }
    }
}

/// Maximum size of a tag in bytes.
pub(crate) const TAG_BYTES: usize = 16;

/// The state of a context's tag. A tag belongs to one message and one direction.
#[derive(Clone, Copy)]
pub(crate) enum Tag {
    None,
    /// Decryption: the tag that the caller set for the message.
    Expected([u8; TAG_BYTES]),
    /// Encryption: the tag of the message.
    Computed([u8; TAG_BYTES]),
    /// The message has ended successfully: its tag was verified, or was read and cannot be read again.
    Done,
}

impl Tag {
    /// Returns [`Tag::Expected`] with `tag`, of at most [`TAG_BYTES`] bytes.
    pub(crate) fn expected(tag: &[u8]) -> Self {
        let mut block = [0; TAG_BYTES];
        block[..tag.len()].copy_from_slice(tag);
        Self::Expected(block)
    }

    /// Clears the previous message's tag when a message begins. An expected tag stays, as it may be set before the
    /// message begins.
    pub(crate) fn begin(&mut self, encrypts: bool) {
        if encrypts || !self.is_expected() {
            *self = Self::None;
        }
    }

    /// Returns whether a message in one piece has ended successfully.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Computed(_) | Self::Done)
    }

    /// Removes and returns the expected tag, if there is one, so that it serves for one comparison.
    pub(crate) fn take_expected(&mut self) -> Outcome<[u8; TAG_BYTES]> {
        match *self {
            Self::Expected(tag) => {
                *self = Self::None;
                Ok(tag)
            }
            _ => Err(Refused::SILENTLY),
        }
    }

    pub(crate) fn is_expected(&self) -> bool {
        matches!(self, Self::Expected(_))
    }

    pub(crate) fn computed(&self) -> Option<&[u8; TAG_BYTES]> {
        match self {
            Self::Computed(tag) => Some(tag),
            _ => None,
        }
    }
}
