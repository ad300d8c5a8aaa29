//! ECB, the minimal top, as an example for the tests of the modes.

use sealcomb::Key;
use sealcomb_rtl::{Action, Bench, Flow, Mode, check};

fn ecb() -> Mode {
    Mode {
        max_random_ad_bytes: 0,
        illegal: vec![(false, 0, 17), (true, 0, 5), (false, 16, 32)],
        ..Mode::new("ecb", "aes128-ecb")
    }
}

#[test]
#[cfg_attr(not(top = "ecb"), ignore = "not in this build")]
fn random_packets() {
    check::random(&ecb());
}

#[test]
#[cfg_attr(not(top = "ecb"), ignore = "not in this build")]
fn known_answers() {
    check::vectors(&ecb());
}

#[test]
#[cfg_attr(not(top = "ecb"), ignore = "not in this build")]
fn longest_messages() {
    check::longest(&ecb());
}

/// A block takes 11 clocks in the pipe and 2 in the FIFO. There is one idle clock between packets.
#[test]
#[cfg_attr(not(top = "ecb"), ignore = "not in this build")]
fn clocks() {
    let mode = ecb();
    let bytes = [3; 16];
    let key = Key::new(mode.algorithm, &bytes).expect("a key");
    let mut bench = Bench::new(mode.top, 1);
    let mut actions = vec![Action::Load { slot: 0, key: bytes.to_vec() }];
    for blocks in [4, 1, 7, 20] {
        actions.push(Action::Send(mode.seal(&key, 0, &[], &[], &vec![5; 16 * blocks])));
    }
    let outcomes = bench.run(actions, Flow::FULL);
    for outcome in &outcomes {
        assert_eq!(outcome.first_out, outcome.first_in.map(|clock| clock + 13));
        assert_eq!(outcome.last_out, outcome.last_in.map(|clock| clock + 13));
    }
    for pair in outcomes.windows(2) {
        assert_eq!(pair[1].first_in, pair[0].last_in.map(|clock| clock + 2));
    }
}
