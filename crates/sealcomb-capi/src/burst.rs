//! Bursts: messages in columns, in place.
//!
//! ```text
//! check the arrays and, if there are several flights, every message
//! for each flight of messages:
//!     turn its entries into slices, which must not overlap
//!     one key for all: pass the columns to the library
//!     a key each:      pass jobs to the library
//! ```

use std::mem::ManuallyDrop;
use std::ops::Range;
use std::{ptr, slice};

use arrayvec::ArrayVec;
use sealcomb::{BatchError, Burst, Key, Verdict};

use crate::job::{Direction, Open, Prepared, Seal};
use crate::memory::{is_possible, may_overlap, overlap};
use crate::sealcomb_status::{
    SEALCOMB_ERROR_INTERNAL, SEALCOMB_ERROR_OUTPUT_TOO_SHORT, SEALCOMB_ERROR_OVERLAP, SEALCOMB_ERROR_POINTER,
    SEALCOMB_ERROR_STRUCT_SIZE, SEALCOMB_ERROR_TAG_LENGTH, SEALCOMB_NOT_DONE, SEALCOMB_OK,
};
use crate::{guard, sealcomb_key, sealcomb_status};

/// Messages passed to the library in one call, held on the stack: as many as it keeps in flight.
const FLIGHT: usize = 64;

/// Messages to seal or open in place, in columns: arrays with one entry per message, as packet rings and tables hold
/// them.
///
/// Initialize all fields to 0, set `size` to `sizeof(sealcomb_burst)`, then set the fields that apply. A call changes
/// the messages, `statuses` and, when sealing, the tags, and nothing else. All sizes are in bytes.
///
/// A burst avoids most of the work per message that `sealcomb_job` requires. Use jobs for messages that are not in
/// place, for nonces of different sizes, for additional data in pieces, and for algorithms whose ciphertexts are
/// longer than their messages.
///
/// Overlap: a message and, when sealing, its tag must not overlap each other or the nonce and additional data of the
/// message. Violations are `SEALCOMB_ERROR_OVERLAP`. Not checked: memory written for one message must not overlap
/// that of another one, or any of the arrays. Otherwise the contents of this memory and the statuses are unspecified,
/// but no other memory is touched.
#[repr(C)]
pub struct sealcomb_burst {
    /// `sizeof(sealcomb_burst)`, which identifies the version of the structure to the library.
    pub size: usize,
    /// Number of messages: entries of every array. If it is 0, only `size` and `reserved` matter.
    pub count: usize,
    /// The key of all messages; NULL if each has its own.
    pub key: *const sealcomb_key,
    /// The key of each message, if `key` is NULL; NULL otherwise. Keys may be of different algorithms. Several keys
    /// of one algorithm make the call allocate memory.
    pub keys: *const *const sealcomb_key,
    /// The messages to seal in place, or the ciphertexts to open in place. NULL if all are empty, as for MACs. An
    /// entry may be NULL if its size is 0.
    pub messages: *const *mut u8,
    /// Size of each message; NULL if `messages` is.
    pub message_bytes: *const usize,
    /// The additional data of each message, or the message for a MAC; NULL for none. An entry may be NULL if its size
    /// is 0.
    pub aads: *const *const u8,
    /// Size of the additional data of each message; NULL if `aads` is.
    pub aad_bytes: *const usize,
    /// The first nonce; the others follow at distances of `nonce_stride`. May be NULL if `nonce_bytes` is 0.
    pub nonces: *const u8,
    /// Size of each nonce.
    pub nonce_bytes: usize,
    /// Distance from one nonce to the next, at least `nonce_bytes`.
    pub nonce_stride: usize,
    /// The first tag; the others follow at distances of `tag_stride`. NULL if each tag is in the bytes after its
    /// message, as in packets. May be NULL if `tag_bytes` is 0.
    pub tags: *mut u8,
    /// Size of each tag: `sealcomb_key_tag_bytes` of every key.
    pub tag_bytes: usize,
    /// Distance from one tag to the next, at least `tag_bytes`; ignored if `tags` is NULL.
    pub tag_stride: usize,
    /// Receives the result of each message. May be NULL when sealing, where it only reports which message is invalid.
    pub statuses: *mut sealcomb_status,
    /// Size of the header at the start of each entry of `messages`, which counts in `message_bytes`. It is not
    /// encrypted: it is the additional data, so `aads` must be NULL. 0 if the messages have no headers.
    pub header_bytes: usize,
    /// Reserved; must be 0.
    pub reserved: usize,
}

