//! TOML files that contain keys, parsed without revealing their content in errors.
//!
//! Any part of a file can be a misplaced key. Errors therefore never quote the file: neither values nor names, nor
//! the parser's message, which might quote them. They contain the line, the names of the fields that exist, and what
//! these expect.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use sealcomb_command::Classify;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::warn;

/// Reads the file at `path` and parses its text with `parse`, which also returns whether the keys are public. If they
/// are not, warns if other users can read the file.
pub(crate) fn read<T>(path: &Path, parse: impl FnOnce(&str, &str) -> Result<(T, bool)>) -> Result<T> {
    let name = path.display().to_string();
    let mut file = File::open(path).with_context(|| name.clone())?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).with_context(|| name.clone())?;
    let exposed = others_can_read(&file).with_context(|| name.clone())?;
    let text = String::from_utf8(text).map_err(|error| {
        let fault = Fault { at: error.utf8_error().valid_up_to(), what: "not UTF-8 text".into() };
        fault.in_file(&name, error.as_bytes())
    });
    let (content, keys_are_public) = text.and_then(|text| parse(&name, &text)).or_usage()?;
    if exposed && !keys_are_public {
        warn(format!(
            "{name}: other users can read its keys; run chmod 600 {name}, or put keys-are-public = true on its first \
             line if they are not secret"
        ));
    }
    Ok(content)
}

/// Always false for pipes and devices: file permissions do not control who reads them.
#[cfg(unix)]
fn others_can_read(file: &File) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && metadata.permissions().mode() & 0o044 != 0)
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn others_can_read(_: &File) -> std::io::Result<bool> {
    Ok(false)
}

/// An error in a file.
pub(crate) struct Fault {
    /// The byte offset of the error in the file.
    pub(crate) at: usize,
    /// The message. Must not contain any of the file's text.
    pub(crate) what: String,
}

impl Fault {
    pub(crate) fn in_file(&self, name: &str, text: &[u8]) -> anyhow::Error {
        let line = 1 + text.iter().take(self.at).filter(|byte| **byte == b'\n').count();
        anyhow!("{name}:{line}: {}", self.what)
    }
}

/// A table and its fields.
pub(crate) struct Fields<'a> {
    table: &'a DeTable<'a>,
    /// The table's byte offset in the file.
    at: usize,
}

impl<'a> Fields<'a> {
    /// Rejects tables with fields that are not in `known`.
    fn of(table: &'a DeTable<'a>, at: usize, known: &[&str]) -> Result<Self, Fault> {
        for name in table.keys() {
            if !known.contains(&&**name.get_ref()) {
                return Err(Fault {
                    at: name.span().start,
                    what: format!("unknown field; expected one of {}", known.join(", ")),
                });
            }
        }
        Ok(Self { table, at })
    }

    pub(crate) fn get(&self, name: &'static str) -> Option<Field<'a>> {
        let (_, value) = self.table.iter().find(|(other, _)| *other.get_ref() == name)?;
        Some(Field { name, value })
    }

    pub(crate) fn require(&self, name: &'static str) -> Result<Field<'a>, Fault> {
        self.get(name)
            .ok_or_else(|| Fault { at: self.at, what: format!("missing field `{name}` in this SA") })
    }

    pub(crate) fn refuse(&self, name: &'static str, why: &str) -> Result<(), Fault> {
        self.get(name).map_or(Ok(()), |field| Err(field.fault(why)))
    }
}

/// A field of a table.
pub(crate) struct Field<'a> {
    name: &'static str,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Field<'a> {
    pub(crate) fn fault(&self, what: impl Display) -> Fault {
        Fault { at: self.value.span().start, what: format!("`{}`: {what}", self.name) }
    }

    pub(crate) fn text(&self) -> Result<&'a str, Fault> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.fault("expected a string in double quotes")),
        }
    }

    /// Parses one of several names and returns the value it is paired with.
    pub(crate) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, Fault> {
        let text = self.text()?;
        let found = choices.iter().find(|(name, _)| *name == text);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.fault(format!("expected one of {}", names.join(", ")))
        })
    }

    pub(crate) fn parsed<T: std::str::FromStr>(&self, what: &str) -> Result<T, Fault> {
        self.text()?.parse().map_err(|_| self.fault(format!("expected {what}")))
    }

    pub(crate) fn number(&self, range: RangeInclusive<u64>) -> Result<u64, Fault> {
        let number = match self.value.get_ref() {
            DeValue::Integer(digits) => u64::from_str_radix(digits.as_str(), digits.radix()).ok(),
            _ => None,
        };
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            self.fault(format!("expected a number from {} to {}, without quotes", range.start(), range.end()))
        })
    }

    pub(crate) fn flag(&self) -> Result<bool, Fault> {
        match self.value.get_ref() {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.fault("expected true or false, without quotes")),
        }
    }

    pub(crate) fn hex(&self) -> Result<Vec<u8>, Fault> {
        let digits = self.text()?;
        hex::decode(digits).map_err(|_| self.fault("expected only hex digits, two per byte"))
    }

    /// Parses bytes in hex. Their number must be one of `lengths`. `taker` names what requires them, for the error.
    pub(crate) fn bytes(&self, taker: &str, lengths: &[usize]) -> Result<Vec<u8>, Fault> {
        let bytes = self.hex()?;
        if lengths.contains(&bytes.len()) {
            return Ok(bytes);
        }
        let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
        let (name, len) = (self.name, bytes.len());
        Err(self.fault(format!("{name} of {len} bytes; {taker} takes {}", lengths.join(" or "))))
    }
}

/// An SA file: its `[[sa]]` tables, and whether it declares its keys public.
pub(crate) struct Document<'a> {
    pub(crate) entries: Vec<Fields<'a>>,
    pub(crate) keys_are_public: bool,
}

/// Parses a file's text as TOML.
pub(crate) fn toml(text: &str) -> Result<Spanned<DeTable<'_>>, Fault> {
    DeTable::parse(text).map_err(|error| Fault {
        at: error.span().map_or(0, |span| span.start),
        what: "not valid TOML; write each field as `name = value` on its own line, once per SA, with keys, addresses \
               and names in double quotes"
            .into(),
    })
}

impl<'a> Document<'a> {
    /// Interprets a file's root table. `known` are the names of an association's fields.
    pub(crate) fn of(table: &'a DeTable<'a>, known: &[&str]) -> Result<Self, Fault> {
        let root = Fields::of(table, 0, &["sa", "keys-are-public"])?;
        let keys_are_public = root.get("keys-are-public").map_or(Ok(false), |field| field.flag())?;
        Ok(Self { entries: entries(&root, known)?, keys_are_public })
    }
}

fn entries<'a>(root: &Fields<'a>, known: &[&str]) -> Result<Vec<Fields<'a>>, Fault> {
    let none = || Fault { at: 0, what: "no [[sa]] table; expected at least one".into() };
    let field = root.get("sa").ok_or_else(none)?;
    let not_a_table = "expected a table; write [[sa]] with double brackets before each SA";
    let DeValue::Array(tables) = field.value.get_ref() else { return Err(field.fault(not_a_table)) };
    let entry = |value: &'a Spanned<DeValue<'a>>| match value.get_ref() {
        DeValue::Table(table) => Fields::of(table, value.span().start, known),
        _ => Err(Fault { at: value.span().start, what: not_a_table.into() }),
    };
    let entries = tables.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    if entries.is_empty() { Err(none()) } else { Ok(entries) }
}
