//! CMAC as types that implement the trait [`Mac`] of RustCrypto's crate `digest`, for code that is generic over it.
//!
//! A message arrives in pieces of any length; only its last block is buffered. Tags have 16 bytes;
//! [`Mac::verify_truncated_left`] takes shorter ones. If the messages are complete, [`crate::SealJob::mac`] and
//! [`crate::Burst::mac`] compute many tags at once, which is much faster.
//!
//! ```
//! use sealcomb::rustcrypto::mac::{Aes128Cmac, KeyInit, Mac};
//!
//! let mac = Aes128Cmac::new(&[7; 16].into());
//! let tag = mac.chain_update(b"mess").chain_update(b"age").finalize().into_bytes();
//!
//! let mut mac = Aes128Cmac::new(&[7; 16].into());
//! mac.update(b"message");
//! assert!(mac.verify_reset(&tag).is_ok());
//! mac.update(b"another");
//! assert!(mac.verify(&tag).is_err());
//! ```
//!
//! [`KeyInit::new`] cannot fail. If `SEALCOMB_BACKEND` names no backend, or one that this CPU lacks, these types use
//! [`crate::Backend::best`], whereas [`crate::Key::new`] returns the error.

pub use ::digest;
pub use ::digest::{CtOutput, KeyInit, Mac, MacError};

use core::fmt;

use digest::common::KeySizeUser;
use digest::consts::{U16, U24, U32};
use digest::{FixedOutput, FixedOutputReset, MacMarker, Output, OutputSizeUser, Reset, Update};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::Key;
use crate::backend::{Block, Wiped};
use crate::stream::cmac::Cmac;

/// A key and the state of the current message.
struct State {
    key: Key,
    message: Cmac,
}

impl State {
    fn tag(&mut self) -> Block {
        self.message.tag(&self.key)
    }
}

/// Declares the types, each with its name, its id in the catalog, and its key size in bytes.
macro_rules! types {
    ($($Type:ident = $name:literal, $id:literal, $KeySize:ty;)*) => {$(
        #[doc = concat!($name, " of a message in pieces. The key and the state are zeroized on drop.")]
        pub struct $Type(Wiped<State>);

        impl KeySizeUser for $Type {
            type KeySize = $KeySize;
        }

        impl KeyInit for $Type {
            fn new(key: &digest::Key<Self>) -> Self {
                Self(Wiped::new(State { key: Key::of_type($id, key), message: Cmac::default() }))
            }
        }

        impl Update for $Type {
            fn update(&mut self, data: &[u8]) {
                let State { key, message } = &mut *self.0;
                message.update(key, data);
            }
        }

        impl OutputSizeUser for $Type {
            type OutputSize = U16;
        }

        impl FixedOutput for $Type {
            fn finalize_into(mut self, out: &mut Output<Self>) {
                out.0 = self.0.tag();
            }
        }

        impl Reset for $Type {
            /// Discards the current message and begins another one under the same key.
            fn reset(&mut self) {
                self.0.message.zeroize();
            }
        }

        impl FixedOutputReset for $Type {
            fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
                out.0 = self.0.tag();
                Reset::reset(self);
            }
        }

        impl MacMarker for $Type {}

        impl ZeroizeOnDrop for $Type {}

        impl fmt::Debug for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($Type)).field(&self.0.key).finish()
            }
        }
    )*};
}

types! {
    Aes128Cmac = "AES-128-CMAC (keys of 16 bytes)", "aes128-cmac", U16;
    Aes192Cmac = "AES-192-CMAC (keys of 24 bytes)", "aes192-cmac", U24;
    Aes256Cmac = "AES-256-CMAC (keys of 32 bytes)", "aes256-cmac", U32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::after_drop;

    #[test]
    fn a_dropped_mac_leaves_nothing_of_the_message() {
        let mac = || Aes128Cmac::new(&[0xa5; 16].into()).chain_update([0x5a; 40]);
        assert_ne!(mac().0.message.secrets(), (&[0; 16], &[0x5a; 8][..]));
        assert_eq!(mac().0.message.secrets().1, [0x5a; 8]);
        assert!(after_drop(mac()).iter().all(|&byte| byte == 0));
    }
}
