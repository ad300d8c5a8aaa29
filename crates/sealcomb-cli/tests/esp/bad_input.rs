//! Bad input leads to a one-line error with the position, and no output.

use std::fs;
use std::path::Path;

use crate::bench::Bench;
use crate::captures::{PACKETS, folder, mixed};
use crate::suites::{cbc, gcm};

#[test]
fn a_capture_that_ends_within_its_file_header_is_refused() {
    let bench = Bench::with_sa(&gcm());
    for (capture, lens) in [(mixed(), [0, 3, 23].as_slice()), (folder().join("cooked.pcapng"), &[5, 11, 20])]
    {
        let whole = fs::read(capture).unwrap();
        let input = bench.path("truncated");
        for &len in lens {
            fs::write(&input, &whole[..len]).unwrap();
            for direction in ["seal", "open"] {
                let line = bench.fail(1, direction, &input, &bench.path("out.pcap"));
                assert!(line.contains("truncated: file header"), "{len} bytes: {line}");
            }
        }
    }
}

#[test]
fn a_corrupt_capture_is_refused() {
    let bench = Bench::with_sa(&gcm());
    let whole = fs::read(mixed()).unwrap();
    let input = bench.path("corrupt.pcap");
    for (at, bytes, what) in [
        (0, [1, 2, 3, 4], "neither a pcap nor a pcapng file"),
        (20, [0x9f, 0, 0, 0], "link type 159"),
        (28, [0xff; 4], "record 1, at byte 24: corrupt: the fraction of its timestamp"),
        (32, [0xff; 4], "record 1, at byte 24: length of 4294967295 bytes; at most 67108864 are supported"),
        (36, [1, 0, 0, 0], "record 1, at byte 24: corrupt: 110 bytes captured of a packet of 1"),
    ] {
        let mut corrupt = whole.clone();
        corrupt[at..at + 4].copy_from_slice(&bytes);
        fs::write(&input, corrupt).unwrap();
        let line = bench.fail(1, "seal", &input, &bench.path("out.pcap"));
        assert!(line.contains("corrupt.pcap") && line.contains(what), "{what}: {line}");
    }
}

#[test]
fn a_missing_input_is_refused() {
    let bench = Bench::with_sa(&gcm());
    let line = bench.fail(3, "seal", &bench.path("nowhere.pcap"), &bench.path("out.pcap"));
    assert!(line.contains("nowhere.pcap"), "{line}");
    fs::remove_file(bench.path("sa.toml")).unwrap();
    let line = bench.fail(3, "seal", &mixed(), &bench.path("out.pcap"));
    assert!(line.contains("sa.toml"), "{line}");
}

#[test]
fn an_unwritable_output_is_refused() {
    let bench = Bench::with_sa(&gcm());
    for (output, what) in [
        (bench.path("no-such-folder/out.pcap").as_path(), "no-such-folder/out.pcap: no such directory"),
        (bench.folder(), "not a regular file"),
        (Path::new("/dev/null"), "/dev/null: not a regular file"),
    ] {
        let line = bench.fail(3, "seal", &mixed(), output);
        assert!(line.contains(what), "{line}");
    }
}

/// The report is printed there.
#[cfg(target_os = "linux")]
#[test]
fn a_descriptor_is_no_output() {
    let bench = Bench::with_sa(&gcm());
    let file = fs::File::create(bench.path("stdout")).unwrap();
    let run = bench.command("seal", &mixed(), Path::new("/dev/stdout")).stdout(file).output().unwrap();
    let line = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(3), "{line}");
    assert!(line.contains("/dev/stdout: not a regular file"), "{line}");
    assert_eq!(fs::read(bench.path("stdout")).unwrap(), b"");
}

#[test]
fn a_failure_leaves_an_earlier_output_unchanged() {
    let bench = Bench::with_sa(&gcm());
    let (input, output) = (bench.path("corrupt.pcap"), bench.path("out.pcap"));
    let mut whole = fs::read(mixed()).unwrap();
    whole[36..40].fill(0); // an original length below the captured length
    fs::write(&input, whole).unwrap();
    fs::write(&output, "earlier").unwrap();
    bench.fail(1, "seal", &input, &output);
    assert_eq!(fs::read_to_string(output).unwrap(), "earlier");
}

