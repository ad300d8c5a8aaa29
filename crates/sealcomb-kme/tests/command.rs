//! Tests of the `sealcomb-kme` command. The tests of `sealcomb-link` test its REST interface with real clients.

use std::process::{Command, Output};

fn kme(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sealcomb-kme")).args(arguments).output().expect("the command starts")
}

#[test]
fn help_lists_the_subcommands() {
    let output = kme(&["--help"]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success());
    for subcommand in ["run", "certificates"] {
        assert!(text.contains(&format!("\n  {subcommand} ")), "{text}");
    }
}

#[test]
fn a_missing_configuration_is_named() {
    let output = kme(&["run", "/no/such/kme.toml"]);
    let message = String::from_utf8(output.stderr).expect("text");
    assert!(!output.status.success());
    assert!(message.contains("/no/such/kme.toml"), "{message}");
}

#[test]
fn an_error_that_cannot_be_printed_still_gives_its_exit_status() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("the device opens");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealcomb-kme"));
    let status = command.args(["run", "/no/such/kme.toml"]).stderr(full).status();
    assert_eq!(status.expect("the command starts").code(), Some(1));
}
