//! The status of a running link: as JSON for `sealcomb-link status`, and as metrics in Prometheus' text format.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use ctutils::CtEq;
use sealcomb_command::{Classify, print};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::config::{Config, ListenTls, Role};
use crate::control::Control;
use crate::control::version::{Versions, printable};
use crate::counters::{Counters, Counts};
use crate::keys;
use crate::listener::LimitedListener;
use crate::path::tunnels::Tunnel;
use crate::status_tls::{self, TlsListener};

/// Locks a mutex. Poisoning is ignored: every critical section leaves the data consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The counters and the state of the control of a peer.
#[derive(Debug, Default)]
pub(crate) struct KeyCounters {
    /// Installations of a sending key.
    pub changes: AtomicU64,
    /// Offers refused for reasons other than a key disagreement.
    pub refused: AtomicU64,
    /// Offers refused because the two ends had different keys of one ID.
    pub disagreements: AtomicU64,
    /// Keys discarded because the source had delivered them before.
    pub repeated: AtomicU64,
    /// Requests to the source that returned no key.
    pub source_failures: AtomicU64,
    /// Requests among `source_failures` whose response contained no key.
    pub source_empty: AtomicU64,
    /// Requests among `source_failures` whose response violated the interface or contained unusable keys.
    pub source_malformed: AtomicU64,
    /// Control messages ignored as forged, copied, or from an old boot.
    pub control_ignored: AtomicU64,
    /// NAT keepalives sent.
    pub nat_keepalives: AtomicU64,
    /// The state of the peer, and the current problems.
    now: Mutex<Sight>,
}

/// The peer as the control task sees it.
#[derive(Clone, Debug, Default)]
struct Sight {
    /// When the peer last showed a sign of life; `None` if it never answered.
    heard: Option<Instant>,
    is_dead: bool,
    address: Option<SocketAddr>,
    /// The peer's release and the protocol version in use.
    versions: Option<(String, u16)>,
    troubles: Vec<String>,
}

impl KeyCounters {
    /// Records the state of the peer and the current problems.
    pub(crate) fn note(&self, machine: &Control, troubles: Vec<String>, now: Instant) {
        let versions =
            machine.peer_versions().map(|(versions, version)| (printable(&versions.release), version));
        let sight = Sight {
            heard: machine.heard(),
            is_dead: machine.is_peer_dead(now),
            address: machine.address(),
            versions,
            troubles,
        };
        *lock(&self.now) = sight;
    }
}

/// The parts of a running link that its status is composed of.
pub(crate) struct StatusState {
    pub inner_mtu: usize,
    pub started: Instant,
    /// The counters of the packet threads, of packets that belong to no peer.
    pub workers: Vec<Arc<Counters>>,
    /// Control messages ignored because they belong to no peer.
    pub control_ignored: AtomicU64,
    peers: Mutex<Arc<Vec<PeerState>>>,
    /// The tunnels of removed peers that packet threads may still use, and the counts of the others.
    removed: Mutex<(Vec<Arc<Tunnel>>, Counts)>,
    /// The current problems of the link as a whole.
    troubles: Mutex<Vec<String>>,
}

/// The parts of a peer that its status is composed of.
pub(crate) struct PeerState {
    /// The name of the peer's table.
    pub name: Option<String>,
    pub role: Role,
    pub suite: &'static str,
    pub tunnel: Arc<Tunnel>,
    pub keys: Arc<KeyCounters>,
}

/// Schema identifier of the status report.
const SCHEMA: &str = "sealcomb-link-status/1";

/// The status report, as served in JSON. Without tables of peers, it includes the fields of the only peer.
#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    schema: String,
    inner_mtu: usize,
    up_seconds: f64,
    /// This end's release of sealcomb-link.
    release: String,
    #[serde(flatten)]
    only: Option<PeerReport>,
    /// The peers with names.
    #[serde(default)]
    peers: Vec<NamedReport>,
    /// The current problems, worded as in the log.
    troubles: Vec<String>,
    control_ignored: u64,
    /// The counters of all peers, and of packets that belong to no peer.
    counters: CountsByName,
    /// Outbound packets counted in no category: those in flight.
    unaccounted_out: i64,
    /// Inbound packets counted in no category: those in flight.
    unaccounted_in: i64,
}

