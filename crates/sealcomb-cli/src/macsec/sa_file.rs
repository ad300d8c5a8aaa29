//! The TOML file of MACsec secure associations.
//!
//! ```toml
//! keys-are-public = true      # optional, for demonstrations: no warning that other users can read the keys
//!
//! [[sa]]
//! sci = "0200000000010001"    # secure channel: MAC address and port of its transmitter, in hex
//! an = 0                      # association number, 0 to 3
//! key = "000102…"             # the SAK: 16 or 32 bytes in hex
//! source = "020000000001"     # optional: source address of the frames to protect (default: all)
//! encrypt = true              # optional: false authenticates frames without encrypting them (default: true)
//! confidentiality-offset = 0  # optional: 0, 30 or 50 bytes of user data stay unencrypted (default: 0); not with ssci
//! vlan-in-clear = false       # optional: true leaves a VLAN tag before the SecTAG, unprotected (default: false)
//! send-sci = "always"         # optional: always, end-station (SCI from source address) or never (default: always)
//! pn = 1                      # optional: the sender's first packet number (default: 1)
//! window = 0                  # optional: by how many numbers a frame may be late, 0 to 65536 (default: 0)
//! ssci = 1                    # only for extended packet numbers (GCM-AES-XPN-*): the transmitter's SSCI
//! salt = "…"                  # only with ssci: the key's salt, 12 bytes in hex
//! ```
//!
//! A frame is sealed under the first association that protects it and has packet numbers left.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use sealcomb_macsec::{ConfidentialityOffset, Header, Sak, Sci, SciForm};
use sealcomb_numbers::Fingerprint;

use super::sa::Sa;
use crate::captures::fields::{Document, Fault, Fields, toml};

/// Parses the file's text. Returns its associations and whether it declares its keys public. Errors are one line that
/// begins with `name` and the line number.
pub(crate) fn parse(name: &str, text: &str) -> Result<(Vec<Sa>, bool)> {
    sa_file(text).map_err(|fault| fault.in_file(name, text.as_bytes()))
}

const FIELDS: [&str; 12] = [
    "sci",
    "an",
    "key",
    "source",
    "encrypt",
    "confidentiality-offset",
    "vlan-in-clear",
    "send-sci",
    "pn",
    "window",
    "ssci",
    "salt",
];

fn sa_file(text: &str) -> Result<(Vec<Sa>, bool), Fault> {
    let table = toml(text)?;
    let Document { entries, keys_are_public } = Document::of(table.get_ref(), &FIELDS)?;
    refuse_shared_sci_and_an(&entries)?;
    refuse_shared_nonces(&entries)?;
    Ok((entries.iter().map(association).collect::<Result<_, _>>()?, keys_are_public))
}

fn array<const N: usize>(entry: &Fields<'_>, name: &'static str, taker: &str) -> Result<[u8; N], Fault> {
    let field = entry.require(name)?;
    field.bytes(taker, &[N])?.try_into().map_err(|_| field.fault("wrong length"))
}

fn sci(entry: &Fields<'_>) -> Result<Sci, Fault> {
    Ok(Sci(array(entry, "sci", "a secure channel")?))
}

fn an(entry: &Fields<'_>) -> Result<u8, Fault> {
    Ok(entry.require("an")?.number(0..=3)? as u8)
}

/// Returns the part of the nonces that identifies the transmitter: the SCI, or the SSCI with extended packet numbers.
fn transmitter(entry: &Fields<'_>) -> Result<Vec<u8>, Fault> {
    match ssci(entry)? {
        None => Ok(sci(entry)?.0.to_vec()),
        Some(ssci) => Ok(ssci.to_be_bytes().to_vec()),
    }
}

fn ssci(entry: &Fields<'_>) -> Result<Option<u32>, Fault> {
    let ssci = entry.get("ssci").map(|field| field.number(0..=u32::MAX.into())).transpose()?;
    Ok(ssci.map(|ssci| ssci as u32))
}

