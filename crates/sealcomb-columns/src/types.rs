//! The types of sealed values, and their encoding as bytes.
//!
//! A value of a fixed width is sealed as its little-endian bytes in Arrow's memory format. A boolean is one byte, 0 or 1.
//! A decimal of up to 38 digits has 16 bytes, a longer one 32. Text and bytes are sealed as they are, so under a
//! deterministic keyset, equal values stay equal in every representation. Floats are their bits: `-0.0` differs from
//! `0.0`, and a NaN equals another one only if their bits do.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, NullArray, make_array};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, IntervalUnit};

use crate::domain::{Outside, outside};
use crate::error::Error;
use crate::names::{parse_type, type_name};
use crate::values::Values;

/// The key of the field metadata that contains the type of a sealed field, as [`type_name`] writes it.
pub const TYPE_KEY: &str = "sealcomb.type";
/// The key of the field metadata that contains the version of the encoding: `1`.
pub const VERSION_KEY: &str = "sealcomb.version";
/// The version of the encoding of values.
pub(crate) const VERSION: &str = "1";

/// Returns the type that opening restores, from the metadata of a sealed field; `None` if it has none.
///
/// # Errors
/// [`Error::Invalid`] if the version of the encoding or the type is unknown.
pub fn sealed_type(field: &Field) -> Result<Option<DataType>, Error> {
    let Some(name) = field.metadata().get(TYPE_KEY) else { return Ok(None) };
    match field.metadata().get(VERSION_KEY).map(String::as_str) {
        Some(VERSION) => parse_type(name).map(Some),
        other => Err(Error::Invalid(format!(
            "the field {:?} was sealed with version {} of the encoding; this release opens version {VERSION}: update it, \
             or pass as_type",
            field.name(),
            other.unwrap_or("\"\""),
        ))),
    }
}

/// The prefixes of the metadata of an extension type, and of the keys that preserve it while the field is sealed.
const EXTENSION: &str = "ARROW:extension:";
const SEALED_EXTENSION: &str = "sealcomb.extension.";

type Metadata = HashMap<String, String>;

/// Moves entries of metadata to keys with another prefix, or removes them if there is none.
fn with_prefix(metadata: Metadata, from: &str, to: Option<&str>) -> Metadata {
    let moved = metadata.into_iter().filter_map(|(key, value)| match (key.strip_prefix(from), to) {
        (None, _) => Some((key, value)),
        (Some(rest), Some(to)) => Some((format!("{to}{rest}"), value)),
        (Some(_), None) => None,
    });
    moved.collect()
}

/// Returns metadata without that of an extension type, which describes the type that a nested field had before.
pub(crate) fn without_extension(metadata: Metadata) -> Metadata {
    with_prefix(metadata, EXTENSION, None)
}

/// Returns the field of a field's sealed values, which have the type `sealed`. Its metadata contains the field's type.
/// If that is an extension type, its metadata is kept under other keys, because `sealed` is not its storage.
///
/// # Panics
/// If the field is nested.
pub fn sealed_field(field: &Field, sealed: DataType) -> Field {
    let mut metadata = with_prefix(field.metadata().clone(), EXTENSION, Some(SEALED_EXTENSION));
    metadata.insert(TYPE_KEY.to_owned(), type_name(field.data_type()));
    metadata.insert(VERSION_KEY.to_owned(), VERSION.to_owned());
    Field::new(field.name(), sealed, field.is_nullable()).with_metadata(metadata)
}

/// Returns the field of the opened values of a sealed field. It has the former extension type if its storage is the same.
pub(crate) fn opened_field(field: &Field, opened: DataType) -> Field {
    let same = field.metadata().get(TYPE_KEY) == Some(&type_name(&opened));
    let mut metadata = with_prefix(field.metadata().clone(), SEALED_EXTENSION, same.then_some(EXTENSION));
    metadata.remove(TYPE_KEY);
    metadata.remove(VERSION_KEY);
    Field::new(field.name(), opened, field.is_nullable()).with_metadata(metadata)
}

/// How the bytes of opened values become an array.
#[derive(Clone, PartialEq)]
pub(crate) enum Storage {
    /// Bytes; as the type says, with 64-bit offsets in any case, or only if they are needed.
    Bytes { large: bool },
    /// Text, likewise.
    Text { large: bool },
    /// Values of this number of bytes, of this type.
    Fixed(usize, DataType),
    /// Nulls only.
    Null,
}

impl Storage {
    /// How values of a type are stored before they are converted to it.
    ///
    /// # Errors
    /// [`Error::Type`] if the type is nested.
    pub(crate) fn of(data_type: &DataType) -> Result<Self, Error> {
        Ok(match data_type {
            DataType::Binary | DataType::BinaryView => Self::Bytes { large: false },
            DataType::LargeBinary => Self::Bytes { large: true },
            DataType::Utf8 | DataType::Utf8View => Self::Text { large: false },
            DataType::LargeUtf8 => Self::Text { large: true },
            DataType::Null => Self::Null,
            DataType::Dictionary(_, values) => Self::of(values)?,
            DataType::RunEndEncoded(_, values) => Self::of(values.data_type())?,
            DataType::Boolean => Self::Fixed(1, DataType::Boolean),
            DataType::FixedSizeBinary(size) => {
                Self::Fixed(usize::try_from(*size).unwrap_or_default(), data_type.clone())
            }
            DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
                Self::Fixed(16, DataType::Decimal128(*precision, *scale))
            }
            other => match other.primitive_width() {
                Some(width) => Self::Fixed(width, other.clone()),
                None => return Err(Error::Type(format!("{other} is not the type of single values"))),
            },
        })
    }

    /// The size in bytes of every value, if the type determines it.
    pub(crate) fn width(&self) -> Option<usize> {
        match self {
            Self::Fixed(width, _) => Some(*width),
            _ => None,
        }
    }
}

