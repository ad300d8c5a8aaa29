//! Any text as an SA file. What is wrong with it must be told in one line.
#![no_main]
#![allow(dead_code, reason = "the command's modules have more than the target uses")]

#[path = "../../crates/sealcomb-cli/src/esp/sa.rs"]
mod sa;
#[path = "../../crates/sealcomb-cli/src/esp/sa_file.rs"]
mod sa_file;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = sa_file::parse("sa.toml", text) {
        let line = format!("{error:#}");
        assert!(line.starts_with("sa.toml:") && line.lines().count() == 1, "{line}");
    }
});
