//! Security associations from an SA file.

use anyhow::Result;
use hmac::{Hmac, KeyInit};
use ipnet::IpNet;
use sealcomb::{Key, KeyOptions};
use sealcomb_esp::{Auth, Fingerprint, Suite, Tunnel};

/// A security association: the parameters of one direction of traffic between two peers (RFC 4301, section 4.4.2).
pub(crate) struct Sa {
    pub(crate) spi: u32,
    pub(crate) tunnel: Tunnel,
    /// The inner destinations that the association protects; `None` for all.
    pub(crate) selector: Option<IpNet>,
    pub(crate) suite: Suite,
    /// The fingerprint of the encryption key.
    pub(crate) fingerprint: Fingerprint,
    /// Whether sequence numbers have 64 bits, of which packets carry the low 32 (RFC 4303, section 2.2.1).
    pub(crate) extended: bool,
    /// The sender's first sequence number, at least 1.
    pub(crate) first: u64,
    /// Size of the receiver's anti-replay window.
    pub(crate) window: usize,
}

impl Sa {
    /// Returns the highest sequence number, after which the association needs a new key.
    pub(crate) fn last(&self) -> u64 {
        if self.extended { u64::MAX } else { u32::MAX.into() }
    }

    /// Returns this association with random keys, for measurements. Sequence numbers may repeat under them.
    pub(crate) fn throwaway(&self) -> Result<Self> {
        let suite = match &self.suite {
            Suite::Aead { key, salt } => Suite::Aead { key: random_key(key)?, salt: salt.clone() },
            Suite::Cbc { key, auth } => Suite::Cbc { key: random_key(key)?, auth: random_auth(auth)? },
            Suite::Ctr { key, nonce, auth } => {
                Suite::Ctr { key: random_key(key)?, nonce: *nonce, auth: random_auth(auth)? }
            }
        };
        Ok(Self { suite, first: 1, ..*self })
    }
}

/// Returns a random key with the algorithm and the lengths of `key`.
fn random_key(key: &Key) -> Result<Key> {
    let algorithm = key.algorithm();
    let mut bytes = vec![0; algorithm.key_bytes()];
    sealcomb_random::fill(&mut bytes)?;
    let options = KeyOptions::new().short_tag_bytes(key.tag_bytes());
    let options = key.nonce_bytes().map_or(options.any_nonce_bytes(), |bytes| options.nonce_bytes(bytes));
    Ok(options.expand(algorithm, &bytes)?)
}

fn random_auth(auth: &Auth) -> Result<Auth> {
    Ok(match auth {
        Auth::AesCmac(key) => Auth::AesCmac(Box::new(random_key(key)?)),
        Auth::HmacSha256(_) => {
            let mut key = [0; 32];
            sealcomb_random::fill(&mut key)?;
            Auth::HmacSha256(Box::new(Hmac::new_from_slice(&key)?))
        }
    })
}
