//! The configuration of an entity.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use zeroize::Zeroizing;

/// What goes wrong on purpose.
#[allow(clippy::struct_excessive_bools, reason = "each is a fault of its own")]
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct Faults {
    /// Before each answer.
    #[serde(with = "humantime_serde")]
    pub delay: Option<Duration>,
    /// Each answer is that there is none.
    pub unavailable: bool,
    /// Keys are not those of the stream.
    pub wrong: bool,
    /// The first key comes again and again.
    pub repeat: bool,
    /// Key containers have no keys in them.
    pub empty: bool,
    /// Each answer with status 200 is cut off in the middle.
    pub garbled: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    id: String,
    peer_id: String,
    listen: SocketAddr,
    ca: PathBuf,
    cert: PathBuf,
    key: PathBuf,
    stream: PathBuf,
    saes: Vec<String>,
    peer_saes: Vec<String>,
    #[serde(default = "default_key_size")]
    key_size: u64,
    #[serde(default = "default_max_per_request")]
    max_per_request: u64,
    #[serde(default = "default_capacity")]
    capacity: u32,
    #[serde(default = "default_rate")]
    rate: u32,
    #[serde(default)]
    faults: Faults,
}

fn default_key_size() -> u64 {
    256
}

fn default_max_per_request() -> u64 {
    128
}

fn default_capacity() -> u32 {
    10_000
}

fn default_rate() -> u32 {
    1000
}

/// All that an entity is told.
pub struct Config {
    /// Its name.
    pub id: String,
    /// That of the entity at the other end.
    pub peer_id: String,
    /// Where it listens.
    pub listen: SocketAddr,
    /// Certificates of who may sign an SAE's, PEM.
    pub ca: Vec<u8>,
    /// Its own, PEM.
    pub cert: Vec<u8>,
    /// And the key to it, PEM.
    pub key: Zeroizing<Vec<u8>>,
    /// The secret of the key stream, the same at both entities.
    pub stream: Zeroizing<Vec<u8>>,
    /// Who may ask here.
    pub saes: Vec<String>,
    /// Who may ask at the other end.
    pub peer_saes: Vec<String>,
    /// Bits of a key where nobody says how many.
    pub key_size: u64,
    /// Keys at once.
    pub max_per_request: u64,
    /// Keys that fit into the store.
    pub capacity: u32,
    /// Keys that come into it each second.
    pub rate: u32,
    /// What goes wrong on purpose.
    pub faults: Faults,
}

impl Config {
    /// Reads the file at `path` and those that it names.
    ///
    /// # Errors
    /// The first that is wrong.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let read = |name: &Path| fs::read(folder.join(name)).with_context(|| name.display().to_string());
        let stream = Zeroizing::new(read(&file.stream)?);
        let stream =
            Zeroizing::new(hex::decode(stream.trim_ascii()).context("`stream` holds no hex digits")?);
        ensure!(stream.len() >= 32, "`stream`: the file must hold 32 bytes or more");
        Ok(Self {
            ca: read(&file.ca)?,
            cert: read(&file.cert)?,
            key: Zeroizing::new(read(&file.key)?),
            stream,
            id: file.id,
            peer_id: file.peer_id,
            listen: file.listen,
            saes: file.saes,
            peer_saes: file.peer_saes,
            key_size: file.key_size,
            max_per_request: file.max_per_request,
            capacity: file.capacity,
            rate: file.rate,
            faults: file.faults,
        })
    }
}
