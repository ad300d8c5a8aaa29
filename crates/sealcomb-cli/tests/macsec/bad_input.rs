//! Invalid SA files are refused, with the line number.

use crate::bench::{Bench, ONE, plain};

fn refused(sa_file: &str, words: &[&str]) {
    let bench = Bench::new(sa_file);
    let (_, run) = bench.try_run("seal", &plain()[..1], &["--start-pn", "1"]);
    run.assert_fails(2, words);
    assert!(!bench.path("out.pcap").exists());
}

#[test]
fn an_invalid_field_is_reported_with_its_line() {
    for (from, to, line, what) in [
        ("sci = \"02", "sci = \"", ":3:", "`sci`: sci of 7 bytes; a secure channel takes 8"),
        ("an = 1", "an = 4", ":4:", "`an`: expected a number from 0 to 3"),
        ("0001020304", "01020304", ":5:", "`key`: key of 15 bytes; a SAK takes 16 or 32"),
        ("an = 1", "an = 1\nssci = 1", ":2:", "missing field `salt`"),
        ("an = 1", "an = 1\nsalt = \"00\"", ":5:", "requires ssci"),
        ("an = 1", "an = 1\nconfidentiality-offset = 40", ":5:", "0, 30 and 50"),
        ("an = 1", "an = 1\nconfidentiality-offset = 30\nssci = 1", ":5:", "XPN has no offset"),
        ("an = 1", "an = 1\nvlan-in-clear = 1", ":5:", "true or false"),
        ("an = 1", "an = 1\nssci = 1\nsalt = \"00\"", ":6:", "takes 12"),
        ("an = 1", "an = 1\nsend-sci = \"often\"", ":5:", "expected one of always, end-station, never"),
        ("an = 1", "an = 1\npn = 4294967296", ":5:", "`pn`: expected a number from 1 to 4294967295"),
        ("an = 1", "an = 1\nspi = 1", ":5:", "unknown field"),
        ("an = 1", "an = 1\nsource = \"0200\"", ":5:", "a MAC address takes 6"),
    ] {
        refused(&ONE.replace(from, to), &[line, what]);
    }
    let end_station = ONE.replace("010001", "010002") + "send-sci = \"end-station\"\n";
    refused(&end_station, &[":6:", "port 1"]);
}

/// Puts a key in place of each part of the file, in several forms.
#[test]
fn errors_in_an_sa_file_never_quote_a_key() {
    let own_key = "000102030405060708090a0b0c0d0e0f";
    let quoted = format!("\"{own_key}\"");
    for secret in ["d3adb33fcafef00d5eadbea7defaced1", "31415926535897932384626433832795"] {
        for part in ["true", "[[sa]]", "sci", "\"0200000000010001\"", "an", "1\n", "key =", quoted.as_str()] {
            let forms = [
                secret.to_owned(),
                format!("\"{secret}\""),
                format!("[[{secret}]]"),
                format!("{secret} = 1\n{part}"),
                format!("window = {secret}\n{part}"),
            ];
            for form in forms {
                let file = ONE.replacen(part, &form, 1);
                let (_, run) = Bench::new(&file).try_run("seal", &plain()[..1], &["--start-pn", "1"]);
                let output = format!("{}{}", run.stdout, run.stderr);
                for key in [secret, own_key] {
                    let is_shown = (0..=key.len() - 8).any(|at| output.contains(&key[at..at + 8]));
                    assert!(!is_shown, "a part of {key} is in: {output}\nof the file:\n{file}");
                }
            }
        }
    }
}

#[test]
fn associations_with_repeating_nonces_are_refused() {
    let other = ONE.replace("keys-are-public = true\n", "");
    refused(&format!("{ONE}{other}"), &["same SCI and AN"]);
    refused(&format!("{ONE}{}", other.replace("an = 1", "an = 2")), &["duplicate key of one transmitter"]);
    // Two transmitters may share a key, but not an SSCI.
    let extended = "ssci = 1\nsalt = \"000102030405060708090a0b\"\n";
    let second = other.replace("0001\"", "0002\"");
    refused(&format!("{ONE}{extended}{second}{extended}"), &["duplicate key of one transmitter"]);
    let salted = second.clone() + &extended.replace("ssci = 1", "ssci = 2").replace("0a0b", "0a0c");
    refused(&format!("{ONE}{extended}{salted}"), &["a key has one salt"]);
    refused(&format!("{ONE}{extended}{second}"), &["packet numbers of a different size"]);
    Bench::new(&format!("{ONE}{second}")).seal(&plain()[..1]);
}

#[test]
fn a_packet_number_beyond_the_suites_range_is_refused() {
    let (_, run) = Bench::new(ONE).try_run("seal", &plain()[..1], &["--start-pn", "4294967296"]);
    run.assert_fails(2, &["--start-pn", "02:00:00:00:00:01/0001"]);
}
