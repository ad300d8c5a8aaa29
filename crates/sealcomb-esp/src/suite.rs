//! Cipher suites with their keys.

use hmac::Hmac;
use sealcomb::Key;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::packet::Layout;

/// The algorithms that encrypt and authenticate packets, with their keys. All keys are zeroized on drop.
pub enum Suite {
    /// AES-GCM (RFC 4106) or AES-CCM (RFC 4309). The nonce is the salt followed by the packet's 8-byte IV.
    Aead {
        /// The AEAD key. Its tag is the packet's ICV.
        key: Key,
        /// The salt: 4 bytes for GCM, 3 for CCM.
        salt: Zeroizing<Vec<u8>>,
    },
    /// AES-CBC (RFC 3602). The IV is an unpredictable block.
    Cbc {
        /// The encryption key.
        key: Key,
        /// The integrity algorithm.
        auth: Auth,
    },
    /// AES-CTR (RFC 3686). The counter block is the nonce, the packet's 8-byte IV and a 32-bit counter that starts at
    /// 1.
    Ctr {
        /// The encryption key.
        key: Key,
        /// The first 4 bytes of each counter block.
        nonce: [u8; 4],
        /// The integrity algorithm.
        auth: Auth,
    },
}

/// The integrity algorithm of a suite whose cipher only encrypts.
pub enum Auth {
    /// HMAC-SHA-256-128 (RFC 4868).
    HmacSha256(Box<Hmac<Sha256>>),
    /// AES-CMAC. The ICV is as long as the key's tag: 12 bytes for AES-CMAC-96 (RFC 4494).
    AesCmac(Box<Key>),
}

impl Auth {
    /// Size of the ICV in bytes.
    pub(crate) fn icv_bytes(&self) -> usize {
        match self {
            Self::HmacSha256(_) => 16,
            Self::AesCmac(key) => key.tag_bytes(),
        }
    }
}

impl Suite {
    /// Returns the sizes and offsets of the parts of this suite's packets.
    pub fn layout(&self) -> Layout {
        let is_cbc = matches!(self, Self::Cbc { .. });
        let icv = match self {
            Self::Aead { key, .. } => key.tag_bytes(),
            Self::Cbc { auth, .. } | Self::Ctr { auth, .. } => auth.icv_bytes(),
        };
        // The body is aligned to the cipher's block, or to the 4 bytes of RFC 4303, section 2.4.
        Layout { iv: if is_cbc { 16 } else { 8 }, icv, alignment: if is_cbc { 16 } else { 4 } }
    }

    /// The separate integrity algorithm; `None` for combined modes.
    pub(crate) fn auth(&self) -> Option<&Auth> {
        match self {
            Self::Aead { .. } => None,
            Self::Cbc { auth, .. } | Self::Ctr { auth, .. } => Some(auth),
        }
    }
}
