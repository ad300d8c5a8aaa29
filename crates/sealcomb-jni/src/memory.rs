//! Memory that crosses the boundary: columns in Java's memory, results in ours, and handles.

use std::ptr;
use std::slice;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, make_array};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use jni::Env;
use jni::objects::JLongArray;
use jni::sys::jlong;

use crate::failure::Failure;

/// The number of longs that describe a column: rows, width, and addresses and sizes in bytes of validity, offsets and
/// values.
const REGION_LONGS: usize = 8;
/// The number of longs that describe a result: its handle, the addresses of validity (0 if no row is null), offsets
/// (0 if all values have one width) and values, the size of the values in bytes, and the number of unopened rows.
pub(crate) const RESULT_LONGS: usize = 6;

/// The width of 64-bit integers that are row ids.
const INTEGERS: i64 = -1;

/// A column in Java's memory.
pub(crate) struct Region {
    rows: usize,
    /// 0 for values of any size with 32-bit offsets, [`INTEGERS`], or the size of every value in bytes.
    width: i64,
    validity: (usize, usize),
    offsets: (usize, usize),
    values: (usize, usize),
}

impl Region {
    /// Reads the description of a column.
    ///
    /// # Errors
    /// If a number is negative, or the array is too short.
    pub(crate) fn read(env: &Env<'_>, longs: &JLongArray<'_>) -> Result<Self, Failure> {
        let mut region = [0; REGION_LONGS];
        longs.get_region(env, 0, &mut region)?;
        Self::new(region)
    }

    fn new([rows, width, numbers @ ..]: [i64; REGION_LONGS]) -> Result<Self, Failure> {
        let size = |number: i64| {
            usize::try_from(number)
                .map_err(|_| Failure::bug(format!("{number} is neither a size nor an address")))
        };
        let mut sizes = [0; REGION_LONGS - 2];
        for (size_of, number) in sizes.iter_mut().zip(numbers) {
            *size_of = size(number)?;
        }
        let [validity, validity_bytes, offsets, offsets_bytes, values, values_bytes] = sizes;
        Ok(Self {
            rows: size(rows)?,
            width,
            validity: (validity, validity_bytes),
            offsets: (offsets, offsets_bytes),
            values: (values, values_bytes),
        })
    }

    /// Returns a copy of the column, in which every offset and size is valid.
    ///
    /// # Errors
    /// If a buffer is too short for the rows, or the offsets are not ascending or exceed the values.
    ///
    /// # Safety
    /// The memory is readable, and nobody writes to it during the call.
    pub(crate) unsafe fn array(&self) -> Result<ArrayRef, Failure> {
        // SAFETY: the caller vouches for the memory.
        let copy = |(address, bytes)| unsafe { copied(address, bytes) };
        let data = ArrayData::builder(self.data_type()?).len(self.rows);
        let data = if self.validity.1 == 0 { data } else { data.null_bit_buffer(Some(copy(self.validity)?)) };
        let data = if self.width == 0 { data.add_buffer(copy(self.offsets)?) } else { data };
        let data = data.add_buffer(copy(self.values)?).build();
        Ok(make_array(
            data.map_err(|error| Failure::bug(format!("a column of a batch is invalid: {error}")))?,
        ))
    }

    fn data_type(&self) -> Result<DataType, Failure> {
        match (self.width, i32::try_from(self.width)) {
            (0, _) => Ok(DataType::Binary),
            (INTEGERS, _) => Ok(DataType::Int64),
            (1.., Ok(width)) => Ok(DataType::FixedSizeBinary(width)),
            (width, _) => Err(Failure::bug(format!("{width} is not the size of a value"))),
        }
    }
}

/// Copies memory.
///
/// # Safety
/// It is readable, and nobody writes to it during the call.
unsafe fn copied(address: usize, bytes: usize) -> Result<Buffer, Failure> {
    if bytes == 0 {
        return Ok(Buffer::from(&[0_u8; 0]));
    }
    if address == 0 || isize::try_from(bytes).is_err() {
        return Err(Failure::bug(format!("no memory has {bytes} bytes at {address:#x}")));
    }
    // SAFETY: the address is not null, no object is larger, and the caller vouches for the rest.
    Ok(Buffer::from(unsafe { slice::from_raw_parts(ptr::with_exposed_provenance::<u8>(address), bytes) }))
}

/// Returns a column of bytes in which a prefix precedes every value that is not null.
///
/// # Errors
/// If the column is not one of bytes, or becomes larger than 2 GiB.
pub(crate) fn prefixed(array: &ArrayRef, prefix: &[u8]) -> Result<ArrayRef, Failure> {
    let values = array.as_binary_opt::<i32>().ok_or_else(|| Failure::argument("sealed values are bytes"))?;
    let bytes = values.value_data().len() + prefix.len() * values.len();
    if i32::try_from(bytes).is_err() {
        return Err(Failure::argument("the values of a batch have more than 2 GiB; use smaller values"));
    }
    let prefixed = values.iter().map(|value| value.map(|value| [prefix, value].concat()));
    Ok(Arc::new(prefixed.collect::<BinaryArray>()))
}

