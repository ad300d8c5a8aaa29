//! Messages in pieces.

use std::ptr;
use std::sync::Arc;

#[cfg(feature = "hazmat")]
use sealcomb::hazmat::{OpenStream, SealStream};
use sealcomb::{Error, Key, OpenError};

#[cfg(not(feature = "hazmat"))]
use crate::no_streams::{OpenStream, SealStream};
use crate::sealcomb_status::{
    SEALCOMB_ERROR_OUTPUT_TOO_SHORT, SEALCOMB_ERROR_OVERLAP, SEALCOMB_ERROR_POINTER,
    SEALCOMB_ERROR_STREAM_ORDER, SEALCOMB_FORGED, SEALCOMB_OK,
};
use crate::{guard, memory, sealcomb_key, sealcomb_status};

/// The state of a message in pieces, under a key of AES-GCM, AES-GMAC, AES-OCB3 or AES-CMAC. Its size does not depend
/// on the length of the message.
///
/// - GCM: pieces of any size; the additional data before the message.
/// - OCB3: additional data in pieces of any size at any time; pieces of the message are multiples of 16 bytes, except
///   the last one.
/// - GMAC and CMAC: the data to authenticate, as additional data in pieces of any size.
///
/// An empty piece of the message changes nothing, and every algorithm takes it.
///
/// A stream may be used by one thread at a time. Streams require a library with the feature `hazmat`; without it,
/// `sealcomb_stream_new` fails.
pub struct sealcomb_stream {
    key: Arc<Key>,
    /// None before the first message.
    message: Option<Message>,
}

/// The state of a message.
enum Message {
    Seal(SealStream<Arc<Key>>),
    Open(OpenStream<Arc<Key>>),
}

/// Creates a stream, which can process any number of messages under the key, one after the other.
///
/// The stream shares the key: `sealcomb_key_free` may be called before `sealcomb_stream_free`. Begin a message with
/// `sealcomb_stream_begin_seal` or `sealcomb_stream_begin_open`, pass its pieces to `sealcomb_stream_aad` and
/// `sealcomb_stream_update`, and end it with `sealcomb_stream_finish` or `sealcomb_stream_verify`.
///
/// @param key the key; must not be NULL
/// @param stream receives the new stream; set to NULL on failure; must not be NULL
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_NO_STREAMS the algorithm has no streams, or the library was built without `hazmat`
/// @retval SEALCOMB_ERROR_POINTER `key` or `stream` is NULL
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_stream_new(
    key: *const sealcomb_key,
    stream: *mut *mut sealcomb_stream,
) -> sealcomb_status {
    guard::status(|| {
        if stream.is_null() {
            return SEALCOMB_ERROR_POINTER;
        }
        // SAFETY: not NULL, and valid for writes, guaranteed by the caller.
        unsafe { memory::store(stream, ptr::null_mut()) };
        if key.is_null() {
            return SEALCOMB_ERROR_POINTER;
        }
        let key = key.cast::<Key>();
        // SAFETY: a live key, which is a pointer of `Arc::into_raw`; the count is that of the new reference.
        let key = unsafe {
            Arc::increment_strong_count(key);
            Arc::from_raw(key)
        };
        match new(key) {
            Ok(new) => {
                // SAFETY: not NULL, and valid for writes, guaranteed by the caller.
                unsafe { memory::store(stream, Box::into_raw(Box::new(new))) };
                SEALCOMB_OK
            }
            Err(error) => error.into(),
        }
    })
}

/// Creates a stream, if the algorithm has streams.
fn new(key: Arc<Key>) -> Result<sealcomb_stream, Error> {
    // A message that is never used finds out.
    let nonce = vec![0; key.nonce_bytes().unwrap_or_default()];
    SealStream::new(Arc::clone(&key), &nonce)?;
    Ok(sealcomb_stream { key, message: None })
}

impl sealcomb_stream {
    fn begin_seal(&mut self, nonce: &[u8]) -> Result<(), sealcomb_status> {
        match &mut self.message {
            Some(Message::Seal(stream)) => stream.begin(nonce)?,
            other => *other = Some(Message::Seal(SealStream::new(Arc::clone(&self.key), nonce)?)),
        }
        Ok(())
    }

    fn begin_open(&mut self, nonce: &[u8]) -> Result<(), sealcomb_status> {
        match &mut self.message {
            Some(Message::Open(stream)) => stream.begin(nonce)?,
            other => *other = Some(Message::Open(OpenStream::new(Arc::clone(&self.key), nonce)?)),
        }
        Ok(())
    }

    /// Returns the message, which has begun.
    fn message(&mut self) -> Result<&mut Message, sealcomb_status> {
        self.message.as_mut().ok_or(SEALCOMB_ERROR_STREAM_ORDER)
    }
}

