//! Packet numbers never repeat under one key.

use std::collections::HashSet;
use std::fs;

use crate::bench::{Bench, ONE, plain};

/// The AN and the packet number of each frame.
fn numbers(frames: &[(std::time::Duration, Vec<u8>)]) -> Vec<(u8, u32)> {
    frames.iter().map(|(_, f)| (f[14] & 3, u32::from_be_bytes([f[16], f[17], f[18], f[19]]))).collect()
}

#[test]
fn a_run_continues_after_the_last_one() {
    let bench = Bench::new(ONE);
    let first = numbers(&bench.run("seal", &plain()[..40], &[]));
    let second = numbers(&bench.run("seal", &plain()[..40], &[]));
    assert_eq!((first[0], first[39], second[0], second[39]), ((1, 1), (1, 40), (1, 41), (1, 80)));
}

#[test]
fn measuring_the_speed_uses_no_numbers() {
    let bench = Bench::new(ONE);
    let (_, run) = bench.try_run("seal", &plain()[..40], &[]);
    assert!(run.stdout.contains("(40 packets repeatedly sealed under throwaway keys"), "{}", run.stdout);
    assert!(run.stdout.contains("packet numbers 1 to 40\n"), "{}", run.stdout);
}

#[test]
fn another_an_under_the_same_key_and_channel_continues_the_numbers() {
    let bench = Bench::new(ONE);
    bench.run("seal", &plain()[..40], &[]);
    fs::write(bench.path("sa.toml"), ONE.replace("an = 1", "an = 2")).unwrap();
    assert_eq!(numbers(&bench.run("seal", &plain()[..1], &[])), [(2, 41)]);
}

#[test]
fn another_transmitter_under_the_same_key_has_its_own_numbers() {
    let bench = Bench::new(ONE);
    bench.run("seal", &plain()[..40], &[]);
    fs::write(bench.path("sa.toml"), ONE.replace("0001\"", "0002\"")).unwrap();
    assert_eq!(numbers(&bench.run("seal", &plain()[..1], &[])), [(1, 1)]);
}

#[test]
fn the_next_association_takes_over_when_numbers_are_used_up() {
    let next =
        ONE.replace("an = 1", "an = 2").replace("0d0e0f", "0d0eff").replace("keys-are-public = true\n", "");
    let bench = Bench::new(&format!("{ONE}pn = 0xfffffff0\n{next}"));
    let frames = &plain()[..100];
    let sealed = bench.run("seal", frames, &[]);
    let numbers = numbers(&sealed);
    assert_eq!(numbers[15..17], [(1, u32::MAX), (2, 1)]);
    assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 100);
    assert!(bench.run("open", &sealed, &[]) == frames);
    // The key of the first association has no numbers left.
    let (_, run) = bench.try_run("seal", &plain()[..1], &[]);
    assert!(run.stdout.contains("AN 2: packet numbers 85 to 85"), "{}", run.stdout);
}

#[test]
fn frames_are_not_sealed_when_all_numbers_are_used_up() {
    let bench = Bench::new(&format!("{ONE}pn = 0xfffffffe\n"));
    let (sealed, run) = bench.try_run("seal", &plain()[..5], &[]);
    assert_eq!(sealed.len(), 2);
    run.assert_lost("3 without packet numbers left");
}

#[test]
fn extended_numbers_cross_from_one_high_half_to_the_next() {
    let bench = Bench::new(&format!("{ONE}ssci = 1\nsalt = \"000102030405060708090a0b\"\nwindow = 32\n"));
    let start = (7_u64 << 32) - 20;
    let options = ["--start-pn", &start.to_string()];
    let mut sealed = bench.run("seal", &plain(), &options);
    assert_eq!(numbers(&sealed)[19..21], [(1, u32::MAX), (1, 0)]);
    // A late frame with the previous high half.
    let early = sealed.remove(10);
    sealed.insert(25, early);
    assert_eq!(bench.run("open", &sealed, &options).len(), 3100);
    // With another high half no frame verifies, and packet number 0 is invalid.
    let (opened, run) = bench.try_run("open", &sealed, &[]);
    assert_eq!(opened.len(), 0);
    run.assert_lost("nothing was opened, 3099 not valid, 1 with a bad SecTAG");
}

#[test]
fn the_first_number_of_a_capture_may_be_given_approximately() {
    let bench = Bench::new(&format!("{ONE}ssci = 1\nsalt = \"000102030405060708090a0b\"\n"));
    let first = (7_u64 << 32) - 20;
    let frames = &plain()[..100];
    let sealed = bench.run("seal", frames, &["--start-pn", &first.to_string()]);
    for distance in [-1_000_000_000, -100, 100, 1_000_000_000] {
        let start = first.wrapping_add_signed(distance).to_string();
        assert!(bench.run("open", &sealed, &["--start-pn", &start]) == frames, "{distance}");
    }
}

#[test]
fn a_first_number_is_refused_if_frames_contain_whole_numbers() {
    let bench = Bench::new(ONE);
    let sealed = bench.run("seal", &plain()[..5], &[]);
    let (opened, run) = bench.try_run("open", &sealed, &["--start-pn", "5"]);
    assert_eq!(opened.len(), 0);
    run.assert_fails(2, &["--start-pn", "ssci and salt"]);
}
