//! Where keys come from: a file, or a key management entity of ETSI GS QKD 014.

use std::fmt;
use std::sync::Once;
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Identity, RequestBuilder, Response, StatusCode};
use sealcomb_esp::Fingerprint;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use crate::config::{Etsi014, Keys};
use crate::control::SourceKey;
use crate::control::message::is_key_name;

/// Has all TLS of this process go through one library. What begins a connection calls it first.
pub(crate) fn install_tls() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Where something else has installed one already, that does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// Why a source gives no key. Nothing of a key is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// The answer has no key in it.
    Empty,
    /// The answer is none that the interface knows, or a key in it cannot be used.
    Malformed(String),
    /// There is no answer, or it is a refusal.
    Failed(String),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("its answer has no keys in it. Has the KME run out of them?"),
            Self::Malformed(why) | Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for SourceError {}

type Answer<T> = Result<T, SourceError>;

fn malformed<T>(why: impl Into<String>) -> Answer<T> {
    Err(SourceError::Malformed(why.into()))
}

fn failed<T>(why: impl Into<String>) -> Answer<T> {
    Err(SourceError::Failed(why.into()))
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

    /// The master's: new keys, at least one and up to `count` of them.
    ///
    /// # Errors
    /// Why there are none.
    pub async fn new_keys(&self, count: usize) -> Result<Vec<SourceKey>, SourceError> {
        match self {
            Self::File(key) => Ok(vec![key.clone(); count]),
            Self::Etsi014(entity) => entity.new_keys(count).await,
        }
    }

    /// The slave's: the key of this name.
    ///
    /// # Errors
    /// Why it is not to be had.
    pub async fn key(&self, id: &str) -> Result<SourceKey, SourceError> {
        match self {
            Self::File(key) if key.id == id => Ok(key.clone()),
            Self::File(_) => {
                failed("the other end has another key file: [keys] `file` must be the same at both")
            }
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
    /// What the entity allows, as far as it was asked since it last failed.
    limits: Mutex<Option<Limits>>,
}

/// GS QKD 014, section 6.1: what a client has to keep to. What an entity does not tell limits nothing.
#[derive(Clone, Copy, Deserialize)]
struct Limits {
    max_key_per_request: Option<usize>,
    max_key_size: Option<u64>,
    min_key_size: Option<u64>,
}

impl Limits {
    /// Those of an entity that does not tell its status.
    const UNKNOWN: Self = Self { max_key_per_request: Some(1), max_key_size: None, min_key_size: None };

    fn check(self, size: u64) -> Answer<()> {
        let (least, most) = (self.min_key_size.unwrap_or(0), self.max_key_size.unwrap_or(u64::MAX));
        if (least..=most).contains(&size) {
            return Ok(());
        }
        failed(format!("the KME gives keys of {least} to {most} bits; `size` in [keys.etsi014] is {size}"))
    }
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
        Ok(Self { client, url, size: config.size, limits: Mutex::new(None) })
    }

    async fn new_keys(&self, count: usize) -> Answer<Vec<SourceKey>> {
        let outcome = self.new_keys_within_limits(count).await;
        if outcome.is_err() {
            // They may be others when it comes back.
            *self.limits.lock().await = None;
        }
        outcome
    }

    async fn new_keys_within_limits(&self, count: usize) -> Answer<Vec<SourceKey>> {
        let limits = self.limits().await?;
        limits.check(self.size)?;
        let number = limits.max_key_per_request.map_or(count, |most| count.min(most.max(1)));
        self.enc_keys(number).await
    }

    /// GS QKD 014, section 5.1.
    async fn limits(&self) -> Answer<Limits> {
        let mut known = self.limits.lock().await;
        if let Some(limits) = *known {
            return Ok(limits);
        }
        let limits = match self.ask("status", self.client.get(format!("{}/status", self.url))).await {
            Ok(limits) => limits,
            // Its other methods may be as they should.
            Err(SourceError::Malformed(_)) => Limits::UNKNOWN,
            Err(error) => return Err(error),
        };
        *known = Some(limits);
        Ok(limits)
    }

    /// GS QKD 014, section 5.2.
    async fn enc_keys(&self, number: usize) -> Answer<Vec<SourceKey>> {
        self.ask_for_keys("enc_keys", &EncRequest { number, size: self.size }).await
    }

    /// GS QKD 014, section 5.3.
    async fn dec_key(&self, id: &str) -> Answer<SourceKey> {
        let request = DecRequest { key_ids: [KeyId { key_id: id }] };
        let keys = self.ask_for_keys("dec_keys", &request).await?;
        let other = || SourceError::Malformed("dec_keys: it gave another key than it was asked for".into());
        keys.into_iter().find(|key| key.id == id).ok_or_else(other)
    }

    async fn ask_for_keys(&self, method: &str, request: &impl Serialize) -> Answer<Vec<SourceKey>> {
        let request = self.client.post(format!("{}/{method}", self.url)).json(request);
        let container: Container = self.ask(method, request).await?;
        if container.keys.is_empty() {
            return Err(SourceError::Empty);
        }
        container.keys.into_iter().map(|key| self.read(key)).collect()
    }

    async fn ask<T: DeserializeOwned>(&self, method: &str, request: RequestBuilder) -> Answer<T> {
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return failed(format!("{method}: {}", plain(error))),
        };
        let status = response.status();
        let body = whole(method, response).await?;
        if status == StatusCode::NOT_FOUND || status == StatusCode::NOT_IMPLEMENTED {
            return malformed(format!("{method}: it answered {status}. Is `url` right?"));
        }
        if !status.is_success() {
            return failed(format!("{method}: it answered {status}{}", said(&body)));
        }
        // What serde says of a mistake has some of the answer in it.
        serde_json::from_slice(&body)
            .or_else(|_| malformed(format!("{method}: its answer is not of GS QKD 014")))
    }

    fn read(&self, key: ContainedKey) -> Answer<SourceKey> {
        let text = Zeroizing::new(key.key);
        let Ok(bytes) = BASE64_STANDARD.decode(text.as_bytes()).map(Zeroizing::new) else {
            return malformed("a key is not base64");
        };
        if bytes.len() as u64 * 8 != self.size {
            return malformed(format!("a key has {} bits, not {}", bytes.len() * 8, self.size));
        }
        if !is_key_name(&key.key_id) {
            return malformed("a key's name is not 1 to 64 printable characters without quotes");
        }
        Ok(SourceKey { id: key.key_id, key: bytes })
    }
}

