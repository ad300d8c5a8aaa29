//! What binds a value to its place: the context of its column and the id of its row.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryArray, new_empty_array};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use arrow_select::concat::concat;

use crate::envelope::Aads;
use crate::error::Error;
use crate::values::Values;

/// What a column's values are bound to. A value opens only with the binding that it was sealed with.
///
/// Without row ids, the AAD of a value is the context. With row ids, it is the size of the context in bytes (8 bytes,
/// big-endian), the context and the id of the row. In a list or a map, the index of the element in its list (8 bytes,
/// big-endian) follows for each level. The context of a leaf of a nested column is the column's context, a dot, and the
/// leaf's path (without the dot, if the column's context is empty).
#[derive(Clone, Copy, Debug, Default)]
pub struct Binding<'a> {
    /// The bytes that all values of the column share; empty by default.
    pub context: &'a [u8],
    /// An id for each row, without nulls: bytes, text, or integers, which become 8 bytes in big-endian order. The chunks
    /// may differ from those of the column.
    pub row_ids: Option<&'a [ArrayRef]>,
}

/// The row ids of a chunk.
pub(crate) enum Ids {
    Bytes(Values),
    Integers(Box<dyn Fn(usize) -> [u8; 8] + Send + Sync>),
}

impl Ids {
    /// Converts row ids. Integers become 8 bytes, so the width of the column may change.
    ///
    /// # Errors
    /// [`Error::Type`] if they are not integers, bytes or text.
    fn new(array: &ArrayRef) -> Result<Self, Error> {
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
                Error::Type(format!("row_ids has type {other}; cast it to integers, bytes or text"))
            })?),
        })
    }

    /// Appends the id of a row.
    fn append(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Self::Bytes(values) => out.extend_from_slice(values.bytes(row)),
            Self::Integers(id) => out.extend_from_slice(&id(row)),
        }
    }

    /// Returns the ids of the elements of lists with these lengths: the id of the row, and the index in the list.
    ///
    /// # Errors
    /// [`Error::Invalid`] if they have more than 2 GiB.
    pub(crate) fn of_elements(&self, lengths: impl Iterator<Item = usize>) -> Result<Self, Error> {
        let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
        for (row, length) in lengths.enumerate() {
            for index in 0..length as u64 {
                self.append(row, &mut bytes);
                bytes.extend_from_slice(&index.to_be_bytes());
                offsets.push(i32::try_from(bytes.len()).map_err(|_| {
                    Error::Invalid(
                        "the row ids of a chunk's elements have more than 2 GiB; use shorter chunks".into(),
                    )
                })?);
            }
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(Self::Bytes(Values::Binary(BinaryArray::new(offsets, Buffer::from_vec(bytes), None))))
    }

    /// The ids of a column with chunks of these lengths. Those of nulls are arbitrary.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the number of ids is another one; [`Error::Type`] if they are of another type.
    pub(crate) fn of_chunks(ids: &[ArrayRef], lengths: &[usize]) -> Result<Vec<Arc<Self>>, Error> {
        let (rows, got) = (lengths.iter().sum::<usize>(), ids.iter().map(Array::len).sum::<usize>());
        if rows != got {
            return Err(Error::Invalid(format!("{got} row_ids for {rows} rows; expected one per row")));
        }
        aligned(ids, lengths)?.iter().map(|ids| Self::new(ids).map(Arc::new)).collect()
    }
}

/// Checks that every row has an id.
///
/// # Errors
/// [`Error::Invalid`] if this is not the case.
pub(crate) fn check_ids(ids: &[ArrayRef]) -> Result<(), Error> {
    if ids.iter().any(|array| array.logical_null_count() > 0) {
        return Err(Error::Invalid("row_ids contains nulls; every row needs an id".into()));
    }
    Ok(())
}

/// Returns the nulls of row ids, in chunks of these lengths.
pub(crate) fn nulls_of_ids(ids: &[ArrayRef], lengths: &[usize]) -> Result<Vec<Option<NullBuffer>>, Error> {
    if ids.iter().all(|array| array.logical_null_count() == 0)
        || ids.iter().map(Array::len).sum::<usize>() != lengths.iter().sum::<usize>()
    {
        return Ok(vec![None; lengths.len()]);
    }
    Ok(aligned(ids, lengths)?.iter().map(Array::logical_nulls).collect())
}

/// Returns the ids of the elements of lists with these lengths, to which [`seal`](crate::seal) binds the elements: for
/// each, the id of the row, and the index in the list (8 bytes, big-endian).
///
/// # Errors
/// [`Error::Type`] if the row ids are not integers, bytes or text; [`Error::Invalid`] if they contain nulls, are not one
/// per list, or the result has more than 2 GiB.
pub fn element_ids(row_ids: &[ArrayRef], lengths: &[usize]) -> Result<BinaryArray, Error> {
    check_ids(row_ids)?;
    let ids = Ids::of_chunks(row_ids, &[lengths.len()])?;
    match ids[0].of_elements(lengths.iter().copied())? {
        Ids::Bytes(Values::Binary(ids)) => Ok(ids),
        _ => unreachable!("the ids of elements are bytes"),
    }
}

/// Splits row ids into chunks of these lengths.
fn aligned(ids: &[ArrayRef], lengths: &[usize]) -> Result<Vec<ArrayRef>, Error> {
    if ids.iter().map(Array::len).eq(lengths.iter().copied()) {
        return Ok(ids.to_vec());
    }
    let ids = match ids {
        // All chunks are empty.
        [] => return Ok(vec![new_empty_array(&DataType::Binary); lengths.len()]),
        [one] => one.clone(),
        several => concat(&several.iter().map(AsRef::as_ref).collect::<Vec<_>>())?,
    };
    let mut start = 0;
    let slices = lengths.iter().map(|&length| {
        start += length;
        ids.slice(start - length, length)
    });
    Ok(slices.collect())
}

/// The binding of a leaf.
pub(crate) struct Context {
    context: Vec<u8>,
    /// The row ids, chunked as the leaf.
    ids: Option<Vec<Arc<Ids>>>,
}

impl Context {
    /// The binding of the leaf with this path, which is empty unless the column is nested.
    pub(crate) fn new(column: &[u8], path: &str, ids: Option<Vec<Arc<Ids>>>) -> Self {
        let mut context = column.to_vec();
        if !column.is_empty() && !path.is_empty() {
            context.push(b'.');
        }
        context.extend_from_slice(path.as_bytes());
        Self { context, ids }
    }

    /// Returns the AAD of some rows of a chunk.
    pub(crate) fn aads(&self, chunk: usize, rows: Range<usize>) -> Aads<'_> {
        let Some(ids) = &self.ids else { return Aads::Same(&self.context) };
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(rows.len()));
        for row in rows {
            bytes.extend_from_slice(&(self.context.len() as u64).to_be_bytes());
            bytes.extend_from_slice(&self.context);
            ids[chunk].append(row, &mut bytes);
            ends.push(bytes.len());
        }
        Aads::Each(bytes, ends)
    }
}
