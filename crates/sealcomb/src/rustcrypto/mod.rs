//! Types that implement RustCrypto's traits. The features name the version of the traits, so that another version can be
//! added without a breaking change.

#[cfg(feature = "rustcrypto-aead-06")]
pub mod aead;
#[cfg(feature = "rustcrypto-digest-011")]
pub mod mac;
