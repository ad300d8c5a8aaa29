//! Runs `sequences.c`, which compares random sequences of calls with OpenSSL's default provider, for some seconds.
//! `./dev capi` runs ten times as many sequences.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a folder for this test, which every user who runs tests can write to.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("provider-sequences");
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    folder
}

/// Copies the library of this build to a folder, under the name by which OpenSSL loads it.
fn copy_module(folder: &Path) {
    // target/PROFILE/deps
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let library = deps.join("libsealcomb_provider.so");
    std::fs::copy(&library, folder.join("sealcomb.so"))
        .unwrap_or_else(|error| panic!("{}: {error}", library.display()));
}

#[test]
fn sequences_of_calls_do_what_they_do_with_openssls_own_provider() {
    let folder = folder();
    let program = folder.join("sequences");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sequences.c");
    let compiled = Command::new("gcc")
        .args(["-O1", "-g", "-Wall", "-Wextra", "-Werror", source, "-lcrypto", "-o"])
        .arg(&program)
        .status();
    assert!(compiled.expect("gcc is required").success());
    copy_module(&folder);
    let output = Command::new(&program).arg("100000").env("OPENSSL_MODULES", &folder).output().unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
