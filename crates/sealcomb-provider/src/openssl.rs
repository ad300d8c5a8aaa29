//! OpenSSL's structures (`openssl/core.h`), which are identical in all 3.x versions.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::{ptr, slice};

use crate::errors::{Outcome, Refused};

/// `OSSL_DISPATCH`: a function with its number.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Dispatch {
    pub(crate) number: c_int,
    pub(crate) function: *const c_void,
}

// SAFETY: it points to a function or is NULL.
unsafe impl Sync for Dispatch {}

pub(crate) const END: Dispatch = Dispatch { number: 0, function: ptr::null() };

/// An entry of a dispatch table. The caller must cast the function to its exact type.
macro_rules! entry {
    ($number:expr, $function:expr) => {
        $crate::openssl::Dispatch { number: $number, function: $function as *const ::std::ffi::c_void }
    };
}
pub(crate) use entry;

/// `OSSL_ALGORITHM`: the names, properties and functions of an algorithm.
#[repr(C)]
pub(crate) struct Algorithm {
    names: *const c_char,
    properties: *const c_char,
    functions: *const Dispatch,
    description: *const c_char,
}

// SAFETY: all fields point to constants.
unsafe impl Sync for Algorithm {}

impl Algorithm {
    pub(crate) const END: Self = Self {
        names: ptr::null(),
        properties: ptr::null(),
        functions: ptr::null(),
        description: ptr::null(),
    };

    pub(crate) const fn new(names: &'static CStr, functions: &'static [Dispatch]) -> Self {
        Self {
            names: names.as_ptr(),
            properties: c"provider=sealcomb".as_ptr(),
            functions: functions.as_ptr(),
            description: c"sealcomb".as_ptr(),
        }
    }
}

