//! Pipelines of AEAD modes.
//!
//! ```text
//! init:                   keep the key and the IVs
//! update, no output:      append to the additional data of each message
//! update:                 seal or open all messages as one batch; they are complete
//! final:                  seal or open empty messages, if there was no update; fail if a message is forged
//! ```
//!
//! A message is passed in one piece, and its tag is set before it is opened, so that no plaintext is returned before
//! it is verified. After an error, nothing was written, and the call can be repeated.

use std::slice;
use std::sync::Arc;

use arrayvec::ArrayVec;
use sealcomb::{Burst, Key, KeyOptions, Verdict};
use zeroize::Zeroizing;

use crate::cipher::{self, Cipher};
use crate::columns::Columns;
use crate::errors::{Outcome, Refused};
use crate::iv::TAG_BYTES;
use crate::openssl::Param;
use crate::pipeline::{Ivs, Messages, Pipes};

/// Maximum size of an IV in bytes; GCM takes longer ones for single messages.
const IV_BYTES: usize = 16;
/// Maximum size in bytes of additional data that is kept without an allocation.
const SHORT_AAD: usize = 32;

/// Maximum size in bytes of a message that all modes seal, with every IV.
const SHORT_MESSAGE: usize = 0xffff;

/// An AEAD mode that has pipelines.
pub(crate) trait Mode: Cipher {
    /// Whether a tag is valid if it is shorter than the one that was computed.
    const TRUNCATES_TAGS: bool = false;

    /// Returns the mode's part of the library's algorithm id, for a tag size in bytes.
    fn id(tag_bytes: usize) -> Option<&'static str>;

    /// Returns the size in bytes of the tags that encryption computes and that decryption expects by default.
    fn tag_bytes(&self) -> usize;
}

/// The messages of a pipeline, with one entry of each column per message.
#[derive(Clone)]
pub(crate) struct Sealed {
    encrypts: bool,
    /// The unexpanded key, as another tag size requires a new [`Key`].
    secret: Zeroizing<Vec<u8>>,
    key: Option<Arc<Key>>,
    ivs: Vec<Part>,
    /// The additional data.
    aads: Vec<Aad>,
    /// The computed tags when encrypting; the expected tags, if they are set, when decrypting.
    tags: Vec<Part>,
    /// The verdicts on decrypted messages.
    verdicts: Vec<Verdict>,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// There are no unused IVs.
    Unset,
    /// No message was processed under the IVs.
    Ready,
    /// All messages were processed; only the final call is missing.
    Processed,
    /// The final call has ended the messages.
    Finished,
}

/// An IV or a tag.
#[derive(Clone, Copy)]
struct Part {
    bytes: [u8; TAG_BYTES],
    count: usize,
}

impl Part {
    const EMPTY: Self = Self { bytes: [0; TAG_BYTES], count: 0 };

    /// Copies at most [`TAG_BYTES`] bytes.
    #[inline(always)]
    fn set(&mut self, slice: &[u8]) {
        self.count = slice.len();
        copy(slice, &mut self.bytes[..slice.len()]);
    }
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.count]
    }
}

impl AsMut<[u8]> for Part {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.count]
    }
}

/// A [`Part`] of `N` bytes. Compared with parts of any size, the compiler knows theirs.
#[repr(transparent)]
struct Exact<const N: usize>(Part);

impl<const N: usize> Exact<N> {
    /// Returns the parts if all of them have `N` bytes.
    fn all(parts: &mut [Part]) -> Option<&mut [Self]> {
        if parts.iter().any(|part| part.count != N) {
            return None;
        }
        // SAFETY: the types have the same layout.
        Some(unsafe { &mut *(std::ptr::from_mut(parts) as *mut [Self]) })
    }
}

impl<const N: usize> AsRef<[u8]> for Exact<N> {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        &self.0.bytes[..N]
    }
}

impl<const N: usize> AsMut<[u8]> for Exact<N> {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0.bytes[..N]
    }
}

/// The additional data of a message: in `short` as long as it fits, and then in `long`.
#[derive(Clone)]
struct Aad {
    short: [u8; SHORT_AAD],
    count: usize,
    long: Vec<u8>,
}

impl Aad {
    const EMPTY: Self = Self { short: [0; SHORT_AAD], count: 0, long: Vec::new() };

