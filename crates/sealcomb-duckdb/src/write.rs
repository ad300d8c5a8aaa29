//! Converts Arrow arrays to DuckDB's vectors.
//!
//! Every value is checked against its type first: DuckDB relies on the ranges of its types, so that a value outside of them
//! fails later as an internal error, which shuts down the database. Such a value is an error, or NULL. Nulls of structs
//! and arrays are also nulls of what is in them, as DuckDB requires.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalMonthDayNanoType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, GenericByteArray, OffsetSizeTrait};
use arrow_buffer::{ArrowNativeType, IntervalMonthDayNano, NullBuffer, OffsetBuffer};
use arrow_ord::ord::make_comparator;
use arrow_schema::{DataType, SortOptions, TimeUnit};
use sealcomb_columns::Forged;

use crate::ffi::Result;
use crate::types::{SqlType, TimeTz};
use crate::vector::{Plain, Vector};

/// Writes an array to a flat vector of this type. `place` describes a value by its index, for errors. With
/// [`Forged::Null`], a value that does not fit the type is NULL.
///
/// # Errors
/// A value does not fit the type, such as an opened time of more than 24 hours.
pub(crate) fn array(
    sql: &SqlType,
    array: &ArrayRef,
    vector: Vector<'_>,
    forged: Forged,
    place: &dyn Fn(usize) -> String,
) -> Result<()> {
    Source { array, nulls: array.logical_nulls(), vector, forged, place }.write(sql)
}

/// Describes an element of lists by its index among those of all rows.
fn element_place(index: usize) -> String {
    format!("value {index} of this batch's lists")
}

/// An array to write to a vector.
struct Source<'a> {
    array: &'a ArrayRef,
    /// The rows that are null, or belong to a struct or an array that is.
    nulls: Option<NullBuffer>,
    vector: Vector<'a>,
    forged: Forged,
    place: &'a dyn Fn(usize) -> String,
}

