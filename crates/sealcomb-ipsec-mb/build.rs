//! Compiles the calls of the library's macros, which Rust cannot make.

fn main() {
    println!("cargo::rerun-if-changed=src/burst.c");
    cc::Build::new().file("src/burst.c").opt_level(3).warnings_into_errors(true).compile("burst");
    println!("cargo::rustc-link-lib=IPSec_MB");
}
