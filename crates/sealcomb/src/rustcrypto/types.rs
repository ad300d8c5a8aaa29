//! The types of AEADs, for every version of the traits.

use zeroize::ZeroizeOnDrop;

use crate::Key;

/// Calls a macro with all types, each with its name, its id in the catalog, its key and nonce sizes in bytes, and the
/// position of the tag in sealed messages, if it does not follow the ciphertext.
macro_rules! each_type {
    ($callback:ident) => {
        $callback! {
            "gcm" {
                Aes128Gcm = "AES-128-GCM, with keys of 16 bytes and nonces of 12 bytes", "aes128-gcm", U16, U12;
                Aes192Gcm = "AES-192-GCM, with keys of 24 bytes and nonces of 12 bytes", "aes192-gcm", U24, U12;
                Aes256Gcm = "AES-256-GCM, with keys of 32 bytes and nonces of 12 bytes", "aes256-gcm", U32, U12;
            }
            "gcm-siv" {
                Aes128GcmSiv = "AES-128-GCM-SIV, with keys of 16 bytes and nonces of 12 bytes", "aes128-gcm-siv", U16, U12;
                Aes256GcmSiv = "AES-256-GCM-SIV, with keys of 32 bytes and nonces of 12 bytes", "aes256-gcm-siv", U32, U12;
            }
            "aegis" {
                Aegis128L = "AEGIS-128L, with keys of 16 bytes and nonces of 16 bytes", "aegis128l", U16, U16;
                Aegis256 = "AEGIS-256, with keys of 32 bytes and nonces of 32 bytes", "aegis256", U32, U32;
            }
            "xaes" {
                Xaes256Gcm = "XAES-256-GCM, with keys of 32 bytes and nonces of 24 bytes", "xaes256-gcm", U32, U24;
            }
            "siv" {
                Aes128Siv = "AES-128-SIV, with keys of 32 bytes and nonces of 16 bytes", "aes128-siv", U32, U16, Prefix;
                Aes256Siv = "AES-256-SIV, with keys of 64 bytes and nonces of 16 bytes", "aes256-siv", U64, U16, Prefix;
            }
            "ccm" {
                Aes128Ccm = "AES-128-CCM, with keys of 16 bytes and nonces of 12 bytes", "aes128-ccm", U16, U12;
                Aes192Ccm = "AES-192-CCM, with keys of 24 bytes and nonces of 12 bytes", "aes192-ccm", U24, U12;
                Aes256Ccm = "AES-256-CCM, with keys of 32 bytes and nonces of 12 bytes", "aes256-ccm", U32, U12;
            }
            "eax" {
                Aes128Eax = "AES-128-EAX, with keys of 16 bytes and nonces of 16 bytes", "aes128-eax", U16, U16;
                Aes192Eax = "AES-192-EAX, with keys of 24 bytes and nonces of 16 bytes", "aes192-eax", U24, U16;
                Aes256Eax = "AES-256-EAX, with keys of 32 bytes and nonces of 16 bytes", "aes256-eax", U32, U16;
            }
        }
    };
}
#[cfg(any(feature = "rustcrypto-aead-05", feature = "rustcrypto-aead-06"))]
pub(super) use each_type;

macro_rules! declare {
    ($($feature:literal {
        $($Type:ident = $name:literal, $id:literal, $KeySize:ty, $NonceSize:ty $(, $position:ident)?;)*
    })*) => {$($(
        #[doc = concat!($name, ".")]
        #[cfg(feature = $feature)]
        #[derive(Debug, ZeroizeOnDrop)]
        pub struct $Type(pub(super) Key);

        #[cfg(feature = $feature)]
        impl AsRef<Key> for $Type {
            fn as_ref(&self) -> &Key {
                &self.0
            }
        }
    )*)*};
}

each_type!(declare);
