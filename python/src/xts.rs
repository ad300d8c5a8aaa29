//! AES-XTS, which pyca's `cryptography` has as a mode of `Cipher`, for one data unit per object.

use std::ops::RangeInclusive;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealcomb::hazmat::Sectors;
use sealcomb::{Aad, Error};

use crate::aead::{self, Aead, NonceRule};
use crate::arguments::{Bytes, Output};
use crate::errors::misuse;
use crate::many::{self, Nonces};
use crate::tweaked::{Split, SplitMany, tweak_class};

/// Messages are those of pyca.
const KEY_SIZES: &str =
    "The XTS specification requires a 256-bit key for AES-128-XTS and 512-bit key for AES-256-XTS";
const TWEAK: NonceRule = NonceRule {
    name: "tweaks",
    lengths: 16..=16,
    standard: 16,
    text: "tweak must be 128-bits (16 bytes)",
    repeats: true,
};

/// The sizes in bytes of sectors.
const SECTOR_SIZES: RangeInclusive<usize> = 16..=1 << 24;

/// The library takes the tweak as the nonce.
fn split(tweak: &[u8]) -> PyResult<Split<'_>> {
    TWEAK.check(tweak)?;
    Ok((tweak, Aad::from(&b""[..])))
}

fn split_many<'a, 'py>(tweaks: &'a Bound<'py, PyAny>) -> SplitMany<'a, 'py> {
    (Nonces::Each(&TWEAK, tweaks), None)
}

impl AesXts {
    /// Copies a run of sectors to the result, and processes it there.
    fn run<'py>(
        &self,
        py: Python<'py>,
        data: &[u8],
        sector_size: usize,
        step: u64,
        process: impl Fn(Sectors<'_>, &mut [u8]) -> Result<(), Error> + Sync,
    ) -> PyResult<Bound<'py, PyBytes>> {
        if !SECTOR_SIZES.contains(&sector_size) {
            return Err(PyValueError::new_err(format!(
                "sector_size is {sector_size}; a sector is a message of {} to {} bytes, such as 512 or 4096",
                SECTOR_SIZES.start(),
                SECTOR_SIZES.end()
            )));
        }
        let sectors = Sectors::new(&self.0.key, sector_size).map_err(misuse)?.step(step);
        PyBytes::new_with(py, data.len(), |out| {
            aead::unlocked(py, data.len(), || {
                out.copy_from_slice(data);
                process(sectors, out)
            })
            .map_err(misuse)
        })
    }
}

tweak_class! {
    /// AES-XTS.
    AesXts = "AESXTS",
    split split, split_many,
    {
        #[new]
        fn new(key: Bytes<'_>) -> PyResult<Self> {
            let key = aead::key("xts", &key, &[32, 64], KEY_SIZES)?;
            Ok(Self(Aead { key, tag_first: false }))
        }

        #[staticmethod]
        fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
            aead::generate_key(py, bit_length, &[256, 512], "bit_length must be 256 or 512")
        }

        #[pyo3(signature = (first, data, sector_size = 512, *, step = 1))]
        fn encrypt_sectors<'py>(
            &self,
            py: Python<'py>,
            first: u64,
            data: Bytes<'_>,
            sector_size: usize,
            step: u64,
        ) -> PyResult<Bound<'py, PyBytes>> {
            self.run(py, &data, sector_size, step, |sectors, run| sectors.encrypt(first, run))
        }

        #[pyo3(signature = (first, data, sector_size = 512, *, step = 1))]
        fn decrypt_sectors<'py>(
            &self,
            py: Python<'py>,
            first: u64,
            data: Bytes<'_>,
            sector_size: usize,
            step: u64,
        ) -> PyResult<Bound<'py, PyBytes>> {
            self.run(py, &data, sector_size, step, |sectors, run| sectors.decrypt(first, run))
        }
    }
}
