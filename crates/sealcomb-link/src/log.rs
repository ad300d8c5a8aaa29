//! The log of the link's problems. Each problem is logged when it begins, with its cause and a remedy, then at
//! growing intervals, and once when it is resolved.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sealcomb_esp::Transform;

use crate::clock::ClockTrouble;
use crate::config::peers::PeerConfig;
use crate::config::{Peer, Role};
use crate::control::message::Refusal;
use crate::control::version::Versions;
use crate::control::{Event, PATIENCE, Silence};
use crate::problems::Problems;

/// The subject of a problem. Each has at most one current problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// The peer's host name.
    Name,
    /// The peer's address. Its changes are no problems, but are logged as rarely.
    Address,
    /// The peer's liveness.
    Peer,
    /// The key source.
    Source,
    /// Agreement on keys with the peer.
    Exchange,
    /// Availability of a key for sending.
    Key,
    /// The system's clocks.
    Clock,
}

impl Topic {
    fn end(self) -> &'static str {
        match self {
            Self::Name => "peer found: its name was resolved, or it has connected",
            Self::Address => "the peer has an address",
            Self::Peer => "peer back",
            Self::Source => "key source delivers keys again",
            Self::Exchange => "both ends agree on keys again",
            Self::Key => "sending: a key is available",
            Self::Clock => "the clocks agree again",
        }
    }
}

/// The lines about a peer or about the link as a whole, with the state for suppressing repeated ones.
pub(crate) struct Lines {
    /// The beginning of each line: the name of the peer and a colon, if it has one.
    prefix: String,
    problems: Problems<Topic>,
    /// When trouble with the clocks is no longer a current problem.
    clocks_clear: Option<Instant>,
}

impl Lines {
    /// Returns the lines that begin with this text.
    pub(crate) fn new(prefix: String) -> Self {
        Self { prefix, problems: Problems::new(), clocks_clear: None }
    }

    /// Returns the current problems.
    pub(crate) fn troubles(&self) -> Vec<String> {
        self.problems.texts()
    }

    fn info(&self, text: &str) {
        tracing::info!("{}{text}", self.prefix);
    }

    /// Records a problem, and logs it unless it was logged recently or persists.
    pub(crate) fn begin(&mut self, topic: Topic, text: &str, now: Instant) {
        if self.problems.begin(topic, text, now) {
            tracing::warn!("{}{text}", self.prefix);
        }
    }

    /// Clears a topic's problem, and logs its resolution if the problem was logged.
    pub(crate) fn end(&mut self, topic: Topic) {
        if self.problems.end(topic) {
            self.info(topic.end());
        }
    }

    /// Logs the persisting problems that are due again.
    pub(crate) fn tick(&mut self, now: Instant) {
        if self.clocks_clear.take_if(|clear| now >= *clear).is_some() {
            self.problems.end(Topic::Clock);
        }
        for (text, age) in self.problems.reminders(now) {
            tracing::warn!("{}{text} (for {} so far)", self.prefix, seconds(age));
        }
    }

    /// Logs trouble with the clocks. It stays a current problem for a minute.
    pub(crate) fn clock(&mut self, trouble: ClockTrouble, now: Instant) {
        const SHOWN: Duration = Duration::from_secs(60);
        let text = match trouble {
            ClockTrouble::Suspended(time) => format!(
                "clock trouble: the machine was suspended for {}, which the ages of keys do not include; rekeying now",
                seconds(time)
            ),
            ClockTrouble::Stalled(time) => format!(
                "clock trouble: the control task did not run for {}; check the load of the machine",
                seconds(time)
            ),
            ClockTrouble::SetForward(time) => format!(
                "clock trouble: the clock was set forward by {}; certificates may seem to have expired",
                seconds(time)
            ),
            ClockTrouble::SetBack(time) => format!(
                "clock trouble: the clock was set back by {}; certificates may seem not to be valid yet",
                seconds(time)
            ),
        };
        self.begin(Topic::Clock, &text, now);
        self.clocks_clear = Some(now + SHOWN);
    }
}

