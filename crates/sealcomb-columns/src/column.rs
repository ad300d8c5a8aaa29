//! Sealing, unsealing, resealing and inspecting columns.
//!
//! ```text
//! for each leaf of the column:               a column that is not nested is its only leaf
//!     allocate a slot for each value
//!     seal or open the values into the slots, in batches, on several threads
//! put the leaves together
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_buffer::{MutableBuffer, NullBuffer};
use arrow_schema::{DataType, Field, FieldRef};
use sealcomb::BatchError;
use zeroize::Zeroizing;

use crate::binding::{Binding, Context, Ids, check_ids, nulls_of_ids};
use crate::domain::{Outside, first_outside};
use crate::envelope::{self, SealError};
use crate::error::{Error, Mismatch, Reason, UnopenedRow, place};
use crate::keyset::{Keyset, NamedKey};
use crate::leaves::{self, sealed_leaves};
use crate::nested;
use crate::slots::{Slots, fill, large, slot};
use crate::threads::Threads;
use crate::types::{self, Storage};
use crate::values::Values;

/// A column, in chunks of one type.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name, type and metadata of the column.
    pub field: FieldRef,
    /// The chunks, whose type is that of the field.
    pub chunks: Vec<ArrayRef>,
}

/// What to do with a value that does not open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forged {
    /// Fail with [`Error::Unopened`].
    #[default]
    Raise,
    /// Replace it by a null, whatever the reason: no value makes the call fail.
    Null,
}

/// How to unseal a column.
#[derive(Clone, Debug, Default)]
pub struct Unsealing {
    /// What to do with values that do not open.
    pub forged: Forged,
    /// The type of the result. If the column is nested, it is that of each leaf, or a type that is nested like the column;
    /// the kinds of its lists then stay those of the column. If `None`, it is the type in the field's metadata, or `Binary`
    /// without metadata.
    pub as_type: Option<DataType>,
    /// The paths of the leaves of a nested column that were never sealed ([`leaf_paths`](crate::leaf_paths)). They are
    /// returned as they are, and nothing about them is verified. Every other leaf must open.
    pub plain: Vec<String>,
}

/// How to reseal a column.
#[derive(Clone, Debug, Default)]
pub struct Resealing {
    /// What to do with values that do not open.
    pub forged: Forged,
    /// The paths of the leaves that were never sealed, as in [`Unsealing`]. They stay as they are.
    pub plain: Vec<String>,
}

/// An unsealed column.
#[derive(Clone, Debug)]
pub struct Unsealed {
    /// The result.
    pub column: Column,
    /// The number of values that did not open, and are null in the result.
    pub unopened: usize,
}

/// A leaf of a column.
struct Leaf {
    /// Empty if the column is not nested.
    path: String,
    field: Field,
    chunks: Vec<ArrayRef>,
    /// The ids of the rows of each chunk.
    ids: Option<Vec<Arc<Ids>>>,
    /// The position among the leaves of the column.
    index: usize,
    /// The plain chunks of the column.
    columns: Vec<ArrayRef>,
}

impl Leaf {
    /// The row of the column, in its chunk, to which a value of the leaf belongs.
    fn row(&self, chunk: usize, value: usize) -> usize {
        nested::row_of(&self.columns[chunk], self.index, value)
    }

    fn place(&self, chunk: usize, value: usize) -> String {
        place(chunk, self.row(chunk, value), &self.path)
    }

    fn misuse(&self, chunk: usize, start: usize, error: BatchError) -> Error {
        Error::Invalid(format!("{}: {}", self.place(chunk, start + error.index()), error.error()))
    }

    /// The error of a value that did not open.
    fn unopened(&self, chunk: usize, value: usize, keyset: &Keyset, reason: Reason) -> Error {
        let (row, path, message) = (self.row(chunk, value), self.path.clone(), message(keyset, reason));
        Error::Unopened(UnopenedRow { chunk, row, path, reason, message })
    }