    #[inline(always)]
    fn append(&mut self, aad: &[u8]) {
        let (from, to) = (self.count, self.count.saturating_add(aad.len()));
        match self.short.get_mut(from..to) {
            Some(room) => copy(aad, room),
            None => self.append_long(aad),
        }
        self.count = to;
    }

    #[cold]
    fn append_long(&mut self, aad: &[u8]) {
        if self.count <= SHORT_AAD {
            self.long.clear();
            self.long.extend_from_slice(&self.short[..self.count]);
        }
        self.long.extend_from_slice(aad);
    }
}

impl AsRef<[u8]> for Aad {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        if self.count <= SHORT_AAD { &self.short[..self.count] } else { &self.long }
    }
}

/// Copies a slice to another one of the same length. Copies of constant length take no call: those of the additional
/// data of ESP and TLS, of IVs, and of tags.
#[inline(always)]
fn copy(from: &[u8], to: &mut [u8]) {
    match from.len() {
        8 => to[..8].copy_from_slice(&from[..8]),
        12 => to[..12].copy_from_slice(&from[..12]),
        13 => to[..13].copy_from_slice(&from[..13]),
        16 => to[..16].copy_from_slice(&from[..16]),
        _ => to.copy_from_slice(from),
    }
}

impl Sealed {
    /// Expands the key for a tag size, unless it already is.
    fn set_tag_bytes<C: Mode>(&mut self, tag_bytes: usize) -> Outcome {
        if self.key.as_ref().is_none_or(|key| key.tag_bytes() != tag_bytes) {
            let id = C::id(tag_bytes).ok_or(Refused::INVALID_TAG_LENGTH)?;
            let options = KeyOptions::new().short_tag_bytes(tag_bytes);
            let key = cipher::key_with(options, id, &self.secret, self.secret.len());
            self.key = Some(key.map_err(|_| Refused::INVALID_TAG_LENGTH)?);
        }
        Ok(())
    }

    /// Appends to the additional data.
    ///
    /// # Safety
    /// There are an input and its size for each message, and the inputs are valid for reads, with no concurrent writes.
    unsafe fn add_aads(&mut self, columns: Columns) -> Outcome {
        let Columns { count, inputs, input_bytes, .. } = columns;
        // SAFETY: guaranteed by the caller.
        let (inputs, sizes) =
            unsafe { (slice::from_raw_parts(inputs, count), slice::from_raw_parts(input_bytes, count)) };
        let mut all = true;
        for (input, &count) in inputs.iter().zip(sizes) {
            all &= count == 0 || (!input.is_null() && isize::try_from(count).is_ok());
        }
        if !all {
            return Err(Refused::CIPHER_OPERATION_FAILED);
        }
        for ((aad, &input), &count) in self.aads.iter_mut().zip(inputs).zip(sizes) {
            if count > 0 {
                // SAFETY: guaranteed by the caller.
                aad.append(unsafe { slice::from_raw_parts(input, count) });
            }
        }
        Ok(())
    }

    /// Seals or opens all messages, and writes their sizes, which are 0 for forged messages.
    ///
    /// # Safety
    /// See [`Columns::fill`].
    unsafe fn process(&mut self, columns: Columns, sizes: &mut [usize]) -> Outcome {
        if self.state != State::Ready {
            return Err(Refused::CIPHER_OPERATION_FAILED);
        }
        if !self.encrypts && self.tags.is_empty() {
            return Err(Refused::TAG_NOT_SET);
        }
        let key = self.key.clone().ok_or(Refused::NO_KEY_SET)?;
        let mut messages = ArrayVec::new();
        // SAFETY: guaranteed by the caller.
        unsafe {
            // Before the inputs are in the outputs, where a plaintext would stay if the library refused its size.
            if !self.takes_sizes(&key, columns) {
                return Err(Refused::CIPHER_OPERATION_FAILED);
            }
            columns.fill(&mut messages)
        }?;
        // After a panic, the IVs may have been used.
        self.state = State::Unset;
        if self.encrypts {
            self.tags.resize(columns.count, Part { count: key.tag_bytes(), ..Part::EMPTY });
        } else {
            self.verdicts.resize(columns.count, Verdict::Pending);
        }
        // The usual sizes.
        let usual = (Exact::<12>::all(&mut self.ivs), Exact::<16>::all(&mut self.tags));
        let processed = if let (Some(ivs), Some(tags)) = usual {
            let burst = Burst::new(&key, ivs).aads(&self.aads);
            run(&burst, self.encrypts, &mut messages, tags, &mut self.verdicts)
        } else {
            let burst = Burst::new(&key, &self.ivs).aads(&self.aads);
            run(&burst, self.encrypts, &mut messages, &mut self.tags, &mut self.verdicts)
        };
        self.state = if processed.is_ok() { State::Processed } else { State::Ready };
        processed?;
        for (index, (message, size)) in messages.iter().zip(sizes).enumerate() {
            let is_forged = self.verdicts.get(index) == Some(&Verdict::Forged);
            *size = if is_forged { 0 } else { message.len() };
        }
        Ok(())
    }