/// The log of a peer.
pub(crate) struct Log {
    lines: Lines,
    role: Role,
    peer: String,
    transform: Transform,
    extended: bool,
    /// Time without a sign of life after which the peer counts as dead.
    dead: Duration,
    /// Whether a key has been in use.
    has_rekeyed: bool,
}

impl Log {
    pub(crate) fn new(config: &PeerConfig) -> Self {
        Self {
            lines: Lines::new(config.prefix()),
            role: config.role,
            peer: match config.address {
                Peer::Absent => "a peer of unknown address".into(),
                Peer::Address(_) | Peer::Name { .. } => config.address.to_string(),
            },
            transform: config.transform,
            extended: config.extended,
            dead: config.liveness.dead,
            has_rekeyed: false,
        }
    }

    /// Changes the dead time in the texts.
    pub(crate) fn set_dead_time(&mut self, dead: Duration) {
        self.dead = dead;
    }

    /// Returns the current problems.
    pub(crate) fn troubles(&self) -> Vec<String> {
        self.lines.troubles()
    }

    /// Records a problem, and logs it unless it was logged recently or persists.
    pub(crate) fn begin(&mut self, topic: Topic, text: &str, now: Instant) {
        self.lines.begin(topic, text, now);
    }

    /// Clears a topic's problem, and logs its resolution if the problem was logged.
    pub(crate) fn end(&mut self, topic: Topic) {
        self.lines.end(topic);
    }

