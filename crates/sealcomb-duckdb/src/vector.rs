//! DuckDB's vectors: up to 2048 values of one type, or the elements of that many lists.

use std::marker::PhantomData;
use std::ptr::null_mut;
use std::slice;

use libduckdb_sys::v2 as duckdb;

use crate::ffi::{Failure, LogicalType, Result, Slot, Value, call, size};

/// The largest value in bytes that lies in the vector itself.
const INLINE: usize = 12;
const _: () = assert!(INLINE as u64 == duckdb::DUCKDB_V2_BYTES_INLINE_LENGTH as u64);

/// Types whose values lie in a vector as in Rust.
///
/// # Safety
/// Every bit pattern is a value, and there is no padding.
pub(crate) unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($Type:ty),*) => { $(
        // SAFETY: numbers and arrays of numbers have no padding and no invalid bit patterns.
        unsafe impl Plain for $Type {}
    )* };
}
// Not i128: DuckDB aligns numbers of 16 bytes to 8.
plain!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, [u8; 16], [u64; 2]);

/// The length that is stored for a value of this number of bytes, or `None` if DuckDB has no such values.
fn length(bytes: usize) -> Option<u32> {
    u32::try_from(bytes).ok()
}

/// A vector that DuckDB lends for a call.
#[derive(Clone, Copy)]
pub(crate) struct Vector<'a> {
    raw: duckdb::duckdb_v2_vector_handle,
    slot: Slot,
    lifetime: PhantomData<&'a ()>,
}

impl Vector<'_> {
    /// # Safety
    /// The vector is alive for the lifetime of the result, and nothing else uses it meanwhile.
    pub(crate) unsafe fn new(raw: duckdb::duckdb_v2_vector_handle, slot: Slot) -> Self {
        Self { raw, slot, lifetime: PhantomData }
    }

    /// Gives every row its own value, instead of one for all, or indices into a dictionary.
    pub(crate) fn flatten(self) -> Result<()> {
        call!(self.slot, duckdb_v2_vector_flatten(self.raw))
    }

    pub(crate) fn child(self, index: u64) -> Result<Self> {
        let mut raw = null_mut();
        call!(self.slot, duckdb_v2_vector_get_child(self.raw, index, &raw mut raw))?;
        Ok(Self { raw, ..self })
    }

    /// Returns the values to read.
    pub(crate) fn view(self) -> Result<View<Self>> {
        use duckdb::DUCKDB_V2_VECTOR_TYPE as Kind;
        let mut kind = Kind::DUCKDB_V2_VECTOR_TYPE_OTHER;
        call!(self.slot, duckdb_v2_vector_get_vector_type(self.raw, &raw mut kind))?;
        if kind == Kind::DUCKDB_V2_VECTOR_TYPE_OTHER {
            self.flatten()?;
        }
        // SAFETY: the view is plain data, which the call fills in.
        let mut raw: duckdb::duckdb_v2_vector_view = unsafe { std::mem::zeroed() };
        call!(self.slot, duckdb_v2_vector_get_view(self.raw, &raw mut raw))?;
        Ok(View { raw, constant: kind == Kind::DUCKDB_V2_VECTOR_TYPE_CONSTANT, vector: self })
    }

    /// Makes room for this number of rows.
    pub(crate) fn set_rows(self, rows: usize) -> Result<()> {
        call!(self.slot, duckdb_v2_vector_set_size(self.raw, rows as u64))
    }

    /// Marks the rows as null whose bits are 0. `words` has as many bits as the vector has rows, in whole words.
    pub(crate) fn set_validity(self, words: impl ExactSizeIterator<Item = u64>) -> Result<()> {
        let mut validity = null_mut();
        call!(self.slot, duckdb_v2_vector_flat_get_validity_mutable(self.raw, &raw mut validity))?;
        // SAFETY: DuckDB's bitmap has whole words for all rows.
        let validity = unsafe { slice::from_raw_parts_mut(validity, words.len()) };
        for (valid, word) in validity.iter_mut().zip(words) {
            *valid = word;
        }
        Ok(())
    }

    /// Makes every row null, without memory for each. `factory` is that of the call.
    pub(crate) fn set_null(self, factory: duckdb::duckdb_v2_factory_handle, rows: usize) -> Result<()> {
        let mut logical = LogicalType { raw: null_mut(), slot: self.slot };
        call!(self.slot, duckdb_v2_vector_get_logical_type(self.raw, &raw mut logical.raw))?;
        let mut null = Value { raw: null_mut(), slot: self.slot };
        call!(self.slot, duckdb_v2_value_create_null(factory, logical.raw, &raw mut null.raw))?;
        call!(self.slot, duckdb_v2_vector_make_constant(self.raw, null.raw, rows as u64))
    }

    fn data(self) -> Result<*mut u8> {
        let mut data = null_mut();
        call!(self.slot, duckdb_v2_vector_get_data_mutable(self.raw, &raw mut data))?;
        Ok(data.cast())
    }

    /// Writes a value of the vector's type for each row, for which [`set_rows`](Self::set_rows) has made room.
    pub(crate) fn write<T: Plain>(self, values: impl ExactSizeIterator<Item = T>) -> Result<()> {
        let data: *mut T = self.data()?.cast();
        for (row, value) in values.enumerate() {
            // SAFETY: the flat vector has room for a value of its type for each row.
            unsafe { data.add(row).write(value) };
        }
        Ok(())
    }

    /// Writes bytes or text. Row `row` has the bytes `values[ends(row)..ends(row + 1)]`; those of nulls are ignored.
    pub(crate) fn write_bytes(
        self,
        rows: usize,
        values: &[u8],
        offset: impl Fn(usize) -> usize,
    ) -> Result<()> {
        let (mut arena, mut memory) = (null_mut(), null_mut::<u8>());
        let (start, end) = (offset(0), offset(rows));
        if end > start {
            call!(self.slot, duckdb_v2_vector_get_arena(self.raw, &raw mut arena))?;
            call!(self.slot, duckdb_v2_arena_allocate(arena, (end - start) as u64, &raw mut memory))?;
            // SAFETY: the arena has allocated this number of bytes, which nothing else refers to.
            unsafe { memory.copy_from_nonoverlapping(values[start..end].as_ptr(), end - start) };
        }
        if let Some(bytes) =
            (0..rows).map(|row| offset(row + 1) - offset(row)).find(|bytes| length(*bytes).is_none())
        {
            return Err(Failure::from(format!(
                "a result has {bytes} bytes; values of DuckDB have less than 2^32"
            )));
        }
        let value = |row| {
            let bytes = &values[offset(row)..offset(row + 1)];
            let length = length(bytes.len()).expect("checked above");
            let mut value = [0_u8; 16];
            value[..4].copy_from_slice(&length.to_ne_bytes());
            if bytes.len() <= INLINE {
                value[4..][..bytes.len()].copy_from_slice(bytes);
            } else {
                value[4..8].copy_from_slice(&bytes[..4]);
                // SAFETY: the value lies within the memory above.
                let address = unsafe { memory.add(offset(row) - start) };
                value[8..].copy_from_slice(&(address.expose_provenance() as u64).to_ne_bytes());
            }
            value
        };
        self.write((0..rows).map(value))
    }
}

