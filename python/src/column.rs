//! Sealing, opening, resealing and inspecting Arrow columns.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Int8Type, Int16Type, Int32Type, Int64Type,
    LargeBinaryType, LargeUtf8Type, StringViewType, UInt8Type, UInt16Type, UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, GenericBinaryArray,
    GenericByteArray, GenericByteViewArray, GenericStringArray, LargeBinaryArray, OffsetSizeTrait,
};
use arrow_buffer::{ArrowNativeType, BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use arrow_select::concat::concat;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyArray;
use pyo3_arrow::{PyArray, PyChunkedArray};
use sealcomb::BatchError;
use zeroize::Zeroizing;

use crate::arguments::Bytes;
use crate::envelope::{self, Aads, BATCH, Nonces, Reason, SealError};
use crate::errors::{ForgedRow, NotSealed, UnknownKey, misuse};
use crate::keyset::{Keyset, NamedKey};
use crate::memory::Memory;
use crate::work;

/// The maximum number of rows in a task.
const TASK_ROWS: usize = 16 * BATCH;
/// The maximum output of a task in bytes, unless a single row has more.
const TASK_BYTES: usize = 1 << 20;

/// The values of a chunk, of any supported type.
enum Values {
    Binary(BinaryArray),
    LargeBinary(LargeBinaryArray),
    View(BinaryViewArray),
    Fixed(FixedSizeBinaryArray),
    Null(ArrayRef),
}

impl Values {
    /// Returns the values of an array, or `None` if they are neither bytes nor text.
    fn new(array: &ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Binary => Self::Binary(array.as_binary().clone()),
            DataType::LargeBinary => Self::LargeBinary(array.as_binary().clone()),
            DataType::BinaryView => Self::View(array.as_binary_view().clone()),
            DataType::FixedSizeBinary(_) => Self::Fixed(array.as_fixed_size_binary().clone()),
            DataType::Utf8 => Self::Binary(array.as_string().clone().into()),
            DataType::LargeUtf8 => Self::LargeBinary(array.as_string().clone().into()),
            DataType::Utf8View => Self::View(array.as_string_view().clone().to_binary_view()),
            DataType::Null => Self::Null(array.clone()),
            _ => return None,
        })
    }

    fn array(&self) -> &dyn Array {
        match self {
            Self::Binary(array) => array,
            Self::LargeBinary(array) => array,
            Self::View(array) => array,
            Self::Fixed(array) => array,
            Self::Null(array) => array,
        }
    }

    fn len(&self) -> usize {
        self.array().len()
    }

    /// The nulls of the rows, which a result shares.
    fn nulls(&self) -> Option<NullBuffer> {
        self.array().logical_nulls()
    }

    /// An upper bound of the total bytes of all rows.
    fn max_bytes(&self) -> usize {
        match self {
            Self::Binary(array) => array.value_data().len(),
            Self::LargeBinary(array) => array.value_data().len(),
            Self::View(array) => array.lengths().map(|length| length as usize).sum(),
            Self::Fixed(array) => array.value_data().len(),
            Self::Null(_) => 0,
        }
    }

    /// The bytes of a non-null row.
    #[inline]
    fn bytes(&self, row: usize) -> &[u8] {
        match self {
            Self::Binary(array) => array.value(row),
            Self::LargeBinary(array) => array.value(row),
            Self::View(array) => array.value(row),
            Self::Fixed(array) => {
                let size = array.value_size();
                &array.value_data()[row * size..][..size]
            }
            Self::Null(_) => &[],
        }
    }

    /// The bytes of a row, or `None` if it is null.
    #[inline]
    fn get(&self, row: usize) -> Option<&[u8]> {
        let null = match self {
            Self::Binary(array) => array.is_null(row),
            Self::LargeBinary(array) => array.is_null(row),
            Self::View(array) => array.is_null(row),
            Self::Fixed(array) => array.is_null(row),
            Self::Null(_) => true,
        };
        (!null).then(|| self.bytes(row))
    }
}

/// An imported column.
struct Column {
    name: String,
    chunks: Vec<Values>,
    /// Whether it is a chunked array, even with a single chunk.
    chunked: bool,
    /// Whether its type has 64-bit offsets.
    large: bool,
    /// Whether its type is text.
    text: bool,
}

