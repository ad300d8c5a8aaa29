//! Conversion of C's buffers, a pointer and a length, to slices.

use std::slice;

use crate::sealcomb_status;
use crate::sealcomb_status::SEALCOMB_ERROR_POINTER;

/// Returns whether a pointer and an element count can describe a buffer: it has at most `isize::MAX` bytes, and its
/// pointer is aligned and not NULL unless the count is 0.
#[inline(always)]
pub(crate) fn is_possible<T>(data: *const T, count: usize) -> bool {
    (count == 0 || !data.is_null() && data.is_aligned()) && count <= isize::MAX as usize / size_of::<T>()
}

/// Stores a result through an output pointer, which may be unaligned. NULL is ignored.
///
/// # Safety
/// `place` is NULL or valid for writes.
pub(crate) unsafe fn store<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: guaranteed by the caller.
        unsafe { place.write_unaligned(value) };
    }
}

/// Returns a buffer as a slice. NULL with a count of 0 is the empty slice.
///
/// # Safety
/// `count` is 0, or `data` is NULL, or `data` is valid during `'a` for reads of `count` values without
/// concurrent writes.
#[inline(always)]
pub(crate) unsafe fn read<'a, T>(data: *const T, count: usize) -> Result<&'a [T], sealcomb_status> {
    if !is_possible(data, count) {
        return Err(SEALCOMB_ERROR_POINTER);
    }
    // C may pass any pointer with a count of 0; a slice may not have it.
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: guaranteed by the caller; not NULL, aligned and not too long, as just checked.
    Ok(unsafe { slice::from_raw_parts(data, count) })
}

/// Returns a buffer as a mutable slice. NULL with 0 bytes is the empty slice.
///
/// # Safety
/// `bytes` is 0, or `data` is NULL, or `data` is valid during `'a` for reads and writes of `bytes` bytes without any
/// other access.
#[inline(always)]
pub(crate) unsafe fn write<'a>(data: *mut u8, bytes: usize) -> Result<&'a mut [u8], sealcomb_status> {
    if !is_possible(data, bytes) {
        return Err(SEALCOMB_ERROR_POINTER);
    }
    if bytes == 0 {
        return Ok(&mut []);
    }
    // SAFETY: guaranteed by the caller; not NULL and not too long, as just checked. Any byte is a valid `u8`.
    Ok(unsafe { slice::from_raw_parts_mut(data, bytes) })
}

/// Returns whether two buffers share a byte.
pub(crate) fn overlap(a: *const u8, a_bytes: usize, b: *const u8, b_bytes: usize) -> bool {
    a_bytes > 0 && b_bytes > 0 && may_overlap(a, a_bytes, b, b_bytes)
}

/// Returns whether two buffers share a byte, with one comparison. May also return true if one of them is empty.
#[inline(always)]
pub(crate) fn may_overlap(a: *const u8, a_bytes: usize, b: *const u8, b_bytes: usize) -> bool {
    // They do if `a` ends past the start of `b`, by less than the two lengths together.
    let past = (a as usize).wrapping_add(a_bytes).wrapping_sub(b as usize);
    past.wrapping_sub(1) < a_bytes.wrapping_add(b_bytes).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    #[test]
    fn buffers_overlap_if_they_share_a_byte() {
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
        // SAFETY: each of these is either empty or rejected.
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
