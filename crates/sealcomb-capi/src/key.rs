//! Expanded keys.

use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use sealcomb::{Key, KeyOptions};
use zeroize::Zeroize;

use crate::sealcomb_status::{
    SEALCOMB_ERROR_KEY_LENGTH, SEALCOMB_ERROR_POINTER, SEALCOMB_ERROR_STRUCT_SIZE,
    SEALCOMB_ERROR_UNKNOWN_ALGORITHM, SEALCOMB_OK,
};
use crate::{algorithm, backend, guard, memory, sealcomb_algorithm, sealcomb_status};

/// An expanded key of one algorithm.
///
/// Keys are immutable. Any number of jobs and threads may use one concurrently, without locks, until
/// `sealcomb_key_free` zeroizes and frees it.
// A pointer to it is one of `Arc::into_raw`, so that streams can share the key without another indirection for jobs. The
// condition is always true: it keeps cbindgen from declaring the type as another name of the field.
#[cfg_attr(all(), repr(transparent))]
pub struct sealcomb_key(pub(crate) Key);

/// Moves a key to the heap, for C.
fn into_pointer(key: Key) -> *mut sealcomb_key {
    Arc::into_raw(Arc::new(key)).cast::<sealcomb_key>().cast_mut()
}

/// Options for new keys. Initialize all fields to 0, set `size` to `sizeof(sealcomb_key_options)`, then set the fields
/// that differ from the defaults.
#[repr(C)]
pub struct sealcomb_key_options {
    /// `sizeof(sealcomb_key_options)`, which identifies the version of the structure to the library.
    pub size: usize,
    /// Size of every tag in bytes; 0 for the algorithm's default. The tag size is a property of the key: jobs with tags
    /// of another size are rejected, so a truncated tag never verifies.
    pub tag_bytes: usize,
    /// Size of every nonce in bytes; 0 for the algorithm's default, `SEALCOMB_NO_NONCE` for AES-SIV and EAX without
    /// nonces. Like the tag size, it is a property of the key: a nonce of another size, such as additional data in its
    /// place, is rejected.
    pub nonce_bytes: usize,
    /// NUL-terminated name of the backend; NULL for the default backend (`sealcomb_backend_selected`).
    pub backend: *const c_char,
    /// Size of every tag in bytes instead of `tag_bytes`, unless 0. It can also be one that the algorithm's standard allows
    /// only under conditions, in builds with the feature `hazmat`: 4 or 8 for GCM and GMAC (SP 800-38D, appendix C), 4 or
    /// 6 for CCM (SP 800-38C, appendix B.2).
    pub short_tag_bytes: usize,
}

/// Sets the size of tags, also to one that requires the feature `hazmat`.
fn short_tags(options: KeyOptions, tag_bytes: usize) -> KeyOptions {
    #[cfg(feature = "hazmat")]
    return options.short_tag_bytes(tag_bytes);
    #[cfg(not(feature = "hazmat"))]
    options.tag_bytes(tag_bytes)
}

/// The value of `nonce_bytes` in [`sealcomb_key_options`] for keys without nonces. cbindgen.toml declares it in C.
pub const SEALCOMB_NO_NONCE: usize = usize::MAX;