    /// The error of sealing a batch that begins at a value of a chunk.
    fn seal_error(&self, chunk: usize, start: usize, error: SealError) -> Error {
        match error {
            SealError::Batch(error) => self.misuse(chunk, start, error),
            SealError::Random(error) => error.into(),
        }
    }

    fn context(&self, context: &[u8], ids: Option<Vec<Arc<Ids>>>) -> Context {
        Context::new(context, &self.path, ids)
    }

    /// Whether the type has 64-bit offsets, as the result then has, too.
    fn is_large(&self) -> bool {
        matches!(self.field.data_type(), DataType::LargeBinary | DataType::LargeUtf8)
    }

    /// The values of a sealed leaf.
    ///
    /// # Errors
    /// [`Error::Type`] if a chunk is not binary, unlike the leaf's field.
    fn sealed(&self) -> Result<Vec<Values>, Error> {
        let values = |array: &ArrayRef| {
            Values::new(array)
                .ok_or_else(|| Error::Type(format!("a sealed column is binary, not {}", array.data_type())))
        };
        self.chunks.iter().map(values).collect()
    }

    /// Checks that a leaf that stays as it is has the type that the caller expects.
    fn check_type(&self, expected: Option<&DataType>) -> Result<(), Error> {
        match expected {
            Some(expected) if expected != self.field.data_type() => Err(Error::Type(format!(
                "as_type gives the leaf {:?} the type {expected}, but plain names it, and it has type {}",
                self.path,
                self.field.data_type()
            ))),
            _ => Ok(()),
        }
    }

    /// The field and chunks of a leaf that stays as it is.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it holds sealed values.
    fn unchanged(&self, keyset: &Keyset) -> Result<(Field, Vec<ArrayRef>), Error> {
        let chunks: Option<Vec<_>> = self.chunks.iter().map(Values::new).collect();
        chunks.map_or(Ok(()), |chunks| leaves::check_plain(&self.path, &chunks, keyset))?;
        Ok((self.field.clone(), self.chunks.clone()))
    }
}

/// The leaves of a column, and its plain chunks.
struct Parts {
    chunks: Vec<ArrayRef>,
    leaves: Vec<Leaf>,
}

/// Returns the leaves of plain chunks.
fn take_apart(field: &Field, chunks: &[ArrayRef], row_ids: Option<&[ArrayRef]>) -> Result<Vec<Leaf>, Error> {
    let ids = ids_of(row_ids, chunks)?;
    let leaf = |(index, (path, field))| Leaf {
        path,
        field,
        chunks: Vec::with_capacity(chunks.len()),
        ids: ids.as_ref().map(|ids| Vec::with_capacity(ids.len())),
        index,
        columns: chunks.to_vec(),
    };
    let mut leaves: Vec<Leaf> = nested::leaves(field).into_iter().enumerate().map(leaf).collect();
    for (chunk, array) in chunks.iter().enumerate() {
        let mut parts = Vec::with_capacity(leaves.len());
        nested::take_apart(array, ids.as_ref().map(|ids| &ids[chunk]), &mut parts)?;
        for (leaf, (array, ids)) in leaves.iter_mut().zip(parts) {
            leaf.chunks.push(array);
            if let (Some(all), Some(ids)) = (&mut leaf.ids, ids) {
                all.push(ids);
            }
        }
    }
    Ok(leaves)
}

impl Parts {
    fn new(column: &Column, row_ids: Option<&[ArrayRef]>) -> Result<Self, Error> {
        row_ids.map_or(Ok(()), check_ids)?;
        nested::check_leaves(&column.field)?;
        let chunks = column.chunks.iter().map(nested::plain).collect::<Result<Vec<_>, _>>()?;
        let leaves = take_apart(&column.field, &chunks, row_ids)?;
        Ok(Self { chunks, leaves })
    }