impl Column {
    /// Imports the argument of `function`.
    ///
    /// # Errors
    /// `TypeError` if it is not an Arrow array of a supported type, `ValueError` if it is not valid Arrow.
    fn import(object: &Bound<'_, PyAny>, function: &str) -> PyResult<Self> {
        let (arrays, name, data_type, chunked) = arrays(object, function)?;
        let chunks = arrays.iter().map(Values::new).collect::<Option<Vec<_>>>();
        let empty = arrow_array::new_empty_array(&data_type);
        let (Some(chunks), Some(_)) = (chunks, Values::new(&empty)) else {
            let hint = match data_type {
                DataType::Dictionary(..) | DataType::RunEndEncoded(..) => "decode it to plain values first",
                DataType::Struct(_) => "give one column of the table",
                _ => "cast it to text or bytes first",
            };
            return Err(PyTypeError::new_err(format!(
                "{function} takes a column of bytes or text (Binary, LargeBinary, BinaryView, FixedSizeBinary, Utf8, \
                 LargeUtf8, Utf8View), not {data_type}: {hint}"
            )));
        };
        let large = matches!(data_type, DataType::LargeBinary | DataType::LargeUtf8);
        let text = matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        Ok(Self { name, chunks, chunked, large, text })
    }

    /// Imports a column of sealed values: as [`import`](Self::import), but without text types.
    fn sealed(object: &Bound<'_, PyAny>, function: &str) -> PyResult<Self> {
        let column = Self::import(object, function)?;
        if column.text {
            return Err(PyTypeError::new_err(format!(
                "{function} takes a sealed column, which is binary, not text: seal it first, or decode it if it is \
                 base64 or hex"
            )));
        }
        Ok(column)
    }

    fn rows(&self) -> usize {
        self.chunks.iter().map(Values::len).sum()
    }

    /// The number of non-null rows.
    fn values(&self) -> usize {
        self.chunks.iter().map(|values| values.len() - values.array().logical_null_count()).sum()
    }

    /// Exports a result to the library of the column, if that is pyarrow or Polars, or otherwise to arro3. `empty` is
    /// the type of a result without chunks.
    fn export<'py>(
        self,
        like: &Bound<'py, PyAny>,
        chunks: Vec<ArrayRef>,
        empty: &DataType,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = like.py();
        let data_type = chunks.first().map_or(empty, |chunk| chunk.data_type()).clone();
        let field = Arc::new(Field::new(&self.name, data_type, true));
        let library = library(like)?;
        if self.chunked {
            let result = PyChunkedArray::try_new(chunks, field)?;
            match library.as_str() {
                "pyarrow" => py.import("pyarrow")?.call_method1("chunked_array", (result,)),
                "polars" => py.import("polars")?.call_method1("Series", (self.name, result)),
                _ => Ok(result.into_arro3(py)?),
            }
        } else {
            let chunk = chunks.into_iter().next().expect("an array is one chunk");
            let result = PyArray::new(chunk, field);
            match library.as_str() {
                "pyarrow" => py.import("pyarrow")?.call_method1("array", (result,)),
                _ => result.into_arro3(py),
            }
        }
    }
}

type Imported = (Vec<ArrayRef>, String, DataType, bool);

/// Imports an object through Arrow's C data interface, and validates every array before any byte of it is read.
/// Returns the chunks, the name, the type, and whether the array is chunked.
fn arrays(object: &Bound<'_, PyAny>, function: &str) -> PyResult<Imported> {
    let py = object.py();
    if !object.hasattr("__arrow_c_array__")? && !object.hasattr("__arrow_c_stream__")? {
        return Err(PyTypeError::new_err(format!(
            "{function} takes an Arrow array (from pyarrow, Polars, arro3, nanoarrow, ...), not {}",
            object.get_type()
        )));
    }
    let object = sized(object)?;
    let object = with_sound_structs(object).map_err(|error| invalid(function, error.value(py)))?;
    validate_by_sizes(&object).map_err(|error| invalid(function, error.value(py)))?;
    // arrow-rs panics on some invalid structs.
    let imported = catch_unwind(AssertUnwindSafe(|| import(&object)));
    let (arrays, field, chunked) =
        imported.unwrap_or_else(|_| Err(invalid(function, "its structs do not match its type")))?;
    check_ends(&object, &arrays).map_err(|error| invalid(function, error.value(py)))?;
    let arrays = py.detach(|| arrays.iter().map(validated).collect::<Result<_, _>>());
    let arrays = arrays.map_err(|error: ArrowError| invalid(function, error))?;
    Ok((arrays, field.name().clone(), field.data_type().clone(), chunked))
}

fn invalid(function: &str, problem: impl Display) -> PyErr {
    PyValueError::new_err(format!("{function}: the array is not valid Arrow: {problem}"))
}

fn library(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let module = object.get_type().module()?;
    Ok(module.to_str()?.split('.').next().unwrap_or_default().to_owned())
}

