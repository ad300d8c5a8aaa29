//! Single messages: batches of one job.

use std::mem::MaybeUninit;
use std::ptr;

use sealcomb::TagPosition;

use crate::batch::check;
use crate::job::{Open, Seal};
use crate::memory::{is_possible, store};
use crate::sealcomb_status::{
    SEALCOMB_ERROR_OUTPUT_TOO_SHORT, SEALCOMB_ERROR_POINTER, SEALCOMB_FORGED, SEALCOMB_OK,
};
use crate::{sealcomb_job, sealcomb_key, sealcomb_open_jobs, sealcomb_seal_jobs, sealcomb_status};

/// The maximum size of a tag in bytes.
const TAG_BYTES: usize = 16;

/// A job with all fields 0 except its size.
const EMPTY: sealcomb_job = sealcomb_job {
    size: size_of::<sealcomb_job>(),
    key: ptr::null(),
    nonce: ptr::null(),
    nonce_bytes: 0,
    aad: ptr::null(),
    aad_bytes: 0,
    aad_parts: ptr::null(),
    aad_part_count: 0,
    input: ptr::null(),
    input_bytes: 0,
    output: ptr::null_mut(),
    output_bytes: 0,
    tag: ptr::null_mut(),
    tag_bytes: 0,
    written: MaybeUninit::new(0),
    status: MaybeUninit::new(SEALCOMB_OK),
    flags: 0,
};

/// Seals one message. The result is the ciphertext followed by the tag, or for AES-SIV the tag followed by the
/// ciphertext (RFC 5297): see `sealcomb_algorithm_tag_first`.
///
/// To seal in place, pass the same pointer as `message` and `sealed`. Otherwise `sealed` must not overlap the inputs.
/// For many messages, `sealcomb_seal_jobs` is faster.
///
/// @param key the key; must not be NULL
/// @param nonce the nonce, see `sealcomb_algorithm_note`; may be NULL if `nonce_bytes` is 0
/// @param nonce_bytes size of the nonce in bytes
/// @param aad additional data, authenticated and not encrypted; may be NULL if `aad_bytes` is 0
/// @param aad_bytes size of the additional data in bytes
/// @param message the message; may be NULL if `message_bytes` is 0
/// @param message_bytes size of the message in bytes
/// @param sealed receives ciphertext and tag; unchanged on failure
/// @param sealed_bytes space at `sealed` in bytes: at least `sealcomb_algorithm_ciphertext_bytes` of `message_bytes`
/// plus `sealcomb_key_tag_bytes`; space beyond that is not written
/// @param written receives the size of ciphertext and tag in bytes, 0 on failure; may be NULL
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_NONCE_LENGTH the algorithm does not take this nonce size
/// @retval SEALCOMB_ERROR_MESSAGE_LENGTH the message is too short for the mode, or not a multiple of 16 bytes
/// @retval SEALCOMB_ERROR_MESSAGE_TOO_LONG the message exceeds the mode's limit
/// @retval SEALCOMB_ERROR_AAD_TOO_LONG the additional data exceeds the mode's limit
/// @retval SEALCOMB_ERROR_TAKES_NO_AAD additional data with an unauthenticated cipher
/// @retval SEALCOMB_ERROR_TAKES_NO_MESSAGE a message with a MAC
/// @retval SEALCOMB_ERROR_OUTPUT_TOO_SHORT `sealed_bytes` is too small
/// @retval SEALCOMB_ERROR_OVERLAP buffers overlap other than in place
/// @retval SEALCOMB_ERROR_POINTER `key` is NULL, or a pointer or length is invalid
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_seal(
    key: *const sealcomb_key,
    nonce: *const u8,
    nonce_bytes: usize,
    aad: *const u8,
    aad_bytes: usize,
    message: *const u8,
    message_bytes: usize,
    sealed: *mut u8,
    sealed_bytes: usize,
    written: *mut usize,
) -> sealcomb_status {
    // SAFETY: NULL or valid for writes, guaranteed by the caller.
    unsafe { store(written, 0) };
    // SAFETY: NULL or a live key, guaranteed by the caller.
    let Some(sealcomb_key(inner)) = (unsafe { key.as_ref() }) else { return SEALCOMB_ERROR_POINTER };
    let read = [(nonce, nonce_bytes), (aad, aad_bytes), (message, message_bytes)];
    if !are_possible(&read) || !is_possible(sealed, sealed_bytes) {
        return SEALCOMB_ERROR_POINTER;
    }
    let ciphertext_bytes = inner.algorithm().ciphertext_bytes(message_bytes);
    let tag_bytes = inner.tag_bytes();
    let needed = ciphertext_bytes.saturating_add(tag_bytes);
    if needed > sealed_bytes {
        return SEALCOMB_ERROR_OUTPUT_TOO_SHORT;
    }
    let tag_first = inner.algorithm().tag_position() == TagPosition::First;
    let output = if tag_first { sealed.wrapping_add(tag_bytes) } else { sealed };
    // In place, a tag that comes first takes the place of the message's beginning.
    let moves = tag_first && message_bytes > 0 && message == sealed.cast_const();
    let mut job = sealcomb_job {
        key,
        nonce,
        nonce_bytes,
        aad,
        aad_bytes,
        input: if moves { output } else { message },
        input_bytes: message_bytes,
        output,
        output_bytes: ciphertext_bytes,
        tag: if tag_first { sealed } else { sealed.wrapping_add(ciphertext_bytes) },
        tag_bytes,
        ..EMPTY
    };
    if moves {
        // SAFETY: guaranteed by the caller.
        let status = unsafe { check::<Seal>(&mut job) };
        if status != SEALCOMB_OK {
            return status;
        }
        // SAFETY: `message` is valid for reads, guaranteed by the caller, and `sealed` has room for tag and ciphertext.
        unsafe { ptr::copy(message, output, message_bytes) };
    }
    // SAFETY: guaranteed by the caller.
    let status = unsafe { sealcomb_seal_jobs(&raw mut job, 1) };
    // SAFETY: NULL or valid for writes, guaranteed by the caller.
    unsafe { store(written, if status == SEALCOMB_OK { needed } else { 0 }) };
    status
}

