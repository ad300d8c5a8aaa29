//! Pipelines: many messages under one key in each call (`EVP_CipherPipelineEncryptInit`, since OpenSSL 3.5). Older
//! versions of OpenSSL ignore these functions.
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

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::{ptr, slice};

use arrayvec::ArrayVec;
use sealcomb::{Burst, Key, Verdict};
use zeroize::Zeroizing;

use crate::cipher::{self, Cipher, TABLE};
use crate::context::{Context, List, context};
use crate::data::Buffers;
use crate::iv::TAG_BYTES;
use crate::openssl::{self, Dispatch, END, Param, bytes, entry, succeeds};

/// Maximum number of messages per call. OpenSSL 4.0 passes at most 32 (`EVP_MAX_PIPES`).
const MESSAGES: usize = 128;
/// Maximum size of an IV in bytes; GCM takes longer ones for single messages.
const IV_BYTES: usize = 16;
/// Maximum size in bytes of additional data that is kept without an allocation.
const SHORT_AAD: usize = 32;

/// A mode that has pipelines.
pub(crate) trait Mode: Cipher {
    /// Whether a tag is valid if it is shorter than the one that was computed.
    const TRUNCATES_TAGS: bool = false;

    /// Returns the mode's part of the library's algorithm id, for a tag size in bytes.
    fn id(tag_bytes: usize) -> Option<&'static str>;

    /// Returns the size in bytes of the tags that encryption computes and that decryption expects by default.
    fn tag_bytes(&self) -> usize;
}

/// A cipher context for single messages and for pipelines. The two have separate keys and IVs.
#[derive(Clone)]
pub(crate) struct Pipelined<C> {
    single: C,
    pipeline: Pipeline,
}

/// The messages of a pipeline, with one entry of each column per message.
#[derive(Clone)]
struct Pipeline {
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

/// The arrays of an update: one entry per message. Each array may be NULL.
#[derive(Clone, Copy)]
struct Columns {
    count: usize,
    inputs: *const *const u8,
    input_bytes: *const usize,
    outputs: *const *mut u8,
    rooms: *const usize,
}

/// Returns an entry of an array, or `otherwise` if there is no array.
///
/// # Safety
/// The array is NULL or has more than `index` entries.
unsafe fn entry_of<T: Copy>(array: *const T, index: usize, otherwise: T) -> T {
    // SAFETY: guaranteed by the caller.
    if array.is_null() { otherwise } else { unsafe { *array.add(index) } }
}

impl Columns {
    /// Returns the columns of empty messages.
    fn empty(count: usize) -> Self {
        Self {
            count,
            inputs: ptr::null(),
            input_bytes: ptr::null(),
            outputs: ptr::null(),
            rooms: ptr::null(),
        }
    }

    /// Returns the buffers of a message; NULL and 0 where there is no array.
    ///
    /// # Safety
    /// Each array is NULL or has more than `index` entries.
    unsafe fn at(&self, index: usize) -> Buffers {
        // SAFETY: guaranteed by the caller.
        unsafe {
            Buffers {
                input: entry_of(self.inputs, index, ptr::null()),
                count: entry_of(self.input_bytes, index, 0),
                output: entry_of(self.outputs, index, ptr::null_mut()),
                room: entry_of(self.rooms, index, 0),
            }
        }
    }

    /// Moves all inputs to their outputs, and returns the outputs. Returns `None`, and nothing is written, if a
    /// buffer is NULL or an output is too small.
    ///
    /// # Safety
    /// See [`Columns::at`]. The inputs are valid for reads and the outputs for writes as long as
    /// the slices are used, with no other use.
    #[inline(always)]
    unsafe fn fill(&self, messages: &mut ArrayVec<&mut [u8], MESSAGES>) -> Option<()> {
        // SAFETY: guaranteed by the caller. The slice of an empty message is valid for any pointer.
        unsafe {
            if !(0..self.count).all(|index| self.at(index).is_possible()) {
                return None;
            }
            for index in 0..self.count {
                let Buffers { input, count, output, .. } = self.at(index);
                if count > 0 && !ptr::eq(input, output) {
                    ptr::copy(input, output, count);
                }
                messages.push(if count == 0 { &mut [] } else { slice::from_raw_parts_mut(output, count) });
            }
        }
        Some(())
    }
}

impl Pipeline {
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

