//! The list of algorithms and their properties.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::LazyLock;

use sealcomb::{ALGORITHMS, Algorithm, Kind, Status, TagPosition};

use crate::sealcomb_status::{SEALCOMB_ERROR_POINTER, SEALCOMB_FORGED, SEALCOMB_OK};
use crate::{guard, memory, sealcomb_status, text};

/// An algorithm: a mode of operation with a block cipher of one key size, such as AES-128-GCM.
///
/// Entries are static: they stay valid until the program ends and are never freed. Every `sealcomb_algorithm_`
/// function accepts NULL for the algorithm and then returns 0, false or NULL unless its description says otherwise.
pub struct sealcomb_algorithm {
    algorithm: Algorithm,
    id: &'static CStr,
    name: &'static CStr,
    note: &'static CStr,
}

/// The security service of an algorithm.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sealcomb_kind {
    /// Authenticated encryption with additional data: confidentiality and authenticity.
    SEALCOMB_KIND_AEAD = 0,
    /// Message authentication code: authenticity only. The message is passed as additional data, and there is no
    /// input.
    SEALCOMB_KIND_MAC = 1,
    /// Unauthenticated cipher: confidentiality only, no tag. Requires a build with the feature `hazmat`.
    SEALCOMB_KIND_CIPHER = 2,
}

/// The algorithms of every build, then those that the features of this build add.
static LIST: LazyLock<Vec<sealcomb_algorithm>> = LazyLock::new(|| {
    let entry = |algorithm: Algorithm| sealcomb_algorithm {
        algorithm,
        id: text::leak(algorithm.id()),
        name: text::leak(algorithm.name()),
        note: text::leak(algorithm.note()),
    };
    [
        ALGORITHMS,
        #[cfg(feature = "hazmat")]
        sealcomb::hazmat::ALGORITHMS,
        #[cfg(feature = "research")]
        sealcomb::research::ALGORITHMS,
    ]
    .concat()
    .into_iter()
    .map(entry)
    .collect()
});

/// Returns the entries of the algorithms of every build, and those of the others.
fn lists() -> (&'static [sealcomb_algorithm], &'static [sealcomb_algorithm]) {
    LIST.split_at(ALGORITHMS.len())
}

/// Returns the entry of an id.
///
/// # Safety
/// `id` is NULL or NUL-terminated.
unsafe fn find(
    id: *const c_char,
    entries: impl FnOnce() -> &'static [sealcomb_algorithm],
) -> *const sealcomb_algorithm {
    if id.is_null() {
        return ptr::null();
    }
    // SAFETY: NUL-terminated, guaranteed by the caller.
    let id = unsafe { CStr::from_ptr(id) };
    guard::or(ptr::null(), || {
        entries().iter().find(|entry| entry.id == id).map_or(ptr::null(), ptr::from_ref)
    })
}

/// Returns the static entry of a library algorithm.
pub(crate) fn entry(algorithm: Algorithm) -> *const sealcomb_algorithm {
    LIST.iter().find(|entry| entry.algorithm == algorithm).map_or(ptr::null(), ptr::from_ref)
}

/// Returns the library algorithm of an entry; `None` for NULL.
///
/// # Safety
/// `entry` is NULL or was returned by this library.
pub(crate) unsafe fn algorithm(entry: *const sealcomb_algorithm) -> Option<Algorithm> {
    // SAFETY: guaranteed by the caller; entries are static.
    unsafe { entry.as_ref() }.map(|entry| entry.algorithm)
}

/// Returns the number of authenticated algorithms that are standards or in the final portfolio of a competition. It is the
/// same in every build.
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_algorithm_count() -> usize {
    ALGORITHMS.len()
}

/// Returns an algorithm by its index, for listing all of them.
///
/// @param number index, from 0 to `sealcomb_algorithm_count() - 1`
/// @return the algorithm, never to be freed; NULL if `number` is too large
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_algorithm_at(number: usize) -> *const sealcomb_algorithm {
    guard::or(ptr::null(), || lists().0.get(number).map_or(ptr::null(), ptr::from_ref))
}

/// Returns the authenticated algorithm with the given id. The result does not depend on the features of the build.
///
/// @param id NUL-terminated id such as `"aes128-gcm"`, as printed by `sealcomb list`; may be NULL
/// @return the algorithm, never to be freed; NULL if `id` is NULL or `sealcomb_algorithm_at` lists no such algorithm
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_by_id(id: *const c_char) -> *const sealcomb_algorithm {
    // SAFETY: guaranteed by the caller.
    unsafe { find(id, || lists().0) }
}

/// Returns the number of algorithms that the features of this build add: with `hazmat`, ciphers that do not authenticate;
/// with `research`, algorithms for study, some of them broken.
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_hazmat_algorithm_count() -> usize {
    guard::or(0, || lists().1.len())
}

