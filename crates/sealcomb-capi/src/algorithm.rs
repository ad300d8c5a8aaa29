//! The list of algorithms.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::LazyLock;

use sealcomb::{ALGORITHMS, Algorithm, Kind};

use crate::sealcomb_status::{SEALCOMB_ERROR_POINTER, SEALCOMB_FORGED, SEALCOMB_OK};
use crate::{guard, memory, sealcomb_status, text};

/// An algorithm: a mode of operation with a block cipher of one key size. It belongs to the library and is never freed.
///
/// Where a function takes an algorithm, NULL gives 0 or NULL, unless it says otherwise.
pub struct sealcomb_algorithm {
    algorithm: &'static Algorithm,
    id: &'static CStr,
    name: &'static CStr,
    note: &'static CStr,
}

/// What an algorithm gives.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sealcomb_kind {
    /// Secrecy and authenticity.
    SEALCOMB_AEAD = 0,
    /// Authenticity without secrecy: what is authenticated are the additional data, and there is no message to encrypt.
    SEALCOMB_MAC = 1,
    /// Secrecy without authenticity, in builds with the feature `hazmat`: has no tag.
    SEALCOMB_CIPHER = 2,
}

static LIST: LazyLock<Vec<sealcomb_algorithm>> = LazyLock::new(|| {
    let of = |algorithm: &'static Algorithm| sealcomb_algorithm {
        algorithm,
        id: text::kept(algorithm.id),
        name: text::kept(algorithm.name),
        note: text::kept(algorithm.note),
    };
    ALGORITHMS.iter().map(of).collect()
});

/// The entry of an algorithm of the library.
pub(crate) fn entry(algorithm: &'static Algorithm) -> *const sealcomb_algorithm {
    LIST.iter().find(|entry| ptr::eq(entry.algorithm, algorithm)).map_or(ptr::null(), ptr::from_ref)
}

/// The algorithm behind a pointer that this library has given out.
///
/// # Safety
/// It is one of those, or NULL.
pub(crate) unsafe fn algorithm(entry: *const sealcomb_algorithm) -> Option<&'static Algorithm> {
    // SAFETY: entries live for as long as the program.
    unsafe { entry.as_ref() }.map(|entry| entry.algorithm)
}

/// How many algorithms this build has.
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_algorithm_count() -> usize {
    ALGORITHMS.len()
}

/// The algorithm of this number, counted from 0; NULL beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn sealcomb_algorithm_at(number: usize) -> *const sealcomb_algorithm {
    guard::or(ptr::null(), || LIST.get(number).map_or(ptr::null(), ptr::from_ref))
}

/// The algorithm of this id, such as `"aes128-gcm"`, as `sealcomb list` prints them; NULL if this build has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_by_id(id: *const c_char) -> *const sealcomb_algorithm {
    if id.is_null() {
        return ptr::null();
    }
    // SAFETY: the caller gives a text with a NUL at its end.
    let id = unsafe { CStr::from_ptr(id) };
    guard::or(ptr::null(), || LIST.iter().find(|entry| entry.id == id).map_or(ptr::null(), ptr::from_ref))
}

/// The name by which files and commands call it: `"aes128-gcm"`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_id(algorithm: *const sealcomb_algorithm) -> *const c_char {
    // SAFETY: NULL, or an entry, which lives for as long as the program.
    unsafe { algorithm.as_ref() }.map_or(ptr::null(), |entry| entry.id.as_ptr())
}

/// The name by which people call it: `"AES-128-GCM"`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_name(algorithm: *const sealcomb_algorithm) -> *const c_char {
    // SAFETY: as above.
    unsafe { algorithm.as_ref() }.map_or(ptr::null(), |entry| entry.name.as_ptr())
}

/// What its user must know, above all about nonces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_note(algorithm: *const sealcomb_algorithm) -> *const c_char {
    // SAFETY: as above.
    unsafe { algorithm.as_ref() }.map_or(ptr::null(), |entry| entry.note.as_ptr())
}

