//! AES-COPA against the library, and its clocks as documented in `rtl/docs/copa.md`.

use sealcomb::Key;
use sealcomb_rtl::{Action, Bench, Flow, Mode, Outcome, check, is_built};

/// The number of clocks from the tag of an opened packet to its verdict.
const VERDICT: u64 = 79;

fn copa(top: &'static str) -> Mode {
    Mode {
        // An opened message has at least one block, and no partial block.
        illegal: vec![(true, 0, 0), (true, 16, 17), (true, 33, 40)],
        ..Mode::new(top, "aes128-copa")
    }
}

#[test]
fn random_packets() {
    check::random(&copa("copa"));
}

#[test]
fn random_packets_with_a_key_per_block() {
    check::random(&copa("copa_key_per_block"));
}

#[test]
fn known_answers() {
    check::vectors(&copa("copa"));
}

/// Plays packets back to back, with slots in rotation. `lengths` are the bytes of additional data and message.
fn play(top: &'static str, open: bool, slots: &[u8], lengths: &[(usize, usize)]) -> Vec<Outcome> {
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

/// With d blocks of AD, the first ciphertext beat follows 41 + d clocks after the first input beat. The tag follows
/// 41 clocks after the last input beat.
#[test]
fn latency_of_sealing() {
    for (ad, message) in [(0, 16), (0, 100), (1, 16), (16, 33), (32, 640), (333, 1500)] {
        let outcome = &play("copa", false, &[0], &[(ad, message)])[0];
        let d = ad.div_ceil(16) as u64;
        let (first_in, last_in) = (outcome.first_in.expect("beats"), outcome.last_in.expect("beats"));
        assert_eq!(outcome.first_out, Some(first_in + 41 + d), "{ad} {message}");
        assert_eq!(outcome.tag, last_in + 41, "{ad} {message}");
    }
}

/// The first plaintext beat follows 41 + d clocks after the first input beat, the last one together with the verdict.
#[test]
fn latency_of_opening() {
    for (ad, message) in [(0, 100), (1, 32), (16, 33), (32, 640), (333, 1500)] {
        let outcome = &play("copa", true, &[0], &[(ad, message)])[0];
        let d = ad.div_ceil(16) as u64;
        assert_eq!(outcome.first_out, outcome.first_in.map(|clock| clock + 41 + d), "{ad} {message}");
        let verdict = outcome.last_in.map(|clock| clock + VERDICT);
        assert_eq!((outcome.last_out, Some(outcome.tag)), (verdict, verdict), "{ad} {message}");
    }
}

/// The number of measured packets in a row. As many packets precede them to fill the core.
const ROW: usize = 40;

/// Returns the clocks for a row of equal packets.
fn clocks_of_a_row(top: &'static str, open: bool, slots: &[u8], ad: usize, message: usize) -> u64 {
    let outcomes = play(top, open, slots, &[(ad, message); 2 * ROW]);
    outcomes[2 * ROW - 1].tag - outcomes[ROW - 1].tag
}

/// Sealing takes one clock per input beat, and one each for V and Sigma. This includes a new key per packet, if
/// packets are long enough or each block carries its key.
#[test]
fn clocks_of_sealing() {
    for (ad, message) in [(0_usize, 16_usize), (0, 64), (16, 64), (100, 1500), (0, 4096)] {
        let clocks = (ROW * (ad.div_ceil(16) + message.div_ceil(16) + 2)) as u64;
        let taken = |top, slots| clocks_of_a_row(top, false, slots, ad, message);
        assert_eq!(taken("copa", &[0]), clocks, "{ad} {message}");
        if is_built("copa_key_per_block") {
            assert_eq!(taken("copa_key_per_block", &[0, 1, 2]), clocks, "{ad} {message}");
        }
        if message >= 256 {
            assert_eq!(taken("copa", &[0, 1, 2]), clocks, "{ad} {message}");
        }
    }
}

/// Opening takes one more clock for the tag beat, and one for the next command, which V and Sigma may share.
#[test]
fn clocks_of_opening() {
    for (ad, message) in [(0_usize, 16_usize), (0, 64), (16, 64), (100, 1500), (0, 4096)] {
        let beats = ad.div_ceil(16) + message.div_ceil(16);
        let tops = [("copa", &[0][..]), ("copa_key_per_block", &[0, 1, 2])];
        for (top, slots) in tops.into_iter().filter(|(top, _)| is_built(top)) {
            let clocks = clocks_of_a_row(top, true, slots, ad, message);
            let bounds = (ROW * (beats + 2)) as u64..=(ROW * (beats + 4)) as u64;
            assert!(bounds.contains(&clocks), "{top} {ad} {message}: {clocks} clocks");
        }
    }
}