/// Seals all messages of a burst in place.
///
/// All messages are checked before anything is sealed: either all of them are sealed, or none. The call uses at most
/// 64 KiB of stack with the algorithms of a build without optional features, and no heap memory if all messages have
/// one key, except with GCM-SIV or XAES-256-GCM on the backend `portable`.
///
/// Threads: calls may run concurrently and share keys, but not messages or tags.
///
/// @param burst the messages; must not be NULL
/// @retval SEALCOMB_OK all messages were sealed, and each status is `SEALCOMB_OK`
/// @retval SEALCOMB_ERROR_STRUCT_SIZE `size` is not supported by this library, or `reserved` is not 0
/// @retval SEALCOMB_ERROR_POINTER `burst` or an array is NULL, misaligned or too large, or a stride too small; or
/// a message has no key, or an invalid pointer or length, or is shorter than its header; or there are both `key` and
/// `keys`, or both `header_bytes` and `aads`
/// @retval SEALCOMB_ERROR_OUTPUT_TOO_SHORT the algorithm's ciphertexts are longer than their messages; use jobs
/// @retval SEALCOMB_ERROR_INTERNAL a bug in the library; discard all messages and tags
/// @return any other error: that of the first invalid message. Nothing was sealed. The status of that message is the
/// error, all others are `SEALCOMB_NOT_DONE`
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_seal_burst(burst: *const sealcomb_burst) -> sealcomb_status {
    // SAFETY: the header requires of the burst what `run` does.
    unsafe { run::<Seal>(burst) }
}

/// Opens all messages of a burst in place.
///
/// The status of a message is `SEALCOMB_OK` if it is authentic, `SEALCOMB_FORGED` if it is not (the message is
/// zeroed), and `SEALCOMB_UNAUTHENTICATED` for an unauthenticated cipher. A forged message does not affect the
/// others. Tags are compared in constant time. All messages are checked before anything is opened. Memory and
/// threads: see `sealcomb_seal_burst`.
///
/// @param burst the messages, with `statuses`; must not be NULL
/// @retval SEALCOMB_OK all messages are authentic
/// @retval SEALCOMB_FORGED at least one message was forged: see `statuses`
/// @retval SEALCOMB_UNAUTHENTICATED no message was forged, but at least one was decrypted with an unauthenticated
/// cipher, so that nothing was verified: see `statuses`
/// @retval SEALCOMB_ERROR_STRUCT_SIZE `size` is not supported by this library, or `reserved` is not 0
/// @retval SEALCOMB_ERROR_POINTER `burst` or an array is NULL, misaligned or too large, or a stride too small; or
/// a message has no key, or an invalid pointer or length; or there are both `key` and `keys`
/// @retval SEALCOMB_ERROR_OUTPUT_TOO_SHORT the algorithm's ciphertexts are longer than their messages; use jobs
/// @retval SEALCOMB_ERROR_INTERNAL a bug in the library; all messages are zeroed
/// @return any other error: that of the first invalid message. Nothing was opened. The status of that message is the
/// error, all others are `SEALCOMB_NOT_DONE`
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_open_burst(burst: *const sealcomb_burst) -> sealcomb_status {
    // SAFETY: the header requires of the burst what `run` does.
    unsafe { run::<Open>(burst) }
}

/// The nonces and tags of most algorithms and protocols. The library processes arrays of them, whose sizes the
/// compiler knows, in ten cycles less per message.
type UsualNonce = [u8; 12];
type UsualTag = [u8; 16];

/// An error, with the message that caused it, if one did.
struct Mistake {
    index: Option<usize>,
    status: sealcomb_status,
}

