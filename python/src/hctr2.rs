//! AES-HCTR2, which pyca's `cryptography` does not have.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealcomb::Aad;

use crate::aead::{self, Aead};
use crate::arguments::{Bytes, Output};
use crate::many::{self, Nonces};

/// AES-HCTR2.
#[pyclass(frozen, name = "AESHCTR2", module = "sealcomb")]
pub(crate) struct AesHctr2(Aead);

/// The library takes the tweak as associated data.
fn tweaked<'a>(tweak: &'a Bytes<'_>) -> Aad<'a> {
    Aad::from(&**tweak)
}

#[pymethods]
impl AesHctr2 {
    #[new]
    fn new(key: Bytes<'_>) -> PyResult<Self> {
        let key = aead::key("hctr2", &key, &[16, 32], "AESHCTR2 key must be 128 or 256 bits.")?;
        Ok(Self(Aead { key, tag_first: false }))
    }

    #[staticmethod]
    fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
        aead::generate_key(py, bit_length, &[128, 256], "bit_length must be 128 or 256")
    }

    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        tweak: Bytes<'_>,
        data: Bytes<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.0.encrypt(py, &[], &data, tweaked(&tweak))
    }

    fn encrypt_into(
        &self,
        py: Python<'_>,
        tweak: Bytes<'_>,
        data: Bytes<'_>,
        buf: Output,
    ) -> PyResult<usize> {
        self.0.encrypt_into(py, &[], &data, tweaked(&tweak), &buf)
    }

    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        tweak: Bytes<'_>,
        data: Bytes<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.0.decrypt(py, &[], &data, tweaked(&tweak))
    }

    fn decrypt_into(
        &self,
        py: Python<'_>,
        tweak: Bytes<'_>,
        data: Bytes<'_>,
        buf: Output,
    ) -> PyResult<usize> {
        self.0.decrypt_into(py, &[], &data, tweaked(&tweak), &buf)
    }

    #[pyo3(signature = (tweaks, data, *, threads = None))]
    fn encrypt_many<'py>(
        &self,
        py: Python<'py>,
        tweaks: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        many::encrypt(py, &self.0, Nonces::None, data, Some(tweaks), threads)
    }

    #[pyo3(signature = (tweaks, data, *, threads = None))]
    fn decrypt_many<'py>(
        &self,
        py: Python<'py>,
        tweaks: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        many::decrypt(py, &self.0, Nonces::None, data, Some(tweaks), "raise", threads)
    }
}
