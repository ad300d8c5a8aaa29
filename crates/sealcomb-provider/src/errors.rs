//! Why calls are refused, and OpenSSL's error queue (`openssl/err.h`), to which the reasons are added.
//!
//! The reasons are those that OpenSSL's default provider adds in the same situation. Programs act on them: Python's
//! `cryptography` raises `ValueError` for one, and Node.js derives error codes. libcrypto has the texts of these
//! reasons, so the provider passes none.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr;

use crate::openssl::Dispatch;

/// The result of a function that can refuse a call.
pub(crate) type Outcome<T = ()> = Result<T, Refused>;

/// Why a call is refused: the codes for the error queue, in their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Refused(&'static [u32]);

/// `ERR_LIB_EVP`, and `ERR_LIB_PROV`: the library of all providers that come with OpenSSL.
const EVP: u32 = 6;
const PROV: u32 = 57;

/// `ERR_R_FATAL`, and `ERR_RFLAG_COMMON` for reasons that all libraries share.
const FATAL: u32 = 3 << 18;
const COMMON: u32 = 2 << 18;

/// `ERR_PACK`.
const fn code(library: u32, reason: u32) -> u32 {
    library << 23 | reason
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident: $($library:ident $reason:expr),*;)*) => {
        impl Refused {
            $($(#[$doc])* pub(crate) const $name: Self = Self(&[$(code($library, $reason)),*]);)*
        }
    };
}

// Numbers from `openssl/proverr.h`, `openssl/evperr.h` and `openssl/err.h`.
reasons! {
    /// Where OpenSSL's provider adds nothing, as for forged messages.
    SILENTLY: ;
    BAD_DECRYPT: PROV 100;
    CIPHER_OPERATION_FAILED: PROV 102;
    FAILED_TO_GET_PARAMETER: PROV 103;
    FAILED_TO_SET_PARAMETER: PROV 104;
    INVALID_KEY_LENGTH: PROV 105;
    OUTPUT_BUFFER_TOO_SMALL: PROV 106;
    WRONG_FINAL_BLOCK_LENGTH: PROV 107;
    INVALID_AAD: PROV 108;
    INVALID_IV_LENGTH: PROV 109;
    INVALID_TAG: PROV 110;
    NO_KEY_SET: PROV 114;
    INVALID_DATA: PROV 115;
    INVALID_TAG_LENGTH: PROV 118;
    TAG_NOT_SET: PROV 119;
    TAG_NOT_NEEDED: PROV 120;
    XTS_DATA_UNIT_IS_TOO_LARGE: PROV 148;
    XTS_DUPLICATED_KEYS: PROV 149;
    PASSED_INVALID_ARGUMENT: PROV COMMON + 262;
    INTERNAL_ERROR: PROV FATAL + 259;
    /// A piece of XTS that is too large: both functions that pass the refusal on add a reason.
    XTS_PIECE_IS_TOO_LARGE: PROV 148, PROV 102;
    /// What libcrypto adds itself for ciphers outside of providers.
    PARTIALLY_OVERLAPPING: EVP 162;
    /// CMAC: the reasons of the functions by which OpenSSL's provider gets and prepares the cipher.
    CIPHER_KEY_LENGTH: EVP 130;
    CIPHER_UNSUPPORTED: EVP COMMON + 268;
}

/// The library refuses what the provider checks before, or what is impossible: OpenSSL's provider adds nothing.
impl From<sealcomb::Error> for Refused {
    fn from(_: sealcomb::Error) -> Self {
        Self::SILENTLY
    }
}

impl From<sealcomb::BatchError> for Refused {
    fn from(_: sealcomb::BatchError) -> Self {
        Self::SILENTLY
    }
}

type NewError = unsafe extern "C" fn(*const c_void);
type SetDebug = unsafe extern "C" fn(*const c_void, *const c_char, c_int, *const c_char);
type SetError = unsafe extern "C" fn(*const c_void, u32, *const c_char, *mut c_void);

/// The error queue of the copy of libcrypto that has loaded the provider. A process can contain several copies, which
/// share the module, so every context has its own queue.
#[derive(Clone, Copy)]
pub(crate) struct Queue {
    handle: *const c_void,
    new_error: NewError,
    set_debug: SetDebug,
    set_error: SetError,
}

/// What libcrypto prints as the file that contains the error.
const FILE: &CStr = c"sealcomb";

impl Queue {
    /// Returns the queue of a handle; `None` if a function is missing.
    ///
    /// # Safety
    /// The table is that of `OSSL_provider_init`: terminated, with functions of the types of `openssl/core_dispatch.h`,
    /// which take the handle and stay valid until the provider is unloaded.
    pub(crate) unsafe fn new(handle: *const c_void, mut table: *const Dispatch) -> Option<Self> {
        let (mut new_error, mut set_debug, mut set_error) = (None, None, None);
        // SAFETY: up to the terminator, and of these types, guaranteed by the caller.
        unsafe {
            while (*table).number != 0 {
                let function = (*table).function;
                match (*table).number {
                    5 => new_error = Some(transmute::<*const c_void, NewError>(function)),
                    6 => set_debug = Some(transmute::<*const c_void, SetDebug>(function)),
                    7 => set_error = Some(transmute::<*const c_void, SetError>(function)),
                    _ => {}
                }
                table = table.add(1);
            }
        }
        Some(Self { handle, new_error: new_error?, set_debug: set_debug?, set_error: set_error? })
    }

    /// Adds the reasons to the queue.
    pub(crate) fn add(&self, refused: Refused) {
        // Without a format, no argument is read. But where `va_list` is a structure, each call copies it.
        let mut no_arguments = [0_usize; 8];
        for code in refused.0 {
            // SAFETY: the provider is loaded as long as it has contexts. The texts are terminated, and libcrypto
            // copies them.
            unsafe {
                (self.new_error)(self.handle);
                (self.set_debug)(self.handle, FILE.as_ptr(), 0, ptr::null());
                (self.set_error)(self.handle, *code, ptr::null(), no_arguments.as_mut_ptr().cast());
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::openssl::{END, entry};

    thread_local! {
        /// The handles and codes that the functions below have received.
        static ADDED: RefCell<Vec<(usize, u32)>> = const { RefCell::new(Vec::new()) };
    }

    unsafe extern "C" fn new_error(_: *const c_void) {}

    unsafe extern "C" fn set_debug(_: *const c_void, _: *const c_char, _: c_int, _: *const c_char) {}

    unsafe extern "C" fn set_error(handle: *const c_void, code: u32, _: *const c_char, _: *mut c_void) {
        ADDED.with_borrow_mut(|added| added.push((handle.addr(), code)));
    }

    /// The functions of a libcrypto whose error queue [`added`] returns.
    pub(crate) static FUNCTIONS: [Dispatch; 4] = [
        entry!(7, set_error as SetError),
        entry!(5, new_error as NewError),
        entry!(6, set_debug as SetDebug),
        END,
    ];

    /// Returns the errors added since the last call, by handle and code.
    pub(crate) fn added() -> Vec<(usize, u32)> {
        ADDED.take()
    }

    /// Returns the codes of a refusal.
    pub(crate) fn codes(refused: Refused) -> &'static [u32] {
        refused.0
    }

    #[test]
    fn each_copy_of_libcrypto_gets_its_own_errors() {
        // SAFETY: the table is terminated.
        let queue =
            |handle| unsafe { Queue::new(ptr::without_provenance(handle), FUNCTIONS.as_ptr()) }.unwrap();
        let (first, second) = (queue(1), queue(2));
        first.add(Refused::BAD_DECRYPT);
        second.add(Refused::XTS_PIECE_IS_TOO_LARGE);
        first.add(Refused::SILENTLY);
        // `ERR_PACK(ERR_LIB_PROV, 0, PROV_R_BAD_DECRYPT)` and others.
        assert_eq!(added(), [(1, 0x1c80_0064), (2, 0x1c80_0094), (2, 0x1c80_0066)]);
    }

    #[test]
    fn a_libcrypto_without_the_functions_has_no_queue() {
        // SAFETY: the table is terminated.
        assert!(unsafe { Queue::new(ptr::null(), FUNCTIONS[1..].as_ptr()) }.is_none());
    }
}