/// An error with all that is behind it, as reqwest itself does not say it, and without the URL, which may name a user.
fn plain(error: reqwest::Error) -> String {
    format!("{:#}", anyhow::Error::from(error.without_url()))
}

/// GS QKD 014, section 6.5: the entity's own words about a refusal, as far as they can be printed.
fn said(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct ErrorBody {
        message: String,
    }
    const LONGEST: usize = 200;
    let Ok(ErrorBody { message }) = serde_json::from_slice(body) else { return String::new() };
    let printable: String = message.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    format!(": \"{printable}\"")
}

/// The body of an answer.
async fn whole(method: &str, mut answer: Response) -> Answer<Zeroizing<Vec<u8>>> {
    /// Bytes, of many more keys than are ever asked for.
    const LONGEST: usize = 1 << 18;
    let mut body = Zeroizing::new(Vec::with_capacity(LONGEST));
    loop {
        match answer.chunk().await {
            Ok(Some(chunk)) if chunk.len() <= LONGEST - body.len() => body.extend_from_slice(&chunk),
            Ok(Some(_)) => return malformed(format!("{method}: its answer has more than {LONGEST} bytes")),
            Ok(None) => return Ok(body),
            Err(error) => return failed(format!("{method}: {}", plain(error))),
        }
    }
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
    async fn answered(answer: &[u8]) -> Answer<Vec<SourceKey>> {
        told(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", answer, 1).await.0
    }

    /// What becomes of a request for `count` keys where this is the status, and this the answer; and the request.
    async fn told(status: &[u8], answer: &[u8], count: usize) -> (Answer<Vec<SourceKey>>, String) {
        install_tls();
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let server = ServerConfig::builder().with_no_client_auth();
        let server = Arc::new(server.with_single_cert(vec![made.cert.der().clone()], key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answers = [status.to_vec(), answer.to_vec()];
        let entity = thread::spawn(move || {
            let (socket, _) = listener.accept().unwrap();
            let mut stream = StreamOwned::new(ServerConnection::new(server).unwrap(), socket);
            let mut request = Vec::new();
            for (answer, end) in answers.into_iter().zip([&b"\r\n\r\n"[..], b"}"]) {
                request.clear();
                while !request.ends_with(end) {
                    let mut some = [0; 1024];
                    match stream.read(&mut some) {
                        Ok(count @ 1..) => request.extend_from_slice(&some[..count]),
                        // The status was enough for the client.
                        _ => return String::new(),
                    }
                }
                // A client that has enough of it hangs up.
                let _ = stream.write_all(&answer).and_then(|()| stream.flush());
            }
            stream.conn.send_close_notify();
            let _ = stream.flush();
            String::from_utf8(request).unwrap()
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
        let outcome = Entity::new(&config).unwrap().new_keys(count).await;
        // Meanwhile the client's connection has to be able to end.
        (outcome, tokio::task::spawn_blocking(|| entity.join().unwrap()).await.unwrap())
    }

    fn ok(body: &[u8]) -> Vec<u8> {
        [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
    }

    fn refusal(body: &str) -> Vec<u8> {
        format!("HTTP/1.1 503 Busy\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
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
    }

    #[tokio::test]
    async fn an_answer_without_keys_is_told_apart() {
        let answer = answered(&ok(br#"{"keys": [], "key_container_extension": 1}"#)).await;
        assert_eq!(answer.err(), Some(SourceError::Empty));
    }

    #[tokio::test]
    async fn the_limits_of_the_entity_are_kept() {
        let status = |fields: &str| ok(format!(r#"{{"source_KME_ID": "kme", {fields}}}"#).as_bytes());
        for (fields, asked) in [
            (r#""max_key_per_request": 1"#, r#""number":1,"#),
            (r#""max_key_per_request": 3, "max_key_size": 256, "min_key_size": 256"#, r#""number":3,"#),
            (r#""max_key_per_request": 0"#, r#""number":1,"#),
            (r#""max_key_per_request": 128"#, r#""number":4,"#),
            (r#""key_size": 256"#, r#""number":4,"#),
            (r#""max_key_per_request": "many""#, r#""number":1,"#),
        ] {
            let (answer, request) = told(&status(fields), &container("one", KEY), 4).await;
            assert!(answer.is_ok() && request.contains(asked), "{fields}: {request}");
        }
        for fields in [r#""max_key_size": 128"#, r#""min_key_size": 512"#] {
            let (answer, request) = told(&status(fields), b"", 4).await;
            let error = answer.err().unwrap().to_string();
            assert!(request.is_empty() && error.contains("`size` in [keys.etsi014] is 256"), "{error}");
        }
    }

    #[tokio::test]
    async fn an_answer_that_is_no_key_is_told_without_a_word_of_it() {
        let long_id = "i".repeat(65);
        let too_long = "A".repeat(1 << 18);
        let elsewhere = b"HTTP/1.1 307 See\r\nLocation: https://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n";
        for (answer, told) in [
            (elsewhere.to_vec(), "it answered 307"),
            (
                refusal(r#"{"message": "no keys\u001b[2J\nleft", "details": []}"#),
                r#"it answered 503 Service Unavailable: "no keys[2Jleft""#,
            ),
            (refusal(&format!(r#"{{"message": "{}"}}"#, "x".repeat(300))), "xxx\""),
            (refusal(r#"{"message": {"key": "secret"}}"#), "it answered 503 Service Unavailable"),
            (b"HTTP/1.1 503 Busy\r\nContent-Length: 6\r\n\r\nsecret".to_vec(), "it answered 503"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".to_vec(), "enc_keys: "),
            (ok(b""), "not of GS QKD 014"),
            (ok(b"secret"), "not of GS QKD 014"),
            (ok(b"\xff\xfe"), "not of GS QKD 014"),
            (ok(br#"{"keys": {"key": "secret"}}"#), "not of GS QKD 014"),
            (ok(br#"{"keys": [{"key_ID": "one"}]}"#), "not of GS QKD 014"),
            (container("one", &too_long), "more than 262144 bytes"),
            (container("one", "secret!"), "not base64"),
            (container("one", "c2VjcmV0"), "48 bits, not 256"),
            (container("one", ""), "0 bits, not 256"),
            (container("", KEY), "a key's name"),
            (container(&long_id, KEY), "a key's name"),
            (container(r"\u0007", KEY), "a key's name"),
            (container("a\\\"b", KEY), "a key's name"),
        ] {
            let error = answered(&answer).await.err().expect("no key").to_string();
            assert!(error.contains(told) && error.len() < 300, "{error}");
            assert!(!error.contains("secret") && !error.contains("c2Vj"), "{error}");
        }
    }
}
