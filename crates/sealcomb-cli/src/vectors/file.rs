//! A file of known answers.

use crate::names::did_you_mean;
use anyhow::{Context, Result, bail, ensure};
use sealcomb::{Algorithm, Kind};
use serde::Deserialize;
use std::fmt;
use std::path::Path;

/// A file that was read, with all that its algorithm needs.
pub(crate) struct VectorFile {
    /// The file's name as it was given.
    pub(crate) name: String,
    /// What the file calls its algorithm.
    pub(crate) algorithm: String,
    pub(crate) tests: Vec<Test>,
}

/// One known answer. What the kind of algorithm does not have is empty; a MAC's message is its `aad`.
#[derive(Debug)]
pub(crate) struct Test {
    pub(crate) id: Id,
    pub(crate) algorithm: &'static Algorithm,
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) message: Vec<u8>,
    pub(crate) ciphertext: Vec<u8>,
    pub(crate) tag: Vec<u8>,
}

/// What a file calls a test.
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

/// The file as it is written.
#[derive(Deserialize)]
struct Written {
    algorithm: String,
    tests: Vec<WrittenTest>,
}

#[derive(Deserialize)]
struct WrittenTest {
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
        let written: Written = serde_json::from_slice(text)?;
        let Written { algorithm, tests } = written;
        ensure!(!tests.is_empty(), "no tests in it");
        let tests = tests.into_iter().map(|test| test.of_algorithm(&algorithm)).collect::<Result<_>>()?;
        Ok(Self { name: name.to_owned(), algorithm, tests })
    }
}

impl WrittenTest {
    /// The test with the fields that an algorithm of its kind must have. A test with a field "pt" is of a bare block
    /// cipher, which is its ECB; the key's length completes the name.
    fn of_algorithm(self, name: &str) -> Result<Test> {
        let Self { id, key: Bytes(key), nonce, aad, tweak, msg, pt, ct, tag } = self;
        let name = if pt.is_some() { format!("{name}{}-ecb", 8 * key.len()) } else { name.to_owned() };
        let Ok(algorithm) = Algorithm::by_id(&name) else {
            bail!(
                "unknown algorithm \"{name}\"{}; `sealcomb list` names those there are",
                did_you_mean(&name)
            );
        };
        let msg = msg.or(pt);
        let need = |field: Option<Bytes>, name: &str| match field {
            Some(Bytes(bytes)) => Ok(bytes),
            None => bail!("test {id}: field \"{name}\" is missing"),
        };
        let or_empty = |field: Option<Bytes>| field.map(|Bytes(bytes)| bytes).unwrap_or_default();
        let (nonce, aad, message, ciphertext, tag) = match algorithm.kind {
            Kind::Cipher => (or_empty(nonce), or_empty(tweak), need(msg, "msg")?, need(ct, "ct")?, vec![]),
            Kind::Mac => (or_empty(nonce), need(msg, "msg")?, vec![], vec![], need(tag, "tag")?),
            Kind::Aead => {
                (need(nonce, "nonce")?, or_empty(aad), need(msg, "msg")?, need(ct, "ct")?, need(tag, "tag")?)
            }
        };
        let expected = algorithm.ciphertext_bytes(message.len());
        ensure!(
            ciphertext.len() == expected,
            "test {id}: \"msg\" has {} bytes, \"ct\" {} instead of {expected}",
            message.len(),
            ciphertext.len()
        );
        Ok(Test { id, algorithm, key, nonce, aad, message, ciphertext, tag })
    }
}
