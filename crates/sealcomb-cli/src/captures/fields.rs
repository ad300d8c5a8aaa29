//! TOML files with keys in them: tables of fields, read so that no error says what they hold.
//!
//! Any part of a file may be a key in the wrong place. So an error never repeats what the file says, neither a value
//! nor a name, and not the parser's message, which might: it has the line, the names of fields that there are, and what
//! they take.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::warn;

/// Reads the file at `path` with `parse`, which is given its text, and warns if others than its owner can read it unless
/// the file says that its keys are public.
pub(crate) fn read<T>(path: &Path, parse: impl FnOnce(&str, &str) -> Result<(T, bool)>) -> Result<T> {
    let name = path.display().to_string();
    let mut file = File::open(path).with_context(|| name.clone())?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).with_context(|| name.clone())?;
    let exposed = others_can_read(&file).with_context(|| name.clone())?;
    let text = String::from_utf8(text).map_err(|error| {
        let fault = Fault { at: error.utf8_error().valid_up_to(), what: "this is not UTF-8 text".into() };
        fault.in_file(&name, error.as_bytes())
    })?;
    let (content, keys_are_public) = parse(&name, &text)?;
    if exposed && !keys_are_public {
        warn(format!(
            "{name}: others than its owner can read its keys: chmod 600 {name}, or write keys-are-public = true on its \
             first line if they are no secret"
        ));
    }
    Ok(content)
}

/// Pipes and the like are not looked at: who holds them is who may read them.
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

/// A fault and the byte of the file where it is. Of the file's own text there must be nothing in `what`.
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) what: String,
}

impl Fault {
    pub(crate) fn in_file(&self, name: &str, text: &[u8]) -> anyhow::Error {
        let line = 1 + text.iter().take(self.at).filter(|byte| **byte == b'\n').count();
        anyhow!("{name}:{line}: {}", self.what)
    }
}

/// A table, by its fields.
pub(crate) struct Fields<'a> {
    table: &'a DeTable<'a>,
    /// Where the table begins.
    at: usize,
}

impl<'a> Fields<'a> {
    /// Refuses fields of other names than `known`.
    fn of(table: &'a DeTable<'a>, at: usize, known: &[&str]) -> Result<Self, Fault> {
        for name in table.keys() {
            if !known.contains(&&**name.get_ref()) {
                return Err(Fault {
                    at: name.span().start,
                    what: format!("there is no field of this name here; there are {}", known.join(", ")),
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
        self.get(name).ok_or_else(|| Fault { at: self.at, what: format!("this SA lacks `{name}`") })
    }

    pub(crate) fn refuse(&self, name: &'static str, why: &str) -> Result<(), Fault> {
        self.get(name).map_or(Ok(()), |field| Err(field.fault(why)))
    }
}

/// A field that is there.
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
            _ => Err(self.fault("its value must stand in double quotes")),
        }
    }

    /// One of the names, as what stands beside it.
    pub(crate) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, Fault> {
        let text = self.text()?;
        let found = choices.iter().find(|(name, _)| *name == text);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.fault(format!("it is none of {}", names.join(", ")))
        })
    }

    pub(crate) fn parsed<T: std::str::FromStr>(&self, what: &str) -> Result<T, Fault> {
        self.text()?.parse().map_err(|_| self.fault(format!("this is not {what}")))
    }

    pub(crate) fn number(&self, range: RangeInclusive<u64>) -> Result<u64, Fault> {
        let number = match self.value.get_ref() {
            DeValue::Integer(digits) => u64::from_str_radix(digits.as_str(), digits.radix()).ok(),
            _ => None,
        };
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            self.fault(format!(
                "it must be a number from {} to {}, without quotes",
                range.start(),
                range.end()
            ))
        })
    }

    pub(crate) fn flag(&self) -> Result<bool, Fault> {
        match self.value.get_ref() {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.fault("it must be true or false, without quotes")),
        }
    }

    pub(crate) fn hex(&self) -> Result<Vec<u8>, Fault> {
        let digits = self.text()?;
        hex::decode(digits)
            .map_err(|_| self.fault("it must be hex digits, two for each byte, and nothing else"))
    }

    /// Bytes in hex, whose number must be one of these.
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

/// A file that lists associations: tables `[[sa]]`, and whether its keys are public.
pub(crate) struct Document<'a> {
    pub(crate) entries: Vec<Fields<'a>>,
    pub(crate) keys_are_public: bool,
}

/// The TOML of a file's text.
pub(crate) fn toml(text: &str) -> Result<Spanned<DeTable<'_>>, Fault> {
    DeTable::parse(text).map_err(|error| Fault {
        at: error.span().map_or(0, |span| span.start),
        what:
            "this is not TOML: a field is `name = value` on a line of its own, once for each SA, and keys, \
               addresses and names stand in double quotes"
                .into(),
    })
}

impl<'a> Document<'a> {
    /// The associations, whose fields have these names.
    pub(crate) fn of(table: &'a DeTable<'a>, known: &[&str]) -> Result<Self, Fault> {
        let root = Fields::of(table, 0, &["sa", "keys-are-public"])?;
        let keys_are_public = root.get("keys-are-public").map_or(Ok(false), |field| field.flag())?;
        Ok(Self { entries: entries(&root, known)?, keys_are_public })
    }
}

fn entries<'a>(root: &Fields<'a>, known: &[&str]) -> Result<Vec<Fields<'a>>, Fault> {
    let none = || Fault { at: 0, what: "there is no [[sa]]".into() };
    let field = root.get("sa").ok_or_else(none)?;
    let not_a_table = "each SA is a table, below a line [[sa]] with double brackets";
    let DeValue::Array(tables) = field.value.get_ref() else { return Err(field.fault(not_a_table)) };
    let entry = |value: &'a Spanned<DeValue<'a>>| match value.get_ref() {
        DeValue::Table(table) => Fields::of(table, value.span().start, known),
        _ => Err(Fault { at: value.span().start, what: not_a_table.into() }),
    };
    let entries = tables.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    if entries.is_empty() { Err(none()) } else { Ok(entries) }
}
