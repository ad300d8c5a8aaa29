//! CMAC: the functions that OpenSSL calls (provider-mac(7)).

use std::ffi::{c_int, c_void};
use std::slice;
use std::sync::Arc;

use sealcomb::Key;
use sealcomb::hazmat::SealStream;

use crate::cipher;
use crate::context::{self, Context, Duplicate, Free, List, Params, duplicate, free, get_params, set_params};
use crate::errors::{Outcome, Refused};
use crate::openssl::{self, Dispatch, END, Param, bytes, entry};

const TAG_BYTES: usize = 16;

#[derive(Default)]
struct Cmac {
    /// Key size in bytes of the cipher, which must be set before the key, as in OpenSSL.
    key_bytes: Option<usize>,
    stream: Option<SealStream<Arc<Key>>>,
}

impl Cmac {
    fn set_key(&mut self, key: &[u8]) -> Outcome {
        self.stream = None;
        let key_bytes = self.key_bytes.ok_or(Refused::SILENTLY)?;
        let key = cipher::key("cmac", key, key_bytes).map_err(|_| Refused::CIPHER_KEY_LENGTH)?;
        self.stream = Some(SealStream::new(key, b"")?);
        Ok(())
    }

    /// Returns the message in progress, or a new one; refuses to without a key.
    fn message(&mut self) -> Outcome<&mut SealStream<Arc<Key>>> {
        self.stream.as_mut().ok_or(Refused::SILENTLY)
    }

    fn set_cipher(&mut self, name: &[u8]) -> Outcome {
        // CMAC uses only the block cipher, which OpenSSL names by its CBC mode.
        let key_bytes = match name.to_ascii_uppercase().as_slice() {
            b"AES-128-CBC" | b"AES128" | b"2.16.840.1.101.3.4.1.2" => 16,
            b"AES-192-CBC" | b"AES192" | b"2.16.840.1.101.3.4.1.22" => 24,
            b"AES-256-CBC" | b"AES256" | b"2.16.840.1.101.3.4.1.42" => 32,
            _ => return Err(Refused::CIPHER_UNSUPPORTED),
        };
        self.key_bytes = Some(key_bytes);
        Ok(())
    }
}

impl Context for Cmac {
    fn duplicate(&self) -> Option<Self> {
        Some(Self { key_bytes: self.key_bytes, stream: self.stream.as_ref().map(SealStream::fork) })
    }

    fn get(&mut self, param: &mut Param) -> Outcome {
        let bytes = match param.name() {
            // 0 without a key, as in OpenSSL.
            b"size" | b"block-size" if self.stream.is_none() => 0,
            b"size" | b"block-size" => TAG_BYTES,
            _ => return Ok(()),
        };
        param.set_number(bytes).map_err(|_| Refused::SILENTLY)
    }

    fn set_one(&mut self, param: &Param) -> Outcome {
        match param.name() {
            b"cipher" => self.set_cipher(param.characters().ok_or(Refused::SILENTLY)?),
            b"key" => self.set_key(param.octets().map_err(|_| Refused::SILENTLY)?),
            _ => Ok(()),
        }
    }

    /// Sets the key last, as it needs the cipher.
    fn set(&mut self, params: &[Param]) -> Outcome {
        let (keys, others): (Vec<_>, Vec<_>) = params.iter().partition(|param| param.name() == b"key");
        others.into_iter().chain(keys).try_for_each(|param| self.set_one(param))
    }
}

unsafe extern "C" fn new(provider: *mut c_void) -> *mut c_void {
    // SAFETY: guaranteed by OpenSSL.
    unsafe { context::new(provider, Cmac::default()) }
}

/// Sets the parameters first, as they may contain the cipher and the key.
unsafe extern "C" fn init(context: *mut c_void, key: *const u8, count: usize, params: *mut Param) -> c_int {
    // SAFETY: guaranteed by OpenSSL.
    unsafe {
        context::call(context, |context: &mut Cmac| {
            context.set(openssl::params(params))?;
            match bytes(key, count) {
                Some(key) => context.set_key(key),
                // Without a key, the next message uses the current one.
                None => Ok(context.message()?.begin(b"")?),
            }
        })
    }
}

unsafe extern "C" fn update(context: *mut c_void, data: *const u8, count: usize) -> c_int {
    // SAFETY: guaranteed by OpenSSL.
    unsafe {
        context::call(context, |context: &mut Cmac| {
            let stream = context.message()?;
            if count > 0 {
                stream.aad(bytes(data, count).ok_or(Refused::SILENTLY)?)?;
            }
            Ok(())
        })
    }
}

unsafe extern "C" fn finish(context: *mut c_void, tag: *mut u8, written: *mut usize, room: usize) -> c_int {
    // SAFETY: guaranteed by OpenSSL.
    unsafe {
        context::call(context, |context: &mut Cmac| {
            if tag.is_null() || room < TAG_BYTES {
                return Err(Refused::SILENTLY);
            }
            let mut computed = [0; TAG_BYTES];
            context.message()?.finish(&mut computed)?;
            slice::from_raw_parts_mut(tag, TAG_BYTES).copy_from_slice(&computed);
            written.write(TAG_BYTES);
            Ok(())
        })
    }
}

extern "C" fn gettable_context_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 3] = [Param::number(c"size"), Param::number(c"block-size"), Param::END];
    LIST.as_ptr()
}

extern "C" fn settable_context_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 4] =
        [Param::text(c"cipher"), Param::text(c"properties"), Param::bytes(c"key"), Param::END];
    LIST.as_ptr()
}

/// The dispatch table, with function numbers from `openssl/core_dispatch.h`.
pub(crate) static FUNCTIONS: [Dispatch; 11] = [
    entry!(1, new as unsafe extern "C" fn(*mut c_void) -> *mut c_void),
    entry!(2, duplicate::<Cmac> as Duplicate),
    entry!(3, free::<Cmac> as Free),
    entry!(4, init as unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut Param) -> c_int),
    entry!(5, update as unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int),
    entry!(6, finish as unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int),
    entry!(8, get_params::<Cmac> as Params),
    entry!(9, set_params::<Cmac> as Params),
    entry!(11, gettable_context_params as List),
    entry!(12, settable_context_params as List),
    END,
];