/// The lines of [`gcm`] are `[[sa]]`, spi, source, destination, cipher, key, salt. In [`cbc`], auth and auth-key
/// follow the key.
#[test]
fn an_invalid_sa_file_is_refused_with_the_line_number() {
    let (gcm, cbc) = (gcm(), cbc());
    let second = gcm.replace("0x1001", "0x1002").replace("070e15", "070e16");
    for (text, number, what) in [
        (String::new(), 1, "no [[sa]] table"),
        ("sa = []".into(), 1, "no [[sa]] table"),
        ("[[sa]\n".into(), 1, "not valid TOML"),
        (gcm.replace("0x1001", "255"), 2, "reserved"),
        (gcm.replace("0x1001", "0x1_0000_0000"), 2, "`spi`: expected a number from 0 to 4294967295"),
        (gcm.replace("0x1001", "\"0x1001\""), 2, "`spi`: expected a number"),
        (format!("[sa]\n{}", gcm.replace("[[sa]]\n", "")), 1, "[[sa]] with double brackets"),
        (gcm.replace("203.0.113.2", "2001:db8::2"), 4, "different IP versions"),
        (gcm.replace("203.0.113.2", "203.0.113.256"), 4, "`destination`: expected an IP address"),
        (gcm.replace("aes-gcm", "rot13"), 5, "`cipher`: expected one of aes-gcm, aes-ccm, aes-cbc, aes-ctr"),
        (gcm.replace("070e15", "070e"), 6, "key of 15 bytes"),
        (gcm.replace("070e15", "070e1x"), 6, "`key`: expected only hex digits"),
        (gcm.replace("\"07", "07").replace("70\"", "70"), 6, "not valid TOML"),
        (gcm.replace("cafebabe", "cafeba"), 7, "salt of 3 bytes"),
        (gcm.replace("salt", "sallt"), 7, "unknown field; expected one of spi, source"),
        (gcm.replace("salt = \"cafebabe\"", ""), 1, "missing field `salt`"),
        (format!("{gcm}icv = 13"), 8, "`icv`: expected 8, 12 or 16"),
        (format!("{gcm}window = 31"), 8, "`window`: expected a number from 32 to 65536"),
        (format!("{gcm}sequence = 0"), 8, "`sequence`: expected a number from 1 to 4294967295"),
        (format!("{gcm}sequence = 4294967296"), 8, "`sequence`: expected a number from 1 to 4294967295"),
        (format!("{gcm}esn = true\nsequence = 0"), 9, "a number from 1 to 18446744073709551615"),
        (format!("{gcm}esn = 1"), 8, "`esn`: expected true or false"),
        (format!("{gcm}match = \"192.0.2.0/33\""), 8, "`match`: expected a network"),
        (format!("{gcm}auth = \"aes-cmac-96\""), 8, "authenticates packets itself"),
        (cbc.replace("auth = \"hmac-sha-256-128\"", ""), 1, "missing field `auth`"),
        (cbc.replace("hmac-sha-256-128", "aes-cmac-96"), 8, "auth-key of 32 bytes"),
        (format!("{cbc}icv = 16"), 9, "follows from `auth`"),
        (format!("{cbc}salt = \"cafebabe\""), 9, "takes no salt"),
        (
            format!("{gcm}{}", second.replace("0x1002", "0x1001")),
            9,
            "SA number 1 in this file has the same SPI",
        ),
        (format!("{gcm}{}", gcm.replace("0x1001", "0x1002")), 13, "duplicate key"),
        (format!("{gcm}{}", second.replace("cafebabe", "cafe")), 14, "salt of 2 bytes"),
    ] {
        let bench = Bench::with_sa(&text);
        let line = bench.fail(2, "seal", &mixed(), &bench.path("out.pcap"));
        assert!(line.contains(&format!("sa.toml:{number}: ")) && line.contains(what), "{text}\n{line}");
    }
    let both = Bench::with_sa(&format!("{gcm}{second}"));
    assert_eq!(both.seal(&mixed(), &[]).0.len(), PACKETS, "the unmodified file is valid");
}
