//! Tests of the `sealcomb-link` command. `tests/net/run.py` tests running links in network namespaces.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn link(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sealcomb-link")).args(arguments).output().expect("the command starts")
}

#[test]
fn help_has_an_example_of_each_subcommand() {
    let output = link(&["--help"]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success());
    for subcommand in ["keygen", "run", "check", "status"] {
        let example = |line: &str| {
            line.starts_with(&format!("  sealcomb-link {subcommand} ")) && line.contains("/etc/sealcomb/")
        };
        assert!(text.lines().any(example), "{text}");
    }
}

#[test]
fn a_missing_configuration_is_named_with_status_2() {
    for subcommand in ["run", "check", "status"] {
        let output = link(&[subcommand, "/no/such/link.toml"]);
        let message = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("/no/such/link.toml"), "{message}");
    }
}

/// Creates a configuration with two new keys, after changes to its text.
fn configuration(folder: &Path, change: impl Fn(String) -> String) -> PathBuf {
    let keys = ["control.key", "link.key"].map(|name| folder.join(name));
    if !keys[0].exists() {
        assert!(link(&["keygen", keys[0].to_str().unwrap(), keys[1].to_str().unwrap()]).status.success());
    }
    let text = r#"
        role = "master"
        local = "192.0.2.1:4500"
        peer = "192.0.2.2:4500"
        suite = "aes256-gcm"
        control-key = "control.key"
        [tun]
        name = "seal0"
        [keys]
        file = "link.key"
    "#;
    let path = folder.join("link.toml");
    fs::write(&path, change(text.into())).unwrap();
    path
}

#[test]
fn check_reports_errors_and_warnings_and_strict_makes_them_errors() {
    let folder = tempfile::tempdir().unwrap();
    let check = |options: &[&str], change: fn(String) -> String| {
        let path = configuration(folder.path(), change);
        let output = link(&[&["check"], options, &[path.to_str().unwrap()]].concat());
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code().unwrap(), text)
    };
    let (status, text) = check(&["--strict", "--online"], |text| text);
    assert!(
        status == 0 && text.contains("no errors, 0 warnings") && text.contains("no KME to ask"),
        "{text}"
    );
    let (status, text) = check(&[], |text| format!("user = \"no-such-user\"\n{text}"));
    assert!(status == 2 && text.contains("there is no user no-such-user"), "{text}");
    let (status, text) = check(&[], |text| text.replace("link.key", "control.key"));
    assert!(status == 2 && text.contains("the same key"), "{text}");
    fs::set_permissions(folder.path().join("link.key"), fs::Permissions::from_mode(0o644)).unwrap();
    let (status, text) = check(&[], |text| text);
    assert!(status == 0 && text.contains("warning: `file`: every user can read"), "{text}");
    assert_eq!(check(&["--strict"], |text| text).0, 2);
}

#[test]
fn run_refuses_what_check_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let path = configuration(folder.path(), |text| text.replace("link.key", "control.key"));
    let output = link(&["run", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("the same key"));
}
