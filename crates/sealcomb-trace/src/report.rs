//! The results of a comparison.

use crate::symbols::Symbols;
use iced_x86::{Formatter, Instruction, IntelFormatter};
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// Prefix of the names of planted leaks, which must be found.
const CONTROL: &str = "control";

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The control flow diverges after the instruction.
    Branch,
    /// The instruction accesses different addresses.
    Address,
    /// The instruction divides different numbers.
    Division,
}

pub(crate) struct Difference {
    pub(crate) kind: Kind,
    pub(crate) at: Option<Instruction>,
}

#[derive(Default)]
pub(crate) struct Report {
    pub(crate) instructions: u64,
    operations: u64,
    controls: u64,
    missed: Vec<String>,
    /// The operations that show a difference, by kind and place of the difference.
    leaks: BTreeMap<(Kind, String), Vec<String>>,
    entries: Option<Entries>,
}

/// Coverage of the backend's entry functions.
struct Entries {
    all: usize,
    missed: Vec<String>,
}

impl Report {
    pub(crate) fn add(&mut self, operation: String, differences: Vec<Difference>, symbols: &Symbols) {
        if operation.starts_with(CONTROL) {
            self.controls += 1;
            if differences.is_empty() {
                self.missed.push(operation);
            }
            return;
        }
        self.operations += 1;
        for difference in differences {
            let place = difference.at.map_or("the first instruction".to_owned(), |at| place(&at, symbols));
            let operations = self.leaks.entry((difference.kind, place)).or_default();
            if operations.last() != Some(&operation) {
                operations.push(operation.clone());
            }
        }
    }

    pub(crate) fn count_entries(&mut self, backend: &str, symbols: &Symbols, executed: &HashSet<&str>) {
        let (module, entry) = (format!("backend::{backend}::"), "::enter::Enter>::enter");
        let all: HashSet<&str> =
            symbols.names().filter(|name| name.contains(&module) && name.contains(entry)).collect();
        let mut missed: Vec<String> = all.difference(executed).map(ToString::to_string).collect();
        missed.sort();
        self.entries = Some(Entries { all: all.len(), missed });
    }

    /// Returns whether no leak and every control was found.
    pub(crate) fn holds(&self) -> bool {
        self.leaks.is_empty() && self.missed.is_empty()
    }
}

fn place(instruction: &Instruction, symbols: &Symbols) -> String {
    let mut text = String::new();
    IntelFormatter::new().format(instruction, &mut text);
    let address = instruction.ip();
    format!("{:#x} `{text}` in {}", symbols.in_file(address), symbols.function(address))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.operations + self.controls == 0 {
            return writeln!(f, "skipped: this CPU lacks the backend");
        }
        for ((kind, place), operations) in &self.leaks {
            let what = match kind {
                Kind::Branch => "a branch",
                Kind::Address => "an address",
                Kind::Division => "a division",
            };
            let example = &operations[0];
            writeln!(
                f,
                "{what} depends on a secret: {place}\n    in {} operations: {example}",
                operations.len()
            )?;
        }
        for control in &self.missed {
            writeln!(f, "planted leak not found: {control}")?;
        }
        if let Some(entries) = &self.entries {
            let executed = entries.all - entries.missed.len();
            writeln!(f, "{executed} of {} backend entries executed", entries.all)?;
            for name in &entries.missed {
                writeln!(f, "    not executed: {name}")?;
            }
        }
        let Self { operations, instructions, controls, .. } = self;
        writeln!(
            f,
            "{operations} operations, {instructions} instructions per secret, {} leaks; \
             {} of {controls} planted leaks found",
            self.leaks.len(),
            controls - self.missed.len() as u64,
        )
    }
}
