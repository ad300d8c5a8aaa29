//! The message lengths of the measured batches.

use anyhow::{Result, bail, ensure};
use sealcomb::Algorithm;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Messages per batch, about the size of a burst of packets.
pub(crate) const BATCH: usize = 64;

/// Number of random batches of realistic lengths, enough for a stable mean.
const MIX_BATCHES: usize = 8;

/// Maximum number of batches taken from a capture, spread evenly over it.
const TRACE_BATCHES: usize = 32;

/// Seed of the mix, which makes it identical in every run.
const SEED: u64 = 2015;

/// Maximum message size in bytes that `--lengths` and `--trace` accept.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// Maximum number of bytes taken from a capture: those of a batch of the longest messages.
const TRACE_BYTES: usize = BATCH * MAX_BYTES;

/// Message lengths of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Lengths {
    /// All messages have this size in bytes.
    Fixed(usize),
    /// Sizes are drawn from the realistic mix.
    Mix,
    /// Sizes are those of a capture's packets.
    Trace,
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(bytes) => bytes.fmt(f),
            Self::Mix => f.write_str("mix"),
            Self::Trace => f.write_str("trace"),
        }
    }
}

impl Serialize for Lengths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(bytes) => serializer.serialize_u64(*bytes as u64),
            named => serializer.collect_str(named),
        }
    }
}

impl FromStr for Lengths {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "mix" {
            return Ok(Self::Mix);
        }
        match text.parse() {
            Ok(bytes @ 1..=MAX_BYTES) => Ok(Self::Fixed(bytes)),
            _ => bail!("expected 1 to {MAX_BYTES} bytes, or mix"),
        }
    }
}

/// Batches of message lengths.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    pub(crate) lengths: Lengths,
    batches: Vec<Vec<usize>>,
}

impl Workload {
    /// Returns one batch of messages of this size in bytes.
    pub(crate) fn fixed(bytes: usize) -> Self {
        Self { lengths: Lengths::Fixed(bytes), batches: vec![vec![bytes; BATCH]] }
    }

    /// Returns batches of `messages` messages of this size in bytes, at least half as many messages in total as a
    /// usual batch has.
    pub(crate) fn at_once(bytes: usize, messages: usize) -> Self {
        let batches = vec![vec![bytes; messages]; (BATCH / 2).div_ceil(messages)];
        Self { lengths: Lengths::Fixed(bytes), batches }
    }

    /// Returns batches of packets with Internet-like sizes: 44 % of 40 to 100 bytes, 37 % of 1400 to 1500, the others
    /// between.
    pub(crate) fn mix() -> Self {
        let mut random = fastrand::Rng::with_seed(SEED);
        let mut packet = || match random.u8(..100) {
            0..44 => random.usize(40..=100),
            44..81 => random.usize(1400..=1500),
            _ => random.usize(101..1400),
        };
        let mut batch = || (0..BATCH).map(|_| packet()).collect();
        Self { lengths: Lengths::Mix, batches: (0..MIX_BATCHES).map(|_| batch()).collect() }
    }

    /// Returns batches with the packet lengths of a capture, each at most [`MAX_BYTES`], in its order. Long packets
    /// lead to fewer batches. Fails if there are no packets.
    pub(crate) fn trace(lengths: &[usize]) -> Result<Self> {
        ensure!(!lengths.is_empty(), "contains no IP packets");
        let bursts: Vec<&[usize]> = lengths.chunks(BATCH).collect();
        let mut taken = bursts.len().min(TRACE_BATCHES);
        loop {
            let spread = (0..taken).map(|i| bursts[i * bursts.len() / taken].to_vec());
            let batches: Vec<Vec<usize>> = spread.collect();
            if taken == 1 || batches.iter().flatten().sum::<usize>() <= TRACE_BYTES {
                return Ok(Self { lengths: Lengths::Trace, batches });
            }
            taken /= 2;
        }
    }

    /// Returns the lengths in bytes for an algorithm: for ECB and CBC rounded up to whole blocks, as by padding.
    pub(crate) fn batches(&self, algorithm: Algorithm) -> Vec<Vec<usize>> {
        let padded = |bytes: &usize| algorithm.padded_bytes(*bytes);
        self.batches.iter().map(|batch| batch.iter().map(padded).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_has_its_shares_of_short_and_long_packets() {
        let lengths: Vec<usize> = Workload::mix().batches.concat();
        let share = |range: std::ops::RangeInclusive<usize>| {
            lengths.iter().filter(|bytes| range.contains(bytes)).count() * 100 / lengths.len()
        };
        assert!((39..=49).contains(&share(40..=100)), "{} % short", share(40..=100));
        assert!((32..=42).contains(&share(1400..=1500)), "{} % long", share(1400..=1500));
        assert_eq!(share(40..=1500), 100);
    }

    #[test]
    fn the_mix_is_the_same_in_every_run() {
        assert_eq!(Workload::mix().batches, Workload::mix().batches);
    }

    #[test]
    fn a_long_capture_is_sampled_over_its_whole_length() {
        let lengths: Vec<usize> = (0..BATCH * 1000).collect();
        let workload = Workload::trace(&lengths).unwrap();
        assert_eq!(workload.batches.len(), TRACE_BATCHES);
        assert_eq!(workload.batches[0][0], 0);
        assert!(workload.batches[TRACE_BATCHES - 1][0] > BATCH * 900);
    }

    #[test]
    fn long_packets_lead_to_fewer_batches() {
        for (bytes, batches) in
            [(MAX_BYTES, 1), (MAX_BYTES / 5, 4), (MAX_BYTES / TRACE_BATCHES, TRACE_BATCHES)]
        {
            let workload = Workload::trace(&vec![bytes; BATCH * 100]).unwrap();
            assert_eq!(workload.batches.len(), batches, "{bytes} bytes");
            assert!(workload.batches.concat().iter().sum::<usize>() <= TRACE_BYTES);
        }
    }

    #[test]
    fn a_short_capture_is_one_short_batch() {
        assert_eq!(Workload::trace(&[60, 1500]).unwrap().batches, [[60, 1500]]);
    }

    #[test]
    fn a_capture_without_packets_is_refused() {
        assert!(Workload::trace(&[]).is_err());
    }

    #[test]
    fn lengths_are_numbers_or_the_mix() {
        assert_eq!("2048".parse::<Lengths>().unwrap(), Lengths::Fixed(2048));
        assert_eq!("mix".parse::<Lengths>().unwrap(), Lengths::Mix);
        for nonsense in ["0", "-1", "2k", "9999999999", ""] {
            assert!(nonsense.parse::<Lengths>().is_err(), "{nonsense}");
        }
    }
}
