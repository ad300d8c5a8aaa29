//! What C calls a buffer: a pointer and a length.

use std::slice;

use crate::sealcomb_status;
use crate::sealcomb_status::SEALCOMB_ERROR_POINTER;

/// Whether a buffer is possible: it has no more bytes than an object can have, and, if it has any, a pointer that is
/// aligned and not NULL.
#[inline(always)]
pub(crate) fn is_possible<T>(data: *const T, count: usize) -> bool {
    (count == 0 || !data.is_null() && data.is_aligned()) && count <= isize::MAX as usize / size_of::<T>()
}

/// Writes a result to a place that the caller named, of any alignment.
///
/// # Safety
/// `place` is NULL, or a value can be written there.
pub(crate) unsafe fn tell<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the caller's promise.
        unsafe { place.write_unaligned(value) };
    }
}

/// As a slice. NULL is an empty one.
///
/// # Safety
/// `count` values can be read at `data` for as long as the slice is used, and nobody writes to them meanwhile; or
/// `count` is 0, with any pointer.
#[inline(always)]
pub(crate) unsafe fn read<'a, T>(data: *const T, count: usize) -> Result<&'a [T], sealcomb_status> {
    if !is_possible(data, count) {
        return Err(SEALCOMB_ERROR_POINTER);
    }
    // An empty buffer may have a pointer that is none.
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: the caller's promise; not NULL and not too long, as just found.
    Ok(unsafe { slice::from_raw_parts(data, count) })
}

/// As a slice to write to. NULL is an empty one.
///
/// # Safety
/// `bytes` bytes can be written at `data` for as long as the slice is used, and nobody else uses them meanwhile; or
/// `bytes` is 0, with any pointer.
#[inline(always)]
pub(crate) unsafe fn write<'a>(data: *mut u8, bytes: usize) -> Result<&'a mut [u8], sealcomb_status> {
    if !is_possible(data, bytes) {
        return Err(SEALCOMB_ERROR_POINTER);
    }
    if bytes == 0 {
        return Ok(&mut []);
    }
    // SAFETY: the caller's promise; not NULL and not too long, as just found. What C has as a buffer is a `u8` whatever
    // it holds.
    Ok(unsafe { slice::from_raw_parts_mut(data, bytes) })
}

/// Whether two buffers have a byte in common.
pub(crate) fn overlap(a: *const u8, a_bytes: usize, b: *const u8, b_bytes: usize) -> bool {
    a_bytes > 0 && b_bytes > 0 && may_overlap(a, a_bytes, b, b_bytes)
}

/// Whether two buffers have a byte in common, unless one is empty: with one comparison.
#[inline(always)]
pub(crate) fn may_overlap(a: *const u8, a_bytes: usize, b: *const u8, b_bytes: usize) -> bool {
    // They do if the end of `a` is behind the beginning of `b`, by less than the bytes of both.
    let behind = (a as usize).wrapping_add(a_bytes).wrapping_sub(b as usize);
    behind.wrapping_sub(1) < a_bytes.wrapping_add(b_bytes).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    #[test]
    fn buffers_overlap_if_a_byte_is_in_both() {
        let at = |address| ptr::without_provenance::<u8>(address);
        let bytes = |from: usize, len: usize| from..from + len;
        for (a, a_bytes, b, b_bytes) in (0..6usize.pow(4)).map(|n| (n % 6, n / 6 % 6, n / 36 % 6, n / 216)) {
            let expected = bytes(a, a_bytes).any(|byte| bytes(b, b_bytes).contains(&byte));
            let (a, b) = (at(8 + a), at(8 + b));
            assert_eq!(overlap(a, a_bytes, b, b_bytes), expected, "{a:?} {a_bytes} {b:?} {b_bytes}");
            assert!(may_overlap(a, a_bytes, b, b_bytes) || !expected, "{a:?} {a_bytes} {b:?} {b_bytes}");
        }
        assert!(!overlap(ptr::null(), 0, at(16), 16));
    }

    #[test]
    fn null_is_an_empty_buffer_and_no_other() {
        // SAFETY: none of them is both possible and anywhere.
        unsafe {
            assert_eq!(read::<u8>(ptr::null(), 0), Ok(&[][..]));
            assert_eq!(read::<u8>(ptr::null(), 1), Err(SEALCOMB_ERROR_POINTER));
            assert_eq!(read(ptr::dangling::<u8>(), usize::MAX), Err(SEALCOMB_ERROR_POINTER));
            assert_eq!(read(ptr::dangling::<u64>(), usize::MAX / 8), Err(SEALCOMB_ERROR_POINTER));
            assert_eq!(write(ptr::null_mut(), 0), Ok(&mut [][..]));
            assert_eq!(write(ptr::null_mut(), 1), Err(SEALCOMB_ERROR_POINTER));
            assert_eq!(read(ptr::without_provenance::<u64>(12), 1), Err(SEALCOMB_ERROR_POINTER));
            assert_eq!(read(ptr::without_provenance::<u64>(12), 0), Ok(&[][..]));
        }
    }
}
