//! Keysets: a primary key that seals columns, and keys that open them.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use sealcomb::{Key, KeyOptions};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::kind::{Kind, PREFIX, VERSION};
use crate::tink::{self, RawKey, TinkKeyset, Unusable};

/// A key with its id and kind.
pub(crate) struct NamedKey {
    pub(crate) id: u32,
    pub(crate) kind: Kind,
    pub(crate) key: Key,
    bytes: Zeroizing<Vec<u8>>,
}

impl NamedKey {
    fn new(RawKey { id, kind, bytes }: RawKey) -> Result<Self, Error> {
        let Some(algorithm) = kind.algorithm(bytes.len()) else {
            return Err(Error::KeysetError(format!(
                "key {id} has {} bytes; the policy {} takes keys of {}",
                bytes.len(),
                kind.policy(),
                kind.sizes(),
            )));
        };
        let key = KeyOptions::new().nonce_bytes(kind.nonce_bytes()).expand(algorithm, &bytes)?;
        Ok(Self { id, kind, key, bytes })
    }

    /// The version and key id with which the values that this key seals begin.
    pub(crate) fn prefix(&self) -> [u8; PREFIX] {
        let [a, b, c, d] = self.id.to_be_bytes();
        [VERSION, a, b, c, d]
    }

    /// Counts values before they are sealed, if the algorithm limits the number of values with random nonces.
    ///
    /// # Errors
    /// `LimitReached` if the total would exceed [`LIMIT`]. The values are not counted then.
    pub(crate) fn count(&self, values: u64) -> Result<(), Error> {
        if self.kind != Kind::Gcm {
            return Ok(());
        }
        let mut counters = COUNTERS.lock().expect("nothing panics while counting");
        let Counters { hasher, sealed } = &mut *counters;
        let sealed = sealed.entry(hasher.hash_one(&*self.bytes)).or_default();
        let total = sealed.saturating_add(values);
        if total > LIMIT {
            return Err(Error::LimitReached(format!(
                "key {} has sealed {sealed} values in this process; {values} more would exceed 2^32, the limit of \
                 AES-GCM with random nonces; rotate the key, or use the policy \"random\"",
                self.id,
            )));
        }
        *sealed = total;
        Ok(())
    }
}

/// The maximum number of values that a key may seal under AES-GCM with random nonces (NIST SP 800-38D, 8.3).
const LIMIT: u64 = 1 << 32;

/// The number of values that each AES-GCM key has sealed in this process, across keysets. Keys are identified by a
/// keyed hash. Keys with the same hash would be counted as one, which is safe.
struct Counters {
    hasher: RandomState,
    sealed: HashMap<u64, u64>,
}

static COUNTERS: LazyLock<Mutex<Counters>> =
    LazyLock::new(|| Mutex::new(Counters { hasher: RandomState::new(), sealed: HashMap::new() }));

/// The keys of a column: the primary key seals, and every key opens.
///
/// The format is Tink's. Keys that columns cannot use (disabled, destroyed, or of other types) stay in the keyset. Keys
/// are zeroized on drop.
pub struct Keyset {
    /// The complete keyset, including keys that columns cannot use.
    tink: TinkKeyset,
    keys: HashMap<u32, NamedKey>,
    /// Usable keys with the same id as a key in `keys`.
    duplicates: Vec<NamedKey>,
    unusable: HashMap<u32, Unusable>,
    /// The bytes that sealing adds to a value, if it is the same for all keys.
    overhead: Option<usize>,
}

impl Keyset {
    /// Reads a Tink keyset in JSON, in every variant that Tink accepts.
    ///
    /// # Errors
    /// [`Error::KeysetError`] if it is malformed or encrypted, or columns cannot use its primary key. The error never quotes
    /// the text.
    pub fn from_tink_json(text: &str) -> Result<Self, Error> {
        Self::new(TinkKeyset::from_json(text)?)
    }

    /// Reads a Tink keyset in Protocol Buffers.
    ///
    /// # Errors
    /// Those of [`from_tink_json`](Self::from_tink_json).
    pub fn from_tink_binary(bytes: &[u8]) -> Result<Self, Error> {
        Self::new(TinkKeyset::from_binary(bytes)?)
    }

    /// Creates a keyset from the ids and bytes of keys, all with one policy.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the policy is unknown; [`Error::KeysetError`] if a key has a size other than the policy's, two
    /// keys have the same id, or no key has the id `primary`.
    pub fn from_keys(
        keys: impl IntoIterator<Item = (u32, Zeroizing<Vec<u8>>)>,
        primary: u32,
        policy: &str,
    ) -> Result<Self, Error> {
        let kind = Kind::of_policy(policy)?;
        let keys = keys.into_iter().map(|(id, bytes)| RawKey { id, kind, bytes }).collect();
        Self::new(TinkKeyset::new(primary, keys))
    }

