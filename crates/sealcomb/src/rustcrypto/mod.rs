//! Types that implement RustCrypto's traits. The features name the version of the traits, so that another version can be
//! added without a breaking change.

#[cfg(feature = "rustcrypto-aead-06")]
pub mod aead;
#[cfg(feature = "rustcrypto-aead-05")]
pub mod aead_05;
#[cfg(feature = "rustcrypto-digest-011")]
pub mod mac;
#[cfg(any(feature = "rustcrypto-aead-05", feature = "rustcrypto-aead-06"))]
mod types;
