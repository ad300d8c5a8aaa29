//! Key sources: a file, a key management entity (KME) of ETSI GS QKD 014, a key provider of the Secure Key Integration
//! Protocol (SKIP), or a program.

mod command;
mod skip;

use std::fmt;
use std::sync::Once;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, Identity, RequestBuilder, Response, StatusCode};
use sealcomb_esp::Fingerprint;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use zeroize::{Zeroize, Zeroizing};

use crate::config::{ClientTls, Etsi014, Keys};
use crate::control::SourceKey;
use crate::control::message::is_key_name;
use crate::control::version::printable;

pub(crate) use command::KeyProgram;
pub(crate) use skip::KeyProvider;

/// Installs the TLS provider of this process. Must be called before the first connection.
pub(crate) fn install_tls() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Fails only if a provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// The reason why a source delivered no key. It never contains any part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// The key container is empty.
    Empty,
    /// The response violates the source's interface, or a key in it is unusable.
    Malformed(String),
    /// The request failed or was refused.
    Failed(String),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the KME returned no keys; check whether it has run out of them"),
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

/// A key source.
pub enum Source {
    /// A single key, repeated at every request. Fresh nonces make the derived keys unique.
    File(SourceKey),
    /// A key management entity.
    Etsi014(Box<KmeClient>),
    /// A key provider of SKIP.
    Skip(Box<KeyProvider>),
    /// A program that prints keys.
    Command(Box<KeyProgram>),
}

impl Source {
    /// Creates the configured source.
    ///
    /// # Errors
    /// An invalid certificate or private key.
    pub fn new(keys: &Keys) -> Result<Self> {
        match keys {
            // The key ID distinguishes different files and reveals nothing else about them.
            Keys::File(key) => {
                let id = format!("file-{}", hex::encode(Fingerprint::of(key).0));
                Ok(Self::File(SourceKey { id, key: key.clone() }))
            }
            Keys::Etsi014(etsi014) => Ok(Self::Etsi014(Box::new(KmeClient::new(etsi014)?))),
            Keys::Skip(skip) => Ok(Self::Skip(Box::new(KeyProvider::new(skip)?))),
            Keys::Command(program) => Ok(Self::Command(Box::new(KeyProgram::new(program)))),
        }
    }

    /// Returns whether the source must deliver each key only once.
    pub fn is_single_use(&self) -> bool {
        !matches!(self, Self::File(_))
    }

    /// Requests keys for the master. Returns 1 to `count` keys.
    ///
    /// # Errors
    /// The reason why there are none.
    pub async fn new_keys(&self, count: usize) -> Result<Vec<SourceKey>, SourceError> {
        match self {
            Self::File(key) => Ok(vec![key.clone(); count]),
            Self::Etsi014(kme) => kme.new_keys(count).await,
            Self::Skip(provider) => Ok(vec![provider.new_key().await?]),
            Self::Command(program) => Ok(vec![program.new_key().await?]),
        }
    }

    /// Fetches the key with this ID, for the slave.
    ///
    /// # Errors
    /// The reason why it is not available.
    pub async fn key(&self, id: &str) -> Result<SourceKey, SourceError> {
        match self {
            Self::File(key) if key.id == id => Ok(key.clone()),
            Self::File(_) => {
                failed("the peer has another key file; [keys] `file` must have equal contents at both ends")
            }
            Self::Etsi014(kme) => kme.dec_key(id).await,
            Self::Skip(provider) => provider.key(id).await,
            Self::Command(program) => program.key(id).await,
        }
    }
}

/// A client of a key management entity.
pub struct KmeClient {
    client: Client,
    /// The base URL of the methods for the peer's SAE.
    url: String,
    size: u64,
    /// The KME's limits. `None` until its status was requested, and again after a failure.
    limits: Mutex<Option<Limits>>,
}

/// The limits in a KME's status (GS QKD 014, section 6.1). A missing field means no limit.
#[derive(Clone, Copy, Deserialize)]
struct Limits {
    max_key_per_request: Option<usize>,
    max_key_size: Option<u64>,
    min_key_size: Option<u64>,
}

impl Limits {
    /// Assumed limits of a KME without a valid status.
    const UNKNOWN: Self = Self { max_key_per_request: Some(1), max_key_size: None, min_key_size: None };

