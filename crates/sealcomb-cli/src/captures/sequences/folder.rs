//! Directories that contain the last numbers of keys, one file per key.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, DirBuilder, File, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use sealcomb_command::{Status, with_status};
use sealcomb_numbers::Fingerprint;

use super::file::{Disk, System};
use super::{REPAIR, REPLACE, file, not_read, not_stored};

/// Returns the user's state directories: `sealcomb` in `$XDG_STATE_HOME`, if that is set, and in `~/.local/state`. A
/// variable that only some of the user's programs have set must not restart the numbers.
pub(super) fn of_user() -> Vec<PathBuf> {
    // The XDG Base Directory Specification requires relative paths to be ignored.
    let set = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let default =
        std::env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".local/state"));
    let folders = set.into_iter().chain(default).filter(|path| path.is_absolute());
    folders.map(|folder| folder.join("sealcomb")).collect()
}

/// A directory that exists and that only this user can write.
pub(super) struct Folder {
    /// Canonical, without symbolic links.
    path: PathBuf,
    metadata: Metadata,
    /// Whether the user named it with `--state`. If not, it is a state directory of the user.
    is_named: bool,
    /// The content of the files. While this run holds its locks, no other run changes them.
    last: BTreeMap<Fingerprint, u64>,
}

impl Folder {
    /// Opens the directory. If it does not exist, creates it with mode 700.
    pub(super) fn prepare(path: &Path, is_named: bool) -> Result<Self> {
        let is_missing = is_missing(path);
        let refused = |path: &Path, why: &dyn Display| {
            if is_missing { not_stored(path, why, REPLACE) } else { not_read(path, why) }
        };
        let fault = |error: io::Error| refused(path, &error.kind());
        if path.is_file() {
            let error = anyhow!(
                "{0}: is a file; expected a directory. If an earlier version stored numbers in it, move it into a \
                 directory: run mkdir -m 700 {0}.d && mv {0} {0}.d/earlier.sequence, then use --state {0}.d",
                path.display()
            );
            return Err(with_status(Status::Io, error));
        }
        if path.is_symlink() && !path.exists() {
            return Err(refused(path, &"dangling symbolic link"));
        }
        create(&System, path).map_err(fault)?;
        let path = path.canonicalize().map_err(fault)?;
        let metadata = fs::metadata(&path).map_err(|error| refused(&path, &error.kind()))?;
        if !metadata.is_dir() {
            return Err(refused(&path, &"not a directory"));
        }
        if let Some(why) = file::distrust(&metadata) {
            return Err(refused(&path, &why));
        }
        Ok(Self { path, metadata, is_named, last: BTreeMap::new() })
    }

    /// Returns whether this is the same directory, which can have several paths because of bind mounts.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.path == other.path || is_same(&self.metadata, &other.metadata)
    }

    /// Returns whether this user may create files in the directory. If that fails for another reason, such as a full
    /// disk, a later run might find it writable, without the numbers of this run: it is an error.
    pub(super) fn is_writable(&self) -> Result<bool> {
        match tempfile::tempfile_in(&self.path) {
            Ok(_) => Ok(true),
            Err(error) if is_lasting(&error) => Ok(false),
            Err(error) => Err(not_stored(&self.path, &error.kind(), REPAIR)),
        }
    }

    /// Returns the error for a file that cannot be written. A named directory does not replace those of the user as
    /// long as they are writable.
    fn not_stored(&self, path: &Path, error: &io::Error) -> anyhow::Error {
        let is_replaceable = self.is_named || matches!(self.is_writable(), Ok(false));
        let advice = if is_replaceable { REPLACE } else { REPAIR };
        not_stored(path, &error.kind(), advice)
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

    /// Returns the files of early versions, which contain the numbers of several keys.
    pub(super) fn earlier_files(&self) -> Result<Vec<PathBuf>> {
        let listed = || -> io::Result<Vec<PathBuf>> {
            let paths = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.path()));
            let mut paths = paths.collect::<io::Result<Vec<PathBuf>>>()?;
            paths.retain(|path| path.extension().is_some_and(|extension| extension == "sequence"));
            Ok(paths)
        };
        listed().map_err(|error| not_read(&self.path, &error.kind()))
    }

    /// Replaces the files of keys. They are on disk when this returns.
    pub(super) fn write(&mut self, numbers: &BTreeMap<Fingerprint, u64>) -> Result<()> {
        self.write_to(&System, numbers)
    }

    fn write_to(&mut self, disk: &impl Disk, numbers: &BTreeMap<Fingerprint, u64>) -> Result<()> {
        for (key, number) in numbers {
            let path = self.file(*key);
            // Detects concurrent runs on file systems without working locks, such as some network file systems.
            if file::read_one(&path, *key)? != self.last.get(key).copied() {
                bail!(
                    "{}: another process changed it during this run, which had locked it; seal again when no other \
                     process uses the key",
                    path.display()
                );
            }
            file::replace(disk, &path, &self.path, *key, *number)
                .map_err(|error| self.not_stored(&path, &error))?;
            self.last.insert(*key, *number);
        }
        disk.sync_folder(&self.path).map_err(|error| self.not_stored(&self.path, &error))
    }

    fn file(&self, key: Fingerprint) -> PathBuf {
        self.path.join(hex::encode(key.0) + ".json")
    }
}

