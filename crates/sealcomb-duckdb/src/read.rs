//! Converts DuckDB's vectors to Arrow arrays.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, FixedSizeBinaryArray, FixedSizeListArray, GenericByteArray,
    IntervalMonthDayNanoArray, LargeListArray, MapArray, NullArray, PrimitiveArray, StructArray,
};
use arrow_buffer::{
    BooleanBuffer, Buffer, IntervalMonthDayNano, NullBuffer, OffsetBuffer, OffsetBufferBuilder, ScalarBuffer,
};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use sealcomb_columns::Forged;

use crate::ffi::{Failure, Result, size};
use crate::types::{SqlType, TimeTz};
use crate::vector::{Plain, Vector, View};

/// The rows of a vector to convert, in this order.
pub(crate) enum Rows<'a> {
    /// The first rows.
    First(usize),
    /// Rows by number.
    At(&'a [usize]),
}

impl Rows<'_> {
    fn len(&self) -> usize {
        match self {
            Self::First(rows) => *rows,
            Self::At(rows) => rows.len(),
        }
    }

    /// The elements of arrays of this size. Those of single rows are listed in `at`.
    fn elements<'a>(&self, size: usize, at: &'a mut Vec<usize>) -> Result<Rows<'a>> {
        match self {
            Self::First(rows) => Ok(Rows::First(rows * size)),
            Self::At(rows) => {
                reserve(at, rows.len() * size)?;
                at.extend(rows.iter().flat_map(|row| row * size..(row + 1) * size));
                Ok(Rows::At(at))
            }
        }
    }

    /// The number of the row at this position.
    #[inline]
    fn row(&self, position: usize) -> usize {
        match self {
            Self::First(_) => position,
            Self::At(rows) => rows[position],
        }
    }
}

/// Makes room for more values. A query that needs too much memory fails, and the process continues.
fn reserve<T>(values: &mut Vec<T>, more: usize) -> Result<()> {
    let reserved = values.try_reserve(more);
    reserved
        .map_err(|_| format!("cannot allocate memory for {more} values; pass fewer or smaller ones").into())
}

/// The rows of a vector.
struct Source<'a> {
    view: View<Vector<'a>>,
    rows: &'a Rows<'a>,
    nulls: Option<NullBuffer>,
    forged: Forged,
}

impl<'a> Source<'a> {
    fn new(vector: Vector<'a>, rows: &'a Rows<'a>) -> Result<Self> {
        let view = vector.view()?;
        let nulls = match rows {
            Rows::First(count) if view.is_flat() => view
                .validity(*count)
                .map(|words| NullBuffer::new(BooleanBuffer::new(Buffer::from_slice_ref(words), 0, *count))),
            _ => {
                let valid = |position| view.is_valid(view.index(rows.row(position)));
                Some(NullBuffer::new(BooleanBuffer::collect_bool(rows.len(), valid)))
            }
        };
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        Ok(Self { view, rows, nulls, forged: Forged::Raise })
    }

    fn index(&self, position: usize) -> usize {
        self.view.index(self.rows.row(position))
    }

    /// Returns the values of all rows; those of nulls are arbitrary.
    ///
    /// # Safety
    /// The vector's values have this type.
    unsafe fn values<T: Plain>(&self) -> Vec<T> {
        match self.rows {
            // SAFETY: the caller guarantees the type.
            Rows::First(count) if self.view.is_flat() => unsafe { self.view.values(*count) }.to_vec(),
            rows => {
                let positions = 0..rows.len();
                // SAFETY: the caller guarantees the type.
                positions.map(|position| unsafe { self.view.value(self.index(position)) }).collect()
            }
        }
    }

    /// # Safety
    /// The vector's values have the native type of this Arrow type.
    unsafe fn primitive<T: ArrowPrimitiveType<Native: Plain>>(self) -> PrimitiveArray<T> {
        // SAFETY: the caller guarantees the type.
        let values = unsafe { self.values::<T::Native>() };
        PrimitiveArray::new(ScalarBuffer::from(values), self.nulls)
    }

