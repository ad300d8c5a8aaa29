//! Columns from and to Python, through Arrow's C data interface.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType,
    Utf8Type,
};
use arrow_array::{Array, ArrayRef, GenericByteArray, GenericByteViewArray, make_array};
use arrow_buffer::{ArrowNativeType, Buffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, FieldRef, IntervalUnit};
use pyo3::exceptions::{PyImportError, PyModuleNotFoundError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyArray;
use pyo3_arrow::{PyArray, PyChunkedArray};
use sealcomb_columns::Column;

use crate::errors::misuse;

/// A column of a Python library.
pub(crate) struct Imported {
    pub(crate) column: Column,
    /// Whether it is a chunked array, even with a single chunk.
    chunked: bool,
}

/// Imports an object through Arrow's C data interface, and validates every array before any byte of it is read.
///
/// # Errors
/// `TypeError` if it is not an Arrow array, `ValueError` if it is not valid Arrow.
pub(crate) fn import(object: &Bound<'_, PyAny>, function: &str) -> PyResult<Imported> {
    let py = object.py();
    if !object.hasattr("__arrow_c_array__")? && !object.hasattr("__arrow_c_stream__")? {
        return Err(PyTypeError::new_err(format!(
            "{function} takes an Arrow array (from pyarrow, pandas, Polars, arro3, nanoarrow, ...), not {}",
            object.get_type()
        )));
    }
    if object.hasattr("column_names")? || object.hasattr("columns")? {
        return Err(PyTypeError::new_err(format!(
            "{function} takes a column, not {}: give one column of the table",
            object.get_type()
        )));
    }
    let object = sized(object, function)?;
    let object = with_sound_structs(object).map_err(|error| invalid(function, error.value(py)))?;
    validate_by_sizes(&object).map_err(|error| invalid(function, error.value(py)))?;
    // arrow-rs panics on some invalid structs.
    let imported = catch_unwind(AssertUnwindSafe(|| chunks(&object)));
    let (arrays, field, chunked) =
        imported.unwrap_or_else(|_| Err(invalid(function, "its structs do not match its type")))?;
    check_ends(&object, &arrays).map_err(|error| invalid(function, error.value(py)))?;
    let chunks = py.detach(|| arrays.iter().map(validated).collect::<Result<_, _>>());
    let chunks = chunks.map_err(|error: ArrowError| invalid(function, error))?;
    Ok(Imported { column: Column { field, chunks }, chunked })
}

impl Imported {
    /// Exports a result to the library of the column `like`, if that is pandas, pyarrow or Polars, or otherwise to arro3.
    pub(crate) fn export<'py>(
        &self,
        like: &Bound<'py, PyAny>,
        result: Column,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = like.py();
        let Column { field, chunks } = result;
        let name = field.name().clone();
        let library = library(like)?;
        if let DataType::Interval(IntervalUnit::YearMonth | IntervalUnit::DayTime) = field.data_type()
            && matches!(library.as_str(), "pandas" | "pyarrow")
        {
            return Err(PyTypeError::new_err(
                "pyarrow has no intervals of months, or of days and milliseconds; pass as_type=\"int32\" for months, or \
                 \"int64\"",
            ));
        }
        let chunked = |chunks| PyChunkedArray::try_new(chunks, field.clone());
        let single = |mut chunks: Vec<ArrayRef>| {
            PyArray::new(chunks.pop().expect("an array is one chunk"), field.clone())
        };
        match library.as_str() {
            "pandas" => {
                let array = required(py, "pyarrow")?.call_method1("chunked_array", (chunked(chunks)?,))?;
                py.import("sealcomb._pandas")?.call_method1("series_like", (like, array))
            }
            "polars" => py.import("polars")?.call_method1("Series", (name, chunked(chunks)?)),
            "pyarrow" if self.chunked => {
                py.import("pyarrow")?.call_method1("chunked_array", (chunked(chunks)?,))
            }
            _ if self.chunked => {
                required(py, "arro3.core")?;
                Ok(chunked(chunks)?.into_arro3(py)?)
            }
            "pyarrow" => py.import("pyarrow")?.call_method1("array", (single(chunks),)),
            _ => {
                required(py, "arro3.core")?;
                single(chunks).into_arro3(py)
            }
        }
    }
}