/// Converts a pandas Series to pyarrow, which reports the sizes of its buffers. Returns other objects unchanged.
fn sized<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if library(object)? == "pandas" {
        object.py().import("pyarrow")?.call_method1("array", (object,))
    } else {
        Ok(object.clone())
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
        let bytes = match array.data_type() {
            DataType::Binary => array.as_binary::<i32>().values().len(),
            DataType::LargeBinary => array.as_binary::<i64>().values().len(),
            DataType::Utf8 => array.as_string::<i32>().values().len(),
            DataType::LargeUtf8 => array.as_string::<i64>().values().len(),
            _ => continue,
        };
        let buffers: Vec<Option<Bound<'_, PyAny>>> = chunk.call_method0("buffers")?.extract()?;
        let size = match buffers.last() {
            Some(Some(values)) => values.getattr("size")?.extract()?,
            _ => 0,
        };
        if bytes > size {
            return Err(PyValueError::new_err("its offsets changed during the call"));
        }
    }
    Ok(())
}

fn import(object: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, FieldRef, bool)> {
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

/// Copies the offsets or views of an imported array, and then checks them, so other threads cannot change them any
/// more. Arrays of other types are returned unchanged: only the values of integers are read.
fn validated(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if array.is_empty() {
        // For an empty slice, the interface omits the values, but not the offsets.
        return Ok(arrow_array::new_empty_array(array.data_type()));
    }
    if let Some(nulls) = array.nulls() {
        let found = nulls.len() - nulls.inner().count_set_bits();
        if found != nulls.null_count() {
            let text = format!("it has {found} nulls, and its null count is {}", nulls.null_count());
            return Err(ArrowError::InvalidArgumentError(text));
        }
    }
    Ok(match array.data_type() {
        DataType::Binary => Arc::new(with_own_offsets(array.as_bytes::<BinaryType>())?),
        DataType::LargeBinary => Arc::new(with_own_offsets(array.as_bytes::<LargeBinaryType>())?),
        DataType::Utf8 => Arc::new(with_own_offsets(array.as_bytes::<Utf8Type>())?),
        DataType::LargeUtf8 => Arc::new(with_own_offsets(array.as_bytes::<LargeUtf8Type>())?),
        DataType::BinaryView => Arc::new(with_own_views(array.as_byte_view::<BinaryViewType>())?),
        DataType::Utf8View => Arc::new(with_own_views(array.as_byte_view::<StringViewType>())?),
        _ => array.clone(),
    })
}

fn with_own_offsets<T: ByteArrayType>(
    array: &GenericByteArray<T>,
) -> Result<GenericByteArray<T>, ArrowError> {
    let offsets = array.offsets().to_vec();
    let bad = |text: String| Err(ArrowError::InvalidArgumentError(text));
    if offsets[0] < T::Offset::usize_as(0) {
        return bad("its first offset is negative".to_owned());
    }
    if let Some(row) = offsets.windows(2).position(|ends| ends[0] > ends[1]) {
        return bad(format!("the offset of row {row} is greater than the next one"));
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    GenericByteArray::try_new(offsets, array.values().clone(), array.nulls().cloned())
}

fn with_own_views<T: ByteViewType + ?Sized>(
    array: &GenericByteViewArray<T>,
) -> Result<GenericByteViewArray<T>, ArrowError> {
    let mut views = array.views().to_vec();
    if let Some(nulls) = array.nulls() {
        // Views of nulls are undefined.
        for (view, valid) in views.iter_mut().zip(nulls) {
            *view = if valid { *view } else { 0 };
        }
    }
    GenericByteViewArray::try_new(ScalarBuffer::from(views), array.data_buffers(), array.nulls().cloned())
}

/// The associated data of a column, which must be the same for sealing and opening.
struct Context<'a> {
    context: &'a [u8],
    /// The row ids, chunked as the column.
    ids: Option<Vec<Ids>>,
}

/// The row ids of a chunk.
enum Ids {
    Bytes(Values),
    Integers(Box<dyn Fn(usize) -> [u8; 8] + Sync>),
}

impl<'a> Context<'a> {
    fn new(
        context: &'a [u8],
        row_ids: Option<&Bound<'_, PyAny>>,
        column: &Column,
        function: &str,
    ) -> PyResult<Self> {
        let Some(row_ids) = row_ids else { return Ok(Self { context, ids: None }) };
        let (arrays, ..) = arrays(row_ids, function)?;
        let (rows, got) = (column.rows(), arrays.iter().map(Array::len).sum::<usize>());
        if rows != got {
            return Err(PyValueError::new_err(format!(
                "{got} row_ids for {rows} rows; expected one per row"
            )));
        }
        if arrays.iter().any(|array| array.logical_null_count() > 0) {
            return Err(PyValueError::new_err("row_ids contains nulls; every row needs an id"));
        }
        let ids = aligned(arrays, &column.chunks)?.iter().map(Ids::new).collect::<PyResult<_>>()?;
        Ok(Self { context, ids: Some(ids) })
    }

    /// Returns the associated data of some rows of a chunk.
    fn aads(&self, chunk: usize, rows: Range<usize>) -> Aads<'_> {
        let Some(ids) = &self.ids else { return Aads::Same(self.context) };
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(rows.len()));
        for row in rows {
            bytes.extend_from_slice(&(self.context.len() as u64).to_be_bytes());
            bytes.extend_from_slice(self.context);
            match &ids[chunk] {
                Ids::Bytes(values) => bytes.extend_from_slice(values.bytes(row)),
                Ids::Integers(id) => bytes.extend_from_slice(&id(row)),
            }
            ends.push(bytes.len());
        }
        Aads::Each(bytes, ends)
    }
}

