//! Converts Arrow arrays to DuckDB's vectors.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, GenericByteArray, OffsetSizeTrait};
use arrow_buffer::{ArrowNativeType, IntervalMonthDayNano, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, TimeUnit};

use crate::ffi::{Failure, Result};
use crate::types::{SqlType, TimeTz};
use crate::vector::{Plain, Vector};

/// Writes an array to a flat vector of this type. `place` describes a value by its index, for errors.
///
/// # Errors
/// A value does not fit the type, such as an opened time of more than 24 hours.
pub(crate) fn array(
    sql: &SqlType,
    array: &ArrayRef,
    vector: Vector<'_>,
    place: &dyn Fn(usize) -> String,
) -> Result<()> {
    vector.set_rows(array.len())?;
    write_nulls(array.logical_nulls().as_ref(), vector)?;
    match sql {
        SqlType::Null => Ok(()),
        SqlType::Boolean => vector.write(array.as_boolean().values().iter().map(u8::from)),
        SqlType::Number(number) => numbers(number, array, vector),
        SqlType::Decimal { width, .. } => {
            let values = array.as_primitive::<Decimal128Type>().values().iter();
            match width {
                ..=4 => vector.write(values.map(|value| *value as i16)),
                5..=9 => vector.write(values.map(|value| *value as i32)),
                10..=18 => vector.write(values.map(|value| *value as i64)),
                _ => vector.write(values.map(|value| value.to_ne_bytes())),
            }
        }
        SqlType::HugeInt | SqlType::UHugeInt => sixteen_bytes(array, vector, |bytes| bytes),
        SqlType::Uuid => sixteen_bytes(array, vector, |bytes| {
            // DuckDB inverts the first bit, so that UUIDs sort like their text.
            (i128::from_be_bytes(bytes) ^ i128::MIN).to_ne_bytes()
        }),
        SqlType::Date => primitive::<Date32Type>(array, vector),
        SqlType::Time(unit) => times(*unit, array, vector, place),
        SqlType::TimeTz => times_with_offset(array, vector, place),
        SqlType::Tag => primitive::<UInt8Type>(array, vector),
        SqlType::Timestamp(unit) | SqlType::TimestampTz(unit) => match unit {
            TimeUnit::Second => primitive::<TimestampSecondType>(array, vector),
            TimeUnit::Millisecond => primitive::<TimestampMillisecondType>(array, vector),
            TimeUnit::Microsecond => primitive::<TimestampMicrosecondType>(array, vector),
            TimeUnit::Nanosecond => primitive::<TimestampNanosecondType>(array, vector),
        },
        SqlType::Interval => intervals(array, vector, place),
        SqlType::Text | SqlType::Enum(_) | SqlType::Blob => bytes(array, vector),
        SqlType::Bit => bits(array, vector, place),
        SqlType::List(element) => {
            let list = array.as_list::<i64>();
            entries(list.offsets(), vector)?;
            let (start, length) = span(list.offsets());
            self::array(element, &list.values().slice(start, length), vector.child(0)?, &element_place)
        }
        SqlType::Array(element, _) => {
            self::array(element, array.as_fixed_size_list().values(), vector.child(0)?, &element_place)
        }
        SqlType::Struct(fields) => children(fields.iter().map(|(_, child)| child), array, vector, place),
        SqlType::Union(members) => {
            let types = std::iter::once(&SqlType::Tag).chain(members.iter().map(|(_, member)| member));
            children(types, array, vector, place)
        }
        SqlType::Map(types) => {
            let map = array.as_map();
            entries(map.offsets(), vector)?;
            let (entries, child): (ArrayRef, _) =
                (std::sync::Arc::new(map.entries().clone()), vector.child(0)?);
            child.set_rows(entries.len())?;
            children(types.iter(), &entries, child, &element_place)
        }
    }
}

/// Describes an element of lists by its index among those of all rows.
fn element_place(index: usize) -> String {
    format!("value {index} of this batch's lists")
}

/// DuckDB's bitmap of the rows that are not null is Arrow's.
fn write_nulls(nulls: Option<&NullBuffer>, vector: Vector<'_>) -> Result<()> {
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else { return Ok(()) };
    let bits = nulls.inner().bit_chunks();
    let words: Vec<u64> = bits.iter_padded().take(nulls.len().div_ceil(64)).collect();
    vector.set_validity(words.into_iter())
}

fn children<'a>(
    types: impl Iterator<Item = &'a SqlType>,
    array: &ArrayRef,
    vector: Vector<'_>,
    place: &dyn Fn(usize) -> String,
) -> Result<()> {
    for ((index, sql), child) in types.enumerate().zip(array.as_struct().columns()) {
        self::array(sql, child, vector.child(index as u64)?, place)?;
    }
    Ok(())
}

/// Writes the offset and the length of each list.
fn entries<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, vector: Vector<'_>) -> Result<()> {
    let first = offsets[0].as_usize();
    let entry = |ends: &[O]| {
        let [start, end] = [ends[0], ends[1]].map(O::as_usize);
        [(start - first) as u64, (end - start) as u64]
    };
    vector.write(offsets.windows(2).map(entry))
}

/// The start and the number of the values that some lists refer to.
fn span<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> (usize, usize) {
    let [start, end] = [offsets[0], offsets[offsets.len() - 1]].map(O::as_usize);
    (start, end - start)
}

