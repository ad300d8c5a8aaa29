//! `sealcomb vectors`.
#![allow(missing_docs, unreachable_pub, dead_code)]

#[path = "../../sealcomb/examples/known_answers.rs"]
mod known_answers;
mod run;

use run::{Run, file, sealcomb, sealcomb_on};
use sealcomb::Backend;
use sealcomb::study::ALGORITHMS;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// NIST SP 800-38B, D.1, examples 1 and 2.
const CMAC: &str = r#"{
  "algorithm": "aes128-cmac", "source": "NIST", "key_bytes": 16, "tag_bytes": 16, "layout": "unknown to us",
  "tests": [
    {"id": 1, "key": "2b7e151628aed2a6abf7158809cf4f3c", "msg": "", "tag": "bb1d6929e95937287fa37d129b756746"},
    {"id": "two", "key": "2b7e151628aed2a6abf7158809cf4f3c", "msg": "6bc1bee22e409f96e93d7e117393172a",
     "tag": "070a16b46b4d4144f79bdd9dd04a287c", "origin": "ignored"}
  ]
}"#;

/// NIST SP 800-38A, F.1.1, first block.
const ECB: &str = r#"{
  "algorithm": "aes128-ecb", "tests": [
    {"id": 1, "key": "2b7e151628aed2a6abf7158809cf4f3c", "nonce": "", "msg": "6bc1bee22e409f96e93d7e117393172a",
     "ct": "3ad77bb40d7a3660a89ecaf32466ef97"}
  ]
}"#;

/// Test cases 1 and 2 of the GCM specification.
const GCM: &str = r#"{
  "algorithm": "aes128-gcm", "tests": [
    {"id": 1, "key": "00000000000000000000000000000000", "nonce": "000000000000000000000000", "aad": "", "msg": "",
     "ct": "", "tag": "58e2fccefa7e3061367f1d57a4e7455a"},
    {"id": 2, "key": "00000000000000000000000000000000", "nonce": "000000000000000000000000", "aad": "",
     "msg": "00000000000000000000000000000000", "ct": "0388dace60b6a392f328c2b971b2fe78",
     "tag": "ab6e47d42cec13bdf53a67b21257bddf"}
  ]
}"#;

/// Published test vectors of Serpent with 128-bit and 192-bit keys.
const SERPENT: &str = r#"{
  "algorithm": "serpent", "block_bytes": 16, "key_bytes": [16, 24], "tests": [
    {"id": 1, "key": "00000000000000000000000000000000", "pt": "d29d576fcea3a3a7ed9099f29273d78e",
     "ct": "b2288b968ae8b08648d1ce9606fd992d"},
    {"id": 2, "key": "000000000000000000000000000000000000000000000000", "pt": "d29d576fceaba3a7ed9899f2927bd78e",
     "ct": "130e353e1037c22405e8faefb2c3c3e9"}
  ]
}"#;

fn check(content: &str) -> Run {
    let (_folder, path) = file("answers.json", content);
    sealcomb(&["vectors".as_ref(), path.as_os_str()])
}

/// The numbers of passed and failed checks, from the last line.
fn totals(run: &Run) -> (usize, usize) {
    let last = run.stdout.lines().last().unwrap();
    let (passed, failed) = last.split_once(" passed, ").unwrap();
    (passed.parse().unwrap(), failed.strip_suffix(" failed").unwrap().parse().unwrap())
}

#[test]
fn right_answers_pass_for_a_block_cipher_a_cipher_a_mac_and_an_aead() {
    for content in [SERPENT, ECB, CMAC, GCM] {
        let run = check(content);
        let (passed, failed) = totals(&run);
        assert_eq!((run.status, failed), (0, 0), "{}{}", run.stdout, run.stderr);
        assert!(passed > 0);
    }
}

#[test]
fn answers_of_the_reference_models_pass_for_every_algorithm() {
    let folder = tempfile::tempdir().unwrap();
    let mut arguments = vec!["vectors".into()];
    for &algorithm in ALGORITHMS {
        let path = folder.path().join(algorithm.id()).with_extension("json");
        fs::write(&path, known_answers::file(algorithm)).unwrap();
        arguments.push(path.into_os_string());
    }
    let run = sealcomb(&arguments);
    assert_eq!((run.status, totals(&run).1), (0, 0), "{}{}", run.stdout, run.stderr);
    assert_eq!(run.stdout.lines().filter(|line| line.contains(" tests: ")).count(), ALGORITHMS.len());
}

#[test]
fn several_files_are_added_up() {
    let (_first_folder, first) = file("ecb.json", ECB);
    let (_second_folder, second) = file("gcm.json", GCM);
    let both = sealcomb(&["vectors".as_ref(), first.as_os_str(), second.as_os_str()]);
    assert_eq!(totals(&both).0, totals(&check(ECB)).0 + totals(&check(GCM)).0);
}

#[test]
fn a_wrong_tag_fails_with_status_1_and_names_the_test() {
    let run = check(&CMAC.replace("4a287c", "4a287d"));
    let (passed, failed) = totals(&run);
    assert_eq!(run.status, 1, "{}", run.stdout);
    assert!(passed > 0 && failed > 0);
    assert!(run.stdout.contains("test two"), "{}", run.stdout);
}

/// The path of a file in `testvectors`.
fn published(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../testvectors", name].iter().collect()
}

/// Ways of processing a message: sealing and opening as a single message, in a batch in place, and out of place.
const WAYS: usize = 6;