impl sealcomb_key_options {
    /// Returns the library's options.
    ///
    /// # Safety
    /// `options` is NULL or valid for reads of the size in its first field, and `backend` in it NULL or NUL-terminated.
    unsafe fn read(options: *const Self) -> Result<KeyOptions, sealcomb_status> {
        const MAX_BYTES: usize = 1 << 12;
        if !options.is_null() && !options.is_aligned() {
            return Err(SEALCOMB_ERROR_POINTER);
        }
        // SAFETY: NULL or valid, guaranteed by the caller; the size is the first field.
        let Some(size) = (unsafe { options.cast::<usize>().as_ref() }) else {
            // SAFETY: NULL is the default backend.
            return Ok(KeyOptions::new().backend(unsafe { backend::named(ptr::null()) }?));
        };
        let is_possible = *size <= MAX_BYTES && size.is_multiple_of(align_of::<Self>());
        let later = size.checked_sub(size_of::<Self>()).filter(|_| is_possible);
        let later = later.ok_or(SEALCOMB_ERROR_STRUCT_SIZE)?;
        // SAFETY: the structure has the size in its first field, guaranteed by the caller.
        let (Self { tag_bytes, nonce_bytes, backend, short_tag_bytes, .. }, later) =
            unsafe { (&*options, memory::read(options.add(1).cast::<u8>(), later)?) };
        if later.iter().any(|byte| *byte != 0) {
            return Err(SEALCOMB_ERROR_STRUCT_SIZE);
        }
        // SAFETY: NULL or NUL-terminated, guaranteed by the caller.
        let mut options = KeyOptions::new().backend(unsafe { backend::named(*backend) }?);
        if *tag_bytes != 0 {
            options = options.tag_bytes(*tag_bytes);
        }
        if *short_tag_bytes != 0 {
            options = short_tags(options, *short_tag_bytes);
        }
        Ok(match *nonce_bytes {
            0 => options,
            SEALCOMB_NO_NONCE => options.nonce_bytes(0),
            bytes => options.nonce_bytes(bytes),
        })
    }
}

/// Expands a key for the algorithm's default sizes of nonces and tags and the default backend
/// (`sealcomb_backend_selected`).
///
/// The library keeps no reference to `secret`: zeroize it after the call. Free the key with `sealcomb_key_free`.
///
/// @param algorithm the algorithm, from `sealcomb_algorithm_by_id`
/// @param secret the key
/// @param secret_bytes size of the key in bytes: `sealcomb_algorithm_key_bytes`
/// @param key receives the new key; set to NULL on failure; must not be NULL
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_UNKNOWN_ALGORITHM `algorithm` is NULL
/// @retval SEALCOMB_ERROR_KEY_LENGTH the algorithm takes another key size
/// @retval SEALCOMB_ERROR_EQUAL_KEY_HALVES the algorithm is XTS, and the key consists of two equal keys
/// @retval SEALCOMB_ERROR_POINTER `key` is NULL, `secret` is NULL and `secret_bytes` is not 0, or `secret_bytes` is over
/// `SIZE_MAX / 2`
/// @retval SEALCOMB_ERROR_UNKNOWN_BACKEND the environment variable `SEALCOMB_BACKEND` names no backend
/// @retval SEALCOMB_ERROR_NO_BACKEND `SEALCOMB_BACKEND` names a backend that is not available
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_new(
    algorithm: *const sealcomb_algorithm,
    secret: *const u8,
    secret_bytes: usize,
    key: *mut *mut sealcomb_key,
) -> sealcomb_status {
    // SAFETY: guaranteed by the caller.
    unsafe { sealcomb_key_new_with(algorithm, secret, secret_bytes, ptr::null(), key) }
}