    /// The parts of a column to open under these row ids. With [`Forged::Null`], rows whose id is null are null. Returns
    /// the number of those that have a value, too.
    fn to_open(column: &Column, ids: &[Option<&[ArrayRef]>], forged: Forged) -> Result<(Self, usize), Error> {
        let row_ids = ids.first().copied().flatten();
        if forged == Forged::Raise {
            ids.iter().flatten().try_for_each(|ids| check_ids(ids))?;
            return Ok((Self::new(column, row_ids)?, 0));
        }
        nested::check_leaves(&column.field)?;
        let lengths: Vec<usize> = column.chunks.iter().map(Array::len).collect();
        let mut chunks = column.chunks.iter().map(nested::plain).collect::<Result<Vec<_>, _>>()?;
        let mut unopened = 0;
        for ids in ids.iter().flatten() {
            for (chunk, nulls) in chunks.iter_mut().zip(nulls_of_ids(ids, &lengths)?) {
                let before = chunk.logical_null_count();
                *chunk = nested::plain_below(chunk, nulls.as_ref())?;
                unopened += chunk.logical_null_count() - before;
            }
        }
        let leaves = take_apart(&column.field, &chunks, row_ids)?;
        Ok((Self { chunks, leaves }, unopened))
    }

    /// Puts the results of the leaves together.
    fn column(self, column: &Column, results: Vec<(Field, Vec<ArrayRef>)>) -> Result<Column, Error> {
        let (fields, arrays): (Vec<_>, Vec<_>) = results.into_iter().unzip();
        let mut field = nested::with_leaves(&column.field, &mut fields.into_iter());
        let put_together = |field: &Field| -> Result<Vec<ArrayRef>, Error> {
            let chunks = self.chunks.iter().enumerate().map(|(index, chunk)| {
                nested::put_together(chunk, field, &mut arrays.iter().map(|chunks| chunks[index].clone()))
            });
            chunks.collect()
        };
        let mut chunks = put_together(&field)?;
        // Nulls in a chunk make its fields nullable, and then those of every chunk.
        for chunk in &chunks {
            field = nested::nullable_like(&field, chunk.data_type(), chunk.null_count() > 0);
        }
        if chunks.iter().any(|chunk| chunk.data_type() != field.data_type()) {
            chunks = put_together(&field)?;
        }
        Ok(Column { field: Arc::new(field), chunks })
    }
}

fn ids_of(row_ids: Option<&[ArrayRef]>, chunks: &[ArrayRef]) -> Result<Option<Vec<Arc<Ids>>>, Error> {
    let lengths: Vec<usize> = chunks.iter().map(Array::len).collect();
    row_ids.map(|ids| Ids::of_chunks(ids, &lengths)).transpose()
}

fn values(chunks: &[ArrayRef]) -> u64 {
    chunks.iter().map(|chunk| (chunk.len() - chunk.logical_null_count()) as u64).sum()
}

/// Seals every value of a column under the keyset's primary key.
///
/// The result has binary values in the places of the column's. Nulls stay null. The metadata of each leaf's field
/// contains its type ([`TYPE_KEY`](crate::TYPE_KEY)).
///
/// # Errors
/// [`Error::LimitReached`] if the key may not seal as many values; [`Error::Invalid`] if a value is too long, or the row
/// ids do not fit the column; [`Error::Memory`], [`Error::Random`] or [`Error::Interrupted`].
pub fn seal(
    column: &Column,
    keyset: &Keyset,
    binding: Binding<'_>,
    threads: Threads<'_>,
) -> Result<Column, Error> {
    seal_leaves(column, keyset, binding, &|_| true, threads)
}