/// Counters by name.
type CountsByName = serde_json::Map<String, serde_json::Value>;

/// The report about a peer that has a name.
#[derive(Serialize, Deserialize)]
struct NamedReport {
    name: String,
    #[serde(flatten)]
    peer: PeerReport,
    troubles: Vec<String>,
    control_ignored: u64,
    counters: CountsByName,
}

/// The report about a peer.
#[derive(Serialize, Deserialize)]
struct PeerReport {
    role: String,
    suite: String,
    /// Whether the peer has answered and is not dead.
    met: bool,
    /// Seconds since the peer's last sign of life.
    heard_seconds_ago: Option<f64>,
    /// The peer's release, if it has answered.
    peer_release: Option<String>,
    /// The peer's address, if it is known.
    peer_address: Option<SocketAddr>,
    /// The protocol version in use, if the peer has answered.
    protocol: Option<u16>,
    sending: Option<Sending>,
    receiving: Vec<Receiving>,
    key_changes: u64,
    keys_refused: u64,
    key_disagreements: u64,
    keys_repeated: u64,
    key_source_failures: u64,
    key_source_empty: u64,
    key_source_malformed: u64,
    nat_keepalives_sent: u64,
}

#[derive(Serialize, Deserialize)]
struct Sending {
    epoch: u64,
    spi: String,
    age_seconds: f64,
    packets: u64,
    bytes: u64,
    expired: bool,
}

#[derive(Serialize, Deserialize)]
struct Receiving {
    epoch: u64,
    spi: String,
    age_seconds: f64,
    packets: u64,
}

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Returns the counts of all threads of a peer.
fn counts(tunnel: &Tunnel) -> Counts {
    let mut counts = Counts::default();
    for strand in &tunnel.strands {
        strand.counters.add_to(&mut counts);
    }
    counts
}

fn by_name(counts: &Counts) -> CountsByName {
    counts.named().map(|(name, count)| (name.to_owned(), count.into())).collect()
}

impl PeerState {
    fn report(&self, sight: Sight, now: Instant) -> PeerReport {
        let age = |since: Instant| now.saturating_duration_since(since).as_secs_f64();
        let sending = self.tunnel.associations.sending().map(|outbound| {
            let (packets, bytes) = outbound.used();
            Sending {
                epoch: outbound.epoch,
                spi: format!("{:#010x}", outbound.spi),
                age_seconds: age(outbound.since),
                packets,
                bytes,
                expired: outbound.is_past_hard_limit(now),
            }
        });
        let inbound = self.tunnel.associations.receiving();
        let mut receiving: Vec<Receiving> = inbound
            .values()
            .map(|inbound| Receiving {
                epoch: inbound.epoch,
                spi: format!("{:#010x}", inbound.spi),
                age_seconds: age(inbound.since),
                packets: inbound.packets(),
            })
            .collect();
        receiving.sort_by_key(|inbound| inbound.epoch);
        let Sight { heard, is_dead, address, versions, .. } = sight;
        PeerReport {
            role: self.role.name().into(),
            suite: self.suite.into(),
            met: heard.is_some() && !is_dead,
            heard_seconds_ago: heard.map(age),
            peer_release: versions.as_ref().map(|(release, _)| release.clone()),
            peer_address: address,
            protocol: versions.map(|(_, version)| version),
            sending,
            receiving,
            key_changes: load(&self.keys.changes),
            keys_refused: load(&self.keys.refused),
            key_disagreements: load(&self.keys.disagreements),
            keys_repeated: load(&self.keys.repeated),
            key_source_failures: load(&self.keys.source_failures),
            key_source_empty: load(&self.keys.source_empty),
            key_source_malformed: load(&self.keys.source_malformed),
            nat_keepalives_sent: load(&self.keys.nat_keepalives),
        }
    }
}

