//! AES-COPA against the library, and its clock counts in `rtl/docs/copa.md`.

use sealcomb::Key;
use sealcomb_rtl::{Action, Bench, Flow, Mode, Outcome, check};

/// Clocks from the tag beat of an opened packet to its verdict.
const VERDICT: u64 = 79;

fn copa(top: &'static str) -> Mode {
    Mode {
        // A message to open consists of whole blocks, at least one.
        illegal: vec![(true, 0, 0), (true, 16, 17), (true, 33, 40)],
        ..Mode::new(top, "aes128-copa")
    }
}

#[test]
#[cfg_attr(not(top = "copa"), ignore = "not in this build")]
fn random_packets() {
    check::random(&copa("copa"));
}

#[test]
#[cfg_attr(not(top = "copa_key_per_block"), ignore = "not in this build")]
fn random_packets_with_a_key_per_block() {
    check::random(&copa("copa_key_per_block"));
}

#[test]
#[cfg_attr(not(top = "copa"), ignore = "not in this build")]
fn known_answers() {
    check::vectors(&copa("copa"));
}

#[test]
#[cfg_attr(not(top = "copa"), ignore = "not in this build")]
fn longest_messages() {
    check::longest(&copa("copa"));
}

/// Runs packets of these sizes (additional data and message, in bytes) back to back, with alternating slots.
fn run(top: &'static str, open: bool, slots: &[u8], lengths: &[(usize, usize)]) -> Vec<Outcome> {
    let mode = copa(top);
    let mut bench = Bench::new(mode.top, 1);
    let mut actions = Vec::new();
    let bytes = |slot: u8| [slot + 3; 16];
    for slot in 0..=slots.iter().copied().max().expect("a slot") {
        actions.push(Action::Load { slot, key: bytes(slot).to_vec() });
    }
    for (&(ad, message), &slot) in lengths.iter().zip(slots.iter().cycle()) {
        let key = Key::new(mode.algorithm, &bytes(slot)).expect("a key");
        let (nonce, ad, message) = ([1; 16], vec![2; ad], vec![5; message]);
        let packet = if open { Mode::open } else { Mode::seal };
        actions.push(Action::Send(packet(&mode, &key, slot, &nonce, &ad, &message)));
    }
    bench.run(actions, Flow::FULL)
}

/// 41 + d clocks from the first beat in to the first ciphertext beat, and 41 from the last beat in to the tag.
#[test]
#[cfg_attr(not(top = "copa"), ignore = "not in this build")]
fn latency_of_sealing() {
    for (ad, message) in [(0, 16), (0, 100), (1, 16), (16, 33), (32, 640), (333, 1500)] {
        let outcome = &run("copa", false, &[0], &[(ad, message)])[0];
        let d = ad.div_ceil(16) as u64;
        let (first_in, last_in) = (outcome.first_in.expect("beats"), outcome.last_in.expect("beats"));
        assert_eq!(outcome.first_out, Some(first_in + 41 + d), "{ad} {message}");
        assert_eq!(outcome.tag, last_in + 41, "{ad} {message}");
    }
}

/// 41 + d clocks from the first beat in to the first plaintext beat. The last one appears with the verdict.
#[test]
#[cfg_attr(not(top = "copa"), ignore = "not in this build")]
fn latency_of_opening() {
    for (ad, message) in [(0, 100), (1, 32), (16, 33), (32, 640), (333, 1500)] {
        let outcome = &run("copa", true, &[0], &[(ad, message)])[0];
        let d = ad.div_ceil(16) as u64;
        assert_eq!(outcome.first_out, outcome.first_in.map(|clock| clock + 41 + d), "{ad} {message}");
        let verdict = outcome.last_in.map(|clock| clock + VERDICT);
        assert_eq!((outcome.last_out, Some(outcome.tag)), (verdict, verdict), "{ad} {message}");
    }
}

/// Number of packets whose clocks are counted, after as many that fill the core.
const COUNTED: usize = 40;

/// Returns the clocks of `COUNTED` equal packets.
fn clocks_of_packets(top: &'static str, open: bool, slots: &[u8], ad: usize, message: usize) -> u64 {
    let outcomes = run(top, open, slots, &[(ad, message); 2 * COUNTED]);
    outcomes[2 * COUNTED - 1].tag - outcomes[COUNTED - 1].tag
}

/// Sealing takes one clock for each input beat, and two for V and Sigma. Key changes between packets add none if the
/// packets are long enough or with a key per block.
#[test]
#[cfg_attr(not(top = "copa"), ignore = "not in this build")]
fn clocks_of_sealing() {
    clocks_of_sealing_in("copa", &[0], 0);
    clocks_of_sealing_in("copa", &[0, 1, 2], 256);
}

#[test]
#[cfg_attr(not(top = "copa_key_per_block"), ignore = "not in this build")]
fn clocks_of_sealing_with_a_key_per_block() {
    clocks_of_sealing_in("copa_key_per_block", &[0, 1, 2], 0);
}

/// Checks the clocks of messages of at least `min_bytes`.
fn clocks_of_sealing_in(top: &'static str, slots: &[u8], min_bytes: usize) {
    let lengths = [(0, 16), (0, 64), (16, 64), (100, 1500), (0, 4096)];
    for (ad, message) in lengths.into_iter().filter(|&(_, message)| message >= min_bytes) {
        let clocks = (COUNTED * (usize::div_ceil(ad, 16) + usize::div_ceil(message, 16) + 2)) as u64;
        assert_eq!(clocks_of_packets(top, false, slots, ad, message), clocks, "{top} {ad} {message}");
    }
}

/// Opening takes one more clock for the tag beat, and one for the next command. V and Sigma may use these clocks.
#[test]
#[cfg_attr(not(top = "copa"), ignore = "not in this build")]
fn clocks_of_opening() {
    clocks_of_opening_in("copa", &[0]);
}

#[test]
#[cfg_attr(not(top = "copa_key_per_block"), ignore = "not in this build")]
fn clocks_of_opening_with_a_key_per_block() {
    clocks_of_opening_in("copa_key_per_block", &[0, 1, 2]);
}

fn clocks_of_opening_in(top: &'static str, slots: &[u8]) {
    for (ad, message) in [(0_usize, 16_usize), (0, 64), (16, 64), (100, 1500), (0, 4096)] {
        let beats = ad.div_ceil(16) + message.div_ceil(16);
        let clocks = clocks_of_packets(top, true, slots, ad, message);
        let bounds = (COUNTED * (beats + 2)) as u64..=(COUNTED * (beats + 4)) as u64;
        assert!(bounds.contains(&clocks), "{top} {ad} {message}: {clocks} clocks");
    }
}
