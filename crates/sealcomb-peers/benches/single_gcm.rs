//! One AES-128-GCM message at a time, with a ready key: sealcomb beside every other library.
//!
//! All libraries take turns, timing by timing, so that a busy machine slows all of them alike, and the ratios are
//! taken turn by turn. Ends with status 1 if sealcomb was slower than another library in three quarters of the
//! turns, at any length.
// Measured numbers have far fewer than 52 significant bits.
#![allow(clippy::cast_precision_loss)]

use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use sealcomb::{Algorithm, Key, probe};
use sealcomb_peers::{Peer, peers};
use sealcomb_timing::{Clock, Quartiles};
use std::process::ExitCode;

const ALGORITHM: &str = "aes128-gcm";
const LENGTHS: [usize; 4] = [64, 256, 2048, 16384];
const TURNS: usize = 191;

fn main() -> ExitCode {
    // `cargo test --all-targets` runs benches too, without this argument.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let algorithm = Algorithm::by_id(ALGORITHM).expect("the catalog has GCM");
    let key = [0x42; 16];
    let ours = Key::new(algorithm, &key).expect("a key of 16 bytes");
    let peers = peers(ALGORITHM, &key);
    let mut clock = Clock::new();
    println!(
        "{}, one message, ready key; backend {}, cycles: {}",
        algorithm.name,
        ours.backend().name(),
        clock.source()
    );

    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header([
        "bytes",
        "library",
        "cycles/byte",
        "quartiles",
        "of bound",
        "sealcomb takes",
    ]);
    let bound = bound_cpb(&mut clock, &ours);
    let mut slower = false;
    for length in LENGTHS {
        let timings = time_all(&mut clock, &ours, &peers, length);
        let libraries = std::iter::once("sealcomb").chain(peers.iter().map(Peer::library));
        for (library, timings_of_library) in libraries.zip(&timings) {
            let cpb = Quartiles::of(timings_of_library.clone()).per(length as f64);
            let ratio = ratio(&timings[0], timings_of_library);
            slower |= ratio.q1 > 1.0;
            table.add_row([
                length.to_string(),
                library.to_owned(),
                format!("{:.3}", cpb.median),
                format!("{:.3} - {:.3}", cpb.q1, cpb.q3),
                format!("{:.2}", bound / cpb.median),
                format!("{:.2} ({:.2} - {:.2})", ratio.median, ratio.q1, ratio.q3),
            ]);
        }
    }
    println!("{table}");
    if slower {
        println!("sealcomb is slower than another library");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Core cycles a byte that the instructions of one block cannot go below on this CPU.
fn bound_cpb(clock: &mut Clock, key: &Key) -> f64 {
    let work = key.algorithm().work;
    let (rounds, products) = (work.calls * key.algorithm().rounds + work.rounds, work.multiplications * 3);
    let mut blocks = 0;
    let cycles = clock.measure(TURNS, || {
        blocks = probe::mix(key.backend(), rounds, products, 1000);
    });
    cycles.median / blocks as f64 / 16.0
}

/// The timings of sealcomb and then of every peer, each sealing a buffer of its own in place.
fn time_all(clock: &mut Clock, ours: &Key, peers: &[Peer], length: usize) -> Vec<Vec<f64>> {
    let nonce = [7; 12];
    let mut buffers = vec![(vec![0u8; length], [0u8; 16]); 1 + peers.len()];
    let (our_buffer, peer_buffers) = buffers.split_first_mut().expect("one buffer for sealcomb");
    let mut seal_ours = || {
        ours.seal_in_place(&nonce, &[], &mut our_buffer.0, &mut our_buffer.1).expect("a nonce of 12 bytes");
    };
    let mut seal_peers: Vec<_> = peers
        .iter()
        .zip(peer_buffers)
        .map(|(peer, (message, tag))| move || peer.seal(&nonce, message, tag))
        .collect();
    let mut contenders: Vec<&mut dyn FnMut()> = vec![&mut seal_ours];
    contenders.extend(seal_peers.iter_mut().map(|seal| seal as &mut dyn FnMut()));
    clock.interleave(TURNS, &mut contenders)
}

/// How many times as long as `theirs` ours took, turn by turn.
fn ratio(ours: &[f64], theirs: &[f64]) -> Quartiles {
    Quartiles::of(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect())
}