impl Ids {
    /// Converts an array of row ids. Integers become 8 bytes, so the width of the column may change.
    ///
    /// # Errors
    /// `TypeError` if they are not integers, bytes or text.
    fn new(array: &ArrayRef) -> PyResult<Self> {
        macro_rules! integers {
            ($Type:ty as $wide:ty) => {{
                let values = array.as_primitive::<$Type>().values().clone();
                Self::Integers(Box::new(move |row| <$wide>::from(values[row]).to_be_bytes()))
            }};
        }
        Ok(match array.data_type() {
            DataType::Int8 => integers!(Int8Type as i64),
            DataType::Int16 => integers!(Int16Type as i64),
            DataType::Int32 => integers!(Int32Type as i64),
            DataType::Int64 => integers!(Int64Type as i64),
            DataType::UInt8 => integers!(UInt8Type as u64),
            DataType::UInt16 => integers!(UInt16Type as u64),
            DataType::UInt32 => integers!(UInt32Type as u64),
            DataType::UInt64 => integers!(UInt64Type as u64),
            other => Self::Bytes(Values::new(array).ok_or_else(|| {
                PyTypeError::new_err(format!("row_ids has type {other}; cast it to integers, bytes or text"))
            })?),
        })
    }
}

/// Splits row ids into chunks of the same lengths as those of the column.
fn aligned(ids: Vec<ArrayRef>, chunks: &[Values]) -> PyResult<Vec<ArrayRef>> {
    let lengths = || chunks.iter().map(Values::len);
    if ids.iter().map(Array::len).eq(lengths()) {
        return Ok(ids);
    }
    let ids = match &ids[..] {
        [] => return Ok(Vec::new()),
        [one] => one.clone(),
        several => concat(&several.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(misuse)?,
    };
    let mut start = 0;
    Ok(lengths()
        .map(|length| {
            start += length;
            ids.slice(start - length, length)
        })
        .collect())
}

/// Some rows of a chunk, and the memory for their results.
struct Task<'a> {
    chunk: usize,
    rows: Range<usize>,
    out: &'a mut [u8],
}

/// The offsets and values of an output chunk.
struct Slots<O> {
    offsets: Vec<O>,
    values: Memory,
}

impl<O: OffsetSizeTrait> Slots<O> {
    /// Creates zeroed slots of these lengths. Their sum must fit the offset type.
    ///
    /// # Errors
    /// `MemoryError` if the values cannot be allocated.
    fn new(lengths: impl Iterator<Item = usize>, rows: usize) -> PyResult<Self> {
        let mut offsets = Vec::with_capacity(rows + 1);
        let mut end = 0;
        offsets.push(O::usize_as(0));
        offsets.extend(lengths.map(|length| {
            end += length;
            O::usize_as(end)
        }));
        Ok(Self { offsets, values: Memory::zeroed(end)? })
    }

    /// Returns the offsets, and the tasks that fill the slots.
    fn tasks(&mut self, chunk: usize) -> (&[O], Vec<Task<'_>>) {
        let (offsets, mut out) = (&self.offsets[..], self.values.bytes());
        let mut tasks = Vec::new();
        let (mut start, rows) = (0, offsets.len() - 1);
        while start < rows {
            let begin = offsets[start].as_usize();
            let ends = &offsets[start + 1..=(start + TASK_ROWS).min(rows)];
            let full = ends.partition_point(|end| end.as_usize() - begin <= TASK_BYTES);
            let end = start + full.max(1);
            let (own, rest) = out.split_at_mut(offsets[end].as_usize() - begin);
            out = rest;
            tasks.push(Task { chunk, rows: start..end, out: own });
            start = end;
        }
        (offsets, tasks)
    }

