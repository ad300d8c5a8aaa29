//! Any text as an SA file. What is wrong with it must be told in one line.
#![no_main]
#![allow(dead_code, reason = "the command's module has more than the target uses")]

#[path = "../../crates/sealcomb-cli/src/esp/sa.rs"]
mod sa;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = sa::parse("sa.toml", text) {
        let line = format!("{error:#}");
        assert!(line.starts_with("sa.toml:") && line.lines().count() == 1, "{line}");
    }
});
