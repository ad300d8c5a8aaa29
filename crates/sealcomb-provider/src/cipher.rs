//! The cipher functions that OpenSSL calls (provider-cipher(7)), generic over the mode.

use std::ffi::{c_int, c_void};
use std::ops::RangeInclusive;
use std::sync::Arc;

use sealcomb::hazmat;
use sealcomb::{Key, KeyOptions};

use crate::context::{self, Context, Duplicate, Free, List, Params, duplicate, free, get_params, set_params};
use crate::data::Buffers;
use crate::errors::{Outcome, Refused};
use crate::iv::{Iv, TAG_BYTES, Tag};
use crate::openssl::{self, Dispatch, END, Param, bytes, entry};

/// Constant parameters of a mode.
pub(crate) struct Info {
    /// OpenSSL's number of the mode: `EVP_CIPH_GCM_MODE` and others.
    pub(crate) mode: usize,
    pub(crate) block_bytes: usize,
    /// Default size of an IV in bytes.
    pub(crate) iv_bytes: usize,
    pub(crate) is_aead: bool,
    /// Whether libcrypto leaves IVs to the provider. It does in any case; the flag tells programs.
    pub(crate) has_own_iv: bool,
}

/// A cipher context of one mode.
pub(crate) trait Cipher: Context {
    const INFO: Info;
    /// The parameters of contexts that can be read, terminated.
    const GETTABLE: &'static [Param];
    /// The parameters of contexts that can be set, terminated.
    const SETTABLE: &'static [Param];

    fn new(key_bytes: usize) -> Self;

    /// Sets the direction, and the key and the IV if they are given.
    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Outcome;

    /// Processes the next piece of the message, or of the additional data if the output is NULL. Returns the number
    /// of result bytes.
    ///
    /// # Safety
    /// The buffers are valid for their sizes and not used concurrently.
    unsafe fn update(&mut self, buffers: Buffers) -> Outcome<usize>;

    /// Ends the message. Returns the number of bytes written.
    ///
    /// # Safety
    /// The output is valid for writes of `room` bytes and not used concurrently.
    unsafe fn finish(&mut self, output: *mut u8, room: usize) -> Outcome<usize>;

    /// Processes a piece, or ends the message if the input is NULL. Returns the number of result bytes.
    ///
    /// # Safety
    /// See [`Cipher::update`].
    unsafe fn update_or_finish(&mut self, buffers: Buffers) -> Outcome<usize> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if buffers.input.is_null() {
                self.finish(buffers.output, buffers.room)
            } else {
                self.update(buffers)
            }
        }
    }

    /// Implements `EVP_Cipher`: processes a piece, or ends the message if the input is NULL. Returns the input size.
    ///
    /// # Safety
    /// See [`Cipher::update`].
    unsafe fn cipher(&mut self, buffers: Buffers) -> Outcome<usize> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.update_or_finish(buffers) }?;
        Ok(buffers.count)
    }
}

/// The state that the contexts of all modes share: an IV of at most `MAX_IV` bytes, and the message `M` in progress.
#[derive(Clone)]
pub(crate) struct Base<M: Clone, const MAX_IV: usize> {
    pub(crate) key_bytes: usize,
    pub(crate) encrypts: bool,
    pub(crate) iv: [u8; MAX_IV],
    pub(crate) iv_bytes: usize,
    pub(crate) state: Iv<M>,
    pub(crate) tag: Tag,
}

impl<M: Clone, const MAX_IV: usize> Base<M, MAX_IV> {
    pub(crate) fn new(key_bytes: usize, iv_bytes: usize) -> Self {
        Self { key_bytes, encrypts: true, iv: [0; MAX_IV], iv_bytes, state: Iv::Unset, tag: Tag::None }
    }

    /// Returns the current IV.
    pub(crate) fn iv(&self) -> &[u8] {
        &self.iv[..self.iv_bytes]
    }

    /// Sets the direction. A new direction aborts the message in progress and clears the tag.
    pub(crate) fn set_direction(&mut self, encrypts: bool) {
        if encrypts != self.encrypts {
            self.encrypts = encrypts;
            self.state.abort();
            self.tag = Tag::None;
        }
    }

