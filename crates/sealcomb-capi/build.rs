//! Versions every symbol of the shared library with the library's soname, so that two versions of it can coexist in
//! one process.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |part| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        // rust-lld does not support `--default-symver`.
        println!("cargo:rustc-cdylib-link-arg=-fuse-ld=bfd");
        println!("cargo:rustc-cdylib-link-arg=-Wl,--default-symver");
    }
}