/// Opens one message: a ciphertext followed by its tag, or for AES-SIV a tag followed by its ciphertext, as
/// `sealcomb_seal` returns them. The tag is compared in constant time.
///
/// To open in place, pass the same pointer as `sealed` and `message`. Otherwise `message` must not overlap the
/// inputs. For many messages, `sealcomb_open_jobs` is faster.
///
/// @param key the key; must not be NULL
/// @param nonce the nonce of the message; may be NULL if `nonce_bytes` is 0
/// @param nonce_bytes size of the nonce in bytes
/// @param aad additional data of the message; may be NULL if `aad_bytes` is 0
/// @param aad_bytes size of the additional data in bytes
/// @param sealed ciphertext and tag
/// @param sealed_bytes size of ciphertext and tag in bytes
/// @param message receives the message; zeroed if the message is forged, unchanged after an error; may be NULL if
/// `message_bytes` is 0
/// @param message_bytes space at `message` in bytes: at least `sealcomb_algorithm_max_message_bytes` of the
/// ciphertext size, and at least the ciphertext size in place; the exact message size if
/// `sealcomb_algorithm_needs_message_bytes` is true for the algorithm
/// @param written receives the size of the message in bytes, 0 on failure; may be NULL
/// @retval SEALCOMB_OK the message is authentic
/// @retval SEALCOMB_FORGED it is not, and `message` is zeroed; or `sealed_bytes` is less than the tag size, and
/// `message` is unchanged
/// @retval SEALCOMB_UNAUTHENTICATED decrypted with an unauthenticated cipher: nothing was verified
/// @retval SEALCOMB_ERROR_NONCE_LENGTH the algorithm does not take this nonce size
/// @retval SEALCOMB_ERROR_MESSAGE_LENGTH the message is too short for the mode, or not a multiple of 16 bytes
/// @retval SEALCOMB_ERROR_MESSAGE_TOO_LONG the message exceeds the mode's limit
/// @retval SEALCOMB_ERROR_AAD_TOO_LONG the additional data exceeds the mode's limit
/// @retval SEALCOMB_ERROR_TAKES_NO_AAD additional data with an unauthenticated cipher
/// @retval SEALCOMB_ERROR_TAKES_NO_MESSAGE a message with a MAC
/// @retval SEALCOMB_ERROR_OUTPUT_TOO_SHORT `message_bytes` is too small
/// @retval SEALCOMB_ERROR_OVERLAP buffers overlap other than in place
/// @retval SEALCOMB_ERROR_POINTER `key` is NULL, or a pointer or length is invalid
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_open(
    key: *const sealcomb_key,
    nonce: *const u8,
    nonce_bytes: usize,
    aad: *const u8,
    aad_bytes: usize,
    sealed: *const u8,
    sealed_bytes: usize,
    message: *mut u8,
    message_bytes: usize,
    written: *mut usize,
) -> sealcomb_status {
    // SAFETY: NULL or valid for writes, guaranteed by the caller.
    unsafe { store(written, 0) };
    // SAFETY: NULL or a live key, guaranteed by the caller.
    let Some(sealcomb_key(inner)) = (unsafe { key.as_ref() }) else { return SEALCOMB_ERROR_POINTER };
    let read = [(nonce, nonce_bytes), (aad, aad_bytes), (sealed, sealed_bytes)];
    if !are_possible(&read) || !is_possible(message, message_bytes) {
        return SEALCOMB_ERROR_POINTER;
    }
    let tag_bytes = inner.tag_bytes();
    let Some(ciphertext_bytes) = sealed_bytes.checked_sub(tag_bytes) else { return SEALCOMB_FORGED };
    let tag_first = inner.algorithm().tag_position() == TagPosition::First;
    let (ciphertext, tag) = if tag_first {
        (sealed.wrapping_add(tag_bytes), sealed)
    } else {
        (sealed, sealed.wrapping_add(ciphertext_bytes))
    };
    // In place, the message takes the place of a tag that comes first.
    let moves = tag_first && ciphertext_bytes > 0 && sealed == message.cast_const();
    let mut received = [0; TAG_BYTES];
    let mut job = sealcomb_job {
        key,
        nonce,
        nonce_bytes,
        aad,
        aad_bytes,
        input: if moves { sealed } else { ciphertext },
        input_bytes: ciphertext_bytes,
        output: message,
        output_bytes: message_bytes,
        tag: if moves { received.as_mut_ptr() } else { tag.cast_mut() },
        tag_bytes,
        ..EMPTY
    };
    if moves {
        // SAFETY: guaranteed by the caller.
        let status = unsafe { check::<Open>(&mut job) };
        if status != SEALCOMB_OK {
            return status;
        }
        // SAFETY: `sealed` is valid for reads, guaranteed by the caller, and `check` found that `message` has room for
        // the ciphertext; no tag has more than `TAG_BYTES` bytes.
        unsafe {
            ptr::copy(tag, received.as_mut_ptr(), tag_bytes);
            ptr::copy(ciphertext, message, ciphertext_bytes);
        }
    }
    // SAFETY: guaranteed by the caller.
    let status = unsafe { sealcomb_open_jobs(&raw mut job, 1) };
    // SAFETY: `written` is NULL or valid for writes, guaranteed by the caller; `job.written` is initialized.
    unsafe { store(written, job.written.assume_init()) };
    status
}

