//! Classes of ciphers with a tweak, which do not authenticate.

use pyo3::prelude::*;
use sealcomb::Aad;

use crate::many::Nonces;

/// How the library takes the tweak of a message: as its nonce or as its associated data.
pub(crate) type Split<'a> = (&'a [u8], Aad<'a>);
/// How the library takes the tweaks of many messages.
pub(crate) type SplitMany<'a, 'py> = (Nonces<'a, 'py>, Option<&'a Bound<'py, PyAny>>);

/// Declares a class: its name, functions that return [`Split`] and [`SplitMany`], and further methods, such as the
/// constructor.
macro_rules! tweak_class {
    (
        $(#[$doc:meta])* $Class:ident = $name:literal,
        split $split:path, $split_many:path,
        { $($own:tt)* }
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, name = $name, module = "sealcomb.hazmat")]
        pub(crate) struct $Class(Aead);

        #[pymethods]
        impl $Class {
            $($own)*

            fn encrypt<'py>(
                &self,
                py: Python<'py>,
                tweak: Bytes<'_>,
                data: Bytes<'_>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                let (nonce, aad) = $split(&tweak)?;
                self.0.encrypt(py, nonce, &data, aad)
            }

            fn encrypt_into(
                &self,
                py: Python<'_>,
                tweak: Bytes<'_>,
                data: Bytes<'_>,
                buf: Output,
            ) -> PyResult<usize> {
                let (nonce, aad) = $split(&tweak)?;
                self.0.encrypt_into(py, nonce, &data, aad, &buf)
            }

            fn decrypt<'py>(
                &self,
                py: Python<'py>,
                tweak: Bytes<'_>,
                data: Bytes<'_>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                let (nonce, aad) = $split(&tweak)?;
                self.0.decrypt(py, nonce, &data, aad)
            }

            fn decrypt_into(
                &self,
                py: Python<'_>,
                tweak: Bytes<'_>,
                data: Bytes<'_>,
                buf: Output,
            ) -> PyResult<usize> {
                let (nonce, aad) = $split(&tweak)?;
                self.0.decrypt_into(py, nonce, &data, aad, &buf)
            }

            #[pyo3(signature = (tweaks, data, *, threads = None))]
            fn encrypt_many<'py>(
                &self,
                py: Python<'py>,
                tweaks: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                threads: Option<usize>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let (nonces, associated) = $split_many(tweaks);
                many::encrypt(py, &self.0, nonces, data, associated, threads)
            }

            #[pyo3(signature = (tweaks, data, *, threads = None))]
            fn decrypt_many<'py>(
                &self,
                py: Python<'py>,
                tweaks: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                threads: Option<usize>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let (nonces, associated) = $split_many(tweaks);
                many::decrypt(py, &self.0, nonces, data, associated, "raise", threads)
            }
        }
    };
}
pub(crate) use tweak_class;