/// Expands a key with options.
///
/// The library keeps no reference to `secret`: zeroize it after the call. Free the key with `sealcomb_key_free`.
///
/// @param algorithm the algorithm, from `sealcomb_algorithm_by_id`
/// @param secret the key
/// @param secret_bytes size of the key in bytes: `sealcomb_algorithm_key_bytes`
/// @param options the options; NULL for the defaults
/// @param key receives the new key; set to NULL on failure; must not be NULL
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_STRUCT_SIZE the size of the options is not supported by this library
/// @retval SEALCOMB_ERROR_UNKNOWN_ALGORITHM `algorithm` is NULL
/// @retval SEALCOMB_ERROR_KEY_LENGTH the algorithm takes another key size
/// @retval SEALCOMB_ERROR_EQUAL_KEY_HALVES the algorithm is XTS, and the key consists of two equal keys
/// @retval SEALCOMB_ERROR_TAG_LENGTH the algorithm does not take this tag size
/// @retval SEALCOMB_ERROR_NONCE_LENGTH the algorithm does not take this nonce size
/// @retval SEALCOMB_ERROR_POINTER `key` is NULL, `secret` is NULL and `secret_bytes` is not 0, `secret_bytes` is over
/// `SIZE_MAX / 2`, or `options` is misaligned
/// @retval SEALCOMB_ERROR_UNKNOWN_BACKEND no backend has this name
/// @retval SEALCOMB_ERROR_NO_BACKEND the backend is not available on this CPU or in this build
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_new_with(
    algorithm: *const sealcomb_algorithm,
    secret: *const u8,
    secret_bytes: usize,
    options: *const sealcomb_key_options,
    key: *mut *mut sealcomb_key,
) -> sealcomb_status {
    guard::status(|| {
        if key.is_null() {
            return SEALCOMB_ERROR_POINTER;
        }
        // SAFETY: not NULL, and valid for writes, guaranteed by the caller.
        unsafe { memory::store(key, ptr::null_mut()) };
        let expand = || {
            // SAFETY: guaranteed by the caller.
            let algorithm =
                unsafe { algorithm::algorithm(algorithm) }.ok_or(SEALCOMB_ERROR_UNKNOWN_ALGORITHM)?;
            // SAFETY: guaranteed by the caller; the slice does not outlive this call.
            let secret = unsafe { memory::read(secret, secret_bytes) }?;
            // SAFETY: guaranteed by the caller.
            let key = unsafe { sealcomb_key_options::read(options) }?.expand(algorithm, secret)?;
            // No batch under the key may allocate.
            key.prepare();
            Ok(key)
        };
        match expand() {
            Ok(expanded) => {
                // SAFETY: not NULL, and valid for writes, guaranteed by the caller.
                unsafe { memory::store(key, into_pointer(expanded)) };
                SEALCOMB_OK
            }
            Err(status) => status,
        }
    })
}

/// Expands many keys of one algorithm together, which takes less time than one after the other.
///
/// The library keeps no reference to `secrets`: zeroize them after the call. Free each key with `sealcomb_key_free`.
///
/// For GCM, GMAC and CTR, the first batch or burst under such a key allocates 5 KiB, which `sealcomb_key_new` allocates
/// at once.
///
/// @param algorithm the algorithm, from `sealcomb_algorithm_by_id`
/// @param secrets the first key, of `sealcomb_algorithm_key_bytes` bytes; the others follow at distances of `stride`
/// @param stride distance from one key to the next in bytes, at least `sealcomb_algorithm_key_bytes`
/// @param count number of keys
/// @param options the options of all keys; NULL for the defaults
/// @param keys receives `count` new keys; all are set to NULL on failure; may be NULL if `count` is 0
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_STRUCT_SIZE the size of the options is not supported by this library
/// @retval SEALCOMB_ERROR_UNKNOWN_ALGORITHM `algorithm` is NULL
/// @retval SEALCOMB_ERROR_KEY_LENGTH `stride` is smaller than a key
/// @retval SEALCOMB_ERROR_EQUAL_KEY_HALVES the algorithm is XTS, and a key consists of two equal keys
/// @retval SEALCOMB_ERROR_TAG_LENGTH the algorithm does not take this tag size
/// @retval SEALCOMB_ERROR_NONCE_LENGTH the algorithm does not take this nonce size
/// @retval SEALCOMB_ERROR_POINTER `keys` or `secrets` is NULL and `count` is not 0, or an array or `options` is
/// misaligned, or an array is over `SIZE_MAX / 2` bytes
/// @retval SEALCOMB_ERROR_UNKNOWN_BACKEND no backend has this name
/// @retval SEALCOMB_ERROR_NO_BACKEND the backend is not available on this CPU or in this build
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_new_many(
    algorithm: *const sealcomb_algorithm,
    secrets: *const u8,
    stride: usize,
    count: usize,
    options: *const sealcomb_key_options,
    keys: *mut *mut sealcomb_key,
) -> sealcomb_status {
    guard::status(|| {
        if !memory::is_possible(keys, count) {
            return SEALCOMB_ERROR_POINTER;
        }
        for index in 0..count {
            // SAFETY: `keys` has `count` entries, guaranteed by the caller.
            unsafe { keys.add(index).write(ptr::null_mut()) };
        }
        let expand = || {
            // SAFETY: guaranteed by the caller.
            let algorithm =
                unsafe { algorithm::algorithm(algorithm) }.ok_or(SEALCOMB_ERROR_UNKNOWN_ALGORITHM)?;
            // SAFETY: guaranteed by the caller.
            let options = unsafe { sealcomb_key_options::read(options) }?;
            let key_bytes = algorithm.key_bytes();
            let last = count.saturating_sub(1).checked_mul(stride);
            let all = last.and_then(|last| last.checked_add(key_bytes)).ok_or(SEALCOMB_ERROR_POINTER)?;
            if count == 0 {
                return Ok(Vec::new());
            }
            if stride < key_bytes {
                return Err(SEALCOMB_ERROR_KEY_LENGTH);
            }
            // SAFETY: guaranteed by the caller; the slice does not outlive this call.
            let bytes = unsafe { memory::read(secrets, all) }?;
            let secrets: Vec<&[u8]> = bytes.chunks(stride).map(|secret| &secret[..key_bytes]).collect();
            Ok(options.expand_many(algorithm, &secrets)?)
        };
        match expand() {
            Ok(mut expanded) => {
                for (index, key) in expanded.drain(..).enumerate() {
                    // SAFETY: `keys` has `count` entries, guaranteed by the caller.
                    unsafe { keys.add(index).write(into_pointer(key)) };
                }
                // The keys were moved, which leaves copies in the vector.
                expanded.spare_capacity_mut().zeroize();
                SEALCOMB_OK
            }
            Err(status) => status,
        }
    })
}