/// Seals like [`seal`], but only the leaves for whose path `selected` returns true ([`leaf_paths`](crate::leaf_paths)).
///
/// # Errors
/// Those of [`seal`].
pub fn seal_leaves(
    column: &Column,
    keyset: &Keyset,
    binding: Binding<'_>,
    selected: &dyn Fn(&str) -> bool,
    threads: Threads<'_>,
) -> Result<Column, Error> {
    let parts = Parts::new(column, binding.row_ids)?;
    let key = keyset.primary_key();
    let is_sealed = |leaf: &&Leaf| selected(&leaf.path);
    key.count(parts.leaves.iter().filter(is_sealed).map(|leaf| values(&leaf.chunks)).sum())?;
    let seal = |leaf: &Leaf| {
        if selected(&leaf.path) {
            seal_leaf(leaf, key, binding.context, threads)
        } else {
            Ok((leaf.field.clone(), leaf.chunks.clone()))
        }
    };
    let results = parts.leaves.iter().map(seal).collect::<Result<_, _>>()?;
    parts.column(column, results)
}

fn seal_leaf(
    leaf: &Leaf,
    key: &NamedKey,
    context: &[u8],
    threads: Threads<'_>,
) -> Result<(Field, Vec<ArrayRef>), Error> {
    for (chunk, array) in leaf.chunks.iter().enumerate() {
        if let Some((value, what)) = first_outside(array) {
            let place = leaf.place(chunk, value);
            return Err(Error::Invalid(format!(
                "{place}: the value is not {what}, so it would not open as one; cast the column to integers first"
            )));
        }
    }
    let chunks = leaf.chunks.iter().map(types::encode).collect::<Result<Vec<_>, _>>()?;
    let context = leaf.context(context, leaf.ids.clone());
    let overhead = key.kind.overhead();
    let length = |value: Option<&[u8]>| value.map_or(0, |value| value.len() + overhead);
    let is_large = leaf.is_large() || large(&chunks, overhead, length);
    let arrays = if is_large {
        sealed::<i64>(threads, leaf, &chunks, key, &context)?
    } else {
        sealed::<i32>(threads, leaf, &chunks, key, &context)?
    };
    let data_type = if is_large { DataType::LargeBinary } else { DataType::Binary };
    Ok((types::sealed_field(&leaf.field, data_type), arrays))
}

fn sealed<O: OffsetSizeTrait>(
    threads: Threads<'_>,
    leaf: &Leaf,
    chunks: &[Values],
    key: &NamedKey,
    context: &Context,
) -> Result<Vec<ArrayRef>, Error> {
    let overhead = key.kind.overhead();
    let slots = fill::<O>(
        threads,
        chunks,
        |value| value.map_or(0, |value| value.len() + overhead),
        |chunk, rows, offsets, out, nonces| {
            let values = &chunks[chunk];
            let aads = context.aads(chunk, rows.clone());
            let start = rows.start;
            envelope::seal(key, nonces, rows, |row| values.get(row), |row| slot(offsets, row), &aads, out)
                .map_err(|error| leaf.seal_error(chunk, start, error))
        },
    )?;
    Ok(slots.into_iter().zip(chunks).map(|(slots, values)| slots.binary(values.nulls())).collect())
}

