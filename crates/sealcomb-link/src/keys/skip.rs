//! A client of a key provider of the Secure Key Integration Protocol (SKIP), draft-cisco-skip-02.
//!
//! ```text
//! master: GET /key?remoteSystemID=PEER&size=BITS       → {"keyId": HEX, "key": HEX}
//! slave:  GET /key/KEYID?remoteSystemID=PEER           → the same
//! check:  GET /capabilities                            → {"localSystemID": …, "remoteSystemID": [PATTERN…], "key": …}
//! ```
//!
//! rustls has no TLS with pre-shared keys, which the draft recommends as well as client certificates. For a provider that
//! requires them, a proxy on this machine adds TLS, and the URL begins with `http://`.

use anyhow::{Result, ensure};
use reqwest::{Client, StatusCode, Url};
use serde::Deserialize;
use zeroize::Zeroizing;

use super::{Answer, checked, describe, failed, from_hex, http_client, malformed, read_body};
use crate::config::Skip;
use crate::control::SourceKey;
use crate::control::version::printable;

/// A client of a key provider.
pub struct KeyProvider {
    client: Client,
    url: Url,
    peer_system: String,
    bits: u64,
}

/// The capabilities of a key provider (section 4.1), for the command `check`.
#[derive(Debug, Deserialize)]
pub(crate) struct Capabilities {
    key: bool,
    algorithm: String,
    #[serde(rename = "localSystemID")]
    local_system_id: String,
    #[serde(rename = "remoteSystemID")]
    remote_system_ids: Vec<String>,
}

/// A response with a key (section 4.2).
#[derive(Deserialize)]
struct Delivered<'a> {
    #[serde(rename = "keyId")]
    id: &'a str,
    key: &'a str,
}

impl KeyProvider {
    /// Creates a client.
    ///
    /// # Errors
    /// An invalid certificate or private key.
    pub(crate) fn new(config: &Skip) -> Result<Self> {
        Ok(Self {
            client: http_client(config.tls.as_ref(), config.requests.timeout)?,
            url: Url::parse(&config.url)?,
            peer_system: config.peer_system.clone(),
            bits: config.requests.size,
        })
    }

    /// Requests a new key, for the master.
    pub(super) async fn new_key(&self) -> Answer<SourceKey> {
        let mut url = self.shared("/key");
        url.query_pairs_mut().append_pair("size", &self.bits.to_string());
        let body = self.ask("key", url).await?;
        self.read(&body)
    }

    /// Requests the key with this ID, for the slave.
    pub(super) async fn key(&self, id: &str) -> Answer<SourceKey> {
        if !is_hex(id) {
            return failed("the peer has another type of key source: its key IDs are not hexadecimal");
        }
        let body = self.ask("key/ID", self.shared(&format!("/key/{id}"))).await?;
        let found = self.read(&body)?;
        if !found.id.eq_ignore_ascii_case(id) {
            return malformed("key/ID: the key provider returned a different key than requested");
        }
        Ok(SourceKey { id: id.to_owned(), ..found })
    }

    /// Requests the key provider's capabilities.
    pub(crate) async fn capabilities(&self) -> Answer<Capabilities> {
        let mut url = self.url.clone();
        url.set_path("/capabilities");
        parse("capabilities", &self.ask("capabilities", url).await?)
    }

    /// Returns the URL of a method for keys that are shared with the peer's key provider.
    fn shared(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(path);
        url.query_pairs_mut().append_pair("remoteSystemID", &self.peer_system);
        url
    }

    async fn ask(&self, method: &str, url: Url) -> Answer<Zeroizing<Vec<u8>>> {
        let response = match self.client.get(url).send().await {
            Ok(response) => response,
            Err(error) => return failed(format!("{method}: {}", describe(error))),
        };
        let status = response.status();
        let body = read_body(method, response).await?;
        match status {
            StatusCode::OK => Ok(body),
            StatusCode::BAD_REQUEST => failed(format!(
                "{method}: the key provider answered {status}: it does not have the key, or does not know \
                 `peer-system`; check that both key providers belong together"
            )),
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
                malformed(format!("{method}: the key provider answered {status}; check `url`"))
            }
            _ => failed(format!("{method}: the key provider answered {status}")),
        }
    }

    fn read(&self, body: &[u8]) -> Answer<SourceKey> {
        let Delivered { id, key } = parse("key", body)?;
        let Some(key) = from_hex(key.as_bytes()) else {
            return malformed("a key in the response is not hexadecimal");
        };
        if !is_hex(id) {
            return malformed("invalid key ID; expected 1 to 64 hexadecimal digits");
        }
        checked(id, key, self.bits)
    }
}

/// Parses a response. serde's error is dropped because it quotes the response, which may contain keys.
fn parse<'a, T: Deserialize<'a>>(method: &str, body: &'a [u8]) -> Answer<T> {
    serde_json::from_slice(body)
        .or_else(|_| malformed(format!("{method}: the response does not conform to draft-cisco-skip-02")))
}