    /// Expands the key for a tag size, unless it already is.
    fn set_tag_bytes<C: Mode>(&mut self, tag_bytes: usize) -> Option<()> {
        if self.key.as_ref().is_none_or(|key| key.tag_bytes() != tag_bytes) {
            let key = cipher::key(C::id(tag_bytes)?, &self.secret, self.secret.len())?;
            self.key = Some(Arc::new(Arc::into_inner(key)?.with_tag_bytes(tag_bytes).ok()?));
        }
        Some(())
    }

    /// Appends to the additional data.
    ///
    /// # Safety
    /// See [`Columns::at`] and [`Buffers::aad`].
    unsafe fn add_aads(&mut self, columns: Columns) -> Option<()> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if (0..columns.count).any(|index| columns.at(index).aad().is_none()) {
                return None;
            }
            for (index, all) in self.aads.iter_mut().enumerate() {
                all.append(columns.at(index).aad()?);
            }
        }
        Some(())
    }

    /// Seals or opens all messages, and writes their sizes, which are 0 for forged messages.
    ///
    /// # Safety
    /// See [`Columns::fill`]; `sizes` is NULL or valid for writes of one number per message.
    unsafe fn process(&mut self, columns: Columns, sizes: *mut usize) -> Option<()> {
        if self.state != State::Ready || (!self.encrypts && self.tags.is_empty()) {
            return None;
        }
        let key = self.key.clone()?;
        let mut messages = ArrayVec::new();
        // SAFETY: guaranteed by the caller.
        unsafe { columns.fill(&mut messages) }?;
        // After a panic, the IVs may have been used.
        self.state = State::Unset;
        let burst = Burst::new(&key, &self.ivs).aads(&self.aads);
        let processed = if self.encrypts {
            self.tags.resize(columns.count, Part { count: key.tag_bytes(), ..Part::EMPTY });
            burst.seal(&mut messages, &mut self.tags)
        } else {
            self.verdicts.resize(columns.count, Verdict::Pending);
            burst.open(&mut messages, &self.tags, &mut self.verdicts).map(|_| ())
        };
        self.state = if processed.is_ok() { State::Processed } else { State::Ready };
        processed.ok()?;
        for (index, message) in messages.iter().enumerate().filter(|_| !sizes.is_null()) {
            let is_forged = self.verdicts.get(index) == Some(&Verdict::Forged);
            // SAFETY: guaranteed by the caller.
            unsafe { sizes.add(index).write(if is_forged { 0 } else { message.len() }) };
        }
        Some(())
    }

    /// Ends the messages. Returns `None` if one is forged.
    fn finish(&mut self, count: usize) -> Option<()> {
        if self.state == State::Ready {
            // SAFETY: empty messages have no buffers.
            unsafe { self.process(Columns::empty(count), ptr::null_mut()) }?;
        }
        if self.state != State::Processed {
            return None;
        }
        self.state = State::Finished;
        (!self.verdicts.contains(&Verdict::Forged)).then_some(())
    }

    /// Copies the tags to the caller's buffers.
    ///
    /// # Safety
    /// Each buffer has the parameter's size.
    unsafe fn write_tags(&self, param: &Param, truncates: bool) -> Option<()> {
        // SAFETY: guaranteed by the caller.
        let (buffers, size) = unsafe { param.buffers(self.tags.len()) }?;
        let fits = |tag: &Part| size == tag.count || (truncates && (1..tag.count).contains(&size));
        if !self.encrypts || self.state != State::Finished || !self.tags.iter().all(fits) {
            return None;
        }
        if buffers.iter().any(|buffer| buffer.is_null()) {
            return None;
        }
        for (tag, buffer) in self.tags.iter().zip(buffers) {
            // SAFETY: guaranteed by the caller.
            copy(&tag.bytes[..size], unsafe { slice::from_raw_parts_mut(*buffer, size) });
        }
        Some(())
    }

    /// Copies the expected tags from the caller's buffers.
    ///
    /// # Safety
    /// Each buffer has the parameter's size.
    unsafe fn read_tags<C: Mode>(&mut self, param: &Param) -> Option<()> {
        if self.encrypts || self.state != State::Ready {
            return None;
        }
        // SAFETY: guaranteed by the caller.
        let (buffers, size) = unsafe { param.buffers(self.ivs.len()) }?;
        if !(1..=TAG_BYTES).contains(&size) {
            return None;
        }
        if buffers.iter().any(|buffer| buffer.is_null()) {
            return None;
        }
        self.set_tag_bytes::<C>(size)?;
        self.tags.resize(buffers.len(), Part::EMPTY);
        for (tag, buffer) in self.tags.iter_mut().zip(buffers) {
            // SAFETY: guaranteed by the caller.
            tag.set(unsafe { bytes(*buffer, size) }?);
        }
        Some(())
    }
}