impl StatusState {
    /// Returns the state of a link without peers. `workers` are the counters of its packet threads.
    pub(crate) fn new(inner_mtu: usize, started: Instant, workers: Vec<Arc<Counters>>) -> Self {
        Self {
            inner_mtu,
            started,
            workers,
            control_ignored: AtomicU64::new(0),
            peers: Mutex::default(),
            removed: Mutex::default(),
            troubles: Mutex::default(),
        }
    }

    /// Replaces the peers.
    pub(crate) fn set_peers(&self, peers: Vec<PeerState>) {
        *lock(&self.peers) = Arc::new(peers);
    }

    /// Keeps the counts of a peer that was removed in the totals.
    pub(crate) fn remove(&self, tunnel: Arc<Tunnel>) {
        let (tunnels, total) = &mut *lock(&self.removed);
        tunnels.retain_mut(|old| {
            // A packet thread that has a tunnel in its batch adds to its counters.
            let is_used = Arc::get_mut(old).is_none();
            if !is_used {
                old.strands.iter().for_each(|strand| strand.counters.add_to(total));
            }
            is_used
        });
        tunnels.push(tunnel);
    }

    /// Sets the current problems of the link as a whole.
    pub(crate) fn set_troubles(&self, troubles: Vec<String>) {
        *lock(&self.troubles) = troubles;
    }

    /// Returns the counts of packets that belong to no peer.
    fn counts_of_no_peer(&self) -> Counts {
        let mut counts = Counts::default();
        for worker in &self.workers {
            worker.add_to(&mut counts);
        }
        counts
    }

    /// Returns the counts of all packets, those of peers that were removed included.
    fn total(&self, peers: &[PeerState]) -> Counts {
        let mut total = self.counts_of_no_peer();
        let (tunnels, before) = &*lock(&self.removed);
        let current = peers.iter().map(|peer| &peer.tunnel);
        for strand in current.chain(tunnels.iter()).flat_map(|tunnel| &tunnel.strands) {
            strand.counters.add_to(&mut total);
        }
        total.add(before);
        total
    }

    fn report(&self) -> Report {
        let now = Instant::now();
        let peers = lock(&self.peers).clone();
        let total = self.total(&peers);
        let (mut only, mut named, mut troubles) = (None, Vec::new(), lock(&self.troubles).clone());
        let mut control_ignored = load(&self.control_ignored);
        for peer in peers.iter() {
            let sight = lock(&peer.keys.now).clone();
            let ignored = load(&peer.keys.control_ignored);
            control_ignored += ignored;
            let own = sight.troubles.clone();
            let report = peer.report(sight, now);
            let Some(name) = peer.name.clone() else {
                // The only peer's troubles include those of the link.
                (only, troubles) = (Some(report), own);
                continue;
            };
            troubles.extend(own.iter().map(|trouble| format!("{name}: {trouble}")));
            let counters = by_name(&counts(&peer.tunnel));
            named.push(NamedReport { name, peer: report, troubles: own, control_ignored: ignored, counters });
        }
        Report {
            schema: SCHEMA.into(),
            inner_mtu: self.inner_mtu,
            up_seconds: (now - self.started).as_secs_f64(),
            release: Versions::current().release,
            only,
            peers: named,
            troubles,
            control_ignored,
            counters: by_name(&total),
            unaccounted_out: total.unaccounted_out() as i64,
            unaccounted_in: total.unaccounted_in() as i64,
        }
    }

    fn metrics(&self) -> String {
        let report = self.report();
        let peers = lock(&self.peers).clone();
        // The counts of an only peer have no label, like those of packets that belong to no peer.
        let unnamed = if report.only.is_some() { self.total(&peers) } else { self.counts_of_no_peer() };
        metrics(&report, &unnamed, &peers)
    }
}

/// The metrics in Prometheus' text format. The values of a metric must follow each other.
#[derive(Default)]
struct Metrics {
    text: String,
}

impl Metrics {
    /// Begins a metric.
    fn begin(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP sealcomb_link_{name} {help}\n# TYPE sealcomb_link_{name} {kind}");
    }

