//! Finds keysets by name, in Tink's JSON: keyset `ids` is the file `ids.json` in a folder, or the environment variable
//! `SEALCOMB_KEYSET_IDS`.

use std::collections::HashMap;
use std::env;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use sealcomb_columns::Keyset;
use zeroize::Zeroizing;

/// The environment variable that says where keysets are, unless the setting does.
const VARIABLE: &str = "SEALCOMB_KEYS";
/// The setting that says where keysets are.
pub(crate) const SETTING: &str = "sealcomb_keys";
/// The default prefix of the environment variables with keysets.
const PREFIX: &str = "SEALCOMB_KEYSET_";

/// The size of the largest file that is read as a keyset.
const MAX_BYTES: usize = 1 << 24;

/// Keysets by the path of their file, or the name of their variable, each with the version that was read.
type Cache = HashMap<PathBuf, (Version, Arc<Keyset>)>;

/// What changes if a file is replaced or written, or a variable is set.
#[derive(PartialEq, Eq)]
enum Version {
    File(FileVersion),
    Variable(Zeroizing<String>),
}

#[derive(PartialEq, Eq)]
struct FileVersion {
    bytes: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: u64,
}

impl FileVersion {
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

/// Where keysets are.
pub(crate) enum Source {
    Folder(PathBuf),
    /// Environment variables with this prefix.
    Environment(String),
}

impl Source {
    /// Reads the setting, or the environment variable if the setting is empty.
    ///
    /// # Errors
    /// Neither says where keysets are.
    pub(crate) fn of(setting: &str) -> Result<Self, String> {
        let variable = || env::var(VARIABLE).unwrap_or_default();
        let text = if setting.is_empty() { variable() } else { setting.to_owned() };
        match text.split_once(':') {
            Some(("folder", folder)) if !folder.is_empty() => Ok(Self::Folder(folder.into())),
            Some(("env", prefix)) => Ok(Self::Environment(prefix.to_owned())),
            None if text == "env" => Ok(Self::Environment(PREFIX.to_owned())),
            _ => Err(format!(
                "{SETTING} is {text:?}; SET {SETTING} = 'folder:PATH' or 'env', or set the environment variable {VARIABLE} \
                 to one of these"
            )),
        }
    }

    /// Returns the keyset with this name. It is read again if its file or variable changes.
    ///
    /// # Errors
    /// The name is invalid, the file or variable cannot be read, or its content is not a usable keyset. The error never
    /// quotes the content.
    pub(crate) fn keyset(&self, name: &str) -> Result<Arc<Keyset>, String> {
        check(name)?;
        match self {
            Self::Folder(folder) => of_file(&folder.join(format!("{name}.json")), name),
            Self::Environment(prefix) => {
                of_variable(&(prefix.clone() + &name.replace(['-', '.'], "_").to_uppercase()), name)
            }
        }
    }
}

fn of_variable(variable: &str, name: &str) -> Result<Arc<Keyset>, String> {
    let text = env::var(variable).map(Zeroizing::new).map_err(|_| {
        format!("keyset {name:?}: the environment variable {variable} is not set; set it to the Tink JSON")
    })?;
    let version = Version::Variable(text.clone());
    // No path begins like this.
    let place = PathBuf::from(format!("env:{variable}"));
    cached(place, version, || parsed(&text, name))
}

fn of_file(path: &Path, name: &str) -> Result<Arc<Keyset>, String> {
    let unreadable = |error: std::io::Error| {
        format!("keyset {name:?}: cannot read {} ({error}); store its Tink JSON there", path.display())
    };
    let file = File::open(path).map_err(unreadable)?;
    let version = FileVersion::of(&file.metadata().map_err(unreadable)?);
    let bytes = version.bytes;
    cached(path.to_owned(), Version::File(version), || {
        // Growing the buffer would leave copies of the key in freed memory.
        let size = usize::try_from(bytes).ok().filter(|size| *size <= MAX_BYTES);
        let size = size.ok_or_else(|| {
            format!(
                "keyset {name:?}: {} has more than {MAX_BYTES} bytes; store its Tink JSON there",
                path.display()
            )
        })?;
        let mut content = Zeroizing::new(Vec::with_capacity(size + 1));
        file.take(bytes + 1).read_to_end(&mut content).map_err(unreadable)?;
        let text = std::str::from_utf8(&content).map_err(|_| {
            format!("keyset {name:?}: {} is not UTF-8 text; store its Tink JSON there", path.display())
        })?;
        parsed(text, name)
    })
}

fn parsed(text: &str, name: &str) -> Result<Keyset, String> {
    Keyset::from_tink_json(text).map_err(|error| format!("keyset {name:?}: {error}"))
}

/// Returns the keyset that was read from a place, or reads it if that has another version.
fn cached(
    place: PathBuf,
    version: Version,
    read: impl FnOnce() -> Result<Keyset, String>,
) -> Result<Arc<Keyset>, String> {
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, keyset)) = cache.get(&place)
        && *known == version
    {
        return Ok(keyset.clone());
    }
    let keyset = Arc::new(read()?);
    cache.insert(place, (version, keyset.clone()));
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
