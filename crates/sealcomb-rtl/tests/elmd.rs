//! ELmD and ELmD(6,6) against the library, and their clock counts in `rtl/docs/elmd.md`.

use sealcomb::Key;
use sealcomb_rtl::{Action, Bench, Flow, Mode, Outcome, Packet, check};

/// Clocks from the command to the first block out, in addition to those of both pipes and of the AD blocks.
const OUTSIDE_PIPES: u64 = 6;

/// Creates the mode of a top. A message to open consists of whole blocks, at least one.
fn mode(top: &'static str, algorithm: &str) -> Mode {
    Mode { illegal: vec![(true, 0, 0), (true, 0, 17), (true, 20, 40)], ..Mode::new(top, algorithm) }
}

fn elmd() -> Mode {
    mode("elmd", "aes128-elmd")
}

fn elmd66() -> Mode {
    mode("elmd66", "aes128-elmd66")
}

/// Variant with a 16-byte nonce: `s_cmd_nonce` is the first AD block, nonce and parameters.
fn whole_nonce() -> Mode {
    let nonce = |nonce: &[u8]| [nonce, &[10, 0, 0, 0, 0x80, 0, 0, 0]].concat();
    Mode { nonce, ..mode("elmd_whole_nonce", "aes128-elmd") }
}

fn key_per_block() -> Mode {
    mode("elmd_key_per_block", "aes128-elmd")
}

/// Variant with one slot and static keys.
fn single_key() -> Mode {
    mode("elmd_single_key", "aes128-elmd")
}

#[test]
#[cfg_attr(not(top = "elmd"), ignore = "not in this build")]
fn random_packets() {
    check::random(&elmd());
}

#[test]
#[cfg_attr(not(top = "elmd66"), ignore = "not in this build")]
fn random_packets_six_rounds() {
    check::random(&elmd66());
}

#[test]
#[cfg_attr(not(top = "elmd_whole_nonce"), ignore = "not in this build")]
fn random_packets_whole_nonce() {
    check::random(&whole_nonce());
}

#[test]
#[cfg_attr(not(top = "elmd_key_per_block"), ignore = "not in this build")]
fn random_packets_key_per_block() {
    check::random(&key_per_block());
}

#[test]
#[cfg_attr(not(top = "elmd"), ignore = "not in this build")]
fn known_answers() {
    check::vectors(&elmd());
}

#[test]
#[cfg_attr(not(top = "elmd66"), ignore = "not in this build")]
fn known_answers_six_rounds() {
    check::vectors(&elmd66());
}

#[test]
#[cfg_attr(not(top = "elmd_whole_nonce"), ignore = "not in this build")]
fn known_answers_whole_nonce() {
    check::vectors(&whole_nonce());
}

#[test]
#[cfg_attr(not(top = "elmd"), ignore = "not in this build")]
fn longest_messages() {
    check::longest(&elmd());
}

#[test]
#[cfg_attr(not(top = "elmd66"), ignore = "not in this build")]
fn longest_messages_six_rounds() {
    check::longest(&elmd66());
}

fn load(slot: u8, key: &[u8; 16]) -> Action {
    Action::Load { slot, key: key.to_vec() }
}

fn expand(mode: &Mode, key: &[u8; 16]) -> Key {
    Key::new(mode.algorithm, key).expect("a key of the algorithm")
}

/// Loads many keys into a core with static keys, which accepts a key only when it is empty.
#[test]
#[cfg_attr(not(top = "elmd_single_key"), ignore = "not in this build")]
fn key_loads_with_a_single_key() {
    let mode = single_key();
    let mut bench = Bench::new(mode.top, 1);
    for flow in Flow::ALL {
        let mut actions = Vec::new();
        for i in 0..60 {
            let key = [i; 16];
            let expanded = expand(&mode, &key);
            actions.push(load(0, &key));
            for j in 0..i % 4 {
                let (ad, message) = (vec![j; usize::from(i) * 7 % 40], vec![i; usize::from(j) * 29]);
                actions.push(Action::Send(mode.seal(&expanded, 0, &[j; 8], &ad, &message)));
                actions.push(Action::Send(mode.open(&expanded, 0, &[i; 8], &ad, &message)));
            }
        }
        bench.run(actions, flow);
    }
}

/// Runs the packets of `make`, all under one key in slot 0, after the key is loaded.
fn run(mode: &Mode, make: impl Fn(&Key) -> Vec<Packet>) -> Vec<Outcome> {
    let key = [3; 16];
    let mut bench = Bench::new(mode.top, 1);
    bench.run(vec![load(0, &key)], Flow::FULL);
    bench.run(make(&expand(mode, &key)).into_iter().map(Action::Send).collect(), Flow::FULL)
}

/// In an idle core, with d blocks of AD, the first ciphertext block appears `28 + d` clocks after the command (six
/// rounds: `20 + d`). Each further block takes one clock, and the tag follows. Opening is equal, but the last block
/// waits for the verdict. The paper has 35 + d and 30 + d, including the computation of L for each message.
#[test]
#[cfg_attr(not(top = "elmd"), ignore = "not in this build")]
fn latency() {
    latency_of(&elmd(), 11);
}

#[test]
#[cfg_attr(not(top = "elmd66"), ignore = "not in this build")]
fn latency_six_rounds() {
    latency_of(&elmd66(), 7);
}

#[test]
#[cfg_attr(not(top = "elmd_key_per_block"), ignore = "not in this build")]
fn latency_key_per_block() {
    latency_of(&key_per_block(), 11);
}

