//! Secrets do not leak: keys from invalid SA files, files with keys, and files with decrypted traffic.

use std::fs;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::bench::Bench;
use crate::captures::mixed;
use crate::suites::{HMAC, IPV4, association, cbc, gcm};

/// Keys that do not occur in any error message, one for each token type of TOML: hex with and without letters, a
/// name, an octal-like number, a prefixed number, a number with an exponent.
const SECRETS: [&str; 6] = [
    "d3adb33fcafef00d5eadbea7defaced1",
    "31415926535897932384626433832795",
    "correcthorsebatterystaple",
    "07357293475098234750928347502983",
    "0x8badf00d",
    "271828182845904523e5360287471352",
];

/// Parts of SA files that a secret replaces or precedes.
const PLACES: [&str; 22] = [
    "[[sa]]",
    "spi",
    "0x1001",
    "\"203.0.113.1\"",
    "203.0.113.2",
    "source",
    "cipher",
    "\"aes-gcm\"",
    "aes-cbc",
    "key",
    "salt",
    "cafebabe",
    "\"cafebabe\"",
    "auth",
    "hmac-sha-256-128",
    "a0a1a2a3",
    "=",
    "\"",
    "\n",
    "sa",
    "auth-key",
    "07",
];

/// Formats a secret in one of 14 ways.
fn written(secret: &str, how: usize) -> String {
    match how {
        0 => secret.into(),
        1 => format!("\"{secret}\""),
        2 => format!("\"{secret}"),
        3 => format!("'{secret}'"),
        4 => format!("[{secret}]"),
        5 => format!("[[{secret}]]\n"),
        6 => format!("{secret} = 1\n"),
        7 => format!("\"{secret}\" = true\n"),
        8 => format!("{{ {secret} = \"{secret}\" }}"),
        9 => format!("\nwindow = {secret}\n"),
        10 => format!("\nspi = \"{secret}\"\n"),
        11 => format!("\nicv = {secret}\nesn = \"{secret}\"\n"),
        12 => format!("a.{secret}.b = 2\n"),
        _ => format!("# {secret}\u{7}\n"),
    }
}

/// Asserts that an output contains no 8 consecutive characters of a secret.
fn assert_hidden(secret: &str, output: &str, file: &str) {
    for piece in secret.as_bytes().windows(8) {
        let piece = std::str::from_utf8(piece).unwrap();
        assert!(!output.contains(piece), "{piece} is in: {output}\nof the file:\n{file}");
    }
}

