//! Reading a TOML file field by field. Reading continues after an error, so that all errors are reported at once.
//!
//! Error messages never quote the file: any part of it could be a misplaced secret.

use std::fmt::Display;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The errors in a file, with their byte offsets.
#[derive(Default)]
pub(crate) struct Errors {
    found: Vec<(usize, String)>,
}

impl Errors {
    pub(crate) fn add(&mut self, at: usize, what: impl Display) {
        self.found.push((at, what.to_string()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Formats the errors in file order, one per line: `NAME:LINE: MESSAGE`.
    pub(crate) fn lines(mut self, name: &str, text: &str) -> Vec<String> {
        self.found.sort();
        // Every peer without its own field reads that of the file.
        self.found.dedup();
        let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        self.found.into_iter().map(|(at, what)| format!("{name}:{}: {what}", line(at))).collect()
    }
}

/// A table whose fields are read one by one. [`Fields::finish`] reports unknown fields.
pub(crate) struct Fields<'a> {
    table: &'a DeTable<'a>,
    /// The table's name in error messages.
    name: String,
    at: usize,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(crate) fn root(table: &'a DeTable<'a>) -> Self {
        Self { table, name: "the file".into(), at: 0, known: Vec::new() }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Looks up a field without marking it as known.
    fn find(&self, name: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.iter().find(|(other, _)| *other.get_ref() == name).map(|(_, value)| value)
    }

    /// Returns whether the table has a field of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns the offset of a field's value, or of the table if the field is missing.
    pub(crate) fn place(&self, name: &str) -> usize {
        self.find(name).map_or(self.at, |value| value.span().start)
    }

    /// Reports a field that has no effect without another one.
    pub(crate) fn require_other(&self, name: &str, other: &str, errors: &mut Errors) {
        if self.has(name) && !self.has(other) {
            errors.add(self.place(name), format_args!("`{name}` requires `{other}`"));
        }
    }

    /// Marks a field as known.
    pub(crate) fn know(&mut self, name: &'static str) {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
    }

    fn get(&mut self, name: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.know(name);
        self.find(name)
    }

    /// Reads a nested table.
    pub(crate) fn table(&mut self, name: &'static str, errors: &mut Errors) -> Option<Fields<'a>> {
        let value = self.get(name)?;
        let at = value.span().start;
        if let DeValue::Table(table) = value.get_ref() {
            return Some(Fields { table, name: self.header(name), at, known: Vec::new() });
        }
        errors.add(at, format_args!("`{name}` must be a table with the header {}", self.header(name)));
        None
    }

    /// Returns the header of a nested table.
    fn header(&self, name: &str) -> String {
        let outer = self.name.trim_matches(['[', ']']);
        if outer == self.name { format!("[{name}]") } else { format!("[{outer}.{name}]") }
    }

    /// Returns whether a field is an array of tables, or a single table, which [`Self::tables`] reports.
    pub(crate) fn has_tables(&self, name: &str) -> bool {
        self.find(name).is_some_and(|value| matches!(value.get_ref(), DeValue::Array(_) | DeValue::Table(_)))
    }

    /// Reads an array of tables.
    pub(crate) fn tables(&mut self, name: &'static str, errors: &mut Errors) -> Vec<Fields<'a>> {
        let Some(value) = self.get(name) else { return Vec::new() };
        let mut complain = |at: usize| {
            errors.add(at, format_args!("`{name}` must be an address, or tables with the header [[{name}]]"));
        };
        let DeValue::Array(values) = value.get_ref() else {
            complain(value.span().start);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for value in values {
            let at = value.span().start;
            if let DeValue::Table(table) = value.get_ref() {
                tables.push(Fields { table, name: format!("[[{name}]]"), at, known: Vec::new() });
            } else {
                complain(at);
            }
        }
        tables
    }

    pub(crate) fn text(&mut self, name: &'static str, errors: &mut Errors) -> Option<(&'a str, usize)> {
        let value = self.get(name)?;
        let at = value.span().start;
        if let DeValue::String(text) = value.get_ref() {
            return Some((text, at));
        }
        errors.add(at, format_args!("`{name}` must be a string in double quotes"));
        None
    }

    /// Reads a string with a function. `what` describes a valid value in the error message.
    pub(crate) fn read<T>(
        &mut self,
        name: &'static str,
        what: &str,
        errors: &mut Errors,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let (text, at) = self.text(name, errors)?;
        let read = read(text);
        if read.is_none() {
            errors.add(at, format_args!("`{name}` must be {what}"));
        }
        read
    }

    /// Reads an array of strings and parses each as `T`.
    pub(crate) fn list<T: FromStr>(&mut self, name: &'static str, what: &str, errors: &mut Errors) -> Vec<T> {
        let Some(value) = self.get(name) else { return Vec::new() };
        let DeValue::Array(values) = value.get_ref() else {
            errors.add(value.span().start, format_args!("`{name}` must be an array in square brackets"));
            return Vec::new();
        };
        let mut read = Vec::new();
        for value in values {
            match value.get_ref() {
                DeValue::String(text) if text.parse::<T>().is_ok() => read.extend(text.parse::<T>()),
                _ => errors.add(
                    value.span().start,
                    format_args!("`{name}`: each entry must be {what}, in double quotes"),
                ),
            }
        }
        read
    }

    pub(crate) fn number(
        &mut self,
        name: &'static str,
        min: u64,
        max: u64,
        errors: &mut Errors,
    ) -> Option<u64> {
        let value = self.get(name)?;
        let number = match value.get_ref() {
            DeValue::Integer(digits) => {
                u64::from_str_radix(&digits.as_str().replace('_', ""), digits.radix()).ok()
            }
            _ => None,
        };
        let number = number.filter(|number| (min..=max).contains(number));
        if number.is_none() {
            errors.add(
                value.span().start,
                format_args!("`{name}` must be an integer from {min} to {max}, without quotes"),
            );
        }
        number
    }

    pub(crate) fn flag(&mut self, name: &'static str, errors: &mut Errors) -> Option<bool> {
        let value = self.get(name)?;
        if let DeValue::Boolean(flag) = value.get_ref() {
            return Some(*flag);
        }
        errors.add(value.span().start, format_args!("`{name}` must be true or false, without quotes"));
        None
    }

    /// Reports a required field that is missing. If the field is present but invalid, its error was reported before.
    pub(crate) fn require<T>(&self, name: &'static str, value: Option<T>, errors: &mut Errors) -> Option<T> {
        if value.is_none() && !self.has(name) {
            errors.add(self.at, format_args!("{} lacks the required field `{name}`", self.name));
        }
        value
    }

    /// Reports unknown fields. Call it after reading all fields.
    pub(crate) fn finish(&self, errors: &mut Errors) {
        for name in self.table.keys() {
            if !self.known.contains(&&**name.get_ref()) {
                let known = self.known.join(", ");
                errors.add(
                    name.span().start,
                    format_args!("unknown field in {}; the fields are {known}", self.name),
                );
            }
        }
    }
}
