//! Keys.

use std::ffi::c_char;
use std::ptr;

use sealcomb::Key;

use crate::sealcomb_status::{SEALCOMB_ERROR_POINTER, SEALCOMB_ERROR_UNKNOWN_ALGORITHM, SEALCOMB_OK};
use crate::{algorithm, backend, guard, memory, sealcomb_algorithm, sealcomb_status};

/// A key of one algorithm, expanded once. Nothing changes it, so any number of messages and threads may share it, until
/// `sealcomb_key_free`, which wipes it.
pub struct sealcomb_key(pub(crate) Key);

/// Expands a key of `sealcomb_algorithm_key_bytes` bytes, for tags of the usual length and the backend of
/// `sealcomb_backend_selected`. The key's bytes are not needed afterwards: wipe them.
///
/// @param key where the new key's address is put; NULL if there is none
/// @return `SEALCOMB_OK`; `SEALCOMB_ERROR_UNKNOWN_ALGORITHM` where `algorithm` is NULL; `SEALCOMB_ERROR_KEY_LENGTH`,
/// `SEALCOMB_ERROR_POINTER`, or what `sealcomb_backend_selected` returns
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_new(
    algorithm: *const sealcomb_algorithm,
    bytes: *const u8,
    count: usize,
    key: *mut *mut sealcomb_key,
) -> sealcomb_status {
    // SAFETY: the caller's promises are the same.
    unsafe { sealcomb_key_new_with(algorithm, bytes, count, 0, ptr::null(), key) }
}

/// As `sealcomb_key_new`, for tags of another length and a given backend. Every message's tag must have that length, so
/// that nobody can pass off a short one.
///
/// @param tag_bytes bytes of every tag; 0 for the usual length
/// @param backend a backend's name; NULL for that of `sealcomb_backend_selected`
/// @return also `SEALCOMB_ERROR_TAG_LENGTH`, and what `sealcomb_backend_check` returns
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_new_with(
    algorithm: *const sealcomb_algorithm,
    bytes: *const u8,
    count: usize,
    tag_bytes: usize,
    backend: *const c_char,
    key: *mut *mut sealcomb_key,
) -> sealcomb_status {
    guard::status(|| {
        if key.is_null() {
            return SEALCOMB_ERROR_POINTER;
        }
        // SAFETY: not NULL, and the caller's to write to.
        unsafe { memory::tell(key, ptr::null_mut()) };
        let made = || {
            // SAFETY: the caller's promise.
            let algorithm =
                unsafe { algorithm::algorithm(algorithm) }.ok_or(SEALCOMB_ERROR_UNKNOWN_ALGORITHM)?;
            // SAFETY: the caller's promise; used in this call alone.
            let bytes = unsafe { memory::read(bytes, count) }?;
            // SAFETY: the caller's promise.
            let backend = unsafe { backend::named(backend) }?;
            let made = Key::with_backend(algorithm, bytes, backend)?;
            let made = if tag_bytes == 0 { made } else { made.with_tag_bytes(tag_bytes)? };
            Ok(Box::new(sealcomb_key(made)))
        };
        match made() {
            Ok(made) => {
                // SAFETY: as above.
                unsafe { memory::tell(key, Box::into_raw(made)) };
                SEALCOMB_OK
            }
            Err(status) => status,
        }
    })
}

/// Wipes a key and frees it. NULL is fine. No call that uses the key may still be running, in any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_free(key: *mut sealcomb_key) {
    guard::or((), || {
        if !key.is_null() {
            // SAFETY: made by `Box::into_raw` above, and by the caller's promise neither freed before nor used again.
            drop(unsafe { Box::from_raw(key) });
        }
    });
}

/// The key's algorithm; NULL of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_algorithm(key: *const sealcomb_key) -> *const sealcomb_algorithm {
    // SAFETY: NULL, or a key that was not freed.
    let key = unsafe { key.as_ref() };
    guard::or(ptr::null(), || key.map_or(ptr::null(), |key| algorithm::entry(key.0.algorithm())))
}

/// The name of the backend that the key was expanded for; NULL of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_backend(key: *const sealcomb_key) -> *const c_char {
    // SAFETY: as above.
    let key = unsafe { key.as_ref() };
    guard::or(ptr::null(), || key.map_or(ptr::null(), |key| backend::name(key.0.backend())))
}

/// Bytes of every tag under this key; 0 of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_tag_bytes(key: *const sealcomb_key) -> usize {
    // SAFETY: as above.
    unsafe { key.as_ref() }.map_or(0, |key| key.0.tag_bytes())
}
