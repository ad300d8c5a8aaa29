//! What a running link tells: JSON for `sealcomb-link status`, and Prometheus' text format.

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
use crate::counters::{Counters, Counts};
use crate::guests::Guests;
use crate::keys;

/// What the control of keys counts.
#[derive(Debug, Default)]
pub(crate) struct KeyCounters {
    /// Changes of the key to send under.
    pub changes: AtomicU64,
    /// Offers that were refused, whatever the reason.
    pub refused: AtomicU64,
    /// Keys of one name that were not the same at both ends.
    pub disagreements: AtomicU64,
    /// Keys of the source that were there before.
    pub repeated: AtomicU64,
    /// Questions to the source that gave no key, for whatever reason.
    pub source_failures: AtomicU64,
    /// Of these: the answer had no key in it.
    pub source_empty: AtomicU64,
    /// Of these: the answer was none that the interface knows, or had keys that cannot be used.
    pub source_malformed: AtomicU64,
    /// Control messages that the other end did not write, or that came before.
    pub control_ignored: AtomicU64,
    /// When the other end last answered, and what goes wrong at present.
    now: Mutex<(Option<Instant>, Vec<String>)>,
}

impl KeyCounters {
    /// Takes note of how things are.
    pub(crate) fn note(&self, heard: Option<Instant>, troubles: Vec<String>) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = (heard, troubles);
    }
}

/// All that is told.
pub(crate) struct Watched {
    pub role: Role,
    pub suite: &'static str,
    pub inner_mtu: usize,
    pub started: Instant,
    pub associations: Arc<Associations>,
    pub workers: Vec<Arc<Counters>>,
    pub keys: Arc<KeyCounters>,
}

/// A report as it is sent.
#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    role: String,
    suite: String,
    inner_mtu: usize,
    up_seconds: f64,
    /// Whether the other end answers.
    met: bool,
    /// How long ago it last did.
    heard_seconds_ago: Option<f64>,
    /// What goes wrong at present, as the log said.
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
    counters: serde_json::Map<String, serde_json::Value>,
    /// Packets that no counter has; at work, or 0.
    unaccounted_out: i64,
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

impl Watched {
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
                expired: outbound.is_over(now),
            }
        });
        let (heard, troubles) = self.keys.now.lock().unwrap_or_else(PoisonError::into_inner).clone();
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
            met: heard.is_some_and(|heard| now - heard < Control::SILENCE),
            heard_seconds_ago: heard.map(age),
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
            counters: counts.named().map(|(name, count)| (name.to_owned(), count.into())).collect(),
            unaccounted_out: counts.outbound_rest() as i64,
            unaccounted_in: counts.inbound_rest() as i64,
        }
    }

    fn metrics(&self) -> String {
        let report = self.report();
        let mut text = String::new();
        let mut tell = |name: &str, kind: &str, value: f64| {
            let _ = writeln!(text, "# TYPE sealcomb_link_{name} {kind}\nsealcomb_link_{name} {value}");
        };
        for (name, count) in self.counts().named() {
            tell(&format!("{name}_total"), "counter", as_f64(count));
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
        ] {
            tell(&format!("{name}_total"), "counter", as_f64(count));
        }
        tell("met", "gauge", f64::from(u8::from(report.met)));
        if let Some(seconds) = report.heard_seconds_ago {
            tell("heard_seconds_ago", "gauge", seconds);
        }
        tell("troubles", "gauge", as_f64(report.troubles.len() as u64));
        tell("receiving_associations", "gauge", as_f64(report.receiving.len() as u64));
        if let Some(sending) = report.sending {
            tell("sending_epoch", "gauge", as_f64(sending.epoch));
            tell("sending_key_age_seconds", "gauge", sending.age_seconds);
        }
        text
    }
}

#[allow(clippy::cast_precision_loss, reason = "as all numbers of Prometheus")]
fn as_f64(count: u64) -> f64 {
    count as f64
}

/// Answers questions, for as long as it is polled.
pub(crate) async fn serve(listener: std::net::TcpListener, watched: Arc<Watched>) -> Result<()> {
    /// Connections at a time, and how long one may last.
    const GUESTS: (usize, Duration) = (16, Duration::from_secs(10));
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let listener = Guests::new(listener, GUESTS.0, GUESTS.1);
    let metrics = |State(watched): State<Arc<Watched>>| async move { watched.metrics() };
    let report = |State(watched): State<Arc<Watched>>| async move { Json(watched.report()) };
    let router =
        Router::new().route("/metrics", get(metrics)).route("/status", get(report)).with_state(watched);
    Ok(axum::serve(listener, router).await?)
}

/// Asks a running link and prints what it says.
pub(crate) fn ask(config: &Config, json: bool) -> Result<()> {
    let listen = config.listen.context("the configuration has no `listen`, so the link does not tell")?;
    keys::install_tls();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(fetch(listen)).context("the link does not answer")?;
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
        None => "the other end has not answered yet".into(),
        Some(seconds) if report.met => format!("the other end answered {seconds:.1} s ago"),
        Some(seconds) => format!("THE OTHER END IS SILENT, and last answered {seconds:.1} s ago"),
    };
    writeln!(text, "{}, {}, up for {:.1} s; {met}", report.role, report.suite, report.up_seconds)?;
    for trouble in &report.troubles {
        writeln!(text, "trouble: {trouble}")?;
    }
    match &report.sending {
        None => writeln!(text, "sends nothing: there is no key")?,
        Some(Sending { epoch, spi, age_seconds, packets, bytes, expired }) => {
            let expired = if *expired { ", PAST ITS LIMIT: nothing is sent" } else { "" };
            writeln!(
                text,
                "sends under key {epoch}, SPI {spi}, {age_seconds:.2} s old: {packets} packets, {bytes} bytes{expired}"
            )?;
        }
    }
    for Receiving { epoch, spi, age_seconds, packets } in &report.receiving {
        writeln!(text, "receives under key {epoch}, SPI {spi}, {age_seconds:.2} s old: {packets} packets")?;
    }
    let Report { key_changes, keys_refused, key_disagreements, keys_repeated, key_source_failures, .. } =
        report;
    writeln!(
        text,
        "{key_changes} key changes, {keys_refused} refused, {key_disagreements} not the same at both ends, \
         {keys_repeated} repeated, {key_source_failures} failures of the source"
    )?;
    for (name, count) in &report.counters {
        if count != 0 {
            writeln!(text, "  {name:<26} {count}")?;
        }
    }
    Ok(text)
}