impl Source<'_> {
    fn write(mut self, sql: &SqlType) -> Result<()> {
        self.check(sql)?;
        let (array, vector) = (self.array, self.vector);
        vector.set_rows(array.len())?;
        self.write_nulls()?;
        match sql {
            SqlType::Null => Ok(()),
            SqlType::Boolean => vector.write(array.as_boolean().values().iter().map(u8::from)),
            SqlType::Number(number) => self.numbers(number),
            SqlType::Decimal { width, .. } => match width {
                ..=4 => self.decimals::<i16>(),
                5..=9 => self.decimals::<i32>(),
                10..=18 => self.decimals::<i64>(),
                _ => {
                    let values = array.as_primitive::<Decimal128Type>().values().iter();
                    vector.write(values.map(|value| value.to_ne_bytes()))
                }
            },
            SqlType::HugeInt | SqlType::UHugeInt => self.sixteen_bytes(|bytes| bytes),
            SqlType::Uuid => self.sixteen_bytes(|bytes| {
                // DuckDB inverts the first bit, so that UUIDs sort like their text.
                (i128::from_be_bytes(bytes) ^ i128::MIN).to_ne_bytes()
            }),
            SqlType::Date => self.primitive::<Date32Type>(),
            SqlType::Time(_) => self.primitive::<Int64Type>(),
            SqlType::TimeTz => self.times_with_offset(),
            SqlType::Tag => self.primitive::<UInt8Type>(),
            SqlType::Timestamp(unit) | SqlType::TimestampTz(unit) => self.timestamps(*unit),
            SqlType::Interval => self.intervals(),
            SqlType::Text | SqlType::Enum(_) | SqlType::Blob | SqlType::Bit => self.bytes(),
            SqlType::List(element) => {
                let list = array.as_list::<i64>();
                self.entries(list.offsets())?;
                let (start, length) = span(list.offsets());
                let values = list.values().slice(start, length);
                self::array(element, &values, vector.child(0)?, self.forged, &element_place)
            }
            SqlType::Array(element, size) => {
                let width = usize::try_from(*size).expect("a size is not negative");
                let (array, nulls) = (array.as_fixed_size_list().values(), self.nulls.as_ref());
                let nulls = nulls.map(|nulls| nulls.expand(width));
                self.child(element, array, 0, nulls.as_ref(), &element_place)
            }
            SqlType::Struct(fields) => self.children(fields.iter().map(|(_, child)| child)),
            SqlType::Union(members) => {
                self.children(std::iter::once(&SqlType::Tag).chain(members.iter().map(|(_, member)| member)))
            }
            SqlType::Map(types) => {
                let map = array.as_map();
                self.entries(map.offsets())?;
                let (start, length) = span(map.offsets());
                let array: ArrayRef = Arc::new(map.entries().slice(start, length));
                let (nulls, vector) = (None, vector.child(0)?);
                vector.set_rows(length)?;
                let forged = self.forged;
                Source { array: &array, nulls, vector, forged, place: &element_place }.children(types.iter())
            }
        }
    }

    /// DuckDB's bitmap of the rows that are not null is Arrow's.
    fn write_nulls(&self) -> Result<()> {
        let Some(nulls) = self.nulls.as_ref().filter(|nulls| nulls.null_count() > 0) else { return Ok(()) };
        let bits = nulls.inner().bit_chunks();
        let words: Vec<u64> = bits.iter_padded().take(nulls.len().div_ceil(64)).collect();
        self.vector.set_validity(words.into_iter())
    }

    /// Writes the vector's child with this index. `above` has its nulls because of this array's.
    fn child(
        &self,
        sql: &SqlType,
        array: &ArrayRef,
        index: u64,
        above: Option<&NullBuffer>,
        place: &dyn Fn(usize) -> String,
    ) -> Result<()> {
        let nulls = NullBuffer::union(array.logical_nulls().as_ref(), above);
        Source { array, nulls, vector: self.vector.child(index)?, forged: self.forged, place }.write(sql)
    }

    fn children<'a>(&self, types: impl Iterator<Item = &'a SqlType>) -> Result<()> {
        for ((index, sql), child) in (0..).zip(types).zip(self.array.as_struct().columns()) {
            self.child(sql, child, index, self.nulls.as_ref(), self.place)?;
        }
        Ok(())
    }

    /// Writes the offset and the length of each list. That of a null is empty.
    fn entries<O: OffsetSizeTrait>(&self, offsets: &OffsetBuffer<O>) -> Result<()> {
        let (first, word) = (offsets[0].as_usize(), |size: usize| size as u64);
        let entry = |(row, ends): (usize, &[O])| {
            let [start, end] = [ends[0], ends[1]].map(O::as_usize);
            [word(start - first), if self.is_valid(row) { word(end - start) } else { 0 }]
        };
        self.vector.write(offsets.windows(2).enumerate().map(entry))
    }

    fn is_valid(&self, row: usize) -> bool {
        self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
    }

    /// Makes the values null that do not fit the type.
    ///
    /// # Errors
    /// The first such value, unless they may be null.
    fn check(&mut self, sql: &SqlType) -> Result<()> {
        let Some((fits, what)) = fitting(sql, self.array) else { return Ok(()) };
        let bad = |row: &usize| self.is_valid(*row) && !fits(*row);
        if self.forged == Forged::Raise {
            return match (0..self.array.len()).find(bad) {
                None => Ok(()),
                Some(row) => {
                    let place = (self.place)(row);
                    let advice = "pass the type that was sealed as as_type, or use try_unseal for NULL";
                    Err(format!("{place}: the opened value {what}; {advice}").into())
                }
            };
        }
        let fitting = (0..self.array.len()).map(&fits).collect::<NullBuffer>();
        self.nulls = NullBuffer::union(self.nulls.as_ref(), Some(&fitting));
        Ok(())
    }

    fn primitive<T: ArrowPrimitiveType<Native: Plain>>(&self) -> Result<()> {
        self.vector.write(self.array.as_primitive::<T>().values().iter().copied())
    }

    fn numbers(&self, number: &DataType) -> Result<()> {
        match number {
            DataType::Int8 => self.primitive::<Int8Type>(),
            DataType::Int16 => self.primitive::<Int16Type>(),
            DataType::Int32 => self.primitive::<Int32Type>(),
            DataType::Int64 => self.primitive::<Int64Type>(),
            DataType::UInt8 => self.primitive::<UInt8Type>(),
            DataType::UInt16 => self.primitive::<UInt16Type>(),
            DataType::UInt32 => self.primitive::<UInt32Type>(),
            DataType::UInt64 => self.primitive::<UInt64Type>(),
            DataType::Float32 => self.primitive::<Float32Type>(),
            DataType::Float64 => self.primitive::<Float64Type>(),
            other => unreachable!("{other} is not a number of SQL"),
        }
    }

    /// Writes decimals of at most 18 digits, which the core has checked.
    fn decimals<T: Plain + Default + TryFrom<i128>>(&self) -> Result<()> {
        let values = self.array.as_primitive::<Decimal128Type>().values().iter();
        // The values of nulls are arbitrary.
        self.vector.write(values.map(|value| T::try_from(*value).unwrap_or_default()))
    }

    fn times_with_offset(&self) -> Result<()> {
        let values = self.array.as_fixed_size_binary();
        let time = |row| if self.is_valid(row) { time_tz(values, row).to_duckdb() } else { 0 };
        self.vector.write((0..values.len()).map(time))
    }

    fn timestamps(&self, unit: TimeUnit) -> Result<()> {
        match unit {
            TimeUnit::Second => self.primitive::<TimestampSecondType>(),
            TimeUnit::Millisecond => self.primitive::<TimestampMillisecondType>(),
            TimeUnit::Microsecond => self.primitive::<TimestampMicrosecondType>(),
            TimeUnit::Nanosecond => self.primitive::<TimestampNanosecondType>(),
        }
    }

    /// DuckDB's interval has two 32-bit numbers, months and days, and a 64-bit number of microseconds.
    fn intervals(&self) -> Result<()> {
        let values = self.array.as_primitive::<IntervalMonthDayNanoType>().values();
        let value = |interval: &IntervalMonthDayNano| {
            let (months, days) = (interval.months.cast_unsigned(), interval.days.cast_unsigned());
            let microseconds = (interval.nanoseconds / 1000).cast_unsigned();
            [u64::from(months) | u64::from(days) << 32, microseconds]
        };
        self.vector.write(values.iter().map(value))
    }

    fn sixteen_bytes(&self, convert: impl Fn([u8; 16]) -> [u8; 16]) -> Result<()> {
        let array = self.array.as_fixed_size_binary();
        let value = |row| convert(array.value(row).try_into().expect("16 bytes"));
        self.vector.write((0..array.len()).map(value))
    }

    fn bytes(&self) -> Result<()> {
        match self.array.data_type() {
            DataType::Binary => self.write_bytes(self.array.as_binary::<i32>()),
            DataType::LargeBinary => self.write_bytes(self.array.as_binary::<i64>()),
            DataType::Utf8 => self.write_bytes(self.array.as_string::<i32>()),
            DataType::LargeUtf8 => self.write_bytes(self.array.as_string::<i64>()),
            DataType::Null => Ok(()),
            other => unreachable!("{other} is neither text nor bytes"),
        }
    }

    fn write_bytes<T: ByteArrayType>(&self, array: &GenericByteArray<T>) -> Result<()> {
        let offsets = array.value_offsets();
        self.vector.write_bytes(array.len(), array.value_data(), |row| offsets[row].as_usize())
    }
}

