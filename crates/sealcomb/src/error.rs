//! Errors. Misuse is a typed [`Error`]; a message that fails verification is always the opaque [`Forged`].

use core::fmt;

/// A mistake of the caller, detected before anything is written.
///
/// Messages give what was found and what was expected. They contain sizes and names only, never keys or data.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The key does not have the algorithm's key size.
    KeyLength {
        /// The algorithm's id.
        algorithm: &'static str,
        /// The key size in bytes.
        expected: usize,
        /// The length of the given key in bytes.
        got: usize,
    },
    /// The key consists of two equal keys, which XTS refuses: under such a key, it is not secure against chosen
    /// ciphertexts.
    EqualKeyHalves {
        /// The algorithm's id.
        algorithm: &'static str,
    },
    /// The algorithm does not take nonces (or IVs) of this length.
    NonceLength {
        /// The algorithm's id.
        algorithm: &'static str,
        /// The minimum nonce length in bytes.
        min: usize,
        /// The maximum nonce length in bytes.
        max: usize,
        /// The length of the given nonce in bytes.
        got: usize,
    },
    /// The algorithm, the key or the stream does not take tags of this length.
    TagLength {
        /// The algorithm's id.
        algorithm: &'static str,
        /// The accepted lengths in bytes, in ascending order. One length if the key or the stream has fixed it; none
        /// if the algorithm is an unauthenticated cipher.
        expected: &'static [usize],
        /// The length of the given tag in bytes.
        got: usize,
    },
    /// The message is shorter than the mode's minimum: EME2, HCTR2 and XTS need a whole block.
    MessageTooShort {
        /// The minimum message size in bytes.
        min: usize,
        /// The length of the given message in bytes.
        got: usize,
    },
    /// The message is longer than the limit of the mode's specification.
    MessageTooLong {
        /// The maximum message size in bytes, under this key and for this nonce length.
        limit: u64,
        /// The length of the given message in bytes.
        got: u64,
    },
    /// The additional data is longer than the mode's limit.
    AadTooLong {
        /// The maximum size of the additional data in bytes.
        limit: u64,
        /// The length of the given additional data in bytes.
        got: u64,
    },
    /// AES-SIV takes at most 126 associated strings, the nonce included (RFC 5297, section 2.6).
    TooManyStrings {
        /// The maximum number of strings.
        limit: usize,
        /// The number of given strings, the nonce included.
        got: usize,
    },
    /// Several associated strings were passed to an algorithm other than AES-SIV, which could not tell where one ends.
    /// [`crate::Aad::joined`] joins parts of one string.
    TakesNoStrings {
        /// The algorithm's id.
        algorithm: &'static str,
    },
    /// The data is not a multiple of 16 bytes. ECB and CBC take whole blocks, which the caller pads. A stream of OCB3
    /// takes whole blocks in every piece except the last.
    NotWholeBlocks {
        /// The length of the given message or piece in bytes.
        got: usize,
    },
    /// The output buffer is shorter than the result.
    OutputTooShort {
        /// The length of the result in bytes.
        needed: usize,
        /// The length of the given buffer in bytes.
        got: usize,
    },
    /// The algorithm's ciphertexts are longer than their messages, which the called function does not support. Use
    /// [`crate::SealJob`] and [`crate::OpenJob`], or [`crate::Key::seal`] and [`crate::Key::open`].
    CiphertextIsLonger,
    /// A column of a [`crate::Burst`] does not have one entry per message.
    UnevenColumns {
        /// The number of messages in the burst.
        messages: usize,
        /// The number of entries in the column.
        got: usize,
    },
    /// The algorithm is an unauthenticated cipher, which takes no additional data.
    TakesNoAad,
    /// The algorithm is an unauthenticated cipher, so that nothing can be verified. Jobs and bursts return
    /// [`crate::Verdict::Unauthenticated`], and `Key::open_unverified_in_place_detached` decrypts single messages.
    Unauthenticated {
        /// The algorithm's id.
        algorithm: &'static str,
    },
    /// The algorithm is a MAC: it authenticates the additional data and encrypts no message.
    TakesNoMessage,
    /// A stream of GCM was given additional data after the first byte of the message.
    AadAfterMessage,
    /// The stream's message has ended, and no other message has begun.
    MessageEnded,
    /// The algorithm cannot process a message in pieces, as a stream does.
    NotInPieces,
    /// The algorithm does not encrypt sectors by their numbers. XTS does.
    NoSectors {
        /// The algorithm's id.
        algorithm: &'static str,
    },
    /// The packet is shorter than its header, what follows it, and a tag.
    PacketTooShort {
        /// Size in bytes of a packet with an empty message.
        min: usize,
        /// Size of the packet in bytes.
        got: usize,
    },
    /// No algorithm has this id; [`crate::ALGORITHMS`] lists those of this build.
    UnknownAlgorithm,
    /// This build lacks the Cargo feature of the algorithm's mode, which is enabled by default.
    AlgorithmNotBuilt {
        /// The algorithm's id.
        id: &'static str,
        /// The Cargo feature that it requires.
        feature: &'static str,
    },
    /// The algorithm is unauthenticated, or its status is research or broken: only `hazmat::by_id` or `research::by_id`
    /// returns it, in builds with the Cargo features that it requires.
    RestrictedAlgorithm {
        /// The algorithm's id.
        id: &'static str,
        /// The Cargo features that it requires.
        features: &'static [&'static str],
    },
    /// No backend has this name; [`crate::Backend::names`] lists all of them.
    UnknownBackend,
    /// This CPU lacks the backend's instructions, or the operating system has not enabled their registers.
    BackendUnavailable {
        /// The backend's name.
        name: &'static str,
    },
    /// The backend exists, but was not compiled into this program.
    BackendNotBuilt {
        /// The backend's name.
        name: &'static str,
        /// What a build requires to include it: a feature, or another architecture.
        needs: &'static str,
    },
}