impl From<sealcomb_status> for Mistake {
    fn from(status: sealcomb_status) -> Self {
        Self { index: None, status }
    }
}

/// Sealing or opening in columns.
trait Columns: Direction {
    /// Processes a flight under one key. Writes a verdict for each message, if there are verdicts.
    fn burst(
        burst: &Burst<'_, &[u8], &[u8]>,
        messages: &mut [&mut [u8]],
        tags: &mut [Self::Tag<'_>],
        verdicts: &mut [Verdict],
    ) -> Result<(), BatchError>;

    /// Processes a flight whose nonces and tags have the usual sizes and no gaps, as [`Columns::burst`] does.
    ///
    /// # Safety
    /// `tags` has one tag per message, valid for reads and, if tags are written, for writes, without any other use.
    unsafe fn usual_burst(
        burst: &Burst<'_, UsualNonce, &[u8]>,
        messages: &mut [&mut [u8]],
        tags: *mut UsualTag,
        verdicts: &mut [Verdict],
    ) -> Result<(), BatchError>;
}

impl Columns for Seal {
    #[inline(always)]
    fn burst(
        burst: &Burst<'_, &[u8], &[u8]>,
        messages: &mut [&mut [u8]],
        tags: &mut [&mut [u8]],
        _: &mut [Verdict],
    ) -> Result<(), BatchError> {
        burst.seal(messages, tags)
    }

    #[inline(always)]
    unsafe fn usual_burst(
        burst: &Burst<'_, UsualNonce, &[u8]>,
        messages: &mut [&mut [u8]],
        tags: *mut UsualTag,
        _: &mut [Verdict],
    ) -> Result<(), BatchError> {
        // SAFETY: guaranteed by the caller.
        let tags = unsafe { slice::from_raw_parts_mut(tags, messages.len()) };
        burst.seal(messages, tags)
    }
}

impl Columns for Open {
    #[inline(always)]
    fn burst(
        burst: &Burst<'_, &[u8], &[u8]>,
        messages: &mut [&mut [u8]],
        tags: &mut [&[u8]],
        verdicts: &mut [Verdict],
    ) -> Result<(), BatchError> {
        burst.open(messages, tags, verdicts).map(|_| ())
    }

    #[inline(always)]
    unsafe fn usual_burst(
        burst: &Burst<'_, UsualNonce, &[u8]>,
        messages: &mut [&mut [u8]],
        tags: *mut UsualTag,
        verdicts: &mut [Verdict],
    ) -> Result<(), BatchError> {
        // SAFETY: guaranteed by the caller.
        let tags = unsafe { slice::from_raw_parts(tags, messages.len()) };
        burst.open(messages, tags, verdicts).map(|_| ())
    }
}

/// A message of a burst.
struct Message<'a, D: Direction> {
    nonce: &'a [u8],
    aad: &'a [u8],
    data: &'a mut [u8],
    tag: D::Tag<'a>,
}

/// Checks and processes a burst.
///
/// # Safety
/// `burst` is NULL or valid, and its arrays, which are NULL or have `count` entries, are not written concurrently.
/// The keys are live. Each buffer with a size other than 0 is NULL or valid: buffers to read for reads, without
/// concurrent writes; buffers to write for writes, without any other use.
#[inline(always)]
unsafe fn run<D: Columns>(burst: *const sealcomb_burst) -> sealcomb_status {
    if burst.is_null() || !burst.is_aligned() {
        return SEALCOMB_ERROR_POINTER;
    }
    // SAFETY: guaranteed by the caller.
    let burst = unsafe { &*burst };
    // SAFETY: guaranteed by the caller.
    match guard::or(None, || Some(unsafe { burst.process::<D>() })) {
        Some(Ok(status)) => status,
        Some(Err(mistake)) => {
            // SAFETY: guaranteed by the caller.
            unsafe { burst.refuse(&mistake) };
            mistake.status
        }
        None => {
            // SAFETY: guaranteed by the caller; checking the arrays does not panic.
            unsafe { burst.discard() };
            SEALCOMB_ERROR_INTERNAL
        }
    }
}

