//! The C program in the README compiles without warnings, runs, and opens what it sealed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

const README: &str = include_str!("../../../README.md");

/// Returns the README's only block of C.
fn program() -> &'static str {
    let mut blocks = README.split("```c\n").skip(1).filter_map(|block| block.split("```").next());
    let program = blocks.next().expect("a block of C in the README");
    assert_eq!(blocks.next(), None, "more than one block of C in the README");
    program
}

/// Returns the folder of the tests, where cargo puts the shared library.
fn libraries() -> PathBuf {
    let test = env::current_exe().expect("this program");
    let folder = test.parent().expect("the tests' folder").to_owned();
    assert!(folder.join("libsealcomb_capi.so").exists(), "no library in {}", folder.display());
    folder
}

#[test]
fn the_readmes_program_seals_and_opens() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, result) = (folder.join("readme.c"), folder.join("readme"));
    fs::write(&source, program()).expect("a file for the program");
    let libraries = libraries();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"])
        .arg(format!("-I{}", include.display()))
        .arg(&source)
        .arg(format!("-L{}", libraries.display()))
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .args(["-lsealcomb_capi", "-o"])
        .arg(&result)
        .status()
        .expect("a C compiler");
    assert!(compiled.success(), "the README's program does not compile");
    let Output { status, stdout, .. } = Command::new(&result).output().expect("the README's program");
    let stdout = String::from_utf8(stdout).expect("text");
    assert!(status.success() && stdout.ends_with(": another\n"), "{status}: {stdout}");
}
