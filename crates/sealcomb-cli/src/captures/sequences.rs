//! Which sequence numbers each key has used, so that no later run uses them again.
//!
//! A folder of the user holds one file for each key, named by the key's fingerprint: copies of an SA file, links to it
//! and other files with its keys all lead to the same numbers. A run reserves numbers before it seals packets under
//! them, and a reservation is on the disk before any such packet is: a run that is killed has used up what it
//! reserved. Locks let one run at a time have a key.
//!
//! The folder is the user's state folder or one that the user names. With a named folder the numbers are kept in the
//! user's state folder too, where that is possible: a run with the one never repeats numbers of a run with the other.

mod file;
mod folder;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use sealcomb_numbers::Fingerprint;

use folder::Folder;

/// Numbers that are reserved at once: a run writes a key's file as often as it seals this many packets, and loses at
/// most as many if it is killed.
const RESERVED: u64 = 1 << 16;

/// What to do where numbers cannot be kept.
const ADVICE: &str = "sealcomb keeps the numbers that each key has used in a folder, so that none comes twice; name a \
    folder of your own with --state DIR, or number the packets yourself with --start-sequence N (macsec: --start-pn N)";

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

/// The file that the keys come from.
#[derive(Clone, Copy)]
pub(crate) struct KeyFile<'a> {
    pub(crate) path: &'a Path,
    /// Whether it says that its keys are no secret.
    pub(crate) is_public: bool,
}

/// The sequence numbers that keys have used, while this run alone may use new ones.
pub(crate) struct Sequences {
    folders: Vec<Folder>,
    /// The last number of each key, which no run may use again. A reserved one counts as used.
    last: BTreeMap<Fingerprint, u64>,
    /// They end with it.
    _locks: Vec<File>,
}

impl Sequences {
    /// Takes the numbers of `keys` for this run, in the folder `named` or else in the user's state folder. If another
    /// run has one of them, `waiting` is called, and this one goes on when that has ended.
    pub(crate) fn open(
        named: Option<&Path>,
        file: KeyFile<'_>,
        keys: &[Fingerprint],
        waiting: impl FnOnce(&Path),
    ) -> Result<Self> {
        if !file.is_public {
            refuse_keys_of_others(file.path)?;
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
        // Before there was one folder for all, numbers were kept beside the file with the keys.
        if let Some(beside) = beside(file.path) {
            merge(&mut last, &file::read_earlier(&beside)?);
        }
        last.retain(|key, _| keys.contains(key));
        Ok(Self { folders, last, _locks: locks })
    }

    /// The last number that a key has used, `None` if it has used none.
    pub(crate) fn last(&self, key: Fingerprint) -> Option<u64> {
        self.last.get(&key).copied()
    }

    /// Makes sure that no other run will use a number up to one that is wanted.
    pub(crate) fn reserve(&mut self, wanted: impl Iterator<Item = Wanted>) -> Result<()> {
        let mut reserved = BTreeMap::new();
        for Wanted { fingerprint, number, last: most } in wanted {
            if self.last(fingerprint).is_none_or(|last| last < number) {
                reserved.insert(fingerprint, number.saturating_add(RESERVED).min(most));
            }
        }
        self.write(reserved)
    }

    /// Gives back what was reserved beyond the numbers that this run has used.
    pub(crate) fn settle(&mut self, used: impl Iterator<Item = Used>) -> Result<()> {
        self.write(used.map(|Used { fingerprint, last, .. }| (fingerprint, last)).collect())
    }

    /// They are on the disk when this returns.
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
        last.entry(*key).and_modify(|last| *last = (*number).max(*last)).or_insert(*number);
    }
}

/// Those that numbers are kept in, and those that only tell what was used.
fn folders(named: Option<&Path>) -> Result<(Vec<Folder>, Vec<Folder>)> {
    let of_user = folder::of_user();
    let Some(named) = named else {
        let path = of_user.ok_or_else(|| anyhow!("there is no home folder: {ADVICE}"))?;
        return Ok((vec![Folder::prepare(&path)?], vec![]));
    };
    let mut kept = vec![Folder::prepare(named)?];
    let mut unwritable = Vec::new();
    if let Some(path) = of_user {
        match Folder::prepare(&path) {
            Ok(folder) if folder.path() == kept[0].path() => {}
            Ok(folder) if folder.is_writable() => kept.push(folder),
            Ok(folder) => unwritable.push(folder),
            Err(_) => {}
        }
    }
    Ok((kept, unwritable))
}

/// Whose file it is may use its keys too, with numbers that this user cannot see.
#[cfg(unix)]
fn refuse_keys_of_others(path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).map_err(|error| unkept(path, &error))?;
    let user = nix::unistd::geteuid().as_raw();
    if metadata.is_file() && metadata.uid() != user {
        bail!(
            "{}: it belongs to user {}, who may use its keys too, and this is user {user}: each user has numbers of \
             their own, so some would come twice; take keys of your own, or number the packets yourself with \
             --start-sequence N (macsec: --start-pn N)",
            path.display(),
            metadata.uid()
        );
    }
    Ok(())
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn refuse_keys_of_others(_: &Path) -> Result<()> {
    Ok(())
}

/// Where an earlier version kept the numbers of a file with keys.
fn beside(keys: &Path) -> Option<PathBuf> {
    let path = keys.canonicalize().ok().filter(|path| path.is_file())?;
    let mut path = path.into_os_string();
    path.push(".sequence");
    Some(path.into())
}

fn unkept(path: &Path, why: &dyn std::fmt::Display) -> anyhow::Error {
    anyhow!("{}: cannot be kept ({why}): {ADVICE}", path.display())
}
