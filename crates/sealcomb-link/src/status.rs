//! The status of a running link: as JSON for `sealcomb-link status`, and as metrics in Prometheus' text format.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::associations::Associations;
use crate::config::{Config, ListenTls, Role};
use crate::control::Control;
use crate::control::version::{Versions, printable};
use crate::counters::{Counters, Counts};
use crate::keys;
use crate::listener::LimitedListener;
use crate::status_tls::{self, TlsListener};

/// The counters and the state of the control task.
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
    now: Mutex<PeerState>,
}

/// The peer as the control task sees it.
#[derive(Clone, Debug, Default)]
struct PeerState {
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
        let state = PeerState {
            heard: machine.heard(),
            is_dead: machine.is_peer_dead(now),
            address: machine.address(),
            versions,
            troubles,
        };
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// The parts of a running link that its status is composed of.
pub(crate) struct StatusState {
    pub role: Role,
    pub suite: &'static str,
    pub inner_mtu: usize,
    pub started: Instant,
    pub associations: Arc<Associations>,
    pub workers: Vec<Arc<Counters>>,
    pub keys: Arc<KeyCounters>,
}

/// The status report, as served in JSON.
#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    role: String,
    suite: String,
    inner_mtu: usize,
    up_seconds: f64,
    /// Whether the peer has answered and is not dead.
    met: bool,
    /// Seconds since the peer's last sign of life.
    heard_seconds_ago: Option<f64>,
    /// This end's release of sealcomb-link.
    release: String,
    /// The peer's release, if it has answered.
    peer_release: Option<String>,
    /// The peer's address, if it is known.
    peer_address: Option<SocketAddr>,
    /// The protocol version in use, if the peer has answered.
    protocol: Option<u16>,
    /// The current problems, worded as in the log.
    troubles: Vec<String>,
    sending: Option<Sending>,
    receiving: Vec<Receiving>,
    key_changes: u64,
    keys_refused: u64,
    key_disagreements: u64,
    keys_repeated: u64,
    key_source_failures: u64,
    key_source_empty: u64,
    key_source_malformed: u64,
    control_ignored: u64,
    nat_keepalives_sent: u64,
    counters: serde_json::Map<String, serde_json::Value>,
    /// Outbound packets counted in no category: those in flight.
    unaccounted_out: i64,
    /// Inbound packets counted in no category: those in flight.
    unaccounted_in: i64,
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

impl StatusState {
    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for worker in &self.workers {
            worker.add_to(&mut counts);
        }
        counts
    }

    fn report(&self) -> Report {
        let now = Instant::now();
        let age = |since: Instant| (now - since).as_secs_f64();
        let counts = self.counts();
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let sending = self.associations.sending().map(|outbound| {
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
        let PeerState { heard, is_dead, address, versions, troubles } =
            self.keys.now.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let inbound = self.associations.receiving();
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
        Report {
            role: self.role.name().into(),
            suite: self.suite.into(),
            inner_mtu: self.inner_mtu,
            up_seconds: age(self.started),
            met: heard.is_some() && !is_dead,
            heard_seconds_ago: heard.map(age),
            release: Versions::current().release,
            peer_release: versions.as_ref().map(|(release, _)| release.clone()),
            peer_address: address,
            protocol: versions.map(|(_, version)| version),
            troubles,
            sending,
            receiving,
            key_changes: load(&self.keys.changes),
            keys_refused: load(&self.keys.refused),
            key_disagreements: load(&self.keys.disagreements),
            keys_repeated: load(&self.keys.repeated),
            key_source_failures: load(&self.keys.source_failures),
            key_source_empty: load(&self.keys.source_empty),
            key_source_malformed: load(&self.keys.source_malformed),
            control_ignored: load(&self.keys.control_ignored),
            nat_keepalives_sent: load(&self.keys.nat_keepalives),
            counters: counts.named().map(|(name, count)| (name.to_owned(), count.into())).collect(),
            unaccounted_out: counts.unaccounted_out() as i64,
            unaccounted_in: counts.unaccounted_in() as i64,
        }
    }

    fn metrics(&self) -> String {
        metrics(&self.report(), &self.counts())
    }
}

/// Formats a report as metrics, each with its description and type.
fn metrics(report: &Report, counts: &Counts) -> String {
    let mut text = String::new();
    let mut write = |name: &str, kind: &str, help: &str, value: f64| {
        let _ = writeln!(
            text,
            "# HELP sealcomb_link_{name} {help}\n# TYPE sealcomb_link_{name} {kind}\nsealcomb_link_{name} {value}"
        );
    };
    for ((name, count), help) in counts.named().zip(Counts::descriptions()) {
        write(&format!("{name}_total"), "counter", help, as_f64(count));
    }
    for (name, help, count) in [
        ("key_changes", "Installations of a sending key.", report.key_changes),
        ("keys_refused", "Offers refused for reasons other than a key disagreement.", report.keys_refused),
        (
            "key_disagreements",
            "Offers refused because the ends had different keys of one ID.",
            report.key_disagreements,
        ),
        (
            "keys_repeated",
            "Keys discarded because the source had delivered them before.",
            report.keys_repeated,
        ),
        ("key_source_failures", "Requests to the source that returned no key.", report.key_source_failures),
        ("key_source_empty", "Requests whose response contained no key.", report.key_source_empty),
        ("key_source_malformed", "Requests whose response was invalid.", report.key_source_malformed),
        (
            "control_ignored",
            "Control messages ignored as forged, copied, or from an old boot.",
            report.control_ignored,
        ),
        ("nat_keepalives_sent", "NAT keepalives sent.", report.nat_keepalives_sent),
    ] {
        write(&format!("{name}_total"), "counter", help, as_f64(count));
    }
    let met = f64::from(u8::from(report.met));
    write("met", "gauge", "Whether the peer has answered and is not dead.", met);
    if let Some(seconds) = report.heard_seconds_ago {
        write("heard_seconds_ago", "gauge", "Seconds since the peer's last sign of life.", seconds);
    }
    write("troubles", "gauge", "Number of current problems.", as_f64(report.troubles.len() as u64));
    let receiving = as_f64(report.receiving.len() as u64);
    write("receiving_associations", "gauge", "Number of associations received under.", receiving);
    write("up_seconds", "gauge", "Seconds since the start of the link.", report.up_seconds);
    if let Some(sending) = &report.sending {
        write("sending_epoch", "gauge", "Number of the sending key.", as_f64(sending.epoch));
        write("sending_key_age_seconds", "gauge", "Age of the sending key in seconds.", sending.age_seconds);
    }
    text
}

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
        .context("`listen` is not set in the configuration; the link serves its status at this address")?;
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
        })?;
    if json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", table(&report)?);
    }
    Ok(())
}

