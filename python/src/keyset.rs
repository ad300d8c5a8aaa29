//! Keysets as Python objects.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use zeroize::Zeroizing;

use crate::arguments::Bytes;
use crate::errors::raise;

/// The keys of a column: the primary key seals, and every key opens.
#[pyclass(frozen, module = "sealcomb")]
pub(crate) struct Keyset(pub(crate) sealcomb_columns::Keyset);

#[pymethods]
impl Keyset {
    #[staticmethod]
    fn from_tink_json(text: &str) -> PyResult<Self> {
        sealcomb_columns::Keyset::from_tink_json(text).map(Self).map_err(raise)
    }

    #[staticmethod]
    fn from_tink_binary(data: Bytes<'_>) -> PyResult<Self> {
        sealcomb_columns::Keyset::from_tink_binary(&data).map(Self).map_err(raise)
    }

    #[staticmethod]
    #[pyo3(signature = (keys, primary, policy = "random"))]
    fn from_keys(keys: &Bound<'_, PyMapping>, primary: u32, policy: &str) -> PyResult<Self> {
        let mut raw = Vec::new();
        for item in keys.items()? {
            let (id, bytes): (u32, Bound<'_, PyAny>) = item.extract()?;
            raw.push((id, Zeroizing::new(bytes.extract::<Bytes<'_>>()?.to_vec())));
        }
        sealcomb_columns::Keyset::from_keys(raw, primary, policy).map(Self).map_err(raise)
    }

    #[staticmethod]
    #[pyo3(signature = (policy = "random"))]
    fn generate(policy: &str) -> PyResult<Self> {
        sealcomb_columns::Keyset::generate(policy).map(Self).map_err(raise)
    }

    fn rotated(&self) -> PyResult<Self> {
        self.0.rotated().map(Self).map_err(raise)
    }

    fn secret_tink_json(&self) -> String {
        self.0.secret_tink_json().to_string()
    }

    #[getter]
    fn primary(&self) -> u32 {
        self.0.primary()
    }

    #[getter]
    fn key_ids(&self) -> Vec<u32> {
        self.0.ids()
    }

    #[getter]
    fn policy(&self) -> &'static str {
        self.0.policy()
    }

    fn __repr__(&self) -> String {
        let (primary, ids, policy) = (self.0.primary(), self.0.ids(), self.0.policy());
        format!("Keyset(primary={primary}, key_ids={ids:?}, policy='{policy}')")
    }

    #[pyo3(signature = (*_args))]
    #[allow(clippy::unused_self)]
    fn __reduce_ex__(&self, _args: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Keyset cannot be pickled or copied, to keep keys where they were fetched; send a KeyProvider \
             (keys_from_env, keys_from_file, keys_from_wrapped, or your own function), and call it where the data is",
        ))
    }
}

/// Returns the encrypted keyset in a Tink JSON file, or `None` if the file does not contain one.
#[pyfunction]
pub(crate) fn encrypted_keyset(text: &str) -> PyResult<Option<Vec<u8>>> {
    sealcomb_columns::encrypted_keyset(text).map_err(raise)
}