/// Returns a result and its description, without handle and number of unopened rows. Bitmaps begin with the bit of
/// the first row.
///
/// # Errors
/// If the type of the result is not one of single values.
pub(crate) fn describe(array: ArrayRef) -> Result<(ArrayRef, [jlong; RESULT_LONGS]), Failure> {
    let data = array.to_data();
    let aligned = |nulls: &NullBuffer| nulls.offset() == 0;
    if data.offset() != 0 || !data.nulls().is_none_or(aligned) || !data.child_data().is_empty() {
        return Err(Failure::bug(format!("a result of type {} has an unexpected layout", data.data_type())));
    }
    let address = |buffer: &Buffer| to_java(buffer.as_ptr().expose_provenance());
    let validity = data.nulls().filter(|nulls| nulls.null_count() > 0);
    let validity = validity.map_or(0, |nulls| address(nulls.buffer()));
    let longs = match data.buffers() {
        [values] => [0, validity, 0, address(values), to_java(values.len()), 0],
        [offsets, values] => [0, validity, address(offsets), address(values), to_java(values.len()), 0],
        _ => return Err(Failure::bug(format!("a result has the type {}", data.data_type()))),
    };
    Ok((array, longs))
}

/// Returns the handle of a value, which [`free`] drops.
pub(crate) fn into_handle<T>(value: T) -> jlong {
    to_java(Box::into_raw(Box::new(value)).expose_provenance())
}

/// Returns an address or a size as Java's long with the same bits.
fn to_java(number: usize) -> jlong {
    number.cast_signed() as jlong
}

/// Returns the address in a handle.
fn address(handle: jlong) -> usize {
    handle.cast_unsigned() as usize
}

/// Returns the value of a handle.
///
/// # Errors
/// If the handle is 0.
///
/// # Safety
/// The handle is 0 or one of [`into_handle`] for the same type, and is not freed while the reference exists.
pub(crate) unsafe fn at<'a, T>(handle: jlong) -> Result<&'a T, Failure> {
    let pointer = ptr::with_exposed_provenance::<T>(address(handle));
    // SAFETY: the caller vouches for the handle.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::bug("the keyset is closed"))
}

/// Drops the value of a handle. 0 is ignored.
///
/// # Safety
/// The handle is 0 or one of [`into_handle`] for the same type, and it is not used again.
pub(crate) unsafe fn free<T>(handle: jlong) {
    if handle != 0 {
        // SAFETY: the caller vouches for the handle.
        drop(unsafe { Box::from_raw(ptr::with_exposed_provenance_mut::<T>(address(handle))) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(rows: usize, width: i64, offsets: &[i32], values: &[u8]) -> Result<ArrayRef, Failure> {
        let address = |pointer: *const u8| to_java(pointer.expose_provenance());
        let numbers = [
            to_java(rows),
            width,
            0,
            0,
            address(offsets.as_ptr().cast()),
            to_java(size_of_val(offsets)),
            address(values.as_ptr()),
            to_java(values.len()),
        ];
        // SAFETY: the slices live during the call.
        unsafe { Region::new(numbers)?.array() }
    }

    #[test]
    fn a_column_is_copied() {
        let Ok(array) = region(2, 0, &[0, 1, 3], b"abc") else { panic!("the column is valid") };
        assert_eq!(array.as_binary::<i32>(), &BinaryArray::from(vec![&b"a"[..], b"bc"]));
    }

    #[test]
    fn offsets_and_sizes_that_do_not_fit_the_rows_are_refused() {
        for offsets in [&[0, 1, 4][..], &[0, 2, 1], &[-1, 1, 3], &[0, 1]] {
            assert!(region(2, 0, offsets, b"abc").is_err(), "{offsets:?}");
        }
        assert!(region(3, 8, &[], &[0; 23]).is_err());
        assert!(region(3, 8, &[], &[0; 24]).is_ok());
        assert!(region(3, INTEGERS, &[], &[0; 23]).is_err());
        assert!(region(1, -2, &[], &[0; 8]).is_err());
        assert!(Region::new([-1; REGION_LONGS]).is_err());
    }

    #[test]
    fn a_null_keeps_no_prefix() {
        let array: ArrayRef = Arc::new(BinaryArray::from(vec![Some(&b"a"[..]), None, Some(b"")]));
        let Ok(array) = prefixed(&array, b"12") else { panic!("the column is binary") };
        assert_eq!(array.as_binary::<i32>(), &BinaryArray::from(vec![Some(&b"12a"[..]), None, Some(b"12")]));
    }

    #[test]
    fn the_handle_0_is_no_keyset() {
        // SAFETY: 0 is allowed.
        assert!(unsafe { at::<ArrayRef>(0) }.is_err());
        // SAFETY: as above.
        unsafe { free::<ArrayRef>(0) };
    }
}
