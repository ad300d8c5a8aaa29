//! `sealcomb list`, `--help`, `--version`, and invalid arguments.
#![allow(missing_docs, unreachable_pub, dead_code)]

mod run;

use run::{sealcomb, sealcomb_on, sealcomb_unread};
use sealcomb::{ALGORITHMS, Backend};

#[test]
fn every_backend_is_listed_and_the_best_is_in_use() {
    let run = sealcomb(&["list"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    for name in Backend::names() {
        assert!(run.stdout.contains(name), "{name}");
    }
    let in_use: Vec<&str> = run.stdout.lines().filter(|line| line.contains("in use")).collect();
    assert_eq!(in_use.len(), 1);
    assert!(in_use[0].contains(Backend::best().name()), "{}", in_use[0]);
}

#[test]
fn every_algorithm_is_listed_with_its_specification() {
    let run = sealcomb(&["list", "--markdown"]);
    for algorithm in ALGORITHMS {
        let line = run.stdout.lines().find(|line| line.split_whitespace().any(|word| word == algorithm.id));
        assert!(line.is_some_and(|line| line.contains(algorithm.spec)), "{}", algorithm.id);
    }
}

/// The cells of an algorithm's row.
fn cells<'a>(list: &'a str, id: &str) -> Vec<&'a str> {
    let row = list.lines().find(|line| line.split_whitespace().any(|word| word == id)).expect(id);
    row.split(['│', '┆', '|']).map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// The expected values are from the papers' tables of modes, and from SP 800-38A for modes that they omit.
#[test]
fn every_algorithm_is_listed_with_its_properties() {
    for arguments in [&["list"][..], &["list", "--markdown"]] {
        let run = sealcomb(arguments);
        for (id, parallel, inverse_free, online) in [
            ("aes128-gcm", "yes", "yes", "yes"),
            ("aes128-gcm-siv", "yes", "yes", "no"),
            ("aes128-ccm", "no", "yes", "no"),
            ("aes256-ocb3-t128", "yes", "no", "yes"),
            ("aes128-copa", "yes", "no", "yes"),
            ("aes192-cbc", "opening", "no", "yes"),
            ("aes128-cfb128", "opening", "yes", "yes"),
        ] {
            assert_eq!(cells(&run.stdout, id)[5..8], [parallel, inverse_free, online], "{id}");
        }
    }
}

#[test]
fn the_lists_are_no_wider_than_a_terminal() {
    let run = sealcomb(&["list"]);
    for line in run.stdout.lines() {
        assert!(line.chars().count() <= 120, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn every_mode_is_listed_with_its_status_and_reason() {
    let run = sealcomb(&["list"]);
    let words: Vec<&str> = run.stdout.split(|c: char| c.is_whitespace() || c == '│').collect();
    for algorithm in ALGORITHMS {
        for text in [algorithm.mode, algorithm.spec, algorithm.reason, algorithm.note] {
            let missing: Vec<&str> = text.split_whitespace().filter(|word| !words.contains(word)).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", algorithm.id);
        }
    }
}

#[test]
fn markdown_has_one_row_for_each_algorithm() {
    let run = sealcomb(&["list", "--markdown"]);
    let rows: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(rows.len(), ALGORITHMS.len() + 2, "{}", run.stdout);
    assert!(rows.iter().all(|row| row.starts_with('|') && row.ends_with('|')));
}

#[test]
fn a_forced_backend_is_in_use() {
    let run = sealcomb_on("portable", &["list"]);
    let in_use = run.stdout.lines().find(|line| line.contains("in use")).unwrap();
    assert!(in_use.contains("portable"), "{in_use}");
}

#[test]
fn an_unknown_backend_is_refused() {
    for command in
        [&["list"] as &[&str], &["list", "--markdown"], &["study", "--quick"], &["vectors", "no-such-file"]]
    {
        sealcomb_on("nonsense", command).assert_refused(&["SEALCOMB_BACKEND", "no backend has this name"]);
    }
}

#[test]
fn a_closed_standard_output_is_not_an_error() {
    let run = sealcomb_unread(&["list"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}

#[test]
fn help_contains_examples_and_exit_statuses() {
    let run = sealcomb(&["--help"]);
    assert_eq!(run.status, 0);
    for word in ["sealcomb study --quick", "sealcomb vectors", "Exit status"] {
        assert!(run.stdout.contains(word), "{word}");
    }
}

#[test]
fn the_version_is_the_packages() {
    let run = sealcomb(&["--version"]);
    assert_eq!((run.status, run.stdout.trim()), (0, concat!("sealcomb ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn an_unknown_command_is_refused_in_one_line() {
    sealcomb(&["stduy"]).assert_refused(&["stduy"]);
}

#[test]
fn a_missing_command_is_refused() {
    assert_eq!(sealcomb::<&str>(&[]).status, 2);
}
