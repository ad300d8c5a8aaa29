//! The key stream that two entities share, as the two ends of a QKD link do.
//!
//! ```text
//! names = HKDF-Extract("sealcomb-kme", stream secret)
//! id    = index (5 bytes), bytes of the key (1 byte), first 10 bytes of HKDF-Expand(names, "id" …)
//! key   = HKDF-Expand(names, "key" …)                   …: index, bytes, master SAE, 0, slave SAE
//! ```
//!
//! A real pair would tell each other which keys have gone to whom. Here the identifier says it: whoever has the stream's
//! secret can tell an identifier that was given out for two SAEs from one that was made up.

use std::collections::{HashSet, VecDeque};

use hkdf::Hkdf;
use sha2::Sha256;
use uuid::Uuid;
use zeroize::Zeroizing;

const INDEX_BYTES: usize = 5;
/// Where the identifier's last part begins.
const TAG_AT: usize = INDEX_BYTES + 1;

/// A key and its name.
pub struct NamedKey {
    /// A UUID of version 8.
    pub id: Uuid,
    /// The key.
    pub key: Zeroizing<Vec<u8>>,
}

/// The master and the slave of a key.
#[derive(Clone, Copy)]
pub struct Saes<'a> {
    /// Who asked for the key.
    pub master: &'a str,
    /// For whom.
    pub slave: &'a str,
}

/// The keys that two entities have in common.
pub struct Stream {
    hkdf: Hkdf<Sha256>,
    next: u64,
}

impl Stream {
    /// Keys from the common secret on, from a place that nobody else is at.
    ///
    /// # Panics
    /// Where the system has no random numbers.
    pub fn new(secret: &[u8]) -> Self {
        let mut next = [0; 8];
        sealcomb_random::fill(&mut next).expect("the system has random numbers");
        Self { hkdf: Hkdf::new(Some(b"sealcomb-kme"), secret), next: u64::from_be_bytes(next) }
    }

    /// The next key, of 1 to 255 bytes.
    pub fn issue(&mut self, saes: Saes<'_>, bytes: u8) -> NamedKey {
        let index = self.next.to_be_bytes();
        self.next = self.next.wrapping_add(1);
        let mut head = [0; TAG_AT];
        head[..INDEX_BYTES].copy_from_slice(&index[8 - INDEX_BYTES..]);
        head[INDEX_BYTES] = bytes;
        NamedKey { id: self.id(head, saes), key: self.key(head, saes) }
    }

    /// The key of this name, if it was issued for these two.
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
        self.hkdf.expand_multi_info(&info, out).expect("255 bytes or fewer");
    }
}

/// Names of keys that were delivered, the latest of them.
#[derive(Default)]
pub struct Delivered {
    order: VecDeque<Uuid>,
    all: HashSet<Uuid>,
}

impl Delivered {
    const REMEMBERED: usize = 1 << 20;

    /// Takes note of a delivery; `false`: it was delivered before.
    pub fn insert(&mut self, id: Uuid) -> bool {
        if !self.all.insert(id) {
            return false;
        }
        self.order.push_back(id);
        if self.order.len() > Self::REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
        true
    }

    /// Whether it was delivered before.
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
    fn a_name_is_good_for_its_two_saes_only() {
        let mut stream = Stream::new(&[1; 32]);
        let issued = stream.issue(SAES, 32);
        for saes in [Saes { master: "bob", slave: "alice" }, Saes { master: "alic", slave: "ebob" }] {
            assert!(stream.find(issued.id, saes).is_none());
        }
        assert!(stream.find(Uuid::max(), SAES).is_none() && stream.find(Uuid::nil(), SAES).is_none());
        assert!(Stream::new(&[2; 32]).find(issued.id, SAES).is_none(), "another stream");
    }
}
