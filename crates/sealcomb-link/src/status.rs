//! The status of a running link: as JSON for `sealcomb-link status`, and as metrics in Prometheus' text format.

use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

use crate::associations::Associations;
use crate::config::{Config, Role};
use crate::control::Control;
use crate::control::version::{Versions, printable};
use crate::counters::{Counters, Counts};
use crate::keys;
use crate::listener::LimitedListener;

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
    /// Requests among `source_failures` whose response violated GS QKD 014 or contained unusable keys.
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
    /// The peer's release and the protocol version in use.
    versions: Option<(String, u16)>,
    troubles: Vec<String>,
}

impl KeyCounters {
    /// Records the state of the peer and the current problems.
    pub(crate) fn note(&self, machine: &Control, troubles: Vec<String>, now: Instant) {
        let versions =
            machine.peer_versions().map(|(versions, version)| (printable(&versions.release), version));
        let state =
            PeerState { heard: machine.heard(), is_dead: machine.is_peer_dead(now), versions, troubles };
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
        let PeerState { heard, is_dead, versions, troubles } =
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
        let report = self.report();
        let mut text = String::new();
        let mut write = |name: &str, kind: &str, value: f64| {
            let _ = writeln!(text, "# TYPE sealcomb_link_{name} {kind}\nsealcomb_link_{name} {value}");
        };
        for (name, count) in self.counts().named() {
            write(&format!("{name}_total"), "counter", as_f64(count));
        }
        for (name, count) in [
            ("key_changes", report.key_changes),
            ("keys_refused", report.keys_refused),
            ("key_disagreements", report.key_disagreements),
            ("keys_repeated", report.keys_repeated),
            ("key_source_failures", report.key_source_failures),
            ("key_source_empty", report.key_source_empty),
            ("key_source_malformed", report.key_source_malformed),
            ("control_ignored", report.control_ignored),
            ("nat_keepalives_sent", report.nat_keepalives_sent),
        ] {
            write(&format!("{name}_total"), "counter", as_f64(count));
        }
        write("met", "gauge", f64::from(u8::from(report.met)));
        if let Some(seconds) = report.heard_seconds_ago {
            write("heard_seconds_ago", "gauge", seconds);
        }
        write("troubles", "gauge", as_f64(report.troubles.len() as u64));
        write("receiving_associations", "gauge", as_f64(report.receiving.len() as u64));
        if let Some(sending) = report.sending {
            write("sending_epoch", "gauge", as_f64(sending.epoch));
            write("sending_key_age_seconds", "gauge", sending.age_seconds);
        }
        text
    }
}

#[allow(clippy::cast_precision_loss, reason = "Prometheus values are floating-point")]
fn as_f64(count: u64) -> f64 {
    count as f64
}

/// Serves `/status` and `/metrics` until it is canceled.
pub(crate) async fn serve(listener: std::net::TcpListener, state: Arc<StatusState>) -> Result<()> {
    const MAX_CONNECTIONS: usize = 16;
    const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let listener = LimitedListener::new(listener, MAX_CONNECTIONS, CONNECTION_TIMEOUT);
    let metrics = |State(state): State<Arc<StatusState>>| async move { state.metrics() };
    let report = |State(state): State<Arc<StatusState>>| async move { Json(state.report()) };
    let router =
        Router::new().route("/metrics", get(metrics)).route("/status", get(report)).with_state(state);
    Ok(axum::serve(listener, router).await?)
}

/// Queries a running link and prints its status.
pub(crate) fn query(config: &Config, json: bool) -> Result<()> {
    let listen = config
        .listen
        .context("`listen` is not set in the configuration; the link serves its status at this address")?;
    keys::install_tls();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime
        .block_on(fetch(listen))
        .with_context(|| format!("no answer from the link at {listen}; check that it is running"))?;
    if json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", table(&report)?);
    }
    Ok(())
}

async fn fetch(listen: SocketAddr) -> Result<Report> {
    let response =
        reqwest::Client::builder().no_proxy().build()?.get(format!("http://{listen}/status")).send();
    Ok(response.await?.error_for_status()?.json().await?)
}

fn table(report: &Report) -> Result<String> {
    let mut text = String::new();
    let met = match report.heard_seconds_ago {
        None => "peer has not answered yet".into(),
        Some(seconds) if report.met => format!("peer last heard {seconds:.1} s ago"),
        Some(seconds) => format!("PEER DEAD, last heard {seconds:.1} s ago"),
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