    fn binary(self, nulls: Option<NullBuffer>) -> ArrayRef {
        let (offsets, values) = self.buffers();
        Arc::new(GenericBinaryArray::<O>::new(offsets, values, nulls))
    }

    /// Returns the values as text.
    ///
    /// # Errors
    /// The first row that is not UTF-8.
    fn text(self, nulls: Option<NullBuffer>) -> Result<ArrayRef, usize> {
        let (offsets, values) = self.buffers();
        match GenericStringArray::<O>::try_new(offsets.clone(), values.clone(), nulls) {
            Ok(array) => Ok(Arc::new(array)),
            Err(_) => Err(offsets
                .windows(2)
                .position(|ends| {
                    std::str::from_utf8(&values[ends[0].as_usize()..ends[1].as_usize()]).is_err()
                })
                .unwrap_or_default()),
        }
    }

    fn buffers(self) -> (OffsetBuffer<O>, Buffer) {
        (OffsetBuffer::new(ScalarBuffer::from(self.offsets)), self.values.into())
    }
}

/// The reason why a call fails.
enum Failure {
    Unopened { chunk: usize, row: usize, reason: Reason },
    Misuse { chunk: usize, row: usize, error: BatchError },
    Random(sealcomb_random::Error),
}

impl Failure {
    /// The reason why a batch that begins at `row` was not sealed.
    fn of_sealing(chunk: usize, row: usize, error: SealError) -> Self {
        match error {
            SealError::Batch(error) => Self::Misuse { chunk, row, error },
            SealError::Random(error) => Self::Random(error),
        }
    }

    fn raise(self, keyset: &Keyset) -> PyErr {
        match self {
            Self::Misuse { chunk, row, error } => {
                PyValueError::new_err(format!("chunk {chunk}, row {}: {}", row + error.index, error.error))
            }
            Self::Random(error) => {
                PyOSError::new_err(format!("the operating system provides no random bytes: {error}"))
            }
            Self::Unopened { chunk, row, reason: Reason::Forged(id) } => ForgedRow::new_err((
                format!(
                    "the value did not verify under key {id}: it was changed, or sealed with another context or row \
                     id; pass those that it was sealed with, or forged=\"null\" for a null in its place"
                ),
                chunk,
                row,
            )),
            Self::Unopened { chunk, row, reason: Reason::UnknownKey(id) } => UnknownKey::new_err((
                format!("the value was sealed under {}", keyset.missing(id)),
                chunk,
                row,
                id,
            )),
            Self::Unopened { chunk, row, reason: Reason::NotSealed(bytes) } => NotSealed::new_err((
                format!(
                    "{bytes} bytes are not a sealed value: it was truncated, or never sealed; check the column with \
                     inspect_column"
                ),
                chunk,
                row,
            )),
        }
    }
}

/// How to handle rows that do not open.
#[derive(Clone, Copy, PartialEq)]
enum Forged {
    Raise,
    Null,
}

impl Forged {
    fn parse(forged: &str) -> PyResult<Self> {
        match forged {
            "raise" => Ok(Self::Raise),
            "null" => Ok(Self::Null),
            _ => Err(PyValueError::new_err(format!("forged={forged:?}; use \"raise\" or \"null\""))),
        }
    }
}

/// The rows that did not open: for each chunk that has any, a bitmap in which they are false.
struct Unopened {
    forged: Forged,
    chunks: Mutex<Vec<Option<BooleanBufferBuilder>>>,
}

impl Unopened {
    fn new(forged: Forged, column: &Column) -> Self {
        Self { forged, chunks: Mutex::new(column.chunks.iter().map(|_| None).collect()) }
    }

    /// Records rows of a chunk of `length` rows that did not open.
    ///
    /// # Errors
    /// The first row, if they must be raised.
    fn record(&self, chunk: usize, length: usize, rows: &[(usize, Reason)]) -> Result<(), Failure> {
        let Some(&(row, reason)) = rows.first() else { return Ok(()) };
        if self.forged == Forged::Raise {
            return Err(Failure::Unopened { chunk, row, reason });
        }
        let mut chunks = self.chunks.lock().expect("nothing panics while recording rows");
        let opened = chunks[chunk].get_or_insert_with(|| {
            let mut all = BooleanBufferBuilder::new(length);
            all.append_n(length, true);
            all
        });
        for (row, _) in rows {
            opened.set_bit(*row, false);
        }
        Ok(())
    }

