//! A cell of the comparison: messages of one kind, sealed or opened by every library.

use std::fmt;

use clap::ValueEnum;
use sealcomb::{Algorithm, Backend};
use sealcomb_peers::{Message, Peer, peers};
use sealcomb_timing::{Clock, Quartiles};

use crate::batches::{BATCHES, Batches};
use crate::buffers::{Buffers, Layout, Messages};
use crate::earlier;
use crate::keys_of;
use crate::lengths::Lengths;
use crate::ours::Ours;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    Seal,
    Open,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seal => "seal",
            Self::Open => "open",
        })
    }
}

/// The keys of a batch.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keys {
    /// One key for all messages.
    One,
    /// A key per message: each is a job. Only sealcomb is measured.
    Own,
}

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One => "one",
            Self::Own => "own",
        })
    }
}

/// What is measured in a cell.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) backend: Backend,
    pub(crate) algorithm: Algorithm,
    pub(crate) direction: Direction,
    pub(crate) layout: Layout,
    pub(crate) keys: Keys,
    pub(crate) lengths: Lengths,
    /// Number of messages per batch.
    pub(crate) batch: usize,
}

impl Case {
    /// Returns whether two cases are in the same row of a table: only the batch size may differ.
    pub(crate) fn same_row(&self, other: &Self) -> bool {
        self.same_table(other)
            && self.lengths == other.lengths
            && self.layout == other.layout
            && self.keys == other.keys
    }

    /// Returns whether two cases are in the same table.
    pub(crate) fn same_table(&self, other: &Self) -> bool {
        self.table() == other.table()
    }

    /// Returns the backend, the algorithm and the direction.
    pub(crate) fn table(&self) -> String {
        format!("{}, {}, {}", self.backend.name(), self.algorithm.id(), self.direction)
    }

    /// Returns the message lengths, the layout unless it is packed, and the keys unless there is one.
    pub(crate) fn row(&self) -> String {
        let layout = (self.layout != Layout::Packed).then(|| self.layout.to_string());
        let keys = (self.keys == Keys::Own).then(|| "own keys".to_owned());
        [Some(self.lengths.to_string()), layout, keys].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Another library and its time.
pub(crate) struct PeerTime {
    pub(crate) library: String,
    /// Time over sealcomb's.
    pub(crate) ratio: Quartiles,
}

/// The measurement of one cell.
pub(crate) struct Cell {
    pub(crate) case: Case,
    pub(crate) cycles_per_message: f64,
    pub(crate) peers: Vec<PeerTime>,
}

/// A library with the keys of a batch.
pub(crate) trait Library {
    fn seal(&self, messages: Messages<'_>);
    fn open(&self, messages: Messages<'_>);

    /// Seals or opens all batches. They share one virtual call.
    fn process(&self, direction: Direction, batches: &Batches, buffers: &mut Buffers) {
        match direction {
            Direction::Seal => batches.process(buffers, |messages| self.seal(messages)),
            Direction::Open => batches.process(buffers, |messages| self.open(messages)),
        }
    }
}

impl Cell {
    pub(crate) fn measure(clock: &mut Clock, case: Case, turns: usize) -> Self {
        let Case { backend, algorithm, direction, .. } = case;
        let keys = keys_of_batch(&case);
        let ours = Ours::new(backend.name(), algorithm.id(), &keys);
        let others = others(backend, algorithm, &keys);
        let batches = &batches_of(&case, &ours, BATCHES);
        let libraries =
            std::iter::once(&ours as &dyn Library).chain(others.iter().map(|(_, other)| &**other));
        let mut calls: Vec<_> = libraries
            .map(|library| {
                let mut buffers = batches.buffers();
                move || library.process(direction, batches, &mut buffers)
            })
            .collect();
        let mut contenders: Vec<_> = calls.iter_mut().map(|call| call as &mut dyn FnMut()).collect();
        let timings = clock.interleave(turns, &mut contenders);
        let peers = others
            .iter()
            .zip(&timings[1..])
            .map(|((library, _), theirs)| {
                let ratios = theirs.iter().zip(&timings[0]).map(|(theirs, ours)| theirs / ours).collect();
                PeerTime { library: library.clone(), ratio: Quartiles::of(ratios) }
            })
            .collect();
        let cycles_per_message = Quartiles::of(timings[0].clone()).median / batches.messages() as f64;
        Self { case, cycles_per_message, peers }
    }

    pub(crate) fn fastest_peer(&self) -> Option<&PeerTime> {
        self.peers.iter().min_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median))
    }
}

/// Returns the keys of a batch.
pub(crate) fn keys_of_batch(case: &Case) -> Vec<Vec<u8>> {
    keys_of(case.algorithm, if case.keys == Keys::One { 1 } else { case.batch })
}

/// Returns up to `most` batches of a case, sealed by `ours` for cells that open them.
pub(crate) fn batches_of(case: &Case, ours: &Ours, most: usize) -> Batches {
    let mut batches = Batches::new(case.algorithm, case.lengths, case.batch, case.layout, most);
    if case.direction == Direction::Open {
        batches.seal_with(|messages| ours.seal(messages));
    }
    batches
}

/// Returns the libraries to compare with: the earlier commit if this build has one, otherwise the other libraries, which
/// take one key per batch.
pub(crate) fn others(
    backend: Backend,
    algorithm: Algorithm,
    keys: &[Vec<u8>],
) -> Vec<(String, Box<dyn Library>)> {
    if let Some(earlier) = earlier::library(backend, algorithm, keys) {
        return vec![("earlier commit".to_owned(), earlier)];
    }
    let [key] = keys else { return Vec::new() };
    let named = |peer: Peer| (peer.library().to_owned(), Box::new(peer) as Box<dyn Library>);
    peers(algorithm.id(), key).into_iter().map(named).collect()
}

impl Library for Peer {
    fn seal(&self, messages: Messages<'_>) {
        if self.takes_many() && messages.nonces.len() > 1 {
            self.seal_many(&mut listed(messages));
        } else {
            messages.each().for_each(|(nonce, data, tag)| Peer::seal(self, nonce, data, tag));
        }
    }

    fn open(&self, messages: Messages<'_>) {
        let valid = if self.takes_many() && messages.nonces.len() > 1 {
            self.open_many(&mut listed(messages))
        } else {
            messages.each().fold(true, |valid, (nonce, data, tag)| valid & Peer::open(self, nonce, data, tag))
        };
        assert!(valid, "{} rejected messages that sealcomb sealed", self.library());
    }
}

fn listed(messages: Messages<'_>) -> Vec<Message<'_>> {
    messages.each().map(|(nonce, data, tag)| Message { nonce, data, tag }).collect()
}
