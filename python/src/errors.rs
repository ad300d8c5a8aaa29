//! The package's exceptions, declared in `sealcomb/exceptions.py`.

use pyo3::exceptions::PyValueError;
use pyo3::{PyErr, import_exception};

import_exception!(sealcomb.exceptions, AlreadyFinalized);
import_exception!(sealcomb.exceptions, ForgedMessages);
import_exception!(sealcomb.exceptions, ForgedRow);
import_exception!(sealcomb.exceptions, InvalidSignature);
import_exception!(sealcomb.exceptions, InvalidTag);
import_exception!(sealcomb.exceptions, KeysetError);
import_exception!(sealcomb.exceptions, LimitReached);
import_exception!(sealcomb.exceptions, NotSealed);
import_exception!(sealcomb.exceptions, UnknownKey);

/// Converts an error of the library to a `ValueError` with the same message.
pub(crate) fn misuse(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
