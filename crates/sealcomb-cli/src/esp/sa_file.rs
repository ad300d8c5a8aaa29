//! The TOML file that lists security associations.
//!
//! ```toml
//! keys-are-public = true            # optional: of a demonstration; no warning that others can read them
//!
//! [[sa]]
//! spi = 0x1001
//! source = "203.0.113.1"            # of the outer header, IPv4 or IPv6
//! destination = "203.0.113.2"
//! match = "192.0.2.0/24"            # optional: inner destinations it protects; without it, all
//! cipher = "aes-gcm"                # aes-gcm, aes-ccm, aes-cbc, aes-ctr
//! key = "000102…"                   # 16, 24 or 32 bytes in hex
//! salt = "cafebabe"                 # 4 bytes; aes-ccm 3; aes-cbc none
//! icv = 16                          # optional, aes-gcm and aes-ccm: 8, 12, 16
//! # auth = "hmac-sha-256-128"       # aes-cbc and aes-ctr: this or "aes-cmac-96"
//! # auth-key = "…"                  # 32 bytes; aes-cmac-96: 16
//! esn = true                        # optional: sequence numbers of 64 bits
//! sequence = 1                      # optional: the sender's first sequence number
//! window = 64                       # optional: anti-replay window of `open`
//! ```
//!
//! Any part of a file may be a key in the wrong place. So an error never repeats what the file says, neither a value
//! nor a name, and not the parser's message, which might: it has the line, the names of fields that there are, and what
//! they take.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use hmac::{Hmac, KeyInit};
use sealcomb::{Algorithm, Key};
use sealcomb_esp::{Auth, Fingerprint, Suite, Tunnel};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::sa::Sa;

/// What the file says.
pub(crate) struct SaFile {
    pub(crate) associations: Vec<Sa>,
    /// Whether the file calls its keys public.
    pub(crate) keys_are_public: bool,
}

/// Reads the file at `path`, and whether its permissions let others than its owner read it.
pub(crate) fn read(path: &Path) -> Result<(SaFile, bool)> {
    let name = path.display().to_string();
    let mut file = File::open(path).with_context(|| name.clone())?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).with_context(|| name.clone())?;
    let exposed = others_can_read(&file).with_context(|| name.clone())?;
    let text = String::from_utf8(text).map_err(|error| {
        let fault = Fault { at: error.utf8_error().valid_up_to(), what: "this is not UTF-8 text".into() };
        fault.in_file(&name, error.as_bytes())
    })?;
    Ok((parse(&name, &text)?, exposed))
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

/// Reads the file's text. Errors are one line that begins with `name` and the number of the line at fault.
pub(crate) fn parse(name: &str, text: &str) -> Result<SaFile> {
    sa_file(text).map_err(|fault| fault.in_file(name, text.as_bytes()))
}

/// A fault and the byte of the file where it is. Of the file's own text there must be nothing in `what`.
struct Fault {
    at: usize,
    what: String,
}

impl Fault {
    fn in_file(&self, name: &str, text: &[u8]) -> anyhow::Error {
        let line = 1 + text.iter().take(self.at).filter(|byte| **byte == b'\n').count();
        anyhow!("{name}:{line}: {}", self.what)
    }
}

/// A table, by its fields.
struct Fields<'a> {
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

    fn get(&self, name: &'static str) -> Option<Field<'a>> {
        let (_, value) = self.table.iter().find(|(other, _)| *other.get_ref() == name)?;
        Some(Field { name, value })
    }

    fn require(&self, name: &'static str) -> Result<Field<'a>, Fault> {
        self.get(name).ok_or_else(|| Fault { at: self.at, what: format!("this SA lacks `{name}`") })
    }

    fn refuse(&self, name: &'static str, why: &str) -> Result<(), Fault> {
        self.get(name).map_or(Ok(()), |field| Err(field.fault(why)))
    }
}

/// A field that is there.
struct Field<'a> {
    name: &'static str,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Field<'a> {
    fn fault(&self, what: impl Display) -> Fault {
        Fault { at: self.value.span().start, what: format!("`{}`: {what}", self.name) }
    }

    fn text(&self) -> Result<&'a str, Fault> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.fault("its value must stand in double quotes")),
        }
    }

    /// One of the names, as what stands beside it.
    fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T, Fault> {
        let text = self.text()?;
        let found = choices.iter().find(|(name, _)| *name == text);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.fault(format!("it is none of {}", names.join(", ")))
        })
    }

    fn parsed<T: std::str::FromStr>(&self, what: &str) -> Result<T, Fault> {
        self.text()?.parse().map_err(|_| self.fault(format!("this is not {what}")))
    }

    fn number(&self, range: RangeInclusive<u64>) -> Result<u64, Fault> {
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

    fn flag(&self) -> Result<bool, Fault> {
        match self.value.get_ref() {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.fault("it must be true or false, without quotes")),
        }
    }

    fn hex(&self) -> Result<Vec<u8>, Fault> {
        let digits = self.text()?;
        hex::decode(digits)
            .map_err(|_| self.fault("it must be hex digits, two for each byte, and nothing else"))
    }

    /// Bytes in hex, whose number must be one of these.
    fn bytes(&self, taker: &str, lengths: &[usize]) -> Result<Vec<u8>, Fault> {
        let bytes = self.hex()?;
        if lengths.contains(&bytes.len()) {
            return Ok(bytes);
        }
        let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
        let (name, len) = (self.name, bytes.len());
        Err(self.fault(format!("{name} of {len} bytes; {taker} takes {}", lengths.join(" or "))))
    }
}

