//! Sequence numbers never repeat under one key: counter modes build their nonces from them.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::bench::Bench;
use crate::captures::{PACKETS, Packet, inner_packets, mixed, read, write};
use crate::suites::{CMAC, HMAC, IPV4, association, gcm};

/// The sequence number of a packet in an IPv4 tunnel.
fn sequence(packet: &Packet) -> u32 {
    u32::from_be_bytes(packet.1[24..28].try_into().unwrap())
}

/// The IV of a packet in an IPv4 tunnel, in a counter mode.
fn iv(packet: &Packet) -> u64 {
    u64::from_be_bytes(packet.1[28..36].try_into().unwrap())
}

/// The first and the last sequence number.
fn numbers(packets: &[Packet]) -> (u32, u32) {
    (sequence(&packets[0]), sequence(packets.last().unwrap()))
}

#[test]
fn numbers_start_at_the_associations_first() {
    let bench = Bench::with_sa(&(gcm() + "sequence = 70000"));
    let (sealed, report) = bench.seal(&mixed(), &[]);
    assert_eq!(numbers(&sealed), (70_000, 73_097));
    assert!(report.0.contains("SA 0x1001: sequence numbers 70000 to 73097\n"), "{}", report.0);
    assert!(bench.open(&sealed, &[]).0 == inner_packets());
}

#[test]
fn sealing_again_never_repeats_a_nonce() {
    for sa in [
        gcm(),
        association(IPV4, "aes-ccm", 16, "salt = \"cafeba\""),
        association(IPV4, "aes-ctr", 16, &format!("salt = \"cafebabe\"\n{HMAC}")),
        association(IPV4, "aes-ctr", 16, &format!("salt = \"cafebabe\"\n{CMAC}\nesn = true")),
    ] {
        let bench = Bench::with_sa(&sa);
        let mut ivs = HashSet::new();
        for run in 0..3 {
            let (sealed, _) = bench.seal(&mixed(), &[]);
            assert_eq!(numbers(&sealed), (run * 3098 + 1, (run + 1) * 3098), "no number is skipped");
            ivs.extend(sealed.iter().map(iv));
        }
        assert_eq!(ivs.len(), 3 * PACKETS, "{sa}");
    }
}

#[test]
fn measuring_the_speed_uses_no_numbers() {
    let bench = Bench::with_sa(&gcm());
    let (_, report) = bench.seal(&mixed(), &[]);
    assert!(
        report.0.contains("packets repeatedly sealed under throwaway keys, in bursts of 32"),
        "{}",
        report.0
    );
    assert!(report.0.contains("SA 0x1001: sequence numbers 1 to 3098\n"), "{}", report.0);
    assert_eq!(sequence(&bench.seal(&mixed(), &[]).0[0]), 3099);
}

#[test]
fn numbers_continue_for_a_key_whatever_else_changes() {
    let bench = Bench::with_sa(&gcm());
    let (first, _) = bench.seal(&mixed(), &[]);
    let mut from = sequence(first.last().unwrap());
    for changed in [
        gcm().replace("0x1001", "0x2002"),
        gcm().replace("cafebabe", "cafebabf"),
        gcm() + "sequence = 5",
        // GCM and CTR share the format of counter blocks, so a key must not use a number in both.
        association(IPV4, "aes-ctr", 16, &format!("salt = \"cafebabe\"\n{HMAC}")),
        gcm() + "esn = true",
        gcm(),
    ] {
        bench.write_sa(&changed);
        let (sealed, _) = bench.seal(&mixed(), &[]);
        assert_eq!(sequence(&sealed[0]), from + 1, "{changed}");
        from = sequence(sealed.last().unwrap());
    }
    // A higher first number takes effect.
    bench.write_sa(&(gcm() + "sequence = 1000000"));
    assert_eq!(sequence(&bench.seal(&mixed(), &[]).0[0]), 1_000_000);
}

