//! Tests of the `sealcomb-link` command. `tests/net/run.py` tests running links in network namespaces.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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
fn a_missing_configuration_is_named() {
    for subcommand in ["run", "check", "status"] {
        let output = link(&[subcommand, "/no/such/link.toml"]);
        let message = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(3), "{message}");
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
    // Whatever the umask is.
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
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
fn check_asks_the_key_source_of_each_peer() {
    let folder = tempfile::tempdir().unwrap();
    let path = configuration(folder.path(), |text| {
        let end = text.replace("peer = \"192.0.2.2:4500\"", "").replace("control-key = \"control.key\"", "");
        let peer = |number: u8, key: &str, program: &str| {
            format!(
                "[[peer]]\nname = \"peer-{number}\"\ncontrol-key = \"{key}\"\nallowed = [\"10.9.{number}.0/24\"]\n\
                 [peer.keys.command]\nprogram = [\"/bin/sh\", \"-c\", \"{program}\"]\n"
            )
        };
        let peers = peer(1, "control.key", "exit 3") + &peer(2, "link.key", "exit 4");
        end.split("[keys]").next().unwrap().to_owned() + &peers
    });
    let output = link(&["check", "--online", path.to_str().unwrap()]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    for line in ["peer-1: the key source: ", "exit status 3", "peer-2: the key source: ", "exit status 4"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn the_exit_status_tells_failures_from_usage_and_from_input_and_output() {
    let folder = tempfile::tempdir().unwrap();
    let quiet = configuration(folder.path(), |text| text);
    let quiet = quiet.to_str().unwrap();
    let (key, new) = (folder.path().join("link.key"), folder.path().join("new.key"));
    let [key, new] = [&key, &new].map(|path| path.to_str().unwrap());
    let status = |arguments: &[&str]| link(arguments).status.code().unwrap();
    assert_eq!(status(&["check", "--online", quiet]), 0);
    assert_eq!(status(&["keygen", new]), 0);
    // Without `listen`, there is nobody to ask.
    assert_eq!(status(&["status", quiet]), 2);
    assert_eq!(status(&["keygen", "--user", "no-such-user", "other.key"]), 2);
    assert_eq!(status(&["stats"]), 2);
    assert_eq!(status(&["keygen", key]), 3);
    assert_eq!(status(&["check", folder.path().to_str().unwrap()]), 3);
    let served = configuration(folder.path(), |text| format!("listen = \"127.0.0.1:1\"\n{text}"));
    assert_eq!(status(&["status", "--json", served.to_str().unwrap()]), 1);
    let text = fs::read(&served).unwrap();
    fs::write(&served, [&text[..], b"# \xff"].concat()).unwrap();
    assert_eq!(status(&["check", served.to_str().unwrap()]), 2);
}

#[test]
fn run_refuses_what_check_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let path = configuration(folder.path(), |text| text.replace("link.key", "control.key"));
    let output = link(&["run", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("the same key"));
}

mod as_root {
    use super::*;

    /// Otherwise, an attacker who takes over the link's user becomes root at the next start.
    #[test]
    fn root_does_not_run_the_commands_of_another_user() {
        if !nix::unistd::getuid().is_root() {
            println!("skipped: only root can give files away");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let hook = format!("touch {}; exit 1", mark.display());
        let up = |text: String| text.replace("[tun]\n", &format!("[tun]\nup = [\"{hook}\"]\n"));
        let keys = |text: String| {
            let table = format!("[keys.command]\nprogram = [\"/bin/sh\", \"-c\", \"{hook}\"]\n");
            text.split("[keys]").next().unwrap().to_owned() + &table
        };
        let changes: [&dyn Fn(String) -> String; 2] = [&up, &keys];
        for change in changes {
            let path = configuration(folder.path(), change);
            std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
            let path = path.to_str().unwrap();
            for (arguments, status) in [
                (&["check", path][..], 0),
                (&["check", "--strict", path], 2),
                (&["check", "--online", path], 2),
                (&["run", path], 2),
            ] {
                let output = link(arguments);
                let text = String::from_utf8(output.stderr).unwrap();
                assert_eq!(output.status.code(), Some(status), "{arguments:?}: {text}");
                assert!(text.contains("belongs to user 12345; run: chown -h root"), "{text}");
            }
            assert!(!mark.exists());
        }
    }
}

#[test]
fn a_backend_that_is_not_available_is_refused_before_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = configuration(folder.path(), |text| text);
    for subcommand in ["check", "run"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealcomb-link"));
        let output = command.arg(subcommand).arg(&path).env("SEALCOMB_BACKEND", "nonsense").output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains("SEALCOMB_BACKEND: no backend"), "{text}");
    }
}

#[test]
fn a_key_file_that_cannot_be_written_is_not_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.key");
    // A limit on the size of files simulates a full disk.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" keygen \"$1\""]);
    let output = shell.arg(env!("CARGO_BIN_EXE_sealcomb-link")).arg(&path).output().unwrap();
    assert!(output.status.code() == Some(3) && !path.exists(), "{output:?}");
    assert!(link(&["keygen", path.to_str().unwrap()]).status.success());
}

#[test]
fn a_stream_that_is_full_or_closed_changes_no_other_status_than_that_of_missing_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = configuration(folder.path(), |text| format!("listen = \"127.0.0.1:1\"\n{text}"));
    let path = path.to_str().unwrap();
    fs::set_permissions(folder.path().join("link.key"), fs::Permissions::from_mode(0o644)).unwrap();
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    let closed = || Stdio::from(std::io::pipe().unwrap().1);
    let status = |arguments: &[&str], stdout: Stdio, stderr: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealcomb-link"));
        command.args(arguments).stdout(stdout).stderr(stderr).status().unwrap().code()
    };
    for (arguments, expected) in [
        (&["check", path][..], 0),
        (&["check", "--strict", path], 2),
        (&["run", "/no/such/link.toml"], 3),
        (&["status", path], 1),
        (&["keygen", "/no/such/folder/control.key"], 3),
    ] {
        assert_eq!(status(arguments, Stdio::null(), full()), Some(expected), "{arguments:?}");
        assert_eq!(status(arguments, Stdio::null(), closed()), Some(expected), "{arguments:?}");
    }
    let outputs = [&["check", path][..], &["--help"], &["--version"], &["run", "--help"], &["help", "run"]];
    for arguments in outputs {
        assert_eq!(status(arguments, full(), Stdio::null()), Some(3), "{arguments:?}");
        assert_eq!(status(arguments, closed(), Stdio::null()), Some(0), "{arguments:?}");
    }
}