/// Computes the tag of one message with a MAC.
///
/// @param key a key of an algorithm of the kind `SEALCOMB_KIND_MAC`; must not be NULL
/// @param nonce the nonce, for algorithms that take one (GMAC); may be NULL if `nonce_bytes` is 0
/// @param nonce_bytes size of the nonce in bytes
/// @param message the message; may be NULL if `message_bytes` is 0
/// @param message_bytes size of the message in bytes
/// @param tag receives the tag; unchanged on failure; must not overlap the inputs
/// @param tag_bytes size of the tag in bytes: `sealcomb_key_tag_bytes`
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_NONCE_LENGTH the algorithm does not take this nonce size
/// @retval SEALCOMB_ERROR_TAG_LENGTH `tag_bytes` is not `sealcomb_key_tag_bytes`
/// @retval SEALCOMB_ERROR_AAD_TOO_LONG the message exceeds the algorithm's limit
/// @retval SEALCOMB_ERROR_OVERLAP `tag` overlaps an input
/// @retval SEALCOMB_ERROR_POINTER `key` is NULL, or a pointer or length is invalid
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_mac(
    key: *const sealcomb_key,
    nonce: *const u8,
    nonce_bytes: usize,
    message: *const u8,
    message_bytes: usize,
    tag: *mut u8,
    tag_bytes: usize,
) -> sealcomb_status {
    let mut job = job_of_mac(key, nonce, nonce_bytes, message, message_bytes, tag, tag_bytes);
    // SAFETY: guaranteed by the caller.
    unsafe { sealcomb_seal_jobs(&raw mut job, 1) }
}

