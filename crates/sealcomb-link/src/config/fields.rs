//! A TOML file, field by field, that goes on after a mistake so that all of them can be told at once.
//!
//! Of the file's own text a mistake repeats nothing: any part of it may be a key in the wrong place.

use std::fmt::Display;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a file, a line for each mistake.
#[derive(Default)]
pub(crate) struct Mistakes {
    found: Vec<(usize, String)>,
}

impl Mistakes {
    pub(crate) fn add(&mut self, at: usize, what: impl Display) {
        self.found.push((at, what.to_string()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// One line each, in the order of the file: its name, the line's number, what is wrong.
    pub(crate) fn lines(mut self, name: &str, text: &str) -> Vec<String> {
        self.found.sort();
        let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        self.found.into_iter().map(|(at, what)| format!("{name}:{}: {what}", line(at))).collect()
    }
}

/// A table, of which each field is read once; a field of another name than those is a mistake.
pub(crate) struct Fields<'a> {
    table: &'a DeTable<'a>,
    /// What it is called, for mistakes.
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

    /// A field's value, without taking note that it was read.
    fn find(&self, name: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.iter().find(|(other, _)| *other.get_ref() == name).map(|(_, value)| value)
    }

    /// Whether it has a field of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Where a field's value stands, or the table if it has no such field.
    pub(crate) fn place(&self, name: &str) -> usize {
        self.find(name).map_or(self.at, |value| value.span().start)
    }

    fn get(&mut self, name: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.known.push(name);
        self.find(name)
    }

    /// A table within this one.
    pub(crate) fn table(&mut self, name: &'static str, mistakes: &mut Mistakes) -> Option<Fields<'a>> {
        let value = self.get(name)?;
        let at = value.span().start;
        if let DeValue::Table(table) = value.get_ref() {
            return Some(Fields { table, name: format!("[{name}]"), at, known: Vec::new() });
        }
        mistakes.add(at, format_args!("`{name}`: it must be a table, below a line [{name}]"));
        None
    }

    pub(crate) fn text(&mut self, name: &'static str, mistakes: &mut Mistakes) -> Option<(&'a str, usize)> {
        let value = self.get(name)?;
        let at = value.span().start;
        if let DeValue::String(text) = value.get_ref() {
            return Some((text, at));
        }
        mistakes.add(at, format_args!("`{name}`: its value must stand in double quotes"));
        None
    }

    /// Text that is read as `T`, which `what` describes.
    pub(crate) fn parsed<T: FromStr>(
        &mut self,
        name: &'static str,
        what: &str,
        mistakes: &mut Mistakes,
    ) -> Option<T> {
        self.read(name, what, mistakes, |text| text.parse().ok())
    }

    pub(crate) fn read<T>(
        &mut self,
        name: &'static str,
        what: &str,
        mistakes: &mut Mistakes,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let (text, at) = self.text(name, mistakes)?;
        let read = read(text);
        if read.is_none() {
            mistakes.add(at, format_args!("`{name}`: this is not {what}"));
        }
        read
    }

    /// A list of texts, each read as `T`.
    pub(crate) fn list<T: FromStr>(
        &mut self,
        name: &'static str,
        what: &str,
        mistakes: &mut Mistakes,
    ) -> Vec<T> {
        let Some(value) = self.get(name) else { return Vec::new() };
        let DeValue::Array(values) = value.get_ref() else {
            mistakes.add(value.span().start, format_args!("`{name}`: it must be a list in square brackets"));
            return Vec::new();
        };
        let mut read = Vec::new();
        for value in values {
            match value.get_ref() {
                DeValue::String(text) if text.parse::<T>().is_ok() => read.extend(text.parse::<T>()),
                _ => mistakes.add(
                    value.span().start,
                    format_args!("`{name}`: an entry is not {what} in double quotes"),
                ),
            }
        }
        read
    }

    pub(crate) fn number(
        &mut self,
        name: &'static str,
        least: u64,
        most: u64,
        mistakes: &mut Mistakes,
    ) -> Option<u64> {
        let value = self.get(name)?;
        let number = match value.get_ref() {
            DeValue::Integer(digits) => {
                u64::from_str_radix(&digits.as_str().replace('_', ""), digits.radix()).ok()
            }
            _ => None,
        };
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            mistakes.add(
                value.span().start,
                format_args!("`{name}`: it must be a number from {least} to {most}, without quotes"),
            );
        }
        number
    }

    pub(crate) fn flag(&mut self, name: &'static str, mistakes: &mut Mistakes) -> Option<bool> {
        let value = self.get(name)?;
        if let DeValue::Boolean(flag) = value.get_ref() {
            return Some(*flag);
        }
        mistakes.add(value.span().start, format_args!("`{name}`: it must be true or false, without quotes"));
        None
    }

    /// Takes note that a field that must be there is not, or is there and wrong, in which case a mistake has it already.
    pub(crate) fn require<T>(
        &self,
        name: &'static str,
        value: Option<T>,
        mistakes: &mut Mistakes,
    ) -> Option<T> {
        if value.is_none() && !self.has(name) {
            mistakes.add(self.at, format_args!("{} lacks `{name}`", self.name));
        }
        value
    }

    /// After all fields are read: those that nobody asked for.
    pub(crate) fn finish(&self, mistakes: &mut Mistakes) {
        for name in self.table.keys() {
            if !self.known.contains(&&**name.get_ref()) {
                let known = self.known.join(", ");
                mistakes.add(
                    name.span().start,
                    format_args!("{} has no field of this name; it has {known}", self.name),
                );
            }
        }
    }
}
