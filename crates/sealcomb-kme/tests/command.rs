//! Tests of the `sealcomb-kme` command. The tests of `sealcomb-link` test its REST interface with real clients.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

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

/// A process that is killed at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_configuration_in_help_runs() {
    let folder = tempfile::tempdir().unwrap();
    let words = "--kme kme-a --sae alice --address 127.0.0.1";
    let words: Vec<&str> = words.split(' ').collect();
    assert!(kme(&[&["certificates", folder.path().to_str().unwrap()], &words[..]].concat()).status.success());
    fs::write(folder.path().join("stream.key"), "ab".repeat(32)).unwrap();
    let help = String::from_utf8(kme(&["run", "--help"]).stdout).unwrap();
    let lines = help.lines().skip_while(|line| !line.starts_with("Configuration; ")).skip(1);
    let config: String =
        lines.map_while(|line| line.strip_prefix("  ")).flat_map(|line| [line, "\n"]).collect();
    assert!(config.contains("\nrate = 1000 ") && config.contains("\ngarbled = false "), "{config}");
    let path = folder.path().join("kme.toml");
    fs::write(&path, config.replace(":8443", ":0")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealcomb-kme"));
    let mut running = Running(command.arg("run").arg(&path).stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("kme-a on 127.0.0.1:"), "{line}");
}

#[test]
fn an_address_in_use_is_a_failure_and_a_file_that_cannot_be_written_an_error_of_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let words = ["--kme", "kme-a", "--sae", "alice", "--address", "127.0.0.1"];
    assert!(kme(&[&["certificates", path], &words[..]].concat()).status.success());
    fs::write(folder.path().join("stream.key"), "ab".repeat(32)).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap();
    let config = format!(
        "id = \"kme-a\"\npeer-id = \"kme-b\"\nlisten = \"{taken}\"\nca = \"ca.pem\"\ncert = \"kme-a.pem\"\n\
         key = \"kme-a.key.pem\"\nstream = \"stream.key\"\nsaes = [\"alice\"]\npeer-saes = [\"bob\"]\n"
    );
    let file = folder.path().join("kme.toml");
    fs::write(&file, config).unwrap();
    let output = kme(&["run", file.to_str().unwrap()]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && message.contains("cannot listen on"), "{message}");
    let below_a_file = file.join("keys");
    let output = kme(&[&["certificates", below_a_file.to_str().unwrap()], &words[..]].concat());
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let output = kme(&[&["certificates", path], &words[..], &["--sae", "ca"]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_configuration_that_cannot_work_is_refused_and_announces_no_kme() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let words = ["--kme", "kme-a", "--sae", "alice", "--address", "127.0.0.1"];
    assert!(kme(&[&["certificates", folder.path().to_str().unwrap()], &words[..]].concat()).status.success());
    write("stream.key", &"ab".repeat(32));
    write("wrong.key", &"zz".repeat(32));
    write("short.key", &"ab".repeat(31));
    let config = r#"
        id = "kme-a"
        peer-id = "kme-b"
        listen = "127.0.0.1:0"
        ca = "ca.pem"
        cert = "kme-a.pem"
        key = "kme-a.key.pem"
        stream = "stream.key"
        saes = ["alice"]
        peer-saes = ["bob"]
        key-size = 256
        max-per-request = 128
    "#;
    for (from, to, expected) in [
        ("key-size = 256", "key-size = 100", "`key-size` is 100; a multiple of 8 from 64 to 1024"),
        ("key-size = 256", "key-size = 56", "`key-size` is 56"),
        ("key-size = 256", "key-size = 1032", "`key-size` is 1032"),
        ("max-per-request = 128", "max-per-request = 0", "`max-per-request` must be at least 1"),
        ("\"ca.pem\"", "\"kme-a.key.pem\"", "`ca`: the file has no certificate"),
        ("\"kme-a.pem\"", "\"kme-a.key.pem\"", "`cert`: the file has no certificate"),
        ("\"kme-a.pem\"", "\"alice.pem\"", "`cert` and `key` do not belong together"),
        ("\"kme-a.key.pem\"", "\"ca.pem\"", "`key`: invalid private key"),
        ("stream.key", "short.key", "31 bytes; at least 32"),
        ("stream.key", "wrong.key", "`stream`: the file is not valid hex\n"),
    ] {
        assert!(config.contains(from), "{from}");
        write("kme.toml", &config.replacen(from, to, 1));
        let output = kme(&["run", folder.path().join("kme.toml").to_str().unwrap()]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(expected), "{to}: {message}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{to}");
    }
}

#[test]
fn a_kme_needs_an_address_and_only_a_kme_has_one() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("keys");
    for words in [["--kme", "kme-a"], ["--address", "127.0.0.1"]] {
        let output = kme(&[&["certificates", folder.to_str().unwrap()], &words[..]].concat());
        assert!(output.status.code() == Some(2) && !folder.exists(), "{words:?}: {output:?}");
    }
}

#[test]
fn a_missing_configuration_is_named() {
    let output = kme(&["run", "/no/such/kme.toml"]);
    let message = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("/no/such/kme.toml"), "{message}");
}

#[test]
fn an_error_that_cannot_be_printed_still_gives_its_exit_status() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("the device opens");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealcomb-kme"));
    let status = command.args(["run", "/no/such/kme.toml"]).stderr(full).status();
    assert_eq!(status.expect("the command starts").code(), Some(3));
}

#[test]
fn help_that_cannot_be_printed_is_an_error() {
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("the device opens");
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealcomb-kme"));
        let status = command.args(arguments).stdout(full).stderr(Stdio::null()).status();
        assert_eq!(status.expect("the command starts").code(), Some(3), "{arguments:?}");
        let closed = Stdio::from(std::io::pipe().expect("a pipe").1);
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealcomb-kme"));
        let status = command.args(arguments).stdout(closed).status();
        assert_eq!(status.expect("the command starts").code(), Some(0), "{arguments:?}");
    }
}
