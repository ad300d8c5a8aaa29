//! Finds keysets by name: keyset `ids` is the file `ids.json` in a folder, in Tink's JSON.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use sealcomb_columns::Keyset;
use zeroize::Zeroizing;

/// The environment variable that names the folder, unless the setting does.
const VARIABLE: &str = "SEALCOMB_KEYS";
/// The setting that names the folder.
pub(crate) const SETTING: &str = "sealcomb_keys";

/// The size of the largest file that is read as a keyset.
const MAX_BYTES: usize = 1 << 24;

/// Keysets by path, each with the version of the file that it was read from.
type Cache = HashMap<PathBuf, (Version, Arc<Keyset>)>;

/// What changes if a file is replaced or written.
#[derive(PartialEq, Eq)]
struct Version {
    bytes: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: u64,
}

impl Version {
    fn of(file: &fs::Metadata) -> Self {
        Self {
            bytes: file.len(),
            modified: file.modified().ok(),
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(file),
        }
    }
}

/// The keysets of this process. Calls with the same keyset share it, so that DuckDB recognizes equal calls.
static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

/// Returns the folder of the keysets: the setting, or the environment variable if the setting is empty.
///
/// # Errors
/// Neither names a folder.
pub(crate) fn folder(setting: &str) -> Result<PathBuf, String> {
    if !setting.is_empty() {
        return Ok(setting.into());
    }
    std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from).ok_or_else(|| {
        format!("no folder of keysets; SET {SETTING} = 'folder', or set the environment variable {VARIABLE}")
    })
}

/// Returns the keyset with this name. It is read again if its file changes.
///
/// # Errors
/// The name is invalid, the file cannot be read, or its content is not a usable keyset. The error never quotes the file.
pub(crate) fn keyset(folder: &Path, name: &str) -> Result<Arc<Keyset>, String> {
    check(name)?;
    let path = folder.join(format!("{name}.json"));
    let unreadable = |error: std::io::Error| {
        format!("keyset {name:?}: cannot read {} ({error}); store its Tink JSON there", path.display())
    };
    let file = File::open(&path).map_err(unreadable)?;
    let version = Version::of(&file.metadata().map_err(unreadable)?);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((cached, keyset)) = cache.get(&path)
        && *cached == version
    {
        return Ok(keyset.clone());
    }
    // Growing the buffer would leave copies of the key in freed memory.
    let size = usize::try_from(version.bytes).ok().filter(|size| *size <= MAX_BYTES);
    let size = size.ok_or_else(|| {
        format!(
            "keyset {name:?}: {} has more than {MAX_BYTES} bytes; store its Tink JSON there",
            path.display()
        )
    })?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(size + 1));
    file.take(version.bytes + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| {
        format!("keyset {name:?}: {} is not UTF-8 text; store its Tink JSON there", path.display())
    })?;
    let keyset = Keyset::from_tink_json(text).map_err(|error| format!("keyset {name:?}: {error}"))?;
    let keyset = Arc::new(keyset);
    cache.insert(path, (version, keyset.clone()));
    Ok(keyset)
}

/// Rejects names with path separators, for example.
fn check(name: &str) -> Result<(), String> {
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(valid) {
        return Ok(());
    }
    Err(format!(
        "invalid keyset name {name:?}: use letters, digits, '.', '_', '-'; begin with a letter or digit"
    ))
}
