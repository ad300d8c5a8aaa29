//! Cost of a single call whose memory is no longer in the second-level cache, like that of a program that does other work
//! between its calls.

use std::hint::black_box;

use sealcomb::{Algorithm, Backend};
use sealcomb_timing::{Clock, Quartiles};

use crate::buffers::{Buffers, Short};
use crate::cell::{Library, others};
use crate::keys_of;
use crate::ours::Ours;
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
pub(crate) fn print(clock: &mut Clock, backend: Backend, algorithms: &[Algorithm], turns: usize) {
    println!(
        "\ncycles for sealing {MESSAGES} messages of {BYTES} bytes after the second-level cache was evicted:"
    );
    let mut table = new_table(["algorithm", "sealcomb", "fastest other", "time over ours"]);
    for algorithm in algorithms {
        table.add_row(row(clock, backend, *algorithm, turns));
    }
    println!("{table}");
}

fn row(clock: &mut Clock, backend: Backend, algorithm: Algorithm, turns: usize) -> [String; 4] {
    let keys = keys_of(algorithm, 1);
    let ours = Ours::new(backend.name(), algorithm.id(), &keys);
    let others = others(backend, algorithm, &keys);
    let lengths = [algorithm.padded_bytes(BYTES); MESSAGES];
    let nonces: Vec<Short> =
        (0..MESSAGES).map(|i| Short { bytes: [i as u8; 32], len: algorithm.nonce_bytes() }).collect();
    let tag = Short { bytes: [0; 32], len: algorithm.tag_bytes() };
    let buffers = || Buffers::new(lengths.iter().sum(), None, vec![tag; MESSAGES]);
    let (nonces, lengths) = (&nonces, &lengths);

    let libraries = std::iter::once(&ours as &dyn Library).chain(others.iter().map(|(_, other)| &**other));
    let mut calls: Vec<_> = libraries
        .map(|library| {
            let mut own = buffers();
            move || library.seal(own.messages(nonces, lengths))
        })
        .collect();
    let mut contenders: Vec<_> = calls.iter_mut().map(|call| call as &mut dyn FnMut()).collect();
    let other = vec![1u8; EVICTED];
    let mut evict = || {
        black_box(other.iter().step_by(LINE).map(|&byte| u64::from(byte)).sum::<u64>());
    };
    let timings = clock.interleave_after(turns, &mut contenders, &mut evict);
    let cycles: Vec<f64> = timings.into_iter().map(|timings| Quartiles::of(timings).median).collect();
    let best = others.iter().zip(&cycles[1..]).min_by(|a, b| a.1.total_cmp(b.1));
    [
        algorithm.id().to_owned(),
        format!("{:.0}", cycles[0]),
        best.map_or_else(String::new, |((library, _), cycles)| format!("{cycles:.0}, {library}")),
        best.map_or_else(String::new, |(_, theirs)| format!("{:.2}", theirs / cycles[0])),
    ]
}