/// Opens every value of a sealed column.
///
/// In a nested column, every leaf is opened, except for those that [`Unsealing::plain`] names
/// ([`sealed_leaves`](crate::sealed_leaves)).
///
/// # Errors
/// Those of [`sealed_leaves`](crate::sealed_leaves), whatever [`Forged`] says; [`Error::Type`] if [`Unsealing::as_type`] is
/// nested otherwise than the column; [`Error::Invalid`] if the row ids do not fit the column, or [`Unsealing::plain`] names
/// a leaf of sealed values; [`Error::Memory`] or [`Error::Interrupted`]. Unless [`Forged::Null`] is given, also
/// [`Error::Unopened`] for the first value that does not open, and [`Error::Invalid`] if a row id is null.
///
/// With [`Forged::Null`], no sealed value makes the call fail. In the place of a map with a key that does not open is a null.
pub fn unseal(
    column: &Column,
    keyset: &Keyset,
    binding: Binding<'_>,
    unsealing: Unsealing,
    threads: Threads<'_>,
) -> Result<Unsealed, Error> {
    let Unsealing { forged, as_type, plain } = unsealing;
    let is_sealed = sealed_leaves(&column.field, &plain)?;
    let types =
        as_type.as_ref().map(|as_type| nested::types_of_leaves(&column.field, as_type)).transpose()?;
    let is_nested = as_type.is_some_and(|as_type| as_type.is_nested());
    let (parts, mut count) = Parts::to_open(column, &[binding.row_ids], forged)?;
    let open = |leaf: &Leaf| {
        let as_type = types.as_ref().map(|types| &types[leaf.index]);
        if !is_sealed[leaf.index] {
            leaf.check_type(as_type.filter(|_| is_nested))?;
            return leaf.unchanged(keyset);
        }
        let data_type = match as_type {
            Some(data_type) => data_type.clone(),
            None => types::sealed_type(&leaf.field)?.unwrap_or(DataType::Binary),
        };
        let leaf = OpenedLeaf {
            keyset,
            chunks: leaf.sealed()?,
            context: leaf.context(binding.context, leaf.ids.clone()),
            storage: Storage::of(&data_type)?,
            data_type,
            leaf,
        };
        let (field, arrays, unopened) = leaf.open(forged, threads)?;
        count += unopened;
        Ok((field, arrays))
    };
    let results = parts.leaves.iter().map(open).collect::<Result<_, Error>>()?;
    Ok(Unsealed { column: parts.column(column, results)?, unopened: count })
}

/// A leaf to open.
struct OpenedLeaf<'a> {
    keyset: &'a Keyset,
    leaf: &'a Leaf,
    chunks: Vec<Values>,
    context: Context,
    data_type: DataType,
    storage: Storage,
}