    fn check(self, size: u64) -> Answer<()> {
        let (min, max) = (self.min_key_size.unwrap_or(0), self.max_key_size.unwrap_or(u64::MAX));
        if (min..=max).contains(&size) {
            return Ok(());
        }
        failed(format!("`size` in [keys.etsi014] is {size}; the KME delivers keys of {min} to {max} bits"))
    }
}

/// A KME's status (GS QKD 014, section 6.1), for the command `check`. KMEs may omit fields.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct KmeStatus {
    #[serde(rename = "source_KME_ID")]
    source_kme_id: Option<String>,
    #[serde(rename = "target_KME_ID")]
    target_kme_id: Option<String>,
    #[serde(rename = "master_SAE_ID")]
    master_sae_id: Option<String>,
    #[serde(rename = "slave_SAE_ID")]
    slave_sae_id: Option<String>,
    stored_key_count: Option<u64>,
    max_key_count: Option<u64>,
    max_key_per_request: Option<u64>,
    max_key_size: Option<u64>,
    min_key_size: Option<u64>,
}

impl KmeStatus {
    /// Describes the status in one line.
    pub(crate) fn describe(&self) -> String {
        let name = |name: &Option<String>| name.as_deref().map_or("(unnamed)".into(), printable);
        let count = |count: Option<u64>| count.map_or("unknown".into(), |count| count.to_string());
        format!(
            "KME {} answers: peer KME {}, {} of {} keys stored, {} per request, of {} to {} bits",
            name(&self.source_kme_id),
            name(&self.target_kme_id),
            count(self.stored_key_count),
            count(self.max_key_count),
            count(self.max_key_per_request),
            count(self.min_key_size),
            count(self.max_key_size),
        )
    }

