//! Fuzz target: files of known answers.
#![allow(clippy::missing_panics_doc, reason = "that they panic is what they are for")]

use super::check;
use super::file::VectorFile;
use crate::fuzz::{kind, outcome};
use sealcomb::Backend;

/// Of so many files that can be read, one is checked too, which takes a hundred times as long as to read it.
const CHECKED: u64 = 32;

/// Any bytes as a file of known answers. One that can be read can be checked, and fails or passes.
pub fn known_answers(bytes: &[u8]) -> u64 {
    let file = match VectorFile::parse(bytes, "answers.json") {
        Ok(file) => file,
        Err(error) => return outcome(kind(&format_args!("{error:#}"))),
    };
    let chance = outcome(bytes);
    if chance.is_multiple_of(CHECKED) {
        let backends: Vec<_> = Backend::available().collect();
        let backend = backends[(chance / CHECKED) as usize % backends.len()];
        match check::check(&file, backend) {
            Ok(tally) => assert!(tally.passed + tally.failures.len() > 0, "nothing was checked"),
            Err(error) => drop(format!("{error:#}")),
        }
    }
    outcome((file.tests.len().min(2), file.tests[0].algorithm.id))
}
