//! Key derivation: from the control key and a key of the source to the keys of two associations.
//!
//! ```text
//! root        = HKDF-Extract("sealcomb-link", control key)
//! control[e]  = HKDF-Expand(root, "control " e, 32)                 e: the sender, "master" or "slave"
//! mix         = HKDF-Expand(root, "mix", 32)
//!
//! epoch       = HKDF-Extract(mix, source key)
//! context     = protocol version (2 bytes), suite, 0, esn (0 or 1), master's boot ID, slave's boot ID,
//!               epoch number (8 bytes), master's nonce, slave's nonce, master's SPI (4 bytes), slave's SPI, key ID
//! keymat[e]   = HKDF-Expand(epoch, "keys of " e, 0, context)
//! proof[m]    = HKDF-Expand(epoch, "proof of " m, 0, context)       m: "offer", "accept", "confirm" or "done"
//! ```
//!
//! The control keys are the same in every protocol version, so that two releases understand each other's `hello`.
//!
//! HKDF is that of RFC 5869 over SHA-256. An end's SPI is the one that it receives under. The slave's nonce and SPI
//! are zero in the proof of an offer, since the slave has not chosen them yet.
//!
//! Both nonces are regenerated for each exchange. The keys of an association are therefore fresh even if the source
//! repeats a key.

use hkdf::Hkdf;
use sealcomb_esp::{Suite, Transform};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::config::Role;

/// A secret of 32 bytes, zeroized on drop.
pub type Secret = Zeroizing<[u8; 32]>;

/// The root of the key schedule, derived from the control key.
pub struct Root(Hkdf<Sha256>);

impl Root {
    /// Derives the root from a control key.
    pub fn new(control_key: &[u8]) -> Self {
        Self(Hkdf::new(Some(b"sealcomb-link"), control_key))
    }

    /// Returns the HMAC key of control messages from `sender`.
    pub fn control(&self, sender: Role) -> Secret {
        self.expand(&[b"control ", sender.name().as_bytes()])
    }

    fn expand(&self, info: &[&[u8]]) -> Secret {
        let mut secret = Secret::default();
        self.0.expand_multi_info(info, &mut *secret).expect("HKDF can output 32 bytes");
        secret
    }
}

/// The public parameters of an exchange, all of which are bound into the derived keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The protocol version in use.
    pub version: u16,
    /// The cipher suite.
    pub transform: Transform,
    /// Whether sequence numbers have 64 bits (ESN).
    pub extended: bool,
    /// The boot IDs of master and slave, regenerated at each start.
    pub boots: [[u8; 16]; 2],
    /// The key epoch.
    pub epoch: u64,
    /// The nonces of master and slave, regenerated for each exchange.
    pub nonces: [[u8; 32]; 2],
    /// The SPIs under which master and slave receive.
    pub spis: [u32; 2],
    /// The source's ID of the key.
    pub key_id: String,
}

impl Context {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend(self.version.to_be_bytes());
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

/// A message that carries a proof of possession of the source key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The master's offer, sent before the slave chooses its nonce and SPI.
    Offer,
    /// The slave's answer to an offer.
    Accept,
    /// The master's confirmation of an accepted offer.
    Confirm,
    /// The slave's answer to a confirmation.
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

/// The key material derived from a source key and a context.
pub struct Epoch {
    hkdf: Hkdf<Sha256>,
    context: Context,
}

impl Epoch {
    /// Derives the key material from a source key and the context of its use.
    pub fn new(root: &Root, key: &[u8], context: Context) -> Self {
        let mix = root.expand(&[b"mix"]);
        Self { hkdf: Hkdf::new(Some(&*mix), key), context }
    }

    /// Returns the context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the keyed suite of the association in which `sender` sends.
    ///
    /// # Panics
    /// Never: the transform receives exactly `keymat_bytes`.
    pub fn suite(&self, sender: Role) -> Suite {
        let transform = self.context.transform;
        let mut keymat = Zeroizing::new(vec![0; transform.keymat_bytes()]);
        self.expand(b"keys of ", sender.name(), &mut keymat);
        transform.suite(&keymat).expect("keymat has the transform's size")
    }

