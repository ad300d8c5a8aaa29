//! Arguments: types, and bytes-like ones: `bytes` is borrowed, and any other buffer is copied, so no other thread can
//! change it while it is read.

use std::ops::Deref;

use arrow_schema::DataType;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PyString};
use pyo3_arrow::PyDataType;
use sealcomb_columns::parse_nested_type;

use crate::errors::raise;
use crate::exchange::library;

/// A bytes-like argument, valid for the duration of the call.
pub(crate) enum Bytes<'a> {
    Borrowed(&'a [u8]),
    Copied(Vec<u8>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Bytes<'a> {
    type Error = PyErr;

    #[inline]
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyBytes>() {
            Ok(Self::Borrowed(object.extract()?))
        } else {
            copied(&object).map(Self::Copied)
        }
    }
}

/// The context of a column: bytes-like, or text, which stands for its bytes in UTF-8.
pub(crate) struct Context<'a>(Bytes<'a>);

impl Deref for Context<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// The type to open as: its name, or an object that exports it through Arrow's C data interface, such as a type of pyarrow
/// or Polars.
pub(crate) struct AsType(pub(crate) DataType);

impl<'py> FromPyObject<'_, 'py> for AsType {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.cast::<PyString>() {
            return parse_nested_type(&name.to_cow()?).map(Self).map_err(raise);
        }
        let py = object.py();
        let data_type = if library(&object)? == "polars" {
            let empty = py.import("polars")?.getattr("Series")?.call1(("", PyList::empty(py), &*object))?;
            empty.call_method0("to_arrow")?.getattr("type")?.extract::<PyDataType>()?
        } else if object.hasattr("__arrow_c_schema__")? {
            object.extract::<PyDataType>()?
        } else {
            return Err(PyTypeError::new_err(format!(
                "as_type is the name of a type, or a type of pyarrow or Polars, not {}",
                object.get_type()
            )));
        };
        Ok(Self(data_type.into_inner()))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Context<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyString>() {
            Ok(text) => Ok(Self(Bytes::Copied(text.to_str()?.as_bytes().to_vec()))),
            Err(_) => object.extract().map(Self),
        }
    }
}

/// A bytes-like item of a list. It owns its bytes, because another thread may remove the item from the list.
pub(crate) enum Item {
    Bytes(PyBackedBytes),
    Copied(Vec<u8>),
}

impl Deref for Item {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Item {
    type Error = PyErr;

    #[inline]
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyBytes>() {
            Ok(bytes) => Ok(Self::Bytes(bytes.to_owned().into())),
            Err(_) => copied(&object).map(Self::Copied),
        }
    }
}

/// A buffer for a result. It is written once, when the result is complete.
pub(crate) struct Output {
    object: Py<PyAny>,
    /// The exported buffer. Objects do not move their memory while it is exported, except for numpy arrays:
    /// `resize(refcheck=False)` in another thread moves it.
    held: PyBuffer<u8>,
}

impl Output {
    /// Writes the result and returns its size in bytes. If other Python threads have run since the call began, the
    /// memory may have moved, so the buffer is requested again.
    pub(crate) fn write(&self, py: Python<'_>, bytes: &[u8], others_ran: bool) -> PyResult<usize> {
        if others_ran {
            let buffer = writable(self.object.bind(py).as_borrowed())?;
            check_length(&buffer, bytes.len())?;
            buffer.copy_from_slice(py, bytes)?;
        } else {
            self.held.copy_from_slice(py, bytes)?;
        }
        Ok(bytes.len())
    }

    pub(crate) fn check_length(&self, needed: usize) -> PyResult<()> {
        check_length(&self.held, needed)
    }
}

impl<'py> FromPyObject<'_, 'py> for Output {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self { held: writable(object)?, object: object.to_owned().unbind() })
    }
}

fn writable(object: Borrowed<'_, '_, PyAny>) -> PyResult<PyBuffer<u8>> {
    let buffer = PyBuffer::get(&object).map_err(|_| not_a_buffer(&object))?;
    if buffer.readonly() {
        return Err(PyTypeError::new_err("Buffer is not writable."));
    }
    contiguous(buffer)
}

fn check_length(buffer: &PyBuffer<u8>, needed: usize) -> PyResult<()> {
    if buffer.len_bytes() == needed {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("buffer must be {needed} bytes")))
}

#[cold]
fn copied(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    contiguous(PyBuffer::get(object).map_err(|_| not_a_buffer(object))?)?.to_vec(object.py())
}

fn contiguous(buffer: PyBuffer<u8>) -> PyResult<PyBuffer<u8>> {
    if !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err("Buffer is not contiguous."));
    }
    Ok(buffer)
}

/// The `TypeError` for an object that is not bytes-like, with pyca's message.
fn not_a_buffer(object: &Bound<'_, PyAny>) -> PyErr {
    let hint =
        if object.is_instance_of::<PyString>() { "\nDid you mean to pass a bytestring instead?" } else { "" };
    PyTypeError::new_err(format!("Cannot convert \"{}\" instance to a buffer.{hint}", object.get_type()))
}
