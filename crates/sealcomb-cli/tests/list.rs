//! `sealcomb list`, `--help`, `--version`, and invalid arguments.
#![allow(missing_docs, unreachable_pub, dead_code)]

mod run;

use run::{sealcomb, sealcomb_on, sealcomb_unread};
use sealcomb::Backend;
use sealcomb::study::ALGORITHMS;
use std::fs;
use std::path::Path;
use std::process::Command;

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
    for &algorithm in ALGORITHMS {
        let line = run.stdout.lines().find(|line| line.split_whitespace().any(|word| word == algorithm.id()));
        assert!(line.is_some_and(|line| line.contains(algorithm.spec())), "{}", algorithm.id());
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
    for &algorithm in ALGORITHMS {
        for text in [algorithm.mode(), algorithm.spec(), algorithm.reason(), algorithm.note()] {
            let missing: Vec<&str> = text.split_whitespace().filter(|word| !words.contains(word)).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", algorithm.id());
        }
    }
}

/// Otherwise GCM would be both a standard and research.
#[test]
fn modes_with_serpent_are_listed_with_the_cipher() {
    let run = sealcomb(&["list"]);
    for mode in ["GCM", "OCB3", "ECB"] {
        let row = format!("│ {mode} with Serpent ");
        assert_eq!(run.stdout.lines().filter(|line| line.starts_with(&row)).count(), 1, "{mode}");
        let row = format!("│ {mode} ");
        let rows = run.stdout.lines().filter(|line| line.starts_with(&row) && !line.contains("Serpent"));
        assert!(rows.count() <= 1, "{mode}");
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
fn the_json_has_every_backend_and_algorithm() {
    let run = sealcomb_on("portable", &["list", "--json"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let lists: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(lists["schema"], "sealcomb-list/1");
    let listed = |list: &str, field: &str| -> Vec<String> {
        let entries = lists[list].as_array().unwrap();
        entries.iter().map(|entry| entry[field].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed("backends", "name"), Backend::names().collect::<Vec<_>>());
    let ids: Vec<&str> = ALGORITHMS.iter().map(|algorithm| algorithm.id()).collect();
    assert_eq!(listed("algorithms", "id"), ids);
    let in_use = |backend: &&serde_json::Value| backend["is_in_use"] == true;
    let in_use: Vec<_> = lists["backends"].as_array().unwrap().iter().filter(in_use).collect();
    assert!(
        in_use.len() == 1 && in_use[0]["name"] == "portable" && in_use[0]["reason"].is_null(),
        "{in_use:?}"
    );
    let gcm = &lists["algorithms"][ids.iter().position(|id| *id == "aes128-gcm").unwrap()];
    for (field, value) in [
        ("kind", "AEAD".into()),
        ("cipher", "AES".into()),
        ("key_bytes", 16.into()),
        ("min_nonce_bytes", 1.into()),
        ("max_nonce_bytes", serde_json::Value::Null),
        ("tag_bytes", serde_json::json!([4, 8, 12, 13, 14, 15, 16])),
        ("parallel", "yes".into()),
        ("is_inverse_free", true.into()),
        ("status", "standard".into()),
        ("specification", "NIST SP 800-38D".into()),
    ] {
        assert_eq!(gcm[field], value, "{field}");
    }
    sealcomb(&["list", "--json", "--markdown"]).assert_fails(2, &["--json", "--markdown"]);
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
        sealcomb_on("nonsense", command).assert_fails(2, &["SEALCOMB_BACKEND", "no backend has this name"]);
    }
}

#[test]
fn a_closed_standard_output_is_not_an_error() {
    let run = sealcomb_unread(&["list"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}

#[cfg(target_os = "linux")]
#[test]
fn help_reports_a_full_standard_output() {
    use run::{full, sealcomb_to, unread};
    for command in [&["--help"] as &[&str], &["--version"], &["esp", "seal", "--help"], &["list"]] {
        let run = sealcomb_to(full(), std::process::Stdio::piped(), command);
        run.assert_fails(3, &["cannot write to standard output"]);
        let run = sealcomb_to(unread(), std::process::Stdio::piped(), command);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{command:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_error_that_cannot_be_printed_still_gives_its_exit_status() {
    use run::{full, sealcomb_to, unread};
    let commands: [(&[&str], i32); 3] = [
        (&["--no-such-option"], 2),
        (&["vectors", "no-such-file"], 3),
        (&["esp", "seal", "a", "b", "--sa", "c"], 3),
    ];
    for (command, status) in commands {
        for stderr in [full(), unread()] {
            assert_eq!(
                sealcomb_to(std::process::Stdio::piped(), stderr, command).status,
                status,
                "{command:?}"
            );
        }
    }
}

#[test]
fn help_contains_examples_and_exit_statuses() {
    let run = sealcomb(&["--help"]);
    assert_eq!(run.status, 0);
    for word in ["sealcomb study --quick", "sealcomb vectors", "Exit status"] {
        assert!(run.stdout.contains(word), "{word}");
    }
}

/// The examples in a `--help` text, without their descriptions. Those of `study` are left out: they take a minute.
fn examples(help: &str) -> Vec<&str> {
    let commands = help.lines().filter_map(|line| line.strip_prefix("  ")?.split("   ").next());
    let is_example = |command: &&str| {
        command.starts_with("sealcomb ") || command.starts_with("SEALCOMB_") && command.contains(" sealcomb ")
    };
    commands.filter(is_example).filter(|command| !command.contains("sealcomb study")).collect()
}

/// The SA file in a `--help` text; empty if there is none.
fn sa_file(help: &str) -> String {
    let lines = help.lines().skip_while(|line| *line != "  [[sa]]");
    lines
        .take_while(|line| line.contains("[[sa]]") || line.contains(" = "))
        .fold(String::new(), |file, line| file + line + "\n")
}

#[cfg(unix)]
#[test]
fn every_example_in_help_runs_as_printed() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let binary = Path::new(env!("CARGO_BIN_EXE_sealcomb"));
    for command in
        ["", "list", "vectors", "esp", "esp seal", "esp open", "macsec", "macsec seal", "macsec open"]
    {
        let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = sealcomb(&words).stdout;
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("testvectors")).unwrap();
        for (from, to) in [
            ("captures/mixed.pcap", "in.pcap"),
            ("captures/sa.toml", "sa.toml"),
            ("captures/macsec.toml", "macsec.toml"),
            ("testvectors/aes128-gcm.json", "testvectors/aes128-gcm.json"),
            ("testvectors/aes128-cmac.json", "testvectors/aes128-cmac.json"),
        ] {
            fs::copy(repository.join(from), folder.path().join(to)).unwrap();
        }
        let sa_file = sa_file(&help);
        assert_eq!(sa_file.is_empty(), !command.ends_with("seal"), "{help}");
        if !sa_file.is_empty() {
            let name = if command.starts_with("esp") { "sa.toml" } else { "macsec.toml" };
            fs::write(folder.path().join(name), sa_file).unwrap();
        }
        let seal = match command {
            "esp open" => Some("sealcomb esp seal in.pcap sealed.pcap --sa sa.toml"),
            "macsec open" => Some("sealcomb macsec seal in.pcap sealed.pcap --sa macsec.toml"),
            _ => None,
        };
        let examples = examples(&help);
        assert!(!examples.is_empty(), "{help}");
        for example in seal.into_iter().chain(examples) {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", example]).current_dir(&folder).env_remove("SEALCOMB_BACKEND");
            shell.env("PATH", binary.parent().unwrap());
            shell.env("XDG_STATE_HOME", folder.path().join("state")).env("HOME", "/dev/null");
            let output = shell.output().unwrap();
            assert!(output.status.success(), "{example}\n{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn every_line_of_help_fits_a_terminal() {
    for command in ["esp seal", "esp open", "macsec seal", "macsec open", "list", "vectors", "esp", "macsec"]
    {
        let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let run = sealcomb(&words);
        for line in run.stdout.lines() {
            assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
        }
    }
}

#[test]
fn the_version_is_the_packages() {
    let run = sealcomb(&["--version"]);
    assert_eq!((run.status, run.stdout.trim()), (0, concat!("sealcomb ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn an_unknown_command_is_refused_in_one_line() {
    sealcomb(&["stduy"]).assert_fails(2, &["stduy"]);
}

#[test]
fn a_missing_command_is_refused() {
    sealcomb::<&str>(&[]).assert_fails(2, &["expected a command: sealcomb <COMMAND>", "--help"]);
    sealcomb(&["esp"]).assert_fails(2, &["expected a command: sealcomb esp <COMMAND>", "--help"]);
}