    /// Logs the persisting problems that are due again.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.lines.tick(now);
    }

    /// Logs the peer's address, unless it is the configured one or was logged recently.
    pub(crate) fn moved(&mut self, configured: &Peer, address: SocketAddr, now: Instant) {
        self.peer = match configured {
            Peer::Address(usual) if *usual == address => address.to_string(),
            Peer::Address(_) | Peer::Name { .. } => format!("{configured} at {address}"),
            Peer::Absent => address.to_string(),
        };
        let text = format!("peer moved: {}", self.peer);
        let is_due =
            *configured != Peer::Address(address) && self.lines.problems.begin(Topic::Address, &text, now);
        self.lines.problems.end(Topic::Address);
        if is_due {
            self.lines.info(&text);
        }
    }

    /// Logs an event of the state machine.
    pub(crate) fn event(&mut self, event: Event, now: Instant) {
        match event {
            Event::Met => {
                // The line says that the silence has ended.
                self.lines.problems.end(Topic::Peer);
                self.lines.info(&format!("peer connected: {}", self.peer));
            }
            Event::Restarted => {
                if self.lines.problems.end(Topic::Peer) {
                    self.lines.info(&format!("peer back: {} has restarted", self.peer));
                }
                // Rate-limited: an attacker with the control key can cause this event at will.
                let text = "peer restarted: the next key that both ends agree on replaces all earlier ones";
                if self.lines.problems.begin(Topic::Exchange, text, now) {
                    self.lines.info(text);
                }
            }
            Event::Back(silence) => {
                if self.lines.problems.end(Topic::Peer) {
                    self.lines.info(&format!(
                        "peer back: {} is heard again after {}",
                        self.peer,
                        seconds(silence)
                    ));
                }
            }
            // `OtherVersions` has been logged, and says more.
            Event::Dead(Silence::OtherVersions) => {}
            Event::OtherVersions(theirs) => {
                let text = self.other_versions(&theirs);
                self.begin(Topic::Peer, &text, now);
            }
            Event::Dead(cause) => {
                let text = self.silence(cause);
                self.begin(Topic::Peer, &text, now);
            }
            Event::Changed(epoch) => {
                self.end(Topic::Exchange);
                if std::mem::replace(&mut self.has_rekeyed, true) {
                    tracing::debug!("{}rekeyed: key {epoch} is in use", self.lines.prefix);
                } else {
                    self.lines.info("rekeyed: the first key is in use");
                }
            }
            Event::Refused(epoch, why, details) => {
                tracing::debug!("{}offer refused: key {epoch}, {why:?}: {details}", self.lines.prefix);
                self.begin(Topic::Exchange, &self.refusal(why, &details), now);
            }
            Event::OtherSuite(theirs, extended) => {
                let text = format!(
                    "offers refused: the master has `suite` {} and `esn` {extended}, this end has `suite` {} and \
                     `esn` {}; make them equal at both ends",
                    theirs.unwrap_or("(unknown to this version)"),
                    self.transform.id,
                    self.extended,
                );
                self.begin(Topic::Exchange, &text, now);
            }
            Event::Repeated => {
                let text = match self.role {
                    Role::Master => "key discarded: the source delivered it before; requesting another",
                    Role::Slave => "key discarded: the source delivered it before; the offer is refused",
                };
                self.begin(Topic::Exchange, text, now);
            }
        }
    }

    fn silence(&self, cause: Silence) -> String {
        let peer = &self.peer;
        if cause == Silence::Unanswered {
            return format!(
                "peer dead: {peer} has not answered for {}, but its packets arrive; check that UDP passes in both \
                 directions, and that nobody withholds packets and sends them on later",
                seconds(self.dead * PATIENCE)
            );
        }
        let seconds = seconds(self.dead);
        let why = match cause {
            Silence::Nothing | Silence::Unanswered => {
                "no messages arrive; check that it is running and that UDP passes in both directions".into()
            }
            Silence::Forged => {
                "its messages fail authentication; check that `control-key` is equal at both ends".into()
            }
            Silence::Unknown => {
                "its messages are authentic, but this release does not understand them; update the older end"
                    .into()
            }
            Silence::OtherVersions => "its protocol versions differ".into(),
            Silence::SameRole => {
                let role = self.role.name();
                format!("its `role` is \"{role}\" too; one end must be the master and the other the slave")
            }
        };
        format!("peer dead: {peer} was not heard for {seconds}: {why}")
    }

    fn other_versions(&self, theirs: &Versions) -> String {
        format!(
            "peer unusable: {} runs {theirs}, this end {}; there is no common protocol version, update the older end",
            self.peer,
            Versions::current()
        )
    }

    /// Words a refusal. `details` come from the slave.
    fn refusal(&self, why: Refusal, details: &str) -> String {
        let text = match (why, self.role) {
            (Refusal::NoKey, Role::Master) => {
                "offer refused: the slave's source does not have the key, see the slave's log; the current key stays \
                 in use, and other keys will be offered"
            }
            (Refusal::NoKey, Role::Slave) => {
                "offer refused: the source does not have the offered key; check that both sources belong together, \
                 and that their two names (such as `sae` and `peer-sae`) are swapped at the peer"
            }
            (Refusal::Repeated, _) => {
                "offer refused: the slave's source had delivered the key before; another key will be offered"
            }
            (Refusal::Suite, _) => {
                "offers refused: the ends have different algorithms; make `suite` and `esn` equal at both ends"
            }
            (Refusal::Disagree, _) => {
                "offer refused: the two sources have different keys of this ID; the current key stays in use, and \
                 other keys will be offered; check that both sources belong together"
            }
            (Refusal::Outdated, _) => {
                "offer refused: a later offer has replaced it, or it was accepted too long ago; another will be made"
            }
        };
        match (why, details) {
            (_, "") => text.into(),
            (Refusal::Suite, _) => {
                let Self { transform, extended, .. } = self;
                format!("{text}: this end has `suite` {} and `esn` {extended}, {details}", transform.id)
            }
            _ => format!("{text} (reason: {details})"),
        }
    }

    /// Logs changes in the availability of a key for sending. `since` is when the link started.
    pub(crate) fn key(&mut self, is_there: bool, was_there: bool, since: Instant, now: Instant) {
        if is_there {
            self.end(Topic::Key);
        } else if was_there {
            self.begin(
                Topic::Key,
                "not sending: the key is past its hard limit, and no other is available",
                now,
            );
        } else if now >= since + self.dead {
            let text = match self.role {
                Role::Master => "not sending: there is no key yet",
                Role::Slave => {
                    "not sending: the master has not offered a key that this end has; see the master's log too"
                }
            };
            self.begin(Topic::Key, text, now);
        }
    }
}

