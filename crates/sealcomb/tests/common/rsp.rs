//! The text files of NIST's validation programmes.
//!
//! A test starts at its `COUNT`; what stands before it, in brackets or not, holds for the tests that follow. A word alone
//! in brackets names a part (`[ENCRYPT]`), a word alone on a line is a mark on its test (`FAIL`). Names are compared
//! without regard to case.

use std::collections::BTreeMap;

/// One test with all that holds for it.
#[derive(Clone, Default)]
pub(crate) struct Record {
    part: String,
    fields: BTreeMap<String, String>,
}

impl Record {
    /// The part that it stands in.
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

    /// The first bytes of a field, as many as the field `length` says: CCM's files write an empty string as `00`.
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

/// The tests of a file, in order.
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
