//! A folder with the numbers of keys, a file for each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use sealcomb_numbers::Fingerprint;

use super::{file, unkept};

/// Where `sealcomb` keeps the state of this user: below `$XDG_STATE_HOME`, or `~/.local/state`.
pub(super) fn of_user() -> Option<PathBuf> {
    // The XDG Base Directory Specification has paths ignored that are not absolute.
    let set = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::home_dir().filter(|home| home.is_absolute());
    Some(set.or_else(|| Some(home()?.join(".local/state")))?.join("sealcomb"))
}

/// A folder that is there and nobody else's.
pub(super) struct Folder {
    /// Without symbolic links.
    path: PathBuf,
    /// What the files hold. Nobody else may change them while this run has its locks.
    last: BTreeMap<Fingerprint, u64>,
}

impl Folder {
    /// Makes the folder if it is not there, for this user alone.
    pub(super) fn prepare(path: &Path) -> Result<Self> {
        let fault = |error: io::Error| unkept(path, &error.kind());
        if path.is_file() {
            bail!(
                "{0}: numbers are kept in a folder, and this is a file; if an earlier version kept numbers in it, \
                 move it into a folder: mkdir -m 700 {0}.d && mv {0} {0}.d/earlier.sequence, then --state {0}.d",
                path.display()
            );
        }
        if path.is_symlink() && !path.exists() {
            return Err(unkept(path, &"it is a symbolic link that leads nowhere"));
        }
        create(path).map_err(fault)?;
        let path = path.canonicalize().map_err(fault)?;
        let metadata = fs::metadata(&path).map_err(|error| unkept(&path, &error.kind()))?;
        if !metadata.is_dir() {
            return Err(unkept(&path, &"it is not a folder"));
        }
        if let Some(why) = file::mistrust(&metadata) {
            return Err(unkept(&path, &why));
        }
        Ok(Self { path, last: BTreeMap::new() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether files can be made in it.
    pub(super) fn is_writable(&self) -> bool {
        tempfile::tempfile_in(&self.path).is_ok()
    }

    /// Reads the files of these keys.
    pub(super) fn read(&mut self, keys: &[Fingerprint]) -> Result<&BTreeMap<Fingerprint, u64>> {
        for key in keys {
            if let Some(number) = file::read_one(&self.file(*key), *key)? {
                self.last.insert(*key, number);
            }
        }
        Ok(&self.last)
    }

    /// Files of an earlier version, which had the numbers of many keys in one.
    pub(super) fn earlier_files(&self) -> Result<Vec<PathBuf>> {
        let listed = || -> io::Result<Vec<PathBuf>> {
            let paths = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.path()));
            let mut paths = paths.collect::<io::Result<Vec<PathBuf>>>()?;
            paths.retain(|path| path.extension().is_some_and(|extension| extension == "sequence"));
            Ok(paths)
        };
        listed().map_err(|error| unkept(&self.path, &error.kind()))
    }

    /// Replaces the files of keys. They are on the disk when this returns.
    pub(super) fn write(&mut self, numbers: &BTreeMap<Fingerprint, u64>) -> Result<()> {
        for (key, number) in numbers {
            let path = self.file(*key);
            // Where locks do nothing, as on some network file systems, another run may have come in between.
            if file::read_one(&path, *key)? != self.last.get(key).copied() {
                return Err(unkept(&path, &"something else changed it during this run"));
            }
            file::replace(&path, &self.path, *key, *number)?;
            self.last.insert(*key, *number);
        }
        file::sync_folder(&self.path).map_err(|error| unkept(&self.path, &error.kind()))
    }

    fn file(&self, key: Fingerprint) -> PathBuf {
        self.path.join(hex::encode(key.0) + ".json")
    }
}

/// Makes a folder and those above it. They are on the disk when this returns.
fn create(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create(parent)?;
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another run was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        created => created?,
    }
    file::sync_folder(parent)
}

/// Locks keys in folders, always in the same order, so that two runs never wait for each other. A lock is a file of
/// its own: a key's file is replaced at each writing, and a lock would go with the old one. Keys share 256 locks,
/// because a process may not have many more files open.
pub(super) fn lock(
    folders: &[Folder],
    keys: &[Fingerprint],
    waiting: impl FnOnce(&Path),
) -> Result<Vec<File>> {
    let mut waiting = Some(waiting);
    let names: BTreeSet<PathBuf> = folders
        .iter()
        .flat_map(|folder| keys.iter().map(|key| folder.path.join(format!("{:02x}.lock", key.0[0]))))
        .collect();
    names
        .iter()
        .map(|name| lock_one(name, &mut waiting).map_err(|error| unkept(name, &error.kind())))
        .collect()
}

fn lock_one(path: &Path, waiting: &mut Option<impl FnOnce(&Path)>) -> io::Result<File> {
    loop {
        // To open a pipe would wait for somebody who reads from it.
        if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                if let Some(waiting) = waiting.take() {
                    waiting(path);
                }
                file.lock()?;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Somebody may have removed or replaced it in between: then others lock another file.
        if is_same(&file, path)? {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        there => Ok(identity(there?) == identity(file.metadata()?)),
    }
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn is_same(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
