//! The native extension module of the Python package `sealcomb`: classes and functions on top of the library's
//! batches.
//!
//! `sealcomb/_sealcomb.pyi` documents the Python API.
#![forbid(unsafe_code)]

mod aead;
mod arguments;
mod column;
mod errors;
mod exchange;
mod hctr2;
mod keyset;
mod many;
mod pyca;
mod threads;
mod tweaked;
mod xts;

use pyo3::prelude::*;

/// The extension module, re-exported by `sealcomb/__init__.py`.
#[pymodule]
mod _sealcomb {
    #[pymodule_export]
    use crate::column::{
        element_ids, inspect_column, reseal_column, seal_column, unseal_column, unseal_column_counted,
    };
    #[pymodule_export]
    use crate::hctr2::AesHctr2;
    #[pymodule_export]
    use crate::keyset::{Keyset, encrypted_keyset};
    #[pymodule_export]
    use crate::pyca::{Aegis128L, Aegis256, AesCcm, AesGcm, AesGcmSiv, AesOcb3, AesSiv, Cmac, Xaes256Gcm};
    #[pymodule_export]
    use crate::xts::AesXts;
}
