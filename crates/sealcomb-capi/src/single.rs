//! One message at a time.

use std::mem::MaybeUninit;
use std::ptr;

use crate::memory::{is_possible, tell};
use crate::sealcomb_status::{
    SEALCOMB_ERROR_OUTPUT_TOO_SHORT, SEALCOMB_ERROR_POINTER, SEALCOMB_FORGED, SEALCOMB_OK,
};
use crate::{sealcomb_job, sealcomb_key, sealcomb_open_batch, sealcomb_seal_batch, sealcomb_status};

/// A job with nothing in it.
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
    reserved: 0,
};

/// Seals one message: the ciphertext, with its tag behind it. `sealed` may be `message`. `sealed` may have more room
/// than that takes.
///
/// @param written where the bytes of both together are put, 0 where something is wrong; may be NULL
/// @return `SEALCOMB_OK`, or what is wrong, and nothing was written to `sealed`
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
    // SAFETY: NULL, or the caller's to write to.
    unsafe { tell(written, 0) };
    // SAFETY: NULL, or a key that was not freed.
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
    let mut job = sealcomb_job {
        key,
        nonce,
        nonce_bytes,
        aad,
        aad_bytes,
        input: message,
        input_bytes: message_bytes,
        output: sealed,
        output_bytes: ciphertext_bytes,
        tag: sealed.wrapping_add(ciphertext_bytes),
        tag_bytes,
        ..EMPTY
    };
    // SAFETY: the caller's promises.
    let status = unsafe { sealcomb_seal_batch(&raw mut job, 1) };
    // SAFETY: NULL, or the caller's to write to.
    unsafe { tell(written, if status == SEALCOMB_OK { needed } else { 0 }) };
    status
}

/// Opens one message: a ciphertext with its tag behind it. `message` may be `sealed`. Where who opens must be told the
/// length of the message, `message_bytes` tells it.
///
/// @param message_bytes room at `message`: at least `sealcomb_algorithm_max_message_bytes` of the ciphertext, in
/// place also the bytes of the ciphertext
/// @param written where the bytes of the message are put, 0 unless it was opened; may be NULL
/// @return `SEALCOMB_OK`; `SEALCOMB_FORGED` where it did not verify, or is shorter than a tag: then `message` is zeroed as
/// far as it would have been written; `SEALCOMB_UNAUTHENTICATED` for a bare cipher; or what is wrong, and nothing was
/// written
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
    // SAFETY: NULL, or the caller's to write to.
    unsafe { tell(written, 0) };
    // SAFETY: NULL, or a key that was not freed.
    let Some(sealcomb_key(inner)) = (unsafe { key.as_ref() }) else { return SEALCOMB_ERROR_POINTER };
    let read = [(nonce, nonce_bytes), (aad, aad_bytes), (sealed, sealed_bytes)];
    if !are_possible(&read) || !is_possible(message, message_bytes) {
        return SEALCOMB_ERROR_POINTER;
    }
    let tag_bytes = inner.tag_bytes();
    let Some(ciphertext_bytes) = sealed_bytes.checked_sub(tag_bytes) else { return SEALCOMB_FORGED };
    let mut job = sealcomb_job {
        key,
        nonce,
        nonce_bytes,
        aad,
        aad_bytes,
        input: sealed,
        input_bytes: ciphertext_bytes,
        output: message,
        output_bytes: message_bytes,
        tag: sealed.wrapping_add(ciphertext_bytes).cast_mut(),
        tag_bytes,
        ..EMPTY
    };
    // SAFETY: the caller's promises.
    let status = unsafe { sealcomb_open_batch(&raw mut job, 1) };
    // SAFETY: NULL, or the caller's to write to; the call has set what it wrote, or it is still 0.
    unsafe { tell(written, job.written.assume_init()) };
    if status == SEALCOMB_FORGED {
        return status;
    }
    // SAFETY: the call has set it, or it is still 0.
    match unsafe { job.status.assume_init() } {
        SEALCOMB_OK => status,
        of_job => of_job,
    }
}

/// Computes the tag of one message, for an algorithm that is a MAC.
///
/// @param tag `sealcomb_key_tag_bytes` bytes
/// @return `SEALCOMB_OK`, or what is wrong
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
    // SAFETY: the caller's promises.
    unsafe { sealcomb_seal_batch(&raw mut job, 1) }
}

/// Verifies the tag of one message, for an algorithm that is a MAC, in constant time.
///
/// @return `SEALCOMB_OK`, `SEALCOMB_FORGED`, or what is wrong
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
    // SAFETY: the caller's promises; opening only reads the tag.
    unsafe { sealcomb_open_batch(&raw mut job, 1) }
}

/// The job of a message that is authenticated and nothing else.
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

/// Whether every pointer fits the length beside it.
fn are_possible(buffers: &[(*const u8, usize)]) -> bool {
    buffers.iter().all(|(data, bytes)| is_possible(*data, *bytes))
}
