//! From what two ends share to the keys of their associations.
//!
//! ```text
//! root        = HKDF-Extract("sealcomb-link 2", control key)
//! control[e]  = HKDF-Expand(root, "control " e, 32)                 e: the end that sends, "master" or "slave"
//! mix         = HKDF-Expand(root, "mix", 32)
//!
//! epoch       = HKDF-Extract(mix, key of the source)
//! context     = suite, 0, esn (0 or 1), boot of the master, boot of the slave, epoch (8 bytes),
//!               nonce of the master, nonce of the slave, SPI of the master, SPI of the slave, key id
//! keymat[e]   = HKDF-Expand(epoch, "keys of " e, 0, context)
//! proof[m]    = HKDF-Expand(epoch, "proof of " m, 0, context)       m: "offer", "accept", "confirm" or "done"
//! ```
//!
//! When the master makes an offer, the slave has not chosen its nonce and SPI: they are zeros in the proof of the offer.
//!
//! HKDF is that of RFC 5869 over SHA-256. Both nonces are new with each exchange: whatever the source gives, even the same
//! key again, the keys of an association have never been there before. An SPI is that of the end that receives under it.

use hkdf::Hkdf;
use sealcomb_esp::{Suite, Transform};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::config::Role;

/// 32 bytes that are wiped.
pub type Secret = Zeroizing<[u8; 32]>;

/// What follows from the control key alone.
pub struct Root(Hkdf<Sha256>);

impl Root {
    /// Of a control key.
    pub fn new(control_key: &[u8]) -> Self {
        Self(Hkdf::new(Some(b"sealcomb-link 2"), control_key))
    }

    /// The key of the HMAC of messages that this end sends.
    pub fn control(&self, sender: Role) -> Secret {
        self.expand(&[b"control ", sender.name().as_bytes()])
    }

    fn expand(&self, info: &[&[u8]]) -> Secret {
        let mut secret = Secret::default();
        self.0.expand_multi_info(info, &mut *secret).expect("32 bytes are a length of HKDF's");
        secret
    }
}

/// What two ends have told each other of an epoch. None of it is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Algorithms.
    pub transform: Transform,
    /// Whether sequence numbers have 64 bits.
    pub extended: bool,
    /// Of the master and the slave, new with each start of theirs.
    pub boots: [[u8; 16]; 2],
    /// Counts the keys of a session.
    pub epoch: u64,
    /// Of the master and the slave, new with each exchange.
    pub nonces: [[u8; 32]; 2],
    /// Under which the master and the slave receive.
    pub spis: [u32; 2],
    /// Of the source's key.
    pub key_id: String,
}

impl Context {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend(self.transform.id.as_bytes());
        bytes.extend([0, self.extended.into()]);
        bytes.extend(self.boots.as_flattened());
        bytes.extend(self.epoch.to_be_bytes());
        bytes.extend(self.nonces.as_flattened());
        bytes.extend(self.spis.iter().flat_map(|spi| spi.to_be_bytes()));
        bytes.extend(self.key_id.as_bytes());
        bytes
    }
}

/// A message that proves that its sender has the source's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// From the master, before the slave has chosen its nonce and SPI.
    Offer,
    /// From the slave.
    Accept,
    /// From the master.
    Confirm,
    /// From the slave.
    Done,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Offer => "offer",
            Self::Accept => "accept",
            Self::Confirm => "confirm",
            Self::Done => "done",
        }
    }
}

/// What follows from a source's key.
pub struct Epoch {
    hkdf: Hkdf<Sha256>,
    context: Context,
}

impl Epoch {
    /// Of a key of the source and what was said of its use.
    pub fn new(root: &Root, key: &[u8], context: Context) -> Self {
        let mix = root.expand(&[b"mix"]);
        Self { hkdf: Hkdf::new(Some(&*mix), key), context }
    }

    /// What was said of it.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The suite under which this end sends.
    ///
    /// # Panics
    /// Never: the transform gets as many bytes as it takes.
    pub fn suite(&self, sender: Role) -> Suite {
        let transform = self.context.transform;
        let mut keymat = Zeroizing::new(vec![0; transform.keymat_bytes()]);
        self.expand(b"keys of ", sender.name(), &mut keymat);
        transform.suite(&keymat).expect("as many bytes as it takes")
    }

    /// What a message carries to show that its sender has the key.
    pub fn proof(&self, step: Step) -> Secret {
        let mut proof = Secret::default();
        self.expand(b"proof of ", step.name(), &mut *proof);
        proof
    }

    fn expand(&self, label: &[u8], name: &str, out: &mut [u8]) {
        let info = [label, name.as_bytes(), &[0], &self.context.bytes()];
        self.hkdf.expand_multi_info(&info, out).expect("far fewer bytes than HKDF gives");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        Context {
            transform: Transform::by_id("aes256-gcm").unwrap(),
            extended: true,
            boots: [[1; 16], [2; 16]],
            epoch: 3,
            nonces: [[4; 32], [5; 32]],
            spis: [0x1001, 0x1002],
            key_id: "some key".into(),
        }
    }

    fn proof(key: &[u8], control: &[u8], context: Context) -> [u8; 32] {
        *Epoch::new(&Root::new(control), key, context).proof(Step::Confirm)
    }

    #[test]
    fn everything_that_was_said_is_bound_into_the_keys() {
        let base = proof(&[7; 32], &[8; 32], context());
        assert_eq!(base, proof(&[7; 32], &[8; 32], context()));
        assert_ne!(base, proof(&[6; 32], &[8; 32], context()));
        assert_ne!(base, proof(&[7; 32], &[9; 32], context()));
        let changes: [fn(&mut Context); 9] = [
            |c| c.transform = Transform::by_id("aes128-gcm").unwrap(),
            |c| c.extended = false,
            |c| c.boots.swap(0, 1),
            |c| c.epoch += 1,
            |c| c.nonces[0][31] ^= 1,
            |c| c.nonces[1][0] ^= 1,
            |c| c.spis[0] += 1,
            |c| c.spis.swap(0, 1),
            |c| c.key_id.push(' '),
        ];
        for (i, change) in changes.into_iter().enumerate() {
            let mut other = context();
            change(&mut other);
            assert_ne!(base, proof(&[7; 32], &[8; 32], other), "change {i}");
        }
    }

    #[test]
    fn each_message_has_a_proof_of_its_own() {
        let epoch = Epoch::new(&Root::new(&[8; 32]), &[7; 32], context());
        let steps = [Step::Offer, Step::Accept, Step::Confirm, Step::Done];
        let proofs: std::collections::HashSet<_> = steps.map(|step| *epoch.proof(step)).into();
        assert_eq!(proofs.len(), steps.len());
        let root = Root::new(&[8; 32]);
        assert_ne!(root.control(Role::Master), root.control(Role::Slave));
    }

    /// Python's, of `cryptography`'s HKDF: tests/peer.py derives the same.
    #[test]
    fn the_derivation_never_changes() {
        let root = Root::new(&[8; 32]);
        assert_eq!(hex::encode(*root.control(Role::Master)), CONTROL_OF_THE_MASTER);
        assert_eq!(hex::encode(proof(&[7; 32], &[8; 32], context())), PROOF_OF_CONFIRM);
    }

    const CONTROL_OF_THE_MASTER: &str = "dadc702ea0deb223d5fe2dcc21c80f11bb34cc940afe4dd58da965016c5f35ca";
    const PROOF_OF_CONFIRM: &str = "8c6870509c1350c9fa62331e1067b8c8f94d70a4e22b6b2ce74b21e1bad93589";
}
