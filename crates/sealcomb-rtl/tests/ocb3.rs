//! OCB3 against the library, and its clock counts in `rtl/docs/ocb3.md`.

use sealcomb::Key;
use sealcomb_rtl::{Action, Bench, Flow, Mode, Outcome, Packet, check};

/// Latency of a cipher pipe and the register before it, in clocks.
const PIPE: u64 = 12;
/// Minimum clocks from the call for a Ktop to the next such call.
const KTOP: u64 = PIPE + 2;

fn ocb3() -> Mode {
    Mode::new("ocb3", "aes128-ocb3-t128")
}

/// Variant with a key per block.
fn ocb3_key_per_block() -> Mode {
    Mode::new("ocb3_key_per_block", "aes128-ocb3-t128")
}

/// Variant with one static key, without a register before the pipes.
fn ocb3_single_key() -> Mode {
    Mode::new("ocb3_single_key", "aes128-ocb3-t128")
}

#[test]
#[cfg_attr(not(top = "ocb3"), ignore = "not in this build")]
fn random_packets() {
    check::random(&ocb3());
}

#[test]
#[cfg_attr(not(top = "ocb3_key_per_block"), ignore = "not in this build")]
fn random_packets_key_per_block() {
    check::random(&ocb3_key_per_block());
}

#[test]
#[cfg_attr(not(top = "ocb3"), ignore = "not in this build")]
fn known_answers() {
    check::vectors(&ocb3());
}

#[test]
#[cfg_attr(not(top = "ocb3"), ignore = "not in this build")]
fn longest_messages() {
    check::longest(&ocb3());
}

/// Returns a counter nonce. Groups of 64 nonces have the same Ktop.
fn counter(count: u8) -> [u8; 12] {
    [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, count]
}

/// Runs the packets of `make`, all under one key in slot 0, after the key is loaded.
fn run(mode: &Mode, make: impl Fn(&Mode, &Key) -> Vec<Packet>) -> Vec<Outcome> {
    let bytes = [3; 16];
    let key = Key::new(mode.algorithm, &bytes).expect("a key");
    let mut bench = Bench::new(mode.top, 1);
    bench.run(vec![Action::Load { slot: 0, key: bytes.to_vec() }], Flow::FULL);
    bench.run(make(mode, &key).into_iter().map(Action::Send).collect(), Flow::FULL)
}

/// Runs one packet in an idle core, whose cached Ktop fits the packet if `cached`.
fn run_alone(mode: &Mode, open: bool, cached: bool, ad: &[u8], message: &[u8]) -> Outcome {
    let bytes = [3; 16];
    let key = Key::new(mode.algorithm, &bytes).expect("a key");
    let mut bench = Bench::new(mode.top, 1);
    let before = counter(if cached { 1 } else { 64 });
    let load = Action::Load { slot: 0, key: bytes.to_vec() };
    bench.run(vec![load, Action::Send(mode.seal(&key, 0, &before, &[], &[]))], Flow::FULL);
    let make = if open { Mode::open } else { Mode::seal };
    bench.run(vec![Action::Send(make(mode, &key, 0, &counter(2), ad, message))], Flow::FULL)[0]
}

/// In an idle core, the first step is ready four clocks after the command, or five if Ktop is not cached. A step
/// other than AD then waits for Ktop until `PIPE + 4` clocks after the command. A block is output `PIPE + 3` clocks
/// after its beat, the tag `PIPE + 4` clocks after the message's last beat, and the verdict `2 PIPE + 4` clocks after
/// the tag beat.
#[test]
#[cfg_attr(not(top = "ocb3"), ignore = "not in this build")]
fn latency() {
    latency_of(&ocb3(), PIPE);
}

#[test]
#[cfg_attr(not(top = "ocb3_single_key"), ignore = "not in this build")]
fn latency_single_key() {
    latency_of(&ocb3_single_key(), PIPE - 1);
}

fn latency_of(mode: &Mode, pipe: u64) {
    for cached in [true, false] {
        for (ad, message) in [(0, 16), (0, 160), (5, 7), (16, 16), (64, 100), (150, 20), (333, 1500)] {
            let ad_blocks = u64::div_ceil(ad, 16);
            let (ad, message) = (vec![1; ad as usize], vec![2; message]);
            // Clocks of the first step, and of the first step of the message.
            let setup = if cached { 4 } else { 5 };
            let begin =
                |command| if ad_blocks == 0 && !cached { command + pipe + 4 } else { command + setup };
            let after_ad = |command: u64| {
                let ready = if cached { 0 } else { command + pipe + 4 };
                (command + setup + ad_blocks).max(ready)
            };

            let sealed = run_alone(mode, false, cached, &ad, &message);
            let [first_in, last_in, first_out, last_out] =
                [sealed.first_in, sealed.last_in, sealed.first_out, sealed.last_out].map(Option::unwrap);
            assert_eq!(first_in, begin(sealed.command));
            assert_eq!(first_out, after_ad(sealed.command) + pipe + 3);
            assert_eq!(last_out, last_in + pipe + 3);
            assert_eq!(sealed.tag, last_in + pipe + 4);

            let opened = run_alone(mode, true, cached, &ad, &message);
            let [first_in, last_in, first_out, last_out] =
                [opened.first_in, opened.last_in, opened.first_out, opened.last_out].map(Option::unwrap);
            assert_eq!(first_in, begin(opened.command));
            assert_eq!(opened.tag, last_in + 2 * pipe + 4);
            // The last beat, which may be the first, waits for the verdict.
            assert_eq!(last_out, opened.tag);
            if message.len() > 16 {
                assert_eq!(first_out, after_ad(opened.command) + pipe + 3);
            }
        }
    }
}

