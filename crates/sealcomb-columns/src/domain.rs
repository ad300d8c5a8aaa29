//! The values that a type has, where its bytes can hold others.
//!
//! The type to open as is not authenticated, and neither is the one that a caller gives. So an opened value may be none
//! of its type, although it has the right size. Libraries of Arrow do not expect such values: they fail, or show others.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

const SECONDS: i64 = 24 * 60 * 60;
const TIME: &str = "a time of day";

/// Returns the index of the first value that is none of the array's type, and what it is not, such as `a time of day`.
///
/// Nulls are skipped. These types have fewer values than bits: times, which are at least 0 and less than 24 hours;
/// `Date64`, which holds whole days; and decimals, which have no more digits than their precision. Of nested types,
/// dictionaries and runs, nothing is checked.
pub fn first_outside(array: &ArrayRef) -> Option<(usize, &'static str)> {
    match array.data_type() {
        DataType::Time32(TimeUnit::Second) => {
            first::<Time32SecondType>(array, TIME, |time| is_time(time.into(), 1))
        }
        DataType::Time32(_) => {
            first::<Time32MillisecondType>(array, TIME, |time| is_time(time.into(), 1_000))
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            first::<Time64MicrosecondType>(array, TIME, |time| is_time(time, 1_000_000))
        }
        DataType::Time64(_) => {
            first::<Time64NanosecondType>(array, TIME, |time| is_time(time, 1_000_000_000))
        }
        DataType::Date64 => {
            first::<Date64Type>(array, "a whole number of days", |date| date % (SECONDS * 1_000) == 0)
        }
        DataType::Decimal32(precision, _) => digits::<Decimal32Type>(array, *precision),
        DataType::Decimal64(precision, _) => digits::<Decimal64Type>(array, *precision),
        DataType::Decimal128(precision, _) => digits::<Decimal128Type>(array, *precision),
        DataType::Decimal256(precision, _) => digits::<Decimal256Type>(array, *precision),
        _ => None,
    }
}

fn is_time(time: i64, per_second: i64) -> bool {
    (0..SECONDS * per_second).contains(&time)
}

fn digits<T: DecimalType>(array: &ArrayRef, precision: u8) -> Option<(usize, &'static str)> {
    first::<T>(array, "a decimal of the type's precision", |value| {
        T::is_valid_decimal_precision(value, precision)
    })
}

fn first<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    what: &'static str,
    inside: impl Fn(T::Native) -> bool,
) -> Option<(usize, &'static str)> {
    let array = array.as_primitive::<T>();
    let outside = |(row, value): (usize, &T::Native)| !inside(*value) && array.is_valid(row);
    array.values().iter().enumerate().position(outside).map(|row| (row, what))
}
