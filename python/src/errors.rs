//! The package's exceptions, declared in `sealcomb/exceptions.py`.

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyTypeError, PyValueError};
use pyo3::{PyErr, import_exception};
use sealcomb_columns::{Error, Reason, UnopenedRow};

import_exception!(sealcomb.exceptions, AlreadyFinalized);
import_exception!(sealcomb.exceptions, ForgedMessages);
import_exception!(sealcomb.exceptions, ForgedRow);
import_exception!(sealcomb.exceptions, InvalidSignature);
import_exception!(sealcomb.exceptions, InvalidTag);
import_exception!(sealcomb.exceptions, KeysetError);
import_exception!(sealcomb.exceptions, LimitReached);
import_exception!(sealcomb.exceptions, NotSealed);
import_exception!(sealcomb.exceptions, UnknownKey);
import_exception!(sealcomb.exceptions, WrongType);

/// Converts an error of the library to a `ValueError` with the same message.
pub(crate) fn misuse(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Converts an error of a column to its exception.
pub(crate) fn raise(error: Error) -> PyErr {
    match error {
        Error::Type(text) => PyTypeError::new_err(text),
        Error::Keyset(text) => KeysetError::new_err(text),
        Error::LimitReached(text) => LimitReached::new_err(text),
        Error::Memory(text) => PyMemoryError::new_err(text),
        Error::Random(text) => PyOSError::new_err(text),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Unopened(UnopenedRow { chunk, row, path, reason, message }) => {
            let message = if path.is_empty() { message } else { format!("{path}: {message}") };
            match reason {
                Reason::Forged(_) => ForgedRow::new_err((message, chunk, row)),
                Reason::UnknownKey(id) => UnknownKey::new_err((message, chunk, row, id)),
                Reason::NotSealed(_) => NotSealed::new_err((message, chunk, row)),
                Reason::Mistyped(_) | Reason::Malformed(_) => WrongType::new_err((message, chunk, row)),
            }
        }
        other => PyValueError::new_err(other.to_string()),
    }
}
