//! The text files of NIST's validation programs.
//!
//! A test starts with its `COUNT`. Fields before it, in brackets or not, apply to the tests that follow. A single
//! word in brackets names a part (`[ENCRYPT]`), and a single word on a line is a mark on its test (`FAIL`). Names are
//! case-insensitive.

use std::collections::BTreeMap;

/// A test with all fields that apply to it.
#[derive(Clone, Default)]
pub(crate) struct Record {
    part: String,
    fields: BTreeMap<String, String>,
}

impl Record {
    /// Returns the name of the part that contains the test.
    pub(crate) fn part(&self) -> &str {
        &self.part
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.fields.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", self.fields))
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        hex::decode(self.text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the first bytes of a field, whose number is in the field `length`: CCM's files write an empty string
    /// as `00`.
    pub(crate) fn bytes_cut(&self, name: &str, length: &str) -> Vec<u8> {
        let mut bytes = self.bytes(name);
        bytes.truncate(self.number(length));
        bytes
    }

    pub(crate) fn number(&self, name: &str) -> usize {
        self.text(name).parse().unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn set(&mut self, text: &str) {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        self.fields.insert(name.trim().to_uppercase(), value.trim().to_owned());
    }
}

/// Returns the tests of a file, in order.
pub(crate) fn parse(text: &str) -> Vec<Record> {
    let mut tests = Vec::new();
    let mut common = Record::default();
    let mut test: Option<Record> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(bracketed) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            tests.extend(test.take());
            if bracketed.contains('=') {
                bracketed.split(',').for_each(|parameter| common.set(parameter));
            } else {
                bracketed.clone_into(&mut common.part);
            }
        } else if line.is_empty() {
            tests.extend(test.take());
        } else {
            if line.to_uppercase().starts_with("COUNT") {
                tests.extend(test.replace(common.clone()));
            }
            test.as_mut().unwrap_or(&mut common).set(line);
        }
    }
    tests.extend(test);
    tests
}