/// `OSSL_PARAM`: a named parameter, with its value or the space for it. Functions that read it refuse with
/// [`Refused::FAILED_TO_GET_PARAMETER`], and those that set it with [`Refused::FAILED_TO_SET_PARAMETER`].
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Param {
    key: *const c_char,
    kind: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

// SAFETY: static parameters have no data.
unsafe impl Sync for Param {}

const INTEGER: c_uint = 1;
const UNSIGNED_INTEGER: c_uint = 2;
const UTF8_STRING: c_uint = 4;
const OCTET_STRING: c_uint = 5;
const UTF8_PTR: c_uint = 6;
const OCTET_PTR: c_uint = 7;

impl Param {
    pub(crate) const END: Self = Self::of(ptr::null(), 0);

    const fn of(key: *const c_char, kind: c_uint) -> Self {
        Self { key, kind, data: ptr::null_mut(), data_size: 0, return_size: 0 }
    }

    pub(crate) const fn number(name: &'static CStr) -> Self {
        Self { data_size: size_of::<usize>(), ..Self::of(name.as_ptr(), UNSIGNED_INTEGER) }
    }

    pub(crate) const fn text(name: &'static CStr) -> Self {
        Self::of(name.as_ptr(), UTF8_STRING)
    }

    pub(crate) const fn text_in_place(name: &'static CStr) -> Self {
        Self::of(name.as_ptr(), UTF8_PTR)
    }

    pub(crate) const fn bytes(name: &'static CStr) -> Self {
        Self::of(name.as_ptr(), OCTET_STRING)
    }

    pub(crate) const fn pointer(name: &'static CStr) -> Self {
        Self::of(name.as_ptr(), OCTET_PTR)
    }

    pub(crate) fn name(&self) -> &[u8] {
        // SAFETY: only the list terminator, which `params` leaves out, has no name.
        unsafe { CStr::from_ptr(self.key) }.to_bytes()
    }

    /// Returns the value of an integer parameter of any size. Refuses other types, and values that are negative or too
    /// large.
    pub(crate) fn get_number(&self) -> Outcome<usize> {
        self.number_of_any_size().ok_or(Refused::FAILED_TO_GET_PARAMETER)
    }

    /// Returns the value of an integer parameter. Refuses values that do not fit into C's `unsigned int`, too.
    pub(crate) fn get_uint(&self) -> Outcome<c_uint> {
        c_uint::try_from(self.get_number()?).map_err(|_| Refused::FAILED_TO_GET_PARAMETER)
    }

    fn number_of_any_size(&self) -> Option<usize> {
        if !self.is_number() {
            return None;
        }
        // SAFETY: OpenSSL guarantees `data_size` bytes of data.
        let bytes = unsafe { bytes(self.data.cast(), self.data_size) }?;
        let is_negative =
            bytes.len().checked_sub(1).is_some_and(|highest| bytes[self.byte_of(highest)] >= 0x80);
        if self.kind == INTEGER && is_negative {
            return None;
        }
        let mut number = 0_usize;
        for place in (0..bytes.len()).rev() {
            number = number.checked_mul(0x100)? | usize::from(bytes[self.byte_of(place)]);
        }
        Some(number)
    }

    fn is_number(&self) -> bool {
        matches!(self.kind, INTEGER | UNSIGNED_INTEGER)
    }

    /// Returns the index of an integer's byte by its significance, from 0.
    fn byte_of(&self, place: usize) -> usize {
        if cfg!(target_endian = "little") { place } else { self.data_size - 1 - place }
    }

    /// Returns the value of an octet string. Refuses one without data (an empty string has data), or of impossible
    /// length.
    pub(crate) fn octets(&self) -> Outcome<&[u8]> {
        self.data_of(OCTET_STRING).ok_or(Refused::FAILED_TO_GET_PARAMETER)
    }

    /// Returns the bytes of a UTF-8 string before its NUL, which some programs count in the size.
    pub(crate) fn characters(&self) -> Option<&[u8]> {
        self.data_of(UTF8_STRING)?.split(|byte| *byte == 0).next()
    }

    fn data_of(&self, kind: c_uint) -> Option<&[u8]> {
        if self.kind != kind {
            return None;
        }
        // SAFETY: OpenSSL guarantees `data_size` bytes of data.
        unsafe { bytes(self.data.cast(), self.data_size) }
    }

    /// Returns the first `count` bytes of an octet string whose size is given as -1.
    ///
    /// # Safety
    /// Such a string has at least `count` bytes.
    pub(crate) unsafe fn octets_of_any_size(&self, count: usize) -> Option<&[u8]> {
        if self.kind != OCTET_STRING || self.data_size != usize::MAX {
            return None;
        }
        // SAFETY: guaranteed by the caller.
        unsafe { bytes(self.data.cast(), count) }
    }

    /// Returns the buffers of a pointer to an array of `count` pointers, and the size of each buffer.
    ///
    /// # Safety
    /// A pointer other than NULL points to an array of at least `count` pointers, which does not change during `'a`.
    pub(crate) unsafe fn buffers<'a>(&self, count: usize) -> Option<(&'a [*mut u8], usize)> {
        if self.kind != OCTET_PTR || self.data.is_null() {
            return None;
        }
        // SAFETY: the data of a pointer parameter is a pointer.
        let array = unsafe { self.data.cast::<*const *mut u8>().read_unaligned() };
        // SAFETY: guaranteed by the caller.
        (!array.is_null()).then(|| (unsafe { slice::from_raw_parts(array, count) }, self.data_size))
    }

    /// Returns the size of an octet string or of the space for one, with or without data.
    pub(crate) fn octet_size(&self) -> Outcome<usize> {
        if self.is_octets() { Ok(self.size()) } else { Err(Refused::FAILED_TO_GET_PARAMETER) }
    }

    /// Returns whether the parameter is an octet string or the space for one, with or without data.
    pub(crate) fn is_octets(&self) -> bool {
        self.kind == OCTET_STRING
    }

    /// Returns the size of the data or of the space for them in bytes.
    pub(crate) fn size(&self) -> usize {
        self.data_size
    }

    pub(crate) fn has_data(&self) -> bool {
        !self.data.is_null()
    }

    /// Writes an octet string regardless of the declared size. Returns false if the parameter is not an octet string
    /// with data.
    ///
    /// # Safety
    /// The data is valid for writes of `bytes.len()` bytes.
    pub(crate) unsafe fn write_octets(&mut self, bytes: &[u8]) -> bool {
        if self.kind != OCTET_STRING || self.data.is_null() {
            return false;
        }
        // SAFETY: guaranteed by the caller.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.data.cast(), bytes.len()) };
        true
    }

    /// Sets an integer of any size, or only its size without data. Refuses an integer that cannot hold it.
    pub(crate) fn set_number(&mut self, number: usize) -> Outcome {
        if !self.is_number() {
            return Err(Refused::FAILED_TO_SET_PARAMETER);
        }
        self.return_size = size_of::<usize>();
        if self.data.is_null() {
            return Ok(());
        }
        let bits = (8 * self.data_size).saturating_sub(usize::from(self.kind == INTEGER));
        if bits < usize::BITS as usize && number >> bits > 0 {
            return Err(Refused::FAILED_TO_SET_PARAMETER);
        }
        self.return_size = self.data_size;
        let bytes = number.to_le_bytes();
        for place in 0..self.data_size {
            let byte = bytes.get(place).copied().unwrap_or(0);
            // SAFETY: OpenSSL guarantees `data_size` bytes of data.
            unsafe { self.data.cast::<u8>().add(self.byte_of(place)).write(byte) };
        }
        Ok(())
    }

    /// Sets an octet string, or only its size without data. Refuses too small a space.
    pub(crate) fn set_bytes(&mut self, bytes: &[u8]) -> Outcome {
        self.return_size = bytes.len();
        match self.kind {
            OCTET_STRING if self.data.is_null() => Ok(()),
            OCTET_STRING if self.data_size >= bytes.len() => {
                // SAFETY: OpenSSL guarantees `data_size` writable bytes of data.
                unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.data.cast(), bytes.len()) };
                Ok(())
            }
            _ => Err(Refused::FAILED_TO_SET_PARAMETER),
        }
    }

    /// Sets an IV, or a pointer to it in the context, or only its size without data. Refuses too small a space.
    pub(crate) fn set_iv(&mut self, iv: &[u8]) -> Outcome {
        self.set_pointer(iv).or_else(|_| self.set_bytes(iv))
    }

    /// Sets a pointer to bytes of the context.
    pub(crate) fn set_pointer(&mut self, bytes: &[u8]) -> Outcome {
        self.set_address(bytes.as_ptr(), bytes.len())
    }

    /// Sets a NULL pointer.
    pub(crate) fn set_null(&mut self) -> Outcome {
        self.set_address(ptr::null(), 0)
    }

    fn set_address(&mut self, address: *const u8, count: usize) -> Outcome {
        if self.kind != OCTET_PTR {
            return Err(Refused::FAILED_TO_SET_PARAMETER);
        }
        self.return_size = count;
        if !self.data.is_null() {
            // SAFETY: the data of a pointer parameter is space for a pointer.
            unsafe { self.data.cast::<*const u8>().write_unaligned(address) };
        }
        Ok(())
    }

    /// Sets a pointer to a static NUL-terminated string. Returns whether the parameter takes one.
    pub(crate) fn set_text(&mut self, text: &'static [u8]) -> bool {
        if self.kind != UTF8_PTR {
            return false;
        }
        self.return_size = text.len() - 1;
        if !self.data.is_null() {
            // SAFETY: the data of a pointer parameter is space for a pointer.
            unsafe { self.data.cast::<*const u8>().write_unaligned(text.as_ptr()) };
        }
        true
    }
}

