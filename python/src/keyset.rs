//! Keysets: the keys that open a column, and the one that seals it.

use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use sealcomb::{Algorithm, Key};
use zeroize::Zeroizing;

use crate::arguments::Bytes;
use crate::envelope::{IV, PREFIX, TAG};
use crate::errors::{KeysetError, LimitReached, misuse};
use crate::tink::{self, RawKey, TinkKeyset, Unusable};

/// What a key is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// AES-GCM with random nonces.
    Gcm,
    /// AES-GCM-SIV with random nonces.
    GcmSiv,
    /// AES-SIV, deterministic.
    Siv,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::GcmSiv, Self::Siv, Self::Gcm];

    /// The policy whose primary has this kind of key.
    fn policy(self) -> &'static str {
        match self {
            Self::Gcm => "gcm",
            Self::GcmSiv => "random",
            Self::Siv => "deterministic",
        }
    }

    fn of_policy(policy: &str) -> PyResult<Self> {
        Self::ALL.into_iter().find(|kind| kind.policy() == policy).ok_or_else(|| {
            let [policies @ .., last] = Self::ALL.map(|kind| format!("{:?}", kind.policy()));
            PyValueError::new_err(format!("policy {policy:?}; take {} or {last}", policies.join(", ")))
        })
    }

    /// The library's algorithm for a key of so many bytes.
    fn algorithm(self, key_bytes: usize) -> Option<&'static Algorithm> {
        let id = match (self, key_bytes) {
            (Self::Gcm, 16) => "aes128-gcm",
            (Self::Gcm, 32) => "aes256-gcm",
            (Self::GcmSiv, 16) => "aes128-gcm-siv",
            (Self::GcmSiv, 32) => "aes256-gcm-siv",
            (Self::Siv, 64) => "aes256-siv",
            _ => return None,
        };
        Some(Algorithm::by_id(id).expect("the catalog has it"))
    }

    fn sizes(self) -> &'static str {
        match self {
            Self::Gcm | Self::GcmSiv => "32 bytes (or 16)",
            Self::Siv => "64 bytes",
        }
    }

    /// Bytes of a new key.
    fn new_bytes(self) -> usize {
        match self {
            Self::Gcm | Self::GcmSiv => 32,
            Self::Siv => 64,
        }
    }

    /// Bytes that a sealed value has more than the value.
    pub(crate) fn overhead(self) -> usize {
        match self {
            Self::Gcm | Self::GcmSiv => PREFIX + IV + TAG,
            Self::Siv => PREFIX + TAG,
        }
    }
}

/// A key with what is told of it.
pub(crate) struct NamedKey {
    pub(crate) id: u32,
    pub(crate) kind: Kind,
    pub(crate) key: Key,
    bytes: Zeroizing<Vec<u8>>,
}

impl NamedKey {
    fn new(RawKey { id, kind, bytes }: RawKey) -> PyResult<Self> {
        let Some(algorithm) = kind.algorithm(bytes.len()) else {
            return Err(KeysetError::new_err(format!(
                "key {id} has {} bytes; the policy {} takes keys of {}",
                bytes.len(),
                kind.policy(),
                kind.sizes(),
            )));
        };
        let key = Key::new(algorithm, &bytes).map_err(misuse)?;
        Ok(Self { id, kind, key, bytes })
    }

    /// Counts values that are about to be sealed, where random nonces of 12 bytes are only good for so many.
    pub(crate) fn count(&self, values: u64) -> PyResult<()> {
        if self.kind != Kind::Gcm {
            return Ok(());
        }
        let mut counters = COUNTERS.lock().expect("nobody panics while counting");
        let Counters { hasher, sealed } = &mut *counters;
        let sealed = sealed.entry(hasher.hash_one(&*self.bytes)).or_default();
        let total = sealed.saturating_add(values);
        if total > LIMIT {
            return Err(LimitReached::new_err(format!(
                "key {} has sealed {sealed} values in this process, and with {values} more it would be over 2^32, \
                 where random nonces of AES-GCM begin to repeat; rotate the key, or take the policy \"random\", which \
                 is made for more",
                self.id,
            )));
        }
        *sealed = total;
        Ok(())
    }
}

/// Values that a key may seal with random nonces under AES-GCM (NIST SP 800-38D, 8.3).
const LIMIT: u64 = 1 << 32;

/// How many values each AES-GCM key has sealed in this process, in whatever keysets it is. A keyed hash stands for the
/// key; should two keys ever have the same, they are counted as one.
struct Counters {
    hasher: RandomState,
    sealed: HashMap<u64, u64>,
}

static COUNTERS: LazyLock<Mutex<Counters>> =
    LazyLock::new(|| Mutex::new(Counters { hasher: RandomState::new(), sealed: HashMap::new() }));

/// A primary key, which seals, and others, which open what they had sealed.
#[pyclass(frozen, module = "sealcomb")]
pub(crate) struct Keyset {
    /// The complete keyset, as it was read and as it is written.
    tink: TinkKeyset,
    keys: HashMap<u32, NamedKey>,
    /// Usable keys whose id is also the id of a key in `keys`.
    twins: Vec<NamedKey>,
    unusable: HashMap<u32, Unusable>,
    /// Bytes that every sealed value has more than its value, if all keys agree.
    overhead: Option<usize>,
}

