//! The messages to seal and their lengths.

use std::fmt;
use std::str::FromStr;

use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::StdRng;
use sealcomb::Algorithm;

/// Message lengths of a batch.
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
    /// Returns the lengths of `batch` messages in bytes, rounded up to whole blocks if the algorithm requires that.
    fn of(self, algorithm: &Algorithm, batch: usize) -> Vec<usize> {
        let mut random = StdRng::seed_from_u64(44_37_19);
        let unit =
            if algorithm.check(algorithm.nonce_bytes, algorithm.tag_bytes, 0, 1).is_ok() { 1 } else { 16 };
        (0..batch)
            .map(|i| match self {
                Self::All(bytes) => bytes,
                // A single message has a typical length instead of a random one.
                Self::Mix if batch == 1 => 576,
                Self::Mix => match i * 100 / batch {
                    0..44 => random.random_range(40..=100),
                    44..81 => random.random_range(1400..=1500),
                    _ => random.random_range(101..1400),
                },
            })
            .map(|bytes| bytes.next_multiple_of(unit))
            .collect()
    }
}

/// A nonce or a tag of up to 16 bytes, possibly empty.
#[derive(Clone)]
pub(crate) struct Short {
    bytes: [u8; 16],
    len: usize,
}

impl AsRef<[u8]> for Short {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl AsMut<[u8]> for Short {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}

/// A batch of messages, contiguous in memory, with their nonces and tags.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) lengths: Vec<usize>,
    pub(crate) nonces: Vec<Short>,
    pub(crate) data: Vec<u8>,
    pub(crate) tags: Vec<Short>,
}

impl Work {
    pub(crate) fn new(algorithm: &Algorithm, lengths: Lengths, batch: usize) -> Self {
        let mut lengths = lengths.of(algorithm, batch);
        let mut random = StdRng::seed_from_u64(1);
        // Packets do not arrive sorted by length.
        for i in (1..lengths.len()).rev() {
            lengths.swap(i, random.random_range(0..=i));
        }
        Self {
            data: vec![0x5a; lengths.iter().sum()],
            nonces: (0..batch)
                .map(|_| Short { bytes: random.random(), len: algorithm.nonce_bytes })
                .collect(),
            tags: vec![Short { bytes: [0; 16], len: algorithm.tag_bytes }; batch],
            lengths,
        }
    }

    /// Returns each message's nonce, data and tag.
    pub(crate) fn messages(&mut self) -> impl Iterator<Item = (&[u8], &mut [u8], &mut [u8])> {
        let Self { lengths, nonces, data, tags } = self;
        let messages = split(data, lengths).zip(tags.iter_mut());
        nonces.iter().zip(messages).map(|(nonce, (data, tag))| (nonce.as_ref(), data, tag.as_mut()))
    }
}

/// Splits data into consecutive pieces of these lengths in bytes.
pub(crate) fn split<'d>(data: &'d mut [u8], lengths: &[usize]) -> impl Iterator<Item = &'d mut [u8]> {
    let mut rest = data;
    lengths.iter().map(move |&length| rest.split_off_mut(..length).expect("the sum of all lengths"))
}
