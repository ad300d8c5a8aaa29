//! Bad input ends with status 2, one line that names the place, and no output.

use std::fs;
use std::path::Path;

use crate::bench::Bench;
use crate::captures::{PACKETS, folder, mixed};
use crate::suites::{cbc, gcm};

#[test]
fn a_truncated_capture_is_refused_with_the_record_where_it_ends() {
    let bench = Bench::with_sa(&gcm());
    let whole = fs::read(mixed()).unwrap();
    let input = bench.path("truncated.pcap");
    let first_record = 16 + u32::from_le_bytes(whole[32..36].try_into().unwrap()) as usize;
    for (len, place) in [
        (0, "file header"),
        (3, "file header"),
        (23, "file header"),
        (25, "record 1:"),
        (24 + first_record - 1, "record 1:"),
        (24 + first_record + 1, "record 2:"),
        (whole.len() - 1, "record 3100:"),
    ] {
        fs::write(&input, &whole[..len]).unwrap();
        for direction in ["seal", "open"] {
            let line = bench.fail(direction, &input, &bench.path("out.pcap"));
            assert!(line.contains("truncated.pcap") && line.contains(place), "{len} bytes: {line}");
        }
    }
}

#[test]
fn a_truncated_pcapng_capture_is_refused() {
    let bench = Bench::with_sa(&gcm());
    let whole = fs::read(folder().join("cooked.pcapng")).unwrap();
    let input = bench.path("truncated.pcapng");
    for (len, place) in [(11, "file header"), (whole.len() / 2, "record "), (whole.len() - 1, "record 121:")]
    {
        fs::write(&input, &whole[..len]).unwrap();
        let line = bench.fail("seal", &input, &bench.path("out.pcap"));
        assert!(line.contains("truncated.pcapng") && line.contains(place), "{len} bytes: {line}");
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
        (28, [0xff; 4], "record 1: its time"),
        (32, [0xff; 4], "record 1:"),
        (36, [1, 0, 0, 0], "record 1: more bytes"),
    ] {
        let mut corrupt = whole.clone();
        corrupt[at..at + 4].copy_from_slice(&bytes);
        fs::write(&input, corrupt).unwrap();
        let line = bench.fail("seal", &input, &bench.path("out.pcap"));
        assert!(line.contains("corrupt.pcap") && line.contains(what), "{what}: {line}");
    }
}

#[test]
fn a_missing_input_is_refused() {
    let bench = Bench::with_sa(&gcm());
    let line = bench.fail("seal", &bench.path("nowhere.pcap"), &bench.path("out.pcap"));
    assert!(line.contains("nowhere.pcap"), "{line}");
    fs::remove_file(bench.path("sa.toml")).unwrap();
    let line = bench.fail("seal", &mixed(), &bench.path("out.pcap"));
    assert!(line.contains("sa.toml"), "{line}");
}

#[test]
fn an_unwritable_output_is_refused() {
    let bench = Bench::with_sa(&gcm());
    for (output, what) in [
        (bench.path("no-such-folder/out.pcap").as_path(), "no-such-folder/out.pcap: there is no such folder"),
        (bench.folder(), "not a regular file"),
        (Path::new("/dev/null"), "/dev/null: not a regular file"),
    ] {
        let line = bench.fail("seal", &mixed(), output);
        assert!(line.contains(what), "{line}");
    }
}

#[test]
fn a_failure_leaves_an_earlier_output_as_it_was() {
    let bench = Bench::with_sa(&gcm());
    let (input, output) = (bench.path("truncated.pcap"), bench.path("out.pcap"));
    let whole = fs::read(mixed()).unwrap();
    fs::write(&input, &whole[..whole.len() / 2]).unwrap();
    fs::write(&output, "earlier").unwrap();
    bench.fail("seal", &input, &output);
    assert_eq!(fs::read_to_string(output).unwrap(), "earlier");
}

/// In [`gcm`] the lines are `[[sa]]`, spi, source, destination, cipher, key, salt; in [`cbc`] auth and auth-key follow
/// the key.
#[test]
fn a_wrong_sa_file_is_refused_with_the_line_of_the_mistake() {
    let (gcm, cbc) = (gcm(), cbc());
    let twin = gcm.replace("0x1001", "0x1002").replace("070e15", "070e16");
    for (text, number, what) in [
        (String::new(), 1, "sa"),
        ("sa = []".into(), 1, "no [[sa]]"),
        ("[[sa]\n".into(), 1, ""),
        (gcm.replace("0x1001", "255"), 2, "reserved"),
        (gcm.replace("0x1001", "0x1_0000_0000"), 2, ""),
        (gcm.replace("203.0.113.2", "2001:db8::2"), 4, "different IP versions"),
        (gcm.replace("203.0.113.2", "203.0.113.256"), 4, ""),
        (gcm.replace("aes-gcm", "rot13"), 5, "rot13"),
        (gcm.replace("070e15", "070e"), 6, "key of 15 bytes"),
        (gcm.replace("070e15", "070e1x"), 6, ""),
        (gcm.replace("cafebabe", "cafeba"), 7, "salt of 3 bytes"),
        (gcm.replace("salt", "sallt"), 7, "sallt"),
        (gcm.replace("salt = \"cafebabe\"", ""), 1, "lacks `salt`"),
        (format!("{gcm}icv = 13"), 8, "icv of 13 bytes"),
        (format!("{gcm}window = 31"), 8, "31 is not within"),
        (format!("{gcm}sequence = 0"), 8, "0 is not within"),
        (format!("{gcm}match = \"192.0.2.0/33\""), 8, ""),
        (format!("{gcm}auth = \"aes-cmac-96\""), 8, "authenticates by itself"),
        (cbc.replace("auth = \"hmac-sha-256-128\"", ""), 1, "lacks `auth`"),
        (cbc.replace("hmac-sha-256-128", "aes-cmac-96"), 8, "auth-key of 32 bytes"),
        (format!("{cbc}icv = 16"), 9, "follows from auth"),
        (format!("{cbc}salt = \"cafebabe\""), 9, "takes none"),
        (format!("{gcm}{}", twin.replace("0x1002", "0x1001")), 9, "SPI 0x1001"),
        (format!("{gcm}{}", gcm.replace("0x1001", "0x1002")), 13, "used twice"),
        (format!("{gcm}{}", twin.replace("cafebabe", "cafe")), 14, "salt of 2 bytes"),
    ] {
        let bench = Bench::with_sa(&text);
        let line = bench.fail("seal", &mixed(), &bench.path("out.pcap"));
        assert!(line.contains(&format!("sa.toml:{number}: ")) && line.contains(what), "{text}\n{line}");
    }
    let both = Bench::with_sa(&format!("{gcm}{twin}"));
    assert_eq!(both.seal(&mixed(), &[]).0.len(), PACKETS, "the file that the faults were put in is good");
}
