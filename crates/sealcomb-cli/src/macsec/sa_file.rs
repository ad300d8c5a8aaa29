//! The TOML file that lists secure associations of MACsec.
//!
//! ```toml
//! keys-are-public = true            # optional: of a demonstration; no warning that others can read them
//!
//! [[sa]]
//! sci = "0200000000010001"          # secure channel: MAC address and port of its transmitter, in hex
//! an = 0                            # association number, 0 to 3
//! key = "000102…"                   # the SAK: 16 or 32 bytes in hex
//! source = "020000000001"           # optional: frames from this address are protected; without it, all
//! encrypt = true                    # optional: false leaves the frames readable, and protects them all the same
//! send-sci = "always"               # optional: always; end-station, from the source address; never
//! pn = 1                            # optional: the sender's first packet number
//! window = 0                        # optional: how many numbers a frame may be late
//! ssci = 1                          # extended packet numbers (GCM-AES-XPN-*): the transmitter's short number,
//! salt = "…"                        # and the 12 bytes of the key's salt
//! ```
//!
//! A frame is sealed under the first association that protects it and still has numbers.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use sealcomb_macsec::{Header, Sak, Sci, SciForm};
use sealcomb_numbers::Fingerprint;

use super::sa::Sa;
use crate::captures::fields::{Document, Fault, Fields, toml};

/// Reads the file's text: its associations, and whether it calls its keys public. Errors are one line that begins with
/// `name` and the number of the line at fault.
pub(crate) fn parse(name: &str, text: &str) -> Result<(Vec<Sa>, bool)> {
    sa_file(text).map_err(|fault| fault.in_file(name, text.as_bytes()))
}

const FIELDS: [&str; 10] =
    ["sci", "an", "key", "source", "encrypt", "send-sci", "pn", "window", "ssci", "salt"];

fn sa_file(text: &str) -> Result<(Vec<Sa>, bool), Fault> {
    let table = toml(text)?;
    let Document { entries, keys_are_public } = Document::of(table.get_ref(), &FIELDS)?;
    refuse_shared_numbers(&entries)?;
    refuse_shared_nonces(&entries)?;
    Ok((entries.iter().map(association).collect::<Result<_, _>>()?, keys_are_public))
}

fn array<const N: usize>(entry: &Fields<'_>, name: &'static str, taker: &str) -> Result<[u8; N], Fault> {
    let field = entry.require(name)?;
    field.bytes(taker, &[N])?.try_into().map_err(|_| field.fault("its length is wrong"))
}

fn sci(entry: &Fields<'_>) -> Result<Sci, Fault> {
    Ok(Sci(array(entry, "sci", "a channel")?))
}

fn an(entry: &Fields<'_>) -> Result<u8, Fault> {
    Ok(entry.require("an")?.number(0..=3)? as u8)
}

/// What the nonces of the association have of the transmitter: the SCI, or the SSCI with extended numbers.
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

/// The receiver finds the association by its channel and number.
fn refuse_shared_numbers(entries: &[Fields<'_>]) -> Result<(), Fault> {
    let mut seen = HashMap::new();
    for (i, entry) in entries.iter().enumerate() {
        if let Some(other) = seen.insert((sci(entry)?, an(entry)?), i + 1) {
            let what = format!("the SA that comes as no. {other} has the same number in the same channel");
            return Err(entry.require("an")?.fault(what));
        }
    }
    Ok(())
}

/// Several transmitters may have one key, but none may have it twice, nor two of them the same short number: nonces
/// would come twice. Nor may a key serve with both lengths of numbers, nor with two salts, which can make the short
/// numbers of two transmitters equal.
fn refuse_shared_nonces(entries: &[Fields<'_>]) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    let mut lengths = HashMap::new();
    let mut salts = HashMap::new();
    for entry in entries {
        let field = entry.require("key")?;
        let key = field.hex()?;
        if !seen.insert((key.clone(), transmitter(entry)?)) {
            return Err(
                field.fault("this key is used twice by one transmitter; every SA of a channel needs its own")
            );
        }
        if let Some(salt) = entry.get("salt") {
            let bytes = salt.hex()?;
            if salts.insert(key.clone(), bytes.clone()).is_some_and(|other| other != bytes) {
                return Err(salt.fault("its key has another salt in this file; a salt belongs to its key"));
            }
        }
        let is_extended = ssci(entry)?.is_some();
        if lengths.insert(key, is_extended).is_some_and(|other| other != is_extended) {
            return Err(field.fault("this key is used with extended packet numbers and without"));
        }
    }
    Ok(())
}

fn association(entry: &Fields<'_>) -> Result<Sa, Fault> {
    let sak = sak(entry)?;
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
            .fault("an end station's channel has port 1, so its sci ends in 0001"));
    }
    Ok(Sa {
        header: Header {
            sci,
            an: an(entry)?,
            form,
            encrypt: entry.get("encrypt").map_or(Ok(true), |field| field.flag())?,
        },
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
    let sak = match ssci(entry)? {
        None => {
            entry.refuse("salt", "it goes with ssci, for extended packet numbers")?;
            Sak::new(&key, sci(entry)?)
        }
        Some(ssci) => Sak::extended(&key, ssci, array(entry, "salt", "an extended packet number's key")?),
    };
    sak.map_err(|error| field.fault(error))
}