#[test]
fn a_new_key_starts_at_1_and_an_old_key_continues() {
    let bench = Bench::with_sa(&gcm());
    bench.seal(&mixed(), &[]);
    bench.write_sa(&gcm().replace("070e15", "080e15"));
    assert_eq!(numbers(&bench.seal(&mixed(), &[]).0), (1, 3098));
    bench.write_sa(&gcm());
    assert_eq!(numbers(&bench.seal(&mixed(), &[]).0), (3099, 6196));
}

/// HMAC, which identifies keys, pads them with zero bytes.
#[test]
fn keys_that_differ_only_in_zero_bytes_at_their_ends_repeat_no_number() {
    let sa = |spi: u32, key_bytes: usize, selector: &str| {
        let key = hex::encode(vec![0_u8; key_bytes]);
        format!(
            "[[sa]]\nspi = {spi}\n{IPV4}\ncipher = \"aes-gcm\"\nkey = \"{key}\"\nsalt = \"cafebabe\"\n{selector}\n"
        )
    };
    let bench = Bench::with_sa(&(sa(0x1001, 16, "match = \"192.0.2.0/24\"") + &sa(0x1002, 32, "")));
    let mut seen = HashSet::new();
    for _ in 0..2 {
        let (sealed, _) = bench.seal(&mixed(), &[]);
        // The SPI's last byte and the number.
        seen.extend(sealed.iter().map(|packet| (packet.1[23], sequence(packet))));
    }
    assert_eq!(seen.len(), 2 * PACKETS);
}

#[test]
fn the_state_does_not_reveal_the_key() {
    let bench = Bench::with_sa(&gcm());
    bench.seal(&mixed(), &[]);
    let [file] = &bench.state_files()[..] else { panic!("one key, one file") };
    let state = file.display().to_string() + &fs::read_to_string(file).unwrap();
    let key = "070e151c232a31383f464d545b626970";
    for piece in key.as_bytes().windows(4) {
        assert!(!state.contains(std::str::from_utf8(piece).unwrap()), "{state}");
    }
    assert!(state.contains(": 3098\n"), "{state}");
}

#[cfg(unix)]
#[test]
fn a_link_to_the_sa_file_shares_its_state() {
    let bench = Bench::with_sa(&gcm());
    bench.seal(&mixed(), &[]);
    fs::create_dir(bench.path("elsewhere")).unwrap();
    let link = bench.path("elsewhere/link.toml");
    std::os::unix::fs::symlink(bench.path("sa.toml"), &link).unwrap();
    let output = bench.path("out.pcap");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sealcomb"));
    command.args(["esp", "seal"]).args([&mixed(), &output]).arg("--sa").arg(link);
    command.env("XDG_STATE_HOME", bench.path("state")).env("HOME", "/dev/null");
    assert!(command.output().unwrap().status.success());
    assert_eq!(numbers(&read(&output)), (3099, 6196));
}

#[test]
fn start_sequence_takes_effect_and_stores_no_state() {
    let bench = Bench::with_sa(&gcm());
    let start = ["--start-sequence", "77"];
    for _ in 0..2 {
        let (sealed, run) = bench.try_seal(&mixed(), &start);
        assert_eq!((run.status, numbers(&sealed)), (0, (77, 3174)));
        assert!(run.stderr.contains("never use the same number twice under one key"), "{}", run.stderr);
    }
    assert!(!bench.state().exists());
    let output = bench.path("out.pcap");
    let line = bench.run("seal", &mixed(), &output, &["--start-sequence", "4294967296"]).assert_fails(2);
    assert!(
        line.contains("--start-sequence 4294967296: the last number of SA 0x1001 is 4294967295"),
        "{line}"
    );
    bench.run("seal", &mixed(), &output, &["--start-sequence", "0"]).assert_fails(2);
}