/// All tag lengths in bytes.
pub(crate) static TAG_LENGTHS: [usize; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

impl Error {
    /// The error for a tag of `got` bytes where a key or a stream has fixed the length to `fixed` bytes: 0 to 16.
    #[cold]
    pub(crate) fn tag_length(algorithm: &'static str, fixed: usize, got: usize) -> Self {
        let expected = match fixed.checked_sub(1) {
            Some(i) => &TAG_LENGTHS[i..fixed],
            None => &[],
        };
        Self::TagLength { algorithm, expected, got }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::KeyLength { algorithm, expected, got } => {
                write!(f, "key of {got} bytes; {algorithm} takes {expected}")
            }
            Self::EqualKeyHalves { algorithm } => {
                write!(f, "key of two equal halves; {algorithm} takes two different keys")
            }
            Self::NonceLength { algorithm, min, max, got } => {
                write!(f, "nonce of {got} bytes; {algorithm} takes ")?;
                write_range(f, min, max)
            }
            Self::TagLength { algorithm, expected, got } => {
                write!(f, "tag of {got} bytes; {algorithm} takes ")?;
                write_tag_lengths(f, expected)
            }
            Self::MessageTooShort { min, got } => {
                write!(f, "message of {got} bytes; this mode takes at least {min}")
            }
            Self::MessageTooLong { limit, got } => {
                write!(f, "message of {got} bytes; this mode takes at most {limit}")
            }
            Self::AadTooLong { limit, got } => {
                write!(f, "additional data of {got} bytes; this mode takes at most {limit}")
            }
            Self::TooManyStrings { limit, got } => {
                write!(f, "{got} associated strings; AES-SIV takes at most {limit}, the nonce included")
            }
            Self::TakesNoStrings { algorithm } => {
                write!(
                    f,
                    "associated strings for {algorithm}; only AES-SIV takes them, others take Aad::joined"
                )
            }
            Self::NotWholeBlocks { got } => {
                write!(f, "message or piece of {got} bytes; expected a multiple of 16")
            }
            Self::OutputTooShort { needed, got } => {
                write!(f, "output buffer of {got} bytes; the result takes {needed}")
            }
            Self::CiphertextIsLonger => f.write_str(
                "this algorithm's ciphertexts are longer than their messages; use SealJob and OpenJob",
            ),
            Self::UnevenColumns { messages, got } => {
                write!(f, "column of {got} entries for {messages} messages; expected one entry per message")
            }
            Self::TakesNoAad => {
                f.write_str("additional data for an unauthenticated cipher, which takes none; use an AEAD")
            }
            Self::Unauthenticated { algorithm } => {
                write!(
                    f,
                    "{algorithm} does not authenticate messages; use an AEAD, or open_unverified_in_place_detached"
                )
            }
            Self::TakesNoMessage => {
                f.write_str("message for a MAC, which encrypts nothing; pass it as additional data")
            }
            Self::AadAfterMessage => {
                f.write_str("additional data after the message has begun; GCM takes it before the message")
            }
            Self::MessageEnded => f.write_str("the message has ended; begin another one first"),
            Self::NotInPieces => f.write_str(
                "this algorithm takes whole messages only; GCM, GMAC, OCB3 and CMAC of AES take pieces",
            ),
            Self::NoSectors { algorithm } => {
                write!(f, "{algorithm} does not encrypt sectors by their numbers; use XTS")
            }
            Self::PacketTooShort { min, got } => {
                write!(f, "packet of {got} bytes; header and tag take {min}")
            }
            Self::UnknownAlgorithm => {
                f.write_str("no algorithm has this id; `sealcomb list` and sealcomb::ALGORITHMS list the ids")
            }
            Self::AlgorithmNotBuilt { id, feature } => {
                write!(f, "algorithm `{id}` is not in this build: it requires the feature `{feature}`")
            }
            Self::RestrictedAlgorithm { id, features: [feature] } => {
                let what = if *feature == "hazmat" { "unauthenticated" } else { "not a standard" };
                write!(f, "`{id}` is {what}: use {feature}::by_id, which requires the feature `{feature}`")
            }
            Self::RestrictedAlgorithm { id, .. } => write!(
                f,
                "`{id}` is unauthenticated and not a standard: use research::by_id, which requires the features \
                 `hazmat` and `research`"
            ),
            Self::UnknownBackend => list_backends(f),
            Self::BackendUnavailable { name } => {
                write!(
                    f,
                    "backend `{name}`: the CPU lacks its instructions, or the OS has not enabled them; it needs "
                )?;
                for (i, feature) in crate::Backend::needs(name).iter().enumerate() {
                    write!(f, "{}{feature}", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Self::BackendNotBuilt { name, needs } => {
                write!(f, "backend `{name}` is not in this build: it requires {needs}")
            }
        }
    }
}

/// Writes the names that an unknown one could have been.
fn list_backends(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("no backend has this name; use one of ")?;
    for (i, name) in crate::Backend::names().enumerate() {
        write!(f, "{}{name}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl core::error::Error for Error {}

/// Writes a range of nonce lengths: `12`, `7 to 13`, `at least 1`, `none`.
fn write_range(f: &mut fmt::Formatter<'_>, min: usize, max: usize) -> fmt::Result {
    // The limits of GCM, EAX and SIV exceed any buffer.
    const UNBOUNDED: usize = 1 << 16;
    match (min, max) {
        (_, 0) => f.write_str("none"),
        _ if min == max => write!(f, "{min}"),
        _ if max > UNBOUNDED => write!(f, "at least {min}"),
        _ => write!(f, "{min} to {max}"),
    }
}

/// Writes a list of tag lengths: `12 to 16`, `4, 8, or 12 to 16`, `none`; `16 here` for a single one, which may be that
/// of a key or a stream.
fn write_tag_lengths(f: &mut fmt::Formatter<'_>, lengths: &[usize]) -> fmt::Result {
    let runs = || lengths.chunk_by(|a, b| a + 1 == *b);
    let count = runs().count();
    match lengths {
        [] => return f.write_str("none"),
        [one] => return write!(f, "{one} here"),
        _ => {}
    }
    for (i, run) in runs().enumerate() {
        let separator = match (i, count) {
            (0, _) => "",
            (1, 2) => " or ",
            _ if i + 1 == count => ", or ",
            _ => ", ",
        };
        f.write_str(separator)?;
        match run {
            [first, .., last] => write!(f, "{first} to {last}")?,
            [one] => write!(f, "{one}")?,
            [] => {}
        }
    }
    Ok(())
}

/// A mistake in one message of a batch: one job, or one message of a burst. No message was processed, and nothing was
/// written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchError {
    pub(crate) index: usize,
    pub(crate) error: Error,
}

impl BatchError {
    /// Returns the error for a mistake in the message with this index, for code that makes jobs of other messages.
    #[must_use]
    pub const fn new(index: usize, error: Error) -> Self {
        Self { index, error }
    }

    /// Returns the index of the message, counted from 0.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Returns the mistake.
    #[must_use]
    pub const fn error(&self) -> Error {
        self.error
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}: {}", self.index, self.error)
    }
}

impl core::error::Error for BatchError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// The message failed verification. The error has no reason, because a reason could help an attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forged;

impl fmt::Display for Forged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message did not verify")
    }
}

impl core::error::Error for Forged {}

/// The reason why one message was not opened. The enum is exhaustive on purpose: there is no third reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// A mistake of the caller. Nothing was written.
    Misuse(Error),
    /// The message failed verification. Its output is zeroed.
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

impl core::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Misuse(error) => Some(error),
            Self::Forged => Some(&Forged),
        }
    }
}