impl sealcomb_burst {
    /// Checks all messages, then processes them flight by flight.
    ///
    /// # Safety
    /// See [`run`].
    #[inline(always)]
    unsafe fn process<D: Columns>(&self) -> Result<sealcomb_status, Mistake> {
        if self.size != size_of::<Self>() || self.reserved != 0 {
            return Err(SEALCOMB_ERROR_STRUCT_SIZE.into());
        }
        if self.count == 0 {
            return Ok(SEALCOMB_OK);
        }
        self.check_arrays::<D>()?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if self.count > FLIGHT {
                self.check_messages::<D>()?;
            }
            let mut worst = SEALCOMB_OK;
            for first in (0..self.count).step_by(FLIGHT) {
                let flight = first..self.count.min(first + FLIGHT);
                let processed = match self.key.as_ref() {
                    Some(sealcomb_key(key)) => self.process_columns::<D>(key, flight),
                    None => self.process_jobs::<D>(flight),
                };
                // A message before the one found may have a size that only the library refuses.
                worst =
                    worst.or(processed.map_err(|found| self.check_messages::<D>().err().unwrap_or(found))?);
            }
            Ok(worst)
        }
    }

    /// Processes a flight under one key. Returns the status that all messages have together.
    ///
    /// # Safety
    /// See [`run`].
    #[inline(always)]
    unsafe fn process_columns<D: Columns>(
        &self,
        key: &Key,
        flight: Range<usize>,
    ) -> Result<sealcomb_status, Mistake> {
        let (first, count) = (flight.start, flight.len());
        self.check_key(key).map_err(|mistake| Mistake { index: Some(first), ..mistake })?;
        // Slices own nothing: `ManuallyDrop` saves passes over them that would drop nothing.
        let mut nonces = ManuallyDrop::new(ArrayVec::<&[u8], FLIGHT>::new());
        let mut aads = ManuallyDrop::new(ArrayVec::<&[u8], FLIGHT>::new());
        let mut messages = ManuallyDrop::new(ArrayVec::<&mut [u8], FLIGHT>::new());
        let mut tags = ManuallyDrop::new(ArrayVec::<D::Tag<'_>, FLIGHT>::new());
        let mut verdicts = [Verdict::Pending; FLIGHT];
        let verdicts = &mut verdicts[..count];
        // SAFETY: guaranteed by the caller. A flight has at most `FLIGHT` messages, slots beyond the length of a
        // vector may be written, and all slots up to `count` are.
        let result = unsafe {
            let is_simple = self.are_simple::<D>(flight.clone());
            if is_simple && self.has_usual_columns() {
                for (i, index) in flight.enumerate() {
                    let Place { data, bytes, aad, aad_bytes, .. } = self.simple(index, false);
                    aads.as_mut_ptr().add(i).write(slice::from_raw_parts(aad, aad_bytes));
                    messages.as_mut_ptr().add(i).write(slice::from_raw_parts_mut(data, bytes));
                }
                aads.set_len(count);
                messages.set_len(count);
                let nonces = slice::from_raw_parts(self.nonces.cast::<UsualNonce>().add(first), count);
                let tags = self.tags.cast::<UsualTag>().add(first);
                D::usual_burst(&Burst::new(key, nonces).aads(&aads), &mut messages, tags, verdicts)
            } else {
                let follows = self.tags.is_null();
                for (i, index) in flight.enumerate() {
                    let message = if is_simple {
                        self.simple(index, follows).message::<D>()
                    } else {
                        self.at::<D>(index)?
                    };
                    nonces.as_mut_ptr().add(i).write(message.nonce);
                    aads.as_mut_ptr().add(i).write(message.aad);
                    messages.as_mut_ptr().add(i).write(message.data);
                    tags.as_mut_ptr().add(i).write(message.tag);
                }
                nonces.set_len(count);
                aads.set_len(count);
                messages.set_len(count);
                tags.set_len(count);
                D::burst(&Burst::new(key, &nonces).aads(&aads), &mut messages, &mut tags, verdicts)
            }
        };
        result
            .map_err(|error| Mistake { index: Some(first + error.index()), status: error.error().into() })?;
        let mut worst = SEALCOMB_OK;
        if !self.statuses.is_null() {
            for (i, verdict) in verdicts.iter().enumerate() {
                let status = if D::WRITES_TAG { SEALCOMB_OK } else { (*verdict).into() };
                worst = worst.or(status);
                // SAFETY: guaranteed by the caller.
                unsafe { self.statuses.add(first + i).write(status) };
            }
        }
        Ok(worst)
    }

    /// Processes a flight in which each message has its own key. Returns the status that all messages have together.
    ///
    /// # Safety
    /// See [`run`].
    unsafe fn process_jobs<D: Columns>(&self, flight: Range<usize>) -> Result<sealcomb_status, Mistake> {
        let first = flight.start;
        let mut jobs = ManuallyDrop::new(ArrayVec::<D::Job<'_>, FLIGHT>::new());
        for index in flight {
            // SAFETY: guaranteed by the caller.
            let (key, message) = unsafe { (self.key_at(index)?, self.at::<D>(index)?) };
            self.check_key(key).map_err(|mistake| Mistake { index: Some(index), ..mistake })?;
            jobs.push(D::in_place(key, message.nonce, message.aad, message.data, message.tag));
        }
        D::run(&mut jobs)
            .map_err(|error| Mistake { index: Some(first + error.index()), status: error.error().into() })?;
        let mut worst = SEALCOMB_OK;
        for (i, job) in jobs.iter().enumerate().filter(|_| !self.statuses.is_null()) {
            let status = job.result().map_or(SEALCOMB_OK, |(status, _)| status);
            worst = worst.or(status);
            // SAFETY: guaranteed by the caller.
            unsafe { self.statuses.add(first + i).write(status) };
        }
        Ok(worst)
    }

    /// Checks the fields of a burst that is not empty, without the messages.
    #[inline(always)]
    fn check_arrays<D: Direction>(&self) -> Result<(), Mistake> {
        let count = self.count;
        let array = |is_used: bool, possible: bool| !is_used || possible;
        let column = |data: *const u8, bytes: usize, stride: usize| {
            bytes <= stride
                && stride.checked_mul(count).is_some_and(|all| isize::try_from(all).is_ok())
                && (!data.is_null() || bytes == 0)
        };
        let possible = self.key.is_null() != self.keys.is_null()
            && array(!self.keys.is_null(), is_possible(self.keys, count))
            && self.messages.is_null() == self.message_bytes.is_null()
            && array(!self.messages.is_null(), is_possible(self.messages, count))
            && array(!self.messages.is_null(), is_possible(self.message_bytes, count))
            && self.aads.is_null() == self.aad_bytes.is_null()
            && array(self.header_bytes > 0, self.aads.is_null() && !self.messages.is_null())
            && array(!self.aads.is_null(), is_possible(self.aads, count))
            && array(!self.aads.is_null(), is_possible(self.aad_bytes, count))
            && column(self.nonces, self.nonce_bytes, self.nonce_stride)
            && array(!self.tags.is_null(), column(self.tags, self.tag_bytes, self.tag_stride))
            && array(self.tags.is_null() && self.tag_bytes > 0, !self.messages.is_null())
            && array(!self.statuses.is_null() || !D::WRITES_TAG, is_possible(self.statuses, count))
            && isize::try_from(self.tag_bytes).is_ok();
        if possible { Ok(()) } else { Err(SEALCOMB_ERROR_POINTER.into()) }
    }

    #[inline(always)]
    fn check_key(&self, key: &Key) -> Result<(), Mistake> {
        if key.algorithm().expands() {
            return Err(SEALCOMB_ERROR_OUTPUT_TOO_SHORT.into());
        }
        if key.tag_bytes() != self.tag_bytes {
            return Err(SEALCOMB_ERROR_TAG_LENGTH.into());
        }
        Ok(())
    }

    /// Finds the first invalid message.
    ///
    /// # Safety
    /// See [`run`].
    #[cold]
    unsafe fn check_messages<D: Columns>(&self) -> Result<(), Mistake> {
        for index in 0..self.count {
            let of_message = |status| Mistake { index: Some(index), status };
            // SAFETY: guaranteed by the caller.
            let (key, message) = unsafe { (self.key_at(index)?, self.at::<D>(index)?) };
            self.check_key(key).map_err(|mistake| of_message(mistake.status))?;
            let (aad_bytes, bytes) = (message.aad.len() as u64, message.data.len() as u64);
            key.check(self.nonce_bytes, self.tag_bytes, aad_bytes, bytes)
                .map_err(|error| of_message(error.into()))?;
        }
        Ok(())
    }

    /// The fast check of a flight, which nearly all pass: no pointer is NULL, no message may overlap its additional
    /// data, and all messages together overlap neither the nonces nor the tags. Flights that fail it may be valid.
    ///
    /// # Safety
    /// See [`run`]; the flight is within the arrays, which were checked.
    #[inline(always)]
    unsafe fn are_simple<D: Direction>(&self, flight: Range<usize>) -> bool {
        let has_aads = !self.aads.is_null() || self.header_bytes > 0;
        if self.messages.is_null() || !has_aads || self.nonces.is_null() {
            return false;
        }
        let after = if self.tags.is_null() { self.tag_bytes } else { 0 };
        let (mut messages, mut aads) = (Reach::NOTHING, Reach::NOTHING);
        let (mut sizes, mut overlaps) = (0, false);
        for index in flight {
            // SAFETY: guaranteed by the caller.
            let Place { data, bytes, aad, aad_bytes, .. } = unsafe { self.simple(index, false) };
            sizes |= bytes | aad_bytes;
            let with_tag = bytes.wrapping_add(after);
            messages.add(data.addr(), with_tag);
            aads.add(aad.addr(), aad_bytes);
            overlaps |= may_overlap(data, with_tag, aad, aad_bytes);
        }
        let nonces = Reach::of(self.nonces.addr(), self.nonce_stride * self.count);
        let tags =
            Reach::of(self.tags.addr(), if self.tags.is_null() { 0 } else { self.tag_stride * self.count });
        isize::try_from(sizes).is_ok()
            && !overlaps
            && messages.low > 0
            && aads.low > 0
            && messages.is_apart_from(nonces)
            && messages.is_apart_from(tags)
            && (!D::WRITES_TAG || tags.is_apart_from(nonces) && tags.is_apart_from(aads))
    }

    /// Returns whether the nonces and tags have the usual sizes and no gaps.
    #[inline(always)]
    fn has_usual_columns(&self) -> bool {
        !self.tags.is_null()
            && (self.nonce_bytes, self.nonce_stride) == (size_of::<UsualNonce>(), size_of::<UsualNonce>())
            && (self.tag_bytes, self.tag_stride) == (size_of::<UsualTag>(), size_of::<UsualTag>())
    }

    /// Returns the key of a message.
    ///
    /// # Safety
    /// See [`run`]; `index` is below `count`, and the arrays were checked.
    unsafe fn key_at<'a>(&self, index: usize) -> Result<&'a Key, Mistake> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let key = if self.key.is_null() { *self.keys.add(index) } else { self.key };
            match key.as_ref() {
                Some(sealcomb_key(key)) => Ok(key),
                None => Err(Mistake { index: Some(index), status: SEALCOMB_ERROR_POINTER }),
            }
        }
    }

    /// Returns a message, after checking its buffers.
    ///
    /// # Safety
    /// See [`run`]; `index` is below `count`, and the arrays were checked.
    #[inline(always)]
    unsafe fn at<'a, D: Direction>(&self, index: usize) -> Result<Message<'a, D>, Mistake> {
        // SAFETY: guaranteed by the caller.
        let place = unsafe { self.place(index) };
        if !place.is_simple::<D>() {
            place.check::<D>().map_err(|status| Mistake { index: Some(index), status })?;
        }
        // SAFETY: guaranteed by the caller; the buffers were checked.
        Ok(unsafe { place.message() })
    }

    /// Returns where a message of a burst with messages, additional data and nonces is.
    ///
    /// # Safety
    /// See [`run`]; `index` is below `count`, and the arrays were checked and are not NULL.
    #[inline(always)]
    unsafe fn simple(&self, index: usize, tag_follows: bool) -> Place {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (entry, entry_bytes) = (*self.messages.add(index), *self.message_bytes.add(index));
            let (aad, aad_bytes) = if self.header_bytes > 0 {
                (entry.cast_const(), self.header_bytes)
            } else {
                (*self.aads.add(index), *self.aad_bytes.add(index))
            };
            let (data, bytes) = self.after_header(entry, entry_bytes);
            Place {
                data,
                bytes,
                aad,
                aad_bytes,
                nonce: self.nonces.wrapping_add(index * self.nonce_stride),
                nonce_bytes: self.nonce_bytes,
                tag: if tag_follows {
                    data.wrapping_add(bytes)
                } else {
                    // Without `tags`, the stride may be any number, and nothing uses the result.
                    self.tags.wrapping_add(index.wrapping_mul(self.tag_stride))
                },
                tag_bytes: self.tag_bytes,
            }
        }
    }

    /// Returns where the message of an entry is. If the entry is shorter than its header, the size is one that no buffer
    /// has.
    #[inline(always)]
    fn after_header(&self, entry: *mut u8, bytes: usize) -> (*mut u8, usize) {
        (entry.wrapping_add(self.header_bytes), bytes.checked_sub(self.header_bytes).unwrap_or(usize::MAX))
    }

    /// Returns where a message is.
    ///
    /// # Safety
    /// See [`run`]; `index` is below `count`, and the arrays were checked.
    #[inline(always)]
    unsafe fn place(&self, index: usize) -> Place {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (entry, entry_bytes) = if self.messages.is_null() {
                (ptr::dangling_mut(), 0)
            } else {
                (*self.messages.add(index), *self.message_bytes.add(index))
            };
            let (data, bytes) = self.after_header(entry, entry_bytes);
            let (aad, aad_bytes) = if self.header_bytes > 0 {
                (entry.cast_const(), self.header_bytes)
            } else if self.aads.is_null() {
                (ptr::dangling(), 0)
            } else {
                (*self.aads.add(index), *self.aad_bytes.add(index))
            };
            let tag = if self.tags.is_null() {
                data.wrapping_add(bytes)
            } else {
                self.tags.wrapping_add(index * self.tag_stride)
            };
            Place {
                data,
                bytes,
                aad,
                aad_bytes,
                nonce: self.nonces.wrapping_add(index * self.nonce_stride),
                nonce_bytes: self.nonce_bytes,
                tag,
                tag_bytes: self.tag_bytes,
            }
        }
    }

    /// Sets the status of the invalid message, and [`SEALCOMB_NOT_DONE`] for all others.
    ///
    /// # Safety
    /// See [`run`].
    #[cold]
    unsafe fn refuse(&self, mistake: &Mistake) {
        let Some(invalid) = mistake.index.filter(|_| !self.statuses.is_null()) else { return };
        for index in 0..self.count {
            let status = if index == invalid { mistake.status } else { SEALCOMB_NOT_DONE };
            // SAFETY: guaranteed by the caller; an index shows that the arrays were checked.
            unsafe { self.statuses.add(index).write(status) };
        }
    }

    /// Zeroizes all messages after a panic, as they may contain unverified plaintext.
    ///
    /// # Safety
    /// See [`run`]; the arrays were checked.
    #[cold]
    unsafe fn discard(&self) {
        for index in 0..self.count {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let Place { data, bytes, .. } = self.place(index);
                if bytes > 0 && is_possible(data, bytes) {
                    data.write_bytes(0, bytes);
                }
                if !self.statuses.is_null() {
                    self.statuses.add(index).write(SEALCOMB_ERROR_INTERNAL);
                }
            }
        }
    }
}

