//! Errors. None contains a value, a key, or a part of either.

use std::error;
use std::fmt;

use arrow_schema::ArrowError;

use crate::threads::Interrupted;

/// Why a call failed. Nothing is returned then.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A column or its row ids have a type that the call does not take.
    Type(String),
    /// Another argument is wrong, or a value is too long for the algorithm.
    Invalid(String),
    /// A keyset is malformed, or cannot seal.
    KeysetError(String),
    /// The key would seal more values than its algorithm permits.
    LimitReached(String),
    /// A value did not open.
    Unopened(UnopenedRow),
    /// The memory for the result cannot be allocated.
    Memory(String),
    /// The operating system provides no random bytes.
    Random(String),
    /// The caller interrupted the call.
    Interrupted,
}

/// A value that did not open.
#[derive(Debug)]
pub struct UnopenedRow {
    /// The index of the chunk.
    pub chunk: usize,
    /// The row in the chunk.
    pub row: usize,
    /// The path of the value in a nested column, such as `street` or `element`; empty if the column is not nested.
    pub path: String,
    /// The reason.
    pub reason: Reason,
    /// What is wrong, and what to do.
    pub message: String,
}

/// Why a value did not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It did not verify under the key with this id.
    Forged(u32),
    /// The keyset has no usable key with this id.
    UnknownKey(u32),
    /// A value of this size in bytes that is not a sealed value.
    NotSealed(usize),
    /// It is no value of the requested type.
    WrongType(Mismatch),
}

/// Why a value is none of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// It holds this number of bytes, and a value of the type has another number.
    Size(usize),
    /// It opened, but is not this, such as `UTF-8` or `a bool`.
    Value(&'static str),
}

impl Reason {
    /// The id of the key in the value, if the value has one and it matters.
    pub fn key_id(self) -> Option<u32> {
        match self {
            Self::Forged(id) | Self::UnknownKey(id) => Some(id),
            Self::NotSealed(_) | Self::WrongType(_) => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(text)
            | Self::Invalid(text)
            | Self::KeysetError(text)
            | Self::LimitReached(text)
            | Self::Memory(text)
            | Self::Random(text) => f.write_str(text),
            Self::Unopened(UnopenedRow { chunk, row, path, message, .. }) => {
                write!(f, "{}: {message}", place(*chunk, *row, path))
            }
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// Says where a value is. `path` is empty unless the column is nested.
pub(crate) fn place(chunk: usize, row: usize, path: &str) -> String {
    let path = if path.is_empty() { String::new() } else { format!(", {path}") };
    format!("chunk {chunk}, row {row}{path}")
}

impl error::Error for Error {}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<sealcomb::Error> for Error {
    fn from(error: sealcomb::Error) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<sealcomb_random::Error> for Error {
    fn from(error: sealcomb_random::Error) -> Self {
        Self::Random(format!("the operating system provides no random bytes: {error}"))
    }
}

impl From<Interrupted> for Error {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}
