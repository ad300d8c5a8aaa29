//! The algorithms of keys: what a policy is called, and what a sealed value consists of.

use sealcomb::Algorithm;

use crate::error::Error;

/// The first byte of a sealed value: the version of Tink's format.
pub(crate) const VERSION: u8 = 1;
/// Bytes of the prefix of a sealed value: version and key id.
pub(crate) const PREFIX: usize = 5;
/// Bytes of a tag or synthetic IV.
pub(crate) const TAG: usize = 16;

/// The algorithm of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// AES-GCM with random nonces.
    Gcm,
    /// AES-GCM-SIV with random nonces.
    GcmSiv,
    /// AES-SIV, deterministic.
    Siv,
    /// XAES-256-GCM with random nonces.
    Xaes,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::GcmSiv, Self::Xaes, Self::Siv, Self::Gcm];

    /// The policy of a keyset whose primary has this kind.
    pub(crate) fn policy(self) -> &'static str {
        match self {
            Self::Gcm => "gcm",
            Self::GcmSiv => "random",
            Self::Siv => "deterministic",
            Self::Xaes => "xaes",
        }
    }

    pub(crate) fn of_policy(policy: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|kind| kind.policy() == policy).ok_or_else(|| {
            let [policies @ .., last] = Self::ALL.map(|kind| format!("{:?}", kind.policy()));
            Error::Invalid(format!("unknown policy {policy:?}; use {} or {last}", policies.join(", ")))
        })
    }

    /// The library's algorithm for a key of `key_bytes` bytes, or `None` if there is none.
    pub(crate) fn algorithm(self, key_bytes: usize) -> Option<Algorithm> {
        let id = match (self, key_bytes) {
            (Self::Gcm, 16) => "aes128-gcm",
            (Self::Gcm, 32) => "aes256-gcm",
            (Self::GcmSiv, 16) => "aes128-gcm-siv",
            (Self::GcmSiv, 32) => "aes256-gcm-siv",
            (Self::Siv, 64) => "aes256-siv",
            (Self::Xaes, 32) => "xaes256-gcm",
            _ => return None,
        };
        Some(Algorithm::by_id(id).expect("the catalog has it"))
    }

    /// The supported key sizes, for error messages.
    pub(crate) fn sizes(self) -> &'static str {
        match self {
            Self::Gcm | Self::GcmSiv => "32 bytes (or 16)",
            Self::Siv => "64 bytes",
            Self::Xaes => "32 bytes",
        }
    }

    /// Bytes of a new key.
    pub(crate) fn new_bytes(self) -> usize {
        match self {
            Self::Gcm | Self::GcmSiv | Self::Xaes => 32,
            Self::Siv => 64,
        }
    }

    /// Bytes of a nonce; 0 if there is none.
    pub(crate) fn nonce_bytes(self) -> usize {
        match self {
            Self::Gcm | Self::GcmSiv => 12,
            Self::Siv => 0,
            Self::Xaes => 24,
        }
    }

    /// The bytes that sealing adds to a value.
    pub(crate) fn overhead(self) -> usize {
        PREFIX + self.nonce_bytes() + TAG
    }
}