async fn fetch(
    mut listen: SocketAddr,
    token: Option<&Zeroizing<String>>,
    tls: Option<&ListenTls>,
) -> Result<Report> {
    if listen.ip().is_unspecified() {
        listen.set_ip(if listen.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
    }
    let builder = reqwest::Client::builder().no_proxy();
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
    let at = report.peer_address.map_or(String::new(), |address| format!(" at {address}"));
    let met = match report.heard_seconds_ago {
        None => "peer has not answered yet".into(),
        Some(seconds) if report.met => format!("peer{at} last heard {seconds:.1} s ago"),
        Some(seconds) => format!("PEER DEAD{at}, last heard {seconds:.1} s ago"),
    };
    writeln!(text, "{}, {}, up for {:.1} s; {met}", report.role, report.suite, report.up_seconds)?;
    for trouble in &report.troubles {
        writeln!(text, "problem: {trouble}")?;
    }
    match &report.sending {
        None => writeln!(text, "not sending: no key")?,
        Some(Sending { epoch, spi, age_seconds, packets, bytes, expired }) => {
            let expired = if *expired { ", EXPIRED: not sending" } else { "" };
            writeln!(
                text,
                "sending: key {epoch}, SPI {spi}, age {age_seconds:.2} s, {packets} packets, {bytes} bytes{expired}"
            )?;
        }
    }
    for Receiving { epoch, spi, age_seconds, packets } in &report.receiving {
        writeln!(text, "receiving: key {epoch}, SPI {spi}, age {age_seconds:.2} s, {packets} packets")?;
    }
    let Report { key_changes, keys_refused, key_disagreements, keys_repeated, key_source_failures, .. } =
        report;
    writeln!(
        text,
        "{key_changes} rekeys, {keys_refused} offers refused, {key_disagreements} key disagreements, \
         {keys_repeated} repeated keys, {key_source_failures} source failures"
    )?;
    for (name, count) in &report.counters {
        if count != 0 {
            writeln!(text, "  {name:<26} {count}")?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn state() -> Arc<StatusState> {
        Arc::new(StatusState {
            role: Role::Master,
            suite: "aes256-gcm",
            inner_mtu: 1438,
            started: Instant::now(),
            associations: Arc::default(),
            workers: vec![Arc::default()],
            keys: Arc::default(),
        })
    }

    /// Returns all metrics, including those that need a peer and a key.
    fn all_metrics() -> String {
        let state = state();
        let mut report = state.report();
        report.heard_seconds_ago = Some(0.5);
        report.sending = Some(Sending {
            epoch: 1,
            spi: String::new(),
            age_seconds: 1.0,
            packets: 1,
            bytes: 1,
            expired: false,
        });
        metrics(&report, &state.counts())
    }

    #[test]
    fn every_metric_has_a_description_and_a_type_in_prometheus_format() {
        let text = all_metrics();
        let lines: Vec<&str> = text.lines().collect();
        for metric in lines.chunks(3) {
            let [help, kind, value] = metric else { panic!("{metric:?}") };
            let (name, number) = value.split_once(' ').unwrap();
            assert!(number.parse::<f64>().is_ok() && name.starts_with("sealcomb_link_"), "{value}");
            let described = help.strip_prefix(&format!("# HELP {name} ")).unwrap();
            assert!(described.ends_with('.') && described.len() > 10, "{help}");
            let is_counter = *kind == format!("# TYPE {name} counter");
            assert!(is_counter || *kind == format!("# TYPE {name} gauge"), "{kind}");
            assert_eq!(is_counter, name.ends_with("_total"), "{name}");
        }
        assert!(lines.len() > 3 * 30);
    }

    #[test]
    fn the_dashboard_shows_metrics_that_exist() {
        let text = all_metrics();
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
            let server = tokio::spawn(serve(listener, token.clone(), None, state()));
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