    /// Returns the nulls of each chunk, including the rows that did not open, and the number of those rows.
    fn nulls(self, column: &Column) -> (Vec<Option<NullBuffer>>, usize) {
        let mut count = 0;
        let chunks = self.chunks.into_inner().expect("nothing panics while recording rows");
        let nulls = chunks.into_iter().zip(&column.chunks).map(|(opened, values)| {
            let opened = opened.map(|mut bits| NullBuffer::new(bits.finish()));
            count += opened.as_ref().map_or(0, NullBuffer::null_count);
            NullBuffer::union(values.nulls().as_ref(), opened.as_ref())
        });
        (nulls.collect(), count)
    }
}

/// Returns whether the results need 64-bit offsets. `length` is the length of a result, at most `added` bytes more
/// than its value.
fn large(column: &Column, added: usize, length: impl Fn(&[u8]) -> usize) -> bool {
    let max = i32::MAX as usize;
    column.large
        || column.chunks.iter().any(|values| {
            let exact = || (0..values.len()).filter_map(|row| values.get(row)).map(&length).sum::<usize>();
            values.max_bytes() + values.len() * added > max && exact() > max
        })
}

/// Creates a slot for every row, and fills them by calling `batch` with a chunk, some of its rows, the offsets of all
/// slots of the chunk, the slots of those rows, and the task's nonces.
fn fill<O: OffsetSizeTrait>(
    py: Python<'_>,
    threads: usize,
    column: &Column,
    length: impl Fn(&[u8]) -> usize + Sync,
    batch: impl Fn(usize, Range<usize>, &[O], &mut [u8], &mut Nonces) -> Result<(), Failure> + Sync,
) -> PyResult<Result<Vec<Slots<O>>, Failure>> {
    let mut slots = py.detach(|| {
        let slots = column.chunks.iter().map(|values| {
            let lengths = (0..values.len()).map(|row| values.get(row).map_or(0, &length));
            Slots::new(lengths, values.len())
        });
        slots.collect::<PyResult<Vec<Slots<O>>>>()
    })?;
    let (offsets, tasks): (Vec<_>, Vec<_>) =
        slots.iter_mut().enumerate().map(|(chunk, slots)| slots.tasks(chunk)).unzip();
    let tasks: Vec<Task<'_>> = tasks.into_iter().flatten().collect();
    let failure = work::run(py, threads, tasks, |Task { chunk, rows, mut out }| {
        let offsets = offsets[chunk];
        let mut nonces = Nonces::default();
        let mut start = rows.start;
        while start < rows.end {
            let end = (start + BATCH).min(rows.end);
            let (own, rest) = out.split_at_mut(offsets[end].as_usize() - offsets[start].as_usize());
            out = rest;
            batch(chunk, start..end, offsets, own, &mut nonces)?;
            start = end;
        }
        Ok(())
    })?;
    Ok(failure.map_or(Ok(slots), Err))
}

#[inline]
fn slot<O: OffsetSizeTrait>(offsets: &[O], row: usize) -> usize {
    offsets[row + 1].as_usize() - offsets[row].as_usize()
}

/// Seals every value of an Arrow column under the keyset's primary key.
#[pyfunction]
#[pyo3(
    signature = (array, keyset, *, context = Bytes::Borrowed(b""), row_ids = None, threads = None),
    text_signature = "(array, keyset, *, context=b'', row_ids=None, threads=None)"
)]
pub(crate) fn seal_column<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    keyset: &Bound<'py, Keyset>,
    context: Bytes<'_>,
    row_ids: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    const NAME: &str = "seal_column";
    let keyset = keyset.get();
    let threads = work::threads(threads)?;
    let column = Column::import(array, NAME)?;
    let context = Context::new(&context, row_ids, &column, NAME)?;
    let key = keyset.primary_key();
    key.count(column.values() as u64)?;
    let overhead = key.kind.overhead();
    let chunks = if py.detach(|| large(&column, overhead, |value| value.len() + overhead)) {
        sealed::<i64>(py, threads, &column, key, &context)?
    } else {
        sealed::<i32>(py, threads, &column, key, &context)?
    };
    let chunks = chunks.map_err(|failure| failure.raise(keyset))?;
    column.export(array, chunks, &DataType::Binary)
}

fn sealed<O: OffsetSizeTrait>(
    py: Python<'_>,
    threads: usize,
    column: &Column,
    key: &NamedKey,
    context: &Context<'_>,
) -> PyResult<Result<Vec<ArrayRef>, Failure>> {
    let overhead = key.kind.overhead();
    let slots = fill::<O>(
        py,
        threads,
        column,
        |value| value.len() + overhead,
        |chunk, rows, offsets, out, nonces| {
            let values = &column.chunks[chunk];
            let aads = context.aads(chunk, rows.clone());
            let start = rows.start;
            envelope::seal(key, nonces, rows, |row| values.get(row), |row| slot(offsets, row), &aads, out)
                .map_err(|error| Failure::of_sealing(chunk, start, error))
        },
    )?;
    Ok(slots.map(|slots| {
        slots.into_iter().zip(&column.chunks).map(|(slots, values)| slots.binary(values.nulls())).collect()
    }))
}