/// The values of a vector.
pub(crate) struct View<V> {
    raw: duckdb::duckdb_v2_vector_view,
    /// All rows have the first value.
    constant: bool,
    /// The vector, which must outlive the view.
    #[expect(dead_code, reason = "keeps the lifetime")]
    vector: V,
}

impl<V> View<V> {
    /// Whether the value of row `n` is at index `n`.
    pub(crate) fn is_flat(&self) -> bool {
        !self.constant && self.raw.sel.is_null()
    }

    /// The index of the value of a row.
    #[inline]
    pub(crate) fn index(&self, row: usize) -> usize {
        assert!(row < size(self.raw.count), "row {row} of a vector of {}", self.raw.count);
        if self.constant {
            0
        } else if self.raw.sel.is_null() {
            row
        } else {
            // SAFETY: the selection has an index for each row.
            size(unsafe { *self.raw.sel.add(row) }.into())
        }
    }

    /// The bitmap of the values that are not null, or `None` if none is. Of a flat view only.
    pub(crate) fn validity(&self, rows: usize) -> Option<&[u64]> {
        assert!(self.is_flat() && rows <= size(self.raw.count), "a bit for each row");
        if self.raw.validity.is_null() {
            return None;
        }
        // SAFETY: DuckDB's bitmap has whole words for all rows.
        Some(unsafe { slice::from_raw_parts(self.raw.validity, rows.div_ceil(64)) })
    }

    /// Whether the value at this index is not null.
    #[inline]
    pub(crate) fn is_valid(&self, index: usize) -> bool {
        // SAFETY: the bitmap has a bit for every value, and the index comes from `index`.
        self.raw.validity.is_null() || unsafe { *self.raw.validity.add(index / 64) } >> (index % 64) & 1 == 1
    }

    /// The values of a flat view.
    ///
    /// # Safety
    /// The vector's values have this type.
    pub(crate) unsafe fn values<T: Plain>(&self, rows: usize) -> &[T] {
        assert!(self.is_flat() && rows <= size(self.raw.count), "a value for each row");
        // SAFETY: a flat vector has a value for each row; the caller guarantees the type.
        unsafe { slice::from_raw_parts(self.raw.data.cast(), rows) }
    }

    /// The value at an index from [`index`](Self::index).
    ///
    /// # Safety
    /// The vector's values have this type.
    #[inline]
    pub(crate) unsafe fn value<T: Plain>(&self, index: usize) -> T {
        // SAFETY: there is a value at each index; the caller guarantees the type.
        unsafe { self.raw.data.cast::<T>().add(index).read() }
    }

    /// The bytes of the value at an index from [`index`](Self::index).
    ///
    /// # Safety
    /// The vector's values are bytes or text, and this one is not null.
    #[inline]
    pub(crate) unsafe fn bytes(&self, index: usize) -> &[u8] {
        // SAFETY: the value has its length first, and its bytes behind that or where its pointer says.
        unsafe {
            let value = &*self.raw.data.cast::<duckdb::duckdb_v2_bytes>().add(index);
            let length = size(value.value.inlined.length.into());
            if length <= INLINE {
                slice::from_raw_parts((&raw const value.value.inlined.inlined).cast(), length)
            } else {
                slice::from_raw_parts(value.value.pointer.ptr.cast(), length)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn a_value_of_four_gibibytes_has_no_length() {
        assert_eq!(length(0), Some(0));
        assert_eq!(length(0xffff_ffff), Some(u32::MAX));
        for bytes in [1 << 32, (1 << 32) + 1, (1 << 33) - 1, usize::MAX] {
            assert_eq!(length(bytes), None);
        }
    }
}