    /// Sets the IV for the next message, if one is given. Refuses an invalid size.
    pub(crate) fn set_iv(&mut self, iv: Option<&[u8]>, sizes: RangeInclusive<usize>) -> Outcome {
        if let Some(iv) = iv {
            if !sizes.contains(&iv.len()) {
                return Err(Refused::INVALID_IV_LENGTH);
            }
            self.iv[..iv.len()].copy_from_slice(iv);
            self.iv_bytes = iv.len();
            self.state = Iv::Buffered;
        }
        Ok(())
    }

    /// Sets the size of the IV in bytes to a parameter's value. Returns whether it has changed. Refuses an invalid
    /// size.
    pub(crate) fn set_iv_bytes(&mut self, param: &Param, sizes: RangeInclusive<usize>) -> Outcome<bool> {
        let bytes = param.get_number()?;
        if !sizes.contains(&bytes) {
            return Err(Refused::INVALID_IV_LENGTH);
        }
        let is_new = bytes != self.iv_bytes;
        self.iv_bytes = bytes;
        Ok(is_new)
    }

    /// Refuses a parameter that is another size of the key than the present one.
    pub(crate) fn check_key_bytes(&self, param: &Param, refused: Refused) -> Outcome {
        if param.get_number()? == self.key_bytes { Ok(()) } else { Err(refused) }
    }

    /// Implements [`Context::get`] for all parameters but the tag, for a mode with tags of `tag_bytes` bytes.
    pub(crate) fn get(&self, param: &mut Param, tag_bytes: usize) -> Outcome {
        match param.name() {
            b"keylen" => param.set_number(self.key_bytes),
            b"ivlen" => param.set_number(self.iv_bytes),
            b"taglen" => param.set_number(tag_bytes),
            b"iv" | b"updated-iv" if param.has_data() && param.size() < self.iv_bytes => {
                Err(Refused::INVALID_IV_LENGTH)
            }
            b"iv" | b"updated-iv" => param.set_iv(self.iv()),
            b"tlsivgen" => Err(Refused::SILENTLY),
            _ => Ok(()),
        }
    }

    /// Returns the tag of the last message, if it was encrypted and not read since.
    pub(crate) fn computed_tag(&self) -> Option<&[u8; TAG_BYTES]> {
        self.tag.computed().filter(|_| self.encrypts)
    }

    /// Sets a parameter to the whole tag, for modes whose tags have a fixed size. Ignores parameters of other types.
    pub(crate) fn get_whole_tag(&self, param: &mut Param) -> Outcome {
        match self.computed_tag() {
            _ if !param.is_octets() => Ok(()),
            Some(tag) if param.size() == TAG_BYTES => param.set_bytes(tag),
            _ => Err(Refused::FAILED_TO_SET_PARAMETER),
        }
    }
}

/// Expands an AES key for a mode, given by the mode's part of the library's algorithm id.
pub(crate) fn key(mode: &str, key: &[u8], key_bytes: usize) -> Outcome<Arc<Key>> {
    key_with(KeyOptions::new(), mode, key, key_bytes)
}

/// Expands an AES key for a mode with options. OpenSSL sets the length of the IV per message.
pub(crate) fn key_with(options: KeyOptions, mode: &str, key: &[u8], key_bytes: usize) -> Outcome<Arc<Key>> {
    if key.len() != key_bytes {
        return Err(Refused::INVALID_KEY_LENGTH);
    }
    // The keys of SIV and XTS consist of two AES keys.
    let bits = if matches!(mode, "siv" | "xts") { 4 * key_bytes } else { 8 * key_bytes };
    let algorithm = hazmat::by_id(&format!("aes{bits}-{mode}"))?;
    Ok(Arc::new(options.any_nonce_bytes().expand(algorithm, key)?))
}

// ---- Functions called by OpenSSL.

unsafe extern "C" fn new<C: Cipher, const KEY_BYTES: usize>(provider: *mut c_void) -> *mut c_void {
    // SAFETY: guaranteed by OpenSSL.
    unsafe { context::new(provider, C::new(KEY_BYTES)) }
}

type Init = unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize, *mut Param) -> c_int;

unsafe extern "C" fn init<C: Cipher, const ENCRYPTS: bool>(
    context: *mut c_void,
    key: *const u8,
    key_bytes: usize,
    iv: *const u8,
    iv_bytes: usize,
    params: *mut Param,
) -> c_int {
    // SAFETY: guaranteed by OpenSSL.
    unsafe {
        context::call(context, |context: &mut C| {
            context.init(ENCRYPTS, bytes(key, key_bytes), bytes(iv, iv_bytes))?;
            context.set(openssl::params(params))
        })
    }
}

