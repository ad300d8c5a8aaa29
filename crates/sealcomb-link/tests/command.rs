//! Tests of the `sealcomb-link` command. `tests/net/run.py` tests running links in network namespaces.

use std::process::{Command, Output};

fn link(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sealcomb-link")).args(arguments).output().expect("the command starts")
}

#[test]
fn help_has_an_example_of_each_subcommand() {
    let output = link(&["--help"]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success());
    for subcommand in ["run", "check", "status"] {
        assert!(text.contains(&format!("  sealcomb-link {subcommand} /etc/sealcomb/link.toml")), "{text}");
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