fn is_hex(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Capabilities {
    /// Describes the capabilities in one line.
    pub(crate) fn describe(&self) -> String {
        let remote: Vec<String> = self.remote_system_ids.iter().map(|id| printable(id)).collect();
        format!(
            "key provider {} answers: algorithm {}, shares keys with {}",
            printable(&self.local_system_id),
            printable(&self.algorithm),
            remote.join(", ")
        )
    }

    /// Checks that the key provider is the configured one, and delivers keys that it shares with the peer's.
    ///
    /// # Errors
    /// The first deviation.
    pub(crate) fn check(&self, config: &Skip) -> Result<()> {
        ensure!(self.key, "the key provider delivers no keys: its capability `key` is false");
        let Skip { system, peer_system, .. } = config;
        let theirs = printable(&self.local_system_id);
        ensure!(
            *system == self.local_system_id,
            "[keys.skip]: `system` is {system}, but the key provider names itself {theirs}"
        );
        ensure!(
            self.remote_system_ids.iter().any(|pattern| matches(pattern, peer_system)),
            "[keys.skip]: `peer-system` is {peer_system}, with which the key provider shares no keys"
        );
        Ok(())
    }
}

/// Returns whether a system ID matches a pattern (section 4.1.2): `*`, `?`, `[list]` and `[!list]`.
///
/// ```text
/// match the pattern from the left, one character at a time
/// after a mismatch, let the latest `*` match one more character, and continue behind it
/// ```
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut begun) = (0, 0);
    // Behind the latest `*`, and the number of characters of the name up to there.
    let mut star: Option<(usize, usize)> = None;
    while begun < name.len() {
        let step = match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, begun));
                at += 1;
                continue;
            }
            Some(b'?') => Some(1),
            Some(b'[') => in_list(&pattern[at..], name[begun]),
            Some(literal) => (*literal == name[begun]).then_some(1),
            None => None,
        };
        match (step, star) {
            (Some(bytes), _) => {
                at += bytes;
                begun += 1;
            }
            (None, Some((behind, matched))) => {
                star = Some((behind, matched + 1));
                (at, begun) = (behind, matched + 1);
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|rest| *rest == b'*')
}

