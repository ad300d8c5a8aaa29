//! The key stream that two KMEs share, like the two ends of a QKD link.
//!
//! ```text
//! names = HKDF-Extract("sealcomb-kme", stream secret)
//! id    = index (5 bytes), key size in bytes (1 byte), first 10 bytes of HKDF-Expand(names, "id" …)
//! key   = HKDF-Expand(names, "key" …)                   …: index, bytes, master SAE, 0, slave SAE
//! ```
//!
//! Real KMEs exchange the IDs of delivered keys and the SAEs that they are for. Here the ID itself is a MAC over the
//! two SAEs: with the stream secret, a KME can verify that an ID was issued for them.

use std::collections::{HashSet, VecDeque};

use hkdf::Hkdf;
use sha2::Sha256;
use uuid::Uuid;
use zeroize::Zeroizing;

const INDEX_BYTES: usize = 5;
/// Offset of the authentication tag in an ID.
const TAG_AT: usize = INDEX_BYTES + 1;

/// A key and its ID.
pub struct NamedKey {
    /// The key ID, a UUID of version 8.
    pub id: Uuid,
    /// The key.
    pub key: Zeroizing<Vec<u8>>,
}

/// The master and slave SAEs of a key.
#[derive(Clone, Copy)]
pub struct Saes<'a> {
    /// The SAE that requested the key.
    pub master: &'a str,
    /// The SAE that the key is shared with.
    pub slave: &'a str,
}

/// The key stream of a KME.
pub struct Stream {
    hkdf: Hkdf<Sha256>,
    next: u64,
}

impl Stream {
    /// Creates a stream from the shared secret. It starts at a random index, so that instances do not issue equal
    /// keys.
    ///
    /// # Panics
    /// If the operating system's random number generator fails.
    pub fn new(secret: &[u8]) -> Self {
        let mut next = [0; 8];
        sealcomb_random::fill(&mut next).expect("the system's random number generator works");
        Self { hkdf: Hkdf::new(Some(b"sealcomb-kme"), secret), next: u64::from_be_bytes(next) }
    }

    /// Issues the next key, of 1 to 255 bytes.
    pub fn issue(&mut self, saes: Saes<'_>, bytes: u8) -> NamedKey {
        let index = self.next.to_be_bytes();
        self.next = self.next.wrapping_add(1);
        let mut head = [0; TAG_AT];
        head[..INDEX_BYTES].copy_from_slice(&index[8 - INDEX_BYTES..]);
        head[INDEX_BYTES] = bytes;
        NamedKey { id: self.id(head, saes), key: self.key(head, saes) }
    }

    /// Returns the key of this ID, or `None` if it was not issued for these SAEs.
    pub fn find(&self, id: Uuid, saes: Saes<'_>) -> Option<NamedKey> {
        let head = *id.as_bytes().first_chunk()?;
        (self.id(head, saes) == id && head[INDEX_BYTES] > 0)
            .then(|| NamedKey { id, key: self.key(head, saes) })
    }

    fn id(&self, head: [u8; TAG_AT], saes: Saes<'_>) -> Uuid {
        let mut id = [0; 16];
        id[..TAG_AT].copy_from_slice(&head);
        self.expand(b"id", head, saes, &mut id[TAG_AT..]);
        uuid::Builder::from_custom_bytes(id).into_uuid()
    }

    fn key(&self, head: [u8; TAG_AT], saes: Saes<'_>) -> Zeroizing<Vec<u8>> {
        let mut key = Zeroizing::new(vec![0; head[INDEX_BYTES].into()]);
        self.expand(b"key", head, saes, &mut key);
        key
    }

    fn expand(&self, label: &[u8], head: [u8; TAG_AT], Saes { master, slave }: Saes<'_>, out: &mut [u8]) {
        let info = [label, &head, master.as_bytes(), &[0], slave.as_bytes()];
        self.hkdf.expand_multi_info(&info, out).expect("at most 255 bytes");
    }
}

/// The IDs of the most recently delivered keys, at most 2^20.
#[derive(Default)]
pub struct Delivered {
    order: VecDeque<Uuid>,
    all: HashSet<Uuid>,
}

impl Delivered {
    const MAX: usize = 1 << 20;

    /// Records a delivery. Returns `false` if the key was delivered before.
    pub fn insert(&mut self, id: Uuid) -> bool {
        if !self.all.insert(id) {
            return false;
        }
        self.order.push_back(id);
        if self.order.len() > Self::MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
        true
    }

    /// Returns whether the key was delivered before.
    pub fn contains(&self, id: Uuid) -> bool {
        self.all.contains(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAES: Saes<'_> = Saes { master: "alice", slave: "bob" };

    #[test]
    fn both_ends_have_the_same_keys() {
        let (mut one, other) = (Stream::new(&[1; 32]), Stream::new(&[1; 32]));
        let mut keys = HashSet::new();
        for bytes in [8, 32, 128] {
            let issued = one.issue(SAES, bytes);
            assert_eq!(other.find(issued.id, SAES).unwrap().key, issued.key);
            assert_eq!(issued.key.len(), usize::from(bytes));
            assert!(keys.insert(issued.key.to_vec()));
        }
    }

    #[test]
    fn an_id_is_valid_only_for_its_two_saes() {
        let mut stream = Stream::new(&[1; 32]);
        let issued = stream.issue(SAES, 32);
        for saes in [Saes { master: "bob", slave: "alice" }, Saes { master: "alic", slave: "ebob" }] {
            assert!(stream.find(issued.id, saes).is_none());
        }
        assert!(stream.find(Uuid::max(), SAES).is_none() && stream.find(Uuid::nil(), SAES).is_none());
        assert!(Stream::new(&[2; 32]).find(issued.id, SAES).is_none(), "another stream");
    }
}
