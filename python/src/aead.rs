//! Keys of AEADs, and single messages under them.

use std::ops::RangeInclusive;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sealcomb::hazmat;
use sealcomb::{Aad, Error, Key, KeyOptions, OpenJob, Opened, SealJob, open_jobs, seal_jobs};
use zeroize::Zeroizing;

use crate::arguments::{Item, Output};
use crate::errors::{InvalidTag, misuse};

/// The minimum size in bytes of a message that is processed without the GIL. Releasing the GIL takes as long as
/// processing a short message.
const LONG: usize = 1 << 14;

/// The nonces that a class supports.
pub(crate) struct NonceRule {
    /// The name of the argument with a nonce per message.
    pub(crate) name: &'static str,
    /// The lengths in bytes.
    pub(crate) lengths: RangeInclusive<usize>,
    /// The standard length in bytes, which nonces in a flat buffer have.
    pub(crate) standard: usize,
    /// The message for other lengths.
    pub(crate) text: &'static str,
    /// Whether several messages may have the same nonce.
    pub(crate) repeats: bool,
}

impl NonceRule {
    pub(crate) fn check(&self, nonce: &[u8]) -> PyResult<()> {
        if self.lengths.contains(&nonce.len()) {
            return Ok(());
        }
        Err(PyValueError::new_err(self.text))
    }
}

/// Creates a key of the mode's algorithm for the size of the key.
pub(crate) fn key(mode: &str, key: &[u8], lengths: &[usize], text: &'static str) -> PyResult<Key> {
    // The keys of SIV and XTS consist of two AES keys.
    let bits = if matches!(mode, "siv" | "xts") { key.len() * 4 } else { key.len() * 8 };
    key_of(&format!("aes{bits}-{mode}"), key, lengths, text)
}

/// Creates a key of an algorithm.
pub(crate) fn key_of(id: &str, key: &[u8], lengths: &[usize], text: &'static str) -> PyResult<Key> {
    key_with(KeyOptions::new(), id, key, lengths, text)
}

/// Creates a key of an algorithm with options. As in pyca's classes, the length of a nonce may differ from message to
/// message.
pub(crate) fn key_with(
    options: KeyOptions,
    id: &str,
    key: &[u8],
    lengths: &[usize],
    text: &'static str,
) -> PyResult<Key> {
    if !lengths.contains(&key.len()) {
        return Err(PyValueError::new_err(text));
    }
    let algorithm = hazmat::by_id(id).expect("the catalog has it");
    options.any_nonce_bytes().expand(algorithm, key).map_err(|error| match error {
        Error::TagLength { .. } => PyValueError::new_err("Invalid tag_length"),
        error => misuse(error),
    })
}

pub(crate) fn generate_key<'py>(
    py: Python<'py>,
    bit_length: usize,
    lengths: &[usize],
    text: &'static str,
) -> PyResult<Bound<'py, PyBytes>> {
    if !lengths.contains(&bit_length) {
        return Err(PyValueError::new_err(text));
    }
    PyBytes::new_with(py, bit_length / 8, |bytes| sealcomb_random::fill(bytes).map_err(misuse))
}

/// Returns whether a message of `bytes` bytes is processed without the GIL.
fn is_long(bytes: usize) -> bool {
    bytes >= LONG
}

/// Runs `work`, without the GIL if the message is long.
pub(crate) fn unlocked<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if is_long(bytes) { py.detach(work) } else { work() }
}

/// A key of an AEAD, or of XTS or HCTR2, whose tags are empty. The tag precedes the ciphertext in SIV and follows it
/// otherwise.
pub(crate) struct Aead {
    pub(crate) key: Key,
    pub(crate) tag_first: bool,
}

impl Aead {
    pub(crate) fn tag_bytes(&self) -> usize {
        self.key.tag_bytes()
    }