    /// # Safety
    /// The vector's values are bytes or text.
    unsafe fn bytes(self) -> Result<(OffsetBuffer<i64>, Buffer, Option<NullBuffer>)> {
        let count = self.rows.len();
        let value = |position| {
            let index = self.index(position);
            // SAFETY: the caller guarantees the type, and the value is not null.
            if self.view.is_valid(index) { unsafe { self.view.bytes(index) } } else { &[] }
        };
        let total = (0..count).map(|position| value(position).len()).sum();
        let mut offsets = OffsetBufferBuilder::new(count);
        let mut bytes = Vec::new();
        reserve(&mut bytes, total)?;
        for position in 0..count {
            let value = value(position);
            bytes.extend_from_slice(value);
            offsets.push_length(value.len());
        }
        Ok((offsets.finish(), Buffer::from_vec(bytes), self.nulls))
    }

    /// Returns the values, converted. With [`Forged::Null`], those that cannot be converted are null.
    ///
    /// # Safety
    /// The vector's values have the type `T`.
    unsafe fn converted<T: Plain, U>(
        &self,
        convert: impl Fn(T) -> std::result::Result<U, String>,
    ) -> Result<Vec<Option<U>>> {
        let value = |position| {
            let index = self.index(position);
            if !self.view.is_valid(index) {
                return Ok(None);
            }
            // SAFETY: the caller guarantees the type.
            match (convert(unsafe { self.view.value(index) }), self.forged) {
                (Ok(value), _) => Ok(Some(value)),
                (Err(_), Forged::Null) => Ok(None),
                (Err(error), Forged::Raise) => {
                    Err(Failure::from(format!("row {position} of this batch: {error}")))
                }
            }
        };
        (0..self.rows.len()).map(value).collect()
    }
}

/// Converts rows of a vector of this type. With [`Forged::Null`], a value that Arrow does not have is null.
///
/// # Errors
/// An interval does not fit Arrow's.
pub(crate) fn array(sql: &SqlType, vector: Vector<'_>, rows: &Rows<'_>, forged: Forged) -> Result<ArrayRef> {
    if !sql.is_leaf() {
        vector.flatten()?;
    }
    let source = Source { forged, ..Source::new(vector, rows)? };
    // SAFETY: DuckDB's documentation fixes how the values of each type lie in a vector, and `sql` is the type that the
    // call was bound with.
    Ok(unsafe {
        match sql {
            SqlType::Null => Arc::new(NullArray::new(rows.len())),
            SqlType::Boolean => {
                let bytes = source.values::<u8>();
                let bits = BooleanBuffer::collect_bool(bytes.len(), |row| bytes[row] != 0);
                Arc::new(BooleanArray::new(bits, source.nulls))
            }
            SqlType::Number(number) => numbers(number, source),
            SqlType::Decimal { width, scale } => {
                let values: Vec<i128> = match width {
                    ..=4 => source.values::<i16>().into_iter().map(i128::from).collect(),
                    5..=9 => source.values::<i32>().into_iter().map(i128::from).collect(),
                    10..=18 => source.values::<i64>().into_iter().map(i128::from).collect(),
                    _ => source.values().into_iter().map(i128::from_ne_bytes).collect(),
                };
                let array = Decimal128Array::new(ScalarBuffer::from(values), source.nulls);
                Arc::new(
                    array
                        .with_precision_and_scale(*width, scale.cast_signed())
                        .map_err(|error| error.to_string())?,
                )
            }
            SqlType::HugeInt | SqlType::UHugeInt => fixed(source.values(), source.nulls)?,
            SqlType::Uuid => {
                let values = source.values().into_iter().map(uuid_bytes).collect();
                fixed(values, source.nulls)?
            }
            SqlType::TimeTz => {
                let bytes = |bits| TimeTz::from_duckdb(bits).to_bytes();
                fixed(source.values::<u64>().into_iter().map(bytes).collect(), source.nulls)?
            }
            SqlType::Tag => Arc::new(source.primitive::<UInt8Type>()),
            SqlType::Date => Arc::new(source.primitive::<Date32Type>()),
            SqlType::Time(_) => Arc::new(source.primitive::<Int64Type>()),
            SqlType::Timestamp(unit) => timestamps(*unit, source, None),
            SqlType::TimestampTz(unit) => timestamps(*unit, source, Some("UTC")),
            SqlType::Interval => {
                let values = source.converted(interval)?;
                Arc::new(values.into_iter().collect::<IntervalMonthDayNanoArray>())
            }
            SqlType::Text => {
                let (offsets, bytes, nulls) = source.bytes()?;
                // DuckDB's text is valid UTF-8.
                Arc::new(arrow_array::LargeStringArray::new_unchecked(offsets, bytes, nulls))
            }
            SqlType::Blob | SqlType::Bit => {
                let (offsets, bytes, nulls) = source.bytes()?;
                Arc::new(arrow_array::LargeBinaryArray::new(offsets, bytes, nulls))
            }
            SqlType::Enum(texts) => enums(texts, &source),
            nested => self::nested(nested, vector, source)?,
        }
    })
}

