//! Compiles the C code that calls the library, whose functions are macros, and links the library.
//!
//! `IPSEC_MB=DIR` selects the header and the library in DIR, or in folders below it, instead of the system's. An
//! installation, a source tree with its build, and a single folder with both files all work.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=src/burst.c");
    println!("cargo::rerun-if-env-changed=IPSEC_MB");
    let selected = env::var_os("IPSEC_MB").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let mut build = cc::Build::new();
    if let Some(folder) = &selected {
        assert!(folder.is_absolute(), "IPSEC_MB={}: expected an absolute path", folder.display());
        let header = find(folder, "intel-ipsec-mb.h");
        build.include(folder_of(&header.expect("IPSEC_MB: found no intel-ipsec-mb.h in the folder")));
    }
    build.file("src/burst.c").opt_level(3).warnings_into_errors(true).compile("burst");
    match selected {
        Some(folder) => link(&folder),
        None => println!("cargo::rustc-link-lib=IPSec_MB"),
    }
}

/// Links the static library if the folder has one, otherwise the shared library.
fn link(folder: &Path) {
    if let Some(library) = find(folder, "libIPSec_MB.a") {
        println!("cargo::rustc-link-search=native={}", folder_of(&library).display());
        println!("cargo::rustc-link-lib=static=IPSec_MB");
        return;
    }
    let library = find(folder, "libIPSec_MB.so").expect("IPSEC_MB: found no library in the folder");
    // When cargo runs a program, the loader searches the folders that build scripts name, but only those in cargo's
    // target folder. It looks for the file name with the version.
    let copies = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("shared");
    fs::create_dir_all(&copies).expect("OUT_DIR should be writable");
    for path in entries(folder_of(&library)) {
        let name = path.file_name().unwrap_or_default();
        if name.to_string_lossy().starts_with("libIPSec_MB.so") {
            fs::copy(&path, copies.join(name)).expect("the library should be copied");
        }
    }
    println!("cargo::rustc-link-search=native={}", copies.display());
    println!("cargo::rustc-link-lib=dylib=IPSec_MB");
}

/// Returns the file of this name that is the fewest folders below `folder`, and has cargo watch it.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while !folders.is_empty() {
        if let Some(path) = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file()) {
            println!("cargo::rerun-if-changed={}", path.display());
            return Some(path);
        }
        folders = folders.iter().flat_map(|folder| entries(folder)).filter(|path| is_folder(path)).collect();
    }
    None
}

/// Returns the paths in a folder in alphabetical order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Returns whether a path is a folder. Links are not followed, since they can form cycles.
fn is_folder(path: &Path) -> bool {
    path.is_dir() && !path.is_symlink()
}

fn folder_of(file: &Path) -> &Path {
    file.parent().expect("a path to a file has a parent")
}