    /// Adds a value, of a peer if it has a name.
    fn value(&mut self, name: &str, peer: Option<&str>, value: f64) {
        let _ = match peer {
            // Names need no escaping.
            Some(peer) => writeln!(self.text, "sealcomb_link_{name}{{peer=\"{peer}\"}} {value}"),
            None => writeln!(self.text, "sealcomb_link_{name} {value}"),
        };
    }
}

/// Formats a report as metrics, each with its description and type.
fn metrics(report: &Report, unnamed: &Counts, peers: &[PeerState]) -> String {
    let mut metrics = Metrics::default();
    let named: Vec<(&str, Counts)> =
        peers.iter().filter_map(|peer| Some((peer.name.as_deref()?, counts(&peer.tunnel)))).collect();
    for (index, ((name, count), help)) in unnamed.named().zip(Counts::descriptions()).enumerate() {
        let name = format!("{name}_total");
        metrics.begin(&name, "counter", help);
        metrics.value(&name, None, as_f64(count));
        for (peer, counts) in &named {
            if let Some((_, count)) = counts.named().nth(index) {
                metrics.value(&name, Some(peer), as_f64(count));
            }
        }
    }
    let only = report.only.iter().map(|peer| (None, peer, report.troubles.len(), report.control_ignored));
    let named = report
        .peers
        .iter()
        .map(|named| (Some(named.name.as_str()), &named.peer, named.troubles.len(), named.control_ignored));
    let peers: Vec<(Option<&str>, &PeerReport, usize, u64)> = only.chain(named).collect();
    for Field { name, help, value } in FIELDS {
        let values = peers.iter().filter_map(|(peer, report, ..)| Some((*peer, value(report)?)));
        let values: Vec<(Option<&str>, f64)> = values.collect();
        if values.is_empty() {
            continue;
        }
        metrics.begin(name, if name.ends_with("_total") { "counter" } else { "gauge" }, help);
        for (peer, value) in values {
            metrics.value(name, peer, value);
        }
    }
    let name = "control_ignored_total";
    metrics.begin(name, "counter", "Control messages ignored as forged, copied, or from an old boot.");
    let of_peers: u64 = peers.iter().filter(|(peer, ..)| peer.is_some()).map(|(.., ignored)| ignored).sum();
    metrics.value(name, None, as_f64(report.control_ignored - of_peers));
    metrics.begin("troubles", "gauge", "Number of current problems.");
    let of_peers = peers.iter().filter(|(peer, ..)| peer.is_some()).map(|(_, _, troubles, _)| troubles).sum();
    metrics.value("troubles", None, as_f64(report.troubles.len().saturating_sub(of_peers) as u64));
    for (peer, _, troubles, _) in peers.iter().filter(|(peer, ..)| peer.is_some()) {
        metrics.value("troubles", *peer, as_f64(*troubles as u64));
    }
    metrics.begin("up_seconds", "gauge", "Seconds since the start of the link.");
    metrics.value("up_seconds", None, report.up_seconds);
    metrics.text
}

/// A metric of a peer.
struct Field {
    name: &'static str,
    help: &'static str,
    /// Returns the value, if there is one.
    value: fn(&PeerReport) -> Option<f64>,
}

