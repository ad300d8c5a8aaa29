//! How packets are encrypted and authenticated.

use hmac::Hmac;
use sealcomb::Key;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::packet::Layout;

/// How packets are encrypted and authenticated, with the keys. These are wiped with it.
pub enum Suite {
    /// AES-GCM (RFC 4106) or AES-CCM (RFC 4309): the nonce is this salt and the packet's 8-byte IV.
    Aead {
        /// Of the mode; its tag is the packet's ICV.
        key: Key,
        /// 4 bytes for GCM, 3 for CCM.
        salt: Zeroizing<Vec<u8>>,
    },
    /// AES-CBC (RFC 3602), whose IV is a block that nobody can predict.
    Cbc {
        /// Of the mode.
        key: Key,
        /// The integrity algorithm beside it.
        auth: Auth,
    },
    /// AES-CTR (RFC 3686): the counter block is this nonce, the packet's 8-byte IV and a 32-bit counter from 1.
    Ctr {
        /// Of the mode.
        key: Key,
        /// The first bytes of each counter block.
        nonce: [u8; 4],
        /// The integrity algorithm beside it.
        auth: Auth,
    },
}

/// The integrity algorithm beside a cipher that has none.
pub enum Auth {
    /// HMAC-SHA-256-128 (RFC 4868).
    HmacSha256(Box<Hmac<Sha256>>),
    /// AES-CMAC-96 (RFC 4494).
    AesCmac(Box<Key>),
}

impl Auth {
    /// Bytes of its ICV.
    pub(crate) fn icv_bytes(&self) -> usize {
        match self {
            Self::HmacSha256(_) => 16,
            Self::AesCmac(_) => 12,
        }
    }
}

impl Suite {
    /// Where the parts of its packets lie.
    pub fn layout(&self) -> Layout {
        let is_cbc = matches!(self, Self::Cbc { .. });
        let icv = match self {
            Self::Aead { key, .. } => key.tag_bytes(),
            Self::Cbc { auth, .. } | Self::Ctr { auth, .. } => auth.icv_bytes(),
        };
        // What the body must be a multiple of: the cipher's block, or the 4 bytes of RFC 4303, section 2.4.
        Layout { iv: if is_cbc { 16 } else { 8 }, icv, alignment: if is_cbc { 16 } else { 4 } }
    }

    /// The integrity algorithm, where it is one apart.
    pub(crate) fn auth(&self) -> Option<&Auth> {
        match self {
            Self::Aead { .. } => None,
            Self::Cbc { auth, .. } | Self::Ctr { auth, .. } => Some(auth),
        }
    }
}
