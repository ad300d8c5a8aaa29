//! The REST interface of ETSI GS QKD 014 v1.1.1: methods (section 5) and data formats (section 6).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::config::Config;
use crate::stream::{Delivered, NamedKey, Saes, Stream};
use crate::tls::Caller;

/// Minimum and maximum key size in bits.
pub(crate) const SIZES: (u64, u64) = (64, 1024);

/// A KME.
pub struct Entity {
    pub(crate) config: Config,
    state: Mutex<EntityState>,
}

pub(crate) struct EntityState {
    pub(crate) stream: Stream,
    pub(crate) delivered: Delivered,
    /// Number of stored keys at the time `since`.
    pub(crate) stored: f64,
    since: Instant,
    /// The key that the fault `repeat` delivers.
    last: Option<(Uuid, String)>,
    /// The ID of the key that the fault `repeat` delivers by SKIP.
    pub(crate) repeated: Option<Uuid>,
}

impl Entity {
    /// Creates a KME with a full key store.
    pub fn new(config: Config) -> Arc<Self> {
        let state = EntityState {
            stream: Stream::new(&config.stream),
            delivered: Delivered::default(),
            stored: f64::from(config.capacity),
            since: Instant::now(),
            last: None,
            repeated: None,
        };
        Arc::new(Self { config, state: Mutex::new(state) })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, EntityState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let grown = (now - state.since).as_secs_f64() * f64::from(self.config.rate);
        state.stored = (state.stored + grown).min(f64::from(self.config.capacity));
        state.since = now;
        state
    }

    /// Builds a response of status 200, truncated if the fault `garbled` is set.
    pub(crate) fn answer(&self, body: &impl Serialize) -> Response {
        if self.config.faults.garbled {
            // Bytes: the middle may be within a character.
            let mut text = serde_json::to_vec(body).unwrap_or_default();
            text.truncate(text.len() / 2);
            return text.into_response();
        }
        Json(body).into_response()
    }

    /// Returns the routes of the methods.
    pub fn router(self: Arc<Self>) -> Router {
        Router::new()
            .route("/api/v1/keys/{sae}/status", get(status))
            .route("/api/v1/keys/{sae}/enc_keys", get(enc_keys_by_get).post(enc_keys_by_post))
            .route("/api/v1/keys/{sae}/dec_keys", get(dec_keys_by_get).post(dec_keys_by_post))
            .with_state(self)
    }
}

// ---- Section 6: formats

#[derive(Serialize)]
struct Status<'a> {
    #[serde(rename = "source_KME_ID")]
    source_kme_id: &'a str,
    #[serde(rename = "target_KME_ID")]
    target_kme_id: &'a str,
    #[serde(rename = "master_SAE_ID")]
    master_sae_id: &'a str,
    #[serde(rename = "slave_SAE_ID")]
    slave_sae_id: &'a str,
    key_size: u64,
    stored_key_count: u64,
    max_key_count: u64,
    max_key_per_request: u64,
    max_key_size: u64,
    min_key_size: u64,
    #[serde(rename = "max_SAE_ID_count")]
    max_sae_id_count: u64,
}

#[derive(Default, Deserialize)]
struct KeyRequest {
    number: Option<u64>,
    size: Option<u64>,
    #[serde(default, rename = "additional_slave_SAE_IDs")]
    additional_slave_sae_ids: Vec<String>,
    #[serde(default)]
    extension_mandatory: Vec<Map<String, Value>>,
    // Optional extensions may be ignored (section 6.2).
}

#[derive(Deserialize)]
struct KeyIds {
    #[serde(rename = "key_IDs")]
    key_ids: Vec<KeyIdOf>,
}

#[derive(Deserialize)]
struct KeyIdOf {
    #[serde(rename = "key_ID")]
    key_id: String,
}

#[derive(Serialize)]
struct KeyContainer {
    keys: Vec<ContainedKey>,
}

#[derive(Serialize)]
struct ContainedKey {
    #[serde(rename = "key_ID")]
    key_id: Name,
    key: String,
}

/// A key ID, serialized as a string.
#[derive(Clone, Copy)]
struct Name(Uuid);

impl Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// The body of an error response (section 6.5).
#[derive(Serialize)]
struct ErrorBody {
    message: String,
}

struct Refusal(StatusCode, String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(ErrorBody { message: self.1 })).into_response()
    }
}

fn bad(message: impl Into<String>) -> Refusal {
    Refusal(StatusCode::BAD_REQUEST, message.into())
}

