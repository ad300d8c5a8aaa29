//! Sealed frames open to exactly the original frames.

use pcap_file::DataLink;

use crate::bench::{Bench, Frame, ONE, demonstration, plain};

#[test]
fn every_cipher_suite_restores_all_frames() {
    let bench = Bench::new(&demonstration());
    let mut frames = plain();
    for (i, (_, frame)) in frames.iter_mut().enumerate().filter(|(i, _)| i % 3 == 0) {
        frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 3 + (i % 2) as u8]);
    }
    for burst in ["1", "32", "1000"] {
        let sealed = bench.run("seal", &frames, &["--start-pn", "1", "--burst", burst]);
        assert_eq!(sealed.len(), frames.len());
        for ((_, sealed), (_, frame)) in sealed.iter().zip(&frames) {
            assert_eq!(sealed[..14], [&frame[..12], &[0x88, 0xe5]].concat());
            let is_encrypted = sealed[14] & 0x0c == 0x0c;
            assert_eq!(is_encrypted, frame[11] != 3, "one source is not encrypted");
        }
        assert!(bench.run("open", &sealed, &["--burst", burst]) == frames);
    }
}

#[test]
fn sealing_adds_a_sectag_and_an_icv() {
    let frames = plain();
    for (line, bytes) in [("", 32), ("send-sci = \"never\"\n", 24)] {
        let bench = Bench::new(&format!("{ONE}{line}"));
        let sealed = bench.seal(&frames);
        assert!(sealed.iter().zip(&frames).all(|(sealed, plain)| sealed.1.len() == plain.1.len() + bytes));
        assert!(bench.run("open", &sealed, &[]) == frames);
    }
}

#[test]
fn the_offset_stays_readable() {
    let frames = plain();
    for offset in [30, 50] {
        let bench = Bench::new(&format!("{ONE}confidentiality-offset = {offset}\n"));
        let sealed = bench.seal(&frames);
        for ((_, sealed), (_, frame)) in sealed.iter().zip(&frames) {
            let clear = offset.min(frame.len() - 12);
            assert_eq!(sealed[28..28 + clear], frame[12..12 + clear]);
            assert_eq!(sealed[14] & 0x0c, 0x0c, "E and C say that the rest is encrypted");
            if frame.len() - 12 > offset + 8 {
                assert_ne!(sealed[28 + clear..sealed.len() - 16], frame[12 + clear..]);
            }
        }
        assert!(bench.run("open", &sealed, &[]) == frames);
        let other = Bench::new(ONE);
        let (opened, _) = other.try_run("open", &sealed, &[]);
        assert!(opened.is_empty(), "both ends need the same offset");
    }
}

#[test]
fn an_end_station_seals_only_its_own_frames() {
    let source = &plain()[0].1[6..12];
    let sa = ONE.replace("020000000001", &hex::encode(source)) + "send-sci = \"end-station\"\n";
    let bench = Bench::new(&sa);
    let own: Vec<Frame> = plain().into_iter().filter(|(_, frame)| frame[6..12] == *source).collect();
    let sealed = bench.seal(&plain());
    assert!(own.len() < plain().len() && sealed.len() == own.len());
    assert!(bench.run("open", &sealed, &[]) == own);
}

#[test]
fn key_agreement_frames_are_skipped() {
    let bench = Bench::new(ONE);
    let mut frames = plain();
    frames.truncate(10);
    frames[4].1[12..14].copy_from_slice(&[0x88, 0x8e]);
    let (sealed, run) = bench.try_run("seal", &frames, &["--start-pn", "1"]);
    assert_eq!((run.status, sealed.len()), (0, 9));
    assert!(run.stdout.contains("1 EAPOL (key agreement)"), "{}", run.stdout);
}

#[test]
fn a_capture_without_ethernet_is_refused() {
    let bench = Bench::new(ONE);
    let (_, run) = bench.try_run_on(DataLink::RAW, "seal", &plain()[..1], &["--start-pn", "1"]);
    run.assert_fails(1, &["in.pcap", "link type"]);
}

#[test]
fn opening_with_a_wrong_key_salt_or_channel_drops_every_frame() {
    let extended = format!("{ONE}ssci = 1\nsalt = \"000102030405060708090a0b\"\n");
    for (sealing, opening, why) in [
        (ONE, ONE.replace("0d0e0f", "0d0e0e"), "not valid"),
        (ONE, ONE.replace("0001\"", "0002\""), "of unknown SCI"),
        (ONE, ONE.replace("an = 1", "an = 2"), "of an AN without an SA"),
        (&extended, extended.replace("0a0b", "0a0c"), "not valid"),
        (&extended, extended.replace("ssci = 1", "ssci = 2"), "not valid"),
    ] {
        let sealed = Bench::new(sealing).seal(&plain());
        let (opened, run) = Bench::new(&opening).try_run("open", &sealed, &[]);
        assert_eq!(opened.len(), 0);
        run.assert_lost(&format!("nothing was opened, 3100 {why}"));
    }
}
