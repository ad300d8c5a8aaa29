//! Forged, replayed, late and malformed frames are dropped, and no others.

use crate::bench::{Bench, Frame, ONE, plain};

/// Offset of the packet number.
const PN: usize = 16;
/// Offset of the user data in frames with an SCI.
const DATA: usize = 28;

#[test]
fn a_flipped_bit_anywhere_drops_only_that_frame() {
    for line in ["", "encrypt = false\n", "ssci = 1\nsalt = \"000102030405060708090a0b\"\n"] {
        let bench = Bench::new(&format!("{ONE}{line}"));
        let mut sealed = bench.seal(&plain());
        let mut expected = Vec::new();
        for (i, ((_, frame), plain)) in sealed.iter_mut().zip(plain()).enumerate() {
            if i % 5 == 3 {
                // Alternately an address, the packet number (upward), the user data and the ICV.
                let last = frame.len() - 1;
                let at = [i % 12, PN, DATA + i % (last - 60), last - i % 16][i / 5 % 4];
                frame[at] ^= 1;
            } else {
                expected.push(plain);
            }
        }
        let (opened, run) = bench.try_run("open", &sealed, &["--burst", "64"]);
        assert!(opened == expected, "{line}");
        run.assert_lost(&format!("{} not valid", 3100 - expected.len()));
    }
}

#[test]
fn replayed_frames_are_dropped_within_and_across_bursts() {
    for line in ["", "window = 100\n"] {
        let bench = Bench::new(&format!("{ONE}{line}"));
        let sealed = bench.seal(&plain());
        let each_twice: Vec<Frame> = sealed.iter().flat_map(|frame| [frame.clone(), frame.clone()]).collect();
        let all_twice = [&sealed[..], &sealed[..]].concat();
        for frames in [each_twice, all_twice] {
            let (opened, run) = bench.try_run("open", &frames, &[]);
            assert!(opened == plain());
            run.assert_lost("3100 late or replayed");
        }
    }
}

#[test]
fn a_frame_may_be_late_by_the_size_of_the_window() {
    for (line, window) in [("", 0), ("window = 1\n", 1), ("window = 64\n", 64)] {
        let bench = Bench::new(&format!("{ONE}{line}"));
        let mut sealed = bench.seal(&plain());
        let first = sealed.remove(0);
        if window > 0 {
            // Number 1 after number `window` is the latest accepted.
            sealed.insert(window - 1, first.clone());
            assert_eq!(bench.run("open", &sealed, &[]).len(), 3100, "{line}");
            sealed.remove(window - 1);
        }
        sealed.insert(window.max(1), first);
        bench.try_run("open", &sealed, &[]).1.assert_lost("1 late or replayed");
    }
}

#[test]
fn a_forged_packet_number_does_not_move_the_window() {
    let bench = Bench::new(ONE);
    let mut sealed = bench.seal(&plain());
    let mut forged = sealed[0].clone();
    forged.1[PN] = 0x7f;
    sealed.insert(0, forged);
    let (opened, run) = bench.try_run("open", &sealed, &["--burst", "1"]);
    assert!(opened == plain());
    run.assert_lost("1 not valid");
}

#[test]
fn bad_sectags_are_counted_and_other_protocols_are_skipped() {
    let bench = Bench::new(ONE);
    let mut sealed = bench.seal(&plain()[..6]);
    sealed[0].1[14] |= 0x80; // the version
    sealed[1].1[14] |= 0x40; // both ES and SC
    sealed[2].1[15] = 63; // SL
    sealed[3].1.truncate(30);
    sealed[4].1[PN..PN + 4].fill(0);
    sealed[5].1[12] = 8; // the EtherType
    let (opened, run) = bench.try_run("open", &sealed, &[]);
    assert_eq!(opened.len(), 0);
    assert!(run.stdout.contains("skipped: 1 not MACsec"), "{}", run.stdout);
    run.assert_lost("nothing was opened, 5 with a bad SecTAG");
}

#[test]
fn validation_lets_only_frames_without_encryption_pass() {
    for (line, is_encrypted) in [("", true), ("encrypt = false\n", false)] {
        let bench = Bench::new(&format!("{ONE}{line}"));
        let plain = &plain()[..4];
        let mut sealed = bench.seal(plain);
        let last = sealed[1].1.len() - 1;
        sealed[1].1[last] ^= 1; // the ICV
        sealed[2].1[14] ^= 2; // the AN
        sealed[3].1[20] ^= 1; // the SCI
        let refused = "1 not valid, 1 of unknown SCI, 1 of an AN without an SA";
        for (mode, passed) in [
            ("strict", None),
            ("check", Some("1 with a wrong ICV, 1 of unknown SCI, 1 of an AN without an SA")),
            ("disabled", Some("2 not checked, 1 of unknown SCI, 1 of an AN without an SA")),
        ] {
            let (opened, run) = bench.try_run("open", &sealed, &["--validate", mode]);
            match passed {
                Some(passed) if !is_encrypted => {
                    assert!(opened == plain, "{mode}");
                    assert_eq!(run.status, 0, "{}", run.stdout);
                    assert!(run.stdout.contains(&format!("\nnot verified: {passed}\n")), "{}", run.stdout);
                }
                _ => {
                    assert!(opened == plain[..1], "{mode}");
                    run.assert_lost(refused);
                }
            }
        }
    }
}

#[test]
fn a_frame_that_passed_unverified_does_not_move_the_window() {
    let bench = Bench::new(&format!("{ONE}encrypt = false\n"));
    let sealed = bench.seal(&plain()[..2]);
    let mut forged = sealed[0].clone();
    forged.1[PN] = 0x7f;
    let frames = [forged, sealed[0].clone(), sealed[1].clone()];
    for mode in ["check", "disabled"] {
        assert_eq!(bench.run("open", &frames, &["--burst", "1", "--validate", mode]).len(), 3);
    }
}
