//! GCM against the library, and its clock counts in `rtl/docs/gcm.md`.

use sealcomb::Key;
use sealcomb_rtl::{Action, Bench, Flow, Mode, Outcome, Packet, check};

/// Latency of the cipher pipe in clocks.
const PIPE: u64 = 11;
/// Clocks of GHASH after a packet's last block.
const HASH: u64 = 8;

fn gcm() -> Mode {
    Mode::new("gcm", "aes128-gcm")
}

/// Variant with a key per block.
fn gcm_key_per_block() -> Mode {
    Mode::new("gcm_key_per_block", "aes128-gcm")
}

#[test]
#[cfg_attr(not(top = "gcm"), ignore = "not in this build")]
fn random_packets() {
    check::random(&gcm());
}

#[test]
#[cfg_attr(not(top = "gcm_key_per_block"), ignore = "not in this build")]
fn random_packets_key_per_block() {
    check::random(&gcm_key_per_block());
}

#[test]
#[cfg_attr(not(top = "gcm"), ignore = "not in this build")]
fn known_answers() {
    check::vectors(&gcm());
}

#[test]
#[cfg_attr(not(top = "gcm"), ignore = "not in this build")]
fn longest_messages() {
    check::longest(&gcm());
}

/// Runs the packets of `make`, all under one key in slot 0, after the key is loaded.
fn run(mode: &Mode, make: impl Fn(&Mode, &Key) -> Vec<Packet>) -> Vec<Outcome> {
    let bytes = [3; 16];
    let key = Key::new(mode.algorithm, &bytes).expect("a key");
    let mut bench = Bench::new(mode.top, 1);
    bench.run(vec![Action::Load { slot: 0, key: bytes.to_vec() }], Flow::FULL);
    bench.run(make(mode, &key).into_iter().map(Action::Send).collect(), Flow::FULL)
}

/// In an idle core, the first beat is accepted two clocks after the command. A block is output `PIPE + 3` clocks
/// after its beat, the tag `PIPE + HASH + 4` clocks after the message's last beat, and the verdict as many after the
/// tag beat.
#[test]
#[cfg_attr(not(top = "gcm"), ignore = "not in this build")]
fn latency() {
    for (ad, message) in [(0, 16), (0, 160), (5, 7), (16, 16), (64, 100), (333, 1500)] {
        let ad_blocks = u64::div_ceil(ad, 16);
        let (ad, message) = (vec![1; ad as usize], vec![2; message]);
        let sealed = run(&gcm(), |mode, key| vec![mode.seal(key, 0, &[7; 12], &ad, &message)])[0];
        let [first_in, last_in, first_out, last_out] =
            [sealed.first_in, sealed.last_in, sealed.first_out, sealed.last_out].map(Option::unwrap);
        assert_eq!(first_in, sealed.command + 2);
        assert_eq!(first_out, first_in + ad_blocks + PIPE + 3);
        assert_eq!(last_out, last_in + PIPE + 3);
        assert_eq!(sealed.tag, last_in + PIPE + HASH + 4);

        let opened = run(&gcm(), |mode, key| vec![mode.open(key, 0, &[7; 12], &ad, &message)])[0];
        let [first_in, last_in, first_out, last_out] =
            [opened.first_in, opened.last_in, opened.first_out, opened.last_out].map(Option::unwrap);
        assert_eq!(first_in, opened.command + 2);
        assert_eq!(opened.tag, last_in + PIPE + HASH + 4);
        // The last beat, which may be the first, waits for the verdict.
        assert_eq!(last_out, opened.tag);
        if message.len() > 16 {
            assert_eq!(first_out, first_in + ad_blocks + PIPE + 3);
        }
    }
}

/// In a run of equal packets, each takes one clock for each block, and one for the tag.
#[test]
#[cfg_attr(not(top = "gcm"), ignore = "not in this build")]
fn clocks_of_a_packet() {
    for (ad, message) in [(0, 32), (0, 64), (16, 16), (13, 1500), (20, 40), (0, 9000), (64, 0)] {
        let blocks = u64::div_ceil(ad, 16) + u64::div_ceil(message, 16);
        let (ad, message) = (vec![1; ad as usize], vec![2; message as usize]);
        for open in [false, true] {
            let make = if open { Mode::open } else { Mode::seal };
            let outcomes = run(&gcm(), |mode, key| {
                (0..12).map(|i| make(mode, key, 0, &[i; 12], &ad, &message)).collect()
            });
            for pair in outcomes[1..].windows(2) {
                assert_eq!(pair[1].tag - pair[0].tag, blocks + 1, "{} {} {open}", ad.len(), message.len());
            }
        }
    }
}

/// With another key for each packet, no clock is lost if a packet takes at least ten clocks, or with a key per block.
#[test]
#[cfg_attr(not(top = "gcm"), ignore = "not in this build")]
fn clocks_of_a_new_key() {
    clocks_of_a_new_key_of(&gcm(), [9, 20]);
}

#[test]
#[cfg_attr(not(top = "gcm_key_per_block"), ignore = "not in this build")]
fn clocks_of_a_new_key_key_per_block() {
    clocks_of_a_new_key_of(&gcm_key_per_block(), [2, 9]);
}

/// Checks packets of these numbers of blocks.
fn clocks_of_a_new_key_of(mode: &Mode, sizes: [usize; 2]) {
    for blocks in sizes {
        let keys = [[1; 16], [2; 16]];
        let expanded = keys.map(|bytes| Key::new(mode.algorithm, &bytes).expect("a key"));
        let load = |slot: u8| Action::Load { slot, key: keys[usize::from(slot)].to_vec() };
        let mut bench = Bench::new(mode.top, 1);
        bench.run(vec![load(0), load(1)], Flow::FULL);
        let packet = |i: u8| {
            let slot = i % 2;
            Action::Send(mode.seal(&expanded[usize::from(slot)], slot, &[i; 12], &[], &vec![5; 16 * blocks]))
        };
        let outcomes = bench.run((0..20).map(packet).collect(), Flow::FULL);
        for pair in outcomes[2..].windows(2) {
            assert_eq!(pair[1].tag - pair[0].tag, blocks as u64 + 1, "{} {blocks}", mode.top);
        }
    }
}
