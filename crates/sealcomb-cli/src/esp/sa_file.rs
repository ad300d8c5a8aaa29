//! The TOML file of security associations.
//!
//! ```toml
//! keys-are-public = true        # optional, for demonstrations: no warning that other users can read the keys
//!
//! [[sa]]
//! spi = 0x1001                  # 256 or higher
//! source = "203.0.113.1"        # outer header, IPv4 or IPv6
//! destination = "203.0.113.2"   # outer header, same version as source
//! match = "192.0.2.0/24"        # optional: inner destinations to protect (default: all)
//! cipher = "aes-gcm"            # aes-gcm, aes-ccm, aes-cbc or aes-ctr
//! key = "000102…"               # 16, 24 or 32 bytes in hex
//! salt = "cafebabe"             # 4 bytes in hex for aes-gcm and aes-ctr, 3 for aes-ccm, none for aes-cbc
//! icv = 16                      # optional, aes-gcm and aes-ccm: 8, 12 or 16 bytes (default: 16)
//! # auth = "hmac-sha-256-128"   # aes-cbc and aes-ctr: this or "aes-cmac-96"
//! # auth-key = "…"              # 32 bytes in hex for hmac-sha-256-128, 16 for aes-cmac-96
//! esn = true                    # optional: 64-bit sequence numbers (default: false)
//! sequence = 1                  # optional: the sender's first sequence number (default: 1)
//! window = 64                   # optional: the receiver's anti-replay window, 32 to 65536 (default: 64)
//! ```

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use anyhow::Result;
use hmac::{Hmac, KeyInit};
use sealcomb::hazmat;
use sealcomb::{Algorithm, Key, KeyOptions};
use sealcomb_esp::{Auth, Fingerprint, Suite, Tunnel};

use super::sa::Sa;
use crate::captures::fields::{Document, Fault, Fields, toml};

/// Parses the file's text. Returns its associations and whether it declares its keys public. Errors are one line that
/// begins with `name` and the line number.
pub(crate) fn parse(name: &str, text: &str) -> Result<(Vec<Sa>, bool)> {
    sa_file(text).map_err(|fault| fault.in_file(name, text.as_bytes()))
}

const FIELDS: [&str; 13] = [
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

fn sa_file(text: &str) -> Result<(Vec<Sa>, bool), Fault> {
    let table = toml(text)?;
    let Document { entries, keys_are_public } = Document::of(table.get_ref(), &FIELDS)?;
    refuse_shared_spis(&entries)?;
    refuse_shared_keys(&entries)?;
    Ok((entries.iter().map(association).collect::<Result<_, _>>()?, keys_are_public))
}

fn spi(entry: &Fields<'_>) -> Result<u32, Fault> {
    let field = entry.require("spi")?;
    let spi = field.number(0..=u32::MAX.into())?;
    if spi < 256 {
        return Err(field.fault("SPIs 0 to 255 are reserved; use 256 or higher"));
    }
    Ok(spi as u32)
}

/// Rejects duplicate SPIs: the receiver finds an association by its SPI only.
fn refuse_shared_spis(entries: &[Fields<'_>]) -> Result<(), Fault> {
    let mut seen = HashMap::new();
    for (i, entry) in entries.iter().enumerate() {
        if let Some(other) = seen.insert(spi(entry)?, i + 1) {
            return Err(entry
                .require("spi")?
                .fault(format!("SA number {other} in this file has the same SPI")));
        }
    }
    Ok(())
}

/// Rejects duplicate keys. Two associations under one key would repeat counter blocks, which reveals plaintexts.
/// Encryption and authentication must not share a key either.
fn refuse_shared_keys(entries: &[Fields<'_>]) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    for entry in entries {
        for field in [Some(entry.require("key")?), entry.get("auth-key")].into_iter().flatten() {
            if !seen.insert(field.hex()?) {
                return Err(field.fault("duplicate key; every SA needs its own keys"));
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
            .map(|field| field.parsed("a network, such as \"192.0.2.0/24\""))
            .transpose()?,
        suite: suite(entry)?,
        fingerprint: Fingerprint::of(&entry.require("key")?.hex()?),
        extended,
        first: number("sequence", 1..=last, 1)?,
        window: number("window", 32..=65_536, 64)? as usize,
    })
}

fn tunnel(entry: &Fields<'_>) -> Result<Tunnel, Fault> {
    let address = "an IP address, such as \"203.0.113.1\" or \"2001:db8::1\"";
    let destination = entry.require("destination")?;
    match (entry.require("source")?.parsed(address)?, destination.parsed(address)?) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => Ok(Tunnel::V4 { source, destination }),
        (IpAddr::V6(source), IpAddr::V6(destination)) => Ok(Tunnel::V6 { source, destination }),
        _ => Err(destination.fault("source and destination have different IP versions")),
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
            entry.refuse("icv", "not allowed with aes-cbc; its length follows from `auth`")?;
            entry.refuse("salt", "aes-cbc takes no salt")?;
            Ok(Suite::Cbc { key: key(entry, "cbc", KeyOptions::new())?, auth: auth(entry)? })
        }
        Mode::Ctr => {
            entry.refuse("icv", "not allowed with aes-ctr; its length follows from `auth`")?;
            let mut nonce = [0; 4];
            nonce.copy_from_slice(&salt(entry, 4)?);
            Ok(Suite::Ctr { key: key(entry, "ctr", KeyOptions::new())?, nonce, auth: auth(entry)? })
        }
    }
}

fn aead(entry: &Fields<'_>, mode: &str, salt_bytes: usize) -> Result<Suite, Fault> {
    entry.refuse("auth", "not allowed with this cipher, which authenticates packets itself")?;
    entry.refuse("auth-key", "not allowed with this cipher, which authenticates packets itself")?;
    // The salt and an IV of 8 bytes.
    let mut options = KeyOptions::new().nonce_bytes(salt_bytes + 8);
    if let Some(field) = entry.get("icv") {
        let bytes =
            field.number(0..=u64::MAX).ok().and_then(|bytes| [8, 12, 16].into_iter().find(|b| *b == bytes));
        let bytes = bytes.ok_or_else(|| field.fault("expected 8, 12 or 16"))?;
        // RFC 4106 takes tags of 8 bytes, too.
        options = options.short_tag_bytes(bytes as usize);
    }
    let key = key(entry, mode, options)?;
    Ok(Suite::Aead { key, salt: salt(entry, salt_bytes)?.into() })
}

/// Returns the AES key for a mode. Its length determines the algorithm.
fn key(entry: &Fields<'_>, mode: &str, options: KeyOptions) -> Result<Key, Fault> {
    let field = entry.require("key")?;
    let bytes = field.bytes("AES", &[16, 24, 32])?;
    let algorithm = hazmat::by_id(&format!("aes{}-{mode}", bytes.len() * 8));
    algorithm.and_then(|algorithm| options.expand(algorithm, &bytes)).map_err(|error| field.fault(error))
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
                .and_then(|algorithm| KeyOptions::new().tag_bytes(12).expand(algorithm, &bytes))
                .map(|key| Auth::AesCmac(Box::new(key)))
                .map_err(|error| field.fault(error))
        }
    }
}
