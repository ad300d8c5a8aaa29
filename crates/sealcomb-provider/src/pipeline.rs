//! Pipelines: many messages under one key in each call (`EVP_CipherPipelineEncryptInit`, since OpenSSL 3.5). Older
//! versions of OpenSSL ignore these functions.

use std::ffi::{c_int, c_void};
use std::slice;

use crate::cipher::{self, Cipher, TABLE};
use crate::columns::{Columns, MESSAGES};
use crate::context::{self, Context};
use crate::data::Buffers;
use crate::errors::{Outcome, Refused};
use crate::openssl::{self, Dispatch, END, Param, bytes, entry};

/// A mode that has pipelines.
pub(crate) trait Pipes: Cipher {
    type Messages: Messages<Self>;
}

/// The messages of a pipeline. They share the parameters of the context for single messages.
pub(crate) trait Messages<C>: Clone {
    fn new() -> Self;

    /// Begins messages. Without a key, the previous one stays. Without IVs, there are no messages. A failed call
    /// leaves no messages.
    ///
    /// # Safety
    /// See [`Ivs::at`].
    unsafe fn begin(&mut self, single: &C, encrypts: bool, key: Option<&[u8]>, ivs: Ivs) -> Outcome;

    /// Returns the number of messages.
    fn count(&self) -> usize;

    /// Processes a piece of each message, or of its additional data if there are no outputs. Writes the sizes of the
    /// results.
    ///
    /// # Safety
    /// The columns have an entry for each message, whose buffers are valid for their sizes and not used concurrently.
    unsafe fn update(&mut self, single: &C, columns: Columns, sizes: &mut [usize]) -> Outcome;

    /// Ends the messages. Writes the sizes of the results, which are 0 before the call.
    ///
    /// # Safety
    /// See [`Messages::update`].
    unsafe fn finish(&mut self, single: &C, columns: Columns, sizes: &mut [usize]) -> Outcome;

    /// Returns whether a parameter is one of pipelines.
    fn has(_: &Param) -> bool {
        false
    }

    /// Fills in a parameter of pipelines, as [`Context::get`] does.
    fn get(&self, _: &mut Param) -> Outcome {
        Err(Refused::SILENTLY)
    }

    /// Sets a parameter of pipelines, as [`Context::set_one`] does.
    fn set_one(&mut self, _: &Param) -> Outcome {
        Err(Refused::SILENTLY)
    }
}

/// The IVs of the messages.
pub(crate) struct Ivs {
    /// Number of messages.
    pub(crate) count: usize,
    pub(crate) array: *const *const u8,
    /// Size of each IV in bytes.
    pub(crate) bytes: usize,
}

impl Ivs {
    pub(crate) fn are_missing(&self) -> bool {
        self.array.is_null()
    }

    /// Returns an IV. Refuses NULL.
    ///
    /// # Safety
    /// The array has more than `index` entries, each of which is NULL or points to an IV that does not change
    /// during `'a`.
    pub(crate) unsafe fn at<'a>(&self, index: usize) -> Outcome<&'a [u8]> {
        // SAFETY: guaranteed by the caller.
        unsafe { bytes(*self.array.add(index), self.bytes) }.ok_or(Refused::INVALID_IV_LENGTH)
    }
}

/// A cipher context for single messages and for pipelines. The two have separate keys and IVs.
#[derive(Clone)]
pub(crate) struct Pipelined<C: Pipes> {
    single: C,
    messages: C::Messages,
}

impl<C: Pipes> Cipher for Pipelined<C> {
    const INFO: cipher::Info = C::INFO;
    const GETTABLE: &'static [Param] = C::GETTABLE;
    const SETTABLE: &'static [Param] = C::SETTABLE;

    fn new(key_bytes: usize) -> Self {
        Self { single: C::new(key_bytes), messages: C::Messages::new() }
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Outcome {
        self.single.init(encrypts, key, iv)
    }

    unsafe fn update(&mut self, buffers: Buffers) -> Outcome<usize> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.single.update(buffers) }
    }

    unsafe fn finish(&mut self, output: *mut u8, room: usize) -> Outcome<usize> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.single.finish(output, room) }
    }

    unsafe fn cipher(&mut self, buffers: Buffers) -> Outcome<usize> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.single.cipher(buffers) }
    }
}