/// The addresses from the lowest to the highest of several buffers.
#[derive(Clone, Copy)]
struct Reach {
    low: usize,
    high: usize,
}

impl Reach {
    const NOTHING: Self = Self { low: usize::MAX, high: 0 };

    #[inline(always)]
    fn of(start: usize, bytes: usize) -> Self {
        Self { low: start, high: start.wrapping_add(bytes) }
    }

    #[inline(always)]
    fn add(&mut self, start: usize, bytes: usize) {
        self.low = self.low.min(start);
        self.high = self.high.max(start.wrapping_add(bytes));
    }

    #[inline(always)]
    fn is_apart_from(self, other: Self) -> bool {
        self.high <= other.low || other.high <= self.low
    }
}

/// The buffers of a message.
struct Place {
    data: *mut u8,
    bytes: usize,
    aad: *const u8,
    aad_bytes: usize,
    nonce: *const u8,
    nonce_bytes: usize,
    tag: *mut u8,
    tag_bytes: usize,
}

impl Place {
    /// The fast check, which nearly all messages pass: no pointer is NULL, and no written buffer may overlap another
    /// one. Messages that fail it may still be valid.
    #[inline(always)]
    fn is_simple<D: Direction>(&self) -> bool {
        let with_data = |data, bytes| may_overlap(self.data, self.bytes, data, bytes);
        let with_tag = |data, bytes| D::WRITES_TAG && may_overlap(self.tag, self.tag_bytes, data, bytes);
        isize::try_from(self.bytes | self.aad_bytes).is_ok()
            && !self.data.is_null()
            && !self.aad.is_null()
            && !self.nonce.is_null()
            && !with_data(self.tag, self.tag_bytes)
            && !with_data(self.nonce, self.nonce_bytes)
            && !with_data(self.aad, self.aad_bytes)
            && !with_tag(self.nonce, self.nonce_bytes)
            && !with_tag(self.aad, self.aad_bytes)
    }