/// The metrics of each peer except its packet counters.
const FIELDS: [Field; 13] = [
    Field {
        name: "key_changes_total",
        help: "Installations of a sending key.",
        value: |peer| Some(as_f64(peer.key_changes)),
    },
    Field {
        name: "keys_refused_total",
        help: "Offers refused for reasons other than a key disagreement.",
        value: |peer| Some(as_f64(peer.keys_refused)),
    },
    Field {
        name: "key_disagreements_total",
        help: "Offers refused because the ends had different keys of one ID.",
        value: |peer| Some(as_f64(peer.key_disagreements)),
    },
    Field {
        name: "keys_repeated_total",
        help: "Keys discarded because the source had delivered them before.",
        value: |peer| Some(as_f64(peer.keys_repeated)),
    },
    Field {
        name: "key_source_failures_total",
        help: "Requests to the source that returned no key.",
        value: |peer| Some(as_f64(peer.key_source_failures)),
    },
    Field {
        name: "key_source_empty_total",
        help: "Requests whose response contained no key.",
        value: |peer| Some(as_f64(peer.key_source_empty)),
    },
    Field {
        name: "key_source_malformed_total",
        help: "Requests whose response was invalid.",
        value: |peer| Some(as_f64(peer.key_source_malformed)),
    },
    Field {
        name: "nat_keepalives_sent_total",
        help: "NAT keepalives sent.",
        value: |peer| Some(as_f64(peer.nat_keepalives_sent)),
    },
    Field {
        name: "met",
        help: "Whether the peer has answered and is not dead.",
        value: |peer| Some(f64::from(u8::from(peer.met))),
    },
    Field {
        name: "heard_seconds_ago",
        help: "Seconds since the peer's last sign of life.",
        value: |peer| peer.heard_seconds_ago,
    },
    Field {
        name: "receiving_associations",
        help: "Number of associations received under.",
        value: |peer| Some(as_f64(peer.receiving.len() as u64)),
    },
    Field {
        name: "sending_epoch",
        help: "Number of the sending key.",
        value: |peer| Some(as_f64(peer.sending.as_ref()?.epoch)),
    },
    Field {
        name: "sending_key_age_seconds",
        help: "Age of the sending key in seconds.",
        value: |peer| Some(peer.sending.as_ref()?.age_seconds),
    },
];

#[allow(clippy::cast_precision_loss, reason = "Prometheus values are floating-point")]
fn as_f64(count: u64) -> f64 {
    count as f64
}

/// Serves `/status` and `/metrics` until it is canceled.
///
/// With a token, each request must have the header `Authorization: Bearer TOKEN`. With TLS settings, clients must use
/// HTTPS.
pub(crate) async fn serve(
    listener: std::net::TcpListener,
    token: Option<Zeroizing<String>>,
    tls: Option<status_tls::Settings>,
    state: Arc<StatusState>,
) -> Result<()> {
    const MAX_CONNECTIONS: usize = 16;
    const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let listener = LimitedListener::new(listener, MAX_CONNECTIONS, CONNECTION_TIMEOUT);
    let metrics = |State(state): State<Arc<StatusState>>| async move { state.metrics() };
    let report = |State(state): State<Arc<StatusState>>| async move { Json(state.report()) };
    let router =
        Router::new().route("/metrics", get(metrics)).route("/status", get(report)).with_state(state);
    let router = authenticated(router, token);
    match tls {
        Some(settings) => Ok(axum::serve(TlsListener::new(listener, settings)?, router).await?),
        None => Ok(axum::serve(listener, router).await?),
    }
}

/// Requires the token, if there is one, from every request.
fn authenticated(router: Router, token: Option<Zeroizing<String>>) -> Router {
    let Some(token) = token else { return router };
    let expected = Arc::new(Zeroizing::new(format!("Bearer {}", *token)));
    router.layer(from_fn(move |request: Request, next: Next| {
        let expected = expected.clone();
        async move {
            let given = request.headers().get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
            if bool::from(given.ct_eq(expected.as_bytes())) {
                next.run(request).await
            } else {
                StatusCode::UNAUTHORIZED.into_response()
            }
        }
    }))
}

/// Queries a running link and prints its status.
pub(crate) fn query(config: &Config, json: bool) -> Result<()> {
    let listen = config
        .listen
        .context("`listen` is not set in the configuration; the link serves its status at this address")
        .or_usage()?;
    keys::install_tls();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime
        .block_on(fetch(listen, config.listen_token.as_ref(), config.listen_tls.as_ref()))
        .with_context(|| {
            let reloaded = if config.listen_tls.is_some() {
                ", and has read `listen-cert` since it changed"
            } else {
                ""
            };
            format!("no answer from the link at {listen}; check that it is running{reloaded}")
        })
        .or_failed()?;
    let text = if json { serde_json::to_string_pretty(&report)? } else { table(&report)? };
    print(text.trim_end())
}

