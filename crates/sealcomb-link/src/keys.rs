//! Where keys come from: a file, or a key management entity of ETSI GS QKD 014.

use std::sync::Once;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::{Certificate, Client, Identity};
use sealcomb_esp::Fingerprint;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::config::{Etsi014, Keys};
use crate::control::SourceKey;

/// Has all TLS of this process go through one library. What begins a connection calls it first.
pub(crate) fn install_tls() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Where something else has installed one already, that does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// A source of keys.
pub enum Source {
    /// One key, from which new ones are derived each time.
    File(SourceKey),
    /// A key management entity.
    Etsi014(Box<Entity>),
}

impl Source {
    /// The source that the configuration names.
    ///
    /// # Errors
    /// Where certificates or the key are none.
    pub fn new(keys: &Keys) -> Result<Self> {
        match keys {
            // The name tells two files apart and nothing else of them.
            Keys::File(key) => {
                let id = format!("file-{}", hex::encode(Fingerprint::of(key).0));
                Ok(Self::File(SourceKey { id, key: key.clone() }))
            }
            Keys::Etsi014(etsi014) => Ok(Self::Etsi014(Box::new(Entity::new(etsi014)?))),
        }
    }

    /// Whether it gives each key once only.
    pub fn is_single_use(&self) -> bool {
        matches!(self, Self::Etsi014(_))
    }

    /// The master's: new keys, up to `count` of them.
    ///
    /// # Errors
    /// Why there are none. Nothing of a key is in it.
    pub async fn new_keys(&self, count: usize) -> Result<Vec<SourceKey>> {
        match self {
            Self::File(key) => Ok(vec![key.clone(); count]),
            Self::Etsi014(entity) => entity.enc_keys(count).await,
        }
    }

    /// The slave's: the key of this name.
    ///
    /// # Errors
    /// Why it is not to be had. Nothing of a key is in it.
    pub async fn key(&self, id: &str) -> Result<SourceKey> {
        match self {
            Self::File(key) if key.id == id => Ok(key.clone()),
            Self::File(_) => bail!("the other end has another file"),
            Self::Etsi014(entity) => entity.dec_key(id).await,
        }
    }
}

/// A client of a key management entity.
pub struct Entity {
    client: Client,
    /// Of the other end, up to before the method.
    url: String,
    size: u64,
}

#[derive(Serialize)]
struct EncRequest {
    number: usize,
    size: u64,
}

#[derive(Serialize)]
struct DecRequest<'a> {
    #[serde(rename = "key_IDs")]
    key_ids: [KeyId<'a>; 1],
}

#[derive(Serialize)]
struct KeyId<'a> {
    #[serde(rename = "key_ID")]
    key_id: &'a str,
}

/// GS QKD 014, section 6.3. Extensions are passed over.
#[derive(Deserialize)]
struct Container {
    keys: Vec<ContainedKey>,
}

#[derive(Deserialize)]
struct ContainedKey {
    #[serde(rename = "key_ID")]
    key_id: String,
    key: String,
}

impl Entity {
    fn new(config: &Etsi014) -> Result<Self> {
        install_tls();
        let identity = Zeroizing::new([&config.key[..], b"\n", &config.cert].concat());
        let client = Client::builder()
            .tls_certs_only(Certificate::from_pem_bundle(&config.ca).context("the certificates in `ca`")?)
            .identity(Identity::from_pem(&identity).context("the certificate and key in `cert` and `key`")?)
            .https_only(true)
            .timeout(config.timeout)
            .tcp_keepalive(Duration::from_secs(15))
            .build()
            .context("TLS")?;
        let url = format!("{}/api/v1/keys/{}", config.url, config.peer_sae);
        Ok(Self { client, url, size: config.size })
    }

    /// GS QKD 014, section 5.2.
    async fn enc_keys(&self, count: usize) -> Result<Vec<SourceKey>> {
        self.ask("enc_keys", &EncRequest { number: count, size: self.size }).await
    }

    /// GS QKD 014, section 5.3.
    async fn dec_key(&self, id: &str) -> Result<SourceKey> {
        let request = DecRequest { key_ids: [KeyId { key_id: id }] };
        let keys = self.ask("dec_keys", &request).await?;
        keys.into_iter().find(|key| key.id == id).context("it gave another key than it was asked for")
    }

    async fn ask(&self, method: &str, request: &impl Serialize) -> Result<Vec<SourceKey>> {
        let response = self.client.post(format!("{}/{method}", self.url)).json(request).send().await;
        let response = response.map_err(reqwest::Error::without_url).with_context(|| method.to_owned())?;
        let status = response.status();
        if !status.is_success() {
            bail!("{method}: it answered {status}");
        }
        let container: Container =
            response.json().await.map_err(|_| anyhow::anyhow!("{method}: its answer is no key container"))?;
        container.keys.into_iter().map(|key| self.read(key)).collect()
    }

    fn read(&self, key: ContainedKey) -> Result<SourceKey> {
        /// Of an offer's names there must be room for several in a datagram.
        const LONGEST_ID: usize = 64;
        let text = Zeroizing::new(key.key);
        let Ok(bytes) = BASE64_STANDARD.decode(text.as_bytes()).map(Zeroizing::new) else {
            bail!("a key is not base64");
        };
        if bytes.len() as u64 * 8 != self.size {
            bail!("a key has {} bits, not {}", bytes.len() * 8, self.size);
        }
        if key.key_id.is_empty() || key.key_id.len() > LONGEST_ID {
            bail!("a key's name has {} characters", key.key_id.len());
        }
        Ok(SourceKey { id: key.key_id, key: bytes })
    }
}
