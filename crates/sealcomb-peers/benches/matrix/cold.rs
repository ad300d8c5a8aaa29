//! Cost of a single call whose memory is no longer in the second-level cache, like that of a program that does other work
//! between its calls.

use std::hint::black_box;

use sealcomb::{Algorithm, Key};
use sealcomb_peers::peers;
use sealcomb_timing::{Clock, Quartiles};

use crate::any_key;
use crate::buffers::{Buffers, Short};
use crate::cell::{seal_ours, seal_theirs};
use crate::tables::new_table;

/// Number of messages of the call.
const MESSAGES: usize = 32;

/// Size of a message in bytes.
const BYTES: usize = 64;

/// Number of bytes that are read to evict the cache: twice the largest second-level cache of a core.
const EVICTED: usize = 4 << 20;

/// Size of a cache line in bytes.
const LINE: usize = 64;

/// Prints the table: cycles per call.
pub(crate) fn print(clock: &mut Clock, algorithms: &[Algorithm], turns: usize) {
    println!(
        "\ncycles for sealing {MESSAGES} messages of {BYTES} bytes after the second-level cache was evicted:"
    );
    let mut table = new_table(["algorithm", "sealcomb", "fastest other", "time over ours"]);
    for algorithm in algorithms {
        table.add_row(row(clock, *algorithm, turns));
    }
    println!("{table}");
}

fn row(clock: &mut Clock, algorithm: Algorithm, turns: usize) -> [String; 4] {
    let key = any_key(algorithm);
    let ours = Key::new(algorithm, &key).expect("a key of the algorithm's length");
    let peers = peers(algorithm.id(), &key);
    let lengths = [algorithm.padded_bytes(BYTES); MESSAGES];
    let nonces: Vec<Short> =
        (0..MESSAGES).map(|i| Short { bytes: [i as u8; 32], len: algorithm.nonce_bytes() }).collect();
    let tag = Short { bytes: [0; 32], len: algorithm.tag_bytes() };
    let buffers = || Buffers::new(lengths.iter().sum(), None, vec![tag; MESSAGES]);
    let (nonces, lengths) = (&nonces, &lengths);

    let mut own = buffers();
    let mut call_ours = || seal_ours(&ours, own.messages(nonces, lengths));
    let mut call_peers: Vec<_> = peers
        .iter()
        .map(|peer| {
            let mut own = buffers();
            move || seal_theirs(peer, own.messages(nonces, lengths))
        })
        .collect();
    let mut contenders: Vec<&mut dyn FnMut()> = vec![&mut call_ours];
    contenders.extend(call_peers.iter_mut().map(|call| call as &mut dyn FnMut()));
    let other = vec![1u8; EVICTED];
    let mut evict = || {
        black_box(other.iter().step_by(LINE).map(|&byte| u64::from(byte)).sum::<u64>());
    };
    let timings = clock.interleave_after(turns, &mut contenders, &mut evict);
    let cycles: Vec<f64> = timings.into_iter().map(|timings| Quartiles::of(timings).median).collect();
    let best = peers.iter().zip(&cycles[1..]).min_by(|a, b| a.1.total_cmp(b.1));
    [
        algorithm.id().to_owned(),
        format!("{:.0}", cycles[0]),
        best.map_or_else(String::new, |(peer, cycles)| format!("{cycles:.0}, {}", peer.library())),
        best.map_or_else(String::new, |(_, theirs)| format!("{:.2}", theirs / cycles[0])),
    ]
}