impl Message {
    fn aad(&mut self, aad: &[u8]) -> Result<(), Error> {
        match self {
            Self::Seal(stream) => stream.aad(aad),
            Self::Open(stream) => stream.aad(aad),
        }
    }

    fn update(&mut self, data: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Seal(stream) => stream.update(data),
            Self::Open(stream) => stream.update_unverified(data),
        }
    }

    fn update_to(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Seal(stream) => stream.update_to(input, output),
            Self::Open(stream) => stream.update_unverified_to(input, output),
        }
    }
}

/// Calls a function with the stream, and returns its result as a status.
///
/// # Safety
/// `stream` is NULL or a live stream that no other thread uses.
unsafe fn with(
    stream: *mut sealcomb_stream,
    work: impl FnOnce(&mut sealcomb_stream) -> Result<(), sealcomb_status>,
) -> sealcomb_status {
    guard::status(|| {
        // SAFETY: guaranteed by the caller.
        let Some(stream) = (unsafe { stream.as_mut() }) else { return SEALCOMB_ERROR_POINTER };
        work(stream).err().unwrap_or(SEALCOMB_OK)
    })
}

/// Begins a message to seal, or for GMAC and CMAC the computation of a tag. A message that has not ended is
/// abandoned.
///
/// @param stream the stream; must not be NULL
/// @param nonce the nonce, which must be unique per message, see `sealcomb_algorithm_note`; may be NULL if
/// `nonce_bytes` is 0
/// @param nonce_bytes size of the nonce in bytes
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_NONCE_LENGTH the algorithm does not take this nonce size; the stream is unchanged
/// @retval SEALCOMB_ERROR_POINTER `stream` is NULL, or the nonce's pointer or size is invalid
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_stream_begin_seal(
    stream: *mut sealcomb_stream,
    nonce: *const u8,
    nonce_bytes: usize,
) -> sealcomb_status {
    // SAFETY: guaranteed by the caller.
    unsafe { with(stream, |stream| stream.begin_seal(memory::read(nonce, nonce_bytes)?)) }
}

/// Begins a message to open, or for GMAC and CMAC the verification of a tag. A message that has not ended is
/// abandoned.
///
/// **The pieces of an opened message are released before the tag is verified.** Do not act on them until
/// `sealcomb_stream_verify` has returned `SEALCOMB_OK`, and destroy them if it returns anything else. An attacker who
/// changes the ciphertext changes them. `sealcomb_open` releases only authentic messages.
///
/// @param stream the stream; must not be NULL
/// @param nonce the nonce of the message; may be NULL if `nonce_bytes` is 0
/// @param nonce_bytes size of the nonce in bytes
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_NONCE_LENGTH the algorithm does not take this nonce size; the stream is unchanged
/// @retval SEALCOMB_ERROR_POINTER `stream` is NULL, or the nonce's pointer or size is invalid
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_stream_begin_open(
    stream: *mut sealcomb_stream,
    nonce: *const u8,
    nonce_bytes: usize,
) -> sealcomb_status {
    // SAFETY: guaranteed by the caller.
    unsafe { with(stream, |stream| stream.begin_open(memory::read(nonce, nonce_bytes)?)) }
}

/// Authenticates the next bytes of the additional data; for GMAC and CMAC, of the data to authenticate.
///
/// @param stream the stream; must not be NULL
/// @param aad the next bytes; may be NULL if `aad_bytes` is 0
/// @param aad_bytes their number
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_STREAM_ORDER no message has begun, it has ended, or, for GCM, its text has begun, even if
/// `aad_bytes` is 0
/// @retval SEALCOMB_ERROR_AAD_TOO_LONG the additional data exceeds the mode's limit; the stream is unchanged
/// @retval SEALCOMB_ERROR_POINTER `stream` is NULL, or the pointer or size of the bytes is invalid
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_stream_aad(
    stream: *mut sealcomb_stream,
    aad: *const u8,
    aad_bytes: usize,
) -> sealcomb_status {
    // SAFETY: guaranteed by the caller.
    unsafe { with(stream, |stream| Ok(stream.message()?.aad(memory::read(aad, aad_bytes)?)?)) }
}

