//! State files: JSON that maps fingerprints of keys to the last number used under each.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use sealcomb_numbers::Fingerprint;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::not_read;

const ABOUT: &str = "The last sequence or packet number used under each key, by fingerprint of the key. sealcomb \
    continues after it. If this file is lost or replaced by an older copy, nonces repeat, which reveals plaintexts: \
    use new keys in that case.";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    about: String,
    /// The last numbers, by fingerprint in hex.
    last: BTreeMap<String, u64>,
}

/// Reads a state file. Returns `None` only if the file does not exist. Damaged files, and paths that are not regular
/// files, such as dangling links, are errors.
pub(super) fn read(path: &Path) -> Result<Option<BTreeMap<Fingerprint, u64>>> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(not_read(path, &error.kind())),
        Ok(metadata) => metadata,
    };
    if !metadata.is_file() {
        return Err(not_read(path, &"not a regular file"));
    }
    if let Some(why) = distrust(&metadata) {
        return Err(not_read(path, &why));
    }
    let text = fs::read_to_string(path).map_err(|error| not_read(path, &error.kind()))?;
    let damaged = || format!("{}: damaged, or not a state file of sealcomb; use new keys", path.display());
    let contents: Contents = serde_json::from_str(&text).with_context(damaged)?;
    let mut last = BTreeMap::new();
    for (name, number) in contents.last {
        let mut fingerprint = [0; 16];
        hex::decode_to_slice(&name, &mut fingerprint).with_context(damaged)?;
        last.insert(Fingerprint(fingerprint), number);
    }
    Ok(Some(last))
}

/// Reads a state file of an early version, which can be a symbolic link. Empty if the file does not exist.
pub(super) fn read_earlier(path: &Path) -> Result<BTreeMap<Fingerprint, u64>> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Ok(read(&path)?.unwrap_or_default())
}

/// Reads the number in the state file of one key; `None` if the file does not exist. A file that does not contain
/// exactly this key's number is an error.
pub(super) fn read_one(path: &Path, key: Fingerprint) -> Result<Option<u64>> {
    let Some(last) = read(path)? else { return Ok(None) };
    match (last.get(&key), last.len()) {
        (Some(number), 1) => Ok(Some(*number)),
        _ => bail!("{}: damaged, or not the state file of this key; use new keys", path.display()),
    }
}

/// What makes changes of files last. The order of the calls decides what a crash of the machine leaves.
pub(super) trait Disk {
    /// Flushes a file's content to disk.
    fn sync_file(&self, file: &File) -> io::Result<()>;
    /// Gives a file its name, in place of another one that has it.
    fn rename(&self, file: NamedTempFile, path: &Path) -> io::Result<()>;
    /// Flushes a directory's entries to disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// The disk of this machine.
pub(super) struct System;

impl Disk for System {
    fn sync_file(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, file: NamedTempFile, path: &Path) -> io::Result<()> {
        file.persist(path)?;
        Ok(())
    }

    /// Other systems than Unix cannot open directories as files.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }
}

/// Replaces the state file of one key. Its content is on disk when this returns; its directory entry is on disk only
/// after [`Disk::sync_folder`].
pub(super) fn replace(
    disk: &impl Disk,
    path: &Path,
    folder: &Path,
    key: Fingerprint,
    number: u64,
) -> io::Result<()> {
    let contents = Contents { about: ABOUT.into(), last: BTreeMap::from([(hex::encode(key.0), number)]) };
    let text = serde_json::to_string_pretty(&contents)? + "\n";
    let mut file = NamedTempFile::with_prefix_in(".sealcomb-", folder)?;
    file.write_all(text.as_bytes())?;
    disk.sync_file(file.as_file())?;
    disk.rename(file, path)
}

/// Returns the reason why another user can change a file or directory; `None` if no other user can.
#[cfg(unix)]
pub(super) fn distrust(metadata: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let user = nix::unistd::geteuid().as_raw();
    if metadata.uid() != user {
        return Some(format!("owned by user {}, but this is user {user}", metadata.uid()));
    }
    (metadata.mode() & 0o022 != 0).then(|| "other users can write it; run chmod go-w".into())
}

#[cfg(not(unix))]
pub(super) fn distrust(_: &Metadata) -> Option<String> {
    None
}
