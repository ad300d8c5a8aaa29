//! The modes of operation, one file each, written once for every register width, backend and number of messages.
#![forbid(unsafe_code)]

#[cfg(feature = "aegis")]
pub(crate) mod aegis;
#[cfg(feature = "hazmat")]
pub(crate) mod cbc;
#[cfg(feature = "ccm")]
pub(crate) mod ccm;
#[cfg(feature = "hazmat")]
pub(crate) mod cfb;
#[cfg(feature = "research")]
pub(crate) mod cloc;
#[cfg(feature = "cmac")]
pub(crate) mod cmac;
#[cfg(feature = "research")]
pub(crate) mod cobra;
#[cfg(feature = "colm")]
pub(crate) mod colm;
#[cfg(feature = "research")]
pub(crate) mod copa;
#[cfg(feature = "hazmat")]
pub(crate) mod ctr;
#[cfg(feature = "eax")]
pub(crate) mod eax;
#[cfg(feature = "hazmat")]
pub(crate) mod ecb;
#[cfg(feature = "research")]
pub(crate) mod elmd;
#[cfg(feature = "hazmat")]
pub(crate) mod eme2;
#[cfg(any(feature = "gcm", feature = "research", feature = "xaes"))]
pub(crate) mod gcm;
#[cfg(feature = "gcm-siv")]
pub(crate) mod gcm_siv;
#[cfg(feature = "hazmat")]
pub(crate) mod hctr2;
#[cfg(feature = "research")]
pub(crate) mod jambu;
#[cfg(feature = "research")]
pub(crate) mod julius;
#[cfg(feature = "research")]
pub(crate) mod mcoe_g;
#[cfg(any(feature = "ocb3", feature = "research"))]
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
#[cfg(feature = "siv")]
pub(crate) mod siv;
#[cfg(feature = "xaes")]
pub(crate) mod xaes;
#[cfg(feature = "hazmat")]
pub(crate) mod xts;

use crate::backend::Backend;
use crate::engine::flights::Flights;
use crate::engine::{Batch, Material};

/// The interface between the catalog and a mode.
pub(crate) trait Mode: Sync {
    /// Returns the part of a key that AES uses: all of it by default, empty if the mode does not use it.
    fn aes_key<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        key
    }

    /// Returns whether a key of the right length may be used, in constant time.
    fn takes_key(&self, _key: &[u8]) -> bool {
        true
    }

    /// Adds the mode's own key material. The round keys for encryption with [`Mode::aes_key`] have been computed.
    fn expand_key(&self, _backend: Backend, _key: &[u8], _material: &mut Material) {}

    /// Adds the mode's own key material of several keys, at most [`GROUP`](crate::primitives::aes::GROUP).
    fn expand_keys(&self, backend: Backend, pairs: &mut [(&[u8], &mut Material)]) {
        for (key, material) in pairs {
            self.expand_key(backend, key, material);
        }
    }

    /// Encrypts the messages, and leaves in each its tag.
    fn seal(&self, batch: &mut Batch<'_, '_, '_>);

    /// Decrypts the messages, and leaves in each the tag that it should have. The caller compares the tags.
    fn open(&self, batch: &mut Batch<'_, '_, '_>);

    /// Returns how one direction processes flights in columns, unless it takes messages only.
    fn flights(&self, _opens: bool) -> Option<Flights> {
        None
    }
}
