//! An OpenSSL 3 provider of AES-GCM, -CCM, -OCB, -SIV, -GCM-SIV, -CBC, -CTR, -XTS and CMAC. `docs/c.md` shows how to
//! configure programs to use it.
//!
//! | file | |
//! |---|---|
//! | `openssl.rs` | OpenSSL's structures |
//! | `errors.rs` | the reasons in OpenSSL's error queue |
//! | `context.rs` | contexts of ciphers and MACs |
//! | `data.rs` | the buffers of a call |
//! | `iv.rs` | the states of a context's IV and tag |
//! | `partial.rs` | buffered bytes |
//! | `params.rs` | the lists of parameters |
//! | `tls.rs`, `tls_cbc.rs` | TLS 1.2 records of AEADs and of CBC |
//! | `cipher.rs` | the cipher functions, generic over the mode |
//! | `gcm.rs`, `ocb.rs` | modes that process a message in pieces, with the library's streams |
//! | `ccm.rs`, `siv.rs`, `gcm_siv.rs`, `whole.rs` | modes that need the message in one piece |
//! | `xts.rs` | XTS |
//! | `plain.rs`, `cbc.rs`, `ctr.rs` | CBC and CTR |
//! | `pipeline.rs` | the functions of pipelines: many messages per call |
//! | `columns.rs` | the arrays of such a call |
//! | `aead_pipeline.rs`, `plain_pipeline.rs` | pipelines of AEADs, and of CBC and CTR |
//! | `cmac.rs` | CMAC |
//! | `list.rs` | the list of algorithms |
// provider-cipher(7) and provider-mac(7) document OpenSSL's guarantees for the pointers of all functions.
#![allow(clippy::missing_safety_doc)]
// No size loses a bit: OpenSSL passes sizes of any number of bits.
#![deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod aead_pipeline;
mod cbc;
mod ccm;
mod cipher;
mod cmac;
mod columns;
mod context;
mod ctr;
mod data;
mod errors;
mod gcm;
mod gcm_siv;
mod iv;
mod list;
mod ocb;
mod openssl;
mod params;
mod partial;
mod pipeline;
mod plain;
mod plain_pipeline;
mod siv;
mod stream;
mod tls;
mod tls_cbc;
mod whole;
mod xts;

use std::ffi::{c_int, c_void};
use std::ptr;

use errors::Queue;
use openssl::{Algorithm, Dispatch, END, Param, entry};

/// `OSSL_OP_CIPHER` and `OSSL_OP_MAC`.
const OPERATION_CIPHER: c_int = 2;
const OPERATION_MAC: c_int = 3;

/// The entry point that OpenSSL calls after loading the provider.
#[unsafe(no_mangle)]
unsafe extern "C" fn OSSL_provider_init(
    core: *const c_void,
    core_functions: *const Dispatch,
    functions: *mut *const Dispatch,
    context: *mut *mut c_void,
) -> c_int {
    static FUNCTIONS: [Dispatch; 5] = [
        entry!(1024, teardown as unsafe extern "C" fn(*mut c_void)),
        entry!(1025, gettable_params as extern "C" fn(*mut c_void) -> *const Param),
        entry!(1026, get_params as unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int),
        entry!(1027, query as unsafe extern "C" fn(*mut c_void, c_int, *mut c_int) -> *const Algorithm),
        END,
    ];
    // SAFETY: OpenSSL passes its functions, and two pointers valid for writes.
    unsafe {
        functions.write(FUNCTIONS.as_ptr());
        context.write(Box::into_raw(Box::new(Queue::new(core, core_functions))).cast());
    }
    1
}

unsafe extern "C" fn teardown(context: *mut c_void) {
    // SAFETY: from `OSSL_provider_init`, and OpenSSL calls this function once.
    drop(unsafe { Box::from_raw(context.cast::<Option<Queue>>()) });
}

const NAME: &[u8] = b"sealcomb\0";
const VERSION: &[u8] = concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes();

extern "C" fn gettable_params(_context: *mut c_void) -> *const Param {
    static GETTABLE: [Param; 4] = [
        Param::text_in_place(c"name"),
        Param::text_in_place(c"version"),
        Param::number(c"status"),
        Param::END,
    ];
    GETTABLE.as_ptr()
}

unsafe extern "C" fn get_params(_context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes a terminated list.
    c_int::from(unsafe { openssl::params(params) }.iter_mut().all(|param| match param.name() {
        b"name" => param.set_text(NAME),
        b"version" => param.set_text(VERSION),
        b"status" => param.set_number(1).is_ok(),
        _ => true,
    }))
}

unsafe extern "C" fn query(
    _context: *mut c_void,
    operation: c_int,
    no_cache: *mut c_int,
) -> *const Algorithm {
    // SAFETY: OpenSSL passes a pointer valid for writes.
    unsafe { no_cache.write(0) };
    match operation {
        OPERATION_CIPHER => list::CIPHERS.as_ptr(),
        OPERATION_MAC => list::MACS.as_ptr(),
        _ => ptr::null(),
    }
}