/// Runs a tool of systemd. Returns `None` with a message if it is not installed.
fn systemd(tool: &str, arguments: &[&str]) -> Option<Output> {
    let output = Command::new(tool).args(arguments).output().ok();
    if output.is_none() {
        println!("skipped: {tool} is not installed");
    }
    output
}

#[test]
fn the_unit_is_valid_and_its_exposure_is_low() {
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("sealcomb-link.service");
    let text = include_str!("../sealcomb-link.service");
    // The verification requires that the command exists.
    fs::write(&unit, text.replace("/usr/bin/sealcomb-link", env!("CARGO_BIN_EXE_sealcomb-link"))).unwrap();
    let unit = unit.to_str().unwrap();
    let security = ["security", "--offline=true", "--threshold=20", "--no-pager", unit];
    for arguments in [&["verify", "--man=no", unit][..], &security] {
        let Some(output) = systemd("systemd-analyze", arguments) else { return };
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success() && !text.contains("Unknown"), "{arguments:?}: {text}");
    }
}

#[test]
fn the_user_and_the_folder_of_the_unit_can_be_created() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("etc")).unwrap();
    let root = format!("--root={}", folder.path().display());
    let source = |kind: &str| format!("{}/{kind}.d/sealcomb-link.conf", env!("CARGO_MANIFEST_DIR"));
    let Some(output) = systemd("systemd-sysusers", &[&root, &source("sysusers")]) else { return };
    assert!(output.status.success(), "{output:?}");
    let users = fs::read_to_string(folder.path().join("etc/passwd")).unwrap();
    assert!(
        users.lines().any(|line| line.starts_with("sealcomb:x:") && line.ends_with("nologin")),
        "{users}"
    );
    let Some(output) = systemd("systemd-tmpfiles", &[&root, "--create", &source("tmpfiles")]) else { return };
    // Only root can give the folder to its user.
    if output.status.success() {
        let mode = fs::metadata(folder.path().join("etc/sealcomb")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o750);
    }
}
