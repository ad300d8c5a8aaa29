//! Cost of a new key in every library, and of a new key with one message.

use std::hint::black_box;

use sealcomb::{Algorithm, Key, Kind, SealJob, seal_jobs};
use sealcomb_peers::{Peer, peers};
use sealcomb_timing::{Clock, Quartiles};

use crate::keys_of;
use crate::ours::seal_single;
use crate::tables::new_table;

/// Number of keys that are created one after the other, or together.
const KEYS: usize = 64;

/// Message lengths in bytes, with one key per message; 0 stands for keys without messages.
const MESSAGES: [usize; 3] = [0, 64, 1500];

/// Prints the tables: cycles per key, or per message with its key, including dropping the key.
pub(crate) fn print(clock: &mut Clock, algorithms: &[Algorithm], turns: usize) {
    for bytes in MESSAGES {
        match bytes {
            0 => println!("\ncycles for creating and dropping a key:"),
            _ => println!("\ncycles for a new key and a message of {bytes} bytes:"),
        }
        let together = format!("sealcomb, {KEYS} together");
        let mut table =
            new_table(["algorithm", "sealcomb", &together, "fastest other", "time over ours, together"]);
        for algorithm in algorithms {
            let bytes = if bytes == 0 { 0 } else { algorithm.padded_bytes(bytes) };
            table.add_row(row(clock, *algorithm, bytes, turns));
        }
        println!("{table}");
    }
}

fn row(clock: &mut Clock, algorithm: Algorithm, bytes: usize, turns: usize) -> [String; 5] {
    let keys = keys_of(algorithm, KEYS);
    let mut peers = peers(algorithm.id(), &keys[0]);
    let libraries: Vec<String> = peers.iter().map(|peer| peer.library().to_owned()).collect();
    let buffers = Buffers::new(algorithm, bytes);
    let (mut ours_single, mut ours_together) = (buffers.clone(), buffers.clone());
    let mut single = || one_by_one(algorithm, &keys, &mut ours_single);
    let mut many = || together(algorithm, &keys, &mut ours_together);
    let mut theirs: Vec<_> = peers
        .iter_mut()
        .map(|peer| {
            let (keys, mut buffers) = (&keys, buffers.clone());
            move || peer_one_by_one(peer, keys, &mut buffers)
        })
        .collect();
    let mut contenders: Vec<&mut dyn FnMut()> = vec![&mut single, &mut many];
    contenders.extend(theirs.iter_mut().map(|call| call as &mut dyn FnMut()));
    let timings = clock.interleave(turns, &mut contenders);
    let cycles: Vec<f64> =
        timings.into_iter().map(|timings| Quartiles::of(timings).median / KEYS as f64).collect();
    let [single, together, others @ ..] = &cycles[..] else { unreachable!("sealcomb is measured twice") };
    let best = others.iter().zip(&libraries).min_by(|a, b| a.0.total_cmp(b.0));
    [
        algorithm.id().to_owned(),
        format!("{single:.0}"),
        format!("{together:.0}"),
        best.map_or_else(String::new, |(cycles, library)| format!("{cycles:.0}, {library}")),
        best.map_or_else(String::new, |(cycles, _)| format!("{:.2}", cycles / together)),
    ]
}

/// Message buffers, one per key.
#[derive(Clone)]
struct Buffers {
    nonce: Vec<u8>,
    data: Vec<u8>,
    bytes: usize,
    tags: Vec<Vec<u8>>,
}

impl Buffers {
    fn new(algorithm: Algorithm, bytes: usize) -> Self {
        Self {
            nonce: vec![9; algorithm.nonce_bytes()],
            data: vec![0x5a; bytes * KEYS],
            bytes,
            tags: vec![vec![0; algorithm.tag_bytes()]; KEYS],
        }
    }

    /// Returns each message's nonce, data and tag; nothing if only keys are measured.
    fn messages(&mut self) -> impl Iterator<Item = (&[u8], &mut [u8], &mut [u8])> {
        let messages = self.data.chunks_exact_mut(self.bytes.max(1)).zip(&mut self.tags);
        messages.map(|(data, tag)| (&self.nonce[..], data, &mut tag[..]))
    }
}

fn one_by_one(algorithm: Algorithm, keys: &[Vec<u8>], buffers: &mut Buffers) {
    let mut messages = buffers.messages();
    for key in keys {
        let key = black_box(Key::new(algorithm, key)).expect("a key of the algorithm's length");
        if let Some((nonce, data, tag)) = messages.next() {
            seal_single(&key, nonce, data, tag);
        }
    }
}

fn together(algorithm: Algorithm, keys: &[Vec<u8>], buffers: &mut Buffers) {
    let keys = black_box(Key::new_many(algorithm, keys)).expect("keys of the algorithm's length");
    let mut jobs: Vec<_> = (keys.iter().zip(buffers.messages()))
        .map(|(key, (nonce, data, tag))| match algorithm.kind() {
            Kind::Mac => SealJob::mac(key, nonce, &*data, tag),
            _ => SealJob::in_place(key, nonce, &[], data, tag),
        })
        .collect();
    seal_jobs(&mut jobs).expect("sizes that the algorithm accepts");
}

fn peer_one_by_one(peer: &mut Peer, keys: &[Vec<u8>], buffers: &mut Buffers) {
    let mut messages = buffers.messages();
    for key in keys {
        peer.rekey(key);
        if let Some((nonce, data, tag)) = messages.next() {
            peer.seal(nonce, data, tag);
        }
    }
}
