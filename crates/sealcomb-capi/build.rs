//! Gives every symbol of the shared library a version, which is the library's own name, so that two versions of it in one
//! process do not answer each other's calls.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |part| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        // Rust's own linker does not know the other option.
        println!("cargo:rustc-cdylib-link-arg=-fuse-ld=bfd");
        println!("cargo:rustc-cdylib-link-arg=-Wl,--default-symver");
    }
}