impl OpenedLeaf<'_> {
    /// Returns the field, the chunks, and the number of values that did not open.
    fn open(&self, forged: Forged, threads: Threads<'_>) -> Result<(Field, Vec<ArrayRef>, usize), Error> {
        let is_large = self.leaf.is_large()
            || matches!(self.storage, Storage::Bytes { large: true } | Storage::Text { large: true })
            || large(&self.chunks, self.storage.width().unwrap_or(0), |value| self.length(value));
        let unopened = Unopened::new(forged, self.leaf, self.keyset);
        let (arrays, mut count) = if is_large {
            self.opened::<i64>(unopened, threads)?
        } else {
            self.opened::<i32>(unopened, threads)?
        };
        let restored = |array: ArrayRef| {
            let before = array.logical_null_count();
            let restored = match forged {
                Forged::Raise => types::restore(array, &self.data_type, is_large)?,
                Forged::Null => types::restore_or_null(array, &self.data_type, is_large)?,
            };
            count += restored.logical_null_count() - before;
            Ok(restored)
        };
        let arrays = arrays.into_iter().map(restored).collect::<Result<Vec<_>, Error>>()?;
        let data_type = arrays.first().map_or(&self.data_type, |array| array.data_type()).clone();
        Ok((types::opened_field(&self.leaf.field, data_type), arrays, count))
    }

    /// The size in bytes of the slot of a value.
    fn length(&self, value: Option<&[u8]>) -> usize {
        match self.storage.width() {
            Some(width) => width,
            None => value.map_or(0, |value| envelope::opened_bytes(self.keyset, value)),
        }
    }

    fn opened<O: OffsetSizeTrait>(
        &self,
        unopened: Unopened<'_>,
        threads: Threads<'_>,
    ) -> Result<(Vec<ArrayRef>, usize), Error> {
        let slots = fill::<O>(
            threads,
            &self.chunks,
            |value| self.length(value),
            |chunk, rows, offsets, out, _| {
                let values = &self.chunks[chunk];
                let aads = self.context.aads(chunk, rows.clone());
                let start = rows.start;
                let slot = |row| slot(offsets, row);
                let rows = envelope::open(self.keyset, rows, |row| values.get(row), slot, &aads, out)
                    .map_err(|error| self.leaf.misuse(chunk, start, error))?;
                unopened.record(chunk, values.len(), &rows)
            },
        )?;
        let forged = unopened.forged;
        let (nulls, mut count) = unopened.nulls(&self.chunks);
        let mut arrays = Vec::with_capacity(slots.len());
        for (chunk, (slots, nulls)) in slots.into_iter().zip(nulls).enumerate() {
            arrays.push(match forged {
                Forged::Raise => self.array(chunk, slots, nulls)?,
                Forged::Null => {
                    let (array, unopened) = self.array_with_nulls(chunk, slots, nulls);
                    count += unopened;
                    array
                }
            });
        }
        Ok((arrays, count))
    }

    fn array<O: OffsetSizeTrait>(
        &self,
        chunk: usize,
        slots: Slots<O>,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, Error> {
        let array = match &self.storage {
            Storage::Bytes { .. } | Storage::Null => Ok(slots.binary(nulls)),
            Storage::Text { .. } => slots.text(nulls),
            Storage::Fixed(_, stored) => {
                let rows = self.chunks[chunk].len();
                let (_, bytes) = slots.buffers();
                types::fixed(stored, bytes, rows, nulls, 1)
            }
        };
        array.map_err(|Outside { rows, what }| {
            self.leaf.unopened(chunk, rows[0], self.keyset, Reason::WrongType(Mismatch::Value(what)))
        })
    }

    /// Returns an array with nulls in the places of values that are none of the type, and their number.
    fn array_with_nulls<O: OffsetSizeTrait>(
        &self,
        chunk: usize,
        mut slots: Slots<O>,
        nulls: Option<NullBuffer>,
    ) -> (ArrayRef, usize) {
        let length = self.chunks[chunk].len();
        let without = |rows: &[usize]| {
            let mut fits = BooleanBufferBuilder::new(length);
            fits.append_n(length, true);
            for row in rows {
                fits.set_bit(*row, false);
            }
            NullBuffer::union(nulls.as_ref(), Some(&NullBuffer::new(fits.finish())))
        };
        match &self.storage {
            Storage::Bytes { .. } | Storage::Null => (slots.binary(nulls), 0),
            Storage::Text { .. } => {
                let rows = slots.zero_what_is_not_text();
                let nulls = if rows.is_empty() { nulls } else { without(&rows) };
                (slots.text(nulls).expect("zeros are UTF-8"), rows.len())
            }
            Storage::Fixed(width, stored) => {
                let (_, bytes) = slots.buffers();
                match types::fixed(stored, bytes.clone(), length, nulls.clone(), usize::MAX) {
                    Ok(array) => (array, 0),
                    Err(Outside { rows, .. }) => {
                        // Conversions expect values of the type in the places of nulls, too.
                        let mut zeroed = MutableBuffer::from_len_zeroed(bytes.len());
                        zeroed.copy_from_slice(&bytes);
                        for row in &rows {
                            zeroed[row * width..][..*width].fill(0);
                        }
                        let array = types::fixed(stored, zeroed.into(), length, without(&rows), 1);
                        (array.expect("all values that are none of the type are null"), rows.len())
                    }
                }
            }
        }
    }
}

/// The rows that did not open: for each chunk that has any, a bitmap in which they are false.
struct Unopened<'a> {
    forged: Forged,
    leaf: &'a Leaf,
    keyset: &'a Keyset,
    chunks: Mutex<Vec<Option<BooleanBufferBuilder>>>,
}

impl<'a> Unopened<'a> {
    fn new(forged: Forged, leaf: &'a Leaf, keyset: &'a Keyset) -> Self {
        Self { forged, leaf, keyset, chunks: Mutex::new(leaf.chunks.iter().map(|_| None).collect()) }
    }