type Update = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;

unsafe extern "C" fn update<C: Cipher>(
    context: *mut c_void,
    output: *mut u8,
    written: *mut usize,
    room: usize,
    input: *const u8,
    count: usize,
) -> c_int {
    // SAFETY: guaranteed by OpenSSL.
    unsafe {
        context::call(context, |context: &mut C| {
            written.write(context.update(Buffers { input, count, output, room })?);
            Ok(())
        })
    }
}

type Final = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int;

unsafe extern "C" fn finish<C: Cipher>(
    context: *mut c_void,
    output: *mut u8,
    written: *mut usize,
    room: usize,
) -> c_int {
    // SAFETY: guaranteed by OpenSSL.
    unsafe {
        context::call(context, |context: &mut C| {
            written.write(context.finish(output, room)?);
            Ok(())
        })
    }
}

unsafe extern "C" fn cipher<C: Cipher>(
    context: *mut c_void,
    output: *mut u8,
    written: *mut usize,
    room: usize,
    input: *const u8,
    count: usize,
) -> c_int {
    // SAFETY: guaranteed by OpenSSL.
    unsafe {
        context::call(context, |context: &mut C| {
            written.write(context.cipher(Buffers { input, count, output, room })?);
            Ok(())
        })
    }
}

unsafe extern "C" fn get_cipher_params<C: Cipher, const KEY_BYTES: usize>(params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes a terminated list.
    c_int::from(unsafe { openssl::params(params) }.iter_mut().all(|param| {
        match param.name() {
            b"mode" => param.set_number(C::INFO.mode),
            b"keylen" => param.set_number(KEY_BYTES),
            b"ivlen" => param.set_number(C::INFO.iv_bytes),
            b"blocksize" => param.set_number(C::INFO.block_bytes),
            b"aead" => param.set_number(C::INFO.is_aead.into()),
            b"custom-iv" => param.set_number(C::INFO.has_own_iv.into()),
            b"cts" | b"tls-multi" | b"has-randkey" | b"encrypt-then-mac" => param.set_number(0),
            _ => Ok(()),
        }
        .is_ok()
    }))
}

extern "C" fn gettable_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 10] = [
        Param::number(c"mode"),
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::number(c"blocksize"),
        Param::number(c"aead"),
        Param::number(c"custom-iv"),
        Param::number(c"cts"),
        Param::number(c"tls-multi"),
        Param::number(c"has-randkey"),
        Param::END,
    ];
    LIST.as_ptr()
}

extern "C" fn gettable_context_params<C: Cipher>(_: *mut c_void, _: *mut c_void) -> *const Param {
    C::GETTABLE.as_ptr()
}

extern "C" fn settable_context_params<C: Cipher>(_: *mut c_void, _: *mut c_void) -> *const Param {
    C::SETTABLE.as_ptr()
}

/// Length of a cipher's dispatch table, with or without pipelines.
pub(crate) const TABLE: usize = 19;

/// Returns the dispatch table of a cipher, with function numbers from `openssl/core_dispatch.h`.
pub(crate) const fn functions<C: Cipher, const KEY_BYTES: usize>() -> [Dispatch; TABLE] {
    [
        entry!(1, new::<C, KEY_BYTES> as unsafe extern "C" fn(*mut c_void) -> *mut c_void),
        entry!(2, init::<C, true> as Init),
        entry!(3, init::<C, false> as Init),
        entry!(4, update::<C> as Update),
        entry!(5, finish::<C> as Final),
        entry!(6, cipher::<C> as Update),
        entry!(7, free::<C> as Free),
        entry!(8, duplicate::<C> as Duplicate),
        entry!(9, get_cipher_params::<C, KEY_BYTES> as unsafe extern "C" fn(*mut Param) -> c_int),
        entry!(10, get_params::<C> as Params),
        entry!(11, set_params::<C> as Params),
        entry!(12, gettable_params as List),
        entry!(13, gettable_context_params::<C> as List),
        entry!(14, settable_context_params::<C> as List),
        END,
        END,
        END,
        END,
        END,
    ]
}
