//! Files of known answers.

use crate::names::did_you_mean;
use anyhow::{Context, Result, bail, ensure};
use sealcomb::study;
use sealcomb::{Algorithm, Kind};
use serde::Deserialize;
use std::fmt;
use std::path::Path;

/// A parsed file of known answers.
pub(crate) struct VectorFile {
    /// The file's path as the user gave it.
    pub(crate) name: String,
    /// The algorithm's name in the file.
    pub(crate) algorithm: String,
    pub(crate) tests: Vec<Test>,
}

/// One known answer. Fields that the kind of algorithm does not use are empty. A MAC's message is in `aad`.
#[derive(Debug)]
pub(crate) struct Test {
    pub(crate) id: Id,
    pub(crate) algorithm: Algorithm,
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) message: Vec<u8>,
    pub(crate) ciphertext: Vec<u8>,
    pub(crate) tag: Vec<u8>,
}

/// A test's identifier in its file.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Id {
    Number(u64),
    Name(String),
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// The JSON object of a file.
#[derive(Deserialize)]
struct RawFile {
    algorithm: String,
    tests: Vec<RawTest>,
}

#[derive(Deserialize)]
struct RawTest {
    id: Id,
    key: Bytes,
    nonce: Option<Bytes>,
    aad: Option<Bytes>,
    tweak: Option<Bytes>,
    msg: Option<Bytes>,
    pt: Option<Bytes>,
    ct: Option<Bytes>,
    tag: Option<Bytes>,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Bytes(#[serde(with = "hex::serde")] Vec<u8>);

impl VectorFile {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let text = std::fs::read(path).with_context(|| format!("cannot read {name}"))?;
        Self::parse(&text, &name).with_context(|| name.clone())
    }

    pub(crate) fn parse(text: &[u8], name: &str) -> Result<Self> {
        let RawFile { algorithm, tests } = serde_json::from_slice(text)?;
        ensure!(!tests.is_empty(), "no tests; expected at least one");
        let tests = tests.into_iter().map(|test| test.of_algorithm(&algorithm)).collect::<Result<_>>()?;
        Ok(Self { name: name.to_owned(), algorithm, tests })
    }
}

impl RawTest {
    /// Checks the fields that the algorithm requires. A test with a field "pt" is one of a bare block cipher: it is
    /// run as ECB, and the key's length completes the algorithm's name.
    fn of_algorithm(self, name: &str) -> Result<Test> {
        let Self { id, key: Bytes(key), nonce, aad, tweak, msg, pt, ct, tag } = self;
        let name = if pt.is_some() { format!("{name}{}-ecb", 8 * key.len()) } else { name.to_owned() };
        let Ok(algorithm) = study::by_id(&name) else {
            bail!("unknown algorithm \"{name}\"; `sealcomb list` prints all of them{}", did_you_mean(&name));
        };
        let msg = msg.or(pt);
        let need = |field: Option<Bytes>, name: &str| match field {
            Some(Bytes(bytes)) => Ok(bytes),
            None => bail!("test {id}: missing field \"{name}\""),
        };
        let or_empty = |field: Option<Bytes>| field.map(|Bytes(bytes)| bytes).unwrap_or_default();
        let (nonce, aad, message, ciphertext, tag) = match algorithm.kind() {
            Kind::Cipher => (or_empty(nonce), or_empty(tweak), need(msg, "msg")?, need(ct, "ct")?, vec![]),
            Kind::Mac => (or_empty(nonce), need(msg, "msg")?, vec![], vec![], need(tag, "tag")?),
            _ => {
                (need(nonce, "nonce")?, or_empty(aad), need(msg, "msg")?, need(ct, "ct")?, need(tag, "tag")?)
            }
        };
        let expected = algorithm.ciphertext_bytes(message.len());
        ensure!(
            ciphertext.len() == expected,
            "test {id}: \"ct\" of {} bytes; expected {expected} for a \"msg\" of {} bytes",
            ciphertext.len(),
            message.len()
        );
        Ok(Test { id, algorithm, key, nonce, aad, message, ciphertext, tag })
    }
}