/// Encrypts the next bytes of a message, or decrypts them **without verifying them**, see `sealcomb_stream_begin_open`.
///
/// The result has as many bytes as the input. To work in place, pass the same pointer as `input` and `output`. Otherwise
/// the two must not overlap. After an error, nothing was written, and the stream is unchanged.
///
/// @param stream the stream; must not be NULL
/// @param input the next bytes; may be NULL if `bytes` is 0
/// @param bytes their number
/// @param output receives the result; may be NULL if `bytes` is 0
/// @param output_bytes space at `output` in bytes: at least `bytes`
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_STREAM_ORDER no message has begun, or it has ended
/// @retval SEALCOMB_ERROR_MESSAGE_LENGTH for OCB3, the previous piece was not a multiple of 16 bytes, and `bytes` is
/// not 0
/// @retval SEALCOMB_ERROR_MESSAGE_TOO_LONG the message exceeds the mode's limit
/// @retval SEALCOMB_ERROR_TAKES_NO_MESSAGE the algorithm is a MAC, and `bytes` is not 0
/// @retval SEALCOMB_ERROR_OUTPUT_TOO_SHORT `output_bytes` is less than `bytes`
/// @retval SEALCOMB_ERROR_OVERLAP the buffers overlap other than in place
/// @retval SEALCOMB_ERROR_POINTER `stream` is NULL, or a pointer or size is invalid
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_stream_update(
    stream: *mut sealcomb_stream,
    input: *const u8,
    bytes: usize,
    output: *mut u8,
    output_bytes: usize,
) -> sealcomb_status {
    let update = |stream: &mut sealcomb_stream| {
        let message = stream.message()?;
        if !memory::is_possible(input, bytes) || !memory::is_possible(output, output_bytes) {
            return Err(SEALCOMB_ERROR_POINTER);
        }
        if output_bytes < bytes {
            return Err(SEALCOMB_ERROR_OUTPUT_TOO_SHORT);
        }
        if ptr::eq(input, output) {
            // SAFETY: guaranteed by the caller.
            return Ok(message.update(unsafe { memory::write(output, bytes) }?)?);
        }
        if memory::overlap(input, bytes, output, bytes) {
            return Err(SEALCOMB_ERROR_OVERLAP);
        }
        // SAFETY: guaranteed by the caller; the buffers do not overlap.
        let (input, output) = unsafe { (memory::read(input, bytes)?, memory::write(output, bytes)?) };
        Ok(message.update_to(input, output)?)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { with(stream, update) }
}

/// Ends a message to seal, and writes its tag. The next call must begin another message.
///
/// @param stream the stream; must not be NULL
/// @param tag receives the tag
/// @param tag_bytes size of the tag in bytes: `sealcomb_key_tag_bytes`
/// @retval SEALCOMB_OK success
/// @retval SEALCOMB_ERROR_STREAM_ORDER no message to seal has begun, or it has ended
/// @retval SEALCOMB_ERROR_TAG_LENGTH `tag_bytes` is not `sealcomb_key_tag_bytes`; the stream is unchanged
/// @retval SEALCOMB_ERROR_POINTER `stream` or `tag` is NULL
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_stream_finish(
    stream: *mut sealcomb_stream,
    tag: *mut u8,
    tag_bytes: usize,
) -> sealcomb_status {
    let finish = |stream: &mut sealcomb_stream| {
        let Message::Seal(message) = stream.message()? else { return Err(SEALCOMB_ERROR_STREAM_ORDER) };
        // SAFETY: guaranteed by the caller.
        Ok(message.finish(unsafe { memory::write(tag, tag_bytes) }?)?)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { with(stream, finish) }
}

/// Ends a message to open, and compares its tag with the received one, in constant time. The next call must begin
/// another message.
///
/// @param stream the stream; must not be NULL
/// @param tag the received tag
/// @param tag_bytes size of the tag in bytes: `sealcomb_key_tag_bytes`
/// @retval SEALCOMB_OK the message is authentic
/// @retval SEALCOMB_FORGED it is not: destroy its pieces
/// @retval SEALCOMB_ERROR_STREAM_ORDER no message to open has begun, or it has ended
/// @retval SEALCOMB_ERROR_TAG_LENGTH `tag_bytes` is not `sealcomb_key_tag_bytes`; the stream is unchanged
/// @retval SEALCOMB_ERROR_POINTER `stream` or `tag` is NULL
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_stream_verify(
    stream: *mut sealcomb_stream,
    tag: *const u8,
    tag_bytes: usize,
) -> sealcomb_status {
    let verify = |stream: &mut sealcomb_stream| {
        let Message::Open(message) = stream.message()? else { return Err(SEALCOMB_ERROR_STREAM_ORDER) };
        // SAFETY: guaranteed by the caller.
        match message.verify(unsafe { memory::read(tag, tag_bytes) }?) {
            Ok(()) => Ok(()),
            Err(OpenError::Forged) => Err(SEALCOMB_FORGED),
            Err(OpenError::Misuse(error)) => Err(error.into()),
        }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { with(stream, verify) }
}

/// Zeroizes and frees a stream, and its key if nothing else uses it. No other call may be using the stream during or
/// after this call.
///
/// @param stream stream from `sealcomb_stream_new` that has not been freed; NULL does nothing
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_stream_free(stream: *mut sealcomb_stream) {
    guard::or((), || {
        if !stream.is_null() {
            // SAFETY: from `Box::into_raw`; not freed before and not used afterwards, guaranteed by the caller.
            drop(unsafe { Box::from_raw(stream) });
        }
    });
}