async fn fetch(
    mut listen: SocketAddr,
    token: Option<&Zeroizing<String>>,
    tls: Option<&ListenTls>,
) -> Result<Report> {
    /// A link that is stopped accepts connections, but never answers.
    const TIMEOUT: Duration = Duration::from_secs(10);
    if listen.ip().is_unspecified() {
        listen.set_ip(if listen.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
    }
    let builder = reqwest::Client::builder().no_proxy().timeout(TIMEOUT);
    let (client, scheme) = match tls {
        Some(tls) => (builder.tls_backend_preconfigured(status_tls::pinned(tls)?).build()?, "https"),
        None => (builder.build()?, "http"),
    };
    let mut request = client.get(format!("{scheme}://{listen}/status"));
    if let Some(token) = token {
        request = request.bearer_auth(&**token);
    }
    Ok(request.send().await?.error_for_status()?.json().await?)
}

fn table(report: &Report) -> Result<String> {
    let mut text = String::new();
    if let Some(only) = &report.only {
        write_peer(&mut text, "", only, Some(report.up_seconds))?;
        write_problems(&mut text, &report.troubles)?;
        write_keys(&mut text, only)?;
    } else {
        let alive = report.peers.iter().filter(|named| named.peer.met).count();
        writeln!(text, "{alive} of {} peers alive, up for {:.1} s", report.peers.len(), report.up_seconds)?;
        let of_peers: usize = report.peers.iter().map(|named| named.troubles.len()).sum();
        write_problems(&mut text, &report.troubles[..report.troubles.len().saturating_sub(of_peers)])?;
        for NamedReport { name, peer, troubles, counters, .. } in &report.peers {
            write_peer(&mut text, &format!("\n{name}: "), peer, None)?;
            write_problems(&mut text, troubles)?;
            write_keys(&mut text, peer)?;
            write_counters(&mut text, counters)?;
        }
        writeln!(text, "\nall packets, those of no peer included")?;
    }
    write_counters(&mut text, &report.counters)?;
    Ok(text)
}

fn write_peer(text: &mut String, name: &str, peer: &PeerReport, up_seconds: Option<f64>) -> Result<()> {
    let at = peer.peer_address.map_or(String::new(), |address| format!(" at {address}"));
    let met = match peer.heard_seconds_ago {
        None => "peer has not answered yet".into(),
        Some(seconds) if peer.met => format!("peer{at} last heard {seconds:.1} s ago"),
        Some(seconds) => format!("PEER DEAD{at}, last heard {seconds:.1} s ago"),
    };
    let up = up_seconds.map_or(String::new(), |seconds| format!(", up for {seconds:.1} s"));
    writeln!(text, "{name}{}, {}{up}; {met}", peer.role, peer.suite)?;
    Ok(())
}

fn write_problems(text: &mut String, troubles: &[String]) -> Result<()> {
    for trouble in troubles {
        writeln!(text, "problem: {trouble}")?;
    }
    Ok(())
}

fn write_keys(text: &mut String, peer: &PeerReport) -> Result<()> {
    match &peer.sending {
        None => writeln!(text, "not sending: no key")?,
        Some(Sending { epoch, spi, age_seconds, packets, bytes, expired }) => {
            let expired = if *expired { ", EXPIRED: not sending" } else { "" };
            writeln!(
                text,
                "sending: key {epoch}, SPI {spi}, age {age_seconds:.2} s, {packets} packets, {bytes} bytes{expired}"
            )?;
        }
    }
    for Receiving { epoch, spi, age_seconds, packets } in &peer.receiving {
        writeln!(text, "receiving: key {epoch}, SPI {spi}, age {age_seconds:.2} s, {packets} packets")?;
    }
    let PeerReport {
        key_changes, keys_refused, key_disagreements, keys_repeated, key_source_failures, ..
    } = peer;
    writeln!(
        text,
        "{key_changes} rekeys, {keys_refused} offers refused, {key_disagreements} key disagreements, \
         {keys_repeated} repeated keys, {key_source_failures} source failures"
    )?;
    Ok(())
}

fn write_counters(text: &mut String, counters: &CountsByName) -> Result<()> {
    for (name, count) in counters {
        if count != 0 {
            writeln!(text, "  {name:<26} {count}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use sealcomb_esp::Transform;

    use super::*;
    use crate::config::peers::PeerConfig;
    use crate::config::{Keys, Limits, Liveness, Peer};
    use crate::counters::add;

    fn config(name: Option<&str>) -> PeerConfig {
        PeerConfig {
            name: name.map(str::to_owned),
            allowed: Vec::new(),
            role: Role::Master,
            address: Peer::Absent,
            transform: Transform::by_id("aes256-gcm").unwrap(),
            extended: true,
            window: 64,
            control_key: Zeroizing::default(),
            keys: Keys::File(Zeroizing::default()),
            rekey: Limits { age: Duration::ZERO, packets: 0, bytes: 0 },
            limits: Limits { age: Duration::ZERO, packets: 0, bytes: 0 },
            overlap: Duration::ZERO,
            liveness: Liveness::DEFAULT,
        }
    }

    /// Returns a peer, which has been heard, with as many sent packets as its number.
    fn peer(slot: usize, name: Option<&str>) -> PeerState {
        let config = config(name);
        let tunnel = Tunnel::new(slot, &config, 2, Instant::now());
        add(&tunnel.strands[1].counters.out_sent, slot);
        let keys = KeyCounters::default();
        lock(&keys.now).heard = Some(Instant::now());
        let (role, suite) = (config.role, config.transform.id);
        PeerState { name: config.name, role, suite, tunnel: Arc::new(tunnel), keys: Arc::new(keys) }
    }

    fn state(peers: Vec<PeerState>) -> Arc<StatusState> {
        let state = StatusState::new(1438, Instant::now(), vec![Arc::default()]);
        state.set_peers(peers);
        Arc::new(state)
    }

    /// Returns all metrics, including those that need a key.
    fn all_metrics(peers: Vec<PeerState>) -> String {
        let state = state(peers);
        let mut report = state.report();
        let named = report.peers.iter_mut().map(|named| &mut named.peer);
        for peer in report.only.iter_mut().chain(named) {
            let spi = String::new();
            peer.sending =
                Some(Sending { epoch: 1, spi, age_seconds: 1.0, packets: 1, bytes: 1, expired: false });
        }
        let peers = lock(&state.peers).clone();
        metrics(&report, &Counts::default(), &peers)
    }

    #[test]
    fn every_metric_has_a_description_and_a_type_in_prometheus_format() {
        for peers in [vec![peer(0, None)], vec![peer(0, Some("a")), peer(1, Some("b-1.c"))]] {
            let names: Vec<Option<String>> = peers.iter().map(|peer| peer.name.clone()).collect();
            let text = all_metrics(peers);
            let (mut metrics, mut current) = (HashSet::new(), String::new());
            let mut lines = text.lines();
            while let Some(line) = lines.next() {
                if let Some(help) = line.strip_prefix("# HELP ") {
                    let (name, described) = help.split_once(' ').unwrap();
                    assert!(described.ends_with('.') && described.len() > 10, "{help}");
                    let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
                    assert_eq!(lines.next().unwrap(), format!("# TYPE {name} {kind}"));
                    assert!(metrics.insert(name.to_owned()), "{name} begins twice");
                    name.clone_into(&mut current);
                    continue;
                }
                let (series, number) = line.split_once(' ').unwrap();
                assert!(number.parse::<f64>().is_ok() && series.starts_with("sealcomb_link_"), "{line}");
                let (name, label) = series.split_once('{').map_or((series, None), |(n, l)| (n, Some(l)));
                assert_eq!(name, current, "{line}");
                let is_known =
                    |label: &str| names.iter().flatten().any(|name| label == format!("peer=\"{name}\"}}"));
                assert!(label.is_none_or(is_known), "{line}");
            }
            assert!(metrics.len() > 35, "{}", metrics.len());
        }
    }

    #[test]
    fn the_counts_of_the_peers_those_removed_and_those_of_no_peer_add_up() {
        let peers = || (1..=3).map(|slot| peer(slot, Some(&format!("peer-{slot}")))).collect::<Vec<_>>();
        let state = state(peers());
        add(&state.workers[0].out_sent, 100);
        assert_eq!(state.report().counters["out_sent"], 106);
        let mut used = Vec::new();
        for number in 0..200 {
            let PeerState { tunnel, .. } = peer(1, None);
            used.push(tunnel.clone());
            state.remove(tunnel);
            assert_eq!(state.report().counters["out_sent"], 107 + number);
        }
        // Packet threads have not finished with their batches.
        for tunnel in &used {
            add(&tunnel.strands[0].counters.out_sent, 1);
        }
        assert_eq!(state.report().counters["out_sent"], 506);
        drop(used);
        state.remove(peer(1, None).tunnel);
        assert_eq!(
            (state.report().counters["out_sent"].as_u64(), lock(&state.removed).0.len()),
            (Some(507), 1)
        );
        let text = state.metrics();
        for line in [
            "sealcomb_link_out_sent_total 100",
            "sealcomb_link_out_sent_total{peer=\"peer-3\"} 3",
            "sealcomb_link_met{peer=\"peer-1\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}");
        }
    }

    #[test]
    fn a_report_survives_json_with_and_without_names() {
        for peers in [vec![peer(0, None)], vec![peer(0, Some("a")), peer(1, Some("b"))]] {
            let count = peers.iter().filter(|peer| peer.name.is_some()).count();
            let report = state(peers).report();
            let json = serde_json::to_value(&report).unwrap();
            assert_eq!(json["role"].is_string(), count == 0, "an only peer is part of the report");
            let back: Report = serde_json::from_value(json.clone()).unwrap();
            assert_eq!((back.only.is_some(), back.peers.len()), (count == 0, count));
            assert_eq!(serde_json::to_value(&back).unwrap(), json);
            let text = table(&back).unwrap();
            assert!(text.contains("last heard") && text.contains("aes256-gcm"), "{text}");
        }
    }

    #[test]
    fn the_dashboard_shows_metrics_that_exist() {
        let text = all_metrics(vec![peer(0, None)]);
        let names: HashSet<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split(' ').next())
            .collect();
        let dashboard: serde_json::Value = serde_json::from_str(include_str!("../grafana.json")).unwrap();
        let mut used = 0;
        for panel in dashboard["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().unwrap() {
                let expression = target["expr"].as_str().unwrap();
                let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                for name in words.filter(|word| word.starts_with("sealcomb_link_")) {
                    assert!(names.contains(name), "{name}");
                    used += 1;
                }
            }
        }
        assert!(used > 15, "{used} metrics");
    }

    #[tokio::test]
    async fn a_token_is_required_if_there_is_one() {
        keys::install_tls();
        for (token, given, expected) in [
            (None, None, 200),
            (Some("secret"), None, 401),
            (Some("secret"), Some("Bearer wrong"), 401),
            (Some("secret"), Some("Bearer secre"), 401),
            (Some("secret"), Some("secret"), 401),
            (Some("secret"), Some("Bearer secret"), 200),
        ] {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.set_nonblocking(true).unwrap();
            let address = listener.local_addr().unwrap();
            let token = token.map(|token| Zeroizing::new(str::to_owned(token)));
            let server = tokio::spawn(serve(listener, token.clone(), None, state(vec![peer(0, None)])));
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            for path in ["status", "metrics"] {
                let mut request = client.get(format!("http://{address}/{path}"));
                if let Some(given) = given {
                    request = request.header("Authorization", given);
                }
                assert_eq!(request.send().await.unwrap().status().as_u16(), expected, "{given:?}");
            }
            assert!(fetch(address, token.as_ref(), None).await.is_ok());
            server.abort();
        }
    }
}
