//! Where keys come from: a file, or a key management entity of ETSI GS QKD 014.

use std::sync::Once;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Identity, Response};
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
            // To the entity that the configuration names, and to no other.
            .redirect(Policy::none())
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
        let body = whole(response).await.with_context(|| method.to_owned())?;
        // What serde says of a mistake has some of the answer in it.
        let Ok(container) = serde_json::from_slice::<Container>(&body) else {
            bail!("{method}: its answer is no key container");
        };
        container.keys.into_iter().map(|key| self.read(key)).collect()
    }

    fn read(&self, key: ContainedKey) -> Result<SourceKey> {
        /// There must be room for an offer's names in a datagram, as JSON has them.
        const LONGEST_ID: usize = 64;
        let text = Zeroizing::new(key.key);
        let Ok(bytes) = BASE64_STANDARD.decode(text.as_bytes()).map(Zeroizing::new) else {
            bail!("a key is not base64");
        };
        if bytes.len() as u64 * 8 != self.size {
            bail!("a key has {} bits, not {}", bytes.len() * 8, self.size);
        }
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"\\".contains(&byte);
        if !(1..=LONGEST_ID).contains(&key.key_id.len()) || !key.key_id.bytes().all(is_plain) {
            bail!("a key's name is not 1 to {LONGEST_ID} printable characters without quotes");
        }
        Ok(SourceKey { id: key.key_id, key: bytes })
    }
}

/// The body of an answer.
async fn whole(mut answer: Response) -> Result<Zeroizing<Vec<u8>>> {
    /// Bytes, of many more keys than are ever asked for.
    const LONGEST: usize = 1 << 18;
    let mut body = Zeroizing::new(Vec::with_capacity(LONGEST));
    while let Some(chunk) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
        if chunk.len() > LONGEST - body.len() {
            bail!("its answer has more than {LONGEST} bytes");
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::thread;

    use rustls::pki_types::PrivateKeyDer;
    use rustls::{ServerConfig, ServerConnection, StreamOwned};

    use super::*;

    /// What becomes of a request for keys of 256 bits that is answered by these bytes.
    async fn answered(answer: &[u8]) -> Result<Vec<SourceKey>> {
        install_tls();
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let server = ServerConfig::builder().with_no_client_auth();
        let server = Arc::new(server.with_single_cert(vec![made.cert.der().clone()], key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answer = answer.to_vec();
        let entity = thread::spawn(move || {
            let (socket, _) = listener.accept().unwrap();
            let mut stream = StreamOwned::new(ServerConnection::new(server).unwrap(), socket);
            let mut request = Vec::new();
            while !request.ends_with(b"}") {
                let mut some = [0; 1024];
                let count = stream.read(&mut some).unwrap();
                request.extend_from_slice(&some[..count]);
            }
            // A client that has enough of it hangs up.
            let _ = stream.write_all(&answer).and_then(|()| stream.flush());
            stream.conn.send_close_notify();
            let _ = stream.flush();
        });
        let config = Etsi014 {
            url: format!("https://{address}"),
            sae: "alice".to_owned(),
            peer_sae: "bob".to_owned(),
            ca: made.cert.pem().into_bytes(),
            cert: made.cert.pem().into_bytes(),
            key: Zeroizing::new(made.signing_key.serialize_pem().into_bytes()),
            size: 256,
            ahead: 1,
            timeout: Duration::from_secs(20),
        };
        let outcome = Entity::new(&config).unwrap().enc_keys(1).await;
        entity.join().unwrap();
        outcome
    }

    fn ok(body: &[u8]) -> Vec<u8> {
        [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
    }

    fn container(id: &str, key: &str) -> Vec<u8> {
        ok(format!(r#"{{"keys": [{{"key_ID": "{id}", "key": "{key}"}}]}}"#).as_bytes())
    }

    const KEY: &str = "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlYyE=";

    #[tokio::test]
    async fn keys_of_the_size_that_was_asked_for_are_taken() {
        let keys = answered(&container("one", KEY)).await.unwrap();
        assert_eq!(keys.len(), 1);
        assert_eq!((keys[0].id.as_str(), &keys[0].key[..6]), ("one", &b"secret"[..]));
        assert!(answered(&ok(br#"{"keys": [], "key_container_extension": 1}"#)).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn an_answer_that_is_no_key_is_told_without_a_word_of_it() {
        let long_id = "i".repeat(65);
        let too_long = "A".repeat(1 << 18);
        let elsewhere = b"HTTP/1.1 307 See\r\nLocation: https://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n";
        for (answer, told) in [
            (elsewhere.to_vec(), "it answered 307"),
            (b"HTTP/1.1 503 Busy\r\nContent-Length: 6\r\n\r\nsecret".to_vec(), "it answered 503"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".to_vec(), "enc_keys: "),
            (ok(b""), "no key container"),
            (ok(b"secret"), "no key container"),
            (ok(b"\xff\xfe"), "no key container"),
            (ok(br#"{"keys": {"key": "secret"}}"#), "no key container"),
            (ok(br#"{"keys": [{"key_ID": "one"}]}"#), "no key container"),
            (container("one", &too_long), "more than 262144 bytes"),
            (container("one", "secret!"), "not base64"),
            (container("one", "c2VjcmV0"), "48 bits, not 256"),
            (container("one", ""), "0 bits, not 256"),
            (container("", KEY), "a key's name"),
            (container(&long_id, KEY), "a key's name"),
            (container(r"\u0007", KEY), "a key's name"),
            (container("a\\\"b", KEY), "a key's name"),
        ] {
            let error = format!("{:#}", answered(&answer).await.err().expect("no key"));
            assert!(error.contains(told), "{error}");
            assert!(!error.contains("secret") && !error.contains("c2Vj"), "{error}");
        }
    }
}