    /// Returns whether the mode supports messages of these sizes.
    ///
    /// # Safety
    /// See [`Columns::at`].
    unsafe fn takes_sizes(&self, key: &Key, columns: Columns) -> bool {
        if columns.input_bytes.is_null() {
            return true;
        }
        // SAFETY: guaranteed by the caller.
        let sizes = unsafe { slice::from_raw_parts(columns.input_bytes, columns.count) };
        let is_valid = |((bytes, iv), aad): ((&usize, &Part), &Aad)| {
            let (bytes, aad_bytes) = (*bytes as u64, aad.as_ref().len() as u64);
            key.algorithm().check(iv.count, key.tag_bytes(), aad_bytes, bytes).is_ok()
        };
        // One comparison for all messages, as nearly all are short.
        sizes.iter().fold(0, |all, bytes| all | bytes) <= SHORT_MESSAGE
            || sizes.iter().zip(&self.ivs).zip(&self.aads).all(is_valid)
    }

    /// Copies the tags to the caller's buffers.
    ///
    /// # Safety
    /// Each buffer has the parameter's size.
    unsafe fn write_tags(&self, param: &Param, truncates: bool) -> Outcome {
        // SAFETY: guaranteed by the caller.
        let buffers = unsafe { param.buffers(self.tags.len()) };
        let (buffers, size) = buffers.ok_or(Refused::FAILED_TO_SET_PARAMETER)?;
        let fits = |tag: &Part| size == tag.count || (truncates && (1..tag.count).contains(&size));
        if !self.encrypts || self.state != State::Finished {
            return Err(Refused::TAG_NOT_SET);
        }
        if !self.tags.iter().all(fits) {
            return Err(Refused::INVALID_TAG_LENGTH);
        }
        if buffers.iter().any(|buffer| buffer.is_null()) {
            return Err(Refused::FAILED_TO_SET_PARAMETER);
        }
        for (tag, buffer) in self.tags.iter().zip(buffers) {
            // SAFETY: guaranteed by the caller.
            copy(&tag.bytes[..size], unsafe { slice::from_raw_parts_mut(*buffer, size) });
        }
        Ok(())
    }

    /// Copies the expected tags from the caller's buffers.
    ///
    /// # Safety
    /// Each buffer has the parameter's size.
    unsafe fn read_tags<C: Mode>(&mut self, param: &Param) -> Outcome {
        if self.encrypts {
            return Err(Refused::TAG_NOT_NEEDED);
        }
        if self.state != State::Ready {
            return Err(Refused::INVALID_TAG);
        }
        // SAFETY: guaranteed by the caller.
        let buffers = unsafe { param.buffers(self.ivs.len()) };
        let (buffers, size) = buffers.ok_or(Refused::FAILED_TO_GET_PARAMETER)?;
        if !(1..=TAG_BYTES).contains(&size) {
            return Err(Refused::INVALID_TAG_LENGTH);
        }
        if buffers.iter().any(|buffer| buffer.is_null()) {
            return Err(Refused::FAILED_TO_GET_PARAMETER);
        }
        self.set_tag_bytes::<C>(size)?;
        self.tags.resize(buffers.len(), Part::EMPTY);
        for (tag, buffer) in self.tags.iter_mut().zip(buffers) {
            // SAFETY: guaranteed by the caller.
            tag.set(unsafe { slice::from_raw_parts(*buffer, size) });
        }
        Ok(())
    }
}

