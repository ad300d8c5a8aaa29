//! Security associations, and the TOML file that lists them.
//!
//! ```toml
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
//! sequence = 1                      # optional: the first sequence number that `seal` uses
//! window = 64                       # optional: anti-replay window of `open`
//! ```

use std::collections::HashSet;
use std::fmt::Display;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use hmac::{Hmac, KeyInit};
use ipnet::IpNet;
use sealcomb::{Algorithm, Key};
use serde::Deserialize;
use sha2::Sha256;
use toml::Spanned;

/// What two ends agree on for one direction of traffic (RFC 4301, section 4.4.2).
pub(crate) struct Sa {
    pub(crate) spi: u32,
    pub(crate) tunnel: Tunnel,
    /// Inner destinations that it protects; `None` for all.
    pub(crate) selector: Option<IpNet>,
    pub(crate) suite: Suite,
    /// The first sequence number to send.
    pub(crate) sequence: u32,
    /// Sequence numbers that the receiver looks back on.
    pub(crate) window: usize,
}

/// Addresses of the outer header.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tunnel {
    V4 { source: Ipv4Addr, destination: Ipv4Addr },
    V6 { source: Ipv6Addr, destination: Ipv6Addr },
}

/// How packets are encrypted and authenticated.
pub(crate) enum Suite {
    /// AES-GCM (RFC 4106) or AES-CCM (RFC 4309): the nonce is this salt and the packet's 8-byte IV.
    Aead { key: Key, salt: Vec<u8> },
    /// AES-CBC (RFC 3602), whose IV is a block that nobody can predict.
    Cbc { key: Key, auth: Auth },
    /// AES-CTR (RFC 3686): the counter block is this nonce, the packet's 8-byte IV and a 32-bit counter from 1.
    Ctr { key: Key, nonce: [u8; 4], auth: Auth },
}

/// The integrity algorithm beside a cipher that has none.
pub(crate) enum Auth {
    /// HMAC-SHA-256-128 (RFC 4868).
    HmacSha256(Hmac<Sha256>),
    /// AES-CMAC-96 (RFC 4494).
    AesCmac(Box<Key>),
}

impl Auth {
    pub(crate) fn icv_bytes(&self) -> usize {
        match self {
            Self::HmacSha256(_) => 16,
            Self::AesCmac(_) => 12,
        }
    }
}

impl Suite {
    pub(crate) fn is_cbc(&self) -> bool {
        matches!(self, Self::Cbc { .. })
    }

    pub(crate) fn iv_bytes(&self) -> usize {
        if self.is_cbc() { 16 } else { 8 }
    }

    pub(crate) fn icv_bytes(&self) -> usize {
        match self {
            Self::Aead { key, .. } => key.tag_bytes(),
            Self::Cbc { auth, .. } | Self::Ctr { auth, .. } => auth.icv_bytes(),
        }
    }

    /// What the encrypted part must be a multiple of: the cipher's block, or the 4 bytes of RFC 4303, section 2.4.
    pub(crate) fn alignment(&self) -> usize {
        if self.is_cbc() { 16 } else { 4 }
    }

    /// The integrity algorithm, where it is one apart.
    pub(crate) fn auth(&self) -> Option<&Auth> {
        match self {
            Self::Aead { .. } => None,
            Self::Cbc { auth, .. } | Self::Ctr { auth, .. } => Some(auth),
        }
    }
}

/// The file, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entries {
    sa: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    spi: Spanned<u32>,
    source: IpAddr,
    destination: Spanned<IpAddr>,
    #[serde(rename = "match")]
    selector: Option<IpNet>,
    cipher: Mode,
    key: Spanned<Hex>,
    salt: Option<Spanned<Hex>>,
    icv: Option<Spanned<usize>>,
    auth: Option<Spanned<AuthName>>,
    auth_key: Option<Spanned<Hex>>,
    sequence: Option<Spanned<u32>>,
    window: Option<Spanned<usize>>,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
enum Mode {
    #[serde(rename = "aes-gcm")]
    Gcm,
    #[serde(rename = "aes-ccm")]
    Ccm,
    #[serde(rename = "aes-cbc")]
    Cbc,
    #[serde(rename = "aes-ctr")]
    Ctr,
}

