//! What can go wrong: misuse is a typed [`Error`], a message that did not verify is the one opaque [`Forged`].

use core::fmt;

/// A mistake of the caller, found before anything is written.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The key has `got` bytes; the algorithm takes exactly `expected`.
    KeyLength {
        /// Bytes that the algorithm takes.
        expected: usize,
        /// Bytes that were given.
        got: usize,
    },
    /// The nonce (or IV) of this many bytes is not one that the algorithm takes.
    NonceLength {
        /// Bytes that were given.
        got: usize,
    },
    /// The tag of this many bytes is not one that the algorithm (or this key) takes.
    TagLength {
        /// Bytes that were given.
        got: usize,
    },
    /// The message is shorter than the least that the mode takes: EME2 needs a whole block.
    MessageTooShort {
        /// The least bytes that a message may have.
        least: usize,
        /// Bytes that were given.
        got: usize,
    },
    /// The message is longer than the mode's limit, beyond which its counter would wrap.
    MessageTooLong {
        /// The most bytes that a message may have under this key and nonce length.
        limit: u64,
    },
    /// The additional data is longer than the mode's limit.
    AadTooLong {
        /// The most bytes that the additional data may have.
        limit: u64,
    },
    /// AES-SIV takes no more associated strings than that, a nonce among them (RFC 5297, section 2.6).
    TooManyStrings {
        /// The most strings.
        limit: usize,
    },
    /// ECB and CBC take whole 16-byte blocks; padding is the caller's. A stream of OCB3 takes them in every
    /// piece but the last.
    NotWholeBlocks {
        /// Bytes that were given.
        got: usize,
    },
    /// The output buffer is shorter than the result.
    OutputTooShort {
        /// Bytes that the result takes.
        needed: usize,
        /// Bytes that were given.
        got: usize,
    },
    /// The algorithm's ciphertexts are longer than their messages, and what was called has no way to tell how long the
    /// message is: [`crate::Key::open`] and [`crate::OpenJob`] do.
    CiphertextIsLonger,
    /// A column of a [`crate::Burst`] has not one entry for each message.
    UnevenColumns {
        /// Messages of the burst.
        messages: usize,
        /// Entries of the column.
        got: usize,
    },
    /// The algorithm is an unauthenticated cipher: it takes no additional data.
    TakesNoAad,
    /// The algorithm is a MAC: what it authenticates is the additional data, and there is no message to encrypt.
    TakesNoMessage,
    /// GCM's additional data comes before the message.
    AadAfterMessage,
    /// The message in pieces has ended, and no other has begun.
    MessageEnded,
    /// The algorithm takes no messages in pieces.
    NotInPieces,
    /// No algorithm has this id; [`crate::ALGORITHMS`] lists those there are.
    UnknownAlgorithm,
    /// No backend has this name; [`crate::Backend::names`] lists those there are.
    UnknownBackend,
    /// The backend exists, but this CPU (or its operating system) lacks the instructions.
    BackendUnavailable {
        /// The backend's name.
        name: &'static str,
    },
    /// The backend exists, but was not compiled into this program.
    BackendNotBuilt {
        /// The backend's name.
        name: &'static str,
        /// What a build needs to have it: a feature, or another architecture.
        needs: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::KeyLength { expected, got } => {
                write!(f, "key of {got} bytes; this algorithm takes {expected}")
            }
            Self::NonceLength { got } => {
                write!(f, "nonce of {got} bytes; this algorithm takes another length")
            }
            Self::TagLength { got } => {
                write!(f, "tag of {got} bytes; this key takes another length")
            }
            Self::MessageTooShort { least, got } => {
                write!(f, "message of {got} bytes; this mode takes {least} or more")
            }
            Self::MessageTooLong { limit } => {
                write!(f, "message over this mode's limit of {limit} bytes")
            }
            Self::AadTooLong { limit } => {
                write!(f, "additional data over this mode's limit of {limit} bytes")
            }
            Self::TooManyStrings { limit } => {
                write!(f, "more than {limit} associated strings, with the nonce")
            }
            Self::NotWholeBlocks { got } => {
                write!(f, "message of {got} bytes; this mode takes whole blocks of 16 bytes")
            }
            Self::OutputTooShort { needed, got } => {
                write!(f, "output of {got} bytes; the result takes {needed}")
            }
            Self::CiphertextIsLonger => {
                f.write_str("this algorithm's ciphertexts are longer than their messages; open it with a job")
            }
            Self::UnevenColumns { messages, got } => {
                write!(f, "a column of {got} entries for {messages} messages")
            }
            Self::TakesNoAad => f.write_str("an unauthenticated cipher takes no additional data"),
            Self::TakesNoMessage => {
                f.write_str("a MAC takes its message as additional data and encrypts nothing")
            }
            Self::AadAfterMessage => f.write_str("additional data after the message has begun"),
            Self::MessageEnded => f.write_str("the message has ended"),
            Self::NotInPieces => f.write_str("this algorithm takes no messages in pieces"),
            Self::UnknownAlgorithm => f.write_str("no algorithm has this id"),
            Self::UnknownBackend => {
                f.write_str("no backend has this name; use one of ")?;
                for (i, name) in crate::Backend::names().enumerate() {
                    write!(f, "{}{name}", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Self::BackendUnavailable { name } => {
                write!(f, "this CPU lacks the instructions of the backend {name}")
            }
            Self::BackendNotBuilt { name, needs } => {
                write!(f, "the backend {name} is not in this build; it needs {needs}")
            }
        }
    }
}

impl core::error::Error for Error {}

/// A mistake in one job of a batch. Nothing of the batch was processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchError {
    /// Which job, counted from 0.
    pub index: usize,
    /// What is wrong with it.
    pub error: Error,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {}: {}", self.index, self.error)
    }
}

impl core::error::Error for BatchError {}

/// The message did not verify. Why is not told: an attacker could learn from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forged;

impl fmt::Display for Forged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message did not verify")
    }
}

impl core::error::Error for Forged {}

/// Why one message could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// A mistake of the caller; nothing was written.
    Misuse(Error),
    /// The message did not verify; its output is zeroed.
    Forged,
}

impl From<Error> for OpenError {
    fn from(error: Error) -> Self {
        Self::Misuse(error)
    }
}

impl From<Forged> for OpenError {
    fn from(Forged: Forged) -> Self {
        Self::Forged
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misuse(error) => error.fmt(f),
            Self::Forged => Forged.fmt(f),
        }
    }
}

impl core::error::Error for OpenError {}
