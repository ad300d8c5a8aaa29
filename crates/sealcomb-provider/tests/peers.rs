//! Runs programs with the configuration of `docs/c.md`. Their outputs and messages must be those that they have without
//! this provider. Programs that are not installed are skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder for a test, which every user who runs tests can write to, with the module and a configuration.
struct Setup {
    folder: PathBuf,
}

impl Setup {
    fn new(test: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("provider-{test}"));
        fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        // target/PROFILE/deps
        let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
        let module = folder.join("sealcomb.so");
        fs::copy(deps.join("libsealcomb_provider.so"), &module).expect("the library of this build");
        let text = documented().replace(
            "# module = /opt/sealcomb/lib/ossl-modules/sealcomb.so",
            &format!("module = {}", module.display()),
        );
        assert!(text.contains("\nmodule = "), "the configuration in docs/c.md names no module: {text}");
        fs::write(folder.join("sealcomb.cnf"), text).unwrap();
        Self { folder }
    }

    /// Runs a program with the configuration, and without any.
    fn run(&self, program: &str, arguments: &[&str]) -> (Output, Output) {
        let command = || {
            let mut command = Command::new(program);
            command
                .args(arguments)
                .current_dir(&self.folder)
                .env_remove("OPENSSL_CONF")
                .env_remove("OPENSSL_MODULES");
            command
        };
        let ours = command().env("OPENSSL_CONF", self.folder.join("sealcomb.cnf")).output();
        (ours.expect(program), command().output().expect(program))
    }

    /// Runs a program with the configuration and without any, and asserts that the results are equal. Where an error is
    /// in the source is left out. Returns the output.
    fn same(&self, program: &str, arguments: &[&str]) -> String {
        let (ours, theirs) = self.run(program, arguments);
        assert_eq!(text(&ours), text(&theirs), "{program} {arguments:?}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{program} {arguments:?}");
        text(&ours)
    }

    /// Asserts that a program uses the module: without a backend, it refuses every key.
    fn assert_used(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("OPENSSL_CONF", self.folder.join("sealcomb.cnf"));
        let without = command.env("SEALCOMB_BACKEND", "none").output().expect(program);
        assert_ne!(
            text(&without),
            text(&self.run(program, arguments).1),
            "{program} does not use the module"
        );
    }

    /// Writes private keys, encrypted with the passphrase `right`, in both formats.
    fn write_keys(&self) {
        let size = ["-pkeyopt", "rsa_keygen_bits:1024", "-out", "rsa"];
        self.openssl(&[&["genpkey", "-algorithm", "rsa"][..], &size].concat());
        for cipher in ["aes-128-cbc", "aes-256-cbc"] {
            let (option, new, old) =
                (&format!("-{cipher}"), &format!("new-{cipher}.pem"), &format!("old-{cipher}.pem"));
            let encrypted = ["-passout", "pass:right", option, "-in", "rsa", "-out"];
            self.openssl(&[&["pkey"], &encrypted[..], &[new]].concat());
            self.openssl(&[&["rsa", "-traditional"], &encrypted[..], &[old]].concat());
        }
    }

    fn openssl(&self, arguments: &[&str]) {
        let (_, theirs) = self.run("openssl", arguments);
        assert!(theirs.status.success(), "openssl {arguments:?}: {}", text(&theirs));
    }
}

/// Returns the configuration in the manual.
fn documented() -> String {
    let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/c.md")).unwrap();
    manual
        .split("```ini\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("a configuration")
        .to_owned()
}

/// Returns what a program has printed, without the numbers of threads, and without functions, files and lines of errors:
/// `THREAD:error:CODE:LIBRARY:FUNCTION:REASON:FILE:LINE:DATA`.
fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].concat();
    let all = String::from_utf8_lossy(&all).into_owned();
    let lines = all.lines().map(|line| match line.split(':').collect::<Vec<_>>()[..] {
        [_, "error", code, library, _, reason, ..] => format!("error {code} {library} {reason}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns whether a program can be run; prints that it is skipped if not.
fn is_installed(program: &str, arguments: &[&str]) -> bool {
    let found = Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if !found {
        println!("SKIPPED: {program} {arguments:?} is not installed");
    }
    found
}

#[test]
fn the_documented_configuration_loads_the_module_beside_those_of_openssl() {
    if !is_installed("openssl", &["version"]) {
        return;
    }
    let setup = Setup::new("configuration");
    let (ours, _) = setup.run("openssl", &["list", "-providers"]);
    let listed = text(&ours);
    assert!(listed.contains("\n  sealcomb\n") && listed.contains("\n  default\n"), "{listed}");
    // Debian's python3-cryptography cannot be imported without this provider.
    let (ours, theirs) = setup.run("openssl", &["list", "-providers", "-provider", "legacy"]);
    assert_eq!(text(&ours).contains("\n  legacy\n"), text(&theirs).contains("\n  legacy\n"));
    setup.same("openssl", &["dgst", "-provider", "legacy", "-provider", "default", "-md4", "sealcomb.cnf"]);
}

#[test]
fn the_command_openssl_prints_the_same_errors() {
    if !is_installed("openssl", &["version"]) {
        return;
    }
    let setup = Setup::new("openssl");
    setup.write_keys();
    fs::write(setup.folder.join("text"), "a text of some blocks, the last of which is not whole").unwrap();
    for cipher in ["-aes-256-cbc", "-aes-192-ctr"] {
        setup.openssl(&["enc", cipher, "-pbkdf2", "-k", "right", "-in", "text", "-out", "sealed"]);
        let sealed = fs::read(setup.folder.join("sealed")).unwrap();
        fs::write(setup.folder.join("cut"), &sealed[..sealed.len() - 1]).unwrap();
        for file in ["sealed", "cut", "text"] {
            for passphrase in ["right", "wrong"] {
                setup.same("openssl", &["enc", "-d", cipher, "-pbkdf2", "-k", passphrase, "-in", file]);
            }
        }
    }
    let key = "00112233445566778899aabbccddeeff";
    let wrong = ["enc", "-d", "-aes-128-cbc", "-K", key, "-iv", key, "-in", "text"];
    assert!(setup.same("openssl", &wrong).contains("wrong final block length"));
    for name in ["new-aes-128-cbc.pem", "new-aes-256-cbc.pem", "old-aes-128-cbc.pem", "old-aes-256-cbc.pem"] {
        setup.same("openssl", &["pkey", "-in", name, "-passin", "pass:wrong"]);
        setup.same("openssl", &["pkey", "-in", name, "-passin", "pass:right"]);
    }
}

#[test]
fn python_raises_the_same_errors() {
    let python = "/usr/bin/python3";
    if !is_installed(python, &["-c", "from cryptography.hazmat.backends import default_backend"]) {
        return;
    }
    let setup = Setup::new("python");
    setup.write_keys();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/pyca.py");
    let arguments = ["-B", script, "."];
    let printed = setup.same(python, &arguments);
    setup.assert_used(python, &arguments);
    assert!(
        printed.contains("CBC 15 ValueError The length of the provided data is not a multiple of the block")
    );
}

#[test]
fn node_derives_the_same_codes() {
    // Node.js contains a copy of OpenSSL or uses that of the system.
    let shared = "--openssl-shared-config";
    if !is_installed("node", &[shared, "--version"]) {
        return;
    }
    let setup = Setup::new("node");
    setup.write_keys();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/node.js");
    let arguments = [shared, script, "."];
    let printed = setup.same("node", &arguments);
    setup.assert_used("node", &arguments);
    assert!(
        printed.contains("ERR_OSSL_BAD_DECRYPT") && printed.contains("ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH"),
        "{printed}"
    );
}