/// Returns the parameters of a list; an empty slice for NULL.
///
/// # Safety
/// The list is terminated and not used otherwise during `'a`.
pub(crate) unsafe fn params<'a>(list: *mut Param) -> &'a mut [Param] {
    if list.is_null() {
        return &mut [];
    }
    let mut count = 0;
    // SAFETY: within the list, whose terminator has no name.
    while unsafe { !(*list.add(count)).key.is_null() } {
        count += 1;
    }
    // SAFETY: the list has `count` parameters.
    unsafe { slice::from_raw_parts_mut(list, count) }
}

/// Returns a buffer as a slice; `None` for NULL or an impossible length.
///
/// # Safety
/// A pointer other than NULL is valid for reads of `count` bytes during `'a`.
pub(crate) unsafe fn bytes<'a>(data: *const u8, count: usize) -> Option<&'a [u8]> {
    if data.is_null() || isize::try_from(count).is_err() {
        return None;
    }
    // SAFETY: guaranteed by the caller.
    Some(unsafe { slice::from_raw_parts(data, count) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An integer parameter of `N` bytes with a value.
    fn read<const N: usize>(kind: c_uint, mut value: [u8; N]) -> (Outcome<usize>, Outcome<c_uint>) {
        let data = value.as_mut_ptr().cast();
        let param = Param { data, data_size: N, ..Param::of(c"number".as_ptr(), kind) };
        (param.get_number(), param.get_uint())
    }

    #[test]
    fn a_number_of_any_size_is_read_whole_or_refused() {
        let refused = Err(Refused::FAILED_TO_GET_PARAMETER);
        let limit = u64::from(c_uint::MAX);
        for kind in [INTEGER, UNSIGNED_INTEGER] {
            assert_eq!(read(kind, limit.to_ne_bytes()), (Ok(c_uint::MAX as usize), Ok(c_uint::MAX)));
            assert_eq!(read(kind, (limit + 1).to_ne_bytes()), (Ok(c_uint::MAX as usize + 1), refused));
            let number = i64::MAX.unsigned_abs();
            assert_eq!(read(kind, number.to_ne_bytes()), (Ok(usize::try_from(number).unwrap()), refused));
            assert_eq!(read(kind, (1_u128 << 64).to_ne_bytes()), (refused.map(|_: c_uint| 0), refused));
        }
        assert_eq!(read(UNSIGNED_INTEGER, u64::MAX.to_ne_bytes()), (Ok(usize::MAX), refused));
        assert_eq!(read(INTEGER, u64::MAX.to_ne_bytes()), (refused.map(|_: c_uint| 0), refused));
        assert_eq!(read(UNSIGNED_INTEGER, [0xff]), (Ok(255), Ok(255)));
        assert_eq!(read(INTEGER, [0xff]), (refused.map(|_: c_uint| 0), refused));
    }

    #[test]
    fn a_number_is_written_whole_or_refused() {
        for (kind, bytes, highest) in [
            (INTEGER, 1, 127),
            (UNSIGNED_INTEGER, 1, 255),
            (INTEGER, 2, 32767),
            (UNSIGNED_INTEGER, 4, u32::MAX as usize),
        ] {
            let mut value = [0_u8; 8];
            for (number, fits) in [(highest, true), (highest + 1, false)] {
                let data = value.as_mut_ptr().cast();
                let mut param = Param { data, data_size: bytes, ..Param::of(c"number".as_ptr(), kind) };
                assert_eq!(param.set_number(number).is_ok(), fits, "{number} in {bytes} bytes");
                assert_eq!(param.get_number(), Ok(highest));
            }
        }
    }
}
