//! The states of an IV and of a tag, which are those of OpenSSL's own provider: they say what a context does next.

/// The IV of a context, and with it the message `M`.
pub(crate) enum Iv<M> {
    /// None was ever given. GCM draws one at random if it encrypts; the others refuse.
    Unset,
    /// One was given, restored or drawn, and the next message has it.
    Buffered,
    /// A message with it has begun.
    Running(M),
    /// A message with it has ended, or it has become invalid: another must come first.
    Finished,
}

impl<M> Iv<M> {
    /// What happens to a message that can't go on. Without one, the IV stays as it is.
    pub(crate) fn break_off(&mut self) {
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

/// The most bytes of a tag.
pub(crate) const TAG_BYTES: usize = 16;

/// The tag of a context. It belongs to one message and to one direction.
#[derive(Clone, Copy)]
pub(crate) enum Tag {
    None,
    /// That which the message should have, as the caller said.
    Expected([u8; TAG_BYTES]),
    /// That of the message that was encrypted.
    Computed([u8; TAG_BYTES]),
    /// The message has ended well, and its tag was compared, or handed out for good.
    Done,
}

impl Tag {
    /// `tag`, of at most 16 bytes, as the one that a message should have.
    pub(crate) fn expected(tag: &[u8]) -> Self {
        let mut block = [0; TAG_BYTES];
        block[..tag.len()].copy_from_slice(tag);
        Self::Expected(block)
    }

    /// Another message begins: the tag of the one before is not its. One that was given before it may be.
    pub(crate) fn begin(&mut self, encrypts: bool) {
        if encrypts || !self.is_expected() {
            *self = Self::None;
        }
    }

    /// Whether a message of one piece has ended well.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Computed(_) | Self::Done)
    }

    /// The tag that the message should have, for one comparison.
    pub(crate) fn take_expected(&mut self) -> Option<[u8; TAG_BYTES]> {
        match *self {
            Self::Expected(tag) => {
                *self = Self::None;
                Some(tag)
            }
            _ => None,
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