/// Returns the length of the list that a pattern begins with, if it admits the byte. A `[` without an end matches
/// itself.
fn in_list(pattern: &[u8], byte: u8) -> Option<usize> {
    let is_inverted = pattern.get(1) == Some(&b'!');
    let first = if is_inverted { 2 } else { 1 };
    // A `]` at the beginning belongs to the list.
    let bytes = pattern.iter().skip(first + 1).position(|byte| *byte == b']').map(|end| first + 1 + end);
    let Some(end) = bytes else { return (byte == b'[').then_some(1) };
    let list = &pattern[first..end];
    let is_in_range =
        |range: &[u8]| range.len() == 3 && range[1] == b'-' && (range[0]..=range[2]).contains(&byte);
    let is_listed = list.contains(&byte) || list.windows(3).any(is_in_range);
    (is_listed != is_inverted).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::Router;
    use axum::extract::Request;
    use axum::response::{IntoResponse, Response};

    use super::super::SourceError;
    use super::*;
    use crate::config::Requests;

    const KEY: &str = "5ec5e75ec5e75ec5e75ec5e75ec5e75ec5e75ec5e75ec5e75ec5e75ec5e75ec5";

    fn config(url: String) -> Skip {
        Skip {
            url,
            system: "KP_A".into(),
            peer_system: "KP B&size=1/#".into(),
            tls: None,
            requests: Requests { size: 256, ahead: 4, timeout: Duration::from_millis(500) },
        }
    }

    /// Starts a server whose response is a function of the request's path and query.
    async fn provider(answer: impl Fn(String) -> Response + Clone + Send + Sync + 'static) -> KeyProvider {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(move |request: Request| {
            let answer = answer(request.uri().to_string());
            async move { answer }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        KeyProvider::new(&config(url)).unwrap()
    }

    /// Starts a server with this response.
    async fn answering(status: u16, body: impl Into<String>) -> KeyProvider {
        let body = body.into();
        let answer = move |_| (StatusCode::from_u16(status).unwrap(), body.clone()).into_response();
        provider(answer).await
    }

    fn delivered(id: &str, key: &str) -> String {
        format!(r#"{{"keyId": "{id}", "key": "{key}"}}"#)
    }

    #[tokio::test]
    async fn master_and_slave_ask_by_the_methods_of_the_draft() {
        let provider =
            provider(|uri| delivered("AB12", &hex::encode(format!("{uri:<32.32}"))).into_response()).await;
        let key = provider.new_key().await.unwrap();
        assert_eq!((key.id.as_str(), &key.key[..]), ("AB12", &b"/key?remoteSystemID=KP+B%26size%"[..]));
        // The ID is that of the request, which both ends know.
        let key = provider.key("ab12").await.unwrap();
        assert_eq!((key.id.as_str(), &key.key[..]), ("ab12", &b"/key/ab12?remoteSystemID=KP+B%26"[..]));
    }

    #[tokio::test]
    async fn the_size_is_requested_in_bits() {
        let provider = provider(|uri| {
            let is_expected = uri == "/key?remoteSystemID=KP+B%26size%3D1%2F%23&size=256";
            (if is_expected { StatusCode::OK } else { StatusCode::GONE }, delivered("1", KEY)).into_response()
        })
        .await;
        assert!(provider.new_key().await.is_ok());
    }

    #[tokio::test]
    async fn an_id_that_is_not_hexadecimal_is_never_sent() {
        let provider = provider(|_| panic!("a request")).await;
        for id in ["", "../capabilities", "file-0123", "12 34", &"a".repeat(65)] {
            let error = provider.key(id).await.err().unwrap().to_string();
            assert!(error.contains("another type of key source"), "{error}");
        }
    }

    #[tokio::test]
    async fn errors_quote_nothing_secret() {
        let long = format!(r#"{{"keyId": "1", "key": "{}"}}"#, "5e".repeat(1 << 17));
        for (status, body, expected) in [
            (400, "5ec5e7".into(), "does not have the key"),
            (404, String::new(), "404 Not Found; check `url`"),
            (405, String::new(), "405 Method Not Allowed; check `url`"),
            (500, "5ec5e7".into(), "500 Internal Server Error"),
            (302, String::new(), "302 Found"),
            (204, String::new(), "204 No Content"),
            (200, String::new(), "does not conform"),
            (200, "5ec5e7".into(), "does not conform"),
            (200, format!("[{}]", delivered("1", KEY)), "does not conform"),
            (200, r#"{"keyId": "1"}"#.into(), "does not conform"),
            (200, r#"{"keyId": 1, "key": "5ec5e7"}"#.into(), "does not conform"),
            (200, delivered("1", "5ec5e"), "not hexadecimal"),
            (200, delivered("1", "5ec5e7--"), "not hexadecimal"),
            (200, delivered("1", "5ec5e7"), "has 24 bits, not 256"),
            (200, delivered("1", ""), "has 0 bits, not 256"),
            (200, delivered("", KEY), "invalid key ID"),
            (200, delivered("5ec5e7-x", KEY), "invalid key ID"),
            (200, long, "exceeds 262144 bytes"),
        ] {
            let error = answering(status, body).await.new_key().await.err().expect("no key").to_string();
            assert!(error.contains(expected) && error.len() < 300, "{error}");
            assert!(!error.contains("5ec5e"), "{error}");
        }
        let error = answering(200, delivered("12", KEY)).await.key("13").await.err().unwrap().to_string();
        assert!(error.contains("a different key than requested"), "{error}");
    }

    #[tokio::test]
    async fn a_provider_that_is_slow_or_absent_is_an_error_in_time() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let provider = KeyProvider::new(&config(url)).unwrap();
        assert!(
            matches!(provider.new_key().await.err(), Some(SourceError::Failed(why)) if why.contains("timed out"))
        );
        drop(listener);
        assert!(matches!(provider.new_key().await.err(), Some(SourceError::Failed(_))));
    }

    fn capabilities(change: impl Fn(&mut Capabilities)) -> Option<String> {
        let mut capabilities: Capabilities = serde_json::from_str(
            r#"{"entropy": true, "key": true, "algorithm": "PRF", "localSystemID": "KP_A",
                "remoteSystemID": ["Eve", "KP ?&size=[!2-9]/*"]}"#,
        )
        .unwrap();
        change(&mut capabilities);
        assert!(capabilities.describe().contains("algorithm PRF, shares keys with"));
        capabilities.check(&config(String::new())).err().map(|error| error.to_string())
    }

    #[test]
    fn capabilities_are_compared_with_the_configuration() {
        assert_eq!(capabilities(|_| {}), None);
        assert!(capabilities(|theirs| theirs.key = false).unwrap().contains("delivers no keys"));
        let other = capabilities(|theirs| theirs.local_system_id = "KP\n_B".into()).unwrap();
        assert!(other.contains("`system` is KP_A, but the key provider names itself KP_B"), "{other}");
        let none = capabilities(|theirs| theirs.remote_system_ids.truncate(1)).unwrap();
        assert!(none.contains("`peer-system`") && none.contains("shares no keys"), "{none}");
    }

    #[test]
    fn patterns_match_as_the_draft_says() {
        for (pattern, name, expected) in [
            ("Bob", "Bob", true),
            ("Bob", "Bobby", false),
            ("Bobby", "Bob", false),
            ("", "", true),
            ("", "Bob", false),
            ("*", "", true),
            ("**", "Bob", true),
            ("KP_*_LOC1", "KP_ALICE_LOC1", true),
            ("KP_*_LOC1", "KP_ALICE_LOC1_LOC1", true),
            ("KP_*_LOC1", "KP_ALICE_LOC2", false),
            ("B?b", "Bob", true),
            ("B?b", "Bb", false),
            ("KP[123]", "KP2", true),
            ("KP[123]", "KP4", false),
            ("KP[!123]", "KP4", true),
            ("KP[!123]", "KP1", false),
            ("KP[0-9]", "KP7", true),
            ("KP[0-9]", "KPx", false),
            ("KP[]]", "KP]", true),
            ("KP[", "KP[", true),
            ("KP[a", "KPa", false),
            ("*[ab]*", "xxbyy", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