    /// Checks the buffers exactly.
    #[cold]
    fn check<D: Direction>(&self) -> Result<(), sealcomb_status> {
        let buffers = [
            (self.data.cast_const(), self.bytes),
            (self.aad, self.aad_bytes),
            (self.nonce, self.nonce_bytes),
            (self.tag.cast_const(), self.tag_bytes),
        ];
        if !buffers.iter().all(|(data, bytes)| is_possible(*data, *bytes)) {
            return Err(SEALCOMB_ERROR_POINTER);
        }
        let overlaps = |(a, a_bytes), others: &[(*const u8, usize)]| {
            others.iter().any(|(b, bytes)| overlap(a, a_bytes, *b, *bytes))
        };
        let [data, aad, nonce, tag] = buffers;
        if overlaps(data, &[aad, nonce, tag]) || (D::WRITES_TAG && overlaps(tag, &[aad, nonce])) {
            return Err(SEALCOMB_ERROR_OVERLAP);
        }
        Ok(())
    }

    /// Returns the buffers as slices.
    ///
    /// # Safety
    /// The buffers have been checked and are valid during `'a`: buffers to read for reads, without concurrent writes;
    /// buffers to write for writes, without any other use.
    #[inline(always)]
    unsafe fn message<'a, D: Direction>(&self) -> Message<'a, D> {
        // SAFETY: guaranteed by the caller. `not_null` makes the pointers of empty buffers valid.
        unsafe {
            Message {
                nonce: slice::from_raw_parts(not_null(self.nonce.cast_mut()), self.nonce_bytes),
                aad: slice::from_raw_parts(not_null(self.aad.cast_mut()), self.aad_bytes),
                data: slice::from_raw_parts_mut(not_null(self.data), self.bytes),
                tag: D::tag(not_null(self.tag), self.tag_bytes),
            }
        }
    }
}

/// Returns the pointer, or another one that is valid for 0 bytes if it is NULL.
#[inline(always)]
fn not_null(data: *mut u8) -> *mut u8 {
    if data.is_null() { ptr::dangling_mut() } else { data }
}