/// Imports a module of the extra `columns`.
///
/// # Errors
/// `ImportError` that names the extra.
fn required<'py>(py: Python<'py>, module: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(module).map_err(|error| {
        if !error.is_instance_of::<PyModuleNotFoundError>(py) {
            return error;
        }
        let text = format!("columns require the module {module}: run pip install 'sealcomb[columns]'");
        let missing = PyImportError::new_err(text);
        missing.set_cause(py, Some(error));
        missing
    })
}

fn invalid(function: &str, problem: impl Display) -> PyErr {
    PyValueError::new_err(format!("{function}: the array is not valid Arrow: {problem}"))
}

pub(crate) fn library(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let module = object.get_type().module()?;
    Ok(module.to_str()?.split('.').next().unwrap_or_default().to_owned())
}

/// Converts a pandas Series to pyarrow, which reports the sizes of its buffers, and a Polars Series of nulls, whose
/// exported array arrow-rs refuses. Returns other objects unchanged.
///
/// # Errors
/// `TypeError` for types that only Polars has. It exports the addresses of Python objects as bytes.
fn sized<'py>(object: &Bound<'py, PyAny>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    match library(object)?.as_str() {
        "pandas" => required(py, "pyarrow")?.call_method1("array", (object,)),
        "polars" => match &*object.getattr("dtype")?.str()?.to_cow()? {
            own @ ("Object" | "Int128" | "UInt128") => Err(PyTypeError::new_err(format!(
                "{function}: Arrow has no type for Polars' {own}; cast the column first"
            ))),
            "Null" => object.call_method1("cast", (py.import("polars")?.getattr("Binary")?,)),
            nested if nested.contains("Null") => object.call_method0("to_arrow"),
            _ => Ok(object.clone()),
        },
        _ => Ok(object.clone()),
    }
}

/// Checks the structs that an array exports, unless it belongs to a well-known library. Returns an object that
/// exports the checked structs.
fn with_sound_structs(object: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = object.py();
    if matches!(library(&object)?.as_str(), "pyarrow" | "polars" | "arro3")
        || !object.hasattr("__arrow_c_array__")?
    {
        return Ok(object);
    }
    py.import("sealcomb._interface")?.call_method1("checked", (object,))
}

/// Has pyarrow compare its arrays with the sizes of their buffers. This is impossible after the import, because the C
/// data interface passes only pointers. [`validated`] checks the contents of the buffers.
fn validate_by_sizes(object: &Bound<'_, PyAny>) -> PyResult<()> {
    if library(object)? == "pyarrow" && object.hasattr("validate")? {
        object.call_method0("validate")?;
    }
    Ok(())
}

/// Compares the last offsets, as imported, with the sizes of pyarrow's buffers: another thread may have changed the
/// offsets since [`validate_by_sizes`].
fn check_ends(object: &Bound<'_, PyAny>, arrays: &[ArrayRef]) -> PyResult<()> {
    if library(object)? != "pyarrow" {
        return Ok(());
    }
    let chunks: Vec<Bound<'_, PyAny>> =
        if object.hasattr("chunks")? { object.getattr("chunks")?.extract()? } else { vec![object.clone()] };
    for (array, chunk) in arrays.iter().zip(chunks) {
        let mut needed = Vec::new();
        ends(&array.to_data(), &mut needed);
        let buffers: Vec<Option<Bound<'_, PyAny>>> = chunk.call_method0("buffers")?.extract()?;
        for (needed, buffer) in needed.iter().zip(buffers) {
            let size = buffer.map_or(Ok(0), |buffer| buffer.getattr("size")?.extract::<usize>())?;
            if *needed > size {
                return Err(PyValueError::new_err("its offsets changed during the call"));
            }
        }
    }
    Ok(())
}

/// Appends, for each buffer that pyarrow lists for an array and its children, the size in bytes that offsets require of
/// it: 0 for buffers other than values of variable length.
fn ends(data: &ArrayData, needed: &mut Vec<usize>) {
    let start = needed.len();
    // The first buffer is that of the nulls.
    needed.resize(start + 1 + data.buffers().len(), 0);
    if matches!(
        data.data_type(),
        DataType::Binary | DataType::LargeBinary | DataType::Utf8 | DataType::LargeUtf8
    ) {
        needed[start + 2] = data.buffers()[1].len();
    }
    // pyarrow does not list the buffers of a dictionary's values.
    if !matches!(data.data_type(), DataType::Dictionary(..)) {
        data.child_data().iter().for_each(|child| ends(child, needed));
    }
}