/// Returns an error for the first value that is not null and does not fit.
fn check<T: Copy>(
    values: &[T],
    array: &ArrayRef,
    fits: impl Fn(T) -> bool,
    what: impl Fn() -> String,
    place: &dyn Fn(usize) -> String,
) -> Result<()> {
    match values.iter().enumerate().position(|(index, value)| !fits(*value) && array.is_valid(index)) {
        None => Ok(()),
        Some(index) => Err(Failure::Message(format!(
            "{}: the opened value {}; pass the type that was sealed as as_type",
            place(index),
            what()
        ))),
    }
}

fn primitive<T: ArrowPrimitiveType<Native: Plain>>(array: &ArrayRef, vector: Vector<'_>) -> Result<()> {
    vector.write(array.as_primitive::<T>().values().iter().copied())
}

fn numbers(number: &DataType, array: &ArrayRef, vector: Vector<'_>) -> Result<()> {
    match number {
        DataType::Int8 => primitive::<Int8Type>(array, vector),
        DataType::Int16 => primitive::<Int16Type>(array, vector),
        DataType::Int32 => primitive::<Int32Type>(array, vector),
        DataType::Int64 => primitive::<Int64Type>(array, vector),
        DataType::UInt8 => primitive::<UInt8Type>(array, vector),
        DataType::UInt16 => primitive::<UInt16Type>(array, vector),
        DataType::UInt32 => primitive::<UInt32Type>(array, vector),
        DataType::UInt64 => primitive::<UInt64Type>(array, vector),
        DataType::Float32 => primitive::<Float32Type>(array, vector),
        DataType::Float64 => primitive::<Float64Type>(array, vector),
        other => unreachable!("{other} is not a number of SQL"),
    }
}

/// DuckDB's times are at most 24 hours.
fn times(
    unit: TimeUnit,
    array: &ArrayRef,
    vector: Vector<'_>,
    place: &dyn Fn(usize) -> String,
) -> Result<()> {
    const DAY: i64 = 24 * 60 * 60;
    let (values, day) = match unit {
        TimeUnit::Nanosecond => (array.as_primitive::<Time64NanosecondType>().values(), DAY * 1_000_000_000),
        _ => (array.as_primitive::<Time64MicrosecondType>().values(), DAY * 1_000_000),
    };
    let what = || "is not a time of a day".to_owned();
    check(values, array, |time| (0..=day).contains(&time), what, place)?;
    vector.write(values.iter().copied())
}

fn times_with_offset(array: &ArrayRef, vector: Vector<'_>, place: &dyn Fn(usize) -> String) -> Result<()> {
    let values = array.as_fixed_size_binary();
    let time = |row| TimeTz::from_bytes(values.value(row).try_into().expect("12 bytes"));
    let times: Vec<TimeTz> = (0..values.len()).map(time).collect();
    let what = || "is not a time of a day with an offset of less than 16 hours".to_owned();
    check(&times, array, TimeTz::is_valid, what, place)?;
    vector.write(times.into_iter().map(TimeTz::to_duckdb))
}

/// DuckDB's bits are the number of padding bits in a byte, and the bits, after that many ones.
fn bits(array: &ArrayRef, vector: Vector<'_>, place: &dyn Fn(usize) -> String) -> Result<()> {
    let is_valid = |value: &[u8]| {
        let [padding @ 0..8, first, ..] = *value else { return false };
        first.leading_ones() >= u32::from(padding)
    };
    let values: Vec<&[u8]> = match array.data_type() {
        DataType::LargeBinary => array.as_binary::<i64>().iter().map(Option::unwrap_or_default).collect(),
        DataType::Binary => array.as_binary::<i32>().iter().map(Option::unwrap_or_default).collect(),
        _ => Vec::new(),
    };
    check(&values, array, is_valid, || "is not a bit string".to_owned(), place)?;
    bytes(array, vector)
}

/// DuckDB's interval has two 32-bit numbers, months and days, and a 64-bit number of microseconds.
fn intervals(array: &ArrayRef, vector: Vector<'_>, place: &dyn Fn(usize) -> String) -> Result<()> {
    let values = array.as_primitive::<IntervalMonthDayNanoType>().values();
    let whole = |interval: IntervalMonthDayNano| interval.nanoseconds % 1000 == 0;
    let what = || "is not an interval of whole microseconds, as DuckDB's are".to_owned();
    check(values, array, whole, what, place)?;
    let value = |interval: &IntervalMonthDayNano| {
        let (months, days) = (interval.months.cast_unsigned(), interval.days.cast_unsigned());
        let microseconds = (interval.nanoseconds / 1000).cast_unsigned();
        [u64::from(months) | u64::from(days) << 32, microseconds]
    };
    vector.write(values.iter().map(value))
}

fn sixteen_bytes(array: &ArrayRef, vector: Vector<'_>, convert: impl Fn([u8; 16]) -> [u8; 16]) -> Result<()> {
    let array = array.as_fixed_size_binary();
    let value = |row| convert(array.value(row).try_into().expect("16 bytes"));
    vector.write((0..array.len()).map(value))
}

fn bytes(array: &ArrayRef, vector: Vector<'_>) -> Result<()> {
    match array.data_type() {
        DataType::Binary => write_bytes(array.as_binary::<i32>(), vector),
        DataType::LargeBinary => write_bytes(array.as_binary::<i64>(), vector),
        DataType::Utf8 => write_bytes(array.as_string::<i32>(), vector),
        DataType::LargeUtf8 => write_bytes(array.as_string::<i64>(), vector),
        DataType::Null => Ok(()),
        other => unreachable!("{other} is neither text nor bytes"),
    }
}

fn write_bytes<T: ByteArrayType>(array: &GenericByteArray<T>, vector: Vector<'_>) -> Result<()> {
    let offsets = array.value_offsets();
    vector.write_bytes(array.len(), array.value_data(), |row| offsets[row].as_usize())
}