impl Keyset {
    fn new(tink: TinkKeyset) -> PyResult<Self> {
        let primary = tink.primary;
        let (mut keys, mut twins, mut unusable) = (HashMap::new(), Vec::new(), HashMap::new());
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
                        let twin = NamedKey::new(key)?;
                        if twin.kind.overhead() != entry.get().kind.overhead() {
                            return Err(tink::wrong(format!(
                                "two keys have the id {id}, and seal in different forms; leave one"
                            )));
                        }
                        twins.push(twin);
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
                None => format!("the primary is key {primary}, which the keyset doesn't have"),
            }));
        }
        let overhead = keys[&primary].kind.overhead();
        let overhead = keys.values().all(|key| key.kind.overhead() == overhead).then_some(overhead);
        Ok(Self { tink, keys, twins, unusable, overhead })
    }

    pub(crate) fn primary_key(&self) -> &NamedKey {
        &self.keys[&self.tink.primary]
    }

    #[inline]
    pub(crate) fn key(&self, id: u32) -> Option<&NamedKey> {
        self.keys.get(&id)
    }

    /// The other usable keys with this id. Their sealed values have the same layout as those of `key(id)`.
    pub(crate) fn twins(&self, id: u32) -> impl Iterator<Item = &NamedKey> {
        self.twins.iter().filter(move |key| key.id == id)
    }

    pub(crate) fn overhead(&self) -> Option<usize> {
        self.overhead
    }

    /// What to do about a value that was sealed under a key that isn't there.
    pub(crate) fn missing(&self, id: u32) -> String {
        if let Some(reason) = self.unusable.get(&id) {
            format!("key {id}, which {}", reason.describe())
        } else {
            let ids = self.ids().iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            format!("key {id}, which is not in this keyset (it has {ids}): add it to open what it has sealed")
        }
    }

    fn ids(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self.keys.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// A new key, with an id that is not among those taken.
    fn new_key(kind: Kind, taken: impl Fn(u32) -> bool) -> PyResult<RawKey> {
        let mut bytes = Zeroizing::new(vec![0; kind.new_bytes()]);
        sealcomb_random::fill(&mut bytes).map_err(misuse)?;
        loop {
            let id = u32::from_be_bytes(sealcomb_random::array().map_err(misuse)?);
            if id != 0 && !taken(id) {
                return Ok(RawKey { id, kind, bytes });
            }
        }
    }
}

#[pymethods]
impl Keyset {
    #[staticmethod]
    fn from_tink_json(text: &str) -> PyResult<Self> {
        Self::new(TinkKeyset::from_json(text)?)
    }

    #[staticmethod]
    fn from_tink_binary(data: Bytes<'_>) -> PyResult<Self> {
        Self::new(TinkKeyset::from_binary(&data)?)
    }

    #[staticmethod]
    #[pyo3(signature = (keys, primary, policy = "random"))]
    fn from_keys(keys: &Bound<'_, PyMapping>, primary: u32, policy: &str) -> PyResult<Self> {
        let kind = Kind::of_policy(policy)?;
        let mut raw = Vec::new();
        for item in keys.items()? {
            let (id, bytes): (u32, Bound<'_, PyAny>) = item.extract()?;
            let bytes = Zeroizing::new(bytes.extract::<Bytes<'_>>()?.to_vec());
            raw.push(RawKey { id, kind, bytes });
        }
        Self::new(TinkKeyset::new(primary, raw))
    }

    #[staticmethod]
    #[pyo3(signature = (policy = "random"))]
    fn generate(policy: &str) -> PyResult<Self> {
        let key = Self::new_key(Kind::of_policy(policy)?, |_| false)?;
        Self::new(TinkKeyset::new(key.id, vec![key]))
    }

    fn rotated(&self) -> PyResult<Self> {
        let taken = |id| self.tink.ids().any(|other| other == id);
        Self::new(self.tink.with_primary(Self::new_key(self.primary_key().kind, taken)?))
    }

    fn secret_tink_json(&self) -> String {
        self.tink.to_json().to_string()
    }

    #[getter]
    fn primary(&self) -> u32 {
        self.tink.primary
    }

    #[getter]
    fn key_ids(&self) -> Vec<u32> {
        self.ids()
    }

    #[getter]
    fn policy(&self) -> &'static str {
        self.primary_key().kind.policy()
    }

    fn __repr__(&self) -> String {
        let (primary, ids, policy) = (self.tink.primary, self.ids(), self.policy());
        format!("Keyset(primary={primary}, key_ids={ids:?}, policy='{policy}')")
    }

    #[pyo3(signature = (*_args))]
    #[allow(clippy::unused_self)]
    fn __reduce_ex__(&self, _args: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Keyset is not pickled or copied, so that keys stay where they were fetched; send a KeyProvider \
             (keys_from_env, keys_from_file, keys_from_wrapped, or a function of yours), and call it where the data is",
        ))
    }
}

/// The encrypted keyset in a file of Tink's.
#[pyfunction]
pub(crate) fn encrypted_keyset(text: &str) -> PyResult<Option<Vec<u8>>> {
    tink::encrypted_keyset(text)
}