/// Returns an algorithm that the features of this build add by its index, for listing all of them.
///
/// @param number index, from 0 to `sealcomb_hazmat_algorithm_count() - 1`
/// @return the algorithm, never to be freed; NULL if `number` is too large
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_hazmat_algorithm_at(number: usize) -> *const sealcomb_algorithm {
    guard::or(ptr::null(), || lists().1.get(number).map_or(ptr::null(), ptr::from_ref))
}

/// Returns the algorithm with the given id, also if it does not authenticate or is for study only:
/// `sealcomb_algorithm_kind` and `sealcomb_algorithm_trust` tell.
///
/// @param id NUL-terminated id such as `"aes128-ctr"`; may be NULL
/// @return the algorithm, never to be freed; NULL if `id` is NULL or this build has no such algorithm
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_hazmat_algorithm_by_id(id: *const c_char) -> *const sealcomb_algorithm {
    // SAFETY: guaranteed by the caller.
    unsafe { find(id, || &LIST) }
}

/// Returns the id of an algorithm, as used in files and on command lines: `"aes128-gcm"`.
///
/// @param algorithm the algorithm; may be NULL
/// @return static NUL-terminated string; NULL for NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_id(algorithm: *const sealcomb_algorithm) -> *const c_char {
    // SAFETY: NULL or a static entry, guaranteed by the caller.
    unsafe { algorithm.as_ref() }.map_or(ptr::null(), |entry| entry.id.as_ptr())
}

/// Returns the usual name of an algorithm: `"AES-128-GCM"`.
///
/// @param algorithm the algorithm; may be NULL
/// @return static NUL-terminated string; NULL for NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_name(algorithm: *const sealcomb_algorithm) -> *const c_char {
    // SAFETY: NULL or a static entry, guaranteed by the caller.
    unsafe { algorithm.as_ref() }.map_or(ptr::null(), |entry| entry.name.as_ptr())
}

/// Returns what users of an algorithm must know: above all, the requirements on nonces and the limits per key.
///
/// @param algorithm the algorithm; may be NULL
/// @return static NUL-terminated string in English; NULL for NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_note(algorithm: *const sealcomb_algorithm) -> *const c_char {
    // SAFETY: NULL or a static entry, guaranteed by the caller.
    unsafe { algorithm.as_ref() }.map_or(ptr::null(), |entry| entry.note.as_ptr())
}

/// Returns the security service of an algorithm.
///
/// @param algorithm the algorithm; may be NULL
/// @return the kind; `SEALCOMB_KIND_CIPHER`, the weakest, for NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_kind(algorithm: *const sealcomb_algorithm) -> sealcomb_kind {
    // SAFETY: guaranteed by the caller.
    match unsafe { self::algorithm(algorithm) }.map(sealcomb::Algorithm::kind) {
        Some(Kind::Aead) => sealcomb_kind::SEALCOMB_KIND_AEAD,
        Some(Kind::Mac) => sealcomb_kind::SEALCOMB_KIND_MAC,
        _ => sealcomb_kind::SEALCOMB_KIND_CIPHER,
    }
}

/// Returns whether the tag precedes the ciphertext in the result of `sealcomb_seal`, as in the specification of AES-SIV
/// (RFC 5297). Jobs and bursts have the tag apart.
///
/// @param algorithm the algorithm; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_tag_first(algorithm: *const sealcomb_algorithm) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { self::algorithm(algorithm) }
        .is_some_and(|algorithm| algorithm.tag_position() == TagPosition::First)
}

/// How far an algorithm can be trusted.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sealcomb_trust {
    /// An attack breaks a security claim, or the designers have withdrawn the algorithm. Kept for study.
    SEALCOMB_TRUST_BROKEN = 0,
    /// Published, but neither standardized nor chosen by a competition. No relevant attack is known.
    SEALCOMB_TRUST_RESEARCH = 1,
    /// In the final portfolio of a competition, or chosen by a standards body as the basis of a standard.
    SEALCOMB_TRUST_PORTFOLIO = 2,
    /// Published by a standards body, with no relevant attack known.
    SEALCOMB_TRUST_STANDARD = 3,
}

/// Returns how far an algorithm can be trusted. Higher values mean more trust.
///
/// @param algorithm the algorithm; may be NULL
/// @return the trust; `SEALCOMB_TRUST_BROKEN`, the lowest, for NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_trust(algorithm: *const sealcomb_algorithm) -> sealcomb_trust {
    // SAFETY: guaranteed by the caller.
    match unsafe { self::algorithm(algorithm) }.map(sealcomb::Algorithm::status) {
        Some(Status::Standard) => sealcomb_trust::SEALCOMB_TRUST_STANDARD,
        Some(Status::Portfolio) => sealcomb_trust::SEALCOMB_TRUST_PORTFOLIO,
        Some(Status::Research) => sealcomb_trust::SEALCOMB_TRUST_RESEARCH,
        _ => sealcomb_trust::SEALCOMB_TRUST_BROKEN,
    }
}