/// A secret and an SA file that contains it at a random position, with random deletions.
fn broken_file() -> impl Strategy<Value = (&'static str, String)> {
    let other =
        association(IPV4, "aes-ctr", 16, &format!("salt = \"cafebabe\"\n{HMAC}")).replace("1001", "1002");
    let files = [gcm(), cbc(), gcm() + &other, format!("keys-are-public = true\n{}", cbc())];
    let deletions = prop::collection::vec((any::<Index>(), 1_usize..4), 0..3);
    (
        select(files.to_vec()),
        select(&SECRETS[..]),
        select(&PLACES[..]),
        0_usize..14,
        any::<Index>(),
        any::<bool>(),
        deletions,
    )
        .prop_map(|(mut file, secret, place, how, which, insert, deletions)| {
            let found: Vec<usize> = file.match_indices(place).map(|(at, _)| at).collect();
            let at = if found.is_empty() { which.index(file.len()) } else { found[which.index(found.len())] };
            let replaced = if insert || found.is_empty() { 0 } else { place.len() };
            file.replace_range(at..at + replaced, &written(secret, how));
            for (index, len) in deletions {
                let at = index.index(file.len());
                file.replace_range(at..(at + len).min(file.len()), "");
            }
            (secret, file)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn errors_in_an_sa_file_never_quote_a_key((secret, file) in broken_file()) {
        let bench = Bench::with_sa(&file);
        let input = bench.path("empty.pcap");
        crate::captures::write(&input, pcap_file::DataLink::RAW, &[]);
        for direction in ["seal", "open"] {
            let run = bench.run(direction, &input, &bench.path("out.pcap"), &["--burst", "1"]);
            let output = format!("{}{}", run.report.0, run.stderr);
            assert_hidden(secret, &output, &file);
            for key in ["070e151c232a31383f464d545b626970", "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9"] {
                assert_hidden(key, &output, &file);
            }
            if run.status == 2 {
                let name = bench.path("sa.toml");
                prop_assert!(run.stderr.starts_with(&format!("sealcomb: {}:", name.display())), "{}", run.stderr);
                prop_assert_eq!(run.stderr.lines().count(), 1);
            }
        }
    }
}

#[test]
fn a_misplaced_key_is_reported_by_line_and_field() {
    const KEY: &str = "4a1f0e5bd1b1c5a7f3e2d4c69788a9ba";
    let key = "070e151c232a31383f464d545b626970";
    let quoted = format!("\"{key}\"");
    let digits = "12345678901234567890123456789012";
    for (file, line, what) in [
        (gcm().replace(&quoted, KEY), 6, "not valid TOML"),
        (gcm().replace(&quoted, digits), 6, "`key`: expected a string in double quotes"),
        (gcm().replace("aes-gcm", KEY), 5, "`cipher`: expected one of"),
        (gcm().replace("203.0.113.1", KEY), 3, "`source`: expected an IP address"),
        (gcm().replace("0x1001", digits), 2, "`spi`: expected a number"),
        (gcm().replace("0x1001", &format!("\"{KEY}\"")), 2, "`spi`: expected a number"),
        (gcm() + &format!("icv = {digits}"), 8, "`icv`: expected 8"),
        (gcm() + &format!("window = 0x{KEY}"), 8, "`window`: expected a number"),
        (gcm() + &format!("{KEY} = 1"), 8, "unknown field"),
        (gcm().replace("key = ", ""), 6, "not valid TOML"),
        (gcm().replace("cafebabe", KEY), 7, "`salt`: salt of 16 bytes; this cipher takes 4"),
        (gcm() + &format!("match = \"{KEY}\""), 8, "`match`: expected a network"),
        (gcm().replace("[[sa]]", &format!("[[{KEY}]]")), 1, "unknown field"),
        (cbc().replace("hmac-sha-256-128", KEY), 7, "`auth`: expected one of"),
    ] {
        let bench = Bench::with_sa(&file);
        let error = bench.fail(2, "seal", &mixed(), &bench.path("out.pcap"));
        assert!(
            error.contains(&format!("sa.toml:{line}: ")) && error.contains(what),
            "{what}\n{file}\n{error}"
        );
        for secret in [KEY, key, digits] {
            assert_hidden(secret, &error, &file);
        }
    }
}

#[cfg(unix)]
mod permissions {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn only_the_owner_can_read_decrypted_traffic() {
        let bench = Bench::with_sa(&gcm());
        let (sealed, _) = bench.seal(&mixed(), &[]);
        bench.open(&sealed, &[]);
        assert_eq!(mode(&bench.path("opened.pcap")), 0o600);
        // Even if it replaces a file that everyone can access.
        set_mode(&bench.path("opened.pcap"), 0o666);
        bench.open(&sealed, &[]);
        assert_eq!(mode(&bench.path("opened.pcap")), 0o600);
        // The state, which reveals how much was sent, is private too.
        assert!(bench.state_files().iter().all(|path| mode(path) == 0o600));
        assert_eq!(mode(&bench.state()), 0o700);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_is_left_of_decrypted_traffic_if_the_command_is_killed() {
        use std::io::Write;
        use std::process::Stdio;
        let bench = Bench::with_sa(&gcm());
        bench.seal(&mixed(), &[]);
        let sealed = fs::read(bench.path("sealed.pcap")).unwrap();
        let before = bench.listing();
        let mut command = bench.command("open", Path::new("/dev/stdin"), &bench.path("opened.pcap"));
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        // More than the pipe holds, so that the command has read some of it.
        child.stdin.as_mut().unwrap().write_all(&sealed[..sealed.len() / 2]).unwrap();
        assert_eq!(child.try_wait().unwrap(), None);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(bench.listing(), before);
    }

    #[test]
    fn the_umask_applies_to_sealed_traffic() {
        let bench = Bench::with_sa(&gcm());
        bench.seal(&mixed(), &[]);
        fs::write(bench.path("ordinary"), "").unwrap();
        assert_eq!(mode(&bench.path("sealed.pcap")), mode(&bench.path("ordinary")));
    }

    #[test]
    fn an_sa_file_that_other_users_can_read_causes_a_warning() {
        let bench = Bench::with_sa(&gcm());
        for (bits, is_warned) in
            [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o644, true), (0o620, false)]
        {
            set_mode(&bench.path("sa.toml"), bits);
            let (_, run) = bench.try_seal(&mixed(), &[]);
            assert_eq!(run.status, 0);
            let warning = "sa.toml: other users can read its keys; run chmod 600 ";
            assert_eq!(run.stderr.contains(warning), is_warned, "{bits:o}: {}", run.stderr);
            assert_eq!(run.stderr.lines().count(), usize::from(is_warned));
        }
    }

    #[test]
    fn public_keys_cause_no_warning() {
        let bench = Bench::with_sa(&format!("keys-are-public = true\n{}", gcm()));
        set_mode(&bench.path("sa.toml"), 0o644);
        bench.seal(&mixed(), &["--start-sequence", "1"]);
    }
}
