//! A file of known answers.

use anyhow::{Context, Result, bail, ensure};
use sealcomb::{Algorithm, Kind};
use serde::Deserialize;
use std::fmt;
use std::path::Path;

/// A file that was read, with all that its algorithm needs.
pub(crate) struct VectorFile {
    /// The file's name as it was given.
    pub(crate) name: String,
    pub(crate) algorithm: &'static Algorithm,
    pub(crate) tests: Vec<Test>,
}

/// One known answer. What the kind of algorithm does not have is empty; a MAC's message is its `aad`.
#[derive(Debug)]
pub(crate) struct Test {
    pub(crate) id: Id,
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

    fn parse(text: &[u8], name: &str) -> Result<Self> {
        let written: Written = serde_json::from_slice(text)?;
        let Ok(algorithm) = Algorithm::by_id(&written.algorithm) else {
            bail!("unknown algorithm \"{}\"; `sealcomb list` names those there are", written.algorithm);
        };
        ensure!(!written.tests.is_empty(), "no tests in it");
        let tests =
            written.tests.into_iter().map(|test| test.of_kind(algorithm.kind)).collect::<Result<_>>()?;
        Ok(Self { name: name.to_owned(), algorithm, tests })
    }
}

impl WrittenTest {
    /// The test with the fields that this kind of algorithm must have.
    fn of_kind(self, kind: Kind) -> Result<Test> {
        let Self { id, key, nonce, aad, tweak, msg, ct, tag } = self;
        let need = |field: Option<Bytes>, name: &str| match field {
            Some(Bytes(bytes)) => Ok(bytes),
            None => bail!("test {id}: field \"{name}\" is missing"),
        };
        let or_empty = |field: Option<Bytes>| field.map(|Bytes(bytes)| bytes).unwrap_or_default();
        let (nonce, aad, message, ciphertext, tag) = match kind {
            Kind::Cipher => (or_empty(nonce), or_empty(tweak), need(msg, "msg")?, need(ct, "ct")?, vec![]),
            Kind::Mac => (or_empty(nonce), need(msg, "msg")?, vec![], vec![], need(tag, "tag")?),
            Kind::Aead => {
                (need(nonce, "nonce")?, or_empty(aad), need(msg, "msg")?, need(ct, "ct")?, need(tag, "tag")?)
            }
        };
        ensure!(
            message.len() == ciphertext.len(),
            "test {id}: \"msg\" has {} bytes, \"ct\" {}",
            message.len(),
            ciphertext.len()
        );
        let Bytes(key) = key;
        Ok(Test { id, key, nonce, aad, message, ciphertext, tag })
    }
}
