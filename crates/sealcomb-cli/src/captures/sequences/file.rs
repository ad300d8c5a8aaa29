//! A file of numbers: JSON that maps fingerprints of keys to the last number that each has used.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use sealcomb_numbers::Fingerprint;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::unkept;

const ABOUT: &str = "The last sequence or packet number that each key has used, by a fingerprint of the key. sealcomb \
    goes on behind them: if this file is lost, or an old copy of it comes back, nonces come twice and give plaintexts \
    away. Then take new keys.";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    about: String,
    /// By fingerprint in hex.
    last: BTreeMap<String, u64>,
}

/// `None`: there is no file. One that cannot be understood is never taken for that, nor is what is not a file, such as
/// a link that leads nowhere.
pub(super) fn read(path: &Path) -> Result<Option<BTreeMap<Fingerprint, u64>>> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unkept(path, &error.kind())),
        Ok(metadata) => metadata,
    };
    if !metadata.is_file() {
        return Err(unkept(path, &"it is not a regular file"));
    }
    if let Some(why) = mistrust(&metadata) {
        return Err(unkept(path, &why));
    }
    let text = fs::read_to_string(path).map_err(|error| unkept(path, &error.kind()))?;
    let damaged = || format!("{}: not a state file of sealcomb, or damaged; take new keys", path.display());
    let contents: Contents = serde_json::from_str(&text).with_context(damaged)?;
    let mut last = BTreeMap::new();
    for (name, number) in contents.last {
        let mut fingerprint = [0; 16];
        hex::decode_to_slice(&name, &mut fingerprint).with_context(damaged)?;
        last.insert(Fingerprint(fingerprint), number);
    }
    Ok(Some(last))
}

/// What an earlier version kept in a file that may lie behind a symbolic link; nothing if there is none.
pub(super) fn read_earlier(path: &Path) -> Result<BTreeMap<Fingerprint, u64>> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Ok(read(&path)?.unwrap_or_default())
}

/// The number in the file of one key. A file without its key's number was put there by somebody else.
pub(super) fn read_one(path: &Path, key: Fingerprint) -> Result<Option<u64>> {
    let Some(last) = read(path)? else { return Ok(None) };
    match (last.get(&key), last.len()) {
        (Some(number), 1) => Ok(Some(*number)),
        _ => bail!("{}: not this key's state file, or damaged; take new keys", path.display()),
    }
}

/// Replaces the file of one key. Its content is on the disk when this returns, its name when the folder is too.
pub(super) fn replace(path: &Path, folder: &Path, key: Fingerprint, number: u64) -> Result<()> {
    let contents = Contents { about: ABOUT.into(), last: BTreeMap::from([(hex::encode(key.0), number)]) };
    let text = serde_json::to_string_pretty(&contents)? + "\n";
    let written = || -> io::Result<()> {
        let mut file = NamedTempFile::with_prefix_in(".sealcomb-", folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    written().map_err(|error| unkept(path, &error.kind()))
}

/// Why numbers that lie there may be changed by another user, if they may.
#[cfg(unix)]
pub(super) fn mistrust(metadata: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let user = nix::unistd::geteuid().as_raw();
    if metadata.uid() != user {
        return Some(format!("it belongs to user {}, and this is user {user}", metadata.uid()));
    }
    (metadata.mode() & 0o022 != 0).then(|| "others than its owner can write it: chmod go-w".into())
}

#[cfg(not(unix))]
pub(super) fn mistrust(_: &Metadata) -> Option<String> {
    None
}

/// The names in a folder must be on the disk too.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