/// Opens every value of a sealed Arrow column.
#[pyfunction]
#[pyo3(
    signature = (array, keyset, *, context = Bytes::Borrowed(b""), row_ids = None, forged = "raise", as_type = "binary", threads = None),
    text_signature = "(array, keyset, *, context=b'', row_ids=None, forged='raise', as_type='binary', threads=None)"
)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn open_column<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    keyset: &Bound<'py, Keyset>,
    context: Bytes<'_>,
    row_ids: Option<&Bound<'py, PyAny>>,
    forged: &str,
    as_type: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Options { function: "open_column", forged, threads };
    Ok(open_with(py, array, keyset.get(), &context, row_ids, as_type, options)?.0)
}

/// Opens a column with nulls for values that do not open, and counts them.
#[pyfunction]
#[pyo3(
    signature = (array, keyset, *, context = Bytes::Borrowed(b""), row_ids = None, as_type = "binary", threads = None),
    text_signature = "(array, keyset, *, context=b'', row_ids=None, as_type='binary', threads=None)"
)]
pub(crate) fn open_column_counted<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    keyset: &Bound<'py, Keyset>,
    context: Bytes<'_>,
    row_ids: Option<&Bound<'py, PyAny>>,
    as_type: &str,
    threads: Option<usize>,
) -> PyResult<(Bound<'py, PyAny>, usize)> {
    let options = Options { function: "open_column_counted", forged: "null", threads };
    open_with(py, array, keyset.get(), &context, row_ids, as_type, options)
}

/// The name of the function, and its options.
struct Options<'a> {
    function: &'static str,
    forged: &'a str,
    threads: Option<usize>,
}

fn open_with<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    keyset: &Keyset,
    context: &[u8],
    row_ids: Option<&Bound<'py, PyAny>>,
    as_type: &str,
    Options { function, forged, threads }: Options<'_>,
) -> PyResult<(Bound<'py, PyAny>, usize)> {
    let text = match as_type {
        "binary" => false,
        "utf8" => true,
        _ => return Err(PyValueError::new_err(format!("as_type={as_type:?}; use \"binary\" or \"utf8\""))),
    };
    let threads = work::threads(threads)?;
    let column = Column::sealed(array, function)?;
    let context = Context::new(context, row_ids, &column, function)?;
    let unopened = Unopened::new(Forged::parse(forged)?, &column);
    let (chunks, count) = if py.detach(|| large(&column, 0, |value| envelope::opened_bytes(keyset, value))) {
        opened::<i64>(py, threads, &column, keyset, &context, unopened, text)?
    } else {
        opened::<i32>(py, threads, &column, keyset, &context, unopened, text)?
    };
    let empty = if text { DataType::Utf8 } else { DataType::Binary };
    Ok((column.export(array, chunks, &empty)?, count))
}

fn opened<O: OffsetSizeTrait>(
    py: Python<'_>,
    threads: usize,
    column: &Column,
    keyset: &Keyset,
    context: &Context<'_>,
    unopened: Unopened,
    text: bool,
) -> PyResult<(Vec<ArrayRef>, usize)> {
    let slots = fill::<O>(
        py,
        threads,
        column,
        |value| envelope::opened_bytes(keyset, value),
        |chunk, rows, offsets, out, _| {
            let values = &column.chunks[chunk];
            let aads = context.aads(chunk, rows.clone());
            let start = rows.start;
            let rows =
                envelope::open(keyset, rows, |row| values.get(row), |row| slot(offsets, row), &aads, out)
                    .map_err(|error| Failure::Misuse { chunk, row: start, error })?;
            unopened.record(chunk, values.len(), &rows)
        },
    )?;
    let slots = slots.map_err(|failure| failure.raise(keyset))?;
    let (nulls, count) = unopened.nulls(column);
    let chunks = slots.into_iter().zip(nulls).enumerate().map(|(chunk, (slots, nulls))| {
        if text {
            py.detach(|| slots.text(nulls)).map_err(|row| not_text(chunk, row))
        } else {
            Ok(slots.binary(nulls))
        }
    });
    Ok((chunks.collect::<PyResult<_>>()?, count))
}

