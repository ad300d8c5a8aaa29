//! The lengths of the messages of a cell.

use std::fmt;
use std::str::FromStr;

use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::StdRng;
use sealcomb::Algorithm;

/// Message lengths: one for all messages in bytes, or a mix of packets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lengths {
    All(usize),
    Mix,
}

impl FromStr for Lengths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "mix" {
            return Ok(Self::Mix);
        }
        text.parse().map(Self::All).map_err(|_| format!("expected a number of bytes or mix, found `{text}`"))
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(bytes) => bytes.fmt(f),
            Self::Mix => f.write_str("mix"),
        }
    }
}

impl Lengths {
    /// Returns the lengths of `count` messages in bytes, in random order, rounded up to whole blocks if the algorithm
    /// requires that.
    pub(crate) fn of(self, algorithm: Algorithm, count: usize) -> Vec<usize> {
        let mut random = StdRng::seed_from_u64(44_37_19);
        let mut lengths: Vec<usize> = (0..count)
            .map(|i| match self {
                Self::All(bytes) => bytes,
                Self::Mix => match i * 100 / count {
                    0..44 => random.random_range(40..=100),
                    44..81 => random.random_range(1400..=1500),
                    _ => random.random_range(101..1400),
                },
            })
            .map(|bytes| algorithm.padded_bytes(bytes))
            .collect();
        // Packets do not arrive sorted by length.
        for i in (1..count).rev() {
            lengths.swap(i, random.random_range(0..=i));
        }
        lengths
    }

    /// Returns the mean length in bytes, approximately.
    pub(crate) fn mean(self) -> usize {
        match self {
            Self::All(bytes) => bytes,
            Self::Mix => 710,
        }
    }

    /// Returns the maximum length in bytes.
    pub(crate) fn max(self) -> usize {
        match self {
            Self::All(bytes) => bytes,
            Self::Mix => 1500,
        }
    }
}
