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

/// Values that are none of their type.
#[derive(Debug)]
pub(crate) struct Outside {
    /// The rows, in ascending order.
    pub(crate) rows: Vec<usize>,
    /// What the values are not, such as `a time of day`.
    pub(crate) what: &'static str,
}

impl Outside {
    /// Returns the first `most` of these rows, or `None` if there are none.
    pub(crate) fn of(rows: impl Iterator<Item = usize>, most: usize, what: &'static str) -> Option<Self> {
        let rows: Vec<usize> = rows.take(most).collect();
        (!rows.is_empty()).then_some(Self { rows, what })
    }
}

/// Returns the index of the first value that is none of the array's type, and what it is not, such as `a time of day`.
///
/// Nulls are skipped. These types have fewer values than bits: times, which are at least 0 and less than 24 hours;
/// `Date64`, which holds whole days; and decimals, which have no more digits than their precision. Of nested types,
/// dictionaries and runs, nothing is checked.
pub fn first_outside(array: &ArrayRef) -> Option<(usize, &'static str)> {
    outside(array, 1).map(|Outside { rows, what }| (rows[0], what))
}

/// Returns the first `most` values that are none of the array's type, as [`first_outside`] does.
pub(crate) fn outside(array: &ArrayRef, most: usize) -> Option<Outside> {
    match array.data_type() {
        DataType::Time32(TimeUnit::Second) => {
            among::<Time32SecondType>(array, most, TIME, |time| is_time(time.into(), 1))
        }
        DataType::Time32(_) => {
            among::<Time32MillisecondType>(array, most, TIME, |time| is_time(time.into(), 1_000))
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            among::<Time64MicrosecondType>(array, most, TIME, |time| is_time(time, 1_000_000))
        }
        DataType::Time64(_) => {
            among::<Time64NanosecondType>(array, most, TIME, |time| is_time(time, 1_000_000_000))
        }
        DataType::Date64 => {
            among::<Date64Type>(array, most, "a whole number of days", |date| date % (SECONDS * 1_000) == 0)
        }
        DataType::Decimal32(precision, _) => digits::<Decimal32Type>(array, most, *precision),
        DataType::Decimal64(precision, _) => digits::<Decimal64Type>(array, most, *precision),
        DataType::Decimal128(precision, _) => digits::<Decimal128Type>(array, most, *precision),
        DataType::Decimal256(precision, _) => digits::<Decimal256Type>(array, most, *precision),
        _ => None,
    }
}

fn is_time(time: i64, per_second: i64) -> bool {
    (0..SECONDS * per_second).contains(&time)
}

fn digits<T: DecimalType>(array: &ArrayRef, most: usize, precision: u8) -> Option<Outside> {
    among::<T>(array, most, "a decimal of the type's precision", |value| {
        T::is_valid_decimal_precision(value, precision)
    })
}

fn among<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    most: usize,
    what: &'static str,
    inside: impl Fn(T::Native) -> bool,
) -> Option<Outside> {
    let array = array.as_primitive::<T>();
    let values = array.values().iter().enumerate();
    let rows = values.filter(|(row, value)| !inside(**value) && array.is_valid(*row)).map(|(row, _)| row);
    Outside::of(rows, most, what)
}