/// Checks that the caller is an SAE of this KME, and that `other` is an SAE of either KME (section 5).
fn check(entity: &Entity, caller: &Caller, other: &str) -> Result<(), Refusal> {
    let Config { saes, peer_saes, .. } = &entity.config;
    if !saes.contains(&caller.sae) {
        return Err(Refusal(StatusCode::UNAUTHORIZED, "the caller is not an SAE of this KME".into()));
    }
    let is_known = saes.iter().chain(peer_saes).any(|sae| sae == other);
    if is_known { Ok(()) } else { Err(bad("unknown peer SAE")) }
}

/// Injects the faults that all methods share: a delay, or status 503.
async fn inject_faults(entity: &Entity) -> Result<(), Refusal> {
    if let Some(delay) = entity.config.faults.delay {
        tokio::time::sleep(delay).await;
    }
    if entity.config.faults.unavailable {
        return Err(Refusal(StatusCode::SERVICE_UNAVAILABLE, "out of service".into()));
    }
    Ok(())
}

// ---- Section 5.1

async fn status(
    State(entity): State<Arc<Entity>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    Path(slave): Path<String>,
) -> Result<Response, Refusal> {
    inject_faults(&entity).await?;
    check(&entity, &caller, &slave)?;
    let config = &entity.config;
    #[allow(clippy::cast_sign_loss, reason = "the count is never negative")]
    let stored_key_count = entity.state().stored as u64;
    Ok(entity.answer(&Status {
        source_kme_id: &config.id,
        target_kme_id: &config.peer_id,
        master_sae_id: &caller.sae,
        slave_sae_id: &slave,
        key_size: config.key_size,
        stored_key_count,
        max_key_count: config.capacity.into(),
        max_key_per_request: config.max_per_request,
        max_key_size: SIZES.1,
        min_key_size: SIZES.0,
        max_sae_id_count: 0,
    }))
}

// ---- Section 5.2

async fn enc_keys_by_get(
    state: State<Arc<Entity>>,
    caller: ConnectInfo<Caller>,
    slave: Path<String>,
    query: Result<Query<KeyRequest>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(request) = query.map_err(|error| bad(error.body_text()))?;
    enc_keys(state, caller, slave, request).await
}

async fn enc_keys_by_post(
    state: State<Arc<Entity>>,
    caller: ConnectInfo<Caller>,
    slave: Path<String>,
    body: Result<Json<KeyRequest>, JsonRejection>,
) -> Result<Response, Refusal> {
    let Json(request) = body.map_err(|error| bad(error.body_text()))?;
    enc_keys(state, caller, slave, request).await
}

async fn enc_keys(
    State(entity): State<Arc<Entity>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    Path(slave): Path<String>,
    request: KeyRequest,
) -> Result<Response, Refusal> {
    inject_faults(&entity).await?;
    check(&entity, &caller, &slave)?;
    let config = &entity.config;
    let number = request.number.unwrap_or(1);
    let size = request.size.unwrap_or(config.key_size);
    if !request.extension_mandatory.is_empty() {
        return Err(bad("not all extension_mandatory parameters are supported"));
    }
    if !request.additional_slave_sae_ids.is_empty() {
        return Err(bad("additional_slave_SAE_IDs are not supported: max_SAE_ID_count is 0"));
    }
    if number == 0 || number > config.max_per_request {
        return Err(bad(format!("number must be from 1 to {}", config.max_per_request)));
    }
    if !size.is_multiple_of(8) {
        // The example message of the standard.
        return Err(bad("size shall be a multiple of 8"));
    }
    if size < SIZES.0 || size > SIZES.1 {
        return Err(bad(format!("size must be from {} to {}", SIZES.0, SIZES.1)));
    }
    if config.faults.empty {
        return Ok(entity.answer(&KeyContainer { keys: Vec::new() }));
    }
    let mut state = entity.state();
    #[allow(clippy::cast_precision_loss, reason = "requests are for few keys")]
    let wanted = number as f64;
    if state.stored < wanted {
        return Err(Refusal(StatusCode::SERVICE_UNAVAILABLE, "not enough keys in the store".into()));
    }
    state.stored -= wanted;
    let saes = Saes { master: &caller.sae, slave: &slave };
    let keys = (0..number).map(|_| {
        let NamedKey { id, key } = state.stream.issue(saes, (size / 8) as u8);
        let text = encode(&key, config.faults.wrong);
        if config.faults.repeat {
            let (id, key) = state.last.get_or_insert((id, text)).clone();
            return ContainedKey { key_id: Name(id), key };
        }
        ContainedKey { key_id: Name(id), key: text }
    });
    let keys = keys.collect();
    Ok(entity.answer(&KeyContainer { keys }))
}