fn sa_file(text: &str) -> Result<SaFile, Fault> {
    let document = DeTable::parse(text).map_err(|error| Fault {
        at: error.span().map_or(0, |span| span.start),
        what:
            "this is not TOML: a field is `name = value` on a line of its own, once for each SA, and keys, \
               addresses and names stand in double quotes"
                .into(),
    })?;
    let root = Fields::of(document.get_ref(), 0, &["sa", "keys-are-public"])?;
    let entries = entries(&root)?;
    refuse_shared_spis(&entries)?;
    refuse_shared_keys(&entries)?;
    Ok(SaFile {
        associations: entries.iter().map(association).collect::<Result<_, _>>()?,
        keys_are_public: root.get("keys-are-public").map_or(Ok(false), |field| field.flag())?,
    })
}

/// The tables `[[sa]]`.
fn entries<'a>(root: &Fields<'a>) -> Result<Vec<Fields<'a>>, Fault> {
    const KNOWN: [&str; 13] = [
        "spi",
        "source",
        "destination",
        "match",
        "cipher",
        "key",
        "salt",
        "icv",
        "auth",
        "auth-key",
        "esn",
        "sequence",
        "window",
    ];
    let none = || Fault { at: 0, what: "there is no [[sa]]".into() };
    let field = root.get("sa").ok_or_else(none)?;
    let not_a_table = "each SA is a table, below a line [[sa]] with double brackets";
    let DeValue::Array(tables) = field.value.get_ref() else { return Err(field.fault(not_a_table)) };
    let entry = |value: &'a Spanned<DeValue<'a>>| match value.get_ref() {
        DeValue::Table(table) => Fields::of(table, value.span().start, &KNOWN),
        _ => Err(Fault { at: value.span().start, what: not_a_table.into() }),
    };
    let entries = tables.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    if entries.is_empty() { Err(none()) } else { Ok(entries) }
}

fn spi(entry: &Fields<'_>) -> Result<u32, Fault> {
    let field = entry.require("spi")?;
    let spi = field.number(0..=u32::MAX.into())?;
    if spi < 256 {
        return Err(field.fault("SPIs 0 to 255 are reserved"));
    }
    Ok(spi as u32)
}

/// The receiver finds the association by its SPI alone.
fn refuse_shared_spis(entries: &[Fields<'_>]) -> Result<(), Fault> {
    let mut seen = HashMap::new();
    for (i, entry) in entries.iter().enumerate() {
        if let Some(other) = seen.insert(spi(entry)?, i + 1) {
            return Err(entry
                .require("spi")?
                .fault(format!("the SA that comes as no. {other} has the same SPI")));
        }
    }
    Ok(())
}

/// Two associations under one key would repeat counters, which gives the plaintext away; nor may encryption and
/// authentication share one.
fn refuse_shared_keys(entries: &[Fields<'_>]) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    for entry in entries {
        for field in [Some(entry.require("key")?), entry.get("auth-key")].into_iter().flatten() {
            if !seen.insert(field.hex()?) {
                return Err(field.fault("this key is used twice; every SA needs its own"));
            }
        }
    }
    Ok(())
}

fn association(entry: &Fields<'_>) -> Result<Sa, Fault> {
    let extended = entry.get("esn").map_or(Ok(false), |field| field.flag())?;
    let last = if extended { u64::MAX } else { u32::MAX.into() };
    let number = |name, range, default| entry.get(name).map_or(Ok(default), |field| field.number(range));
    Ok(Sa {
        spi: spi(entry)?,
        tunnel: tunnel(entry)?,
        selector: entry
            .get("match")
            .map(|field| field.parsed("a network, like \"192.0.2.0/24\""))
            .transpose()?,
        suite: suite(entry)?,
        fingerprint: Fingerprint::of(&entry.require("key")?.hex()?),
        extended,
        first: number("sequence", 1..=last, 1)?,
        window: number("window", 32..=65_536, 64)? as usize,
    })
}

fn tunnel(entry: &Fields<'_>) -> Result<Tunnel, Fault> {
    let address = "an IP address, like \"203.0.113.1\" or \"2001:db8::1\"";
    let destination = entry.require("destination")?;
    match (entry.require("source")?.parsed(address)?, destination.parsed(address)?) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => Ok(Tunnel::V4 { source, destination }),
        (IpAddr::V6(source), IpAddr::V6(destination)) => Ok(Tunnel::V6 { source, destination }),
        _ => Err(destination.fault("source and destination are of different IP versions")),
    }
}