/// Rejects duplicate pairs of SCI and AN, by which the receiver finds an association.
fn refuse_shared_sci_and_an(entries: &[Fields<'_>]) -> Result<(), Fault> {
    let mut seen = HashMap::new();
    for (i, entry) in entries.iter().enumerate() {
        if let Some(other) = seen.insert((sci(entry)?, an(entry)?), i + 1) {
            let what = format!("SA number {other} in this file has the same SCI and AN");
            return Err(entry.require("an")?.fault(what));
        }
    }
    Ok(())
}

/// Rejects associations whose nonces can repeat. Several transmitters may share a key, but a transmitter must not use
/// it in two associations, and two transmitters under one key need different SSCIs. A key must have either 32-bit or
/// extended packet numbers, and only one salt: two salts could make the SSCIs of two transmitters equal.
fn refuse_shared_nonces(entries: &[Fields<'_>]) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    let mut lengths = HashMap::new();
    let mut salts = HashMap::new();
    for entry in entries {
        let field = entry.require("key")?;
        let key = field.hex()?;
        if !seen.insert((key.clone(), transmitter(entry)?)) {
            return Err(field.fault(
                "duplicate key of one transmitter; every SA of a channel needs its own key, and every \
                 transmitter its own ssci",
            ));
        }
        if let Some(salt) = entry.get("salt") {
            let bytes = salt.hex()?;
            if salts.insert(key.clone(), bytes.clone()).is_some_and(|other| other != bytes) {
                return Err(salt.fault("another SA with this key has a different salt; a key has one salt"));
            }
        }
        let is_extended = ssci(entry)?.is_some();
        if lengths.insert(key, is_extended).is_some_and(|other| other != is_extended) {
            return Err(field.fault("another SA with this key has packet numbers of a different size; use ssci and salt in both or in neither"));
        }
    }
    Ok(())
}

fn association(entry: &Fields<'_>) -> Result<Sa, Fault> {
    let sak = sak(entry)?;
    let flag = |name, default| entry.get(name).map_or(Ok(default), |field| field.flag());
    let number = |name, range, default| entry.get(name).map_or(Ok(default), |field| field.number(range));
    let form = match entry.get("send-sci") {
        None => SciForm::Explicit,
        Some(field) => field.choice(&[
            ("always", SciForm::Explicit),
            ("end-station", SciForm::EndStation),
            ("never", SciForm::Omitted),
        ])?,
    };
    let sci = sci(entry)?;
    if form == SciForm::EndStation && sci != Sci::new(sci.address(), 1) {
        return Err(entry
            .require("send-sci")?
            .fault("end-station requires port 1, that is, an sci that ends in 0001"));
    }
    Ok(Sa {
        header: Header { sci, an: an(entry)?, form, encrypt: flag("encrypt", true)? },
        is_vlan_clear: flag("vlan-in-clear", false)?,
        fingerprint: Fingerprint::of_transmitter(&entry.require("key")?.hex()?, &transmitter(entry)?),
        source: entry.get("source").map(|_| array(entry, "source", "a MAC address")).transpose()?,
        first: number("pn", 1..=sak.last_pn(), 1)?,
        window: number("window", 0..=65_536, 0)? as usize,
        sak,
    })
}

fn sak(entry: &Fields<'_>) -> Result<Sak, Fault> {
    let field = entry.require("key")?;
    let key = field.bytes("a SAK", &[16, 32])?;
    let offset = offset(entry)?;
    let sak = match ssci(entry)? {
        None => {
            entry.refuse("salt", "requires ssci (extended packet numbers)")?;
            Sak::new(&key, sci(entry)?)
        }
        Some(ssci) => {
            entry.refuse("confidentiality-offset", "not available with ssci: GCM-AES-XPN has no offset")?;
            Sak::extended(&key, ssci, array(entry, "salt", "GCM-AES-XPN")?)
        }
    };
    Ok(sak.map_err(|error| field.fault(error))?.with_offset(offset))
}

fn offset(entry: &Fields<'_>) -> Result<ConfidentialityOffset, Fault> {
    let Some(field) = entry.get("confidentiality-offset") else { return Ok(ConfidentialityOffset::Zero) };
    match field.number(0..=50)? {
        0 => Ok(ConfidentialityOffset::Zero),
        30 => Ok(ConfidentialityOffset::Thirty),
        50 => Ok(ConfidentialityOffset::Fifty),
        other => Err(field.fault(format!("found {other}; the standard has the offsets 0, 30 and 50"))),
    }
}
