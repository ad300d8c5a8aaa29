//! OpenSSL's structures (`openssl/core.h`), which are the same in all of its versions 3.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

/// `OSSL_DISPATCH`: a function and its number.
#[repr(C)]
pub(crate) struct Dispatch {
    pub(crate) number: c_int,
    pub(crate) function: *const c_void,
}

// SAFETY: it points to a function, or nowhere.
unsafe impl Sync for Dispatch {}

pub(crate) const END: Dispatch = Dispatch { number: 0, function: ptr::null() };

/// An entry of a table of functions, which has to say what kind of function it is.
macro_rules! entry {
    ($number:expr, $function:expr) => {
        $crate::openssl::Dispatch { number: $number, function: $function as *const ::std::ffi::c_void }
    };
}
pub(crate) use entry;

/// `OSSL_ALGORITHM`: names, properties, functions.
#[repr(C)]
pub(crate) struct Algorithm {
    names: *const c_char,
    properties: *const c_char,
    functions: *const Dispatch,
    description: *const c_char,
}

// SAFETY: all of it is constant.
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

/// `OSSL_PARAM`: a name, and where what it names is, or is to be written.
#[repr(C)]
pub(crate) struct Param {
    key: *const c_char,
    kind: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

// SAFETY: those that are static have no data.
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

    pub(crate) fn name(&self) -> &[u8] {
        // SAFETY: only the end of a list, which nobody gets, has no name.
        unsafe { CStr::from_ptr(self.key) }.to_bytes()
    }

    /// A number, if it is one, and not negative.
    pub(crate) fn get_number(&self) -> Option<usize> {
        if self.data.is_null() {
            return None;
        }
        // SAFETY: a parameter has so many bytes of data. It may have any alignment.
        unsafe {
            match (self.kind, self.data_size) {
                (INTEGER, 4) => usize::try_from(self.data.cast::<i32>().read_unaligned()).ok(),
                (INTEGER, 8) => usize::try_from(self.data.cast::<i64>().read_unaligned()).ok(),
                (UNSIGNED_INTEGER, 4) => Some(self.data.cast::<u32>().read_unaligned() as usize),
                (UNSIGNED_INTEGER, 8) => usize::try_from(self.data.cast::<u64>().read_unaligned()).ok(),
                _ => None,
            }
        }
    }

    /// A string of bytes. None if there is nothing, which is not the same as no bytes, or if no string can be so
    /// long.
    pub(crate) fn octets(&self) -> Option<&[u8]> {
        if self.kind != OCTET_STRING {
            return None;
        }
        // SAFETY: a parameter has so many bytes of data.
        unsafe { bytes(self.data.cast(), self.data_size) }
    }

    /// The characters of a text.
    pub(crate) fn characters(&self) -> Option<&[u8]> {
        if self.kind != UTF8_STRING {
            return None;
        }
        // SAFETY: a parameter has so many bytes of data.
        unsafe { bytes(self.data.cast(), self.data_size) }
    }

