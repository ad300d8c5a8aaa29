//! What OpenSSL calls of CMAC (provider-mac(7)).

use std::ffi::{c_int, c_void};
use std::slice;

use sealcomb::Backend;
use sealcomb::mac::{Aes128Cmac, Aes192Cmac, Aes256Cmac, KeyInit, Mac};
use zeroize::Zeroizing;

use crate::context::{
    Context, Duplicate, Free, List, Params, context, duplicate, free, get_params, set_params,
};
use crate::openssl::{self, Algorithm, Dispatch, END, Param, bytes, entry, succeeds};

const TAG_BYTES: usize = 16;

/// A key, and the message under it.
enum Running {
    Aes128(Aes128Cmac),
    Aes192(Aes192Cmac),
    Aes256(Aes256Cmac),
}

impl Running {
    fn new(key: &[u8]) -> Option<Self> {
        // These types can't fail; a name that no backend has must.
        Backend::selected().ok()?;
        match key.len() {
            16 => Some(Self::Aes128(Aes128Cmac::new_from_slice(key).ok()?)),
            24 => Some(Self::Aes192(Aes192Cmac::new_from_slice(key).ok()?)),
            32 => Some(Self::Aes256(Aes256Cmac::new_from_slice(key).ok()?)),
            _ => None,
        }
    }

    fn update(&mut self, data: &[u8]) {
        match self {
            Self::Aes128(mac) => mac.update(data),
            Self::Aes192(mac) => mac.update(data),
            Self::Aes256(mac) => mac.update(data),
        }
    }

    fn finish(&mut self) -> [u8; TAG_BYTES] {
        match self {
            Self::Aes128(mac) => mac.finalize_reset().into_bytes().into(),
            Self::Aes192(mac) => mac.finalize_reset().into_bytes().into(),
            Self::Aes256(mac) => mac.finalize_reset().into_bytes().into(),
        }
    }
}

#[derive(Default)]
struct Cmac {
    /// Bytes of the key of the cipher that was named; OpenSSL knows none without.
    cipher_key_bytes: Option<usize>,
    key: Zeroizing<Vec<u8>>,
    running: Option<Running>,
    /// Whether the message has begun, which nobody can copy then.
    begun: bool,
}

impl Cmac {
    fn set_key(&mut self, key: &[u8]) -> Option<()> {
        if self.cipher_key_bytes? != key.len() {
            return None;
        }
        self.running = Some(Running::new(key)?);
        self.key = Zeroizing::new(key.to_vec());
        self.begun = false;
        Some(())
    }

    fn set_cipher(&mut self, name: &[u8]) -> Option<()> {
        // CMAC uses the block cipher alone, and OpenSSL wants it named by CBC.
        self.cipher_key_bytes = Some(match name.to_ascii_uppercase().as_slice() {
            b"AES-128-CBC" | b"AES128" => 16,
            b"AES-192-CBC" | b"AES192" => 24,
            b"AES-256-CBC" | b"AES256" => 32,
            _ => return None,
        });
        Some(())
    }
}

impl Context for Cmac {
    fn again(&self) -> Option<Self> {
        if self.begun {
            return None;
        }
        let mut again = Self { cipher_key_bytes: self.cipher_key_bytes, ..Self::default() };
        if self.running.is_some() {
            again.set_key(&self.key)?;
        }
        Some(again)
    }

    fn get(&mut self, param: &mut Param) -> bool {
        match param.name() {
            b"size" | b"block-size" => param.set_number(TAG_BYTES),
            _ => true,
        }
    }

    /// The cipher has to be known before the key.
    fn set(&mut self, params: &[Param]) -> Option<()> {
        let named = |name: &'static [u8]| params.iter().filter(move |param| param.name() == name);
        named(b"cipher").try_for_each(|cipher| self.set_cipher(cipher.get_bytes()?))?;
        named(b"key").try_for_each(|key| self.set_key(key.get_bytes()?))
    }
}

extern "C" fn new(_provider: *mut c_void) -> *mut c_void {
    Cmac::default().into_pointer()
}

/// Parameters first, since among them are the cipher and perhaps the key.
unsafe extern "C" fn init(context: *mut c_void, key: *const u8, count: usize, params: *mut Param) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        let context = unsafe { self::context::<Cmac>(context) }?;
        // SAFETY: the same.
        context.set(unsafe { openssl::params(params) })?;
        // SAFETY: the same.
        match unsafe { bytes(key, count) } {
            Some(key) => context.set_key(key),
            // The same key again, for another message.
            None if !context.key.is_empty() => {
                let key = context.key.clone();
                context.set_key(&key)
            }
            None => None,
        }
    })
}

unsafe extern "C" fn update(context: *mut c_void, data: *const u8, count: usize) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        let context = unsafe { self::context::<Cmac>(context) }?;
        // SAFETY: the same.
        if let Some(data) = unsafe { bytes(data, count) } {
            context.begun = true;
            context.running.as_mut()?.update(data);
        }
        Some(())
    })
}

unsafe extern "C" fn finish(context: *mut c_void, tag: *mut u8, written: *mut usize, room: usize) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        let context = unsafe { self::context::<Cmac>(context) }?;
        if tag.is_null() || room < TAG_BYTES {
            return None;
        }
        let computed = context.running.as_mut()?.finish();
        context.begun = false;
        // SAFETY: the same; there is room.
        unsafe {
            slice::from_raw_parts_mut(tag, TAG_BYTES).copy_from_slice(&computed);
            written.write(TAG_BYTES);
        }
        Some(())
    })
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

/// By their numbers in `openssl/core_dispatch.h`.
static FUNCTIONS: [Dispatch; 11] = [
    entry!(1, new as extern "C" fn(*mut c_void) -> *mut c_void),
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

pub(crate) static ALGORITHMS: &[Algorithm] = &[Algorithm::new(c"CMAC", &FUNCTIONS), Algorithm::END];
