//! A cell of the comparison: an algorithm, direction, message lengths and batch size, measured with every library.

use std::fmt;

use clap::ValueEnum;
use sealcomb::{Algorithm, Burst, Key, Kind, Verdict};
use sealcomb_peers::{Message, Peer, peers};
use sealcomb_timing::{Clock, Quartiles};

use crate::work::{Lengths, Work, split};

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

/// Another library and its time.
pub(crate) struct PeerTime {
    pub(crate) library: String,
    /// Time over sealcomb's.
    pub(crate) ratio: Quartiles,
}

/// The measurement of one cell.
pub(crate) struct Cell {
    pub(crate) algorithm: &'static Algorithm,
    pub(crate) direction: Direction,
    pub(crate) lengths: Lengths,
    pub(crate) batch: usize,
    pub(crate) cycles_per_message: f64,
    pub(crate) peers: Vec<PeerTime>,
}

impl Cell {
    pub(crate) fn measure(
        clock: &mut Clock,
        algorithm: &'static Algorithm,
        direction: Direction,
        lengths: Lengths,
        batch: usize,
        turns: usize,
    ) -> Self {
        let key = vec![0x42; algorithm.key_bytes];
        let ours = Key::new(algorithm, &key).expect("a key of the algorithm's length");
        let peers = peers(algorithm.id, &key);
        let mut sealed = Work::new(algorithm, lengths, batch);
        let mut works = vec![sealed.clone(); 1 + peers.len()];
        if direction == Direction::Open {
            seal_ours(&ours, &mut sealed);
            works.fill(sealed.clone());
        }
        let (our_work, peer_works) = works.split_first_mut().expect("the first entry is for sealcomb");
        let sealed = &sealed;
        let mut call_ours = || match direction {
            Direction::Seal => seal_ours(&ours, our_work),
            Direction::Open => {
                our_work.data.copy_from_slice(&sealed.data);
                open_ours(&ours, our_work);
            }
        };
        let mut call_peers: Vec<_> = peers
            .iter()
            .zip(peer_works)
            .map(|(peer, work)| {
                move || match direction {
                    Direction::Seal => seal_theirs(peer, work),
                    Direction::Open => {
                        work.data.copy_from_slice(&sealed.data);
                        open_theirs(peer, work);
                    }
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
        let cycles_per_message = Quartiles::of(timings[0].clone()).median / batch as f64;
        Self { algorithm, direction, lengths, batch, cycles_per_message, peers: times }
    }

    pub(crate) fn fastest_peer(&self) -> Option<&PeerTime> {
        self.peers.iter().min_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median))
    }
}

/// Seals one message with the key, or several as a burst.
fn seal_ours(key: &Key, work: &mut Work) {
    let mac = key.algorithm().kind == Kind::Mac;
    if work.lengths.len() == 1 {
        work.messages().for_each(|(nonce, data, tag)| seal_single(key, nonce, data, tag));
        return;
    }
    let Work { lengths, nonces, data, tags } = work;
    let burst = Burst::new(key, nonces);
    let sealed = if mac {
        burst.aads(&split(data, lengths).collect::<Vec<_>>()).mac(tags)
    } else {
        burst.seal(&mut split(data, lengths).collect::<Vec<_>>(), tags)
    };
    sealed.expect("sizes that the algorithm accepts");
}

/// Seals one message with the key. A MAC authenticates it as additional data.
pub(crate) fn seal_single(key: &Key, nonce: &[u8], message: &mut [u8], tag: &mut [u8]) {
    let (aad, data) =
        if key.algorithm().kind == Kind::Mac { (message, &mut [][..]) } else { (&mut [][..], message) };
    key.seal_in_place(nonce, aad, data, tag).expect("sizes that the algorithm accepts");
}

fn open_ours(key: &Key, work: &mut Work) {
    let mac = key.algorithm().kind == Kind::Mac;
    if work.lengths.len() == 1 {
        for (nonce, data, tag) in work.messages() {
            let (aad, data) = if mac { (data, &mut [][..]) } else { (&mut [][..], data) };
            if key.algorithm().kind == Kind::Cipher {
                // A bare cipher has no tag to verify.
                key.open_in_place(nonce, aad, data, &[]).expect("a ciphertext");
            } else {
                key.open_in_place(nonce, aad, data, tag).expect("a valid message");
            }
        }
        return;
    }
    let Work { lengths, nonces, data, tags } = work;
    let burst = Burst::new(key, nonces);
    let mut verdicts = vec![Verdict::Pending; lengths.len()];
    let forged = if mac {
        burst.aads(&split(data, lengths).collect::<Vec<_>>()).verify(tags, &mut verdicts)
    } else {
        burst.open(&mut split(data, lengths).collect::<Vec<_>>(), tags, &mut verdicts)
    };
    assert_eq!(forged, Ok(0));
}

fn seal_theirs(peer: &Peer, work: &mut Work) {
    if peer.takes_many() && work.lengths.len() > 1 {
        let mut messages: Vec<_> =
            work.messages().map(|(nonce, data, tag)| Message { nonce, data, tag }).collect();
        peer.seal_many(&mut messages);
    } else {
        work.messages().for_each(|(nonce, data, tag)| peer.seal(nonce, data, tag));
    }
}

fn open_theirs(peer: &Peer, work: &mut Work) {
    let valid = if peer.takes_many() && work.lengths.len() > 1 {
        let mut messages: Vec<_> =
            work.messages().map(|(nonce, data, tag)| Message { nonce, data, tag }).collect();
        peer.open_many(&mut messages)
    } else {
        work.messages().fold(true, |valid, (nonce, data, tag)| valid & peer.open(nonce, data, tag))
    };
    assert!(valid, "{} rejected messages that sealcomb sealed", peer.library());
}
