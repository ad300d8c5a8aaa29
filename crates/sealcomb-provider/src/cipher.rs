//! What OpenSSL calls of a cipher (provider-cipher(7)), whichever its mode is.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use sealcomb::{Algorithm, Key};

use crate::context::{
    Context, Duplicate, Free, List, Params, context, duplicate, free, get_params, set_params,
};
use crate::data::Buffers;
use crate::openssl::{self, Dispatch, END, Param, bytes, entry, succeeds};

/// What there is to say of a mode.
pub(crate) struct Info {
    /// `EVP_CIPH_GCM_MODE` and so on.
    pub(crate) mode: usize,
    pub(crate) block_bytes: usize,
    /// Bytes of an IV by default.
    pub(crate) iv_bytes: usize,
}

/// A cipher in a mode, as a program has it.
pub(crate) trait Cipher: Context {
    const INFO: Info;

    fn new(key_bytes: usize) -> Self;

    /// Takes the direction, and a key or an IV or both.
    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Option<()>;

    /// The next piece of the message; without an output, of the additional data. Returns the bytes of the result.
    ///
    /// # Safety
    /// So many bytes can be read at the input and written at the output, and are nobody else's meanwhile.
    unsafe fn update(&mut self, buffers: Buffers) -> Option<usize>;

    /// The end of the message. Returns the bytes that were written.
    ///
    /// # Safety
    /// So many bytes can be written at the output, and are nobody else's meanwhile.
    unsafe fn finish(&mut self, output: *mut u8, room: usize) -> Option<usize>;

    /// `EVP_Cipher`: a piece, or, without an input, the end. Returns the bytes of the input.
    ///
    /// # Safety
    /// The promises of [`Cipher::update`].
    unsafe fn cipher(&mut self, buffers: Buffers) -> Option<usize> {
        // SAFETY: the caller's promise.
        unsafe {
            if buffers.input.is_null() {
                self.finish(buffers.output, buffers.room)
            } else {
                self.update(buffers)
            }
        }?;
        Some(buffers.count)
    }
}

/// A key of AES in a mode, by the id that the library has for the mode.
pub(crate) fn key(mode: &str, key: &[u8], key_bytes: usize) -> Option<Arc<Key>> {
    if key.len() != key_bytes {
        return None;
    }
    // A key of AES-SIV is two of AES.
    let bits = if mode == "siv" { 4 * key_bytes } else { 8 * key_bytes };
    let algorithm = Algorithm::by_id(&format!("aes{bits}-{mode}")).ok()?;
    Some(Arc::new(Key::new(algorithm, key).ok()?))
}

// ---- What OpenSSL calls.

extern "C" fn new<C: Cipher, const KEY_BYTES: usize>(_provider: *mut c_void) -> *mut c_void {
    C::new(KEY_BYTES).into_pointer()
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
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        let context = unsafe { self::context::<C>(context) }?;
        // SAFETY: the same.
        let (key, iv) = unsafe { (bytes(key, key_bytes), bytes(iv, iv_bytes)) };
        context.init(ENCRYPTS, key, iv)?;
        // SAFETY: the same.
        context.set(unsafe { openssl::params(params) })
    })
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
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        unsafe {
            let bytes = self::context::<C>(context)?.update(Buffers { input, count, output, room })?;
            written.write(bytes);
        }
        Some(())
    })
}

type Final = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int;

unsafe extern "C" fn finish<C: Cipher>(
    context: *mut c_void,
    output: *mut u8,
    written: *mut usize,
    room: usize,
) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        unsafe {
            let bytes = self::context::<C>(context)?.finish(output, room)?;
            written.write(bytes);
        }
        Some(())
    })
}

unsafe extern "C" fn cipher<C: Cipher>(
    context: *mut c_void,
    output: *mut u8,
    written: *mut usize,
    room: usize,
    input: *const u8,
    count: usize,
) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        unsafe {
            let bytes = self::context::<C>(context)?.cipher(Buffers { input, count, output, room })?;
            written.write(bytes);
        }
        Some(())
    })
}

unsafe extern "C" fn get_cipher_params<C: Cipher, const KEY_BYTES: usize>(params: *mut Param) -> c_int {
    // SAFETY: OpenSSL gives a list with an end.
    c_int::from(unsafe { openssl::params(params) }.iter_mut().all(|param| match param.name() {
        b"mode" => param.set_number(C::INFO.mode),
        b"keylen" => param.set_number(KEY_BYTES),
        b"ivlen" => param.set_number(C::INFO.iv_bytes),
        b"blocksize" => param.set_number(C::INFO.block_bytes),
        b"aead" | b"custom-iv" => param.set_number(1),
        b"cts" | b"tls-multi" | b"has-randkey" | b"encrypt-then-mac" => param.set_number(0),
        _ => true,
    }))
}

extern "C" fn gettable_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 7] = [
        Param::number(c"mode"),
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::number(c"blocksize"),
        Param::number(c"aead"),
        Param::number(c"custom-iv"),
        Param::END,
    ];
    LIST.as_ptr()
}

extern "C" fn gettable_context_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 9] = [
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::number(c"taglen"),
        Param::bytes(c"iv"),
        Param::bytes(c"updated-iv"),
        Param::bytes(c"tag"),
        Param::number(c"tlsaadpad"),
        Param::bytes(c"tlsivgen"),
        Param::END,
    ];
    LIST.as_ptr()
}

extern "C" fn settable_context_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 7] = [
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::bytes(c"tag"),
        Param::bytes(c"tlsaad"),
        Param::bytes(c"tlsivfixed"),
        Param::bytes(c"tlsivinv"),
        Param::END,
    ];
    LIST.as_ptr()
}

/// The functions of a cipher, by their numbers in `openssl/core_dispatch.h`.
pub(crate) const fn functions<C: Cipher, const KEY_BYTES: usize>() -> [Dispatch; 15] {
    [
        entry!(1, new::<C, KEY_BYTES> as extern "C" fn(*mut c_void) -> *mut c_void),
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
        entry!(13, gettable_context_params as List),
        entry!(14, settable_context_params as List),
        END,
    ]
}