    /// Creates the job that seals a message into `out`, which has room for ciphertext and tag.
    #[inline]
    pub(crate) fn seal_job<'a>(
        &'a self,
        nonce: &'a [u8],
        aad: Aad<'a>,
        message: &'a [u8],
        out: &'a mut [u8],
    ) -> Result<SealJob<'a>, sealcomb::Error> {
        let (ciphertext, tag) = if self.tag_first {
            let (tag, ciphertext) = out.split_at_mut(self.tag_bytes());
            (ciphertext, tag)
        } else {
            out.split_at_mut(message.len())
        };
        SealJob::new(&self.key, nonce, aad, message, ciphertext, tag)
    }

    /// Creates the job that opens `sealed`, which has at least the size of a tag.
    #[inline]
    pub(crate) fn open_job<'a>(
        &'a self,
        nonce: &'a [u8],
        aad: Aad<'a>,
        sealed: &'a [u8],
        out: &'a mut [u8],
    ) -> Result<OpenJob<'a>, sealcomb::Error> {
        let (ciphertext, tag) = if self.tag_first {
            let (tag, ciphertext) = sealed.split_at(self.tag_bytes());
            (ciphertext, tag)
        } else {
            sealed.split_at(sealed.len() - self.tag_bytes())
        };
        OpenJob::new(&self.key, nonce, aad, ciphertext, out, tag)
    }

    fn seal_into(
        &self,
        py: Python<'_>,
        nonce: &[u8],
        aad: Aad<'_>,
        message: &[u8],
        out: &mut [u8],
    ) -> PyResult<()> {
        unlocked(py, message.len(), || {
            let mut jobs = [self.seal_job(nonce, aad, message, out).map_err(misuse)?];
            seal_jobs(&mut jobs).map_err(|error| misuse(error.error()))
        })
    }

    fn open_into(
        &self,
        py: Python<'_>,
        nonce: &[u8],
        aad: Aad<'_>,
        sealed: &[u8],
        out: &mut [u8],
    ) -> PyResult<()> {
        let forged = unlocked(py, sealed.len(), || {
            let mut jobs = [self.open_job(nonce, aad, sealed, out).map_err(misuse)?];
            match open_jobs(&mut jobs) {
                // The ciphertext is longer than any message's, so it is forged.
                Err(_) if self.tag_bytes() > 0 => Ok(1),
                opened => opened.map(Opened::forged).map_err(|error| misuse(error.error())),
            }
        })?;
        if forged == 0 { Ok(()) } else { Err(InvalidTag::new_err(())) }
    }

    pub(crate) fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &[u8],
        data: &[u8],
        aad: Aad<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, data.len() + self.tag_bytes(), |out| self.seal_into(py, nonce, aad, data, out))
    }

    pub(crate) fn encrypt_into(
        &self,
        py: Python<'_>,
        nonce: &[u8],
        data: &[u8],
        aad: Aad<'_>,
        buf: &Output,
    ) -> PyResult<usize> {
        let bytes = data.len() + self.tag_bytes();
        buf.check_length(bytes)?;
        let mut out = vec![0; bytes];
        self.seal_into(py, nonce, aad, data, &mut out)?;
        buf.write(py, &out, is_long(data.len()))
    }

    fn opened_bytes(&self, sealed: &[u8]) -> PyResult<usize> {
        sealed.len().checked_sub(self.tag_bytes()).ok_or_else(|| InvalidTag::new_err(()))
    }

    pub(crate) fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &[u8],
        data: &[u8],
        aad: Aad<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.opened_bytes(data)?, |out| self.open_into(py, nonce, aad, data, out))
    }

    pub(crate) fn decrypt_into(
        &self,
        py: Python<'_>,
        nonce: &[u8],
        data: &[u8],
        aad: Aad<'_>,
        buf: &Output,
    ) -> PyResult<usize> {
        let bytes = self.opened_bytes(data)?;
        buf.check_length(bytes)?;
        let mut out = Zeroizing::new(vec![0; bytes]);
        self.open_into(py, nonce, aad, data, &mut out)?;
        buf.write(py, &out, is_long(data.len()))
    }
}

/// Extracts the associated strings of a message.
pub(crate) fn strings(associated_data: Option<&Bound<'_, PyList>>) -> PyResult<Vec<Item>> {
    associated_data.into_iter().flatten().map(|item| item.extract()).collect()
}

pub(crate) fn slices(strings: &[Item]) -> Vec<&[u8]> {
    strings.iter().map(|string| &**string).collect()
}
