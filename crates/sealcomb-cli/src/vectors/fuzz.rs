//! Fuzz target: files of known answers.
#![allow(clippy::missing_panics_doc, reason = "fuzz targets panic on purpose")]

use super::check;
use super::file::VectorFile;
use crate::fuzz::{kind, outcome};
use sealcomb::Backend;

/// One in this many parsed files is also checked. A check takes a hundred times as long as parsing.
const CHECK_INTERVAL: u64 = 32;

/// Parses arbitrary bytes as a file of known answers, and sometimes checks it. The checks must count at least one
/// test.
pub fn known_answers(bytes: &[u8]) -> u64 {
    let file = match VectorFile::parse(bytes, "answers.json") {
        Ok(file) => file,
        Err(error) => return outcome(kind(&format_args!("{error:#}"))),
    };
    let chance = outcome(bytes);
    if chance.is_multiple_of(CHECK_INTERVAL) {
        let backends: Vec<_> = Backend::available().collect();
        let backend = backends[(chance / CHECK_INTERVAL) as usize % backends.len()];
        match check::check(&file, backend) {
            Ok(tally) => assert!(tally.passed + tally.failures.len() > 0, "nothing was checked"),
            Err(error) => drop(format!("{error:#}")),
        }
    }
    outcome((file.tests.len().min(2), file.tests[0].algorithm.id()))
}