impl<C: Mode> Pipelined<C> {
    /// Begins `count` messages, whose IVs have `iv_bytes` bytes. Without a key, the previous one stays. Without IVs,
    /// there are no messages.
    ///
    /// # Safety
    /// `ivs` is NULL or has `count` entries, each of which is NULL or points to `iv_bytes` bytes.
    unsafe fn begin(
        &mut self,
        key: Option<&[u8]>,
        key_bytes: usize,
        count: usize,
        ivs: *const *const u8,
        iv_bytes: usize,
    ) -> Option<()> {
        let pipeline = &mut self.pipeline;
        pipeline.tags.clear();
        pipeline.verdicts.clear();
        pipeline.ivs.clear();
        if let Some(key) = key {
            pipeline.key = None;
            pipeline.secret.clear();
            if key.len() != key_bytes {
                return None;
            }
            pipeline.secret = Zeroizing::new(key.to_vec());
        }
        if pipeline.secret.is_empty() {
            return None;
        }
        pipeline.set_tag_bytes::<C>(self.single.tag_bytes())?;
        if ivs.is_null() {
            return Some(());
        }
        let nonce = pipeline.key.as_ref()?.algorithm().nonce;
        if !(nonce.min..=nonce.max.min(IV_BYTES)).contains(&iv_bytes) {
            return None;
        }
        // In place: moving parts whose bytes were just written would stall the CPU.
        pipeline.ivs.resize(count, Part::EMPTY);
        for (index, iv) in pipeline.ivs.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            iv.set(unsafe { bytes(*ivs.add(index), iv_bytes) }?);
        }
        pipeline.aads.resize(count, Aad::EMPTY);
        pipeline.aads.iter_mut().for_each(|aad| aad.count = 0);
        pipeline.state = State::Ready;
        Some(())
    }
}

impl<C: Mode> Cipher for Pipelined<C> {
    const INFO: cipher::Info = C::INFO;

    fn new(key_bytes: usize) -> Self {
        Self { single: C::new(key_bytes), pipeline: Pipeline::new() }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Option<()> {
        self.single.init(encrypts, key, iv)
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Option<usize> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.single.update(buffers) }
    }

    unsafe fn finish(&mut self, output: *mut u8, room: usize) -> Option<usize> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.single.finish(output, room) }
    }

    unsafe fn cipher(&mut self, buffers: Buffers) -> Option<usize> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.single.cipher(buffers) }
    }
}

impl<C: Mode> Context for Pipelined<C> {
    fn duplicate(&self) -> Option<Self> {
        Some(Self { single: self.single.duplicate()?, pipeline: self.pipeline.clone() })
    }

    fn get(&mut self, param: &mut Param) -> bool {
        match param.name() {
            // SAFETY: EVP_EncryptInit(3), "pipeline-tag": an array of pointers to buffers of the parameter's size.
            b"pipeline-tag" => unsafe { self.pipeline.write_tags(param, C::TRUNCATES_TAGS) }.is_some(),
            b"pipeline-verdicts" => {
                let verified = |verdict: &Verdict| u8::from(*verdict == Verdict::Verified);
                let verdicts: Vec<u8> = self.pipeline.verdicts.iter().map(verified).collect();
                !verdicts.is_empty() && param.set_bytes(&verdicts)
            }
            _ => self.single.get(param),
        }
    }

    fn set_one(&mut self, param: &Param) -> Option<()> {
        match param.name() {
            // SAFETY: EVP_EncryptInit(3), "pipeline-tag": an array of pointers to buffers of the parameter's size.
            b"pipeline-tag" => unsafe { self.pipeline.read_tags::<C>(param) },
            _ => self.single.set_one(param),
        }
    }
}

// ---- Functions called by OpenSSL.

type Init =
    unsafe extern "C" fn(*mut c_void, *const u8, usize, usize, *const *const u8, usize, *mut Param) -> c_int;