    /// Checks that the KME knows this end and the peer by the configured names, and has keys of the configured size.
    ///
    /// # Errors
    /// The first deviation.
    pub(crate) fn check(&self, config: &Etsi014) -> Result<()> {
        for (field, ours, theirs) in
            [("sae", &config.sae, &self.master_sae_id), ("peer-sae", &config.peer_sae, &self.slave_sae_id)]
        {
            if let Some(theirs) = theirs {
                let theirs = printable(theirs);
                ensure!(
                    *ours == theirs,
                    "[keys.etsi014]: `{field}` is {ours}, but the KME names it {theirs}"
                );
            }
        }
        Limits {
            max_key_per_request: None,
            max_key_size: self.max_key_size,
            min_key_size: self.min_key_size,
        }
        .check(config.requests.size)?;
        ensure!(self.stored_key_count != Some(0), "the KME has no keys; check its quantum channel");
        Ok(())
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

/// A key container (GS QKD 014, section 6.3). Extensions are ignored.
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

impl Drop for ContainedKey {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

/// Creates an HTTP client with this identity. Without one, it is for a server on this machine.
///
/// # Errors
/// An invalid certificate or private key.
fn http_client(tls: Option<&ClientTls>, timeout: Duration) -> Result<Client> {
    install_tls();
    let builder = Client::builder()
        // Connect only to the configured server.
        .redirect(Policy::none())
        .timeout(timeout)
        .tcp_keepalive(Duration::from_secs(15));
    let builder = match tls {
        Some(tls) => with_identity(builder, tls)?,
        None => builder.no_proxy(),
    };
    builder.build().context("cannot set up TLS")
}

fn with_identity(builder: ClientBuilder, ClientTls { ca, cert, key }: &ClientTls) -> Result<ClientBuilder> {
    let identity = Zeroizing::new([&key[..], b"\n", cert].concat());
    let authorities = Certificate::from_pem_bundle(ca).context("`ca`: invalid certificate")?;
    ensure!(!authorities.is_empty(), "`ca`: the file has no certificate");
    Ok(builder
        .tls_certs_only(authorities)
        .identity(Identity::from_pem(&identity).context("`cert` or `key`: invalid PEM")?)
        .https_only(true))
}

/// Decodes a secret from hexadecimal digits; `None` if there are other characters or an odd number of digits.
pub(crate) fn from_hex(digits: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    // `hex::decode` would leave parts of the secret in the memory that its vector outgrows.
    let mut secret = Zeroizing::new(vec![0; digits.len() / 2]);
    hex::decode_to_slice(digits, &mut secret).ok()?;
    Some(secret)
}

/// Checks the ID and the size of a key from a source that names keys freely.
///
/// # Errors
/// A deviation, without any part of the key.
fn checked(id: &str, key: Zeroizing<Vec<u8>>, bits: u64) -> Answer<SourceKey> {
    if key.len() as u64 * 8 != bits {
        return malformed(format!("a key in the response has {} bits, not {bits}", key.len() * 8));
    }
    if !is_key_name(id) {
        return malformed(
            "invalid key ID; expected 1 to 64 printable ASCII characters without `\"` and `\\`",
        );
    }
    Ok(SourceKey { id: id.to_owned(), key })
}

impl KmeClient {
    /// Creates a client.
    ///
    /// # Errors
    /// An invalid certificate or private key.
    pub(crate) fn new(config: &Etsi014) -> Result<Self> {
        let client = http_client(Some(&config.tls), config.requests.timeout)?;
        let url = format!("{}/api/v1/keys/{}", config.url, config.peer_sae);
        Ok(Self { client, url, size: config.requests.size, limits: Mutex::new(None) })
    }

    async fn new_keys(&self, count: usize) -> Answer<Vec<SourceKey>> {
        let outcome = self.new_keys_within_limits(count).await;
        if outcome.is_err() {
            // The limits may have changed when the KME is back.
            *self.limits.lock().await = None;
        }
        outcome
    }

    async fn new_keys_within_limits(&self, count: usize) -> Answer<Vec<SourceKey>> {
        let limits = self.limits().await?;
        limits.check(self.size)?;
        let number = limits.max_key_per_request.map_or(count, |max| count.min(max.max(1)));
        self.enc_keys(number).await
    }

    /// Returns the KME's limits, from its status if they are not cached (GS QKD 014, section 5.1).
    async fn limits(&self) -> Answer<Limits> {
        let mut known = self.limits.lock().await;
        if let Some(limits) = *known {
            return Ok(limits);
        }
        let limits = match self.ask("status", self.client.get(format!("{}/status", self.url))).await {
            Ok(limits) => limits,
            // The other methods may still work.
            Err(SourceError::Malformed(_)) => Limits::UNKNOWN,
            Err(error) => return Err(error),
        };
        *known = Some(limits);
        Ok(limits)
    }

    /// Requests the KME's status (GS QKD 014, section 5.1).
    pub(crate) async fn status(&self) -> Answer<KmeStatus> {
        self.ask("status", self.client.get(format!("{}/status", self.url))).await
    }

    /// Requests new keys (GS QKD 014, section 5.2).
    async fn enc_keys(&self, number: usize) -> Answer<Vec<SourceKey>> {
        self.ask_for_keys("enc_keys", &EncRequest { number, size: self.size }, number).await
    }

    /// Requests the key with this ID (GS QKD 014, section 5.3).
    async fn dec_key(&self, id: &str) -> Answer<SourceKey> {
        let request = DecRequest { key_ids: [KeyId { key_id: id }] };
        let keys = self.ask_for_keys("dec_keys", &request, 1).await?;
        let other =
            || SourceError::Malformed("dec_keys: the KME returned a different key than requested".into());
        // UUIDs compare without case. The ID is that of the request, which both ends know.
        let found = keys.into_iter().find(|key| key.id.eq_ignore_ascii_case(id)).ok_or_else(other)?;
        Ok(SourceKey { id: id.to_owned(), ..found })
    }

    /// Requests keys, `number` of them at most.
    async fn ask_for_keys(
        &self,
        method: &str,
        request: &impl Serialize,
        number: usize,
    ) -> Answer<Vec<SourceKey>> {
        let request = self.client.post(format!("{}/{method}", self.url)).json(request);
        let container: Container = self.ask(method, request).await?;
        if container.keys.is_empty() {
            return Err(SourceError::Empty);
        }
        let count = container.keys.len();
        if count > number {
            return malformed(format!("{method}: the KME returned {count} keys instead of at most {number}"));
        }
        container.keys.iter().map(|key| self.read(key)).collect()
    }

    async fn ask<T: DeserializeOwned>(&self, method: &str, request: RequestBuilder) -> Answer<T> {
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return failed(format!("{method}: {}", describe(error))),
        };
        let status = response.status();
        let body = read_body(method, response).await?;
        let missing = [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED];
        if missing.contains(&status) {
            return malformed(format!("{method}: the KME answered {status}; check `url`"));
        }
        if !status.is_success() {
            return failed(format!("{method}: the KME answered {status}{}", kme_message(&body)));
        }
        // serde's error is dropped because it quotes the response, which may contain keys.
        serde_json::from_slice(&body)
            .or_else(|_| malformed(format!("{method}: the response does not conform to GS QKD 014")))
    }

    fn read(&self, key: &ContainedKey) -> Answer<SourceKey> {
        let Ok(bytes) = BASE64_STANDARD.decode(&key.key).map(Zeroizing::new) else {
            return malformed("a key in the response is not valid base64");
        };
        checked(&key.key_id, bytes, self.size)
    }
}

/// Formats an error with all its causes, which reqwest's `Display` omits, and without the URL, which may contain a
/// user name.
fn describe(error: reqwest::Error) -> String {
    let text = format!("{:#}", anyhow::Error::from(error.without_url()));
    // The two messages of rustls about the validity period of a certificate.
    let is_about_time = text.contains("certificate expired") || text.contains("certificate not valid yet");
    if is_about_time { format!("{text}; check the clocks of this machine and of the KME") } else { text }
}

/// Returns the message of an error response (GS QKD 014, section 6.5), truncated and without control characters.
fn kme_message(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct ErrorBody {
        message: String,
    }
    const MAX_CHARS: usize = 200;
    let Ok(ErrorBody { message }) = serde_json::from_slice(body) else { return String::new() };
    let printable: String = message.chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect();
    format!(": \"{printable}\"")
}

/// Reads the body of a response.
async fn read_body(method: &str, mut answer: Response) -> Answer<Zeroizing<Vec<u8>>> {
    /// Maximum size in bytes; far more than the keys of any request need.
    const MAX_RESPONSE_BYTES: usize = 1 << 18;
    let mut body = Zeroizing::new(Vec::with_capacity(MAX_RESPONSE_BYTES));
    loop {
        match answer.chunk().await {
            Ok(Some(chunk)) if chunk.len() <= MAX_RESPONSE_BYTES - body.len() => {
                body.extend_from_slice(&chunk);
            }
            Ok(Some(_)) => {
                return malformed(format!("{method}: the response exceeds {MAX_RESPONSE_BYTES} bytes"));
            }
            Ok(None) => return Ok(body),
            Err(error) => return failed(format!("{method}: {}", describe(error))),
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
    use crate::config::Requests;

    /// Requests a key of 256 bits from a server that responds with these bytes. Returns the result.
    async fn answered(answer: &[u8]) -> Answer<Vec<SourceKey>> {
        exchange(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", answer, 1).await.0
    }

    /// Requests `count` keys from a server with these responses to `status` and `enc_keys`. Returns the result, and
    /// the request of `enc_keys`, which is empty if there was none.
    async fn exchange(status: &[u8], answer: &[u8], count: usize) -> (Answer<Vec<SourceKey>>, String) {
        let (client, entity) = server(vec![status.to_vec(), answer.to_vec()]);
        let outcome = client.new_keys(count).await;
        drop(client);
        // Not a blocking join: the runtime must be able to close the client's connection.
        (outcome, tokio::task::spawn_blocking(|| entity.join().unwrap()).await.unwrap())
    }

    /// Starts a server with these responses. Returns a client of it, and its thread, which returns the last request,
    /// or nothing if there were fewer requests than responses.
    fn server(answers: Vec<Vec<u8>>) -> (KmeClient, thread::JoinHandle<String>) {
        install_tls();
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let server = ServerConfig::builder().with_no_client_auth();
        let server = Arc::new(server.with_single_cert(vec![made.cert.der().clone()], key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_complete = |request: &[u8]| {
            let end = if request.starts_with(b"GET") { &b"\r\n\r\n"[..] } else { &b"}"[..] };
            request.ends_with(end)
        };
        let entity = thread::spawn(move || {
            let (socket, _) = listener.accept().unwrap();
            let mut stream = StreamOwned::new(ServerConnection::new(server).unwrap(), socket);
            let mut request: Vec<u8> = Vec::new();
            for answer in answers {
                request.clear();
                while !is_complete(&request) {
                    let mut some = [0; 1024];
                    match stream.read(&mut some) {
                        Ok(count @ 1..) => request.extend_from_slice(&some[..count]),
                        // The client has closed the connection after the status.
                        _ => return String::new(),
                    }
                }
                // The client closes the connection when a response is too long.
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
            tls: ClientTls {
                ca: made.cert.pem().into_bytes(),
                cert: made.cert.pem().into_bytes(),
                key: Zeroizing::new(made.signing_key.serialize_pem().into_bytes()),
            },
            requests: Requests { size: 256, ahead: 1, timeout: Duration::from_secs(20) },
        };
        (KmeClient::new(&config).unwrap(), entity)
    }

    fn ok(body: &[u8]) -> Vec<u8> {
        [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
    }

    fn refusal(body: &str) -> Vec<u8> {
        format!("HTTP/1.1 503 Busy\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    fn container(id: &str, key: &str) -> Vec<u8> {
        container_of(&[id], key)
    }

    fn container_of(ids: &[&str], key: &str) -> Vec<u8> {
        let keys: Vec<String> =
            ids.iter().map(|id| format!(r#"{{"key_ID": "{id}", "key": "{key}"}}"#)).collect();
        ok(format!(r#"{{"keys": [{}]}}"#, keys.join(", ")).as_bytes())
    }

    const KEY: &str = "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHNlYyE=";

    #[test]
    fn secrets_are_read_from_pairs_of_hexadecimal_digits_only() {
        for (digits, expected) in [("", &[][..]), ("0aFf", &[10, 255]), ("00", &[0])] {
            assert_eq!(from_hex(digits.as_bytes()).as_deref().map(Vec::as_slice), Some(expected));
        }
        for wrong in ["0", "0af", "0g", "0x00", " 00", "\u{e9}"] {
            assert!(from_hex(wrong.as_bytes()).is_none(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn keys_of_the_requested_size_are_accepted() {
        let keys = answered(&container("one", KEY)).await.unwrap();
        assert_eq!(keys.len(), 1);
        assert_eq!((keys[0].id.as_str(), &keys[0].key[..6]), ("one", &b"secret"[..]));
    }

    #[tokio::test]
    async fn an_empty_container_is_a_distinct_error() {
        let answer = answered(&ok(br#"{"keys": [], "key_container_extension": 1}"#)).await;
        assert_eq!(answer.err(), Some(SourceError::Empty));
    }

    #[tokio::test]
    async fn the_kmes_limits_are_respected() {
        let status = |fields: &str| ok(format!(r#"{{"source_KME_ID": "kme", {fields}}}"#).as_bytes());
        for (fields, asked) in [
            (r#""max_key_per_request": 1"#, r#""number":1,"#),
            (r#""max_key_per_request": 3, "max_key_size": 256, "min_key_size": 256"#, r#""number":3,"#),
            (r#""max_key_per_request": 0"#, r#""number":1,"#),
            (r#""max_key_per_request": 128"#, r#""number":4,"#),
            (r#""key_size": 256"#, r#""number":4,"#),
            (r#""max_key_per_request": "many""#, r#""number":1,"#),
        ] {
            let (answer, request) = exchange(&status(fields), &container("one", KEY), 4).await;
            assert!(answer.is_ok() && request.contains(asked), "{fields}: {request}");
        }
        for fields in [r#""max_key_size": 128"#, r#""min_key_size": 512"#] {
            let (answer, request) = exchange(&status(fields), b"", 4).await;
            let error = answer.err().unwrap().to_string();
            assert!(request.is_empty() && error.contains("`size` in [keys.etsi014] is 256"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_kme_without_the_status_method_is_asked_for_one_key_at_a_time() {
        for status in ["404 Not Found", "405 Method Not Allowed", "501 Not Implemented"] {
            let status = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            let (answer, request) = exchange(status.as_bytes(), &container("one", KEY), 4).await;
            assert!(answer.is_ok() && request.contains(r#""number":1,"#), "{status}: {request}");
        }
    }

    #[tokio::test]
    async fn a_kme_returns_no_more_keys_than_requested() {
        let ids: [&str; 4] = ["one", "two", "three", "four"];
        for (wanted, returned) in [(1, 1), (2, 1), (3, 3), (1, 2), (3, 4)] {
            let status = ok(br#"{"max_key_per_request": 128}"#);
            let (answer, _) = exchange(&status, &container_of(&ids[..returned], KEY), wanted).await;
            let expected = if returned <= wanted {
                Ok(returned)
            } else {
                let why = format!("enc_keys: the KME returned {returned} keys instead of at most {wanted}");
                Err(SourceError::Malformed(why))
            };
            assert_eq!(answer.map(|keys| keys.len()), expected);
        }
    }

    #[tokio::test]
    async fn key_ids_of_a_kme_compare_without_case() {
        for (asked, returned, is_same) in
            [("0a-bc", "0A-BC", true), ("0A-BC", "0a-bc", true), ("0a-bc", "0a-bd", false)]
        {
            let (client, _entity) = server(vec![container(returned, KEY)]);
            match client.dec_key(asked).await {
                // The ID is that of the request, which both ends know.
                Ok(key) => assert!(is_same && key.id == asked, "{asked} {returned}: {}", key.id),
                Err(error) => {
                    assert!(!is_same && error.to_string().contains("a different key"), "{asked}: {error}");
                }
            }
        }
    }

    #[test]
    fn a_kmes_status_is_compared_with_the_configuration() {
        let config = Etsi014 {
            url: String::new(),
            sae: "alice".into(),
            peer_sae: "bob".into(),
            tls: ClientTls { ca: Vec::new(), cert: Vec::new(), key: Zeroizing::default() },
            requests: Requests { size: 256, ahead: 1, timeout: Duration::from_secs(1) },
        };
        for (json, expected) in [
            ("{}", None),
            (r#"{"master_SAE_ID": "alice", "slave_SAE_ID": "bob", "stored_key_count": 1}"#, None),
            (r#"{"master_SAE_ID": "bob"}"#, Some("`sae` is alice, but the KME names it bob")),
            (r#"{"slave_SAE_ID": "carol\n"}"#, Some("`peer-sae` is bob, but the KME names it carol")),
            (r#"{"max_key_size": 128}"#, Some("`size` in [keys.etsi014] is 256")),
            (r#"{"stored_key_count": 0}"#, Some("no keys")),
        ] {
            let status: KmeStatus = serde_json::from_str(json).unwrap();
            let error = status.check(&config).err().map(|error| error.to_string());
            let is_expected = match (&error, expected) {
                (Some(error), Some(expected)) => error.contains(expected),
                (error, expected) => error.is_none() && expected.is_none(),
            };
            assert!(is_expected, "{json}: {error:?}");
            assert!(status.describe().starts_with("KME (unnamed) answers"));
        }
    }

    #[tokio::test]
    async fn errors_quote_nothing_secret() {
        let long_id = "i".repeat(65);
        let too_long = "A".repeat(1 << 18);
        let elsewhere = b"HTTP/1.1 307 See\r\nLocation: https://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n";
        for (answer, expected) in [
            (elsewhere.to_vec(), "the KME answered 307"),
            (
                refusal(r#"{"message": "no keys\u001b[2J\nleft", "details": []}"#),
                r#"the KME answered 503 Service Unavailable: "no keys[2Jleft""#,
            ),
            (refusal(&format!(r#"{{"message": "{}"}}"#, "x".repeat(300))), "xxx\""),
            (refusal(r#"{"message": {"key": "secret"}}"#), "the KME answered 503 Service Unavailable"),
            (b"HTTP/1.1 503 Busy\r\nContent-Length: 6\r\n\r\nsecret".to_vec(), "the KME answered 503"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".to_vec(), "enc_keys: "),
            (ok(b""), "does not conform to GS QKD 014"),
            (ok(b"secret"), "does not conform to GS QKD 014"),
            (ok(b"\xff\xfe"), "does not conform to GS QKD 014"),
            (ok(br#"{"keys": {"key": "secret"}}"#), "does not conform to GS QKD 014"),
            (ok(br#"{"keys": [{"key_ID": "one"}]}"#), "does not conform to GS QKD 014"),
            (container("one", &too_long), "exceeds 262144 bytes"),
            (container("one", "secret!"), "not valid base64"),
            (container("one", "c2VjcmV0"), "has 48 bits, not 256"),
            (container("one", ""), "has 0 bits, not 256"),
            (container("", KEY), "invalid key ID"),
            (container(&long_id, KEY), "invalid key ID"),
            (container(r"\u0007", KEY), "invalid key ID"),
            (container("a\\\"b", KEY), "invalid key ID"),
        ] {
            let error = answered(&answer).await.err().expect("no key").to_string();
            assert!(error.contains(expected) && error.len() < 300, "{error}");
            assert!(!error.contains("secret") && !error.contains("c2Vj"), "{error}");
        }
    }
}
