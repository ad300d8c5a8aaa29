//! The commands in the README run as they are written there.
#![allow(missing_docs, unreachable_pub, dead_code)]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../../README.md");

/// Returns the arguments of each `$ cargo run --release -- …` in the README's console blocks, in order.
fn commands() -> Vec<Vec<&'static str>> {
    let blocks = README.split("```console\n").skip(1).filter_map(|block| block.split("```").next());
    let lines = blocks.flat_map(str::lines);
    lines
        .filter_map(|line| line.strip_prefix("$ cargo run --release -- "))
        .map(|arguments| arguments.split_whitespace().collect())
        .collect()
}

#[test]
fn the_commands_of_the_readme_run() {
    let commands = commands();
    for name in ["study", "list", "vectors", "esp"] {
        assert!(commands.iter().any(|arguments| arguments[0] == name), "the README does not run `{name}`");
    }
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    for input in ["captures", "testvectors"] {
        symlink(root.join(input), folder.path().join(input)).unwrap();
    }
    // `study` takes a minute; `tests/study.rs` runs it.
    for arguments in commands.iter().filter(|arguments| arguments[0] != "study") {
        let output = Command::new(env!("CARGO_BIN_EXE_sealcomb"))
            .args(arguments)
            .current_dir(&folder)
            .env("XDG_STATE_HOME", folder.path().join("state"))
            .env("HOME", "/dev/null")
            .env_remove("SEALCOMB_BACKEND")
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "sealcomb {}: {stderr}", arguments.join(" "));
    }
    let [sealed, opened] =
        ["sealed.pcap", "opened.pcap"].map(|name| folder.path().join(name).metadata().unwrap().len());
    assert!(sealed > opened && opened > 1_000_000, "{sealed} bytes sealed, {opened} opened");
}
