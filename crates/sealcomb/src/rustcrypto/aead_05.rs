//! The types of [`rustcrypto::aead`](super::aead) with the traits of `aead` 0.5, for code that has not moved to 0.6.
//!
//! ```
//! use sealcomb::rustcrypto::aead_05::{Aead, Aes256Gcm, KeyInit, Payload};
//!
//! let cipher = Aes256Gcm::new(&[7; 32].into());
//! let sealed = cipher.encrypt(b"unique nonce".into(), Payload { msg: b"message", aad: b"header" })?;
//! assert_eq!(sealed.len(), 7 + 16);
//! assert_eq!(cipher.decrypt(b"unique nonce".into(), Payload { msg: &sealed, aad: b"header" })?, b"message");
//! assert!(cipher.decrypt(b"unique nonce".into(), Payload { msg: &sealed, aad: b"another" }).is_err());
//! # Ok::<(), sealcomb::rustcrypto::aead_05::Error>(())
//! ```
//!
//! # Errors
//! All methods return the opaque [`Error`] in these cases:
//! - The message or the additional data exceeds the algorithm's limit, or a ciphertext is shorter than a tag. Nothing was
//!   written.
//! - A buffer cannot hold the tag. It may contain the encrypted message without its tag.
//! - Verification fails. The message in the buffer is zeroed.

pub use ::aead_05 as aead;
pub use ::aead_05::{Aead, AeadCore, AeadInPlace, Buffer, Error, KeyInit, KeySizeUser, Nonce, Payload, Tag};

use ::aead_05::consts::{U0, U12, U16, U24, U32, U64};

use super::types::each_type;
use crate::Key;

pub use super::types::*;

macro_rules! implement {
    ($($feature:literal {
        $($Type:ident = $name:literal, $id:literal, $KeySize:ty, $NonceSize:ty $(, $position:ident)?;)*
    })*) => {$($(
        #[cfg(feature = $feature)]
        impl KeySizeUser for $Type {
            type KeySize = $KeySize;
        }

        #[cfg(feature = $feature)]
        impl KeyInit for $Type {
            fn new(key: &::aead_05::Key<Self>) -> Self {
                Self(Key::of_type($id, key))
            }
        }

        #[cfg(feature = $feature)]
        impl AeadCore for $Type {
            type NonceSize = $NonceSize;
            type TagSize = U16;
            type CiphertextOverhead = U0;
        }

        #[cfg(feature = $feature)]
        impl AeadInPlace for $Type {
            #[inline]
            fn encrypt_in_place_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: &mut [u8],
            ) -> Result<Tag<Self>, Error> {
                let mut tag = Tag::<Self>::default();
                let sealed = self.0.seal_in_place_detached(nonce, associated_data, buffer, &mut tag);
                sealed.map(|()| tag).map_err(|_| Error)
            }

            #[inline]
            fn decrypt_in_place_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: &mut [u8],
                tag: &Tag<Self>,
            ) -> Result<(), Error> {
                let opened = self.0.open_in_place_detached(nonce, associated_data, buffer, tag);
                opened.map_err(|_| Error)
            }

            $(implement!(@$position);)?
        }
    )*)*};
    // The trait's own methods append the tag.
    (@Prefix) => {
        fn encrypt_in_place(
            &self,
            nonce: &Nonce<Self>,
            associated_data: &[u8],
            buffer: &mut dyn Buffer,
        ) -> Result<(), Error> {
            let bytes = buffer.len();
            buffer.extend_from_slice(&Tag::<Self>::default())?;
            let tag_bytes = buffer.len() - bytes;
            buffer.as_mut().copy_within(..bytes, tag_bytes);
            let (first, message) = buffer.as_mut().split_at_mut(tag_bytes);
            let tag = self.encrypt_in_place_detached(nonce, associated_data, message)?;
            first.copy_from_slice(&tag);
            Ok(())
        }

        fn decrypt_in_place(
            &self,
            nonce: &Nonce<Self>,
            associated_data: &[u8],
            buffer: &mut dyn Buffer,
        ) -> Result<(), Error> {
            let tag_bytes = Tag::<Self>::default().len();
            let bytes = buffer.len().checked_sub(tag_bytes).ok_or(Error)?;
            let (first, message) = buffer.as_mut().split_at_mut(tag_bytes);
            let tag = *Tag::<Self>::from_slice(first);
            self.decrypt_in_place_detached(nonce, associated_data, message, &tag)?;
            buffer.as_mut().copy_within(tag_bytes.., 0);
            buffer.truncate(bytes);
            Ok(())
        }
    };
}

each_type!(implement);