#[test]
#[cfg_attr(not(top = "elmd_single_key"), ignore = "not in this build")]
fn latency_single_key() {
    latency_of(&single_key(), 11);
}

/// `pipe`: latency of one pipe.
fn latency_of(mode: &Mode, pipe: u64) {
    for (ad, message) in [(0, 16), (0, 160), (5, 7), (16, 16), (16, 0), (64, 100), (333, 1500), (2000, 9000)]
    {
        let d = u64::div_ceil(ad, 16);
        let l = u64::div_ceil(message, 16).max(1);
        let (ad, message) = (vec![1; ad as usize], vec![2; message as usize]);
        let first = d + 2 * pipe + OUTSIDE_PIPES;
        let bound = if pipe == 7 { 30 + d } else { 35 + d };
        assert!(first <= bound);

        let sealed = run(mode, |key| vec![mode.seal(key, 0, &[7; 8], &ad, &message)])[0];
        let clocks = [sealed.first_out, sealed.last_out, Some(sealed.tag)];
        let last = first + l - 1;
        let held = if l == 1 { first + 1 } else { first };
        let shape = format!("{} with {} and {} bytes", mode.top, ad.len(), message.len());
        assert_eq!(
            clocks.map(|clock| clock.unwrap() - sealed.command),
            [held, last + 1, last + 2],
            "sealing {shape}"
        );

        let opened = run(mode, |key| vec![mode.open(key, 0, &[7; 8], &ad, &message)])[0];
        let beats =
            [opened.first_out, opened.last_out].map(|clock| clock.map(|clock| clock - opened.command));
        if message.is_empty() {
            // There is no beat to wait for the verdict.
            assert_eq!(beats, [None, None], "opening {shape}");
            assert_eq!(opened.tag - opened.command, last + 1, "opening {shape}");
        } else {
            assert_eq!(beats, [Some(held), Some(last + 1)], "opening {shape}");
            assert_eq!(opened.tag - opened.command, last + 2, "opening {shape}");
        }
    }
}

/// In a run of equal packets, each takes one clock for each block of AD and message, one for the nonce and one for
/// the tag.
#[test]
#[cfg_attr(not(top = "elmd"), ignore = "not in this build")]
fn clocks_of_a_packet() {
    clocks_of_a_packet_of(&elmd());
}

#[test]
#[cfg_attr(not(top = "elmd66"), ignore = "not in this build")]
fn clocks_of_a_packet_six_rounds() {
    clocks_of_a_packet_of(&elmd66());
}

#[test]
#[cfg_attr(not(top = "elmd_key_per_block"), ignore = "not in this build")]
fn clocks_of_a_packet_key_per_block() {
    clocks_of_a_packet_of(&key_per_block());
}

#[test]
#[cfg_attr(not(top = "elmd_single_key"), ignore = "not in this build")]
fn clocks_of_a_packet_single_key() {
    clocks_of_a_packet_of(&single_key());
}

fn clocks_of_a_packet_of(mode: &Mode) {
    for (ad, message) in [(0, 0), (0, 1), (0, 64), (16, 16), (13, 1500), (20, 40), (0, 9000), (64, 0)] {
        let blocks = u64::div_ceil(ad, 16) + u64::div_ceil(message, 16).max(1);
        let (ad, message) = (vec![1; ad as usize], vec![2; message as usize]);
        for open in [false, true] {
            let make = if open { Mode::open } else { Mode::seal };
            let outcomes =
                run(mode, |key| (0..40).map(|i| make(mode, key, 0, &[i; 8], &ad, &message)).collect());
            for pair in outcomes[1..].windows(2) {
                let shape = format!("{} {} {} {open}", mode.top, ad.len(), message.len());
                assert_eq!(pair[1].tag - pair[0].tag, blocks + 2, "{shape}");
            }
        }
    }
}

/// With another key for each packet, a packet takes at least the ten clocks of a wavefront (six rounds: six). With a
/// key per block it does not wait.
#[test]
#[cfg_attr(not(top = "elmd"), ignore = "not in this build")]
fn clocks_of_a_new_key() {
    clocks_of_a_new_key_of(&elmd(), 10);
}

#[test]
#[cfg_attr(not(top = "elmd66"), ignore = "not in this build")]
fn clocks_of_a_new_key_six_rounds() {
    clocks_of_a_new_key_of(&elmd66(), 6);
}

#[test]
#[cfg_attr(not(top = "elmd_key_per_block"), ignore = "not in this build")]
fn clocks_of_a_new_key_key_per_block() {
    clocks_of_a_new_key_of(&key_per_block(), 0);
}

/// `wave`: clocks of a wavefront.
fn clocks_of_a_new_key_of(mode: &Mode, wave: u64) {
    for blocks in [1, 3, 4, 5, 7, 8, 9, 30] {
        let keys = [[1; 16], [2; 16]];
        let expanded = keys.map(|key| expand(mode, &key));
        let mut bench = Bench::new(mode.top, 1);
        bench.run(vec![load(0, &keys[0]), load(1, &keys[1])], Flow::FULL);
        let packet = |i: u8| {
            let slot = i % 2;
            let key = &expanded[usize::from(slot)];
            Action::Send(mode.seal(key, slot, &[i; 8], &[], &vec![5; 16 * blocks]))
        };
        let outcomes = bench.run((0..40).map(packet).collect(), Flow::FULL);
        for pair in outcomes[2..].windows(2) {
            let clocks = (blocks as u64 + 2).max(wave);
            assert_eq!(pair[1].tag - pair[0].tag, clocks, "{} {blocks}", mode.top);
        }
    }
}
