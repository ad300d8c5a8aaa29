//! EME2 against the library, and its clock counts in `rtl/docs/eme2.md`.

use sealcomb::Key;
use sealcomb_rtl::{Action, Bench, Flow, Mode, Outcome, check};

/// Maximum message size of these tops in bytes.
const MAX_BYTES: usize = 512 * 16;

fn eme2(top: &'static str) -> Mode {
    Mode {
        max_random_message_bytes: 2500,
        max_random_ad_bytes: 100,
        max_bytes: MAX_BYTES,
        illegal: vec![(false, 0, 0), (true, 16, 15), (false, 40, 1), (true, 0, MAX_BYTES + 1)],
        ..Mode::new(top, "aes128-eme2")
    }
}

#[test]
#[cfg_attr(not(top = "eme2"), ignore = "not in this build")]
fn random_packets() {
    check::random(&eme2("eme2"));
}

#[test]
#[cfg_attr(not(top = "eme2_key_per_block"), ignore = "not in this build")]
fn random_packets_with_a_key_per_block() {
    check::random(&eme2("eme2_key_per_block"));
}

#[test]
#[cfg_attr(not(top = "eme2"), ignore = "not in this build")]
fn known_answers() {
    check::vectors(&eme2("eme2"));
}

#[test]
#[cfg_attr(not(top = "eme2"), ignore = "not in this build")]
fn longest_messages() {
    check::longest(&eme2("eme2"));
}

/// Runs messages of these sizes (tweak and message, in bytes) under one key, back to back.
fn run(decrypt: bool, lengths: &[(usize, usize)]) -> Vec<Outcome> {
    let mode = eme2("eme2");
    let mut bench = Bench::new(mode.top, 1);
    let bytes: Vec<_> = (0..48).collect();
    let key = Key::new(mode.algorithm, &bytes).expect("a key");
    let mut actions = vec![Action::Load { slot: 0, key: bytes }];
    for &(tweak, message) in lengths {
        let packet = if decrypt { Mode::open } else { Mode::seal };
        actions.push(Action::Send(packet(&mode, &key, 0, &[], &vec![2; tweak], &vec![5; message])));
    }
    bench.run(actions, Flow::FULL)
}

/// From the last beat in to the first one out: 44 clocks, 12 more with a partial block, 13 more for each later group
/// of 128 blocks, and the clocks of the last group's sum.
#[test]
#[cfg_attr(not(top = "eme2"), ignore = "not in this build")]
fn latency() {
    for (message, clocks) in [
        (16, 44 + 1),
        (32, 44 + 2),
        (33, 44 + 2 + 12),
        (48, 44 + 3),
        (64, 44 + 2),
        (256, 44 + 3),
        (512, 44 + 4),
        (520, 44 + 4 + 12),
        (127 * 16, 44 + 13),
        (2048, 44 + 10),
        (2064, 44 + 13 + 1),
        (2065, 44 + 13 + 1 + 12),
        (4096, 44 + 13 + 10),
        (4129, 44 + 26 + 2 + 12),
        (8192, 44 + 39 + 10),
    ] {
        for decrypt in [false, true] {
            let outcome = &run(decrypt, &[(16, message)])[0];
            assert_eq!(outcome.first_out, outcome.last_in.map(|clock| clock + clocks), "{message}");
            let beats = message.div_ceil(16) as u64;
            assert_eq!(outcome.last_out, outcome.first_out.map(|clock| clock + beats - 1), "{message}");
            assert_eq!(Some(outcome.tag), outcome.last_out, "{message}");
        }
    }
}

/// Back to back, a message takes one clock for each block of tweak and message, one for mp, one for each later group,
/// and with a partial block one for mm.
#[test]
#[cfg_attr(not(top = "eme2"), ignore = "not in this build")]
fn clocks_of_a_message() {
    const MESSAGES: usize = 60;
    const SETTLED: usize = 30;
    for (tweak, message) in
        [(16, 32), (16, 64), (0, 512), (16, 512), (16, 520), (40, 1500), (16, 4096), (16, 4129)]
    {
        let outcomes = run(message % 3 == 0, &[(tweak, message); MESSAGES]);
        let clocks = outcomes[MESSAGES - 1].tag - outcomes[SETTLED - 1].tag;
        let (blocks, partial) = (message / 16, usize::from(message % 16 != 0));
        let each = tweak.div_ceil(16).max(1) + blocks + 2 * partial + 1 + (blocks - 1) / 128;
        assert_eq!(clocks, ((MESSAGES - SETTLED) * each) as u64, "{tweak} {message}");
    }
    // Messages of one block would take 3 clocks each, but at most 16 are in flight.
    let outcomes = run(false, &[(16, 16); MESSAGES]);
    assert_eq!(outcomes[MESSAGES - 1].tag - outcomes[SETTLED - 1].tag, 94);
}