/// Verifies the tag of one message with a MAC, in constant time.
///
/// @param key a key of an algorithm of the kind `SEALCOMB_KIND_MAC`; must not be NULL
/// @param nonce the nonce of the message, for algorithms that take one (GMAC); may be NULL if `nonce_bytes` is 0
/// @param nonce_bytes size of the nonce in bytes
/// @param message the message; may be NULL if `message_bytes` is 0
/// @param message_bytes size of the message in bytes
/// @param tag the tag to verify; only read
/// @param tag_bytes size of the tag in bytes: `sealcomb_key_tag_bytes`
/// @retval SEALCOMB_OK the tag is correct
/// @retval SEALCOMB_FORGED the tag is wrong
/// @retval SEALCOMB_UNAUTHENTICATED the key is one of an unauthenticated cipher: nothing was verified
/// @retval SEALCOMB_ERROR_NONCE_LENGTH the algorithm does not take this nonce size
/// @retval SEALCOMB_ERROR_TAG_LENGTH `tag_bytes` is not `sealcomb_key_tag_bytes`
/// @retval SEALCOMB_ERROR_AAD_TOO_LONG the message exceeds the algorithm's limit
/// @retval SEALCOMB_ERROR_POINTER `key` is NULL, or a pointer or length is invalid
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_mac_verify(
    key: *const sealcomb_key,
    nonce: *const u8,
    nonce_bytes: usize,
    message: *const u8,
    message_bytes: usize,
    tag: *const u8,
    tag_bytes: usize,
) -> sealcomb_status {
    let mut job = job_of_mac(key, nonce, nonce_bytes, message, message_bytes, tag.cast_mut(), tag_bytes);
    // SAFETY: guaranteed by the caller; opening only reads the tag.
    unsafe { sealcomb_open_jobs(&raw mut job, 1) }
}

/// Returns a MAC's job: the message is its additional data.
fn job_of_mac(
    key: *const sealcomb_key,
    nonce: *const u8,
    nonce_bytes: usize,
    message: *const u8,
    message_bytes: usize,
    tag: *mut u8,
    tag_bytes: usize,
) -> sealcomb_job {
    sealcomb_job { key, nonce, nonce_bytes, aad: message, aad_bytes: message_bytes, tag, tag_bytes, ..EMPTY }
}

/// Returns whether every pointer is possible for its length.
fn are_possible(buffers: &[(*const u8, usize)]) -> bool {
    buffers.iter().all(|(data, bytes)| is_possible(*data, *bytes))
}