/// Returns the key size of an algorithm in bytes.
///
/// @param algorithm the algorithm; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_key_bytes(algorithm: *const sealcomb_algorithm) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { self::algorithm(algorithm) }.map_or(0, sealcomb::Algorithm::key_bytes)
}

/// Returns the usual nonce size of an algorithm in bytes; 0 if it takes no nonce.
///
/// @param algorithm the algorithm; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_nonce_bytes(algorithm: *const sealcomb_algorithm) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { self::algorithm(algorithm) }.map_or(0, sealcomb::Algorithm::nonce_bytes)
}

/// Returns the minimum nonce size of an algorithm in bytes.
///
/// @param algorithm the algorithm; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_nonce_bytes_min(algorithm: *const sealcomb_algorithm) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { self::algorithm(algorithm) }.map_or(0, sealcomb::Algorithm::min_nonce_bytes)
}

/// Returns the maximum nonce size of an algorithm in bytes.
///
/// @param algorithm the algorithm; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_nonce_bytes_max(algorithm: *const sealcomb_algorithm) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { self::algorithm(algorithm) }.map_or(0, sealcomb::Algorithm::max_nonce_bytes)
}

/// Returns the default tag size of an algorithm in bytes, which `sealcomb_key_new` uses; 0 for an unauthenticated
/// cipher.
///
/// @param algorithm the algorithm; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_tag_bytes(algorithm: *const sealcomb_algorithm) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { self::algorithm(algorithm) }.map_or(0, sealcomb::Algorithm::tag_bytes)
}

/// Returns whether `tag_bytes` of `sealcomb_key_options` can have this value for an algorithm.
///
/// @param algorithm the algorithm; may be NULL
/// @param tag_bytes tag size in bytes
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_takes_tag_bytes(
    algorithm: *const sealcomb_algorithm,
    tag_bytes: usize,
) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { self::algorithm(algorithm) }.is_some_and(|algorithm| {
        algorithm.tag_bytes() == tag_bytes || algorithm.tag_sizes().contains(&tag_bytes)
    })
}

/// Returns whether `short_tag_bytes` of `sealcomb_key_options` can have this value for an algorithm.
///
/// @param algorithm the algorithm; may be NULL
/// @param tag_bytes tag size in bytes
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_hazmat_algorithm_takes_tag_bytes(
    algorithm: *const sealcomb_algorithm,
    tag_bytes: usize,
) -> bool {
    #[cfg(feature = "hazmat")]
    // SAFETY: guaranteed by the caller.
    if unsafe { self::algorithm(algorithm) }
        .is_some_and(|algorithm| sealcomb::hazmat::tag_sizes(algorithm).contains(&tag_bytes))
    {
        return true;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { sealcomb_algorithm_takes_tag_bytes(algorithm, tag_bytes) }
}

/// Returns the ciphertext size for a message size: the output space that sealing needs, without the tag. It equals
/// `message_bytes` for nearly all algorithms.
///
/// @param algorithm the algorithm; may be NULL
/// @param message_bytes size of the message in bytes
/// @return size of the ciphertext in bytes
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_ciphertext_bytes(
    algorithm: *const sealcomb_algorithm,
    message_bytes: usize,
) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { self::algorithm(algorithm) }.map_or(0, |algorithm| algorithm.ciphertext_bytes(message_bytes))
}

/// Computes the maximum message size for a ciphertext size: the output space that opening needs.
///
/// @param algorithm the algorithm; must not be NULL
/// @param ciphertext_bytes size of the ciphertext in bytes, without its tag
/// @param message_bytes receives the maximum message size in bytes; unchanged on failure; must not be NULL
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_FORGED no message has a ciphertext of this size
/// @retval SEALCOMB_ERROR_POINTER `algorithm` or `message_bytes` is NULL
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_max_message_bytes(
    algorithm: *const sealcomb_algorithm,
    ciphertext_bytes: usize,
    message_bytes: *mut usize,
) -> sealcomb_status {
    // SAFETY: guaranteed by the caller.
    let Some(algorithm) = (unsafe { self::algorithm(algorithm) }) else { return SEALCOMB_ERROR_POINTER };
    if message_bytes.is_null() {
        return SEALCOMB_ERROR_POINTER;
    }
    let Ok(max) = algorithm.max_message_bytes(ciphertext_bytes) else { return SEALCOMB_FORGED };
    // SAFETY: not NULL, and valid for writes, guaranteed by the caller.
    unsafe { memory::store(message_bytes, max) };
    SEALCOMB_OK
}

/// Returns true if the ciphertext size does not determine the message size. To open under such an algorithm, pass the
/// exact message size as `output_bytes` of the job, or as `message_bytes` of `sealcomb_open`.
///
/// @param algorithm the algorithm; may be NULL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_needs_message_bytes(
    algorithm: *const sealcomb_algorithm,
) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { self::algorithm(algorithm) }.is_some_and(Algorithm::needs_message_bytes)
}