/// Zeroizes and frees a key, or, if streams use it or it is shared, leaves that to the last `sealcomb_stream_free` or
/// `sealcomb_key_free`. No other call may be using this reference to the key during or after this call.
///
/// @param key key from `sealcomb_key_new`, `sealcomb_key_new_with`, `sealcomb_key_new_many` or `sealcomb_key_share`
/// that has not been freed; NULL does nothing
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_free(key: *mut sealcomb_key) {
    guard::or((), || {
        if !key.is_null() {
            // SAFETY: from `into_pointer`; not freed before and not used afterwards, guaranteed by the caller.
            drop(unsafe { Arc::from_raw(key.cast::<Key>().cast_const()) });
        }
    });
}

/// Returns the algorithm of a key.
///
/// @param key the key; may be NULL
/// @return the algorithm, never to be freed; NULL for NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_algorithm(key: *const sealcomb_key) -> *const sealcomb_algorithm {
    // SAFETY: NULL or a live key, guaranteed by the caller.
    let key = unsafe { key.as_ref() };
    guard::or(ptr::null(), || key.map_or(ptr::null(), |key| algorithm::entry(key.0.algorithm())))
}

/// Returns the name of the backend that a key was expanded for.
///
/// @param key the key; may be NULL
/// @return static NUL-terminated string; NULL for NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_backend(key: *const sealcomb_key) -> *const c_char {
    // SAFETY: NULL or a live key, guaranteed by the caller.
    let key = unsafe { key.as_ref() };
    guard::or(ptr::null(), || key.map_or(ptr::null(), |key| backend::name(key.0.backend())))
}

/// Returns another reference to a key, for a thread or structure that frees it on its own.
///
/// @param key the key; may be NULL
/// @return the same key, to be freed separately; NULL for NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_share(key: *const sealcomb_key) -> *mut sealcomb_key {
    if !key.is_null() {
        // SAFETY: from `into_pointer`, and live, guaranteed by the caller.
        unsafe { Arc::increment_strong_count(key.cast::<Key>()) };
    }
    key.cast_mut()
}

/// Returns the size in bytes of every nonce under a key.
///
/// @param key the key; may be NULL
/// @return the nonce size; 0 for NULL and for keys without nonces
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_nonce_bytes(key: *const sealcomb_key) -> usize {
    // SAFETY: NULL or a live key, guaranteed by the caller.
    unsafe { key.as_ref() }.and_then(|key| key.0.nonce_bytes()).unwrap_or(0)
}

/// Returns the size in bytes of every tag under a key.
///
/// @param key the key; may be NULL
/// @return the tag size; 0 for NULL and for unauthenticated ciphers
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_key_tag_bytes(key: *const sealcomb_key) -> usize {
    // SAFETY: NULL or a live key, guaranteed by the caller.
    unsafe { key.as_ref() }.map_or(0, |key| key.0.tag_bytes())
}
