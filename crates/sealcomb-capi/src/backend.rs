//! The ways of running all that on this CPU.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::LazyLock;

use sealcomb::Backend;

use crate::sealcomb_status::{SEALCOMB_ERROR_POINTER, SEALCOMB_OK};
use crate::{guard, memory, sealcomb_status, text};

static NAMES: LazyLock<Vec<&'static CStr>> = LazyLock::new(|| Backend::names().map(text::kept).collect());

/// The backend's name as a text that stays.
pub(crate) fn name(backend: Backend) -> *const c_char {
    let name = NAMES.iter().find(|name| name.to_bytes() == backend.name().as_bytes());
    name.map_or(ptr::null(), |name| name.as_ptr())
}

/// The backend of a name; that of new keys for NULL.
///
/// # Safety
/// The name is NULL or a text with a NUL at its end.
pub(crate) unsafe fn named(name: *const c_char) -> Result<Backend, sealcomb_status> {
    if name.is_null() {
        return Ok(Backend::selected()?);
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    // What is not UTF-8 is the name of no backend, as is the empty text.
    Ok(Backend::named(name.to_str().unwrap_or_default())?)
}

/// The name of the backend of this number, counted from 0, slow to fast, whether this CPU has it or not; NULL beyond
/// the last.
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_backend_at(number: usize) -> *const c_char {
    guard::or(ptr::null(), || NAMES.get(number).map_or(ptr::null(), |name| name.as_ptr()))
}

/// Whether the backend of this name can be had; NULL asks for that of new keys.
///
/// @return `SEALCOMB_OK`, `SEALCOMB_ERROR_UNKNOWN_BACKEND`, or `SEALCOMB_ERROR_NO_BACKEND` where this CPU, its
/// operating system or this build lacks it
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_backend_check(name: *const c_char) -> sealcomb_status {
    // SAFETY: the caller's promise.
    guard::status(|| unsafe { named(name) }.map_or_else(|status| status, |_| SEALCOMB_OK))
}

/// Puts into `name` the name of the backend that new keys use: that in the environment variable `SEALCOMB_BACKEND`,
/// which is read once, else the fastest that this CPU has.
///
/// @return as `sealcomb_backend_check`, of what the variable says
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_backend_selected(name: *mut *const c_char) -> sealcomb_status {
    guard::status(|| {
        if name.is_null() {
            return SEALCOMB_ERROR_POINTER;
        }
        match Backend::selected() {
            Ok(backend) => {
                // SAFETY: not NULL, and the caller's to write to.
                unsafe { memory::tell(name, self::name(backend)) };
                SEALCOMB_OK
            }
            Err(error) => error.into(),
        }
    })
}
