//! One file per mode, written once: no register width, no backend, no number of messages.
#![forbid(unsafe_code)]

#[cfg(feature = "hazmat")]
pub(crate) mod cbc;
pub(crate) mod ccm;
#[cfg(feature = "hazmat")]
pub(crate) mod cfb;
#[cfg(feature = "research")]
pub(crate) mod cloc;
pub(crate) mod cmac;
#[cfg(feature = "research")]
pub(crate) mod cobra;
pub(crate) mod colm;
#[cfg(feature = "research")]
pub(crate) mod copa;
#[cfg(feature = "hazmat")]
pub(crate) mod ctr;
pub(crate) mod eax;
#[cfg(feature = "hazmat")]
pub(crate) mod ecb;
#[cfg(feature = "research")]
pub(crate) mod elmd;
#[cfg(feature = "hazmat")]
pub(crate) mod eme2;
pub(crate) mod gcm;
pub(crate) mod gcm_siv;
#[cfg(feature = "research")]
pub(crate) mod jambu;
#[cfg(feature = "research")]
pub(crate) mod julius;
#[cfg(feature = "research")]
pub(crate) mod mcoe_g;
pub(crate) mod ocb3;
#[cfg(feature = "hazmat")]
pub(crate) mod ofb;
pub(crate) mod omac;
#[cfg(feature = "research")]
pub(crate) mod otr;
#[cfg(feature = "research")]
pub(crate) mod pmac;
#[cfg(feature = "research")]
pub(crate) mod poet;
#[cfg(feature = "research")]
pub(crate) mod poet_g;
#[cfg(feature = "research")]
mod serpent;
#[cfg(feature = "research")]
pub(crate) mod silc;
pub(crate) mod siv;

use crate::backend::Backend;
use crate::engine::{Batch, Material};

/// What the catalog knows of a mode.
pub(crate) trait Mode: Sync {
    /// The part of a key that is AES's: where the mode doesn't say, all of it. Nothing, if there is none.
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        key
    }

    /// What the mode keeps of a key beside the round keys for encryption, which are there already: where it doesn't say,
    /// nothing.
    fn key(&self, _backend: Backend, _key: &[u8], _material: &mut Material) {}

    /// Encrypts the messages and leaves each one's tag in it.
    fn seal(&self, batch: &mut Batch<'_, '_, '_>);

    /// Decrypts the messages and leaves the tag that each should have in it.
    fn open(&self, batch: &mut Batch<'_, '_, '_>);
}
