//! Stores the last sequence number used under each key, so that no later run repeats a number.
//!
//! A directory of the user contains one file per key, named after the key's fingerprint. Copies of an SA file, links
//! to it and other files with its keys therefore share their numbers. A run reserves numbers before it uses them, and
//! the reservation is on disk before the first packet is sealed under it. The reserved numbers of a killed run count
//! as used. Locks ensure that only one run at a time uses a key.
//!
//! The directory is one that the user names, or else the first of the user's state directories. The numbers are also
//! stored in the other state directories of the user that are writable, so that runs with and without a named directory
//! or `$XDG_STATE_HOME` never repeat each other's numbers. If one of these exists but cannot be trusted or read, or its
//! disk is full, no other directory replaces it: the numbers in it may be used, or a later run may rely on them.

mod file;
mod folder;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use sealcomb_command::{Classify, Status, with_status};
use sealcomb_numbers::Fingerprint;

use folder::Folder;

/// Numbers per reservation, in addition to those of a burst. A run writes a key's file once per this many packets. It
/// skips at most this many numbers and a burst if it is killed.
const RESERVED: u64 = 1 << 16;

/// What users can do if numbers cannot be stored in a directory that another one replaces.
const REPLACE: &str = "sealcomb stores the last number of each key in a directory, so that no number repeats; choose \
    another directory with --state DIR, or number the packets yourself with --start-sequence N (macsec: --start-pn N)";

/// What users can do if numbers cannot be read or stored and another directory does not help.
const REPAIR: &str = "sealcomb continues after the numbers stored there, so that no number repeats; make it \
    readable and writable by you only, with free space on its disk, or number the packets yourself with \
    --start-sequence N (macsec: --start-pn N)";

/// The range of numbers that a run has used under a key.
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
    /// The highest number that its key can use.
    pub(crate) last: u64,
}

/// The file that contains the keys.
#[derive(Clone, Copy)]
pub(crate) struct KeyFile<'a> {
    pub(crate) path: &'a Path,
    /// Whether it declares its keys public.
    pub(crate) is_public: bool,
}

/// The last numbers of some keys, locked: only this run can use new ones.
pub(crate) struct Sequences {
    folders: Vec<Folder>,
    /// The last number of each key that is used or reserved.
    last: BTreeMap<Fingerprint, u64>,
    /// The last number of each key that earlier runs used or reserved.
    before: BTreeMap<Fingerprint, u64>,
    /// Released on drop.
    _locks: Vec<File>,
}

impl Sequences {
    /// Locks the numbers of `keys` for this run, in the directory `named` and in the user's state directories. If
    /// another run holds one of the locks, calls `waiting` and waits for it.
    pub(crate) fn open(
        named: Option<&Path>,
        file: KeyFile<'_>,
        keys: &[Fingerprint],
        waiting: impl FnOnce(&Path),
    ) -> Result<Self> {
        if !file.is_public {
            refuse_keys_of_others(file.path).or_usage()?;
        }
        let (mut folders, mut unwritable) = folders(named)?;
        let locks = folder::lock(&folders, keys, waiting)?;
        let mut last = BTreeMap::new();
        for folder in folders.iter_mut().chain(&mut unwritable) {
            merge(&mut last, folder.read(keys)?);
            for earlier in folder.earlier_files()? {
                merge(&mut last, &file::read_earlier(&earlier)?);
            }
        }
        // Early versions stored the numbers next to the file that contains the keys.
        if let Some(earlier) = next_to(file.path) {
            merge(&mut last, &file::read_earlier(&earlier)?);
        }
        last.retain(|key, _| keys.contains(key));
        Ok(Self { folders, before: last.clone(), last, _locks: locks })
    }

    /// Returns the last number that was used or reserved under a key; `None` if there is none.
    pub(crate) fn last(&self, key: Fingerprint) -> Option<u64> {
        self.last.get(&key).copied()
    }

    /// Reserves the wanted numbers and those that follow, on disk. No other run will use them.
    pub(crate) fn reserve(&mut self, wanted: impl Iterator<Item = Wanted>) -> Result<()> {
        let mut reserved = BTreeMap::new();
        for Wanted { fingerprint, number, last: max } in wanted {
            if self.last(fingerprint).is_none_or(|last| last < number) {
                raise(&mut reserved, fingerprint, number.saturating_add(RESERVED).min(max));
            }
        }
        self.write(reserved)
    }

