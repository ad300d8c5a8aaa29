//! A cell of the comparison: messages of one kind, sealed or opened by every library.

use std::fmt;

use arrayvec::ArrayVec;
use clap::ValueEnum;
use sealcomb::{Algorithm, Burst, Key, Kind, Verdict};
use sealcomb_peers::{Message, Peer, peers};
use sealcomb_timing::{Clock, Quartiles};

use crate::any_key;
use crate::batches::Batches;
use crate::buffers::{Layout, Messages};
use crate::lengths::Lengths;

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

/// What is measured in a cell.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) algorithm: Algorithm,
    pub(crate) direction: Direction,
    pub(crate) layout: Layout,
    pub(crate) lengths: Lengths,
    /// Number of messages per batch.
    pub(crate) batch: usize,
}

impl Case {
    /// Returns whether two cases are in the same row of a table: only the batch size may differ.
    pub(crate) fn same_row(&self, other: &Self) -> bool {
        self.same_table(other) && self.lengths == other.lengths && self.layout == other.layout
    }

    /// Returns whether two cases are in the same table.
    pub(crate) fn same_table(&self, other: &Self) -> bool {
        self.algorithm.id() == other.algorithm.id() && self.direction == other.direction
    }

    /// Returns the message lengths, and the layout unless it is packed.
    pub(crate) fn row(&self) -> String {
        match self.layout {
            Layout::Packed => self.lengths.to_string(),
            layout => format!("{}, {layout}", self.lengths),
        }
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

impl Cell {
    pub(crate) fn measure(clock: &mut Clock, case: Case, turns: usize) -> Self {
        let Case { algorithm, direction, layout, lengths, batch } = case;
        let key = any_key(algorithm);
        let ours = Key::new(algorithm, &key).expect("a key of the algorithm's length");
        let peers = peers(algorithm.id(), &key);
        let mut batches = Batches::new(algorithm, lengths, batch, layout);
        if direction == Direction::Open {
            batches.seal_with(|messages| seal_ours(&ours, messages));
        }
        let batches = &batches;
        let mut buffers = batches.buffers();
        let mut call_ours = || match direction {
            Direction::Seal => batches.process(&mut buffers, |messages| seal_ours(&ours, messages)),
            Direction::Open => batches.process(&mut buffers, |messages| open_ours(&ours, messages)),
        };
        let mut call_peers: Vec<_> = peers
            .iter()
            .map(|peer| {
                let mut buffers = batches.buffers();
                move || match direction {
                    Direction::Seal => batches.process(&mut buffers, |messages| seal_theirs(peer, messages)),
                    Direction::Open => batches.process(&mut buffers, |messages| open_theirs(peer, messages)),
                }
            })
            .collect();
        let mut contenders: Vec<&mut dyn FnMut()> = vec![&mut call_ours];
        contenders.extend(call_peers.iter_mut().map(|call| call as &mut dyn FnMut()));
        let timings = clock.interleave(turns, &mut contenders);
        let times = peers
            .iter()
            .zip(&timings[1..])
            .map(|(peer, theirs)| {
                let ratios = theirs.iter().zip(&timings[0]).map(|(theirs, ours)| theirs / ours).collect();
                PeerTime { library: peer.library().to_owned(), ratio: Quartiles::of(ratios) }
            })
            .collect();
        let cycles_per_message = Quartiles::of(timings[0].clone()).median / batches.messages() as f64;
        Self { case, cycles_per_message, peers: times }
    }

    pub(crate) fn fastest_peer(&self) -> Option<&PeerTime> {
        self.peers.iter().min_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median))
    }
}

/// Number of messages that a caller of bursts lists at a time, as most do: on the stack, without allocating.
const LISTED: usize = 256;

type Listed<'b> = ArrayVec<&'b mut [u8], LISTED>;

/// Seals one message with the key, or several as a burst.
pub(crate) fn seal_ours(key: &Key, messages: Messages<'_>) {
    if messages.nonces.len() == 1 {
        messages.each().for_each(|(nonce, data, tag)| seal_single(key, nonce, data, tag));
        return;
    }
    let Messages { nonces, mut data, tags } = messages;
    for (nonces, tags) in nonces.chunks(LISTED).zip(tags.chunks_mut(LISTED)) {
        let mut list = Listed::new();
        list.extend(data.by_ref().take(LISTED));
        let burst = Burst::new(key, nonces);
        let sealed = if key.algorithm().kind() == Kind::Mac {
            burst.aads(&list).mac(tags)
        } else {
            burst.seal(&mut list, tags)
        };
        sealed.expect("sizes that the algorithm accepts");
    }
}

/// Seals one message with the key. A MAC authenticates it as additional data.
pub(crate) fn seal_single(key: &Key, nonce: &[u8], message: &mut [u8], tag: &mut [u8]) {
    let (aad, data) =
        if key.algorithm().kind() == Kind::Mac { (message, &mut [][..]) } else { (&mut [][..], message) };
    key.seal_in_place_detached(nonce, &*aad, data, tag).expect("sizes that the algorithm accepts");
}

/// Opens one message with the key, or several as a burst.
fn open_ours(key: &Key, messages: Messages<'_>) {
    if messages.nonces.len() == 1 {
        messages.each().for_each(|(nonce, data, tag)| open_single(key, nonce, data, tag));
        return;
    }
    let Messages { nonces, mut data, tags } = messages;
    for (nonces, tags) in nonces.chunks(LISTED).zip(tags.chunks_mut(LISTED)) {
        let mut list = Listed::new();
        list.extend(data.by_ref().take(LISTED));
        let verdicts = &mut [Verdict::Pending; LISTED][..nonces.len()];
        let burst = Burst::new(key, nonces);
        let opened = if key.algorithm().kind() == Kind::Mac {
            burst.aads(&list).verify(tags, verdicts)
        } else {
            burst.open(&mut list, tags, verdicts)
        };
        assert_eq!(opened.expect("sizes that the algorithm accepts").forged(), 0);
    }
}

fn open_single(key: &Key, nonce: &[u8], message: &mut [u8], tag: &[u8]) {
    let opened = match key.algorithm().kind() {
        Kind::Mac => key.open_in_place_detached(nonce, &*message, &mut [], tag),
        // A bare cipher has no tag to verify.
        Kind::Cipher => {
            key.open_unverified_in_place_detached(nonce, &[], message, &mut []).map_err(Into::into)
        }
        _ => key.open_in_place_detached(nonce, &[], message, tag),
    };
    opened.expect("a valid message");
}

pub(crate) fn seal_theirs(peer: &Peer, messages: Messages<'_>) {
    if peer.takes_many() && messages.nonces.len() > 1 {
        peer.seal_many(&mut listed(messages));
    } else {
        messages.each().for_each(|(nonce, data, tag)| peer.seal(nonce, data, tag));
    }
}

fn open_theirs(peer: &Peer, messages: Messages<'_>) {
    let valid = if peer.takes_many() && messages.nonces.len() > 1 {
        peer.open_many(&mut listed(messages))
    } else {
        messages.each().fold(true, |valid, (nonce, data, tag)| valid & peer.open(nonce, data, tag))
    };
    assert!(valid, "{} rejected messages that sealcomb sealed", peer.library());
}

fn listed(messages: Messages<'_>) -> Vec<Message<'_>> {
    messages.each().map(|(nonce, data, tag)| Message { nonce, data, tag }).collect()
}