#[derive(Clone, Copy)]
enum Mode {
    Gcm,
    Ccm,
    Cbc,
    Ctr,
}

fn suite(entry: &Fields<'_>) -> Result<Suite, Fault> {
    let cipher = entry.require("cipher")?;
    let mode = cipher.choice(&[
        ("aes-gcm", Mode::Gcm),
        ("aes-ccm", Mode::Ccm),
        ("aes-cbc", Mode::Cbc),
        ("aes-ctr", Mode::Ctr),
    ])?;
    match mode {
        Mode::Gcm => aead(entry, "gcm", 4),
        Mode::Ccm => aead(entry, "ccm", 3),
        Mode::Cbc => {
            entry.refuse("icv", "its length follows from auth")?;
            entry.refuse("salt", "aes-cbc takes none")?;
            Ok(Suite::Cbc { key: key(entry, "cbc")?, auth: auth(entry)? })
        }
        Mode::Ctr => {
            entry.refuse("icv", "its length follows from auth")?;
            let mut nonce = [0; 4];
            nonce.copy_from_slice(&salt(entry, 4)?);
            Ok(Suite::Ctr { key: key(entry, "ctr")?, nonce, auth: auth(entry)? })
        }
    }
}

fn aead(entry: &Fields<'_>, mode: &str, salt_bytes: usize) -> Result<Suite, Fault> {
    entry.refuse("auth", "this cipher authenticates by itself")?;
    entry.refuse("auth-key", "this cipher authenticates by itself")?;
    let mut key = key(entry, mode)?;
    if let Some(field) = entry.get("icv") {
        let bytes =
            field.number(0..=u64::MAX).ok().and_then(|bytes| [8, 12, 16].into_iter().find(|b| *b == bytes));
        let bytes = bytes.ok_or_else(|| field.fault("it may be 8, 12 or 16"))?;
        key = key.with_tag_bytes(bytes as usize).map_err(|error| field.fault(error))?;
    }
    Ok(Suite::Aead { key, salt: salt(entry, salt_bytes)?.into() })
}

/// The key of AES in this mode, whose length follows from the key's.
fn key(entry: &Fields<'_>, mode: &str) -> Result<Key, Fault> {
    let field = entry.require("key")?;
    let bytes = field.bytes("AES", &[16, 24, 32])?;
    let algorithm = Algorithm::by_id(&format!("aes{}-{mode}", bytes.len() * 8));
    algorithm.and_then(|algorithm| Key::new(algorithm, &bytes)).map_err(|error| field.fault(error))
}

fn salt(entry: &Fields<'_>, bytes: usize) -> Result<Vec<u8>, Fault> {
    entry.require("salt")?.bytes("this cipher", &[bytes])
}

#[derive(Clone, Copy)]
enum AuthName {
    HmacSha256,
    AesCmac,
}

fn auth(entry: &Fields<'_>) -> Result<Auth, Fault> {
    let name = entry
        .require("auth")?
        .choice(&[("hmac-sha-256-128", AuthName::HmacSha256), ("aes-cmac-96", AuthName::AesCmac)])?;
    let field = entry.require("auth-key")?;
    let taker = "this algorithm";
    match name {
        AuthName::HmacSha256 => {
            let hmac =
                Hmac::new_from_slice(&field.bytes(taker, &[32])?).map_err(|error| field.fault(error))?;
            Ok(Auth::HmacSha256(Box::new(hmac)))
        }
        AuthName::AesCmac => {
            let bytes = field.bytes(taker, &[16])?;
            Algorithm::by_id("aes128-cmac")
                .and_then(|algorithm| Key::new(algorithm, &bytes)?.with_tag_bytes(12))
                .map(|key| Auth::AesCmac(Box::new(key)))
                .map_err(|error| field.fault(error))
        }
    }
}