/// What it gives; of NULL `SEALCOMB_CIPHER`, which promises least.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_kind(algorithm: *const sealcomb_algorithm) -> sealcomb_kind {
    // SAFETY: the caller's promise.
    match unsafe { self::algorithm(algorithm) }.map(|algorithm| algorithm.kind) {
        Some(Kind::Aead) => sealcomb_kind::SEALCOMB_AEAD,
        Some(Kind::Mac) => sealcomb_kind::SEALCOMB_MAC,
        Some(Kind::Cipher) | None => sealcomb_kind::SEALCOMB_CIPHER,
    }
}

/// Bytes of a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_key_bytes(algorithm: *const sealcomb_algorithm) -> usize {
    // SAFETY: the caller's promise.
    unsafe { self::algorithm(algorithm) }.map_or(0, |algorithm| algorithm.key_bytes)
}

/// Bytes that a nonce usually has; 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_nonce_bytes(algorithm: *const sealcomb_algorithm) -> usize {
    // SAFETY: the caller's promise.
    unsafe { self::algorithm(algorithm) }.map_or(0, |algorithm| algorithm.nonce_bytes)
}

/// Bytes that a nonce must have at least.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_nonce_bytes_min(algorithm: *const sealcomb_algorithm) -> usize {
    // SAFETY: the caller's promise.
    unsafe { self::algorithm(algorithm) }.map_or(0, |algorithm| algorithm.nonce.min)
}

/// Bytes that a nonce may have at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_nonce_bytes_max(algorithm: *const sealcomb_algorithm) -> usize {
    // SAFETY: the caller's promise.
    unsafe { self::algorithm(algorithm) }.map_or(0, |algorithm| algorithm.nonce.max)
}

/// Bytes that a tag has unless the key says otherwise; 0 for a bare cipher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_tag_bytes(algorithm: *const sealcomb_algorithm) -> usize {
    // SAFETY: the caller's promise.
    unsafe { self::algorithm(algorithm) }.map_or(0, |algorithm| algorithm.tag_bytes)
}

/// Whether keys can be made for tags of so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_takes_tag_bytes(
    algorithm: *const sealcomb_algorithm,
    tag_bytes: usize,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { self::algorithm(algorithm) }
        .is_some_and(|algorithm| algorithm.tag_bytes == tag_bytes || algorithm.tag.contains(&tag_bytes))
}

/// Bytes of the ciphertext of a message of so many bytes, without its tag: the room that sealing needs. Nearly all
/// ciphertexts are as long as their messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_ciphertext_bytes(
    algorithm: *const sealcomb_algorithm,
    message_bytes: usize,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { self::algorithm(algorithm) }.map_or(0, |algorithm| algorithm.ciphertext_bytes(message_bytes))
}

/// Puts into `message_bytes` the most bytes that a message with a ciphertext of so many bytes, without its tag, can
/// have: the room that opening needs.
///
/// @return `SEALCOMB_FORGED` where no message has a ciphertext of this length, `SEALCOMB_ERROR_POINTER` for NULL
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_max_message_bytes(
    algorithm: *const sealcomb_algorithm,
    ciphertext_bytes: usize,
    message_bytes: *mut usize,
) -> sealcomb_status {
    // SAFETY: the caller's promise.
    let Some(algorithm) = (unsafe { self::algorithm(algorithm) }) else { return SEALCOMB_ERROR_POINTER };
    if message_bytes.is_null() {
        return SEALCOMB_ERROR_POINTER;
    }
    let Ok(most) = algorithm.max_message_bytes(ciphertext_bytes) else { return SEALCOMB_FORGED };
    // SAFETY: not NULL, and the caller's to write to.
    unsafe { memory::tell(message_bytes, most) };
    SEALCOMB_OK
}

/// Whether who opens must be told how long the message is, by the job's `output_bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_algorithm_needs_message_bytes(
    algorithm: *const sealcomb_algorithm,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { self::algorithm(algorithm) }.is_some_and(Algorithm::needs_message_bytes)
}
