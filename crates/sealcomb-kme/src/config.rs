//! The configuration file of a KME.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sealcomb_command::{Classify, Status, with_status};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::api::SIZES;

/// Faults to inject.
#[allow(clippy::struct_excessive_bools, reason = "the faults are independent")]
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[expect(clippy::struct_excessive_bools, reason = "the faults are independent")]
pub struct Faults {
    /// Delay before each response.
    #[serde(with = "humantime_serde")]
    pub delay: Option<Duration>,
    /// Answers every request with status 503.
    pub unavailable: bool,
    /// Flips a bit of every key.
    pub wrong: bool,
    /// Delivers the first key again and again.
    pub repeat: bool,
    /// Returns empty key containers.
    pub empty: bool,
    /// Truncates each response of status 200 to half its length.
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

/// The complete configuration of a KME.
pub struct Config {
    /// The KME's ID.
    pub id: String,
    /// The ID of the KME at the other end of the QKD link.
    pub peer_id: String,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The CA certificates that may sign SAE certificates, in PEM.
    pub ca: Vec<u8>,
    /// The KME's certificate, in PEM.
    pub cert: Vec<u8>,
    /// The private key of `cert`, in PEM.
    pub key: Zeroizing<Vec<u8>>,
    /// The secret of the key stream. Must be equal at both KMEs.
    pub stream: Zeroizing<Vec<u8>>,
    /// The SAEs of this KME, which may send requests to it.
    pub saes: Vec<String>,
    /// The SAEs of the peer KME.
    pub peer_saes: Vec<String>,
    /// Default key size in bits.
    pub key_size: u64,
    /// Maximum number of keys per request.
    pub max_per_request: u64,
    /// Capacity of the key store.
    pub capacity: u32,
    /// Keys added to the store per second.
    pub rate: u32,
    /// Faults to inject.
    pub faults: Faults,
}

impl Config {
    /// Reads the file at `path` and the files that it refers to.
    ///
    /// # Errors
    /// The first error found.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string()).or_usage()?;
        Self::of(path, &text).map_err(|error| with_status(Status::Usage, error))
    }

    fn of(path: &Path, text: &str) -> Result<Self> {
        let file: File = toml::from_str(text).with_context(|| path.display().to_string())?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let read = |name: &Path| fs::read(folder.join(name)).with_context(|| name.display().to_string());
        let digits = Zeroizing::new(read(&file.stream)?);
        let digits = digits.trim_ascii();
        // `hex::decode` would leave parts of the secret in the memory that its vector outgrows.
        let mut stream = Zeroizing::new(vec![0; digits.len() / 2]);
        // The decoder's error is dropped because it quotes the file.
        hex::decode_to_slice(digits, &mut stream).ok().context("`stream`: the file is not valid hex")?;
        ensure!(
            stream.len() >= 32,
            "`stream`: the file has {} bytes; at least 32 are required",
            stream.len()
        );
        ensure!(
            file.key_size.is_multiple_of(8) && (SIZES.0..=SIZES.1).contains(&file.key_size),
            "`key-size` is {}; a multiple of 8 from {} to {} is required",
            file.key_size,
            SIZES.0,
            SIZES.1
        );
        ensure!(file.max_per_request > 0, "`max-per-request` must be at least 1");
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