/// Returns the bytes of the values of a plain leaf.
///
/// # Errors
/// [`Error::Type`] if it is nested.
pub(crate) fn encode(array: &ArrayRef) -> Result<Values, Error> {
    if let Some(values) = Values::new(array) {
        return Ok(values);
    }
    let Storage::Fixed(width, stored) = Storage::of(array.data_type())? else {
        unreachable!("text, bytes and nulls are values already")
    };
    let bytes = if stored == DataType::Boolean {
        array.as_boolean().values().iter().map(u8::from).collect()
    } else {
        let data = cast(array, &stored)?.to_data();
        data.buffers()[0].slice_with_length(data.offset() * width, data.len() * width)
    };
    let size = i32::try_from(width).expect("no type is as wide");
    Ok(Values::Fixed(FixedSizeBinaryArray::try_new(size, bytes, array.nulls().cloned())?))
}

/// Returns an array of the bytes of opened values of fixed width. Those of nulls are ignored.
///
/// # Errors
/// The first `most` rows that hold no value of the type, and what they do not hold.
pub(crate) fn fixed(
    stored: &DataType,
    bytes: Buffer,
    rows: usize,
    nulls: Option<NullBuffer>,
    most: usize,
) -> Result<ArrayRef, Outside> {
    if *stored == DataType::Boolean {
        let is_valid = |row: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*row));
        let wrong = (0..rows).filter(|row| bytes[*row] > 1).filter(is_valid);
        if let Some(outside) = Outside::of(wrong, most, "a bool") {
            return Err(outside);
        }
        let mut bits = BooleanBufferBuilder::new(rows);
        bytes.iter().for_each(|byte| bits.append(*byte == 1));
        return Ok(Arc::new(BooleanArray::new(bits.finish(), nulls)));
    }
    let data = ArrayData::builder(stored.clone()).len(rows).add_buffer(bytes).nulls(nulls);
    let array = make_array(data.build().expect("the buffer is aligned and has the size of the rows"));
    outside(&array, most).map_or(Ok(array), Err)
}

/// Converts opened values to the type that was asked for.
///
/// # Errors
/// [`Error::Invalid`] if a value does not fit, such as more distinct values than a dictionary's indices can count.
pub(crate) fn restore(array: ArrayRef, data_type: &DataType, large: bool) -> Result<ArrayRef, Error> {
    if *data_type == DataType::Null {
        if array.logical_null_count() == array.len() {
            return Ok(Arc::new(NullArray::new(array.len())));
        }
        return Err(Error::Invalid(
            "the column has values, so its type is not null; pass another as_type".into(),
        ));
    }
    let keeps = matches!(data_type, DataType::Binary | DataType::Utf8) && large;
    if keeps || array.data_type() == data_type {
        return Ok(array);
    }
    let DataType::Dictionary(keys, values) = data_type else { return Ok(cast_strictly(&array, data_type)?) };
    Ok(dictionary_of(&array, keys, values)?)
}

/// Converts opened values to the type that was asked for, like [`restore`], with nulls for values that do not fit.
///
/// # Errors
/// [`Error::Invalid`] if the type does not fit the number of rows.
pub(crate) fn restore_or_null(array: ArrayRef, data_type: &DataType, large: bool) -> Result<ArrayRef, Error> {
    match data_type {
        DataType::Null => Ok(Arc::new(NullArray::new(array.len()))),
        DataType::Dictionary(keys, values) => {
            let wide = dictionary_of(&array, &DataType::UInt64, values)?;
            let wide = wide.as_any_dictionary();
            // A key that is too large becomes a null.
            let small = cast(wide.keys(), keys)?;
            let fits = small.null_count() == wide.keys().null_count();
            let kept = cast(&small, &DataType::UInt64)?;
            let kept =
                kept.as_primitive::<UInt64Type>().iter().flatten().max().map_or(0, |key| key.as_usize() + 1);
            let values = wide.values().slice(0, if fits { wide.values().len() } else { kept });
            let data = small.to_data().into_builder().data_type(data_type.clone());
            Ok(make_array(data.child_data(vec![values.to_data()]).build()?))
        }
        _ => restore(array, data_type, large),
    }
}

fn cast_strictly(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
    cast_with_options(array, data_type, &CastOptions { safe: false, ..CastOptions::default() })
}

/// Returns an array as a dictionary. Values of which Arrow's cast makes no dictionaries are numbers meanwhile.
fn dictionary_of(array: &ArrayRef, keys: &DataType, values: &DataType) -> Result<ArrayRef, ArrowError> {
    let dictionary =
        |values: &DataType| DataType::Dictionary(Box::new(keys.clone()), Box::new(values.clone()));
    let number = match values {
        DataType::Boolean => DataType::UInt8,
        DataType::Interval(IntervalUnit::YearMonth) => DataType::Int32,
        DataType::Duration(_) | DataType::Interval(IntervalUnit::DayTime) => DataType::Int64,
        DataType::Interval(IntervalUnit::MonthDayNano) => DataType::Decimal128(38, 0),
        _ => return cast_strictly(array, &dictionary(values)),
    };
    let as_type = |array: &ArrayRef, data_type: &DataType| match values {
        DataType::Boolean => cast_strictly(array, data_type),
        // The bytes stay.
        _ => array.to_data().into_builder().data_type(data_type.clone()).build().map(make_array),
    };
    let packed = cast_strictly(&as_type(array, &number)?, &dictionary(&number))?;
    let packed = packed.as_any_dictionary();
    Ok(packed.with_values(as_type(packed.values(), values)?))
}