#[test]
fn a_single_wrong_tag_fails_once_per_backend_and_way_of_processing() {
    let right = fs::read_to_string(published("aes128-gcm.json")).unwrap();
    let wrong = right.replace("\"tag\": \"077931", "\"tag\": \"077932");
    assert_ne!(wrong, right);
    for backend in Backend::available() {
        let (_folder, path) = file("answers.json", &wrong);
        let run = sealcomb_on(backend.name(), &["vectors".as_ref(), path.as_os_str()]);
        // A way that forges this tag anyway does not fail.
        let failed = totals(&run).1;
        assert!(run.status == 1 && (3..=WAYS).contains(&failed), "{}", run.stdout);
        let failures: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("  failed: ")).collect();
        let blamed = format!("  failed: {} test 2: ", backend.name());
        assert!(failures.iter().all(|failure| failure.starts_with(&blamed)), "{}", run.stdout);
        assert_eq!(failures.iter().collect::<BTreeSet<_>>().len(), failed, "{}", run.stdout);
    }
}

#[test]
fn only_a_forced_backend_is_checked() {
    let (_folder, path) = file("answers.json", &GCM.replace("0388dace", "0388dacf"));
    for backend in Backend::available() {
        let run = sealcomb_on(backend.name(), &["vectors".as_ref(), path.as_os_str()]);
        let failures: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("  failed: ")).collect();
        let blamed = format!("  failed: {} test 2", backend.name());
        assert!(
            !failures.is_empty() && failures.iter().all(|failure| failure.starts_with(&blamed)),
            "{}",
            run.stdout
        );
        assert!(run.stdout.contains(&format!("only {}", backend.name())), "{}", run.stdout);
    }
}

#[test]
fn an_unavailable_forced_backend_is_refused_with_the_reason() {
    let (_folder, path) = file("answers.json", GCM);
    let refused = |backend| sealcomb_on(backend, &["vectors".as_ref(), path.as_os_str()]);
    refused("nonsense").assert_fails(2, &["SEALCOMB_BACKEND", "no backend has this name", "portable, "]);
    for error in Backend::names().filter_map(|name| Some((name, Backend::named(name).err()?))) {
        let (name, error) = error;
        refused(name).assert_fails(2, &["SEALCOMB_BACKEND", &error.to_string()]);
    }
}

#[test]
fn skipped_backends_are_printed_with_the_reason() {
    let run = check(GCM);
    let printed: Vec<&str> = run.stdout.lines().filter_map(|line| line.strip_prefix("skipped: ")).collect();
    let skipped: Vec<String> =
        Backend::names().filter_map(|name| Backend::named(name).err()).map(|why| why.to_string()).collect();
    assert_eq!(printed, skipped);
}

#[test]
fn a_wrong_ciphertext_fails_with_status_1() {
    for content in [
        SERPENT.replace("b2288b96", "b2288b97"),
        ECB.replace("3ad77bb4", "3ad77bb5"),
        GCM.replace("0388dace", "0388dacf"),
    ] {
        let run = check(&content);
        assert_eq!(run.status, 1, "{}", run.stdout);
        assert!(totals(&run).1 > 0);
    }
}

#[test]
fn an_unknown_algorithm_is_named() {
    check(&ECB.replace("aes128-ecb", "rot13-ecb")).assert_fails(1, &["answers.json", "rot13-ecb"]);
    check(&SERPENT.replace("serpent", "serpens")).assert_fails(1, &["answers.json", "serpens128"]);
}

#[test]
fn broken_json_is_refused_with_file_and_line() {
    check(&ECB.replace("\"tests\": [", "\"tests\": [ oops")).assert_fails(1, &["answers.json", "line 2"]);
}

#[test]
fn broken_hex_is_refused_with_file_and_line() {
    check(&ECB.replace("2b7e15", "2b7x15")).assert_fails(1, &["answers.json", "line 3"]);
}

#[test]
fn a_missing_field_is_named_with_its_test() {
    check(&GCM.replace("\"nonce\": \"000000000000000000000000\", \"aad\": \"\",\n", ""))
        .assert_fails(1, &["answers.json", "test 2", "nonce"]);
}

#[test]
fn a_key_of_a_wrong_length_is_refused_with_its_test() {
    check(&CMAC.replace("2b7e15", "7e15")).assert_fails(1, &["answers.json", "test 1", "key of 15 bytes"]);
}

#[test]
fn a_message_longer_than_its_ciphertext_is_refused() {
    check(&ECB.replace("6bc1bee2", "6bc1bee2ff")).assert_fails(1, &["answers.json", "test 1"]);
}

#[test]
fn a_file_without_tests_is_refused() {
    check(r#"{"algorithm": "aes128-gcm", "tests": []}"#).assert_fails(1, &["answers.json", "no tests"]);
}

#[test]
fn a_missing_file_is_named() {
    sealcomb(&["vectors", "no-such-file.json"]).assert_fails(3, &["no-such-file.json"]);
}

#[test]
fn a_bad_file_is_refused_before_good_ones_are_run() {
    let (_folder, path) = file("good.json", GCM);
    let run = sealcomb(&["vectors".as_ref(), path.as_os_str(), "no-such-file.json".as_ref()]);
    run.assert_fails(3, &["no-such-file.json"]);
    assert_eq!(run.stdout, "");
}

#[test]
fn vectors_requires_a_file() {
    sealcomb(&["vectors"]).assert_fails(2, &["FILE"]);
}