fn chunks(object: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, FieldRef, bool)> {
    match object.extract::<AnyArray>()? {
        AnyArray::Array(array) => {
            let (array, field) = array.into_inner();
            Ok((vec![array], field, false))
        }
        AnyArray::Stream(stream) => {
            let reader = stream.into_reader()?;
            let field = reader.field();
            Ok((reader.collect::<Result<_, _>>().map_err(misuse)?, field, true))
        }
    }
}

/// Copies everything of an imported array that determines which values are read (offsets, views, keys of dictionaries),
/// and then checks it, so other threads cannot change it any more.
fn validated(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(make_array(own(&array.to_data())?))
}

fn own(data: &ArrayData) -> Result<ArrayData, ArrowError> {
    if data.is_empty() {
        // For an empty slice, the interface omits the values, but not the offsets.
        return Ok(ArrayData::new_empty(data.data_type()));
    }
    if let Some(nulls) = data.nulls() {
        let found = nulls.len() - nulls.inner().count_set_bits();
        if found != nulls.null_count() {
            let text = format!("it has {found} nulls, and its null count is {}", nulls.null_count());
            return Err(ArrowError::InvalidArgumentError(text));
        }
    }
    let array = || make_array(data.clone());
    let copied = match data.data_type() {
        DataType::Binary => return with_own_offsets(array().as_bytes::<BinaryType>()),
        DataType::LargeBinary => return with_own_offsets(array().as_bytes::<LargeBinaryType>()),
        DataType::Utf8 => return with_own_offsets(array().as_bytes::<Utf8Type>()),
        DataType::LargeUtf8 => return with_own_offsets(array().as_bytes::<LargeUtf8Type>()),
        DataType::BinaryView => return with_own_views(array().as_byte_view::<BinaryViewType>()),
        DataType::Utf8View => return with_own_views(array().as_byte_view::<StringViewType>()),
        DataType::List(_) | DataType::LargeList(_) | DataType::Map(..) | DataType::Dictionary(..) => 1,
        DataType::ListView(_) | DataType::LargeListView(_) | DataType::Union(..) => data.buffers().len(),
        // The only child with integers that determine which values are read.
        DataType::RunEndEncoded(..) => return with_own_runs(data),
        _ if data.child_data().is_empty() => return Ok(data.clone()),
        _ => 0,
    };
    let copy = |(index, buffer): (usize, &Buffer)| {
        if index < copied { Buffer::from_slice_ref(buffer.as_slice()) } else { buffer.clone() }
    };
    let buffers = data.buffers().iter().enumerate().map(copy).collect();
    let children = data.child_data().iter().map(own).collect::<Result<_, _>>()?;
    data.clone().into_builder().buffers(buffers).child_data(children).build()
}

fn with_own_runs(data: &ArrayData) -> Result<ArrayData, ArrowError> {
    let [ends, values] = data.child_data() else {
        return Err(ArrowError::InvalidArgumentError("it does not have two children".to_owned()));
    };
    let copies = ends.buffers().iter().map(|buffer| Buffer::from_slice_ref(buffer.as_slice())).collect();
    let ends = ends.clone().into_builder().buffers(copies).build()?;
    data.clone().into_builder().child_data(vec![ends, own(values)?]).build()
}

fn with_own_offsets<T: ByteArrayType>(array: &GenericByteArray<T>) -> Result<ArrayData, ArrowError> {
    let offsets = array.offsets().to_vec();
    let bad = |text: String| Err(ArrowError::InvalidArgumentError(text));
    if offsets[0] < T::Offset::usize_as(0) {
        return bad("its first offset is negative".to_owned());
    }
    if let Some(row) = offsets.windows(2).position(|ends| ends[0] > ends[1]) {
        return bad(format!("the offset of row {row} is greater than the next one"));
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(GenericByteArray::<T>::try_new(offsets, array.values().clone(), array.nulls().cloned())?.into())
}

fn with_own_views<T: ByteViewType + ?Sized>(
    array: &GenericByteViewArray<T>,
) -> Result<ArrayData, ArrowError> {
    let mut views = array.views().to_vec();
    if let Some(nulls) = array.nulls() {
        // Views of nulls are undefined.
        for (view, valid) in views.iter_mut().zip(nulls) {
            *view = if valid { *view } else { 0 };
        }
    }
    let (buffers, nulls) = (array.data_buffers(), array.nulls().cloned());
    Ok(GenericByteViewArray::<T>::try_new(ScalarBuffer::from(views), buffers, nulls)?.into())
}
