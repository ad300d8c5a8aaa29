//! AEADs as types that implement the traits of RustCrypto's crate `aead`, for code that is generic over them.
//!
//! Each type has the usual sizes: a nonce of 12 bytes (16 for AES-SIV, EAX and AEGIS-128L, 24 for XAES-256-GCM, 32 for
//! AEGIS-256) and a tag of 16 bytes. A [`crate::Key`] takes the other sizes that [`crate::ALGORITHMS`] lists. Sealed
//! messages are identical to those of RustCrypto's crates: the tag follows the ciphertext, except in AES-SIV, where it
//! precedes the ciphertext (RFC 5297, section 2.6). Keys are zeroized on drop.
//!
//! ```
//! use sealcomb::rustcrypto::aead::{Aead, Aes256Gcm, KeyInit, Nonce, Payload};
//!
//! let cipher = Aes256Gcm::new(&[7; 32].into());
//! let nonce = Nonce::<Aes256Gcm>::from(*b"unique nonce");
//! let sealed = cipher.encrypt(&nonce, Payload { msg: b"message", aad: b"header" })?;
//! assert_eq!(sealed.len(), 7 + 16);
//! assert_eq!(cipher.decrypt(&nonce, Payload { msg: &sealed, aad: b"header" })?, b"message");
//! assert!(cipher.decrypt(&nonce, Payload { msg: &sealed, aad: b"another" }).is_err());
//! # Ok::<(), sealcomb::rustcrypto::aead::Error>(())
//! ```
//!
//! [`AsRef`] gives access to the [`crate::Key`] for batches:
//!
//! ```
//! use sealcomb::rustcrypto::aead::{Aes128GcmSiv, KeyInit};
//! use sealcomb::{SealJob, seal_jobs};
//!
//! let cipher = Aes128GcmSiv::new_from_slice(&[7; 16]).expect("16 bytes");
//! let (mut message, mut tag) = (*b"message", [0; 16]);
//! seal_jobs(&mut [SealJob::in_place(cipher.as_ref(), b"unique nonce", b"", &mut message, &mut tag)])?;
//! # Ok::<(), sealcomb::BatchError>(())
//! ```
//!
//! [`KeyInit::new`] cannot fail. If `SEALCOMB_BACKEND` names no backend, or one that this CPU lacks, these types use
//! [`crate::Backend::best`], whereas [`crate::Key::new`] returns the error.
//!
//! # Errors
//! All methods return the opaque [`Error`] in these cases:
//! - The message or the additional data exceeds the algorithm's limit, or a ciphertext is shorter than a tag. Nothing was
//!   written.
//! - A buffer cannot hold the tag. It may contain the encrypted message without its tag.
//! - Verification fails. The output is zeroed.

pub use ::aead;
pub use ::aead::{Aead, AeadCore, AeadInOut, Buffer, Error, KeyInit, KeySizeUser, Nonce, Payload, Tag};

use super::types::each_type;
use crate::{Key, batch};
use ::aead::TagPosition;
use ::aead::consts::{U12, U16, U24, U32, U64};
use ::aead::inout::InOutBuf;

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
            fn new(key: &::aead::Key<Self>) -> Self {
                Self(Key::of_type($id, key))
            }
        }

        #[cfg(feature = $feature)]
        impl AeadCore for $Type {
            type NonceSize = $NonceSize;
            type TagSize = U16;
            const TAG_POSITION: TagPosition = implement!(@position $($position)?);
        }

        #[cfg(feature = $feature)]
        impl AeadInOut for $Type {
            #[inline]
            fn encrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
            ) -> Result<Tag<Self>, Error> {
                let mut tag = Tag::<Self>::default();
                batch::check(&self.0, nonce, tag.len(), associated_data.len(), buffer.len())
                    .map_err(|_| Error)?;
                batch::seal_one(&self.0, nonce, associated_data, buffer.into(), &mut tag);
                Ok(tag)
            }

            #[inline]
            fn decrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
                tag: &Tag<Self>,
            ) -> Result<(), Error> {
                batch::check(&self.0, nonce, tag.len(), associated_data.len(), buffer.len())
                    .map_err(|_| Error)?;
                batch::open_one(&self.0, nonce, associated_data, buffer.into(), tag)
                    .map(|_| ())
                    .map_err(|_| Error)
            }
        }
    )*)*};
    (@position) => { TagPosition::Postfix };
    (@position $position:ident) => { TagPosition::$position };
}

each_type!(implement);