    /// Releases the reserved numbers that this run has not used.
    pub(crate) fn settle(&mut self, used: impl Iterator<Item = Used>) -> Result<()> {
        let mut last = self.before.clone();
        for Used { fingerprint, last: number, .. } in used {
            raise(&mut last, fingerprint, number);
        }
        // 0 if no number was ever used: all packets of a burst can be too long for the tunnel.
        let settled = self.last.keys().map(|key| (*key, last.get(key).copied().unwrap_or(0)));
        self.write(settled.filter(|(key, number)| self.last(*key) != Some(*number)).collect())
    }

    /// Writes the numbers to all directories. They are on disk when this returns.
    fn write(&mut self, numbers: BTreeMap<Fingerprint, u64>) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        for folder in &mut self.folders {
            folder.write(&numbers)?;
        }
        self.last.extend(numbers);
        Ok(())
    }
}

fn merge(last: &mut BTreeMap<Fingerprint, u64>, other: &BTreeMap<Fingerprint, u64>) {
    for (key, number) in other {
        raise(last, *key, *number);
    }
}

/// Sets the last number of a key, unless it is higher already. Several associations of a run can have one fingerprint:
/// that of keys that differ only in zero bytes at their ends.
fn raise(last: &mut BTreeMap<Fingerprint, u64>, key: Fingerprint, number: u64) {
    let highest = last.entry(key).or_insert(number);
    *highest = number.max(*highest);
}

/// Returns the directories to read and write, and those to read only.
fn folders(named: Option<&Path>) -> Result<(Vec<Folder>, Vec<Folder>)> {
    let mut others = folder::of_user().into_iter();
    let first = if let Some(named) = named {
        Folder::prepare(named, true)?
    } else {
        let path = others.next().ok_or_else(|| anyhow!("no home directory found: {REPLACE}")).or_usage()?;
        Folder::prepare(&path, false)?
    };
    let (mut writable, mut unwritable) = (vec![first], Vec::new());
    for path in others {
        if folder::is_impossible(&path)? {
            continue;
        }
        // An error ends the run: without the directory's numbers, those of this run could repeat them.
        let folder = Folder::prepare(&path, false)?;
        if writable.iter().any(|other| other.is_same(&folder)) {
            continue;
        }
        if folder.is_writable()? {
            writable.push(folder);
        } else {
            unwritable.push(folder);
        }
    }
    Ok((writable, unwritable))
}

/// Rejects files of other users: their owners can use the keys too, with numbers that are not visible to this user.
#[cfg(unix)]
fn refuse_keys_of_others(path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).with_context(|| path.display().to_string())?;
    let user = nix::unistd::geteuid().as_raw();
    if metadata.is_file() && metadata.uid() != user {
        bail!(
            "{}: owned by user {}, but this is user {user}; if both use its keys, numbers repeat, because each user's \
             are stored separately. Use your own keys, or number the packets yourself with --start-sequence N \
             (macsec: --start-pn N)",
            path.display(),
            metadata.uid()
        );
    }
    Ok(())
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "it can fail on Unix")]
fn refuse_keys_of_others(_: &Path) -> Result<()> {
    Ok(())
}

/// Returns the path at which early versions stored the numbers of a file's keys.
fn next_to(keys: &Path) -> Option<PathBuf> {
    let path = keys.canonicalize().ok().filter(|path| path.is_file())?;
    let mut path = path.into_os_string();
    path.push(".sequence");
    Some(path.into())
}

fn not_stored(path: &Path, why: &dyn std::fmt::Display, advice: &str) -> anyhow::Error {
    let error = anyhow!("{}: cannot store sequence numbers ({why}): {advice}", path.display());
    with_status(Status::Io, error)
}

fn not_read(path: &Path, why: &dyn std::fmt::Display) -> anyhow::Error {
    let error = anyhow!("{}: cannot read sequence numbers ({why}): {REPAIR}", path.display());
    with_status(Status::Io, error)
}