#[test]
fn a_run_that_seals_nothing_uses_no_numbers() {
    let bench = Bench::with_sa(&gcm());
    let huge = bench.path("huge.pcap");
    let mut packet = vec![0; usize::from(u16::MAX)];
    packet[..20].copy_from_slice(&[0x45, 0, 0xff, 0xff, 0, 0, 0, 0, 9, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    write(&huge, pcap_file::DataLink::RAW, &[(Duration::ZERO, packet)]);
    for first in [1, 3099] {
        let (sealed, run) = bench.try_seal(&huge, &[]);
        assert_eq!((sealed.len(), run.status), (0, 1), "{}", run.stderr);
        assert_eq!(numbers(&bench.seal(&mixed(), &[]).0), (first, first + 3097));
    }
}

#[test]
fn the_last_32_bit_number_is_used_once() {
    // The capture's 3098 packets end at 2^32 - 1.
    let bench = Bench::with_sa(&(gcm() + "sequence = 4294964198"));
    let (sealed, _) = bench.seal(&mixed(), &[]);
    assert_eq!(sequence(sealed.last().unwrap()), u32::MAX);
    assert!(bench.open(&sealed, &[]).0 == inner_packets());
    for _ in 0..2 {
        let line = bench.fail(1, "seal", &mixed(), &bench.path("out.pcap"));
        assert!(
            line.contains("SA 0x1001") && line.contains("used up") && line.contains("a new key"),
            "{line}"
        );
    }

    let bench = Bench::with_sa(&(gcm() + "sequence = 4294964199"));
    let line = bench.fail(1, "seal", &mixed(), &bench.path("out.pcap"));
    assert!(line.contains("mixed.pcap") && line.contains("SA 0x1001") && line.contains("used up"), "{line}");
}

#[test]
fn numbers_of_a_failed_run_count_as_used() {
    let bench = Bench::with_sa(&gcm());
    let mut capture = fs::read(mixed()).unwrap();
    let len = capture.len();
    // The captured length of the last record exceeds its original length.
    capture.truncate(len - 4);
    capture.extend([0xff; 4]);
    let input = bench.path("corrupt.pcap");
    capture.extend([0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 2]);
    fs::write(&input, capture).unwrap();
    bench.fail(1, "seal", &input, &bench.path("out.pcap"));
    let (sealed, _) = bench.seal(&mixed(), &[]);
    assert!(sequence(&sealed[0]) > 3098);
}

/// Starts a run that reads its capture from a pipe, and writes the first packets to it. Returns the rest of the
/// capture.
#[cfg(unix)]
fn waiting_run(bench: &Bench, output: &str, packets: usize) -> (Child, Vec<u8>) {
    let capture = fs::read(mixed()).unwrap();
    let mut command = bench.command("seal", "/dev/stdin".as_ref(), &bench.path(output));
    let mut child = command
        .args(["--burst", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (begin, rest) = capture.split_at(packets * 100);
    child.stdin.as_mut().unwrap().write_all(begin).unwrap();
    (child, rest.to_vec())
}

/// Waits until a run has reserved numbers.
#[cfg(unix)]
fn await_state(bench: &Bench) {
    for _ in 0..6000 {
        if !bench.state_files().is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("no number was reserved");
}

#[cfg(unix)]
#[test]
fn numbers_are_reserved_before_packets_are_sealed_under_them() {
    let bench = Bench::with_sa(&gcm());
    let (mut child, _) = waiting_run(&bench, "first.pcap", 100);
    await_state(&bench);
    child.kill().unwrap();
    child.wait().unwrap();
    let (sealed, _) = bench.seal(&mixed(), &[]);
    assert!(sequence(&sealed[0]) > 100, "{}", sequence(&sealed[0]));
}

#[cfg(unix)]
#[test]
fn a_second_run_waits_for_the_first() {
    use std::io::Read;

    let bench = Bench::with_sa(&gcm());
    let (mut first, rest) = waiting_run(&bench, "first.pcap", 100);
    await_state(&bench);
    let mut second = bench
        .command("seal", &mixed(), &bench.path("second.pcap"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut warning = vec![0; 30];
    second.stderr.as_mut().unwrap().read_exact(&mut warning).unwrap();
    assert!(String::from_utf8_lossy(&warning).starts_with("sealcomb: warning: waiting for"), "{warning:?}");
    assert!(!bench.path("second.pcap").exists());
    first.stdin.take().unwrap().write_all(&rest).unwrap();
    assert!(first.wait().unwrap().success() && second.wait().unwrap().success());
    assert_eq!(numbers(&read(&bench.path("first.pcap"))), (1, 3098));
    assert_eq!(numbers(&read(&bench.path("second.pcap"))), (3099, 6196));
}

#[test]
fn concurrent_runs_share_no_number() {
    let bench = Bench::with_sa(&gcm());
    let outputs: Vec<_> = (0..6).map(|i| bench.path(&format!("{i}.pcap"))).collect();
    let spawn = |output: &PathBuf| {
        bench.command("seal", &mixed(), output).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let children: Vec<Child> = outputs.iter().map(spawn).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let all: HashSet<u32> =
        outputs.iter().flat_map(|output| read(output)).map(|packet| sequence(&packet)).collect();
    assert_eq!(all.len(), 6 * PACKETS);
    assert_eq!(all.iter().max(), Some(&(6 * 3098)));
}

#[test]
fn a_state_that_cannot_be_stored_is_refused_with_advice() {
    let output = |bench: &Bench| bench.path("out.pcap");
    let assert_advice = |line: &str| {
        assert!(line.contains("--state DIR") && line.contains("--start-sequence N"), "{line}");
    };

    let bench = Bench::with_sa(&gcm());
    fs::write(bench.path("state"), "").unwrap();
    assert_advice(&bench.fail(3, "seal", &mixed(), &output(&bench)));
    // Another directory works, even if its parents do not exist.
    let place = bench.path("var/lib/numbers");
    let place = place.to_str().unwrap();
    for from in [1, 3099] {
        assert_eq!(sequence(&bench.seal(&mixed(), &["--state", place]).0[0]), from);
    }
    let nowhere = bench.path("state/numbers");
    let nowhere = ["--state", nowhere.to_str().unwrap()];
    let line = bench.run("seal", &mixed(), &output(&bench), &nowhere).assert_fails(3);
    assert!(line.contains("state/numbers"), "{line}");
    assert_advice(&line);
    let both = ["--state", place, "--start-sequence", "1"];
    bench.run("seal", &mixed(), &output(&bench), &both).assert_fails(2);
}

#[cfg(unix)]
#[test]
fn numbers_of_an_sa_file_from_a_pipe_are_stored_too() {
    let bench = Bench::with_sa(&gcm());
    let output = bench.path("out.pcap");
    for first in [1, 3099] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_sealcomb"))
            .args(["esp", "seal"])
            .args([&mixed(), &output])
            .args(["--sa", "/dev/stdin"])
            .env("XDG_STATE_HOME", bench.path("state"))
            .env("HOME", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(gcm().as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(sequence(&read(&output)[0]), first);
    }
}

#[test]
fn a_damaged_state_is_refused_and_never_ignored() {
    let bench = Bench::with_sa(&gcm());
    bench.seal(&mixed(), &[]);
    let file = bench.state_files().remove(0);
    let state = fs::read_to_string(&file).unwrap();
    for damaged in [
        String::new(),
        state[..state.len() / 2].into(),
        state.replace("3098", "-1"),
        state.replace("3098", "18446744073709551616"),
        state.replace("last", "least"),
    ] {
        fs::write(&file, &damaged).unwrap();
        let line = bench.fail(1, "seal", &mixed(), &bench.path("out.pcap"));
        assert!(line.contains(".json: damaged"), "{damaged}\n{line}");
    }
}
