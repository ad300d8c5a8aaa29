//! The native part of the Python package `sealcomb`: its classes and functions over the library's batches.
//!
//! `sealcomb/_sealcomb.pyi` has the signatures and their documentation as Python sees them.
#![forbid(unsafe_code)]

mod arguments;
mod column;
mod envelope;
mod errors;
mod keyset;
mod many;
mod memory;
mod protojson;
mod pyca;
mod tink;
mod work;

use pyo3::prelude::*;

/// The module that `sealcomb/__init__.py` takes everything from.
#[pymodule]
mod _sealcomb {
    #[pymodule_export]
    use crate::column::{inspect_column, open_column, open_column_counted, reseal_column, seal_column};
    #[pymodule_export]
    use crate::keyset::{Keyset, encrypted_keyset};
    #[pymodule_export]
    use crate::pyca::{AesCcm, AesGcm, AesGcmSiv, AesOcb3, AesSiv, Cmac};
}
