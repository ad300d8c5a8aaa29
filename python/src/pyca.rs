//! Drop-in replacements for classes of pyca's `cryptography`, with its names, arguments and exceptions.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sealcomb::{Aad, Key, KeyOptions, OpenJob, SealJob, open_jobs, seal_jobs};

use crate::aead::{self, Aead, NonceRule, slices, strings, unlocked};
use crate::arguments::{Bytes, Output};
use crate::errors::{AlreadyFinalized, InvalidSignature, misuse};
use crate::many::{self, Nonces};

/// Converts pyca's associated data, where `None` means empty.
fn plain<'a>(associated_data: Option<&'a Bytes<'_>>) -> Aad<'a> {
    Aad::from(associated_data.map_or(&[][..], |bytes| bytes))
}

/// Declares an AEAD class with nonces: its name, the standard and all nonce lengths, key sizes in bits (the default, if there is one size),
/// and constructor.
macro_rules! nonce_class {
    (
        $(#[$doc:meta])* $Class:ident = $name:literal,
        nonce $standard:literal of $lengths:expr, $nonce_text:literal,
        keys $bits:expr $(=> $default:tt)?, $bits_text:literal,
        { $($new:tt)* }
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, name = $name, module = "sealcomb")]
        pub(crate) struct $Class(Aead);

        impl $Class {
            const NONCE: NonceRule = NonceRule {
                name: "nonces",
                lengths: $lengths,
                standard: $standard,
                text: $nonce_text,
                repeats: false,
            };
        }

        #[pymethods]
        impl $Class {
            $($new)*

            #[classattr]
            #[pyo3(name = "nonce_length")]
            const NONCE_LENGTH: usize = $standard;

            #[staticmethod]
            #[pyo3(signature = (bit_length $(= $default)?))]
            fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
                aead::generate_key(py, bit_length, $bits, $bits_text)
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
    nonce 12 of 8..=128, "Nonce must be between 8 and 128 bytes",
    keys KEY_BITS, "bit_length must be 128, 192, or 256",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = aead::key("gcm", &key, &[16, 24, 32], "AESGCM key must be 128, 192, or 256 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// AES-CCM.
    AesCcm = "AESCCM",
    nonce 12 of 7..=13, "Nonce must be between 7 and 13 bytes",
    keys KEY_BITS, "bit_length must be 128, 192, or 256",
    {
        #[new]
        #[pyo3(signature = (key, tag_length = None))]
        fn new(key: Bytes<'_>, tag_length: Option<usize>) -> PyResult<Self> {
            let options = KeyOptions::new().short_tag_bytes(tag_length.unwrap_or(16));
            let (id, text) = (format!("aes{}-ccm", key.len() * 8), "AESCCM key must be 128, 192, or 256 bits.");
            let key = aead::key_with(options, &id, &key, &[16, 24, 32], text)?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// AES-OCB3.
    AesOcb3 = "AESOCB3",
    nonce 12 of 12..=15, "Nonce must be between 12 and 15 bytes",
    keys KEY_BITS, "bit_length must be 128, 192, or 256",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = aead::key("ocb3-t128", &key, &[16, 24, 32], "AESOCB3 key must be 128, 192, or 256 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// AES-GCM-SIV.
    AesGcmSiv = "AESGCMSIV",
    nonce 12 of 12..=12, "Nonce must be 12 bytes long",
    keys &[128, 256], "bit_length must be 128 or 256",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = aead::key("gcm-siv", &key, &[16, 32], "AES-GCM-SIV key must be 128 or 256 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// XAES-256-GCM.
    Xaes256Gcm = "XAES256GCM",
    nonce 24 of 24..=24, "Nonce must be 24 bytes long",
    keys &[256] => 256, "bit_length must be 256",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = aead::key_of("xaes256-gcm", &key, &[32], "XAES256GCM key must be 256 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// AEGIS-128L.
    Aegis128L = "AEGIS128L",
    nonce 16 of 16..=16, "Nonce must be 16 bytes long",
    keys &[128] => 128, "bit_length must be 128",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = aead::key_of("aegis128l", &key, &[16], "AEGIS128L key must be 128 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

nonce_class! {
    /// AEGIS-256.
    Aegis256 = "AEGIS256",
    nonce 32 of 32..=32, "Nonce must be 32 bytes long",
    keys &[256] => 256, "bit_length must be 256",
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = aead::key_of("aegis256", &key, &[32], "AEGIS256 key must be 256 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }
    }
}

/// AES-SIV.
#[pyclass(frozen, name = "AESSIV", module = "sealcomb")]
pub(crate) struct AesSiv(Aead);

#[pymethods]
impl AesSiv {
    #[new]
    fn new(key: Bytes<'_>) -> PyResult<Self> {
        let key = aead::key("siv", &key, &[32, 48, 64], "AESSIV key must be 256, 384, or 512 bits.")?;
        Ok(Self(Aead { key, tag_first: true }))
    }

    #[staticmethod]
    fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
        aead::generate_key(py, bit_length, &[256, 384, 512], "bit_length must be 256, 384, or 512")
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

    #[pyo3(signature = (data, associated_data = None, *, associated_data_each = None, threads = None))]
    fn encrypt_many<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyList>>,
        associated_data_each: Option<&Bound<'py, PyList>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let strings = Nonces::NoneButStrings { same: associated_data, each: associated_data_each };
        many::encrypt(py, &self.0, strings, data, None, threads)
    }

    #[pyo3(signature = (data, associated_data = None, *, associated_data_each = None, forged = "raise", threads = None))]
    fn decrypt_many<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyList>>,
        associated_data_each: Option<&Bound<'py, PyList>>,
        forged: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let strings = Nonces::NoneButStrings { same: associated_data, each: associated_data_each };
        many::decrypt(py, &self.0, strings, data, None, forged, threads)
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
        let key = aead::key("cmac", &key.extract::<Bytes<'_>>()?, &[16, 24, 32], "Invalid key size")?;
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
                seal_jobs(&mut [SealJob::mac(&self.key, &[], &message[..], tag)])
                    .map_err(|error| misuse(error.error()))
            })
        })
    }

    fn verify(&mut self, py: Python<'_>, signature: &Bound<'_, PyBytes>) -> PyResult<()> {
        let (message, signature) = (self.taken()?, signature.as_bytes());
        let opened = unlocked(py, message.len(), || {
            open_jobs(&mut [OpenJob::mac(&self.key, &[], &message[..], signature)])
        });
        // A tag of another length makes the batch fail.
        if opened.is_ok_and(|opened| opened.all_verified().is_ok()) {
            Ok(())
        } else {
            Err(InvalidSignature::new_err("Signature did not match digest."))
        }
    }

    fn copy(&mut self) -> PyResult<Self> {
        Ok(Self { message: Some(self.message()?.clone()), key: Arc::clone(&self.key) })
    }
}
