//! The Secure Key Integration Protocol (SKIP), draft-cisco-skip-02: methods and status codes (section 4).
//!
//! The key provider's system ID is the ID of the KME. Its keys come from the stream that both KMEs share, and are not
//! available by the methods of GS QKD 014, where SAEs name them. Clients are the SAEs of this KME.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::api::{Entity, SIZES};
use crate::stream::{NamedKey, Saes};
use crate::tls::Caller;

/// Returns the routes of the methods (table 2). Other methods than GET are answered with status 405.
pub fn router(entity: Arc<Entity>) -> Router {
    Router::new()
        .route("/capabilities", get(capabilities))
        .route("/key", get(new_key))
        .route("/key/{id}", get(key))
        .route("/entropy", get(entropy))
        .with_state(entity)
}

/// The response of `GET /capabilities` (figure 3).
#[derive(Serialize)]
struct Capabilities<'a> {
    entropy: bool,
    key: bool,
    algorithm: &'a str,
    #[serde(rename = "localSystemID")]
    local_system_id: &'a str,
    #[serde(rename = "remoteSystemID")]
    remote_system_ids: [&'a str; 1],
}

/// The response of `GET /key` (figure 5).
#[derive(Serialize)]
struct Key {
    #[serde(rename = "keyId")]
    id: String,
    key: String,
}

/// The response of `GET /entropy` (figure 7).
#[derive(Serialize)]
struct Entropy {
    #[serde(rename = "randomStr")]
    random: String,
    minentropy: u64,
}

#[derive(Deserialize)]
struct KeyQuery {
    #[serde(rename = "remoteSystemID")]
    remote: String,
    size: Option<u64>,
}

#[derive(Deserialize)]
struct EntropyQuery {
    minentropy: Option<u64>,
}

/// A response other than of status 200. The draft defines no body.
struct Refusal(StatusCode, &'static str);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

fn bad<E>(message: &'static str) -> impl FnOnce(E) -> Refusal {
    move |_| Refusal(StatusCode::BAD_REQUEST, message)
}

/// Checks the caller, after the faults that all methods share: a delay, or an internal error.
async fn admit(entity: &Entity, caller: &Caller) -> Result<(), Refusal> {
    if let Some(delay) = entity.config.faults.delay {
        tokio::time::sleep(delay).await;
    }
    if entity.config.faults.unavailable {
        return Err(Refusal(StatusCode::INTERNAL_SERVER_ERROR, "out of service"));
    }
    let is_ours = entity.config.saes.contains(&caller.sae);
    if is_ours { Ok(()) } else { Err(Refusal(StatusCode::UNAUTHORIZED, "unknown client")) }
}

/// Checks the name of the other key provider.
fn check_remote(entity: &Entity, remote: &str) -> Result<(), Refusal> {
    let is_peer = remote == entity.config.peer_id;
    if is_peer { Ok(()) } else { Err(Refusal(StatusCode::BAD_REQUEST, "unknown remoteSystemID")) }
}

// ---- Section 4.1

async fn capabilities(
    State(entity): State<Arc<Entity>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
) -> Result<Response, Refusal> {
    admit(&entity, &caller).await?;
    Ok(entity.answer(&Capabilities {
        entropy: true,
        key: true,
        algorithm: "HKDF-SHA-256",
        local_system_id: &entity.config.id,
        remote_system_ids: [&entity.config.peer_id],
    }))
}

// ---- Section 4.2

async fn new_key(
    State(entity): State<Arc<Entity>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    query: Result<Query<KeyQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    admit(&entity, &caller).await?;
    let Query(KeyQuery { remote, size }) = query.map_err(bad("invalid query"))?;
    check_remote(&entity, &remote)?;
    let config = &entity.config;
    let size = size.unwrap_or(config.key_size);
    if !size.is_multiple_of(8) || size < SIZES.0 || size > SIZES.1 {
        return Err(Refusal(StatusCode::BAD_REQUEST, "unsupported size"));
    }
    let mut state = entity.state();
    if config.faults.empty || state.stored < 1.0 {
        return Err(Refusal(StatusCode::INTERNAL_SERVER_ERROR, "no keys left"));
    }
    state.stored -= 1.0;
    let saes = Saes { master: &config.id, slave: &config.peer_id };
    let issued = state.stream.issue(saes, (size / 8) as u8);
    let NamedKey { id, key } = match (config.faults.repeat, state.repeated) {
        (true, Some(id)) => state.stream.find(id, saes).unwrap_or(issued),
        _ => issued,
    };
    state.repeated.get_or_insert(id);
    Ok(entity.answer(&named(id, key, config.faults.wrong)))
}

async fn key(
    State(entity): State<Arc<Entity>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    Path(id): Path<String>,
    query: Result<Query<KeyQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    admit(&entity, &caller).await?;
    let Query(KeyQuery { remote, .. }) = query.map_err(bad("invalid query"))?;
    check_remote(&entity, &remote)?;
    let id = Uuid::try_parse(&id).map_err(bad("malformed keyId"))?;
    let config = &entity.config;
    let mut state = entity.state();
    let saes = Saes { master: &remote, slave: &config.id };
    let is_new = config.faults.repeat || !state.delivered.contains(id);
    let found = state.stream.find(id, saes).filter(|_| is_new && !config.faults.empty);
    let Some(NamedKey { id, key }) = found else {
        return Err(Refusal(StatusCode::BAD_REQUEST, "the key was not found"));
    };
    state.delivered.insert(id);
    Ok(entity.answer(&named(id, key, config.faults.wrong)))
}

/// Builds the response with a key. Flips its first bit if `is_wrong`.
fn named(id: Uuid, mut key: Zeroizing<Vec<u8>>, is_wrong: bool) -> Key {
    if let (true, Some(first)) = (is_wrong, key.first_mut()) {
        *first ^= 0x80;
    }
    Key { id: id.simple().to_string(), key: hex::encode(&*key) }
}

// ---- Section 4.3

async fn entropy(
    State(entity): State<Arc<Entity>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    query: Result<Query<EntropyQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    const MAX_BITS: u64 = 4096;
    admit(&entity, &caller).await?;
    let Query(EntropyQuery { minentropy }) = query.map_err(bad("invalid query"))?;
    let minentropy = minentropy.unwrap_or(256);
    let unavailable = Refusal(StatusCode::SERVICE_UNAVAILABLE, "not enough entropy");
    if minentropy > MAX_BITS {
        return Err(unavailable);
    }
    let mut random = Zeroizing::new(vec![0; minentropy.div_ceil(8) as usize]);
    sealcomb_random::fill(&mut random).map_err(|_| unavailable)?;
    Ok(entity.answer(&Entropy { random: hex::encode(&*random), minentropy }))
}
