//! Random sequences of calls beside OpenSSL's own provider: `sequences.c`, with a number of sequences that takes
//! seconds. `./dev capi` runs more of them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that this test was built with, under the name by which OpenSSL loads it, in a folder of its own.
fn modules(target: &Path) -> PathBuf {
    let folder = target.join("modules");
    std::fs::create_dir_all(&folder).unwrap();
    let library = target.join("libsealcomb_provider.so");
    std::fs::copy(&library, folder.join("sealcomb.so"))
        .unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    folder
}

#[test]
fn sequences_of_calls_do_what_they_do_with_openssls_own_provider() {
    // target/PROFILE/deps
    let target = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let program = target.join("sequences");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sequences.c");
    let compiled = Command::new("gcc")
        .args(["-O1", "-g", "-Wall", "-Wextra", "-Werror", source, "-lcrypto", "-o"])
        .arg(&program)
        .status();
    assert!(compiled.expect("there is no gcc").success());
    let output =
        Command::new(&program).arg("100000").env("OPENSSL_MODULES", modules(&target)).output().unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
