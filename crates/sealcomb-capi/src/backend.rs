//! The backends: implementations for different CPU features.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::LazyLock;

use sealcomb::Backend;

use crate::sealcomb_status::{SEALCOMB_ERROR_POINTER, SEALCOMB_OK};
use crate::{guard, memory, sealcomb_status, text};

static NAMES: LazyLock<Vec<&'static CStr>> = LazyLock::new(|| Backend::names().map(text::leak).collect());

/// Returns a backend's name as a static string.
pub(crate) fn name(backend: Backend) -> *const c_char {
    let name = NAMES.iter().find(|name| name.to_bytes() == backend.name().as_bytes());
    name.map_or(ptr::null(), |name| name.as_ptr())
}

/// Returns the backend with the given name; for NULL, the default backend of new keys.
///
/// # Safety
/// `name` is NULL or NUL-terminated.
pub(crate) unsafe fn named(name: *const c_char) -> Result<Backend, sealcomb_status> {
    if name.is_null() {
        return Ok(Backend::selected()?);
    }
    // SAFETY: NUL-terminated, guaranteed by the caller.
    let name = unsafe { CStr::from_ptr(name) };
    // Names that are not UTF-8 become the empty string, which is no backend's name.
    Ok(Backend::named(name.to_str().unwrap_or_default())?)
}

/// Returns the number of backends, including those that this CPU does not support.
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_backend_count() -> usize {
    guard::or(0, || NAMES.len())
}

/// Returns the name of a backend by its index, for listing all of them, including those that this CPU does not
/// support. The order is from slow to fast.
///
/// @param number index, from 0 to `sealcomb_backend_count() - 1`
/// @return static NUL-terminated string; NULL if `number` is too large
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_backend_at(number: usize) -> *const c_char {
    guard::or(ptr::null(), || NAMES.get(number).map_or(ptr::null(), |name| name.as_ptr()))
}

/// Checks whether a backend is available.
///
/// @param name NUL-terminated name of the backend; NULL checks the default backend of new keys
/// @retval SEALCOMB_OK the backend is available
/// @retval SEALCOMB_ERROR_UNKNOWN_BACKEND no backend has this name
/// @retval SEALCOMB_ERROR_NO_BACKEND not supported by the CPU, not enabled by the operating system, or not in this
/// build
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_backend_check(name: *const c_char) -> sealcomb_status {
    // SAFETY: guaranteed by the caller.
    guard::status(|| unsafe { named(name) }.map_or_else(|status| status, |_| SEALCOMB_OK))
}

/// Returns the default backend of new keys: the one named by the environment variable `SEALCOMB_BACKEND` if that is
/// set, otherwise the fastest one available. The variable is read once per process.
///
/// @param name receives the name, a static NUL-terminated string; unchanged on failure; must not be NULL
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_UNKNOWN_BACKEND `SEALCOMB_BACKEND` names no backend
/// @retval SEALCOMB_ERROR_NO_BACKEND `SEALCOMB_BACKEND` names a backend that is not available
/// @retval SEALCOMB_ERROR_POINTER `name` is NULL
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_backend_selected(name: *mut *const c_char) -> sealcomb_status {
    guard::status(|| {
        if name.is_null() {
            return SEALCOMB_ERROR_POINTER;
        }
        match Backend::selected() {
            Ok(backend) => {
                // SAFETY: not NULL, and valid for writes, guaranteed by the caller.
                unsafe { memory::store(name, self::name(backend)) };
                SEALCOMB_OK
            }
            Err(error) => error.into(),
        }
    })
}
