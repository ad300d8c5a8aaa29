//! Messages in pieces.
//!
//! Streams are composed of the kernels for whole messages. They add only one kernel, for GHASH.
#![forbid(unsafe_code)]

#[cfg(feature = "hazmat")]
mod any;
pub(crate) mod cmac;
#[cfg(feature = "hazmat")]
mod gcm;
#[cfg(feature = "hazmat")]
mod ocb3;

#[cfg(feature = "hazmat")]
pub use any::{OpenStream, SealStream};

/// Encrypts a whole message, or decrypts it without verifying, and returns its correct tag.
#[cfg(feature = "hazmat")]
fn crypt(
    key: &crate::Key,
    opens: bool,
    nonce: &[u8],
    aad: &[u8],
    data: inout::InOutBuf<'_, '_, u8>,
) -> crate::backend::Block {
    let mut tag = [0; 16];
    if opens {
        crate::batch::open_unverified(key, nonce, aad, data.into(), &mut tag);
    } else {
        crate::batch::seal_one(key, nonce, aad, data.into(), &mut tag);
    }
    tag
}