/// Returns whether nothing is at the path. A path that cannot be looked up, or that leads through a dangling link,
/// for example to a volume that is not mounted, is not missing.
fn is_missing(path: &Path) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    let is_absent = |error: io::Error| matches!(error.kind(), NotFound | NotADirectory);
    fs::symlink_metadata(path).is_err_and(is_absent)
        && !path.ancestors().any(|folder| folder.is_symlink() && !folder.exists())
}

/// Returns whether the directory does not exist, and this user may not create it. Creates it if possible. As with
/// [`Folder::is_writable`], another reason is an error.
pub(super) fn is_impossible(path: &Path) -> Result<bool> {
    match create(&System, path) {
        Err(error) if is_missing(path) && is_lasting(&error) => Ok(true),
        Err(error) if is_missing(path) => Err(not_stored(path, &error.kind(), REPAIR)),
        _ => Ok(false),
    }
}

/// Returns whether a directory or a file cannot be created for a reason that does not end by itself.
fn is_lasting(error: &io::Error) -> bool {
    use io::ErrorKind::{
        AlreadyExists, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem, Unsupported,
    };
    // A file in place of a directory exists already.
    matches!(
        error.kind(),
        AlreadyExists | NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem | Unsupported
    )
}

/// Creates a directory and its parents. They are on disk when this returns.
fn create(disk: &impl Disk, path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create(disk, parent)?;
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another run created it in the meantime.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        created => created?,
    }
    disk.sync_folder(parent)
}

/// Locks keys in directories, always in the same order to prevent deadlocks. Locks are separate files: a key's file
/// is replaced by each write, which would invalidate a lock on it. Keys share 256 locks per directory, because
/// processes have a limit on open files.
pub(super) fn lock(
    folders: &[Folder],
    keys: &[Fingerprint],
    waiting: impl FnOnce(&Path),
) -> Result<Vec<File>> {
    let mut waiting = Some(waiting);
    let mut names = BTreeMap::new();
    for folder in folders {
        names.extend(keys.iter().map(|key| (folder.path.join(format!("{:02x}.lock", key.0[0])), folder)));
    }
    names
        .iter()
        .map(|(name, folder)| lock_one(name, &mut waiting).map_err(|error| folder.not_stored(name, &error)))
        .collect()
}

fn lock_one(path: &Path, waiting: &mut Option<impl FnOnce(&Path)>) -> io::Result<File> {
    loop {
        // Opening a named pipe would block until another process reads from it.
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
        // If the file was removed or replaced in the meantime, other runs lock another one.
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
}

/// Returns whether an open file still has this path.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        metadata => Ok(!cfg!(unix) || is_same(&metadata?, &file.metadata()?)),
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::cell::RefCell;
    use std::collections::{HashMap, HashSet};
    use std::os::unix::fs::{FileExt, MetadataExt};

    use tempfile::NamedTempFile;

    use super::*;

    /// A disk that keeps only what was flushed.
    #[derive(Default)]
    struct Fragile {
        /// The contents that were flushed, by inode.
        contents: RefCell<HashMap<u64, Vec<u8>>>,
        /// The directories whose entries have changed since they were flushed.
        changed: RefCell<HashSet<PathBuf>>,
        renames: RefCell<usize>,
    }

    fn contents(file: &File) -> (u64, Vec<u8>) {
        let metadata = file.metadata().unwrap();
        let mut bytes = vec![0; metadata.len() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        (metadata.ino(), bytes)
    }

    impl Disk for Fragile {
        fn sync_file(&self, file: &File) -> io::Result<()> {
            self.contents.borrow_mut().extend([contents(file)]);
            Ok(())
        }

        fn rename(&self, file: NamedTempFile, path: &Path) -> io::Result<()> {
            let (inode, bytes) = contents(file.as_file());
            assert_eq!(self.contents.borrow().get(&inode), Some(&bytes), "a crash leaves an empty file");
            self.changed.borrow_mut().insert(path.parent().unwrap().to_owned());
            *self.renames.borrow_mut() += 1;
            System.rename(file, path)
        }

        fn sync_folder(&self, folder: &Path) -> io::Result<()> {
            self.changed.borrow_mut().remove(folder);
            Ok(())
        }
    }

    #[test]
    fn numbers_are_on_disk_before_they_are_used() {
        let folder = tempfile::tempdir().unwrap();
        let mut folder = Folder::prepare(&folder.path().join("state"), true).unwrap();
        let disk = Fragile::default();
        for round in 1..4 {
            let numbers = (0..3).map(|key| (Fingerprint([key; 16]), round * 100)).collect();
            folder.write_to(&disk, &numbers).unwrap();
            assert_eq!(*disk.renames.borrow() as u64, 3 * round);
            assert!(disk.changed.borrow().is_empty(), "a crash restores the earlier files");
        }
    }

    #[test]
    fn a_directory_that_was_created_is_on_disk() {
        struct Synced(RefCell<Vec<PathBuf>>);
        impl Disk for Synced {
            fn sync_file(&self, _: &File) -> io::Result<()> {
                panic!("there is no file")
            }
            fn rename(&self, _: NamedTempFile, _: &Path) -> io::Result<()> {
                panic!("there is no file")
            }
            fn sync_folder(&self, folder: &Path) -> io::Result<()> {
                self.0.borrow_mut().push(folder.to_owned());
                Ok(())
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let disk = Synced(RefCell::default());
        create(&disk, &folder.path().join("a/b/c")).unwrap();
        let parents = [folder.path().to_owned(), folder.path().join("a"), folder.path().join("a/b")];
        assert_eq!(disk.0.into_inner(), parents);
    }
}