impl<C: Pipes> Context for Pipelined<C> {
    fn duplicate(&self) -> Option<Self> {
        Some(Self { single: self.single.duplicate()?, messages: self.messages.clone() })
    }

    fn get(&mut self, param: &mut Param) -> Outcome {
        if C::Messages::has(param) { self.messages.get(param) } else { self.single.get(param) }
    }

    fn set_one(&mut self, param: &Param) -> Outcome {
        if C::Messages::has(param) { self.messages.set_one(param) } else { self.single.set_one(param) }
    }
}

// ---- Functions called by OpenSSL.

type Init =
    unsafe extern "C" fn(*mut c_void, *const u8, usize, usize, *const *const u8, usize, *mut Param) -> c_int;

unsafe extern "C" fn init<C: Pipes, const KEY_BYTES: usize, const ENCRYPTS: bool>(
    context: *mut c_void,
    key: *const u8,
    key_bytes: usize,
    count: usize,
    ivs: *const *const u8,
    iv_bytes: usize,
    params: *mut Param,
) -> c_int {
    // SAFETY: guaranteed by OpenSSL.
    unsafe {
        context::call(context, |context: &mut Pipelined<C>| {
            let key = bytes(key, key_bytes);
            let refused = if !(1..=MESSAGES).contains(&count) {
                Some(Refused::PASSED_INVALID_ARGUMENT)
            } else if key.is_some_and(|key| key.len() != KEY_BYTES) {
                Some(Refused::INVALID_KEY_LENGTH)
            } else {
                None
            };
            if let Some(refused) = refused {
                context.messages = C::Messages::new();
                return Err(refused);
            }
            let ivs = Ivs { count, array: ivs, bytes: iv_bytes };
            let Pipelined { single, messages } = context;
            messages.begin(single, ENCRYPTS, key, ivs)?;
            context.set(openssl::params(params))
        })
    }
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

unsafe extern "C" fn update<C: Pipes>(
    context: *mut c_void,
    count: usize,
    outputs: *const *mut u8,
    sizes: *mut usize,
    rooms: *const usize,
    inputs: *const *const u8,
    input_bytes: *const usize,
) -> c_int {
    // SAFETY: OpenSSL passes arrays of `count` entries, and buffers with the sizes that they contain.
    unsafe {
        context::call(context, |Pipelined { single, messages }: &mut Pipelined<C>| {
            if count != messages.count() || inputs.is_null() || input_bytes.is_null() || sizes.is_null() {
                return Err(Refused::CIPHER_OPERATION_FAILED);
            }
            let columns = Columns { count, inputs, input_bytes, outputs, rooms };
            messages.update(single, columns, slice::from_raw_parts_mut(sizes, count))
        })
    }
}

type Final = unsafe extern "C" fn(*mut c_void, usize, *const *mut u8, *mut usize, *const usize) -> c_int;

unsafe extern "C" fn finish<C: Pipes>(
    context: *mut c_void,
    count: usize,
    outputs: *const *mut u8,
    sizes: *mut usize,
    rooms: *const usize,
) -> c_int {
    // SAFETY: OpenSSL passes arrays of `count` entries, and buffers with the sizes that they contain.
    unsafe {
        context::call(context, |Pipelined { single, messages }: &mut Pipelined<C>| {
            if count != messages.count() || sizes.is_null() {
                return Err(Refused::CIPHER_OPERATION_FAILED);
            }
            let sizes = slice::from_raw_parts_mut(sizes, count);
            sizes.fill(0);
            messages.finish(single, Columns { outputs, rooms, ..Columns::empty(count) }, sizes)
        })
    }
}

/// Returns the dispatch table of a cipher with pipelines.
pub(crate) const fn functions<C: Pipes, const KEY_BYTES: usize>() -> [Dispatch; TABLE] {
    let mut table = cipher::functions::<Pipelined<C>, KEY_BYTES>();
    table[14] = entry!(15, init::<C, KEY_BYTES, true> as Init);
    table[15] = entry!(16, init::<C, KEY_BYTES, false> as Init);
    table[16] = entry!(17, update::<C> as Update);
    table[17] = entry!(18, finish::<C> as Final);
    table[18] = END;
    table
}
