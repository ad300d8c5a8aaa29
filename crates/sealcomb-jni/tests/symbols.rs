//! The library exports a function for every native method of the Java class, and no others of its name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The library that Cargo built for this test, next to the test itself.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("a test is in a folder").join("libsealcomb_jni.so")
}

/// The names after `prefix` in a text, each up to the first character that a name cannot have.
fn names_after(text: &[u8], prefix: &str) -> BTreeSet<String> {
    let starts = text.windows(prefix.len()).enumerate().filter(|(_, part)| *part == prefix.as_bytes());
    let name = |start: usize| {
        text[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .map(|byte| char::from(*byte))
            .collect()
    };
    starts.map(|(at, _)| name(at + prefix.len())).collect()
}

#[test]
fn every_native_method_is_exported() {
    let java =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spark/src/main/java/io/sealcomb/spark/Native.java");
    let java = fs::read_to_string(java).unwrap();
    let declared: BTreeSet<String> = java
        .lines()
        .filter_map(|line| line.trim().strip_prefix("static native "))
        .map(|method| method.split_once(' ').unwrap().1.split('(').next().unwrap().to_owned())
        .collect();
    assert!(declared.len() > 4, "{declared:?}");
    let library = fs::read(library()).unwrap();
    assert_eq!(names_after(&library, "Java_io_sealcomb_spark_Native_"), declared);
}
