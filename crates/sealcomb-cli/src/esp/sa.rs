//! Security associations as an SA file describes them.

use anyhow::Result;
use hmac::{Hmac, KeyInit};
use ipnet::IpNet;
use sealcomb::Key;
use sealcomb_esp::{Auth, Fingerprint, Suite, Tunnel};

/// What two ends agree on for one direction of traffic (RFC 4301, section 4.4.2).
pub(crate) struct Sa {
    pub(crate) spi: u32,
    pub(crate) tunnel: Tunnel,
    /// Inner destinations that it protects; `None` for all.
    pub(crate) selector: Option<IpNet>,
    pub(crate) suite: Suite,
    /// Of the cipher's key.
    pub(crate) fingerprint: Fingerprint,
    /// Whether sequence numbers have 64 bits, of which packets carry the low 32 (RFC 4303, section 2.2.1).
    pub(crate) extended: bool,
    /// The first sequence number to send, 1 or more.
    pub(crate) first: u64,
    /// Sequence numbers that the receiver looks back on.
    pub(crate) window: usize,
}

impl Sa {
    /// The last sequence number; after it the association needs a new key.
    pub(crate) fn last(&self) -> u64 {
        if self.extended { u64::MAX } else { u32::MAX.into() }
    }
    /// An association of the same kind to measure with, whose keys nobody else has: numbers may come again under it.
    pub(crate) fn throwaway(&self) -> Result<Self> {
        let suite = match &self.suite {
            Suite::Aead { key, salt } => Suite::Aead { key: another(key)?, salt: salt.clone() },
            Suite::Cbc { key, auth } => Suite::Cbc { key: another(key)?, auth: another_auth(auth)? },
            Suite::Ctr { key, nonce, auth } => {
                Suite::Ctr { key: another(key)?, nonce: *nonce, auth: another_auth(auth)? }
            }
        };
        Ok(Self { suite, first: 1, ..*self })
    }
}

/// A random key of the same algorithm and tag.
fn another(key: &Key) -> Result<Key> {
    let algorithm = key.algorithm();
    let mut bytes = vec![0; algorithm.key_bytes];
    sealcomb_random::fill(&mut bytes)?;
    let another = Key::new(algorithm, &bytes)?;
    Ok(if another.tag_bytes() == key.tag_bytes() {
        another
    } else {
        another.with_tag_bytes(key.tag_bytes())?
    })
}

fn another_auth(auth: &Auth) -> Result<Auth> {
    Ok(match auth {
        Auth::AesCmac(key) => Auth::AesCmac(Box::new(another(key)?)),
        Auth::HmacSha256(_) => {
            let mut key = [0; 32];
            sealcomb_random::fill(&mut key)?;
            Auth::HmacSha256(Box::new(Hmac::new_from_slice(&key)?))
        }
    })
}