unsafe extern "C" fn init<C: Mode, const KEY_BYTES: usize, const ENCRYPTS: bool>(
    context: *mut c_void,
    key: *const u8,
    key_bytes: usize,
    count: usize,
    ivs: *const *const u8,
    iv_bytes: usize,
    params: *mut Param,
) -> c_int {
    succeeds(|| {
        // SAFETY: guaranteed by OpenSSL.
        let context = unsafe { self::context::<Pipelined<C>>(context) }?;
        // A failed call leaves no messages.
        context.pipeline.state = State::Unset;
        context.pipeline.encrypts = ENCRYPTS;
        if !(1..=MESSAGES).contains(&count) {
            return None;
        }
        // SAFETY: guaranteed by OpenSSL.
        unsafe { context.begin(bytes(key, key_bytes), KEY_BYTES, count, ivs, iv_bytes) }?;
        // SAFETY: guaranteed by OpenSSL.
        context.set(unsafe { openssl::params(params) })
    })
}

type Update = unsafe extern "C" fn(
    *mut c_void,
    usize,
    *const *mut u8,
    *mut usize,
    *const usize,
    *const *const u8,
    *const usize,
) -> c_int;

unsafe extern "C" fn update<C: Mode>(
    context: *mut c_void,
    count: usize,
    outputs: *const *mut u8,
    written: *mut usize,
    rooms: *const usize,
    inputs: *const *const u8,
    input_bytes: *const usize,
) -> c_int {
    succeeds(|| {
        // SAFETY: guaranteed by OpenSSL.
        let pipeline = &mut unsafe { self::context::<Pipelined<C>>(context) }?.pipeline;
        if pipeline.state != State::Ready || count != pipeline.ivs.len() || inputs.is_null() {
            return None;
        }
        let columns = Columns { count, inputs, input_bytes, outputs, rooms };
        // SAFETY: OpenSSL passes arrays of `count` entries, and buffers with the sizes that they contain.
        unsafe {
            if outputs.is_null() {
                pipeline.add_aads(columns)?;
                ptr::copy(input_bytes, written, count);
            } else {
                pipeline.process(columns, written)?;
            }
        }
        Some(())
    })
}

type Final = unsafe extern "C" fn(*mut c_void, usize, *const *mut u8, *mut usize, *const usize) -> c_int;

unsafe extern "C" fn finish<C: Mode>(
    context: *mut c_void,
    count: usize,
    _outputs: *const *mut u8,
    written: *mut usize,
    _rooms: *const usize,
) -> c_int {
    succeeds(|| {
        // SAFETY: guaranteed by OpenSSL.
        let pipeline = &mut unsafe { self::context::<Pipelined<C>>(context) }?.pipeline;
        if count != pipeline.ivs.len() {
            return None;
        }
        // SAFETY: OpenSSL passes an array of `count` entries.
        unsafe { slice::from_raw_parts_mut(written, count) }.fill(0);
        pipeline.finish(count)
    })
}

extern "C" fn gettable_context_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 11] = [
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::number(c"taglen"),
        Param::bytes(c"iv"),
        Param::bytes(c"updated-iv"),
        Param::bytes(c"tag"),
        Param::number(c"tlsaadpad"),
        Param::bytes(c"tlsivgen"),
        Param::pointer(c"pipeline-tag"),
        Param::bytes(c"pipeline-verdicts"),
        Param::END,
    ];
    LIST.as_ptr()
}

extern "C" fn settable_context_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 8] = [
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::bytes(c"tag"),
        Param::bytes(c"tlsaad"),
        Param::bytes(c"tlsivfixed"),
        Param::bytes(c"tlsivinv"),
        Param::pointer(c"pipeline-tag"),
        Param::END,
    ];
    LIST.as_ptr()
}

/// Returns the dispatch table of a cipher with pipelines.
pub(crate) const fn functions<C: Mode, const KEY_BYTES: usize>() -> [Dispatch; TABLE] {
    let mut table = cipher::functions::<Pipelined<C>, KEY_BYTES>();
    table[12] = entry!(13, gettable_context_params as List);
    table[13] = entry!(14, settable_context_params as List);
    table[14] = entry!(15, init::<C, KEY_BYTES, true> as Init);
    table[15] = entry!(16, init::<C, KEY_BYTES, false> as Init);
    table[16] = entry!(17, update::<C> as Update);
    table[17] = entry!(18, finish::<C> as Final);
    table[18] = END;
    table
}