    /// Returns the proof of possession that the message of this step carries.
    pub fn proof(&self, step: Step) -> Secret {
        let mut proof = Secret::default();
        self.expand(b"proof of ", step.name(), &mut *proof);
        proof
    }

    fn expand(&self, label: &[u8], name: &str, out: &mut [u8]) {
        let info = [label, name.as_bytes(), &[0], &self.context.bytes()];
        self.hkdf.expand_multi_info(&info, out).expect("outputs are far below HKDF's limit");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        Context {
            version: 1,
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
    fn the_whole_context_is_bound_into_the_keys() {
        let base = proof(&[7; 32], &[8; 32], context());
        assert_eq!(base, proof(&[7; 32], &[8; 32], context()));
        assert_ne!(base, proof(&[6; 32], &[8; 32], context()));
        assert_ne!(base, proof(&[7; 32], &[9; 32], context()));
        let changes: [fn(&mut Context); 10] = [
            |c| c.version += 1,
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
    fn proofs_and_control_keys_are_distinct() {
        let epoch = Epoch::new(&Root::new(&[8; 32]), &[7; 32], context());
        let steps = [Step::Offer, Step::Accept, Step::Confirm, Step::Done];
        let proofs: std::collections::HashSet<_> = steps.map(|step| *epoch.proof(step)).into();
        assert_eq!(proofs.len(), steps.len());
        let root = Root::new(&[8; 32]);
        assert_ne!(root.control(Role::Master), root.control(Role::Slave));
    }

    /// Holds only with the feature `zeroize` of `sha2`. HKDF consists of HMACs, and these of states of the hash.
    #[test]
    fn states_of_the_hash_are_zeroized() {
        fn check<T: zeroize::ZeroizeOnDrop>() {}
        check::<Sha256>();
    }

    /// The vectors are written by the Python peer.
    #[test]
    fn the_derivation_is_that_of_the_golden_exchange() {
        use crate::control::message::{Codec, Say};

        let vectors: serde_json::Value =
            serde_json::from_str(include_str!("../tests/vectors/control.json")).unwrap();
        let bytes = |value: &serde_json::Value| hex::decode(value.as_str().unwrap()).unwrap();
        let root = Root::new(&bytes(&vectors["control-key"]));
        let read = |role| {
            let codec = Codec::new(&root, role);
            let messages = vectors["messages"].as_array().unwrap();
            messages
                .iter()
                .filter_map(move |golden| codec.read(&bytes(&golden["datagram"])))
                .collect::<Vec<_>>()
        };
        let (mut offered, mut accepted) = (None, None);
        for message in read(Role::Slave) {
            if let Say::Offer(offer) = message.say {
                offered = Some((message.from, message.to, offer));
            }
        }
        for message in read(Role::Master) {
            if let Say::Accept(accept) = message.say {
                accepted = Some(accept);
            }
        }
        let ((master, slave, offer), accept) = (offered.unwrap(), accepted.unwrap());
        let context = Context {
            version: 1,
            transform: Transform::by_id(&offer.suite).unwrap(),
            extended: offer.esn,
            boots: [master.0, slave.0],
            epoch: offer.epoch,
            nonces: [offer.nonce.0, accept.nonce.0],
            spis: [offer.spi, accept.spi],
            key_id: offer.key,
        };
        let unanswered =
            Context { nonces: [offer.nonce.0, [0; 32]], spis: [offer.spi, 0], ..context.clone() };
        let key = bytes(&vectors["source-key"]);
        let epoch = Epoch::new(&root, &key, context);
        for step in [Step::Accept, Step::Confirm, Step::Done] {
            assert_eq!(epoch.proof(step).to_vec(), bytes(&vectors["proofs"][step.name()]), "{step:?}");
        }
        let proof = Epoch::new(&root, &key, unanswered).proof(Step::Offer);
        assert_eq!(proof.to_vec(), bytes(&vectors["proofs"]["offer"]));
        for sender in [Role::Master, Role::Slave] {
            let golden = bytes(&vectors["keymat"][sender.name()]);
            let mut keymat = vec![0; golden.len()];
            epoch.expand(b"keys of ", sender.name(), &mut keymat);
            assert_eq!((keymat.len(), &keymat), (epoch.context.transform.keymat_bytes(), &golden));
        }
    }
}