/// # Safety
/// The vector's values have this type.
unsafe fn nested(sql: &SqlType, vector: Vector<'_>, source: Source<'_>) -> Result<ArrayRef> {
    let rows = source.rows;
    // SAFETY: the caller guarantees the type.
    Ok(unsafe {
        match sql {
            SqlType::List(element) => {
                let (offsets, values) = list(element, vector, &source)?;
                Arc::new(LargeListArray::new(element.field("element"), offsets, values, source.nulls))
            }
            SqlType::Array(element, size) => {
                let width = usize::try_from(*size).expect("a size is not negative");
                let mut at = Vec::new();
                let rows = rows.elements(width, &mut at)?;
                let values = array(element, vector.child(0)?, &rows, source.forged)?;
                let field = element.field("element");
                Arc::new(FixedSizeListArray::new(field, *size, values, source.nulls))
            }
            SqlType::Union(members) => {
                return nested(&SqlType::Struct(SqlType::with_tag(members)), vector, source);
            }
            SqlType::Struct(fields) => {
                let child = |(index, (_, child)): (u64, &(String, SqlType))| {
                    array(child, vector.child(index)?, rows, source.forged)
                };
                let children = (0..).zip(fields).map(child).collect::<Result<Vec<_>>>()?;
                let (fields, count) = (SqlType::fields(fields), rows.len());
                let array = StructArray::try_new_with_length(fields, children, source.nulls, count);
                Arc::new(array.map_err(|error| error.to_string())?)
            }
            SqlType::Map(children) => map(sql, &children[..], vector, source)?,
            other => unreachable!("{} is not nested", other.sql()),
        }
    })
}

/// # Safety
/// The vector's values have the native type of this Arrow type.
unsafe fn numbers(number: &DataType, source: Source<'_>) -> ArrayRef {
    macro_rules! primitive {
        ($Type:ty) => {
            // SAFETY: the caller guarantees the type.
            Arc::new(unsafe { source.primitive::<$Type>() })
        };
    }
    match number {
        DataType::Int8 => primitive!(Int8Type),
        DataType::Int16 => primitive!(Int16Type),
        DataType::Int32 => primitive!(Int32Type),
        DataType::Int64 => primitive!(Int64Type),
        DataType::UInt8 => primitive!(UInt8Type),
        DataType::UInt16 => primitive!(UInt16Type),
        DataType::UInt32 => primitive!(UInt32Type),
        DataType::UInt64 => primitive!(UInt64Type),
        DataType::Float32 => primitive!(Float32Type),
        DataType::Float64 => primitive!(Float64Type),
        other => unreachable!("{other} is not a number of SQL"),
    }
}

/// # Safety
/// The vector's values are timestamps.
unsafe fn timestamps(unit: TimeUnit, source: Source<'_>, zone: Option<&str>) -> ArrayRef {
    macro_rules! primitive {
        ($Type:ty) => {
            // SAFETY: all timestamps are 64-bit integers.
            Arc::new(unsafe { source.primitive::<$Type>() }.with_timezone_opt(zone))
        };
    }
    match unit {
        TimeUnit::Second => primitive!(TimestampSecondType),
        TimeUnit::Millisecond => primitive!(TimestampMillisecondType),
        TimeUnit::Microsecond => primitive!(TimestampMicrosecondType),
        TimeUnit::Nanosecond => primitive!(TimestampNanosecondType),
    }
}

/// The bytes of a UUID in the order of its text. DuckDB inverts the first bit, so that UUIDs sort like their text.
fn uuid_bytes(value: [u8; 16]) -> [u8; 16] {
    (i128::from_ne_bytes(value) ^ i128::MIN).to_be_bytes()
}

