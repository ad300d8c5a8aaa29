//! Drop-in replacements for classes of pyca's `cryptography`, with its names, arguments and exceptions.

use std::ops::RangeInclusive;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sealcomb::{Aad, Algorithm, Key, OpenJob, SealJob, open_batch, seal_batch};
use zeroize::Zeroizing;

use crate::arguments::{Bytes, Item, Output};
use crate::errors::{AlreadyFinalized, InvalidSignature, InvalidTag, misuse};
use crate::many::{self, Nonces};

/// The minimum size in bytes of a message that is processed without the GIL. Releasing the GIL takes as long as
/// processing a short message.
const LONG: usize = 1 << 14;

/// The nonces that a class supports.
pub(crate) struct NonceRule {
    /// The lengths in bytes.
    pub(crate) lengths: RangeInclusive<usize>,
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
fn key_of(id: &str, key: &[u8], lengths: &[usize], text: &'static str) -> PyResult<Key> {
    if !lengths.contains(&key.len()) {
        return Err(PyValueError::new_err(text));
    }
    Key::new(Algorithm::by_id(id).expect("the catalog has it"), key).map_err(misuse)
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

/// A key of an AEAD, or of XTS or HCTR2, whose tags are empty. The tag precedes the ciphertext in SIV and follows it otherwise.
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
            seal_batch(&mut jobs).map_err(|error| misuse(error.error))
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
            match open_batch(&mut jobs) {
                // The ciphertext is longer than any message's, so it is forged.
                Err(_) if self.tag_bytes() > 0 => Ok(1),
                forged => forged.map_err(|error| misuse(error.error)),
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

/// Converts pyca's associated data, where `None` means empty.
fn plain<'a>(associated_data: Option<&'a Bytes<'_>>) -> Aad<'a> {
    Aad::from(associated_data.map_or(&[][..], |bytes| bytes))
}

/// Declares an AEAD class with nonces: its name, nonce lengths, key sizes in bits (the default, if there is one size),
/// and constructor.
macro_rules! nonce_class {
    (
        $(#[$doc:meta])* $Class:ident = $name:literal,
        nonce $lengths:expr, $nonce_text:literal,
        keys $bits:expr $(=> $default:literal)?, $bits_text:literal,
        { $($new:tt)* }
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, name = $name, module = "sealcomb")]
        pub(crate) struct $Class(Aead);

        impl $Class {
            const NONCE: NonceRule = NonceRule { lengths: $lengths, text: $nonce_text, repeats: false };
        }

        #[pymethods]
        impl $Class {
            $($new)*

            #[staticmethod]
            #[pyo3(signature = (bit_length $(= $default)?))]
            fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
                generate_key(py, bit_length, $bits, $bits_text)
            }

            fn encrypt<'py>(
                &self,
                py: Python<'py>,
                nonce: Bytes<'_>,
                data: Bytes<'_>,
                associated_data: Option<Bytes<'_>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                Self::NONCE.check(&nonce)?;
                self.0.encrypt(py, &nonce, &data, plain(associated_data.as_ref()))
            }

            fn encrypt_into(
                &self,
                py: Python<'_>,
                nonce: Bytes<'_>,
                data: Bytes<'_>,
                associated_data: Option<Bytes<'_>>,
                buf: Output,
            ) -> PyResult<usize> {
                Self::NONCE.check(&nonce)?;
                self.0.encrypt_into(py, &nonce, &data, plain(associated_data.as_ref()), &buf)
            }

            fn decrypt<'py>(
                &self,
                py: Python<'py>,
                nonce: Bytes<'_>,
                data: Bytes<'_>,
                associated_data: Option<Bytes<'_>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                Self::NONCE.check(&nonce)?;
                self.0.decrypt(py, &nonce, &data, plain(associated_data.as_ref()))
            }

            fn decrypt_into(
                &self,
                py: Python<'_>,
                nonce: Bytes<'_>,
                data: Bytes<'_>,
                associated_data: Option<Bytes<'_>>,
                buf: Output,
            ) -> PyResult<usize> {
                Self::NONCE.check(&nonce)?;
                self.0.decrypt_into(py, &nonce, &data, plain(associated_data.as_ref()), &buf)
            }

            #[pyo3(signature = (nonces, data, associated_data = None, *, threads = None))]
            fn encrypt_many<'py>(
                &self,
                py: Python<'py>,
                nonces: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                associated_data: Option<&Bound<'py, PyAny>>,
                threads: Option<usize>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let nonces = Nonces::Each(&Self::NONCE, nonces);
                many::encrypt(py, &self.0, nonces, data, associated_data, threads)
            }