/// Encodes a key in base64. Flips its first bit if `is_wrong`.
fn encode(key: &[u8], is_wrong: bool) -> String {
    let mut key = zeroize::Zeroizing::new(key.to_vec());
    if let (true, Some(first)) = (is_wrong, key.first_mut()) {
        *first ^= 0x80;
    }
    BASE64_STANDARD.encode(&*key)
}

// ---- Section 5.3

/// Returns the refusal for a key that was not found: 401 if it was issued for another SAE, 400 if it does not exist
/// (section 5.3).
fn not_found(config: &Config, stream: &Stream, id: Uuid, caller: &str) -> Refusal {
    let all = || config.saes.iter().chain(&config.peer_saes);
    let is_for = |slave: &str| all().any(|master| stream.find(id, Saes { master, slave }).is_some());
    if all().any(|slave| slave != caller && is_for(slave)) {
        Refusal(StatusCode::UNAUTHORIZED, "a key was issued for another SAE".into())
    } else {
        bad("one or more keys specified are not found on KME")
    }
}

#[derive(Deserialize)]
struct KeyIdQuery {
    #[serde(rename = "key_ID")]
    key_id: String,
}

async fn dec_keys_by_get(
    state: State<Arc<Entity>>,
    caller: ConnectInfo<Caller>,
    master: Path<String>,
    query: Result<Query<KeyIdQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(KeyIdQuery { key_id }) = query.map_err(|error| bad(error.body_text()))?;
    dec_keys(state, caller, master, vec![KeyIdOf { key_id }]).await
}

async fn dec_keys_by_post(
    state: State<Arc<Entity>>,
    caller: ConnectInfo<Caller>,
    master: Path<String>,
    body: Result<Json<KeyIds>, JsonRejection>,
) -> Result<Response, Refusal> {
    let Json(KeyIds { key_ids }) = body.map_err(|error| bad(error.body_text()))?;
    dec_keys(state, caller, master, key_ids).await
}

async fn dec_keys(
    State(entity): State<Arc<Entity>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    Path(master): Path<String>,
    ids: Vec<KeyIdOf>,
) -> Result<Response, Refusal> {
    inject_faults(&entity).await?;
    check(&entity, &caller, &master)?;
    let config = &entity.config;
    if config.faults.empty {
        return Ok(entity.answer(&KeyContainer { keys: Vec::new() }));
    }
    if ids.is_empty() || ids.len() as u64 > config.max_per_request {
        return Err(bad(format!("key_IDs must have 1 to {} entries", config.max_per_request)));
    }
    let mut state = entity.state();
    let saes = Saes { master: &master, slave: &caller.sae };
    let mut found = Vec::with_capacity(ids.len());
    let mut asked = HashSet::new();
    // All keys are delivered, or none (section 5.3).
    for KeyIdOf { key_id } in &ids {
        let id = Uuid::try_parse(key_id).map_err(|_| bad("a key_ID is not a UUID"))?;
        let is_new = asked.insert(id) && (config.faults.repeat || !state.delivered.contains(id));
        let key = state.stream.find(id, saes).filter(|_| is_new);
        found.push(key.ok_or_else(|| not_found(&entity.config, &state.stream, id, &caller.sae))?);
    }
    let keys = found.into_iter().map(|NamedKey { id, key }| {
        state.delivered.insert(id);
        ContainedKey { key_id: Name(id), key: encode(&key, config.faults.wrong) }
    });
    let keys = keys.collect();
    Ok(entity.answer(&KeyContainer { keys }))
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;
    use crate::config::Faults;

    #[test]
    fn a_response_may_be_truncated_within_a_character() {
        let entity = Entity::new(Config {
            id: "kme-a".into(),
            peer_id: "kme-b".into(),
            listen: "127.0.0.1:0".parse().unwrap(),
            ca: Vec::new(),
            cert: Vec::new(),
            key: Zeroizing::default(),
            stream: Zeroizing::new(vec![7; 32]),
            saes: Vec::new(),
            peer_saes: Vec::new(),
            key_size: 256,
            max_per_request: 1,
            capacity: 1,
            rate: 1,
            faults: Faults { garbled: true, ..Faults::default() },
        });
        for text in ["", "\u{e9}", "a\u{e9}", "\u{e9}\u{e9}"] {
            assert_eq!(entity.answer(&text).status(), StatusCode::OK, "{text}");
        }
    }
}