/// A packet that follows another, with its command and Ktop in time: `PIPE + 3 + d` clocks from its first beat to its
/// first output, with d blocks of AD.
#[test]
#[cfg_attr(not(top = "ocb3"), ignore = "not in this build")]
fn latency_after_another_packet() {
    for (ad, message) in [(0, 48), (16, 40), (100, 100)] {
        let ad_blocks = u64::div_ceil(ad, 16);
        let (ad, message) = (vec![1; ad as usize], vec![2; message]);
        let outcomes = run(&ocb3(), |mode, key| {
            let long = mode.seal(key, 0, &[1; 12], &[], &[0; 320]);
            vec![long, mode.seal(key, 0, &[2; 12], &ad, &message)]
        });
        assert_eq!(outcomes[1].first_out, outcomes[1].first_in.map(|clock| clock + ad_blocks + PIPE + 3));
    }
}

/// Returns the clocks of each packet in a run of equal packets, which alternate between the slots.
fn steady(mode: &Mode, slots: u8, open: bool, cached: bool, ad: u64, message: u64) -> Vec<u64> {
    let (ad, message) = (vec![1; ad as usize], vec![2; message as usize]);
    let make = if open { Mode::open } else { Mode::seal };
    let nonce = |i| if cached { counter(i) } else { [i; 12] };
    let keys: Vec<_> = (0..slots).map(|i| [i; 16]).collect();
    let expanded: Vec<_> = keys.iter().map(|bytes| Key::new(mode.algorithm, bytes).expect("a key")).collect();
    let mut bench = Bench::new(mode.top, 1);
    let loads = (0..slots).map(|slot| Action::Load { slot, key: keys[usize::from(slot)].to_vec() });
    bench.run(loads.collect(), Flow::FULL);
    let packet = |i: u8| {
        let slot = i % slots;
        Action::Send(make(mode, &expanded[usize::from(slot)], slot, &nonce(i), &ad, &message))
    };
    let outcomes = bench.run((0..24).map(packet).collect(), Flow::FULL);
    // The last packets are omitted, because no call for a Ktop follows them.
    outcomes[6..22].windows(2).map(|pair| pair[1].tag - pair[0].tag).collect()
}

/// A packet takes one clock for each block and one for the tag. If its Ktop is not cached, sealing takes one more.
/// When opening, Ktop and the verifying call enter alongside whole blocks, and cost a clock only if they coincide
/// with AD.
#[test]
#[cfg_attr(not(top = "ocb3"), ignore = "not in this build")]
fn clocks_of_a_packet() {
    clocks_of_a_packet_of(&ocb3());
}

#[test]
#[cfg_attr(not(top = "ocb3_key_per_block"), ignore = "not in this build")]
fn clocks_of_a_packet_key_per_block() {
    clocks_of_a_packet_of(&ocb3_key_per_block());
}

fn clocks_of_a_packet_of(mode: &Mode) {
    for (ad, message) in [(0, 64), (0, 256), (0, 1500), (0, 9000), (16, 256), (20, 1500), (64, 300), (300, 0)]
    {
        let blocks = u64::div_ceil(ad, 16) + u64::div_ceil(message, 16);
        for (open, cached) in [(false, true), (false, false), (true, true), (true, false)] {
            let clocks = steady(mode, 1, open, cached, ad, message);
            println!("{} open {open} cached {cached} ad {ad} message {message}: {clocks:?}", mode.top);
            let mut expected = blocks + 1;
            if !cached && !open {
                expected += 1;
            }
            if open {
                // Calls that coincide with AD in these cases.
                expected += u64::from(message == 0) + u64::from(!cached && ad > 64);
            }
            if !cached {
                // Only one Ktop is computed at a time.
                expected = expected.max(KTOP);
            }
            assert!(clocks.iter().all(|&clocks| clocks == expected), "expected {expected}");
        }
    }
}

/// Packets that alternate between two slots, with counter nonces.
#[test]
#[cfg_attr(not(top = "ocb3"), ignore = "not in this build")]
fn clocks_of_a_new_key() {
    clocks_of_a_new_key_of(&ocb3(), &[(false, 9, 10), (false, 20, 21), (true, 12, 13), (true, 20, 21)]);
}

#[test]
#[cfg_attr(not(top = "ocb3_key_per_block"), ignore = "not in this build")]
fn clocks_of_a_new_key_key_per_block() {
    let cases = [(false, 2, 3), (false, 20, 21), (true, 3, 4), (true, 20, 21)];
    clocks_of_a_new_key_of(&ocb3_key_per_block(), &cases);
}

/// Checks packets to open or not, with this number of blocks and clocks.
fn clocks_of_a_new_key_of(mode: &Mode, cases: &[(bool, u64, u64)]) {
    for &(open, blocks, expected) in cases {
        let clocks = steady(mode, 2, open, true, 0, 16 * blocks);
        println!("{} open {open} blocks {blocks}: {clocks:?}", mode.top);
        assert!(clocks.iter().all(|&clocks| clocks == expected), "expected {expected}");
    }
}
