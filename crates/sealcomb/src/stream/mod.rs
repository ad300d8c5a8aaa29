//! Messages that come in pieces.
//!
//! All of it is put together of what whole messages take: a stream adds no code for the CPU's registers but one hash.
#![forbid(unsafe_code)]

#[cfg(feature = "hazmat")]
mod any;
pub(crate) mod cmac;
#[cfg(feature = "hazmat")]
mod gcm;
#[cfg(feature = "hazmat")]
mod ocb3;

#[cfg(feature = "hazmat")]
pub use any::{Direction, Stream};

/// Encrypts, or decrypts without verifying, like a whole message. Returns the tag that it has.
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