/// Formats a duration in seconds, to tenths where they matter.
fn seconds(duration: Duration) -> String {
    if duration.subsec_millis() < 50 || duration > Duration::from_secs(60) {
        format!("{} s", duration.as_secs())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}

/// Runs a closure and returns the lines that it logs.
#[cfg(test)]
pub(crate) fn logged(work: impl FnOnce()) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let file = std::sync::Arc::new(std::fs::File::create(&path).unwrap());
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(file).finish();
    tracing::subscriber::with_default(subscriber, work);
    std::fs::read_to_string(path).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Log {
        Log {
            role: Role::Slave,
            peer: "192.0.2.1:4500".into(),
            transform: Transform::by_id("aes128-gcm").unwrap(),
            extended: true,
            dead: Duration::from_secs(5),
            has_rekeyed: false,
            lines: Lines::new(String::new()),
        }
    }

    #[test]
    fn trouble_with_the_clocks_is_current_for_a_minute() {
        let (mut log, now) = (Lines::new(String::new()), Instant::now());
        let minute = Duration::from_secs(60);
        log.clock(ClockTrouble::SetBack(Duration::from_secs(3600)), now);
        log.tick(now + Duration::from_millis(59_999));
        assert!(
            log.troubles().iter().all(|text| text.contains("set back by 3600 s"))
                && !log.troubles().is_empty()
        );
        log.tick(now + minute);
        assert!(log.troubles().is_empty());
    }

    #[test]
    fn the_first_key_of_an_end_is_logged_whatever_its_epoch() {
        let lines = logged(|| {
            let (mut log, now) = (log(), Instant::now());
            for epoch in [500, 501, 1] {
                log.event(Event::Changed(epoch), now);
            }
        });
        assert_eq!(lines.matches("rekeyed: the first key is in use").count(), 1, "{lines}");
        assert_eq!(lines.lines().count(), 1, "later keys are logged at another level: {lines}");
    }

    #[test]
    fn the_end_of_a_silence_is_logged_with_what_ended_it() {
        let peer = "192.0.2.1:4500";
        for (event, expected) in [
            (Event::Met, format!("peer connected: {peer}\n")),
            (Event::Restarted, format!("peer back: {peer} has restarted\n")),
            (Event::Back(Duration::from_secs(7)), format!("peer back: {peer} is heard again after 7 s\n")),
        ] {
            let lines = logged(|| {
                let (mut log, now) = (log(), Instant::now());
                log.event(Event::Dead(Silence::Nothing), now);
                log.event(event, now);
            });
            assert!(lines.contains("peer dead") && lines.contains(&expected), "{lines}");
            let ends = lines.matches("peer back").count() + lines.matches("peer connected").count();
            assert_eq!(ends, 1, "{lines}");
        }
    }

    #[test]
    fn a_repeated_key_is_followed_by_what_the_end_does() {
        let cases = [(Role::Master, "requesting another"), (Role::Slave, "the offer is refused")];
        for (role, expected) in cases {
            let mut log = Log { role, ..log() };
            log.event(Event::Repeated, Instant::now());
            assert!(log.troubles()[0].contains(expected), "{:?}", log.troubles());
        }
    }

    #[test]
    fn every_cause_has_its_own_text_that_names_the_setting() {
        let (log, mut texts) = (log(), Vec::new());
        for cause in [Silence::Nothing, Silence::Forged, Silence::SameRole, Silence::Unknown] {
            texts.push(log.silence(cause));
        }
        assert!(texts[1].contains("`control-key`") && texts[2].contains("`role` is \"slave\""), "{texts:?}");
        for why in [Refusal::NoKey, Refusal::Repeated, Refusal::Suite, Refusal::Disagree, Refusal::Outdated] {
            let text = log.refusal(why, "");
            assert!(
                !text.contains(&format!("{why:?}"))
                    && log.refusal(why, "out of keys").contains("out of keys")
            );
            texts.push(text);
        }
        let theirs = Versions { oldest: 7, newest: 8, release: "9.9.9".into() };
        let text = log.other_versions(&theirs);
        assert!(text.contains("9.9.9") && text.contains(env!("CARGO_PKG_VERSION")), "both are named: {text}");
        texts.push(text);
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), 10);
    }
}