    /// Generates a keyset with one random key. The policies are `random`, `xaes`, `deterministic` and `gcm`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the policy is unknown; [`Error::Random`] if the operating system provides no random bytes.
    pub fn generate(policy: &str) -> Result<Self, Error> {
        let key = Self::new_key(Kind::of_policy(policy)?, |_| false)?;
        Self::new(TinkKeyset::new(key.id, vec![key]))
    }

    /// Returns a keyset with a new random primary key, of the policy of the old one, in addition to the existing keys.
    ///
    /// # Errors
    /// [`Error::Random`] if the operating system provides no random bytes.
    pub fn rotated(&self) -> Result<Self, Error> {
        let taken = |id| self.tink.ids().any(|other| other == id);
        Self::new(self.tink.with_primary(Self::new_key(self.primary_key().kind, taken)?))
    }

    /// Writes the keyset in Tink's JSON, **including its secret keys**.
    pub fn secret_tink_json(&self) -> Zeroizing<String> {
        self.tink.to_json()
    }

    /// The id of the key that seals.
    pub fn primary(&self) -> u32 {
        self.tink.primary
    }

    /// The bytes with which every value that the primary key seals begins: the version of Tink's format, and the key id,
    /// big-endian.
    pub fn prefix(&self) -> [u8; PREFIX] {
        self.primary_key().prefix()
    }

    /// The policy of the primary key.
    pub fn policy(&self) -> &'static str {
        self.primary_key().kind.policy()
    }

    fn new(tink: TinkKeyset) -> Result<Self, Error> {
        let primary = tink.primary;
        let (mut keys, mut duplicates, mut unusable) = (HashMap::new(), Vec::new(), HashMap::new());
        for key in tink.usable() {
            match key? {
                (id, Err(reason)) => {
                    // If two unusable keys share an id, errors describe the enabled one.
                    if !reason.is_off() || !unusable.contains_key(&id) {
                        unusable.insert(id, reason);
                    }
                }
                (id, Ok(key)) => match keys.entry(id) {
                    Entry::Vacant(entry) => {
                        entry.insert(NamedKey::new(key)?);
                    }
                    Entry::Occupied(entry) => {
                        let duplicate = NamedKey::new(key)?;
                        if duplicate.kind.overhead() != entry.get().kind.overhead() {
                            return Err(tink::wrong(format!(
                                "two keys have the id {id} and different formats; remove one"
                            )));
                        }
                        duplicates.push(duplicate);
                    }
                },
            }
        }
        if !keys.contains_key(&primary) {
            return Err(tink::wrong(match unusable.get(&primary) {
                Some(Unusable::Disabled) => {
                    format!(
                        "the primary key {primary} is disabled; enable it, or make another key the primary"
                    )
                }
                Some(Unusable::Destroyed) => {
                    format!("the primary key {primary} is destroyed; make another key the primary")
                }
                Some(reason) => format!("the primary key {primary} {}", reason.describe()),
                None => format!("the primary key {primary} is not in the keyset"),
            }));
        }
        let overhead = keys[&primary].kind.overhead();
        let overhead = keys.values().all(|key| key.kind.overhead() == overhead).then_some(overhead);
        Ok(Self { tink, keys, duplicates, unusable, overhead })
    }

    pub(crate) fn primary_key(&self) -> &NamedKey {
        &self.keys[&self.tink.primary]
    }

    #[inline]
    pub(crate) fn key(&self, id: u32) -> Option<&NamedKey> {
        self.keys.get(&id)
    }

    /// The usable keys with this id other than `key(id)`. Their sealed values have the same layout.
    pub(crate) fn duplicates(&self, id: u32) -> impl Iterator<Item = &NamedKey> {
        self.duplicates.iter().filter(move |key| key.id == id)
    }

    pub(crate) fn overhead(&self) -> Option<usize> {
        self.overhead
    }

    /// Describes a key that the keyset does not have or cannot use, and what to do. Completes a sentence.
    pub(crate) fn missing(&self, id: u32) -> String {
        if let Some(reason) = self.unusable.get(&id) {
            format!("key {id}, which {}", reason.describe())
        } else {
            let ids = self.ids().iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            format!("key {id}, which is not in this keyset (it has {ids}): add it to open the value")
        }
    }

    /// The ids of the keys that columns can use, in ascending order.
    pub fn ids(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self.keys.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// Creates a random key with an id other than 0 for which `taken` returns false.
    fn new_key(kind: Kind, taken: impl Fn(u32) -> bool) -> Result<RawKey, Error> {
        let mut bytes = Zeroizing::new(vec![0; kind.new_bytes()]);
        sealcomb_random::fill(&mut bytes)?;
        loop {
            let id = u32::from_be_bytes(sealcomb_random::array()?);
            if id != 0 && !taken(id) {
                return Ok(RawKey { id, kind, bytes });
            }
        }
    }
}

/// Shows ids and the policy, but no key.
impl fmt::Debug for Keyset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyset")
            .field("primary", &self.primary())
            .field("ids", &self.ids())
            .field("policy", &self.policy())
            .finish_non_exhaustive()
    }
}