fn fixed<const N: usize>(values: Vec<[u8; N]>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let bytes = Buffer::from_vec(values.into_flattened());
    let size = i32::try_from(N).expect("no type is as wide");
    let array = FixedSizeBinaryArray::try_new(size, bytes, nulls).map_err(|error| error.to_string())?;
    Ok(Arc::new(array))
}

/// The lower and the upper half.
fn halves(word: u64) -> [u32; 2] {
    let half = |word: u64| u32::try_from(word & 0xffff_ffff).expect("only 32 bits are left");
    [half(word), half(word >> 32)]
}

/// DuckDB's interval has two 32-bit numbers, months and days, and a 64-bit number of microseconds.
fn interval([months_and_days, microseconds]: [u64; 2]) -> std::result::Result<IntervalMonthDayNano, String> {
    let [months, days] = halves(months_and_days);
    let nanoseconds = microseconds.cast_signed().checked_mul(1000);
    let nanoseconds =
        nanoseconds.ok_or("the interval has more than 2^63 nanoseconds in addition to months and days")?;
    Ok(IntervalMonthDayNano::new(months.cast_signed(), days.cast_signed(), nanoseconds))
}

/// # Safety
/// The vector's values are of an enum with these texts.
unsafe fn enums(texts: &[String], source: &Source<'_>) -> ArrayRef {
    // SAFETY: the number of texts determines the width; the caller guarantees the type.
    let indices: Vec<u32> = unsafe {
        if u8::try_from(texts.len()).is_ok() {
            source.values::<u8>().into_iter().map(u32::from).collect()
        } else if u16::try_from(texts.len()).is_ok() {
            source.values::<u16>().into_iter().map(u32::from).collect()
        } else {
            source.values::<u32>()
        }
    };
    let nulls = source.nulls.as_ref();
    let text = |(row, index): (usize, u32)| {
        nulls.is_none_or(|nulls| nulls.is_valid(row)).then(|| texts[size(index.into())].as_str())
    };
    let texts: GenericByteArray<_> = indices.into_iter().enumerate().map(text).collect();
    Arc::new(texts) as Arc<arrow_array::LargeStringArray>
}

/// Returns the offsets and values of lists.
///
/// # Safety
/// The vector's values are lists, or maps.
unsafe fn list(
    element: &SqlType,
    vector: Vector<'_>,
    source: &Source<'_>,
) -> Result<(OffsetBuffer<i64>, ArrayRef)> {
    let mut at = Vec::new();
    let mut offsets = OffsetBufferBuilder::new(source.rows.len());
    for position in 0..source.rows.len() {
        let index = source.index(position);
        if source.view.is_valid(index) {
            // SAFETY: the entry of a list is the offset and the length of its elements, of 64 bits each.
            let [start, length] = unsafe { source.view.value::<[u64; 2]>(index) }.map(size);
            reserve(&mut at, length)?;
            at.extend(start..start + length);
            offsets.push_length(length);
        } else {
            offsets.push_length(0);
        }
    }
    Ok((offsets.finish(), array(element, vector.child(0)?, &Rows::At(&at), source.forged)?))
}

/// # Safety
/// The vector's values are maps of these types.
unsafe fn map(
    sql: &SqlType,
    children: &[SqlType],
    vector: Vector<'_>,
    source: Source<'_>,
) -> Result<ArrayRef> {
    let names = ["key", "value"].map(ToOwned::to_owned);
    let entry = SqlType::Struct(names.into_iter().zip(children.iter().cloned()).collect());
    // SAFETY: a map is a list of structs of key and value.
    let (offsets, entries) = unsafe { list(&entry, vector, &source) }?;
    let DataType::Map(field, _) = sql.arrow() else { unreachable!("maps have a map's type") };
    let DataType::Struct(fields) = field.data_type() else { unreachable!("entries are structs") };
    let fields: Fields = fields.iter().map(|field| Field::clone(field)).collect();
    let entries = arrow_array::cast::AsArray::as_struct(&entries);
    let offsets =
        offsets.iter().map(|offset| i32::try_from(*offset)).collect::<std::result::Result<Vec<_>, _>>();
    let offsets = offsets.map_err(|_| "the maps of a batch have more than 2^31 entries".to_owned())?;
    let entries = StructArray::try_new(fields, entries.columns().to_vec(), None);
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let array = entries.and_then(|entries| MapArray::try_new(field, offsets, entries, source.nulls, false));
    Ok(Arc::new(array.map_err(|error| error.to_string())?))
}