    /// The first bytes of a string whose size is told as -1.
    ///
    /// # Safety
    /// So many bytes are there, if it is one.
    pub(crate) unsafe fn octets_of_any_size(&self, count: usize) -> Option<&[u8]> {
        if self.kind != OCTET_STRING || self.data_size != usize::MAX {
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe { bytes(self.data.cast(), count) }
    }

    /// The size of a string of bytes, or of the room for one, whether it has data or not.
    pub(crate) fn octet_size(&self) -> Option<usize> {
        (self.kind == OCTET_STRING).then_some(self.data_size)
    }

    pub(crate) fn has_data(&self) -> bool {
        !self.data.is_null()
    }

    /// Writes a string of bytes, whatever size is told. Returns whether there is a place for one.
    ///
    /// # Safety
    /// So many bytes can be written there, and are nobody else's.
    pub(crate) unsafe fn write_octets(&mut self, bytes: &[u8]) -> bool {
        if self.kind != OCTET_STRING || self.data.is_null() {
            return false;
        }
        // SAFETY: the caller's promise.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.data.cast(), bytes.len()) };
        true
    }

    /// Returns whether it is a number with room for this one, or is only asked for its size.
    pub(crate) fn set_number(&mut self, number: usize) -> bool {
        if !matches!(self.kind, INTEGER | UNSIGNED_INTEGER) {
            return false;
        }
        self.return_size = size_of::<usize>();
        if self.data.is_null() {
            return true;
        }
        self.return_size = self.data_size;
        // SAFETY: a parameter has so many bytes of data. It may have any alignment.
        unsafe {
            match (self.data_size, u32::try_from(number)) {
                (4, Ok(number)) => self.data.cast::<u32>().write_unaligned(number),
                (8, _) => self.data.cast::<u64>().write_unaligned(number as u64),
                _ => return false,
            }
        }
        true
    }

    /// Returns whether it is a string of bytes that has room for these, or is only asked for its size.
    pub(crate) fn set_bytes(&mut self, bytes: &[u8]) -> bool {
        self.return_size = bytes.len();
        match self.kind {
            OCTET_STRING if self.data.is_null() => true,
            OCTET_STRING if self.data_size >= bytes.len() => {
                // SAFETY: a parameter has so many bytes of data, which are nobody else's.
                unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.data.cast(), bytes.len()) };
                true
            }
            _ => false,
        }
    }

    /// Returns whether it asks for the first bytes of a tag, at least one, or for its size.
    pub(crate) fn set_tag(&mut self, tag: &[u8]) -> bool {
        if self.data.is_null() {
            return self.set_bytes(tag);
        }
        self.data_size > 0 && tag.get(..self.data_size).is_some_and(|tag| self.set_bytes(tag))
    }

    /// Returns whether it has room for an IV of the context, or asks for a pointer to it.
    pub(crate) fn set_iv(&mut self, iv: &[u8]) -> bool {
        if self.data_size < iv.len() {
            return false;
        }
        if self.kind != OCTET_PTR {
            return self.set_bytes(iv);
        }
        self.return_size = iv.len();
        if !self.data.is_null() {
            // SAFETY: the data of such a parameter is a pointer.
            unsafe { self.data.cast::<*const u8>().write_unaligned(iv.as_ptr()) };
        }
        true
    }

    /// Returns whether it asks for a pointer to a text. This one stays, and has a NUL at its end.
    pub(crate) fn set_text(&mut self, text: &'static [u8]) -> bool {
        if self.kind != UTF8_PTR {
            return false;
        }
        self.return_size = text.len() - 1;
        if !self.data.is_null() {
            // SAFETY: the data of such a parameter is a pointer.
            unsafe { self.data.cast::<*const u8>().write_unaligned(text.as_ptr()) };
        }
        true
    }
}

/// The parameters of a list; none of NULL.
///
/// # Safety
/// The list has an end, and is nobody else's for `'a`.
pub(crate) unsafe fn params<'a>(list: *mut Param) -> &'a mut [Param] {
    if list.is_null() {
        return &mut [];
    }
    let mut count = 0;
    // SAFETY: not behind the end, which has no name.
    while unsafe { !(*list.add(count)).key.is_null() } {
        count += 1;
    }
    // SAFETY: so many are there.
    unsafe { slice::from_raw_parts_mut(list, count) }
}

/// What C calls success. A panic is none, and goes no further.
pub(crate) fn succeeds(work: impl FnOnce() -> Option<()>) -> c_int {
    c_int::from(matches!(catch_unwind(AssertUnwindSafe(work)), Ok(Some(()))))
}

/// A buffer of OpenSSL's; NULL is none.
///
/// # Safety
/// So many bytes can be read there, for as long as the slice is used.
pub(crate) unsafe fn bytes<'a>(data: *const u8, count: usize) -> Option<&'a [u8]> {
    if data.is_null() || isize::try_from(count).is_err() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { slice::from_raw_parts(data, count) })
}