#[derive(Clone, Copy, Deserialize)]
enum AuthName {
    #[serde(rename = "hmac-sha-256-128")]
    HmacSha256,
    #[serde(rename = "aes-cmac-96")]
    AesCmac,
}

#[derive(Deserialize)]
struct Hex(#[serde(with = "hex")] Vec<u8>);

/// A fault and the byte of the file where it is.
struct Fault {
    at: usize,
    what: String,
}

impl Fault {
    fn at<T>(place: &Spanned<T>, what: impl Display) -> Self {
        Self { at: place.span().start, what: what.to_string() }
    }
}

/// Reads the file at `path`.
pub(crate) fn read(path: &Path) -> Result<Vec<Sa>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse(&path.display().to_string(), &text)
}

/// Reads the file's text. Errors name the file, the line and what is wrong with it.
pub(crate) fn parse(name: &str, text: &str) -> Result<Vec<Sa>> {
    associations(text).map_err(|Fault { at, what }| {
        let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
        anyhow!("{name}:{line}: {what}")
    })
}

fn associations(text: &str) -> Result<Vec<Sa>, Fault> {
    let Entries { sa: entries } = toml::from_str(text).map_err(|error| Fault {
        at: error.span().map_or(0, |span| span.start),
        // Some of the parser's messages have several lines.
        what: error.message().lines().collect::<Vec<_>>().join("; "),
    })?;
    if entries.is_empty() {
        return Err(Fault { at: 0, what: "no [[sa]]".into() });
    }
    refuse_shared_spis(&entries)?;
    refuse_shared_keys(&entries)?;
    entries.iter().map(association).collect()
}

/// The receiver finds the association by its SPI alone.
fn refuse_shared_spis(entries: &[Spanned<Entry>]) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    for Entry { spi, .. } in entries.iter().map(Spanned::get_ref) {
        if !seen.insert(spi.get_ref()) {
            return Err(Fault::at(spi, format!("another SA has the SPI {:#x} too", spi.get_ref())));
        }
    }
    Ok(())
}

/// Two associations under one key would repeat counters, which gives the plaintext away; nor may encryption and
/// authentication share one.
fn refuse_shared_keys(entries: &[Spanned<Entry>]) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    for entry in entries.iter().map(Spanned::get_ref) {
        for key in [Some(&entry.key), entry.auth_key.as_ref()].into_iter().flatten() {
            if !seen.insert(&key.get_ref().0) {
                return Err(Fault::at(key, "this key is used twice; every SA needs its own"));
            }
        }
    }
    Ok(())
}

fn association(entry: &Spanned<Entry>) -> Result<Sa, Fault> {
    let place = entry;
    let entry = entry.get_ref();
    let spi = *entry.spi.get_ref();
    if spi < 256 {
        return Err(Fault::at(&entry.spi, "SPIs 0 to 255 are reserved"));
    }
    Ok(Sa {
        spi,
        tunnel: tunnel(entry)?,
        selector: entry.selector,
        suite: suite(place)?,
        sequence: within(entry.sequence.as_ref(), 1, 1..=u32::MAX)?,
        window: within(entry.window.as_ref(), 64, 32..=65_536)?,
    })
}

fn within<T: Copy + Display + PartialOrd>(
    field: Option<&Spanned<T>>,
    default: T,
    range: RangeInclusive<T>,
) -> Result<T, Fault> {
    let Some(field) = field else { return Ok(default) };
    let value = *field.get_ref();
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(Fault::at(field, format!("{value} is not within {} to {}", range.start(), range.end())))
    }
}

fn tunnel(entry: &Entry) -> Result<Tunnel, Fault> {
    match (entry.source, *entry.destination.get_ref()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => Ok(Tunnel::V4 { source, destination }),
        (IpAddr::V6(source), IpAddr::V6(destination)) => Ok(Tunnel::V6 { source, destination }),
        _ => Err(Fault::at(&entry.destination, "source and destination are of different IP versions")),
    }
}

