//! AES-HCTR2, which pyca's `cryptography` does not have.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealcomb::Aad;

use crate::aead::{self, Aead};
use crate::arguments::{Bytes, Output};
use crate::many::{self, Nonces};
use crate::tweaked::{Split, SplitMany, tweak_class};

/// The library takes the tweak as associated data.
#[allow(clippy::unnecessary_wraps)]
fn split(tweak: &[u8]) -> PyResult<Split<'_>> {
    Ok((&[], Aad::from(tweak)))
}

fn split_many<'a, 'py>(tweaks: &'a Bound<'py, PyAny>) -> SplitMany<'a, 'py> {
    (Nonces::NoneButTweaks, Some(tweaks))
}

tweak_class! {
    /// AES-HCTR2.
    AesHctr2 = "AESHCTR2",
    split split, split_many,
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = aead::key("hctr2", &key, &[16, 32], "AESHCTR2 key must be 128 or 256 bits.")?;
            Ok(Self(Aead { key, tag_first: false }))
        }

        #[staticmethod]
        fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
            aead::generate_key(py, bit_length, &[128, 256], "bit_length must be 128 or 256")
        }
    }
}