/// Seals or opens all messages.
fn run<N: AsRef<[u8]>, T: AsRef<[u8]> + AsMut<[u8]>>(
    burst: &Burst<'_, N, Aad>,
    encrypts: bool,
    messages: &mut [&mut [u8]],
    tags: &mut [T],
    verdicts: &mut [Verdict],
) -> Outcome {
    let done =
        if encrypts { burst.seal(messages, tags) } else { burst.open(messages, tags, verdicts).map(drop) };
    done.map_err(|_| Refused::CIPHER_OPERATION_FAILED)
}

impl<C: Mode> Pipes for C {
    type Messages = Sealed;
}

impl<C: Mode> Messages<C> for Sealed {
    fn new() -> Self {
        Self {
            encrypts: true,
            secret: Zeroizing::default(),
            key: None,
            ivs: Vec::new(),
            aads: Vec::new(),
            tags: Vec::new(),
            verdicts: Vec::new(),
            state: State::Unset,
        }
    }

    unsafe fn begin(&mut self, single: &C, encrypts: bool, key: Option<&[u8]>, ivs: Ivs) -> Outcome {
        self.state = State::Unset;
        self.encrypts = encrypts;
        self.tags.clear();
        self.verdicts.clear();
        self.ivs.clear();
        if let Some(key) = key {
            self.key = None;
            self.secret = Zeroizing::new(key.to_vec());
        }
        if self.secret.is_empty() {
            return Err(Refused::NO_KEY_SET);
        }
        self.set_tag_bytes::<C>(single.tag_bytes())?;
        if ivs.are_missing() {
            return Ok(());
        }
        let algorithm = self.key.as_ref().ok_or(Refused::NO_KEY_SET)?.algorithm();
        if !(algorithm.min_nonce_bytes()..=algorithm.max_nonce_bytes().min(IV_BYTES)).contains(&ivs.bytes) {
            return Err(Refused::INVALID_IV_LENGTH);
        }
        // In place: moving parts whose bytes were just written would stall the CPU.
        self.ivs.resize(ivs.count, Part::EMPTY);
        for (index, iv) in self.ivs.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            iv.set(unsafe { ivs.at(index) }?);
        }
        self.aads.resize(ivs.count, Aad::EMPTY);
        self.aads.iter_mut().for_each(|aad| aad.count = 0);
        self.state = State::Ready;
        Ok(())
    }

    fn count(&self) -> usize {
        self.ivs.len()
    }

    unsafe fn update(&mut self, _: &C, columns: Columns, sizes: &mut [usize]) -> Outcome {
        if self.state != State::Ready {
            return Err(Refused::CIPHER_OPERATION_FAILED);
        }
        if !columns.outputs.is_null() {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.process(columns, sizes) };
        }
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.add_aads(columns)?;
            sizes.copy_from_slice(slice::from_raw_parts(columns.input_bytes, columns.count));
        }
        Ok(())
    }

    /// Fails if a message is forged.
    unsafe fn finish(&mut self, _: &C, columns: Columns, sizes: &mut [usize]) -> Outcome {
        if self.state == State::Ready {
            // SAFETY: empty messages have no buffers.
            unsafe { self.process(Columns::empty(columns.count), sizes) }?;
        }
        if self.state != State::Processed {
            return Err(Refused::CIPHER_OPERATION_FAILED);
        }
        self.state = State::Finished;
        if self.verdicts.contains(&Verdict::Forged) { Err(Refused::SILENTLY) } else { Ok(()) }
    }

    fn has(param: &Param) -> bool {
        matches!(param.name(), b"pipeline-tag" | b"sealcomb-pipeline-verdicts")
    }

    fn get(&self, param: &mut Param) -> Outcome {
        if param.name() == b"pipeline-tag" {
            // SAFETY: EVP_EncryptInit(3), "pipeline-tag": an array of pointers to buffers of the parameter's size.
            return unsafe { self.write_tags(param, C::TRUNCATES_TAGS) };
        }
        if self.verdicts.is_empty() {
            return Err(Refused::FAILED_TO_SET_PARAMETER);
        }
        let verified = |verdict: &Verdict| u8::from(*verdict == Verdict::Verified);
        param.set_bytes(&self.verdicts.iter().map(verified).collect::<Vec<u8>>())
    }

    fn set_one(&mut self, param: &Param) -> Outcome {
        if param.name() == b"pipeline-tag" {
            // SAFETY: EVP_EncryptInit(3), "pipeline-tag": an array of pointers to buffers of the parameter's size.
            return unsafe { self.read_tags::<C>(param) };
        }
        // Verdicts are only read.
        Ok(())
    }
}