    /// Records rows of a chunk of `length` rows that did not open.
    ///
    /// # Errors
    /// The first row, if they must be raised.
    fn record(&self, chunk: usize, length: usize, rows: &[(usize, Reason)]) -> Result<(), Error> {
        let Some(&(row, reason)) = rows.first() else { return Ok(()) };
        if self.forged == Forged::Raise {
            return Err(self.leaf.unopened(chunk, row, self.keyset, reason));
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
    fn nulls(self, chunks: &[Values]) -> (Vec<Option<NullBuffer>>, usize) {
        let mut count = 0;
        let unopened = self.chunks.into_inner().expect("nothing panics while recording rows");
        let nulls = unopened.into_iter().zip(chunks).map(|(opened, values)| {
            let opened = opened.map(|mut bits| NullBuffer::new(bits.finish()));
            count += opened.as_ref().map_or(0, NullBuffer::null_count);
            NullBuffer::union(values.nulls().as_ref(), opened.as_ref())
        });
        (nulls.collect(), count)
    }
}

/// What is wrong with a value that did not open, and what to do.
fn message(keyset: &Keyset, reason: Reason) -> String {
    match reason {
        Reason::Forged(id) => format!(
            "the value did not verify under key {id}: it was changed, or sealed with another context or row id; pass those \
             that it was sealed with, or forged=\"null\" for a null in its place"
        ),
        Reason::UnknownKey(id) => format!("the value was sealed under {}", keyset.missing(id)),
        Reason::NotSealed(bytes) => format!(
            "{bytes} bytes are not a sealed value: it was truncated, or never sealed; check the column with inspect_column"
        ),
        Reason::WrongType(Mismatch::Size(bytes)) => format!(
            "the value holds {bytes} bytes, which values of the type never have; pass the type that was sealed as as_type, \
             or \"binary\""
        ),
        Reason::WrongType(Mismatch::Value(what)) => {
            format!("the value is not {what}; use as_type=\"binary\" to get its bytes")
        }
    }
}

/// Opens a column and seals it again under the keyset's primary key: after a rotation, or to bind its values elsewhere.
///
/// Types and metadata stay. Values are in memory in between, a batch at a time, and zeroized.
///
/// # Errors
/// Those of [`unseal`] and [`seal`].
pub fn reseal(
    column: &Column,
    keyset: &Keyset,
    [old, new]: [Binding<'_>; 2],
    Resealing { forged, plain }: Resealing,
    threads: Threads<'_>,
) -> Result<Unsealed, Error> {
    let is_sealed = sealed_leaves(&column.field, &plain)?;
    let (parts, mut count) = Parts::to_open(column, &[old.row_ids, new.row_ids], forged)?;
    let new_leaves = take_apart(&column.field, &parts.chunks, new.row_ids)?;
    let key = keyset.primary_key();
    let sealed = parts.leaves.iter().filter(|leaf| is_sealed[leaf.index]);
    key.count(sealed.map(|leaf| values(&leaf.chunks)).sum())?;
    let reseal = |(leaf, new_leaf): (&Leaf, &Leaf)| {
        if !is_sealed[leaf.index] {
            return leaf.unchanged(keyset);
        }
        let resealed = ResealedLeaf {
            keyset,
            chunks: leaf.sealed()?,
            old: leaf.context(old.context, leaf.ids.clone()),
            new: leaf.context(new.context, new_leaf.ids.clone()),
            leaf,
        };
        let is_large =
            leaf.is_large() || large(&resealed.chunks, key.kind.overhead(), |value| resealed.length(value));
        let unopened = Unopened::new(forged, leaf, keyset);
        let (arrays, unopened) = if is_large {
            resealed.reseal::<i64>(unopened, threads)?
        } else {
            resealed.reseal::<i32>(unopened, threads)?
        };
        count += unopened;
        let data_type = if is_large { DataType::LargeBinary } else { DataType::Binary };
        Ok((leaf.field.clone().with_data_type(data_type), arrays))
    };
    let leaves = parts.leaves.iter().zip(&new_leaves);
    let results = leaves.map(reseal).collect::<Result<_, Error>>()?;
    Ok(Unsealed { column: parts.column(column, results)?, unopened: count })
}

/// A leaf to reseal.
struct ResealedLeaf<'a> {
    keyset: &'a Keyset,
    chunks: Vec<Values>,
    old: Context,
    new: Context,
    leaf: &'a Leaf,
}

impl ResealedLeaf<'_> {
    fn length(&self, value: Option<&[u8]>) -> usize {
        let overhead = self.keyset.primary_key().kind.overhead();
        value.map_or(0, |value| envelope::opened_bytes(self.keyset, value) + overhead)
    }

    fn reseal<O: OffsetSizeTrait>(
        &self,
        unopened: Unopened<'_>,
        threads: Threads<'_>,
    ) -> Result<(Vec<ArrayRef>, usize), Error> {
        let key = self.keyset.primary_key();
        let overhead = key.kind.overhead();
        let slots = fill::<O>(
            threads,
            &self.chunks,
            |value| self.length(value),
            |chunk, rows, offsets, out, nonces| {
                let values = &self.chunks[chunk];
                let start = rows.start;
                // The concatenated opened values of the batch.
                let length = |row| slot(offsets, row).saturating_sub(overhead);
                let mut ends = Vec::with_capacity(rows.len() + 1);
                ends.push(0);
                ends.extend(rows.clone().scan(0, |end, row| {
                    *end += length(row);
                    Some(*end)
                }));
                let mut plain = Zeroizing::new(vec![0; ends[rows.len()]]);
                let aads = self.old.aads(chunk, rows.clone());
                let sealed = |row| values.get(row);
                let bad = envelope::open(self.keyset, rows.clone(), sealed, length, &aads, &mut plain)
                    .map_err(|error| self.leaf.misuse(chunk, start, error))?;
                unopened.record(chunk, values.len(), &bad)?;
                let value = |row: usize| {
                    let bad = bad.binary_search_by_key(&row, |(row, _)| *row).is_ok();
                    let value = &plain[ends[row - start]..ends[row - start + 1]];
                    (!bad && values.get(row).is_some()).then_some(value)
                };
                let aads = self.new.aads(chunk, rows.clone());
                envelope::seal(key, nonces, rows, value, |row| slot(offsets, row), &aads, out)
                    .map_err(|error| self.leaf.seal_error(chunk, start, error))
            },
        )?;
        let (nulls, count) = unopened.nulls(&self.chunks);
        Ok((slots.into_iter().zip(nulls).map(|(slots, nulls)| slots.binary(nulls)).collect(), count))
    }
}

/// Counts the values of a sealed column by key id. Returns `None` if any value is not a sealed value, or a leaf is not
/// binary. `plain` names leaves that were never sealed, which are left out.
///
/// # Errors
/// [`Error::Invalid`] if the column is not valid Arrow, or a path in `plain` is wrong
/// ([`sealed_leaves`](crate::sealed_leaves)).
pub fn inspect(column: &Column, plain: &[String]) -> Result<Option<BTreeMap<u32, usize>>, Error> {
    let is_sealed = match sealed_leaves(&column.field, plain) {
        Err(Error::Type(_)) => return Ok(None),
        is_sealed => is_sealed?,
    };
    let parts = Parts::new(column, None)?;
    let mut counts = BTreeMap::new();
    for leaf in parts.leaves.iter().filter(|leaf| is_sealed[leaf.index]) {
        let Ok(chunks) = leaf.sealed() else { return Ok(None) };
        for values in chunks {
            for value in (0..values.len()).filter_map(|row| values.get(row)) {
                let Some(id) = envelope::key_id(value) else { return Ok(None) };
                *counts.entry(id).or_default() += 1;
            }
        }
    }
    Ok(Some(counts))
}
