//! The state file: which sequence numbers each key has used, so that no later run uses them again.
//!
//! It is JSON, beside the file with the keys unless the user names another place. A run reserves numbers before it seals packets
//! under them, and a reservation is on the disk before any such packet is: a run that is killed has used up what it
//! reserved. A lock file beside it, held as long as the run lasts, lets one run at a time have it.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use sealcomb_numbers::Fingerprint;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// Numbers that are reserved at once: a run writes the file as often as it seals this many packets, and loses at most as
/// many if it is killed.
const RESERVED: u64 = 1 << 16;

const ABOUT: &str = "The last sequence or packet number that each key has used, by a fingerprint of the key. sealcomb goes on \
    behind them: if this file is lost, or an old copy of it comes back, nonces come twice and give plaintexts away. \
    Then take new keys.";

/// What to do where the file cannot be kept.
const ADVICE: &str = "sealcomb keeps the sequence numbers that were used in a file, so that none comes twice under a \
    key; name a place where it can be written with --state FILE, or number the packets yourself with \
    --start-sequence N";

/// The numbers that a run has used under a key.
#[derive(Clone, Copy)]
pub(crate) struct Used {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// A number that a run is about to use.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) number: u64,
    /// The highest that its key may ever use.
    pub(crate) last: u64,
}

/// The file, as it is written.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    about: String,
    /// By fingerprint in hex. A reserved number counts as used.
    last: BTreeMap<String, u64>,
}

/// The sequence numbers that keys have used, while this run alone may use new ones.
pub(crate) struct Sequences {
    path: PathBuf,
    contents: Contents,
    /// Its lock ends with it.
    _lock: File,
}

/// Where the state file of a file with keys is.
pub(crate) fn beside(keys: &Path) -> Result<PathBuf> {
    let fault = || format!("{}: {ADVICE}", keys.display());
    // Two links to one file must find the same state.
    let path = keys.canonicalize().with_context(fault)?;
    if !path.is_file() {
        bail!("{}: nothing can lie beside what is not a regular file: {ADVICE}", keys.display());
    }
    let mut path = path.into_os_string();
    path.push(".sequence");
    Ok(path.into())
}

impl Sequences {
    /// Takes the state file at `path` for this run. If another run has it, `waiting` is called, and this one goes on
    /// when that has ended.
    pub(crate) fn open(path: &Path, waiting: impl FnOnce()) -> Result<Self> {
        // Behind a symbolic link the file that it leads to is replaced, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let lock = lock(&path, waiting).map_err(|error| unkept(&path, &error))?;
        let contents = read(&path)?;
        Ok(Self { path, contents, _lock: lock })
    }

    /// The last number that a key has used, `None` if it has used none.
    pub(crate) fn last(&self, key: Fingerprint) -> Option<u64> {
        self.contents.last.get(&hex::encode(key.0)).copied()
    }

    /// Makes sure that no other run will use a number up to one that is wanted.
    pub(crate) fn reserve(&mut self, wanted: impl Iterator<Item = Wanted>) -> Result<()> {
        let mut is_new = false;
        for Wanted { fingerprint, number, last: most } in wanted {
            if self.last(fingerprint).is_none_or(|last| last < number) {
                self.set(fingerprint, number.saturating_add(RESERVED).min(most));
                is_new = true;
            }
        }
        if is_new { self.write() } else { Ok(()) }
    }

    /// Gives back what was reserved beyond the numbers that this run has used.
    pub(crate) fn settle(&mut self, used: impl Iterator<Item = Used>) -> Result<()> {
        let mut is_new = false;
        for Used { fingerprint, last, .. } in used {
            self.set(fingerprint, last);
            is_new = true;
        }
        if is_new { self.write() } else { Ok(()) }
    }

    fn set(&mut self, key: Fingerprint, number: u64) {
        self.contents.last.insert(hex::encode(key.0), number);
    }

    /// Replaces the file. It is on the disk when this returns.
    fn write(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.contents)? + "\n";
        replace(&self.path, text.as_bytes()).map_err(|error| unkept(&self.path, &error))
    }
}

fn unkept(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("{}: cannot be kept ({}): {ADVICE}", path.display(), error.kind())
}

/// The lock, on a file of its own: the state file is replaced at each writing, and a lock would go with the old one.
fn lock(path: &Path, waiting: impl FnOnce()) -> io::Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = File::options().write(true).create(true).truncate(false).open(name)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            waiting();
            file.lock()?;
        }
        Err(TryLockError::Error(error)) => return Err(error),
    }
    Ok(file)
}

/// A file that is not there has no numbers in it. One that cannot be understood is never taken for empty.
fn read(path: &Path) -> Result<Contents> {
    let last = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
        Err(error) => return Err(unkept(path, &error)),
        Ok(text) => {
            let contents: Contents = serde_json::from_str(&text).with_context(|| {
                format!("{}: not a state file of sealcomb, or damaged; take new keys", path.display())
            })?;
            contents.last
        }
    };
    Ok(Contents { about: ABOUT.into(), last })
}

fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::with_prefix_in(".sealcomb-", folder)?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_folder(folder)
}

/// The new name must be on the disk too.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