/// The start and the number of the values that some lists refer to.
fn span<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> (usize, usize) {
    let [start, end] = [offsets[0], offsets[offsets.len() - 1]].map(O::as_usize);
    (start, end - start)
}

/// Whether the value at an index fits its type. Those of nulls are arbitrary.
type Fits<'a> = Box<dyn Fn(usize) -> bool + 'a>;

/// Returns which values of an array DuckDB's type has, and what the others are not; `None` if it has all of them.
fn fitting<'a>(sql: &'a SqlType, array: &'a ArrayRef) -> Option<(Fits<'a>, &'static str)> {
    Some(match sql {
        SqlType::Date => {
            let days = array.as_primitive::<Date32Type>().values();
            // The smallest and the largest date are infinities.
            (Box::new(move |row| days[row] >= -i32::MAX), "is not a date of DuckDB's range")
        }
        SqlType::Time(unit) => {
            // DuckDB's times are at most 24 hours.
            let second = if *unit == TimeUnit::Nanosecond { 1_000_000_000 } else { 1_000_000 };
            let times = array.as_primitive::<Int64Type>().values();
            let day = 24 * 60 * 60 * second;
            (Box::new(move |row| (0..=day).contains(&times[row])), "is not a time of a day")
        }
        SqlType::TimeTz => {
            let values = array.as_fixed_size_binary();
            let what = "is not a time of a day with an offset of less than 16 hours";
            (Box::new(move |row| time_tz(values, row).is_valid()), what)
        }
        SqlType::Timestamp(unit) | SqlType::TimestampTz(unit) => {
            let times = match unit {
                TimeUnit::Second => array.as_primitive::<TimestampSecondType>().values(),
                TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().values(),
                TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().values(),
                TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().values(),
            };
            (Box::new(move |row| is_timestamp(*unit, times[row])), "is not a timestamp of DuckDB's range")
        }
        SqlType::Interval => {
            let values = array.as_primitive::<IntervalMonthDayNanoType>().values();
            let what = "is not an interval of whole microseconds, as DuckDB's are";
            (Box::new(move |row| values[row].nanoseconds % 1000 == 0), what)
        }
        SqlType::Bit => {
            let value = move |row: usize| -> &'a [u8] {
                match array.data_type() {
                    DataType::LargeBinary => array.as_binary::<i64>().value(row),
                    DataType::Binary => array.as_binary::<i32>().value(row),
                    _ => &[],
                }
            };
            (Box::new(move |row| is_bits(value(row))), "is not a bit string")
        }
        SqlType::Map(types) => {
            let map = array.as_map();
            let keys = map.keys();
            let fits = fitting(&types[0], keys).map(|(fits, _)| fits);
            let compare = make_comparator(keys, keys, SortOptions::default()).ok();
            let is_map = move |row: usize| {
                let [start, end] = [row, row + 1].map(|row| map.offsets()[row].as_usize());
                let mut order: Vec<usize> = (start..end).collect();
                let Some(compare) = &compare else { return false };
                order.sort_unstable_by(|a, b| compare(*a, *b));
                // Maps have no key twice. (Keys that are null have not been put together.)
                let is_set = order.windows(2).all(|pair| compare(pair[0], pair[1]).is_ne());
                is_set && fits.as_ref().is_none_or(|fits| (start..end).all(fits))
            };
            (Box::new(is_map), "is not a map, because it has a key twice, or one outside of its type")
        }
        _ => return None,
    })
}