fn suite(place: &Spanned<Entry>) -> Result<Suite, Fault> {
    let entry = place.get_ref();
    match entry.cipher {
        Mode::Gcm | Mode::Ccm => {
            refuse(entry.auth.as_ref(), "auth: this cipher authenticates by itself")?;
            refuse(entry.auth_key.as_ref(), "auth-key: this cipher authenticates by itself")?;
            let (mode, salt_bytes) = if entry.cipher == Mode::Gcm { ("gcm", 4) } else { ("ccm", 3) };
            let key = key(mode, &entry.key)?;
            Ok(Suite::Aead { key: with_icv(key, entry.icv.as_ref())?, salt: salt(place, salt_bytes)? })
        }
        Mode::Cbc => {
            refuse(entry.icv.as_ref(), "icv: its length follows from auth")?;
            refuse(entry.salt.as_ref(), "salt: aes-cbc takes none")?;
            Ok(Suite::Cbc { key: key("cbc", &entry.key)?, auth: auth(place)? })
        }
        Mode::Ctr => {
            refuse(entry.icv.as_ref(), "icv: its length follows from auth")?;
            let mut nonce = [0; 4];
            nonce.copy_from_slice(&salt(place, 4)?);
            Ok(Suite::Ctr { key: key("ctr", &entry.key)?, nonce, auth: auth(place)? })
        }
    }
}

fn refuse<T>(field: Option<&Spanned<T>>, why: &str) -> Result<(), Fault> {
    field.map_or(Ok(()), |field| Err(Fault::at(field, why)))
}

fn require<'a, T>(
    field: Option<&'a Spanned<T>>,
    place: &Spanned<Entry>,
    name: &str,
) -> Result<&'a Spanned<T>, Fault> {
    field.ok_or_else(|| Fault::at(place, format!("this SA lacks `{name}`")))
}

/// The key of AES in this mode, whose length follows from the key's.
fn key(mode: &str, field: &Spanned<Hex>) -> Result<Key, Fault> {
    let bytes = &field.get_ref().0;
    if ![16, 24, 32].contains(&bytes.len()) {
        return Err(Fault::at(field, format!("key of {} bytes; AES takes 16, 24 or 32", bytes.len())));
    }
    let algorithm = Algorithm::by_id(&format!("aes{}-{mode}", bytes.len() * 8));
    algorithm.and_then(|algorithm| Key::new(algorithm, bytes)).map_err(|error| Fault::at(field, error))
}

fn with_icv(key: Key, field: Option<&Spanned<usize>>) -> Result<Key, Fault> {
    let Some(field) = field else { return Ok(key) };
    if ![8, 12, 16].contains(field.get_ref()) {
        return Err(Fault::at(field, format!("icv of {} bytes; it may have 8, 12 or 16", field.get_ref())));
    }
    key.with_tag_bytes(*field.get_ref()).map_err(|error| Fault::at(field, error))
}

fn salt(place: &Spanned<Entry>, bytes: usize) -> Result<Vec<u8>, Fault> {
    let field = require(place.get_ref().salt.as_ref(), place, "salt")?;
    let salt = &field.get_ref().0;
    if salt.len() != bytes {
        return Err(Fault::at(field, format!("salt of {} bytes; this cipher takes {bytes}", salt.len())));
    }
    Ok(salt.clone())
}

fn auth(place: &Spanned<Entry>) -> Result<Auth, Fault> {
    let name = require(place.get_ref().auth.as_ref(), place, "auth")?;
    let field = require(place.get_ref().auth_key.as_ref(), place, "auth-key")?;
    let key = &field.get_ref().0;
    let bytes = match name.get_ref() {
        AuthName::HmacSha256 => 32,
        AuthName::AesCmac => 16,
    };
    if key.len() != bytes {
        return Err(Fault::at(
            field,
            format!("auth-key of {} bytes; this algorithm takes {bytes}", key.len()),
        ));
    }
    match name.get_ref() {
        AuthName::HmacSha256 => {
            let hmac = Hmac::new_from_slice(key).map_err(|error| Fault::at(field, error))?;
            Ok(Auth::HmacSha256(hmac))
        }
        AuthName::AesCmac => Algorithm::by_id("aes128-cmac")
            .and_then(|algorithm| Key::new(algorithm, key)?.with_tag_bytes(12))
            .map(|key| Auth::AesCmac(Box::new(key)))
            .map_err(|error| Fault::at(field, error)),
    }
}
