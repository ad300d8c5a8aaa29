//! Named suites, for peers that negotiate one and derive its keys.

use hmac::{Hmac, KeyInit};
use sealcomb::KeyOptions;
use sealcomb::hazmat;
use zeroize::Zeroizing;

use crate::suite::{Auth, Suite};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Gcm,
    Ccm,
    Cbc,
    Ctr,
}

/// A named choice of algorithms without keys. [`Transform::suite`] adds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transform {
    /// The transform's name, such as `aes256-gcm`.
    pub id: &'static str,
    mode: Mode,
    key_bytes: usize,
}

/// Key size of HMAC-SHA-256-128.
const AUTH_KEY_BYTES: usize = 32;

impl Transform {
    /// All transforms. Every ICV has 16 bytes. CBC and CTR are combined with HMAC-SHA-256-128.
    pub const ALL: [Self; 8] = [
        Self { id: "aes128-gcm", mode: Mode::Gcm, key_bytes: 16 },
        Self { id: "aes256-gcm", mode: Mode::Gcm, key_bytes: 32 },
        Self { id: "aes128-ccm", mode: Mode::Ccm, key_bytes: 16 },
        Self { id: "aes256-ccm", mode: Mode::Ccm, key_bytes: 32 },
        Self { id: "aes128-cbc-hmac-sha256", mode: Mode::Cbc, key_bytes: 16 },
        Self { id: "aes256-cbc-hmac-sha256", mode: Mode::Cbc, key_bytes: 32 },
        Self { id: "aes128-ctr-hmac-sha256", mode: Mode::Ctr, key_bytes: 16 },
        Self { id: "aes256-ctr-hmac-sha256", mode: Mode::Ctr, key_bytes: 32 },
    ];

    /// Returns the transform with this name, or `None` if there is none.
    pub fn by_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|transform| transform.id == id)
    }

    fn salt_bytes(self) -> usize {
        match self.mode {
            Mode::Gcm | Mode::Ctr => 4,
            Mode::Ccm => 3,
            Mode::Cbc => 0,
        }
    }

    /// Returns the size of the key material in bytes: the cipher's key, its salt (RFC 4106, section 8.1) and the
    /// integrity key (RFC 7296, section 2.17), in this order.
    pub fn keymat_bytes(self) -> usize {
        let auth = if matches!(self.mode, Mode::Gcm | Mode::Ccm) { 0 } else { AUTH_KEY_BYTES };
        self.key_bytes + self.salt_bytes() + auth
    }

    /// Returns the suite with these keys. Returns `None` unless `keymat` has [`Transform::keymat_bytes`] bytes, or if
    /// `SEALCOMB_BACKEND` names a backend that is not available.
    pub fn suite(self, keymat: &[u8]) -> Option<Suite> {
        if keymat.len() != self.keymat_bytes() {
            return None;
        }
        let (key, rest) = keymat.split_at(self.key_bytes);
        let (salt, auth) = rest.split_at(self.salt_bytes());
        let mode = match self.mode {
            Mode::Gcm => "gcm",
            Mode::Ccm => "ccm",
            Mode::Cbc => "cbc",
            Mode::Ctr => "ctr",
        };
        let algorithm = hazmat::by_id(&format!("aes{}-{mode}", 8 * self.key_bytes)).ok()?;
        let options = KeyOptions::new();
        // RFC 4309: a salt of 3 bytes, and an IV of 8.
        let options = if self.mode == Mode::Ccm { options.nonce_bytes(11) } else { options };
        let key = options.expand(algorithm, key).ok()?;
        let auth = || Hmac::new_from_slice(auth).map(|hmac| Auth::HmacSha256(Box::new(hmac))).ok();
        Some(match self.mode {
            Mode::Gcm | Mode::Ccm => Suite::Aead { key, salt: Zeroizing::new(salt.to_vec()) },
            Mode::Cbc => Suite::Cbc { key, auth: auth()? },
            Mode::Ctr => Suite::Ctr { key, nonce: salt.try_into().ok()?, auth: auth()? },
        })
    }

    /// Returns the size in bytes of the ESP packet that contains an inner packet of `inner_bytes` bytes.
    pub fn esp_bytes(self, inner_bytes: usize) -> usize {
        self.layout().esp_bytes(inner_bytes)
    }

    /// Returns the sizes and offsets of the parts of this transform's packets.
    pub fn layout(self) -> crate::Layout {
        let is_cbc = self.mode == Mode::Cbc;
        crate::Layout { iv: if is_cbc { 16 } else { 8 }, icv: 16, alignment: if is_cbc { 16 } else { 4 } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transform_has_the_layout_of_its_suite() {
        for transform in Transform::ALL {
            let keymat = vec![7; transform.keymat_bytes()];
            let suite = transform.suite(&keymat).unwrap();
            assert_eq!(suite.layout(), transform.layout(), "{}", transform.id);
            assert_eq!(Transform::by_id(transform.id), Some(transform));
            assert!(transform.suite(&keymat[1..]).is_none());
        }
    }
}