fn time_tz(values: &FixedSizeBinaryArray, row: usize) -> TimeTz {
    TimeTz::from_bytes(values.value(row).try_into().expect("12 bytes"))
}

/// DuckDB's bits are the number of padding bits in a byte, and the bits, after that many ones.
fn is_bits(value: &[u8]) -> bool {
    let [padding @ 0..8, first, ..] = *value else { return false };
    first.leading_ones() >= u32::from(padding)
}

/// Whether DuckDB has this timestamp. Timestamps must be representable in microseconds, and begin at the first midnight
/// that is; those in nanoseconds have no such limits. The largest number and its negative are infinities.
fn is_timestamp(unit: TimeUnit, time: i64) -> bool {
    const FIRST_SECOND: i64 = -106_751_991 * 24 * 60 * 60;
    let range = match unit {
        TimeUnit::Second => FIRST_SECOND..=i64::MAX / 1_000_000,
        TimeUnit::Millisecond => FIRST_SECOND * 1000..=i64::MAX / 1000,
        TimeUnit::Microsecond => FIRST_SECOND * 1_000_000..=i64::MAX,
        TimeUnit::Nanosecond => i64::MIN..=i64::MAX,
    };
    range.contains(&time) || [-i64::MAX, i64::MAX].contains(&time)
}
