//! Compiles the C code that calls the library: its functions are macros.

fn main() {
    println!("cargo::rerun-if-changed=src/burst.c");
    cc::Build::new().file("src/burst.c").opt_level(3).warnings_into_errors(true).compile("burst");
    println!("cargo::rustc-link-lib=IPSec_MB");
}