            #[pyo3(signature = (nonces, data, associated_data = None, *, forged = "raise", threads = None))]
            fn decrypt_many<'py>(
                &self,
                py: Python<'py>,
                nonces: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                associated_data: Option<&Bound<'py, PyAny>>,
                forged: &str,
                threads: Option<usize>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let nonces = Nonces::Each(&Self::NONCE, nonces);
                many::decrypt(py, &self.0, nonces, data, associated_data, forged, threads)
            }
        }
    };
}

const KEY_BITS: &[usize] = &[128, 192, 256];

nonce_class! {
    /// AES-GCM.
    AesGcm = "AESGCM",
    nonce 8..=128, "Nonce must be between 8 and 128 bytes",
    keys KEY_BITS, "bit_length must be 128, 192, or 256",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = self::key("gcm", &key, &[16, 24, 32], "AESGCM key must be 128, 192, or 256 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// AES-CCM.
    AesCcm = "AESCCM",
    nonce 7..=13, "Nonce must be between 7 and 13 bytes",
    keys KEY_BITS, "bit_length must be 128, 192, or 256",
    {
        #[new]
        #[pyo3(signature = (key, tag_length = None))]
        fn new(key: Bytes<'_>, tag_length: Option<usize>) -> PyResult<Self> {
            let key = self::key("ccm", &key, &[16, 24, 32], "AESCCM key must be 128, 192, or 256 bits.")?;
            let key = key
                .with_tag_bytes(tag_length.unwrap_or(16))
                .map_err(|_| PyValueError::new_err("Invalid tag_length"))?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// AES-OCB3.
    AesOcb3 = "AESOCB3",
    nonce 12..=15, "Nonce must be between 12 and 15 bytes",
    keys KEY_BITS, "bit_length must be 128, 192, or 256",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = self::key("ocb3-t128", &key, &[16, 24, 32], "AESOCB3 key must be 128, 192, or 256 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// AES-GCM-SIV.
    AesGcmSiv = "AESGCMSIV",
    nonce 12..=12, "Nonce must be 12 bytes long",
    keys &[128, 256], "bit_length must be 128 or 256",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = self::key("gcm-siv", &key, &[16, 32], "AES-GCM-SIV key must be 128 or 256 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// XAES-256-GCM.
    Xaes256Gcm = "XAES256GCM",
    nonce 24..=24, "Nonce must be 24 bytes long",
    keys &[256] => 256, "bit_length must be 256",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = self::key_of("xaes256-gcm", &key, &[32], "XAES256GCM key must be 256 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// AEGIS-128L.
    Aegis128L = "AEGIS128L",
    nonce 16..=16, "Nonce must be 16 bytes long",
    keys &[128] => 128, "bit_length must be 128",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = self::key_of("aegis128l", &key, &[16], "AEGIS128L key must be 128 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// AEGIS-256.
    Aegis256 = "AEGIS256",
    nonce 32..=32, "Nonce must be 32 bytes long",
    keys &[256] => 256, "bit_length must be 256",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = self::key_of("aegis256", &key, &[32], "AEGIS256 key must be 256 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

/// AES-SIV.
#[pyclass(frozen, name = "AESSIV", module = "sealcomb")]
pub(crate) struct AesSiv(Aead);

/// Extracts the associated strings of a message.
pub(crate) fn strings(associated_data: Option<&Bound<'_, PyList>>) -> PyResult<Vec<Item>> {
    associated_data.into_iter().flatten().map(|item| item.extract()).collect()
}

pub(crate) fn slices(strings: &[Item]) -> Vec<&[u8]> {
    strings.iter().map(|string| &**string).collect()
}

#[pymethods]
impl AesSiv {
    #[new]
    fn new(key: Bytes<'_>) -> PyResult<Self> {
        let key = self::key("siv", &key, &[32, 48, 64], "AESSIV key must be 256, 384, or 512 bits.")?;
        Ok(Self(Aead { key, tag_first: true }))
    }

    #[staticmethod]
    fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
        generate_key(py, bit_length, &[256, 384, 512], "bit_length must be 256, 384, or 512")
    }

    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        data: Bytes<'_>,
        associated_data: Option<&Bound<'py, PyList>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let strings = strings(associated_data)?;
        self.0.encrypt(py, &[], &data, Aad::strings(&slices(&strings)))
    }

    fn encrypt_into(
        &self,
        py: Python<'_>,
        data: Bytes<'_>,
        associated_data: Option<&Bound<'_, PyList>>,
        buf: Output,
    ) -> PyResult<usize> {
        let strings = strings(associated_data)?;
        self.0.encrypt_into(py, &[], &data, Aad::strings(&slices(&strings)), &buf)
    }

    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        data: Bytes<'_>,
        associated_data: Option<&Bound<'py, PyList>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let strings = strings(associated_data)?;
        self.0.decrypt(py, &[], &data, Aad::strings(&slices(&strings)))
    }

    fn decrypt_into(
        &self,
        py: Python<'_>,
        data: Bytes<'_>,
        associated_data: Option<&Bound<'_, PyList>>,
        buf: Output,
    ) -> PyResult<usize> {
        let strings = strings(associated_data)?;
        self.0.decrypt_into(py, &[], &data, Aad::strings(&slices(&strings)), &buf)
    }

    #[pyo3(signature = (data, associated_data = None, *, threads = None))]
    fn encrypt_many<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        many::encrypt(py, &self.0, Nonces::NoneButStrings, data, associated_data, threads)
    }

    #[pyo3(signature = (data, associated_data = None, *, forged = "raise", threads = None))]
    fn decrypt_many<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        forged: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        many::decrypt(py, &self.0, Nonces::NoneButStrings, data, associated_data, forged, threads)
    }
}

/// AES-CMAC. The message stays in memory until it is finalized.
#[pyclass(name = "CMAC", module = "sealcomb")]
pub(crate) struct Cmac {
    key: Arc<Key>,
    message: Option<Vec<u8>>,
}

impl Cmac {
    const TAG: usize = 16;

    fn message(&mut self) -> PyResult<&mut Vec<u8>> {
        self.message.as_mut().ok_or_else(finalized)
    }

    fn taken(&mut self) -> PyResult<Vec<u8>> {
        self.message.take().ok_or_else(finalized)
    }
}

fn finalized() -> PyErr {
    AlreadyFinalized::new_err("Context was already finalized.")
}

#[pymethods]
impl Cmac {
    #[new]
    #[pyo3(signature = (algorithm, backend = None))]
    fn new(algorithm: &Bound<'_, PyAny>, backend: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let _ = backend;
        let (Ok(name), Ok(key)) = (algorithm.getattr("name"), algorithm.getattr("key")) else {
            return Err(PyTypeError::new_err("Expected instance of BlockCipherAlgorithm."));
        };
        if !name.eq("AES")? {
            return Err(PyTypeError::new_err(format!("CMAC supports only AES, not {name}")));
        }
        let key = self::key("cmac", &key.extract::<Bytes<'_>>()?, &[16, 24, 32], "Invalid key size")?;
        Ok(Self { key: Arc::new(key), message: Some(Vec::new()) })
    }

    fn update(&mut self, data: Bytes<'_>) -> PyResult<()> {
        self.message()?.extend_from_slice(&data);
        Ok(())
    }

    fn finalize<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let message = self.taken()?;
        PyBytes::new_with(py, Self::TAG, |tag| {
            unlocked(py, message.len(), || {
                seal_batch(&mut [SealJob::mac(&self.key, &[], &message[..], tag)])
                    .map_err(|error| misuse(error.error))
            })
        })
    }

    fn verify(&mut self, py: Python<'_>, signature: &Bound<'_, PyBytes>) -> PyResult<()> {
        let (message, signature) = (self.taken()?, signature.as_bytes());
        let forged = unlocked(py, message.len(), || {
            open_batch(&mut [OpenJob::mac(&self.key, &[], &message[..], signature)])
        });
        // A tag of another length makes the batch fail.
        if forged == Ok(0) {
            Ok(())
        } else {
            Err(InvalidSignature::new_err("Signature did not match digest."))
        }
    }

    fn copy(&mut self) -> PyResult<Self> {
        Ok(Self { message: Some(self.message()?.clone()), key: Arc::clone(&self.key) })
    }
}
