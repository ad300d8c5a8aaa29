//! The package's exceptions, declared in `sealcomb/exceptions.py`.

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyTypeError, PyValueError};
use pyo3::{PyErr, import_exception};
use sealcomb_columns::{Error, Reason, UnopenedRow};

import_exception!(sealcomb.exceptions, AlreadyFinalized);
import_exception!(sealcomb.exceptions, Forged);
import_exception!(sealcomb.exceptions, ForgedMessages);
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
        Error::KeysetError(text) => KeysetError::new_err(text),
        Error::LimitReached(text) => LimitReached::new_err(text),
        Error::Memory(text) => PyMemoryError::new_err(text),
        Error::Random(text) => PyOSError::new_err(text),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Unopened(UnopenedRow { chunk, row, path, reason, message }) => {
            let arguments = (message, chunk, row, path, reason.key_id());
            match reason {
                Reason::Forged(_) => Forged::new_err(arguments),
                Reason::UnknownKey(_) => UnknownKey::new_err(arguments),
                Reason::NotSealed(_) => NotSealed::new_err(arguments),
                Reason::WrongType(_) => WrongType::new_err(arguments),
            }
        }
        other => PyValueError::new_err(other.to_string()),
    }
}