fn not_text(chunk: usize, row: usize) -> PyErr {
    PyValueError::new_err(format!(
        "chunk {chunk}, row {row}: the value is not UTF-8; use as_type=\"binary\" to get its bytes"
    ))
}

/// Opens a column and seals it again under the keyset's primary key.
#[pyfunction]
#[pyo3(
    signature = (array, keyset, *, context = Bytes::Borrowed(b""), row_ids = None, new_context = None, new_row_ids = None, forged = "raise", threads = None),
    text_signature = "(array, keyset, *, context=b'', row_ids=None, new_context=None, new_row_ids=None, forged='raise', threads=None)"
)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn reseal_column<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    keyset: &Bound<'py, Keyset>,
    context: Bytes<'_>,
    row_ids: Option<&Bound<'py, PyAny>>,
    new_context: Option<Bytes<'_>>,
    new_row_ids: Option<&Bound<'py, PyAny>>,
    forged: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    const NAME: &str = "reseal_column";
    let keyset = keyset.get();
    let threads = work::threads(threads)?;
    let column = Column::sealed(array, NAME)?;
    let new =
        Context::new(new_context.as_deref().unwrap_or(&context), new_row_ids.or(row_ids), &column, NAME)?;
    let old = Context::new(&context, row_ids, &column, NAME)?;
    let unopened = Unopened::new(Forged::parse(forged)?, &column);
    keyset.primary_key().count(column.values() as u64)?;
    let overhead = keyset.primary_key().kind.overhead();
    let chunks =
        if py.detach(|| large(&column, overhead, |value| envelope::opened_bytes(keyset, value) + overhead)) {
            resealed::<i64>(py, threads, &column, keyset, [&old, &new], unopened)?
        } else {
            resealed::<i32>(py, threads, &column, keyset, [&old, &new], unopened)?
        };
    column.export(array, chunks, &DataType::Binary)
}

fn resealed<O: OffsetSizeTrait>(
    py: Python<'_>,
    threads: usize,
    column: &Column,
    keyset: &Keyset,
    [old, new]: [&Context<'_>; 2],
    unopened: Unopened,
) -> PyResult<Vec<ArrayRef>> {
    let key = keyset.primary_key();
    let overhead = key.kind.overhead();
    let slots = fill::<O>(
        py,
        threads,
        column,
        |value| envelope::opened_bytes(keyset, value) + overhead,
        |chunk, rows, offsets, out, nonces| {
            let values = &column.chunks[chunk];
            let start = rows.start;
            let misuse = |error| Failure::Misuse { chunk, row: start, error };
            // The concatenated opened values of the batch.
            let length = |row| slot(offsets, row).saturating_sub(overhead);
            let mut ends = Vec::with_capacity(rows.len() + 1);
            ends.push(0);
            ends.extend(rows.clone().scan(0, |end, row| {
                *end += length(row);
                Some(*end)
            }));
            let mut plain = Zeroizing::new(vec![0; ends[rows.len()]]);
            let aads = old.aads(chunk, rows.clone());
            let bad = envelope::open(keyset, rows.clone(), |row| values.get(row), length, &aads, &mut plain)
                .map_err(misuse)?;
            unopened.record(chunk, values.len(), &bad)?;
            let value = |row: usize| {
                let bad = bad.binary_search_by_key(&row, |(row, _)| *row).is_ok();
                (!bad && values.get(row).is_some()).then(|| &plain[ends[row - start]..ends[row - start + 1]])
            };
            let aads = new.aads(chunk, rows.clone());
            envelope::seal(key, nonces, rows, value, |row| slot(offsets, row), &aads, out)
                .map_err(|error| Failure::of_sealing(chunk, start, error))
        },
    )?;
    let slots = slots.map_err(|failure| failure.raise(keyset))?;
    let (nulls, _) = unopened.nulls(column);
    Ok(slots.into_iter().zip(nulls).map(|(slots, nulls)| slots.binary(nulls)).collect())
}

/// Counts the values of a sealed column by key id. Returns `None` if any value is not a sealed value.
#[pyfunction]
pub(crate) fn inspect_column(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
) -> PyResult<Option<BTreeMap<u32, usize>>> {
    let (arrays, _, data_type, _) = arrays(array, "inspect_column")?;
    if Values::new(&arrow_array::new_empty_array(&data_type)).is_none() {
        return Ok(None);
    }
    py.detach(|| {
        let mut counts = BTreeMap::new();
        for values in arrays.iter().filter_map(Values::new) {
            for value in (0..values.len()).filter_map(|row| values.get(row)) {
                let Some(id) = envelope::key_id(value) else { return Ok(None) };
                *counts.entry(id).or_default() += 1;
            }
        }
        Ok(Some(counts))
    })
}
